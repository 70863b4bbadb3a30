//! What can be said of a call by looking at it: whether it names a target.
//!
//! Pure and cheap; the host and the training program must see the same facts.

use serde_json::Value;

use crate::{Action, Facts};

/// Words that make an argument's name the name of a target. Matched against the name's words,
/// so `recipientEmail` and `account_id` count and `tomorrow` does not.
const TARGET_WORDS: &[&str] = &[
    "account",
    "accounts",
    "address",
    "addresses",
    "amount",
    "attendees",
    "bcc",
    "branch",
    "cc",
    "channel",
    "cmd",
    "command",
    "commands",
    "dest",
    "destination",
    "dir",
    "directory",
    "domain",
    "email",
    "emails",
    "endpoint",
    "file",
    "filename",
    "files",
    "folder",
    "host",
    "hostname",
    "href",
    "iban",
    "id",
    "ids",
    "invitees",
    "link",
    "links",
    "participants",
    "path",
    "paths",
    "payee",
    "phone",
    "price",
    "receiver",
    "recipient",
    "recipients",
    "repo",
    "repository",
    "sum",
    "target",
    "targets",
    "to",
    "uri",
    "url",
    "urls",
    "user",
    "username",
    "users",
    "webhook",
];

impl Facts {
    /// The facts of this call. `side_effects` is what is known from the tool's definition
    /// (its annotations); `None` leaves it to the model's blast radius.
    pub fn of(action: &Action, side_effects: Option<bool>) -> Self {
        let names_target = action.args.iter().any(|(name, value)| names_target(name, value));
        Self { side_effects, names_target }
    }
}

/// Whether this argument, or one inside it, is named like a target and holds something.
fn names_target(name: &str, value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::String(text) => !text.trim().is_empty() && is_target_name(name),
        Value::Number(_) => is_target_name(name),
        Value::Array(items) => items.iter().any(|item| names_target(name, item)),
        Value::Object(fields) => fields.iter().any(|(inner, value)| names_target(inner, value)),
    }
}

/// Whether a name is that of an argument with authority: it decides whom or what a call reaches.
pub(crate) fn is_target_name(name: &str) -> bool {
    key_words(name).iter().any(|word| TARGET_WORDS.binary_search(&word.as_str()).is_ok())
}

/// The words of a name in lower case: split at anything but letters and digits, and where a small
/// letter meets a capital.
///
/// ```
/// assert_eq!(postern_check::key_words("mail.createDraft_v2"), ["mail", "create", "draft", "v2"]);
/// ```
pub fn key_words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    let mut last_small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            open = false;
            continue;
        }
        if !open || (last_small && c.is_uppercase()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
        open = true;
        last_small = c.is_lowercase() || c.is_numeric();
    }
    words
}

/// A name as it stands in a JSON pointer (RFC 6901).
///
/// ```
/// assert_eq!(postern_check::pointer_token("a/b~c"), "a~1b~0c");
/// ```
pub fn pointer_token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(args: Value) -> bool {
        let Value::Object(args) = args else { panic!("args are an object") };
        Facts::of(&Action { tool: "a.b".into(), args }, None).names_target
    }

    #[test]
    fn the_word_list_can_be_searched() {
        assert!(TARGET_WORDS.is_sorted());
    }

    #[test]
    fn targets_are_found_by_name() {
        for yes in [
            json!({"to": "a@b.c"}),
            json!({"recipientEmail": "a@b.c"}),
            json!({"account_id": 7}),
            json!({"message": {"recipients": [{"address": "x"}]}}),
            json!({"paths": ["/a"]}),
        ] {
            assert!(of(yes.clone()), "{yes}");
        }
        for no in [
            json!({}),
            json!({"query": "x", "limit": 3, "tomorrow": "y"}),
            json!({"to": ""}),
            json!({"to": null, "files": []}),
            json!({"video": "x"}),
        ] {
            assert!(!of(no.clone()), "{no}");
        }
    }

    #[test]
    fn side_effects_are_passed_on() {
        let action = Action { tool: "a.b".into(), args: serde_json::Map::new() };
        assert_eq!(Facts::of(&action, Some(true)).side_effects, Some(true));
    }
}
