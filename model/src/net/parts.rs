//! The encoder's layers: the tensors as they are stored, and the form in which they are run.

use tch::{Kind, TchError, Tensor};

use super::{ATTENTION_HEADS, HIDDEN, INNER, Take};

const EPSILON: f64 = 1e-12;
const HEAD_WIDTH: i64 = HIDDEN / ATTENTION_HEADS;

pub(super) struct Linear {
    pub(super) weight: Tensor,
    pub(super) bias: Tensor,
}

impl Linear {
    pub(super) fn take<E>(take: Take<'_, E>, name: &str, inputs: i64, outputs: i64) -> Result<Self, E> {
        Ok(Self {
            weight: take(&format!("{name}.weight"), &[outputs, inputs])?,
            bias: take(&format!("{name}.bias"), &[outputs])?,
        })
    }

    /// The same in another type; what has it already is shared.
    fn ready(&self, kind: Kind) -> Result<Self, TchError> {
        Ok(Self { weight: self.weight.f_to_kind(kind)?, bias: self.bias.f_to_kind(kind)? })
    }

    pub(super) fn apply(&self, x: &Tensor) -> Result<Tensor, TchError> {
        x.f_linear(&self.weight, Some(&self.bias))
    }
}

impl Clone for Linear {
    /// Shares the tensors.
    fn clone(&self) -> Self {
        Self { weight: self.weight.shallow_clone(), bias: self.bias.shallow_clone() }
    }
}

pub(super) struct Norm {
    weight: Tensor,
    bias: Tensor,
}

impl Norm {
    pub(super) fn take<E>(take: Take<'_, E>, name: &str) -> Result<Self, E> {
        Ok(Self {
            weight: take(&format!("{name}.weight"), &[HIDDEN])?,
            bias: take(&format!("{name}.bias"), &[HIDDEN])?,
        })
    }

    pub(super) fn apply(&self, x: &Tensor) -> Result<Tensor, TchError> {
        x.f_layer_norm([HIDDEN], Some(&self.weight), Some(&self.bias), EPSILON, false)
    }
}

impl Clone for Norm {
    /// Shares the tensors.
    fn clone(&self) -> Self {
        Self { weight: self.weight.shallow_clone(), bias: self.bias.shallow_clone() }
    }
}

/// A layer as it is stored and learned.
pub(super) struct Layer {
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
    pub(super) fn take<E>(take: Take<'_, E>, index: usize) -> Result<Self, E> {
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

    /// The layer as it is run: products in `kind`, and the three inputs of the attention as one
    /// product. Gradients flow back to the tensors of this one.
    pub(super) fn ready(&self, kind: Kind) -> Result<ReadyLayer, TchError> {
        // The attention divides by this; here it costs nothing.
        let scale = 1.0 / (HEAD_WIDTH as f64).sqrt();
        let join = |of: &dyn Fn(&Linear) -> Tensor| {
            let queries = of(&self.query).f_mul_scalar(scale)?;
            Tensor::f_cat(&[queries, of(&self.key), of(&self.value)], 0)
        };
        let weight = join(&|linear| linear.weight.shallow_clone())?;
        let bias = join(&|linear| linear.bias.shallow_clone())?;
        Ok(ReadyLayer {
            inputs: Linear { weight, bias }.ready(kind)?,
            output: self.output.ready(kind)?,
            attention_norm: self.attention_norm.clone(),
            widen: self.widen.ready(kind)?,
            narrow: self.narrow.ready(kind)?,
            output_norm: self.output_norm.clone(),
            kind,
        })
    }
}

/// Keys and values of one layer, `[B, ATTENTION_HEADS, T, HEAD_WIDTH]` each.
pub(super) struct KeysValues {
    pub(super) keys: Tensor,
    pub(super) values: Tensor,
}

impl KeysValues {
    /// These, and others behind them.
    fn and(&self, others: &Self) -> Result<Self, TchError> {
        Ok(Self {
            keys: Tensor::f_cat(&[&self.keys, &others.keys], 2)?,
            values: Tensor::f_cat(&[&self.values, &others.values], 2)?,
        })
    }
}

/// A layer as it is run. What comes in and goes out is f32, as are norms and sums; only the products
/// are in `kind`.
pub(super) struct ReadyLayer {
    inputs: Linear,
    output: Linear,
    attention_norm: Norm,
    widen: Linear,
    narrow: Linear,
    output_norm: Norm,
    kind: Kind,
}

impl Clone for ReadyLayer {
    /// Shares the tensors.
    fn clone(&self) -> Self {
        Self {
            inputs: self.inputs.clone(),
            output: self.output.clone(),
            attention_norm: self.attention_norm.clone(),
            widen: self.widen.clone(),
            narrow: self.narrow.clone(),
            output_norm: self.output_norm.clone(),
            kind: self.kind,
        }
    }
}

impl ReadyLayer {
    /// Keys and values of `x`, `[B, T, HIDDEN]`, and nothing else.
    pub(super) fn keys_values(&self, x: &Tensor) -> Result<KeysValues, TchError> {
        let [keys, values] =
            split::<2>(&self.some_inputs(HIDDEN, 2 * HIDDEN)?.apply(&x.f_to_kind(self.kind)?)?)?;
        Ok(KeysValues { keys, values })
    }

    /// Runs the layer. `x` is `[B, T, HIDDEN]`; it attends to itself and to `before`, if that is there.
    /// `bias` is `[B, 1, 1, S]` in `kind`, S counting what is before and T, or nothing if all count alike.
    /// Gives the keys and values of `x` too.
    pub(super) fn apply(
        &self,
        x: &Tensor,
        before: Option<&KeysValues>,
        bias: Option<&Tensor>,
    ) -> Result<(Tensor, KeysValues), TchError> {
        let [queries, keys, values] = split::<3>(&self.inputs.apply(&x.f_to_kind(self.kind)?)?)?;
        let own = KeysValues { keys, values };
        let out = match before {
            Some(before) => self.attend(x, &queries, &before.and(&own)?, bias)?,
            None => self.attend(x, &queries, &own, bias)?,
        };
        Ok((out, own))
    }

    /// Runs the layer for the first token alone, which attends to all of `x` and to `before`. Gives
    /// `[B, HIDDEN]`: what [`ReadyLayer::apply`] has in its first place.
    pub(super) fn first(
        &self,
        x: &Tensor,
        before: &KeysValues,
        bias: Option<&Tensor>,
    ) -> Result<Tensor, TchError> {
        let seen = before.and(&self.keys_values(x)?)?;
        let x = x.f_narrow(1, 0, 1)?;
        let [queries] = split::<1>(&self.some_inputs(0, HIDDEN)?.apply(&x.f_to_kind(self.kind)?)?)?;
        self.attend(&x, &queries, &seen, bias)?.f_select(1, 0)
    }

    /// A part of the attention's inputs: so many of them from a row on.
    fn some_inputs(&self, from: i64, count: i64) -> Result<Linear, TchError> {
        let part = |tensor: &Tensor| tensor.f_narrow(0, from, count);
        Ok(Linear { weight: part(&self.inputs.weight)?, bias: part(&self.inputs.bias)? })
    }

    /// All that follows the attention's inputs; `x` is what the queries were made of.
    fn attend(
        &self,
        x: &Tensor,
        queries: &Tensor,
        seen: &KeysValues,
        bias: Option<&Tensor>,
    ) -> Result<Tensor, TchError> {
        let mut weights = queries.f_matmul(&seen.keys.f_transpose(-2, -1)?)?;
        if let Some(bias) = bias {
            weights = weights.f_add(bias)?;
        }
        let mixed = weights.f_softmax(-1, self.kind)?.f_matmul(&seen.values)?;
        let mixed = mixed.f_transpose(1, 2)?.f_reshape(x.size())?;
        let x = self.attention_norm.apply(&x.f_add(&self.output.apply(&mixed)?)?)?;
        let inner = self.widen.apply(&x.f_to_kind(self.kind)?)?.f_gelu("none")?;
        self.output_norm.apply(&x.f_add(&self.narrow.apply(&inner)?)?)
    }
}

/// `[B, T, N * HIDDEN]` to N of `[B, ATTENTION_HEADS, T, HEAD_WIDTH]`.
fn split<const N: usize>(x: &Tensor) -> Result<[Tensor; N], TchError> {
    let (batch, length, _) = x.size3()?;
    let x = x.f_view([batch, length, N as i64, ATTENTION_HEADS, HEAD_WIDTH])?.f_permute([2, 0, 3, 1, 4])?;
    let parts: Vec<Tensor> = (0..N as i64).map(|part| x.f_select(0, part)).collect::<Result<_, _>>()?;
    parts.try_into().map_err(|_| TchError::Torch("a tensor was split into too few parts".into()))
}
