//! The one error of this crate, and how it looks to the host.

use std::path::PathBuf;

use postern_check::{Failure, FailureCode};

/// Why the guard cannot be loaded, trained or asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of the model is not there.
    #[error("{path} is missing; --weights or POSTERN_WEIGHTS names the folder that holds it", path = .0.display())]
    Missing(PathBuf),
    /// No folder was named, and none was found.
    #[error("no weights found beside the program; name their folder with --weights or POSTERN_WEIGHTS")]
    NoWeights,
    /// A file of the model is damaged, or made for another version of this program.
    #[error("{path}: {why}", path = .path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The device that was asked for is not there.
    #[error("device {asked}: {why}")]
    Device {
        /// As asked for.
        asked: String,
        /// Why it cannot be used.
        why: String,
    },
    /// libtorch failed.
    #[error("libtorch: {0}")]
    Torch(#[from] tch::TchError),
    /// The tokenizer failed on a text.
    #[error("tokenizer: {0}")]
    Tokenizer(String),
    /// A file could not be read or written.
    #[error("{path}: {source}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The training data is not as documented.
    #[error("data: {0}")]
    Data(String),
    /// A trained guard ranks held-out checks no better than the baseline.
    #[error("the guard's AUROC {guard:.4} does not beat the baseline's {baseline:.4}")]
    NotBetter {
        /// Of the guard.
        guard: f64,
        /// Of TF-IDF and logistic regression.
        baseline: f64,
    },
}

impl Error {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }

    pub(crate) fn invalid(path: impl Into<PathBuf>, why: impl ToString) -> Self {
        Self::Invalid { path: path.into(), why: why.to_string() }
    }

    /// The kind of failure, as the worker's protocol names it.
    pub fn code(&self) -> FailureCode {
        match self {
            Self::Missing(_) | Self::NoWeights => FailureCode::ModelMissing,
            Self::Invalid { .. } => FailureCode::ModelInvalid,
            Self::Device { .. } => FailureCode::DeviceUnavailable,
            Self::Torch(_)
            | Self::Tokenizer(_)
            | Self::Io { .. }
            | Self::Data(_)
            | Self::NotBetter { .. } => FailureCode::Internal,
        }
    }

    /// This error as a line of the worker's protocol carries it.
    pub fn to_failure(&self) -> Failure {
        Failure { code: self.code(), message: self.to_string() }
    }
}
