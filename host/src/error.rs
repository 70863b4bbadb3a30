//! Everything that can keep a run from starting or being reported. What goes wrong inside a run is
//! an outcome (see `report`), what goes wrong in one call is a `ToolError`.

use std::path::PathBuf;

/// The crate's errors. Each has a stable [`code`](Error::code) and, where there is one, a
/// [`hint`](Error::hint).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A configuration file cannot be read or means nothing.
    #[error("{path}: {message}", path = path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column where known.
        message: String,
    },
    /// A setting from the command line or the embedder means nothing.
    #[error("{0}")]
    Setting(String),
    /// The script cannot be read, or is no script.
    #[error("{message}")]
    Script {
        /// A stable name: `script-unreadable`, `script-too-large`, `script-language`, `script-form`,
        /// `script-syntax`.
        code: &'static str,
        /// What is wrong.
        message: String,
        /// What to write instead.
        hint: Option<String>,
    },
    /// A check for the guard means nothing.
    #[error("{message}")]
    Check {
        /// A stable name: `check-invalid`, `check-too-large`.
        code: &'static str,
        /// What is wrong.
        message: String,
    },
    /// A file or folder of ours cannot be read or written.
    #[error("{doing} {path}: {source}", path = path.display())]
    Io {
        /// What was being done, such as `cannot read`.
        doing: &'static str,
        /// To what.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A runner component is not there.
    #[error("the {language} runner is not installed: {path} does not exist", path = path.display())]
    RunnerMissing {
        /// Its language.
        language: &'static str,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A component is refused or cannot be compiled.
    #[error("{name}: {message}")]
    Component {
        /// The component.
        name: String,
        /// What is wrong with it.
        message: String,
    },
    /// The sandbox itself failed: not the script's doing.
    #[error("the sandbox failed: {0}")]
    Sandbox(String),
    /// The guard cannot be asked.
    #[error("the guard is not available: {0}")]
    Guard(String),
    /// A policy cannot be read, means nothing, or has a rule that can never apply.
    #[error("{path}:{line}:{column}: {message}{shown}", path = path.display(), shown = shown(*line, *column, excerpt))]
    Policy {
        /// The file, or the name of the default policy.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// In characters, from 1.
        column: usize,
        /// What is wrong.
        message: String,
        /// The line; empty if there is none.
        excerpt: String,
        /// What to write instead.
        hint: Option<String>,
    },
    /// A run cannot be one of the profile that it was to be.
    #[error("{message}")]
    Profile {
        /// A stable name: `profile-unknown`, `profile-refused`.
        code: &'static str,
        /// What is wrong.
        message: String,
        /// What to do instead.
        hint: Option<String>,
    },
    /// A package for scripts cannot be had or cannot be used.
    #[error("{message}")]
    Package {
        /// A stable name: `package-missing`, `package-not-found`, `package-index`, `package-digest`,
        /// `package-mismatch`, `package-refused`, `package-conflict`.
        code: &'static str,
        /// What is wrong.
        message: String,
        /// What to do instead.
        hint: Option<String>,
    },
    /// An approval cannot be decided.
    #[error("{message}")]
    Approval {
        /// A stable name: `approval-unknown`, `approval-answered`, `approval-expired`, `approval-stale`,
        /// `approval-changed`, `approval-no-group`.
        code: &'static str,
        /// What is wrong.
        message: String,
        /// What to do instead.
        hint: Option<String>,
    },
    /// A record does not exist or is damaged.
    #[error("record {run}: {message}")]
    Record {
        /// The run.
        run: String,
        /// What is wrong.
        message: String,
    },
}

impl Error {
    /// A stable name for machines.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Config { .. } => "config-invalid",
            Self::Setting(_) => "setting-invalid",
            Self::Script { code, .. }
            | Self::Check { code, .. }
            | Self::Profile { code, .. }
            | Self::Package { code, .. }
            | Self::Approval { code, .. } => code,
            Self::Io { .. } => "io",
            Self::RunnerMissing { .. } => "runner-missing",
            Self::Component { .. } => "component-invalid",
            Self::Sandbox(_) => "sandbox-failed",
            Self::Guard(_) => "guard-unavailable",
            Self::Policy { .. } => "policy-invalid",
            Self::Record { .. } => "record-invalid",
        }
    }

    /// What to do about it, for people.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Script { hint, .. }
            | Self::Policy { hint, .. }
            | Self::Profile { hint, .. }
            | Self::Package { hint, .. }
            | Self::Approval { hint, .. } => hint.clone(),
            Self::RunnerMissing { .. } => {
                Some("run `cargo xtask setup` in the source tree, or set POSTERN_RUNNERS".into())
            }
            Self::Guard(_) => Some("`postern doctor` says what is missing".into()),
            Self::Config { .. }
            | Self::Setting(_)
            | Self::Check { .. }
            | Self::Io { .. }
            | Self::Component { .. }
            | Self::Sandbox(_)
            | Self::Record { .. } => None,
        }
    }
}

/// The line of a file, and a mark below the column.
fn shown(line: usize, column: usize, excerpt: &str) -> String {
    if excerpt.is_empty() {
        return String::new();
    }
    let number = line.to_string();
    let mark = " ".repeat(column.saturating_sub(1));
    format!("\n {number} | {}\n {} | {mark}^", excerpt.replace('\t', " "), " ".repeat(number.len()))
}

/// What this crate's functions give back.
pub type Result<T, E = Error> = std::result::Result<T, E>;
