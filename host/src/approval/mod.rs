//! Asking a person. The gate says what is to be decided, an [`Approver`] finds somebody to decide it.

mod bound;
mod groups;
#[cfg(test)]
mod properties;
mod terminal;

use std::time::Duration;

use async_trait::async_trait;
use postern_check::{Reason, Scores};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use bound::{Binding, Seal, Sealer, Unsealed};
pub use groups::{Groups, Likeness, MOST as MOST_ALIKE, places};
pub use terminal::TerminalApprover;

use crate::policy::ArgumentFact;

/// What a person is asked.
#[derive(Clone, Debug)]
pub struct ApprovalRequest {
    /// The run.
    pub run: String,
    /// Names the question: what an answer is bound to.
    pub seal: String,
    /// `server/tool`.
    pub tool: String,
    /// The arguments exactly as they would be sent.
    pub arguments: Map<String, Value>,
    /// Where each value came from.
    pub origins: Vec<ArgumentFact>,
    /// What the user had asked for.
    pub intent: String,
    /// Why somebody is asked.
    pub reasons: Vec<Reason>,
    /// What the guard said.
    pub scores: Option<Scores>,
    /// What later calls must have in common with this one to be covered by
    /// [`Decision::ApprovedLike`]; None when that cannot be said.
    pub alike: Option<String>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Go ahead, this once.
    Approved,
    /// Go ahead, and the same for like calls: this many in all, at most [`MOST_ALIKE`].
    ApprovedLike(u32),
    /// No; the script is told why.
    Denied(String),
    /// There is nobody to ask.
    Unavailable,
}

/// Somebody who decides.
#[async_trait]
pub trait Approver: Send + Sync + 'static {
    /// Asks and waits. Dropping the future withdraws the question.
    async fn decide(&self, request: ApprovalRequest) -> Decision;
}

/// Nobody decides: whatever would be asked fails with `approval-required`.
#[derive(Clone, Copy, Debug, Default)]
pub struct NobodyApproves;

#[async_trait]
impl Approver for NobodyApproves {
    async fn decide(&self, _: ApprovalRequest) -> Decision {
        Decision::Unavailable
    }
}

/// Everything is refused, as if a person had said no.
#[derive(Clone, Debug)]
pub struct DeniesAll(String);

impl DeniesAll {
    /// With this reason, which the script is told.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

#[async_trait]
impl Approver for DeniesAll {
    async fn decide(&self, _: ApprovalRequest) -> Decision {
        Decision::Denied(self.0.clone())
    }
}

/// Whether people are asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalMode {
    /// In the terminal, if there is one.
    #[default]
    Ask,
    /// Never.
    Never,
}

/// How long a question stays open when nothing else is said.
pub const DEFAULT_APPROVAL_TIME: Duration = Duration::from_secs(600);
