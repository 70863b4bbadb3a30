//! The leaves of a call's arguments, with their names and schemas, and those of JSON that hides in a text.

use postern_check::key_words;
use serde_json::{Map, Number, Value};

use super::kinds::PROSE;

/// JSON inside text inside JSON is followed this deep.
const DEPTH: usize = 4;
/// Longer texts are not read as JSON.
const LONGEST_JSON: usize = 64 << 10;

/// One value of the arguments.
pub(crate) struct Leaf<'a> {
    /// JSON pointer to it, or to the text in whose JSON it stands.
    pub(crate) path: &'a str,
    /// The words of the name it goes by: the nearest key above it.
    pub(crate) words: &'a [String],
    /// What the schema says of it.
    pub(crate) schema: Option<&'a Value>,
    /// It stands in an array whose items were given before as [`Held::Words`].
    pub(crate) in_words: bool,
    pub(crate) held: Held<'a>,
}

/// What a leaf holds.
#[derive(Clone, Copy)]
pub(crate) enum Held<'a> {
    Text(&'a str),
    Flag(bool),
    Number(&'a Number),
    /// A whole array of texts; its items follow one by one.
    Words(&'a [Value]),
}

impl Leaf<'_> {
    /// Whether its name has one of these words.
    pub(crate) fn named(&self, any: &[&str]) -> bool {
        self.words.iter().any(|word| any.contains(&word.as_str()))
    }
}

struct Place<'a> {
    path: &'a mut String,
    words: &'a [String],
    schema: Option<&'a Value>,
    /// How deep in JSON texts it stands. Pointers end at the outermost text.
    nested: usize,
}

/// Gives every leaf to `visit`, in order.
pub(crate) fn each_leaf(schema: &Value, arguments: &Map<String, Value>, visit: &mut dyn FnMut(&Leaf<'_>)) {
    let mut path = String::new();
    let place = Place { path: &mut path, words: &[], schema: Some(schema), nested: 0 };
    object(arguments, place, visit);
}

fn object(fields: &Map<String, Value>, place: Place<'_>, visit: &mut dyn FnMut(&Leaf<'_>)) {
    for (key, value) in fields {
        let before = place.path.len();
        if place.nested == 0 {
            push(place.path, key);
        }
        let words = key_words(key);
        let schema = place.schema.and_then(|schema| schema.get("properties")?.get(key));
        node(value, Place { path: place.path, words: &words, schema, nested: place.nested }, false, visit);
        place.path.truncate(before);
    }
    if let Some((key, line)) = command_line(fields) {
        let before = place.path.len();
        if place.nested == 0 {
            push(place.path, key);
        }
        let words = ["command".to_owned()];
        visit(&Leaf {
            path: place.path,
            words: &words,
            schema: None,
            in_words: false,
            held: Held::Words(&line),
        });
        place.path.truncate(before);
    }
}

/// A program and its arguments that stand in two fields, as one command, with the name of the second.
fn command_line(fields: &Map<String, Value>) -> Option<(&str, Vec<Value>)> {
    let one =
        |names: &[&str]| fields.iter().find(|(key, _)| names.contains(&key.to_ascii_lowercase().as_str()));
    let (_, program) = one(&["command", "cmd", "program", "executable", "bin", "file"])?;
    let (key, arguments) = one(&["args", "argv", "arguments", "params", "parameters"])?;
    let program = program.as_str().filter(|program| !program.is_empty())?;
    let mut line = vec![Value::from(program)];
    match arguments {
        Value::Array(items) => line.extend(items.iter().filter(|item| item.is_string()).cloned()),
        Value::String(text) => line.extend(text.split_whitespace().map(Value::from)),
        _ => return None,
    }
    Some((key, line))
}

fn node(value: &Value, place: Place<'_>, in_words: bool, visit: &mut dyn FnMut(&Leaf<'_>)) {
    let mut leaf = |held: Held<'_>| {
        visit(&Leaf { path: place.path, words: place.words, schema: place.schema, in_words, held });
    };
    match value {
        Value::Null => {}
        Value::Bool(flag) => leaf(Held::Flag(*flag)),
        Value::Number(number) => leaf(Held::Number(number)),
        Value::String(text) => {
            leaf(Held::Text(text));
            // A file's content may hold commands, as a mail's text may; neither is run.
            let written = place.words.last().is_some_and(|word| PROSE.contains(&word.as_str()));
            if let Some(inner) = (!written).then(|| json_in(text, place.nested)).flatten() {
                node(&inner, Place { nested: place.nested + 1, schema: None, ..place }, false, visit);
            }
        }
        Value::Array(items) => {
            let texts = !items.is_empty() && items.iter().all(Value::is_string);
            if texts {
                leaf(Held::Words(items));
            }
            let schema = place.schema.and_then(|schema| schema.get("items"));
            for (index, item) in items.iter().enumerate() {
                let before = place.path.len();
                if place.nested == 0 {
                    place.path.push('/');
                    place.path.push_str(&index.to_string());
                }
                let inner = Place { path: place.path, words: place.words, schema, nested: place.nested };
                node(item, inner, texts, visit);
                place.path.truncate(before);
            }
        }
        Value::Object(fields) => object(fields, place, visit),
    }
}

/// The JSON object, array or quoted text that a text holds.
fn json_in(text: &str, nested: usize) -> Option<Value> {
    let text = text.trim();
    let likely = (text.starts_with('{') && text.ends_with('}'))
        || (text.starts_with('[') && text.ends_with(']'))
        || (text.starts_with("\"{") && text.ends_with("}\""));
    if !likely || nested >= DEPTH || text.len() > LONGEST_JSON {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// Adds a key to a JSON pointer.
fn push(path: &mut String, key: &str) {
    path.push('/');
    for c in key.chars() {
        match c {
            '~' => path.push_str("~0"),
            '/' => path.push_str("~1"),
            other => path.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn seen(arguments: Value) -> Vec<(String, String)> {
        let mut out = Vec::new();
        let Value::Object(arguments) = arguments else { panic!("an object") };
        each_leaf(&json!({}), &arguments, &mut |leaf| {
            if let Held::Text(text) = leaf.held {
                out.push((leaf.path.to_owned(), format!("{}={text}", leaf.words.join("_"))));
            }
        });
        out
    }

    #[test]
    fn leaves_have_pointers_and_the_nearest_name() {
        let found = seen(json!({"toList": ["a", {"x/y~": "b"}], "n": 1}));
        assert_eq!(found[0], ("/toList/0".into(), "to_list=a".into()));
        assert_eq!(found[1], ("/toList/1/x~1y~0".into(), "x_y=b".into()));
    }

    #[test]
    fn json_in_text_is_followed_but_not_for_ever() {
        let found = seen(json!({"input": "{\"cmd\":\"{\\\"cmd\\\":\\\"ls\\\"}\"}"}));
        assert_eq!(found[2], ("/input".into(), "cmd=ls".into()));
        let mut text = "{\"cmd\":\"ls\"}".to_owned();
        for _ in 0..8 {
            text = json!({"input": text}).to_string();
        }
        assert!(seen(json!({"input": text})).iter().all(|(_, leaf)| leaf != "cmd=ls"));
    }
}
