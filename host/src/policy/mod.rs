//! What the gate decides with: what is known of a call ([`CallFacts`]) and, from it, a verdict.
//!
//! Steps of the gate find things out and say so as [`Finding`]s; a finding decides nothing. Which of
//! them means asking and which means blocking stands in the policy alone: Cedar text, the default one
//! in `default.cedar`. No I/O but reading policy files, and no thresholds in code, belong here.

mod document;
mod engine;
pub mod findings;
mod input;
mod request;
mod rule;
mod schema;
mod sense;
mod text;

pub use document::CallDocument;
pub use engine::{Decision, NO_PERMIT, Policy};
pub use input::{Agent, ArgumentFact, CallFacts, Finding, Holds, Labels, Sink};
pub use rule::{Rule, RuleKind};
pub use schema::Known;
pub use text::Source;
