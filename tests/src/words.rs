//! The words of `--json` and the exit codes, each in one place. They are part of what users script
//! against: a test that fails because one changed has found an incompatible change.

/// `outcome` of a run.
pub mod outcome {
    /// The script came to its end.
    pub const OK: &str = "ok";
    /// The script threw, or is no script.
    pub const SCRIPT_ERROR: &str = "script-error";
    /// A limit ended the run; `error.code` says which (see [`limit`](super::limit)).
    pub const LIMIT: &str = "limit";
    /// A person would have had to decide a call, and nobody could be asked.
    pub const APPROVAL_REQUIRED: &str = "approval-required";
    /// The run may not start.
    pub const REFUSED: &str = "refused";
}

/// `error.code` of a run that a limit ended.
pub mod limit {
    /// Too long by the clock.
    pub const WALL_TIME: &str = "wall-time";
    /// Too much computing.
    pub const CPU_TIME: &str = "cpu-time";
    /// Too much memory.
    pub const MEMORY: &str = "memory";
    /// Too many tool calls.
    pub const CALLS: &str = "calls";
}

/// `code` of a failed call, and of the `ToolError` that the script catches.
pub mod call {
    /// The arguments are not JSON, too large, too deep, or do not fit the schema.
    pub const INVALID_ARGUMENTS: &str = "invalid-arguments";
    /// No server has the tool.
    pub const UNKNOWN_TOOL: &str = "unknown-tool";
    /// The run may not call the tool.
    pub const NOT_GRANTED: &str = "not-granted";
    /// The guard refused the call.
    pub const BLOCKED: &str = "blocked";
    /// Nobody could be asked.
    pub const APPROVAL_REQUIRED: &str = "approval-required";
    /// Too many calls, or too many at once.
    pub const CALL_LIMIT: &str = "call-limit";
    /// The tool did not answer in time.
    pub const TIMEOUT: &str = "timeout";
    /// The tool or its server failed.
    pub const UPSTREAM: &str = "upstream";
    /// The guard cannot be asked.
    pub const GUARD_UNAVAILABLE: &str = "guard-unavailable";
    /// Given up before there was an answer.
    pub const CANCELLED: &str = "cancelled";
}

/// Exit codes of `postern`.
pub mod exit {
    /// All went well.
    pub const OK: i32 = 0;
    /// Outcome script-error.
    pub const SCRIPT_ERROR: i32 = 1;
    /// The command line means nothing.
    pub const USAGE: i32 = 2;
    /// Outcome limit.
    pub const LIMIT: i32 = 3;
    /// Outcome approval-required.
    pub const APPROVAL_REQUIRED: i32 = 4;
    /// Outcome refused.
    pub const REFUSED: i32 = 5;
    /// A configuration or an installation that does not work.
    pub const SETUP: i32 = 6;
}
