//! One text for what means the same: JSON with the keys of all objects in order. Digests, seals and pins
//! are made of it.

use serde_json::Value;

/// The value with the keys of all objects in order; as text it has no spaces.
pub(crate) fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_by_key(|(key, _)| key.as_str());
            Value::Object(sorted.into_iter().map(|(key, value)| (key.clone(), canonical(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(canonical).collect()),
        other => other.clone(),
    }
}
