//! Frames and windows as tensors, padded to the longest of them.

use tch::{Device, Kind, TchError, Tensor};

use crate::render::{FEATURES, Window};

/// Several frames as tensors.
pub(crate) struct Frames {
    /// `[B, F]` token ids, 0 where padded.
    pub(super) ids: Tensor,
    pub(super) mask: Mask,
}

impl Frames {
    /// Puts frames together.
    pub(crate) fn new(rows: &[&[i64]], device: Device) -> Result<Self, TchError> {
        let grid = Grid::new(rows);
        Ok(Self { ids: grid.ids()?.f_to_device(device)?, mask: Mask::new(&grid, device)? })
    }
}

/// Several windows as tensors, each with its check's normalised features and the place of its frame.
pub(crate) struct Windows {
    /// `[B, W]` token ids, 0 where padded.
    pub(super) ids: Tensor,
    /// `[B, W]` 0 in the action, 1 after it.
    pub(super) types: Tensor,
    pub(super) mask: Mask,
    /// `[B, 2, W]` weights of two means: over the action and over the evidence.
    pub(super) means: Tensor,
    /// `[B, FEATURES]`
    pub(super) features: Tensor,
    /// `[B]` which frame each row belongs to; nothing if all belong to the only one.
    pub(super) frame: Option<Tensor>,
}

/// One row of [`Windows`].
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    pub(crate) window: &'a Window,
    /// Normalised.
    pub(crate) features: &'a [f32; FEATURES],
    /// Its frame's place among the frames of the batch.
    pub(crate) frame: usize,
}

impl Windows {
    /// Puts windows together.
    pub(crate) fn new(rows: &[Row<'_>], device: Device) -> Result<Self, TchError> {
        let ids: Vec<&[i64]> = rows.iter().map(|row| row.window.ids.as_slice()).collect();
        let grid = Grid::new(&ids);
        let width = grid.width;
        let mut types = vec![0_i64; rows.len() * width];
        let mut means = vec![0_f32; rows.len() * 2 * width];
        let mut features = Vec::with_capacity(rows.len() * FEATURES);
        for (index, row) in rows.iter().enumerate() {
            let length = row.window.ids.len();
            let action = row.window.action.min(length);
            types[index * width + action..index * width + length].fill(1);
            let (first, second) = means[index * 2 * width..(index + 1) * 2 * width].split_at_mut(width);
            first[..action].fill(1.0 / action.max(1) as f32);
            second[action..length].fill(1.0 / (length - action).max(1) as f32);
            features.extend_from_slice(row.features);
        }
        let (count, width) = (rows.len() as i64, width as i64);
        let frames: Vec<i64> = rows.iter().map(|row| row.frame as i64).collect();
        let frame = match frames.iter().any(|&frame| frame != 0) {
            true => Some(Tensor::f_from_slice(&frames)?.f_to_device(device)?),
            false => None,
        };
        Ok(Self {
            ids: grid.ids()?.f_to_device(device)?,
            types: Tensor::f_from_slice(&types)?.f_view([count, width])?.f_to_device(device)?,
            mask: Mask::new(&grid, device)?,
            means: Tensor::f_from_slice(&means)?.f_view([count, 2, width])?.f_to_device(device)?,
            features: Tensor::f_from_slice(&features)?
                .f_view([count, FEATURES as i64])?
                .f_to_device(device)?,
            frame,
        })
    }
}

/// Which places of a batch hold a token.
pub(super) struct Mask {
    /// `[B, T]` 1 where there is a token, else 0.
    pub(super) places: Tensor,
    /// Whether some row is shorter than the longest.
    pub(super) padded: bool,
}

impl Mask {
    fn new(grid: &Grid<'_>, device: Device) -> Result<Self, TchError> {
        Ok(Self { places: grid.places()?.f_to_device(device)?, padded: grid.padded() })
    }

    /// What is added before the attention's softmax, `[B, 1, 1, T]`: padding is pushed out. Nothing if
    /// there is no padding.
    pub(super) fn bias(&self, kind: Kind) -> Result<Option<Tensor>, TchError> {
        if !self.padded {
            return Ok(None);
        }
        let bias = self.places.f_rsub_scalar(1.0)?.f_mul_scalar(-1e4)?.f_to_kind(kind)?;
        bias.f_unsqueeze(1)?.f_unsqueeze(1).map(Some)
    }
}

/// Rows of ids of unlike lengths.
struct Grid<'a> {
    rows: &'a [&'a [i64]],
    width: usize,
}

impl<'a> Grid<'a> {
    fn new(rows: &'a [&'a [i64]]) -> Self {
        Self { rows, width: rows.iter().map(|row| row.len()).max().unwrap_or(0) }
    }

    fn padded(&self) -> bool {
        self.rows.iter().any(|row| row.len() < self.width)
    }

    fn shape(&self) -> [i64; 2] {
        [self.rows.len() as i64, self.width as i64]
    }

    fn ids(&self) -> Result<Tensor, TchError> {
        let mut ids = vec![0_i64; self.rows.len() * self.width];
        for (row, from) in ids.chunks_mut(self.width.max(1)).zip(self.rows) {
            row[..from.len()].copy_from_slice(from);
        }
        Tensor::f_from_slice(&ids)?.f_view(self.shape())
    }

    fn places(&self) -> Result<Tensor, TchError> {
        let mut places = vec![0_f32; self.rows.len() * self.width];
        for (row, from) in places.chunks_mut(self.width.max(1)).zip(self.rows) {
            row[..from.len()].fill(1.0);
        }
        Tensor::f_from_slice(&places)?.f_view(self.shape())
    }
}
