//! What was known of a call when it was decided, as the journal keeps it: compact, without secrets, and enough to say
//! later why it was decided so and what another policy would say. Nothing here decides, or looks anything up.
//!
//! Values are not written a second time: an argument has one here only if it is not the one in the attempt.

use std::borrow::Cow;

use postern_check::Trigger;
use postern_check::evidence::Origin;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Manifest;
use super::journal::{Attempt, Outcome};
use crate::policy::{ArgumentFact, CallDocument, CallFacts, Finding, Labels, RuleKind, findings};

/// The most of one value or message that is kept, in bytes.
const KEPT: usize = 400;

/// What was known of a call when it was decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedFacts {
    /// `server/tool`.
    pub tool: String,
    /// The rules of the policy that applied, in its order.
    pub rules: Vec<AppliedRule>,
    /// Of the tool, as they applied to this call.
    pub labels: Labels,
    /// Known not to change anything.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    /// It sends something out or does what cannot be taken back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outside: bool,
    /// What the tool's definition says of side effects, where it may be believed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side_effects: Option<bool>,
    /// The arguments name a target.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub names_target: bool,
    /// What made the agent act.
    pub trigger: Trigger,
    /// Every leaf of the arguments, in their order.
    pub arguments: Vec<RecordedArgument>,
    /// What the steps had found out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<RecordedFinding>,
    /// What the run had used up, this call included.
    pub budget: RecordedBudget,
    /// SHA-256 of the weights that the scores are of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard_sha256: Option<String>,
}

/// A rule that applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedRule {
    /// Its id in the policy of the run.
    pub id: String,
    /// What it means.
    pub kind: RuleKind,
    /// It would have had a person asked, and a permit lifted it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lifted: bool,
}

/// Where one argument came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedArgument {
    /// JSON pointer into the attempt's arguments.
    pub path: String,
    /// As it was decided about, where that is not what stands in the attempt: a path put straight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// It decides whom or what the call reaches.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub authority: bool,
    /// The worst origin of its parts.
    pub origin: Origin,
    /// Whose results hold it, as `server/tool`, or which input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub from: Vec<String>,
}

/// Something that a step had found out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedFinding {
    /// Its code.
    pub code: String,
    /// JSON pointer to the argument that it is about, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// For people; long ones are cut.
    pub message: String,
}

/// What a run had used up when a call was decided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedBudget {
    /// Attempts, this one included.
    pub calls: u32,
    /// How many the run may make.
    pub of: u32,
    /// What the user's rules count, such as `mails: 2` or `paid: 150 EUR`; nothing if they count nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spent: Vec<String>,
}

impl RecordedFacts {
    /// Of a call with these arguments as they are in its attempt.
    pub fn of(
        facts: &CallFacts,
        arguments: &Value,
        rules: Vec<AppliedRule>,
        budget: RecordedBudget,
        guard_sha256: Option<String>,
    ) -> Self {
        let argument = |fact: &ArgumentFact| {
            let known = leaf_text(arguments, &fact.path).is_some_and(|text| text == fact.value);
            RecordedArgument {
                path: fact.path.clone(),
                value: (!known).then(|| fact.value.clone()),
                authority: fact.authority,
                origin: fact.origin,
                from: fact.from.clone(),
            }
        };
        let finding = |finding: &Finding| RecordedFinding {
            code: finding.code.to_owned(),
            path: finding.path.clone(),
            message: finding.message.clone(),
        };
        Self {
            tool: format!("{}/{}", facts.server, facts.tool),
            rules,
            labels: facts.labels,
            read_only: facts.read_only,
            outside: facts.outside,
            side_effects: facts.side_effects,
            names_target: facts.names_target,
            trigger: facts.trigger,
            arguments: facts.arguments.iter().map(argument).collect(),
            findings: facts.findings.iter().map(finding).collect(),
            budget,
            guard_sha256,
        }
    }

    /// The call as it was decided about, for a policy to decide again; and what must be said about how true that is.
    ///
    /// # Errors
    /// A sentence that says what of the record means nothing.
    pub fn call(
        &self,
        manifest: &Manifest,
        attempt: &Attempt,
        outcome: &Outcome,
    ) -> Result<(CallFacts, Vec<String>), String> {
        let mut notes = Vec::new();
        let mut hidden = false;
        let arguments: Vec<Value> = self
            .arguments
            .iter()
            .map(|argument| {
                let value = argument.text(attempt);
                hidden |= value.contains("[redacted ") || value.ends_with(CUT) || value.is_empty();
                json!({
                    "path": argument.path, "value": value, "authority": argument.authority,
                    "origin": argument.origin, "from": argument.from,
                })
            })
            .collect();
        if hidden {
            notes.push("of some arguments the record holds no more than a part: rules that look at them may decide otherwise".into());
        }
        let (known, unknown): (Vec<_>, Vec<_>) =
            self.findings.iter().partition(|finding| findings::known(&finding.code).is_some());
        for finding in unknown {
            notes
                .push(format!("this version of postern knows no finding {:?}; it is left out", finding.code));
        }
        let document = json!({
            "agent": manifest.agent, "tool": self.tool, "profile": manifest.profile,
            "read_only": self.read_only, "outside": self.outside, "labels": self.labels,
            "arguments": arguments, "findings": known, "trigger": self.trigger, "calls": self.budget.calls,
            "names_target": self.names_target, "side_effects": self.side_effects, "scores": outcome.scores,
        });
        let document: CallDocument = serde_json::from_value(document).map_err(|e| e.to_string())?;
        let thresholds = manifest.guard.as_ref().map(|guard| guard.thresholds).unwrap_or_default();
        let agent = manifest.agent.clone().unwrap_or_default();
        Ok((document.facts(&agent, &thresholds)?, notes))
    }
}

impl RecordedArgument {
    /// The value as far as the record has it.
    pub fn text(&self, attempt: &Attempt) -> String {
        let stands = || leaf_text(&attempt.arguments, &self.path).map(Cow::into_owned);
        self.value.clone().or_else(stands).unwrap_or_default()
    }
}

/// What stands at the end of a text that was cut.
const CUT: &str = "[...]";

/// The beginning of a text that is too long.
pub(super) fn cut(text: String) -> String {
    match text.len() > KEPT {
        true => format!("{}{CUT}", &text[..text.floor_char_boundary(KEPT)]),
        false => text,
    }
}

/// A leaf as the policy is given it.
fn leaf_text<'a>(arguments: &'a Value, pointer: &str) -> Option<Cow<'a, str>> {
    match arguments.pointer(pointer)? {
        Value::String(text) => Some(text.into()),
        other => Some(other.to_string().into()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use postern_check::Verdict;

    use super::*;
    use crate::policy::{Agent, Holds, Sink};
    use crate::record::{Entry, GuardSettings, Redactor, Timings};
    use crate::sandbox::Limits;

    fn facts() -> CallFacts {
        let argument = |path: &str, value: &str, origin| ArgumentFact {
            path: path.into(),
            value: value.into(),
            authority: true,
            origin,
            from: vec!["web/get".into()],
        };
        CallFacts {
            agent: Agent::default(),
            server: "fs".into(),
            tool: "write".into(),
            profile: Some("job".into()),
            read_only: false,
            outside: true,
            labels: Labels { sink: Sink::Public, holds: Holds::Secret, ..Labels::default() },
            arguments: vec![
                argument("/path", "/srv/a", Origin::Order),
                argument("/password", "hunter2", Origin::User),
                argument("/n/0", "7", Origin::Nowhere),
                argument("/pins/ann", "1234", Origin::User),
            ],
            findings: vec![
                Finding::at("path-sensitive", "/path", "x".repeat(3 * KEPT)),
                Finding::new("sql-write", "m"),
            ],
            trigger: Trigger::ToolResult,
            calls: 3,
            names_target: true,
            side_effects: Some(true),
            scores: None,
            thresholds: postern_check::Thresholds {
                ask_unsafe: 0.25,
                ..postern_check::Thresholds::default()
            },
        }
    }

    fn manifest() -> Manifest {
        let guard = GuardSettings {
            thresholds: facts().thresholds,
            when_unavailable: Default::default(),
            weights: None,
            model: None,
        };
        Manifest {
            run: "r".into(),
            started: jiff::Timestamp::UNIX_EPOCH,
            postern: String::new(),
            wasmtime: String::new(),
            script: String::new(),
            script_sha256: String::new(),
            language: String::new(),
            runner_blake3: String::new(),
            config_sha256: String::new(),
            policy_version: "v".into(),
            profile: Some("job".into()),
            agent: Some(Agent::default()),
            guard: Some(guard),
            intent: String::new(),
            constraints: Vec::new(),
            clauses: Vec::new(),
            allow_tools: Vec::new(),
            inputs: Vec::new(),
            packages: Vec::new(),
            limits: Limits::default(),
            seed: None,
            key_sha256: String::new(),
        }
    }

    /// As the journal has it after it was written and read again.
    fn written(patterns: &[&str]) -> (Attempt, Outcome, String) {
        let at = jiff::Timestamp::UNIX_EPOCH;
        let arguments =
            json!({"path": "/srv/./b/../a", "password": "hunter2", "n": [7], "pins": {"ann": 1234}});
        let budget = RecordedBudget { calls: 3, of: 200, spent: vec!["mails: 2".into()] };
        let rules = vec![AppliedRule { id: "granted".into(), kind: RuleKind::Permit, lifted: false }];
        let facts = RecordedFacts::of(&facts(), &arguments, rules, budget, None);
        let outcome = Outcome {
            call: 3,
            at,
            verdict: Verdict::Block,
            code: Some("blocked".into()),
            reasons: Vec::new(),
            scores: None,
            dispatched: false,
            definition_sha256: None,
            result_sha256: None,
            result_bytes: None,
            beside: Vec::new(),
            result_label: None,
            facts: Some(Box::new(facts)),
            approvals: Vec::new(),
            timings: Timings::default(),
        };
        let attempt = Attempt { call: 3, at, tool: "fs/write".into(), arguments };
        let redactor = Redactor::new(&patterns.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>()).unwrap();
        let line = |entry| serde_json::to_string(&redactor.entry(&entry)).unwrap();
        let (attempt, outcome) = (line(Entry::Attempt(attempt)), line(Entry::Outcome(Box::new(outcome))));
        match (serde_json::from_str(&attempt).unwrap(), serde_json::from_str(&outcome).unwrap()) {
            (Entry::Attempt(attempt), Entry::Outcome(read)) => (attempt, *read, outcome),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_call_is_put_together_again() {
        let (attempt, outcome, line) = written(&[]);
        let recorded = outcome.facts.as_deref().unwrap();
        let (again, notes) = recorded.call(&manifest(), &attempt, &outcome).unwrap();
        let mut then = facts();
        then.arguments[1].value = again.arguments[1].value.clone();
        then.findings[0].message = again.findings[0].message.clone();
        assert_eq!(serde_json::to_value(&again).unwrap(), serde_json::to_value(&then).unwrap());
        assert!(again.arguments[1].value.starts_with("[redacted password"), "{again:?}");
        assert_eq!(notes.len(), 1, "that a part is missing is said: {notes:?}");
        // What stands in the attempt is not written twice, and what is long is cut.
        assert!(!line.contains("hunter2") && line.contains("/srv/a") && !line.contains("1234"), "{line}");
        assert!(again.findings[0].message.len() <= KEPT + CUT.len());
        assert!(line.len() < 2 * KEPT + 1_200, "{} {line}", line.len());
    }

    #[test]
    fn what_a_pattern_names_is_not_in_it() {
        let (attempt, outcome, line) = written(&["fs/write.path", "*.pins"]);
        assert!(!line.contains("/srv/a") && !line.contains("ann"), "{line}");
        let (again, _) = outcome.facts.as_deref().unwrap().call(&manifest(), &attempt, &outcome).unwrap();
        assert!(again.arguments[0].value.starts_with("[redacted pattern"), "{again:?}");
        assert_eq!(again.arguments[3].path, "/pins");
        assert!(again.arguments[3].value.starts_with("[redacted pattern"), "{again:?}");
    }

    #[test]
    fn a_finding_of_another_version_is_left_out_and_said() {
        let (attempt, outcome, _) = written(&[]);
        let mut recorded = outcome.facts.as_deref().unwrap().clone();
        recorded.findings[1].code = "quantum-entangled".into();
        let (again, notes) = recorded.call(&manifest(), &attempt, &outcome).unwrap();
        assert_eq!(again.findings.len(), 1);
        assert!(notes.iter().any(|note| note.contains("quantum-entangled")), "{notes:?}");
    }
}
