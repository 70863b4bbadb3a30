//! Why a check was answered so: which threshold decided, where its arguments came from, what reads like orders. The
//! document of `postern check --json`; the terminal shows the same (see `page`).
//!
//! Only says what the verdict and the evidence hold; decides nothing.

use postern_check::evidence::{DomainRule, Evidence, Followed, Leaf, Match, Origin, Piece, Signs, Sources};
use postern_check::{Check, Judgement, Reason, Scores, Thresholds, Verdict};
use serde::Serialize;
use serde_json::Value;

/// The most of a quoted sentence, in bytes.
const QUOTED: usize = 400;
/// What stands before the first value of the call is kept up to this many bytes, if not all can be.
const BEFORE: usize = 120;
/// The most of a value, or of what was encoded in one, in bytes.
const VALUE: usize = 400;

/// What tipped the scales.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Deciding {
    /// The code of the first reason; `passed` if there is none.
    pub(super) code: String,
    /// The key in `[guard.thresholds]`.
    pub(super) threshold: Option<&'static str>,
    /// What was held against it.
    pub(super) value: Option<f32>,
    /// What it is set to; none for a switch.
    pub(super) limit: Option<f32>,
}

impl Deciding {
    pub(super) fn of(judgement: &Judgement, scores: &Scores, thresholds: &Thresholds) -> Self {
        match judgement.reasons.first() {
            Some(reason) => Self::of_reason(reason, scores, thresholds),
            None => Self {
                code: "passed".into(),
                threshold: Some("ask_unsafe"),
                value: Some(scores.unsafe_),
                limit: Some(thresholds.ask_unsafe),
            },
        }
    }

    pub(super) fn of_reason(reason: &Reason, scores: &Scores, thresholds: &Thresholds) -> Self {
        let policy = &scores.approval_policy;
        let (threshold, value, limit) = match reason.code.as_str() {
            "unsafe" if scores.unsafe_ >= thresholds.block_unsafe => {
                (Some("block_unsafe"), Some(scores.unsafe_), Some(thresholds.block_unsafe))
            }
            "unsafe" => (Some("ask_unsafe"), Some(scores.unsafe_), Some(thresholds.ask_unsafe)),
            "policy-reject" => (Some("policy_head"), Some(policy.reject), None),
            "policy-require-human" => (Some("policy_head"), Some(policy.require_human), None),
            "args-ungrounded" => {
                (Some("ask_ungrounded"), Some(scores.args_grounded), Some(thresholds.ask_ungrounded))
            }
            _ => (None, None, None),
        };
        Self { code: reason.code.clone(), threshold, value, limit }
    }
}

/// One leaf of the arguments.
#[derive(Debug, Serialize)]
pub(super) struct Argument {
    /// JSON pointer.
    pub(super) path: String,
    /// Its beginning and, if it is long, its end. The asker has the value itself.
    #[serde(skip)]
    pub(super) value: String,
    /// `user`, `constraint`, `trusted`, `script`, `field`, `text`, `nowhere`, `order`; none if nothing of it could be
    /// looked up.
    pub(super) origin: Option<&'static str>,
    /// Whose result holds it.
    pub(super) tool: Option<String>,
    /// How it was found there.
    pub(super) found: Option<Match>,
    /// Its name says that it decides whom or what the call reaches.
    pub(super) authority: bool,
    /// It also stands in an order, of this strength.
    pub(super) ordered: f32,
    /// The rules name domains, and its own is none of them.
    pub(super) outside_rules: bool,
    /// Nothing the user wrote names its domain.
    pub(super) foreign_domain: bool,
    /// Characters that cannot be seen or pass for others.
    pub(super) hidden: usize,
    /// What was encoded in it.
    pub(super) decoded: Vec<Decoded>,
    /// The share of its runs of three words that results have.
    pub(super) copied: f32,
}

/// What was encoded in an argument.
#[derive(Debug, Serialize)]
pub(super) struct Decoded {
    /// How.
    pub(super) form: &'static str,
    /// What it says, cut.
    pub(super) text: String,
}

/// A stretch of a result that reads like orders.
#[derive(Debug, Serialize)]
pub(super) struct OrderSeen {
    /// Whose result; none for text before the first `[tool]`.
    pub(super) tool: Option<String>,
    /// As it was written, cut.
    pub(super) text: String,
    /// 1 is a plain request, 4 and more is somebody taking over.
    pub(super) strength: f32,
    /// What makes it so.
    pub(super) signs: Vec<&'static str>,
    /// It was encoded or hidden.
    pub(super) decoded: bool,
    /// How much of it the call follows.
    pub(super) follows: Follows,
    /// Where values of the call stand in `text`, in bytes.
    #[serde(skip)]
    pub(super) marked: Vec<std::ops::Range<usize>>,
}

/// How much of an order a call follows.
#[derive(Debug, Serialize)]
pub(super) struct Follows {
    /// It asks for what the tool is named for.
    pub(super) act: bool,
    /// It spells out the tool's name.
    pub(super) names_tool: bool,
    /// The share of the tool's words that it has.
    pub(super) tool: f32,
    /// The share of the arguments' words that it has.
    pub(super) args: f32,
    /// The share of the arguments' values that stand in it.
    pub(super) values: f32,
}

/// Where the call came from.
#[derive(Debug, Serialize)]
pub(super) struct Explained {
    /// The leaves of the arguments, in their order.
    pub(super) arguments: Vec<Argument>,
    /// Leaves beyond those that are looked at.
    pub(super) left_out: usize,
    /// Those that the call follows most first.
    pub(super) orders: Vec<OrderSeen>,
}

impl Explained {
    /// Takes as long as the evidence does: some seconds at the most for the largest check.
    pub(super) fn of(check: &Check) -> Self {
        let sources = Sources::of(check);
        let evidence = Evidence::from_sources(&check.action, &sources);
        let all: usize = check.action.args.values().map(count).sum();
        Self {
            arguments: evidence.leaves.iter().map(|leaf| argument(leaf, &sources)).collect(),
            left_out: all.saturating_sub(evidence.leaves.len()),
            orders: evidence
                .orders
                .iter()
                .map(|followed| order(followed, &evidence.leaves, check, &sources))
                .collect(),
        }
    }
}

fn count(value: &Value) -> usize {
    match value {
        Value::Null => 0,
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 1,
    }
}

fn argument(leaf: &Leaf, sources: &Sources) -> Argument {
    let piece = deciding_piece(leaf);
    let in_result = |piece: &&Piece| {
        matches!(piece.origin, Origin::Trusted | Origin::Field | Origin::Prose | Origin::Order)
    };
    let place = piece.filter(in_result).and_then(|piece| piece.place);
    let any = |what: fn(&Piece) -> bool| leaf.pieces.iter().any(what);
    Argument {
        path: leaf.path.clone(),
        value: ends(&leaf.value),
        origin: piece.map(|piece| origin(piece.origin)),
        tool: place.and_then(|place| tool(sources, place.result)),
        found: piece.map(|piece| piece.found),
        authority: leaf.authority,
        ordered: leaf.pieces.iter().map(|piece| piece.ordered).fold(0.0, f32::max),
        outside_rules: any(|piece| piece.domain == DomainRule::Outside),
        foreign_domain: any(|piece| piece.foreign),
        hidden: leaf.hidden,
        decoded: leaf
            .decoded
            .iter()
            .map(|decoded| Decoded { form: decoded.form, text: beginning(&decoded.text, VALUE).into() })
            .collect(),
        copied: leaf.copied,
    }
}

/// The piece whose origin is the leaf's.
fn deciding_piece(leaf: &Leaf) -> Option<&Piece> {
    let origin = leaf.origin();
    let points = leaf.pieces.iter().any(|piece| piece.kind.points());
    leaf.pieces.iter().find(|piece| piece.origin == origin && piece.kind.points() == points)
}

fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::User => "user",
        Origin::Constraint => "constraint",
        Origin::Trusted => "trusted",
        Origin::Literal => "script",
        Origin::Field => "field",
        Origin::Prose => "text",
        Origin::Nowhere => "nowhere",
        Origin::Order => "order",
    }
}

fn tool(sources: &Sources, result: usize) -> Option<String> {
    sources.results().get(result).map(|source| source.tool().to_string()).filter(|tool| !tool.is_empty())
}

fn order(followed: &Followed, leaves: &[Leaf], check: &Check, sources: &Sources) -> OrderSeen {
    let order = &followed.order;
    let quote = sources.quote(check, order, leaves);
    let first = quote.values.first().map_or(0, |value| value.start);
    let blank = quote.text.len() - quote.text.trim_start().len();
    // A long one is cut so that the first value of the call can be seen.
    let from = if first > QUOTED - BEFORE { first - BEFORE } else { blank };
    let from = quote.text.floor_char_boundary(from);
    let text = beginning(&quote.text[from..], QUOTED).trim_end();
    let to = from + text.len();
    let before = if from > blank { "…" } else { "" };
    let after = if quote.text[to..].trim().is_empty() { "" } else { "…" };
    let within = |at: usize| at.clamp(from, to) - from + before.len();
    OrderSeen {
        tool: tool(sources, order.result),
        text: format!("{before}{text}{after}"),
        strength: order.strength,
        signs: signs(order.signs),
        decoded: followed.decoded,
        follows: Follows {
            act: followed.act,
            names_tool: followed.names_tool,
            tool: followed.tool,
            args: followed.args,
            values: followed.values,
        },
        marked: quote
            .values
            .iter()
            .map(|value| within(value.start)..within(value.end))
            .filter(|value| !value.is_empty())
            .collect(),
    }
}

fn signs(signs: Signs) -> Vec<&'static str> {
    let Signs { to_assistant, overrides, authority, urgent, markup } = signs;
    [
        ("to_assistant", to_assistant),
        ("overrides", overrides),
        ("authority", authority),
        ("urgent", urgent),
        ("markup", markup),
    ]
    .into_iter()
    .filter_map(|(name, is)| is.then_some(name))
    .collect()
}

fn beginning(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// The beginning and the end of a long value.
fn ends(value: &str) -> String {
    if value.len() <= 2 * VALUE {
        return value.to_string();
    }
    let end = &value[value.ceil_char_boundary(value.len() - VALUE)..];
    format!("{}…{end}", beginning(value, VALUE))
}

/// Whether the rule about ungrounded arguments looks at this call at all.
pub(super) fn grounding_counts(scores: &Scores, facts: postern_check::Facts) -> bool {
    facts.names_target && facts.side_effects.unwrap_or(scores.effect.has_side_effects())
}

/// One reason in words, with the key of the configuration that it comes from.
pub(super) fn in_words(reason: &Reason, scores: &Scores, thresholds: &Thresholds) -> String {
    let deciding = Deciding::of_reason(reason, scores, thresholds);
    let key = deciding.threshold.map(|key| format!(" (guard.thresholds.{key})")).unwrap_or_default();
    let more = match reason.code.as_str() {
        "args-ungrounded" => "; the call changes something and names a target",
        _ => "",
    };
    format!("{}{key}{more}", reason.message)
}

/// The reasons of a verdict in words, the deciding one first; an allow has one too.
pub(super) fn reasons(judgement: &Judgement, scores: &Scores, thresholds: &Thresholds) -> Vec<String> {
    let mut out: Vec<String> =
        judgement.reasons.iter().map(|reason| in_words(reason, scores, thresholds)).collect();
    if judgement.verdict == Verdict::Allow {
        let passed = format!(
            "unsafe {:.2} < {:.2} (guard.thresholds.ask_unsafe)",
            scores.unsafe_, thresholds.ask_unsafe
        );
        out.insert(0, passed);
    }
    out
}
