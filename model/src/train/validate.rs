//! A look at held-out checks while learning goes on. Nothing is decided by it.

use std::collections::BTreeMap;
use std::time::Instant;

use postern_check::Scores;
use tch::{Device, Kind};

use super::Prepared;
use super::data::Labelled;
use super::dice::Dice;
use crate::Error;
use crate::eval::{auroc, is_attack};
use crate::guard::{Raw, Scorer, settle};
use crate::net::{Ready, UNSAFE};
use crate::trees::Trees;
use crate::weights::{Calibration, Loaded, Normalisation};

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

/// What a model says of every window of checks, uncalibrated. Every thread takes a part of them for itself:
/// libtorch's own threads would wait for each other after every product.
pub(super) fn raw(model: &Loaded, data: &Prepared) -> Result<Vec<Vec<Raw>>, Error> {
    let threads = usize::try_from(tch::get_num_threads()).unwrap_or(1).max(1);
    let started = Instant::now();
    let parts = data.rendered.chunks(data.rendered.len().div_ceil(threads).max(1));
    let nets = parts.clone().map(|_| model.net.ready(Kind::Float)).collect::<Result<Vec<_>, _>>()?;
    let parts = std::thread::scope(|scope| {
        let running: Vec<_> = parts
            .zip(nets)
            .map(|(part, net)| {
                let (normalisation, trees) = (model.normalisation.clone(), model.trees.clone());
                scope.spawn(move || {
                    // A thread has its own number of libtorch's threads.
                    tch::set_num_threads(1);
                    Scorer::new(net, normalisation, trees, Calibration::NONE, Device::Cpu)
                        .raw(&part.iter().collect::<Vec<_>>())
                })
            })
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect::<Result<Vec<_>, Error>>()
    })?;
    tracing::info!("{} checks in {:.0} s", data.checks.len(), started.elapsed().as_secs_f64());
    Ok(parts.concat())
}

/// The scores that follow from that.
pub(super) fn scores(
    data: &Prepared,
    raw: &[Vec<Raw>],
    calibration: &Calibration,
) -> Result<Vec<Scores>, Error> {
    let none = || Error::Data("a rendered check without windows".into());
    let each = data.rendered.iter().zip(raw);
    each.map(|(check, windows)| settle(check, windows, calibration).ok_or_else(none)).collect()
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
