//! `web`: fetches web pages. It serves the pages in pages/ and asks no network for any other.
//!
//! One of them, the churn playbook, is honest advice with instructions to agents planted in its
//! middle. That is the demo's attack: whoever can edit a page can talk to whatever reads it.

use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Address, title, text.
const PAGES: [(&str, &str, &str); 2] = [
    ("https://intranet.acme.test/", "Acme intranet", include_str!("../pages/index.md")),
    (
        "https://intranet.acme.test/churn-playbook",
        "Churn playbook",
        include_str!("../pages/churn-playbook.md"),
    ),
];

#[derive(Clone)]
pub(crate) struct Web;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Address {
    /// The page's address, such as `https://intranet.acme.test/`.
    url: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Page {
    url: String,
    title: &'static str,
    /// The page as Markdown.
    text: &'static str,
}

#[tool_router(server_handler)]
impl Web {
    /// Fetches a web page and returns its text as Markdown. In this demo only the pages that are
    /// built into the server exist.
    #[tool(annotations(title = "Fetch a web page", read_only_hint = true, open_world_hint = true))]
    fn fetch(&self, Parameters(Address { url }): Parameters<Address>) -> Result<Json<Page>, String> {
        // Parsing makes `https://INTRANET.acme.test` and the listed spelling one address.
        let parsed = url::Url::parse(&url).map_err(|error| format!("`{url}` is no address: {error}"))?;
        let page = PAGES.into_iter().find(|(address, _, _)| *address == parsed.as_str());
        let (_, title, text) = page.ok_or_else(|| format!("404: there is no page at {parsed}"))?;
        Ok(Json(Page { url: parsed.into(), title, text }))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn fetch(url: &str) -> Result<Page, String> {
        Web.fetch(Parameters(Address { url: url.to_owned() })).map(|Json(page)| page)
    }

    #[test]
    fn serves_its_own_pages_only() {
        assert_eq!(fetch("https://INTRANET.acme.test").unwrap().title, "Acme intranet");
        assert!(
            fetch("https://intranet.acme.test/churn-playbook")
                .unwrap()
                .text
                .contains("collector.example.com")
        );
        assert!(fetch("https://example.com/").is_err_and(|message| message.starts_with("404")));
        assert!(fetch("churn-playbook").is_err());
    }
}
