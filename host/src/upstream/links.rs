//! A server that wants a person to open a link before it goes on (elicitation of mode `url`). Here it is
//! only understood and answered; whether a person is asked, and what that person says, is the gate's
//! business. Forms and questions to a model are never answered.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use url::Url;

/// A server asks for no more links at once than this.
const MOST: usize = 4;
/// What a server gets back of its own state is no longer than this.
const MOST_STATE: usize = 64 << 10;

/// What a server wants before it goes on with a call: links, and nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinksWanted {
    /// Each under the server's own name for it.
    pub links: BTreeMap<String, Url>,
    /// The server's own state, to be given back as it is.
    pub state: Option<String>,
}

impl LinksWanted {
    /// The answer for when a person has opened all of them.
    pub fn opened(self) -> LinksOpened {
        LinksOpened { names: self.links.into_keys().collect(), state: self.state }
    }

    /// None: the result asks for something else too, or for a link that is no `https` one.
    pub(super) fn of(raw: &Map<String, Value>) -> Option<Self> {
        let requests = raw.get("inputRequests")?.as_object()?;
        if requests.is_empty() || requests.len() > MOST {
            return None;
        }
        let link = |(name, request): (&String, &Value)| {
            let params = &request["params"];
            let asks = request["method"] == "elicitation/create" && params["mode"] == "url";
            let url = Url::parse(params["url"].as_str().filter(|_| asks)?).ok()?;
            // What stands before the @ is there to be taken for the host.
            let plain = url.scheme() == "https" && url.username().is_empty() && url.password().is_none();
            (plain && url.host_str().is_some()).then(|| (name.clone(), url))
        };
        let links = requests.iter().map(link).collect::<Option<_>>()?;
        let state = match raw.get("requestState") {
            None | Some(Value::Null) => None,
            Some(Value::String(state)) if state.len() <= MOST_STATE => Some(state.clone()),
            Some(_) => return None,
        };
        Some(Self { links, state })
    }
}

/// That a person has opened what a server wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinksOpened {
    names: Vec<String>,
    state: Option<String>,
}

impl LinksOpened {
    /// As the protocol has it: answers by name, and the state.
    pub(super) fn answers(self) -> (BTreeMap<String, Value>, Option<String>) {
        (self.names.into_iter().map(|name| (name, json!({"action": "accept"}))).collect(), self.state)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn wanted(requests: Value) -> Option<LinksWanted> {
        let raw = json!({"resultType": "input_required", "inputRequests": requests, "requestState": "s"});
        LinksWanted::of(raw.as_object().unwrap())
    }

    fn request(mode: &str, url: &str) -> Value {
        json!({"method": "elicitation/create", "params": {"mode": mode, "url": url, "message": "m"}})
    }

    #[test]
    fn only_plain_links_are_understood() {
        let links = wanted(json!({"a": request("url", "https://bücher.example/x")})).unwrap();
        assert_eq!(links.links["a"].host_str(), Some("xn--bcher-kva.example"), "as it is, not as it looks");
        let (answers, state) = links.opened().answers();
        assert_eq!((answers["a"].clone(), state.as_deref()), (json!({"action": "accept"}), Some("s")));
        for other in [
            json!({}),
            json!({"a": request("form", "https://a.example/")}),
            json!({"a": request("url", "http://a.example/")}),
            json!({"a": request("url", "javascript:alert(1)")}),
            json!({"a": request("url", "https://bank.example@evil.example/")}),
            json!({"a": request("url", "https://a.example/"), "b": {"method": "sampling/createMessage"}}),
            json!({"a": request("url", "not a link")}),
        ] {
            assert_eq!(wanted(other.clone()), None, "{other}");
        }
    }
}
