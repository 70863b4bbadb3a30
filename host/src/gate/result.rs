//! Step 10: what the script gets to see of a result.

use serde_json::Value;

use super::attempt::Attempt;
use super::{Call, Inner, Traced};
use crate::sandbox::Answer;
use crate::upstream::{Blob, ToolResult};
use crate::{ToolError, ToolErrorCode};

impl Inner {
    /// Saves bytes as artifacts, checks the size, notes it in the ledger.
    pub(super) fn result(
        &self,
        attempt: &mut Attempt<'_>,
        call: &Call,
        traced: &Traced,
        result: ToolResult,
    ) -> Answer {
        let tool = &call.definition;
        let ToolResult { mut value, beside, blobs, warnings, .. } = result;
        for blob in &blobs {
            self.save(&tool.name, blob, &mut value)
                .map_err(|e| ToolError::new(ToolErrorCode::Upstream, format!("{}: {e}", tool.id())))?;
        }
        for warning in warnings {
            tracing::warn!(tool = %tool.id(), "{warning}");
        }
        let text = value.to_string();
        if text.len() as u64 > self.parts.limits.max_result_bytes {
            let message = format!(
                "{}: the result is {} bytes long; at most {} are passed on (--max-result-bytes)",
                tool.id(),
                text.len(),
                self.parts.limits.max_result_bytes
            );
            return Err(ToolError::new(ToolErrorCode::Upstream, message));
        }
        self.note(traced, &value);
        for said in &beside {
            self.note(traced, said);
        }
        attempt.beside = beside;
        Ok(text)
    }

    /// Writes a blob into /out and puts its path where the placeholder's name was.
    fn save(&self, tool: &str, blob: &Blob, value: &mut Value) -> std::io::Result<()> {
        let path =
            self.parts.artifacts.write(&format!("{tool}-{}", blob.name), &blob.bytes).map_err(|e| {
                let message = format!("{} of {} bytes cannot be kept: {e}", blob.mime, blob.bytes.len());
                std::io::Error::new(e.kind(), message)
            })?;
        replace(value, &blob.name, &path);
        Ok(())
    }
}

/// Replaces the name in the placeholders `{"artifact": name, ...}`.
fn replace(value: &mut Value, name: &str, path: &str) {
    match value {
        Value::Object(fields) => {
            if fields.get("artifact").and_then(Value::as_str) == Some(name) {
                fields.insert("artifact".into(), path.into());
            }
            fields.values_mut().for_each(|field| replace(field, name, path));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, name, path)),
        _ => {}
    }
}
