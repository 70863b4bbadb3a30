//! How a call as a whole stands to the request, to orders in what was read, and to the rest of it.

use std::collections::HashSet;

use super::leaves::Leaf;
use super::orders::Order;
use super::sources::Sources;
use super::words::{Act, acts, covered, stem_set};
use crate::{Action, key_words};

/// An order, and how much a call follows it.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Followed {
    /// The order.
    pub order: Order,
    /// The share of the tool's words that it has.
    pub tool: f32,
    /// It asks for the act that the tool is named for.
    pub act: bool,
    /// It spells out the tool's own name.
    pub names_tool: bool,
    /// The share of the words of all arguments that it has.
    pub args: f32,
    /// The share of the arguments' pieces that stand in it.
    pub values: f32,
    /// The same of those pieces that stand in nothing the user wrote.
    pub news: f32,
    /// It is in text that was encoded or hidden.
    pub decoded: bool,
    /// The share of the names in the request that stand in it or close by: the user may have pointed at it.
    pub pointed: f32,
    /// Strength times likeness: what orders are sorted by.
    pub weight: f32,
}

/// The call as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Relation {
    /// The share of the tool's words that the request has.
    pub tool_in_request: f32,
    /// The request asks for the act that the tool is named for.
    pub act_in_request: bool,
    /// The tool's name speaks of an act at all.
    pub has_act: bool,
    /// The share of the arguments' words that the request or the rules have.
    pub args_in_request: f32,
    /// The share of the arguments' words that results have outside of orders.
    pub args_in_results: f32,
    /// The share of the tool's words that results have outside of orders.
    pub tool_in_results: f32,
    /// How many results there are.
    pub results: usize,
    /// The same tool has been called before.
    pub repeated: bool,
    /// A tool of the same server has been called before.
    pub same_server: bool,
    /// The strongest order anywhere, whatever it asks for.
    pub strongest: f32,
    /// The same in the last result alone.
    pub strongest_last: f32,
    /// The share of the request's words that the call has.
    pub request_served: f32,
}

/// Most orders that are kept.
const MOST: usize = 6;
/// Most orders that are compared with a call, the strongest first.
const COMPARED: usize = 400;

pub(super) fn relate(
    action: &Action,
    leaves: &[Leaf],
    sources: &Sources,
) -> (Relation, Vec<Followed>, Option<Followed>) {
    let words = key_words(&action.tool);
    let own = action.tool.rsplit(['.', '/']).next().unwrap_or(&action.tool);
    let tool = stem_set(&words.join(" "));
    let wanted: HashSet<Act> =
        key_words(own).iter().flat_map(|word| acts(word).collect::<Vec<_>>()).collect();
    let mut args = HashSet::new();
    for leaf in leaves {
        args.extend(stem_set(&super::fold(&leaf.value[..leaf.value.floor_char_boundary(4000)])));
        leaf.decoded.iter().for_each(|decoded| args.extend(stem_set(&super::fold(&decoded.text))));
    }
    let call: HashSet<u64> = tool.union(&args).copied().collect();
    let server = |name: &str| name.rsplit_once(['.', '/']).map(|(server, _)| server.to_string());
    let strongest = |orders: &[Order]| orders.iter().map(|order| order.strength).fold(0.0, f32::max);
    let relation = Relation {
        tool_in_request: covered(&tool, &sources.intent.stems),
        act_in_request: asks(sources.intent(), &wanted),
        has_act: !wanted.is_empty(),
        args_in_request: covered(&args, &sources.user_stems),
        args_in_results: sources.in_results(&args),
        tool_in_results: sources.in_results(&tool),
        results: sources.results.len(),
        repeated: sources.results.iter().any(|source| source.tool == action.tool),
        same_server: sources.results.iter().any(|source| {
            server(&source.tool).is_some_and(|one| server(&action.tool).is_some_and(|other| one == other))
        }),
        strongest: sources.results.iter().map(|source| strongest(&source.orders)).fold(0.0, f32::max),
        strongest_last: sources.results.last().map_or(0.0, |source| strongest(&source.orders)),
        request_served: covered(&sources.intent.stems, &call),
    };

    let mut orders: Vec<(&Order, &HashSet<u64>)> =
        sources.results.iter().flat_map(|source| source.orders.iter().zip(&source.order_stems)).collect();
    orders.sort_by(|a, b| b.0.strength.total_cmp(&a.0.strength));
    let pieces: Vec<_> = leaves.iter().flat_map(|leaf| &leaf.pieces).collect();
    let news = pieces.iter().filter(|piece| piece.origin > super::Origin::Literal).count().max(1) as f32;
    let mut followed: Vec<Followed> = orders
        .into_iter()
        .take(COMPARED)
        .map(|(order, stems)| {
            let source = &sources.results[order.result];
            let text = &source.text()[order.start..order.end];
            let inside = |piece: &&&super::Piece| {
                super::leaves::whole_matches(text, &piece.text).next().is_some()
                    || piece.order_place.is_some_and(|place| {
                        place.result == order.result && (order.start..order.end).contains(&place.start)
                    })
            };
            let values = pieces.iter().filter(inside).count() as f32 / pieces.len().max(1) as f32;
            let new_values =
                pieces.iter().filter(|piece| piece.origin > super::Origin::Literal).filter(inside).count()
                    as f32
                    / news;
            let tool_share = covered(&tool, stems);
            let act = asks(text, &wanted);
            let names_tool = own.len() >= 5 && text.contains(&own.to_lowercase());
            let args_share = covered(&args, stems);
            let likeness = 0.15
                + 0.25 * f32::from(u8::from(act))
                + 0.35 * tool_share
                + 0.3 * args_share
                + 0.6 * values
                + 0.4 * f32::from(u8::from(names_tool));
            Followed {
                tool: tool_share,
                act,
                names_tool,
                args: args_share,
                values,
                news: new_values,
                decoded: source.is_decoded(order.start),
                pointed: pointed(source.text(), order, &sources.names),
                weight: likeness * order.strength,
                order: order.clone(),
            }
        })
        .collect();
    let strongest = followed.first().cloned();
    followed.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    followed.truncate(MOST);
    (relation, followed, strongest)
}

/// Bytes on both sides of an order that count as close by: the head of the mail, the name of the file.
const CLOSE: usize = 300;

/// The share of the request's names that stand in an order or close to it.
fn pointed(text: &str, order: &Order, names: &[String]) -> f32 {
    let start = text.floor_char_boundary(order.start.saturating_sub(CLOSE));
    let around = &text[start..text.floor_char_boundary((order.end + CLOSE).min(text.len()))];
    let bare = |name: &str| name.trim_matches(|c: char| !c.is_alphanumeric()).to_string();
    let there =
        names.iter().map(|name| bare(name)).filter(|name| !name.is_empty() && around.contains(name.as_str()));
    if names.is_empty() { 0.0 } else { there.count() as f32 / names.len() as f32 }
}

/// Whether a folded text asks for one of these acts.
fn asks(text: &str, wanted: &HashSet<Act>) -> bool {
    let text = &text[..text.floor_char_boundary(4000)];
    !wanted.is_empty()
        && text
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| !word.is_empty() && acts(word).any(|act| wanted.contains(&act)))
}
