//! Which checks are learned from together, and in what order.

use std::collections::HashMap;

use super::dice::Dice;
use crate::render::Rendered;

/// Checks in a batch.
pub(super) const BATCH: usize = 32;
/// Checks of one frame that stay together: the frame then goes through the encoder once for all of them.
/// More would make batches too much alike.
const TOGETHER: usize = 4;
/// Batches among which like lengths are put together.
const SORTED: usize = 40;

/// All batches of all epochs, from the seed: like lengths together, in random order.
pub(super) fn batches(rendered: &[Rendered], epochs: usize, seed: u64) -> Vec<Vec<usize>> {
    let dice = Dice::new(seed);
    let length = |&i: &usize| {
        let windows = &rendered[i].windows;
        windows.iter().map(|window| window.ids.len()).max().unwrap_or(0)
    };
    let mut out = Vec::new();
    for _ in 0..epochs {
        let mut order: Vec<usize> = (0..rendered.len()).collect();
        dice.shuffle(&mut order);
        let mut groups = grouped(rendered, order);
        dice.shuffle(&mut groups);
        let mut epoch = Vec::new();
        for part in parts(groups, BATCH * SORTED) {
            let mut part: Vec<Vec<usize>> = part;
            part.sort_by_key(|group| {
                (group.iter().map(&length).max().unwrap_or(0) / 8, rendered[group[0]].frame.len())
            });
            let flat = part.concat();
            epoch.extend(flat.chunks(BATCH).map(<[usize]>::to_vec));
        }
        dice.shuffle(&mut epoch);
        out.extend(epoch);
    }
    out
}

/// Groups of at most [`TOGETHER`] checks of the same frame; within one frame, like lengths together.
fn grouped(rendered: &[Rendered], order: Vec<usize>) -> Vec<Vec<usize>> {
    let mut open: HashMap<&[i64], Vec<usize>> = HashMap::new();
    let mut out = Vec::new();
    for index in order {
        let group = open.entry(&rendered[index].frame).or_default();
        group.push(index);
        if group.len() == TOGETHER {
            out.push(std::mem::take(group));
        }
    }
    let mut rest: Vec<Vec<usize>> = open.into_values().filter(|group| !group.is_empty()).collect();
    // The map's order differs from run to run.
    rest.sort_unstable();
    out.extend(rest);
    out
}

/// Groups in parts of about so many checks.
fn parts(groups: Vec<Vec<usize>>, most: usize) -> Vec<Vec<Vec<usize>>> {
    let mut out: Vec<Vec<Vec<usize>>> = Vec::new();
    let mut count = most;
    for group in groups {
        if count >= most {
            out.push(Vec::new());
            count = 0;
        }
        count += group.len();
        if let Some(part) = out.last_mut() {
            part.push(group);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{FEATURES, Window};

    #[test]
    fn every_check_comes_once_an_epoch_and_a_seed_gives_the_same() {
        let rendered: Vec<Rendered> = (0..500)
            .map(|n| Rendered {
                frame: vec![101, 1000 + n / 3, 102],
                windows: vec![Window { ids: vec![101; 5 + (n as usize * 7) % 40], action: 3 }],
                features: [0.0; FEATURES],
                effect: None,
                grounded: None,
                overflow: false,
            })
            .collect();
        let plan = batches(&rendered, 2, 9);
        assert_eq!(plan, batches(&rendered, 2, 9));
        assert_ne!(plan, batches(&rendered, 2, 10));
        for epoch in plan.chunks(plan.len() / 2) {
            let mut all = epoch.concat();
            all.sort_unstable();
            assert_eq!(all, (0..500).collect::<Vec<_>>());
        }
        assert!(plan.iter().all(|batch| batch.len() <= BATCH));
        // Checks of one frame mostly meet in a batch.
        let frames = |batch: &Vec<usize>| {
            let mut frames: Vec<_> = batch.iter().map(|&i| &rendered[i].frame).collect();
            frames.sort_unstable();
            frames.dedup();
            frames.len()
        };
        assert!(plan.iter().map(frames).sum::<usize>() < 500);
    }
}
