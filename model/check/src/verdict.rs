//! From scores to a verdict, by thresholds that the user may set.

use serde::{Deserialize, Serialize};

use crate::{PolicyHead, Scores};

/// What becomes of a call. Ordered: a later step of the gate may only move it to the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Forwarded.
    Allow,
    /// A person decides.
    Ask,
    /// Refused.
    Block,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Block => "block",
        })
    }
}

/// Where scores turn into asking and blocking.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Thresholds {
    /// Block from this `unsafe` on.
    pub block_unsafe: f32,
    /// Ask from this `unsafe` on.
    pub ask_unsafe: f32,
    /// Ask below this `args_grounded`, for calls with side effects that name a target.
    pub ask_ungrounded: f32,
    /// Whether the approval-policy head counts at all.
    pub policy_head: bool,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self { block_unsafe: 0.8, ask_unsafe: 0.3, ask_ungrounded: 0.5, policy_head: true }
    }
}

impl Thresholds {
    /// Whether the numbers are usable; if not, which one and why.
    ///
    /// # Errors
    /// A sentence that names the threshold that is no probability, or the two that are out of order.
    pub fn validate(&self) -> Result<(), String> {
        for (name, value) in [
            ("block_unsafe", self.block_unsafe),
            ("ask_unsafe", self.ask_unsafe),
            ("ask_ungrounded", self.ask_ungrounded),
        ] {
            if !(0.0..=1.0).contains(&value) {
                return Err(format!("{name} is {value}; it must lie between 0 and 1"));
            }
        }
        if self.ask_unsafe > self.block_unsafe {
            return Err(format!(
                "ask_unsafe ({}) is above block_unsafe ({})",
                self.ask_unsafe, self.block_unsafe
            ));
        }
        Ok(())
    }
}

/// What is known of a call beside its scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The call may change something. `None`: nobody said, so the model's blast radius decides.
    pub side_effects: Option<bool>,
    /// The call names a target: a recipient, url, path, account, amount, command or id.
    pub names_target: bool,
}

/// One reason for a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// A stable name for machines.
    pub code: String,
    /// For people.
    pub message: String,
}

impl Reason {
    /// A reason of this code and message.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into() }
    }
}

/// A verdict with its reasons; the decisive one comes first. An allow has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// What becomes of the call.
    pub verdict: Verdict,
    /// Why.
    pub reasons: Vec<Reason>,
}

/// Applies the thresholds. Scores that are not sound (see [`Scores::are_sound`]) block.
pub fn judge(scores: &Scores, thresholds: &Thresholds, facts: Facts) -> Judgement {
    if !scores.are_sound() {
        let reason = Reason::new("scores-unsound", "the guard model gave a score that is no probability");
        return Judgement { verdict: Verdict::Block, reasons: vec![reason] };
    }
    let mut found: Vec<(Verdict, Reason)> = Vec::new();
    if scores.unsafe_ >= thresholds.block_unsafe {
        let message = format!("unsafe {:.2} >= {:.2}", scores.unsafe_, thresholds.block_unsafe);
        found.push((Verdict::Block, Reason::new("unsafe", message)));
    } else if scores.unsafe_ >= thresholds.ask_unsafe {
        let message = format!("unsafe {:.2} >= {:.2}", scores.unsafe_, thresholds.ask_unsafe);
        found.push((Verdict::Ask, Reason::new("unsafe", message)));
    }
    let policy = &scores.approval_policy;
    let likeliest = if thresholds.policy_head { policy.likeliest() } else { PolicyHead::Allow };
    match likeliest {
        PolicyHead::Reject => {
            let message = format!("approval policy: reject {:.2}", policy.reject);
            found.push((Verdict::Block, Reason::new("policy-reject", message)));
        }
        PolicyHead::RequireHuman => {
            let message = format!("approval policy: require_human {:.2}", policy.require_human);
            found.push((Verdict::Ask, Reason::new("policy-require-human", message)));
        }
        PolicyHead::Allow => {}
    }
    let side_effects = facts.side_effects.unwrap_or(scores.effect.has_side_effects());
    if side_effects && facts.names_target && scores.args_grounded < thresholds.ask_ungrounded {
        let message = format!("args_grounded {:.2} < {:.2}", scores.args_grounded, thresholds.ask_ungrounded);
        found.push((Verdict::Ask, Reason::new("args-ungrounded", message)));
    }
    if scores.unfit {
        let message = "a part of the call did not fit into what the guard reads";
        found.push((Verdict::Ask, Reason::new("check-unfit", message)));
    }
    // Stable: among equals the order above stays.
    found.sort_by_key(|(verdict, _)| std::cmp::Reverse(*verdict));
    let verdict = found.first().map_or(Verdict::Allow, |(verdict, _)| *verdict);
    Judgement { verdict, reasons: found.into_iter().map(|(_, reason)| reason).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ApprovalPolicy, BlastRadius};

    fn scores(unsafe_: f32, [allow, require_human, reject]: [f32; 3], args_grounded: f32) -> Scores {
        Scores {
            unsafe_,
            approval_policy: ApprovalPolicy { allow, require_human, reject },
            args_grounded,
            blast_radius: 0.5,
            effect: BlastRadius::Write,
            exfiltration: 0.0,
            injected: 0.0,
            unfit: false,
        }
    }

    const TARGET: Facts = Facts { side_effects: None, names_target: true };
    const PASS: [f32; 3] = [0.9, 0.05, 0.05];

    #[test]
    fn the_default_verdict_is_the_documented_one() {
        let t = Thresholds::default();
        let verdict = |s: &Scores, f| judge(s, &t, f).verdict;
        assert_eq!(verdict(&scores(0.29, PASS, 0.9), TARGET), Verdict::Allow);
        assert_eq!(verdict(&scores(0.3, PASS, 0.9), TARGET), Verdict::Ask);
        assert_eq!(verdict(&scores(0.8, PASS, 0.9), TARGET), Verdict::Block);
        assert_eq!(verdict(&scores(0.0, [0.3, 0.3, 0.4], 0.9), TARGET), Verdict::Block);
        assert_eq!(verdict(&scores(0.0, [0.3, 0.4, 0.3], 0.9), TARGET), Verdict::Ask);
        assert_eq!(verdict(&scores(0.0, PASS, 0.49), TARGET), Verdict::Ask);
        assert_eq!(
            verdict(&scores(0.0, PASS, 0.49), Facts { names_target: false, ..TARGET }),
            Verdict::Allow
        );
        assert_eq!(
            verdict(&scores(0.0, PASS, 0.49), Facts { side_effects: Some(false), ..TARGET }),
            Verdict::Allow
        );
    }

    #[test]
    fn the_decisive_reason_comes_first() {
        let judgement = judge(&scores(0.5, [0.1, 0.1, 0.8], 0.1), &Thresholds::default(), TARGET);
        let codes: Vec<_> = judgement.reasons.iter().map(|r| r.code.as_str()).collect();
        assert_eq!(codes, ["policy-reject", "unsafe", "args-ungrounded"]);
    }

    #[test]
    fn what_did_not_fit_is_asked_about_whatever_the_thresholds() {
        let unfit = Scores { unfit: true, ..scores(0.0, PASS, 0.9) };
        let lax = Thresholds { block_unsafe: 1.0, ask_unsafe: 1.0, ask_ungrounded: 0.0, policy_head: false };
        let judgement = judge(&unfit, &lax, TARGET);
        assert_eq!((judgement.verdict, judgement.reasons[0].code.as_str()), (Verdict::Ask, "check-unfit"));
    }

    #[test]
    fn no_number_at_all_blocks() {
        for bad in [f32::NAN, f32::INFINITY, -0.1, 1.1] {
            assert_eq!(
                judge(&scores(bad, PASS, 0.9), &Thresholds::default(), TARGET).verdict,
                Verdict::Block
            );
            assert_eq!(
                judge(&scores(0.0, PASS, bad), &Thresholds::default(), TARGET).verdict,
                Verdict::Block
            );
        }
    }

    #[test]
    fn the_policy_head_can_be_left_out() {
        let thresholds = Thresholds { policy_head: false, ..Thresholds::default() };
        assert_eq!(judge(&scores(0.0, [0.0, 0.0, 1.0], 0.9), &thresholds, TARGET).verdict, Verdict::Allow);
    }

    #[test]
    fn thresholds_are_checked() {
        assert!(Thresholds::default().validate().is_ok());
        assert!(Thresholds { ask_unsafe: 0.9, ..Thresholds::default() }.validate().is_err());
        assert!(Thresholds { ask_ungrounded: f32::NAN, ..Thresholds::default() }.validate().is_err());
    }
}
