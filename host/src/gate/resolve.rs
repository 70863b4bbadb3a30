//! Step 1: which server and which tool. `server/tool`, exactly: the server is what stands before the
//! first slash, and nothing is looked for elsewhere.

use crate::upstream::Upstreams;
use crate::{ToolError, ToolErrorCode};

/// Splits the name; the server must be one that is configured.
pub(super) fn parse<'a>(tool: &'a str, upstreams: &Upstreams) -> Result<(&'a str, &'a str), ToolError> {
    let names = || upstreams.server_names().collect::<Vec<_>>().join(", ");
    let unknown = |message: String| Err(ToolError::new(ToolErrorCode::UnknownTool, message));
    match tool.split_once('/') {
        Some((server, name)) if !server.is_empty() && !name.is_empty() => {
            if upstreams.server_names().any(|known| known == server) {
                return Ok((server, name));
            }
            unknown(format!("{tool:?}: there is no server {server:?}; there is: {}", or_none(names())))
        }
        _ => unknown(format!(
            "{tool:?} is no tool's name; write \"server/tool\"; servers: {}",
            or_none(names())
        )),
    }
}

fn or_none(names: String) -> String {
    if names.is_empty() { "none".into() } else { names }
}
