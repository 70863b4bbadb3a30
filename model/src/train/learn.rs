//! The learning itself: from rendered checks and a pretrained encoder to parameters.
//!
//! The vectors of words and the two lowest layers stay as they are: they hold general language, and
//! leaving them out saves their backward pass.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::time::Instant;

use postern_check::BlastRadius;
use tch::{Device, Kind, Reduction, Tensor};

use super::data::{Labels, Policy};
use super::dice::Dice;
use super::optimiser::AdamW;
use super::{Prepared, TrainOptions};
use crate::Error;
use crate::net::{Batch, HIDDEN, Logits, Mode, Net, WORDS};
use crate::render::{FEATURES, Mark, Renderer, Window};
use crate::weights::{self, Normalisation};

const BATCH: usize = 16;
/// Learning rate of the encoder; the heads learn faster by [`HEADS_FACTOR`].
const RATE: f64 = 1.2e-4;
const HEADS_FACTOR: f64 = 7.0;
const WARM_UP: f64 = 30.0;
/// Batches that get no features.
const FEATURES_DROPPED: f64 = 0.15;
const MAX_GRADIENT: f64 = 1.0;
const CHECKPOINT_SECONDS: u64 = 180;

/// What came of learning.
pub(super) struct Learned {
    pub(super) net: Net,
    pub(super) normalisation: Normalisation,
    pub(super) parameters: BTreeMap<String, Tensor>,
    pub(super) steps: usize,
}

/// Learns until the epochs or the minutes are used up.
pub(super) fn learn(
    options: &TrainOptions,
    base: &HashMap<String, Tensor>,
    renderer: &Renderer,
    data: &Prepared,
) -> Result<Learned, Error> {
    tch::manual_seed(options.seed as i64);
    let normalisation = normalise(data);
    let features: Vec<[f32; FEATURES]> =
        data.rendered.iter().map(|r| normalisation.apply(&r.features)).collect();
    let mut parameters = BTreeMap::new();
    let net = Net::take(&mut |name, shape| {
        let tensor = start(name, shape, base, renderer, options.seed)?;
        parameters.insert(name.to_string(), tensor.shallow_clone());
        Ok::<_, Error>(tensor)
    })?;
    let learning = parameters.iter().filter(|(_, tensor)| tensor.requires_grad());
    let rate_of = |name: &str| if name.starts_with("encoder") { 1.0 } else { HEADS_FACTOR };
    let mut adam =
        AdamW::new(learning.map(|(name, t)| (name.clone(), t.shallow_clone(), rate_of(name))).collect());

    let batches = plan(options, data);
    let mode = Mode { compute: if options.exact { Kind::Float } else { Kind::BFloat16 }, dropout: 0.1 };
    let mut progress = Progress::resume(options, &mut adam)?;
    let (first, started) = (progress.step, Instant::now());
    let mut saved = started;
    while progress.step < batches.len() {
        let elapsed = progress.seconds_before + started.elapsed().as_secs_f64();
        let done = (progress.step as f64 / batches.len() as f64).max(elapsed / (options.minutes * 60.0));
        if done >= 1.0 {
            break;
        }
        let rate = RATE * ((progress.step + 1) as f64 / WARM_UP).min(1.0) * (1.0 - done).max(0.02);
        // Depends on seed and step alone, so that a resumed run sees the same.
        let dice = Dice::new(options.seed ^ ((progress.step as u64) << 20));
        let chosen = &batches[progress.step];
        let rows: Vec<(&Window, &[f32; FEATURES])> =
            chosen.iter().map(|&i| (dice.pick(&data.rendered[i].windows), &features[i])).collect();
        let mut batch = Batch::new(&rows, Device::Cpu)?;
        if dice.chance(FEATURES_DROPPED) {
            batch = batch.without_features();
        }
        let labels: Vec<&Labels> = chosen.iter().map(|&i| &data.checks[i].labels).collect();
        let loss = loss(&net.forward(&batch, mode)?, &labels)?;
        loss.f_backward()?;
        adam.step(rate, MAX_GRADIENT)?;
        progress.add(loss.f_double_value(&[])?);
        if progress.step.is_multiple_of(20) {
            let rate = (progress.step - first) as f64 / started.elapsed().as_secs_f64();
            let by_steps = (batches.len() - progress.step) as f64 / rate;
            let left = by_steps.min(options.minutes * 60.0 - elapsed).max(0.0);
            let (step, all, loss) = (progress.step, batches.len(), progress.loss);
            tracing::info!(
                "step {step}/{all}, loss {loss:.3}, {:.1} checks/s, {left:.0} s left",
                rate * BATCH as f64
            );
        }
        if saved.elapsed().as_secs() >= CHECKPOINT_SECONDS {
            let seconds = progress.seconds_before + started.elapsed().as_secs_f64();
            progress.save(options, &adam, seconds)?;
            saved = Instant::now();
        }
    }
    let steps = progress.step;
    progress.save(options, &adam, progress.seconds_before + started.elapsed().as_secs_f64())?;
    Ok(Learned { net, normalisation, parameters, steps })
}

/// Mean and deviation of every feature over the data.
fn normalise(data: &Prepared) -> Normalisation {
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
fn start(
    name: &str,
    shape: &[i64],
    base: &HashMap<String, Tensor>,
    renderer: &Renderer,
    seed: u64,
) -> Result<Tensor, Error> {
    if let Some(tensor) = base.get(name) {
        if tensor.size() != shape {
            return Err(Error::Data(format!(
                "{name} of the base has the shape {:?} and not {shape:?}",
                tensor.size()
            )));
        }
        let tensor = tensor.f_to_kind(Kind::Float)?.f_detach_copy()?;
        if name == WORDS {
            mark_vectors(&tensor, renderer, seed)?;
        }
        let frozen = name.starts_with("embeddings")
            || name.starts_with("encoder.layer.0.")
            || name.starts_with("encoder.layer.1.");
        return Ok(if frozen { tensor } else { tensor.set_requires_grad(true) });
    }
    if name.starts_with("embeddings") || name.starts_with("encoder") {
        return Err(Error::Data(format!("the base has no {name}")));
    }
    let tensor = match shape {
        [outputs, inputs] => {
            let bound = 1.0 / (*inputs as f64).sqrt();
            Tensor::f_empty([*outputs, *inputs], (Kind::Float, Device::Cpu))?.f_uniform_(-bound, bound)?
        }
        _ => Tensor::f_zeros(shape, (Kind::Float, Device::Cpu))?,
    };
    Ok(tensor.set_requires_grad(true))
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

/// All batches of all epochs: like lengths together, in random order.
fn plan(options: &TrainOptions, data: &Prepared) -> Vec<Vec<usize>> {
    let length = |i: &usize| data.rendered[*i].windows[0].ids.len();
    let mut batches = Vec::new();
    for epoch in 0..options.epochs {
        let dice = Dice::new(options.seed.wrapping_add(1 + epoch as u64));
        let mut order: Vec<usize> = (0..data.rendered.len()).collect();
        dice.shuffle(&mut order);
        let mut of_epoch = Vec::new();
        for pool in order.chunks_mut(BATCH * 16) {
            pool.sort_by_key(length);
            of_epoch.extend(pool.chunks(BATCH).map(<[usize]>::to_vec));
        }
        dice.shuffle(&mut of_epoch);
        batches.extend(of_epoch);
    }
    batches
}

/// The weighted sum of the six heads' losses; a label that is not known adds nothing.
fn loss(logits: &Logits, labels: &[&Labels]) -> Result<Tensor, Error> {
    let yes_no = |logit: &Tensor, label: &dyn Fn(&Labels) -> Option<f32>| -> Result<Tensor, Error> {
        let target: Vec<f32> = labels.iter().map(|l| label(l).unwrap_or(0.0)).collect();
        let known: Vec<f32> = labels.iter().map(|l| f32::from(u8::from(label(l).is_some()))).collect();
        let count = known.iter().sum::<f32>().max(1.0);
        let known = Tensor::f_from_slice(&known)?;
        let target = Tensor::f_from_slice(&target)?;
        let sum =
            logit.f_binary_cross_entropy_with_logits::<Tensor>(&target, Some(known), None, Reduction::Sum)?;
        Ok(sum.f_div_scalar(f64::from(count))?)
    };
    let class = |logit: &Tensor,
                 weights: &[f32],
                 label: &dyn Fn(&Labels) -> Option<usize>|
     -> Result<Tensor, Error> {
        let target: Vec<i64> = labels.iter().map(|l| label(l).map_or(-100, |class| class as i64)).collect();
        let known: f32 =
            target.iter().filter(|&&class| class >= 0).map(|&class| weights[class as usize]).sum();
        let (target, weights) = (Tensor::f_from_slice(&target)?, Tensor::f_from_slice(weights)?);
        let sum = logit.f_cross_entropy_loss(&target, Some(weights), Reduction::Sum, -100, 0.0)?;
        Ok(sum.f_div_scalar(f64::from(known.max(1.0)))?)
    };
    let policy = |l: &Labels| {
        l.policy.map(|policy| match policy {
            Policy::Allow => 0,
            Policy::RequireHuman => 1,
            Policy::Reject => 2,
        })
    };
    let effect =
        |l: &Labels| l.effect.and_then(|effect| BlastRadius::ALL.iter().position(|other| *other == effect));
    let parts = [
        (1.0, yes_no(&logits.unsafe_, &|l| l.unsafe_)?),
        (0.3, yes_no(&logits.grounded, &|l| l.grounded)?),
        (0.15, yes_no(&logits.exfiltration, &|l| l.exfiltration)?),
        (0.3, yes_no(&logits.injected, &|l| l.injected)?),
        // A person is seldom the label, and the labels that say so are noisy.
        (0.4, class(&logits.policy, &[1.0, 1.5, 1.0], &policy)?),
        (0.15, class(&logits.effect, &[1.0; 5], &effect)?),
    ];
    let mut sum = Tensor::f_zeros([1], (Kind::Float, Device::Cpu))?;
    for (weight, part) in parts {
        sum = sum.f_add(&part.f_mul_scalar(weight)?)?;
    }
    Ok(sum.f_sum(Kind::Float)?)
}

/// Where learning stands.
struct Progress {
    step: usize,
    seconds_before: f64,
    /// A running mean.
    loss: f64,
}

const PROGRESS: &str = "progress";

impl Progress {
    fn path(options: &TrainOptions) -> PathBuf {
        options.out.join("checkpoint.safetensors")
    }

    fn resume(options: &TrainOptions, adam: &mut AdamW) -> Result<Self, Error> {
        if !options.resume {
            return Ok(Self { step: 0, seconds_before: 0.0, loss: 0.0 });
        }
        let path = Self::path(options);
        let invalid = |why: String| Error::invalid(&path, why);
        let bytes = std::fs::read(&path).map_err(Error::io(&path))?;
        let (_, header) =
            safetensors::SafeTensors::read_metadata(&bytes).map_err(|e| invalid(e.to_string()))?;
        let header = header.metadata().as_ref().and_then(|all| all.get(PROGRESS).cloned());
        let header = header.ok_or_else(|| invalid("no progress in it".into()))?;
        let (seed, step, seconds_before, loss): (u64, usize, f64, f64) =
            serde_json::from_str(&header).map_err(|e| invalid(e.to_string()))?;
        if seed != options.seed {
            return Err(invalid(format!("made with seed {seed}")));
        }
        let state = weights::read_tensors(&bytes).map_err(invalid)?;
        adam.restore(&state, step as i32).map_err(|name| invalid(format!("tensor {name} does not fit")))?;
        tracing::info!("going on from step {step}");
        Ok(Self { step, seconds_before, loss })
    }

    fn add(&mut self, loss: f64) {
        self.step += 1;
        let weight = (1.0 / self.step as f64).max(0.03);
        self.loss += (loss - self.loss) * weight;
    }

    fn save(&self, options: &TrainOptions, adam: &AdamW, seconds: f64) -> Result<(), Error> {
        std::fs::create_dir_all(&options.out).map_err(Error::io(&options.out))?;
        let header = serde_json::to_string(&(options.seed, self.step, seconds, self.loss))
            .map_err(|e| Error::Data(e.to_string()))?;
        let bytes = weights::write_tensors(&adam.state(), Kind::Float, (PROGRESS, header))?;
        weights::write_whole(&Self::path(options), &bytes)
    }
}
