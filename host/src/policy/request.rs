//! From what is known of a call to what Cedar evaluates: principal, action, resource, context and the
//! few entities that belong to one call.

use std::collections::HashSet;
use std::sync::LazyLock;

use cedar_policy::{
    Context, Entities, Entity, EntityId, EntityTypeName, EntityUid, Request, RestrictedExpression,
};
use postern_check::evidence::{Origin, Trust};
use postern_check::{BlastRadius, PolicyHead, Scores, Thresholds, Trigger};

use super::input::{CallFacts, Holds, Sink};
use super::schema::{ANY_CALL, EFFECT, HOLDS, ORIGIN, POLICY_HEAD, SIDE_EFFECTS, SINK, TRIGGER, TRUST};

/// The Cedar types of the schema.
static TYPES: LazyLock<Option<[EntityTypeName; 4]>> = LazyLock::new(|| {
    let name = |name: &str| name.parse::<EntityTypeName>().ok();
    Some([name("Agent")?, name("Action")?, name("Server")?, name("Call")?])
});

/// What Cedar evaluates. With `arguments`, every leaf becomes a tag of the call; without, none: a policy
/// that does not look at arguments need not pay for them.
///
/// # Errors
/// If Cedar does not take it. The call is then refused.
pub(super) fn build(facts: &CallFacts, arguments: bool) -> Result<(Request, Entities), String> {
    let [agent, action, server, call] = TYPES.as_ref().ok_or("the names of the types cannot be read")?;
    let uid =
        |kind: &EntityTypeName, id: String| EntityUid::from_type_name_and_id(kind.clone(), EntityId::new(id));
    let agent = uid(agent, facts.agent.id.clone());
    let any_call = uid(action, ANY_CALL.to_owned());
    let action = uid(action, format!("{}/{}", facts.server, facts.tool));
    let server = uid(server, facts.server.clone());
    let call = uid(call, facts.calls.to_string());

    let text = |value: &str| RestrictedExpression::new_string(value.to_owned());
    let tags: Vec<(String, RestrictedExpression)> = match arguments {
        true => facts.arguments.iter().map(|a| (tag(&a.path), text(&a.value))).collect(),
        false => Vec::new(),
    };
    let of_agent = [("owner".to_owned(), text(&facts.agent.owner))];
    let of_server = [("trust".to_owned(), text(trust(facts.labels.trust)))];
    let wrong = |e: &dyn std::fmt::Display| e.to_string();
    let entities = [
        Entity::new_with_tags(agent.clone(), of_agent, [], []).map_err(|e| wrong(&e))?,
        Entity::new_with_tags(server.clone(), of_server, [], []).map_err(|e| wrong(&e))?,
        Entity::new_no_attrs(action.clone(), HashSet::from([any_call.clone()])),
        Entity::new_no_attrs(any_call, HashSet::new()),
        Entity::new_with_tags(call.clone(), [], [], tags).map_err(|e| wrong(&e))?,
    ];
    let entities = Entities::from_entities(entities, None).map_err(|e| wrong(&e))?;
    let context = Context::from_pairs(context(facts, call)?).map_err(|e| wrong(&e))?;
    // No schema: that this fits it is a test's business and would cost every call.
    let request = Request::new(agent, action, server, context, None).map_err(|e| wrong(&e))?;
    Ok((request, entities))
}

fn context(facts: &CallFacts, call: EntityUid) -> Result<Vec<(String, RestrictedExpression)>, String> {
    let text = |value: &str| RestrictedExpression::new_string(value.to_owned());
    let yes = RestrictedExpression::new_bool;
    let origins = |authority: bool| {
        let of: HashSet<Origin> =
            facts.arguments.iter().filter(|a| a.authority || !authority).map(|a| a.origin).collect();
        RestrictedExpression::new_set(of.into_iter().map(|origin| text(name_of(origin))))
    };
    let findings: HashSet<&str> = facts.findings.iter().map(|finding| finding.code).collect();
    let side_effects = match facts.side_effects {
        Some(true) => SIDE_EFFECTS[0],
        Some(false) => SIDE_EFFECTS[1],
        None => SIDE_EFFECTS[2],
    };
    let sink = match facts.labels.sink {
        Sink::None => SINK[0],
        Sink::Private => SINK[1],
        Sink::Public => SINK[2],
    };
    let holds = match facts.labels.holds {
        Holds::Public => HOLDS[0],
        Holds::Private => HOLDS[1],
        Holds::Secret => HOLDS[2],
    };
    let trigger = match facts.trigger {
        Trigger::User => TRIGGER[0],
        Trigger::ToolResult => TRIGGER[1],
    };
    let mut pairs = vec![
        ("findings", RestrictedExpression::new_set(findings.into_iter().map(text))),
        ("origins", origins(false)),
        ("authority_origins", origins(true)),
        ("trust", text(trust(facts.labels.trust))),
        ("sink", text(sink)),
        ("holds", text(holds)),
        ("read_only", yes(facts.read_only)),
        ("outside", yes(facts.outside)),
        ("changes", yes(changes(facts))),
        ("names_target", yes(facts.names_target)),
        ("side_effects", text(side_effects)),
        ("trigger", text(trigger)),
        ("calls", RestrictedExpression::new_long(facts.calls.into())),
        ("thresholds", thresholds(&facts.thresholds)?),
        ("call", RestrictedExpression::new_entity_uid(call)),
    ];
    if let Some(profile) = &facts.profile {
        pairs.push(("profile", text(profile)));
    }
    if let Some(of) = &facts.scores {
        pairs.push(("scores", scores(of)?));
    }
    Ok(pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Whether the call changes something: as its definition says, else as the model thinks.
fn changes(facts: &CallFacts) -> bool {
    let model = facts.scores.as_ref().is_some_and(|scores| scores.effect.has_side_effects());
    facts.side_effects.unwrap_or(model)
}

fn scores(scores: &Scores) -> Result<RestrictedExpression, String> {
    let policy = &scores.approval_policy;
    let head = match policy.likeliest() {
        PolicyHead::Allow => POLICY_HEAD[0],
        PolicyHead::RequireHuman => POLICY_HEAD[1],
        PolicyHead::Reject => POLICY_HEAD[2],
    };
    let effect = match scores.effect {
        BlastRadius::None => EFFECT[0],
        BlastRadius::Read => EFFECT[1],
        BlastRadius::Write => EFFECT[2],
        BlastRadius::ExternalSend => EFFECT[3],
        BlastRadius::Irreversible => EFFECT[4],
    };
    // A score that is none counts as the worst.
    let worst_high = |score| if sound(score) { thousandths(score) } else { 1_000 };
    let worst_low = |score| if sound(score) { thousandths(score) } else { 0 };
    record([
        ("sound", RestrictedExpression::new_bool(scores.are_sound())),
        ("unfit", RestrictedExpression::new_bool(scores.unfit)),
        ("unsafe", RestrictedExpression::new_long(worst_high(scores.unsafe_))),
        ("args_grounded", RestrictedExpression::new_long(worst_low(scores.args_grounded))),
        ("blast_radius", RestrictedExpression::new_long(worst_high(scores.blast_radius))),
        ("exfiltration", RestrictedExpression::new_long(worst_high(scores.exfiltration))),
        ("injected", RestrictedExpression::new_long(worst_high(scores.injected))),
        ("allow", RestrictedExpression::new_long(worst_low(policy.allow))),
        ("require_human", RestrictedExpression::new_long(worst_high(policy.require_human))),
        ("reject", RestrictedExpression::new_long(worst_high(policy.reject))),
        ("policy", RestrictedExpression::new_string(head.to_owned())),
        ("effect", RestrictedExpression::new_string(effect.to_owned())),
    ])
}

/// A threshold between two thousandths becomes the stricter of them.
fn thresholds(thresholds: &Thresholds) -> Result<RestrictedExpression, String> {
    let from = |threshold| if sound(threshold) { thousandths(threshold) } else { 0 };
    let below = |threshold| match from(threshold) {
        low if sound(threshold) && step(low) < threshold => low + 1,
        low if sound(threshold) => low,
        _ => 1_000,
    };
    record([
        ("block_unsafe", RestrictedExpression::new_long(from(thresholds.block_unsafe))),
        ("ask_unsafe", RestrictedExpression::new_long(from(thresholds.ask_unsafe))),
        ("ask_ungrounded", RestrictedExpression::new_long(below(thresholds.ask_ungrounded))),
        ("policy_head", RestrictedExpression::new_bool(thresholds.policy_head)),
    ])
}

fn record<const N: usize>(fields: [(&str, RestrictedExpression); N]) -> Result<RestrictedExpression, String> {
    let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
    RestrictedExpression::new_record(fields).map_err(|e| e.to_string())
}

fn sound(number: f32) -> bool {
    (0.0..=1.0).contains(&number)
}

/// The greatest number of thousandths that is not above `score`, which lies between 0 and 1. Compared
/// as f32, for that is how the configuration's 0.8 is kept: so 0.8 is 800 and what is just below is 799.
fn thousandths(score: f32) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "between 0 and 1000")]
    let near = (f64::from(score) * 1_000.0).round() as i64;
    (near - 1..=near + 1).rev().find(|count| step(*count) <= score).unwrap_or(0).clamp(0, 1_000)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "at most 1001")]
fn step(count: i64) -> f32 {
    (count as f64 / 1_000.0) as f32
}

fn trust(trust: Trust) -> &'static str {
    match trust {
        Trust::Untrusted => TRUST[0],
        Trust::Trusted => TRUST[1],
    }
}

fn name_of(origin: Origin) -> &'static str {
    let at = Origin::ALL.iter().position(|other| *other == origin);
    at.map_or(ORIGIN[ORIGIN.len() - 1], |at| ORIGIN[at])
}

/// The tag of an argument: its JSON pointer with dots. A dot or backslash that is part of a name gets a
/// backslash, so that no two arguments have the same tag.
pub(super) fn tag(pointer: &str) -> String {
    let part =
        |part: &str| part.replace("~1", "/").replace("~0", "~").replace('\\', "\\\\").replace('.', "\\.");
    pointer.split('/').skip(1).map(part).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousandths_are_exact_at_every_step() {
        for count in 0..=1_000 {
            assert_eq!(thousandths(step(count)), count);
            if count > 0 {
                assert_eq!(thousandths(step(count).next_down()), count - 1, "{count}");
            }
        }
    }

    #[test]
    fn tags_tell_arguments_apart() {
        assert_eq!(tag("/to"), "to");
        assert_eq!(tag("/message/to/0"), "message.to.0");
        assert_eq!(tag("/a.b"), "a\\.b");
        assert_eq!(tag("/a~1b~0"), "a/b~");
        assert_eq!(tag("/a\\.b"), "a\\\\\\.b");
        assert_ne!(tag("/a/b"), tag("/a.b"));
    }
}
