//! Step 2: the run's allowlist.

use std::fmt;

use wildmatch::WildMatch;

use crate::{Error, Result, ToolError, ToolErrorCode};

/// `server/tool`, where `*` stands for any characters and `?` for one.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    server: WildMatch,
    tool: WildMatch,
    text: String,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// If it has no slash: a bare tool name would mean whichever server happens to have it.
    pub fn parse(text: &str) -> Result<Self> {
        match text.split_once('/') {
            Some((server, tool)) if !server.is_empty() && !tool.is_empty() => {
                let text = text.to_owned();
                Ok(Self { server: WildMatch::new(server), tool: WildMatch::new(tool), text })
            }
            _ => Err(Error::Setting(format!(
                "{text:?} is no tool pattern: write server/tool, such as crm/* or */search"
            ))),
        }
    }

    fn matches(&self, server: &str, tool: &str) -> bool {
        self.server.matches(server) && self.tool.matches(tool)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Which tools a run may call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grants(Vec<Pattern>);

impl Grants {
    /// Those that match any of the patterns.
    pub fn new(patterns: Vec<Pattern>) -> Self {
        Self(patterns)
    }

    /// These and more.
    #[must_use]
    pub fn with(mut self, patterns: Vec<Pattern>) -> Self {
        self.0.extend(patterns);
        self
    }

    /// Whether the tool may be called.
    pub fn allow(&self, server: &str, tool: &str) -> bool {
        self.0.iter().any(|pattern| pattern.matches(server, tool))
    }

    /// Whether any tool of the server may be called.
    pub fn any_of(&self, server: &str) -> bool {
        self.0.iter().any(|pattern| pattern.server.matches(server))
    }

    /// The patterns, as written.
    pub fn patterns(&self) -> Vec<String> {
        self.0.iter().map(Pattern::to_string).collect()
    }

    pub(super) fn check(&self, server: &str, tool: &str) -> Result<(), ToolError> {
        if self.allow(server, tool) {
            return Ok(());
        }
        let granted = if self.0.is_empty() { "nothing".into() } else { self.patterns().join(", ") };
        let message = format!(
            "{server}/{tool} is not granted to this run; granted: {granted} (to grant it: --allow-tool '{server}/{tool}', or `grant` of the server in the configuration)"
        );
        Err(ToolError::new(ToolErrorCode::NotGranted, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grants(patterns: &[&str]) -> Grants {
        Grants::new(patterns.iter().map(|p| Pattern::parse(p).unwrap()).collect())
    }

    #[test]
    fn a_pattern_is_of_one_server() {
        let grants = grants(&["a/search", "b/list_*"]);
        assert!(grants.allow("a", "search") && grants.allow("b", "list_x"));
        for (server, tool) in
            [("b", "search"), ("a", "search2"), ("a", "list_x"), ("b", "x_list_"), ("ab", "search")]
        {
            assert!(!grants.allow(server, tool), "{server}/{tool}");
        }
        assert!(!Grants::default().allow("a", "search"));
    }

    #[test]
    fn a_bare_name_is_refused() {
        for text in ["search", "/search", "a/", ""] {
            assert!(Pattern::parse(text).is_err(), "{text}");
        }
    }
}
