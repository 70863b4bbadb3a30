//! What the lines of journal.jsonl say: an attempt when it is made, its outcome when it is known, and at the end that
//! it is the end. An attempt without an outcome was cut off with the host. How lines are chained is in `chain`.

use postern_check::{Reason, Scores, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::facts::RecordedFacts;

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Entry {
    /// A script wants to call a tool.
    Attempt(Attempt),
    /// What came of it.
    Outcome(Box<Outcome>),
    /// The run came to its end; nothing but a seal follows.
    End(End),
}

/// The run came to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// When.
    pub at: jiff::Timestamp,
    /// SHA-256 of report.json.
    pub report_sha256: String,
    /// What lies in /out.
    pub artifacts: Vec<crate::sandbox::ArtifactFile>,
}

/// A script wants to call a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// 1 for the first of the run.
    pub call: u32,
    /// When.
    pub at: jiff::Timestamp,
    /// `server/tool`, as the script wrote it.
    pub tool: String,
    /// The arguments; a text, possibly cut, when they were no JSON object.
    pub arguments: Value,
}

/// What came of an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Of the attempt.
    pub call: u32,
    /// When.
    pub at: jiff::Timestamp,
    /// What the gate decided.
    pub verdict: Verdict,
    /// Null when the call succeeded, else the tool error's code.
    pub code: Option<String>,
    /// Why the gate decided so; or what went wrong.
    pub reasons: Vec<Reason>,
    /// What the guard said, if it was asked.
    pub scores: Option<Scores>,
    /// Whether the call reached its server.
    pub dispatched: bool,
    /// SHA-256 of the tool's definition, once it was looked up.
    pub definition_sha256: Option<String>,
    /// SHA-256 of the JSON text that the script got as its result, if there was one.
    pub result_sha256: Option<String>,
    /// Bytes of that text.
    pub result_bytes: Option<u64>,
    /// What the server said beside its structured result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Value>,
    /// What was found in the result, and what became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_label: Option<crate::scan::ResultLabel>,
    /// What was known of the call when it was decided; absent if it ended before anything was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<Box<RecordedFacts>>,
    /// What came of asking a person: about the call, and then about links that its server wanted opened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<RecordedApproval>,
    /// Where the time went.
    pub timings: Timings,
}

/// What came of asking a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedApproval {
    /// The name of the question: a UUID. Where an earlier answer covered the call, of the question that it was to.
    pub question: String,
    /// What was said.
    pub said: Said,
    /// Who said it; absent if nobody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Decider>,
}

/// Who decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decider {
    /// How: `terminal`, `queue`, or what an embedder calls its own way.
    pub via: String,
    /// Who it was by their own account: the login name, unless they said another. A claim and no proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
}

impl Decider {
    pub(crate) fn of(via: &str, who: Option<String>) -> Self {
        Self { via: via.to_owned(), who }
    }
}

/// What was said to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Said {
    /// Yes, to this call.
    Approved,
    /// Yes, to this call and to those like it.
    ApprovedLike,
    /// Nothing was asked: a yes to a like call covered this one.
    Covered,
    /// No.
    Denied,
    /// The answer did not count.
    Void,
    /// There was nobody to ask.
    Nobody,
    /// Nobody answered in time.
    Expired,
}

impl Said {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::ApprovedLike => "approved, and calls like it",
            Self::Covered => "covered by the approval of a like call",
            Self::Denied => "refused",
            Self::Void => "answered in a way that does not count",
            Self::Nobody => "not asked: there was nobody",
            Self::Expired => "not answered in time",
        }
    }
}

/// Where the time of one call went, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timings {
    /// Looking the tool up, starting its server if need be.
    pub resolve_ms: f64,
    /// The guard.
    pub guard_ms: f64,
    /// Waiting for a person.
    pub approval_ms: f64,
    /// Waiting for a free place among the calls at once.
    pub queue_ms: f64,
    /// The server.
    pub upstream_ms: f64,
    /// All of it.
    pub total_ms: f64,
}
