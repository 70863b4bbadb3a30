//! Policy text as text: where its statements and string literals stand, so that what is wrong can be
//! shown in the file. What statements mean is Cedar's business.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::{Error, Result};

/// What a policy text without a file is called in messages.
const BUILTIN: &str = "default.cedar (built in)";
/// The longest policy file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// One policy text and where it is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file; for the default policy a name that is no file's.
    pub path: PathBuf,
    /// Cedar.
    pub text: String,
}

impl Source {
    /// The default policy.
    pub fn builtin() -> Self {
        Self { path: BUILTIN.into(), text: include_str!("default.cedar").into() }
    }

    /// Whether this is the default policy.
    pub fn is_builtin(&self) -> bool {
        self.path == Path::new(BUILTIN)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`Error::Policy`] if it cannot be read, is no UTF-8 or longer than 1 MiB.
    pub fn read(path: &Path) -> Result<Self> {
        let fault = |message: String| Error::Policy {
            path: path.to_owned(),
            line: 1,
            column: 1,
            message,
            excerpt: String::new(),
            hint: Some("`postern policy show` prints a policy to start from".into()),
        };
        let size = std::fs::metadata(path).map_err(|e| fault(format!("cannot be read: {e}")))?.len();
        if size > MAX_BYTES {
            return Err(fault(format!("is longer than {MAX_BYTES} bytes")));
        }
        let text = std::fs::read_to_string(path).map_err(|e| fault(format!("cannot be read: {e}")))?;
        Ok(Self { path: path.to_owned(), text })
    }

    /// What is wrong at this byte, as an error that shows the line.
    pub(super) fn error(&self, fault: Fault) -> Error {
        let (line, column) = self.place(fault.offset);
        let excerpt = self.text.lines().nth(line - 1).unwrap_or_default().trim_end().to_owned();
        Error::Policy {
            path: self.path.clone(),
            line,
            column,
            message: fault.message,
            excerpt,
            hint: fault.hint,
        }
    }

    /// Line and column of a byte, both from 1.
    pub(super) fn place(&self, offset: usize) -> (usize, usize) {
        let mut end = offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &self.text[..end];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
    }
}

/// SHA-256 over the texts, in hex: the version of a policy that is put together from them.
pub(super) fn version(sources: &[Source]) -> String {
    let mut digest = Sha256::new();
    for source in sources {
        // The length keeps two texts from reading like one other.
        digest.update((source.text.len() as u64).to_le_bytes());
        digest.update(source.text.as_bytes());
    }
    crate::sandbox::hex(&digest.finalize())
}

/// Something wrong at one place of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// Bytes from the text's beginning.
    pub(super) offset: usize,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl Fault {
    pub(super) fn new(offset: usize, message: impl Into<String>) -> Self {
        Self { offset, message: message.into(), hint: None }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The names that may have been meant, else all of them if there are few.
    pub(super) fn near<'a>(self, wanted: &str, known: impl Iterator<Item = &'a str> + Clone) -> Self {
        let near = crate::upstream::near(wanted, known.clone());
        let all: Vec<&str> = known.take(13).collect();
        match (near.is_empty(), all.len()) {
            (false, _) => self.hint(format!("did you mean {}?", near.join(", "))),
            (true, 0) => self.hint("there is none"),
            (true, 1..=12) => self.hint(format!("there is: {}", all.join(", "))),
            (true, _) => self,
        }
    }
}

/// One statement: from its first character to its semicolon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Statement<'a> {
    /// Bytes from the text's beginning.
    pub(super) start: usize,
    pub(super) text: &'a str,
}

/// The statements in order. What is left at the end without a semicolon is one too.
pub(super) fn statements(text: &str) -> Vec<Statement<'_>> {
    let mut found = Vec::new();
    let mut start = None;
    for (at, token) in tokens(text) {
        let begin = *start.get_or_insert(at);
        if token == Token::Other(';') {
            found.push(Statement { start: begin, text: &text[begin..=at] });
            start = None;
        }
    }
    if let Some(start) = start {
        found.push(Statement { start, text: &text[start..] });
    }
    found
}

/// Where the first string literal with this content stands; the beginning if there is none.
pub(super) fn literal(text: &str, content: &str) -> usize {
    let quoted = format!("\"{}\"", content.escape_debug());
    let plain = format!("\"{content}\"");
    let fits = |token: &Token<'_>| matches!(token, Token::Literal(l) if *l == quoted || *l == plain);
    tokens(text).find(|(_, token)| fits(token)).map_or(0, |(at, _)| at)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    /// With its quotes.
    Literal(&'a str),
    Other(char),
}

/// Characters and string literals with their places; white space and comments are left out.
fn tokens(text: &str) -> impl Iterator<Item = (usize, Token<'_>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = &text[at..];
            let first = rest.chars().next()?;
            let begin = at;
            if rest.starts_with("//") {
                at += rest.find('\n').unwrap_or(rest.len());
            } else if first.is_whitespace() {
                at += first.len_utf8();
            } else if first == '"' {
                at += literal_length(rest);
                return Some((begin, Token::Literal(&text[begin..at])));
            } else {
                at += first.len_utf8();
                return Some((begin, Token::Other(first)));
            }
        }
    })
}

/// Of the literal that `text` begins with, quotes included; all of it if it never ends.
fn literal_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn semicolons_in_strings_and_comments_end_nothing() {
        let text = "// a; b\npermit (p, \"x;\\\";\"); // c;\n  forbid;\nrest";
        let found: Vec<_> = statements(text).iter().map(|s| (s.start, s.text)).collect();
        assert_eq!(found, [(8, "permit (p, \"x;\\\";\");"), (37, "forbid;"), (45, "rest")]);
        assert!(statements("  // nothing\n").is_empty());
        assert_eq!(statements("\"never ends ;").len(), 1);
    }

    #[test]
    fn places_count_lines_and_characters() {
        let source = Source { path: "p".into(), text: "ä\nbö \"x\" \"y\"".into() };
        assert_eq!(source.place(0), (1, 1));
        assert_eq!(source.place(literal(&source.text, "y")), (2, 8));
        assert_eq!(source.place(10_000), (2, 11));
    }

    #[test]
    fn the_version_is_of_all_texts() {
        let source = |text: &str| Source { path: "p".into(), text: text.into() };
        assert_eq!(version(&[source("a")]), version(&[source("a")]));
        assert_ne!(version(&[source("ab"), source("c")]), version(&[source("a"), source("bc")]));
    }
}
