//! What encoded text says: base64, hex, percent, HTML entities, rot13 of what was taken for words.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use regex::Regex;

/// A stretch of text that was encoded.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Decoded {
    /// Where it stands in the original, in bytes.
    pub start: usize,
    /// How it was encoded.
    pub form: &'static str,
    /// What it says.
    pub text: String,
}

static BASE64: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[A-Za-z0-9+/_-]{16,}").expect("a constant pattern; the tests use it"));
static HEX: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?:[0-9a-fA-F]{2}[ :]?){8,}").expect("a constant pattern; the tests use it")
});
static PERCENT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:[\w.~+-]*%[0-9a-fA-F]{2}[\w.~+-]*){2,}").expect("a constant pattern; the tests use it")
});
static ENTITIES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:&#x?[0-9a-fA-F]{2,6};){4,}").expect("a constant pattern; the tests use it")
});

/// Gives the bytes of a stretch, if it is what it looked like.
type Decoder = fn(&str) -> Option<Vec<u8>>;

/// Most stretches of one text that are decoded.
const MOST: usize = 16;
/// Longest stretch that is decoded, in bytes.
const LONGEST: usize = 8 << 10;
/// Encoded text inside encoded text is followed this deep.
const DEPTH: usize = 2;

/// The encoded stretches of a text that decode to text.
pub fn decode(text: &str) -> Vec<Decoded> {
    let mut out = Vec::new();
    decode_into(text, 0, DEPTH, &mut out);
    out
}

fn decode_into(text: &str, base: usize, depth: usize, out: &mut Vec<Decoded>) {
    if depth == 0 {
        return;
    }
    let forms: [(&'static str, &Regex, Decoder); 4] = [
        ("hex", &HEX, hex),
        ("base64", &BASE64, base64),
        ("percent", &PERCENT, percent),
        ("entities", &ENTITIES, entities),
    ];
    for (form, regex, bytes) in forms {
        for found in regex.find_iter(text) {
            if out.len() >= MOST {
                return;
            }
            let stretch = &found.as_str()[..found.as_str().floor_char_boundary(LONGEST)];
            let Some(plain) = bytes(stretch).and_then(|bytes| String::from_utf8(bytes).ok()) else {
                continue;
            };
            if !is_text(&plain) || plain == stretch {
                continue;
            }
            let start = base + found.start();
            decode_into(&plain, start, depth - 1, out);
            out.push(Decoded { start, form, text: plain });
        }
    }
}

/// Whether decoded bytes were meant to be read: letters, mostly, and no control characters. Of a dozen bytes
/// that mean nothing, hardly ever all are printable: then half of them need be letters, as in JSON or HTML.
fn is_text(plain: &str) -> bool {
    let (mut letters, mut all) = (0_usize, 0_usize);
    let printable = plain.len() >= 12 && plain.bytes().all(|b| (b' '..=b'~').contains(&b) || b == b'\n');
    for c in plain.chars() {
        if c.is_control() && !c.is_whitespace() {
            return false;
        }
        all += 1;
        letters += usize::from(c.is_alphanumeric() || matches!(c, ' ' | '@' | '.' | '/' | ',' | ':' | '-'));
    }
    all >= 6 && letters * 10 >= all * if printable { 5 } else { 8 }
}

fn base64(text: &str) -> Option<Vec<u8>> {
    let mixed = text.bytes().any(|b| b.is_ascii_uppercase()) && text.bytes().any(|b| b.is_ascii_lowercase());
    if !mixed {
        return None;
    }
    // A stretch may have swallowed a letter more than was encoded.
    let whole = text.len() - usize::from(text.len() % 4 == 1);
    let text = &text[..whole];
    STANDARD_NO_PAD.decode(text).or_else(|_| URL_SAFE_NO_PAD.decode(text)).ok()
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|value| value as u8);
    digits.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

fn percent(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'%' => {
                let pair = text.get(at + 1..at + 3)?;
                out.push(u8::from_str_radix(pair, 16).ok()?);
                at += 3;
            }
            b'+' => {
                out.push(b' ');
                at += 1;
            }
            other => {
                out.push(other);
                at += 1;
            }
        }
    }
    Some(out)
}

fn entities(text: &str) -> Option<Vec<u8>> {
    let mut out = String::new();
    for entity in text.split(';').filter(|part| !part.is_empty()) {
        let digits = entity.strip_prefix("&#")?;
        let code = match digits.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => digits.parse().ok()?,
        };
        out.push(char::from_u32(code)?);
    }
    Some(out.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plain(text: &str) -> Vec<String> {
        decode(text).into_iter().map(|decoded| decoded.text).collect()
    }

    #[test]
    fn encoded_text_is_read() {
        let secret = "Send it to eve@bad.example";
        let hexed: String = secret.bytes().map(|b| format!("{b:02x}")).collect();
        let percented: String = secret.bytes().map(|b| format!("%{b:02X}")).collect();
        let entitled: String = secret.bytes().map(|b| format!("&#{b};")).collect();
        for text in [STANDARD_NO_PAD.encode(secret), hexed, percented, entitled] {
            assert!(plain(&format!("see {text} there")).iter().any(|found| found == secret), "{text}");
        }
        let json = r#"[{"id":1,"to":"ann@x.test"},{"id":2}]"#;
        assert_eq!(plain(&STANDARD_NO_PAD.encode(json)), [json]);
        let twice = STANDARD_NO_PAD.encode(STANDARD_NO_PAD.encode(secret));
        assert!(plain(&twice).iter().any(|found| found == secret));
    }

    #[test]
    fn what_is_no_text_stays() {
        assert!(plain("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08").is_empty());
        assert!(plain("InternationalizationOfEverything and plain words").is_empty());
        assert!(plain("https://corp.test/a?b=1&c=2").is_empty());
    }

    proptest! {
        #[test]
        fn any_text_can_be_given(text in "\\PC{0,120}") {
            for found in decode(&text) {
                prop_assert!(found.start <= text.len());
            }
        }

        #[test]
        fn base64_of_words_is_always_found(text in "[A-Z][a-z]{4,9} [a-z]{4,9} [a-z]{4,9}@[a-z]{3,9}\\.test") {
            let encoded = STANDARD_NO_PAD.encode(&text);
            prop_assert!(plain(&encoded).contains(&text), "{encoded}");
        }
    }
}
