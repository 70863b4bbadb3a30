//! Reads the files in which other products keep their MCP servers: `mcpServers` (Claude Desktop,
//! Claude Code, Cursor, Windsurf, Cline) and `servers` (VS Code), with comments and trailing
//! commas. Nothing a file says can approve a call or make a server trusted in another product's
//! words.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::config::{RawServer, ServerConfig, Transport};
use super::expand::Variables;
use super::{Problem, name_fault};
use crate::Error;

/// Larger files are not configuration.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// What a file says, and what was wrong with parts of it.
#[derive(Clone, Debug, Default)]
pub struct McpConfig {
    /// The servers by name, disabled and unusable ones too.
    pub servers: BTreeMap<String, ServerConfig>,
    /// What a person should know. No entry of this list keeps another server from working.
    pub problems: Vec<Problem>,
}

/// Reads the servers of one file. `${workspaceFolder}` and relative paths mean the folder of the
/// file, or the one above it when that is `.vscode`, `.cursor` or `.claude`.
///
/// # Errors
/// [`Error::Config`] when the file cannot be read, is not JSON, or names no servers at all. A bad
/// entry is no error: it is kept as [`Transport::Unusable`], with a problem.
pub fn read_mcp_config(path: impl AsRef<Path>) -> Result<McpConfig, Error> {
    let path = path.as_ref();
    let fault = |message: String| Error::Config { path: path.to_owned(), message };
    let size = std::fs::metadata(path).map_err(|e| fault(format!("cannot be read: {e}")))?.len();
    if size > MAX_FILE_BYTES {
        return Err(fault(format!("is {size} bytes long; a configuration has at most {MAX_FILE_BYTES}")));
    }
    let text = std::fs::read_to_string(path).map_err(|e| fault(format!("cannot be read: {e}")))?;
    let env = |name: &str| std::env::var(name).ok();
    let variables = Variables { env: &env, workspace: workspace_of(path) };
    parse(&text, &variables).map_err(fault)
}

fn workspace_of(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().unwrap_or(Path::new("/"));
    let hidden = [".vscode", ".cursor", ".claude"];
    match (folder.file_name().and_then(|n| n.to_str()), folder.parent()) {
        (Some(name), Some(above)) if hidden.contains(&name) => above.to_owned(),
        _ => folder.to_owned(),
    }
}

pub(super) fn parse(text: &str, variables: &Variables<'_>) -> Result<McpConfig, String> {
    // serde_json quotes no value in its errors, only keys and positions.
    let document: Value = serde_json::from_str(&plain_json(text)).map_err(|e| format!("is not JSON: {e}"))?;
    let entries = servers_of(&document)?;
    let mut config = McpConfig::default();
    for (name, entry) in entries {
        let server = read_entry(name, entry, variables);
        let mut say =
            |message: String| config.problems.push(Problem { server: name.clone(), tool: None, message });
        for warning in &server.warnings {
            say(warning.clone());
        }
        if let Transport::Unusable { reason } = &server.transport {
            say(reason.clone());
        }
        config.servers.insert(name.clone(), server);
    }
    Ok(config)
}

fn read_entry(name: &str, entry: &Value, variables: &Variables<'_>) -> ServerConfig {
    if let Some(fault) = name_fault(name) {
        return ServerConfig::unusable(fault);
    }
    if !entry.is_object() {
        return ServerConfig::unusable("the entry is not an object");
    }
    let raw: RawServer = match serde_json::from_value(entry.clone()) {
        Ok(raw) => raw,
        Err(e) => return ServerConfig::unusable(wrong_type(entry, &e)),
    };
    ServerConfig::from_raw(raw, variables).unwrap_or_else(ServerConfig::unusable)
}

/// Says which key has the wrong type without quoting what it holds, as serde's own words would.
fn wrong_type(entry: &Value, error: &serde_json::Error) -> String {
    let fits = |key: &str, value: &Value| match key {
        "command" | "cwd" | "url" | "type" | "serverUrl" | "httpUrl" | "transport" => value.is_string(),
        "args" | "grant" => value.as_array().is_some_and(|list| list.iter().all(Value::is_string)),
        "headers" => value.as_object().is_some_and(|map| map.values().all(Value::is_string)),
        "env" => value.as_object().is_some_and(|map| map.values().all(|v| !v.is_object() && !v.is_array())),
        "enabled" | "disabled" | "trusted" => value.is_boolean(),
        "labels" | "results" => value.is_object(),
        _ => true,
    };
    let wanted = |key: &str| match key {
        "args" | "grant" => "a list of texts",
        "headers" | "env" => "an object of texts",
        "enabled" | "disabled" | "trusted" => "true or false",
        "labels" | "results" => "an object",
        _ => "a text",
    };
    let wrong = entry.as_object().and_then(|map| map.iter().find(|(key, value)| !fits(key, value)));
    match wrong {
        Some((key, _)) => format!("`{key}` must be {}", wanted(key)),
        // What is left are our own keys: times and `era`, whose messages quote no secret.
        None => format!("a key has a value of the wrong kind: {error}"),
    }
}

fn servers_of(document: &Value) -> Result<&Map<String, Value>, String> {
    let candidates = [
        document.get("mcpServers"),
        document.get("servers"),
        document.pointer("/mcp/servers"),
        document.get("mcp.servers"),
    ];
    match candidates.into_iter().flatten().next() {
        Some(Value::Object(entries)) => Ok(entries),
        Some(_) => Err("the servers must be an object: {\"mcpServers\": {\"name\": {…}}}".into()),
        None => Err("has neither `mcpServers` nor `servers`".into()),
    }
}

/// JSON with comments and trailing commas, as plain JSON. What is removed becomes spaces, so that
/// lines and columns in errors stay true. A byte order mark goes too.
fn plain_json(text: &str) -> String {
    let mut out: Vec<u8> = text.as_bytes().to_vec();
    if out.starts_with(b"\xef\xbb\xbf") {
        out[..3].fill(b' ');
    }
    let mut at = 0;
    let mut comma = None;
    while at < out.len() {
        match (out[at], out.get(at + 1)) {
            (b'"', _) => {
                at = string_end(&out, at);
                comma = None;
            }
            (b'/', Some(b'/')) => {
                let end = out[at..].iter().position(|b| *b == b'\n').map_or(out.len(), |n| at + n);
                out[at..end].fill(b' ');
                at = end;
            }
            (b'/', Some(b'*')) => {
                let end = out[at + 2..].windows(2).position(|w| w == b"*/").map_or(out.len(), |n| at + n + 4);
                out[at..end].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
                at = end;
            }
            (b',', _) => {
                comma = Some(at);
                at += 1;
            }
            (b'}' | b']', _) => {
                if let Some(comma) = comma.take() {
                    out[comma] = b' ';
                }
                at += 1;
            }
            (byte, _) => {
                if !byte.is_ascii_whitespace() {
                    comma = None;
                }
                at += 1;
            }
        }
    }
    // Only whole characters inside comments became spaces; the rest is what it was.
    String::from_utf8_lossy(&out).into_owned()
}

/// The position after the string that starts at `start`.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::time::Duration;

    use super::*;

    fn read(text: &str) -> McpConfig {
        let env = |name: &str| match name {
            "TOKEN" => Some("tok-123456".to_owned()),
            "HOME" => Some("/home/ada".to_owned()),
            _ => None,
        };
        parse(text, &Variables { env: &env, workspace: "/ws".into() }).unwrap()
    }

    fn reason(config: &McpConfig, name: &str) -> String {
        match &config.servers[name].transport {
            Transport::Unusable { reason } => reason.clone(),
            other => panic!("{name} is usable: {other:?}"),
        }
    }

    #[test]
    fn claude_desktop_and_cursor() {
        let config = read(
            r#"{"mcpServers": {
                "fs": {"command": "npx", "args": ["-y", "server", "${workspaceFolder}"], "env": {"A": "${env:TOKEN}", "N": 5}},
                "web": {"url": "https://mcp.example.com/mcp?key=abcdefgh", "headers": {"Authorization": "Bearer ${TOKEN}"}},
                "off": {"command": "x", "disabled": true}
            }}"#,
        );
        assert!(config.problems.is_empty(), "{:?}", config.problems);
        let Transport::Stdio { command, args, env, .. } = &config.servers["fs"].transport else { panic!() };
        assert_eq!((command.as_str(), args[2].as_str()), ("npx", "/ws"));
        assert_eq!((env["A"].as_str(), env["N"].as_str()), ("tok-123456", "5"));
        let Transport::Http { headers, .. } = &config.servers["web"].transport else { panic!() };
        assert_eq!(headers["Authorization"], "Bearer tok-123456");
        assert!(!config.servers["off"].enabled);
        let shown = format!("{config:?}");
        assert!(!shown.contains("tok-123456") && !shown.contains("abcdefgh"), "{shown}");
    }

    #[test]
    fn vs_code_with_comments_commas_and_inputs() {
        let config = read(
            "\u{feff}{ // the servers\n \"inputs\": [{\"id\": \"key\"},],\n \"servers\": {\n /* a // b */ \"a\": {\"type\": \"stdio\", \
             \"command\": \"a\", \"args\": [\"http://x//y\", \"\\\"//\", ],},\n \"b\": {\"type\": \"http\", \"url\": \"http://127.0.0.1:1/mcp\", \
             \"headers\": {\"X\": \"${input:key}\"}} } }",
        );
        let Transport::Stdio { args, .. } = &config.servers["a"].transport else { panic!() };
        assert_eq!(args, &["http://x//y", "\"//"]);
        assert!(reason(&config, "b").contains("asks a person"));
    }

    #[test]
    fn a_bad_entry_harms_only_itself() {
        let config = read(
            r#"{"mcpServers": {
                "good": {"command": "a"},
                "missing": {"command": "a", "env": {"K": "${NOT_SET}"}},
                "sse": {"type": "sse", "url": "https://x.example/sse"},
                "types": {"command": "a", "args": "-v --token=hunter22"},
                "both": {"command": "a", "url": "http://x"},
                "neither": {},
                "text": "npx",
                "a/b": {"command": "a"},
                "time": {"command": "a", "callTimeout": "soon"},
                "scheme": {"url": "ftp://x"},
                "header": {"url": "http://x", "headers": {"Accept": "a"}}
            }}"#,
        );
        assert!(matches!(config.servers["good"].transport, Transport::Stdio { .. }));
        assert_eq!(reason(&config, "missing"), "env.K: the environment variable NOT_SET is not set");
        assert!(reason(&config, "sse").contains("streamable HTTP"));
        assert_eq!(reason(&config, "types"), "`args` must be a list of texts");
        assert!(reason(&config, "both").contains("set `type`"));
        assert!(reason(&config, "neither").contains("neither"));
        assert!(reason(&config, "text").contains("not an object"));
        assert!(reason(&config, "a/b").contains('/'));
        assert!(reason(&config, "time").contains("30s"));
        assert!(reason(&config, "scheme").contains("http://"));
        assert!(reason(&config, "header").contains("Accept"));
        assert_eq!(config.problems.len(), 10);
    }

    #[test]
    fn another_products_approval_grants_nothing() {
        let config = read(
            r#"{"mcpServers": {"a": {"command": "a", "autoApprove": ["*"], "alwaysAllow": ["x"], "timeout": 9, "zzz": 1}}}"#,
        );
        let server = &config.servers["a"];
        assert_eq!(server.grant, None);
        assert!(!server.trusted);
        assert_eq!(server.call_timeout, Duration::from_secs(60));
        let said: Vec<_> = config.problems.iter().map(|p| p.message.as_str()).collect();
        assert_eq!(said.len(), 4, "{said:?}");
        assert!(said.iter().any(|m| m.contains("`grant`")) && said.iter().any(|m| m.contains("`zzz`")));
    }

    #[test]
    fn our_own_keys_in_json_and_toml() {
        let config = read(
            r#"{"servers": {"a": {"command": "a", "callTimeout": "2m", "toolTimeouts": {"slow": 90, "huge": "9h"}, "grant": ["read_*"], "era": "legacy"}}}"#,
        );
        let server = &config.servers["a"];
        assert_eq!(server.timeout_for("slow"), Duration::from_secs(90));
        assert_eq!(server.timeout_for("huge"), Duration::from_secs(3_600));
        assert_eq!(server.timeout_for("other"), Duration::from_secs(120));
        assert_eq!(server.grant.as_deref(), Some(&["read_*".to_owned()][..]));

        let toml = "command = \"a\"\ncall_timeout = 2.5\ntrusted = true\n[tool_timeouts]\nslow = \"500ms\"\n";
        let server: ServerConfig = toml::from_str(toml).unwrap();
        assert_eq!(server.call_timeout, Duration::from_millis(2_500));
        assert_eq!(server.timeout_for("slow"), Duration::from_millis(500));
        assert!(server.trusted);
        assert!(toml::from_str::<ServerConfig>("command = 5").is_err());
    }

    #[test]
    fn a_file_that_is_none_says_where() {
        let env = |_: &str| None;
        let variables = Variables { env: &env, workspace: "/".into() };
        assert!(parse("{\n  \"mcpServers\": nope }", &variables).unwrap_err().contains("line 2"));
        assert!(parse("{}", &variables).unwrap_err().contains("neither"));
        assert!(parse("{\"mcpServers\": []}", &variables).unwrap_err().contains("object"));
        assert!(parse("{\"mcpServers\": {\"a\": \"unfinished", &variables).is_err());
        let error = read_mcp_config("/nonexistent/mcp.json").unwrap_err();
        assert_eq!(error.code(), "config-invalid");
    }

    #[test]
    fn the_workspace_is_the_folder_above_an_editors_own() {
        assert_eq!(workspace_of(Path::new("/p/.vscode/mcp.json")), Path::new("/p"));
        assert_eq!(workspace_of(Path::new("/p/mcp.json")), Path::new("/p"));
    }
}
