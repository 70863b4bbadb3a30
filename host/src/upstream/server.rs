//! One configured server over time: connected when first needed, once for everybody who waits, again
//! after it has died; and one call on it with its deadline.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};
use rmcp::ServiceError;
use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, RequestMetaObject};
use serde_json::{Map, Value, json};
use tokio::task::AbortHandle;

use super::config::{Era, MAX_CALL_TIMEOUT, ServerConfig, Transport};
use super::connection::{Backoff, Connection, Failure};
use super::text::{QUOTE_BYTES, Redactor, near};
use super::tool::ToolSet;
use super::{CallOptions, ToolDefinition, ToolResult, http, result};
use crate::{ToolError, ToolErrorCode};

type Attempt = Shared<BoxFuture<'static, Result<Arc<Connection>, Failure>>>;

pub(super) struct Server {
    name: String,
    pub(super) config: ServerConfig,
    redactor: Redactor,
    max_bytes: usize,
    state: Mutex<State>,
    backoff: Backoff,
}

#[derive(Default)]
struct State {
    attempt: Option<Attempt>,
    /// Ends the attempt and the process it started.
    abort: Option<AbortHandle>,
    /// The era that worked last. Forgotten when it fails.
    era: Option<Era>,
    closed: bool,
}

impl Server {
    pub(super) fn new(name: &str, config: ServerConfig, max_bytes: usize) -> Arc<Self> {
        let redactor = config.redactor();
        Arc::new(Self {
            name: name.to_owned(),
            config,
            redactor,
            max_bytes,
            state: Mutex::default(),
            backoff: Backoff::default(),
        })
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The live connection, made now if there is none. Giving up waiting does not stop the attempt:
    /// others wait for it too.
    pub(super) async fn connection(self: &Arc<Self>) -> Result<Arc<Connection>, ToolError> {
        if let Some(reason) = self.unusable() {
            return Err(self.unreachable(&reason).with_details(json!({"kind": "not-usable"})));
        }
        let attempt = self.attempt()?;
        attempt.await.map_err(|failure| self.unreachable(&failure.message).retryable())
    }

    fn unusable(&self) -> Option<String> {
        match &self.config.transport {
            _ if !self.config.enabled => Some("it is disabled in the configuration".into()),
            Transport::Unusable { reason } => Some(reason.clone()),
            _ => None,
        }
    }

    fn unreachable(&self, why: &str) -> ToolError {
        let message = format!("server `{}`: {}", self.name, self.redactor.redact(why));
        ToolError::new(ToolErrorCode::Upstream, message).with_details(json!({"kind": "not-connected"}))
    }

    fn attempt(self: &Arc<Self>) -> Result<Attempt, ToolError> {
        let mut state = self.state();
        if state.closed {
            return Err(self.unreachable("it has been closed"));
        }
        if let Some(attempt) = &state.attempt {
            match attempt.peek() {
                // Still under way.
                None => return Ok(attempt.clone()),
                Some(Ok(connection)) if connection.is_alive() => return Ok(attempt.clone()),
                // It died. A server that dies on every call is started less and less often.
                Some(Ok(_)) => self.backoff.failed(),
                // Counted when it failed.
                Some(Err(_)) => {}
            }
        }
        let server = self.clone();
        let task = tokio::spawn(async move { server.connect().await });
        state.abort = Some(task.abort_handle());
        let attempt: Attempt = async move {
            match task.await {
                Ok(result) => result,
                Err(_) => Err(Failure::new("the attempt to start it was given up")),
            }
        }
        .boxed()
        .shared();
        state.attempt = Some(attempt.clone());
        Ok(attempt)
    }

    async fn connect(&self) -> Result<Arc<Connection>, Failure> {
        tokio::time::sleep(self.backoff.wait()).await;
        let era = self.config.era.or(self.state().era);
        let mut opened = self.open(era).await;
        if self.config.era.is_none()
            && let Err(failure) = &opened
        {
            // It answered the probe late, or no longer speaks the era it spoke: find out once more.
            let other = failure.other_era;
            self.state().era = None;
            if other.is_some() || era.is_some() {
                opened = self.open(other).await;
            }
        }
        match opened {
            Ok(connection) => {
                self.state().era = Some(connection.hello.era);
                Ok(Arc::new(connection))
            }
            Err(failure) => {
                self.backoff.failed();
                Err(failure)
            }
        }
    }

    async fn open(&self, era: Option<Era>) -> Result<Connection, Failure> {
        let limit = self.config.connect_timeout;
        match tokio::time::timeout(limit, Connection::open(&self.name, &self.config, era, self.max_bytes))
            .await
        {
            Ok(opened) => opened,
            Err(_) => {
                Err(Failure::new(format!("it was not ready within {} (connectTimeout)", seconds(limit))))
            }
        }
    }

    /// The tools, listed anew when the server has said that they changed.
    pub(super) async fn tools(self: &Arc<Self>) -> Result<Arc<ToolSet>, ToolError> {
        let connection = self.connection().await?;
        connection.tools().await.map_err(|failure| self.unreachable(&failure.message).retryable())
    }

    /// The definition of one tool.
    pub(super) async fn tool(self: &Arc<Self>, tool: &str) -> Result<Arc<ToolDefinition>, ToolError> {
        let tools = self.tools().await?;
        self.find(&tools, tool)
    }

    fn find(&self, tools: &ToolSet, tool: &str) -> Result<Arc<ToolDefinition>, ToolError> {
        tools.tools.get(tool).cloned().ok_or_else(|| unknown_tool(&self.name, tool, tools))
    }

    /// One call. Never made twice by us: a call that broke off may have done its work.
    pub(super) async fn call(
        self: &Arc<Self>,
        tool: &str,
        arguments: Map<String, Value>,
        options: &CallOptions,
    ) -> Result<ToolResult, ToolError> {
        let configured = self.config.timeout_for(tool);
        let limit = options.timeout.map_or(configured, |limit| limit.min(configured)).min(MAX_CALL_TIMEOUT);
        let connecting = async {
            let connection = self.connection().await?;
            let definition = self.find(&connection.known_tools(), tool)?;
            Ok::<_, ToolError>((connection, definition))
        };
        // Starting a server has a time of its own, unless the caller's runs out first.
        let (connection, definition) = match options.timeout {
            Some(limit) => tokio::time::timeout(limit, connecting)
                .await
                .map_err(|_| self.timed_out(tool, limit, true))??,
            None => connecting.await?,
        };
        let declined = connection.events.declined();
        let mut params = CallToolRequestParams::new(tool.to_owned());
        params.arguments = Some(arguments);
        if let Some(opened) = options.opened.clone() {
            let (answers, state) = opened.answers();
            params.input_responses = Some(answers);
            params.request_state = state;
        }
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let meta = options.traceparent.as_ref().map(|traceparent| {
            let mut meta = RequestMetaObject::new();
            meta.set_traceparent(traceparent);
            meta
        });
        let origin = result::Origin { server: &self.name, tool, redactor: &self.redactor };
        let answered = match tokio::time::timeout(limit, connection.call(request, meta)).await {
            Ok(Ok(raw)) => {
                self.backoff.worked();
                result::map(&origin, &definition, raw, options.links)
            }
            Ok(Err(error)) => Err(self.call_failed(&connection, &origin, &error).await),
            Err(_) => Err(self.timed_out(tool, limit, false)),
        };
        self.tell_declined(&connection, declined, answered)
    }

    async fn call_failed(
        &self,
        connection: &Connection,
        origin: &result::Origin<'_>,
        error: &ServiceError,
    ) -> ToolError {
        match error {
            ServiceError::McpError(error) => {
                let message = self.redactor.clean(&error.message, QUOTE_BYTES);
                let mut details = json!({"kind": "protocol-error", "rpcCode": error.code.0});
                if let Some(data) = &error.data
                    && data.to_string().len() <= QUOTE_BYTES
                {
                    details["data"] = Value::from(self.redactor.redact(&data.to_string()));
                }
                origin.error(format!("{message} (JSON-RPC error {})", error.code.0), details)
            }
            ServiceError::TransportSend(error) => {
                let (what, not_sent) = http::describe(error.error.as_ref());
                let what = self.redactor.clean(&what, QUOTE_BYTES);
                if not_sent {
                    origin.error(what, json!({"kind": "not-sent"})).retryable()
                } else {
                    origin.error(unknown_outcome(&what), json!({"kind": "broke-off"}))
                }
            }
            other => {
                let failure = connection.failure("the call broke off", other).await;
                origin.error(unknown_outcome(&failure.message), json!({"kind": "broke-off"}))
            }
        }
    }

    fn timed_out(&self, tool: &str, limit: Duration, connecting: bool) -> ToolError {
        let name = &self.name;
        let limit_text = seconds(limit);
        let message = if connecting {
            format!("{name}/{tool}: server `{name}` was not ready within {limit_text}; the call was not made")
        } else {
            format!(
                "{name}/{tool}: no answer within {limit_text}. The tool may or may not have done its work. A longer time is \
                 set with `toolTimeouts` or `callTimeout` of the server"
            )
        };
        let kind = if connecting { "not-connected" } else { "timeout" };
        let error = ToolError::new(ToolErrorCode::Timeout, message);
        error.with_details(
            json!({"kind": kind, "limitMs": u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)}),
        )
    }

    /// A server that asked for something during the call did not get it, which may be why the result
    /// is what it is.
    fn tell_declined(
        &self,
        connection: &Connection,
        seen: usize,
        answered: Result<ToolResult, ToolError>,
    ) -> Result<ToolResult, ToolError> {
        let Some(asked) = connection.events.declined_since(seen) else { return answered };
        let told = format!("server `{}` asked for {asked} meanwhile, which Postern declines", self.name);
        match answered {
            Ok(mut result) => {
                result.warnings.push(told);
                Ok(result)
            }
            Err(mut error) => {
                error.message = format!("{} ({told})", error.message);
                Err(error)
            }
        }
    }

    /// Ends the connection, or the attempt to make one, and refuses new ones.
    pub(super) async fn close(&self) {
        let (attempt, abort) = {
            let mut state = self.state();
            state.closed = true;
            (state.attempt.take(), state.abort.take())
        };
        if let Some(Ok(connection)) = attempt.as_ref().and_then(Shared::peek) {
            connection.close().await;
        } else if let Some(abort) = abort {
            abort.abort();
        }
    }
}

fn unknown_outcome(what: &str) -> String {
    format!("{what}\nThe tool may or may not have done its work; the call is not made again")
}

fn seconds(time: Duration) -> String {
    if time.as_millis() < 1_000 {
        format!("{} ms", time.as_millis())
    } else {
        format!("{} s", time.as_secs_f64())
    }
}

/// Names what is there instead.
pub(super) fn unknown_tool(server: &str, tool: &str, tools: &ToolSet) -> ToolError {
    let asked = super::text::bounded(tool, 100);
    let message = if tools.ambiguous.iter().any(|name| name == tool) {
        format!("server `{server}` gives the name {asked} to two different tools; neither is used")
    } else {
        let near = near(tool, tools.tools.keys().map(String::as_str));
        let hint = match near.as_slice() {
            [] if tools.tools.is_empty() => "it has no tools".to_owned(),
            [] => {
                let some: Vec<&str> = tools.tools.keys().map(String::as_str).take(8).collect();
                let more = tools.tools.len().saturating_sub(some.len());
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("it has {}{more}", some.join(", "))
            }
            near => format!(
                "did you mean {}?",
                near.iter().map(|n| format!("{server}/{n}")).collect::<Vec<_>>().join(", ")
            ),
        };
        format!("server `{server}` has no tool {asked}; {hint}")
    };
    ToolError::new(ToolErrorCode::UnknownTool, message)
}
