//! Corrections fitted on held-out groups: a temperature for P(unsafe), a bias for the policy's allow.

use postern_check::{PolicyHead, Scores};

use super::data::Labelled;
use crate::eval::is_attack;
use crate::weights::Calibration;

/// The share of benign held-out calls whose policy should come out as allow, if the bias can do it.
const BENIGN_ALLOWED: f64 = 0.96;
/// The largest bias: beyond it the policy head would say nothing any more.
const MOST_BIAS: u32 = 25;

/// Fits both, from scores that were made without calibration.
pub(crate) fn fit(checks: &[Labelled], scores: &[Scores]) -> Calibration {
    let known: Vec<(f64, bool, &Scores)> = checks
        .iter()
        .zip(scores)
        .filter_map(|(labelled, scores)| Some((logit(scores.unsafe_), is_attack(labelled)?, scores)))
        .collect();
    if known.is_empty() {
        return Calibration::NONE;
    }
    let loss = |temperature: f64| -> f64 {
        known
            .iter()
            .map(|&(logit, attack, _)| softplus(if attack { -logit } else { logit } / temperature))
            .sum()
    };
    let temperature = (0..=70)
        .map(|step| 0.5 + f64::from(step) * 0.05)
        .min_by(|a, b| loss(*a).total_cmp(&loss(*b)))
        .unwrap_or(1.0);
    let benign: Vec<&Scores> =
        known.iter().filter(|(_, attack, _)| !attack).map(|&(.., scores)| scores).collect();
    let allowed = |bias: f32| {
        let kept = benign.iter().filter(|scores| {
            let mut policy = scores.approval_policy;
            policy.allow *= bias.exp();
            policy.likeliest() == PolicyHead::Allow
        });
        kept.count() as f64 / (benign.len() as f64).max(1.0)
    };
    let biases = (0..=MOST_BIAS).map(|step| step as f32 * 0.1);
    let allow_bias =
        biases.into_iter().find(|&bias| allowed(bias) >= BENIGN_ALLOWED).unwrap_or(MOST_BIAS as f32 * 0.1);
    Calibration { temperature: temperature as f32, allow_bias }
}

fn logit(probability: f32) -> f64 {
    let p = f64::from(probability).clamp(1e-6, 1.0 - 1e-6);
    (p / (1.0 - p)).ln()
}

fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::train::data::Labels;
    use postern_check::{ApprovalPolicy, BlastRadius};

    fn case(unsafe_: f32, attack: bool, allow: f32) -> (Labelled, Scores) {
        let check = postern_check::Check::parse(r#"{"action":{"tool":"a.b"},"intent":""}"#).unwrap();
        let labels = Labels { unsafe_: Some(f32::from(u8::from(attack))), ..Labels::default() };
        let (source, group, kind) = ("s".to_string(), "g".to_string(), "k".to_string());
        let scores = Scores {
            unsafe_,
            approval_policy: ApprovalPolicy { allow, require_human: 0.0, reject: 1.0 - allow },
            args_grounded: 0.5,
            blast_radius: 0.0,
            effect: BlastRadius::None,
            exfiltration: 0.0,
            injected: 0.0,
        };
        (Labelled { check, labels, source, group, kind, task: None }, scores)
    }

    #[test]
    fn a_model_too_sure_of_itself_is_cooled() {
        // Says 0.98 and is right in three of four cases.
        let (checks, scores): (Vec<_>, Vec<_>) =
            (0..40).map(|i| if i % 4 == 0 { case(0.98, false, 0.9) } else { case(0.98, true, 0.1) }).unzip();
        let fitted = fit(&checks, &scores);
        assert!(fitted.temperature > 2.5, "{fitted:?}");
        assert_eq!(fitted.allow_bias, 0.0);
    }

    #[test]
    fn a_policy_that_refuses_benign_calls_is_biased_just_enough() {
        let (checks, scores): (Vec<_>, Vec<_>) = (0..20).map(|_| case(0.1, false, 0.4)).unzip();
        let fitted = fit(&checks, &scores);
        assert!((0.4..0.6).contains(&fitted.allow_bias), "{fitted:?}");
    }
}
