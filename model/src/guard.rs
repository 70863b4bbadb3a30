//! The guard as a library sees it: loaded once, asked many times.

mod lru;
mod raw;
mod scorer;

use std::path::Path;

use postern_check::{Check, ModelInfo, Scores};

use crate::Error;
use crate::device::{self, Device, Precision};
use crate::render::{Rendered, Renderer};
use crate::weights;
pub(crate) use raw::{Raw, rows};
pub use scorer::MAX_BATCH;
pub(crate) use scorer::{Scorer, settle};

/// A loaded guard model.
///
/// It remembers the intents and rules it has read and the scores it has given; see [`Guard::score`].
pub struct Guard {
    renderer: Renderer,
    scorer: Scorer,
    info: ModelInfo,
}

impl Guard {
    /// Loads the model in `folder` onto a device.
    ///
    /// # Errors
    /// If a file is missing, damaged or made for another version, or the device cannot be used.
    pub fn load(folder: &Path, device: Device) -> Result<Self, Error> {
        Self::load_with(folder, device, Precision::Auto)
    }

    /// As [`Guard::load`], with the numbers that the encoder multiplies.
    ///
    /// # Errors
    /// As [`Guard::load`], and if the device cannot multiply these numbers.
    pub fn load_with(folder: &Path, device: Device, precision: Precision) -> Result<Self, Error> {
        let device = device.resolve()?;
        let kind = precision.resolve(device)?;
        let loaded = weights::load(folder, device)?;
        let (tokenizer, path) = loaded.tokenizer;
        Ok(Self {
            renderer: Renderer::from_bytes(&tokenizer, &path)?,
            scorer: Scorer::new(
                loaded.net.ready(kind)?,
                loaded.normalisation,
                loaded.trees,
                loaded.meta.calibration,
                device,
            ),
            info: ModelInfo {
                version: loaded.meta.version,
                sha256: loaded.sha256,
                device: device::name(device),
            },
        })
    }

    /// Scores checks, in their order. Any number; at most [`MAX_BATCH`] windows run at once.
    ///
    /// Intent and rules go through the encoder once for all checks that share them, in this call and in
    /// later ones. A check that renders as one before does not go through it at all. Neither
    /// can give an outdated answer: the weights are this guard's own, and thresholds and tool
    /// definitions are applied to the scores afterwards, by [`postern_check::judge`].
    ///
    /// # Errors
    /// If the tokenizer or libtorch fails.
    pub fn score(&self, checks: &[Check]) -> Result<Vec<Scores>, Error> {
        let rendered: Vec<Rendered> =
            checks.iter().map(|check| self.renderer.render(check)).collect::<Result<_, _>>()?;
        self.score_rendered(&rendered)
    }

    /// The scores of checks that were rendered before.
    pub(crate) fn score_rendered(&self, rendered: &[Rendered]) -> Result<Vec<Scores>, Error> {
        self.scorer.score(&rendered.iter().collect::<Vec<_>>())
    }

    /// Forgets all intents, rules and scores, as if it had just been loaded.
    pub fn forget(&self) {
        self.scorer.forget();
    }

    /// Forgets the scores and keeps intents and rules.
    pub fn forget_scores(&self) {
        self.scorer.forget_scores();
    }

    /// Which model this is and where it runs.
    pub fn info(&self) -> &ModelInfo {
        &self.info
    }

    /// What turns checks into the model's input.
    pub fn renderer(&self) -> &Renderer {
        &self.renderer
    }
}
