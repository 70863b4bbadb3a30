//! The official servers: npm server-everything and server-filesystem, PyPI mcp-server-git.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use postern::upstream::{Era, ServerConfig, Upstreams, read_mcp_config};
use serde_json::json;
use url::Url;

use super::*;

fn npm(package: &str) -> Option<String> {
    if std::env::var("POSTERN_TEST_NPM").is_ok_and(|set| set == "0") {
        eprintln!("left out: POSTERN_TEST_NPM=0");
        return None;
    }
    let path = root()
        .join(".postern/test-deps/npm/node_modules/@modelcontextprotocol")
        .join(package)
        .join("dist/index.js");
    assert!(
        path.is_file(),
        "{} is missing: `cargo xtask setup` fetches it, POSTERN_TEST_NPM=0 leaves it out",
        path.display()
    );
    Some(path.to_str().unwrap().to_owned())
}

fn git_server() -> String {
    let path = root().join(".postern/test-deps/venv/bin/mcp-server-git");
    assert!(path.is_file(), "{} is missing: `cargo xtask setup` fetches it", path.display());
    path.to_str().unwrap().to_owned()
}

#[tokio::test]
async fn server_everything_over_stdio() {
    let Some(script) = npm("server-everything") else { return };
    let upstreams =
        Upstreams::builder().with_server("every", ServerConfig::stdio("node", [script.as_str()])).build();
    everything(&upstreams).await;
    // The process has PATH, HOME, LANG and nothing of ours.
    let env = call(&upstreams, "every", "get-env", json!({})).await.unwrap().value;
    let names: Vec<_> = env.as_object().unwrap().keys().cloned().collect();
    assert!(names.iter().all(|name| ["PATH", "HOME", "LANG"].contains(&name.as_str())), "{names:?}");
    upstreams.close().await;
}

#[tokio::test]
async fn server_everything_over_streamable_http() {
    let Some(script) = npm("server-everything") else { return };
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let _server = Kill(
        Command::new("node")
            .args([&script, "streamableHttp"])
            .env("PORT", port.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    wait_for(port).await;
    let url = Url::parse(&format!("http://127.0.0.1:{port}/mcp")).unwrap();
    let upstreams = Upstreams::builder().with_server("every", ServerConfig::http(url)).build();
    everything(&upstreams).await;
    upstreams.close().await;
}

/// What holds on both transports.
async fn everything(upstreams: &Upstreams) {
    let catalog = upstreams.catalog().await;
    assert!(catalog.tools.len() >= 10, "{}", catalog.tools.len());
    assert!(catalog.problems.is_empty(), "{:?}", catalog.problems);
    let status = upstreams.status().await.remove(0);
    assert_eq!((status.era, status.protocol.as_deref()), (Some(Era::Legacy), Some("2025-11-25")));

    let echo = call(upstreams, "every", "echo", json!({"message": "hi"})).await.unwrap();
    assert_eq!(echo.value, "Echo: hi");
    let weather =
        call(upstreams, "every", "get-structured-content", json!({"location": "Chicago"})).await.unwrap();
    assert!(weather.structured && weather.value["temperature"].is_number(), "{:?}", weather.value);
    assert!(weather.beside.is_empty() && weather.warnings.is_empty(), "{weather:?}");
    let image = call(upstreams, "every", "get-tiny-image", json!({})).await.unwrap();
    assert_eq!(image.blobs.len(), 1);
    assert_eq!(image.blobs[0].mime, "image/png");
    assert!(image.blobs[0].bytes.starts_with(b"\x89PNG"));
    assert!(image.value.as_array().unwrap().iter().any(|part| part["artifact"] == image.blobs[0].name));
    let bad = call(upstreams, "every", "get-sum", json!({"a": "x"})).await.unwrap_err();
    assert_eq!(bad.code, ToolErrorCode::Upstream);

    // A long call is given up; the server answers the next one.
    let long = upstreams.call(
        "every",
        "trigger-long-running-operation",
        long_arguments(),
        within(Duration::from_millis(500)),
    );
    assert_eq!(code(long.await), ToolErrorCode::Timeout);
    let calls = (0..8).map(|n| call(upstreams, "every", "echo", json!({"message": n.to_string()})));
    for (n, answer) in futures::future::join_all(calls).await.into_iter().enumerate() {
        assert_eq!(answer.unwrap().value, format!("Echo: {n}"));
    }
}

fn long_arguments() -> Map<String, Value> {
    let Value::Object(arguments) = json!({"duration": 30, "steps": 30}) else { panic!() };
    arguments
}

struct Kill(Child);

impl Drop for Kill {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

async fn wait_for(port: u16) {
    for _ in 0..400 {
        if tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("nobody listens on port {port}");
}

#[tokio::test]
async fn server_filesystem_from_a_config_file() {
    let Some(script) = npm("server-filesystem") else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder_path = folder.path().canonicalize().unwrap();
    std::fs::write(folder_path.join("note.txt"), "hello").unwrap();
    std::fs::create_dir(folder_path.join(".vscode")).unwrap();
    let file = folder_path.join(".vscode/mcp.json");
    let text = format!(
        "{{ // for VS Code\n \"servers\": {{ \"fs\": {{ \"command\": \"node\", \"args\": [{script:?}, \"${{workspaceFolder}}\"], }} }} }}"
    );
    std::fs::write(&file, text).unwrap();
    let config = read_mcp_config(&file).unwrap();
    let upstreams = Upstreams::new(config.servers);
    let path = folder_path.join("note.txt");
    let read = call(&upstreams, "fs", "read_text_file", json!({"path": path})).await.unwrap();
    assert_eq!(read.value["content"], "hello", "{read:?}");
    let refused = call(&upstreams, "fs", "read_text_file", json!({"path": "/etc/passwd"})).await.unwrap_err();
    assert_eq!(kind(&refused), "tool-failed");
    let tool = upstreams.tool("fs", "read_text_file").await.unwrap();
    assert_eq!(tool.annotations.read_only, Some(true));
    let catalog = upstreams.catalog().await;
    assert!(catalog.problems.is_empty(), "{:?}", catalog.problems);
    upstreams.close().await;
}

#[tokio::test]
async fn mcp_server_git_in_both_eras() {
    let folder = tempfile::tempdir().unwrap();
    let repository = folder.path().canonicalize().unwrap();
    assert!(Command::new("git").args(["init", "-q"]).arg(&repository).status().unwrap().success());
    for (asked, found) in
        [(None, Era::Modern), (Some(Era::Legacy), Era::Legacy), (Some(Era::Modern), Era::Modern)]
    {
        let mut config = ServerConfig::stdio(git_server(), ["--repository", repository.to_str().unwrap()]);
        config.era = asked;
        let upstreams = Upstreams::builder().with_server("git", config).build();
        let status = upstreams.status().await.remove(0);
        assert_eq!((status.error, status.era), (None, Some(found)));
        assert!(status.tools >= 10);
        let result = call(&upstreams, "git", "git_status", json!({"repo_path": repository})).await.unwrap();
        assert!(result.value.as_str().unwrap().contains("No commits yet"), "{result:?}");
        let error = call(&upstreams, "git", "git_status", json!({"repo_path": "/"})).await.unwrap_err();
        assert_eq!(error.code, ToolErrorCode::Upstream);
        upstreams.close().await;
    }
}
