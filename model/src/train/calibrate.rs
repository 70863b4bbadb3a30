//! Calibration on held-out groups: how much text and features count, what 0.3 and 0.8 mean, and how sure the
//! policy head must be.

use super::data::Labelled;
use crate::eval::is_attack;
use crate::guard::Raw;
use crate::net::UNSAFE;
use crate::render::delegates;
use crate::weights::Calibration;

/// The share of honest calls that are asked about, and where asking starts.
const ASKED: (f64, f64) = (0.03, 0.3);
/// The share of honest calls that are blocked, and where blocking starts.
const BLOCKED: (f64, f64) = (0.005, 0.8);
/// The share of honest traffic that has a planted text in what was read.
const PLANTED: f64 = 0.2;
/// What the policy head may add to either.
const ASKED_BY_POLICY: f64 = 0.005;
const BLOCKED_BY_POLICY: f64 = 0.002;
/// Meeting both shares may cost so much of the likelihood; else the first one alone is met.
const WORSE: f64 = 1.15;

/// One held-out check: the answers for its worst window.
struct Case<'a> {
    raw: &'a Raw,
    attack: bool,
    /// Weights add up to 1 over all attacks and over all benign calls.
    weight: f64,
    /// Weights add up to 1 over honest traffic.
    honest: f64,
}

/// Fits the calibration, from the answers for every check's worst window.
pub(crate) fn fit(checks: &[Labelled], raw: &[Raw]) -> Calibration {
    let cases = cases(checks, raw);
    if cases.iter().all(|case| case.attack) || cases.iter().all(|case| !case.attack) {
        return Calibration::NONE;
    }
    let [text, facts, trees, bias] = weigh(&cases);
    let logit = |case: &Case<'_>| {
        let [t, f, r] = numbers(case);
        text * t + facts * f + trees * r + bias
    };
    let scored: Vec<(f64, &Case<'_>)> = cases.iter().map(|case| (logit(case), case)).collect();
    let (scale, offset) = place(&scored);
    let mut calibration = Calibration {
        text: (text * scale) as f32,
        facts: (facts * scale) as f32,
        trees: (trees * scale) as f32,
        bias: (bias * scale + offset) as f32,
        ..Calibration::NONE
    };
    (calibration.require_human, calibration.reject) = quieten(&cases, &calibration);
    calibration
}

fn cases<'a>(checks: &[Labelled], raw: &'a [Raw]) -> Vec<Case<'a>> {
    // Asking about a delegated call is right, benign as it may be.
    let own = |l: &Labelled| l.kind != "benign_delegated" && !delegates(&l.check.intent);
    let clean = |l: &Labelled| l.kind != "benign_poisoned" && own(l);
    let poisoned = |l: &Labelled| l.kind == "benign_poisoned" && own(l);
    let count = |test: &dyn Fn(&Labelled) -> bool| {
        checks.iter().filter(|&l| is_attack(l).is_some() && test(l)).count().max(1) as f64
    };
    let benign = |l: &Labelled| is_attack(l) == Some(false);
    let (attacks, benigns) = (count(&|l| !benign(l)), count(&benign));
    let (cleans, poisoneds) = (count(&|l| benign(l) && clean(l)), count(&|l| benign(l) && poisoned(l)));
    let known = checks.iter().zip(raw).filter_map(|(labelled, raw)| {
        let attack = is_attack(labelled)?;
        let honest = match attack {
            false if poisoned(labelled) => PLANTED / poisoneds,
            false if clean(labelled) => (1.0 - PLANTED) / cleans,
            _ => 0.0,
        };
        Some(Case { raw, attack, weight: 1.0 / if attack { attacks } else { benigns }, honest })
    });
    known.filter(|case| numbers(case).iter().all(|number| number.is_finite())).collect()
}

/// The unsafe logits of text, features and trees.
fn numbers(case: &Case<'_>) -> [f64; 3] {
    [case.raw.text[UNSAFE], case.raw.facts[UNSAFE], case.raw.trees].map(f64::from)
}

/// Logistic regression over the three unsafe logits; no weight is negative.
fn weigh(cases: &[Case<'_>]) -> [f64; 4] {
    let mut used = [true; 3];
    loop {
        let fitted = newton(cases, used);
        // The most negative one goes first: without it the others may be positive.
        let worst = (0..3).filter(|&i| used[i]).min_by(|&a, &b| fitted[a].total_cmp(&fitted[b]));
        match worst {
            Some(index) if fitted[index] < 0.0 => used[index] = false,
            _ => return fitted,
        }
    }
}

/// A little pull towards 0, so that separable data has an answer.
const RIDGE: f64 = 1e-4;

fn newton(cases: &[Case<'_>], used: [bool; 3]) -> [f64; 4] {
    let mut beta = [0.0; 4];
    for _ in 0..50 {
        let (mut slope, mut curve) = ([0.0; 4], [[0.0; 4]; 4]);
        for case in cases {
            let given = numbers(case);
            let x: [f64; 4] = std::array::from_fn(|i| match given.get(i) {
                Some(number) if used[i] => *number,
                Some(_) => 0.0,
                None => 1.0,
            });
            let p = sigmoid(x.iter().zip(&beta).map(|(x, b)| x * b).sum());
            let (wrong, bend) = (f64::from(u8::from(case.attack)) - p, p * (1.0 - p));
            for ((slope, curve), xi) in slope.iter_mut().zip(&mut curve).zip(x) {
                *slope += case.weight * wrong * xi;
                curve.iter_mut().zip(x).for_each(|(cell, xj)| *cell += case.weight * bend * xi * xj);
            }
        }
        for (index, beta) in beta.iter().enumerate() {
            slope[index] -= RIDGE * beta;
            curve[index][index] += RIDGE;
        }
        let step = solve(curve, slope);
        // Far from the optimum a whole step may overshoot.
        let longest = step.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let share = (2.0 / longest.max(1e-12)).min(1.0);
        beta.iter_mut().zip(step).for_each(|(beta, step)| *beta += share * step);
        if longest < 1e-9 {
            break;
        }
    }
    beta
}

/// Solves a symmetric positive definite system by elimination.
fn solve<const N: usize>(mut a: [[f64; N]; N], mut b: [f64; N]) -> [f64; N] {
    for pivot in 0..N {
        let used = a[pivot];
        for row in pivot + 1..N {
            let factor = a[row][pivot] / used[pivot];
            a[row].iter_mut().zip(used).for_each(|(x, y)| *x -= factor * y);
            b[row] -= factor * b[pivot];
        }
    }
    let mut x = [0.0; N];
    for row in (0..N).rev() {
        let rest: f64 = (row + 1..N).map(|column| a[row][column] * x[column]).sum();
        x[row] = (b[row] - rest) / a[row][row];
    }
    x
}

/// Scale and offset that bring the honest shares to their thresholds.
fn place(scored: &[(f64, &Case<'_>)]) -> (f64, f64) {
    let honest: Vec<(f64, f64)> = scored.iter().map(|&(logit, case)| (logit, case.honest)).collect();
    let (asked, blocked) = (above(&honest, ASKED.0), above(&honest, BLOCKED.0));
    let (ask, block) = (log_odds(ASKED.1), log_odds(BLOCKED.1));
    let shifted = (1.0, ask - asked);
    if blocked <= asked {
        return shifted;
    }
    let scale = (block - ask) / (blocked - asked);
    let both = (scale, ask - scale * asked);
    let loss = |(scale, offset): (f64, f64)| -> f64 {
        scored
            .iter()
            .map(|&(logit, case)| {
                let logit = scale * logit + offset;
                case.weight * softplus(if case.attack { -logit } else { logit })
            })
            .sum()
    };
    if loss(both) <= WORSE * loss(shifted) { both } else { shifted }
}

/// The policy's biases, so that by itself it adds little on honest traffic.
fn quieten(cases: &[Case<'_>], calibration: &Calibration) -> (f32, f32) {
    let bias = |class: usize, below: f64, share: f64| {
        let margins: Vec<(f64, f64)> = cases
            .iter()
            .filter(|case| f64::from(case.raw.unsafe_(calibration)) < log_odds(below))
            .map(|case| {
                let policy = case.raw.policy(&Calibration::NONE);
                (f64::from(policy[class] - policy[0]), case.honest)
            })
            .collect();
        -(above(&margins, share).max(0.0) as f32)
    };
    (bias(1, ASKED.1, ASKED_BY_POLICY), bias(2, BLOCKED.1, BLOCKED_BY_POLICY))
}

/// A number that at most this share of the weights lies above: between the last value that may and
/// the first that may not.
fn above(values: &[(f64, f64)], share: f64) -> f64 {
    let mut sorted: Vec<(f64, f64)> = values.iter().copied().filter(|&(_, weight)| weight > 0.0).collect();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut sum = 0.0;
    let mut last = None;
    for (value, weight) in sorted {
        sum += weight;
        if sum > share {
            return last.map_or(value + 1e-3, |last: f64| (value + last) / 2.0);
        }
        last = Some(value);
    }
    last.unwrap_or(0.0)
}

fn log_odds(p: f64) -> f64 {
    (p / (1.0 - p)).ln()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests;
