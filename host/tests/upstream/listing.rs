//! What servers list: pages, loops, bad schemas, duplicates, changes.

use postern::ToolErrorCode;
use postern::upstream::{LocalServer, ToolDefinition, ToolResult, Upstreams};
use serde_json::{Map, Value, json};
use std::sync::Arc;

use super::*;

async fn names(raw: &Raw) -> (Vec<String>, Vec<String>) {
    let catalog = raw.upstreams.catalog().await;
    let problems = catalog.problems.iter().map(ToString::to_string).collect();
    (catalog.tools.iter().map(|tool| tool.name.clone()).collect(), problems)
}

// Runtime case 15 (copilot-cli#4006, vercel/ai#19240, codebase-memory-mcp#1247).
#[tokio::test]
async fn case_15_all_pages_are_read_and_loops_end() {
    let (tools, problems) = names(&Raw::new("pages")).await;
    assert_eq!(tools.len(), 9);
    assert!(problems.is_empty(), "{problems:?}");

    for (scenario, says) in [("stuck-cursor", "circles"), ("fresh-cursors", "nothing new")] {
        let raw = Raw::new(scenario);
        let (tools, problems) = names(&raw).await;
        assert_eq!(tools, ["only"], "{scenario}");
        assert!(problems.len() == 1 && problems[0].contains(says), "{problems:?}");
        assert_eq!(raw.got_method("tools/list").len(), 2, "{scenario}");
    }
    let (tools, problems) = names(&Raw::new("endless")).await;
    assert_eq!(tools.len(), 500);
    assert!(problems[0].contains("does not end"), "{problems:?}");
}

// Runtime cases 13 and 14 (claude-code#88049, gitlab-mcp#286, mastra#21859, atlas-ui-3#727).
#[tokio::test]
async fn case_14_one_bad_schema_does_not_hide_the_other_tools() {
    let raw = Raw::new("bad-schemas");
    let (tools, problems) = names(&raw).await;
    assert_eq!(tools, ["echo", "empty", "missing", "outside", "round", "text", "union"]);
    for (tool, fragment) in [
        ("missing", "no inputSchema"),
        ("empty", "{}"),
        ("text", "\"string\""),
        ("union", "anyOf"),
        ("outside", "127.0.0.1"),
    ] {
        let told = problems.iter().any(|p| p.starts_with(&format!("raw/{tool}: ")) && p.contains(fragment));
        assert!(told, "{tool}: {problems:?}");
    }
    for tool in &tools {
        let definition = raw.upstreams.tool("raw", tool).await.unwrap();
        assert!(definition.argument_validator().is_valid(&json!({"a": 1})), "{tool}");
        assert!(!definition.argument_validator().is_valid(&json!("text")), "{tool}");
        assert_eq!(raw.call(tool, json!({"a": 1})).await.unwrap().value, json!({"a": 1}));
    }
}

#[tokio::test]
async fn a_name_given_to_two_tools_is_used_for_neither() {
    let raw = Raw::new("duplicates");
    let (tools, problems) = names(&raw).await;
    assert_eq!(tools, ["echo"]);
    assert!(problems[0].starts_with("raw/twice: two different tools"), "{problems:?}");
    let error = raw.call("twice", json!({})).await.unwrap_err();
    assert_eq!(error.code, ToolErrorCode::UnknownTool);
    assert!(raw.got_method("tools/call").is_empty(), "nothing was sent");
}

#[tokio::test]
async fn a_changed_list_is_read_again_when_next_asked_for() {
    let raw = Raw::new("drift");
    let before = raw.upstreams.tool("raw", "echo").await.unwrap();
    assert_eq!(code_of(&raw, "new").await, Some(ToolErrorCode::UnknownTool));
    raw.call("change", json!({})).await.unwrap();
    eventually_tool(&raw, "new").await;
    let after = raw.upstreams.tool("raw", "echo").await.unwrap();
    assert_eq!(before.digest(), after.digest());
    assert_eq!(raw.got_method("tools/list").len(), 2, "once for the change");
}

async fn code_of(raw: &Raw, tool: &str) -> Option<ToolErrorCode> {
    raw.upstreams.tool("raw", tool).await.err().map(|error| error.code)
}

async fn eventually_tool(raw: &Raw, tool: &str) {
    for _ in 0..100 {
        if code_of(raw, tool).await.is_none() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("the new tool did not appear");
}

#[tokio::test]
async fn the_catalog_is_sorted_and_one_silent_server_harms_only_itself() {
    let script = root().join("host/tests/fixtures/raw_server.py");
    let server = |scenario: &str| {
        postern::upstream::ServerConfig::stdio(python(), [script.to_str().unwrap(), scenario])
    };
    let mut hangs = server("hangs");
    hangs.connect_timeout = std::time::Duration::from_millis(500);
    let mut off = server("never-starts");
    off.enabled = false;
    let upstreams = Upstreams::builder()
        .with_server("b", server("pages"))
        .with_server("a", server("pages"))
        .with_server("hangs", hangs)
        .with_server("off", off)
        .build();
    let catalog = upstreams.catalog().await;
    let ids: Vec<_> = catalog.tools.iter().map(|tool| tool.id()).collect();
    let mut sorted = ids.clone();
    sorted.sort();
    assert_eq!(ids, sorted);
    assert_eq!(ids.len(), 18);
    assert_eq!(catalog.problems.len(), 1);
    assert_eq!(catalog.problems[0].server, "hangs");
    let error = call(&upstreams, "off", "x", json!({})).await.unwrap_err();
    assert!(error.message.contains("disabled"), "{}", error.message);
    let status = upstreams.status().await;
    assert_eq!(status.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["a", "b", "hangs", "off"]);
    assert!(status[2].error.is_some() && !status[3].enabled);
}

struct Adder;

#[async_trait::async_trait]
impl LocalServer for Adder {
    fn tools(&self) -> Vec<ToolDefinition> {
        vec![
            ToolDefinition::new("", "add", json!({"type": "object"})).with_description("Adds"),
            ToolDefinition::new("", "sleep", json!({"type": "object"})),
        ]
    }

    async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<ToolResult, postern::ToolError> {
        if tool == "sleep" {
            tokio::time::sleep(std::time::Duration::from_secs(60)).await;
        }
        let sum: i64 = arguments.values().filter_map(Value::as_i64).sum();
        Ok(ToolResult::value(json!(sum)))
    }
}

#[tokio::test]
async fn tools_of_this_process() {
    let upstreams = Upstreams::builder().with_local("sums", Arc::new(Adder)).build();
    assert_eq!(upstreams.tool("sums", "add").await.unwrap().id(), "sums/add");
    assert_eq!(call(&upstreams, "sums", "add", json!({"a": 2, "b": 3})).await.unwrap().value, 5);
    assert_eq!(code(call(&upstreams, "sums", "ad", json!({})).await), ToolErrorCode::UnknownTool);
    let late = upstreams.call("sums", "sleep", nothing(), within(std::time::Duration::from_millis(50))).await;
    assert_eq!(code(late), ToolErrorCode::Timeout);
    assert_eq!(upstreams.catalog().await.tools.len(), 2);

    // The way to a local tool must stay a small part of a call.
    let payload = json!({"text": "x".repeat(1_000)});
    let Value::Object(payload) = payload else { panic!() };
    let began = std::time::Instant::now();
    for _ in 0..1_000 {
        upstreams.call("sums", "add", payload.clone(), CallOptions::default()).await.unwrap();
    }
    let each = began.elapsed() / 1_000;
    eprintln!("a local call takes {each:?}");
    assert!(each < std::time::Duration::from_micros(100), "{each:?}");
}
