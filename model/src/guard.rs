//! The guard as a library sees it: loaded once, asked many times.

use std::path::Path;

use postern_check::{ApprovalPolicy, BlastRadius, Check, ModelInfo, Scores};
use tch::{Kind, Tensor};

use crate::Error;
use crate::device::{self, Device};
use crate::net::{Batch, Logits, Mode, Net};
use crate::render::{FEATURES, Rendered, Renderer, Window};
use crate::weights::{self, Calibration, Normalisation};

/// Most windows that go through the encoder at once.
pub const MAX_BATCH: usize = 64;

/// A loaded guard model.
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
        let device = device.resolve()?;
        let loaded = weights::load(folder, device)?;
        let (tokenizer, path) = loaded.tokenizer;
        Ok(Self {
            renderer: Renderer::from_bytes(&tokenizer, &path)?,
            scorer: Scorer {
                net: loaded.net,
                normalisation: loaded.normalisation,
                calibration: loaded.meta.calibration,
                device,
            },
            info: ModelInfo {
                version: loaded.meta.version,
                sha256: loaded.sha256,
                device: device::name(device),
            },
        })
    }

    /// Scores checks, in their order. Any number; at most [`MAX_BATCH`] windows run at once.
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

    /// Which model this is and where it runs.
    pub fn info(&self) -> &ModelInfo {
        &self.info
    }

    /// What turns checks into the model's input.
    pub fn renderer(&self) -> &Renderer {
        &self.renderer
    }
}

/// Network, normalisation and calibration: from rendered checks to scores.
pub(crate) struct Scorer {
    pub(crate) net: Net,
    pub(crate) normalisation: Normalisation,
    pub(crate) calibration: Calibration,
    pub(crate) device: tch::Device,
}

impl Scorer {
    /// Scores rendered checks, in their order.
    ///
    /// A check of several windows gets the worst of each: the highest unsafe, exfiltration, injected and
    /// blast radius, the lowest grounding, and the policy of the window with the highest unsafe.
    pub(crate) fn score(&self, checks: &[&Rendered]) -> Result<Vec<Scores>, Error> {
        let features: Vec<[f32; FEATURES]> =
            checks.iter().map(|r| self.normalisation.apply(&r.features)).collect();
        let mut rows: Vec<(usize, &Window)> = checks
            .iter()
            .enumerate()
            .flat_map(|(index, r)| r.windows.iter().map(move |window| (index, window)))
            .collect();
        // Windows of like length go together, so that little is padded.
        rows.sort_by_key(|(_, window)| window.ids.len());
        let mut out: Vec<Option<Scores>> = vec![None; checks.len()];
        for chunk in rows.chunks(MAX_BATCH) {
            let batch: Vec<_> = chunk.iter().map(|&(index, window)| (window, &features[index])).collect();
            let batch = Batch::new(&batch, self.device)?;
            let logits = tch::no_grad(|| self.net.forward(&batch, Mode::EXACT))?;
            for (&(index, _), scores) in chunk.iter().zip(self.read(&logits)?) {
                out[index] = Some(match out[index].take() {
                    Some(other) => worst(other, scores),
                    None => scores,
                });
            }
        }
        let missing = || Error::Data("a rendered check without windows".into());
        out.into_iter().map(|scores| scores.ok_or_else(missing)).collect()
    }

    fn read(&self, logits: &Logits) -> Result<Vec<Scores>, Error> {
        let single = |logit: &Tensor| numbers(&logit.f_sigmoid()?);
        let unsafe_ = single(&logits.unsafe_.f_div_scalar(f64::from(self.calibration.temperature))?)?;
        let bias =
            Tensor::f_from_slice(&[self.calibration.allow_bias, 0.0, 0.0])?.f_to_device(self.device)?;
        let policy = numbers(&logits.policy.f_add(&bias)?.f_softmax(-1, Kind::Float)?)?;
        let effect = numbers(&logits.effect.f_softmax(-1, Kind::Float)?)?;
        let (grounded, injected) = (single(&logits.grounded)?, single(&logits.injected)?);
        let exfiltration = single(&logits.exfiltration)?;
        Ok((0..unsafe_.len())
            .map(|row| {
                let effect = &effect[row * 5..row * 5 + 5];
                let expected: f32 =
                    effect.iter().zip([0.0, 0.25, 0.5, 0.75, 1.0]).map(|(p, level)| p * level).sum();
                let likeliest = (1..5).fold(0, |best, i| if effect[i] > effect[best] { i } else { best });
                Scores {
                    unsafe_: unsafe_[row],
                    approval_policy: ApprovalPolicy {
                        allow: policy[row * 3],
                        require_human: policy[row * 3 + 1],
                        reject: policy[row * 3 + 2],
                    },
                    args_grounded: grounded[row],
                    // A sum of rounded parts may come out a hair above 1.
                    blast_radius: expected.min(1.0),
                    effect: BlastRadius::ALL[likeliest],
                    exfiltration: exfiltration[row],
                    injected: injected[row],
                }
            })
            .collect())
    }
}

fn numbers(tensor: &Tensor) -> Result<Vec<f32>, Error> {
    let flat = tensor.f_to_device(tch::Device::Cpu)?.f_contiguous()?.f_view(-1)?;
    let mut out = vec![0.0; flat.numel()];
    let count = out.len();
    flat.f_copy_data(&mut out, count)?;
    Ok(out)
}

/// Two windows of one check together. NaN is kept: scores that are no numbers must block.
fn worst(a: Scores, b: Scores) -> Scores {
    let high = |a: f32, b: f32| if a.is_nan() || a > b { a } else { b };
    let low = |a: f32, b: f32| if a.is_nan() || a < b { a } else { b };
    let policy =
        if a.unsafe_.is_nan() || a.unsafe_ > b.unsafe_ { a.approval_policy } else { b.approval_policy };
    Scores {
        unsafe_: high(a.unsafe_, b.unsafe_),
        approval_policy: policy,
        args_grounded: low(a.args_grounded, b.args_grounded),
        blast_radius: high(a.blast_radius, b.blast_radius),
        effect: a.effect.max(b.effect),
        exfiltration: high(a.exfiltration, b.exfiltration),
        injected: high(a.injected, b.injected),
    }
}
