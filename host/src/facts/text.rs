//! Facts that hold for any text: characters that carry meaning and cannot be seen, and claims of consent.

use serde_json::Value;

use super::leaves::{Held, Leaf};
use super::shown;
use crate::policy::Finding;

/// Words that claim a person's consent.
const CONSENT: &[&str] = &[
    "confirmed",
    "confirm",
    "confirmation",
    "force",
    "approved",
    "consent",
    "consented",
    "acknowledged",
    "acknowledge",
    "authorized",
    "authorised",
    "yes",
];
/// Words beside which they still do.
const FILLERS: &[&str] = &[
    "user",
    "is",
    "has",
    "by",
    "human",
    "explicit",
    "explicitly",
    "given",
    "auto",
    "pre",
    "already",
    "delete",
    "overwrite",
    "push",
    "i",
    "assume",
    "owner",
    "admin",
];
/// Names that mean the same and are not made of those words.
const WHOLE: &[&[&str]] = &[
    &["skip", "confirmation"],
    &["no", "confirm"],
    &["auto", "approve"],
    &["skip", "approval"],
    &["i", "understand"],
    &["bypass", "approval"],
];

/// An argument that says a person has agreed.
pub(super) fn consent(leaf: &Leaf<'_>, out: &mut Vec<Finding>) {
    let yes = match leaf.held {
        Held::Flag(flag) => flag,
        Held::Number(number) => number.as_i64() == Some(1),
        Held::Text(text) => {
            const YES: &[&str] = &["true", "yes", "y", "1", "on", "confirmed", "approved", "confirm", "ok"];
            YES.iter().any(|word| word.eq_ignore_ascii_case(text.trim()))
        }
        Held::Words(_) => false,
    };
    if !yes {
        return;
    }
    let is = |word: &String, list: &[&str]| list.contains(&word.as_str());
    let made_of = leaf.words.iter().any(|word| is(word, CONSENT))
        && leaf.words.iter().all(|word| is(word, CONSENT) || is(word, FILLERS));
    let whole = WHOLE.iter().any(|name| leaf.words.iter().map(String::as_str).eq(name.iter().copied()));
    if made_of || whole {
        let name = leaf.words.join("_");
        out.push(Finding::at(
            "consent-argument",
            leaf.path,
            format!("\"{name}\" claims consent; a script cannot give it"),
        ));
    }
}

/// Invisible tag characters, overridden reading direction, runs of joiners and selectors that spell something.
pub(super) fn hidden(leaf: &Leaf<'_>, value: &str, out: &mut Vec<Finding>) {
    if let Some(what) = hidden_in(value) {
        out.push(Finding::at("text-hidden-chars", leaf.path, format!("{what}: {}", shown(value))));
    }
}

/// What is hidden in a text, in words. Flags of regions, joined emoji and text in Arabic or Hebrew are not.
pub(super) fn hidden_in(value: &str) -> Option<&'static str> {
    if value.is_ascii() {
        return value.contains('\u{1b}').then_some("it holds a terminal's escape sequence");
    }
    let (mut in_flag, mut unseen, mut selectors) = (false, 0, 0);
    for c in value.chars() {
        match c {
            '\u{1f3f4}' => in_flag = true,
            '\u{e0000}'..='\u{e007f}' if !in_flag => return Some("it holds invisible tag characters"),
            '\u{e007f}' => in_flag = false,
            '\u{e0000}'..='\u{e007e}' => {}
            '\u{202d}' | '\u{202e}' => return Some("it overrides the reading direction"),
            '\u{1b}' => return Some("it holds a terminal's escape sequence"),
            '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}' => unseen += 1,
            '\u{e0100}'..='\u{e01ef}' | '\u{fe00}'..='\u{fe0f}' => selectors += 1,
            _ => (in_flag, unseen, selectors) = (false, 0, 0),
        }
        if unseen >= 8 || selectors >= 4 {
            return Some("it holds a run of characters that cannot be seen");
        }
    }
    None
}

/// Every text under these keys of a schema, with its JSON pointer.
pub(super) fn schema_texts<'a>(schema: &'a Value, path: &str, out: &mut Vec<(String, &'a str)>) {
    match schema {
        Value::String(text) => out.push((path.to_owned(), text)),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                schema_texts(item, &format!("{path}/{index}"), out);
            }
        }
        Value::Object(fields) => {
            for (key, item) in fields {
                schema_texts(item, &format!("{path}/{}", postern_check::pointer_token(key)), out);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_found_and_what_people_write_is_not() {
        for bad in [
            "a\u{e0041}b",
            "x\u{202e}gpj.exe",
            "a\u{1b}[2J",
            "s\u{200b}\u{200c}\u{200b}\u{200c}\u{200b}\u{200c}\u{200b}\u{200c}",
        ] {
            assert!(hidden_in(bad).is_some(), "{bad:?}");
        }
        for fine in [
            "",
            "plain\ttext\n",
            "né",
            "👩‍👩‍👧‍👦",
            "❤️",
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "\u{202b}שלום\u{202c}",
            "می\u{200c}خواهم",
        ] {
            assert!(hidden_in(fine).is_none(), "{fine:?}");
        }
    }
}
