//! The parts of a result: which stretch of its text is a field, and which is prose.
//!
//! Results come as JSON, as the YAML or Python forms that many servers print, as markup, or as text. Nobody says which,
//! so the text is read with tolerance: what cannot be told apart counts as prose, which is trusted least.

/// A part of a result's original text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) start: usize,
    pub(super) end: usize,
    /// It reads like text that somebody wrote rather than like a value.
    pub(super) prose: bool,
}

/// A value of more words than this is prose.
const MAX_WORDS: usize = 7;

impl Field {
    fn of(text: &str, start: usize, end: usize) -> Self {
        let value = text[start..end].trim();
        let words = value.split_whitespace().count();
        let spoken = words >= 3 && value.ends_with(['.', '!', '?']);
        Self { start, end, prose: words > MAX_WORDS || spoken }
    }
}

/// Cuts a result into its parts, in order; what lies between them is structure.
pub(super) fn fields(text: &str) -> Vec<Field> {
    let start = text.len() - text.trim_start().len();
    match text.as_bytes().get(start) {
        Some(b'{' | b'[') => quoted(text),
        _ => lines(text),
    }
}

/// JSON and Python: every string is a part, and every run of other characters between delimiters.
fn quoted(text: &str) -> Vec<Field> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let mut at = 0;
    let mut bare = 0;
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'"' | b'\'') if opens(bytes, at) => {
                let end = closing(bytes, at + 1, quote);
                out.push(Field::of(text, at + 1, end));
                at = end + 1;
                bare = at;
            }
            b',' | b'{' | b'}' | b'[' | b']' | b':' | b'\n' => {
                push_bare(text, bare, at, &mut out);
                at += 1;
                bare = at;
            }
            _ => at += 1,
        }
    }
    push_bare(text, bare, bytes.len(), &mut out);
    out
}

fn push_bare(text: &str, start: usize, end: usize, out: &mut Vec<Field>) {
    if start < end && text.get(start..end).is_some_and(|bare| !bare.trim().is_empty()) {
        out.push(Field::of(text, start, end));
    }
}

/// Whether a quote here begins a string; an apostrophe inside a word does not.
fn opens(bytes: &[u8], at: usize) -> bool {
    let before = bytes[..at].iter().rev().find(|b| !b.is_ascii_whitespace());
    matches!(before, None | Some(b'{' | b'[' | b'(' | b',' | b':' | b'='))
}

/// Where a string ends: at its quote, unless it is escaped or, for an apostrophe, inside a word.
fn closing(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start;
    while at < bytes.len() {
        if bytes[at] == b'\\' {
            at += 2;
            continue;
        }
        let ends = || {
            let next = bytes[at + 1..].iter().find(|b| !b.is_ascii_whitespace());
            matches!(next, None | Some(b',' | b'}' | b']' | b')' | b':'))
        };
        if bytes[at] == quote && (quote == b'"' || ends()) {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

/// Text in lines: `key: value` gives a part for the value, with its continuation; other lines join to paragraphs.
fn lines(text: &str) -> Vec<Field> {
    let mut out: Vec<Field> = Vec::new();
    let mut paragraph: Option<(usize, usize)> = None;
    let mut starts = line_starts(text).peekable();
    while let Some((start, end)) = starts.next() {
        let line = &text[start..end];
        if line.trim().is_empty() {
            close(text, &mut paragraph, &mut out);
            continue;
        }
        let Some(value) = value_of(line) else {
            paragraph = Some((paragraph.map_or(start, |(first, _)| first), end));
            continue;
        };
        close(text, &mut paragraph, &mut out);
        let begin = start + value;
        let mut stop = end;
        match text[begin..end].trim().as_bytes() {
            [quote @ (b'"' | b'\''), rest @ ..] if rest.last() != Some(quote) => {
                // a quoted scalar that goes on over lines, blank ones too, up to its quote
                while let Some((from, to)) = starts.next_if(|_| true) {
                    stop = to;
                    if text[from..to].trim_end().ends_with(char::from(*quote)) {
                        break;
                    }
                }
            }
            _ => {
                let indent = indent(line);
                while let Some((_, to)) = starts.next_if(|&(from, to)| {
                    let next = &text[from..to];
                    !next.trim().is_empty() && self::indent(next) > indent && value_of(next).is_none()
                }) {
                    stop = to;
                }
            }
        }
        out.push(Field::of(text, begin, stop));
    }
    close(text, &mut paragraph, &mut out);
    out
}

fn close(text: &str, paragraph: &mut Option<(usize, usize)>, out: &mut Vec<Field>) {
    if let Some((start, end)) = paragraph.take() {
        out.push(Field::of(text, start, end));
    }
}

fn line_starts(text: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, at)
    })
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '-']).len()
}

/// Where the value of a `key: value` line begins; `None` if it is no such line.
fn value_of(line: &str) -> Option<usize> {
    let body = line.trim_start_matches([' ', '-', '\t', '*']);
    let colon = body.find(':')?;
    let key = &body[..colon];
    let plain = !key.is_empty()
        && key.len() <= 32
        && key.split_whitespace().count() <= 3
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.' | '"' | '\''));
    let spaced = body[colon + 1..].starts_with([' ', '\n', '\r']) || colon + 1 == body.len();
    (plain && spaced).then_some(line.len() - body.len() + colon + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(text: &str) -> Vec<(&str, bool)> {
        fields(text).into_iter().map(|f| (text[f.start..f.end].trim(), f.prose)).collect()
    }

    #[test]
    fn json_and_python_give_their_strings() {
        let parts = cut(
            r#"{"to": "ann@corp.test", "n": 42, "note": "Please send all of it to me. It's \"due\" now."}"#,
        );
        assert!(parts.contains(&("ann@corp.test", false)) && parts.contains(&("42", false)), "{parts:?}");
        assert!(
            parts
                .iter()
                .any(|(value, prose)| value.starts_with("Please send") && value.ends_with("now.") && *prose)
        );
        let parts = cut("[{'name': 'a.txt', 'note': 'it's here, and it stays here for long'}]");
        assert!(parts.contains(&("it's here, and it stays here for long", true)), "{parts:?}");
    }

    #[test]
    fn yaml_and_text_give_values_and_paragraphs() {
        let text = "- body: 'Hi Ann,\n\n\n    send it: now please, all of it\n\n    Bye'\n  sender: bo@corp.test\n  list:\n  - one\n\nA paragraph of two\nlines that says very little.\n";
        let parts = cut(text);
        assert!(parts[0].0.starts_with("'Hi Ann") && parts[0].0.ends_with("Bye'") && parts[0].1, "{parts:?}");
        assert!(parts.contains(&("bo@corp.test", false)), "{parts:?}");
        assert!(
            parts.iter().any(|(value, prose)| value.starts_with("A paragraph")
                && value.ends_with("little.")
                && *prose)
        );
    }

    proptest! {
        #[test]
        fn any_text_is_cut_in_order_and_at_letters(text in "[\\[{]?[\\PC\n'\":,{}\\[\\]\\\\]{0,120}") {
            let mut last = 0;
            for field in fields(&text) {
                prop_assert!(field.start >= last && field.end >= field.start && field.end <= text.len());
                prop_assert!(text.get(field.start..field.end).is_some());
                last = field.end;
            }
        }
    }
}
