//! The texts of a value, one after the other: names, strings, numbers. They are counted in the order in which the
//! value is written as JSON, so that a place in its JSON and a place in the value find each other. Judges nothing.

use std::collections::{BTreeMap, HashMap};

use postern_check::pointer_token;
use serde_json::{Map, Value};

use crate::secrets::{Name, name};

/// One text of a value.
#[derive(Clone, Debug)]
pub(super) enum Text<'a> {
    /// The name of a field.
    Key(&'a str),
    String(&'a str),
    /// As it is written.
    Number(String),
}

/// A text, with where it stands.
pub(super) struct Piece<'a, 'w> {
    /// How many texts are before it.
    pub(super) number: usize,
    /// What the name it stands under tells.
    pub(super) under: Name,
    pub(super) text: Text<'a>,
    steps: &'w [Step<'a>],
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// The longest name that is shown in a pointer. A server chose it.
const LONGEST_NAME: usize = 40;
/// The most steps that are shown.
const MOST_STEPS: usize = 12;

impl Piece<'_, '_> {
    /// Where it stands, as a JSON pointer; names that say more than a name does are left out.
    pub(super) fn pointer(&self) -> String {
        let mut out = String::new();
        for step in self.steps.iter().take(MOST_STEPS) {
            out.push('/');
            match step {
                Step::Index(at) => out.push_str(&at.to_string()),
                Step::Key(key) if key.len() <= LONGEST_NAME && key.chars().all(plain) => {
                    out.push_str(&pointer_token(key));
                }
                Step::Key(_) => out.push('…'),
            }
        }
        out
    }
}

fn plain(c: char) -> bool {
    c.is_alphanumeric() || "_-.$@/~:".contains(c)
}

/// Shows every text.
pub(super) fn walk<'a>(value: &'a Value, mut see: impl FnMut(Piece<'a, '_>)) {
    let mut walker = Walker { number: 0, steps: Vec::new(), names: HashMap::new(), see: &mut see };
    walker.value(value, Name::Plain);
}

struct Walker<'a, 's> {
    number: usize,
    steps: Vec<Step<'a>>,
    /// The same names stand in row after row.
    names: HashMap<&'a str, Name>,
    see: &'s mut dyn FnMut(Piece<'a, '_>),
}

impl<'a> Walker<'a, '_> {
    fn value(&mut self, value: &'a Value, under: Name) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => self.text(Text::Number(number.to_string()), under),
            Value::String(text) => self.text(Text::String(text), under),
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.steps.push(Step::Index(at));
                    self.value(item, under);
                    self.steps.pop();
                }
            }
            Value::Object(fields) => {
                for (key, inner) in fields {
                    self.steps.push(Step::Key(key));
                    self.text(Text::Key(key), Name::Plain);
                    let under = *self.names.entry(key.as_str()).or_insert_with(|| name(key));
                    self.value(inner, under);
                    self.steps.pop();
                }
            }
        }
    }

    fn text(&mut self, text: Text<'a>, under: Name) {
        let number = self.number;
        self.number += 1;
        (self.see)(Piece { number, under, text, steps: &self.steps });
    }
}

/// A stretch of one text that a marker takes the place of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: &'static str,
}

/// Cuts by the number of their text.
pub(super) type Cuts = BTreeMap<usize, Vec<Cut>>;

/// The value with a marker in the place of each cut. What is an object stays one, with as many fields.
pub(super) fn cut(value: &Value, cuts: &Cuts) -> Value {
    Cutter { number: 0, cuts }.value(value)
}

struct Cutter<'c> {
    number: usize,
    cuts: &'c Cuts,
}

impl Cutter<'_> {
    fn value(&mut self, value: &Value) -> Value {
        match value {
            Value::Null | Value::Bool(_) => value.clone(),
            Value::Number(number) => match self.next() {
                Some(cuts) => apply(&number.to_string(), cuts).into(),
                None => value.clone(),
            },
            Value::String(text) => match self.next() {
                Some(cuts) => apply(text, cuts).into(),
                None => value.clone(),
            },
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => {
                let mut out = Map::with_capacity(fields.len());
                for (key, inner) in fields {
                    let key = match self.next() {
                        Some(cuts) => {
                            free(apply(key, cuts), |name| out.contains_key(name) || fields.contains_key(name))
                        }
                        None => key.clone(),
                    };
                    let inner = self.value(inner);
                    out.insert(key, inner);
                }
                Value::Object(out)
            }
        }
    }

    fn next(&mut self) -> Option<&[Cut]> {
        let cuts = self.cuts.get(&self.number);
        self.number += 1;
        cuts.map(Vec::as_slice)
    }
}

/// The name, with a number if it is taken.
fn free(name: String, taken: impl Fn(&str) -> bool) -> String {
    if !taken(&name) {
        return name;
    }
    let mut numbered = (2_u32..).map(|number| format!("{name} ({number})"));
    numbered.find(|name| !taken(name)).unwrap_or(name)
}

fn apply(text: &str, cuts: &[Cut]) -> String {
    let mut cuts = cuts.to_vec();
    cuts.sort_by_key(|cut| (cut.start, std::cmp::Reverse(cut.end)));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for cut in cuts {
        let start = text.floor_char_boundary(cut.start.min(text.len()));
        let end = text.ceil_char_boundary(cut.end.min(text.len()));
        if end <= at {
            continue;
        }
        if start >= at {
            out.push_str(&text[at..start]);
            out.push_str(&marker(cut.kind));
        }
        at = end;
    }
    out.push_str(&text[at..]);
    out
}

/// What stands where something was.
pub(super) fn marker(kind: &str) -> String {
    format!("[redacted {kind}]")
}

/// Finds the texts of a value again in its JSON, as `Value::to_string` writes it.
pub(super) struct Literals<'a> {
    json: &'a str,
    at: usize,
}

impl<'a> Literals<'a> {
    pub(super) fn of(json: &'a str) -> Self {
        Self { json, at: 0 }
    }

    /// Where the next string stands, without its quotes.
    pub(super) fn next(&mut self) -> Option<(usize, usize)> {
        let start = self.at + self.json.get(self.at..)?.find('"')? + 1;
        let mut end = start;
        loop {
            end += self.json.get(end..)?.find(['"', '\\'])?;
            if self.json.as_bytes()[end] == b'"' {
                self.at = end + 1;
                return Some((start, end));
            }
            end += 2;
        }
    }
}

/// Places in a string by those in its JSON literal. Asked from the beginning to the end, so that a long text with
/// many of them is read once.
pub(super) struct Unescaped<'a> {
    literal: &'a str,
    /// How far it has been read, and where that is in the string.
    from: usize,
    to: usize,
}

impl<'a> Unescaped<'a> {
    pub(super) fn of(literal: &'a str) -> Self {
        Self { literal, from: 0, to: 0 }
    }

    /// The place in the string; inside an escape, that of its beginning. Not before the one asked for last.
    pub(super) fn place(&mut self, at: usize) -> usize {
        let literal = self.literal;
        while let Some(c) = literal.get(self.from..).and_then(|rest| rest.chars().next()) {
            let (read, meant) = match (c, literal.as_bytes().get(self.from + 1)) {
                ('\\', Some(b'u')) => {
                    let hex = literal.get(self.from + 2..self.from + 6);
                    let code = hex.and_then(|hex| u32::from_str_radix(hex, 16).ok());
                    (6, code.and_then(char::from_u32).map_or(1, char::len_utf8))
                }
                ('\\', Some(_)) => (2, 1),
                (c, _) => (c.len_utf8(), c.len_utf8()),
            };
            if self.from + read > at {
                break;
            }
            self.from += read;
            self.to += meant;
        }
        self.to
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn texts(value: &Value) -> Vec<(usize, String, String)> {
        let mut out = Vec::new();
        walk(value, |piece| {
            let text = match &piece.text {
                Text::Key(text) | Text::String(text) => (*text).to_owned(),
                Text::Number(text) => text.clone(),
            };
            out.push((piece.number, piece.pointer(), text));
        });
        out
    }

    #[test]
    fn texts_are_counted_and_placed() {
        let value = json!({"a": ["x", 1.5, null, {"b/c": "y"}], "give me all your money": true});
        let found = texts(&value);
        let places: Vec<&str> = found.iter().map(|(_, place, _)| place.as_str()).collect();
        assert_eq!(places, ["/a", "/a/0", "/a/1", "/a/3/b~1c", "/a/3/b~1c", "/…"]);
        assert!(found.iter().enumerate().all(|(at, (number, ..))| at == *number));
    }

    #[test]
    fn what_is_cut_keeps_its_form() {
        let value = json!({"a": "one two three", "n": [1234, 5], "k w": 1, "k v": 2});
        let cut_at = |number, start, end| (number, vec![Cut { start, end, kind: "password" }]);
        let cuts = Cuts::from([cut_at(1, 4, 7), cut_at(3, 0, 9), cut_at(5, 0, 3), cut_at(7, 0, 3)]);
        assert_eq!(
            cut(&value, &cuts),
            json!({"a": "one [redacted password] three", "n": ["[redacted password]", 5],
                "[redacted password]": 1, "[redacted password] (2)": 2}),
        );
        let overlapping = [
            Cut { start: 0, end: 5, kind: "a" },
            Cut { start: 2, end: 9, kind: "b" },
            Cut { start: 3, end: 4, kind: "c" },
        ];
        assert_eq!(apply("0123456789é", &overlapping), "[redacted a]9é");
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let text = "[a-c\"\\\\/\\n\\t\u{1}\u{7f}é中\u{1f600}{}\\[\\],: ]{0,8}";
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(|n| json!(n)),
            text.prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map(text, inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_text_is_found_in_the_json(value in any_value()) {
            let json = value.to_string();
            let mut literals = Literals::of(&json);
            let mut faults = Vec::new();
            walk(&value, |piece| {
                let (Text::Key(text) | Text::String(text)) = piece.text else { return };
                let Some((start, end)) = literals.next() else { return faults.push(text.to_owned()) };
                let literal = &json[start..end];
                let read: String = serde_json::from_str(&format!("\"{literal}\"")).unwrap();
                if read != text || Unescaped::of(literal).place(literal.len()) != text.len() {
                    faults.push(text.to_owned());
                }
            });
            prop_assert!(faults.is_empty() && literals.next().is_none(), "{:?} in {}", faults, json);
            prop_assert_eq!(cut(&value, &Cuts::new()), value);
        }

        #[test]
        fn places_in_a_literal_lead_to_places_in_the_text(text in "[a\"\\\\\\n\u{1}é]{0,12}", at in 0_usize..13) {
            let literal = Value::from(text.clone()).to_string();
            let literal = &literal[1..literal.len() - 1];
            let at = text.floor_char_boundary(at.min(text.len()));
            let before = Value::from(&text[..at]).to_string();
            prop_assert_eq!(Unescaped::of(literal).place(before.len() - 2), at);
        }
    }
}
