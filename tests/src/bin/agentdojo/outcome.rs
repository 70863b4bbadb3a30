//! What came of one case. Tools, verdicts and codes are kept; arguments and messages are not, for they would be texts
//! that one could tune rules to.

use postern::{Report, ToolErrorCode};
use postern_check::Verdict;
use serde::{Deserialize, Serialize};

use crate::door::{Case, Plan, Scored};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) suite: String,
    pub(crate) case: Case,
    /// Why the case was not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) left_out: Option<String>,
    /// Whether the calls do without a gate what they are to do: solve the task, or make the attack succeed.
    pub(crate) works_ungated: bool,
    /// Whether they did it through the gate.
    pub(crate) reached: bool,
    /// Why AgentDojo's function said nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) score_error: Option<String>,
    /// How the run ended.
    pub(crate) ended: String,
    /// The calls that came to the gate.
    pub(crate) calls: Vec<Call>,
    /// Calls of the script that were not made, since a value was missing that an earlier call would have given.
    pub(crate) not_made: usize,
    pub(crate) ms: f64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) tool: String,
    pub(crate) injected: bool,
    pub(crate) verdict: Verdict,
    /// Null when the call succeeded.
    pub(crate) code: Option<String>,
    /// Codes of the reasons.
    pub(crate) reasons: Vec<String>,
    pub(crate) ms: f64,
}

impl Call {
    /// An ask that nobody answered: the call failed with a code that says so, or its verdict is one.
    pub(crate) fn asked(&self) -> bool {
        self.verdict == Verdict::Ask
    }

    pub(crate) fn blocked(&self) -> bool {
        self.verdict == Verdict::Block
    }
}

/// Why an attack did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// A call of the attack was blocked.
    Block,
    /// None was blocked, one was asked.
    Ask,
    /// The script was stopped at a call of the user's task.
    Before,
    /// All calls were let through, and still it did not succeed.
    Other,
}

impl Outcome {
    pub(crate) fn left_out(suite: &str, case: &Case, why: String) -> Self {
        Self {
            suite: suite.into(),
            case: case.clone(),
            left_out: Some(why),
            works_ungated: false,
            reached: false,
            score_error: None,
            ended: String::new(),
            calls: Vec::new(),
            not_made: 0,
            ms: 0.0,
        }
    }

    /// From the run's report. The script has printed the number of each call before it made it, and made them one
    /// after the other.
    pub(crate) fn of(suite: &str, case: &Case, plan: &Plan, report: &Report, scored: Scored) -> Self {
        let numbers = report.stdout.lines().filter_map(|line| line.parse::<usize>().ok());
        let calls: Vec<Call> = report
            .calls
            .iter()
            .zip(numbers)
            .map(|(call, number)| Call {
                tool: call.tool.clone(),
                injected: plan.steps.get(number).is_some_and(|step| step.injected),
                verdict: call.verdict,
                code: call.code.clone(),
                reasons: call.reasons.iter().map(|reason| reason.code.clone()).collect(),
                ms: call.ms,
            })
            .collect();
        Self {
            suite: suite.into(),
            case: case.clone(),
            left_out: None,
            works_ungated: plan.ungated.yes(),
            reached: scored.yes(),
            score_error: scored.error,
            ended: format!("{:?}", report.outcome),
            not_made: plan.steps.len().saturating_sub(calls.len()),
            calls,
            ms: report.usage.wall_ms,
        }
    }

    /// A benign task that was solved with no ask and no block.
    pub(crate) fn uninterrupted(&self) -> bool {
        self.reached && !self.calls.iter().any(|call| call.asked() || call.blocked())
    }

    /// Why the attack did not succeed; None if it did.
    pub(crate) fn stopped(&self) -> Option<Stopped> {
        let injected = || self.calls.iter().filter(|call| call.injected);
        Some(match self.reached {
            true => return None,
            false if injected().any(Call::blocked) => Stopped::Block,
            false if injected().any(Call::asked) => Stopped::Ask,
            false if self.calls.iter().any(|call| call.asked() || call.blocked()) => Stopped::Before,
            false => Stopped::Other,
        })
    }
}

/// Whether a call failed although the gate let it through: the tool's own error.
pub(crate) fn failed_upstream(call: &Call) -> bool {
    call.verdict == Verdict::Allow && call.code.as_deref() == Some(ToolErrorCode::Upstream.as_str())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    fn outcome(reached: bool, calls: &[(bool, &str)]) -> Outcome {
        let calls: Vec<_> = calls
            .iter()
            .map(|(injected, verdict)| {
                json!({"tool": "a/b", "injected": injected, "verdict": verdict, "code": null, "reasons": [], "ms": 1.0})
            })
            .collect();
        serde_json::from_value(json!({
            "suite": "a", "case": {"id": "1", "user": "u", "injection": "i", "attack": "direct"},
            "works_ungated": true, "reached": reached, "ended": "Ok", "calls": calls, "not_made": 0, "ms": 1.0
        }))
        .unwrap()
    }

    #[test]
    fn an_attack_is_stopped_by_the_strictest_verdict_on_its_own_calls() {
        let stopped = |reached, calls: &[(bool, &str)]| outcome(reached, calls).stopped();
        assert_eq!(stopped(true, &[(true, "block"), (true, "allow")]), None);
        assert_eq!(stopped(false, &[(false, "ask"), (true, "ask"), (true, "block")]), Some(Stopped::Block));
        assert_eq!(stopped(false, &[(false, "block"), (true, "ask")]), Some(Stopped::Ask));
        assert_eq!(stopped(false, &[(false, "block"), (true, "allow")]), Some(Stopped::Before));
        assert_eq!(stopped(false, &[(false, "allow"), (true, "allow")]), Some(Stopped::Other));
    }

    #[test]
    fn a_solved_task_with_an_ask_was_interrupted() {
        assert!(outcome(true, &[(false, "allow")]).uninterrupted());
        assert!(!outcome(true, &[(false, "ask")]).uninterrupted());
        assert!(!outcome(false, &[(false, "allow")]).uninterrupted());
    }
}
