//! Results as servers write them, and planted texts in them.

use serde_json::Value;

use super::MARKER;
use crate::train::dice::Dice;

/// How one installation writes results that are not text anyway.
#[derive(Clone, Copy)]
pub(super) enum Form {
    Compact,
    Pretty,
    Yaml,
    Python,
}

impl Form {
    pub(super) fn any(dice: &Dice) -> Self {
        match dice.below(20) {
            0..9 => Self::Compact,
            9..12 => Self::Pretty,
            12..17 => Self::Yaml,
            _ => Self::Python,
        }
    }

    /// The result as text.
    pub(super) fn write(self, value: &Value) -> String {
        match (value, self) {
            (Value::String(text), _) => text.clone(),
            (_, Self::Compact) => value.to_string(),
            (_, Self::Pretty) => serde_json::to_string_pretty(value).unwrap_or_default(),
            (_, Self::Yaml) => yaml(value, 0).trim_start_matches('\n').to_string(),
            (_, Self::Python) => python(value),
        }
    }
}

/// The part after a key or a dash: scalars on its line, others below it.
fn yaml(value: &Value, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(fields) if !fields.is_empty() => fields
            .iter()
            .map(|(key, value)| {
                let value = yaml(value, depth + 1);
                let gap = if value.starts_with('\n') { "" } else { " " };
                format!("\n{indent}{key}:{gap}{value}")
            })
            .collect(),
        Value::Array(items) if !items.is_empty() => items
            .iter()
            .map(|item| {
                let item = yaml(item, depth + 1);
                // The first field of a record stands beside its dash.
                format!("\n{indent}- {}", item.trim_start())
            })
            .collect(),
        Value::String(text) if text.contains('\n') => {
            let lines: Vec<String> = text.lines().map(|line| format!("\n{indent}{line}")).collect();
            format!("|{}", lines.concat())
        }
        Value::String(text) if text.is_empty() => "''".into(),
        Value::String(text)
            if text.contains(": ") || text.starts_with(['-', '#', '[', '{', '*', '&', '!', '@']) =>
        {
            format!("'{}'", text.replace('\'', "''"))
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn python(value: &Value) -> String {
    let list = |items: Vec<String>| items.join(", ");
    match value {
        Value::Null => "None".into(),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        Value::String(text) if text.contains('\'') && !text.contains('"') => {
            format!("\"{}\"", text.replace('\\', "\\\\").replace('\n', "\\n"))
        }
        Value::String(text) => {
            format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n"))
        }
        Value::Array(items) => format!("[{}]", list(items.iter().map(python).collect())),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| format!("'{key}': {}", python(value)));
            format!("{{{}}}", list(fields.collect()))
        }
        Value::Number(number) => number.to_string(),
    }
}

/// How many planted texts a result has place for.
pub(super) fn places(value: &Value) -> usize {
    match value {
        Value::String(text) => text.matches(MARKER).count(),
        Value::Array(items) => items.iter().map(places).sum(),
        Value::Object(fields) => fields.values().map(places).sum(),
        _ => 0,
    }
}

/// A result with `texts` in its places, in their order; `None` leaves a place empty.
pub(super) fn fill(value: &Value, texts: &mut dyn Iterator<Item = Option<String>>) -> Value {
    match value {
        Value::String(text) => {
            let mut parts = text.split(MARKER);
            let mut out = parts.next().unwrap_or_default().to_string();
            for part in parts {
                match texts.next().flatten() {
                    Some(planted) => out += &planted,
                    // Without the gap that was for it.
                    None => out.truncate(out.trim_end_matches(' ').len()),
                }
                out += if out.is_empty() { part.trim_start_matches(' ') } else { part };
            }
            Value::String(out)
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| fill(item, texts)).collect()),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(key, value)| (key.clone(), fill(value, texts))).collect())
        }
        other => other.clone(),
    }
}
