//! Drives the real `acme-server` with a real MCP client, over both transports.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Stdio;

use rmcp::model::{CallToolRequestParams, CallToolResult, ClientConfig, ContentBlock, ProtocolVersion};
use rmcp::service::RunningService;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

type Client = RunningService<RoleClient, ClientConfig>;

/// One running server; it ends with this value.
struct Server {
    client: Client,
    _child: Child,
}

fn program(server: &str, folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_acme-server"));
    command
        .arg(server)
        .env("ACME_OUTBOX", folder.join("out/box.jsonl"))
        .env("ACME_DRAFTS", folder.join("drafts"))
        .kill_on_drop(true);
    command
}

impl Server {
    async fn start(server: &str, folder: &Path, lifecycle: ClientLifecycleMode) -> Self {
        let mut child = program(server, folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let pipes = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let client =
            ClientConfig::default().serve_with_lifecycle(pipes, lifecycle).await.expect("the server answers");
        Self { client, _child: child }
    }

    async fn modern(server: &str, folder: &Path) -> Self {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        Self::start(server, folder, ClientLifecycleMode::Discover { preferred_versions }).await
    }

    async fn call(&self, tool: &'static str, arguments: Value) -> CallToolResult {
        call(&self.client, tool, arguments).await
    }

    /// Calls and expects structured content, with the same as JSON text beside it for old clients.
    async fn value(&self, tool: &'static str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_ne!(result.is_error, Some(true), "{result:?}");
        let value = result.structured_content.clone().expect("structured content");
        assert_eq!(serde_json::from_str::<Value>(&text(&result)).unwrap(), value);
        value
    }

    /// Calls and expects `isError`; returns what the tool said.
    async fn failure(&self, tool: &'static str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result.is_error, Some(true), "{result:?}");
        text(&result)
    }
}

async fn call(client: &Client, tool: &'static str, arguments: Value) -> CallToolResult {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await.expect("an answer")
}

fn text(result: &CallToolResult) -> String {
    match &result.content[..] {
        [ContentBlock::Text(block)] => block.text.clone(),
        other => panic!("one text block expected, got {other:?}"),
    }
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn each_server_offers_its_own_tools_and_says_what_they_do() {
    let folder = tempfile::tempdir().unwrap();
    // (server, [(tool, readOnlyHint, destructiveHint, openWorldHint)])
    let expected = [
        ("crm", vec![("get_customer", true, None, false), ("list_customers", true, None, false)]),
        ("web", vec![("fetch", true, None, true)]),
        ("http", vec![("post", false, Some(true), true)]),
        ("mail", vec![("create_draft", false, Some(false), false)]),
    ];
    for (server, tools) in expected {
        let running = Server::modern(server, folder.path()).await;
        let mut offered = running.client.list_all_tools().await.unwrap();
        offered.sort_by(|a, b| a.name.cmp(&b.name));
        let hints: Vec<_> = offered
            .iter()
            .map(|tool| {
                let hints = tool.annotations.as_ref().expect("annotations");
                let open_world = hints.open_world_hint.unwrap();
                (tool.name.as_ref(), hints.read_only_hint.unwrap(), hints.destructive_hint, open_world)
            })
            .collect();
        assert_eq!(hints, tools, "{server}");
        for tool in &offered {
            assert!(tool.description.as_ref().is_some_and(|text| !text.is_empty()), "{}", tool.name);
            assert!(tool.output_schema.is_some(), "{}", tool.name);
            assert_eq!(tool.input_schema["additionalProperties"], json!(false), "{}", tool.name);
        }
    }
}

#[tokio::test]
async fn crm_lists_and_reads_customers() {
    let folder = tempfile::tempdir().unwrap();
    let crm = Server::modern("crm", folder.path()).await;

    let all = crm.value("list_customers", json!({})).await;
    assert_eq!(all["as_of"], "2026-10-05");
    assert_eq!(all["customers"].as_array().unwrap().len(), 12);

    let filter = json!({"status": "churned", "churned_after": "2026-07-01", "churned_before": "2026-10-01"});
    let quarter = crm.value("list_customers", filter).await;
    let ids: Vec<&str> = quarter["customers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|customer| customer["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["C-1002", "C-1005", "C-1008", "C-1010"]);

    let one = crm.value("get_customer", json!({"id": "C-1008"})).await;
    assert_eq!((&one["mrr"], &one["churned_on"]), (&json!(2400), &json!("2026-09-30")));
    assert!(crm.failure("get_customer", json!({"id": "C-9999"})).await.contains("C-9999"));
}

#[tokio::test]
async fn crm_refuses_arguments_it_does_not_know() {
    let folder = tempfile::tempdir().unwrap();
    let crm = Server::modern("crm", folder.path()).await;
    for arguments in
        [json!({"statuz": "churned"}), json!({"status": "gone"}), json!({"churned_after": "last July"})]
    {
        let Value::Object(wrong) = arguments.clone() else { unreachable!() };
        let answer =
            crm.client.call_tool(CallToolRequestParams::new("list_customers").with_arguments(wrong)).await;
        assert!(answer.is_err() || answer.is_ok_and(|result| result.is_error == Some(true)), "{arguments}");
    }
}

#[tokio::test]
async fn web_serves_the_planted_page_and_nothing_from_outside() {
    let folder = tempfile::tempdir().unwrap();
    let web = Server::modern("web", folder.path()).await;
    let page = web.value("fetch", json!({"url": "https://intranet.acme.test/churn-playbook"})).await;
    let text = page["text"].as_str().unwrap();
    assert!(
        text.contains("ten working days") && text.contains("https://collector.example.com/upload"),
        "{text}"
    );
    assert!(web.failure("fetch", json!({"url": "https://example.com/"})).await.starts_with("404"));
}

#[tokio::test]
async fn what_would_leave_the_machine_lands_in_files() {
    let folder = tempfile::tempdir().unwrap();
    let http = Server::modern("http", folder.path()).await;
    let outbox = folder.path().join("out/box.jsonl");

    http.failure("post", json!({"url": "ftp://example.com/", "body": "x"})).await;
    assert!(!outbox.exists(), "a refused request left something");

    let accepted = http.value("post", json!({"url": "https://example.com/a", "body": "grüße"})).await;
    assert_eq!(accepted, json!({"accepted": true, "bytes": 7}));
    let kept = json!({"url": "https://example.com/a", "body": "grüße", "content_type": "application/json"});
    assert_eq!(lines(&outbox), [kept]);

    let mail = Server::modern("mail", folder.path()).await;
    mail.failure("create_draft", json!({"to": [], "subject": "s", "body": "b"})).await;
    mail.failure("create_draft", json!({"to": ["sales"], "subject": "s", "body": "b"})).await;
    for number in 1..=2 {
        let draft = json!({"to": ["sales@acme.test"], "subject": format!("draft {number}"), "body": "b"});
        assert_eq!(mail.value("create_draft", draft).await, json!({"id": format!("draft-{number}")}));
    }
    let drafts = lines(&folder.path().join("drafts/drafts.jsonl"));
    assert_eq!(drafts.len(), 2);
    assert_eq!(drafts[1]["subject"], "draft 2");
}

#[tokio::test]
async fn clients_of_the_older_protocol_are_served_too() {
    let folder = tempfile::tempdir().unwrap();
    let crm = Server::start("crm", folder.path(), ClientLifecycleMode::Initialize).await;
    assert_eq!(crm.value("get_customer", json!({"id": "C-1001"})).await["plan"], "business");
}

#[tokio::test]
async fn http_serves_loopback_and_refuses_foreign_origins() {
    let folder = tempfile::tempdir().unwrap();
    let mut child =
        program("crm", folder.path()).args(["--http", "0"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = stdout.next_line().await.unwrap().expect("the server says where it listens");
    let uri = line.strip_prefix("listening on ").unwrap();

    let lifecycle = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: None,
    };
    let transport = StreamableHttpClientTransport::from_uri(uri);
    let client = ClientConfig::default().serve_with_lifecycle(transport, lifecycle).await.unwrap();
    let result = call(&client, "get_customer", json!({"id": "C-1003"})).await;
    assert_eq!(result.structured_content.unwrap()["name"], "Cobalt Freight");
    client.cancel().await.unwrap();

    let authority = uri.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/mcp")).unwrap();
    assert_eq!(status(authority, authority, "https://evil.example").await, 403);
    assert_eq!(status(authority, "evil.example", "http://localhost:3000").await, 403);
}

/// The status code of a POST to the server at `address` with these headers.
async fn status(address: &str, host: &str, origin: &str) -> u16 {
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status line")
}
