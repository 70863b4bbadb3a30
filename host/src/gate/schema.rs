//! Step 4: do the arguments fit the tool's schema. The error names the tool, the argument and what
//! is allowed, so that the next try can be right.

use serde_json::{Map, Value, json};

use super::strict_json;
use crate::sandbox::Limits;
use crate::upstream::ToolDefinition;
use crate::{ToolError, ToolErrorCode};

/// The most faults that one error lists.
const FAULTS_SHOWN: usize = 5;
/// The most of one fault's text, for schemas that quote a whole enum.
const FAULT_LENGTH: usize = 300;

/// Before anything else is done with them.
pub(super) fn check_size(arguments: &str, limits: &Limits) -> Result<(), ToolError> {
    if arguments.len() as u64 <= limits.max_argument_bytes {
        return Ok(());
    }
    let message = format!(
        "the arguments are {} bytes long; at most {} are passed on (--max-argument-bytes)",
        arguments.len(),
        limits.max_argument_bytes
    );
    Err(ToolError::new(ToolErrorCode::InvalidArguments, message))
}

/// Reads and checks the arguments.
pub(super) fn check(
    text: &str,
    tool: &ToolDefinition,
    limits: &Limits,
) -> Result<Map<String, Value>, ToolError> {
    let invalid = |message: String| {
        ToolError::new(ToolErrorCode::InvalidArguments, format!("{}: {message}", tool.id()))
    };
    let value = strict_json::parse(text, limits.max_argument_depth).map_err(|fault| {
        invalid(format!(
            "the arguments cannot be used: {fault} (at most {} levels)",
            limits.max_argument_depth
        ))
    })?;
    if !value.is_object() {
        return Err(invalid(format!(
            "the arguments must be an object such as {{\"name\": value}}, not {}",
            kind(&value)
        )));
    }
    let faults: Vec<(String, String)> = tool
        .argument_validator()
        .iter_errors(&value)
        .take(FAULTS_SHOWN)
        .map(|fault| {
            (fault.instance_path().to_string(), shorten(&fault.masked().to_string(), fault.to_string()))
        })
        .collect();
    match value {
        Value::Object(arguments) if faults.is_empty() => Ok(arguments),
        _ => {
            let lines: Vec<String> = faults
                .iter()
                .map(|(path, fault)| {
                    if path.is_empty() {
                        fault.clone()
                    } else {
                        format!("{}: {fault}", path.trim_start_matches('/'))
                    }
                })
                .collect();
            let known =
                tool.input_schema["properties"].as_object().map(|p| p.keys().cloned().collect::<Vec<_>>());
            let known = known.unwrap_or_default();
            let mut message = lines.join("; ");
            if !known.is_empty() {
                message.push_str(&format!("; its arguments are: {}", known.join(", ")));
            }
            let faults: Vec<Value> =
                faults.iter().map(|(path, fault)| json!({"path": path, "fault": fault})).collect();
            let details = json!({"faults": faults, "inputSchema": tool.input_schema});
            Err(invalid(message).with_details(details))
        }
    }
}

/// The fault with the value in it, unless that is long.
fn shorten(masked: &str, full: String) -> String {
    let text = if full.len() <= FAULT_LENGTH { full } else { masked.to_owned() };
    if text.chars().count() <= FAULT_LENGTH {
        return text;
    }
    text.chars().take(FAULT_LENGTH).chain(" ...".chars()).collect()
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool() -> ToolDefinition {
        let schema = json!({
            "type": "object",
            "properties": {"id": {"type": "integer"}, "mode": {"enum": ["fast", "safe"]}},
            "required": ["id"],
            "additionalProperties": false
        });
        ToolDefinition::new("crm", "get", schema)
    }

    #[test]
    fn faults_name_tool_argument_and_what_is_allowed() {
        let limits = Limits::default();
        let fault = |text: &str| check(text, &tool(), &limits).unwrap_err();
        assert!(check(r#"{"id": 1, "mode": "fast"}"#, &tool(), &limits).is_ok());
        let error = fault(r#"{"id": "one"}"#);
        assert_eq!(error.code, ToolErrorCode::InvalidArguments);
        assert!(error.message.starts_with("crm/get: id: ") && error.message.contains("integer"), "{error}");
        assert!(fault("{}").message.contains("\"id\""));
        assert!(fault(r#"{"id": 1, "mode": "slow"}"#).message.contains("\"safe\""));
        assert!(fault(r#"{"id": 1, "mood": 1}"#).message.contains("its arguments are: id, mode"));
        assert!(fault("[1]").message.contains("not an array"));
        assert!(fault(r#"{"id": 1, "id": 2}"#).message.contains("twice"));
        assert!(
            fault(&format!("{{\"id\": {}1{}}}", "[".repeat(70), "]".repeat(70)))
                .message
                .contains("64 levels")
        );
    }

    #[test]
    fn a_long_value_is_not_repeated() {
        let text = format!("{{\"id\": \"{}\"}}", "x".repeat(100_000));
        assert!(check(&text, &tool(), &Limits::default()).unwrap_err().message.len() < 1_000);
    }

    #[test]
    fn size_has_a_bound() {
        let limits = Limits { max_argument_bytes: 3, ..Limits::default() };
        assert!(check_size("{}", &limits).is_ok());
        assert!(check_size("{   }", &limits).is_err());
    }
}
