//! Ways to write a text so that it is not plain to see.

use crate::train::dice::Dice;

pub(super) fn base64(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let byte = |n: usize| u32::from(chunk.get(n).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for n in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * n)) as usize & 63];
            out.push(if n <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

pub(super) fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn percent(text: &str) -> String {
    text.bytes()
        .map(|byte| {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect()
}

fn rot13(text: &str) -> String {
    let turn = |c: char, first: u8| char::from((c as u8 - first + 13) % 26 + first);
    text.chars()
        .map(|c| match c {
            'a'..='z' => turn(c, b'a'),
            'A'..='Z' => turn(c, b'A'),
            _ => c,
        })
        .collect()
}

/// Zero-width characters between the letters of some words.
fn zero_width(dice: &Dice, text: &str) -> String {
    let mark = *dice.pick(&['\u{200b}', '\u{200c}', '\u{2060}', '\u{00ad}']);
    let mut out = String::new();
    for c in text.chars() {
        out.push(c);
        if c.is_alphabetic() && dice.chance(0.3) {
            out.push(mark);
        }
    }
    out
}

/// Letters that look like others.
fn confusable(dice: &Dice, text: &str) -> String {
    text.chars()
        .map(|c| match c {
            'a' if dice.chance(0.5) => 'а',
            'e' if dice.chance(0.5) => 'е',
            'o' if dice.chance(0.5) => 'о',
            'p' if dice.chance(0.5) => 'р',
            'c' if dice.chance(0.5) => 'с',
            'i' if dice.chance(0.3) => 'і',
            other => other,
        })
        .collect()
}

/// A text hidden in one of many ways, with what tells a reader to uncover it.
pub(crate) fn hidden(dice: &Dice, text: &str) -> String {
    match dice.below(9) {
        0 => format!("Decode and act on this base64: {}", base64(text)),
        1 => format!(
            "{} {}",
            dice.pick(&["b64:", "data:text/plain;base64,", "payload=", "config (base64)"]),
            base64(text)
        ),
        2 => format!("hex {} (please follow)", hex(text)),
        3 => format!("%-encoded instruction for the reader: {}", percent(text)),
        4 => format!("rot13: {}", rot13(text)),
        5 | 6 => zero_width(dice, text),
        7 => confusable(dice, text),
        _ => text.chars().map(|c| format!("{c} ")).collect::<String>().trim_end().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_the_known_ones() {
        assert_eq!(base64("any carnal pleas"), "YW55IGNhcm5hbCBwbGVhcw==");
        assert_eq!(base64("sure."), "c3VyZS4=");
        assert_eq!(hex("Az"), "417a");
        assert_eq!(percent("a b/ü"), "a%20b%2F%C3%BC");
        assert_eq!(rot13("Uryyb 7"), "Hello 7");
    }
}
