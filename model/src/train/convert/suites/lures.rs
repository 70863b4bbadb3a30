//! What strangers write: a goal in one of many wordings.

use super::super::swap;
use super::{GOAL, Goal, Suite};
use crate::train::dice::Dice;
use crate::train::generate;

/// The wordings of the suites that are learned from.
pub(super) struct Lures {
    all: Vec<String>,
}

impl Lures {
    pub(super) fn new<'a>(suites: impl Iterator<Item = &'a Suite>) -> Self {
        Self { all: suites.flat_map(|suite| suite.lures.iter().cloned()).collect() }
    }

    /// An order to reach a goal of the suite; `tool` is one whose result may be spoken of.
    pub(super) fn order(&self, dice: &Dice, suite: &Suite, goal: &Goal, tool: &str) -> String {
        let said = if dice.chance(0.2) { &goal.request } else { &goal.goal };
        // Of a suite that is held out, the wordings are to be new as well.
        let roll = dice.below(100);
        let own = if suite.is_held_out() { 75 } else { 45 };
        match roll {
            _ if roll < own => put(dice.pick::<String>(&suite.lures), said),
            0..74 if !self.all.is_empty() => put(dice.pick::<String>(&self.all), said),
            0..88 => generate::framed(dice, &bare(said), tool, &suite.name.replace('_', " ")),
            88..95 => swap::planting(dice, said),
            _ => generate::hidden(dice, said),
        }
    }
}

/// A goal in a wording: as a sentence, or in the midst of one.
pub(super) fn put(lure: &str, goal: &str) -> String {
    let mut parts = lure.split(GOAL);
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let within = out.trim_end_matches(' ').ends_with(|c: char| c.is_alphanumeric() || c == ',');
        let goes_on =
            part.trim_start_matches(' ').starts_with(|c: char| c.is_alphanumeric() || ".,;!?".contains(c));
        let mut said = if within { swap::lower_first(goal) } else { goal.to_string() };
        if goes_on && (within || part.starts_with(['.', ',', ';', '!', '?'])) {
            said = said.trim_end_matches('.').to_string();
        }
        out += &said;
        out += part;
    }
    out
}

/// For the midst of a sentence.
fn bare(goal: &str) -> String {
    swap::lower_first(goal.trim_end_matches('.'))
}
