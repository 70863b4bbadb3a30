//! The lines between the host and the guard's worker process.
//!
//! The worker writes one [`Greeting`] when it is ready, then for every [`Question`] one [`Reply`] with
//! the same id, in any order. One JSON document a line, UTF-8, no line longer than
//! [`MAX_LINE_BYTES`](crate::MAX_CHECK_BYTES) plus its frame. The worker ends when its input does.

use serde::{Deserialize, Serialize};

use crate::{Check, Scores};

/// The worker's first line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Greeting {
    /// The model is loaded.
    Ready(ModelInfo),
    /// It cannot be loaded; the worker ends after this line.
    Failed(Failure),
}

/// Which model answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// Version of the weights, from their metadata.
    pub version: String,
    /// SHA-256 of the weights file, in hex.
    pub sha256: String,
    /// `cpu` or `cuda:N`.
    pub device: String,
}

/// Host to worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Comes back in the reply.
    pub id: u64,
    /// What is to be scored.
    pub check: Check,
}

/// Worker to host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// Of the question; 0 when the line could not be read at all.
    pub id: u64,
    /// The answer.
    #[serde(flatten)]
    pub answer: Answer,
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Scored.
    Scores(Scores),
    /// Not scored.
    Error(Failure),
}

/// Why the model cannot be loaded or a check not be scored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// For machines.
    pub code: FailureCode,
    /// For people.
    pub message: String,
}

/// Kinds of [`Failure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureCode {
    /// A file of the model is missing.
    ModelMissing,
    /// A file of the model is damaged or of another layout.
    ModelInvalid,
    /// The device that was asked for is not there.
    DeviceUnavailable,
    /// The line was no question.
    BadRequest,
    /// libtorch failed.
    Internal,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn lines_look_as_documented() {
        let info = ModelInfo { version: "1".into(), sha256: "ab".into(), device: "cpu".into() };
        let line = serde_json::to_string(&Greeting::Ready(info)).unwrap();
        assert_eq!(line, r#"{"ready":{"version":"1","sha256":"ab","device":"cpu"}}"#);
        let failure = Failure { code: FailureCode::BadRequest, message: "no".into() };
        let reply = Reply { id: 7, answer: Answer::Error(failure) };
        let line = serde_json::to_string(&reply).unwrap();
        assert_eq!(line, r#"{"id":7,"error":{"code":"bad-request","message":"no"}}"#);
        assert_eq!(serde_json::from_str::<Reply>(&line).unwrap(), reply);
    }
}
