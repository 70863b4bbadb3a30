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
            Self::Script { code, .. } | Self::Check { code, .. } => code,
            Self::Io { .. } => "io",
            Self::RunnerMissing { .. } => "runner-missing",
            Self::Component { .. } => "component-invalid",
            Self::Sandbox(_) => "sandbox-failed",
            Self::Guard(_) => "guard-unavailable",
            Self::Record { .. } => "record-invalid",
        }
    }

    /// What to do about it, for people.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Script { hint, .. } => hint.clone(),
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

/// What this crate's functions give back.
pub type Result<T, E = Error> = std::result::Result<T, E>;
