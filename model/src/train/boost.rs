//! Learning the trees: gradient boosting on the logistic loss, with histograms (Friedman 2001; the second-order gain is
//! that of Chen and Guestrin 2016, section 2.2). Small on purpose: some hundred features, some ten thousand rows.

use std::time::Instant;

use super::Prepared;
use super::data::Labelled;
use super::dice::Dice;
use crate::eval::is_attack;
use crate::render::FEATURES;
use crate::trees::{DEPTH, TREES, Tree, Trees, half};

/// One row to learn from.
pub(super) struct Row<'a> {
    pub(super) features: &'a [f32; FEATURES],
    pub(super) attack: bool,
    pub(super) weight: f32,
}

/// How much of a tree is believed.
const RATE: f32 = 0.03;
/// Keeps leaves of few rows near 0, as a number of rows' weight.
const SHRINK: f32 = 10.0;
/// Least weight of the rows in a leaf, after the logistic's own weighing.
const LEAST: f32 = 6.0;
/// Shares of rows and of features that each tree gets to see.
const ROWS: f64 = 0.7;
const COLUMNS: f64 = 0.3;
/// Values of a feature are told apart in at most so many steps.
const BINS: usize = 48;

/// Learns from all checks that are known to be one or the other.
pub(super) fn of(data: &Prepared, seed: u64) -> Trees {
    let started = Instant::now();
    let rows: Vec<Row<'_>> = data
        .checks
        .iter()
        .zip(&data.rendered)
        .filter_map(|(check, rendered)| {
            let attack = is_attack(check)?;
            Some(Row { features: &rendered.features, attack, weight: weight(check) })
        })
        .collect();
    let trees = learn(&rows, seed);
    tracing::info!("{TREES} trees from {} checks in {:.1} s", rows.len(), started.elapsed().as_secs_f64());
    trees
}

/// Checks of agents and people count more than generated ones: there are fewer of them.
fn weight(check: &Labelled) -> f32 {
    if check.source == "generated" { 0.5 } else { 1.0 }
}

/// Learns [`TREES`] trees.
pub(super) fn learn(rows: &[Row<'_>], seed: u64) -> Trees {
    let dice = Dice::new(seed);
    let cuts: Vec<Vec<f32>> = (0..FEATURES).map(|feature| cuts(rows, feature)).collect();
    // By feature, since that is how histograms are made.
    let binned: Vec<Vec<u8>> = (0..FEATURES)
        .map(|feature| {
            let of = |row: &Row<'_>| cuts[feature].partition_point(|cut| *cut < row.features[feature]) as u8;
            rows.iter().map(of).collect()
        })
        .collect();
    let mut logits = vec![0.0_f32; rows.len()];
    let mut trees = Vec::with_capacity(TREES);
    for _ in 0..TREES {
        let gradients: Vec<[f32; 2]> = rows
            .iter()
            .zip(&logits)
            .map(|(row, logit)| {
                let p = 1.0 / (1.0 + (-logit).exp());
                [row.weight * (p - f32::from(u8::from(row.attack))), row.weight * (p * (1.0 - p)).max(1e-6)]
            })
            .collect();
        let seen: Vec<usize> = (0..rows.len()).filter(|_| dice.chance(ROWS)).collect();
        let columns: Vec<usize> = (0..FEATURES).filter(|_| dice.chance(COLUMNS)).collect();
        let tree = grow(&seen, &columns, &gradients, &binned, &cuts);
        for (row, logit) in rows.iter().zip(&mut logits) {
            *logit += tree.add(row.features);
        }
        trees.push(tree);
    }
    Trees::new(trees)
}

/// Where a feature's values are cut, in order; each is a number that f16 holds.
fn cuts(rows: &[Row<'_>], feature: usize) -> Vec<f32> {
    let mut values: Vec<f32> = rows.iter().map(|row| row.features[feature]).collect();
    values.sort_by(f32::total_cmp);
    let step = values.len().div_ceil(BINS).max(1);
    let mut distinct = values.clone();
    distinct.dedup();
    let mut cuts: Vec<f32> = if distinct.len() <= BINS {
        distinct.windows(2).map(|pair| half((pair[0] + pair[1]) / 2.0)).collect()
    } else {
        values.iter().step_by(step).map(|&value| half(value)).collect()
    };
    cuts.dedup();
    cuts
}

fn grow(
    seen: &[usize],
    columns: &[usize],
    gradients: &[[f32; 2]],
    binned: &[Vec<u8>],
    cuts: &[Vec<f32>],
) -> Tree {
    let mut tree = Tree::NOTHING;
    let mut level = vec![seen.to_vec()];
    for depth in 0..DEPTH {
        let mut next = Vec::with_capacity(level.len() * 2);
        for (index, rows) in level.into_iter().enumerate() {
            let node = (1 << depth) - 1 + index;
            let Some((feature, bin)) = best(&rows, columns, gradients, binned, cuts) else {
                next.push(rows);
                next.push(Vec::new());
                continue;
            };
            tree.feature[node] = feature as u16;
            tree.threshold[node] = cuts[feature][bin];
            let (left, right) = rows.into_iter().partition(|&row| usize::from(binned[feature][row]) <= bin);
            next.push(left);
            next.push(right);
        }
        level = next;
    }
    for (value, rows) in tree.value.iter_mut().zip(level) {
        let [gradient, hessian] = sums(&rows, gradients);
        *value = half(-RATE * gradient / (hessian + SHRINK));
    }
    tree
}

fn sums(rows: &[usize], gradients: &[[f32; 2]]) -> [f32; 2] {
    rows.iter().fold([0.0, 0.0], |[g, h], &row| [g + gradients[row][0], h + gradients[row][1]])
}

/// The feature and the cut that gain most; `None` if nothing gains.
fn best(
    rows: &[usize],
    columns: &[usize],
    gradients: &[[f32; 2]],
    binned: &[Vec<u8>],
    cuts: &[Vec<f32>],
) -> Option<(usize, usize)> {
    let [all_g, all_h] = sums(rows, gradients);
    if all_h < 2.0 * LEAST {
        return None;
    }
    let worth = |g: f32, h: f32| g * g / (h + SHRINK);
    let mut found = None;
    let mut most = worth(all_g, all_h) + 1e-4;
    for &feature in columns {
        let mut bins = [[0.0_f32; 2]; BINS + 2];
        for &row in rows {
            let bin = &mut bins[usize::from(binned[feature][row])];
            bin[0] += gradients[row][0];
            bin[1] += gradients[row][1];
        }
        let (mut g, mut h) = (0.0, 0.0);
        for (bin, [gradient, hessian]) in bins.into_iter().enumerate().take(cuts[feature].len()) {
            g += gradient;
            h += hessian;
            if h < LEAST || all_h - h < LEAST {
                continue;
            }
            let gain = worth(g, h) + worth(all_g - g, all_h - h);
            if gain > most {
                (most, found) = (gain, Some((feature, bin)));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_features_say_together_is_learned() {
        let dice = Dice::new(3);
        let features: Vec<[f32; FEATURES]> =
            (0..1500).map(|_| std::array::from_fn(|_| dice.below(1000) as f32 / 1000.0)).collect();
        let rows: Vec<Row<'_>> = features
            .iter()
            .map(|f| Row { features: f, attack: (f[1] > 0.4) != (f[2] > 0.6), weight: 1.0 })
            .collect();
        let (train, test) = rows.split_at(1100);
        let trees = learn(train, 5);
        let right = test.iter().filter(|row| (trees.logit(row.features) > 0.0) == row.attack).count();
        assert!(right as f64 > 0.85 * test.len() as f64, "{right} of {}", test.len());
        assert_eq!(learn(train, 5), trees);
    }
}
