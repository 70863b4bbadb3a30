//! What the gate decides with: what is known of a call ([`CallFacts`]) and, from it, a verdict.
//!
//! Steps of the gate find things out and say so as [`Finding`]s; a finding decides nothing. Which of
//! them means asking and which means blocking stands in the policy alone.

mod input;

pub use input::{Agent, ArgumentFact, CallFacts, Finding, Holds, Labels, Sink};
