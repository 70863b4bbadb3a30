//! What parsers find in the arguments of a call, and in the definition of a tool.
//!
//! Pure and deterministic: text in, [`Finding`]s out. Nothing here decides, asks a model, touches a file or resolves
//! a name. What an argument is (SQL, a command, a path, a URL, a revision, a mailbox) is told by its name, its
//! schema and its tool, never by how its text looks alone: a letter that speaks of `rm -rf` is a letter.

mod carry;
mod definition;
mod encoded;
mod git;
mod hosts;
mod kinds;
mod leaves;
mod mail;
mod net;
mod paths;
mod programs;
mod sensitive;
mod shell;
mod shell_words;
mod sql;
mod text;

use serde_json::{Map, Value};

use crate::policy::Finding;
use crate::upstream::ToolDefinition;

pub use definition::flags_definition;
pub use paths::straight;

pub(crate) use leaves::{Held, Leaf, each_leaf};
pub(crate) use paths::plain as plain_path;

use kinds::{Roles, ToolKind};

/// Every code that [`facts`] and [`flags_definition`] give, and what it states. Closed: a policy may rely on it.
pub const CODES: &[(&str, &str)] = &[
    ("consent-argument", "an argument claims the consent that only a person can give"),
    (
        "definition-asks-secrets",
        "the tool's definition asks for what it does not need: keys, the conversation",
    ),
    ("definition-planted", "the tool's definition gives orders to whoever reads it, or hides text"),
    ("git-option", "a revision, path or remote is read by git as an option or runs a program"),
    ("mail-header", "a line break in a mail's recipient or subject, as if to add a header"),
    ("mail-look-alike", "a mail address that only looks like another"),
    ("path-escapes", "a path climbs above where it starts"),
    ("path-hidden-chars", "a path holds characters that cannot be seen"),
    ("path-sensitive", "a path leads to keys, passwords or what runs by itself"),
    ("shell-destroys", "a command destroys, or runs what it has fetched"),
    ("shell-outside", "a command sends something to another machine"),
    ("sql-attach", "SQL opens or writes another database file"),
    ("sql-beyond-tool", "SQL changes something in a tool that says it only reads"),
    ("sql-destroys", "SQL deletes, drops or truncates, or updates every row"),
    ("sql-function", "SQL calls what reaches beyond the database: files, programs, extensions"),
    ("sql-in-name", "a name of a table or column holds more than a name"),
    ("sql-pragma", "SQL sets a pragma, or reads one that holds a secret"),
    ("sql-several", "SQL holds several statements"),
    ("sql-unreadable", "what should be SQL cannot be read as such"),
    ("sql-write", "SQL inserts, updates, creates or sets something"),
    ("text-hidden-chars", "a text holds characters that carry meaning and cannot be seen"),
    ("url-carries-data", "a link carries encoded text or a long opaque value"),
    ("url-credentials", "a link holds a user's name or password"),
    ("url-inside", "a link leads into this machine or a private network"),
    ("url-inside-named", "a link leads into this machine, and the user's own request names the place"),
    ("url-scheme", "a link's scheme reads files or runs code"),
];

/// What the parsers find in a call's arguments. `intent` is the user's own request.
///
/// ```
/// use postern::{facts::facts, upstream::ToolDefinition};
/// let schema = serde_json::json!({"type": "object", "properties": {"query": {"type": "string"}}});
/// let tool = ToolDefinition::new("sqlite", "read_query", schema);
/// let arguments = serde_json::json!({"query": "WITH d AS (SELECT 1) DELETE FROM customers"});
/// let found = facts(&tool, arguments.as_object().unwrap(), "Count the customers");
/// assert!(found.iter().any(|finding| finding.code == "sql-destroys"));
/// ```
pub fn facts(tool: &ToolDefinition, arguments: &Map<String, Value>, intent: &str) -> Vec<Finding> {
    let kind = ToolKind::of(tool);
    let mut out = Vec::new();
    each_leaf(&tool.input_schema, arguments, &mut |leaf| {
        let roles = Roles::of(&kind, leaf);
        match leaf.held {
            Held::Flag(_) | Held::Number(_) => text::consent(leaf, &mut out),
            Held::Words(words) => {
                if roles.command {
                    shell::argv(leaf, words, &mut out);
                }
            }
            Held::Text(value) => {
                one(&kind, leaf, roles, value, intent, &mut out);
            }
        }
    });
    out.sort_by(|a, b| (&a.path, a.code).cmp(&(&b.path, b.code)));
    out.dedup_by(|a, b| a.code == b.code && a.path == b.path);
    out
}

fn one(
    kind: &ToolKind<'_>,
    leaf: &Leaf<'_>,
    roles: Roles,
    value: &str,
    intent: &str,
    out: &mut Vec<Finding>,
) {
    text::consent(leaf, out);
    text::hidden(leaf, value, out);
    if value.contains("//") {
        carry::check(leaf, value, out);
    }
    if roles.mail || roles.subject {
        mail::check(leaf, roles, value, out);
    }
    if roles.prose {
        return;
    }
    if roles.sql || roles.sql_maybe {
        sql::check(kind, leaf, value, roles.sql, out);
    }
    if roles.sql_name {
        sql::check_name(leaf, value, out);
    }
    if roles.command && !leaf.in_words {
        shell::check(leaf, value, out);
    }
    if roles.git {
        git::check(leaf, roles, value, out);
    }
    if !roles.command && !roles.sql {
        net::check(leaf, roles, value, intent, out);
    }
    if roles.path {
        paths::check(leaf, value, out);
    }
}

/// What a command or SQL in an argument does, for who asks only that.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Deeds {
    /// It takes away.
    pub(crate) destroys: bool,
    /// It changes something.
    pub(crate) changes: bool,
}

/// What an argument does if it is a command or SQL. Told by its name alone.
pub(crate) fn deeds(leaf: &Leaf<'_>, value: &str) -> Deeds {
    let mut deeds = Deeds::default();
    if leaf.named(&["sql", "query", "statement"]) && kinds::begins_like_sql(value.trim()) {
        let does = sql::read(value);
        // What cannot be read as SQL is a question in plain words, unless the name says otherwise.
        if !does.unreadable || leaf.named(&["sql"]) {
            deeds.destroys |= does.destroys;
            deeds.changes |= does.changes();
        }
    }
    if leaf.named(&["cmd", "command", "commands", "shell", "bash"]) {
        let mut found = Vec::new();
        shell::check(leaf, value, &mut found);
        deeds.destroys |= found.iter().any(|finding| finding.code == "shell-destroys");
        deeds.changes |= found.iter().any(|finding| finding.code == "shell-outside");
    }
    deeds
}

/// A value for a message: short, and with nothing in it that moves a cursor.
pub(crate) fn shown(value: &str) -> String {
    const MOST: usize = 60;
    let mut text: String = value.chars().take(MOST).collect();
    if text.len() < value.len() {
        text.push_str("...");
    }
    crate::visible::visible(&text)
}

#[cfg(test)]
mod tests;
