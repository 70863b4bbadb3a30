//! `postern-test-server [--http PORT] [--tools N] [--story FILE]`: a well-behaved MCP server on rmcp, with one tool
//! for each kind of answer that a host has to cope with. Its tools do what they are asked, at once,
//! and write down that they were asked: see `log`.
//!
//! With TEST_SERVER_BEARER set, the HTTP server answers 401 to requests without that bearer token.

mod answers;
mod log;
mod story;
mod tools;

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::middleware::{self, Next};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::io::stdio_pipes;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use serde_json::{Map, Value, json};

use crate::log::Log;

/// Tools on one page of tools/list.
const PAGE: usize = 50;

#[derive(Clone)]
struct TestServer {
    log: Log,
    /// Tools beside the named ones.
    extra_tools: usize,
    counter: Arc<AtomicU64>,
}

impl ServerHandler for TestServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let start = match cursor {
            None => 0,
            Some(cursor) => cursor.parse().map_err(|_| ErrorData::invalid_params("no such cursor", None))?,
        };
        let all = tools::all(self.extra_tools);
        let page = all.iter().skip(start).take(PAGE).cloned().collect();
        let mut result = ListToolsResult::with_all_items(page);
        result.next_cursor = (start + PAGE < all.len()).then(|| (start + PAGE).to_string());
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        self.log.write("start", &request.name, &arguments);
        let cancelled = context.ct.clone();
        let answer = tokio::select! {
            answer = self.answer(&request.name, &arguments, context) => answer,
            () = cancelled.cancelled() => {
                self.log.write("cancel", &request.name, &arguments);
                return Err(ErrorData::internal_error("cancelled", None));
            }
        };
        self.log.write("finish", &request.name, &arguments);
        answer
    }
}

impl TestServer {
    async fn answer(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let number =
            |name: &str, default: u64| arguments.get(name).and_then(Value::as_u64).unwrap_or(default);
        let result = match tool {
            "echo" | "strict" => answers::structured(Value::Object(arguments.clone())),
            "sleep" => {
                tokio::time::sleep(Duration::from_millis(number("ms", 1000))).await;
                answers::structured(json!({"slept": number("ms", 1000)}))
            }
            "never" => std::future::pending().await,
            "progress" => {
                let steps = number("steps", 3);
                for step in 1..=steps {
                    tokio::time::sleep(Duration::from_millis(number("every_ms", 100))).await;
                    if let Some(token) = context.meta.get_progress_token() {
                        let progress =
                            ProgressNotificationParam::new(token, step as f64).with_total(steps as f64);
                        // A client that is gone does not want to know.
                        let _ = context.peer.notify_progress(progress).await;
                    }
                }
                answers::structured(json!({"steps": steps}))
            }
            "counter" => {
                answers::structured(json!({"count": self.counter.fetch_add(1, Ordering::SeqCst) + 1}))
            }
            "pid" => answers::structured(json!({"pid": std::process::id()})),
            "env" => answers::structured(
                std::env::vars().map(|(name, value)| (name, Value::String(value))).collect(),
            ),
            "fail" => {
                answers::failure(arguments.get("message").and_then(Value::as_str).unwrap_or("it went wrong"))
            }
            "rpc_error" => return Err(ErrorData::internal_error("the server is out of order", None)),
            "die" => std::process::exit(3),
            "json_text" => answers::text([r#"{"kind": "json text", "list": [1, 2, 3]}"#]),
            "prose" => answers::text(["It is raining in Bergen."]),
            "two_texts" => answers::text(["first", "second"]),
            "structured_and_text" => answers::lossy(json!({"celsius": 21.5, "sunny": true}), "warm"),
            "structured_only" => answers::bare(json!({"celsius": 21.5, "sunny": true})),
            "image" => answers::image(),
            "big" => answers::text(["x".repeat(number("bytes", 1 << 20) as usize)]),
            "deep" => {
                let levels = number("levels", 100_000) as usize;
                answers::text(["[".repeat(levels) + &"]".repeat(levels)])
            }
            other if tools::is_extra(other, self.extra_tools) => answers::structured(json!({"tool": other})),
            other => return Err(ErrorData::invalid_params(format!("there is no tool `{other}`"), None)),
        };
        Ok(result.into())
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    match serve().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("postern-test-server: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> Result<(), Box<dyn Error>> {
    let mut port = None;
    let mut extra_tools = 0;
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{flag} needs a value"))?;
        match flag.as_str() {
            "--http" => port = Some(value.parse::<u16>()?),
            "--tools" => extra_tools = value.parse()?,
            "--story" => {
                let server = story::StoryServer::read(&value, Log::from_env())?;
                server.serve(stdio_pipes()).await?.waiting().await?;
                return Ok(());
            }
            _ => return Err(format!("no such flag: {flag}").into()),
        }
    }
    let server = TestServer { log: Log::from_env(), extra_tools, counter: Arc::default() };
    match port {
        None => {
            server.serve(stdio_pipes()).await?.waiting().await?;
        }
        Some(port) => serve_http(server, port).await?,
    }
    Ok(())
}

async fn serve_http(server: TestServer, port: u16) -> Result<(), Box<dyn Error>> {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    let address = listener.local_addr()?;
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts([format!("127.0.0.1:{}", address.port())])
        .with_allowed_origins(["http://127.0.0.1:*"]);
    let service: StreamableHttpService<TestServer, LocalSessionManager> =
        StreamableHttpService::new(move || Ok(server.clone()), Default::default(), config);
    let router = axum::Router::new().nest_service("/mcp", service).layer(middleware::from_fn(authorise));
    println!("listening on http://{address}/mcp");
    axum::serve(listener, router).await?;
    Ok(())
}

/// Lets through what carries the token in TEST_SERVER_BEARER, or everything if there is none.
async fn authorise(request: Request, next: Next) -> Result<axum::response::Response, StatusCode> {
    if let Ok(token) = std::env::var("TEST_SERVER_BEARER") {
        let expected = format!("Bearer {token}");
        if request.headers().get(AUTHORIZATION).is_none_or(|value| value.as_bytes() != expected.as_bytes()) {
            return Err(StatusCode::UNAUTHORIZED);
        }
    }
    Ok(next.run(request).await)
}
