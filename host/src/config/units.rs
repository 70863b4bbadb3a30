//! Durations and sizes as people write them: `60s`, `256MiB`.

use std::time::Duration;

/// `1m 30s`, `500ms`; a bare number is seconds.
///
/// # Errors
/// A sentence that says what was expected.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.trim().parse::<u32>() {
        return Ok(Duration::from_secs(seconds.into()));
    }
    humantime::parse_duration(text.trim())
        .map_err(|e| format!("{text:?} is no duration such as 60s or 500ms: {e}"))
}

/// `256MiB`, `1kB`; a bare number is bytes.
///
/// # Errors
/// A sentence that says what was expected.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    text.trim()
        .parse::<bytesize::ByteSize>()
        .map(|size| size.as_u64())
        .map_err(|e| format!("{text:?} is no size such as 256MiB: {e}"))
}

/// As [`parse_duration`] reads it.
pub fn show_duration(duration: Duration) -> String {
    humantime::format_duration(duration).to_string()
}

/// As [`parse_bytes`] reads it.
pub fn show_bytes(bytes: u64) -> String {
    bytesize::ByteSize(bytes).display().iec().to_string()
}

macro_rules! serde_by_text {
    ($module:ident, $type:ty, $parse:ident, $doc:literal, $write:expr) => {
        #[doc = $doc]
        pub(crate) mod $module {
            use super::*;

            pub(crate) fn serialize<S: serde::Serializer>(
                value: &$type,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                let write: fn(&$type, S) -> Result<S::Ok, S::Error> = $write;
                write(value, serializer)
            }

            pub(crate) fn deserialize<'de, D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<$type, D::Error> {
                #[derive(serde::Deserialize)]
                #[serde(untagged)]
                enum Written {
                    Number(u64),
                    Text(String),
                }
                let text = match <Written as serde::Deserialize>::deserialize(deserializer)? {
                    Written::Number(number) => number.to_string(),
                    Written::Text(text) => text,
                };
                $parse(&text).map_err(serde::de::Error::custom)
            }
        }
    };
}

serde_by_text!(duration, Duration, parse_duration, "Durations by their text.", |value, serializer| {
    serializer.serialize_str(&show_duration(*value))
});
serde_by_text!(bytes, u64, parse_bytes, "Sizes by their text or number.", |value, serializer| {
    serializer.serialize_u64(*value)
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        assert_eq!(parse_duration("60").unwrap(), Duration::from_secs(60));
        assert_eq!(parse_duration("1m 30s").unwrap(), Duration::from_secs(90));
        assert_eq!(parse_duration("500ms").unwrap(), Duration::from_millis(500));
        assert_eq!(parse_bytes("256MiB").unwrap(), 256 << 20);
        assert_eq!(parse_bytes("100").unwrap(), 100);
        for bad in ["", "-1s", "soon", "1e9s"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
        assert!(parse_bytes("many").is_err());
    }
}
