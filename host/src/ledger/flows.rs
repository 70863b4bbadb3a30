//! Which data that not everybody may see goes into a call. Values of results are remembered as hashes
//! of their words, so that they are found again whatever text a script puts around them.
//!
//! One word in common says little: what counts is added up. A value that nobody makes up (an address, a
//! long number, a key) is enough by itself, as are two values, or some words in a row.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use postern_check::evidence::{Evidence, decode, fold};
use serde_json::Value;

use crate::policy::Holds;

/// Words of one value that are compared as a whole; longer ones are text.
const VALUE_WORDS: usize = 4;
/// Words in a row of a text that are compared.
const RUN: usize = 3;
/// Most hashes that are kept. What comes after is not forgotten for good: see [`Flows::overflowed`].
const MOST: usize = 1 << 20;
/// From this weight on the data is recognised.
const ENOUGH: u32 = 6;

/// What one run of words says.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// Place in [`Flows::sources`].
    from: u32,
    weight: u8,
    holds: Holds,
    stated: bool,
}

/// Data of one result in a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flow {
    /// Whose, as `server/tool`.
    pub(super) from: String,
    pub(super) holds: Holds,
    /// The configuration labels it so.
    pub(super) stated: bool,
    /// JSON pointer of the argument that has most of it.
    pub(super) path: String,
}

/// Everything private or secret that the run has seen, as hashes.
#[derive(Debug, Default)]
pub(super) struct Flows {
    marks: HashMap<u64, Mark>,
    /// Names of whose the data is.
    sources: Vec<String>,
    /// What is no secret: the user or the script's author wrote it, or it was in public data too.
    known: HashSet<u64>,
    overflowed: Option<Holds>,
}

impl Flows {
    /// The user wrote this, or it is public.
    pub(super) fn is_known(&mut self, text: &str) {
        let words = words(text);
        for start in 0..words.len() {
            for run in
                words[start..].iter().enumerate().take(VALUE_WORDS).map(|(n, _)| &words[start..=start + n])
            {
                if self.known.len() < MOST {
                    self.known.insert(hash(run));
                }
            }
        }
    }

    /// The strictest label of what had no room.
    pub(super) fn overflowed(&self) -> Option<Holds> {
        self.overflowed
    }

    /// Remembers the leaves of a value.
    pub(super) fn add(&mut self, from: &str, holds: Holds, stated: bool, value: &Value) {
        let from = self.source(from);
        let mut leaves = Vec::new();
        collect(value, &mut leaves);
        // The same word in row after row is a state, a kind, a currency: no value of anybody's.
        let mut often: HashMap<&str, u32> = HashMap::new();
        leaves.iter().for_each(|leaf| *often.entry(leaf.as_str()).or_default() += 1);
        for leaf in &leaves {
            if often[leaf.as_str()] < 3 || leaf.len() > 40 {
                self.add_leaf(from, holds, stated, leaf);
            }
        }
    }

    /// Remembers a text: each of its lines, and of a line `name: value` the value.
    pub(super) fn add_text(&mut self, from: &str, holds: Holds, stated: bool, text: &str) {
        let from = self.source(from);
        for line in text.lines() {
            let value = line.split_once(": ").map_or(line, |(_, value)| value);
            self.add_leaf(from, holds, stated, value);
        }
    }

    fn source(&mut self, from: &str) -> u32 {
        let place = self.sources.iter().position(|known| known == from).unwrap_or_else(|| {
            self.sources.push(from.to_owned());
            self.sources.len() - 1
        });
        u32::try_from(place).unwrap_or_else(|_| unreachable!("there are fewer tools than that"))
    }

    fn add_leaf(&mut self, from: u32, holds: Holds, stated: bool, leaf: &str) {
        if holds == Holds::Public {
            self.is_known(leaf);
            return;
        }
        let words = words(leaf);
        match words.len() {
            0 => {}
            n if n <= VALUE_WORDS => {
                let weight = weight(leaf, &words, holds);
                self.mark(&words, weight, from, holds, stated);
            }
            _ => {
                for run in words.windows(RUN) {
                    self.mark(run, 2, from, holds, stated);
                }
                for word in words.iter().filter(|word| is_code(word)) {
                    self.mark(std::slice::from_ref(word), ENOUGH as u8, from, holds, stated);
                }
            }
        }
    }

    fn mark(&mut self, run: &[String], weight: u8, from: u32, holds: Holds, stated: bool) {
        if weight == 0 {
            return;
        }
        if self.marks.len() >= MOST {
            self.overflowed = self.overflowed.max(Some(holds));
            return;
        }
        let mark = Mark { from, weight, holds, stated };
        let kept = self.marks.entry(hash(run)).or_insert(mark);
        if (kept.holds, kept.stated) < (holds, stated) {
            *kept = mark;
        }
    }

    /// The private or secret data in a call, the strictest first: one flow per result.
    pub(super) fn of(&self, evidence: &Evidence) -> Vec<Flow> {
        struct Sum {
            weight: u32,
            holds: Holds,
            stated: bool,
            by_path: HashMap<String, u32>,
        }
        let mut sums: HashMap<u32, Sum> = HashMap::new();
        let mut seen = HashSet::new();
        for leaf in &evidence.leaves {
            let texts =
                std::iter::once(leaf.value.as_str()).chain(leaf.decoded.iter().map(|d| d.text.as_str()));
            for text in texts {
                let words = words(text);
                for start in 0..words.len() {
                    let mut hasher = DefaultHasher::new();
                    for word in words[start..].iter().take(VALUE_WORDS) {
                        word.hash(&mut hasher);
                        let run = hasher.finish();
                        let Some(mark) = self.marks.get(&run) else { continue };
                        if self.known.contains(&run) || !seen.insert(run) {
                            continue;
                        }
                        let sum = sums.entry(mark.from).or_insert_with(|| Sum {
                            weight: 0,
                            holds: mark.holds,
                            stated: mark.stated,
                            by_path: HashMap::new(),
                        });
                        sum.weight += u32::from(mark.weight);
                        *sum.by_path.entry(leaf.path.clone()).or_default() += u32::from(mark.weight);
                    }
                }
            }
        }
        let mut flows: Vec<Flow> = sums
            .into_iter()
            .filter(|(_, sum)| sum.weight >= ENOUGH)
            .map(|(from, sum)| Flow {
                from: self.sources[from as usize].clone(),
                holds: sum.holds,
                stated: sum.stated,
                path: sum
                    .by_path
                    .into_iter()
                    .max_by_key(|(_, weight)| *weight)
                    .map(|(path, _)| path)
                    .unwrap_or_default(),
            })
            .collect();
        flows.sort_by_key(|flow| (std::cmp::Reverse((flow.holds, flow.stated)), flow.from.clone()));
        flows
    }
}

/// What a short value is worth: whether anybody would come by it without having read it.
fn weight(leaf: &str, words: &[String], holds: Holds) -> u8 {
    let letters: usize = words.iter().map(String::len).sum();
    let address = leaf.contains('@') && words.len() >= 2;
    let secret = holds == Holds::Secret && letters >= 6;
    if address || secret || is_key(leaf) || words.iter().any(|word| is_code(word)) {
        return ENOUGH as u8;
    }
    match words.len() {
        1 if letters >= 5 => 2,
        1 => 0,
        _ if letters >= 6 => 3,
        _ => 0,
    }
}

/// A word that nobody makes up: long, with digits; a long number.
fn is_code(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    digits >= 6 || (word.len() >= 10 && digits >= 2)
}

/// The same for what signs hold together, such as `xk22-9931-ab`; a day or an hour is none.
fn is_key(leaf: &str) -> bool {
    let time = leaf.as_bytes().get(4) == Some(&b'-') && leaf.as_bytes().get(7) == Some(&b'-');
    let letters = leaf.chars().filter(|c| c.is_alphabetic()).count();
    let digits = leaf.chars().filter(char::is_ascii_digit).count();
    !time && leaf.len() >= 10 && !leaf.contains(char::is_whitespace) && letters >= 3 && digits >= 3
}

/// The words of a text, folded: case, width, confusables and signs do not count.
fn words(text: &str) -> Vec<String> {
    let folded = fold(text);
    folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The same as hashing its words one after the other.
fn hash(run: &[String]) -> u64 {
    let mut hasher = DefaultHasher::new();
    run.iter().for_each(|word| word.hash(&mut hasher));
    hasher.finish()
}

/// Leaves that say something, as text; what is encoded in them as well.
fn collect(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Number(number) => out.push(number.to_string()),
        Value::String(text) => {
            out.extend(decode(text).into_iter().map(|decoded| decoded.text));
            out.push(text.clone());
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, out)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, out)),
    }
}
