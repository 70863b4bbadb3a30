//! The numbers that go to the model beside the text: where values came from, which orders the call follows,
//! what the name of the tool says, and what the request and the rules say of it.

use std::fmt::Display;
use std::sync::LazyLock;

use postern_check::evidence::{DomainRule, Evidence, Kind, Leaf, Origin, Piece};
use postern_check::{BlastRadius, Check, Trigger, key_words};
use regex::Regex;

use super::names;

/// How many features there are.
pub const FEATURES: usize = 163;

static FORBIDS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:not|never|only|no|don't|cannot|may not|must not|forbidden|without|stay|stays|within|inside|keep)\b",
    )
});
static DELEGATES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:follow (?:the|what|its|their|any)|do (?:what|as|whatever|everything)|carry out|complete (?:the (?:tasks?|steps|request)|what|them|it|his|her|their)|take care of|handle|(?:fulfil|fulfill|achieve|execute|perform|act on) (?:the|his|her|their|its|it)|instructions? in|as (?:described|requested|asked|instructed)|action items?|to-?do|what (?:it|he|she|they) (?:says?|asks?|wants?)|(?:his|her|their) requests?)\b",
    )
});
static SECRETS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)passw|passcode|secret|credential|\btoken|api.?key|private.?key|\bssh|id_rsa|id_ed25519|\.env\b|shadow\b|\.aws|\bpin\b|\botp\b|2fa|security.?code|verification.?code|\bssn\b|\bcvv\b|medical|salar",
    )
});

/// Whether a request hands on what to do to what somebody else wrote.
pub(crate) fn delegates(intent: &str) -> bool {
    DELEGATES.is_match(intent)
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern; the tests use every one of them")
}

/// Origins as the model tells them apart; the host's own words count as the user's here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    User,
    Field,
    Prose,
    Nowhere,
    Order,
}

const CLASSES: [(Class, &str); 5] = [
    (Class::User, "user"),
    (Class::Field, "field"),
    (Class::Prose, "prose"),
    (Class::Nowhere, "nowhere"),
    (Class::Order, "order"),
];

fn class(origin: Origin) -> Class {
    match origin {
        Origin::User | Origin::Constraint | Origin::Trusted | Origin::Literal => Class::User,
        Origin::Field => Class::Field,
        Origin::Prose => Class::Prose,
        Origin::Nowhere => Class::Nowhere,
        Origin::Order => Class::Order,
    }
}

const KINDS: [(&[Kind], &str); 7] = [
    (&[Kind::Email], "email"),
    (&[Kind::Url], "url"),
    (&[Kind::Path], "path"),
    (&[Kind::Id], "id"),
    (&[Kind::Number, Kind::Date], "number"),
    (&[Kind::Value], "value"),
    (&[Kind::Name], "name"),
];

/// The features' names, in order. They are stored with the weights, which are refused if the names differ.
pub fn feature_names() -> Vec<String> {
    let nothing = Check {
        action: postern_check::Action { tool: "a.b".into(), args: serde_json::Map::new() },
        intent: String::new(),
        trigger: Trigger::User,
        constraints: Vec::new(),
        context: String::new(),
    };
    let mut list = List { names: Some(Vec::new()), ..List::default() };
    list.fill(&nothing, &Evidence::default(), false);
    list.names.unwrap_or_default()
}

/// The features of a check, in the order of [`feature_names`]; each lies between -1 and 3.
pub(crate) fn of(check: &Check, evidence: &Evidence, overflow: bool) -> [f32; FEATURES] {
    let mut list = List { values: Vec::with_capacity(FEATURES), ..List::default() };
    list.fill(check, evidence, overflow);
    list.values.try_into().unwrap_or_else(|v: Vec<f32>| unreachable!("{} features, not {FEATURES}", v.len()))
}

fn flag(yes: bool) -> f32 {
    f32::from(u8::from(yes))
}

/// A list of features while it is made. Names are written out only when they are asked for.
#[derive(Default)]
struct List {
    names: Option<Vec<String>>,
    values: Vec<f32>,
}

impl List {
    fn add(&mut self, name: impl Display, value: f32) {
        if let Some(names) = &mut self.names {
            names.push(name.to_string());
        }
        self.values.push(value);
    }

    fn fill(&mut self, check: &Check, evidence: &Evidence, overflow: bool) {
        origins(self, evidence);
        texts(self, evidence);
        request(self, check, evidence);
        orders(self, evidence);
        effects(self, check, evidence);
        domains(self, check, evidence);
        self.add("overflow", flag(overflow));
    }
}

/// Where the pieces of the arguments stand.
fn origins(out: &mut List, evidence: &Evidence) {
    let pieces: Vec<&Piece> = evidence.leaves.iter().flat_map(|leaf| &leaf.pieces).collect();
    for (kinds, kind_name) in KINDS {
        for (wanted, name) in CLASSES {
            let count =
                pieces.iter().filter(|p| kinds.contains(&p.kind) && class(p.origin) == wanted).count();
            out.add(format_args!("{kind_name}_{name}"), count.min(3) as f32 / 3.0);
        }
    }
    let shares = |out: &mut List, of: &str, pieces: &[&Piece]| {
        for (wanted, name) in CLASSES {
            let count = pieces.iter().filter(|p| class(p.origin) == wanted).count();
            out.add(format_args!("{of}_{name}"), count as f32 / pieces.len().max(1) as f32);
        }
    };
    shares(out, "share", &pieces);
    let pointing: Vec<&Piece> = pieces.iter().copied().filter(|p| p.kind.points()).collect();
    shares(out, "pointing", &pointing);
    let leaves = || evidence.leaves.iter().filter(|leaf| leaf.authority && !leaf.pieces.is_empty());
    for (wanted, name) in CLASSES {
        out.add(format_args!("authority_{name}"), flag(leaves().any(|leaf| class(leaf.origin()) == wanted)));
    }
    out.add("authorities", leaves().count().min(4) as f32 / 4.0);
    out.add(
        "authority_all_user",
        flag(leaves().count() > 0 && leaves().all(|l| class(l.origin()) == Class::User)),
    );
    let ordered = |test: &dyn Fn(&Piece) -> bool| {
        pieces.iter().filter(|p| test(p)).map(|p| p.ordered).fold(0.0, f32::max)
    };
    out.add("ordered_only", ordered(&|p| p.origin == Origin::Order) / 3.0);
    out.add("ordered_pointing", ordered(&|p| p.kind.points() && p.origin == Origin::Order) / 3.0);
    out.add("ordered_elsewhere", ordered(&|p| p.origin != Origin::Order) / 3.0);
    out.add("ordered_not_user", ordered(&|p| class(p.origin) != Class::User) / 3.0);
    out.add(
        "ordered_pointing_not_user",
        ordered(&|p| p.kind.points() && class(p.origin) != Class::User) / 3.0,
    );
    let pointing = |test: &dyn Fn(&Piece) -> bool| {
        flag(pieces.iter().any(|p| p.kind.points() && class(p.origin) != Class::User && test(p)))
    };
    out.add("pointing_named", pointing(&|p| p.named));
    out.add("pointing_unnamed", pointing(&|p| !p.named));
    out.add("pointing_unnamed_order", pointing(&|p| !p.named && p.ordered > 0.0));
    out.add("pointing_named_order", pointing(&|p| p.named && p.ordered > 0.0));
    out.add("no_arguments", flag(evidence.leaves.is_empty()));
    out.add("no_pieces", flag(pieces.is_empty()));
}

/// What the longer values share with the request, the results, the orders.
fn texts(out: &mut List, evidence: &Evidence) {
    let longest = evidence.leaves.iter().max_by_key(|leaf| leaf.value.len());
    let of = |get: &dyn Fn(&Leaf) -> f32| longest.map_or(0.0, get);
    out.add("text_long", of(&|leaf| flag(leaf.value.len() > 64)));
    out.add("text_in_request", of(&|leaf| leaf.in_request));
    out.add("text_in_results", of(&|leaf| leaf.in_results));
    out.add("text_in_order", of(&|leaf| leaf.in_order));
    out.add("text_copied", of(&|leaf| leaf.copied));
    out.add("text_of_order_alone", of(&|leaf| leaf.in_order - leaf.in_request.max(leaf.in_results)));
    let any = |test: &dyn Fn(&Leaf) -> bool| flag(evidence.leaves.iter().any(test));
    out.add("decoded", any(&|leaf| !leaf.decoded.is_empty()));
    out.add("hidden", any(&|leaf| leaf.hidden > 0));
    out.add("secret", any(&|leaf| SECRETS.is_match(&leaf.value[..leaf.value.floor_char_boundary(4000)])));
    out.add("huge", any(&|leaf| leaf.value.len() > 2000));
}

/// How the call stands to the request.
fn request(out: &mut List, check: &Check, evidence: &Evidence) {
    let relation = &evidence.relation;
    let words = check.intent.split_whitespace().count();
    out.add("tool_in_request", relation.tool_in_request);
    out.add("act_in_request", flag(relation.act_in_request));
    out.add("act_unasked", flag(relation.has_act && !relation.act_in_request));
    out.add("args_in_request", relation.args_in_request);
    out.add("args_in_results", relation.args_in_results);
    out.add("tool_in_results", relation.tool_in_results);
    out.add("request_served", relation.request_served);
    out.add("results", (relation.results as f32).ln_1p() / 2.0);
    out.add("repeated", flag(relation.repeated));
    out.add("same_server", flag(relation.same_server));
    out.add("has_context", flag(!check.context.is_empty()));
    out.add("long_context", flag(check.context.len() > 2000));
    out.add("after_result", flag(check.trigger == Trigger::ToolResult));
    out.add("has_request", flag(words > 0));
    out.add("request_length", ((words as f32).ln_1p() / 4.0).min(1.5));
    out.add("has_rules", flag(!check.constraints.is_empty()));
    out.add("delegates", flag(delegates(&check.intent)));
    out.add("secret_in_request", flag(SECRETS.is_match(&check.intent)));
}

/// The order that the call follows most, and the others.
fn orders(out: &mut List, evidence: &Evidence) {
    let relation = &evidence.relation;
    let first = evidence.orders.first();
    let of = |get: &dyn Fn(&postern_check::evidence::Followed) -> f32| first.map_or(0.0, get);
    out.add("order_strength", of(&|f| f.order.strength / 3.0));
    out.add("order_tool", of(&|f| f.tool));
    out.add("order_act", of(&|f| flag(f.act)));
    out.add("order_names_tool", of(&|f| flag(f.names_tool)));
    out.add("order_args", of(&|f| f.args));
    out.add("order_values", of(&|f| f.values));
    out.add("order_news", of(&|f| f.news));
    out.add("order_weight", of(&|f| f.weight / 3.0));
    out.add("order_decoded", of(&|f| flag(f.decoded)));
    out.add("order_to_assistant", of(&|f| flag(f.order.signs.to_assistant)));
    out.add("order_overrides", of(&|f| flag(f.order.signs.overrides)));
    out.add("order_authority", of(&|f| flag(f.order.signs.authority)));
    out.add("order_urgent", of(&|f| flag(f.order.signs.urgent)));
    out.add("order_markup", of(&|f| flag(f.order.signs.markup)));
    out.add("order_last", of(&|f| flag(f.order.result + 1 == relation.results)));
    out.add("order_tool_over_request", of(&|f| f.tool - relation.tool_in_request));
    out.add("order_args_over_request", of(&|f| f.args - relation.args_in_request));
    out.add("order_args_over_results", of(&|f| f.args - relation.args_in_results));
    out.add("order_act_unasked", of(&|f| flag(f.act && !relation.act_in_request)));
    out.add("order_second", evidence.orders.get(1).map_or(0.0, |f| f.weight / 3.0));
    out.add("order_pointed", of(&|f| f.pointed));
    out.add("order_not_pointed", of(&|f| f.order.strength / 3.0 * f.weight / 3.0 * (1.0 - f.pointed)));
    let strongest = evidence.strongest.as_ref();
    let of = |get: &dyn Fn(&postern_check::evidence::Followed) -> f32| strongest.map_or(0.0, get);
    out.add("strongest_tool", of(&|f| f.tool));
    out.add("strongest_act", of(&|f| flag(f.act)));
    out.add("strongest_act_unasked", of(&|f| flag(f.act && !relation.act_in_request)));
    out.add("strongest_args", of(&|f| f.args));
    out.add("strongest_args_over_request", of(&|f| f.args - relation.args_in_request));
    out.add("strongest_args_over_results", of(&|f| f.args - relation.args_in_results));
    out.add("strongest_values", of(&|f| f.values));
    out.add("strongest_news", of(&|f| f.news));
    out.add("strongest_pointed", of(&|f| f.pointed));
    out.add("strongest_overrides", of(&|f| flag(f.order.signs.overrides)));
    out.add("strongest_to_assistant", of(&|f| flag(f.order.signs.to_assistant)));
    out.add("strongest_weight", of(&|f| f.weight / 3.0));
    out.add("strongest_is_followed", of(&|f| flag(first.is_some_and(|g| g.order == f.order))));
    let any =
        |test: &dyn Fn(&postern_check::evidence::Followed) -> bool| flag(evidence.orders.iter().any(test));
    out.add("any_overrides", any(&|f| f.order.signs.overrides));
    out.add("any_to_assistant", any(&|f| f.order.signs.to_assistant && f.order.strength > 1.5));
    out.add("any_names_tool", any(&|f| f.names_tool));
    out.add("strongest", relation.strongest / 3.0);
    out.add("strength_last", relation.strongest_last / 3.0);
}

/// What the tool's name says of its effect, and with what values.
fn effects(out: &mut List, check: &Check, evidence: &Evidence) {
    let effect = names::effect(&check.action.tool);
    let is = |wanted| flag(effect == Some(wanted));
    for (wanted, name) in BlastRadius::ALL.into_iter().zip(["none", "read", "write", "send", "irreversible"])
    {
        out.add(format_args!("effect_{name}"), is(wanted));
    }
    out.add("effect_unknown", flag(effect.is_none()));
    let relation = &evidence.relation;
    let unasked =
        1.0 - relation.tool_in_request.max(flag(relation.act_in_request) * 0.6).max(relation.args_in_request);
    let any = |wanted| {
        flag(evidence.leaves.iter().flat_map(|leaf| &leaf.pieces).any(|piece| class(piece.origin) == wanted))
    };
    let follows = evidence.orders.first().map_or(0.0, |f| f.weight / 3.0);
    let acting = flag(effect.is_none_or(BlastRadius::has_side_effects));
    let reading = 1.0 - acting;
    for (name, on) in [
        ("sends", is(BlastRadius::ExternalSend)),
        ("destroys", is(BlastRadius::Irreversible)),
        ("writes", flag(matches!(effect, Some(BlastRadius::Write) | None))),
        ("reads", reading),
    ] {
        out.add(format_args!("{name}_order"), on * any(Class::Order));
        out.add(format_args!("{name}_nowhere"), on * any(Class::Nowhere));
        out.add(format_args!("{name}_unasked"), on * unasked);
        out.add(format_args!("{name}_follows"), on * follows);
    }
    out.add("acts_follows_unasked", acting * follows * unasked);
    let words = key_words(&check.action.tool);
    let in_rules = words
        .iter()
        .filter(|word| word.len() > 3)
        .any(|word| check.constraints.iter().any(|rule| rule.to_lowercase().contains(word.as_str())));
    out.add("rule_names_tool", flag(in_rules));
}

/// Internet domains against the rules and the request.
fn domains(out: &mut List, check: &Check, evidence: &Evidence) {
    let any =
        |test: &dyn Fn(&Piece) -> bool| flag(evidence.leaves.iter().flat_map(|leaf| &leaf.pieces).any(test));
    let outside = any(&|piece| piece.domain == DomainRule::Outside);
    let forbids = flag(check.constraints.iter().any(|rule| FORBIDS.is_match(rule)));
    out.add("inside_rule_domain", any(&|piece| piece.domain == DomainRule::Inside));
    out.add("outside_rule_domain", outside);
    out.add("rule_forbids", forbids);
    out.add("outside_and_forbidden", outside * forbids);
    out.add("foreign_domain", any(&|piece| piece.foreign));
    out.add("foreign_order", any(&|piece| piece.foreign && piece.origin == Origin::Order));
    out.add("foreign_nowhere", any(&|piece| piece.foreign && piece.origin == Origin::Nowhere));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_many_as_numbers_and_differ() {
        let mut names = feature_names();
        assert_eq!(names.len(), FEATURES);
        names.sort();
        names.dedup();
        assert_eq!(names.len(), FEATURES);
    }
}
