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
        // What a tool reads may be named for what others did: `list_sent_mails` lists.
        let first = key_words(&tool.name).iter().find_map(|word| {
            let mut found = acts(word).peekable();
            found.peek()?;
            Some(found.collect::<Vec<_>>())
        });
        let named = first.unwrap_or_default();
        let reads = named.is_empty() || named.contains(&Act::Read);
        let goes_out = !reads
            && named
                .iter()
                .any(|act| matches!(act, Act::Send | Act::Publish | Act::Pay | Act::Delete | Act::Share));
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
        for name in ["list_sent_mails", "get_payment", "read_file", "search", "status"] {
            let acts = of(name, Some(true), None, false);
            assert!(!acts.outside && !acts.contradicted, "{name}: {acts:?}");
        }
        let written = of("create_note", None, None, false);
        assert!(!written.outside && written.side_effects == Some(true));
    }
}
