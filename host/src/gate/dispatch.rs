//! Step 9: the call itself. It has a deadline, dropping it cancels it upstream, and it is never made
//! a second time by us; but a server that stops and wants a person to open a link is asked to go on.

use super::attempt::Attempt;
use super::{Call, Inner};
use crate::upstream::{CallOptions, ToolResult};
use crate::{ToolError, ToolErrorCode};

/// How often one call may stop.
const MOST_STOPS: usize = 3;

impl Inner {
    pub(super) async fn dispatch(
        &self,
        attempt: &mut Attempt<'_>,
        call: &Call,
    ) -> Result<ToolResult, ToolError> {
        let mut options = CallOptions { links: true, ..CallOptions::default() };
        for _ in 0..=MOST_STOPS {
            let mut result = self.dispatch_once(attempt, call, options.clone()).await?;
            let Some(wanted) = result.wanted.take() else { return Ok(result) };
            // No place is held meanwhile: others can be called while a person looks.
            self.ask_about_links(attempt, call, &wanted).await?;
            options.opened = Some(wanted.opened());
        }
        let message = format!("{}: its server goes on asking for links", call.definition.id());
        Err(ToolError::new(ToolErrorCode::Upstream, message))
    }

    async fn dispatch_once(
        &self,
        attempt: &mut Attempt<'_>,
        call: &Call,
        options: CallOptions,
    ) -> Result<ToolResult, ToolError> {
        let _place = attempt.timed(|t| &mut t.queue_ms, self.budget.place()).await?;
        let tool = &call.definition;
        self.is_as_decided(tool).await?;
        let arguments = call.arguments.clone();
        attempt.dispatched = true;
        let answer = self.parts.upstreams.call(&tool.server, &tool.name, arguments, options);
        attempt.timed(|t| &mut t.upstream_ms, answer).await
    }
}
