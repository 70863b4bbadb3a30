//! From rendered checks to scores: network, normalisation, calibration and the caches.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use postern_check::Scores;
use sha2::{Digest, Sha256};

use super::lru::Lru;
use super::raw::{Raw, worst};
use crate::Error;
use crate::net::{Frames, Memory, Ready, Row, Windows, whole};
use crate::render::{FEATURES, Rendered};
use crate::trees::Trees;
use crate::weights::{Calibration, Normalisation};

/// Most windows that go through the encoder at once.
pub const MAX_BATCH: usize = 64;
/// On the CPU fewer are as fast, and less is padded.
const CPU_BATCH: usize = 16;
/// Frames of so many checks may be in memory at once; one takes up to 1.8 MB.
const MAX_FRAMES: usize = 128;
/// Frames that are remembered between calls.
const FRAMES_KEPT: usize = 16;
/// Checks whose scores are remembered.
const SCORES_KEPT: usize = 4096;

/// Scores rendered checks.
///
/// Two things are remembered. A frame's memory, so that a run's intent and rules go through the encoder once.
/// And the scores of whole checks, by SHA-256 over all that the network reads: frame, windows, features.
/// Weights and calibration are the scorer's own and never change. Thresholds, tool definition and rules
/// are applied to scores afterwards, by `judge`; so nothing stale can come out of either.
pub(crate) struct Scorer {
    net: Ready,
    normalisation: Normalisation,
    trees: Trees,
    calibration: Calibration,
    device: tch::Device,
    frames: RefCell<Lru<Vec<i64>, Rc<Memory>>>,
    scores: RefCell<Lru<[u8; 32], Scores>>,
}

impl Scorer {
    pub(crate) fn new(
        net: Ready,
        normalisation: Normalisation,
        trees: Trees,
        calibration: Calibration,
        device: tch::Device,
    ) -> Self {
        Self {
            net,
            normalisation,
            trees,
            calibration,
            device,
            frames: RefCell::new(Lru::new(FRAMES_KEPT)),
            scores: RefCell::new(Lru::new(SCORES_KEPT)),
        }
    }

    /// Forgets all frames and scores.
    pub(crate) fn forget(&self) {
        *self.frames.borrow_mut() = Lru::new(FRAMES_KEPT);
        self.forget_scores();
    }

    /// Forgets the scores and keeps the frames.
    pub(crate) fn forget_scores(&self) {
        *self.scores.borrow_mut() = Lru::new(SCORES_KEPT);
    }

    /// Scores checks, in their order.
    pub(crate) fn score(&self, checks: &[&Rendered]) -> Result<Vec<Scores>, Error> {
        let keys: Vec<[u8; 32]> = checks.iter().map(|check| key(check)).collect();
        let mut out: Vec<Option<Scores>> = {
            let mut known = self.scores.borrow_mut();
            keys.iter().map(|key| known.get(key).cloned()).collect()
        };
        let missing: Vec<usize> = (0..checks.len()).filter(|&index| out[index].is_none()).collect();
        let raw = self.raw(&missing.iter().map(|&index| checks[index]).collect::<Vec<_>>())?;
        let mut known = self.scores.borrow_mut();
        for (index, windows) in missing.into_iter().zip(raw) {
            let scores = windows.iter().map(|raw| raw.scores(&self.calibration)).reduce(worst);
            if let Some(scores) = &scores {
                known.put(keys[index], scores.clone());
            }
            out[index] = scores;
        }
        let none = || Error::Data("a rendered check without windows".into());
        out.into_iter()
            .zip(checks)
            .map(|(scores, check)| scores.map(|scores| finish(check, scores)).ok_or_else(none))
            .collect()
    }

    /// What the network says of every window of every check; nothing is looked up in the scores.
    pub(crate) fn raw(&self, checks: &[&Rendered]) -> Result<Vec<Vec<Raw>>, Error> {
        let mut out: Vec<Vec<Raw>> = vec![Vec::new(); checks.len()];
        // Checks of one frame go together.
        let mut order: Vec<usize> = (0..checks.len()).collect();
        order.sort_by(|&a, &b| checks[a].frame.cmp(&checks[b].frame));
        for slice in order.chunks(MAX_FRAMES) {
            self.raw_slice(checks, slice, &mut out)?;
        }
        Ok(out)
    }

    fn raw_slice(&self, checks: &[&Rendered], slice: &[usize], out: &mut [Vec<Raw>]) -> Result<(), Error> {
        let features: HashMap<usize, [f32; FEATURES]> =
            slice.iter().map(|&index| (index, self.normalisation.apply(&checks[index].features))).collect();
        let trees: HashMap<usize, f32> =
            slice.iter().map(|&index| (index, self.trees.logit(&checks[index].features))).collect();
        let memories = self.memories(checks, slice)?;
        let mut places: Vec<(usize, usize)> = slice
            .iter()
            .flat_map(|&index| (0..checks[index].windows.len()).map(move |w| (index, w)))
            .collect();
        for &index in slice {
            out[index] = vec![
                Raw { text: [f32::NAN; _], facts: [f32::NAN; _], trees: f32::NAN };
                checks[index].windows.len()
            ];
        }
        // Windows of like length go together, so that little is padded.
        places.sort_by_key(|&(index, window)| checks[index].windows[window].ids.len());
        let most = if self.device == tch::Device::Cpu { CPU_BATCH } else { MAX_BATCH };
        for chunk in places.chunks(most) {
            let mut frames: Vec<&[i64]> =
                chunk.iter().map(|&(index, _)| checks[index].frame.as_slice()).collect();
            frames.sort_unstable();
            frames.dedup();
            let rows: Vec<Row<'_>> = chunk
                .iter()
                .map(|&(index, window)| Row {
                    window: &checks[index].windows[window],
                    features: &features[&index],
                    frame: frames.partition_point(|&frame| frame < checks[index].frame.as_slice()),
                })
                .collect();
            let parts: Vec<&Memory> = frames.iter().map(|&frame| memories[frame].as_ref()).collect();
            let windows = Windows::new(&rows, self.device)?;
            let logits = tch::no_grad(|| match parts[..] {
                [only] => self.net.judge(only, &windows, &mut whole),
                _ => self.net.judge(&Memory::join(&parts)?, &windows, &mut whole),
            })?;
            for (&(index, window), raw) in chunk.iter().zip(Raw::read(&logits)?) {
                out[index][window] = Raw { trees: trees[&index], ..raw };
            }
        }
        Ok(())
    }

    /// The memories of these checks' frames, remembered or new.
    fn memories<'a>(
        &self,
        checks: &[&'a Rendered],
        slice: &[usize],
    ) -> Result<HashMap<&'a [i64], Rc<Memory>>, Error> {
        let mut kept = self.frames.borrow_mut();
        let mut out: HashMap<&[i64], Rc<Memory>> = HashMap::new();
        let mut missing: Vec<&[i64]> = Vec::new();
        for &index in slice {
            let frame = checks[index].frame.as_slice();
            if out.contains_key(frame) || missing.contains(&frame) {
                continue;
            }
            match kept.get(frame) {
                Some(memory) => _ = out.insert(frame, memory.clone()),
                None => missing.push(frame),
            }
        }
        missing.sort_unstable_by_key(|frame| frame.len());
        for chunk in missing.chunks(CPU_BATCH) {
            let together = tch::no_grad(|| self.net.remember(Frames::new(chunk, self.device)?))?;
            for (row, &frame) in chunk.iter().enumerate() {
                let memory = Rc::new(tch::no_grad(|| together.row(row, frame.len()))?);
                kept.put(frame.to_vec(), memory.clone());
                out.insert(frame, memory);
            }
        }
        Ok(out)
    }
}

/// The scores of a check from what the network says of its windows; nothing if it has none.
pub(crate) fn settle(check: &Rendered, windows: &[Raw], calibration: &Calibration) -> Option<Scores> {
    let scores = windows.iter().map(|raw| raw.scores(calibration)).reduce(worst)?;
    Some(finish(check, scores))
}

/// The one place where what was worked out without the network corrects its scores. Not cached.
fn finish(check: &Rendered, mut scores: Scores) -> Scores {
    // What the name says plainly needs no guess.
    if let Some(effect) = check.effect {
        scores.effect = effect;
        scores.blast_radius = effect.level();
    }
    // The evidence knows better than the head, which fills in where there is nothing to look up. (A NaN stays: it blocks.)
    if let Some(grounded) = check.grounded
        && !scores.args_grounded.is_nan()
    {
        scores.args_grounded = grounded;
    }
    scores.unfit = check.overflow;
    scores
}

/// A digest of all that the network reads of a check.
fn key(check: &Rendered) -> [u8; 32] {
    let mut digest = Sha256::new();
    let mut part = |bytes: &mut dyn Iterator<Item = [u8; 8]>, length: usize| {
        digest.update((length as u64).to_le_bytes());
        bytes.for_each(|eight| digest.update(eight));
    };
    part(&mut check.frame.iter().map(|id| id.to_le_bytes()), check.frame.len());
    for window in &check.windows {
        part(&mut window.ids.iter().map(|id| id.to_le_bytes()), window.ids.len());
        part(&mut std::iter::empty(), window.action);
    }
    let bits = check.features.iter().map(|x| u64::from(x.to_bits()).to_le_bytes());
    part(&mut bits.into_iter(), FEATURES);
    digest.finalize().into()
}

#[cfg(test)]
mod tests;
