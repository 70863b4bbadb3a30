//! Step 6: what the policy makes of what is known. It is asked twice: before the guard, so that no
//! model is asked about what is refused anyway, and after it, with its scores.

use postern_check::Verdict;

use super::Inner;
use super::attempt::Attempt;
use super::ledger::Traced;
use crate::policy::{CallFacts, NO_PERMIT};
use crate::{ToolError, ToolErrorCode};

impl Inner {
    /// Decides with what is known so far; an error means that the call is refused.
    pub(super) fn decide(&self, attempt: &mut Attempt<'_>, facts: &CallFacts) -> Result<(), ToolError> {
        let decision = self.parts.policy.decide(facts);
        attempt.decide(decision.verdict, decision.reasons);
        if decision.verdict != Verdict::Block {
            return Ok(());
        }
        let message = format!("{}/{}: blocked: {}", facts.server, facts.tool, attempt.because());
        let details = serde_json::json!({ "reasons": attempt.reasons });
        Err(ToolError::new(ToolErrorCode::Blocked, message).with_details(details))
    }

    /// Steps 6 and 7: what is known, what the policy says, what the guard says, and the policy again.
    pub(super) async fn judge(
        &self,
        attempt: &mut Attempt<'_>,
        traced: &mut Traced,
    ) -> Result<(), ToolError> {
        if let Err(refused) = self.decide(attempt, &traced.facts) {
            // A permit may wait for what the guard says.
            let undecided = self.parts.guard.is_some() && attempt.reasons.iter().all(|r| r.code == NO_PERMIT);
            if !undecided {
                return Err(refused);
            }
        }
        self.guard(attempt, traced).await?;
        match traced.facts.scores {
            Some(_) => self.decide(attempt, &traced.facts),
            // Without a guard nothing more is known than before.
            None => Ok(()),
        }
    }
}
