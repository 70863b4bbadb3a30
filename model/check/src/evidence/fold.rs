//! The form in which texts are compared, with a way back to the original.
//!
//! Folding undoes what changes nothing for a reader: case, width and style of letters, accents, letters of
//! other scripts that look like Latin ones, characters that cannot be seen, escapes of JSON and Python, runs
//! of white space. It must never be used for what is sent, only for what is compared.

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

/// A folded text that remembers where each byte came from.
#[derive(Clone, Debug, Default)]
pub struct Folded {
    text: String,
    /// For every byte of `text`, the byte of the original it came from.
    origins: Vec<u32>,
    /// How many characters could not be seen.
    hidden: usize,
    /// ASCII text written in Unicode's invisible tag characters.
    tags: String,
    /// Letters of another script inside a word of Latin letters.
    confusable: usize,
}

impl Folded {
    /// Folds a text of at most 4 GiB; what is beyond is left out.
    pub fn of(text: &str) -> Self {
        let mut out = Self { text: String::with_capacity(text.len()), ..Self::default() };
        out.origins.reserve(text.len());
        let mut chars = text.char_indices().peekable();
        let mut latin_before = false;
        while let Some((at, mut c)) = chars.next() {
            let Ok(from) = u32::try_from(at) else { break };
            if c == '\\' {
                c = match unescape(&text[at..]) {
                    Some((meant, length)) => {
                        while chars.next_if(|&(next, _)| next < at + length).is_some() {}
                        meant
                    }
                    None => continue,
                };
            }
            if c.is_ascii() {
                out.push_ascii(c, from);
                latin_before = c.is_ascii_alphabetic();
                continue;
            }
            if is_hidden(c) {
                out.hidden += 1;
                if let Some(tag) = tag(c) {
                    out.tags.push(tag);
                }
                continue;
            }
            if c.is_whitespace() {
                out.push_ascii(' ', from);
                continue;
            }
            if let Some(latin) = looks_like(c) {
                let beside = latin_before || chars.peek().is_some_and(|(_, next)| next.is_ascii_alphabetic());
                out.confusable += usize::from(beside);
                out.push(latin, from);
                latin_before = beside;
                continue;
            }
            decompose_compatible(c, |part| {
                if part.is_ascii() {
                    out.push_ascii(part, from);
                } else if !is_combining_mark(part) {
                    part.to_lowercase().for_each(|small| out.push(looks_like(small).unwrap_or(small), from));
                }
            });
        }
        out
    }

    fn push_ascii(&mut self, c: char, from: u32) {
        let last = self.text.as_bytes().last();
        match c {
            '\n' | '\r' => {
                if last == Some(&b' ') {
                    self.text.pop();
                    self.origins.pop();
                }
                if !matches!(self.text.as_bytes().last(), None | Some(b'\n')) {
                    self.push('\n', from);
                }
            }
            _ if c.is_ascii_whitespace() || c.is_ascii_control() => {
                if !matches!(last, None | Some(b' ' | b'\n')) {
                    self.push(' ', from);
                }
            }
            _ => self.push(c.to_ascii_lowercase(), from),
        }
    }

    fn push(&mut self, c: char, from: u32) {
        self.text.push(c);
        self.origins.resize(self.text.len(), from);
    }

    /// The folded text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many characters of the original could not be seen.
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    /// ASCII text that was spelled in invisible tag characters.
    pub fn tags(&self) -> &str {
        &self.tags
    }

    /// How many letters of other scripts stood beside Latin letters they cannot be told from.
    pub fn confusable(&self) -> usize {
        self.confusable
    }

    /// The place in the original of a place in the folded text, both in bytes.
    pub fn original(&self, at: usize) -> Option<usize> {
        self.origins.get(at).map(|&from| from as usize)
    }

    /// The place in the folded text of a place in the original, both in bytes.
    pub fn folded(&self, original: usize) -> usize {
        self.origins.partition_point(|&from| (from as usize) < original)
    }
}

/// The folded form of a text alone.
pub fn fold(text: &str) -> String {
    Folded::of(text).text
}

/// What a backslash escape at the start of `text` means, and its length in bytes. `None`: the backslash
/// itself is dropped and what follows it is taken as it is.
fn unescape(text: &str) -> Option<(char, usize)> {
    let rest = text.as_bytes().get(1..)?;
    match rest.first()? {
        b'n' | b'r' => Some(('\n', 2)),
        b't' => Some((' ', 2)),
        b'u' => {
            let hex = text.get(2..6)?;
            Some((char::from_u32(u32::from_str_radix(hex, 16).ok()?)?, 6))
        }
        b'x' => {
            let hex = text.get(2..4)?;
            Some((char::from(u8::from_str_radix(hex, 16).ok()?), 4))
        }
        _ => None,
    }
}

/// Characters that take no room: joiners, marks of direction, variation selectors, tags.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

fn tag(c: char) -> Option<char> {
    let code = u32::from(c).checked_sub(0xe0000)?;
    char::from_u32(code).filter(|c| matches!(c, ' '..='~'))
}

/// The Latin letter that a Cyrillic or Greek one cannot be told from (Unicode TR 39, confusables, the common part).
fn looks_like(c: char) -> Option<char> {
    Some(match c {
        'а' | 'А' | 'α' | 'Α' => 'a',
        'В' | 'Β' => 'b',
        'с' | 'С' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'Е' | 'ε' | 'Ε' => 'e',
        'һ' | 'Н' | 'Η' => 'h',
        'і' | 'І' | 'ι' | 'Ι' | 'ı' => 'i',
        'ј' | 'Ј' => 'j',
        'К' | 'κ' | 'Κ' => 'k',
        'М' | 'Μ' => 'm',
        'Ν' => 'n',
        'о' | 'О' | 'ο' | 'Ο' => 'o',
        'р' | 'Р' | 'ρ' | 'Ρ' => 'p',
        'ѕ' | 'Ѕ' => 's',
        'Т' | 'Τ' => 't',
        'υ' => 'u',
        'ν' => 'v',
        'х' | 'Х' | 'χ' | 'Χ' => 'x',
        'у' | 'У' | 'Υ' => 'y',
        'Ζ' => 'z',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_a_reader_does_not_see_is_gone() {
        assert_eq!(fold("Évé\u{200b}@Bad\u{ad}.example"), "eve@bad.example");
        assert_eq!(fold("ｅｖｅ＠ｂａｄ"), "eve@bad");
        assert_eq!(fold("раypal"), "paypal");
        assert_eq!(fold("a \\n\\u0062  c\r\n\n d"), "a\nb c\nd");
        let folded = Folded::of("pаy\u{200b}\u{e0068}\u{e0069}");
        assert_eq!((folded.text(), folded.hidden(), folded.tags(), folded.confusable()), ("pay", 3, "hi", 1));
    }

    #[test]
    fn places_can_be_found_again() {
        let text = "Hello,   Wörld\\nbye";
        let folded = Folded::of(text);
        let at = folded.text().find("bye").unwrap_or_default();
        assert_eq!(folded.original(at), text.find("bye"));
        assert_eq!(folded.folded(text.find("bye").unwrap_or_default()), at);
    }

    proptest! {
        #[test]
        fn any_text_can_be_folded_and_folding_again_changes_nothing_but_escapes(text in "\\PC{0,200}") {
            let once = Folded::of(&text);
            prop_assert_eq!(once.text().len(), once.origins.len());
            prop_assert!(once.origins.is_sorted());
            if !once.text().contains('\\') {
                let twice = fold(once.text());
                prop_assert_eq!(twice.trim_end(), once.text().trim_end());
            }
        }
    }
}
