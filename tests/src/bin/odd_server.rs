//! `postern-odd-server SCRIPT.json`: an MCP server over stdio that sends what it is told to, valid or
//! not. It knows the older protocol only, reads one request a line and answers in order.
//!
//! The file is an object; every key may be missing:
//!
//!     pages        list of lists of tool definitions, sent as they are, one list a page
//!     stuck        true: every page names the same next cursor
//!     before       list of raw lines, written before the first answer
//!     between      list of raw lines, written before each further answer
//!     huge_line    bytes of a line of `x` to write before the answer to the first tools/call
//!     results      object from tool name to the raw text of a result; without an entry, the answer
//!                  echoes the arguments
//!     resumed      true: a call with answers to what its result wanted is answered with what came, the
//!                  answers and the state
//!
//! Nothing here may use an MCP library: the point is to send what no library would.

use std::error::Error;
use std::io::{self, BufRead, Write};

use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Plan {
    pages: Vec<Vec<Value>>,
    stuck: bool,
    before: Vec<String>,
    between: Vec<String>,
    huge_line: usize,
    results: Map<String, Value>,
    resumed: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: postern-odd-server SCRIPT.json")?;
    let mut plan: Plan = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let mut stdout = io::stdout().lock();
    write_all(&mut stdout, &plan.before)?;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        // A notification has no id and gets no answer.
        let Some(id) = message.get("id") else { continue };
        write_all(&mut stdout, &plan.between)?;
        if message["method"] == "tools/call" && plan.huge_line > 0 {
            stdout.write_all(&vec![b'x'; std::mem::take(&mut plan.huge_line)])?;
            stdout.write_all(b"\n")?;
        }
        writeln!(stdout, r#"{{"jsonrpc":"2.0","id":{id},{}}}"#, answer(&plan, &message))?;
        stdout.flush()?;
    }
    Ok(())
}

/// `"result":...` or `"error":...`, as text, since a result may be no valid JSON.
fn answer(plan: &Plan, message: &Value) -> String {
    let params = &message["params"];
    match message["method"].as_str() {
        Some("initialize") => {
            let version = params["protocolVersion"].as_str().unwrap_or("2025-11-25");
            let info = json!({
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "odd", "version": "1"},
            });
            format!(r#""result":{info}"#)
        }
        Some("ping") => r#""result":{}"#.to_owned(),
        Some("tools/list") => {
            let page = params["cursor"].as_str().and_then(|cursor| cursor.parse::<usize>().ok()).unwrap_or(0);
            let mut result = json!({"tools": plan.pages.get(page).cloned().unwrap_or_default()});
            if plan.stuck {
                result["nextCursor"] = json!("0");
            } else if page + 1 < plan.pages.len() {
                result["nextCursor"] = json!((page + 1).to_string());
            }
            format!(r#""result":{result}"#)
        }
        Some("tools/call") if plan.resumed && params["inputResponses"].is_object() => {
            let came = json!({"answers": params["inputResponses"], "state": params["requestState"]});
            format!(r#""result":{}"#, json!({"content": [], "structuredContent": came}))
        }
        Some("tools/call") => match params["name"].as_str().and_then(|name| plan.results.get(name)) {
            Some(Value::String(raw)) => format!(r#""result":{raw}"#),
            Some(value) => format!(r#""result":{value}"#),
            None => {
                let arguments = &params["arguments"];
                let result = json!({
                    "content": [{"type": "text", "text": arguments.to_string()}],
                    "structuredContent": arguments,
                });
                format!(r#""result":{result}"#)
            }
        },
        _ => r#""error":{"code":-32601,"message":"Method not found"}"#.to_owned(),
    }
}

fn write_all(out: &mut impl Write, lines: &[String]) -> io::Result<()> {
    for line in lines {
        writeln!(out, "{line}")?;
    }
    out.flush()
}
