//! The learning itself: from rendered checks and a pretrained encoder to parameters.
//!
//! The vectors of words and the lowest layers stay as they are: they hold general language, and leaving
//! them out saves their backward pass.

use std::collections::BTreeMap;
use std::time::Instant;

use tch::{Device, Kind, TchError, Tensor};

use super::average::Average;
use super::dice::Dice;
use super::optimiser::AdamW;
use super::plan::{self, BATCH};
use super::progress::Progress;
use super::worker::{self, Worker};
use super::{Prepared, TrainOptions, validate};
use crate::Error;
use crate::net::{HIDDEN, Net, WORDS};
use crate::render::{FEATURES, Mark, Renderer};
use crate::weights::{Normalisation, ToLearn};

/// How much faster than the encoder the heads learn.
const HEADS_FACTOR: f64 = 7.0;
const WARM_UP: f64 = 40.0;
/// The lowest layers that do not learn.
pub(super) const FROZEN: usize = 2;
/// Share of the heads' inner numbers that are dropped.
const DROPOUT: f64 = 0.1;
/// Single features that are taken away from a row.
const FEATURE_DROPPED: f64 = 0.1;
const MAX_GRADIENT: f64 = 1.0;
const CHECKPOINT_SECONDS: u64 = 180;

/// What came of learning.
pub(super) struct Learned {
    pub(super) normalisation: Normalisation,
    pub(super) parameters: BTreeMap<String, Tensor>,
    pub(super) steps: usize,
}

/// Learns until the epochs or the minutes are used up. `held` is only looked at for the log.
pub(super) fn learn(
    options: &TrainOptions,
    from: &ToLearn,
    renderer: &Renderer,
    data: &Prepared,
    held: &Prepared,
) -> Result<Learned, Error> {
    tch::manual_seed(options.seed as i64);
    // What was learned holds for features as they were normalised then.
    let normalisation = from.normalisation.clone().unwrap_or_else(|| normalise(data));
    let features: Vec<[f32; FEATURES]> =
        data.rendered.iter().map(|r| normalisation.apply(&r.features)).collect();
    let mut parameters = BTreeMap::new();
    let net = Net::take(&mut |name, shape| {
        let tensor = start(name, shape, from, renderer, options.seed)?;
        parameters.insert(name.to_string(), tensor.shallow_clone());
        Ok::<_, Error>(tensor)
    })?;
    let learning: BTreeMap<String, Tensor> = parameters
        .iter()
        .filter(|(_, tensor)| tensor.requires_grad())
        .map(|(name, tensor)| (name.clone(), tensor.shallow_clone()))
        .collect();
    let rate_of = |name: &str| if name.starts_with("encoder") { 1.0 } else { HEADS_FACTOR };
    let mut adam =
        AdamW::new(learning.iter().map(|(n, t)| (n.clone(), t.shallow_clone(), rate_of(n))).collect());
    let mut average = Average::new(&learning)?;

    let batches = plan::batches(&data.rendered, options.epochs, options.seed);
    let kind = if options.exact || !crate::device::cpu_has_bf16() { Kind::Float } else { Kind::BFloat16 };
    let threads = tch::get_num_threads();
    // The workers are the threads; libtorch's own would wait in their way.
    tch::set_num_threads(1);
    let mut workers = Worker::several(threads as usize, &net, &parameters, kind)?;
    let mut progress = Progress::resume(options, &batches, &mut adam, &mut average)?;
    let started = Instant::now();
    let (mut saved, mut validated, mut seen) = (started, started, 0);
    while progress.step < batches.len() {
        let elapsed = progress.seconds_before + started.elapsed().as_secs_f64();
        let done = (progress.step as f64 / batches.len() as f64).max(elapsed / (options.minutes * 60.0));
        if done >= 1.0 {
            break;
        }
        let rate = options.rate * ((progress.step + 1) as f64 / WARM_UP).min(1.0) * (1.0 - done).max(0.02);
        let chosen = &batches[progress.step];
        // Depends on seed and step alone, so that a resumed run sees the same.
        let seed = options.seed ^ ((progress.step as u64) << 20);
        let (loss, gradients) = worker::together(&mut workers, data, &features, chosen, seed)?;
        adam.step(rate, MAX_GRADIENT, &gradients)?;
        progress.add(loss);
        average.follow(progress.step)?;
        seen += chosen.len();
        if progress.step.is_multiple_of(20) {
            let spent = started.elapsed().as_secs_f64();
            let by_steps = (batches.len() - progress.step) as f64 * spent * BATCH as f64 / seen as f64;
            let left = by_steps.min(options.minutes * 60.0 - elapsed).max(0.0);
            let (step, all, loss) = (progress.step, batches.len(), progress.loss);
            tracing::info!(
                "step {step}/{all}, loss {loss:.3}, {:.1} checks/s, {left:.0} s left",
                seen as f64 / spent
            );
        }
        if saved.elapsed().as_secs() >= CHECKPOINT_SECONDS {
            let seconds = progress.seconds_before + started.elapsed().as_secs_f64();
            progress.save(options, &adam, &average, seconds)?;
            saved = Instant::now();
        }
        let due =
            options.validate_every.is_some_and(|minutes| validated.elapsed().as_secs_f64() >= minutes * 60.0);
        if due {
            let net = averaged(&parameters, &average)?;
            tch::set_num_threads(threads);
            validate::log(progress.step, net.ready(kind)?, &normalisation, held, options.seed)?;
            tch::set_num_threads(1);
            validated = Instant::now();
        }
    }
    tch::set_num_threads(threads);
    let steps = progress.step;
    let seconds = progress.seconds_before + started.elapsed().as_secs_f64();
    progress.save(options, &adam, &average, seconds)?;
    // What was averaged is what is used.
    for (name, tensor) in average.tensors() {
        parameters.insert(name.clone(), tensor.shallow_clone());
    }
    Ok(Learned { normalisation, parameters, steps })
}

/// The network with the averages of what learns.
fn averaged(parameters: &BTreeMap<String, Tensor>, average: &Average) -> Result<Net, Error> {
    Net::take(&mut |name, _| {
        let tensor = average.tensors().get(name).or_else(|| parameters.get(name));
        tensor.map(Tensor::shallow_clone).ok_or_else(|| Error::Data(format!("no parameter {name}")))
    })
}

/// Takes some features away: 0 is their mean.
pub(super) fn keep(features: [f32; FEATURES], dice: &Dice) -> [f32; FEATURES] {
    features.map(|x| if dice.chance(FEATURE_DROPPED) { 0.0 } else { x })
}

/// Drops numbers at random and makes up for it in the others.
pub(super) fn thinned(x: Tensor, dice: &Dice) -> Result<Tensor, TchError> {
    let rest = 1.0 / (1.0 - DROPOUT as f32);
    let mask: Vec<f32> = (0..x.numel()).map(|_| if dice.chance(DROPOUT) { 0.0 } else { rest }).collect();
    x.f_mul(&Tensor::f_from_slice(&mask)?.f_view_as(&x)?)
}

/// Mean and deviation of every feature over the data.
pub(super) fn normalise(data: &Prepared) -> Normalisation {
    let count = data.rendered.len().max(1) as f32;
    let sum = |term: &dyn Fn(usize, f32) -> f32| -> [f32; FEATURES] {
        std::array::from_fn(|i| data.rendered.iter().map(|r| term(i, r.features[i])).sum::<f32>() / count)
    };
    let mean = sum(&|_, x| x);
    let variance = sum(&|i, x| (x - mean[i]).powi(2));
    // A feature that never changes must not blow up the day it does.
    Normalisation { mean, deviation: variance.map(|v| v.sqrt().max(0.05)) }
}

/// Where a tensor of the network starts.
fn start(name: &str, shape: &[i64], from: &ToLearn, renderer: &Renderer, seed: u64) -> Result<Tensor, Error> {
    if let Some(tensor) = from.tensors.get(name) {
        if tensor.size() != shape {
            return Err(Error::Data(format!(
                "{name} of the base has the shape {:?} and not {shape:?}",
                tensor.size()
            )));
        }
        let tensor = tensor.f_to_kind(Kind::Float)?.f_detach_copy()?;
        // A model's marks have their vectors already.
        if name == WORDS && from.normalisation.is_none() {
            mark_vectors(&tensor, renderer, seed)?;
        }
        let frozen = name.starts_with("embeddings")
            || (0..FROZEN).any(|layer| name.starts_with(&format!("encoder.layer.{layer}.")));
        return Ok(if frozen { tensor } else { tensor.set_requires_grad(true) });
    }
    if name.starts_with("embeddings") || name.starts_with("encoder") {
        return Err(Error::Data(format!("the base has no {name}")));
    }
    Ok(fresh(shape)?.set_requires_grad(true))
}

/// A tensor with nothing learned in it.
pub(crate) fn fresh(shape: &[i64]) -> Result<Tensor, Error> {
    Ok(match shape {
        [outputs, inputs] => {
            let bound = 1.0 / (*inputs as f64).sqrt();
            Tensor::f_empty([*outputs, *inputs], (Kind::Float, Device::Cpu))?.f_uniform_(-bound, bound)?
        }
        _ => Tensor::f_zeros(shape, (Kind::Float, Device::Cpu))?,
    })
}

/// The unused vocabulary entries that serve as marks have vectors that mean nothing, and they are not
/// learned. Each gets half the meaning of a word near to it, and half a direction of its own, so that
/// no text looks like a mark.
fn mark_vectors(words: &Tensor, renderer: &Renderer, seed: u64) -> Result<(), Error> {
    let _no_grad = tch::no_grad_guard();
    let dice = Dice::new(seed);
    for (mark, near) in Mark::ALL {
        let [word] = renderer.tokens(near)?[..] else {
            return Err(Error::Data(format!("{near} is not one token")));
        };
        let vector = words.f_get(word)?.f_detach_copy()?;
        let length = vector.f_norm()?.f_double_value(&[])?;
        let noise: Vec<f32> = (0..HIDDEN).map(|_| dice.below(2001) as f32 / 1000.0 - 1.0).collect();
        let noise = Tensor::f_from_slice(&noise)?;
        let noise = noise.f_mul_scalar(0.7 * length / noise.f_norm()?.f_double_value(&[])?)?;
        words.f_get(mark.id())?.f_copy_(&vector.f_mul_scalar(0.7)?.f_add(&noise)?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
