//! Streamable HTTP endpoints that misbehave.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use postern::upstream::{ServerConfig, Transport, Upstreams};
use serde_json::json;
use url::Url;

use super::*;

struct Endpoint {
    child: Child,
    port: u16,
    log: PathBuf,
    _folder: tempfile::TempDir,
}

impl Endpoint {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log.jsonl");
        let script = root().join("host/tests/fixtures/raw_http.py");
        let mut child = Command::new(python()).arg(script).arg(&log).stdout(Stdio::piped()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Self { child, port: port.trim().parse().unwrap(), log, _folder: folder }
    }

    fn upstreams(&self, path: &str) -> Upstreams {
        let mut config =
            ServerConfig::http(Url::parse(&format!("http://127.0.0.1:{}{path}", self.port)).unwrap());
        if let Transport::Http { headers, .. } = &mut config.transport {
            headers.insert("X-Key".into(), "hunter22-secret".into());
        }
        Upstreams::builder().with_server("web", config).build()
    }

    fn got(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn calls(&self, tool: &str) -> usize {
        self.got().iter().filter(|m| m["params"]["name"] == tool).count()
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[tokio::test]
async fn headers_are_sent_and_never_shown() {
    let endpoint = Endpoint::start();
    let upstreams = endpoint.upstreams("/mcp?key=hunter33-secret");
    assert_eq!(call(&upstreams, "web", "echo", json!({"a": 1})).await.unwrap().value, json!({"a": 1}));
    let sent = endpoint.got();
    assert!(
        sent.iter().filter(|m| m["method"] != "DELETE").all(|m| m["headers"]["x-key"] == "hunter22-secret"),
        "{sent:?}"
    );
    let error = call(&upstreams, "web", "broken", json!({})).await.unwrap_err();
    assert!(error.message.contains("500"), "{}", error.message);
    let shown = format!("{error:?} {:?} {:?}", upstreams.config("web"), upstreams.status().await);
    assert!(!shown.contains("hunter22") && !shown.contains("hunter33"), "{shown}");
    upstreams.close().await;
    assert!(endpoint.got().iter().any(|m| m["method"] == "DELETE"), "the session is ended");
}

// Runtime case 17, the HTTP half: the server drops the socket in the middle of a call.
#[tokio::test]
async fn case_17_a_dropped_socket_fails_its_call_at_once_and_the_next_one_works() {
    let endpoint = Endpoint::start();
    for (path, tool) in [("/mcp", "drop"), ("/sse", "drop"), ("/sse", "drop-resumable")] {
        let upstreams = endpoint.upstreams(path);
        upstreams.tool("web", "echo").await.unwrap();
        let (before, began) = (endpoint.calls(tool), Instant::now());
        let error = call(&upstreams, "web", tool, json!({})).await.unwrap_err();
        assert!(began.elapsed() < Duration::from_secs(1), "{path} {tool}: {:?}", began.elapsed());
        assert_eq!(
            (error.code, kind(&error).as_str(), error.retryable),
            (ToolErrorCode::Upstream, "broke-off", false),
            "{error}"
        );
        assert_eq!(endpoint.calls(tool), before + 1, "{path} {tool}: the call is not made again");
        assert_eq!(call(&upstreams, "web", "echo", json!({"b": 2})).await.unwrap().value, json!({"b": 2}));
    }
}

#[tokio::test]
async fn an_expired_session_is_opened_again() {
    let endpoint = Endpoint::start();
    let upstreams = endpoint.upstreams("/mcp");
    call(&upstreams, "web", "forget", json!({})).await.unwrap();
    assert_eq!(call(&upstreams, "web", "echo", json!({"a": 1})).await.unwrap().value, json!({"a": 1}));
    let opened = endpoint.got().iter().filter(|m| m["method"] == "initialize").count();
    assert_eq!(opened, 2);
}

#[tokio::test]
async fn an_answer_too_large_is_refused() {
    let endpoint = Endpoint::start();
    let upstreams = endpoint.upstreams("/mcp");
    let error = call(&upstreams, "web", "huge", json!({})).await.unwrap_err();
    assert!(error.message.contains("16777216"), "{}", error.message);
    call(&upstreams, "web", "echo", json!({})).await.unwrap();
}

#[tokio::test]
async fn headers_do_not_follow_a_redirect_to_another_origin() {
    let endpoint = Endpoint::start();
    let error = endpoint.upstreams("/elsewhere").tool("web", "echo").await.unwrap_err();
    assert!(error.message.contains("another origin"), "{}", error.message);
    assert!(endpoint.got().iter().all(|m| m["path"] == "/elsewhere"));
    endpoint.upstreams("/moved").tool("web", "echo").await.unwrap();
}

#[tokio::test]
async fn an_endpoint_that_wants_a_login_or_is_not_there_says_so() {
    let endpoint = Endpoint::start();
    let error = endpoint.upstreams("/login").tool("web", "echo").await.unwrap_err();
    assert!(error.message.contains("HTTP 401") && error.message.contains("headers"), "{}", error.message);
    let nobody = ServerConfig::http(Url::parse("http://127.0.0.1:9/mcp?key=hunter33-secret").unwrap());
    let upstreams = Upstreams::builder().with_server("web", nobody).build();
    let error = upstreams.tool("web", "echo").await.unwrap_err();
    assert!(
        error.message.contains("cannot connect") && !error.message.contains("hunter33"),
        "{}",
        error.message
    );
    assert!(error.retryable);
}
