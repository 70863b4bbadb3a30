//! Which tools a run may call: the allowlist of step 2 of the gate, and what a profile takes away of it. Decides nothing about
//! a single call but whether its tool is there.

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
pub struct Grants {
    granted: Vec<Pattern>,
    /// Of these, only those that a profile names.
    within: Option<Vec<Pattern>>,
}

impl Grants {
    /// Those that match any of the patterns.
    pub fn new(patterns: Vec<Pattern>) -> Self {
        Self { granted: patterns, within: None }
    }

    /// These and more.
    #[must_use]
    pub fn with(mut self, patterns: Vec<Pattern>) -> Self {
        self.granted.extend(patterns);
        self
    }

    /// Of these only those that match one of the patterns too.
    #[must_use]
    pub fn within(mut self, patterns: Vec<Pattern>) -> Self {
        self.within = Some(patterns);
        self
    }

    /// Whether the tool may be called.
    pub fn allow(&self, server: &str, tool: &str) -> bool {
        let matches = |patterns: &Vec<Pattern>| patterns.iter().any(|p| p.matches(server, tool));
        matches(&self.granted) && self.within.as_ref().is_none_or(matches)
    }

    /// Whether any tool of the server may be called.
    pub fn any_of(&self, server: &str) -> bool {
        let matches = |patterns: &Vec<Pattern>| patterns.iter().any(|p| p.server.matches(server));
        matches(&self.granted) && self.within.as_ref().is_none_or(matches)
    }

    /// The patterns, as written; not those of [`within`](Self::within).
    pub fn patterns(&self) -> Vec<String> {
        self.granted.iter().map(Pattern::to_string).collect()
    }

    pub(crate) fn check(&self, server: &str, tool: &str) -> Result<(), ToolError> {
        if self.allow(server, tool) {
            return Ok(());
        }
        let granted = if self.granted.is_empty() { "nothing".into() } else { self.patterns().join(", ") };
        if let Some(within) = &self.within {
            let only: Vec<String> = within.iter().map(Pattern::to_string).collect();
            let message = format!(
                "{server}/{tool} is not granted to this run; granted: {granted}, and of that by the run's profile only: {}",
                if only.is_empty() { "nothing".into() } else { only.join(", ") }
            );
            return Err(ToolError::new(ToolErrorCode::NotGranted, message));
        }
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
    fn a_profile_only_takes_away() {
        let only = |patterns: &[&str]| patterns.iter().map(|p| Pattern::parse(p).unwrap()).collect();
        let narrowed = grants(&["a/*", "b/*"]).within(only(&["a/list_*", "c/*"]));
        assert!(narrowed.allow("a", "list_x") && narrowed.any_of("a"));
        for (server, tool) in [("a", "write"), ("b", "list_x"), ("c", "x")] {
            assert!(!narrowed.allow(server, tool), "{server}/{tool}");
        }
        assert!(!narrowed.any_of("b") && !narrowed.any_of("c"));
        assert!(narrowed.check("b", "x").unwrap_err().message.contains("profile"));
        assert!(!grants(&["a/*"]).within(Vec::new()).allow("a", "x"));
    }

    #[test]
    fn a_bare_name_is_refused() {
        for text in ["search", "/search", "a/", ""] {
            assert!(Pattern::parse(text).is_err(), "{text}");
        }
    }
}
