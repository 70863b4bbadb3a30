//! What `postern run --json` said, with the assertions that most tests make.

use serde_json::Value;

use crate::process::Finished;
use crate::words::{exit, outcome};

/// One run and its document.
#[derive(Debug)]
pub struct Run {
    /// The whole document.
    pub document: Value,
    /// The process.
    pub process: Finished,
}

impl Run {
    /// Reads the document.
    ///
    /// # Panics
    /// If standard output is not one JSON document with an outcome and nothing else.
    pub(crate) fn of(process: Finished) -> Self {
        let document: Value = serde_json::from_str(&process.stdout)
            .unwrap_or_else(|error| panic!("standard output is not one document ({error}): {process:#?}"));
        assert!(document["outcome"].is_string(), "the document has no outcome: {process:#?}");
        Self { document, process }
    }

    /// The script's value.
    ///
    /// # Panics
    /// If the run did not end well.
    #[track_caller]
    pub fn ok(&self) -> &Value {
        self.ended(outcome::OK, exit::OK);
        &self.document["value"]
    }

    /// The error's message of a script that failed.
    ///
    /// # Panics
    /// If the run ended otherwise.
    #[track_caller]
    pub fn script_error(&self) -> &str {
        self.ended(outcome::SCRIPT_ERROR, exit::SCRIPT_ERROR);
        self.error_text("message")
    }

    /// Expects that the limit of this code ended the run.
    #[track_caller]
    pub fn limit(&self, code: &str) {
        self.ended(outcome::LIMIT, exit::LIMIT);
        assert_eq!(self.error_text("code"), code, "{self:#?}");
    }

    /// Expects this outcome and exit code.
    #[track_caller]
    pub fn ended(&self, outcome: &str, exit: i32) {
        assert_eq!((self.outcome(), self.process.exit), (outcome, exit), "{self:#?}");
        assert_eq!(self.document["error"].is_null(), outcome == outcome::OK, "{self:#?}");
    }

    /// The outcome.
    pub fn outcome(&self) -> &str {
        self.document["outcome"].as_str().unwrap()
    }

    /// A text field of `error`, or the empty text.
    pub fn error_text(&self, field: &str) -> &str {
        self.document["error"][field].as_str().unwrap_or_default()
    }

    /// The script's standard output.
    pub fn stdout(&self) -> &str {
        self.document["stdout"].as_str().unwrap_or_else(|| panic!("no stdout: {self:#?}"))
    }

    /// The script's standard error.
    pub fn stderr(&self) -> &str {
        self.document["stderr"].as_str().unwrap_or_else(|| panic!("no stderr: {self:#?}"))
    }

    /// The attempts, in order.
    pub fn calls(&self) -> &[Value] {
        self.document["calls"].as_array().unwrap_or_else(|| panic!("no calls: {self:#?}"))
    }

    /// `(tool, verdict, code)` of each attempt; an absent one is the empty text.
    pub fn attempts(&self) -> Vec<(&str, &str, &str)> {
        fn field<'a>(call: &'a Value, name: &str) -> &'a str {
            call[name].as_str().unwrap_or_default()
        }
        self.calls()
            .iter()
            .map(|call| (field(call, "tool"), field(call, "verdict"), field(call, "code")))
            .collect()
    }

    /// The warnings, one a line.
    pub fn warnings(&self) -> String {
        let list = self.document["warnings"].as_array().unwrap_or_else(|| panic!("no warnings: {self:#?}"));
        list.iter()
            .map(|warning| warning.as_str().map_or_else(|| warning.to_string(), str::to_owned))
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// `(bytes, sha256)` of the artifact whose path ends in this name.
    pub fn artifact(&self, name: &str) -> Option<(u64, &str)> {
        let list = self.document["artifacts"].as_array().unwrap_or_else(|| panic!("no artifacts: {self:#?}"));
        let found = list
            .iter()
            .find(|artifact| artifact["path"].as_str().is_some_and(|path| path.ends_with(name)))?;
        Some((found["bytes"].as_u64().unwrap(), found["sha256"].as_str().unwrap()))
    }

    /// A figure of `usage`, such as `wall_ms`.
    pub fn usage(&self, name: &str) -> u64 {
        let value = &self.document["usage"][name];
        value.as_f64().unwrap_or_else(|| panic!("no usage.{name}: {self:#?}")) as u64
    }

    /// The run's id.
    pub fn id(&self) -> &str {
        self.document["run"].as_str().unwrap_or_else(|| panic!("no run: {self:#?}"))
    }
}
