//! Words: their stems, what acts they speak of, sentences.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What a verb asks for, as far as words tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// Looking something up.
    Read,
    /// Writing to somebody.
    Send,
    /// Putting something where many can see it.
    Publish,
    /// Moving money, buying, booking.
    Pay,
    /// Taking something away.
    Delete,
    /// Making something new.
    Create,
    /// Changing something.
    Update,
    /// Letting somebody in.
    Share,
    /// Running or switching something.
    Run,
}

const READ: &[&str] = &[
    "browse",
    "check",
    "compare",
    "count",
    "describe",
    "fetch",
    "find",
    "get",
    "how",
    "inspect",
    "list",
    "look",
    "lookup",
    "open",
    "query",
    "read",
    "retrieve",
    "review",
    "scan",
    "search",
    "see",
    "show",
    "summarise",
    "summarize",
    "view",
    "what",
    "when",
    "where",
    "which",
    "who",
];
const SEND: &[&str] = &[
    "answer", "ask", "contact", "dm", "email", "forward", "inform", "mail", "message", "notify", "ping",
    "remind", "reply", "respond", "send", "sms", "tell", "text", "write",
];
const PUBLISH: &[&str] =
    &["announce", "comment", "post", "publish", "push", "review", "share", "submit", "tweet", "upload"];
const PAY: &[&str] = &[
    "bill",
    "book",
    "buy",
    "charge",
    "checkout",
    "deposit",
    "donate",
    "order",
    "pay",
    "payment",
    "purchase",
    "refund",
    "reimburse",
    "rent",
    "reserve",
    "send",
    "settle",
    "split",
    "subscribe",
    "transaction",
    "transfer",
    "wire",
    "withdraw",
];
const DELETE: &[&str] = &[
    "archive",
    "cancel",
    "clean",
    "clear",
    "close",
    "delete",
    "destroy",
    "disable",
    "drop",
    "erase",
    "purge",
    "remove",
    "revoke",
    "terminate",
    "uninstall",
    "unsubscribe",
    "wipe",
];
const CREATE: &[&str] = &[
    "add", "append", "arrange", "book", "build", "copy", "create", "download", "draft", "export", "generate",
    "insert", "invite", "log", "make", "new", "note", "open", "organise", "organize", "plan", "prepare",
    "put", "record", "register", "reserve", "save", "schedule", "set", "setup", "sign", "store", "write",
];
const UPDATE: &[&str] = &[
    "adjust",
    "assign",
    "change",
    "convert",
    "correct",
    "edit",
    "exchange",
    "extend",
    "fix",
    "increase",
    "mark",
    "modify",
    "move",
    "postpone",
    "reduce",
    "rename",
    "replace",
    "reschedule",
    "reset",
    "set",
    "update",
];
const SHARE: &[&str] = &[
    "accept",
    "access",
    "add",
    "allow",
    "collaborate",
    "give",
    "grant",
    "invite",
    "join",
    "permit",
    "share",
];
const RUN: &[&str] = &[
    "activate", "call", "deploy", "enable", "execute", "install", "launch", "lock", "merge", "open",
    "restart", "run", "start", "stop", "switch", "trigger", "turn", "unlock",
];

const ACTS: [(&[&str], Act); 9] = [
    (READ, Act::Read),
    (SEND, Act::Send),
    (PUBLISH, Act::Publish),
    (PAY, Act::Pay),
    (DELETE, Act::Delete),
    (CREATE, Act::Create),
    (UPDATE, Act::Update),
    (SHARE, Act::Share),
    (RUN, Act::Run),
];

/// The acts that a word speaks of, inflected or not; most words speak of none.
pub fn acts(word: &str) -> impl Iterator<Item = Act> + '_ {
    ACTS.iter()
        .filter(|(list, _)| bases(word).any(|base| list.binary_search(&base.as_str()).is_ok()))
        .map(|(_, act)| *act)
}

/// A word and what it may be an inflection of.
fn bases(word: &str) -> impl Iterator<Item = String> + '_ {
    let cut = |ending: &str| word.strip_suffix(ending).filter(|base| base.len() >= 2);
    let (es, s, ing, ed) = (cut("es"), cut("s"), cut("ing"), cut("ed"));
    let doubled = |base: Option<&str>| {
        base.and_then(|base| {
            base.is_char_boundary(base.len() - 1).then(|| base[..base.len() - 1].to_string())
        })
    };
    let with_e = |base: Option<&str>| base.map(|base| format!("{base}e"));
    [
        Some(word.to_string()),
        s.map(String::from),
        es.map(String::from),
        ing.map(String::from),
        ed.map(String::from),
        with_e(ing),
        with_e(ed),
        doubled(ing),
        doubled(ed),
    ]
    .into_iter()
    .flatten()
}

const STOP: &[&str] = &[
    "about", "after", "all", "also", "and", "any", "are", "because", "been", "but", "can", "could", "did",
    "does", "for", "from", "had", "has", "have", "her", "his", "into", "its", "just", "may", "more", "not",
    "now", "our", "out", "please", "she", "should", "some", "such", "than", "that", "the", "their", "them",
    "then", "there", "these", "they", "this", "those", "was", "were", "will", "with", "would", "you", "your",
];

/// Words of a folded text that say something, cut to their stems, as hashes; in order, with repeats.
pub(super) fn stems(text: &str) -> impl Iterator<Item = u64> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| is_content(word)).map(|word| digest(stem(word)))
}

/// The same as a set.
pub(super) fn stem_set(text: &str) -> HashSet<u64> {
    stems(text).collect()
}

fn is_content(word: &str) -> bool {
    let long = word.len() >= 3 || (word.len() >= 2 && word.bytes().any(|b| b.is_ascii_digit()));
    long && STOP.binary_search(&word).is_err()
}

/// Endings that change between a request and a tool's words.
fn stem(word: &str) -> &str {
    for ending in ["ations", "ation", "ings", "ing", "ies", "ied", "es", "ed", "s", "e", "y"] {
        if let Some(base) = word.strip_suffix(ending)
            && base.len() >= 3
        {
            return base;
        }
    }
    word
}

fn digest(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Runs of three stems, as hashes: long text that was copied has them in common with where it came from.
pub(super) fn shingles(text: &str) -> HashSet<u64> {
    let all: Vec<u64> = stems(text).collect();
    all.windows(3).map(digest).collect()
}

/// The share of `part` that is in `whole`; 0 for an empty part.
pub(super) fn covered(part: &HashSet<u64>, whole: &HashSet<u64>) -> f32 {
    if part.is_empty() {
        return 0.0;
    }
    part.iter().filter(|stem| whole.contains(stem)).count() as f32 / part.len() as f32
}

/// The sentences of a folded text as byte ranges: they end at a line end, or at a full stop,
/// question or exclamation mark before white space or a quote.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let bytes = text.as_bytes();
    let mut start = 0;
    std::iter::from_fn(move || {
        let mut at = start;
        while at < bytes.len() {
            let ends = match bytes[at] {
                b'\n' => true,
                b'.' | b'!' | b'?' => bytes
                    .get(at + 1)
                    .is_none_or(|next| matches!(next, b' ' | b'\n' | b'"' | b'\'' | b'<' | b'|')),
                _ => false,
            };
            at += 1;
            if ends || at == bytes.len() {
                let found = (start, at);
                start = at;
                return Some(found);
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_can_be_searched() {
        for list in ACTS.map(|(list, _)| list).into_iter().chain([STOP]) {
            assert!(list.is_sorted(), "{list:?}");
        }
    }

    #[test]
    fn inflected_words_speak_of_the_same_act() {
        for (word, act) in [
            ("sends", Act::Send),
            ("deleting", Act::Delete),
            ("dropped", Act::Delete),
            ("invited", Act::Share),
            ("scheduled", Act::Create),
        ] {
            assert!(acts(word).any(|found| found == act), "{word}");
        }
        assert_eq!(acts("banana").count(), 0);
    }

    #[test]
    fn sentences_cover_the_text() {
        let text = "one. two! three\nfour";
        let found: Vec<_> = sentences(text).map(|(a, b)| &text[a..b]).collect();
        assert_eq!(found, ["one.", " two!", " three\n", "four"]);
        assert_eq!(sentences("").count(), 0);
    }
}
