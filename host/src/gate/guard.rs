//! Step 7: what the guard model says. No guard, no call. What the scores mean, the policy says.

use postern_check::BlastRadius;

use super::Inner;
use super::attempt::Attempt;
use super::ledger::Traced;
use crate::{ToolError, ToolErrorCode};

impl Inner {
    /// Asks the guard and adds what it says to what is known.
    pub(super) async fn guard(
        &self,
        attempt: &mut Attempt<'_>,
        traced: &mut Traced,
    ) -> Result<(), ToolError> {
        let Some(guard) = &self.parts.guard else { return Ok(()) };
        let check = traced.check.clone();
        let scores = attempt.timed(|t| &mut t.guard_ms, guard.score(check)).await.map_err(|down| {
            let (server, tool) = (&traced.facts.server, &traced.facts.tool);
            let message =
                format!("{server}/{tool}: the guard cannot be asked, so nothing is let through: {down}");
            ToolError::new(ToolErrorCode::GuardUnavailable, message).retryable()
        })?;
        attempt.scores = Some(scores.clone());
        // Nobody but the model may know that a call sends something out. One that is known to change
        // nothing does not.
        let sends = scores.effect >= BlastRadius::ExternalSend && !traced.facts.read_only;
        traced.facts.outside |= sends;
        traced.facts.scores = Some(scores);
        Ok(())
    }
}
