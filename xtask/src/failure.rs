//! The one error type: what failed, where its log is, and what the reader can do about it.
//! Printing it lives here too, so that every failed step looks the same.

use std::fmt;
use std::path::{Path, PathBuf};

/// How many lines of a log are shown with a failure.
const LOG_LINES: usize = 25;

/// Something that stopped a step.
#[derive(Debug)]
pub(crate) struct Failure {
    what: String,
    hint: Option<String>,
    log: Option<PathBuf>,
}

/// What a step gives back.
pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), hint: None, log: None }
    }

    /// Adds what to do; the innermost hint knows most and stays.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint.get_or_insert(hint.into());
        self
    }

    pub(crate) fn log(mut self, log: &Path) -> Self {
        self.log.get_or_insert(log.to_path_buf());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.what)?;
        if let Some(path) = &self.log {
            let text = std::fs::read(path).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let tail = last_lines(&text, LOG_LINES);
            if !tail.is_empty() {
                write!(f, "\n  the end of {}:", path.display())?;
                for line in tail {
                    write!(f, "\n    {line}")?;
                }
            }
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  what to do: {hint}")?;
        }
        Ok(())
    }
}

/// The last `count` lines that say something.
fn last_lines(text: &str, count: usize) -> Vec<&str> {
    let mut lines: Vec<&str> =
        text.lines().map(str::trim_end).filter(|line| !line.is_empty()).rev().take(count).collect();
    lines.reverse();
    lines
}

/// Turns an I/O error into a failure that says what was being done.
pub(crate) trait Because<T> {
    fn because(self, doing: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: fmt::Display> Because<T> for std::result::Result<T, E> {
    fn because(self, doing: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|error| Failure::new(format!("{}: {error}", doing())))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_failure_shows_the_end_of_its_log_and_the_innermost_hint() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("step.log");
        let text: String = (0..100).map(|n| format!("line {n}\n\n")).collect();
        std::fs::write(&log, text).unwrap();
        let shown = Failure::new("no luck").hint("inner").hint("outer").log(&log).to_string();
        assert!(shown.starts_with("no luck\n"), "{shown}");
        assert!(shown.contains("    line 99") && shown.contains("    line 75"), "{shown}");
        assert!(!shown.contains("line 74"), "{shown}");
        assert!(shown.ends_with("what to do: inner"), "{shown}");
    }
}
