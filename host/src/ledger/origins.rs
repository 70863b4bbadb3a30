//! What is to be said of a call's values: whose they are where they decide something, and which data
//! goes where.

use std::collections::HashSet;

use postern_check::evidence::{Evidence, Kind, Leaf, Origin, Piece};

use postern_check::key_words;

use super::Ledger;
use crate::facts::straight;
use crate::policy::{ArgumentFact, Finding, Holds, Labels, Sink};

/// An order at least this strong is one that somebody planted, also where the user pointed at the text.
const PLANTED: f32 = 2.5;
/// Fewer letters and digits than this stand everywhere by chance.
const SHORT: usize = 3;

/// The call that is spoken of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) server: &'a str,
    pub(crate) labels: Labels,
    /// The configuration says that it is a public sink.
    pub(crate) sink_stated: bool,
    /// It sends something out or cannot be taken back.
    pub(crate) outside: bool,
}

/// Whether a leaf is the name of a file or folder: by what it is called, or by how it begins.
fn is_path(leaf: &Leaf) -> bool {
    const PATHS: &[&str] = &[
        "path",
        "paths",
        "file",
        "files",
        "filename",
        "dir",
        "directory",
        "folder",
        "source",
        "destination",
        "src",
        "dst",
    ];
    let value = leaf.value.trim();
    let begins = ["/", "./", "../", "~/", ".\\", "..\\"].iter().any(|start| value.starts_with(start));
    let called = key_words(&leaf.key).iter().any(|word| PATHS.contains(&word.as_str()));
    !value.contains('\n') && !value.contains("://") && (begins || called)
}

impl Ledger {
    /// Every leaf with its origin.
    pub(crate) fn arguments(&self, evidence: &Evidence) -> Vec<ArgumentFact> {
        let fact = |leaf: &Leaf| {
            let places = leaf.pieces.iter().flat_map(|piece| [piece.place, piece.order_place]).flatten();
            let mut from: Vec<String> =
                places.filter_map(|place| self.from(place.result)).map(|entry| entry.from.clone()).collect();
            from.sort();
            from.dedup();
            ArgumentFact {
                path: leaf.path.clone(),
                value: if is_path(leaf) { straight(&leaf.value) } else { leaf.value.clone() },
                authority: leaf.authority,
                origin: leaf.origin(),
                from,
            }
        };
        evidence.leaves.iter().map(fact).collect()
    }

    /// What the origins of its values say against a call.
    pub(crate) fn findings(&self, evidence: &Evidence, subject: Subject<'_>) -> Vec<Finding> {
        let mut out: Vec<Finding> = evidence
            .leaves
            .iter()
            .filter(|leaf| leaf.authority)
            .filter_map(|leaf| leaf.pieces.iter().filter_map(|piece| self.authority(leaf, piece)).next())
            .collect();
        let ruled = |leaf: &&Leaf| {
            leaf.authority
                && leaf
                    .pieces
                    .iter()
                    .any(|piece| piece.domain == postern_check::evidence::DomainRule::Outside)
        };
        out.extend(evidence.leaves.iter().filter(ruled).map(|leaf| {
            Finding::at(
                "domain-outside",
                &leaf.path,
                format!("{}: not a domain that the rules name", leaf.key),
            )
        }));
        out.extend(evidence.leaves.iter().filter_map(|leaf| self.beside_orders(leaf)));
        out.extend(self.flows(evidence, subject));
        if self.incomplete() {
            out.push(Finding::new(
                "context-incomplete",
                "the run has read more than is kept to compare with",
            ));
        }
        out
    }

    /// Whether the request pointed at the result that this call fetches: its arguments are the user's.
    pub(crate) fn asked(&self, evidence: &Evidence) -> bool {
        evidence.leaves.iter().flat_map(|leaf| &leaf.pieces).any(|piece| {
            let says = piece.text.chars().filter(|c| c.is_alphanumeric()).count() >= SHORT;
            says && !matches!(piece.kind, Kind::Number | Kind::Date)
                && matches!(piece.origin, Origin::User | Origin::Constraint)
        })
    }

    fn authority(&self, leaf: &Leaf, piece: &Piece) -> Option<Finding> {
        let letters = piece.text.chars().filter(|c| c.is_alphanumeric()).count();
        if piece.lookalike {
            let message = format!("{}: looks like another value and is not the same", leaf.key);
            return Some(Finding::at("authority-look-alike", &leaf.path, message));
        }
        if letters < SHORT || piece.kind == Kind::Date {
            return None;
        }
        let place = piece.order_place.or(piece.place)?;
        let entry = self.from(place.result)?;
        let said = |code, how: &str| {
            Some(Finding::at(code, &leaf.path, format!("{}: {how} of {}", leaf.key, entry.from)))
        };
        match piece.origin {
            Origin::Order if self.planted(piece) => {
                said("authority-order", "stands only where text gives orders, in a result")
            }
            Origin::Order | Origin::Prose if !entry.asked => {
                said("authority-prose", "comes from text that somebody wrote, in a result")
            }
            _ => None,
        }
    }

    /// Whether a value came out of a result in which somebody planted orders, and is nobody's own.
    fn beside_orders(&self, leaf: &Leaf) -> Option<Finding> {
        let foreign = |piece: &&Piece| matches!(piece.origin, Origin::Field | Origin::Prose | Origin::Order);
        let places = leaf.pieces.iter().filter(foreign).flat_map(|piece| [piece.order_place, piece.place]);
        let entry =
            places.flatten().filter_map(|place| self.from(place.result)).find(|entry| entry.planted)?;
        let message = format!("{}: from a result of {} that gives orders", leaf.key, entry.from);
        Some(Finding::at("from-planted", &leaf.path, message))
    }

    /// Whether the order that a value stands in is one that somebody planted: strong, or given to whoever
    /// reads it for the user. A plain request between people is none.
    fn planted(&self, piece: &Piece) -> bool {
        let signs = piece.order_place.and_then(|place| {
            let orders = self.sources.results().get(place.result)?.orders();
            orders
                .iter()
                .find(|order| (order.start..order.end).contains(&place.start))
                .map(|order| order.signs)
        });
        piece.ordered >= PLANTED || signs.is_some_and(|signs| signs.to_assistant || signs.overrides)
    }

    fn flows(&self, evidence: &Evidence, subject: Subject<'_>) -> Vec<Finding> {
        if subject.labels.sink == Sink::None {
            return Vec::new();
        }
        // Where the user sends something is the user's affair, unless the configuration says otherwise.
        let chosen = evidence.leaves.iter().filter(|leaf| leaf.authority && !leaf.pieces.is_empty());
        let chosen: Vec<bool> = chosen
            .map(|leaf| {
                matches!(leaf.origin(), Origin::User | Origin::Constraint | Origin::Trusted | Origin::Literal)
            })
            .collect();
        let chosen = !chosen.is_empty() && chosen.iter().all(|&chosen| chosen);
        let public = subject.labels.sink == Sink::Public;
        let code = |holds: Holds, stated: bool| match (holds, public) {
            (Holds::Secret, true) => Some("secret-to-public"),
            // What only looks like a secret may be sent to whom the user names.
            (Holds::Secret, false) if chosen && !stated => None,
            (Holds::Secret, false) => subject.outside.then_some("secret-outward"),
            (Holds::Private, true) if stated && subject.sink_stated => Some("private-to-public"),
            (Holds::Private, true) if !chosen => Some("private-outward"),
            _ => None,
        };
        let mut told = HashSet::new();
        let mut out: Vec<Finding> = self
            .flows
            .of(evidence, subject.server)
            .into_iter()
            .filter_map(|flow| {
                let code = code(flow.holds, flow.stated)?;
                // Of one result only the worst is told.
                told.insert(flow.from.clone()).then_some(())?;
                let what = if flow.holds == Holds::Secret { "secret" } else { "private" };
                let what =
                    if flow.holds == Holds::Secret && !flow.stated { "what looks like secret" } else { what };
                let where_to = if public { "where others can read it" } else { "out" };
                Some(Finding::at(code, flow.path, format!("{what} data of {} goes {where_to}", flow.from)))
            })
            .collect();
        // Nobody can say what is in data that had no room.
        if let Some(holds) = self.flows.overflowed().max(self.forgotten)
            && let Some(code) =
                code(holds, false).or_else(|| (public && holds > Holds::Public).then_some("private-outward"))
        {
            out.push(Finding::new(code, "the run has read more private data than can be compared"));
        }
        out
    }
}
