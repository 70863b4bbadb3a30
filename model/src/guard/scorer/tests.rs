#![allow(clippy::unwrap_used)]
use super::*;
use crate::net;
use crate::render::{FEATURES, Window};
use crate::train::Dice;
use postern_check::BlastRadius;
use tch::{Device, Kind};

fn scorer() -> Scorer {
    let normalisation = Normalisation { mean: [0.2; FEATURES], deviation: [0.5; FEATURES] };
    Scorer::new(
        net::tests::random(4).ready(Kind::Float).unwrap(),
        normalisation,
        Trees::new(Vec::new()),
        Calibration::NONE,
        Device::Cpu,
    )
}

/// Checks of seven frames; every fourth has two windows.
fn checks(count: usize) -> Vec<Rendered> {
    let dice = Dice::new(8);
    let ids = |count: usize, dice: &Dice| {
        (0..count).map(|n| if n == 0 { 101 } else { 1000 + dice.below(9000) as i64 }).collect::<Vec<i64>>()
    };
    let frames: Vec<Vec<i64>> = (0..7).map(|n| ids(5 + 4 * n, &dice)).collect();
    (0..count)
        .map(|n| Rendered {
            frame: frames[n % 7].clone(),
            windows: (0..1 + usize::from(n % 4 == 0))
                .map(|_| Window { ids: ids(10 + dice.below(40), &dice), action: 8 })
                .collect(),
            features: std::array::from_fn(|_| dice.below(100) as f32 / 100.0),
            effect: None,
            grounded: None,
            overflow: false,
        })
        .collect()
}

fn numbers(scores: &[Scores]) -> Vec<f32> {
    let all = scores.iter().flat_map(|s| {
        let p = &s.approval_policy;
        [
            s.unsafe_,
            p.allow,
            p.require_human,
            p.reject,
            s.args_grounded,
            s.blast_radius,
            s.exfiltration,
            s.injected,
        ]
    });
    all.collect()
}

fn farthest(a: &[Scores], b: &[Scores]) -> f32 {
    numbers(a).iter().zip(numbers(b)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

fn score(scorer: &Scorer, checks: &[Rendered]) -> Vec<Scores> {
    scorer.score(&checks.iter().collect::<Vec<_>>()).unwrap()
}

#[test]
fn alone_together_cold_and_remembered_are_alike() {
    let scorer = scorer();
    let checks = checks(40);
    let together = score(&scorer, &checks);
    assert!(together.iter().all(Scores::are_sound));
    assert!(farthest(&together[..20], &together[20..]) > 1e-3);
    // From the cache: the very same.
    assert_eq!(together, score(&scorer, &checks));
    // Frames from the cache, windows anew, one by one.
    scorer.forget_scores();
    let alone: Vec<Scores> =
        checks.iter().flat_map(|check| score(&scorer, std::slice::from_ref(check))).collect();
    assert!(farthest(&together, &alone) < 1e-4);
    // All anew.
    scorer.forget();
    assert_eq!(together, score(&scorer, &checks));
}

#[test]
fn more_frames_than_are_kept_make_no_difference() {
    let scorer = scorer();
    let mut checks = checks(FRAMES_KEPT * 3);
    for (n, check) in checks.iter_mut().enumerate() {
        check.frame.push(2000 + n as i64);
    }
    let first = score(&scorer, &checks);
    scorer.forget_scores();
    let again = score(&scorer, &checks);
    assert!(farthest(&first, &again) < 1e-4);
}

#[test]
fn whatever_the_network_reads_is_part_of_the_key() {
    let check = &checks(1)[0];
    let change = |change: &dyn Fn(&mut Rendered)| {
        let mut other = check.clone();
        change(&mut other);
        key(&other)
    };
    let others = [
        change(&|c| c.frame.push(7)),
        change(&|c| c.windows[0].ids[3] += 1),
        change(&|c| c.windows[0].action += 1),
        change(&|c| c.features[2] += 0.5),
        change(&|c| _ = c.windows.pop()),
        // The same ids, but one of them has moved from the frame to the window.
        change(&|c| {
            let id = c.frame.pop().unwrap();
            c.windows[0].ids.insert(0, id);
        }),
    ];
    assert!(others.iter().all(|other| *other != key(check)));
    assert_eq!(change(&|_| {}), key(check));
}

#[test]
fn what_did_not_fit_is_asked_about() {
    let scorer = scorer();
    let mut check = checks(1).remove(0);
    let fits = score(&scorer, std::slice::from_ref(&check)).remove(0);
    check.overflow = true;
    let overflown = score(&scorer, std::slice::from_ref(&check)).remove(0);
    assert!(overflown.unfit && !fits.unfit);
    assert_eq!(overflown.unsafe_, fits.unsafe_);
}

#[test]
fn what_is_known_is_not_guessed() {
    let scorer = scorer();
    let mut check = checks(1).remove(0);
    (check.effect, check.grounded) = (Some(BlastRadius::Irreversible), Some(0.1));
    let scores = score(&scorer, std::slice::from_ref(&check)).remove(0);
    assert_eq!(
        (scores.effect, scores.blast_radius, scores.args_grounded),
        (BlastRadius::Irreversible, 1.0, 0.1)
    );
    let unsound = finish(&check, Scores { args_grounded: f32::NAN, ..scores });
    assert!(!unsound.are_sound());
}

#[test]
fn no_checks_and_no_windows() {
    let scorer = scorer();
    assert!(score(&scorer, &[]).is_empty());
    let mut check = checks(1).remove(0);
    check.windows.clear();
    assert!(scorer.score(&[&check]).is_err());
}
