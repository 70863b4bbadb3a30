//! Step 8: what a person says. The run's clock stands still meanwhile, other calls go on. The answer is
//! bound to exactly this call and used once; what was known of the call is found out again after it.

use std::time::{Duration, Instant};

use postern_check::{Reason, Verdict};
use serde_json::json;

use super::attempt::Attempt;
use super::ledger::Traced;
use super::{Call, Inner};
use crate::approval::{
    ApprovalRequest, Binding, Decision, Likeness, Reply, Seal, Sealer, Unsealed, Void, places,
};
use crate::record::{RecordedApproval, Said};
use crate::upstream::ToolDefinition;
use crate::{ToolError, ToolErrorCode};

/// What came of asking, and what the answer is for.
struct Answered {
    /// None: nobody said anything, and the time is over.
    decision: Option<Decision>,
    /// The same for the record.
    recorded: RecordedApproval,
    seal: Seal,
    binding: Binding,
}

impl Inner {
    /// Asks, unless an answer to a like call covers this one; then everything is checked again.
    pub(super) async fn approve(
        &self,
        attempt: &mut Attempt<'_>,
        call: &Call,
        traced: &mut Traced,
    ) -> Result<(), ToolError> {
        let (answered, waited) = self.off_the_clock(self.ask(attempt, call, traced)).await;
        attempt.waited(waited);

        let tool = call.definition.id();
        let because = attempt.because().to_owned();
        let Answered { decision, recorded, seal, binding } = answered;
        attempt.approvals.push(recorded);
        may_go_on(attempt, &tool, &because, decision)?;
        self.check_again(attempt, call, traced).await?;
        let binding =
            Binding { expires: binding.expires, ..self.binding(call, binding.question, Duration::ZERO) };
        open(&self.parts.sealer, attempt, &tool, &seal, &binding)
    }

    /// Puts the question when it is this call's turn, and waits until its time is over.
    async fn ask(&self, attempt: &Attempt<'_>, call: &Call, traced: &Traced) -> Answered {
        let likeness = self.likeness(attempt, call, traced);
        let _turn = self.groups.turn(&likeness).await;
        let time = self.parts.approval_time;
        let binding = self.binding(call, uuid::Uuid::new_v4().to_string(), time);
        let seal = self.parts.sealer.seal(&binding);
        if let Some(recorded) = self.groups.take(&likeness) {
            return Answered { decision: Some(Decision::Approved), recorded, seal, binding };
        }
        let request = ApprovalRequest {
            origins: traced.facts.arguments.clone(),
            reasons: attempt.reasons.clone(),
            scores: attempt.scores.clone(),
            alike: likeness.can_be_shared().then(|| likeness.clone()),
            ..self.request(&binding, &seal)
        };
        let reply = tokio::time::timeout(time, self.parts.approver.decide(request)).await.ok();
        let (decision, recorded) = recorded(&binding, reply);
        if let Some(Decision::ApprovedLike(calls)) = decision
            && likeness.can_be_shared()
        {
            self.groups.approve(likeness, calls.saturating_sub(1), &recorded);
        }
        Answered { decision, recorded, seal, binding }
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
        self.is_as_decided(tool).await?;
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

    /// Whether the tool still is the one that was checked: a person may have taken minutes, and the server may
    /// have changed its mind meanwhile.
    pub(super) async fn is_as_decided(&self, tool: &ToolDefinition) -> Result<(), ToolError> {
        let now = self.parts.upstreams.tool(&tool.server, &tool.name).await?;
        if now.digest() == tool.digest() {
            return Ok(());
        }
        let message =
            format!("{}: the tool's definition changed while this call was being checked", tool.id());
        Err(ToolError::new(ToolErrorCode::Blocked, message).retryable())
    }

    pub(super) fn binding(&self, call: &Call, question: String, time: Duration) -> Binding {
        // To the next whole second: whoever asks keeps the time itself, this only has to hold afterwards.
        let time = i64::try_from(time.as_secs()).unwrap_or(i64::MAX).saturating_add(1);
        Binding {
            question,
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

    /// The question that an answer under this seal is for; what else is known of it is the caller's to add.
    pub(super) fn request(&self, binding: &Binding, seal: &Seal) -> ApprovalRequest {
        ApprovalRequest {
            id: binding.question.clone(),
            seal: seal.text(),
            run: binding.run.clone(),
            agent: binding.agent.clone(),
            tool: binding.tool.clone(),
            definition_sha256: binding.definition_sha256.clone(),
            policy_version: binding.policy_version.clone(),
            arguments: binding.arguments.clone(),
            origins: Vec::new(),
            intent: self.parts.intent.clone(),
            reasons: Vec::new(),
            scores: None,
            alike: None,
            asked: jiff::Timestamp::now(),
            // A time that no calendar has is one that never comes.
            expires: jiff::Timestamp::from_second(binding.expires).unwrap_or(jiff::Timestamp::MAX),
            redactor: std::sync::Arc::clone(&self.parts.redactor),
        }
    }

    /// Waits while the run's clock stands still, and says how long that took.
    pub(super) async fn off_the_clock<T>(&self, future: impl Future<Output = T>) -> (T, Duration) {
        let _pause = self.parts.clock.pause();
        let began = Instant::now();
        let output = future.await;
        (output, began.elapsed())
    }
}

/// A reply as a decision and as it goes into the record; None: there was none in time.
pub(super) fn recorded(binding: &Binding, reply: Option<Reply>) -> (Option<Decision>, RecordedApproval) {
    let (decision, by) = reply.map_or((None, None), |reply| (Some(reply.decision), reply.by));
    let said = match &decision {
        Some(Decision::Approved) => Said::Approved,
        Some(Decision::ApprovedLike(_)) => Said::ApprovedLike,
        Some(Decision::Denied(_)) => Said::Denied,
        Some(Decision::Void(_)) => Said::Void,
        Some(Decision::Unavailable) => Said::Nobody,
        None => Said::Expired,
    };
    (decision, RecordedApproval { question: binding.question.clone(), said, by })
}

/// Whether a decision lets a call go on. `because` is why somebody was asked, for the script; None: nobody
/// decided in time.
pub(super) fn may_go_on(
    attempt: &mut Attempt<'_>,
    tool: &str,
    because: &str,
    decision: Option<Decision>,
) -> Result<(), ToolError> {
    let refused = |code, message: String| Err(ToolError::new(code, message));
    match decision {
        Some(Decision::Approved | Decision::ApprovedLike(_)) => Ok(()),
        Some(Decision::Denied(reason)) => {
            let code = ToolErrorCode::ApprovalDenied;
            attempt.reasons.insert(0, Reason::new(code.as_str(), format!("a person said no: {reason}")));
            refused(code, format!("{tool}: a person refused this call: {reason}"))
        }
        Some(Decision::Void(void)) => Err(does_not_count(attempt, tool, void)),
        Some(Decision::Unavailable) => {
            let message =
                format!("{tool}: a person must approve this call ({because}), and nobody can be asked");
            refused(ToolErrorCode::ApprovalRequired, message)
        }
        None => {
            let message = format!("{tool}: nobody decided about this call in time ({because})");
            refused(ToolErrorCode::ApprovalExpired, message)
        }
    }
}

/// Uses up the approval for what is about to be done.
pub(super) fn open(
    sealer: &Sealer,
    attempt: &mut Attempt<'_>,
    tool: &str,
    seal: &Seal,
    binding: &Binding,
) -> Result<(), ToolError> {
    sealer.open(seal, binding, jiff::Timestamp::now().as_second()).map_err(|fault| {
        let void = match fault {
            Unsealed::Expired => Void::Expired,
            Unsealed::Used => Void::Used,
            Unsealed::Changed => Void::Other,
        };
        does_not_count(attempt, tool, void)
    })
}

/// An answer that does not count ends the call, and the record says why.
fn does_not_count(attempt: &mut Attempt<'_>, tool: &str, void: Void) -> ToolError {
    attempt.reasons.insert(0, Reason::new(void.code(), void.to_string()));
    let code = match void {
        Void::Expired => ToolErrorCode::ApprovalExpired,
        _ => ToolErrorCode::Blocked,
    };
    ToolError::new(code, format!("{tool}: {void}")).with_details(json!({"kind": void.code()}))
}
