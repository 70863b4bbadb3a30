//! JSON as a gate must read it: an object key that comes twice is an error, because two readers may
//! disagree on which one counts; and nesting has a bound.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Reads a value.
///
/// # Errors
/// A sentence: no JSON, something after it, a key twice, or more than `depth` levels.
pub(super) fn parse(text: &str, depth: u32) -> Result<Value, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict(depth).deserialize(&mut reader).map_err(|e| e.to_string())?;
    reader.end().map_err(|e| e.to_string())?;
    Ok(value)
}

/// The arguments for the journal: as JSON if they are, else the beginning of the text.
pub(super) fn for_the_journal(text: &str, keep: usize) -> Value {
    parse(text, 100).unwrap_or_else(|_| beginning(text, keep))
}

/// The beginning of the text, and how long it is.
pub(super) fn beginning(text: &str, keep: usize) -> Value {
    let end = (0..=keep.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let cut = if end < text.len() { format!("... ({} bytes in all)", text.len()) } else { String::new() };
    Value::String(format!("{}{cut}", &text[..end]))
}

/// Levels that may still be opened.
#[derive(Clone, Copy)]
struct Strict(u32);

impl Strict {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        self.0.checked_sub(1).map(Self).ok_or_else(|| E::custom("it is nested too deeply"))
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number is out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inside = self.deeper()?;
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(inside)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let inside = self.deeper()?;
        let mut object = Map::new();
        while let Some(key) = fields.next_key::<String>()? {
            let value = fields.next_value_seed(inside)?;
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!("the key {key:?} comes twice")));
            }
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_serde_json_reads() {
        for text in
            [r#"{"a": [1, -2, 2.5, true, null, "x"], "b": {"a": {}}}"#, "18446744073709551615", "\"é\"", "[]"]
        {
            assert_eq!(parse(text, 10).unwrap(), serde_json::from_str::<Value>(text).unwrap());
        }
    }

    #[test]
    fn a_key_twice_is_refused_at_any_depth() {
        assert!(parse(r#"{"path": "a", "path": "b"}"#, 10).unwrap_err().contains("\"path\""));
        assert!(parse(r#"[{"x": {"y": 1, "\u0079": 2}}]"#, 10).is_err());
    }

    #[test]
    fn depth_has_a_bound() {
        assert!(parse("[[[]]]", 3).is_ok());
        assert!(parse("[[[]]]", 2).is_err());
        assert!(parse(&"[".repeat(100_000), 64).is_err());
        assert!(parse("{} {}", 2).is_err() && parse("", 2).is_err() && parse("1e999", 2).is_err());
    }

    #[test]
    fn what_is_no_json_is_kept_in_part() {
        assert_eq!(for_the_journal("é!", 1), Value::String("... (3 bytes in all)".into()));
        assert_eq!(for_the_journal("{}", 10), Value::Object(Map::new()));
    }
}
