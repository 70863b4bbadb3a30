//! Step 8: what a person says. The run's clock stands still meanwhile, other calls go on. The answer is
//! bound to exactly this call and used once; what was known of the call is found out again after it.

use std::time::Duration;

use postern_check::Verdict;
use tokio::time::{Instant, timeout_at};

use super::attempt::Attempt;
use super::ledger::Traced;
use super::{Call, Inner};
use crate::approval::{ApprovalRequest, Binding, Decision, Likeness, Unsealed, places};
use crate::{ToolError, ToolErrorCode};

impl Inner {
    /// Asks, unless an answer to a like call covers this one; then everything is checked again.
    pub(super) async fn approve(
        &self,
        attempt: &mut Attempt<'_>,
        call: &Call,
        traced: &mut Traced,
    ) -> Result<(), ToolError> {
        let likeness = self.likeness(attempt, call, traced);
        let until = Instant::now() + self.parts.approval_time;
        let binding = self.binding(call, self.parts.approval_time);
        let seal = self.parts.sealer.seal(&binding);

        let pause = self.parts.clock.pause();
        let asked = async {
            // One question at a time: the answer to one may cover those that wait behind it.
            let mut groups = self.groups.lock().await;
            if groups.take(&likeness) {
                return Decision::Approved;
            }
            let request = self.request(attempt, call, traced, &likeness, &seal.text());
            match self.parts.approver.decide(request).await {
                Decision::ApprovedLike(calls) => {
                    groups.approve(likeness, calls.saturating_sub(1));
                    Decision::Approved
                }
                other => other,
            }
        };
        let began = std::time::Instant::now();
        let decision = timeout_at(until, asked).await;
        attempt.waited(began.elapsed());
        drop(pause);

        let because = attempt.because().to_owned();
        let tool = call.definition.id();
        let refused = |code, message: String| Err(ToolError::new(code, message));
        match decision {
            Ok(Decision::Approved | Decision::ApprovedLike(_)) => {}
            Ok(Decision::Denied(reason)) => {
                let message = format!("{tool}: a person refused this call: {reason}");
                return refused(ToolErrorCode::ApprovalDenied, message);
            }
            Ok(Decision::Unavailable) => {
                let message =
                    format!("{tool}: a person must approve this call ({because}), and nobody can be asked");
                return refused(ToolErrorCode::ApprovalRequired, message);
            }
            Err(_) => {
                let message = format!("{tool}: nobody decided about this call in time ({because})");
                return refused(ToolErrorCode::ApprovalExpired, message);
            }
        }
        self.check_again(attempt, call, traced).await?;
        let now = jiff::Timestamp::now().as_second();
        let binding = Binding { expires: binding.expires, ..self.binding(call, Duration::ZERO) };
        self.parts.sealer.open(&seal, &binding, now).or_else(|fault| {
            let code = match fault {
                Unsealed::Expired => ToolErrorCode::ApprovalExpired,
                Unsealed::Changed | Unsealed::Used => ToolErrorCode::Blocked,
            };
            refused(code, format!("{tool}: {fault}"))
        })
    }

    /// What is known may have changed while a person thought: what was read meanwhile, the tool, the
    /// policy. Only a block counts now; that it must be asked about has been answered.
    async fn check_again(
        &self,
        attempt: &mut Attempt<'_>,
        call: &Call,
        traced: &mut Traced,
    ) -> Result<(), ToolError> {
        let tool = &call.definition;
        let now = self.parts.upstreams.tool(&tool.server, &tool.name).await?;
        if now.digest() != tool.digest() {
            return Err(definition_changed(&tool.id()));
        }
        let mut again = self.trace(attempt.number(), tool, &call.arguments).await?;
        // Its own costs must not count against it twice.
        self.give_back(traced);
        self.spend(&mut again);
        traced.take_over(&mut again);
        again.facts.scores = traced.facts.scores.clone();
        again.facts.outside |= traced.facts.outside;
        let decision = self.parts.policy.decide(&again.facts);
        if decision.verdict != Verdict::Block {
            return Ok(());
        }
        attempt.decide(decision);
        attempt.knows(&again);
        let message = format!("{}: blocked, although it was approved: {}", tool.id(), attempt.because());
        Err(ToolError::new(ToolErrorCode::Blocked, message))
    }

    fn binding(&self, call: &Call, time: Duration) -> Binding {
        let time = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
        Binding {
            run: self.parts.run.clone(),
            agent: self.parts.agent.clone(),
            tool: call.definition.id(),
            definition_sha256: call.definition.digest().to_owned(),
            policy_version: self.parts.policy.version().to_owned(),
            arguments: call.arguments.clone(),
            expires: jiff::Timestamp::now().as_second().saturating_add(time),
        }
    }

    fn likeness(&self, attempt: &Attempt<'_>, call: &Call, traced: &Traced) -> Likeness {
        Likeness {
            tool: call.definition.id(),
            definition_sha256: call.definition.digest().to_owned(),
            policy_version: self.parts.policy.version().to_owned(),
            places: places(&traced.facts.arguments, &call.arguments),
            reasons: attempt.reasons.iter().map(|reason| reason.code.clone()).collect(),
        }
    }

    fn request(
        &self,
        attempt: &Attempt<'_>,
        call: &Call,
        traced: &Traced,
        likeness: &Likeness,
        seal: &str,
    ) -> ApprovalRequest {
        ApprovalRequest {
            run: self.parts.run.clone(),
            seal: seal.to_owned(),
            tool: call.definition.id(),
            arguments: call.arguments.clone(),
            origins: traced.facts.arguments.clone(),
            intent: self.parts.intent.clone(),
            reasons: attempt.reasons.clone(),
            scores: attempt.scores.clone(),
            alike: (!likeness.places.is_empty()).then(|| likeness.describe()),
        }
    }
}

/// The tool is not the one that was checked.
pub(super) fn definition_changed(tool: &str) -> ToolError {
    let message = format!("{tool}: the tool's definition changed while this call was being checked");
    ToolError::new(ToolErrorCode::Blocked, message).retryable()
}
