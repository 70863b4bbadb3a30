//! What of the results the guard is shown: not a transcript, but what the call's values and the orders
//! in what was read stand in. While everything is short, that is everything.

use postern_check::evidence::{Evidence, Sources};

use super::Entry;

/// Results that together are no longer than this are shown whole.
const ALL: usize = 64 << 10;
/// The beginning of a long result that is always shown.
const BEGINNING: usize = 1 << 10;
/// Bytes shown on both sides of a place.
const AROUND: usize = 600;
/// Most of one result that is shown.
const MOST: usize = 48 << 10;

/// Results as `[server.tool] text` lines.
pub(super) fn context(entries: &[Entry], sources: &Sources, evidence: &Evidence) -> String {
    let total: usize = entries.iter().map(|entry| entry.text.len()).sum();
    let mut out = String::with_capacity(total.min(2 * ALL));
    for (index, entry) in entries.iter().enumerate() {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&format!("[{}] ", entry.from.replacen('/', ".", 1)));
        if total <= ALL {
            out.push_str(&entry.text);
        } else {
            excerpts(&entry.text, &places(index, sources, evidence), &mut out);
        }
    }
    out
}

/// Bytes of a result's own text that the call's values and the orders stand at.
fn places(result: usize, sources: &Sources, evidence: &Evidence) -> Vec<usize> {
    let Some(source) = sources.results().get(result) else { return Vec::new() };
    let pieces = evidence.leaves.iter().flat_map(|leaf| &leaf.pieces);
    let pieces = pieces.flat_map(|piece| [piece.place, piece.order_place]).flatten();
    let values = pieces.filter(|place| place.result == result).flat_map(|place| [place.start, place.end]);
    let orders = evidence.orders.iter().chain(&evidence.strongest).map(|followed| &followed.order);
    let orders = orders.filter(|order| order.result == result).flat_map(|order| [order.start, order.end]);
    values.chain(orders).map(|folded| source.original(folded)).collect()
}

fn excerpts(text: &str, places: &[usize], out: &mut String) {
    let mut wanted: Vec<(usize, usize)> = vec![(0, text.floor_char_boundary(BEGINNING.min(text.len())))];
    wanted.extend(places.iter().map(|&at| {
        let start = text.floor_char_boundary(at.saturating_sub(AROUND).min(text.len()));
        (start, text.floor_char_boundary(at.saturating_add(AROUND).min(text.len())))
    }));
    wanted.sort_unstable();
    let (mut shown, mut until) = (0, 0);
    for (start, end) in wanted {
        let start = start.max(until);
        if end <= start || shown + end - start > MOST {
            continue;
        }
        if start > until {
            out.push_str(" [...] ");
        }
        out.push_str(&text[start..end]);
        shown += end - start;
        until = end;
    }
    if until < text.len() {
        out.push_str(" [...]");
    }
}
