//! Asking the guard model. The model itself is another crate and, by default, another process: a
//! host that linked libtorch would start a quarter of a second later, and a crash in it would take
//! the host along.

mod worker;

use async_trait::async_trait;
use postern_check::{Check, ModelInfo, Scores};

pub use worker::{WorkerGuard, WorkerOptions};

/// Something that can score a check.
///
/// An error means that the check was not made; the gate then lets nothing through.
#[async_trait]
pub trait Guard: Send + Sync + 'static {
    /// Starts whatever takes time, without waiting for it.
    fn prepare(&self) {}

    /// Scores one check.
    async fn score(&self, check: Check) -> Result<Scores, GuardDown>;

    /// Which model answers; starts it if need be.
    async fn info(&self) -> Result<ModelInfo, GuardDown>;

    /// Which model has answered, if any has.
    fn known(&self) -> Option<ModelInfo>;
}

/// The guard cannot be asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct GuardDown {
    /// For people: why, and what to do.
    pub message: String,
}

impl GuardDown {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}
