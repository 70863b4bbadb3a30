//! What a run leaves behind for its caller: one document, the same for `--json`, the record and an
//! embedder.

use postern_check::{Reason, Scores, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::constraints::Explained;
use crate::sandbox::ArtifactFile;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The script finished.
    Ok,
    /// The script failed.
    ScriptError,
    /// A limit ended it; `error.code` names the limit.
    Limit,
    /// A call needed a person's approval, nobody could be asked, and the script did not catch it.
    ApprovalRequired,
    /// The gate refused a call and the script did not catch it; `error.code` says how.
    Refused,
    /// The run was given up from outside.
    Cancelled,
}

/// A run, whole. Arguments and results may hold the user's data; secrets of the host are never in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The run's id, by which its record is found.
    pub run: String,
    /// How it ended.
    pub outcome: Outcome,
    /// What the script returned; null unless it finished.
    pub value: Value,
    /// Why it did not finish.
    pub error: Option<RunError>,
    /// What the author should know although the run may have succeeded.
    pub warnings: Vec<String>,
    /// Each clause of the user's rules: what is checked of it, or that only the model reads it.
    #[serde(default)]
    pub clauses: Vec<Explained>,
    /// Standard output, up to its limit.
    pub stdout: String,
    /// Bytes of standard output in truth.
    pub stdout_bytes: u64,
    /// Whether standard output was cut.
    pub stdout_truncated: bool,
    /// Standard error, up to its limit.
    pub stderr: String,
    /// Bytes of standard error in truth.
    pub stderr_bytes: u64,
    /// Whether standard error was cut.
    pub stderr_truncated: bool,
    /// Every attempt to call a tool, in the order they were made; refused ones too.
    pub calls: Vec<CallReport>,
    /// What lies in /out.
    pub artifacts: Vec<ArtifactFile>,
    /// What the run used.
    pub usage: UsageReport,
}

/// Why a run did not finish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunError {
    /// For machines: a limit's name, a tool error's code, `script-error`, `deadlock`, `script-syntax`,
    /// `script-form`, `script-language`, `script-too-large`, `refused-repeatedly` or `cancelled`.
    pub code: String,
    /// The error's class, such as `TypeError`.
    pub name: String,
    /// What it says.
    pub message: String,
    /// 1-based, in the text as the user wrote it.
    pub line: Option<u32>,
    /// 1-based, in the text as the user wrote it.
    pub column: Option<u32>,
    /// The script's own frames.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stack: String,
}

/// One attempt to call a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallReport {
    /// `server/tool`, as the script wrote it.
    pub tool: String,
    /// The arguments; a text when they were no JSON object.
    pub arguments: Value,
    /// What the gate decided.
    pub verdict: Verdict,
    /// Null when the call succeeded, else the tool error's code.
    pub code: Option<String>,
    /// Why the gate decided so; or what went wrong.
    pub reasons: Vec<Reason>,
    /// What the guard said, if it was asked.
    pub scores: Option<Scores>,
    /// What was found in the result, and what became of it. Without the words that were found: a model may
    /// read this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_label: Option<crate::scan::ResultLabel>,
    /// From the call to its answer, waiting for people included.
    pub ms: f64,
}

/// What a run used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UsageReport {
    /// Wall time without waiting for people.
    pub wall_ms: f64,
    /// Computing time of the script.
    pub cpu_ms: f64,
    /// The most linear memory at once.
    pub memory_bytes: u64,
    /// Attempts to call a tool.
    pub calls: u32,
}

/// Milliseconds, to the microsecond.
pub(crate) fn ms(duration: std::time::Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}
