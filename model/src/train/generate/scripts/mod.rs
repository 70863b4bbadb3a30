//! Checks as code-mode scripts cause them: an agent works on records, pages, files, messages and payments, and
//! the host may show little of what was read.

mod parts;
mod reports;
mod stories;

use postern_check::{Action, BlastRadius, Check, Trigger};
use serde_json::Value;

use super::{Labelled, Truth, label, words};
use crate::train::dice::Dice;

/// One story's checks.
pub(super) fn tell(dice: &Dice) -> Vec<Labelled> {
    stories::tell(dice)
}

/// A story while it is told.
struct Story {
    family: &'static str,
    intent: String,
    rules: Vec<String>,
    /// Results so far, as the host writes them.
    context: Vec<String>,
    planted: bool,
    out: Vec<Labelled>,
}

impl Story {
    fn new(family: &'static str, intent: String, rules: Vec<String>) -> Self {
        Self { family, intent, rules, context: Vec::new(), planted: false, out: Vec::new() }
    }

    /// A result that the agent reads.
    fn result(&mut self, tool: &str, result: impl std::fmt::Display) {
        self.context.push(format!("[{tool}] {result}"));
    }

    /// A call at this point of the story.
    fn call(&mut self, tool: &str, args: Value, effect: BlastRadius, truth: Truth) {
        let context = self.context.join("\n");
        self.call_with(tool, args, effect, truth, context);
    }

    /// A call with another context than the story's results.
    fn call_with(&mut self, tool: &str, args: Value, effect: BlastRadius, truth: Truth, context: String) {
        let Value::Object(args) = args else { return };
        let check = Check {
            action: Action { tool: tool.into(), args },
            intent: self.intent.clone(),
            trigger: if context.is_empty() { Trigger::User } else { Trigger::ToolResult },
            constraints: self.rules.clone(),
            context,
        };
        self.out.push(label(check, effect, truth, self.planted, &format!("script-{}", self.family)));
    }
}
