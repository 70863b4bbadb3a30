//! Boosted decision trees over the features: the small model that is fused with the encoder.
//!
//! All trees have one depth and are stored as whole levels, so that they are three plain tensors. Every number is one that
//! f16 holds exactly: what was learned is what is loaded.

use tch::{Kind, Tensor};

use crate::render::FEATURES;

/// Decisions from the root to a leaf.
pub(crate) const DEPTH: usize = 5;
const INNER: usize = (1 << DEPTH) - 1;
const LEAVES: usize = 1 << DEPTH;
/// Most trees: one file has one number of them, padded with trees that say nothing.
pub(crate) const TREES: usize = 400;

/// One tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tree {
    /// For every inner node, level by level, the feature it looks at.
    pub(crate) feature: [u16; INNER],
    /// A row goes right if its feature is above this.
    pub(crate) threshold: [f32; INNER],
    /// What a leaf adds to the logit.
    pub(crate) value: [f32; LEAVES],
}

impl Tree {
    /// A tree that says nothing.
    pub(crate) const NOTHING: Self =
        Self { feature: [0; INNER], threshold: [f32::INFINITY; INNER], value: [0.0; LEAVES] };

    /// What it adds for these features, which are not normalised.
    pub(crate) fn add(&self, features: &[f32; FEATURES]) -> f32 {
        let mut node = 0;
        for _ in 0..DEPTH {
            let right = features[usize::from(self.feature[node])] > self.threshold[node];
            node = 2 * node + 1 + usize::from(right);
        }
        self.value[node - INNER]
    }
}

/// The nearest number that f16 holds.
pub(crate) fn half(value: f32) -> f32 {
    let rounded = Tensor::from_slice(&[value]).to_kind(Kind::Half).to_kind(Kind::Float);
    f32::try_from(rounded.get(0)).unwrap_or(value)
}

/// All trees.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trees(Vec<Tree>);

/// The tensors' names and shapes.
pub(crate) const TENSORS: [(&str, [i64; 2]); 3] = [
    ("trees.feature", [TREES as i64, INNER as i64]),
    ("trees.threshold", [TREES as i64, INNER as i64]),
    ("trees.value", [TREES as i64, LEAVES as i64]),
];

impl Trees {
    /// Trees that were learned; beyond [`TREES`] they are dropped.
    pub(crate) fn new(mut trees: Vec<Tree>) -> Self {
        trees.resize(TREES, Tree::NOTHING);
        Self(trees)
    }

    /// The unsafe logit of these features, which are not normalised.
    pub(crate) fn logit(&self, features: &[f32; FEATURES]) -> f32 {
        self.0.iter().map(|tree| tree.add(features)).sum()
    }

    /// As tensors, in the order of [`TENSORS`].
    pub(crate) fn tensors(&self) -> [Tensor; 3] {
        let flat = |get: &dyn Fn(&Tree) -> Vec<f32>, width: usize| {
            let values: Vec<f32> = self.0.iter().flat_map(get).collect();
            Tensor::from_slice(&values).view([TREES as i64, width as i64])
        };
        [
            flat(&|tree| tree.feature.iter().map(|&f| f32::from(f)).collect(), INNER),
            flat(&|tree| tree.threshold.to_vec(), INNER),
            flat(&|tree| tree.value.to_vec(), LEAVES),
        ]
    }

    /// From tensors of these names and shapes; `None` if a number in them makes no sense.
    pub(crate) fn from_tensors([feature, threshold, value]: [&Tensor; 3]) -> Option<Self> {
        let [feature, threshold, value] = [numbers(feature)?, numbers(threshold)?, numbers(value)?];
        if value.iter().any(|x| !x.is_finite()) || threshold.iter().any(|x| x.is_nan()) {
            return None;
        }
        let trees = (0..TREES).map(|index| {
            let mut tree = Tree::NOTHING;
            for node in 0..INNER {
                let chosen = feature[index * INNER + node];
                if chosen < 0.0 || chosen >= FEATURES as f32 || chosen.fract() != 0.0 {
                    return None;
                }
                tree.feature[node] = chosen as u16;
                tree.threshold[node] = threshold[index * INNER + node];
            }
            tree.value.copy_from_slice(&value[index * LEAVES..(index + 1) * LEAVES]);
            Some(tree)
        });
        trees.collect::<Option<Vec<_>>>().map(Self)
    }
}

fn numbers(tensor: &Tensor) -> Option<Vec<f32>> {
    let flat = tensor.f_to_device(tch::Device::Cpu).ok()?.f_to_kind(Kind::Float).ok()?;
    Vec::<f32>::try_from(flat.f_contiguous().ok()?.f_view(-1).ok()?).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn tree() -> Tree {
        let mut tree = Tree::NOTHING;
        (tree.feature[0], tree.threshold[0]) = (3, 0.5);
        tree.value[0] = -1.0;
        tree.value[LEAVES / 2] = 2.0;
        tree
    }

    #[test]
    fn a_row_goes_down_its_branch_and_tensors_keep_it() {
        let trees = Trees::new(vec![tree(), tree()]);
        let mut features = [0.0; FEATURES];
        assert_eq!(trees.logit(&features), -2.0);
        features[3] = 1.0;
        assert_eq!(trees.logit(&features), 4.0);
        let [feature, threshold, value] = trees.tensors().map(|t| t.to_kind(Kind::Half));
        assert_eq!(Trees::from_tensors([&feature, &threshold, &value]).unwrap(), trees);
    }

    #[test]
    fn numbers_that_make_no_sense_are_refused() {
        let [feature, threshold, value] = Trees::new(vec![tree()]).tensors();
        let bad = feature.copy() + FEATURES as f64;
        assert!(Trees::from_tensors([&bad, &threshold, &value]).is_none());
        let bad = value.copy() / 0.0;
        assert!(Trees::from_tensors([&feature, &threshold, &bad]).is_none());
    }
}
