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
    #[serde(default, skip_serializing_if = "is_false")]
    pub read_only: bool,
    /// It sends something out or does what cannot be taken back.
    #[serde(default, skip_serializing_if = "is_false")]
    pub outside: bool,
    /// What the tool's definition says of side effects, where it may be believed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side_effects: Option<bool>,
    /// The arguments name a target.
    #[serde(default, skip_serializing_if = "is_false")]
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
    #[serde(default, skip_serializing_if = "is_false")]
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
    #[serde(default, skip_serializing_if = "is_false")]
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
    /// What the user's rules count, such as `2 mails` or `150 EUR`; nothing if they count nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spent: Vec<String>,
}

fn is_false(yes: &bool) -> bool {
    !*yes
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
