//! What is in a result that a script is about to get: text that gives orders to whoever reads it, secrets. Each
//! result is read once; what was made ready for that goes into the ledger. What follows from a find, the
//! configuration says and the gate does: nothing here decides.
//!
//! ```text
//! kept       how much of a long result stays with the run
//! walk       the texts of a value, one by one, and the value with some of them cut out
//! encoded    where something stands that cannot be read as it is
//! label      what the report and the record say of it
//! ```

mod encoded;
mod kept;
mod label;
mod walk;

use postern_check::evidence::{Signs, Source, Trust};
use serde_json::Value;

use crate::secrets::{Name, Secret, secrets_under};

pub(crate) use label::kinds;
pub use label::{Became, FoundSecret, Planted, ResultLabel};

use kept::Kept;
use walk::{Cut, Cuts, Literals, Piece, Text, Unescaped, cut, walk};

/// The most of a result that is searched; what is behind it is reported as not searched.
const MOST: usize = 4 << 20;

/// From here on a sentence is taken for one that somebody planted, and from the second on if it speaks to an
/// assistant. A request between people has less: see the tests.
const PLANTED: f32 = 2.5;
const TO_ASSISTANT: f32 = 2.05;
/// Nobody hides a plain request.
const HIDDEN: f32 = 1.0;

/// The most rounds of cutting: what is left over may read differently.
const ROUNDS: usize = 3;

/// What a marker says was there.
const INSTRUCTIONS: &str = "instructions";

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) instructions: bool,
    pub(crate) secrets: bool,
}

#[cfg(test)]
impl Look {
    /// For everything.
    pub(crate) const ALL: Self = Self { instructions: true, secrets: true };
}

/// A result that was read.
pub(crate) struct Scanned {
    /// What is kept of its text: as the server wrote it, if it is a text.
    pub(crate) text: String,
    /// Something of it is not kept.
    pub(crate) is_cut: bool,
    /// Made ready to compare values with.
    pub(crate) source: Source,
    pub(crate) found: Found,
}

/// What was found in a result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub(crate) planted: Vec<Planted>,
    pub(crate) secrets: Vec<FoundSecret>,
    /// The secrets themselves, for the ledger.
    pub(crate) values: Vec<String>,
    /// Bytes at its end that were not searched.
    pub(crate) unsearched: u64,
    planted_cuts: Cuts,
    secret_cuts: Cuts,
    /// There is something of which the place is not known.
    unplaced: bool,
}

impl Scanned {
    /// Reads a result. `tool` is what the source is called, `json` the value as `Value::to_string` writes it.
    pub(crate) fn of(tool: &str, trust: Trust, value: &Value, json: &str, look: Look) -> Self {
        // A text is what its server wrote, not that text as JSON.
        let whole = value.as_str().unwrap_or(json);
        let kept = Kept::of(whole);
        let source = Source::of(tool, trust, &kept.text);
        let mut found = Found::default();
        if look.instructions || look.secrets {
            found.unsearched = whole.len().saturating_sub(MOST) as u64;
        }
        if look.instructions {
            let (stretches, encoded) = stretches(whole, &kept, &source);
            found.instructions(value, whole, stretches, encoded);
        }
        if look.secrets {
            found.secrets(value);
        }
        Self { is_cut: kept.is_cut(), text: kept.text, source, found }
    }
}

impl Found {
    /// Whether there is anything to be said of the result.
    pub(crate) fn is_nothing(&self) -> bool {
        self.planted.is_empty() && self.secrets.is_empty() && self.unsearched == 0
    }

    /// Puts each stretch of the whole into the text that it stands in.
    fn instructions(&mut self, value: &Value, whole: &str, stretches: Vec<Stretch>, encoded: Option<f32>) {
        if stretches.is_empty() && encoded.is_none() {
            return;
        }
        let plain = value.is_string();
        let mut literals = Literals::of(whole);
        let mut placed = vec![false; stretches.len()];
        let mut placed_encoded = false;
        // Stretches and texts both go from the beginning to the end: what is behind is not looked at again.
        let mut first = 0;
        walk(value, |piece| {
            let (Text::Key(text) | Text::String(text)) = piece.text else { return };
            let place = if plain { Some((0, whole.len())) } else { literals.next() };
            let Some((from, to)) = place else { return };
            // Names of fields come between two texts that belong together. Only one that is a sentence itself
            // is more than that.
            let named = matches!(piece.text, Text::Key(_));
            if named && !text.contains(char::is_whitespace) {
                return;
            }
            if text.is_empty() {
                return;
            }
            first += stretches[first..].iter().take_while(|stretch| stretch.end <= from).count();
            let mut unescaped = Unescaped::of(&whole[from..to]);
            let mut at = |place: usize| if plain { place } else { unescaped.place(place - from) };
            let here = stretches[first..].iter().take_while(|stretch| stretch.start < to);
            for (stretch, placed) in here.zip(&mut placed[first..]) {
                let (start, end) = (at(stretch.start.max(from)), at(stretch.end.min(to)));
                let (start, end) = if named { (0, text.len()) } else { whole_words(text, start, end) };
                self.plant(&piece, text, (start, end), (stretch.strength, false), !*placed);
                *placed = true;
            }
            if let Some(strength) = encoded
                && text.len() >= 16
            {
                for (start, end) in encoded::planted(text) {
                    self.plant(&piece, text, (start, end), (strength, true), true);
                    placed_encoded = true;
                }
            }
        });
        self.unplaced |= placed.contains(&false) || (encoded.is_some() && !placed_encoded);
        if self.planted.is_empty() {
            // It is there, although nobody can say in which of the texts.
            let strength = encoded.unwrap_or(PLANTED);
            self.planted.push(Planted::new(String::new(), strength, encoded.is_some(), None));
        }
    }

    fn plant(
        &mut self,
        piece: &Piece<'_, '_>,
        text: &str,
        (start, end): (usize, usize),
        (strength, encoded): (f32, bool),
        first: bool,
    ) {
        if first {
            let shown = text.get(start..end).unwrap_or_default();
            self.planted.push(Planted::new(piece.pointer(), strength, encoded, Some(shown)));
        }
        self.planted_cuts.entry(piece.number).or_default().push(Cut { start, end, kind: INSTRUCTIONS });
    }

    fn secrets(&mut self, value: &Value) {
        let mut searched = 0;
        walk(value, |piece| {
            let (text, under) = match &piece.text {
                Text::Key(text) => (*text, Name::Plain),
                Text::String(text) => (*text, piece.under),
                // A number is only secret because of its name.
                Text::Number(number) if piece.under == Name::Password => (number.as_str(), piece.under),
                Text::Number(_) => return,
            };
            searched += text.len();
            if searched > MOST {
                return;
            }
            for Secret { kind, start, end } in secrets_under(under, text) {
                self.values.push(text[start..end].to_owned());
                self.secrets.push(FoundSecret { path: piece.pointer(), kind: kind.to_owned() });
                self.secret_cuts.entry(piece.number).or_default().push(Cut { start, end, kind });
            }
        });
    }

    /// The value without what was found: without the instructions, without the secrets, or both. None if it cannot
    /// be cut out for sure.
    pub(crate) fn without(&self, value: &Value, instructions: bool, secrets: bool) -> Option<Value> {
        let look = Look { instructions, secrets };
        let mut value = value.clone();
        let mut again;
        let mut found = self;
        for _ in 0..ROUNDS {
            let mut cuts = Cuts::new();
            let wanted = [(instructions, &found.planted_cuts), (secrets, &found.secret_cuts)];
            for (number, more) in wanted.into_iter().filter(|(cut, _)| *cut).flat_map(|(_, cuts)| cuts) {
                cuts.entry(*number).or_default().extend(more);
            }
            if (found.unplaced && instructions) || found.unsearched > 0 {
                return None;
            }
            if cuts.is_empty() {
                return Some(value);
            }
            value = cut(&value, &cuts);
            again = Scanned::of("", Trust::Untrusted, &value, &value.to_string(), look).found;
            found = &again;
        }
        found.is_nothing().then_some(value)
    }
}

/// A stretch of the whole that gives orders.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    start: usize,
    end: usize,
    strength: f32,
}

/// The stretches of a result's text that give orders, in order and apart; and how strong what is encoded in it is,
/// if there is such a thing.
fn stretches(whole: &str, kept: &Kept, source: &Source) -> (Vec<Stretch>, Option<f32>) {
    let mut out = Vec::new();
    let mut encoded: Option<f32> = None;
    let mut add = |source: &Source, places: &dyn Fn(usize, usize) -> Vec<(usize, usize)>| {
        for order in source.orders() {
            let (strength, signs) = source.strongest(order);
            if source.is_decoded(order.start) {
                if is_planted((strength, signs), HIDDEN) {
                    encoded = Some(encoded.unwrap_or(0.0).max(strength + HIDDEN));
                }
            } else if is_planted((strength, signs), 0.0) {
                let end =
                    if order.end >= source.text().len() { usize::MAX } else { source.original(order.end) };
                let places = places(source.original(order.start), end).into_iter();
                out.extend(places.map(|(start, end)| Stretch { start, end, strength }));
            }
        }
    };
    add(source, &|start, end| kept.whole(start, end));
    for (from, to) in kept.left_out(whole, MOST) {
        let between = Source::of("", Trust::Untrusted, &whole[from..to]);
        add(&between, &|start, end| vec![(from + start, to.min(from.saturating_add(end)))]);
    }
    out.sort_by_key(|stretch: &Stretch| stretch.start);
    let mut apart: Vec<Stretch> = Vec::with_capacity(out.len());
    for stretch in out {
        match apart.last_mut() {
            Some(last) if stretch.start < last.end => {
                last.end = last.end.max(stretch.end);
                last.strength = last.strength.max(stretch.strength);
            }
            _ => apart.push(stretch),
        }
    }
    (apart, encoded)
}

/// Whether a sentence of this strength is one that somebody planted. `more` is added for how it stands there.
fn is_planted((strength, signs): (f32, Signs), more: f32) -> bool {
    strength + more >= PLANTED || (signs.to_assistant && strength + more >= TO_ASSISTANT)
}

/// Whether a source holds such a sentence.
fn planted_in(source: &Source, more: f32) -> bool {
    source.orders().iter().any(|order| is_planted(source.strongest(order), more))
}

/// The stretch without the blanks before it, and up to the end of its last word.
fn whole_words(text: &str, start: usize, end: usize) -> (usize, usize) {
    let end = text.ceil_char_boundary(end.min(text.len()));
    let start = text.floor_char_boundary(start.min(end));
    let start = end - text[start..end].trim_start().len();
    let joined = text[..end].chars().next_back().is_some_and(|c| !c.is_whitespace());
    let more = if joined { text[end..].find(char::is_whitespace).unwrap_or(text.len() - end) } else { 0 };
    (start, end + more)
}

#[cfg(test)]
mod tests;
