//! Whether a short piece of a link says something once it is decoded. Hashes, ids and signatures do not.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// Fewer bytes of plain text are not worth a secret way.
const LEAST: usize = 12;
/// The alphabet of base32, in small letters.
const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// What a piece says when it is decoded, if that is text.
pub(super) fn says(piece: &str) -> Option<String> {
    let plain = [hex, base64, base32].into_iter().find_map(|decode| {
        decode(piece).and_then(|bytes| String::from_utf8(bytes).ok()).filter(|text| is_text(text))
    })?;
    // Encoded twice is still encoded.
    Some(if plain.len() >= 20 { says(plain.trim()).unwrap_or(plain) } else { plain })
}

/// Whether decoded bytes were meant to be read.
fn is_text(text: &str) -> bool {
    let (mut letters, mut all) = (0_usize, 0_usize);
    for c in text.chars() {
        if (c.is_control() && !c.is_whitespace()) || c == '\u{fffd}' {
            return false;
        }
        all += 1;
        letters += usize::from(c.is_alphanumeric() || c == ' ');
    }
    text.len() >= LEAST && letters * 10 >= all * 7 && text.chars().any(char::is_alphabetic)
}

fn hex(piece: &str) -> Option<Vec<u8>> {
    let piece = piece.trim_start_matches("0x");
    if piece.len() % 2 == 1 || !piece.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|value| u8::try_from(value).ok());
    piece.as_bytes().chunks_exact(2).map(|pair| Some((digit(pair[0])? << 4) | digit(pair[1])?)).collect()
}

fn base64(piece: &str) -> Option<Vec<u8>> {
    let piece = piece.trim_end_matches('=');
    let mixed = piece.bytes().any(|byte| byte.is_ascii_uppercase())
        && piece.bytes().any(|byte| byte.is_ascii_lowercase());
    if !mixed {
        return None;
    }
    // A client may have turned the plus into a space.
    let piece = piece.replace(' ', "+");
    STANDARD_NO_PAD.decode(&piece).or_else(|_| URL_SAFE_NO_PAD.decode(&piece)).ok()
}

/// Base32 of either case, as names of hosts carry data.
fn base32(piece: &str) -> Option<Vec<u8>> {
    let piece = piece.trim_end_matches('=').to_ascii_lowercase();
    if !piece.bytes().any(|byte| byte.is_ascii_digit()) && piece.len() < 32 {
        return None;
    }
    let (mut bits, mut held, mut out) = (0_u32, 0_u32, Vec::with_capacity(piece.len() * 5 / 8));
    for byte in piece.bytes() {
        let value = BASE32.iter().position(|&one| one == byte)?;
        bits = ((bits & 0xff) << 5) | u32::try_from(value).ok()?;
        held += 5;
        if held >= 8 {
            held -= 8;
            out.push(u8::try_from((bits >> held) & 0xff).ok()?);
        }
    }
    Some(out)
}

/// Percent codes and plus signs undone; what is not valid stays as it is.
pub(super) fn unpercent(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let pair = (bytes[at] == b'%').then(|| bytes.get(at + 1..at + 3)).flatten();
        let code = pair
            .and_then(|pair| std::str::from_utf8(pair).ok())
            .and_then(|pair| u8::from_str_radix(pair, 16).ok());
        match code {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|fault| String::from_utf8_lossy(fault.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_says_nothing_is_left() {
        for piece in [
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "550e8400-e29b-41d4-a716-446655440000",
            "e83c5163316f89bfbde7d9ab23ca2e25604af290",
            "documentation",
            "getting-started-with-rust",
            "dQw4w9WgXcQ",
            "InternationalizationOfEverything",
            "20240101123045678901",
            "architecture-diagram-v2.png",
            "AKIAIOSFODNN7EXAMPLE",
            "",
        ] {
            assert_eq!(says(piece), None, "{piece}");
        }
    }

    proptest! {
        #[test]
        fn sentences_are_found_however_encoded(text in "[A-Z][a-z]{4,9} [a-z]{4,9} [a-z]{4,9} [a-z]{3,9}") {
            let hexed: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
            prop_assert_eq!(says(&hexed).unwrap(), text.clone());
            prop_assert_eq!(says(&STANDARD_NO_PAD.encode(&text)).unwrap(), text.clone());
            prop_assert!(says(&STANDARD_NO_PAD.encode(STANDARD_NO_PAD.encode(&text))).is_some());
        }

        #[test]
        fn any_text_can_be_given(text in "\\PC{0,80}") {
            let _ = says(&text);
            unpercent(&text);
        }
    }
}
