//! What a tool does, as far as its name and its hints tell. A name can only make a call look graver
//! than its hints say, never more harmless.

use postern_check::evidence::{Act, acts};
use postern_check::key_words;

use crate::upstream::ToolDefinition;

/// What is known of what a tool does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Acts {
    /// A trusted server says that it changes nothing.
    pub(crate) read_only: bool,
    /// Hints or name say that it changes something; `None` when nobody says, or nobody who can be believed.
    pub(crate) side_effects: Option<bool>,
    /// It sends something out, or does what cannot be taken back.
    pub(crate) outside: bool,
    /// The hints call it read-only and its name says otherwise.
    pub(crate) contradicted: bool,
}

impl Acts {
    /// Of this tool; `trusted` is its server.
    pub(crate) fn of(tool: &ToolDefinition, trusted: bool) -> Self {
        let hints = &tool.annotations;
        let named = acts_of(&tool.name);
        let reads = named.is_empty() || named.contains(&Act::Read);
        let makes = named.iter().any(|act| matches!(act, Act::Create | Act::Update));
        let goes_out = !reads
            && named.iter().any(|act| match act {
                Act::Pay | Act::Delete | Act::Publish => true,
                // One writes a letter and a file, adds a member and a note.
                Act::Send | Act::Share => !makes || names_people(tool),
                _ => false,
            });
        let changes = !reads && named.iter().any(|act| *act != Act::Run);
        let hinted = match (hints.read_only, hints.destructive) {
            (Some(true), _) if trusted => Some(false),
            (Some(false), _) | (None, Some(true)) => Some(true),
            _ => None,
        };
        let read_only = hinted == Some(false);
        Self {
            read_only,
            side_effects: if changes && !read_only { Some(true) } else { hinted },
            outside: !read_only
                && (goes_out || (hints.destructive == Some(true) && hints.read_only != Some(true))),
            contradicted: !trusted && hints.read_only == Some(true) && changes,
        }
    }
}

/// What a tool's name says that it does. What stands first is the verb; further on, most words that can be
/// one are things: `json_text`, `list_sent_mails`.
fn acts_of(name: &str) -> Vec<Act> {
    const VERBS: &[&str] =
        &["send", "pay", "transfer", "publish", "invite", "forward", "submit", "update", "create"];
    let words = key_words(name);
    let verb = words.iter().enumerate().find(|(at, word)| {
        let mut found = acts(word).peekable();
        let any = found.peek().is_some();
        any && (*at == 0 || VERBS.contains(&word.as_str()) || found.any(|act| act == Act::Delete))
    });
    verb.map(|(_, word)| acts(word).collect()).unwrap_or_default()
}

/// Whether the tool or an argument is called like somebody who gets something.
fn names_people(tool: &ToolDefinition) -> bool {
    const PEOPLE: &[&str] = &[
        "to",
        "cc",
        "bcc",
        "recipient",
        "recipients",
        "email",
        "emails",
        "user",
        "users",
        "member",
        "members",
        "channel",
        "channels",
        "attendees",
        "participants",
        "invitees",
        "phone",
        "contact",
    ];
    let properties = tool.input_schema["properties"].as_object();
    let arguments = properties.into_iter().flat_map(|properties| properties.keys());
    let mut names = std::iter::once(&tool.name).chain(arguments);
    names.any(|name| key_words(name).iter().any(|word| PEOPLE.contains(&word.as_str())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::upstream::Annotations;

    fn of(name: &str, read_only: Option<bool>, destructive: Option<bool>, trusted: bool) -> Acts {
        let hints = Annotations { read_only, destructive, ..Annotations::default() };
        Acts::of(&ToolDefinition::new("s", name, json!({})).with_annotations(hints), trusted)
    }

    #[test]
    fn an_untrusted_server_cannot_call_itself_harmless() {
        assert_eq!(of("t", Some(true), None, false).side_effects, None);
        assert!(!of("t", Some(true), None, false).read_only);
        assert_eq!(of("t", Some(true), None, true).side_effects, Some(false));
        assert!(of("t", Some(true), None, true).read_only);
        assert_eq!(of("t", Some(false), None, true).side_effects, Some(true));
        assert_eq!(of("t", None, Some(true), false).side_effects, Some(true));
        assert_eq!(of("t", None, None, true).side_effects, None);
    }

    #[test]
    fn a_name_only_makes_it_graver() {
        for name in
            ["send_mail", "delete_all", "purge_all", "transferMoney", "pay", "invite_user", "post_message"]
        {
            let acts = of(name, Some(true), None, false);
            assert!(acts.outside && acts.contradicted && acts.side_effects == Some(true), "{name}: {acts:?}");
        }
        for name in
            ["list_sent_mails", "get_payment", "read_file", "search", "status", "json_text", "user_post"]
        {
            let acts = of(name, Some(true), None, false);
            assert!(!acts.outside && !acts.contradicted, "{name}: {acts:?}");
        }
        for name in ["create_note", "write_file", "add_note"] {
            let written = of(name, None, None, false);
            assert!(!written.outside && written.side_effects == Some(true), "{name}: {written:?}");
        }
        let schema = json!({"properties": {"channel": {"type": "string"}}});
        assert!(Acts::of(&ToolDefinition::new("s", "write_message", schema), false).outside);
    }
}
