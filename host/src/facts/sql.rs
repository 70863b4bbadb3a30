//! What a text of SQL does, whatever its case, comments and dialect.
//!
//! Read as tokens in each of the dialects that may run it, and the worst reading counts: what is a comment to one
//! database is a statement to another. That it is SQL at all is the parser's word.

use sqlparser::dialect::{Dialect, GenericDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer, Whitespace};

use super::kinds::{ToolKind, begins_like_sql};
use super::leaves::Leaf;
use super::shown;
use crate::policy::Finding;

/// What a text of SQL does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Does {
    pub(super) statements: usize,
    pub(super) writes: bool,
    pub(super) destroys: bool,
    pub(super) attaches: bool,
    pub(super) pragma: bool,
    /// A function that reaches beyond the database.
    pub(super) function: Option<String>,
    pub(super) unreadable: bool,
}

impl Does {
    /// Whether it does more than read.
    pub(super) fn changes(&self) -> bool {
        self.writes || self.destroys || self.attaches || self.pragma || self.function.is_some()
    }

    fn or(self, other: Self) -> Self {
        Self {
            statements: self.statements.max(other.statements),
            writes: self.writes || other.writes,
            destroys: self.destroys || other.destroys,
            attaches: self.attaches || other.attaches,
            pragma: self.pragma || other.pragma,
            function: self.function.or(other.function),
            unreadable: self.unreadable || other.unreadable,
        }
    }
}

/// Finds what a SQL argument does. `surely`: the argument is meant to hold SQL, so that anything else is unreadable.
pub(super) fn check(kind: &ToolKind<'_>, leaf: &Leaf<'_>, value: &str, surely: bool, out: &mut Vec<Finding>) {
    if value.trim().is_empty() {
        return;
    }
    let does = read(value);
    let mut add =
        |code, what: &str| out.push(Finding::at(code, leaf.path, format!("{what}: {}", shown(value))));
    if does.destroys {
        add("sql-destroys", "SQL that deletes or overwrites");
    } else if does.writes {
        add("sql-write", "SQL that changes something");
    }
    if does.attaches {
        add("sql-attach", "SQL that opens or writes another database file");
    }
    if does.pragma {
        add("sql-pragma", "SQL that sets a pragma or reads a secret one");
    }
    if let Some(function) = &does.function {
        add("sql-function", &format!("SQL that reaches beyond the database by {}", shown(function)));
    }
    if does.statements > 1 {
        add("sql-several", "several SQL statements");
    }
    if does.unreadable && (surely || begins_like_sql(value.trim())) {
        add("sql-unreadable", "this cannot be read as SQL");
    }
    if does.changes() && kind.says_it_reads() {
        add("sql-beyond-tool", "the tool says that it only reads, and this SQL does more");
    }
}

/// A name of a table or column that holds more than a name.
pub(super) fn check_name(leaf: &Leaf<'_>, value: &str, out: &mut Vec<Finding>) {
    if !is_name(value.trim()) {
        out.push(Finding::at(
            "sql-in-name",
            leaf.path,
            format!("this is more than a name: {}", shown(value)),
        ));
    }
}

/// Whether a text is one name, perhaps with dots, perhaps quoted as a whole.
fn is_name(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "union", "select", "where", "drop", "delete", "insert", "update", "attach", "pragma", "from",
        "having", "or",
    ];
    let quoted = |part: &str, open: char, close: char| {
        part.len() > 2
            && part.starts_with(open)
            && part.ends_with(close)
            && !part[1..part.len() - 1].contains([open, close, ';'])
    };
    let one = |part: &str| {
        quoted(part, '"', '"')
            || quoted(part, '`', '`')
            || quoted(part, '[', ']')
            || !part.contains(['\'', '"', '`', ';', '(', ')', '[', ']', '\\', '=', '\0', '\n', '\r', '#'])
    };
    let spaced = name.contains(char::is_whitespace)
        && name.split_whitespace().any(|word| WORDS.iter().any(|other| other.eq_ignore_ascii_case(word)));
    !name.contains("--") && !name.contains("/*") && !spaced && name.split('.').all(one)
}

/// Reads a text of SQL.
pub(super) fn read(text: &str) -> Does {
    // SQLite takes a byte order mark for a space, wherever it stands.
    let text = text.replace('\u{feff}', " ");
    let text = text.as_str();
    let mysql = text.contains('\\') || text.contains("/*!") || text.contains('#');
    let dialects: [(&dyn Dialect, bool); 3] =
        [(&SQLiteDialect {}, true), (&PostgreSqlDialect {}, true), (&MySqlDialect {}, mysql)];
    let mut does = Does::default();
    let (mut read_once, mut parse) = (false, false);
    for (dialect, wanted) in dialects {
        let Some(tokens) = wanted.then(|| Tokenizer::new(dialect, text).tokenize().ok()).flatten() else {
            continue;
        };
        read_once = true;
        let (one, needs) = of_tokens(&tokens);
        does = does.or(one);
        parse |= needs;
    }
    let nul = text.contains('\0');
    does.unreadable |= nul || !read_once || does.statements == 0 || (parse && !parses(text));
    does
}

/// Whether any dialect's parser takes it.
fn parses(text: &str) -> bool {
    let one = |text: &str| {
        let dialects: [&dyn Dialect; 4] =
            [&SQLiteDialect {}, &PostgreSqlDialect {}, &GenericDialect {}, &MySqlDialect {}];
        dialects.into_iter().any(|dialect| Parser::parse_sql(dialect, text).is_ok())
    };
    // Python drivers mark a value's place so.
    one(text) || (text.contains("%s") && one(&text.replace("%s", "?")))
}

/// What tokens do, and whether a parser should look at them too.
fn of_tokens(tokens: &[Token]) -> (Does, bool) {
    let mut does = Does::default();
    let mut parse = false;
    let mut segments = tokens
        .split(|token| *token == Token::SemiColon)
        .map(|part| part.iter().filter(|token| !is_space(token)).collect::<Vec<_>>())
        .filter(|part| !part.is_empty());
    while let Some(part) = segments.next() {
        does.statements += 1;
        parse |= statement(&part, &mut does);
        // The body of a trigger or procedure is one statement with semicolons inside.
        if head(&part, 0).is_some_and(|word| word == "create")
            && part.iter().any(|t| word(t) == Some("BEGIN"))
        {
            for inner in segments.by_ref() {
                statement(&inner, &mut does);
                if head(&inner, 0).is_some_and(|word| word == "end") {
                    break;
                }
            }
            return (Does { statements: does.statements + segments.count(), ..does }, false);
        }
    }
    (does, parse)
}

fn is_space(token: &Token) -> bool {
    match token {
        Token::Whitespace(Whitespace::Space | Whitespace::Newline | Whitespace::Tab) => true,
        Token::Whitespace(_) | Token::EOF => true,
        // What a tokenizer could not place, such as a byte order mark.
        Token::Char(c) => c.is_whitespace() || *c == '\u{feff}',
        _ => false,
    }
}

/// An unquoted word, in capitals as it is compared.
fn word(token: &Token) -> Option<&'static str> {
    let Token::Word(word) = token else { return None };
    if word.quote_style.is_some() {
        return None;
    }
    const KNOWN: &[&str] =
        &["BEGIN", "WHERE", "INTO", "OUTFILE", "DUMPFILE", "PROGRAM", "DROP", "FROM", "TO"];
    KNOWN.iter().find(|known| known.eq_ignore_ascii_case(&word.value)).copied()
}

fn head(part: &[&Token], at: usize) -> Option<String> {
    match part.get(at) {
        Some(Token::Word(word)) if word.quote_style.is_none() => Some(word.value.to_ascii_lowercase()),
        _ => None,
    }
}

/// Adds what one statement does. Gives whether a parser should look at it.
fn statement(part: &[&Token], does: &mut Does) -> bool {
    let mut start = 0;
    // EXPLAIN ANALYZE runs what it explains.
    while head(part, start)
        .is_some_and(|word| matches!(word.as_str(), "explain" | "query" | "plan" | "analyze" | "verbose"))
        && start + 1 < part.len()
        && (start == 0 || head(part, 0).is_some_and(|word| word == "explain"))
    {
        start += 1;
    }
    let first = head(part, start).unwrap_or_default();
    verb(&first, part, start, does);
    let with = first == "with";
    let mut depth = 0_usize;
    for at in start..part.len() {
        match part[at] {
            Token::LParen => {
                if let Some(inner) = head(part, at + 1) {
                    nested_verb(&inner, part, at + 1, does);
                }
                depth += 1;
            }
            Token::RParen => {
                depth = depth.saturating_sub(1);
                if let Some(next) = head(part, at + 1).filter(|_| depth == 0 && with) {
                    nested_verb(&next, part, at + 1, does);
                }
            }
            Token::Word(name) => {
                let calls = part.get(at + 1) == Some(&&Token::LParen);
                if calls && reaches_beyond(&name.value) {
                    does.function.get_or_insert_with(|| name.value.clone());
                }
                let before = at.checked_sub(1).and_then(|before| head(part, before));
                if before.is_some_and(|word| matches!(word.as_str(), "as" | "then" | "do"))
                    && name.quote_style.is_none()
                {
                    nested_verb(&name.value.to_ascii_lowercase(), part, at, does);
                }
                match word(part[at]) {
                    Some("INTO") if matches!(first.as_str(), "select" | "with" | "values" | "from") => {
                        does.writes = true;
                        if matches!(part.get(at + 1).and_then(|t| word(t)), Some("OUTFILE" | "DUMPFILE")) {
                            does.function.get_or_insert_with(|| "INTO OUTFILE".into());
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    !matches!(
        first.as_str(),
        "pragma"
            | "vacuum"
            | "attach"
            | "detach"
            | "reindex"
            | "analyze"
            | "begin"
            | "end"
            | "commit"
            | "rollback"
            | "savepoint"
            | "release"
            | "load"
            | "install"
            | "exec"
            | "execute"
            | "call"
            | "do"
            | "show"
            | "describe"
            | "desc"
            | "explain"
            | "use"
            | "go"
            | "copy"
            | "kill"
            | "backup"
            | "restore"
            | "shutdown"
    )
}

/// A verb where a common table expression or a subquery may hold a statement.
fn nested_verb(verb_: &str, part: &[&Token], at: usize, does: &mut Does) {
    // `replace(` is a function; `(update)` may name a column.
    let statement_like = match verb_ {
        "insert" | "replace" | "merge" => {
            head(part, at + 1).is_some_and(|next| next == "into" || next == "or")
        }
        "delete" => head(part, at + 1).is_some_and(|next| next == "from"),
        "update" => matches!(part.get(at + 1), Some(Token::Word(_))),
        _ => false,
    };
    if statement_like {
        verb(verb_, part, at, does);
    }
}

fn verb(verb: &str, part: &[&Token], at: usize, does: &mut Does) {
    let rest = &part[(at + 1).min(part.len())..];
    let has = |wanted: &str| rest.iter().any(|token| word(token) == Some(wanted));
    match verb {
        "delete" | "drop" | "truncate" | "purge" | "shutdown" | "restore" => does.destroys = true,
        "update" => {
            does.writes = true;
            does.destroys |= !where_follows(rest);
        }
        "alter" => {
            does.writes = true;
            does.destroys |= has("DROP");
        }
        "attach" | "detach" => does.attaches = true,
        "vacuum" => {
            does.writes = true;
            does.attaches |= has("INTO");
        }
        "backup" => does.attaches = true,
        "pragma" => does.pragma |= pragma(rest),
        "copy" => {
            does.writes = true;
            let file = rest.iter().any(|token| matches!(token, Token::SingleQuotedString(_)));
            if has("PROGRAM") || file {
                does.function.get_or_insert_with(|| "COPY".into());
            }
        }
        "load" | "install" | "import" | "exec" | "execute" | "call" | "do" => {
            does.writes = true;
            if matches!(verb, "load" | "install" | "import") || rest.iter().any(|t| runs_programs(t)) {
                does.function.get_or_insert_with(|| verb.to_ascii_uppercase());
            }
        }
        "insert" | "replace" | "merge" | "upsert" | "create" | "grant" | "revoke" | "comment" | "set"
        | "reset" | "lock" | "reindex" | "refresh" | "cluster" | "rename" | "optimize" | "notify"
        | "security" | "prepare" | "kill" | "deny" | "discard" | "put" | "unload" | "export" | "undrop"
        | "flush" => does.writes = true,
        _ => {}
    }
}

/// Whether a WHERE stands at the depth of the statement itself, before it ends.
fn where_follows(rest: &[&Token]) -> bool {
    let mut depth = 0_i32;
    for token in rest {
        match token {
            Token::LParen => depth += 1,
            Token::RParen if depth == 0 => return false,
            Token::RParen => depth -= 1,
            _ if depth == 0 && word(token) == Some("WHERE") => return true,
            _ => {}
        }
    }
    false
}

fn runs_programs(token: &Token) -> bool {
    matches!(token, Token::Word(word) if reaches_beyond(&word.value))
}

/// Whether a pragma sets something, or reads a secret.
fn pragma(rest: &[&Token]) -> bool {
    const ASKS: &[&str] = &[
        "table_info",
        "table_xinfo",
        "table_list",
        "index_list",
        "index_info",
        "index_xinfo",
        "foreign_key_list",
        "foreign_key_check",
        "integrity_check",
        "quick_check",
        "show_tables",
        "database_list",
    ];
    const SECRET: &[&str] =
        &["key", "rekey", "hexkey", "hexrekey", "textkey", "temp_store_directory", "data_store_directory"];
    let names: Vec<String> = rest
        .iter()
        .take_while(|token| matches!(token, Token::Word(_) | Token::Period))
        .filter_map(|token| match token {
            Token::Word(word) => Some(word.value.to_ascii_lowercase()),
            _ => None,
        })
        .collect();
    let Some(name) = names.last() else { return true };
    let sets = rest.iter().any(|token| matches!(token, Token::Eq | Token::LParen));
    let equals = rest.iter().any(|token| matches!(token, Token::Eq));
    SECRET.contains(&name.as_str()) || equals || (sets && !ASKS.contains(&name.as_str()))
}

/// Functions that read or write files, run programs, open connections, load code or stall.
fn reaches_beyond(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "benchmark",
        "dblink",
        "dblink_connect",
        "dblink_exec",
        "edit",
        "eval",
        "fts3_tokenizer",
        "fileio_write",
        "load_extension",
        "load_file",
        "lo_export",
        "lo_from_bytea",
        "lo_import",
        "lo_put",
        "lsdir",
        "fsdir",
        "opendatasource",
        "openrowset",
        "pg_cancel_backend",
        "pg_execute_server_program",
        "pg_file_write",
        "pg_logdir_ls",
        "pg_ls_dir",
        "pg_ls_logdir",
        "pg_ls_waldir",
        "pg_read_binary_file",
        "pg_read_file",
        "pg_reload_conf",
        "pg_sleep",
        "pg_sleep_for",
        "pg_stat_file",
        "pg_terminate_backend",
        "pg_write_file",
        "query_to_xml",
        "read_blob",
        "read_text",
        "readfile",
        "set_config",
        "shell",
        "sleep",
        "sqlite_dbpage",
        "sys_eval",
        "sys_exec",
        "system",
        "writefile",
        "xp_cmdshell",
        "xp_dirtree",
        "xp_regread",
        "sp_oacreate",
        "sp_configure",
        "zipfile",
    ];
    let name = name.to_ascii_lowercase();
    NAMES.contains(&name.as_str()) || name.starts_with("utl_") || name.starts_with("dbms_")
}

#[cfg(test)]
mod tests;
