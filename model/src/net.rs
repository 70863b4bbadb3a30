//! The network: a BERT encoder (MiniLM-L6's layout) and six heads over it.
//!
//! Tensors come from outside by name and shape, so that the same code runs loaded weights and trains
//! new ones. Nothing here knows of files, checks or texts.

use tch::{Device, Kind, TchError, Tensor};

use crate::render::{FEATURES, Window};

pub(crate) const LAYERS: usize = 6;
pub(crate) const HIDDEN: i64 = 384;
pub(crate) const ATTENTION_HEADS: i64 = 12;
pub(crate) const INNER: i64 = 1536;
pub(crate) const VOCABULARY: i64 = 30522;
pub(crate) const POSITIONS: i64 = 512;
const FEATURE_WIDTH: i64 = 64;
const MIX_WIDTH: i64 = 256;
const EPSILON: f64 = 1e-12;

/// The name of the word vectors.
pub(crate) const WORDS: &str = "embeddings.word_embeddings.weight";

/// Gives the tensor of a name, which must have this shape.
pub(crate) type Take<'a, E> = &'a mut dyn FnMut(&str, &[i64]) -> Result<Tensor, E>;

/// Several windows as tensors, padded to the longest.
pub(crate) struct Batch {
    /// `[B, T]` token ids, 0 where padded.
    ids: Tensor,
    /// `[B, T]` 0 in the action, 1 after it.
    types: Tensor,
    /// `[B, T]` 1 where there is a token, else 0.
    mask: Tensor,
    /// `[B, FEATURES]`, normalised.
    features: Tensor,
}

impl Batch {
    /// Puts windows together; each with its check's normalised features.
    pub(crate) fn new(rows: &[(&Window, &[f32; FEATURES])], device: Device) -> Result<Self, TchError> {
        let longest = rows.iter().map(|(window, _)| window.ids.len()).max().unwrap_or(0);
        let cells = rows.len() * longest;
        let (mut ids, mut types, mut mask) = (vec![0_i64; cells], vec![0_i64; cells], vec![0_f32; cells]);
        let mut features = Vec::with_capacity(rows.len() * FEATURES);
        for (row, (window, row_features)) in rows.iter().enumerate() {
            let start = row * longest;
            let length = window.ids.len();
            ids[start..start + length].copy_from_slice(&window.ids);
            types[start + window.action.min(length)..start + length].fill(1);
            mask[start..start + length].fill(1.0);
            features.extend_from_slice(*row_features);
        }
        let shape = [rows.len() as i64, longest as i64];
        Ok(Self {
            ids: Tensor::f_from_slice(&ids)?.f_view(shape)?.f_to_device(device)?,
            types: Tensor::f_from_slice(&types)?.f_view(shape)?.f_to_device(device)?,
            mask: Tensor::f_from_slice(&mask)?.f_view(shape)?.f_to_device(device)?,
            features: Tensor::f_from_slice(&features)?
                .f_view([shape[0], FEATURES as i64])?
                .f_to_device(device)?,
        })
    }

    /// Takes the features away, as training does now and then so that the text alone must do.
    pub(crate) fn without_features(mut self) -> Self {
        self.features = self.features.zeros_like();
        self
    }
}

/// The heads' raw answers.
pub(crate) struct Logits {
    /// `[B]`
    pub(crate) unsafe_: Tensor,
    /// `[B, 3]`: allow, require_human, reject
    pub(crate) policy: Tensor,
    /// `[B]`
    pub(crate) grounded: Tensor,
    /// `[B, 5]`, in the order of `BlastRadius::ALL`
    pub(crate) effect: Tensor,
    /// `[B]`
    pub(crate) exfiltration: Tensor,
    /// `[B]`
    pub(crate) injected: Tensor,
}

/// How a forward pass is run.
#[derive(Clone, Copy)]
pub(crate) struct Mode {
    /// Type of the matrix products in the encoder's layers; the rest is f32.
    pub(crate) compute: Kind,
    /// Share of the mixed vector that is dropped; 0 except in training.
    pub(crate) dropout: f64,
}

impl Mode {
    /// Plain f32, nothing dropped.
    pub(crate) const EXACT: Self = Self { compute: Kind::Float, dropout: 0.0 };
}

struct Linear {
    weight: Tensor,
    bias: Tensor,
}

impl Linear {
    fn take<E>(take: Take<'_, E>, name: &str, inputs: i64, outputs: i64) -> Result<Self, E> {
        Ok(Self {
            weight: take(&format!("{name}.weight"), &[outputs, inputs])?,
            bias: take(&format!("{name}.bias"), &[outputs])?,
        })
    }

    /// In the type of `x`.
    fn apply(&self, x: &Tensor) -> Result<Tensor, TchError> {
        let kind = x.f_kind()?;
        if self.weight.f_kind()? == kind {
            return x.f_linear(&self.weight, Some(&self.bias));
        }
        x.f_linear(&self.weight.f_to_kind(kind)?, Some(&self.bias.f_to_kind(kind)?))
    }
}

struct Norm {
    weight: Tensor,
    bias: Tensor,
}

impl Norm {
    fn take<E>(take: Take<'_, E>, name: &str) -> Result<Self, E> {
        Ok(Self {
            weight: take(&format!("{name}.weight"), &[HIDDEN])?,
            bias: take(&format!("{name}.bias"), &[HIDDEN])?,
        })
    }

    fn apply(&self, x: &Tensor) -> Result<Tensor, TchError> {
        x.f_layer_norm([HIDDEN], Some(&self.weight), Some(&self.bias), EPSILON, false)
    }
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    attention_norm: Norm,
    widen: Linear,
    narrow: Linear,
    output_norm: Norm,
}

impl Layer {
    fn take<E>(take: Take<'_, E>, index: usize) -> Result<Self, E> {
        let name = |part: &str| format!("encoder.layer.{index}.{part}");
        Ok(Self {
            query: Linear::take(take, &name("attention.self.query"), HIDDEN, HIDDEN)?,
            key: Linear::take(take, &name("attention.self.key"), HIDDEN, HIDDEN)?,
            value: Linear::take(take, &name("attention.self.value"), HIDDEN, HIDDEN)?,
            output: Linear::take(take, &name("attention.output.dense"), HIDDEN, HIDDEN)?,
            attention_norm: Norm::take(take, &name("attention.output.LayerNorm"))?,
            widen: Linear::take(take, &name("intermediate.dense"), HIDDEN, INNER)?,
            narrow: Linear::take(take, &name("output.dense"), INNER, HIDDEN)?,
            output_norm: Norm::take(take, &name("output.LayerNorm"))?,
        })
    }

    /// `x` is `[B, T, HIDDEN]` in f32; `bias` is `[B, 1, 1, T]` in the type of the products.
    fn apply(&self, x: &Tensor, bias: &Tensor) -> Result<Tensor, TchError> {
        let (batch, length, _) = x.size3()?;
        let kind = bias.f_kind()?;
        let input = x.f_to_kind(kind)?;
        let heads = |y: Tensor| {
            y.f_view([batch, length, ATTENTION_HEADS, HIDDEN / ATTENTION_HEADS])?.f_transpose(1, 2)
        };
        let mixed = Tensor::f_scaled_dot_product_attention(
            &heads(self.query.apply(&input)?)?,
            &heads(self.key.apply(&input)?)?,
            &heads(self.value.apply(&input)?)?,
            Some(bias),
            0.0,
            false,
            None,
            false,
        )?;
        let mixed = mixed.f_transpose(1, 2)?.f_reshape([batch, length, HIDDEN])?;
        let x = self.attention_norm.apply(&x.f_add(&self.output.apply(&mixed)?.f_to_kind(Kind::Float)?)?)?;
        let inner = self.widen.apply(&x.f_to_kind(kind)?)?.f_gelu("none")?;
        self.output_norm.apply(&x.f_add(&self.narrow.apply(&inner)?.f_to_kind(Kind::Float)?)?)
    }
}

/// Encoder and heads.
pub(crate) struct Net {
    words: Tensor,
    positions: Tensor,
    types: Tensor,
    norm: Norm,
    layers: Vec<Layer>,
    features: Linear,
    mix: Linear,
    unsafe_: Linear,
    policy: Linear,
    grounded: Linear,
    effect: Linear,
    exfiltration: Linear,
    injected: Linear,
}

impl Net {
    /// Takes every tensor of the network, each once.
    pub(crate) fn take<E>(take: Take<'_, E>) -> Result<Self, E> {
        Ok(Self {
            words: take(WORDS, &[VOCABULARY, HIDDEN])?,
            positions: take("embeddings.position_embeddings.weight", &[POSITIONS, HIDDEN])?,
            types: take("embeddings.token_type_embeddings.weight", &[2, HIDDEN])?,
            norm: Norm::take(take, "embeddings.LayerNorm")?,
            layers: (0..LAYERS).map(|index| Layer::take(take, index)).collect::<Result<_, E>>()?,
            features: Linear::take(take, "features", FEATURES as i64, FEATURE_WIDTH)?,
            mix: Linear::take(take, "mix", 2 * HIDDEN + FEATURE_WIDTH, MIX_WIDTH)?,
            unsafe_: Linear::take(take, "heads.unsafe", MIX_WIDTH, 1)?,
            policy: Linear::take(take, "heads.approval_policy", MIX_WIDTH, 3)?,
            grounded: Linear::take(take, "heads.args_grounded", MIX_WIDTH, 1)?,
            effect: Linear::take(take, "heads.blast_radius", MIX_WIDTH, 5)?,
            exfiltration: Linear::take(take, "heads.exfiltration", MIX_WIDTH, 1)?,
            injected: Linear::take(take, "heads.injected", MIX_WIDTH, 1)?,
        })
    }

    /// Runs a batch.
    pub(crate) fn forward(&self, batch: &Batch, mode: Mode) -> Result<Logits, TchError> {
        let length = batch.ids.size2()?.1;
        let words = Tensor::f_embedding(&self.words, &batch.ids, -1, false, false)?;
        let types = Tensor::f_embedding(&self.types, &batch.types, -1, false, false)?;
        let x = words.f_add(&types)?.f_add(&self.positions.f_narrow(0, 0, length)?)?;
        let mut x = self.norm.apply(&x)?;
        // Padding is pushed out of the attention's softmax.
        let bias = batch.mask.f_rsub_scalar(1.0)?.f_mul_scalar(-1e4)?.f_to_kind(mode.compute)?;
        let bias = bias.f_unsqueeze(1)?.f_unsqueeze(1)?;
        for layer in &self.layers {
            x = layer.apply(&x, &bias)?;
        }
        let first = x.f_select(1, 0)?;
        let mask = batch.mask.f_unsqueeze(-1)?;
        let mean = x
            .f_mul(&mask)?
            .f_sum_dim_intlist(1, false, None)?
            .f_div(&mask.f_sum_dim_intlist(1, false, None)?)?;
        let features = self.features.apply(&batch.features)?.f_gelu("none")?;
        let mixed = self.mix.apply(&Tensor::f_cat(&[first, mean, features], -1)?)?.f_gelu("none")?;
        let mixed = if mode.dropout > 0.0 { mixed.f_dropout(mode.dropout, true)? } else { mixed };
        let single = |head: &Linear| head.apply(&mixed)?.f_squeeze_dim(-1);
        Ok(Logits {
            unsafe_: single(&self.unsafe_)?,
            policy: self.policy.apply(&mixed)?,
            grounded: single(&self.grounded)?,
            effect: self.effect.apply(&mixed)?,
            exfiltration: single(&self.exfiltration)?,
            injected: single(&self.injected)?,
        })
    }
}
