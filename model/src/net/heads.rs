//! The heads: raw answers from what the encoder made of the text, and from the features alone.

use tch::{TchError, Tensor};

use super::parts::Linear;
use super::{HIDDEN, Take};
use crate::render::FEATURES;

const FEATURE_WIDTH: i64 = 64;
const MIX_WIDTH: i64 = 256;
const FACTS_WIDTH: i64 = 96;
const FACTS_INNER: i64 = 48;
/// First token, action, evidence, frame.
const SUMMARIES: i64 = 4;

/// Columns of a row of raw answers.
pub(crate) const ANSWERS: usize = 12;
pub(crate) const UNSAFE: usize = 0;
/// Allow, require_human, reject.
pub(crate) const POLICY: std::ops::Range<usize> = 1..4;
pub(crate) const GROUNDED: usize = 4;
/// In the order of `BlastRadius::ALL`.
pub(crate) const EFFECT: std::ops::Range<usize> = 5..10;
pub(crate) const EXFILTRATION: usize = 10;
pub(crate) const INJECTED: usize = 11;

/// Drops a share of the heads' inner numbers in training; [`whole`] elsewhere.
pub(crate) type Thin<'a> = &'a mut dyn FnMut(Tensor) -> Result<Tensor, TchError>;

/// Drops nothing.
pub(crate) fn whole(x: Tensor) -> Result<Tensor, TchError> {
    Ok(x)
}

/// Raw answers of all heads, `[B, ANSWERS]`.
pub(crate) struct Answers(pub(crate) Tensor);

impl Answers {
    /// `[B]`
    pub(crate) fn single(&self, column: usize) -> Result<Tensor, TchError> {
        self.0.f_select(1, column as i64)
    }

    /// `[B, columns]`
    pub(crate) fn several(&self, columns: std::ops::Range<usize>) -> Result<Tensor, TchError> {
        self.0.f_narrow(1, columns.start as i64, columns.len() as i64)
    }
}

/// What the two parts of the network say; the whole answer is their sum.
pub(crate) struct Logits {
    /// From the text, with the features beside it.
    pub(crate) text: Answers,
    /// From the features alone.
    pub(crate) facts: Answers,
}

impl Logits {
    /// Both together, as they are before calibration.
    pub(crate) fn fused(&self) -> Result<Answers, TchError> {
        self.text.0.f_add(&self.facts.0).map(Answers)
    }
}

/// The small network over the features.
pub(crate) struct Facts {
    first: Linear,
    second: Linear,
    answers: Linear,
}

impl Facts {
    pub(crate) fn take<E>(take: Take<'_, E>) -> Result<Self, E> {
        Ok(Self {
            first: Linear::take(take, "facts.first", FEATURES as i64, FACTS_WIDTH)?,
            second: Linear::take(take, "facts.second", FACTS_WIDTH, FACTS_INNER)?,
            answers: Linear::take(take, "facts.answers", FACTS_INNER, ANSWERS as i64)?,
        })
    }

    /// `features` is `[B, FEATURES]`, normalised.
    pub(crate) fn forward(&self, features: &Tensor, thin: Thin<'_>) -> Result<Answers, TchError> {
        let x = thin(self.first.apply(features)?.f_gelu("none")?)?;
        let x = thin(self.second.apply(&x)?.f_gelu("none")?)?;
        self.answers.apply(&x).map(Answers)
    }
}

/// Everything over the encoder.
pub(super) struct Heads {
    features: Linear,
    mix: Linear,
    text: Linear,
    facts: Facts,
}

impl Heads {
    pub(super) fn take<E>(take: Take<'_, E>) -> Result<Self, E> {
        Ok(Self {
            features: Linear::take(take, "text.features", FEATURES as i64, FEATURE_WIDTH)?,
            mix: Linear::take(take, "text.mix", SUMMARIES * HIDDEN + FEATURE_WIDTH, MIX_WIDTH)?,
            text: Linear::take(take, "text.answers", MIX_WIDTH, ANSWERS as i64)?,
            facts: Facts::take(take)?,
        })
    }

    /// `summaries` are `[B, HIDDEN]` each: first token, action, evidence, frame.
    pub(super) fn forward(
        &self,
        summaries: [&Tensor; SUMMARIES as usize],
        features: &Tensor,
        thin: Thin<'_>,
    ) -> Result<Logits, TchError> {
        let encoded = self.features.apply(features)?.f_gelu("none")?;
        let [first, action, evidence, frame] = summaries;
        let mixed = Tensor::f_cat(&[first, action, evidence, frame, &encoded], -1)?;
        let mixed = thin(self.mix.apply(&mixed)?.f_gelu("none")?)?;
        let text = Answers(self.text.apply(&mixed)?);
        Ok(Logits { text, facts: self.facts.forward(features, thin)? })
    }

    /// The same tensors, shared.
    pub(super) fn share(&self) -> Self {
        let facts = Facts {
            first: self.facts.first.clone(),
            second: self.facts.second.clone(),
            answers: self.facts.answers.clone(),
        };
        Self { features: self.features.clone(), mix: self.mix.clone(), text: self.text.clone(), facts }
    }
}
