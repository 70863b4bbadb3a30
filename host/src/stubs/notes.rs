//! What a schema says to people: its description, and what no type can say (defaults, ranges, formats), as
//! one line of plain text.

use serde_json::{Map, Value};

use super::join::MAX_LITERALS;
use super::text;

/// The longest description of one field, in characters.
const MAX_DESCRIPTION: usize = 300;
/// The longest value or pattern that is quoted.
const MAX_QUOTE: usize = 80;
/// So many values of a long list are named.
const NAMED: usize = 6;

/// The comment on a field or definition with this schema.
pub(super) fn comment(schema: &Value) -> Option<String> {
    let map = schema.as_object()?;
    let text = |key: &str| map.get(key).and_then(Value::as_str).map(|text| text::line(text, MAX_DESCRIPTION));
    let description = text("description").filter(|text| !text.is_empty()).or_else(|| each(map));
    let said = description.into_iter().map(sentence).chain(facts(map));
    let all = said.collect::<Vec<_>>().join(" ");
    (!all.is_empty()).then_some(all)
}

/// What the items of a list are, where nothing is said about the list.
fn each(map: &Map<String, Value>) -> Option<String> {
    let description = map.get("items")?.get("description")?.as_str()?;
    let line = text::line(description, MAX_DESCRIPTION);
    (!line.is_empty()).then(|| format!("Each: {line}"))
}

fn sentence(text: String) -> String {
    let ended = text.ends_with(['.', '!', '?', ':', ';', '…', ')']);
    if ended { text } else { text + "." }
}

/// What its keywords say that no type can.
fn facts(map: &Map<String, Value>) -> impl Iterator<Item = String> {
    let deprecated = (map.get("deprecated") == Some(&Value::Bool(true))).then(|| "Deprecated.".to_owned());
    let format =
        map.get("format").and_then(Value::as_str).map(|format| format!("Format: {}.", quote(format)));
    let pattern =
        map.get("pattern").and_then(Value::as_str).map(|pattern| format!("Pattern: {}", quote(pattern)));
    let default =
        map.get("default").filter(|default| !default.is_null() && default.to_string().len() <= MAX_QUOTE);
    let default = default.map(|default| format!("Default: {}.", quote(&default.to_string())));
    [
        deprecated,
        many(map),
        format,
        between(map, "minimum", "maximum", "").or_else(|| beyond(map)),
        between(map, "minLength", "maxLength", " characters"),
        // The places of a tuple show how many there are.
        between(map, "minItems", "maxItems", " items").filter(|_| !map.contains_key("prefixItems")),
        default,
        pattern,
    ]
    .into_iter()
    .flatten()
}

/// A list of values too long to be a type.
fn many(map: &Map<String, Value>) -> Option<String> {
    let values = map.get("enum")?.as_array().filter(|values| values.len() > MAX_LITERALS)?;
    let named: Vec<String> = values.iter().take(NAMED).map(|value| quote(&value.to_string())).collect();
    Some(format!("One of {} values, such as {}.", values.len(), named.join(", ")))
}

fn between(map: &Map<String, Value>, least: &str, most: &str, unit: &str) -> Option<String> {
    let bound = |key: &str| map.get(key).filter(|bound| bound.is_number());
    // That a length is not below nothing need not be said.
    let least = bound(least).filter(|least| unit.is_empty() || least.as_u64() != Some(0));
    match (least, bound(most)) {
        (Some(least), Some(most)) if least == most => Some(format!("Exactly {least}{unit}.")),
        (Some(least), Some(most)) => Some(format!("{least} to {most}{unit}.")),
        (Some(least), None) => Some(format!("At least {least}{unit}.")),
        (None, Some(most)) => Some(format!("At most {most}{unit}.")),
        (None, None) => None,
    }
}

fn beyond(map: &Map<String, Value>) -> Option<String> {
    let bound = |key: &str| map.get(key).filter(|bound| bound.is_number());
    match (bound("exclusiveMinimum"), bound("exclusiveMaximum")) {
        (Some(least), Some(most)) => Some(format!("More than {least}, less than {most}.")),
        (Some(least), None) => Some(format!("More than {least}.")),
        (None, Some(most)) => Some(format!("Less than {most}.")),
        (None, None) => None,
    }
}

fn quote(value: &str) -> String {
    text::line(value, MAX_QUOTE)
}

/// Whether a schema only says which fields must be there.
pub(super) fn only_requires(schema: &Value) -> bool {
    let silent = ["required", "title", "description", "$comment"];
    schema.as_object().is_some_and(|map| {
        map.contains_key("required") && map.keys().all(|key| silent.contains(&key.as_str()))
    })
}

/// Which of several fields a tool needs, where that is all that its alternatives say.
pub(super) fn needs(schema: &Value) -> Option<String> {
    let alternatives = ["anyOf", "oneOf"].into_iter().find_map(|key| {
        let parts = schema.get(key)?.as_array()?;
        (!parts.is_empty() && parts.iter().all(only_requires)).then_some((key, parts))
    });
    let (key, parts) = alternatives?;
    let names = |part: &Value| {
        let names = part["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        names.map(quote).collect::<Vec<_>>().join(" and ")
    };
    let parts: Vec<String> = parts.iter().map(names).filter(|names| !names.is_empty()).take(NAMED).collect();
    let how = if key == "oneOf" { "exactly one" } else { "at least one" };
    (!parts.is_empty()).then(|| format!("Needs {how} of these: {}.", parts.join("; ")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    #[test]
    fn what_types_cannot_say_is_said_in_words() {
        for (schema, words) in [
            (
                json!({"description": "How many", "minimum": 1, "maximum": 100, "default": 10}),
                "How many. 1 to 100. Default: 10.",
            ),
            (json!({"format": "date-time", "deprecated": true}), "Deprecated. Format: date-time."),
            (json!({"minLength": 0, "maxLength": 64}), "At most 64 characters."),
            (json!({"exclusiveMinimum": 0}), "More than 0."),
            (json!({"items": {"description": "An address"}}), "Each: An address."),
            (json!({"description": "two\n  lines\u{7}", "default": null}), "two lines."),
        ] {
            assert_eq!(comment(&schema).unwrap(), words);
        }
        for nothing in [json!({}), json!(true), json!({"description": 5}), json!({"description": " \n"})] {
            assert_eq!(comment(&nothing), None, "{nothing}");
        }
    }

    #[test]
    fn alternatives_that_only_require_become_a_note() {
        let schema = json!({"anyOf": [{"required": ["a"]}, {"required": ["b", "c"]}]});
        assert_eq!(needs(&schema).unwrap(), "Needs at least one of these: a; b and c.");
        assert_eq!(needs(&json!({"anyOf": [{"required": ["a"]}, {"type": "object"}]})), None);
    }
}
