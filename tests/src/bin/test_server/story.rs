//! `--story FILE`: tools and answers from a file, for tests in which a server plays a part: a mail box,
//! a bank, a chat. The file is JSON:
//!
//! ```text
//! {"tools": [{"name", "description", "properties", "required", "annotations",
//!             "answers": [{"when": {argument: value, ...}, "text" | "json" | "file" | "error": ...}, ...]}],
//!  "then": {"after": CALLS, "tools": [...]}}
//! ```
//!
//! The first answer whose `when` fits is given; without one, the call fails. After `then.after` calls the
//! server has the other tools and says that its list has changed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::answers;
use crate::log::Log;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Story {
    tools: Vec<Told>,
    then: Option<Then>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Then {
    after: u64,
    tools: Vec<Told>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    properties: Map<String, Value>,
    #[serde(default)]
    required: Vec<String>,
    annotations: Option<ToolAnnotations>,
    #[serde(default)]
    answers: Vec<Answer>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    #[serde(default)]
    when: Map<String, Value>,
    text: Option<String>,
    json: Option<Value>,
    /// The text of a file that comes as bytes.
    file: Option<String>,
    error: Option<String>,
}

#[derive(Clone)]
pub(crate) struct StoryServer {
    story: Arc<Story>,
    log: Log,
    calls: Arc<AtomicU64>,
}

impl StoryServer {
    pub(crate) fn read(path: &str, log: Log) -> Result<Self, Box<dyn std::error::Error>> {
        let story = serde_json::from_str(&std::fs::read_to_string(path)?)?;
        Ok(Self { story: Arc::new(story), log, calls: Arc::default() })
    }

    fn tools(&self) -> &[Told] {
        match &self.story.then {
            Some(then) if self.calls.load(Ordering::SeqCst) >= then.after => &then.tools,
            _ => &self.story.tools,
        }
    }
}

impl Told {
    fn tool(&self) -> Tool {
        let schema = json!({"type": "object", "properties": self.properties, "required": self.required});
        let Value::Object(schema) = schema else { unreachable!("it is written as an object above") };
        let tool = Tool::new(self.name.clone(), self.description.clone(), Arc::new(schema));
        match &self.annotations {
            Some(hints) => tool.with_annotations(hints.clone()),
            None => tool,
        }
    }
}

impl ServerHandler for StoryServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools().iter().map(Told::tool).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        self.log.write("start", &request.name, &arguments);
        let tool = self.tools().iter().find(|tool| tool.name == request.name);
        let tool = tool.ok_or_else(|| ErrorData::invalid_params("there is no such tool", None))?;
        let fits =
            |answer: &&Answer| answer.when.iter().all(|(name, value)| arguments.get(name) == Some(value));
        let result = match tool.answers.iter().find(fits) {
            Some(Answer { json: Some(value), .. }) => answers::structured(value.clone()),
            Some(Answer { file: Some(text), .. }) => answers::file(text),
            Some(Answer { error: Some(message), .. }) => answers::failure(message),
            Some(Answer { text, .. }) => answers::text([text.clone().unwrap_or_default()]),
            None => answers::failure("the story has no such turn"),
        };
        let calls = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        if self.story.then.as_ref().is_some_and(|then| then.after == calls) {
            // A client that is gone does not want to know.
            let _ = context.peer.notify_tool_list_changed().await;
        }
        self.log.write("finish", &request.name, &arguments);
        Ok(result.into())
    }
}
