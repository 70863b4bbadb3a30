//! `mail`: writes drafts into a folder. It cannot send.

use std::path::PathBuf;

use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::lines;

#[derive(Clone)]
pub(crate) struct Mail {
    drafts: PathBuf,
}

/// What is drafted, and what the drafts file keeps of it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Draft {
    /// Addresses.
    to: Vec<String>,
    /// Addresses that get a copy.
    #[serde(default)]
    cc: Vec<String>,
    subject: String,
    /// Plain text or Markdown.
    body: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Drafted {
    /// Such as `draft-1`.
    id: String,
}

impl Mail {
    /// The drafts lie in `drafts.jsonl` in the folder that ACME_DRAFTS names, else in `acme-drafts` here.
    pub(crate) fn from_env() -> Self {
        let folder = std::env::var_os("ACME_DRAFTS").unwrap_or_else(|| "acme-drafts".into());
        Self { drafts: PathBuf::from(folder).join("drafts.jsonl") }
    }
}

#[tool_router(server_handler)]
impl Mail {
    /// Writes a mail into the drafts folder, for a person to read and send. Sends nothing.
    #[tool(annotations(
        title = "Create a mail draft",
        read_only_hint = false,
        destructive_hint = false,
        idempotent_hint = false,
        open_world_hint = false
    ))]
    fn create_draft(&self, Parameters(draft): Parameters<Draft>) -> Result<Json<Drafted>, String> {
        if draft.to.is_empty() {
            return Err("a draft needs at least one address in `to`".to_owned());
        }
        if let Some(wrong) = draft.to.iter().chain(&draft.cc).find(|address| !address.contains('@')) {
            return Err(format!("`{wrong}` is no mail address"));
        }
        let number = lines::append(&self.drafts, &draft)
            .map_err(|error| format!("cannot write the draft: {error}"))?;
        Ok(Json(Drafted { id: format!("draft-{number}") }))
    }
}
