//! The one import that leads out: `tools.call`, and the read-only `catalog`.
//!
//! It copies strings, counts what is in flight and hands everything on to the [`Door`]. It decides
//! nothing.

use std::future::Future;
use std::pin::Pin;

use tokio::task::JoinHandle;
use wasmtime::Result;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::{DynPollable, Pollable, subscribe};

use super::bindings::postern::sandbox::{catalog, tools};
use super::run::Guest;
use crate::{ToolError, ToolErrorCode};

/// What a call comes back with: JSON text, or why it failed.
pub type Answer = Result<String, ToolError>;

/// The future of an [`Answer`]. Dropping it gives the call up.
pub type Reply = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// What stands behind the import.
pub trait Door: Send + Sync + 'static {
    /// A tool call. Both strings come from the guest as they are.
    fn call(&self, tool: String, arguments: String) -> Reply;
    /// Tools that match.
    fn search(&self, query: String, limit: u32) -> Reply;
    /// One tool's definition.
    fn describe(&self, tool: String) -> Reply;
}

/// Calls that one script may hold at once. They live in the host's memory, where the memory limit
/// does not see them.
const MAX_HELD: usize = 2_000;

/// A call in flight: a task that is aborted when the guest drops the resource or the store goes.
#[derive(Debug)]
#[allow(unreachable_pub, reason = "the generated bindings name it")]
pub struct Pending {
    /// None when the answer was there from the start.
    task: Option<JoinHandle<Answer>>,
    answer: Option<Answer>,
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Pending {
    /// Called anew at each `poll` and dropped midway when something else is ready first, so it must
    /// not lose anything: awaiting a `&mut JoinHandle` does not.
    async fn ready(&mut self) {
        if self.answer.is_some() {
            return;
        }
        if let Some(task) = &mut self.task {
            let answer = match task.await {
                Ok(answer) => answer,
                // A panic in the gate ends one call and fails closed.
                Err(_) => {
                    Err(ToolError::new(ToolErrorCode::Upstream, "the host failed while it handled this call"))
                }
            };
            self.answer = Some(answer);
            self.task = None;
        }
    }
}

impl Guest {
    fn hold(&mut self, start: impl FnOnce(&dyn Door) -> Reply) -> Result<Resource<Pending>> {
        let pending = if self.held < MAX_HELD {
            // We are inside the guest's call, so there is a tokio runtime.
            Pending { task: Some(tokio::spawn(start(&*self.door))), answer: None }
        } else {
            let message = format!("{MAX_HELD} calls are in flight already: await some of them first");
            let refused = ToolError::new(ToolErrorCode::CallLimit, message).retryable();
            Pending { task: None, answer: Some(Err(refused)) }
        };
        self.held += 1;
        Ok(self.table.push(pending)?)
    }
}

impl tools::Host for Guest {
    fn call(&mut self, tool: String, arguments: String) -> Result<Resource<Pending>> {
        self.hold(|door| door.call(tool, arguments))
    }
}

impl tools::HostPending for Guest {
    fn subscribe(&mut self, pending: Resource<Pending>) -> Result<Resource<DynPollable>> {
        subscribe(&mut self.table, pending)
    }

    fn finish(&mut self, pending: Resource<Pending>) -> Result<Result<String, tools::ToolError>> {
        let answer = self.table.get_mut(&pending)?.answer.take();
        let answer = answer.unwrap_or_else(|| {
            let message = "finish was called before the answer was there, or a second time";
            Err(ToolError::new(ToolErrorCode::Cancelled, message))
        });
        Ok(answer.map_err(to_guest))
    }

    fn drop(&mut self, pending: Resource<Pending>) -> Result<()> {
        self.table.delete(pending)?;
        self.held -= 1;
        Ok(())
    }
}

impl catalog::Host for Guest {
    fn search(&mut self, query: String, limit: u32) -> Result<Resource<Pending>> {
        self.hold(|door| door.search(query, limit))
    }

    fn describe(&mut self, tool: String) -> Result<Resource<Pending>> {
        self.hold(|door| door.describe(tool))
    }
}

fn to_guest(error: ToolError) -> tools::ToolError {
    use tools::ErrorCode as Code;
    let code = match error.code {
        ToolErrorCode::InvalidArguments => Code::InvalidArguments,
        ToolErrorCode::UnknownTool => Code::UnknownTool,
        ToolErrorCode::NotGranted => Code::NotGranted,
        ToolErrorCode::Blocked => Code::Blocked,
        ToolErrorCode::ApprovalDenied => Code::ApprovalDenied,
        ToolErrorCode::ApprovalRequired => Code::ApprovalRequired,
        ToolErrorCode::ApprovalExpired => Code::ApprovalExpired,
        ToolErrorCode::CallLimit => Code::CallLimit,
        ToolErrorCode::Timeout => Code::Timeout,
        ToolErrorCode::Upstream => Code::Upstream,
        ToolErrorCode::GuardUnavailable => Code::GuardUnavailable,
        ToolErrorCode::Cancelled => Code::Cancelled,
    };
    let details = error.details.map(|details| details.to_string());
    tools::ToolError { code, message: error.message, retryable: error.retryable, details }
}
