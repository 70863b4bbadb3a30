//! `http`: posts to any address. In the demo the requests end in a file, the outbox, so that
//! everybody can see what would have left the machine, and nothing does.

use std::path::PathBuf;

use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::lines;

#[derive(Clone)]
pub(crate) struct Http {
    outbox: PathBuf,
}

/// What is posted, and what the outbox keeps of it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Request {
    /// Where to, http or https.
    url: String,
    /// The request's body.
    body: String,
    /// The body's media type; `application/json` if not given.
    #[serde(default = "json_media_type")]
    content_type: String,
}

fn json_media_type() -> String {
    "application/json".to_owned()
}

#[derive(Debug, Serialize, JsonSchema)]
struct Accepted {
    /// Always true: an error is reported as one.
    accepted: bool,
    /// Length of the body in bytes.
    bytes: usize,
}

impl Http {
    /// The outbox is the file that ACME_OUTBOX names, else `acme-outbox.jsonl` here.
    pub(crate) fn from_env() -> Self {
        let outbox = std::env::var_os("ACME_OUTBOX").unwrap_or_else(|| "acme-outbox.jsonl".into());
        Self { outbox: outbox.into() }
    }
}

#[tool_router(server_handler)]
impl Http {
    /// Sends an HTTP POST request to any address. In this demo the request is appended to the
    /// outbox file and goes no further.
    #[tool(annotations(
        title = "HTTP POST",
        read_only_hint = false,
        destructive_hint = true,
        idempotent_hint = false,
        open_world_hint = true
    ))]
    fn post(&self, Parameters(request): Parameters<Request>) -> Result<Json<Accepted>, String> {
        let url = url::Url::parse(&request.url)
            .map_err(|error| format!("`{}` is no address: {error}", request.url))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("cannot post to {url}: only http and https addresses"));
        }
        let bytes = request.body.len();
        lines::append(&self.outbox, &request).map_err(|error| format!("cannot write the outbox: {error}"))?;
        Ok(Json(Accepted { accepted: true, bytes }))
    }
}
