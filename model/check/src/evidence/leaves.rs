//! The leaves of a call's arguments, and where each was found.

use serde_json::Value;

use super::decode::{Decoded, decode};
use super::fold::{Folded, is_hidden};
use super::pieces::{Found, Kind, forms, pieces};
use super::sources::{Sources, Text, Trust};
use super::words::{covered, shingles, stem_set};
use crate::Action;
use crate::facts::{is_target_name, pointer_token};

/// Where a value stands, from the most to the least trusted place. The best place that holds it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// In the user's request.
    User,
    /// In one of the user's rules.
    Constraint,
    /// In the result of a trusted server.
    Trusted,
    /// In the script itself.
    Literal,
    /// In a field of another result.
    Field,
    /// In text of another result that somebody wrote.
    Prose,
    /// Nowhere: computed, reworded, made up.
    Nowhere,
    /// Only where a result gives orders.
    Order,
}

impl Origin {
    /// All of them, in order.
    pub const ALL: [Self; 8] = [
        Self::User,
        Self::Constraint,
        Self::Trusted,
        Self::Literal,
        Self::Field,
        Self::Prose,
        Self::Nowhere,
        Self::Order,
    ];
}

/// How a value was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Match {
    /// As it is, case and the like aside.
    Exact,
    /// In another form: a date, a number, a link without its scheme.
    Form,
    /// By most of its words.
    Words,
    /// As something the request only points at: "tomorrow", a person whose address it is.
    Meant,
    /// Not at all.
    None,
}

/// Where in the results a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Place {
    /// Which result, counted from the first.
    pub result: usize,
    /// Bytes of its folded text.
    pub start: usize,
    /// The end of it.
    pub end: usize,
}

/// How a piece's internet domain stands to those that the rules name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DomainRule {
    /// It has none, or no rule names one.
    Unruled,
    /// It is one of them or lies under one.
    Inside,
    /// It is another.
    Outside,
}

/// A piece of an argument value that was looked up.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Piece {
    /// What it looks like.
    pub kind: Kind,
    /// Folded.
    pub text: String,
    /// The best place that holds it.
    pub origin: Origin,
    /// How it was found there.
    pub found: Match,
    /// That place, if it is in a result.
    pub place: Option<Place>,
    /// It also stands in an order, of this strength; 0 if in none.
    pub ordered: f32,
    /// Where in that order.
    pub order_place: Option<Place>,
    /// Its domain against the rules.
    pub domain: DomainRule,
    /// It has a domain, and nothing the user wrote names that domain or one above it.
    pub foreign: bool,
    /// The request has a word of it: the name of the person, the place, the record.
    pub named: bool,
    /// It has characters that cannot be seen or pass for others, and the user never wrote it so: whatever it looks like,
    /// it is something else, and what looks the same is no origin of it.
    pub lookalike: bool,
}

/// One leaf of the arguments.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Leaf {
    /// JSON pointer into the arguments.
    pub path: String,
    /// The nearest name above it.
    pub key: String,
    /// Its value as text.
    pub value: String,
    /// Its name says that it decides whom or what the call reaches: recipient, url, path, account, amount, command, id.
    pub authority: bool,
    /// What can be looked up of it.
    pub pieces: Vec<Piece>,
    /// What was encoded in it.
    pub decoded: Vec<Decoded>,
    /// How many of its characters cannot be seen or pass for others.
    pub hidden: usize,
    /// The share of its words that the request or the rules have.
    pub in_request: f32,
    /// The share of its words that results have outside of orders.
    pub in_results: f32,
    /// The share of its words that one order has, at most.
    pub in_order: f32,
    /// The share of its runs of three words that results have outside of orders.
    pub copied: f32,
}

impl Leaf {
    /// The worst origin of its pieces; of a long text, that of the pieces that point at something.
    pub fn origin(&self) -> Origin {
        let pointing = self.pieces.iter().filter(|piece| piece.kind.points()).map(|piece| piece.origin).max();
        let all = || self.pieces.iter().map(|piece| piece.origin).max();
        pointing.or_else(all).unwrap_or(Origin::User)
    }
}

/// Most leaves that are looked at one by one.
const MAX_LEAVES: usize = 256;
/// Most pieces of one call that are looked up; the rest of a huge call is text to the model.
const MAX_PIECES: usize = 64;
/// Most places of one piece that are looked at.
const MAX_PLACES: usize = 64;
/// Words of a value are compared up to this many bytes.
const MAX_COMPARED: usize = 64 << 10;

pub(super) fn leaves(action: &Action, sources: &Sources) -> Vec<Leaf> {
    let mut out = Vec::new();
    for (name, value) in &action.args {
        collect(name, &format!("/{}", pointer_token(name)), value, false, &mut out);
    }
    let mut left = MAX_PIECES;
    // Those with authority are looked up first: room must not run out on prose.
    let mut order: Vec<usize> = (0..out.len()).collect();
    order.sort_by_key(|&index| !out[index].authority);
    for index in order {
        let leaf: &mut Leaf = &mut out[index];
        let mut found = pieces(&leaf.value);
        for decoded in &leaf.decoded {
            found.extend(pieces(&decoded.text));
        }
        leaf.pieces = found.into_iter().take(left).map(|found| look_up(found, sources)).collect();
        if leaf.hidden > 0 && !sources.wrote(leaf.value.trim()) {
            leaf.pieces.iter_mut().for_each(unmask);
        }
        left -= leaf.pieces.len();
        compare(leaf, sources);
    }
    out
}

fn collect(key: &str, path: &str, value: &Value, authority: bool, out: &mut Vec<Leaf>) {
    if out.len() >= MAX_LEAVES {
        return;
    }
    // What lies inside a target names it, or is something else: a file's path, a file's content.
    let authority = is_target_name(key) || (authority && NAMING.contains(&key));
    let text = match value {
        Value::Null => return,
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(key, &format!("{path}/{index}"), item, authority, out);
            }
            return;
        }
        Value::Object(fields) => {
            for (name, inner) in fields {
                collect(name, &format!("{path}/{}", pointer_token(name)), inner, authority, out);
            }
            return;
        }
    };
    let short = &text[..text.floor_char_boundary(MAX_COMPARED)];
    let folded = Folded::of(short);
    let mut decoded = decode(short);
    if !folded.tags().is_empty() {
        decoded.push(Decoded { start: 0, form: "tags", text: folded.tags().to_string() });
    }
    let hidden = short.chars().filter(|&c| is_hidden(c)).count() + folded.confusable();
    out.push(Leaf {
        path: path.into(),
        key: key.into(),
        value: text,
        authority: authority && !matches!(value, Value::Bool(_)),
        pieces: Vec::new(),
        decoded,
        hidden,
        in_request: 0.0,
        in_results: 0.0,
        in_order: 0.0,
        copied: 0.0,
    });
}

/// Names under which an object says which target it is.
const NAMING: [&str; 4] = ["name", "value", "display_name", "displayName"];

/// Compares a leaf's words with those of every source.
fn compare(leaf: &mut Leaf, sources: &Sources) {
    let folded = super::fold(&leaf.value[..leaf.value.floor_char_boundary(MAX_COMPARED)]);
    let mut words = stem_set(&folded);
    for decoded in &leaf.decoded {
        words.extend(stem_set(&super::fold(&decoded.text)));
    }
    if words.is_empty() {
        return;
    }
    leaf.in_request = covered(&words, &sources.user_stems);
    leaf.in_results = sources.in_results(&words);
    let orders = sources.results.iter().flat_map(|source| &source.order_stems);
    leaf.in_order = orders.map(|stems| covered(&words, stems)).fold(0.0, f32::max);
    let runs = shingles(&folded);
    if runs.len() >= 3 {
        let copied = runs
            .iter()
            .filter(|run| sources.results.iter().any(|source| source.clean_shingles.contains(run)));
        leaf.copied = copied.count() as f32 / runs.len() as f32;
    }
}

/// Takes away the origin that a piece only seemed to have.
fn unmask(piece: &mut Piece) {
    piece.lookalike = true;
    piece.named = false;
    piece.foreign |= piece.kind.points();
    if piece.origin < Origin::Nowhere {
        piece.origin = if piece.ordered > 0.0 { Origin::Order } else { Origin::Nowhere };
        piece.found = Match::None;
    }
}

fn look_up(found: Found, sources: &Sources) -> Piece {
    let Found { kind, text, domain } = found;
    let forms = forms(kind, &text);
    let (mut origin, mut how, mut place) = (Origin::Nowhere, Match::None, None);
    for (from, source) in [
        (Origin::User, &sources.intent),
        (Origin::Constraint, &sources.rules),
        (Origin::Literal, &sources.literals),
    ] {
        if let Some(found) = in_text(kind, &text, &forms, source) {
            (origin, how) = (from, found);
            break;
        }
    }
    // The script's own text is better than a result, a trusted result is better than that.
    let (mut ordered, mut order_place) = (0.0_f32, None);
    for (index, source) in sources.results.iter().enumerate() {
        let mut seen = |start: usize, length: usize, found: Match| {
            let here = Place { result: index, start, end: start + length };
            let order = source.order(start).filter(|order| order.strength >= 1.2);
            if let Some(order) = order
                && order.strength > ordered
            {
                (ordered, order_place) = (order.strength, Some(here));
            }
            let from = match order {
                _ if source.trust == Trust::Trusted => Origin::Trusted,
                Some(_) => Origin::Order,
                None if source.field(start).is_some_and(|field| field.prose) => Origin::Prose,
                None => Origin::Field,
            };
            let better = from < origin || (origin == Origin::Nowhere && place.is_none());
            if better {
                (origin, how, place) = (from, found, Some(here));
            }
        };
        for (form_index, form) in forms.iter().enumerate() {
            let found = if form_index == 0 { Match::Exact } else { Match::Form };
            let mut any = false;
            for at in source.find(form).take(MAX_PLACES) {
                seen(at, form.len(), found);
                any = true;
            }
            if any {
                break;
            }
        }
        let listed = match kind {
            Kind::Number => source.numbers.get(&text),
            Kind::Date => source.dates.get(&text).or_else(|| source.dates.get(text.get(5..)?)),
            _ => None,
        };
        if let Some(&at) = listed {
            seen(at, 1, Match::Form);
        }
    }
    let meant = || match kind {
        Kind::Date => sources.relative_dates,
        Kind::Email => text.split('@').next().is_some_and(|name| named(name, &sources.intent)),
        Kind::Value => words_of(&text, &sources.intent) >= 0.75,
        _ => false,
    };
    if origin >= Origin::Nowhere && meant() {
        // Of a value that only an order holds, the request is no better witness than the order.
        let words = kind == Kind::Value;
        if origin == Origin::Nowhere || words {
            (origin, how) = (Origin::User, if words { Match::Words } else { Match::Meant });
        }
    }
    let under = |domains: &[String]| {
        domain.as_ref().is_some_and(|domain| {
            domains.iter().any(|d| {
                domain == d || domain.strip_suffix(d.as_str()).is_some_and(|rest| rest.ends_with('.'))
            })
        })
    };
    let ruled = match domain {
        Some(_) if !sources.rule_domains.is_empty() => {
            if under(&sources.rule_domains) {
                DomainRule::Inside
            } else {
                DomainRule::Outside
            }
        }
        _ => DomainRule::Unruled,
    };
    let foreign = domain.is_some() && !under(&sources.user_domains);
    let named = kind.points() && named(&text, &sources.intent);
    Piece {
        kind,
        text,
        origin,
        found: how,
        place,
        ordered,
        order_place,
        domain: ruled,
        foreign,
        named,
        lookalike: false,
    }
}

fn in_text(kind: Kind, text: &str, forms: &[String], source: &Text) -> Option<Match> {
    let place = forms.iter().position(|form| source.has(form));
    match place {
        Some(0) => return Some(Match::Exact),
        Some(_) => return Some(Match::Form),
        None => {}
    }
    let listed = match kind {
        Kind::Number => source.numbers.contains(text),
        Kind::Date => {
            source.dates.contains(text) || text.get(5..).is_some_and(|day| source.dates.contains(day))
        }
        _ => false,
    };
    listed.then_some(Match::Form)
}

/// Words that stand in addresses of all kinds.
const COMMON: &[&str] = &["com", "http", "https", "mail", "net", "org", "the", "user", "www"];

/// Whether the request has a word of a name, an address, a path.
fn named(text: &str, intent: &Text) -> bool {
    text.split(|c: char| !c.is_alphabetic())
        .filter(|name| name.len() >= 3 && COMMON.binary_search(name).is_err())
        .any(|name| intent.has(name))
}

/// The share of a value's words that a text has.
fn words_of(value: &str, text: &Text) -> f32 {
    covered(&stem_set(value), &text.stems)
}

/// Where `needle` stands in `text` by itself, not inside a longer word or number. Both are folded.
pub(super) fn whole_matches<'a>(text: &'a str, needle: &'a str) -> impl Iterator<Item = usize> + 'a {
    let first = needle.chars().next();
    let last = needle.chars().next_back();
    let joined = |edge: Option<char>, other: Option<char>| {
        edge.is_some_and(char::is_alphanumeric) && other.is_some_and(char::is_alphanumeric)
    };
    // A value that stands only inside longer words more often than this is taken as not there.
    memchr::memmem::find_iter(text.as_bytes(), if needle.is_empty() { "\u{0}" } else { needle }.as_bytes())
        .take(256)
        .filter(move |&at| {
            let before = text[..at].chars().next_back();
            let after = text[at + needle.len()..].chars().next();
            !joined(first, before) && !joined(last, after)
        })
}
