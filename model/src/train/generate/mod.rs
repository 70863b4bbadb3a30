//! Labelled checks made from a seed, for learning what decides: how a call relates to the request, the rules and
//! what was read.
//!
//! Domains are tables (`domains`), stories run over all of them (`stories`, and `scripts` for code-mode runs), and
//! both sides draw tools, people, hosts, wordings and frames from the same dice. A check's group is the domain
//! of the tool that is called, so that whole domains can be held out.
//! Nothing of the examples or the tests of this repository, and no wording of a published attack suite, may be
//! copied in here.

mod cast;
mod domains;
mod encode;
mod foreign;
mod formats;
mod goal;
mod intents;
mod party;
mod planted;
mod prose;
mod scripts;
mod stories;
mod style;
mod tale;
#[cfg(test)]
mod tests;
mod truth;
mod words;

use postern_check::BlastRadius;

use super::data::{Labelled, Labels, Policy};
use super::dice::Dice;
pub(super) use encode::hidden;
pub(super) use planted::nameless as framed;
pub(super) use prose::sounds_like;
pub(super) use truth::{Truth, label};

/// About `count` generated checks from a seed, in random order.
pub(crate) fn generate(count: usize, seed: u64) -> Vec<Labelled> {
    let dice = Dice::new(seed);
    let mut out = Vec::with_capacity(count + 64);
    while out.len() < count {
        let mut told = Vec::new();
        if dice.chance(0.95) {
            stories::tell(&dice, &mut told);
        } else {
            told = scripts::tell(&dice);
        }
        out.extend(told.into_iter().filter(|labelled| dice.chance(share(labelled))));
    }
    dice.shuffle(&mut out);
    out.truncate(count);
    out
}

/// How many of a story's checks are kept. Honest work has many calls, most of them reads; all would drown the rest.
fn share(labelled: &Labelled) -> f64 {
    let reads = labelled.labels.effect.is_some_and(|effect| effect <= BlastRadius::Read);
    match (labelled.kind.as_str(), reads) {
        ("benign_clean", true) => 0.22,
        ("benign_clean", false) => 0.42,
        ("benign_poisoned", true) => 0.5,
        ("benign_poisoned", false) => 0.75,
        ("unclear", _) => 0.6,
        // Attacks begin with reads that are no harm by themselves; without many of them reads are waved through.
        ("malicious", true) => 1.0,
        ("malicious", false) => 0.7,
        _ => 1.0,
    }
}
