//! What tools/list says. Behaviour is in `main`.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Value, json};

/// (name, description, properties, reads only)
type Row = (&'static str, &'static str, Value, bool);

/// The named tools and `extra` more, called `extra_0001` and so on.
pub(crate) fn all(extra: usize) -> Vec<Tool> {
    let integer = || json!({"type": "integer", "minimum": 0});
    let rows: [Row; 19] = [
        ("echo", "Returns its arguments.", json!({}), true),
        ("sleep", "Waits, then answers.", json!({"ms": integer()}), true),
        ("never", "Does not answer.", json!({}), true),
        (
            "progress",
            "Reports progress, then answers.",
            json!({"steps": integer(), "every_ms": integer()}),
            true,
        ),
        ("counter", "Counts its calls.", json!({}), false),
        ("pid", "Returns the server's process id.", json!({}), true),
        ("env", "Returns the server's environment.", json!({}), true),
        ("fail", "Fails as tools fail.", json!({"message": {"type": "string"}}), true),
        ("rpc_error", "Fails as servers fail.", json!({}), true),
        ("die", "Ends the server.", json!({}), false),
        ("json_text", "Answers with JSON in a text block.", json!({}), true),
        ("prose", "Answers with a sentence.", json!({}), true),
        ("two_texts", "Answers with two text blocks.", json!({}), true),
        (
            "structured_and_text",
            "Answers with structured content and a text that says less.",
            json!({}),
            true,
        ),
        ("structured_only", "Answers with structured content and no text.", json!({}), true),
        ("image", "Answers with a PNG of 2 MB.", json!({}), true),
        ("big", "Answers with a long text.", json!({"bytes": integer()}), true),
        ("deep", "Answers with nested lists as JSON text.", json!({"levels": integer()}), true),
        (
            "strict",
            "Accepts a city and nothing else.",
            json!({"city": {"type": "string", "minLength": 1}}),
            true,
        ),
    ];
    let named = rows.into_iter().map(|(name, description, properties, read_only)| {
        let schema = if name == "strict" {
            json!({"type": "object", "properties": properties, "required": ["city"], "additionalProperties": false})
        } else {
            json!({"type": "object", "properties": properties})
        };
        tool(name.to_owned(), description, schema, read_only)
    });
    let extras = (1..=extra)
        .map(|number| tool(format!("extra_{number:04}"), "One of many.", json!({"type": "object"}), true));
    named.chain(extras).collect()
}

pub(crate) fn is_extra(name: &str, extra: usize) -> bool {
    let number = name.strip_prefix("extra_").and_then(|digits| digits.parse::<usize>().ok());
    number.is_some_and(|number| (1..=extra).contains(&number))
}

fn tool(name: String, description: &'static str, schema: Value, read_only: bool) -> Tool {
    let Value::Object(schema) = schema else { unreachable!("every schema above is an object") };
    let annotations = ToolAnnotations::new().read_only(read_only).destructive(false).open_world(false);
    Tool::new(name, description, Arc::new(schema)).with_annotations(annotations)
}
