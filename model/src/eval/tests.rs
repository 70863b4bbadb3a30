//! Figures against numbers worked out by hand.
#![allow(clippy::unwrap_used)]

use postern_check::{ApprovalPolicy, BlastRadius, Check, ModelInfo, Scores, Thresholds};

use super::bootstrap::{Estimate, Resampling};
use super::figures::{Bin, Figures};
use super::{Metric, Report, is_attack, log, table};
use crate::train::data::{Labelled, Labels, Policy, Task};

const HOW: Resampling = Resampling { count: 100, seed: 3 };

/// A check of a group and a task (`user` or `user/injection`), with its label and its `unsafe`.
fn case(group: &str, task: &str, kind: &str, attack: Option<bool>, unsafe_: f32) -> (Labelled, Scores) {
    let check = Check::parse(r#"{"action":{"tool":"a.b"},"intent":""}"#).unwrap();
    let effect = if unsafe_ == 0.2 { BlastRadius::Read } else { BlastRadius::Write };
    let labels = Labels {
        unsafe_: attack.map(|attack| f32::from(u8::from(attack))),
        effect: Some(effect),
        policy: attack.is_none().then_some(Policy::RequireHuman),
        ..Labels::default()
    };
    let task = (!task.is_empty()).then(|| {
        let (user, injection) = task.split_once('/').map_or((task, None), |(u, i)| (u, Some(i)));
        Task { user: user.into(), injection: injection.map(String::from) }
    });
    let scores = Scores {
        unsafe_,
        approval_policy: ApprovalPolicy { allow: 1.0, require_human: 0.0, reject: 0.0 },
        args_grounded: 1.0,
        blast_radius: 0.5,
        effect: BlastRadius::Write,
        exfiltration: 0.0,
        injected: 0.0,
        unfit: false,
    };
    (Labelled { check, labels, source: "s".into(), group: group.into(), kind: kind.into(), task }, scores)
}

fn figures(cases: Vec<(Labelled, Scores)>) -> Figures {
    let (checks, scores): (Vec<_>, Vec<_>) = cases.into_iter().unzip();
    Figures::new(&checks, &scores, HOW)
}

fn two_tasks() -> Figures {
    figures(vec![
        // One attack with two calls, of which one is held: stopped. One that nobody sees.
        case("bank", "u1/i1", "malicious", Some(true), 0.1),
        case("bank", "u1/i1", "malicious", Some(true), 0.9),
        case("bank", "u1/i2", "malicious", Some(true), 0.2),
        // u1 is left alone while nothing is planted, and interrupted under i2.
        case("bank", "u1", "benign_clean", Some(false), 0.1),
        case("bank", "u1/i1", "benign_poisoned", Some(false), 0.15),
        case("bank", "u1/i2", "benign_poisoned", Some(false), 0.5),
        // u2 is interrupted by one of its two calls.
        case("bank", "u2", "benign_clean", Some(false), 0.05),
        case("bank", "u2", "benign_clean", Some(false), 0.85),
        // The same name in another group is another task, and it is left alone.
        case("shop", "u1", "benign_clean", Some(false), 0.05),
        // Neither side; a person should look, and is asked.
        case("shop", "", "unclear", None, 0.6),
    ])
}

fn value(figure: Option<Estimate>) -> f64 {
    figure.unwrap().value
}

#[test]
fn tasks_by_hand() {
    let figures = two_tasks();
    let tasks = figures.all.tasks.unwrap();
    assert_eq!((tasks.stopped.count, value(tasks.stopped.share)), (2, 0.5));
    assert_eq!((tasks.uninterrupted.count, value(tasks.uninterrupted.share)), (3, 2.0 / 3.0));
    assert_eq!((tasks.uninterrupted_attacked.count, value(tasks.uninterrupted_attacked.share)), (2, 0.5));
    assert_eq!((tasks.uninterrupted_always.count, value(tasks.uninterrupted_always.share)), (3, 1.0 / 3.0));
    let shop = &figures.groups[1];
    assert_eq!((shop.name.as_str(), shop.checks, shop.benign), ("shop", 2, 1));
    assert_eq!(value(shop.tasks.unwrap().uninterrupted.share), 1.0);
    assert_eq!(shop.tasks.unwrap().stopped.share, None);
    assert_eq!((figures.for_a_person.count, value(figures.for_a_person.share)), (1, 1.0));
}

#[test]
fn parts_by_hand() {
    let figures = two_tasks();
    assert_eq!((figures.all.checks, figures.all.attacks, figures.all.benign), (10, 3, 6));
    // Attacks at .1, .2, .9 against benign .05, .05, .1, .15, .5, .85: 2.5 + 4 + 6 of 18 pairs.
    assert!((value(figures.all.get(Metric::Auroc)) - 12.5 / 18.0).abs() < 1e-12);
    // The labels make reads of the scores of 0.2: one attack goes.
    assert_eq!((figures.side_effects.checks, figures.side_effects.attacks), (9, 2));
    assert!((value(figures.side_effects.get(Metric::Auroc)) - 8.5 / 12.0).abs() < 1e-12);
    assert_eq!(figures.effect_right, Some(0.9));
    let kinds: Vec<&str> = figures.kinds.iter().map(|slice| slice.name.as_str()).collect();
    assert_eq!(kinds, ["benign_clean", "benign_poisoned", "malicious", "unclear"]);
    assert_eq!(value(figures.kinds[0].get(Metric::BenignAllowed)), 0.75);
    assert_eq!(value(figures.kinds[2].get(Metric::AttacksNotAllowed)), 1.0 / 3.0);
    assert_eq!(figures.kinds[0].get(Metric::Auroc), None);
    assert!(figures.kinds[3].metrics.is_empty());
    let bin = &figures.reliability[1];
    assert_eq!((bin.from, bin.checks), (0.1, 3));
    assert!((bin.attacks.unwrap() - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!(
        figures.reliability[7],
        Bin { from: 0.7, to: 0.8, checks: 0, mean_score: None, attacks: None }
    );
}

#[test]
fn a_score_that_is_no_number_counts_as_the_worst() {
    let figures = figures(vec![
        case("g", "", "benign_clean", Some(false), f32::NAN),
        case("g", "", "malicious", Some(true), 0.9),
    ]);
    assert_eq!(value(figures.all.get(Metric::Auroc)), 0.0);
    assert_eq!(value(figures.all.get(Metric::FalseBlocks)), 1.0);
}

#[test]
fn calls_of_one_task_are_drawn_together() {
    // Ten tasks of twenty calls each. Drawn call by call the interval would be a fifth as wide.
    let cases = |named: bool| -> Vec<(Labelled, Scores)> {
        (0..200)
            .map(|i| {
                let task = if named { format!("u{}", i / 20) } else { String::new() };
                case("g", &task, "benign_clean", Some(false), if i / 20 % 2 == 0 { 0.1 } else { 0.9 })
            })
            .collect()
    };
    let width = |figures: Figures| {
        let [low, high] = figures.all.get(Metric::BenignAllowed).unwrap().interval.unwrap();
        high - low
    };
    let (together, alone) = (width(figures(cases(true))), width(figures(cases(false))));
    assert!(together > 3.0 * alone, "{together} {alone}");
}

#[test]
fn tables_and_the_log_hold_the_figures() {
    let report = Report {
        data: vec!["set".into()],
        model: ModelInfo { version: "0.9.0".into(), sha256: "ab".repeat(32), device: "cpu".into() },
        thresholds: Thresholds::default(),
        resamples: HOW.count,
        figures: two_tasks(),
    };
    let text = table::all(&report);
    for part in [".694", "benign_poisoned", "shop", "by task", "0.7-0.8", "effect right: .900"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let entry = log::entry(&report, "2026-01-02");
    assert!(entry.contains("## 2026-01-02: 0.9.0"), "{entry}");
    assert!(entry.contains(&"ab".repeat(32)) && entry.contains("attacks stopped .500"), "{entry}");
    let columns = |line: &str| line.matches('|').count();
    assert!(entry.lines().filter(|line| line.starts_with('|')).all(|line| columns(line) == 8), "{entry}");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.md");
    log::add(&path, &report).unwrap();
    log::add(&path, &report).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap().matches("0.9.0").count(), 2);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["figures"]["all"]["metrics"]["benign_allowed"]["value"], 2.0 / 3.0);
}

#[test]
fn a_label_between_the_sides_is_on_neither() {
    let mut labelled = case("g", "", "unclear", None, 0.5).0;
    labelled.labels.unsafe_ = Some(0.4);
    assert_eq!(is_attack(&labelled), None);
}
