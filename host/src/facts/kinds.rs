//! What an argument is: told by its name, its schema and its tool.

use postern_check::key_words;
use serde_json::Value;

use super::leaves::{Held, Leaf};
use crate::upstream::ToolDefinition;

/// What is known of a tool by its names, its description and its hints.
pub(crate) struct ToolKind<'a> {
    tool: &'a ToolDefinition,
    /// Words of its own name.
    pub(crate) name: Vec<String>,
    database: bool,
    /// A database that is asked in SQL and nothing else.
    engine: bool,
    git: bool,
    shell: bool,
    fetches: bool,
}

const DATABASE: &[&str] = &[
    "sql",
    "sqlite",
    "sqlite3",
    "postgres",
    "postgresql",
    "pg",
    "psql",
    "mysql",
    "mariadb",
    "duckdb",
    "db",
    "database",
    "databases",
    "bigquery",
    "snowflake",
    "clickhouse",
    "redshift",
    "mssql",
    "oracle",
    "d1",
    "supabase",
    "warehouse",
    "trino",
    "presto",
    "databricks",
];
const ENGINES: &[&str] =
    &["sql", "sqlite", "sqlite3", "postgres", "postgresql", "psql", "mysql", "mariadb", "duckdb", "mssql"];
const SHELL: &[&str] = &[
    "shell",
    "bash",
    "zsh",
    "sh",
    "terminal",
    "exec",
    "execute",
    "command",
    "cmd",
    "powershell",
    "console",
    "process",
    "ssh",
];
const FETCHES: &[&str] = &[
    "fetch", "http", "https", "request", "browse", "browser", "navigate", "goto", "download", "webhook",
    "scrape", "crawl", "url", "curl", "web", "page", "proxy", "open",
];
const CHANGES: &[&str] = &[
    "write", "insert", "update", "delete", "create", "alter", "drop", "modify", "set", "execute", "exec",
    "edit", "add", "remove", "upsert", "put",
];

/// Whether any of the words is in the list.
fn any(words: &[String], list: &[&str]) -> bool {
    words.iter().any(|word| list.contains(&word.as_str()))
}

impl<'a> ToolKind<'a> {
    /// Of one tool.
    pub(crate) fn of(tool: &'a ToolDefinition) -> Self {
        let (name, server) = (key_words(&tool.name), key_words(&tool.server));
        let has = |list: &[&str]| any(&name, list) || any(&server, list);
        let queries = any(&name, &["query", "queries"]) && any(&name, &["read", "write", "run", "execute"]);
        Self {
            engine: (has(ENGINES) || (queries && any(&name, &["read", "write"])))
                && !any(&name, &["search", "find", "ask"]),
            database: has(DATABASE) || queries,
            git: has(&["git"]),
            shell: has(SHELL),
            fetches: has(FETCHES),
            tool,
            name,
        }
    }

    /// Whether it says of itself that it only reads.
    pub(crate) fn says_it_reads(&self) -> bool {
        if self.tool.annotations.read_only == Some(true) {
            return true;
        }
        let reads =
            any(&self.name, &["read", "readonly", "select", "list", "describe", "get", "show", "explain"]);
        if reads && !any(&self.name, CHANGES) {
            return true;
        }
        self.describes(&[
            "read-only",
            "read only",
            "readonly",
            "select quer",
            "select statement",
            "select sql",
        ]) && !self.describes(&["write", "insert", "update", "read-write", "read/write"])
    }

    fn describes(&self, any: &[&str]) -> bool {
        self.tool.description.as_deref().is_some_and(|text| any.iter().any(|part| mentions(text, part)))
    }
}

/// Whether a text holds a part, whatever the case of ASCII letters; `part` is in small letters.
pub(super) fn mentions(text: &str, part: &str) -> bool {
    text.as_bytes().windows(part.len()).any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
}

/// What one argument is. Several may hold.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Roles {
    /// Written for people, or the content of a file: what it speaks of is not done.
    pub(crate) prose: bool,
    /// SQL, as the schema or the name says.
    pub(crate) sql: bool,
    /// A query of a database tool; it may be SQL.
    pub(crate) sql_maybe: bool,
    /// A name in a database.
    pub(crate) sql_name: bool,
    /// A shell command.
    pub(crate) command: bool,
    /// An argument of a git tool.
    pub(crate) git: bool,
    /// An argument that is meant to hold options.
    pub(crate) options: bool,
    pub(crate) path: bool,
    pub(crate) url: bool,
    /// A host that the tool connects to.
    pub(crate) host: bool,
    pub(crate) mail: bool,
    pub(crate) subject: bool,
}

/// Names of what is written for people, or of a file's content.
pub(super) const PROSE: &[&str] = &[
    "body",
    "message",
    "text",
    "content",
    "contents",
    "description",
    "comment",
    "comments",
    "note",
    "notes",
    "summary",
    "title",
    "subject",
    "caption",
    "markdown",
    "html",
    "prompt",
    "instructions",
    "reason",
    "explanation",
    "thought",
    "observations",
    "reply",
    "bio",
    "review",
    "feedback",
    "memo",
    "details",
    "draft",
    "announcement",
    "post",
    "tweet",
    "paragraph",
    "sentence",
];
const COMMAND: &[&str] = &[
    "cmd",
    "cmdline",
    "command",
    "commands",
    "script",
    "shell",
    "bash",
    "argv",
    "exec",
    "run",
    "powershell",
];
const PATH: &[&str] = &[
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "filenames",
    "filepath",
    "dir",
    "directory",
    "directories",
    "folder",
    "folders",
    "cwd",
    "dirname",
    "workdir",
    "pathname",
    "attachment",
    "attachments",
];
const PATH_PERHAPS: &[&str] = &[
    "source",
    "destination",
    "src",
    "dest",
    "dst",
    "root",
    "from",
    "to",
    "target",
    "output",
    "input",
    "location",
];
const URL: &[&str] = &[
    "url", "urls", "uri", "uris", "href", "link", "links", "endpoint", "webhook", "callback", "baseurl",
    "website",
];
const MAIL: &[&str] = &[
    "to",
    "cc",
    "bcc",
    "recipient",
    "recipients",
    "email",
    "emails",
    "mail",
    "attendee",
    "attendees",
    "invitee",
    "invitees",
    "participants",
    "sender",
    "mailbox",
    "addressee",
];

impl Roles {
    /// Of one leaf of a call.
    pub(crate) fn of(kind: &ToolKind<'_>, leaf: &Leaf<'_>) -> Self {
        let is = |list: &[&str]| leaf.named(list);
        let format = leaf.schema.and_then(|schema| schema.get("format")).and_then(Value::as_str);
        let text = match leaf.held {
            Held::Text(text) => text.trim(),
            _ => "",
        };
        let last_is = |list: &[&str]| leaf.words.last().is_some_and(|word| list.contains(&word.as_str()));
        let mut roles = Self {
            command: is(COMMAND)
                || (kind.shell && is(&["input", "text", "code", "line", "args", "arguments", "data"])),
            url: is(URL) || matches!(format, Some("uri" | "url" | "iri" | "uri-reference")),
            host: is(&["host", "hostname"]) && kind.fetches,
            path: is(PATH),
            mail: is(MAIL) || format == Some("email"),
            subject: is(&["subject"]),
            options: is(&["args", "options", "flags", "argv", "arguments"]),
            ..Self::default()
        };
        // "sql_query" and "file_content": what a name ends in is what it is.
        roles.prose = last_is(PROSE) && !roles.command && !is(&["sql"]) && format.is_none();
        if is(PATH_PERHAPS) && text.starts_with(['/', '~', '.', '\\']) && !text.contains(' ') {
            roles.path = true;
        }
        roles.sql = is(&["sql"]) || (is(QUERY) && schema_says_sql(kind, leaf));
        roles.sql_maybe = !roles.sql && kind.database && is(QUERY) && begins_like_sql(text);
        if roles.sql || roles.sql_maybe {
            (roles.prose, roles.command) = (false, false);
        }
        let names = is(&["table", "tables", "column", "columns", "view", "index", "schema", "collection"]);
        let surely = is(&["table", "column"]) && is(&["name", "names"]);
        roles.sql_name = !roles.sql && (surely || (kind.database && names)) && !roles.prose;
        roles.git = kind.git
            && !roles.prose
            && !is(&["author", "message", "since", "until", "timestamp", "date", "time"]);
        if !roles.prose && !roles.url {
            roles.url = !roles.command && one_url(text);
        }
        roles
    }
}

const QUERY: &[&str] =
    &["query", "queries", "statement", "statements", "stmt", "q", "expression", "command", "script", "code"];

fn schema_says_sql(kind: &ToolKind<'_>, leaf: &Leaf<'_>) -> bool {
    let says = |text: &str| mentions(text, "sql ") || mentions(text, "sql.") || text.ends_with("SQL");
    let described = leaf.schema.and_then(|schema| schema.get("description")).and_then(Value::as_str);
    let written = described.is_some_and(|text| says(text) && !mentions(text, "natural language"));
    written
        || (leaf.named(&["query", "queries", "statement", "statements"])
            && (kind.engine || (kind.database && kind.describes(&["sql quer", "sql statement"]))))
}

/// Whether a text begins with a word that SQL statements begin with.
pub(super) fn begins_like_sql(text: &str) -> bool {
    const FIRST: &[&str] = &[
        "select", "with", "insert", "update", "delete", "drop", "create", "alter", "attach", "detach",
        "pragma", "truncate", "replace", "merge", "explain", "vacuum", "grant", "revoke", "copy", "begin",
        "values", "call", "exec", "execute", "reindex", "analyze", "set", "load", "rename", "do",
    ];
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '(' | ';' | '\u{feff}'));
    if text.starts_with("--") || text.starts_with("/*") {
        return true;
    }
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    FIRST.iter().any(|word| word.eq_ignore_ascii_case(&text[..end]))
}

/// Whether a whole text is one link with a scheme.
fn one_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let named = !scheme.is_empty()
        && scheme.len() <= 24
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c));
    let known = ["javascript", "data", "vbscript", "file"].iter().any(|s| s.eq_ignore_ascii_case(scheme));
    named && !text.contains(char::is_whitespace) && (rest.starts_with("//") || known)
}
