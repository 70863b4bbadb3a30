//! Which data that not everybody may see goes into a call. Values of results are remembered as hashes
//! of their words, so that they are found again whatever text a script puts around them.
//!
//! One word in common says little: what counts is added up. A value that nobody makes up (an address, a
//! long number, a key) is enough by itself, as are two values, or some words in a row.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use postern_check::evidence::{Evidence, decode, fold};
use serde_json::Value;

use crate::policy::Holds;
use crate::secrets;

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
    /// The configuration labels it so; else it was inferred, or seen in the data.
    pub(super) stated: bool,
    /// JSON pointer of the argument that has most of it.
    pub(super) path: String,
}

/// What one result adds to [`Flows`]. Made without them, for that is what takes time.
#[derive(Debug, Default)]
pub(super) struct Marks {
    found: Vec<(u64, u8, Holds)>,
    /// What is no secret.
    known: Vec<u64>,
}

impl Marks {
    /// Of the leaves of a value.
    pub(super) fn of(holds: Holds, value: &Value, secrets: &[String]) -> Self {
        let mut marks = Self::of_secrets(secrets);
        let mut leaves = Vec::new();
        collect(value, &mut leaves);
        // The same word in row after row is a state, a kind, a currency: no value of anybody's.
        let mut often: HashMap<&str, u32> = HashMap::new();
        leaves.iter().for_each(|leaf| *often.entry(leaf.as_str()).or_default() += 1);
        for leaf in &leaves {
            if often[leaf.as_str()] < 3 || leaf.len() > 40 {
                marks.leaf(holds, leaf);
            }
        }
        marks.settled()
    }

    /// Of a text: each of its lines, and of a line `name: value` the value.
    pub(super) fn of_text(holds: Holds, text: &str, secrets: &[String]) -> Self {
        let mut marks = Self::of_secrets(secrets);
        for line in text.lines() {
            let value = line.split_once(": ").map_or(line, |(_, value)| value);
            marks.leaf(holds, value);
        }
        marks.settled()
    }

    /// Of the secrets alone.
    pub(super) fn of_secrets(secrets: &[String]) -> Self {
        let mut marks = Self::default();
        for secret in secrets {
            let words = words(secret);
            if nobody_says(secret, &words) {
                match words.len() {
                    n if n <= VALUE_WORDS => marks.add(&words, ENOUGH as u8, Holds::Secret),
                    _ => marks.text(&words, Holds::Secret),
                }
            }
        }
        marks
    }

    /// A secret does not become public because it lies where anybody can read it.
    fn settled(mut self) -> Self {
        let secret: HashSet<u64> =
            self.found.iter().filter(|(_, _, holds)| *holds == Holds::Secret).map(|(run, ..)| *run).collect();
        self.known.retain(|run| !secret.contains(run));
        self
    }

    fn leaf(&mut self, holds: Holds, leaf: &str) {
        if holds == Holds::Public {
            self.known.extend(known(leaf));
            return;
        }
        let words = words(leaf);
        match words.len() {
            0 => {}
            n if n <= VALUE_WORDS => self.add(&words, weight(leaf, &words, holds), holds),
            _ => self.text(&words, holds),
        }
    }

    fn text(&mut self, words: &[String], holds: Holds) {
        for run in words.windows(RUN) {
            self.add(run, 2, holds);
        }
        for word in words.iter().filter(|word| is_code(word)) {
            self.add(std::slice::from_ref(word), ENOUGH as u8, holds);
        }
    }

    fn add(&mut self, run: &[String], weight: u8, holds: Holds) {
        if weight > 0 {
            self.found.push((hash(run), weight, holds));
        }
    }
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
        let hashes = known(text);
        self.know(hashes);
    }

    fn know(&mut self, hashes: Vec<u64>) {
        for hash in hashes {
            if self.known.len() < MOST {
                self.known.insert(hash);
            }
        }
    }

    /// The strictest label of what had no room.
    pub(super) fn overflowed(&self) -> Option<Holds> {
        self.overflowed
    }

    /// Remembers what was read. `stated` is what holds for its label; that of secrets is always seen, not said.
    pub(super) fn add(&mut self, from: &str, label: Holds, stated: bool, marks: Marks) {
        let from = self.source(from);
        self.know(marks.known);
        for (run, weight, holds) in marks.found {
            if self.marks.len() >= MOST {
                self.overflowed = self.overflowed.max(Some(holds));
                continue;
            }
            let mark = Mark { from, weight, holds, stated: stated && holds == label };
            let kept = self.marks.entry(run).or_insert(mark);
            if (kept.holds, kept.stated) < (mark.holds, mark.stated) {
                *kept = mark;
            }
        }
    }

    fn source(&mut self, from: &str) -> u32 {
        let place = self.sources.iter().position(|known| known == from).unwrap_or_else(|| {
            self.sources.push(from.to_owned());
            self.sources.len() - 1
        });
        u32::try_from(place).unwrap_or_else(|_| unreachable!("there are fewer tools than that"))
    }

    /// The private or secret data in a call of a tool of `server`, the strictest first.
    pub(super) fn of(&self, evidence: &Evidence, server: &str) -> Vec<Flow> {
        let mut sums: BTreeMap<(u32, Holds, bool), Sum> = BTreeMap::new();
        let mut seen = HashSet::new();
        for leaf in &evidence.leaves {
            let token = secrets::name(&leaf.key) != secrets::Name::Plain;
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
                        let seen_only = mark.holds == Holds::Secret && !mark.stated;
                        // A token goes back, as a token, to the server that gave it. Anywhere else it counts.
                        let returned = seen_only && token && self.is_of(mark.from, server);
                        if returned || self.known.contains(&run) || !seen.insert(run) {
                            continue;
                        }
                        let mut count = |holds, stated| {
                            let sum = sums.entry((mark.from, holds, stated)).or_default();
                            sum.weight += u32::from(mark.weight);
                            *sum.by_path.entry(leaf.path.clone()).or_default() += u32::from(mark.weight);
                        };
                        count(mark.holds, mark.stated);
                        // What is secret is private too, beside what else of the result is there.
                        if seen_only {
                            count(Holds::Private, false);
                        }
                    }
                }
            }
        }
        let mut flows: Vec<Flow> = sums
            .into_iter()
            .filter(|(_, sum)| sum.weight >= ENOUGH)
            .map(|((from, holds, stated), sum)| Flow {
                from: self.sources[from as usize].clone(),
                holds,
                stated,
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

    fn is_of(&self, from: u32, server: &str) -> bool {
        self.sources[from as usize].split_once('/').is_some_and(|(of, _)| of == server)
    }
}

/// How much of one source is in a call.
#[derive(Default)]
struct Sum {
    weight: u32,
    by_path: HashMap<String, u32>,
}

/// Hashes of everything that is known with this text.
fn known(text: &str) -> Vec<u64> {
    let words = words(text);
    let runs = |start: usize| (1..=VALUE_WORDS.min(words.len() - start)).map(move |n| (start, n));
    (0..words.len()).flat_map(runs).map(|(start, n)| hash(&words[start..start + n])).collect()
}

/// A secret that cannot be in a text by chance: no plain word that somebody took for a password.
fn nobody_says(secret: &str, words: &[String]) -> bool {
    let letters: usize = words.iter().map(String::len).sum();
    letters >= 6 && (words.len() > 1 || letters >= 16 || secret.bytes().any(|byte| byte.is_ascii_digit()))
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
