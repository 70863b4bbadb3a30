//! Which stretches of the results the model gets to see: the orders that the call follows, and the surroundings of
//! its values.

use postern_check::evidence::{Evidence, Followed, Order, Origin, Place, Sources};

/// A stretch of a result's folded text.
pub(super) struct Snippet<'a> {
    /// The order it is from; `None`: the surroundings of a value, or the end of the last result.
    pub(super) order: Option<&'a Order>,
    pub(super) text: &'a str,
}

/// Bytes of the snippets together; about 80 tokens.
const ROOM: usize = 340;
/// Bytes of the order that is followed most, and of each other one.
const FIRST_ORDER: usize = 190;
const OTHER_ORDER: usize = 70;
/// Bytes before and after a value.
const BEFORE: usize = 50;
const AFTER: usize = 60;
/// An order of less weight than this says nothing about the call.
const LEAST_WEIGHT: f32 = 0.35;

pub(super) fn snippets<'a>(sources: &'a Sources, evidence: &'a Evidence) -> Vec<Snippet<'a>> {
    let mut out: Vec<Snippet<'a>> = Vec::new();
    let mut room = ROOM;
    let mut taken: Vec<Place> = Vec::new();
    let orders = evidence.orders.iter().filter(|followed| followed.weight >= LEAST_WEIGHT);
    for (index, followed) in orders.take(3).enumerate() {
        let most = if index == 0 { FIRST_ORDER } else { OTHER_ORDER };
        for place in order_places(evidence, followed, most.min(room)) {
            if let Some(text) = stretch(sources, place, &mut taken, &mut room) {
                out.push(Snippet { order: Some(&followed.order), text });
            }
        }
    }
    let values = evidence.leaves.iter().flat_map(|leaf| &leaf.pieces);
    let mut places: Vec<(bool, Place)> = values
        .filter(|piece| !matches!(piece.origin, Origin::User | Origin::Order))
        .filter_map(|piece| Some((!piece.kind.points(), piece.place?)))
        .collect();
    places.sort_by_key(|(other, _)| *other);
    for (_, place) in places.into_iter().take(4) {
        let around = Place {
            start: place.start.saturating_sub(BEFORE),
            end: place.end.min(place.start + 60) + AFTER,
            ..place
        };
        if let Some(text) = stretch(sources, around, &mut taken, &mut room) {
            out.push(Snippet { order: None, text });
        }
    }
    if out.is_empty()
        && let Some((index, last)) = sources.results().iter().enumerate().next_back()
    {
        let end = last.text().len();
        let place = Place { result: index, start: end.saturating_sub(140), end };
        out.extend(stretch(sources, place, &mut taken, &mut room).map(|text| Snippet { order: None, text }));
    }
    out
}

/// The beginning of an order, and the place of the first value that it shares with the call if that is further on.
fn order_places(evidence: &Evidence, followed: &Followed, most: usize) -> Vec<Place> {
    let order = &followed.order;
    let whole = Place { result: order.result, start: order.start, end: order.end };
    if order.end - order.start <= most {
        return vec![whole];
    }
    let shared =
        evidence.leaves.iter().flat_map(|leaf| &leaf.pieces).filter_map(|piece| piece.order_place).find(
            |place| {
                place.result == order.result && place.start > order.start + most && place.start < order.end
            },
        );
    match shared {
        Some(place) => {
            let half = most / 2;
            let first = Place { end: order.start + half, ..whole };
            let second = Place {
                start: place.start.saturating_sub(half / 2),
                end: place.end.min(place.start + half / 2),
                ..whole
            };
            vec![first, second]
        }
        None => vec![Place { end: order.start + most, ..whole }],
    }
}

/// The text of a place, as far as there is room and it was not shown before.
fn stretch<'a>(
    sources: &'a Sources,
    place: Place,
    taken: &mut Vec<Place>,
    room: &mut usize,
) -> Option<&'a str> {
    let text = sources.results().get(place.result)?.text();
    let mut start = place.start;
    for other in taken.iter().filter(|other| other.result == place.result) {
        if start >= other.start && start < other.end {
            start = other.end;
        }
    }
    let start = text.floor_char_boundary(start.min(text.len()));
    let end = text.floor_char_boundary(place.end.min(text.len()).min(start + *room));
    if end < start + 8 {
        return None;
    }
    taken.push(Place { start, end, ..place });
    *room -= end - start;
    Some(text[start..end].trim())
}
