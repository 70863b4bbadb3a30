//! Why one tool call failed: what a script can catch, and what the journal writes down.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A failed call. Serialises as `{code, message, retryable, details?}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{code}: {message}")]
pub struct ToolError {
    /// One of a closed set; the contract in wit/ says what each means.
    pub code: ToolErrorCode,
    /// For people: what happened and what to do about it.
    pub message: String,
    /// The same call may succeed if made again.
    pub retryable: bool,
    /// More, for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

/// The closed set of codes, as in `postern:sandbox/tools.error-code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolErrorCode {
    /// The arguments are not JSON, too large, too deep, or do not fit the tool's schema.
    InvalidArguments,
    /// No upstream has a tool of this name.
    UnknownTool,
    /// The run's allowlist does not contain the tool.
    NotGranted,
    /// The guard or a rule refused the call; or, with `details.kind` `result-withheld`, the call was made and its
    /// result is not passed on.
    Blocked,
    /// A person refused the call.
    ApprovalDenied,
    /// A person would have to decide, and nobody can be asked.
    ApprovalRequired,
    /// Nobody decided in time.
    ApprovalExpired,
    /// The run has used up its number of calls, or has too many in flight.
    CallLimit,
    /// The tool did not answer in time. It may or may not have done its work.
    Timeout,
    /// The tool itself, or the server that owns it, failed.
    Upstream,
    /// The guard model cannot be asked, so nothing is let through.
    GuardUnavailable,
    /// The call was given up before it had an answer.
    Cancelled,
}

impl ToolErrorCode {
    /// All of them, in the order of the contract.
    pub const ALL: [Self; 12] = [
        Self::InvalidArguments,
        Self::UnknownTool,
        Self::NotGranted,
        Self::Blocked,
        Self::ApprovalDenied,
        Self::ApprovalRequired,
        Self::ApprovalExpired,
        Self::CallLimit,
        Self::Timeout,
        Self::Upstream,
        Self::GuardUnavailable,
        Self::Cancelled,
    ];

    /// The code as scripts, records and `--json` write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArguments => "invalid-arguments",
            Self::UnknownTool => "unknown-tool",
            Self::NotGranted => "not-granted",
            Self::Blocked => "blocked",
            Self::ApprovalDenied => "approval-denied",
            Self::ApprovalRequired => "approval-required",
            Self::ApprovalExpired => "approval-expired",
            Self::CallLimit => "call-limit",
            Self::Timeout => "timeout",
            Self::Upstream => "upstream",
            Self::GuardUnavailable => "guard-unavailable",
            Self::Cancelled => "cancelled",
        }
    }
}

impl std::fmt::Display for ToolErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

impl ToolError {
    /// An error that making the same call again will not cure.
    pub fn new(code: ToolErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), retryable: false, details: None }
    }

    /// The same, with more for programs.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// The same, saying that another try may succeed.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// `wit/sandbox.wit` is what guests are made from; a code that only one side knows would be lost.
    #[test]
    fn the_codes_are_those_of_the_contract() {
        let contract = include_str!("../../wit/sandbox.wit");
        let (_, from) = contract.split_once("enum error-code {").unwrap();
        let (codes, _) = from.split_once('}').unwrap();
        let lines = codes.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
        let listed: Vec<&str> = lines.map(|line| line.trim_end_matches(',')).collect();
        assert_eq!(listed, ToolErrorCode::ALL.map(ToolErrorCode::as_str));
    }
}
