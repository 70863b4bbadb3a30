//! The request: one tool call and what is known around it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The largest check that is read, in bytes of JSON text.
pub const MAX_CHECK_BYTES: usize = 4 << 20;

/// One tool call to be judged, with what the judge may know of it.
///
/// ```
/// let check = postern_check::Check::parse(r#"{"action": {"tool": "mail.send", "args": {}}, "intent": "say hello"}"#)?;
/// assert_eq!(check.action.tool, "mail.send");
/// # Ok::<(), postern_check::CheckError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// The call itself.
    pub action: Action,
    /// What the user asked for, in the user's own words.
    pub intent: String,
    /// What made the agent act.
    #[serde(default)]
    pub trigger: Trigger,
    /// Rules the user set, in plain language.
    #[serde(default)]
    pub constraints: Vec<String>,
    /// What the agent had read before: results of earlier calls, as `[tool] result` lines.
    #[serde(default)]
    pub context: String,
}

/// The call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// `server.tool`.
    pub tool: String,
    /// The arguments as they would be sent.
    #[serde(default)]
    pub args: Map<String, Value>,
}

/// What made the agent act.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// The user's request, with nothing read yet.
    #[default]
    User,
    /// Something that a tool returned.
    ToolResult,
}

/// Why a text is not a check.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// More than [`MAX_CHECK_BYTES`].
    #[error("the check is {0} bytes long; at most {MAX_CHECK_BYTES} are read")]
    TooLarge(usize),
    /// Not JSON, or not of this shape.
    #[error("not a check: {0}")]
    Shape(#[from] serde_json::Error),
    /// `action.tool` is empty.
    #[error("not a check: action.tool is empty")]
    NoTool,
}

impl CheckError {
    /// A stable name for machines.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLarge(_) => "check-too-large",
            Self::Shape(_) | Self::NoTool => "check-invalid",
        }
    }
}

impl Check {
    /// Reads a check from JSON text.
    ///
    /// # Errors
    /// If the text is too large, is no JSON, has unknown, missing or repeated fields, or names no tool.
    pub fn parse(text: &str) -> Result<Self, CheckError> {
        if text.len() > MAX_CHECK_BYTES {
            return Err(CheckError::TooLarge(text.len()));
        }
        let check: Self = serde_json::from_str(text)?;
        if check.action.tool.trim().is_empty() {
            return Err(CheckError::NoTool);
        }
        Ok(check)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn reads_the_smallest_check() {
        let check = Check::parse(r#"{"action":{"tool":"a.b"},"intent":""}"#).unwrap();
        assert_eq!(check.trigger, Trigger::User);
        assert!(check.action.args.is_empty() && check.constraints.is_empty() && check.context.is_empty());
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        for text in [
            "",
            "[]",
            r#"{"action":{"tool":"a"}}"#,
            r#"{"action":{"tool":" "},"intent":""}"#,
            r#"{"action":{"tool":"a"},"intent":"","intent":"x"}"#,
            r#"{"action":{"tool":"a","arguments":{}},"intent":""}"#,
            r#"{"action":{"tool":"a"},"intent":"","trigger":"cron"}"#,
        ] {
            assert!(Check::parse(text).is_err(), "{text}");
        }
        assert!(matches!(Check::parse(&" ".repeat(MAX_CHECK_BYTES + 1)), Err(CheckError::TooLarge(_))));
    }
}
