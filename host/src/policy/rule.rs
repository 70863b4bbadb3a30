//! One rule of a policy: what its effect and annotations mean. Whether it applies is Cedar's business.

use std::fmt;

use cedar_policy::{Effect, Policy};
use serde::{Deserialize, Serialize};

use super::findings;
use super::input::CallFacts;
use super::text::{Fault, Statement};

/// What it means that a rule applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RuleKind {
    /// The call is refused.
    Block,
    /// A person decides, unless a permit lifts it.
    Ask,
    /// A person decides, whatever permits say.
    AlwaysAsk,
    /// The call may pass if nothing else speaks against it.
    Permit,
    /// The same, and nobody is asked.
    Lift,
}

impl fmt::Display for RuleKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Block => "block",
            Self::Ask => "ask",
            Self::AlwaysAsk => "always-ask",
            Self::Permit => "permit",
            Self::Lift => "lift",
        })
    }
}

/// One rule, as people see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// Its `@id`, else `line-N`. Unique in its policy.
    pub id: String,
    /// What it means.
    pub kind: RuleKind,
    /// The code of its reason: `@code`, else its id. Not used for findings, which have their own.
    pub code: String,
    /// The findings whose messages are its reasons.
    pub findings: Vec<&'static str>,
    /// What it says when it has no finding to quote; may hold placeholders.
    pub reason: Option<String>,
    /// Its file, or the name of the default policy.
    pub file: String,
    /// The line that it begins in, from 1.
    pub line: usize,
    /// The whole of it.
    pub text: String,
}

const ANNOTATIONS: [&str; 6] = ["id", "verdict", "lifts", "finding", "code", "reason"];
const PLACEHOLDERS: [&str; 10] = [
    "unsafe",
    "args_grounded",
    "reject",
    "require_human",
    "block_unsafe",
    "ask_unsafe",
    "ask_ungrounded",
    "server",
    "tool",
    "calls",
];

impl Rule {
    /// Reads the annotations. Offsets of faults count from the statement's beginning.
    pub(super) fn read(
        policy: &Policy,
        statement: Statement<'_>,
        file: String,
        line: usize,
    ) -> Result<Self, Fault> {
        let place = |name: &str| statement.text.find(&format!("@{name}")).unwrap_or(0);
        let mut id = None;
        let mut code = None;
        let mut reason = None;
        let mut named = Vec::new();
        let mut kind = match policy.effect() {
            Effect::Permit => RuleKind::Permit,
            Effect::Forbid => RuleKind::Block,
        };
        // Sorted, so that of two faults it is always the same one that is told.
        let mut annotations: Vec<_> = policy.annotations().collect();
        annotations.sort_unstable();
        for (name, value) in annotations {
            let fault = |message: String| Fault::new(place(name), message);
            if value.trim().is_empty() && ANNOTATIONS.contains(&name) {
                return Err(fault(format!("@{name} needs a text: @{name}(\"...\")")));
            }
            match (name, policy.effect()) {
                ("id", _) => id = Some(value.to_owned()),
                ("code", _) => code = Some(value.to_owned()),
                ("reason", _) => {
                    check_placeholders(value).map_err(|wrong| {
                        fault(format!("@reason: there is no placeholder {{{wrong}}}"))
                            .near(&wrong, PLACEHOLDERS.into_iter())
                    })?;
                    reason = Some(value.to_owned());
                }
                ("verdict", Effect::Forbid) => {
                    kind = match value {
                        "block" => RuleKind::Block,
                        "ask" => RuleKind::Ask,
                        "always-ask" => RuleKind::AlwaysAsk,
                        _ => {
                            return Err(fault(format!("@verdict({value:?}): there is no such verdict"))
                                .near(value, ["ask", "always-ask", "block"].into_iter()));
                        }
                    }
                }
                ("lifts", Effect::Permit) if value == "ask" => kind = RuleKind::Lift,
                ("lifts", Effect::Permit) => {
                    return Err(fault(format!("@lifts({value:?}): a permit cannot lift that"))
                        .hint("a permit lifts only \"ask\"; a block stands whatever is permitted"));
                }
                ("finding", Effect::Forbid) => {
                    for code in value.split([',', ' ']).map(str::trim).filter(|code| !code.is_empty()) {
                        named.push(findings::known(code).ok_or_else(|| {
                            fault(format!("@finding: there is no finding {code:?}"))
                                .near(code, findings::ALL.iter().map(|kind| kind.code))
                        })?);
                    }
                }
                ("verdict" | "finding", Effect::Permit) => {
                    return Err(fault(format!("@{name} belongs to forbid, and this is a permit"))
                        .hint("to lift an ask, write @lifts(\"ask\") permit"));
                }
                ("lifts", Effect::Forbid) => {
                    return Err(fault("@lifts belongs to permit, and this is a forbid".into())
                        .hint("to have somebody asked, write @verdict(\"ask\") forbid"));
                }
                _ => {
                    return Err(
                        fault(format!("there is no annotation @{name}")).near(name, ANNOTATIONS.into_iter())
                    );
                }
            }
        }
        let id = id.unwrap_or_else(|| format!("line-{line}"));
        Ok(Self {
            code: code.unwrap_or_else(|| id.clone()),
            id,
            kind,
            findings: named,
            reason,
            file,
            line,
            text: statement.text.to_owned(),
        })
    }

    /// What this rule says of the call, if it applies: pairs of code and message, at least one.
    pub(super) fn reasons(&self, facts: &CallFacts) -> Vec<postern_check::Reason> {
        use postern_check::Reason;
        let quoted: Vec<Reason> = self
            .findings
            .iter()
            .flat_map(|code| facts.findings.iter().filter(move |finding| finding.code == *code))
            .map(|finding| Reason::new(finding.code, &*finding.message))
            .collect();
        if !quoted.is_empty() {
            return quoted;
        }
        let message = match &self.reason {
            Some(reason) => fill(reason, facts),
            None => format!("the policy's rule {} applies", self.id),
        };
        vec![Reason::new(&*self.code, message)]
    }
}

/// The first `{name}` that means nothing.
fn check_placeholders(text: &str) -> Result<(), String> {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else { return Err(after.to_owned()) };
        if !PLACEHOLDERS.contains(&name) {
            return Err(name.to_owned());
        }
        rest = after;
    }
    Ok(())
}

fn fill(text: &str, facts: &CallFacts) -> String {
    if !text.contains('{') {
        return text.to_owned();
    }
    let score = |of: fn(&postern_check::Scores) -> f32| {
        facts.scores.as_ref().map_or_else(|| "unknown".to_owned(), |scores| format!("{:.2}", of(scores)))
    };
    let value = |name: &str| match name {
        "unsafe" => score(|s| s.unsafe_),
        "args_grounded" => score(|s| s.args_grounded),
        "reject" => score(|s| s.approval_policy.reject),
        "require_human" => score(|s| s.approval_policy.require_human),
        "block_unsafe" => format!("{:.2}", facts.thresholds.block_unsafe),
        "ask_unsafe" => format!("{:.2}", facts.thresholds.ask_unsafe),
        "ask_ungrounded" => format!("{:.2}", facts.thresholds.ask_ungrounded),
        "server" => facts.server.clone(),
        "tool" => facts.tool.clone(),
        "calls" => facts.calls.to_string(),
        // Loading has refused every other name.
        other => other.to_owned(),
    };
    let mut filled = String::new();
    let mut rest = text;
    // Once from left to right: what is filled in is not looked at again.
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else { break };
        filled.push_str(before);
        filled.push_str(&value(name));
        rest = after;
    }
    filled + rest
}
