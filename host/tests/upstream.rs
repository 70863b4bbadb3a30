//! Upstreams against real processes: a server written by hand that does what no SDK lets a server do
//! (`fixtures/raw_server.py`), the official servers from npm and PyPI, and HTTP endpoints.
//!
//! The official servers are looked for in `.postern/test-deps`; `POSTERN_TEST_NPM=0` leaves those
//! from npm out. A test says on stderr when it is left out.
#![allow(clippy::unwrap_used)]

#[path = "upstream/discovery.rs"]
mod discovery;
#[path = "upstream/http.rs"]
mod http;
#[path = "upstream/listing.rs"]
mod listing;
#[path = "fixtures/many_tools.rs"]
mod many_tools;
#[path = "upstream/official.rs"]
mod official;
#[path = "upstream/stdio.rs"]
mod stdio;

use std::path::{Path, PathBuf};
use std::time::Duration;

use postern::upstream::{CallOptions, ServerConfig, ToolResult, Transport, Upstreams};
use postern::{ToolError, ToolErrorCode};
use serde_json::{Map, Value, json};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The interpreter itself: `python3` may be a wrapper that adds to the environment.
fn python() -> &'static str {
    static PYTHON: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    PYTHON.get_or_init(|| {
        let ask = ["-c", "import sys; print(sys.executable)"];
        let output = std::process::Command::new("python3").args(ask).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    })
}

/// The hand-written server in one of its scenarios, with the file that holds what it was sent.
struct Raw {
    upstreams: Upstreams,
    log: PathBuf,
    _folder: tempfile::TempDir,
}

impl Raw {
    fn new(scenario: &str) -> Self {
        Self::with(scenario, |_| {})
    }

    fn with(scenario: &str, change: impl FnOnce(&mut ServerConfig)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log.jsonl");
        let script = root().join("host/tests/fixtures/raw_server.py");
        let args = [script.to_str().unwrap(), scenario, log.to_str().unwrap()];
        let mut config = ServerConfig::stdio(python(), args);
        change(&mut config);
        Self { upstreams: Upstreams::builder().with_server("raw", config).build(), log, _folder: folder }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<ToolResult, ToolError> {
        call(&self.upstreams, "raw", tool, arguments).await
    }

    /// Every message the server got, in order.
    fn got(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn got_method(&self, method: &str) -> Vec<Value> {
        self.got().into_iter().filter(|message| message["method"] == method).collect()
    }

    async fn pid(&self) -> i64 {
        self.call("pid", json!({})).await.unwrap().value.as_str().unwrap().parse().unwrap()
    }
}

async fn call(
    upstreams: &Upstreams,
    server: &str,
    tool: &str,
    arguments: Value,
) -> Result<ToolResult, ToolError> {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    upstreams.call(server, tool, arguments, CallOptions::default()).await
}

fn within(time: Duration) -> CallOptions {
    CallOptions { timeout: Some(time), ..CallOptions::default() }
}

/// Waits for something to become true.
async fn eventually(what: &str, mut check: impl FnMut() -> bool) {
    for _ in 0..200 {
        if check() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("it did not happen: {what}");
}

fn is_running(pid: i64) -> bool {
    // A zombie has ended; only its parent has not asked yet.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

fn kind(error: &ToolError) -> String {
    error.details.as_ref().and_then(|details| details["kind"].as_str()).unwrap_or_default().to_owned()
}

fn env_of(config: &mut ServerConfig) -> &mut std::collections::BTreeMap<String, String> {
    match &mut config.transport {
        Transport::Stdio { env, .. } => env,
        other => panic!("not a child process: {other:?}"),
    }
}

fn nothing() -> Map<String, Value> {
    Map::new()
}

fn code(result: Result<ToolResult, ToolError>) -> ToolErrorCode {
    result.unwrap_err().code
}
