//! A look at held-out checks while learning goes on. Nothing is decided by it.

use std::collections::BTreeMap;
use std::time::Instant;

use postern_check::Scores;
use tch::Device;

use super::Prepared;
use super::data::Labelled;
use super::dice::Dice;
use crate::Error;
use crate::eval::{auroc, is_attack};
use crate::guard::{Raw, Scorer};
use crate::net::{Ready, UNSAFE};
use crate::trees::Trees;
use crate::weights::{Calibration, Normalisation};

/// Held-out checks that are looked at: always the same.
const CHECKS: usize = 400;

/// Logs how well the text, the features and both together rank.
pub(super) fn log(
    step: usize,
    net: Ready,
    normalisation: &Normalisation,
    held: &Prepared,
    seed: u64,
) -> Result<(), Error> {
    let started = Instant::now();
    let mut chosen: Vec<usize> = (0..held.checks.len()).collect();
    Dice::new(seed).shuffle(&mut chosen);
    chosen.truncate(CHECKS);
    let scorer =
        Scorer::new(net, normalisation.clone(), Trees::new(Vec::new()), Calibration::NONE, Device::Cpu);
    let rendered: Vec<_> = chosen.iter().map(|&i| &held.rendered[i]).collect();
    let raw: Vec<Raw> = worst(scorer.raw(&rendered)?);
    let ranks = |of: &dyn Fn(&Raw) -> f32| {
        let known = chosen.iter().zip(&raw);
        let ranked: Vec<(f64, bool)> =
            known.filter_map(|(&i, raw)| Some((f64::from(of(raw)), is_attack(&held.checks[i])?))).collect();
        auroc(&ranked).unwrap_or(0.5)
    };
    tracing::info!(
        "step {step}, held out: AUROC {:.4}; text {:.4}, features {:.4} ({:.0} s)",
        ranks(&|raw| raw.unsafe_(&Calibration::NONE)),
        ranks(&|raw| raw.text[UNSAFE]),
        ranks(&|raw| raw.facts[UNSAFE]),
        started.elapsed().as_secs_f64()
    );
    Ok(())
}

/// The answers for every check's worst window: the features are the same for all, so the text decides.
pub(super) fn worst(raw: Vec<Vec<Raw>>) -> Vec<Raw> {
    let worst =
        |windows: Vec<Raw>| windows.into_iter().max_by(|a, b| a.text[UNSAFE].total_cmp(&b.text[UNSAFE]));
    raw.into_iter().filter_map(worst).collect()
}

/// How well the checks of every source rank that has both sides.
pub(super) fn by_source(checks: &[Labelled], scores: &[Scores]) -> BTreeMap<String, f64> {
    let mut ranked: BTreeMap<String, Vec<(f64, bool)>> = BTreeMap::new();
    for (labelled, scores) in checks.iter().zip(scores) {
        if let Some(attack) = is_attack(labelled) {
            ranked.entry(labelled.source.clone()).or_default().push((f64::from(scores.unsafe_), attack));
        }
    }
    ranked.retain(|_, ranked| ranked.iter().any(|r| r.1) && ranked.iter().any(|r| !r.1));
    ranked.into_iter().map(|(source, ranked)| (source, auroc(&ranked).unwrap_or(0.5))).collect()
}
