//! Tools that live in this process, for embedders. They go through the same gate as every other
//! tool; only the way to them is shorter.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::tool::ToolSet;
use super::{Problem, ToolDefinition, ToolResult};
use crate::ToolError;

/// A server made of Rust code. Its answers need no mapping: what it returns is what the script gets.
#[async_trait]
pub trait LocalServer: Send + Sync + 'static {
    /// The tools, read once when the server is added. The `server` of each is replaced by the name
    /// under which the server is added.
    fn tools(&self) -> Vec<ToolDefinition>;

    /// One call of one of these tools. When the caller gives up, the future is dropped.
    async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<ToolResult, ToolError>;
}

pub(super) struct Local {
    pub(super) server: Arc<dyn LocalServer>,
    pub(super) tools: HashMap<String, Arc<ToolDefinition>>,
    pub(super) set: Arc<ToolSet>,
}

impl Local {
    pub(super) fn new(name: &str, server: Arc<dyn LocalServer>) -> Self {
        let mut set = ToolSet::default();
        for mut tool in server.tools() {
            name.clone_into(&mut tool.server);
            let tool_name = tool.name.clone();
            if set.ambiguous.contains(&tool_name) {
                continue;
            }
            if set.tools.insert(tool_name.clone(), Arc::new(tool)).is_some() {
                set.tools.remove(&tool_name);
                set.problems.push(Problem {
                    server: name.to_owned(),
                    tool: Some(tool_name.clone()),
                    message: "two tools have this name; neither is used".into(),
                });
                set.ambiguous.push(tool_name);
            }
        }
        let tools = set.tools.iter().map(|(name, tool)| (name.clone(), tool.clone())).collect();
        Self { server, tools, set: Arc::new(set) }
    }
}
