//! From what a server answers to what a script gets. The table is in the head of the module
//! [`upstream`](super); this is where each row of it is decided.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use serde_json::{Map, Value, json};

use super::ToolDefinition;
use super::links::LinksWanted;
use super::text::Redactor;
use crate::{ToolError, ToolErrorCode};

/// The longest text in the message of an error; the whole of it is in the details.
const MESSAGE_BYTES: usize = 4_000;
/// What the details of an error may hold of the server's own words.
const DETAIL_BYTES: usize = 256 * 1024;

/// What a successful call gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolResult {
    /// What the script gets.
    pub value: Value,
    /// Content that came beside a structured value and says something else, in the server's order.
    /// Empty unless [`structured`](Self::structured).
    pub beside: Vec<Value>,
    /// Images, sound and other bytes. The value holds a placeholder
    /// `{"artifact": name, "mimeType": …, "bytes": n}` where each was.
    pub blobs: Vec<Blob>,
    /// What a person should know about this result.
    pub warnings: Vec<String>,
    /// The value is the server's `structuredContent`.
    pub structured: bool,
    /// The call has not ended: the server wants this first. Only where the caller said that it can.
    pub wanted: Option<LinksWanted>,
}

/// Bytes a tool gave, to be kept as an artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// The name in the placeholder, unique within the result.
    pub name: String,
    /// As the server says.
    pub mime: String,
    /// The bytes, decoded.
    pub bytes: bytes::Bytes,
}

impl ToolResult {
    /// A plain value.
    pub fn value(value: Value) -> Self {
        Self { value, ..Self::default() }
    }
}

/// Where an answer came from, for messages.
pub(super) struct Origin<'a> {
    pub(super) server: &'a str,
    pub(super) tool: &'a str,
    pub(super) redactor: &'a Redactor,
}

impl Origin<'_> {
    /// An error of the server's making. The message starts with who it was.
    pub(super) fn error(&self, message: impl AsRef<str>, details: Value) -> ToolError {
        let message = format!("{}/{}: {}", self.server, self.tool, message.as_ref());
        ToolError::new(ToolErrorCode::Upstream, message).with_details(details)
    }

    fn clean(&self, text: &str) -> String {
        self.redactor.clean(text, MESSAGE_BYTES)
    }
}

/// Maps the raw `result` of a `tools/call`.
///
/// # Errors
/// `upstream` when the server says that the tool failed, wants something of a person, or answers
/// with something that is no tool result.
pub(super) fn map(
    origin: &Origin<'_>,
    tool: &ToolDefinition,
    raw: Value,
    links: bool,
) -> Result<ToolResult, ToolError> {
    let Value::Object(mut raw) = raw else {
        return Err(origin.error("the server's answer is not a tool result", json!({"kind": "not-a-result"})));
    };
    if links
        && raw.get("resultType").and_then(Value::as_str) == Some("input_required")
        && let Some(wanted) = LinksWanted::of(&raw)
    {
        return Ok(ToolResult { wanted: Some(wanted), ..ToolResult::default() });
    }
    refuse_other_kinds(origin, &raw)?;
    let is_error = raw.get("isError") == Some(&Value::Bool(true));
    let structured = raw.remove("structuredContent");
    let content = match raw.remove("content") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(blocks)) => blocks,
        Some(_) => {
            return Err(origin
                .error("the content of the server's answer is not a list", json!({"kind": "not-a-result"})));
        }
    };
    let mut blobs = Blobs::default();
    let mut warnings = Vec::new();
    if is_error {
        return Err(tool_failed(origin, content, structured, &mut blobs, &mut warnings));
    }
    let texts: Vec<bool> = content.iter().map(|block| block["type"] == "text").collect();
    let mut parts: Vec<Value> =
        content.into_iter().map(|block| map_block(block, &mut blobs, &mut warnings)).collect();
    let Some(structured) = structured else {
        let value = match parts.len() {
            0 => Value::Null,
            1 => parts.remove(0),
            _ => Value::Array(parts),
        };
        return Ok(ToolResult { value, blobs: blobs.0, warnings, ..ToolResult::default() });
    };
    if let Some(fault) =
        tool.result_validator().and_then(|validator| validator.iter_errors(&structured).next())
    {
        let fault = origin.redactor.clean(&fault.to_string(), 500);
        warnings.push(format!("the result does not fit the tool's outputSchema: {fault}"));
    }
    // The protocol asks for a copy of the structured value as text. A copy says nothing new.
    let beside =
        parts.into_iter().zip(texts).filter(|(part, text)| !(*text && says_the_same(part, &structured)));
    let beside = beside.map(|(part, _)| part).collect();
    Ok(ToolResult { value: structured, beside, blobs: blobs.0, warnings, structured: true, wanted: None })
}

fn says_the_same(part: &Value, structured: &Value) -> bool {
    part == structured
        || part.as_str().is_some_and(|text| {
            text.trim().is_empty()
                || serde_json::from_str::<Value>(text).is_ok_and(|parsed| &parsed == structured)
        })
}

/// An answer that is not a finished result is not taken for one.
fn refuse_other_kinds(origin: &Origin<'_>, raw: &Map<String, Value>) -> Result<(), ToolError> {
    match raw.get("resultType") {
        None | Some(Value::Null) => {}
        Some(Value::String(kind)) if kind == "complete" => {}
        Some(Value::String(kind)) if kind == "input_required" => {
            let asked: Vec<&str> = raw
                .get("inputRequests")
                .and_then(Value::as_object)
                .into_iter()
                .flat_map(|requests| requests.values())
                .filter_map(|request| request.get("method").and_then(Value::as_str))
                .collect();
            let what = if asked.is_empty() { "input".to_owned() } else { origin.clean(&asked.join(", ")) };
            return Err(origin.error(
                format!(
                    "server `{}` wants something before it goes on ({what}); Postern answers no server's questions, so the \
                     call ends here. Give what it asks for as arguments, if the tool takes it",
                    origin.server
                ),
                json!({"kind": "input-required", "asked": asked}),
            ));
        }
        Some(Value::String(kind)) if kind == "task" => {
            return Err(origin.error(
                "the server started a task and wants to be asked for the result later; Postern did not offer that",
                json!({"kind": "task"}),
            ));
        }
        Some(other) => {
            let shown = origin.redactor.clean(&other.to_string(), 100);
            return Err(origin.error(
                format!("the answer is of a kind that is not known: {shown}"),
                json!({"kind": "unknown-result-type"}),
            ));
        }
    }
    if !["content", "structuredContent", "isError", "_meta", "resultType"]
        .iter()
        .any(|key| raw.contains_key(*key))
        && !raw.is_empty()
    {
        return Err(origin.error("the server's answer is not a tool result", json!({"kind": "not-a-result"})));
    }
    Ok(())
}

fn tool_failed(
    origin: &Origin<'_>,
    content: Vec<Value>,
    structured: Option<Value>,
    blobs: &mut Blobs,
    warnings: &mut Vec<String>,
) -> ToolError {
    let said: Vec<&str> = content.iter().filter_map(|block| block["text"].as_str()).collect();
    let said = origin.clean(said.join("\n").trim());
    let message = if said.is_empty() { "the tool failed and does not say why".to_owned() } else { said };
    let content: Vec<Value> = content.into_iter().map(|block| map_block(block, blobs, warnings)).collect();
    let mut details = json!({"kind": "tool-failed", "content": content});
    if let Some(structured) = structured {
        details["structuredContent"] = structured;
    }
    let size = details.to_string().len();
    if size > DETAIL_BYTES {
        details = json!({"kind": "tool-failed", "truncated": true, "bytes": size});
    } else {
        redact_value(&mut details, origin.redactor);
    }
    origin.error(message, details)
}

fn redact_value(value: &mut Value, redactor: &Redactor) {
    match value {
        Value::String(text) => *text = redactor.redact(text),
        Value::Array(items) => items.iter_mut().for_each(|item| redact_value(item, redactor)),
        Value::Object(map) => map.values_mut().for_each(|item| redact_value(item, redactor)),
        _ => {}
    }
}

/// One content block, without its annotations and metadata, which are for programs that show it.
fn map_block(mut block: Value, blobs: &mut Blobs, warnings: &mut Vec<String>) -> Value {
    let kind = block["type"].as_str().unwrap_or_default().to_owned();
    match (kind.as_str(), &mut block) {
        ("text", Value::Object(block)) => match block.remove("text") {
            Some(Value::String(text)) => parsed_or_text(text),
            _ => Value::Null,
        },
        ("image" | "audio", Value::Object(block)) => {
            let mime = block
                .get("mimeType")
                .and_then(Value::as_str)
                .unwrap_or("application/octet-stream")
                .to_owned();
            match block.remove("data") {
                Some(Value::String(data)) => blobs.take(&kind, &mime, &data, warnings),
                _ => Value::Null,
            }
        }
        ("resource", Value::Object(block)) => match block.remove("resource") {
            Some(resource) => map_resource(resource, blobs, warnings),
            None => Value::Null,
        },
        ("resource_link", Value::Object(link)) => {
            let keep = ["uri", "name", "title", "description", "mimeType", "size"];
            Value::Object(
                std::mem::take(link).into_iter().filter(|(key, _)| keep.contains(&key.as_str())).collect(),
            )
        }
        _ => {
            warnings.push(
                "a part of the result is of a kind that is not known; it is passed on as it came".into(),
            );
            block
        }
    }
}

fn map_resource(resource: Value, blobs: &mut Blobs, warnings: &mut Vec<String>) -> Value {
    let Value::Object(mut resource) = resource else { return resource };
    resource.remove("_meta");
    if let Some(Value::String(data)) = resource.remove("blob") {
        let mime =
            resource.get("mimeType").and_then(Value::as_str).unwrap_or("application/octet-stream").to_owned();
        let placeholder = blobs.take("resource", &mime, &data, warnings);
        if let Value::Object(placeholder) = placeholder {
            resource.extend(placeholder);
        }
    }
    Value::Object(resource)
}

/// Text that is a JSON object or array becomes it; a text that happens to read `12` or `true` stays
/// a text, since the server said text.
fn parsed_or_text(text: String) -> Value {
    let json = text.trim_start().starts_with(['{', '[']);
    match json.then(|| serde_json::from_str::<Value>(&text)) {
        Some(Ok(value)) => value,
        _ => Value::String(text),
    }
}

#[derive(Default)]
struct Blobs(Vec<Blob>);

impl Blobs {
    fn take(&mut self, kind: &str, mime: &str, data: &str, warnings: &mut Vec<String>) -> Value {
        let data = data.trim();
        let Ok(bytes) = STANDARD.decode(data).or_else(|_| STANDARD_NO_PAD.decode(data)) else {
            warnings.push(format!("the {kind} in the result is not valid base64 and is left out"));
            return json!({"mimeType": mime, "error": "not valid base64"});
        };
        let name = format!("{kind}-{}.{}", self.0.len() + 1, extension(mime));
        let placeholder = json!({"artifact": name, "mimeType": mime, "bytes": bytes.len()});
        self.0.push(Blob { name, mime: mime.to_owned(), bytes: bytes.into() });
        placeholder
    }
}

/// A file ending for the kinds that tools give; nothing of the server's text gets into the name.
fn extension(mime: &str) -> &'static str {
    match mime.split(';').next().unwrap_or_default().trim() {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
        "audio/mpeg" => "mp3",
        "audio/ogg" => "ogg",
        "application/pdf" => "pdf",
        "application/json" => "json",
        "application/zip" => "zip",
        "application/gzip" => "gz",
        "text/plain" => "txt",
        "text/html" => "html",
        "text/csv" => "csv",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn call(raw: Value) -> Result<ToolResult, ToolError> {
        let tool = ToolDefinition::new("s", "t", json!({"type": "object"}))
            .with_output_schema(json!({"required": ["n"]}));
        let redactor = Redactor::new(["hunter22".to_owned()]);
        map(&Origin { server: "s", tool: "t", redactor: &redactor }, &tool, raw, false)
    }

    fn text(text: &str) -> Value {
        json!({"type": "text", "text": text})
    }

    // Runtime case 11: each shape has one meaning, and nothing is lost.
    #[test]
    fn shapes_without_structure() {
        let value = |content: Value| call(json!({"content": content})).unwrap().value;
        assert_eq!(value(json!([])), Value::Null);
        assert_eq!(value(json!([text("{\"a\": 1}")])), json!({"a": 1}));
        assert_eq!(value(json!([text(" [1, 2]\n")])), json!([1, 2]));
        assert_eq!(value(json!([text("12")])), json!("12"));
        assert_eq!(value(json!([text("Hello")])), json!("Hello"));
        assert_eq!(value(json!([text("{not json")])), json!("{not json"));
        assert_eq!(value(json!([text("one"), text("{\"b\": 2}")])), json!(["one", {"b": 2}]));
        assert_eq!(
            value(json!([{"type": "resource_link", "uri": "a:b", "name": "n", "_meta": {}}])),
            json!({"uri": "a:b", "name": "n"})
        );
        assert_eq!(
            value(
                json!([{"type": "resource", "resource": {"uri": "a:b", "mimeType": "text/plain", "text": "x"}}])
            ),
            json!({"uri": "a:b", "mimeType": "text/plain", "text": "x"})
        );
        assert_eq!(call(json!({})).unwrap().value, Value::Null);
    }

    #[test]
    fn structure_wins_and_other_text_stays_beside_it() {
        let result = call(json!({"structuredContent": {"n": 1}, "content": [text("{\"n\":1}"), text("Found 1, see the manual")]})).unwrap();
        assert!(result.structured);
        assert_eq!(result.value, json!({"n": 1}));
        assert_eq!(result.beside, [json!("Found 1, see the manual")]);
        assert!(result.warnings.is_empty());
        let result = call(json!({"structuredContent": {"n": 1}, "content": []})).unwrap();
        assert!(result.beside.is_empty());
    }

    #[test]
    fn a_result_that_does_not_fit_its_schema_is_passed_on_with_a_warning() {
        let result = call(json!({"structuredContent": {"m": 1}})).unwrap();
        assert_eq!(result.value, json!({"m": 1}));
        assert!(result.warnings[0].contains("outputSchema"), "{:?}", result.warnings);
    }

    // Runtime case 21: bytes become an artifact, never base64 in the value.
    #[test]
    fn images_become_blobs() {
        let data = STANDARD.encode(vec![7_u8; 2_000_000]);
        let content = json!([{"type": "image", "mimeType": "image/png", "data": data}, {"type": "resource", "resource": {"uri": "f:x", "mimeType": "application/pdf", "blob": "AQID"}}]);
        let result = call(json!({"content": content})).unwrap();
        assert_eq!(
            result.value[0],
            json!({"artifact": "image-1.png", "mimeType": "image/png", "bytes": 2_000_000})
        );
        assert_eq!(
            result.value[1],
            json!({"uri": "f:x", "mimeType": "application/pdf", "artifact": "resource-2.pdf", "bytes": 3})
        );
        assert_eq!(result.blobs[0].bytes.len(), 2_000_000);
        assert_eq!(&result.blobs[1].bytes[..], [1, 2, 3]);
        let result = call(json!({"content": [{"type": "audio", "mimeType": "a/b", "data": "!!"}]})).unwrap();
        assert_eq!((result.value["error"].as_str(), result.warnings.len()), (Some("not valid base64"), 1));
    }

    #[test]
    fn a_failed_tool_is_an_error_with_its_words_and_without_our_secrets() {
        let error = call(json!({"isError": true, "content": [text("no such table, key hunter22"), {"type": "image", "mimeType": "image/png", "data": "AQID"}]})).unwrap_err();
        assert_eq!(error.code, ToolErrorCode::Upstream);
        assert_eq!(error.message, "s/t: no such table, key [redacted]");
        let details = error.details.unwrap();
        assert_eq!(details["kind"], "tool-failed");
        assert_eq!(details["content"][1]["bytes"], 3);
        assert!(!details.to_string().contains("hunter22"));
        let error = call(json!({"isError": true, "content": [text(&"x".repeat(1_000_000))]})).unwrap_err();
        assert!(error.message.len() < 5_000 && error.details.unwrap()["truncated"] == true);
        assert!(call(json!({"isError": true})).unwrap_err().message.contains("does not say why"));
    }

    #[test]
    fn what_is_no_finished_result_is_refused() {
        for (raw, kind) in [
            (
                json!({"resultType": "input_required", "inputRequests": {"a": {"method": "elicitation/create"}}}),
                "input-required",
            ),
            (json!({"resultType": "task", "taskId": "1"}), "task"),
            (json!({"resultType": "new-thing", "content": []}), "unknown-result-type"),
            (json!({"resultType": 5, "content": []}), "unknown-result-type"),
            (json!({"foo": 1}), "not-a-result"),
            (json!("text"), "not-a-result"),
            (json!({"content": "text"}), "not-a-result"),
        ] {
            assert_eq!(call(raw.clone()).unwrap_err().details.unwrap()["kind"], kind, "{raw}");
        }
        let asked = call(
            json!({"resultType": "input_required", "inputRequests": {"a": {"method": "elicitation/create"}}}),
        )
        .unwrap_err();
        assert!(asked.message.contains("`s`") && asked.message.contains("elicitation/create"));
    }

    #[test]
    fn a_block_of_an_unknown_kind_is_passed_on() {
        let result = call(json!({"content": [{"type": "video", "uri": "x"}]})).unwrap();
        assert_eq!(result.value, json!({"type": "video", "uri": "x"}));
        assert_eq!(result.warnings.len(), 1);
    }
}
