//! How results look: the same records as JSON, YAML, a Python repr, CSV, a table, a page, log lines or prose.

use serde_json::{Map, Value, json};

use super::style::Style;
use crate::train::dice::Dice;

/// A record's fields in their order.
pub(super) type Pairs = Vec<(String, Value)>;

/// Writes records as this installation's servers do; `name` is what the records are called.
pub(super) fn write(dice: &Dice, style: &Style, name: &str, records: &[Pairs], single: bool) -> String {
    let form = style.steady(name, 16);
    let objects = || -> Value {
        let all: Vec<Value> = records.iter().map(object).collect();
        match all.first() {
            Some(one) if single => one.clone(),
            _ if form.is_multiple_of(2) => json!(all),
            _ => json!({name: all, "total": records.len()}),
        }
    };
    match form {
        0..=3 => objects().to_string(),
        4 => serde_json::to_string_pretty(&objects()).unwrap_or_default(),
        5..=7 => records.iter().map(|pairs| yaml(pairs, !single)).collect(),
        8 | 9 => {
            let all: Vec<String> = records.iter().map(|pairs| repr_object(pairs)).collect();
            if single { all.join(", ") } else { format!("[{}]", all.join(", ")) }
        }
        10 if !single => csv(records),
        11 if !single => table(records),
        12 => html(dice, name, records),
        13 => {
            let text = objects().to_string();
            json!({"content": [{"type": "text", "text": text}], "isError": false}).to_string()
        }
        14 => records.iter().map(|pairs| log_line(pairs)).collect::<Vec<_>>().join("\n"),
        _ => records.iter().map(|pairs| prose(pairs)).collect::<Vec<_>>().join("\n\n"),
    }
}

fn object(pairs: &Pairs) -> Value {
    Value::Object(pairs.iter().cloned().collect::<Map<_, _>>())
}

/// A value as plain text.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn yaml(pairs: &Pairs, item: bool) -> String {
    let mut out = String::new();
    for (n, (key, value)) in pairs.iter().enumerate() {
        let indent = match (item, n) {
            (true, 0) => "- ",
            (true, _) => "  ",
            _ => "",
        };
        out.push_str(&format!("{indent}{key}: {}\n", yaml_value(value)));
    }
    out
}

/// A scalar as YAML dumps write it: quoted if it could be read as something else, line breaks doubled.
fn yaml_value(value: &Value) -> String {
    let Value::String(text) = value else {
        return if value.is_null() { "null".into() } else { value.to_string() };
    };
    let plain = !text.is_empty()
        && !text.contains(['\n', '#', '\'', '"', '{', '}', '[', ']', '&', '*', '!', '|', '>', '%', '@'])
        && !text.contains(": ")
        && !text.starts_with([' ', '-', '?', ':'])
        && text.parse::<f64>().is_err();
    if plain {
        return text.clone();
    }
    if text.contains('\'') {
        return json!(text).to_string();
    }
    format!("'{}'", text.replace('\n', "\n\n    "))
}

fn repr(value: &Value) -> String {
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::String(text) if text.contains('\'') && !text.contains('"') => {
            format!("\"{}\"", text.replace('\n', "\\n"))
        }
        Value::String(text) => {
            format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n"))
        }
        other => other.to_string(),
    }
}

fn repr_object(pairs: &Pairs) -> String {
    let fields: Vec<String> = pairs.iter().map(|(key, value)| format!("'{key}': {}", repr(value))).collect();
    format!("{{{}}}", fields.join(", "))
}

fn csv(records: &[Pairs]) -> String {
    let mut lines = Vec::new();
    if let Some(first) = records.first() {
        lines.push(first.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>().join(","));
    }
    for pairs in records {
        let cells: Vec<String> = pairs
            .iter()
            .map(|(_, value)| {
                let text = plain(value);
                if text.contains([',', '"', '\n']) {
                    format!("\"{}\"", text.replace('"', "\"\""))
                } else {
                    text
                }
            })
            .collect();
        lines.push(cells.join(","));
    }
    lines.join("\n")
}

fn table(records: &[Pairs]) -> String {
    let mut lines = Vec::new();
    if let Some(first) = records.first() {
        lines.push(format!(
            "| {} |",
            first.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>().join(" | ")
        ));
        lines.push(format!("|{}", "---|".repeat(first.len())));
    }
    for pairs in records {
        let cells: Vec<String> = pairs.iter().map(|(_, value)| plain(value).replace('\n', " ")).collect();
        lines.push(format!("| {} |", cells.join(" | ")));
    }
    lines.join("\n")
}

fn html(dice: &Dice, name: &str, records: &[Pairs]) -> String {
    let mut out = format!("<html><head><title>{name}</title></head><body>\n");
    let (tag, rich) = (*dice.pick(&["div", "article", "li", "section"]), dice.chance(0.5));
    for pairs in records {
        out.push_str(&format!("<{tag} class=\"entry\">"));
        for (key, value) in pairs {
            let text = plain(value);
            match value {
                Value::String(text) if text.starts_with("http") => {
                    out.push_str(&format!("<a href=\"{text}\">{key}</a>"));
                }
                _ if rich => out.push_str(&format!("<p><b>{key}</b>: {text}</p>")),
                _ => out.push_str(&format!("<span data-{key}>{text}</span> ")),
            }
        }
        out.push_str(&format!("</{tag}>\n"));
    }
    out + "</body></html>"
}

fn log_line(pairs: &Pairs) -> String {
    pairs.iter().map(|(key, value)| format!("{key}={}", plain(value))).collect::<Vec<_>>().join(" ")
}

fn prose(pairs: &Pairs) -> String {
    pairs
        .iter()
        .map(|(key, value)| format!("{}: {}", title(key), plain(value)))
        .collect::<Vec<_>>()
        .join("\n")
}

fn title(key: &str) -> String {
    let spaced = key.replace(['_', '-'], " ");
    let mut chars = spaced.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().collect::<String>() + chars.as_str())
}
