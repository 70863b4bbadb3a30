//! A story while it is told: what was asked, what was read so far, and the calls made on the way.

use postern_check::{Action, BlastRadius, Check, Trigger};
use serde_json::{Map, Value};

use super::goal::Goal;
use super::{Labelled, Truth, label};

/// A story while it is told.
pub(super) struct Tale {
    pub(super) intent: String,
    pub(super) rules: Vec<String>,
    /// Results so far, as the host writes them.
    context: Vec<String>,
    /// Whether something planted was read.
    pub(super) planted: bool,
    pub(super) out: Vec<Labelled>,
}

impl Tale {
    pub(super) fn new(intent: String, rules: Vec<String>) -> Self {
        Self { intent, rules, context: Vec::new(), planted: false, out: Vec::new() }
    }

    /// A result that the agent reads.
    pub(super) fn result(&mut self, tool: &str, text: &str) {
        self.context.push(format!("[{tool}] {text}"));
    }

    /// A call at this point of the story.
    pub(super) fn call(
        &mut self,
        family: &str,
        tool: &str,
        args: Map<String, Value>,
        effect: BlastRadius,
        truth: Truth,
    ) {
        let context = self.context.join("\n");
        let check = Check {
            action: Action { tool: tool.to_string(), args },
            intent: self.intent.clone(),
            trigger: if context.is_empty() { Trigger::User } else { Trigger::ToolResult },
            constraints: self.rules.clone(),
            context,
        };
        self.out.push(label(check, effect, truth, self.planted, family));
    }

    /// The call that reaches a goal.
    pub(super) fn reach(&mut self, goal: &Goal, truth: Truth) {
        self.call(goal.domain.name, &goal.tool, goal.args.clone(), goal.act.effect, truth);
    }
}
