//! Where a reference inside a schema leads: JSON pointers (percent-encoded or not, with `~0` and `~1`),
//! anchors, and the identifiers that parts of a schema give themselves. Nothing outside is ever looked at.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Words of a pointer that name no type.
const KEYWORDS: [&str; 16] = [
    "$defs",
    "definitions",
    "properties",
    "patternProperties",
    "additionalProperties",
    "items",
    "prefixItems",
    "additionalItems",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "schema",
];
/// Deeper parts of a schema are not looked at for identifiers.
const MAX_DEPTH: usize = 128;

/// A part of a schema, and the part that pointers in it start from.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) schema: &'a Value,
    pub(super) scope: &'a Value,
}

impl<'a> Place<'a> {
    /// A part of this one: itself a start of pointers if it gives itself an identifier.
    pub(super) fn part(self, schema: &'a Value) -> Self {
        Self { schema, scope: if names_itself(schema) { schema } else { self.scope } }
    }
}

fn names_itself(schema: &Value) -> bool {
    let id = |key: &str| schema.get(key).and_then(Value::as_str);
    id("$id").is_some_and(|id| !id.starts_with('#'))
}

/// Everything in one schema that a reference can lead to by name.
pub(super) struct Index<'a> {
    root: &'a Value,
    anchors: HashMap<&'a str, Place<'a>>,
    ids: HashMap<&'a str, &'a Value>,
}

impl<'a> Index<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        let mut index = Self { root, anchors: HashMap::new(), ids: HashMap::new() };
        index.collect(Place { schema: root, scope: root }, 0);
        index
    }

    fn collect(&mut self, place: Place<'a>, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match place.schema {
            Value::Object(map) => {
                for key in ["$anchor", "$dynamicAnchor"] {
                    if let Some(Value::String(name)) = map.get(key) {
                        self.anchors.entry(name).or_insert(place);
                    }
                }
                for key in ["$id", "id"] {
                    match map.get(key) {
                        Some(Value::String(id)) => match id.strip_prefix('#') {
                            Some(name) => drop(self.anchors.entry(name).or_insert(place)),
                            None => self.identify(id, place.schema),
                        },
                        _ => continue,
                    }
                }
                map.values().for_each(|inner| self.collect(place.part(inner), depth + 1));
            }
            Value::Array(items) => items.iter().for_each(|inner| self.collect(place.part(inner), depth + 1)),
            _ => {}
        }
    }

    /// Both as it is written and by its last step, as a relative reference would have it.
    fn identify(&mut self, id: &'a str, schema: &'a Value) {
        let id = id.split('#').next().unwrap_or_default();
        let last = id.rsplit('/').next().unwrap_or_default();
        for name in [id, last] {
            if !name.is_empty() {
                self.ids.entry(name).or_insert(schema);
            }
        }
    }

    /// The part of the schema that `reference` leads to, and what a type made of it may be called. `None` if
    /// it leads nowhere.
    pub(super) fn find(&self, reference: &str, scope: &'a Value) -> Option<(Place<'a>, String)> {
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let start = if base.is_empty() { scope } else { *self.ids.get(base)? };
        let decoded = percent_decoded(fragment);
        let fragment = decoded.as_deref().unwrap_or(fragment);
        if fragment.is_empty() {
            let hint = if std::ptr::eq(start, self.root) { "" } else { title(start).unwrap_or("part") };
            return Some((Place { schema: start, scope: start }, hint.to_owned()));
        }
        if !fragment.starts_with('/') {
            let place = *self.anchors.get(fragment)?;
            return Some((place, fragment.to_owned()));
        }
        let place = walk(start, fragment).or_else(|| walk(self.root, fragment))?;
        Some((place, hint(fragment, place.schema)))
    }
}

/// Follows a JSON pointer.
fn walk<'a>(start: &'a Value, pointer: &str) -> Option<Place<'a>> {
    let mut place = Place { schema: start, scope: start };
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        let inner = match place.schema {
            Value::Object(map) => map.get(&token)?,
            Value::Array(items) => items.get(token.parse::<usize>().ok()?)?,
            _ => return None,
        };
        place = place.part(inner);
    }
    Some(place)
}

fn title(schema: &Value) -> Option<&str> {
    schema.get("title").and_then(Value::as_str)
}

/// The last word of a pointer that says what is there.
fn hint(pointer: &str, schema: &Value) -> String {
    let told = pointer
        .rsplit('/')
        .find(|token| !token.is_empty() && !KEYWORDS.contains(token) && token.parse::<usize>().is_err())
        .map(|token| token.replace("~1", "/").replace("~0", "~"));
    told.or_else(|| title(schema).map(str::to_owned)).unwrap_or_else(|| "part".into())
}

/// The text with `%41` and the like replaced; `None` if that is no text.
fn percent_decoded(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let (high, low) = (digit(bytes.next()?)?, digit(bytes.next()?)?);
        out.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(out).ok()
}

/// The references of one schema object.
pub(super) fn references(map: &Map<String, Value>) -> impl Iterator<Item = &str> {
    ["$ref", "$dynamicRef", "$recursiveRef"].into_iter().filter_map(|key| map.get(key)?.as_str())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    #[test]
    fn pointers_anchors_and_identifiers_lead_inside() {
        let root = json!({
            "$defs": {
                "a/b": {"const": 1}, "c~d": {"const": 2}, "e%f": {"const": 3}, "g h": {"const": 4},
                "marked": {"$anchor": "here", "const": 5},
                "own": {"$id": "https://example.test/own.json", "$defs": {"x": {"const": 6}}, "$ref": "#/$defs/x"}
            },
            "properties": {"f": {"anyOf": [{"const": 7}, {"const": 8}]}}
        });
        let index = Index::new(&root);
        for (reference, value) in [
            ("#/$defs/a~1b", 1),
            ("#/$defs/a%2Fb", 1),
            ("#/%24defs/c~0d", 2),
            ("#/$defs/e%25f", 3),
            ("#/$defs/g%20h", 4),
            ("#here", 5),
            ("own.json#/$defs/x", 6),
            ("https://example.test/own.json#/$defs/x", 6),
            ("#/properties/f/anyOf/1", 8),
        ] {
            // A slash may be written as %2F only where it means a step.
            let found = index.find(reference, &root);
            if reference == "#/$defs/a%2Fb" {
                assert!(found.is_none());
                continue;
            }
            assert_eq!(found.unwrap().0.schema["const"], value, "{reference}");
        }
        let own = &root["$defs"]["own"];
        assert_eq!(index.find("#/$defs/x", own).unwrap().0.schema["const"], 6);
        for nowhere in
            ["#/nowhere", "#nowhere", "#/$defs/a~1b/const/1", "https://elsewhere.test/", "#%zz", "#/%ff"]
        {
            assert!(index.find(nowhere, &root).is_none(), "{nowhere}");
        }
    }

    #[test]
    fn hints_are_words_of_the_schema() {
        for (pointer, word) in [
            ("/$defs/Customer", "Customer"),
            ("/properties/f/anyOf/0", "f"),
            ("/$defs/a~1b", "a/b"),
            ("/items", "T"),
        ] {
            assert_eq!(hint(pointer, &json!({"title": "T"})), word);
        }
    }
}
