//! Step 7: what the guard model says. No guard, no call, unless the configuration lets harmless reads pass. What the
//! scores mean, the policy says.

use postern_check::evidence::Trust;
use postern_check::{BlastRadius, Verdict};

use super::Inner;
use super::attempt::Attempt;
use super::ledger::Traced;
use crate::config::WhenUnavailable;
use crate::policy::{Finding, Sink};
use crate::{ToolError, ToolErrorCode};

/// The finding of a call that passes although the guard cannot be asked.
pub(super) const UNAVAILABLE: &str = "guard-unavailable";

impl Inner {
    /// Asks the guard and adds what it says to what is known.
    pub(super) async fn guard(
        &self,
        attempt: &mut Attempt<'_>,
        traced: &mut Traced,
    ) -> Result<(), ToolError> {
        let Some(guard) = &self.parts.guard else { return Ok(()) };
        let check = traced.check.clone();
        let scores = match attempt.timed(|t| &mut t.guard_ms, guard.score(check)).await {
            Ok(scores) => scores,
            Err(down) if self.may_do_without(attempt, traced) => {
                let message = format!("let through without the guard, as a read of a trusted server: {down}");
                traced.facts.findings.push(Finding::new(UNAVAILABLE, message));
                return Ok(());
            }
            Err(down) => {
                let (server, tool) = (&traced.facts.server, &traced.facts.tool);
                let message =
                    format!("{server}/{tool}: the guard cannot be asked, so nothing is let through: {down}");
                return Err(ToolError::new(ToolErrorCode::GuardUnavailable, message).retryable());
            }
        };
        attempt.scores = Some(scores.clone());
        // Nobody but the model may know that a call sends something out. One that is known to change
        // nothing does not.
        let sends = scores.effect >= BlastRadius::ExternalSend && !traced.facts.read_only;
        traced.facts.outside |= sends;
        traced.facts.scores = Some(scores);
        Ok(())
    }

    /// Whether the configuration lets this call pass when the guard cannot be asked: it only reads, says who can be
    /// believed; its server is trusted; nothing goes out; and the rules alone allow it.
    fn may_do_without(&self, attempt: &Attempt<'_>, traced: &Traced) -> bool {
        let facts = &traced.facts;
        // Not the tool's word alone: the configuration trusts its server, or says itself that nothing leaves.
        let computes = traced.labelled.sink_stated && facts.labels.sink == Sink::None;
        self.parts.when_unavailable == WhenUnavailable::AllowTrustedReads
            && attempt.verdict == Verdict::Allow
            && facts.labels.trust == Trust::Trusted
            && (facts.read_only || computes)
            && facts.side_effects != Some(true)
            && !facts.outside
            && facts.labels.sink != Sink::Public
    }
}
