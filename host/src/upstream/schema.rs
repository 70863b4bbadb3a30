//! Makes what a server sends as a JSON Schema safe to check with: it always compiles, never reaches
//! outside itself, and a part that means nothing costs that part only. Each repair is told.

use serde_json::{Map, Value, json};

/// More parts than this and the schema is not used: compiling it would cost more than it tells.
const MAX_NODES: usize = 20_000;
/// Longer texts of a server are not quoted.
const FRAGMENT_CHARS: usize = 120;

/// A schema to check with, its compiled form, and what had to be repaired.
pub(super) struct Checked {
    pub(super) schema: Value,
    pub(super) validator: jsonschema::Validator,
    pub(super) repairs: Vec<String>,
}

/// The schema of a tool's arguments. Whatever comes, the result accepts objects only.
pub(super) fn arguments_schema(raw: Option<&Value>) -> Checked {
    let mut repairs = Vec::new();
    let any = || json!({"type": "object"});
    let schema = match raw {
        None | Some(Value::Null) => {
            repairs.push("it has no inputSchema; any object is accepted".into());
            any()
        }
        Some(Value::Object(map)) if map.is_empty() => {
            repairs.push("its inputSchema is {}; any object is accepted".into());
            any()
        }
        Some(Value::Object(map)) => match map.get("type") {
            Some(Value::String(kind)) if kind == "object" => Value::Object(map.clone()),
            Some(Value::Array(kinds)) if kinds.iter().any(|kind| kind == "object") => with_object_type(map),
            None => {
                let keys: Vec<&str> = map.keys().map(String::as_str).take(5).collect();
                repairs.push(format!(
                    "its inputSchema does not say \"type\": \"object\" (it has {})",
                    keys.join(", ")
                ));
                with_object_type(map)
            }
            Some(other) => {
                repairs.push(format!(
                    "its inputSchema says \"type\": {}; any object is accepted",
                    fragment(other)
                ));
                any()
            }
        },
        Some(other) => {
            repairs.push(format!("its inputSchema is {}; any object is accepted", fragment(other)));
            any()
        }
    };
    compiled(schema, any(), "inputSchema", repairs)
}

/// The schema of a tool's structured result; `None` when there is none.
pub(super) fn result_schema(raw: Option<&Value>) -> Option<Checked> {
    match raw? {
        Value::Null => None,
        schema @ Value::Object(_) => Some(compiled(schema.clone(), json!(true), "outputSchema", Vec::new())),
        other => {
            let repairs = vec![format!("its outputSchema is {}; it is not used", fragment(other))];
            Some(compiled(json!(true), json!(true), "outputSchema", repairs))
        }
    }
}

fn with_object_type(map: &Map<String, Value>) -> Value {
    let mut map = map.clone();
    map.insert("type".into(), json!("object"));
    Value::Object(map)
}

fn compiled(mut schema: Value, fallback: Value, key: &str, mut repairs: Vec<String>) -> Checked {
    let mut nodes = 0;
    count(&schema, &mut nodes);
    if nodes > MAX_NODES {
        repairs.push(format!("its {key} has {nodes} parts, more than {MAX_NODES}; it is not used"));
        schema = fallback.clone();
    }
    let mut ids = Vec::new();
    own_ids(&schema, &mut ids);
    remove_outside_references(&mut schema, "#", &ids, key, &mut repairs);
    match compile(&schema) {
        Ok(validator) => Checked { schema, validator, repairs },
        Err(error) => {
            repairs.push(format!("its {key} cannot be used ({}); nothing is checked with it", clip(&error)));
            let validator = compile(&fallback).unwrap_or_else(|_| accept_all());
            Checked { schema: fallback, validator, repairs }
        }
    }
}

/// Draft 2020-12 unless the schema names another. No network, no files (the crate is built without
/// both), and patterns run on an engine whose time is linear in the text.
fn compile(schema: &Value) -> Result<jsonschema::Validator, String> {
    jsonschema::options()
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .build(schema)
        .map_err(|error| error.to_string())
}

fn accept_all() -> jsonschema::Validator {
    jsonschema::options().build(&Value::Bool(true)).expect("the schema `true` always compiles")
}

fn count(value: &Value, nodes: &mut usize) {
    *nodes += 1;
    match value {
        Value::Array(items) => items.iter().for_each(|item| count(item, nodes)),
        Value::Object(map) => map.values().for_each(|item| count(item, nodes)),
        _ => {}
    }
}

fn own_ids<'a>(value: &'a Value, ids: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(id)) = map.get("$id").or_else(|| map.get("id")) {
                ids.push(base(id).to_owned());
            }
            map.values().for_each(|item: &'a Value| own_ids(item, ids));
        }
        Value::Array(items) => items.iter().for_each(|item| own_ids(item, ids)),
        _ => {}
    }
}

fn base(reference: &str) -> &str {
    reference.split('#').next().unwrap_or_default()
}

/// A reference to somewhere else is not followed: the part that holds it accepts anything. The
/// schemas of the drafts themselves are known without asking anybody.
fn remove_outside_references(
    value: &mut Value,
    at: &str,
    ids: &[String],
    key: &str,
    repairs: &mut Vec<String>,
) {
    match value {
        Value::Object(map) => {
            for name in ["$ref", "$dynamicRef", "$recursiveRef"] {
                let Some(Value::String(target)) = map.get(name) else { continue };
                let to = base(target);
                let inside = to.is_empty()
                    || ids.iter().any(|id| id == to || id.rsplit('/').next() == Some(to))
                    || to.starts_with("https://json-schema.org/draft/")
                    || to.starts_with("http://json-schema.org/draft-");
                if !inside {
                    repairs.push(format!(
                        "its {key} refers to {} at {at}, which is not followed; that part accepts anything",
                        clip(target)
                    ));
                    map.remove(name);
                }
            }
            for (name, item) in map.iter_mut() {
                remove_outside_references(item, &format!("{at}/{name}"), ids, key, repairs);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                remove_outside_references(item, &format!("{at}/{index}"), ids, key, repairs);
            }
        }
        _ => {}
    }
}

fn fragment(value: &Value) -> String {
    clip(&value.to_string())
}

fn clip(text: &str) -> String {
    let clean = super::text::strip_controls(text).replace('\n', " ");
    if clean.chars().count() <= FRAGMENT_CHARS {
        clean
    } else {
        clean.chars().take(FRAGMENT_CHARS).chain(['…']).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn schemas_that_say_nothing_accept_any_object_and_are_told() {
        for raw in [
            None,
            Some(json!(null)),
            Some(json!({})),
            Some(json!(true)),
            Some(json!(false)),
            Some(json!("x")),
            Some(json!({"type": "string"})),
        ] {
            let checked = arguments_schema(raw.as_ref());
            assert_eq!(checked.repairs.len(), 1, "{raw:?}");
            assert!(checked.validator.is_valid(&json!({"a": 1})), "{raw:?}");
            assert!(!checked.validator.is_valid(&json!("text")), "{raw:?}");
        }
    }

    #[test]
    fn a_union_at_the_top_stays_and_still_means_objects() {
        let raw = json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
        let checked = arguments_schema(Some(&raw));
        assert!(checked.repairs[0].contains("anyOf"), "{:?}", checked.repairs);
        assert!(checked.validator.is_valid(&json!({"b": 1})));
        assert!(!checked.validator.is_valid(&json!({"c": 1})));
        assert!(!checked.validator.is_valid(&json!([])));
    }

    // Runtime case 13: recursion, pointers into the schema, unions, constants, booleans.
    #[test]
    fn references_inside_work_and_recursion_ends() {
        let raw = json!({
            "type": "object",
            "properties": {
                "tree": {"$ref": "#/$defs/node"},
                "f": {"anyOf": [{"type": "integer"}, {"const": "x"}]},
                "g": {"$ref": "#/properties/f/anyOf/0"},
                "any": true, "none": false
            },
            "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["v"]}}
        });
        let checked = arguments_schema(Some(&raw));
        assert!(checked.repairs.is_empty(), "{:?}", checked.repairs);
        assert!(
            checked
                .validator
                .is_valid(&json!({"tree": {"v": 1, "next": {"v": 2}}, "f": "x", "g": 4, "any": []}))
        );
        assert!(!checked.validator.is_valid(&json!({"tree": {"v": 1, "next": {}}})));
        assert!(!checked.validator.is_valid(&json!({"g": "x"})));
        assert!(!checked.validator.is_valid(&json!({"none": 1})));
    }

    #[test]
    fn references_that_only_lead_to_each_other_do_not_overflow() {
        for raw in [
            json!({"type": "object", "$ref": "#"}),
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
            json!({"type": "object", "allOf": [{"$ref": "#/$defs/x"}], "$defs": {"x": {"anyOf": [{"$ref": "#/$defs/x"}, {"not": {"$ref": "#"}}]}}}),
        ] {
            let checked = arguments_schema(Some(&raw));
            // Which answer is right is undefined; that there is one is not.
            let _ = checked.validator.is_valid(&json!({"a": {"a": {}}}));
            let _ = checked.validator.iter_errors(&json!({"a": 1})).count();
        }
    }

    #[test]
    fn outside_references_are_not_followed() {
        let raw = json!({"type": "object", "properties": {
            "a": {"$ref": "https://evil.example/schema.json"}, "b": {"$ref": "file:///etc/passwd"}, "c": {"type": "integer"}
        }, "required": ["c"]});
        let checked = arguments_schema(Some(&raw));
        assert_eq!(checked.repairs.len(), 2, "{:?}", checked.repairs);
        assert!(checked.repairs[0].contains("#/properties/a"));
        assert!(checked.validator.is_valid(&json!({"a": 1, "b": 2, "c": 3})));
        assert!(!checked.validator.is_valid(&json!({"c": "no"})));
    }

    #[test]
    fn a_schema_that_cannot_compile_costs_itself_only() {
        let raw = json!({"type": "object", "properties": {"a": {"type": "nonsense"}}});
        let checked = arguments_schema(Some(&raw));
        assert!(checked.repairs[0].contains("cannot be used"), "{:?}", checked.repairs);
        assert!(checked.validator.is_valid(&json!({"a": 1})));
        let many: Vec<Value> = (0..30_000).map(|n| json!({"const": n})).collect();
        let checked = arguments_schema(Some(&json!({"type": "object", "anyOf": many})));
        assert!(checked.repairs[0].contains("parts"));
    }

    #[test]
    fn result_schemas() {
        assert!(result_schema(None).is_none());
        let checked = result_schema(Some(&json!({"type": "object", "required": ["n"]}))).unwrap();
        assert!(!checked.validator.is_valid(&json!({})));
        assert_eq!(result_schema(Some(&json!("x"))).unwrap().repairs.len(), 1);
    }
}
