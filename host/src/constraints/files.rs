//! Whether a call names a file, in any argument and any dress: as a path, a revision of git, a glob, a word of a command.

use wildmatch::WildMatch;

use super::call::{Text, View};
use crate::facts::{plain_path, straight};

/// How a text stands to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Names {
    /// It may print it, with everything else.
    Perhaps,
    Yes,
}

/// Whether a text names a file or folder, or something in it. `file` is straight.
pub(super) fn names(view: &View<'_>, text: &Text, file: &str) -> Option<Names> {
    if text.prose {
        return None;
    }
    let wanted: Vec<String> =
        file.to_lowercase().split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    let name = wanted.last()?;
    let value = plain_path(&text.value);
    let mut found = None;
    // A name with spaces is one token too.
    for token in std::iter::once(value.as_str()).chain(tokens(&value)) {
        let unescaped = token.replace('\\', "");
        for form in [token, unescaped.as_str()] {
            found = found.max(one(view, text, form, &wanted, name));
            if found == Some(Names::Yes) {
                return found;
            }
        }
    }
    found
}

fn tokens(value: &str) -> impl Iterator<Item = &str> {
    value
        .split(|c: char| {
            c.is_whitespace()
                || matches!(
                    c,
                    ':' | '='
                        | ','
                        | ';'
                        | '"'
                        | '\''
                        | '`'
                        | '('
                        | ')'
                        | '|'
                        | '<'
                        | '>'
                        | '&'
                        | '@'
                        | '$'
                        | '^'
                )
        })
        .filter(|token| !token.is_empty())
}

fn one(view: &View<'_>, text: &Text, token: &str, wanted: &[String], name: &str) -> Option<Names> {
    let straightened = straight(token).to_lowercase();
    let parts: Vec<&str> = straightened.split('/').filter(|part| !part.is_empty()).collect();
    if parts.windows(wanted.len()).any(|window| window.iter().zip(wanted).all(|(a, b)| a == b)) {
        return Some(Names::Yes);
    }
    let last = parts.last()?;
    if last.contains(['*', '?', '[', '{']) {
        return glob(view, last, name);
    }
    // A search for part of its name finds it.
    let searches = text.named(&["pattern", "glob", "search", "include", "filename", "name"]);
    let by_name =
        view.tool.iter().any(|word| matches!(word.as_str(), "file" | "files" | "fs" | "glob" | "find"));
    (searches && by_name && last.chars().count() >= 3 && name.contains(last)).then_some(Names::Yes)
}

/// Whether a glob takes a name in: by letters of its own, or by taking in everything.
fn glob(view: &View<'_>, glob: &str, name: &str) -> Option<Names> {
    let alternatives = braces(glob);
    let matches = alternatives.iter().any(|one| WildMatch::new(&classes(one)).matches(name));
    if !matches {
        return None;
    }
    if glob.chars().any(char::is_alphanumeric) {
        return Some(Names::Yes);
    }
    // Everything: it matters where contents are shown.
    const SHOWS: &[&str] = &[
        "read", "cat", "grep", "show", "print", "content", "contents", "command", "run", "exec", "shell",
        "dump", "archive", "zip", "upload",
    ];
    view.tool.iter().any(|word| SHOWS.contains(&word.as_str())).then_some(Names::Perhaps)
}

/// `*.{yml,yaml}` is `*.yml` and `*.yaml`.
fn braces(glob: &str) -> Vec<String> {
    match (glob.find('{'), glob.find('}')) {
        (Some(open), Some(close)) if open < close => glob[open + 1..close]
            .split(',')
            .map(|part| format!("{}{part}{}", &glob[..open], &glob[close + 1..]))
            .collect(),
        _ => vec![glob.to_owned()],
    }
}

/// `[a-z]` is taken for any letter.
fn classes(glob: &str) -> String {
    let mut out = String::new();
    let mut rest = glob;
    while let Some(open) = rest.find('[') {
        out.push_str(&rest[..open]);
        match rest[open..].find(']') {
            Some(close) => {
                out.push('?');
                rest = &rest[open + close + 1..];
            }
            None => {
                rest = &rest[open + 1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// How a path stands to folders it should be under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Under {
    Yes,
    No,
    /// One is relative and the other absolute.
    Unknown,
}

/// Whether a path is under one of the folders, which are straight.
pub(super) fn under(path: &str, folders: &[String]) -> Under {
    let path = straight(&plain_path(path.trim()));
    let mut unknown = false;
    for folder in folders {
        if is_absolute(&path) != is_absolute(folder) {
            unknown = true;
            continue;
        }
        let inside =
            path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if inside {
            return Under::Yes;
        }
    }
    // What climbs is under nothing that is relative.
    if unknown && !path.starts_with("..") { Under::Unknown } else { Under::No }
}

fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '~'])
}
