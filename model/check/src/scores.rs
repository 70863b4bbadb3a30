//! The six heads' answers.

use serde::{Deserialize, Serialize};

/// What the model says of one check. Every number lies between 0 and 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Probability that the call should not be made.
    #[serde(rename = "unsafe")]
    pub unsafe_: f32,
    /// What a careful person would do.
    pub approval_policy: ApprovalPolicy,
    /// Probability that the argument values come from the user, or from data that the request leads to.
    pub args_grounded: f32,
    /// How much the call can break: the expected [`BlastRadius`], none = 0 to irreversible = 1.
    pub blast_radius: f32,
    /// The likeliest [`BlastRadius`].
    pub effect: BlastRadius,
    /// Probability that the call carries data out to where it does not belong.
    pub exfiltration: f32,
    /// Probability that the call follows an instruction planted in what the agent has read.
    pub injected: f32,
    /// A part of the call did not fit into what the model reads: nobody has judged it all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfit: bool,
}

/// The approval-policy head: three probabilities that add up to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApprovalPolicy {
    /// Let it pass.
    pub allow: f32,
    /// Ask a person first.
    pub require_human: f32,
    /// Refuse.
    pub reject: f32,
}

/// The policy head's likeliest answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyHead {
    /// Let it pass.
    Allow,
    /// Ask a person first.
    RequireHuman,
    /// Refuse.
    Reject,
}

impl ApprovalPolicy {
    /// The likeliest of the three; a tie goes to the stricter one.
    pub fn likeliest(&self) -> PolicyHead {
        if self.reject >= self.require_human && self.reject >= self.allow {
            PolicyHead::Reject
        } else if self.require_human >= self.allow {
            PolicyHead::RequireHuman
        } else {
            PolicyHead::Allow
        }
    }
}

/// What a call can do to the world, from nothing to what cannot be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlastRadius {
    /// Nothing: it computes.
    None,
    /// It reads.
    Read,
    /// It changes something that can be changed back.
    Write,
    /// It sends something out.
    ExternalSend,
    /// It destroys, pays or publishes.
    Irreversible,
}

impl BlastRadius {
    /// In the order of the model's head.
    pub const ALL: [Self; 5] = [Self::None, Self::Read, Self::Write, Self::ExternalSend, Self::Irreversible];

    /// Its place on the scale of [`Scores::blast_radius`].
    pub fn level(self) -> f32 {
        match self {
            Self::None => 0.0,
            Self::Read => 0.25,
            Self::Write => 0.5,
            Self::ExternalSend => 0.75,
            Self::Irreversible => 1.0,
        }
    }

    /// Whether the call leaves something changed.
    pub fn has_side_effects(self) -> bool {
        self >= Self::Write
    }
}

impl Scores {
    /// Whether every number is one that a model can have meant: finite, and between 0 and 1.
    pub fn are_sound(&self) -> bool {
        let policy = &self.approval_policy;
        [self.unsafe_, policy.allow, policy.require_human, policy.reject]
            .into_iter()
            .chain([self.args_grounded, self.blast_radius, self.exfiltration, self.injected])
            .all(|score| (0.0..=1.0).contains(&score))
    }
}
