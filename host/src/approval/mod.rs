//! Asking a person. The gate says what is to be decided, an [`Approver`] finds somebody to decide it.
//!
//! ```text
//! bound      what an answer is for: the seal over one exact call
//! groups     one answer for like calls
//! question   what is asked, fit to be written down and shown
//! terminal   asks where the run was started
//! queue      asks from another process: puts questions, judges answers
//! store      the folder between the two: files, locks, codes
//! ```

mod bound;
mod groups;
#[cfg(test)]
mod properties;
mod question;
mod queue;
mod store;
mod terminal;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use postern_check::{Reason, Scores};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use bound::{Binding, Seal, Sealer, Unsealed};
pub use groups::{Groups, Likeness, MOST as MOST_ALIKE, places};
pub use question::{Question, ValueOrigin};
pub use queue::{Asked, QueueApprover, Void};
pub use store::{Queue, Say, Standing, Waiting};
pub use terminal::TerminalApprover;

use crate::policy::{Agent, ArgumentFact};
pub use crate::record::Decider;
use crate::record::Redactor;

/// What a person is asked. Holds the call as it is, secrets included: what is written down or sent
/// elsewhere is its [`Question`].
#[derive(Clone, Debug)]
pub struct ApprovalRequest {
    /// Names the question: a UUID.
    pub id: String,
    /// What an answer is bound to, in hex.
    pub seal: String,
    /// The run.
    pub run: String,
    /// On whose behalf it acts.
    pub agent: Agent,
    /// `server/tool`.
    pub tool: String,
    /// Of the tool's definition.
    pub definition_sha256: String,
    /// SHA-256 of the policy.
    pub policy_version: String,
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
    pub alike: Option<Likeness>,
    /// When it is asked.
    pub asked: jiff::Timestamp,
    /// Until when an answer counts.
    pub expires: jiff::Timestamp,
    /// Replaces secrets, as in the record of the run.
    pub redactor: Arc<Redactor>,
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
    /// There is an answer, and it does not count.
    Void(Void),
    /// There is nobody to ask.
    Unavailable,
}

/// The login name of whoever runs this process, as the environment has it.
pub(crate) fn login_name() -> Option<String> {
    let names = ["USER", "LOGNAME", "USERNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
    names.map(|name| crate::visible::visible(&name)).find(|name| !name.is_empty())
}

/// A decision, and whose it is where somebody made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// What was decided.
    pub decision: Decision,
    /// By whom.
    pub by: Option<Decider>,
}

impl From<Decision> for Reply {
    /// Nobody's decision.
    fn from(decision: Decision) -> Self {
        Self { decision, by: None }
    }
}

/// Somebody who decides.
#[async_trait]
pub trait Approver: Send + Sync + 'static {
    /// Asks and waits. Dropping the future withdraws the question.
    async fn decide(&self, request: ApprovalRequest) -> Reply;
}

/// Nobody decides: whatever would be asked fails with `approval-required`.
#[derive(Clone, Copy, Debug, Default)]
pub struct NobodyApproves;

#[async_trait]
impl Approver for NobodyApproves {
    async fn decide(&self, _: ApprovalRequest) -> Reply {
        Decision::Unavailable.into()
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
    async fn decide(&self, _: ApprovalRequest) -> Reply {
        Decision::Denied(self.0.clone()).into()
    }
}

/// What becomes of calls that a person has to decide: `[approvals] mode`, `--approvals`, and `approvals` of a
/// profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalMode {
    /// A person is asked in the terminal that the run was started from, if there is one.
    #[default]
    Terminal,
    /// They wait in a queue, and a person decides with `postern approvals`.
    Queue,
    /// Nobody is asked: they fail with approval-required, so that somebody can run the job again.
    Never,
    /// They are refused, as if a person had said no.
    Deny,
}

impl ApprovalMode {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::Queue => "queue",
            Self::Never => "never",
            Self::Deny => "deny",
        }
    }

    /// What counts when this is the rule and something narrower has its own: where people are asked is
    /// for the narrower to say, that they are asked at all is not.
    #[must_use]
    pub fn narrowed(self, own: Option<Self>) -> Self {
        own.filter(|own| !self.is_stricter_than(*own)).unwrap_or(self)
    }

    /// Whether less can come of a call: refused, or nobody asked, where the other asks.
    pub fn is_stricter_than(self, other: Self) -> bool {
        let strictness = |mode| match mode {
            Self::Terminal | Self::Queue => 0,
            Self::Never => 1,
            Self::Deny => 2,
        };
        strictness(self) > strictness(other)
    }
}

/// How long a question stays open when nothing else is said.
pub const DEFAULT_APPROVAL_TIME: Duration = Duration::from_secs(600);

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use postern_check::evidence::Origin;

    use super::*;

    /// A request to call `t/send` with these arguments, all of which decide what it reaches.
    pub(super) fn request(arguments: &str) -> ApprovalRequest {
        let arguments: Map<String, Value> = serde_json::from_str(arguments).unwrap();
        let fact = |(name, value): (&String, &Value)| ArgumentFact {
            path: format!("/{name}"),
            value: value.as_str().map_or_else(|| value.to_string(), str::to_owned),
            authority: true,
            origin: Origin::Literal,
            from: Vec::new(),
        };
        let origins: Vec<ArgumentFact> = arguments.iter().map(fact).collect();
        let likeness = Likeness {
            tool: "t/send".into(),
            definition_sha256: "d".into(),
            policy_version: "p".into(),
            places: places(&origins, &arguments),
            reasons: vec!["unsafe".into()],
        };
        ApprovalRequest {
            id: uuid::Uuid::new_v4().to_string(),
            seal: "5ea1".into(),
            run: "r".into(),
            agent: Agent::default(),
            tool: "t/send".into(),
            definition_sha256: "d".into(),
            policy_version: "p".into(),
            arguments,
            origins,
            intent: "Write to Ann".into(),
            reasons: vec![Reason::new("unsafe", "unsafe 0.50")],
            scores: None,
            alike: Some(likeness),
            asked: jiff::Timestamp::now(),
            expires: jiff::Timestamp::now() + jiff::SignedDuration::from_secs(60),
            redactor: Arc::new(Redactor::new(&[]).unwrap()),
        }
    }

    #[test]
    fn what_is_narrower_cannot_ask_where_nobody_is_asked() {
        use ApprovalMode::{Deny, Never, Queue, Terminal};
        for (rule, own, counts) in [
            (Terminal, None, Terminal),
            (Terminal, Some(Queue), Queue),
            (Queue, Some(Terminal), Terminal),
            (Queue, Some(Never), Never),
            (Never, Some(Queue), Never),
            (Never, Some(Deny), Deny),
            (Deny, Some(Never), Deny),
        ] {
            assert_eq!(rule.narrowed(own), counts, "{rule:?} {own:?}");
        }
    }
}
