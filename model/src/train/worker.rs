//! One batch on several threads: each takes a part of it through the whole network.
//!
//! libtorch's own threads meet after every product, some thousand times a step, and wait for the slowest; these
//! meet once. Gradients are added in the order of the parts, so that the same step gives the same numbers.

use std::collections::BTreeMap;

use tch::{Device, Kind, Tensor};

use super::dice::Dice;
use super::learn::{FROZEN, keep, thinned};
use super::{Prepared, loss};
use crate::Error;
use crate::net::{Frames, Lowest, Net, Row, Windows};
use crate::render::FEATURES;

/// Parts of batches that get no features, so that the text must do.
const FEATURES_DROPPED: f64 = 0.1;

/// What one thread works with: handles of the same parameters.
pub(super) struct Worker {
    net: Net,
    lowest: Lowest,
    /// What learns, by name.
    learning: Vec<Tensor>,
    kind: Kind,
}

impl Worker {
    /// So many, at least one.
    pub(super) fn several(
        count: usize,
        net: &Net,
        parameters: &BTreeMap<String, Tensor>,
        kind: Kind,
    ) -> Result<Vec<Self>, Error> {
        let lowest = tch::no_grad(|| net.ready_lowest(FROZEN, kind))?;
        let one = || {
            Ok(Self {
                net: Net::take(&mut |name, _| {
                    let tensor = parameters.get(name).map(Tensor::shallow_clone);
                    tensor.ok_or_else(|| Error::Data(format!("no parameter {name}")))
                })?,
                lowest: lowest.share(),
                learning: parameters
                    .values()
                    .filter(|tensor| tensor.requires_grad())
                    .map(Tensor::shallow_clone)
                    .collect(),
                kind,
            })
        };
        (0..count.max(1)).map(|_| one()).collect()
    }

    /// Loss and gradients of a part of a batch.
    fn part(
        &self,
        data: &Prepared,
        features: &[[f32; FEATURES]],
        chosen: &[usize],
        dice: &Dice,
    ) -> Result<(f64, Vec<Tensor>), Error> {
        // A thread has its own number of libtorch's threads.
        tch::set_num_threads(1);
        let (frames, windows) = batch(data, features, chosen, dice)?;
        let ready = self.net.ready_above(&self.lowest, self.kind)?;
        let memory = ready.remember(frames)?;
        let logits = ready.judge(&memory, &windows, &mut |x| thinned(x, dice))?;
        let labels: Vec<_> = chosen.iter().map(|&i| &data.checks[i].labels).collect();
        let loss = loss::of_both(&logits, &labels)?;
        let gradients = Tensor::f_run_backward(&[&loss], &self.learning, false, false)?;
        Ok((loss.f_double_value(&[])?, gradients))
    }
}

/// Loss and gradients of a batch: the mean over its parts, one for each worker.
pub(super) fn together(
    workers: &mut [Worker],
    data: &Prepared,
    features: &[[f32; FEATURES]],
    chosen: &[usize],
    seed: u64,
) -> Result<(f64, Vec<Tensor>), Error> {
    let parts = chosen.chunks(chosen.len().div_ceil(workers.len()).max(1));
    let results: Vec<Result<(f64, Vec<Tensor>), Error>> = std::thread::scope(|scope| {
        let running: Vec<_> = parts
            .zip(workers)
            .enumerate()
            .map(|(index, (part, worker))| {
                let dice = Dice::new(seed ^ ((index as u64 + 1) << 52));
                scope.spawn(move || worker.part(data, features, part, &dice))
            })
            .collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        running.into_iter().map(join).collect()
    });
    let mut results = results.into_iter().collect::<Result<Vec<_>, Error>>()?;
    let share = 1.0 / results.len().max(1) as f64;
    let (mut loss, mut sums) = results.pop().ok_or_else(|| Error::Data("an empty batch".into()))?;
    let _no_grad = tch::no_grad_guard();
    for (other, gradients) in results.into_iter().rev() {
        loss += other;
        for (sum, gradient) in sums.iter_mut().zip(&gradients) {
            let _ = sum.f_add_(gradient)?;
        }
    }
    for sum in &mut sums {
        let _ = sum.f_mul_scalar_(share)?;
    }
    Ok((loss * share, sums))
}

/// The chosen checks as tensors: each frame once, and of every check one of its windows.
fn batch(
    data: &Prepared,
    features: &[[f32; FEATURES]],
    chosen: &[usize],
    dice: &Dice,
) -> Result<(Frames, Windows), Error> {
    let frame = |i: usize| data.rendered[i].frame.as_slice();
    let mut frames: Vec<&[i64]> = chosen.iter().map(|&i| frame(i)).collect();
    frames.sort_unstable();
    frames.dedup();
    let without = dice.chance(FEATURES_DROPPED);
    let kept: Vec<[f32; FEATURES]> =
        chosen.iter().map(|&i| if without { [0.0; FEATURES] } else { keep(features[i], dice) }).collect();
    let rows: Vec<Row<'_>> = chosen
        .iter()
        .zip(&kept)
        .map(|(&i, features)| Row {
            window: dice.pick(&data.rendered[i].windows),
            features,
            frame: frames.partition_point(|&other| other < frame(i)),
        })
        .collect();
    Ok((Frames::new(&frames, Device::Cpu)?, Windows::new(&rows, Device::Cpu)?))
}
