#![allow(clippy::unwrap_used)]
use super::*;
use crate::net::{ANSWERS, POLICY};
use crate::train::data::Labels;
use crate::train::dice::Dice;

fn case(text: f32, facts: f32, attack: bool, kind: &str) -> (Labelled, Raw) {
    let check = postern_check::Check::parse(r#"{"action":{"tool":"a.b"},"intent":""}"#).unwrap();
    let labels = Labels { unsafe_: Some(f32::from(u8::from(attack))), ..Labels::default() };
    let (source, group, kind) = ("s".to_string(), "g".to_string(), kind.to_string());
    let mut raw = Raw { text: [0.0; ANSWERS], facts: [0.0; ANSWERS], trees: 0.0 };
    (raw.text[UNSAFE], raw.facts[UNSAFE]) = (text, facts);
    raw.text[POLICY.start] = 1.0;
    (Labelled { check, labels, source, group, kind, task: None }, raw)
}

/// Two overlapping sides; the facts say nothing.
fn traffic() -> (Vec<Labelled>, Vec<Raw>) {
    let dice = Dice::new(3);
    let noise = || (0..12).map(|_| dice.below(1000) as f32 / 1000.0 - 0.5).sum::<f32>();
    let mut cases = Vec::new();
    for n in 0..3000 {
        let kind = if n % 3 == 0 { "benign_poisoned" } else { "benign_clean" };
        let worse = if n % 3 == 0 { 0.4 } else { 0.0 };
        cases.push(case(-2.0 + worse + noise(), noise(), false, kind));
        cases.push(case(2.0 + noise(), noise(), true, "malicious"));
    }
    cases.into_iter().unzip()
}

#[test]
fn the_thresholds_mean_what_is_documented() {
    let (checks, raw) = traffic();
    let fitted = fit(&checks, &raw);
    assert!(fitted.facts < 0.1 * fitted.text, "{fitted:?}");
    let share = |kind: &str, from: f64| {
        let all: Vec<f64> = checks
            .iter()
            .zip(&raw)
            .filter(|(labelled, _)| labelled.kind == kind)
            .map(|(_, raw)| sigmoid(f64::from(raw.unsafe_(&fitted))))
            .collect();
        all.iter().filter(|&&p| p >= from).count() as f64 / all.len() as f64
    };
    let honest =
        |from| (1.0 - PLANTED) * share("benign_clean", from) + PLANTED * share("benign_poisoned", from);
    assert!((0.025..=0.031).contains(&honest(ASKED.1)), "{} {fitted:?}", honest(ASKED.1));
    assert!((0.003..=0.006).contains(&honest(BLOCKED.1)), "{} {fitted:?}", honest(BLOCKED.1));
    assert!(share("malicious", ASKED.1) > 0.9);
}

#[test]
fn the_better_part_counts_more_and_none_counts_backwards() {
    let (checks, mut raw) = traffic();
    for raw in &mut raw {
        // The facts now carry the signal, and the text says the opposite of it.
        raw.facts[UNSAFE] = raw.text[UNSAFE];
        raw.text[UNSAFE] = -raw.text[UNSAFE] * 0.1 + raw.text[UNSAFE].sin();
    }
    let fitted = fit(&checks, &raw);
    assert!(fitted.facts > 0.0 && fitted.text >= 0.0, "{fitted:?}");
}

#[test]
fn an_eager_policy_head_is_made_quiet() {
    let (checks, mut raw) = traffic();
    for (n, raw) in raw.iter_mut().enumerate() {
        // On every tenth call it would refuse, on every fifth it would ask.
        raw.facts[POLICY.start + 2] = if n % 10 == 0 { 3.0 + n as f32 * 1e-3 } else { -3.0 };
        raw.facts[POLICY.start + 1] = if n % 5 == 1 { 4.0 + n as f32 * 1e-3 } else { -3.0 };
    }
    let fitted = fit(&checks, &raw);
    assert!(fitted.reject < -1.0 && fitted.require_human < -1.0, "{fitted:?}");
    let held = checks.iter().zip(&raw).filter(|(labelled, raw)| {
        labelled.labels.unsafe_ == Some(0.0) && {
            let [allow, require_human, reject] = raw.policy(&fitted);
            require_human > allow || reject > allow
        }
    });
    assert!(held.count() < 40);
}

#[test]
fn without_both_sides_nothing_is_fitted() {
    let (checks, raw): (Vec<_>, Vec<_>) = (0..9).map(|_| case(0.1, 0.4, false, "benign_clean")).unzip();
    assert_eq!(fit(&checks, &raw), Calibration::NONE);
    assert_eq!(fit(&[], &[]), Calibration::NONE);
}
