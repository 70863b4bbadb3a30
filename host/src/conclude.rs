//! From how a script ended to what its caller is told: outcome, error with the place in the user's own
//! text, and the report around it. Decides nothing about calls; it only names what was decided.

use serde_json::Value;

use crate::gate::Gate;
use crate::report::{Outcome, Report, RunError, UsageReport, ms};
use crate::sandbox::{Ending, Finished, LimitKind, Limits, ScriptFailure, Workspace};
use crate::script::{self, Language, Prepared, ScriptProblem};
use crate::{Result, ToolError, ToolErrorCode};

/// The script as the runner gets it, or why it has no such form.
pub(crate) enum Preparation {
    Ready(Prepared),
    /// The text is no program: the author's fault, and reported like one.
    Broken(ScriptProblem),
}

impl Preparation {
    pub(crate) fn of(text: &str, language: Option<Language>, name: &str) -> Self {
        match script::prepare(text, language, name) {
            Ok(prepared) => Self::Ready(prepared),
            Err(problem) => Self::Broken(problem),
        }
    }

    /// The language of the runner that is to run it; one that is broken is run by none.
    pub(crate) fn runner(&self) -> Language {
        match self {
            Self::Ready(prepared) => prepared.language,
            Self::Broken(_) => Language::JavaScript,
        }
    }

    pub(crate) fn language(&self) -> &'static str {
        match self {
            Self::Ready(prepared) => prepared.language.name(),
            Self::Broken(_) => "unknown",
        }
    }
}

/// The report of a run; `finished` is None when it was given up from outside, or never started.
pub(crate) fn report(
    run: String,
    finished: Option<Finished>,
    prepared: &Preparation,
    name: &str,
    gate: &Gate,
    workspace: &Workspace,
    limits: &Limits,
) -> Result<Report> {
    let calls = gate.calls();
    let (ending, finished) = match finished {
        Some(finished) => (Some(finished.ending.clone()), finished),
        None => (None, Finished::nothing()),
    };
    let (outcome, value, error) = match (prepared, ending) {
        (Preparation::Broken(problem), _) => broken(problem),
        // Only a broken script is never run.
        (_, None) => (Outcome::Cancelled, Value::Null, Some(cancelled())),
        (Preparation::Ready(prepared), Some(ending)) => outcome(ending, prepared, name, gate, limits),
    };
    let (stdout, stderr) = (finished.stdout, finished.stderr);
    Ok(Report {
        run,
        outcome,
        value,
        error,
        warnings: finished.warnings,
        clauses: gate.clauses(),
        stdout: stdout.text,
        stdout_bytes: stdout.bytes,
        stdout_truncated: stdout.truncated,
        stderr: stderr.text,
        stderr_bytes: stderr.bytes,
        stderr_truncated: stderr.truncated,
        artifacts: workspace.artifacts()?,
        usage: UsageReport {
            wall_ms: ms(finished.usage.wall),
            cpu_ms: ms(finished.usage.cpu),
            memory_bytes: finished.usage.memory_bytes,
            calls: gate.attempts(),
        },
        calls,
    })
}

fn outcome(
    ending: Ending,
    prepared: &Prepared,
    name: &str,
    gate: &Gate,
    limits: &Limits,
) -> (Outcome, Value, Option<RunError>) {
    match ending {
        Ending::Value(text) => match serde_json::from_str(&text) {
            Ok(value) => (Outcome::Ok, value, None),
            Err(e) => {
                let message = format!("the script's value cannot be read: {e}");
                (Outcome::ScriptError, Value::Null, Some(plain_error("script-error", "ValueError", &message)))
            }
        },
        Ending::Cancelled => match gate.stopped() {
            Some(reason) => {
                (Outcome::Refused, Value::Null, Some(plain_error("refused-repeatedly", "ToolError", &reason)))
            }
            None => (Outcome::Cancelled, Value::Null, Some(cancelled())),
        },
        Ending::Limit(kind) => (
            Outcome::Limit,
            Value::Null,
            Some(plain_error(kind.code(), "LimitError", &kind.describe(limits))),
        ),
        Ending::Failed(failure) => {
            let tool_error =
                failure.tool_error.as_deref().and_then(|text| serde_json::from_str::<ToolError>(text).ok());
            let mut error = script_error(failure, prepared, name);
            let outcome = match tool_error.map(|error| error.code) {
                Some(ToolErrorCode::CallLimit) if gate.calls_exhausted() => {
                    error.code = LimitKind::Calls.code().into();
                    Outcome::Limit
                }
                Some(code) => {
                    error.code = code.as_str().into();
                    outcome_of(code)
                }
                None => Outcome::ScriptError,
            };
            (outcome, Value::Null, Some(error))
        }
    }
}

/// What it means for the run that a call failed so and the script did not catch it.
fn outcome_of(code: ToolErrorCode) -> Outcome {
    match code {
        ToolErrorCode::ApprovalRequired => Outcome::ApprovalRequired,
        ToolErrorCode::Blocked
        | ToolErrorCode::NotGranted
        | ToolErrorCode::ApprovalDenied
        | ToolErrorCode::ApprovalExpired
        | ToolErrorCode::GuardUnavailable => Outcome::Refused,
        ToolErrorCode::InvalidArguments
        | ToolErrorCode::UnknownTool
        | ToolErrorCode::CallLimit
        | ToolErrorCode::Timeout
        | ToolErrorCode::Upstream
        | ToolErrorCode::Cancelled => Outcome::ScriptError,
    }
}

/// A text that is no script at all. One that is broken is the author's error; one of another kind
/// (a shell line, a list of calls) is refused, with what to write instead.
fn broken(problem: &ScriptProblem) -> (Outcome, Value, Option<RunError>) {
    let outcome = if problem.code == "script-syntax" { Outcome::ScriptError } else { Outcome::Refused };
    let hint = problem.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
    let error = RunError {
        code: problem.code.into(),
        name: problem.name().into(),
        message: format!("{}{hint}", problem.message),
        line: problem.line,
        column: problem.column,
        stack: problem.excerpt.clone().unwrap_or_default(),
    };
    (outcome, Value::Null, Some(error))
}

/// The error, with positions in the text as the user wrote it.
fn script_error(failure: ScriptFailure, prepared: &Prepared, name: &str) -> RunError {
    let place = failure.line.and_then(|line| prepared.map.original(line, failure.column.unwrap_or(1)));
    let python = prepared.language == Language::Python;
    // Python's own parser is in its runner. Where it has run nothing yet, there is no traceback.
    let unread = ["SyntaxError", "IndentationError", "TabError"].contains(&failure.name.as_str())
        && !failure.stack.starts_with("Traceback");
    let code = match failure.name.as_str() {
        "DeadlockError" => "deadlock",
        _ if python && unread => "script-syntax",
        _ => "script-error",
    };
    let map = &prepared.map;
    let stack = if python { map.python_stack(&failure.stack, name) } else { map.stack(&failure.stack, name) };
    RunError {
        code: code.into(),
        name: failure.name,
        message: failure.message,
        line: place.map(|(line, _)| line),
        column: place.and_then(|(_, column)| failure.column.map(|_| column)),
        stack,
    }
}

fn cancelled() -> RunError {
    plain_error("cancelled", "Cancelled", "the run was given up")
}

fn plain_error(code: &str, name: &str, message: &str) -> RunError {
    RunError {
        code: code.into(),
        name: name.into(),
        message: message.into(),
        line: None,
        column: None,
        stack: String::new(),
    }
}
