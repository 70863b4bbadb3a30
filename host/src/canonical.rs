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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;
    use serde_json::Map;

    use super::*;

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-3..3_i64).prop_map(Value::from),
            "[ab\"\\\\\u{e9}]{0,3}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[a-c.]{0,2}", inner), 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    /// The same value with the fields of every object in the opposite order.
    fn turned(value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let mut turned: Vec<_> =
                    fields.iter().map(|(key, value)| (key.clone(), self::turned(value))).collect();
                turned.reverse();
                Value::Object(turned.into_iter().collect::<Map<_, _>>())
            }
            Value::Array(items) => items.iter().map(turned).collect(),
            other => other.clone(),
        }
    }

    fn text(value: &Value) -> String {
        canonical(value).to_string()
    }

    proptest! {
        #[test]
        fn the_order_of_fields_means_nothing(value in any_json()) {
            prop_assert_eq!(text(&turned(&value)), text(&value));
        }

        #[test]
        fn it_is_the_same_value_and_stays_as_it_is(value in any_json()) {
            let read: Value = serde_json::from_str(&text(&value)).unwrap();
            prop_assert_eq!(&read, &value);
            prop_assert_eq!(read.to_string(), text(&value));
        }

        #[test]
        fn two_values_have_one_text_only_if_they_are_one(one in any_json(), other in any_json()) {
            prop_assert_eq!(text(&one) == text(&other), one == other);
        }
    }
}
