//! Step 9: the call itself. It has a deadline, dropping it cancels it upstream, and it is never made
//! a second time by us.

use super::attempt::Attempt;
use super::{Call, Inner};
use crate::ToolError;
use crate::upstream::{CallOptions, ToolResult};

impl Inner {
    pub(super) async fn dispatch(
        &self,
        attempt: &mut Attempt<'_>,
        call: &Call,
    ) -> Result<ToolResult, ToolError> {
        let _place = attempt.timed(|t| &mut t.queue_ms, self.budget.place()).await?;
        let tool = &call.definition;
        // A person may have taken minutes, and the server may have changed its mind meanwhile.
        let now = self.parts.upstreams.tool(&tool.server, &tool.name).await?;
        if now.digest() != tool.digest() {
            return Err(super::approve::definition_changed(&tool.id()));
        }
        let arguments = call.arguments.clone();
        attempt.dispatched = true;
        let answer = self.parts.upstreams.call(&tool.server, &tool.name, arguments, CallOptions::default());
        attempt.timed(|t| &mut t.upstream_ms, answer).await
    }
}
