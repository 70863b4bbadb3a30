//! What a tool's name says of its effect. A prior for the model, never a decision.

use postern_check::{BlastRadius, key_words};

const IRREVERSIBLE: &[&str] = &[
    "book",
    "buy",
    "cancel",
    "checkout",
    "delete",
    "destroy",
    "drop",
    "erase",
    "exchange",
    "format",
    "grant",
    "kill",
    "liquidate",
    "order",
    "pay",
    "payment",
    "purchase",
    "purge",
    "refund",
    "remove",
    "reserve",
    "reset",
    "revoke",
    "rm",
    "shutdown",
    "terminate",
    "trade",
    "transfer",
    "unlock",
    "wipe",
    "wire",
    "withdraw",
];
const SENDING: &[&str] = &[
    "call", "comment", "dial", "email", "forward", "invite", "message", "notify", "post", "publish", "push",
    "put", "reply", "send", "share", "sms", "submit", "tweet", "upload", "webhook",
];
const WRITING: &[&str] = &[
    "add", "append", "assign", "change", "create", "draft", "edit", "insert", "mkdir", "modify", "move",
    "rename", "save", "schedule", "set", "touch", "update", "write",
];
const READING: &[&str] = &[
    "browse", "cat", "check", "count", "describe", "diff", "fetch", "find", "get", "grep", "head", "list",
    "lookup", "ls", "navigate", "open", "query", "read", "retrieve", "search", "show", "stat", "status",
    "tail", "view", "wc",
];
const COMPUTING: &[&str] = &["calculate", "compute", "convert", "estimate", "sort", "think", "validate"];

/// The effect that a tool of this name most likely has; `None` if the name does not say.
pub(crate) fn effect(tool: &str) -> Option<BlastRadius> {
    // The server's name often holds a noun that would mislead: mail.create_draft sends nothing.
    let own = tool.rsplit(['.', '/']).next().unwrap_or(tool);
    let words = key_words(own);
    // Names begin with their verb as a rule, so the first word that says something decides.
    words
        .iter()
        .find_map(|word| of_word(word))
        .or_else(|| key_words(tool).iter().find_map(|word| of_word(word)))
}

/// The effect that a verb speaks of.
fn of_word(word: &str) -> Option<BlastRadius> {
    [
        (READING, BlastRadius::Read),
        (IRREVERSIBLE, BlastRadius::Irreversible),
        (SENDING, BlastRadius::ExternalSend),
        (WRITING, BlastRadius::Write),
        (COMPUTING, BlastRadius::None),
    ]
    .into_iter()
    .find_map(|(list, effect)| list.binary_search(&word).is_ok().then_some(effect))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_can_be_searched() {
        for list in [IRREVERSIBLE, SENDING, WRITING, READING, COMPUTING] {
            assert!(list.is_sorted(), "{list:?}");
        }
    }

    #[test]
    fn names_speak() {
        for (tool, expected) in [
            ("crm.list_orders", Some(BlastRadius::Read)),
            ("mail.create_draft", Some(BlastRadius::Write)),
            ("http.post", Some(BlastRadius::ExternalSend)),
            ("bank.sendMoney", Some(BlastRadius::ExternalSend)),
            ("GmailDeleteEmail", Some(BlastRadius::Irreversible)),
            ("x.frobnicate", None),
        ] {
            assert_eq!(effect(tool), expected, "{tool}");
        }
    }
}
