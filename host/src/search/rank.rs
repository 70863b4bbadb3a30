//! What matches a query, best first. BM25 over the words' weights: a word counts the more the fewer
//! tools have it, and a tool that has all words of the query usually comes before one that has one of them often.
//!
//! A word of the query is found as its stem, as the beginning of a longer word, and with one letter in
//! front (`mail` in `email`). A word that no tool has so is taken for misspelt, and found one letter
//! apart.

use std::collections::BTreeMap;

use super::segment::Segment;
use super::words::{is_empty, one_apart, split, stem};

/// Words of a query that count.
const MOST_WORDS: usize = 16;
/// How soon more of the same word says nothing new.
const SATURATION: f32 = 2.0;
/// A word that only begins with the one asked for, or has a letter in front of it, counts this much.
const LONGER: f32 = 0.6;
/// A word that is one letter apart counts this much.
const MISSPELT: f32 = 0.4;
/// A shorter beginning could be that of anything.
const SHORTEST_START: usize = 3;
/// In shorter words one letter is too much.
const SHORTEST_MISSPELT: usize = 4;
/// What scores less than this share of the best is left out: it has one common word of several.
const LEAST: f32 = 0.05;

/// A segment, and which of its tools may be seen.
pub(crate) struct Part<'a> {
    pub(crate) segment: &'a Segment,
    /// For each tool of the segment.
    pub(crate) seen: Vec<bool>,
}

/// What was found of one word of the query in one part.
struct Found {
    /// Of each tool, by number; 0 where the word is not.
    weights: Vec<f32>,
    tools: Vec<u32>,
}

/// Whether there is a word in the query that could be looked for.
pub(crate) fn has_words(query: &str) -> bool {
    !split(query, 1).is_empty()
}

/// The tools that match, best first, as (part, number in its segment). `None` if there is no word in
/// the query.
pub(crate) fn search(parts: &[Part<'_>], query: &str) -> Option<Vec<(usize, usize)>> {
    let words = words_of(query);
    if words.is_empty() {
        return None;
    }
    let all: usize = parts.iter().map(|part| part.seen.iter().filter(|seen| **seen).count()).sum();
    let mut scores: Vec<Vec<Score>> =
        parts.iter().map(|part| vec![Score::default(); part.segment.len()]).collect();
    let mut total = 0.0;
    for word in &words {
        let found = find(parts, word);
        let having: usize = found.iter().map(|found| found.tools.len()).sum();
        if having == 0 {
            // It is nowhere: the others decide.
            continue;
        }
        let rare = rarity(all, having);
        total += rare;
        for (found, scores) in found.iter().zip(&mut scores) {
            for number in &found.tools {
                let (weight, score) = (found.weights[*number as usize], &mut scores[*number as usize]);
                score.points += rare * weight / (SATURATION + weight);
                score.covered += rare;
            }
        }
    }
    Some(sorted(&scores, total))
}

/// The words that say something, each once; if none does, all.
fn words_of(query: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in split(query, 4 * MOST_WORDS) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    if words.iter().any(|word| !is_empty(word)) {
        words.retain(|word| !is_empty(word));
    }
    words.truncate(MOST_WORDS);
    words
}

#[derive(Clone, Copy, Default)]
struct Score {
    points: f32,
    /// The rarity of all words that were found, together.
    covered: f32,
}

/// What a word is worth that `having` of `all` tools have. Never next to nothing: in a catalog of five tools
/// about customers, `customer` is still what was asked for.
fn rarity(all: usize, having: usize) -> f32 {
    let (all, having) = (all as f32, having as f32);
    (2.0 + (all - having + 0.5) / (having + 0.5)).ln()
}

fn sorted(scores: &[Vec<Score>], total: f32) -> Vec<(usize, usize)> {
    let mut hits: Vec<(f32, usize, usize)> = Vec::new();
    for (part, scores) in scores.iter().enumerate() {
        let scored = scores.iter().enumerate().filter(|(_, score)| score.points > 0.0);
        hits.extend(scored.map(|(number, score)| (score.points * score.covered / total, part, number)));
    }
    let best = hits.iter().map(|hit| hit.0).fold(0.0, f32::max);
    hits.retain(|hit| hit.0 >= best * LEAST);
    hits.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
    hits.into_iter().map(|(_, part, number)| (part, number)).collect()
}

/// Where a word of the query is, in each part.
fn find(parts: &[Part<'_>], word: &str) -> Vec<Found> {
    let stem = stem(word);
    let known: Vec<BTreeMap<u32, f32>> = parts.iter().map(|part| like(part.segment, word, &stem)).collect();
    let found = gather(parts, &known);
    if found.iter().any(|found| !found.tools.is_empty()) {
        return found;
    }
    let near: Vec<BTreeMap<u32, f32>> =
        parts.iter().map(|part| misspelt(part.segment, word, &stem)).collect();
    gather(parts, &near)
}

/// The stems that stand for a word, and how much each counts.
fn like(segment: &Segment, word: &str, stem: &str) -> BTreeMap<u32, f32> {
    let mut stems = BTreeMap::new();
    if word.chars().count() >= SHORTEST_START {
        stems.extend(segment.beginning(word).map(|number| (number, LONGER)));
    }
    if word.chars().count() >= SHORTEST_MISSPELT {
        let in_front = |known: &str| known.strip_suffix(word).is_some_and(|front| front.chars().count() == 1);
        let longer = segment.words().iter().filter(|(known, _)| in_front(known));
        stems.extend(longer.map(|(_, number)| (*number, LONGER)));
    }
    stems.extend(segment.stem(stem).map(|number| (number, 1.0)));
    stems
}

fn misspelt(segment: &Segment, word: &str, stem: &str) -> BTreeMap<u32, f32> {
    if word.chars().count() < SHORTEST_MISSPELT {
        return BTreeMap::new();
    }
    let near = |known: &str| one_apart(known, word) || one_apart(known, stem);
    segment.words().iter().filter(|(known, _)| near(known)).map(|(_, number)| (*number, MISSPELT)).collect()
}

/// The tools that may be seen and have one of these stems.
fn gather(parts: &[Part<'_>], stems: &[BTreeMap<u32, f32>]) -> Vec<Found> {
    let of_part = |(part, stems): (&Part<'_>, &BTreeMap<u32, f32>)| {
        let mut found = Found { weights: vec![0.0; part.segment.len()], tools: Vec::new() };
        for (stem, counts) in stems {
            for posting in part.segment.postings(*stem) {
                let at = posting.document as usize;
                if !part.seen.get(at).is_some_and(|seen| *seen) {
                    continue;
                }
                if found.weights[at] == 0.0 {
                    found.tools.push(posting.document);
                }
                found.weights[at] += counts * posting.weight;
            }
        }
        found
    };
    parts.iter().zip(stems).map(of_part).collect()
}
