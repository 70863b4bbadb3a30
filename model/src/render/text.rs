//! Small text helpers: one folded form for comparing, sentences, stems.

/// The form in which values and texts are compared: lower case, runs of white space as one space (or
/// one line end), backslash escapes of quoted JSON undone.
pub(crate) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(mut c) = chars.next() {
        if c == '\\' {
            match chars.peek() {
                Some('n' | 'r') => {
                    chars.next();
                    c = '\n';
                }
                Some('t') => {
                    chars.next();
                    c = ' ';
                }
                _ => continue,
            }
        }
        if c.is_ascii() {
            if c == '\n' || c == '\r' {
                if out.ends_with(' ') {
                    out.pop();
                }
                if !out.is_empty() && !out.ends_with('\n') {
                    out.push('\n');
                }
            } else if c.is_ascii_whitespace() || c.is_ascii_control() {
                if !out.is_empty() && !out.ends_with([' ', '\n']) {
                    out.push(' ');
                }
            } else {
                out.push(c.to_ascii_lowercase());
            }
        } else if c.is_whitespace() {
            if !out.is_empty() && !out.ends_with([' ', '\n']) {
                out.push(' ');
            }
        } else {
            out.extend(c.to_lowercase());
        }
    }
    out
}

/// Where `needle` stands in `text` by itself, not inside a longer word or number. Both are folded.
pub(crate) fn find_whole(text: &str, needle: &str) -> Option<usize> {
    let first = needle.chars().next()?;
    let last = needle.chars().next_back()?;
    // A value that stands only inside longer words more often than this is taken as not there.
    memchr::memmem::find_iter(text.as_bytes(), needle.as_bytes()).take(256).find(|&at| {
        let before = text[..at].chars().next_back();
        let after = text[at + needle.len()..].chars().next();
        let joined = |edge: char, other: Option<char>| {
            edge.is_alphanumeric() && other.is_some_and(char::is_alphanumeric)
        };
        !joined(first, before) && !joined(last, after)
    })
}

/// The sentences of a folded text as byte ranges: they end at a line end, or at a full stop,
/// question or exclamation mark before white space.
pub(crate) fn sentences(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut start = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let ends = match byte {
            b'\n' => true,
            b'.' | b'!' | b'?' => {
                bytes.get(at + 1).is_none_or(|next| matches!(next, b' ' | b'\n' | b'"' | b'\''))
            }
            _ => false,
        };
        if ends {
            if at > start {
                out.push((start, at + 1));
            }
            start = at + 1;
        }
    }
    if start < bytes.len() {
        out.push((start, bytes.len()));
    }
    out
}

/// A word's first letters, so that `deletes`, `deleted` and `deletion` meet.
pub(crate) fn stem(word: &str) -> &str {
    word.char_indices().nth(5).map_or(word, |(at, _)| &word[..at])
}

/// The stems of a text's words of three letters and more, without the commonest, each once, sorted.
pub(crate) fn stems(words: impl IntoIterator<Item = String>) -> Vec<String> {
    const COMMON: &[&str] = &[
        "the", "and", "for", "you", "your", "with", "that", "this", "from", "are", "was", "have", "has",
        "can", "get", "all", "not", "please", "use", "will", "them", "their", "out",
    ];
    let mut out: Vec<String> = words
        .into_iter()
        .filter(|word| {
            word.len() >= 3 && word.chars().all(char::is_alphabetic) && !COMMON.contains(&word.as_str())
        })
        .map(|word| stem(&word).to_string())
        .collect();
    out.sort();
    out.dedup();
    out
}

/// How many of the sorted `wanted` are in the sorted `there`, as a fraction; 0 if none is wanted.
pub(crate) fn overlap(wanted: &[String], there: &[String]) -> f32 {
    if wanted.is_empty() {
        return 0.0;
    }
    wanted.iter().filter(|word| there.binary_search(word).is_ok()).count() as f32 / wanted.len() as f32
}

/// The largest index up to `at` that is on a character's edge.
pub(crate) fn edge(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at.min(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding() {
        assert_eq!(fold("  Ab\t\n\n c\\nD \\\"x\\\" "), "ab\nc\nd \"x\" ");
        assert_eq!(fold("ÄB\u{a0}c"), "äb c");
    }

    #[test]
    fn whole_values_only() {
        assert_eq!(find_whole("id 1234, id 12", "12"), Some(12));
        assert_eq!(find_whole("id 1234", "12"), None);
        assert_eq!(find_whole("xa@b.cz a@b.c", "a@b.c"), Some(8));
        assert_eq!(find_whole("", "a"), None);
        assert_eq!(find_whole("a", ""), None);
    }

    #[test]
    fn sentences_end_where_they_should() {
        let text = "see a.b.c now. then\nmore";
        let parts: Vec<&str> = sentences(text).into_iter().map(|(a, b)| &text[a..b]).collect();
        assert_eq!(parts, ["see a.b.c now.", " then\n", "more"]);
    }

    #[test]
    fn stems_meet() {
        let stems_of = |text: &str| stems(text.split(' ').map(str::to_string));
        assert_eq!(overlap(&stems_of("deleting files"), &stems_of("the deleted file")), 0.5);
        assert_eq!(stem("äöüäöüä"), "äöüäö");
    }
}
