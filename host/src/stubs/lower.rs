//! From a JSON Schema to a shape. Whatever comes, something comes out: what means nothing, leads nowhere or
//! is too much is `Unknown`, and the rest keeps its types.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::join::{MAX_LITERALS, meet, union};
use super::notes;
use super::refs::{Index, Place, references};
use super::shape::{Def, Extra, Field, Literal, Record, Shape, Tuple, Type};

/// Types of one schema. No model reads more, and no hostile schema gets more of our time.
const MAX_TYPES: usize = 1_000;
/// Types within types, references included.
const MAX_DEPTH: usize = 40;
/// Definitions of one schema.
const MAX_DEFS: usize = 120;
/// Characters of all the comments of one schema's fields.
const MAX_COMMENTS: usize = 8_000;
/// Work on types that meet, in types looked at.
const MAX_MEETINGS: usize = 4_000;

/// Which way the values of a schema go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Arguments: a script makes them.
    Input,
    /// Results: a script reads them.
    Output,
}

/// The shape of `schema`.
pub(super) fn lower(schema: &Value, side: Side) -> Shape {
    let place = Place { schema, scope: schema };
    let mut lowering = Lowering {
        index: Index::new(schema),
        root: schema,
        side,
        defs: Vec::new(),
        known: HashMap::new(),
        types: MAX_TYPES,
        comments: MAX_COMMENTS,
        meetings: MAX_MEETINGS,
    };
    // A schema that refers to itself as a whole becomes a definition like any other.
    let root = lowering.define(place, String::new(), 0);
    let defs = lowering.defs.into_iter().map(|def| def.unwrap_or_else(unknown)).collect();
    Shape { root, defs }
}

fn unknown() -> Def {
    Def { hint: "part".into(), ty: Type::Unknown, doc: None, recursive: false }
}

struct Lowering<'a> {
    index: Index<'a>,
    root: &'a Value,
    side: Side,
    /// `None` while one is being made.
    defs: Vec<Option<Def>>,
    /// Which definition a part of the schema has become, by its address.
    known: HashMap<*const Value, usize>,
    types: usize,
    comments: usize,
    meetings: usize,
}

impl<'a> Lowering<'a> {
    fn define(&mut self, place: Place<'a>, hint: String, depth: usize) -> Type {
        let address = std::ptr::from_ref(place.schema);
        if let Some(known) = self.known.get(&address) {
            return Type::Named(*known);
        }
        let index = self.defs.len();
        if index >= MAX_DEFS || self.types == 0 || depth > MAX_DEPTH {
            return Type::Unknown;
        }
        self.known.insert(address, index);
        self.defs.push(None);
        let ty = self.lower(place, depth);
        let doc = self.comment(place.schema);
        self.defs[index] = Some(Def { hint, ty, doc, recursive: false });
        Type::Named(index)
    }

    fn lower(&mut self, place: Place<'a>, depth: usize) -> Type {
        if self.types == 0 || depth > MAX_DEPTH {
            return Type::Unknown;
        }
        self.types -= 1;
        let map = match place.schema {
            Value::Bool(false) => return Type::Never,
            Value::Object(map) => map,
            _ => return Type::Unknown,
        };
        let mut ty = self.own(map, place, depth);
        for reference in references(map) {
            let other = match self.index.find(reference, place.scope) {
                Some((target, hint)) => self.define(target, hint, depth + 1),
                None => Type::Unknown,
            };
            ty = self.meet(ty, other);
        }
        for part in list(map, "allOf") {
            let other = self.lower(place.part(part), depth + 1);
            ty = self.meet(ty, other);
        }
        for key in ["anyOf", "oneOf"] {
            let parts = list(map, key);
            // As types it would be the same many times. Of the arguments as a whole the tool's comment says it.
            if parts.is_empty() || parts.iter().all(notes::only_requires) {
                continue;
            }
            let parts: Vec<Type> = parts.iter().map(|part| self.lower(place.part(part), depth + 1)).collect();
            ty = self.meet(ty, union(parts));
        }
        if map.get("nullable") == Some(&Value::Bool(true)) { union([ty, Type::Null]) } else { ty }
    }

    fn meet(&mut self, a: Type, b: Type) -> Type {
        meet(a, b, &self.defs, &mut self.meetings)
    }

    /// What the keywords of one schema object say, without the schemas that it combines.
    fn own(&mut self, map: &'a Map<String, Value>, place: Place<'a>, depth: usize) -> Type {
        let mut ty = match kinds(map) {
            None => Type::Unknown,
            Some(kinds) => {
                let kinds: Vec<Type> =
                    kinds.into_iter().map(|kind| self.kind(kind, map, place, depth)).collect();
                union(kinds)
            }
        };
        if let Some(value) = map.get("const") {
            ty = self.meet(ty, constants(std::slice::from_ref(value)));
        }
        if let Some(Value::Array(values)) = map.get("enum") {
            ty = self.meet(ty, constants(values));
        }
        ty
    }

    fn kind(&mut self, kind: &str, map: &'a Map<String, Value>, place: Place<'a>, depth: usize) -> Type {
        match kind {
            "null" => Type::Null,
            "boolean" => Type::Bool,
            "integer" => Type::Int,
            "number" => Type::Float,
            "string" => Type::Text,
            "array" => self.array(map, place, depth),
            "object" => self.object(map, place, depth),
            _ => Type::Unknown,
        }
    }

    fn array(&mut self, map: &'a Map<String, Value>, place: Place<'a>, depth: usize) -> Type {
        // Before draft 2020-12 the places were `items` and the rest `additionalItems`.
        let (places, rest) = match (map.get("prefixItems"), map.get("items")) {
            (Some(Value::Array(places)), rest) => (places.as_slice(), rest),
            (_, Some(Value::Array(places))) => (places.as_slice(), map.get("additionalItems")),
            (_, items) => (&[][..], items),
        };
        let rest = rest.map_or(Type::Unknown, |rest| self.lower(place.part(rest), depth + 1));
        if places.is_empty() && rest != Type::Never {
            return Type::List(Box::new(rest));
        }
        let items: Vec<Type> =
            places.iter().take(self.types).map(|item| self.lower(place.part(item), depth + 1)).collect();
        let bound = |key: &str| map.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let required = bound("minItems").unwrap_or(0).min(items.len());
        let full = bound("maxItems").is_some_and(|most| most <= items.len());
        let rest = if rest == Type::Never || full { None } else { Some(Box::new(rest)) };
        Type::Tuple(Tuple { items, required, rest })
    }

    fn object(&mut self, map: &'a Map<String, Value>, place: Place<'a>, depth: usize) -> Type {
        let properties = map.get("properties").and_then(Value::as_object);
        let required: Vec<&str> = list(map, "required").iter().filter_map(Value::as_str).collect();
        let needed: HashSet<&str> = required.iter().copied().collect();
        let mut fields = Vec::new();
        let mut whole = true;
        for (name, schema) in properties.into_iter().flatten() {
            if self.types == 0 {
                whole = false;
                break;
            }
            let required = needed.contains(name.as_str());
            let ty = self.lower(place.part(schema), depth + 1);
            if ty != Type::Never || required {
                fields.push(Field { name: name.clone(), ty, required, doc: self.comment(schema) });
            }
        }
        if whole {
            let mut seen: HashSet<&str> =
                properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            for name in required {
                if self.types > 0 && seen.insert(name) {
                    self.types -= 1;
                    fields.push(Field {
                        name: name.to_owned(),
                        ty: Type::Unknown,
                        required: true,
                        doc: None,
                    });
                }
            }
        }
        fields.sort_by_key(|field| !field.required);
        let extra = if whole { self.extra(map, place, depth) } else { Extra::Open(Box::new(Type::Unknown)) };
        if !fields.is_empty() {
            return Type::Record(Record { fields, extra });
        }
        match extra {
            Extra::Open(value) => Type::Map(value),
            Extra::Closed => Type::Record(Record { fields, extra }),
            // A tool that takes no arguments says so with an empty list of them.
            Extra::Unsaid if self.takes_nothing(map) => Type::Record(Record { fields, extra }),
            Extra::Unsaid => Type::Map(Box::new(Type::Unknown)),
        }
    }

    fn takes_nothing(&self, map: &Map<String, Value>) -> bool {
        let is_root = self.root.as_object().is_some_and(|root| std::ptr::eq(root, map));
        self.side == Side::Input && is_root && map.contains_key("properties")
    }

    /// What may stand beside the fields.
    fn extra(&mut self, map: &'a Map<String, Value>, place: Place<'a>, depth: usize) -> Extra {
        let patterns: Vec<&Value> = map
            .get("patternProperties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .map(|(_, v)| v)
            .collect();
        let more = map.get("additionalProperties").or_else(|| map.get("unevaluatedProperties"));
        let more = match more {
            None if patterns.is_empty() => return Extra::Unsaid,
            None => Type::Unknown,
            Some(more) => self.lower(place.part(more), depth + 1),
        };
        let patterns: Vec<Type> =
            patterns.into_iter().map(|v| self.lower(place.part(v), depth + 1)).collect();
        match union(patterns.into_iter().chain([more])) {
            Type::Never => Extra::Closed,
            value => Extra::Open(Box::new(value)),
        }
    }

    fn comment(&mut self, schema: &Value) -> Option<String> {
        let text = notes::comment(schema)?;
        self.comments = self.comments.checked_sub(text.chars().count())?;
        Some(text)
    }
}

fn list<'a>(map: &'a Map<String, Value>, key: &str) -> &'a [Value] {
    map.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The kinds of value that a schema allows by name, or means by the keywords that it has.
fn kinds(map: &Map<String, Value>) -> Option<Vec<&str>> {
    match map.get("type") {
        Some(Value::String(kind)) => Some(vec![kind]),
        Some(Value::Array(kinds)) if !kinds.is_empty() => {
            Some(kinds.iter().filter_map(Value::as_str).collect())
        }
        _ if map.contains_key("const") || map.contains_key("enum") => None,
        _ => {
            let object =
                ["properties", "required", "patternProperties"].iter().any(|key| map.contains_key(*key))
                    || map.get("additionalProperties").is_some_and(Value::is_object);
            let array = ["items", "prefixItems"].iter().any(|key| map.contains_key(*key));
            match (object, array) {
                (true, false) => Some(vec!["object"]),
                (false, true) => Some(vec!["array"]),
                _ => None,
            }
        }
    }
}

/// Exactly these values. Lists and objects among them are given as their kind.
fn constants(values: &[Value]) -> Type {
    // More would become their kinds anyway; which ones there are shows in the first.
    let literal = |value: &Value| match value {
        Value::Null => Type::Null,
        Value::Bool(value) => Type::Literals(vec![Literal::Bool(*value)]),
        Value::String(text) => Type::Literals(vec![Literal::Text(text.clone())]),
        Value::Number(number) => Type::Literals(vec![self::number(number)]),
        Value::Array(_) => Type::List(Box::new(Type::Unknown)),
        Value::Object(_) => Type::Map(Box::new(Type::Unknown)),
    };
    if values.len() <= MAX_LITERALS {
        return union(values.iter().map(literal));
    }
    union(values.iter().map(|value| match value {
        Value::String(_) => Type::Text,
        Value::Number(number) if matches!(self::number(number), Literal::Int(_)) => Type::Int,
        Value::Number(_) => Type::Float,
        Value::Bool(_) => Type::Bool,
        other => literal(other),
    }))
}

/// `1.0` is the whole number 1, as JSON Schema has it.
fn number(number: &serde_json::Number) -> Literal {
    if number.is_i64() || number.is_u64() {
        return Literal::Int(number.to_string());
    }
    match number.as_f64() {
        // Whole numbers of this size are exact.
        Some(value) if value.fract() == 0.0 && value.abs() < 9e15 => {
            // Adding nothing takes the sign from a zero.
            Literal::Int(format!("{:.0}", value + 0.0))
        }
        _ => Literal::Float(number.to_string()),
    }
}
