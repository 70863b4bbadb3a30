//! The network: a BERT encoder (MiniLM-L6's layout) and the heads over it.
//!
//! A frame attends to itself alone, a window to its frame and to itself. So what a frame leaves behind, its
//! [`Memory`], is computed once and serves every window of a run. Training goes the same two
//! ways: there is no other forward pass.
//!
//! Tensors come from outside by name and shape, so that the same code runs loaded weights and trains
//! new ones. Nothing here knows of files, checks or texts.

mod batch;
mod heads;
mod parts;

use tch::{Kind, TchError, Tensor};

use crate::render::{MAX_FRAME, MAX_TOKENS};
pub(crate) use batch::{Frames, Row, Windows};
use heads::Heads;
pub(crate) use heads::{
    ANSWERS, Answers, EFFECT, EXFILTRATION, Facts, GROUNDED, INJECTED, Logits, POLICY, Thin, UNSAFE, whole,
};
use parts::{KeysValues, Layer, Norm, ReadyLayer};

pub(crate) const LAYERS: usize = 6;
pub(crate) const HIDDEN: i64 = 384;
pub(crate) const ATTENTION_HEADS: i64 = 12;
pub(crate) const INNER: i64 = 1536;
pub(crate) const VOCABULARY: i64 = 30522;
pub(crate) const POSITIONS: i64 = 512;
const _: () = assert!(MAX_FRAME + MAX_TOKENS <= POSITIONS as usize);

/// The name of the word vectors.
pub(crate) const WORDS: &str = "embeddings.word_embeddings.weight";

/// Gives the tensor of a name, which must have this shape.
pub(crate) type Take<'a, E> = &'a mut dyn FnMut(&str, &[i64]) -> Result<Tensor, E>;

/// Encoder and heads as they are stored and learned, in f32.
pub(crate) struct Net {
    embeddings: Embeddings,
    layers: Vec<Layer>,
    heads: Heads,
}

impl Net {
    /// Takes every tensor of the network, each once.
    pub(crate) fn take<E>(take: Take<'_, E>) -> Result<Self, E> {
        Ok(Self {
            embeddings: Embeddings::take(take)?,
            layers: (0..LAYERS).map(|index| Layer::take(take, index)).collect::<Result<_, E>>()?,
            heads: Heads::take(take)?,
        })
    }

    /// The network as it is run, with the encoder's products in `kind`.
    pub(crate) fn ready(&self, kind: Kind) -> Result<Ready, TchError> {
        self.ready_from(&[], kind)
    }

    /// The lowest layers alone, which training leaves as they are.
    pub(crate) fn ready_lowest(&self, count: usize, kind: Kind) -> Result<Lowest, TchError> {
        let layers = self.layers.iter().take(count).map(|layer| layer.ready(kind));
        Ok(Lowest(layers.collect::<Result<_, _>>()?))
    }

    /// As [`Net::ready`], with lowest layers that were made ready before.
    pub(crate) fn ready_above(&self, lowest: &Lowest, kind: Kind) -> Result<Ready, TchError> {
        self.ready_from(&lowest.0, kind)
    }

    fn ready_from(&self, lowest: &[ReadyLayer], kind: Kind) -> Result<Ready, TchError> {
        let mut layers = lowest.to_vec();
        for layer in &self.layers[lowest.len()..] {
            layers.push(layer.ready(kind)?);
        }
        Ok(Ready { embeddings: self.embeddings.share(), layers, heads: self.heads.share(), kind })
    }
}

/// Some of the lowest layers, ready to be run.
pub(crate) struct Lowest(Vec<ReadyLayer>);

impl Lowest {
    /// The same tensors, shared.
    pub(crate) fn share(&self) -> Self {
        Self(self.0.clone())
    }
}

struct Embeddings {
    words: Tensor,
    positions: Tensor,
    types: Tensor,
    norm: Norm,
}

impl Embeddings {
    fn take<E>(take: Take<'_, E>) -> Result<Self, E> {
        Ok(Self {
            words: take(WORDS, &[VOCABULARY, HIDDEN])?,
            positions: take("embeddings.position_embeddings.weight", &[POSITIONS, HIDDEN])?,
            types: take("embeddings.token_type_embeddings.weight", &[2, HIDDEN])?,
            norm: Norm::take(take, "embeddings.LayerNorm")?,
        })
    }

    fn share(&self) -> Self {
        Self {
            words: self.words.shallow_clone(),
            positions: self.positions.shallow_clone(),
            types: self.types.shallow_clone(),
            norm: self.norm.clone(),
        }
    }

    /// `[B, T]` ids to `[B, T, HIDDEN]`. `types` is `[B, T]`; without it, all are of type 0.
    fn apply(&self, ids: &Tensor, types: Option<&Tensor>, start: usize) -> Result<Tensor, TchError> {
        let look_up = |table: &Tensor, at: &Tensor| Tensor::f_embedding(table, at, -1, false, false);
        let positions = self.positions.f_narrow(0, start as i64, ids.size2()?.1)?;
        let types = match types {
            Some(types) => look_up(&self.types, types)?,
            None => self.types.f_get(0)?,
        };
        self.norm.apply(&look_up(&self.words, ids)?.f_add(&types)?.f_add(&positions)?)
    }
}

/// What windows need of frames.
pub(crate) struct Memory {
    /// Of every layer; `[B, ATTENTION_HEADS, F, _]`.
    layers: Vec<KeysValues>,
    mask: batch::Mask,
    /// `[B, HIDDEN]` the frames' mean before the last layer: there the frame is done, for the last
    /// layer needs but keys and values of it.
    summary: Tensor,
}

impl Memory {
    /// Memories of several frames as one, padded to the longest; their order gives the frames' places.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn join(parts: &[&Self]) -> Result<Self, TchError> {
        let longest = parts.iter().map(|part| part.length()).max().unwrap_or(0);
        let pad = |tensor: &Tensor, dim: usize| {
            let missing = longest - tensor.size()[dim];
            match (missing, dim) {
                (0, _) => Ok(tensor.shallow_clone()),
                (_, 1) => tensor.f_constant_pad_nd([0, missing]),
                _ => tensor.f_constant_pad_nd([0, 0, 0, missing]),
            }
        };
        let all = |dim: usize, of: &dyn Fn(&Self) -> Tensor| -> Result<Tensor, TchError> {
            let tensors: Vec<Tensor> =
                parts.iter().map(|part| pad(&of(part), dim)).collect::<Result<_, _>>()?;
            Tensor::f_cat(&tensors, 0)
        };
        let layers = (0..LAYERS).map(|layer| {
            Ok(KeysValues {
                keys: all(2, &|part| part.layers[layer].keys.shallow_clone())?,
                values: all(2, &|part| part.layers[layer].values.shallow_clone())?,
            })
        });
        let summaries: Vec<&Tensor> = parts.iter().map(|part| &part.summary).collect();
        Ok(Self {
            layers: layers.collect::<Result<_, TchError>>()?,
            mask: batch::Mask {
                places: all(1, &|part| part.mask.places.shallow_clone())?,
                padded: parts.iter().any(|part| part.mask.padded || part.length() < longest),
            },
            summary: Tensor::f_cat(&summaries, 0)?,
        })
    }

    /// One frame's memory out of several, `length` tokens long; shares nothing with them.
    pub(crate) fn row(&self, row: usize, length: usize) -> Result<Self, TchError> {
        let (row, length) = (row as i64, length as i64);
        let cut =
            |tensor: &Tensor, dim: i64| tensor.f_narrow(0, row, 1)?.f_narrow(dim, 0, length)?.f_detach_copy();
        let layers = self
            .layers
            .iter()
            .map(|layer| Ok(KeysValues { keys: cut(&layer.keys, 2)?, values: cut(&layer.values, 2)? }));
        Ok(Self {
            layers: layers.collect::<Result<_, TchError>>()?,
            mask: batch::Mask { places: cut(&self.mask.places, 1)?, padded: false },
            summary: self.summary.f_narrow(0, row, 1)?.f_detach_copy()?,
        })
    }

    fn length(&self) -> i64 {
        self.mask.places.size()[1]
    }

    /// One row for each of `count` windows.
    fn spread(&self, tensor: &Tensor, frame: Option<&Tensor>, count: i64) -> Result<Tensor, TchError> {
        match frame {
            Some(frame) => {
                let mut size = tensor.size();
                let flat = tensor.f_reshape([size[0], -1])?.f_index_select(0, frame)?;
                size[0] = count;
                flat.f_view(size.as_slice())
            }
            None => {
                let mut size = vec![-1; tensor.dim()];
                size[0] = count;
                tensor.f_narrow(0, 0, 1)?.f_expand(size, false)
            }
        }
    }
}

/// Encoder and heads as they are run.
pub(crate) struct Ready {
    embeddings: Embeddings,
    layers: Vec<ReadyLayer>,
    heads: Heads,
    kind: Kind,
}

impl Ready {
    /// Runs frames.
    pub(crate) fn remember(&self, frames: Frames) -> Result<Memory, TchError> {
        let mut x = self.embeddings.apply(&frames.ids, None, 0)?;
        let bias = frames.mask.bias(self.kind)?;
        let mut layers = Vec::with_capacity(LAYERS);
        for layer in &self.layers[..LAYERS - 1] {
            let (next, keys_values) = layer.apply(&x, None, bias.as_ref())?;
            layers.push(keys_values);
            x = next;
        }
        layers.push(self.layers[LAYERS - 1].keys_values(&x)?);
        let places = frames.mask.places.f_unsqueeze(-1)?;
        let count = places.f_sum_dim_intlist(1, false, None)?.f_clamp_min(1.0)?;
        let summary = x.f_mul(&places)?.f_sum_dim_intlist(1, false, None)?.f_div(&count)?;
        Ok(Memory { layers, mask: frames.mask, summary })
    }

    /// Runs windows.
    pub(crate) fn judge(
        &self,
        memory: &Memory,
        windows: &Windows,
        thin: Thin<'_>,
    ) -> Result<Logits, TchError> {
        let count = windows.ids.size2()?.0;
        let frame = windows.frame.as_ref();
        let mut x = self.embeddings.apply(&windows.ids, Some(&windows.types), MAX_FRAME)?;
        let mask = batch::Mask {
            padded: windows.mask.padded || memory.mask.padded,
            places: Tensor::f_cat(
                &[memory.spread(&memory.mask.places, frame, count)?, windows.mask.places.shallow_clone()],
                1,
            )?,
        };
        let bias = mask.bias(self.kind)?;
        let before = |layer: usize| {
            let KeysValues { keys, values } = &memory.layers[layer];
            Ok::<_, TchError>(KeysValues {
                keys: memory.spread(keys, frame, count)?,
                values: memory.spread(values, frame, count)?,
            })
        };
        for (index, layer) in self.layers[..LAYERS - 1].iter().enumerate() {
            x = layer.apply(&x, Some(&before(index)?), bias.as_ref())?.0;
        }
        // Of the last layer only the first token is wanted; so the means are taken before it, as the frame's is.
        let means = windows.means.f_matmul(&x)?;
        let first = self.layers[LAYERS - 1].first(&x, &before(LAYERS - 1)?, bias.as_ref())?;
        let summary = memory.spread(&memory.summary, frame, count)?;
        let summaries = [&first, &means.f_select(1, 0)?, &means.f_select(1, 1)?, &summary];
        self.heads.forward(summaries, &windows.features, thin)
    }
}

#[cfg(test)]
pub(crate) mod tests;
