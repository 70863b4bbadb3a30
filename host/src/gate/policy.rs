//! Step 6: what the policy makes of what is known. It is asked twice: before the guard, so that no
//! model is asked about what is refused anyway, and after it, with its scores.

use postern_check::{Reason, Verdict};

use super::Inner;
use super::attempt::Attempt;
use super::guard::UNAVAILABLE;
use super::ledger::Traced;
use crate::policy::{CallFacts, NO_PERMIT};
use crate::{ToolError, ToolErrorCode};

impl Inner {
    /// Decides with what is known so far; an error means that the call is refused.
    pub(super) fn decide(&self, attempt: &mut Attempt<'_>, facts: &CallFacts) -> Result<(), ToolError> {
        attempt.decide(self.parts.policy.decide(facts));
        if attempt.verdict != Verdict::Block {
            return Ok(());
        }
        let message = format!("{}/{}: blocked: {}", facts.server, facts.tool, attempt.because());
        let details = serde_json::json!({ "reasons": attempt.reasons });
        Err(ToolError::new(ToolErrorCode::Blocked, message).with_details(details))
    }

    /// Steps 6 and 7: what is known, what the policy says, what the guard says, and the policy again. However it
    /// ends, the journal gets to know what was known.
    pub(super) async fn judge(
        &self,
        attempt: &mut Attempt<'_>,
        traced: &mut Traced,
    ) -> Result<(), ToolError> {
        let judged = self.judged(attempt, traced).await;
        attempt.knows(traced);
        judged
    }

    async fn judged(&self, attempt: &mut Attempt<'_>, traced: &mut Traced) -> Result<(), ToolError> {
        if let Err(refused) = self.decide(attempt, &traced.facts) {
            // A permit may wait for what the guard says.
            let undecided = self.parts.guard.is_some() && attempt.reasons.iter().all(|r| r.code == NO_PERMIT);
            if !undecided {
                return Err(refused);
            }
        }
        let known = traced.facts.findings.len();
        self.guard(attempt, traced).await?;
        // Without a guard nothing more is known than before.
        if traced.facts.scores.is_none() && traced.facts.findings.len() == known {
            return Ok(());
        }
        self.decide(attempt, &traced.facts)?;
        // That it passes unseen by the model is said, although nothing speaks against it.
        let unseen = traced.facts.findings.iter().skip(known).find(|finding| finding.code == UNAVAILABLE);
        if let Some(finding) = unseen
            && attempt.reasons.iter().all(|reason| reason.code != UNAVAILABLE)
        {
            attempt.reasons.push(Reason::new(finding.code, finding.message.clone()));
        }
        Ok(())
    }
}
