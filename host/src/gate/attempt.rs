//! One attempt from its first line in the journal to its last. However the call ends, by an answer,
//! an error or because the script gave it up, exactly one outcome is written.

use std::future::Future;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Instant;

use postern_check::{Reason, Scores, Verdict};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::ledger::Traced;
use super::{Inner, strict_json};
use crate::policy::Decision;
use crate::record::{self, AppliedRule, Entry, RecordedApproval, RecordedBudget, RecordedFacts, Timings};
use crate::report::{CallReport, ms};
use crate::sandbox::Answer;
use crate::scan::ResultLabel;
use crate::{ToolError, ToolErrorCode};

/// The most of arguments that are no JSON object that is written down.
const TEXT_KEPT: usize = 4 << 10;

pub(super) struct Attempt<'a> {
    inner: &'a Inner,
    number: u32,
    index: usize,
    began: Instant,
    tool: String,
    arguments: Value,
    ended: bool,
    /// How strict it has become. Starts at allow; steps move it to the right.
    pub(super) verdict: Verdict,
    pub(super) reasons: Vec<Reason>,
    pub(super) scores: Option<Scores>,
    pub(super) definition: Option<String>,
    pub(super) dispatched: bool,
    pub(super) beside: Vec<Value>,
    /// What was found in the result.
    pub(super) label: Option<ResultLabel>,
    /// What came of asking a person.
    pub(super) approvals: Vec<RecordedApproval>,
    /// What the policy said last: ids of the rules that apply, and of those that a permit lifted.
    rules: (Vec<String>, Vec<String>),
    /// What was known when it was decided, for the journal.
    facts: Option<Box<RecordedFacts>>,
    timings: Timings,
}

impl<'a> Attempt<'a> {
    /// Writes the attempt down. If that fails, nothing may happen.
    pub(super) fn begin(
        inner: &'a Inner,
        number: u32,
        tool: &str,
        arguments: &str,
    ) -> Result<Self, ToolError> {
        let size = arguments.len() as u64;
        let take = |room: u64| room.checked_sub(size);
        let whole = number <= inner.parts.limits.max_calls
            && size <= inner.parts.limits.max_argument_bytes
            && inner.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
        let arguments = match whole {
            true => strict_json::for_the_journal(arguments, TEXT_KEPT),
            false => strict_json::beginning(arguments, TEXT_KEPT),
        };
        let index = {
            let mut calls = inner.calls.lock().unwrap_or_else(PoisonError::into_inner);
            calls.push(None);
            calls.len() - 1
        };
        let attempt = Self {
            inner,
            number,
            index,
            began: Instant::now(),
            tool: tool.to_owned(),
            arguments,
            ended: false,
            verdict: Verdict::Allow,
            reasons: Vec::new(),
            scores: None,
            definition: None,
            dispatched: false,
            beside: Vec::new(),
            label: None,
            approvals: Vec::new(),
            rules: (Vec::new(), Vec::new()),
            facts: None,
            timings: Timings::default(),
        };
        let Some(record) = &inner.parts.record else { return Ok(attempt) };
        let entry = Entry::Attempt(record::Attempt {
            call: number,
            at: jiff::Timestamp::now(),
            tool: attempt.tool.clone(),
            arguments: attempt.arguments.clone(),
        });
        match record.note(&entry) {
            Ok(()) => Ok(attempt),
            Err(error) => {
                let mut attempt = attempt;
                attempt.verdict = Verdict::Block;
                let refused =
                    ToolError::new(ToolErrorCode::Blocked, format!("the call cannot be recorded: {error}"));
                attempt.end(Err(refused.clone())).and(Err(refused))
            }
        }
    }

    /// Its place among the attempts of the run, from 1.
    pub(super) fn number(&self) -> u32 {
        self.number
    }

    /// Takes over what the policy says with all that is known now, which is more than before.
    pub(super) fn decide(&mut self, decision: Decision) {
        self.verdict = decision.verdict;
        self.reasons = decision.reasons;
        self.rules = (decision.policies, decision.lifted);
    }

    /// Keeps for the journal what was known when the policy decided last.
    pub(super) fn knows(&mut self, traced: &Traced) {
        let parts = &self.inner.parts;
        if parts.record.is_none() {
            return;
        }
        let (applied, lifted) = &self.rules;
        let rule = |id: &String| {
            let kind = parts.policy.rule(id)?.kind;
            Some(AppliedRule { id: id.clone(), kind, lifted: lifted.contains(id) })
        };
        let budget = RecordedBudget {
            calls: traced.facts.calls,
            of: parts.limits.max_calls,
            spent: traced.spent.clone(),
        };
        let model =
            parts.guard.as_ref().filter(|_| traced.facts.scores.is_some()).and_then(|guard| guard.known());
        let facts = RecordedFacts::of(
            &traced.facts,
            &self.arguments,
            applied.iter().filter_map(rule).collect(),
            budget,
            model.map(|model| model.sha256),
        );
        self.facts = Some(Box::new(facts));
    }

    /// The decisive reason, for messages.
    pub(super) fn because(&self) -> &str {
        self.reasons.first().map_or("no reason", |reason| &reason.message)
    }

    /// Waits, and notes how long that took.
    pub(super) async fn timed<T>(
        &mut self,
        part: impl FnOnce(&mut Timings) -> &mut f64,
        future: impl Future<Output = T>,
    ) -> T {
        let began = Instant::now();
        let output = future.await;
        *part(&mut self.timings) += ms(began.elapsed());
        output
    }

    /// Notes how long a person was waited for.
    pub(super) fn waited(&mut self, time: std::time::Duration) {
        self.timings.approval_ms += ms(time);
    }

    /// Ends the attempt with its answer.
    pub(super) fn end(mut self, answer: Answer) -> Answer {
        if let Err(error) = &answer
            && refused_by_the_gate(error.code)
            && !self.dispatched
        {
            self.verdict = Verdict::Block;
        }
        if let Err(error) = &answer
            && (self.reasons.is_empty() || self.dispatched)
        {
            self.reasons.push(Reason::new(error.code.as_str(), error.message.clone()));
        }
        let result = answer.as_ref().ok().map(String::as_str);
        self.write(answer.as_ref().err().map(|error| error.code), result);
        answer
    }

    fn write(&mut self, code: Option<ToolErrorCode>, result: Option<&str>) {
        self.ended = true;
        self.timings.total_ms = ms(self.began.elapsed());
        let report = CallReport {
            tool: std::mem::take(&mut self.tool),
            arguments: std::mem::take(&mut self.arguments),
            verdict: self.verdict,
            code: code.map(|code| code.as_str().to_owned()),
            reasons: self.reasons.clone(),
            scores: self.scores.clone(),
            result_label: self.label.clone().map(ResultLabel::without_texts),
            ms: self.timings.total_ms,
        };
        if let Some(record) = &self.inner.parts.record {
            let outcome = record::Outcome {
                call: self.number,
                at: jiff::Timestamp::now(),
                verdict: report.verdict,
                code: report.code.clone(),
                reasons: std::mem::take(&mut self.reasons),
                scores: self.scores.take(),
                dispatched: self.dispatched,
                definition_sha256: self.definition.take(),
                result_sha256: result.map(|text| crate::sandbox::hex(&Sha256::digest(text.as_bytes()))),
                result_bytes: result.map(|text| text.len() as u64),
                beside: std::mem::take(&mut self.beside),
                result_label: self.label.take(),
                facts: self.facts.take(),
                approvals: std::mem::take(&mut self.approvals),
                timings: self.timings,
            };
            // The call is over; that its end could not be written must not hide its answer.
            if let Err(error) = record.note(&Entry::Outcome(Box::new(outcome))) {
                tracing::error!(%error, "the outcome of a call is not in the journal");
            }
        }
        if let Some(observer) = &self.inner.parts.observer {
            observer(&report);
        }
        let mut calls = self.inner.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls[self.index] = Some(report);
    }
}

/// Whether this is the gate's own no to the call: whichever step said it, the verdict shows it. An ask that was
/// not approved stays an ask; a server that cannot be reached is no verdict at all.
fn refused_by_the_gate(code: ToolErrorCode) -> bool {
    match code {
        ToolErrorCode::InvalidArguments
        | ToolErrorCode::UnknownTool
        | ToolErrorCode::NotGranted
        | ToolErrorCode::Blocked
        | ToolErrorCode::CallLimit
        | ToolErrorCode::GuardUnavailable => true,
        ToolErrorCode::ApprovalDenied
        | ToolErrorCode::ApprovalRequired
        | ToolErrorCode::ApprovalExpired
        | ToolErrorCode::Timeout
        | ToolErrorCode::Upstream
        | ToolErrorCode::Cancelled => false,
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if !self.ended {
            let message = match self.dispatched {
                true => "the call was given up after it had been sent; the tool may have done its work",
                false => "the call was given up before it was sent",
            };
            self.reasons.push(Reason::new("cancelled", message));
            self.write(Some(ToolErrorCode::Cancelled), None);
        }
    }
}
