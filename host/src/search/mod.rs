//! Full-text search over what tools are called and said to do, for catalogs of thousands of them. Pure:
//! texts in, numbers of documents out.
//!
//! - `words` takes a text apart: identifiers into their words, words to their stems
//! - `segment` is the index over the tools of one server, made once for each listing
//! - `rank` finds and orders what matches a query, over the segments of all servers at once
//!
//! What must never be here: which tool may be seen. Whoever asks says so for each document, and a
//! document that may not be seen has no part in anything: not in the answer, not in how rare a word
//! counts as, not in whether it counts as known.

mod rank;
mod segment;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use rank::{Part, has_words, search};
pub(crate) use segment::{Segment, Subject};
