//! The numbers that go to the model beside the text: where values came from, what the name of
//! the tool says, and what the context says of both.

use std::sync::LazyLock;

use postern_check::{BlastRadius, Check, Trigger, key_words};
use regex::Regex;

use super::evidence::Evidence;
use super::names;
use super::origin::{Domain, Kind, Leaf, Origin, Piece, Places};
use super::text::{overlap, stems};

/// How many features there are.
pub const FEATURES: usize = NAMES.len();

/// The features' names, in order. They are stored with the weights, which are refused if the names differ.
pub const NAMES: [&str; 62] = [
    "share_user",
    "share_rule",
    "share_context",
    "share_nowhere",
    "email_user",
    "email_context",
    "email_nowhere",
    "url_user",
    "url_context",
    "url_nowhere",
    "path_user",
    "path_context",
    "path_nowhere",
    "id_user",
    "id_context",
    "id_nowhere",
    "value_user",
    "value_context",
    "value_nowhere",
    "name_user",
    "name_context",
    "name_nowhere",
    "pointer_context",
    "pointer_nowhere",
    "pointers_all_trusted",
    "no_arguments",
    "no_pieces",
    "tool_in_intent",
    "arguments_in_intent",
    "tool_in_context",
    "instructs_tool",
    "instructs_values",
    "overrides",
    "value_instructed",
    "pointer_instructed",
    "has_context",
    "long_context",
    "after_result",
    "has_intent",
    "has_rules",
    "effect_none",
    "effect_read",
    "effect_write",
    "effect_send",
    "effect_irreversible",
    "effect_unknown",
    "effect_asked",
    "sends_to_context",
    "sends_to_nowhere",
    "sends_unasked",
    "destroys_context",
    "destroys_nowhere",
    "destroys_unasked",
    "writes_unasked",
    "reads_instructed",
    "inside_rule_domain",
    "outside_rule_domain",
    "rule_forbids",
    "foreign_domain",
    "outside_and_forbidden",
    "delegates",
    "elided",
];

static FORBIDS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\b(?:not|never|only|no|don't|cannot|may not|forbidden|without|stay|stays|within|inside|keep)\b",
    )
    .expect("a constant pattern; the tests use it")
});
static DELEGATES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\b(?:follow (?:the|what|its|their)|do what|carry out|complete the (?:task|steps)|take care of|handle|instructions? in|as (?:described|requested|asked)|what (?:it|he|she|they) (?:says?|asks?|wants?))\b",
    )
    .expect("a constant pattern; the tests use it")
});

/// The features of a check, in the order of [`NAMES`]; each lies between 0 and 3.
pub(crate) fn of(
    check: &Check,
    places: &Places,
    leaves: &[Leaf],
    evidence: &Evidence,
    elided: bool,
) -> [f32; FEATURES] {
    let pieces: Vec<&Piece> = leaves.iter().flat_map(|leaf| &leaf.pieces).collect();
    let share = |origin| {
        let count = pieces.iter().filter(|piece| piece.origin == origin).count();
        if pieces.is_empty() { 0.0 } else { count as f32 / pieces.len() as f32 }
    };
    let count = |kind, origin| {
        let count = pieces.iter().filter(|piece| piece.kind == kind && piece.origin == origin).count();
        count.min(3) as f32 / 3.0
    };
    let any = |test: &dyn Fn(&Piece) -> bool| flag(pieces.iter().any(|piece| test(piece)));
    let pointers = pieces.iter().filter(|piece| piece.kind.points());
    let trusted = |piece: &&&Piece| matches!(piece.origin, Origin::User | Origin::Rule);
    let pointer_context = any(&|piece| piece.kind.points() && piece.origin == Origin::Context);
    let pointer_nowhere = any(&|piece| piece.kind.points() && piece.origin == Origin::Nowhere);
    let instructed = |piece: &Piece| piece.at.is_some_and(|at| evidence.instructed(at));

    let tool = stems(key_words(&check.action.tool));
    let intent_words = key_words(&check.intent);
    let intent = stems(intent_words.iter().cloned());
    let mut argument_words = Vec::new();
    for leaf in leaves {
        argument_words.extend(key_words(&leaf.value[..super::text::edge(&leaf.value, 2000)]));
    }
    let tool_in_context = if places.context.is_empty() {
        0.0
    } else {
        let there = tool
            .iter()
            .filter(|word| memchr::memmem::find(places.context.as_bytes(), word.as_bytes()).is_some());
        there.count() as f32 / tool.len().max(1) as f32
    };

    let effect = names::effect(&check.action.tool);
    let is = |wanted| flag(effect == Some(wanted));
    let (sends, destroys) = (is(BlastRadius::ExternalSend), is(BlastRadius::Irreversible));
    let writes = flag(matches!(effect, Some(BlastRadius::Write) | None));
    let asked =
        flag(effect.is_some_and(|effect| intent_words.iter().any(|word| verb_effect(word) == Some(effect))));
    let outside = any(&|piece| piece.domain == Domain::Outside);
    let forbids = flag(FORBIDS.is_match(&places.rules));
    let tool_in_intent = overlap(&tool, &intent);

    let mut out = Vec::with_capacity(FEATURES);
    out.extend([Origin::User, Origin::Rule, Origin::Context, Origin::Nowhere].map(share));
    for kind in Kind::ALL {
        out.extend([Origin::User, Origin::Context, Origin::Nowhere].map(|origin| count(kind, origin)));
    }
    out.extend([pointer_context, pointer_nowhere]);
    out.push(flag(pointers.clone().count() > 0 && pointers.clone().all(|piece| trusted(&piece))));
    out.extend([flag(leaves.is_empty()), flag(pieces.is_empty())]);
    out.extend([tool_in_intent, overlap(&stems(argument_words), &intent), tool_in_context]);
    out.extend([evidence.instructs_tool, evidence.instructs_values, flag(evidence.overrides)]);
    out.push(any(&|piece| instructed(piece)));
    out.push(any(&|piece| piece.kind.points() && instructed(piece)));
    out.extend([flag(!places.context.is_empty()), flag(places.context.len() > 2000)]);
    out.extend([
        flag(check.trigger == Trigger::ToolResult),
        flag(!places.intent.trim().is_empty()),
        flag(!places.rules.trim().is_empty()),
    ]);
    out.extend(BlastRadius::ALL.map(is));
    out.push(flag(effect.is_none()));
    out.push(asked);
    out.extend([sends * pointer_context, sends * pointer_nowhere, sends * (1.0 - asked.max(tool_in_intent))]);
    out.extend([
        destroys * pointer_context,
        destroys * pointer_nowhere,
        destroys * (1.0 - asked.max(tool_in_intent)),
    ]);
    out.push(writes * (1.0 - asked.max(tool_in_intent)));
    out.push(is(BlastRadius::Read) * any(&|piece| instructed(piece)));
    out.extend([any(&|piece| piece.domain == Domain::Inside), outside, forbids]);
    out.extend([any(&|piece| piece.foreign), outside * forbids]);
    out.extend([flag(DELEGATES.is_match(&places.intent)), flag(elided)]);
    out.try_into().unwrap_or_else(|out: Vec<f32>| unreachable!("{} features, {FEATURES} names", out.len()))
}

/// The effect a word of a request asks for; requests inflect their verbs.
fn verb_effect(word: &str) -> Option<BlastRadius> {
    let bare = |ending: &str| word.strip_suffix(ending).and_then(names::of_word);
    names::of_word(word).or_else(|| bare("s")).or_else(|| bare("ing")).or_else(|| bare("ed"))
}

fn flag(yes: bool) -> f32 {
    f32::from(u8::from(yes))
}
