//! From the words of a clause to a rule, if every word of it is understood.
//!
//! A clause is its targets (domains, mailboxes, files, amounts, times) and words around them. Each kind of rule knows
//! the words it may be said with; a single other word means that something was said that is not checked, and the whole
//! clause is left to the model.

mod amounts;
mod kinds;
mod people;
mod places;
mod times;

pub(super) use people::{domain, mailbox};

use super::rule::Rule;
use super::words::words;

/// A word as it is compared, and as it was written.
type Word = (String, String);
type Words = [Word];

/// The rule of a clause; `before` is that of the clause in front of it in the same constraint.
pub(super) fn rule(clause: &str, before: Option<&Rule>) -> Option<Rule> {
    let words = words(clause);
    if words.is_empty() || words.len() > 40 {
        return None;
    }
    amounts::count(&words)
        .or_else(|| amounts::amount(&words, before))
        .or_else(|| times::hours(&words))
        .or_else(|| people::people(&words))
        .or_else(|| places::files(&words))
        .or_else(|| kinds::read_only(&words))
        .or_else(|| kinds::outside(&words))
        .or_else(|| kinds::confirm(&words))
        .or_else(|| kinds::never(&words))
}

fn has(words: &Words, any: &[&str]) -> bool {
    words.iter().any(|(word, _)| any.contains(&word.as_str()))
}

/// Whether every word is one of these.
fn only(words: &Words, lists: &[&[&str]]) -> bool {
    words.iter().all(|(word, _)| lists.iter().any(|list| list.contains(&word.as_str())))
}

fn negated(words: &Words) -> bool {
    has(words, &["NOT", "NO"])
}

const GLUE: &[&str] = &[
    "and", "or", "to", "of", "for", "in", "at", "any", "with", "on", "by", "from", "it", "them", "only",
    "NOT", "NO",
];
