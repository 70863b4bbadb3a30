//! What is known of one call when it is decided. Plain data: it is filled by the ledger, the parsers,
//! the constraints, the pins and the guard, and read by the policy.

use postern_check::evidence::{Origin, Trust};
use postern_check::{Scores, Thresholds, Trigger};
use serde::{Deserialize, Serialize};

/// On whose behalf a run acts. Comes from the configuration or the embedder, never from the script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Agent {
    /// The agent.
    pub id: String,
    /// Who answers for it.
    pub owner: String,
}

impl Default for Agent {
    fn default() -> Self {
        Self { id: "default".into(), owner: "local".into() }
    }
}

/// What may flow out through a tool, and to whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sink {
    /// Nothing leaves: it reads or computes.
    None,
    /// It reaches only what the user's own side can see.
    #[default]
    Private,
    /// Others may read what is given to it.
    Public,
}

/// Who may see what a tool returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// Anyone.
    #[default]
    Public,
    /// Only the user's own side.
    Private,
    /// Not even all of it: keys, passwords.
    Secret,
}

/// The labels of one tool as they apply to one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Labels {
    /// Whether its results may be taken as the user's own words.
    pub trust: Trust,
    /// Where what is given to it goes.
    pub sink: Sink,
    /// Who may see what it returns.
    pub holds: Holds,
}

/// One leaf of the arguments.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArgumentFact {
    /// JSON pointer into the arguments.
    pub path: String,
    /// The value as text; a path argument as the parsers have put it straight.
    pub value: String,
    /// It decides whom or what the call reaches.
    pub authority: bool,
    /// The worst origin of its parts.
    pub origin: Origin,
    /// The tools whose results hold it, as `server/tool`.
    pub from: Vec<String>,
}

/// Something that a step has found out about a call. It decides nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// A stable name; the policy refers to it.
    pub code: &'static str,
    /// JSON pointer to the argument that it is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// For people.
    pub message: String,
}

impl Finding {
    /// A finding about the call as a whole.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, path: None, message: message.into() }
    }

    /// A finding about one argument.
    pub fn at(code: &'static str, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code, path: Some(path.into()), message: message.into() }
    }
}

/// All that is known of a call.
#[derive(Clone, Debug, Serialize)]
pub struct CallFacts {
    /// On whose behalf.
    pub agent: Agent,
    /// The server's name in the configuration.
    pub server: String,
    /// The tool's own name.
    pub tool: String,
    /// The profile of the run, if it has one.
    pub profile: Option<String>,
    /// Known not to change anything: a trusted server says so.
    pub read_only: bool,
    /// It sends something out or does what cannot be taken back.
    pub outside: bool,
    /// As they apply to this call.
    pub labels: Labels,
    /// Every leaf of the arguments, in their order.
    pub arguments: Vec<ArgumentFact>,
    /// What the steps have found out.
    pub findings: Vec<Finding>,
    /// What made the agent act.
    pub trigger: Trigger,
    /// Attempts of this run so far, this one included.
    pub calls: u32,
    /// The arguments name a target (see `postern_check::Facts`).
    pub names_target: bool,
    /// What the tool's definition says of side effects, where it may be believed.
    pub side_effects: Option<bool>,
    /// What the guard said; `None` before it was asked, or without one.
    pub scores: Option<Scores>,
    /// When scores mean asking and blocking.
    pub thresholds: Thresholds,
}
