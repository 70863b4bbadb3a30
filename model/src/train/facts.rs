//! Learning the small network over the features alone: seconds instead of an hour, for work on features.

use std::collections::BTreeMap;
use std::time::Instant;

use tch::{Device, Tensor};

use super::dice::Dice;
use super::learn::{fresh, keep, normalise, thinned};
use super::optimiser::AdamW;
use super::{Prepared, loss};
use crate::Error;
use crate::guard::{Raw, rows};
use crate::net::{ANSWERS, Facts, whole};
use crate::render::FEATURES;
use crate::weights::Normalisation;

const BATCH: usize = 256;
const ROUNDS: usize = 20;
const RATE: f64 = 2e-3;
const MAX_GRADIENT: f64 = 1.0;

/// What came of it.
pub(super) struct Learned {
    facts: Facts,
    normalisation: Normalisation,
    pub(super) parameters: BTreeMap<String, Tensor>,
}

/// Learns from the features of rendered checks.
pub(super) fn learn(seed: u64, data: &Prepared) -> Result<Learned, Error> {
    tch::manual_seed(seed as i64);
    let started = Instant::now();
    let normalisation = normalise(data);
    let mut parameters = BTreeMap::new();
    let facts = Facts::take(&mut |name, shape| {
        let tensor = fresh(shape)?.set_requires_grad(true);
        parameters.insert(name.to_string(), tensor.shallow_clone());
        Ok::<_, Error>(tensor)
    })?;
    let mut adam = AdamW::new(parameters.iter().map(|(n, t)| (n.clone(), t.shallow_clone(), 1.0)).collect());
    let dice = Dice::new(seed);
    let mut order: Vec<usize> = (0..data.checks.len()).collect();
    let steps = (order.len().div_ceil(BATCH) * ROUNDS).max(1);
    let mut step = 0;
    for _ in 0..ROUNDS {
        dice.shuffle(&mut order);
        let mut sum = 0.0;
        for chosen in order.chunks(BATCH) {
            let features: Vec<[f32; FEATURES]> = chosen
                .iter()
                .map(|&i| keep(normalisation.apply(&data.rendered[i].features), &dice))
                .collect();
            let labels: Vec<_> = chosen.iter().map(|&i| &data.checks[i].labels).collect();
            let answers = facts.forward(&tensor(&features)?, &mut |x| thinned(x, &dice))?;
            let loss = loss::of(&answers, &labels)?;
            let learning: Vec<&Tensor> = adam.parameters().collect();
            let gradients = Tensor::f_run_backward(&[&loss], &learning, false, false)?;
            let rate = RATE * ((step + 1) as f64 / 100.0).min(1.0) * (1.0 - step as f64 / steps as f64);
            adam.step(rate, MAX_GRADIENT, &gradients)?;
            sum += loss.f_double_value(&[])?;
            step += 1;
        }
        tracing::debug!("step {step}/{steps}, loss {:.3}", sum / order.len().div_ceil(BATCH) as f64);
    }
    tracing::info!("{steps} steps in {:.1} s", started.elapsed().as_secs_f64());
    Ok(Learned { facts, normalisation, parameters })
}

impl Learned {
    /// What it says of checks; the text's part is 0.
    pub(super) fn raw(&self, data: &Prepared) -> Result<Vec<Raw>, Error> {
        let features: Vec<_> = data.rendered.iter().map(|r| self.normalisation.apply(&r.features)).collect();
        let features = tensor(&features)?;
        let answers = tch::no_grad(|| self.facts.forward(&features, &mut whole))?;
        Ok(rows(&answers.0)?
            .into_iter()
            .map(|facts| Raw { text: [0.0; ANSWERS], facts, trees: 0.0 })
            .collect())
    }
}

fn tensor(features: &[[f32; FEATURES]]) -> Result<Tensor, Error> {
    let tensor = Tensor::f_from_slice(features.as_flattened())?;
    Ok(tensor.f_view([features.len() as i64, FEATURES as i64])?.f_to_device(Device::Cpu)?)
}
