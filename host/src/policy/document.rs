//! A call written down for `postern policy explain`: what [`CallFacts`] are written as, and shorter
//! forms that a person can type.

use postern_check::evidence::Origin;
use postern_check::{Scores, Thresholds, Trigger, pointer_token};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::findings;
use super::input::{Agent, ArgumentFact, CallFacts, Finding, Labels};

/// A call as JSON. Only `tool` must be there; what is left out is what is known of a harmless call of
/// an untrusted server.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallDocument {
    #[serde(default)]
    agent: Option<Agent>,
    #[serde(default)]
    server: Option<String>,
    tool: String,
    #[serde(default)]
    profile: Option<String>,
    #[serde(default)]
    read_only: bool,
    #[serde(default)]
    outside: bool,
    #[serde(default)]
    labels: Option<LabelsDocument>,
    #[serde(default)]
    arguments: Option<Arguments>,
    #[serde(default)]
    findings: Vec<FindingDocument>,
    #[serde(default)]
    trigger: Trigger,
    #[serde(default = "one")]
    calls: u32,
    #[serde(default)]
    names_target: bool,
    #[serde(default)]
    side_effects: Option<bool>,
    #[serde(default)]
    scores: Option<Scores>,
    #[serde(default)]
    thresholds: Option<Thresholds>,
}

fn one() -> u32 {
    1
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct LabelsDocument {
    trust: postern_check::evidence::Trust,
    sink: super::input::Sink,
    holds: super::input::Holds,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Arguments {
    Facts(Vec<ArgumentDocument>),
    /// The arguments themselves; nothing is known of their origins.
    Plain(Map<String, Value>),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ArgumentDocument {
    path: String,
    value: String,
    #[serde(default)]
    authority: bool,
    origin: String,
    #[serde(default)]
    from: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum FindingDocument {
    Code(String),
    Whole(WholeFinding),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WholeFinding {
    code: String,
    #[serde(default)]
    path: Option<String>,
    message: String,
}

impl CallDocument {
    /// What is known of the call. `agent` and `thresholds` are those of the configuration; the
    /// document's own come first.
    ///
    /// # Errors
    /// A sentence that says which part means nothing.
    pub fn facts(self, agent: &Agent, thresholds: &Thresholds) -> Result<CallFacts, String> {
        let (server, tool) = match (self.server, self.tool.split_once('/')) {
            (Some(server), _) => (server, self.tool),
            (None, Some((server, tool))) => (server.to_owned(), tool.to_owned()),
            (None, None) => {
                return Err(format!("tool: {:?} has no server; write \"server/tool\"", self.tool));
            }
        };
        let labels = self.labels.unwrap_or_default();
        let thresholds = self.thresholds.unwrap_or(*thresholds);
        thresholds.validate().map_err(|e| format!("thresholds: {e}"))?;
        Ok(CallFacts {
            agent: self.agent.unwrap_or_else(|| agent.clone()),
            server,
            tool,
            profile: self.profile,
            read_only: self.read_only,
            outside: self.outside,
            labels: Labels { trust: labels.trust, sink: labels.sink, holds: labels.holds },
            arguments: self.arguments.map(arguments).transpose()?.unwrap_or_default(),
            findings: self.findings.into_iter().map(finding).collect::<Result<_, _>>()?,
            trigger: self.trigger,
            calls: self.calls,
            names_target: self.names_target,
            side_effects: self.side_effects,
            scores: self.scores,
            thresholds,
        })
    }
}

fn finding(document: FindingDocument) -> Result<Finding, String> {
    let (code, path, message) = match document {
        FindingDocument::Code(code) => (code, None, None),
        FindingDocument::Whole(whole) => (whole.code, whole.path, Some(whole.message)),
    };
    let kind = findings::ALL.iter().find(|kind| kind.code == code).ok_or_else(|| {
        let near = crate::upstream::near(&code, findings::ALL.iter().map(|kind| kind.code));
        match near.is_empty() {
            true => format!("findings: there is no finding {code:?}"),
            false => format!("findings: there is no finding {code:?}; did you mean {}?", near.join(", ")),
        }
    })?;
    Ok(Finding { code: kind.code, path, message: message.unwrap_or_else(|| kind.meaning.to_owned()) })
}

fn arguments(arguments: Arguments) -> Result<Vec<ArgumentFact>, String> {
    match arguments {
        Arguments::Facts(facts) => facts.into_iter().map(argument).collect(),
        Arguments::Plain(object) => Ok(plain(&object)),
    }
}

fn argument(document: ArgumentDocument) -> Result<ArgumentFact, String> {
    let named = |origin: &Origin| serde_json::to_value(origin).is_ok_and(|name| name == document.origin);
    let origin = Origin::ALL.into_iter().find(named);
    let origin = origin.ok_or_else(|| {
        let all = super::schema::ORIGIN.join(", ");
        format!("arguments: {}: there is no origin {:?}; there is: {all}", document.path, document.origin)
    })?;
    Ok(ArgumentFact {
        path: document.path,
        value: document.value,
        authority: document.authority,
        origin,
        from: document.from,
    })
}

/// The leaves of arguments of which nothing else is known.
pub(crate) fn plain(object: &Map<String, Value>) -> Vec<ArgumentFact> {
    let mut leaves = Vec::new();
    for (name, value) in object {
        collect(&format!("/{}", pointer_token(name)), value, &mut leaves);
    }
    leaves
}

fn collect(path: &str, value: &Value, leaves: &mut Vec<ArgumentFact>) {
    let text = match value {
        Value::Object(fields) => {
            fields
                .iter()
                .for_each(|(name, inner)| collect(&format!("{path}/{}", pointer_token(name)), inner, leaves));
            return;
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, inner)| collect(&format!("{path}/{at}"), inner, leaves));
            return;
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    leaves.push(ArgumentFact {
        path: path.to_owned(),
        value: text,
        authority: false,
        origin: Origin::Nowhere,
        from: Vec::new(),
    });
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn facts(document: Value) -> Result<CallFacts, String> {
        let document: CallDocument = serde_json::from_value(document).map_err(|e| e.to_string())?;
        document.facts(&Agent::default(), &Thresholds::default())
    }

    #[test]
    fn what_facts_are_written_as_can_be_read_again() {
        let written = json!({
            "tool": "mail/send", "outside": true, "side_effects": true,
            "arguments": {"to": ["a@b.c"], "body": {"x/y": 1}},
            "findings": ["authority-order", {"code": "path-sensitive", "path": "/to/0", "message": "m"}],
            "labels": {"sink": "public"},
        });
        let first = facts(written).unwrap();
        assert_eq!((first.server.as_str(), first.tool.as_str()), ("mail", "send"));
        let paths: Vec<_> = first.arguments.iter().map(|a| a.path.as_str()).collect();
        assert_eq!(paths, ["/to/0", "/body/x~1y"]);
        let again = facts(serde_json::to_value(&first).unwrap()).unwrap();
        assert_eq!(serde_json::to_value(&first).unwrap(), serde_json::to_value(&again).unwrap());
    }

    #[test]
    fn what_means_nothing_is_said() {
        for (document, part) in [
            (json!({"tool": "send"}), "server/tool"),
            (json!({"tool": "a/b", "findings": ["sql_write"]}), "sql-write"),
            (json!({"tool": "a/b", "outsid": true}), "outsid"),
            (json!({"tool": "a/b", "arguments": [{"path": "/x", "value": "y", "origin": "me"}]}), "origin"),
            (json!({"tool": "a/b", "thresholds": {"ask_unsafe": 2.0}}), "ask_unsafe"),
        ] {
            let error = facts(document.clone()).unwrap_err();
            assert!(error.contains(part), "{document}: {error}");
        }
    }
}
