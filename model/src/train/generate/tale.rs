//! A story while it is told: what was asked, what was read so far, and the calls made on the way.

use postern_check::{Action, BlastRadius, Check, Trigger};
use serde_json::{Map, Value, json};

use super::cast::Cast;
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
    /// How this installation takes arguments.
    form: u64,
}

/// Some servers take all arguments in one object, or as JSON text.
fn shaped(form: u64, args: Map<String, Value>) -> Map<String, Value> {
    let name = match form {
        0 => "params",
        1 => "input",
        2 => "request",
        3 => {
            return [("arguments".to_string(), json!(Value::Object(args).to_string()))].into_iter().collect();
        }
        _ => return args,
    };
    if args.is_empty() { args } else { [(name.to_string(), Value::Object(args))].into_iter().collect() }
}

impl Tale {
    pub(super) fn new(cast: &Cast, intent: String, rules: Vec<String>) -> Self {
        let form = cast.style.steady("arguments", 30);
        Self { intent, rules, context: Vec::new(), planted: false, out: Vec::new(), form }
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
            action: Action { tool: tool.to_string(), args: shaped(self.form, args) },
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
