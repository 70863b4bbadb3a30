//! Text that came from a server, made fit for an error message: bounded, without terminal control
//! sequences, without the secrets this host gave the server. Every string of a server that reaches
//! an error, a warning or a status goes through here.

use std::fmt;

/// The longest text of a server that one message quotes, in bytes.
pub(super) const QUOTE_BYTES: usize = 2_000;
/// Values shorter than this are not redacted: replacing `1` or `true` everywhere hides the message
/// and no secret.
const SHORTEST_SECRET: usize = 6;

/// Knows the secrets of one server and takes them out of texts. Its `Debug` shows how many only.
#[derive(Clone, Default)]
pub(super) struct Redactor {
    secrets: Vec<String>,
}

impl Redactor {
    /// A redactor for these values. Longer values go first, so that a secret that contains another
    /// one leaves nothing behind.
    pub(super) fn new(values: impl IntoIterator<Item = String>) -> Self {
        let mut secrets: Vec<String> = values.into_iter().filter(|v| v.len() >= SHORTEST_SECRET).collect();
        secrets.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        secrets.dedup();
        Self { secrets }
    }

    /// The same, knowing more.
    pub(super) fn with(&self, values: Vec<String>) -> Self {
        Self::new(self.secrets.iter().cloned().chain(values))
    }

    /// The text without the secrets, without control characters, cut to `limit` bytes.
    pub(super) fn clean(&self, text: &str, limit: usize) -> String {
        bounded(&strip_controls(&self.redact(text)), limit)
    }

    /// The text without the secrets.
    pub(super) fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            if text.contains(secret.as_str()) {
                text = text.replace(secret.as_str(), "[redacted]");
            }
        }
        text
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} secrets)", self.secrets.len())
    }
}

/// The text, cut at a character boundary to at most `limit` bytes, with the true size when cut.
pub(super) fn bounded(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let end = (0..=limit).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}… ({} bytes in all)", &text[..end], text.len())
}

/// Removes ANSI escape sequences and every control character but line feed and tab, so that no
/// server can move the cursor, change a title or forge a line of ours on somebody's terminal.
pub(super) fn strip_controls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => {}
            // Bidirectional overrides reorder what a reader sees.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            c => out.push(c),
        }
    }
    out
}

fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.peek() {
        // CSI: parameters, then one final byte.
        Some('[') => {
            chars.next();
            for c in chars.by_ref() {
                if ('\u{40}'..='\u{7e}').contains(&c) {
                    break;
                }
            }
        }
        // OSC: up to BEL or another escape, whose own byte is then dropped too.
        Some(']') => {
            for c in chars.by_ref() {
                if c == '\u{7}' || c == '\u{1b}' {
                    break;
                }
            }
            if chars.peek() == Some(&'\\') {
                chars.next();
            }
        }
        Some(_) => {
            chars.next();
        }
        None => {}
    }
}

/// Up to three names of `known` that a reader may have meant by `wanted`, best first.
pub(crate) fn near<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let fold = |name: &str| name.to_lowercase().replace(['-', '.', ' '], "_");
    let target = fold(wanted);
    let mut scored: Vec<(usize, &str)> = known
        .take(2_000)
        .filter_map(|name| {
            let candidate = fold(name);
            let contains = target.len() > 2 && (candidate.contains(&target) || target.contains(&candidate));
            let distance = if contains { 1 } else { distance(&target, &candidate) };
            (distance <= 1 + target.chars().count() / 4).then_some((distance, name))
        })
        .collect();
    scored.sort();
    scored.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Levenshtein distance over the first 64 characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_leave_nothing_behind_even_when_one_contains_another() {
        let redactor = Redactor::new(["sk-abcdef".into(), "Bearer sk-abcdef".into(), "1".into()]);
        let text = redactor.clean("1 header Bearer sk-abcdef and sk-abcdef", 200);
        assert_eq!(text, "1 header [redacted] and [redacted]");
        assert_eq!(format!("{redactor:?}"), "Redactor(2 secrets)");
    }

    #[test]
    fn escapes_and_controls_are_gone() {
        let text = strip_controls("\u{1b}[31mred\u{1b}[0m \u{1b}]0;title\u{7}a\r\nb\u{202e}c\u{8}");
        assert_eq!(text, "red a\nbc");
    }

    #[test]
    fn cutting_keeps_characters_whole_and_says_the_size() {
        assert_eq!(bounded("äöü", 3), "ä… (6 bytes in all)");
        assert_eq!(bounded("äöü", 6), "äöü");
    }

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["read_file", "write_file", "list_directory"];
        assert_eq!(near("readFile", known.into_iter()), ["read_file"]);
        assert_eq!(near("read-file", known.into_iter()), ["read_file"]);
        assert_eq!(near("directory", known.into_iter()), ["list_directory"]);
        assert!(near("send_mail", known.into_iter()).is_empty());
    }
}
