//! Where in a text something stands that nobody could read as it is: base64, hex, percent, entities, invisible
//! characters. Only looked for when the whole is known to hold such a thing.

use postern_check::evidence::{Decoded, Source, Trust, decode};

use super::{HIDDEN, planted_in};

/// The stretches of a text that give orders once they are decoded; all of it, if that cannot be told apart.
pub(super) fn planted(text: &str) -> Vec<(usize, usize)> {
    let mut out: Vec<(usize, usize)> = decode(text)
        .iter()
        .filter(|decoded| planted_in(&Source::of("", Trust::Untrusted, &decoded.text), HIDDEN))
        .filter_map(|decoded| stretch(text, decoded))
        .collect();
    if out.is_empty() {
        let source = Source::of("", Trust::Untrusted, text);
        let hidden = source.orders().iter().any(|order| {
            source.is_decoded(order.start) && super::is_planted(source.strongest(order), HIDDEN)
        });
        out.extend(hidden.then_some((0, text.len())));
    }
    out
}

/// Where something encoded stands. None if it was encoded within something else.
fn stretch(text: &str, decoded: &Decoded) -> Option<(usize, usize)> {
    let rest = text.get(decoded.start..)?;
    let part = |c: char| match decoded.form {
        "hex" => c.is_ascii_hexdigit() || c == ' ' || c == ':',
        _ => !c.is_whitespace() && !"\"'<>".contains(c),
    };
    let length = rest.find(|c| !part(c)).unwrap_or(rest.len());
    let again = decode(&rest[..length]);
    again
        .iter()
        .any(|found| found.start == 0 && found.text == decoded.text)
        .then_some((decoded.start, decoded.start + length))
}
