//! Step 5: what the guard model says. No guard, no call.

use postern_check::{Action, Check, Facts, Reason, Trigger, Verdict, judge};

use super::attempt::Attempt;
use super::{Call, Inner};
use crate::upstream::ToolDefinition;
use crate::{ToolError, ToolErrorCode};

impl Inner {
    pub(super) async fn guard(&self, attempt: &mut Attempt<'_>, call: &Call) -> Result<(), ToolError> {
        let Some(guard) = &self.parts.guard else { return Ok(()) };
        let (check, incomplete) = self.check(call);
        // Tools of this very process have no configuration: whoever put them there trusts them.
        let config = self.parts.upstreams.config(&call.definition.server);
        let trusted = config.is_none_or(|config| config.trusted);
        let facts = Facts::of(&check.action, side_effects(&call.definition, trusted));

        let scores = attempt.timed(|t| &mut t.guard_ms, guard.score(check)).await.map_err(|down| {
            let message = format!(
                "{}: the guard cannot be asked, so nothing is let through: {down}",
                call.definition.id()
            );
            ToolError::new(ToolErrorCode::GuardUnavailable, message).retryable()
        })?;
        let judgement = judge(&scores, &self.parts.thresholds, facts);
        attempt.scores = Some(scores);
        attempt.tighten(judgement.verdict, judgement.reasons);
        if incomplete && facts.side_effects != Some(false) {
            let message = "the run has read more than the guard can be shown";
            attempt.tighten(Verdict::Ask, [Reason::new("context-incomplete", message)]);
        }
        if attempt.verdict == Verdict::Block {
            let message = format!("{}: blocked: {}", call.definition.id(), attempt.because());
            let details = serde_json::json!({ "reasons": attempt.reasons });
            return Err(ToolError::new(ToolErrorCode::Blocked, message).with_details(details));
        }
        Ok(())
    }

    fn check(&self, call: &Call) -> (Check, bool) {
        let context = self.context();
        let check = Check {
            action: Action {
                tool: format!("{}.{}", call.definition.server, call.definition.name),
                args: call.arguments.clone(),
            },
            intent: self.parts.intent.clone(),
            trigger: if context.is_empty() { Trigger::User } else { Trigger::ToolResult },
            constraints: self.parts.constraints.clone(),
            context: context.text().to_owned(),
        };
        (check, context.incomplete())
    }
}

/// What the tool's own hints say about side effects. A server that is not trusted can only make
/// itself look worse.
fn side_effects(tool: &ToolDefinition, trusted: bool) -> Option<bool> {
    let hints = &tool.annotations;
    match (hints.read_only, hints.destructive) {
        (Some(true), _) if trusted => Some(false),
        (Some(false), _) => Some(true),
        (None, Some(true)) => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::Annotations;

    #[test]
    fn an_untrusted_server_cannot_call_itself_harmless() {
        let tool = |read_only, destructive| {
            let hints = Annotations { read_only, destructive, ..Annotations::default() };
            ToolDefinition::new("s", "t", serde_json::json!({})).with_annotations(hints)
        };
        assert_eq!(side_effects(&tool(Some(true), None), false), None);
        assert_eq!(side_effects(&tool(Some(true), None), true), Some(false));
        assert_eq!(side_effects(&tool(Some(false), None), false), Some(true));
        assert_eq!(side_effects(&tool(None, Some(true)), false), Some(true));
        assert_eq!(side_effects(&tool(None, None), true), None);
    }
}
