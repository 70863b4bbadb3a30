//! The shapes in which an MCP tool may answer.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;

/// Structured content with the same as JSON text beside it, as the protocol asks for.
pub(crate) fn structured(value: Value) -> CallToolResult {
    CallToolResult::structured(value)
}

/// Structured content with a text that says less.
pub(crate) fn lossy(value: Value, text: &str) -> CallToolResult {
    let mut result = CallToolResult::structured(value);
    result.content = vec![ContentBlock::text(text)];
    result
}

/// Structured content and an empty content list.
pub(crate) fn bare(value: Value) -> CallToolResult {
    let mut result = CallToolResult::structured(value);
    result.content = Vec::new();
    result
}

/// Text blocks only.
pub(crate) fn text(texts: impl IntoIterator<Item = impl Into<String>>) -> CallToolResult {
    CallToolResult::success(texts.into_iter().map(ContentBlock::text).collect())
}

/// `isError` with a text.
pub(crate) fn failure(message: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(message)])
}

/// A text file, as a server gives bytes.
pub(crate) fn file(text: &str) -> CallToolResult {
    let resource = ResourceContents::blob(STANDARD.encode(text), "file:///export")
        .with_mime_type("application/octet-stream");
    CallToolResult::success(vec![ContentBlock::resource(resource)])
}

/// One image block.
pub(crate) fn image() -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::image(STANDARD.encode(postern_tests::png()), "image/png")])
}
