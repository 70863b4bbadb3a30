//! The `catalog` interface: which tools there are, for scripts and for whoever writes them. Only tools
//! that are granted show, and what is not granted has no part in the order of what is.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{GateParts, Grants, resolve};
use crate::ToolError;
use crate::sandbox::Answer;
use crate::upstream::{Found, ToolDefinition, ToolSummary, Upstreams};

/// The most tools that one search of a script gives.
const MOST: u32 = 200;

pub(super) async fn search(parts: &GateParts, query: &str, limit: u32) -> Answer {
    let found = found(&parts.upstreams, &parts.grants, query, limit.min(MOST) as usize).await;
    let shown: Vec<ToolSummary> = found.tools.iter().map(|tool| tool.summary()).collect();
    Ok(json!(shown).to_string())
}

pub(super) async fn describe(parts: &GateParts, tool: &str) -> Answer {
    let tool = described(&parts.upstreams, &parts.grants, tool).await?;
    Ok(definition(&tool).to_string())
}

/// The tools that a run may call, to be looked through: what `catalog` is to its script. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Tools {
    upstreams: Upstreams,
    grants: Grants,
}

impl Tools {
    /// Of these servers what these grants allow.
    pub fn new(upstreams: Upstreams, grants: Grants) -> Self {
        Self { upstreams, grants }
    }

    /// At most `limit` tools that match, best first; a query without words (empty, `*`) gives all by name.
    /// Starts the servers of which something is granted, if they are not. One that does not answer is
    /// among the problems.
    ///
    /// The index of each server's tools is made at the first search and kept until the server says that
    /// its tools have changed.
    pub async fn search(&self, query: &str, limit: usize) -> Found {
        found(&self.upstreams, &self.grants, query, limit).await
    }

    /// One tool, whole, by its name `server/tool`.
    ///
    /// # Errors
    /// `unknown-tool`, `not-granted`, or `upstream` when its server cannot be reached.
    pub async fn describe(&self, tool: &str) -> Result<Arc<ToolDefinition>, ToolError> {
        described(&self.upstreams, &self.grants, tool).await
    }
}

async fn found(upstreams: &Upstreams, grants: &Grants, query: &str, limit: usize) -> Found {
    let granted = |tool: &ToolDefinition| grants.allow(&tool.server, &tool.name);
    let mut found = upstreams.search(query, |server| grants.any_of(server), granted).await;
    found.tools.truncate(limit);
    found
}

async fn described(
    upstreams: &Upstreams,
    grants: &Grants,
    tool: &str,
) -> Result<Arc<ToolDefinition>, ToolError> {
    let (server, name) = resolve::parse(tool, upstreams)?;
    grants.check(server, name)?;
    upstreams.tool(server, name).await
}

/// A tool's definition as scripts, `postern tools show` and embedders see it.
pub(crate) fn definition(tool: &ToolDefinition) -> Value {
    let mut definition = json!({ "name": tool.id() });
    set(&mut definition, "title", tool.title().map(Value::from));
    set(&mut definition, "description", tool.description.as_deref().map(Value::from));
    definition["inputSchema"] = tool.input_schema.clone();
    set(&mut definition, "outputSchema", tool.output_schema.clone());
    let annotations = serde_json::to_value(&tool.annotations).ok();
    set(&mut definition, "annotations", annotations.filter(|a| a.as_object().is_some_and(|a| !a.is_empty())));
    definition
}

fn set(object: &mut Value, key: &str, value: Option<Value>) {
    if let Some(value) = value {
        object[key] = value;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use async_trait::async_trait;
    use serde_json::Map;

    use super::*;
    use crate::ToolErrorCode;
    use crate::gate::Pattern;
    use crate::upstream::{LocalServer, ToolResult};

    struct Desk;

    #[async_trait]
    impl LocalServer for Desk {
        fn tools(&self) -> Vec<ToolDefinition> {
            let tool = |name: &str, about: &str| {
                let schema = json!({"type": "object", "properties": {"recipient": {"type": "string"}}});
                ToolDefinition::new("desk", name, schema).with_description(about)
            };
            vec![
                tool("archive", "Puts a letter away after you send it."),
                tool("sendLetter", "Posts a letter. It cannot be called back."),
                tool("list", "Lists all letters."),
            ]
        }

        async fn call(&self, _: &str, arguments: Map<String, Value>) -> Result<ToolResult, ToolError> {
            Ok(ToolResult::value(Value::Object(arguments)))
        }
    }

    fn tools(patterns: &[&str]) -> Tools {
        let upstreams = Upstreams::builder()
            .with_local("desk", Arc::new(Desk))
            .with_local("other", Arc::new(Desk))
            .build();
        Tools::new(upstreams, Grants::new(patterns.iter().map(|p| Pattern::parse(p).unwrap()).collect()))
    }

    async fn names(tools: &Tools, query: &str) -> Vec<String> {
        tools.search(query, 10).await.tools.iter().map(|tool| tool.id()).collect()
    }

    #[tokio::test]
    async fn a_search_shows_what_is_granted_and_nothing_else() {
        let some = tools(&["desk/archive", "desk/list"]);
        assert_eq!(names(&some, "send").await, ["desk/archive"]);
        assert_eq!(names(&some, "").await, ["desk/archive", "desk/list"]);
        assert_eq!(names(&some, "sendlettr").await, [""; 0], "not even by a misspelt word");
        let all = tools(&["*/*"]);
        assert_eq!(names(&all, "send a letter").await[..2], ["desk/sendLetter", "other/sendLetter"]);
        assert_eq!(names(&all, "*").await.len(), 6);
        assert_eq!(all.search("letter", 2).await.tools.len(), 2);
        assert_eq!(names(&all, "recipient").await.len(), 6, "names of arguments count");
        assert_eq!(names(&tools(&[]), "letter").await, [""; 0]);
        let summary = json!(all.search("send", 1).await.tools[0].summary());
        assert_eq!(summary, json!({"name": "desk/sendLetter", "description": "Posts a letter."}));
    }

    #[tokio::test]
    async fn a_description_is_of_one_granted_tool() {
        let some = tools(&["desk/archive"]);
        assert_eq!(some.describe("desk/archive").await.unwrap().name, "archive");
        let code = async |name: &str| some.describe(name).await.unwrap_err().code;
        assert_eq!(code("desk/list").await, ToolErrorCode::NotGranted);
        assert_eq!(
            code("desk/lsit").await,
            ToolErrorCode::NotGranted,
            "what is not granted may not be told of"
        );
        assert_eq!(code("nowhere/list").await, ToolErrorCode::UnknownTool);
        assert_eq!(code("list").await, ToolErrorCode::UnknownTool);
    }
}
