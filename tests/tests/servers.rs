//! The test servers do what the other tests take for granted. No Postern here: a plain client of
//! another library would see the same.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use postern_tests::{HttpServer, Postern, ServerLog, binary, png};
use rmcp::model::{CallToolRequestParams, CallToolResult, ClientConfig, ContentBlock, ProtocolVersion};
use rmcp::service::RunningService;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

type Client = RunningService<RoleClient, ClientConfig>;

fn modern() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: None,
    }
}

async fn start(program: &str, words: &[&str], log: &Path, lifecycle: ClientLifecycleMode) -> (Client, Child) {
    let mut child = Command::new(binary(program))
        .args(words)
        .env("TEST_SERVER_LOG", log)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the server starts");
    let pipes = (child.stdout.take().expect("a pipe"), child.stdin.take().expect("a pipe"));
    (ClientConfig::default().serve_with_lifecycle(pipes, lifecycle).await.expect("it answers"), child)
}

fn request(tool: &'static str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    CallToolRequestParams::new(tool).with_arguments(arguments)
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> CallToolResult {
    client.call_tool(request(tool, arguments)).await.expect("an answer")
}

fn scene() -> (Postern, ServerLog) {
    let postern = Postern::new();
    let log = postern.log("t");
    (postern, log)
}

#[tokio::test]
async fn every_tool_answers_as_its_description_says() {
    let (postern, log) = scene();
    let (client, mut child) = start("postern-test-server", &[], &postern.path("t.log.jsonl"), modern()).await;
    let structured = |result: CallToolResult| result.structured_content.expect("structured content");
    assert_eq!(structured(call(&client, "echo", json!({"n": [1]})).await), json!({"n": [1]}));
    assert_eq!(structured(call(&client, "counter", json!({})).await), json!({"count": 1}));
    assert_eq!(structured(call(&client, "counter", json!({})).await), json!({"count": 2}));
    assert_eq!(structured(call(&client, "pid", json!({})).await)["pid"], child.id().expect("it runs"));
    assert_eq!(call(&client, "fail", json!({})).await.is_error, Some(true));
    assert!(client.call_tool(request("rpc_error", json!({}))).await.is_err());
    let bare = call(&client, "structured_only", json!({})).await;
    assert!(bare.content.is_empty() && bare.structured_content.is_some());
    assert_eq!(call(&client, "two_texts", json!({})).await.content.len(), 2);
    let prose = call(&client, "prose", json!({})).await;
    assert!(prose.structured_content.is_none());
    match &call(&client, "big", json!({"bytes": 5_000_000})).await.content[..] {
        [ContentBlock::Text(text)] => assert_eq!(text.text.len(), 5_000_000),
        other => panic!("{} blocks", other.len()),
    }
    match &call(&client, "image", json!({})).await.content[..] {
        [ContentBlock::Image(image)] => assert_eq!(image.data.len(), png().len().div_ceil(3) * 4),
        other => panic!("{} blocks", other.len()),
    }
    assert!(client.call_tool(request("die", json!({}))).await.is_err());
    assert_eq!(child.wait().await.expect("it ended").code(), Some(3));
    assert_eq!(log.started().first().map(String::as_str), Some("echo"));
    assert_eq!(log.events().last(), Some(&("start".to_owned(), "die".to_owned())));
}

/// Its lengths, checksums and pixels agree with each other, as any reader of PNGs would check.
#[test]
fn the_picture_is_a_picture() {
    let png = png();
    assert!((2_000_000..2_200_000).contains(&png.len()), "{}", png.len());
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let (mut at, mut kinds, mut pixels) = (8, Vec::new(), Vec::new());
    while at < png.len() {
        let length = u32::from_be_bytes(png[at..at + 4].try_into().expect("four bytes")) as usize;
        let (kind, data) = (&png[at + 4..at + 8], &png[at + 8..at + 8 + length]);
        let mut crc = flate2::Crc::new();
        crc.update(&png[at + 4..at + 8 + length]);
        assert_eq!(png[at + 8 + length..at + 12 + length], crc.sum().to_be_bytes());
        if kind == b"IDAT" {
            std::io::Read::read_to_end(&mut flate2::read::ZlibDecoder::new(data), &mut pixels)
                .expect("deflate");
        }
        kinds.push(String::from_utf8(kind.to_vec()).expect("letters"));
        at += 12 + length;
    }
    assert_eq!(kinds, ["IHDR", "IDAT", "IEND"]);
    assert_eq!(pixels.len(), 830 * (1 + 3 * 830));
}

#[tokio::test]
async fn a_cancelled_call_is_written_down() {
    let (postern, log) = scene();
    let (client, _child) = start("postern-test-server", &[], &postern.path("t.log.jsonl"), modern()).await;
    // Dropping the future cancels the call.
    let sleeping = client.call_tool(request("sleep", json!({"ms": 30_000})));
    assert!(tokio::time::timeout(Duration::from_millis(200), sleeping).await.is_err());
    let log = tokio::task::spawn_blocking(move || {
        assert!(log.eventually("cancel", "sleep"), "{:?}", log.events());
        log
    });
    let log = log.await.expect("no panic");
    assert_eq!(call(&client, "echo", json!({"n": 1})).await.is_error, Some(false));
    assert_eq!(log.most_at_once(), 1);
}

#[tokio::test]
async fn many_tools_come_in_pages() {
    let (postern, _) = scene();
    let words = ["--tools", "120"];
    let (client, _child) =
        start("postern-test-server", &words, &postern.path("l"), ClientLifecycleMode::Initialize).await;
    let first = client.list_tools(None).await.expect("a page");
    assert!(first.next_cursor.is_some());
    let all = client.list_all_tools().await.expect("all pages");
    assert_eq!(all.len(), 19 + 120);
    assert!(all.iter().all(|tool| tool.annotations.is_some()));
}

#[tokio::test]
async fn http_wants_its_token() {
    let server = tokio::task::spawn_blocking(|| HttpServer::test(&[("TEST_SERVER_BEARER", "letmein")]))
        .await
        .expect("started");
    let without = StreamableHttpClientTransport::from_uri(server.url());
    assert!(ClientConfig::default().serve_with_lifecycle(without, modern()).await.is_err());
    let config =
        rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig::with_uri(server.url())
            .auth_header("letmein");
    let with = StreamableHttpClientTransport::from_config(config);
    let client = ClientConfig::default().serve_with_lifecycle(with, modern()).await.expect("let in");
    assert_eq!(call(&client, "echo", json!({"n": 1})).await.structured_content, Some(json!({"n": 1})));
}

/// The odd server, spoken to by hand: what it sends is the point, and no library would pass it on.
#[test]
fn the_odd_server_sends_what_it_is_told_to() {
    let postern = Postern::new();
    let plan = json!({
        "pages": [[{"name": "no_schema"}], ["nonsense"]],
        "before": ["*** banner ***"],
        "huge_line": 3,
        "results": {"raw": "{\"content\":[],\"structuredContent\":[[[]]]}"},
    });
    let plan = postern.write("plan.json", plan.to_string());
    let ask = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "id": 4, "method": "tools/list", "params": {"cursor": "1"}}),
        json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "raw"}}),
        json!({"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"name": "x", "arguments": {"n": 1}}}),
    ];
    let ask: String = ask.iter().map(|line| format!("{line}\n")).collect();
    let program = binary("postern-odd-server");
    let finished = postern.program(program.to_str().expect("UTF-8"), &[plan.to_str().expect("UTF-8")], &ask);
    let lines: Vec<&str> = finished.stdout.lines().collect();
    assert_eq!((lines[0], lines[5], lines.len()), ("*** banner ***", "xxx", 8), "{finished:#?}");
    let answer = |n: usize| serde_json::from_str::<Value>(lines[n]).expect("JSON");
    assert_eq!(answer(1)["error"]["code"], -32601);
    assert_eq!(answer(2)["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(answer(3)["result"], json!({"tools": [{"name": "no_schema"}], "nextCursor": "1"}));
    assert_eq!(answer(4)["result"], json!({"tools": ["nonsense"]}));
    assert_eq!(answer(6)["result"]["structuredContent"], json!([[[]]]));
    assert_eq!((&answer(7)["id"], &answer(7)["result"]["structuredContent"]), (&json!(6), &json!({"n": 1})));
}
