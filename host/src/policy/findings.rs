//! The closed list of what steps may find out about a call. A policy that names another code is
//! refused when it is loaded. What a finding means for the call stands in the policy, not here.

/// One kind of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The stable name that policies, reasons and records use.
    pub code: &'static str,
    /// The step that finds it: `origin`, `flow`, `facts`, `constraint`, `pin` or `other`.
    pub step: &'static str,
    /// What it says, for people.
    pub meaning: &'static str,
}

const fn kind(step: &'static str, code: &'static str, meaning: &'static str) -> Kind {
    Kind { code, step, meaning }
}

/// Every kind, by step.
pub const ALL: &[Kind] = &[
    kind(
        "origin",
        "authority-order",
        "an argument that decides whom or what the call reaches stands only where an untrusted result gives orders",
    ),
    kind(
        "origin",
        "authority-prose",
        "such an argument comes from untrusted free text that the request did not point at",
    ),
    kind("origin", "authority-look-alike", "such an argument only looks like a value that the user named"),
    kind("origin", "authority-unknown", "such an argument stands nowhere: computed, reworded or made up"),
    kind("origin", "domain-outside", "a recipient's domain is not among those that the rules name"),
    kind("origin", "from-planted", "a value comes from a result that gives orders to whoever reads it"),
    kind(
        "flow",
        "private-to-public",
        "private data would go where others read it; labels of the configuration say so",
    ),
    kind(
        "flow",
        "private-outward",
        "data that is probably private would go to a place that the user did not choose",
    ),
    kind("flow", "secret-to-public", "a secret would go where others read it"),
    kind("flow", "secret-outward", "a secret would leave for a place that the user did not choose"),
    kind("facts", "sql-write", "the statement changes data"),
    kind("facts", "sql-destroys", "the statement deletes, drops or empties"),
    kind("facts", "sql-beyond-tool", "the statement does more than the tool is for"),
    kind("facts", "sql-attach", "the statement attaches another database or loads code"),
    kind("facts", "sql-several", "there are several statements in one argument"),
    kind("facts", "sql-in-name", "what should be a name is a piece of SQL"),
    kind("facts", "sql-function", "the statement calls a function that reaches files, the network or code"),
    kind("facts", "sql-pragma", "the statement reads or sets options of the database"),
    kind("facts", "sql-unreadable", "the statement cannot be parsed"),
    kind("facts", "shell-destroys", "the command deletes or overwrites without asking"),
    kind("facts", "shell-outside", "the command reaches the network or runs what it fetches"),
    kind("facts", "git-option", "what should be a revision or a path is an option of git"),
    kind("facts", "url-inside", "the URL leads to this machine, its network or its cloud's metadata"),
    kind("facts", "url-inside-named", "the same, and the user named that host"),
    kind("facts", "url-scheme", "the URL is of a scheme that is no web address"),
    kind("facts", "url-credentials", "the URL carries a user name or a password"),
    kind("facts", "url-carries-data", "the URL carries data that was read earlier"),
    kind("facts", "path-escapes", "the path leads out of the folders that the tool may use"),
    kind("facts", "path-sensitive", "the path is one that holds keys, passwords or settings of accounts"),
    kind("facts", "path-hidden-chars", "the path holds characters that cannot be seen"),
    kind("facts", "mail-header", "the address carries further headers of a mail"),
    kind("facts", "mail-look-alike", "the address only looks like one that is known"),
    kind("facts", "text-hidden-chars", "a text holds characters that cannot be seen"),
    kind("facts", "consent-argument", "the script itself says that somebody has agreed"),
    kind("constraint", "constraint-broken", "the call breaks a rule of the user"),
    kind("constraint", "constraint-budget", "the call goes over what a rule of the user allows in all"),
    kind("constraint", "constraint-confirm", "a rule of the user wants to be asked about such calls"),
    kind(
        "constraint",
        "constraint-conflict",
        "a rule of the user and the present request say opposite things",
    ),
    kind("pin", "definition-changed", "the tool's definition is another one than when it was pinned"),
    kind(
        "pin",
        "definition-planted",
        "the tool's description gives orders that have nothing to do with the tool",
    ),
    kind("pin", "definition-asks-secrets", "the tool's description wants keys, passwords or private files"),
    kind(
        "other",
        "hint-contradicted",
        "an untrusted server calls a tool read-only whose name says that it changes or destroys",
    ),
    kind("other", "context-incomplete", "the run has read more than could be looked at"),
    kind("other", "check-unfit", "a part of the call did not fit into what the guard reads"),
    kind("other", "guard-absent", "no guard model was asked: the embedder's choice"),
    kind(
        "other",
        "guard-unavailable",
        "the guard model could not be asked, and the configuration lets reads of trusted servers pass",
    ),
];

/// The code as it stands in the list; `None` if it does not.
pub fn known(code: &str) -> Option<&'static str> {
    ALL.iter().find(|kind| kind.code == code).map(|kind| kind.code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_there_once_and_look_alike() {
        for (at, kind) in ALL.iter().enumerate() {
            assert!(ALL[at + 1..].iter().all(|other| other.code != kind.code), "{}", kind.code);
            assert!(kind.code.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", kind.code);
            assert!(!kind.meaning.is_empty());
        }
        assert_eq!(known("sql-write"), Some("sql-write"));
        assert_eq!(known("sql_write"), None);
    }
}
