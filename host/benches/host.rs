//! What a run costs in a process that is warm: `cargo xtask bench`. Figures are in docs/performance.md.
//!
//! - `process`: a whole `postern run` without tool calls, and `node -e 1`
//! - `start`: instance + trivial script + drop, in the sandbox alone and through the host with workspace
//!   (no record, no guard)
//! - `call`: one tool call of 1 KB to a tool of this process and back, without guard; the script makes
//!   1,000 in a row, and what it costs without them is taken off
//! - `gate`: of the same calls, what the gate's own steps take: from the call's arrival in the host to its
//!   answer, with a tool that takes no time

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark may fail loudly")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use criterion::{Criterion, criterion_group, criterion_main};
use postern::sandbox::{Answer, Door, Job, Limits, Reply, RunClock, Runners, Sandbox, Workspace};
use postern::script::Language;
use postern::upstream::{LocalServer, ToolDefinition, ToolResult};
use postern::{Config, Host, Report, Script, ToolError, ToolErrorCode};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

/// Calls of one script in `call`.
const CALLS: u32 = 1_000;

/// Gives back what it was given.
struct Echo;

#[async_trait]
impl LocalServer for Echo {
    fn tools(&self) -> Vec<ToolDefinition> {
        let tool = |name: &str| ToolDefinition::new("bench", name, json!({"type": "object"}));
        vec![tool("echo"), tool("take"), tool("rows")]
    }

    async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<ToolResult, ToolError> {
        let value = match tool {
            "echo" => Value::Object(arguments),
            "rows" => rows(),
            _ => Value::Null,
        };
        Ok(ToolResult::value(value))
    }
}

/// About a megabyte of rows as a table of customers has them.
fn rows() -> Value {
    let row = |id: u32| {
        json!({"id": id, "name": format!("Customer {id} of Harbour {}", id % 97), "mail": format!("c{id}@acme.test"),
               "note": "Wants to hear about deliveries before the end of the month", "balance": id * 7})
    };
    (0..6_500).map(row).collect()
}

/// A door that nothing goes through.
struct Closed;

impl Door for Closed {
    fn call(&self, _: String, _: String) -> Reply {
        Box::pin(async { Answer::Err(ToolError::new(ToolErrorCode::UnknownTool, "there are no tools")) })
    }

    fn search(&self, _: String, _: u32) -> Reply {
        self.call(String::new(), String::new())
    }

    fn describe(&self, _: String) -> Reply {
        self.call(String::new(), String::new())
    }
}

fn host() -> Host {
    let mut config = Config::default();
    config.limits.max_calls = u32::MAX;
    Host::builder(config)
        .without_guard()
        .without_records()
        .local_server("bench", Arc::new(Echo))
        .build()
        .unwrap()
}

async fn run(host: &Host, language: Language, text: &str) -> Report {
    let report = host.run(Script::new(text).language(language)).await.unwrap();
    assert!(report.error.is_none(), "{:?}", report.error);
    report
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn start(c: &mut Criterion) {
    let runtime = runtime();
    let mut group = c.benchmark_group("start");

    let sandbox = Sandbox::new(Runners::find()).unwrap();
    let (out, limits) = (tempfile::tempdir().unwrap(), Limits::default());
    let workspace = Workspace::create(out.path(), &[], &limits).unwrap();
    let door: Arc<dyn Door> = Arc::new(Closed);
    let host = host();
    for (language, source) in [(Language::JavaScript, "return 1+1"), (Language::Python, "1+1")] {
        let runner = sandbox.runners().of(language, &sandbox).unwrap();
        let named = |what: &str| match language {
            Language::Python => format!("{what}, Python"),
            _ => what.to_owned(),
        };
        group.bench_function(named("sandbox"), |b| {
            b.to_async(&runtime).iter(|| async {
                let (clock, cancel) = (RunClock::default(), CancellationToken::new());
                let job = Job {
                    source,
                    door: Arc::clone(&door),
                    workspace: &workspace,
                    limits: &limits,
                    clock: &clock,
                    cancel: &cancel,
                    seed: None,
                };
                sandbox.run(&runner, job).await.unwrap()
            });
        });
        group.bench_function(named("host"), |b| b.to_async(&runtime).iter(|| run(&host, language, source)));
    }
    group.finish();
}

fn call(c: &mut Criterion) {
    let runtime = runtime();
    let host = host();
    let mut group = c.benchmark_group("call");
    group.sample_size(20).measurement_time(Duration::from_secs(10));
    // {"p":"..."} is 1,024 bytes of JSON.
    let small = "const p = { p: 'x'.repeat(1016) };";
    let letter = "const rows = await tools.bench.rows({}); \
                  const p = { to: rows[7].mail, body: rows.slice(40, 62).map((r) => `${r.name}: ${r.note}`).join('\\n').slice(0, KB) };";
    let (one, four) = (letter.replace("KB", "960"), letter.replace("KB", "4000"));
    for (name, prologue, tool) in [
        ("1 KB", small, "take"),
        ("1 KB, each giving 1 KB back", small, "echo"),
        ("1 KB after 1 MB of results", &one, "take"),
        ("4 KB after 1 MB of results", &four, "take"),
    ] {
        let script =
            |count: u32| format!("{prologue} for (let i = 0; i < {count}; i++) await tools.bench.{tool}(p);");
        let (with, without) = (script(CALLS), script(0));
        group.bench_function(name, |b| {
            b.iter_custom(|rounds| {
                // Runs on a worker, as in a server: what is in `block_on` itself is woken more slowly.
                let (host, with, without) = (host.clone(), with.clone(), without.clone());
                let total = runtime.spawn(async move {
                    let mut total = Duration::ZERO;
                    for _ in 0..rounds {
                        let began = Instant::now();
                        run(&host, Language::JavaScript, &without).await;
                        let empty = began.elapsed();
                        let began = Instant::now();
                        run(&host, Language::JavaScript, &with).await;
                        total += began.elapsed().saturating_sub(empty) / CALLS;
                    }
                    total
                });
                runtime.block_on(total).unwrap()
            });
        });
    }
    group.finish();
}

/// The gate's steps alone, as each call's own report has them; the first call, which prepares things, is left out.
fn gate(c: &mut Criterion) {
    let runtime = runtime();
    let host = host();
    let mut group = c.benchmark_group("gate");
    group.sample_size(20).measurement_time(Duration::from_secs(10));
    let script = format!(
        "const p = {{ p: 'x'.repeat(1016) }}; for (let i = 0; i < {CALLS}; i++) await tools.bench.take(p);"
    );
    group.bench_function("1 KB", |b| {
        b.iter_custom(|rounds| {
            let (host, script) = (host.clone(), script.clone());
            let total = runtime.spawn(async move {
                let mut total = Duration::ZERO;
                for _ in 0..rounds {
                    let report = run(&host, Language::JavaScript, &script).await;
                    let mut ms: Vec<f64> = report.calls.iter().skip(1).map(|call| call.ms).collect();
                    ms.sort_by(f64::total_cmp);
                    total += Duration::from_secs_f64(ms[ms.len() / 2] / 1e3);
                }
                total
            });
            runtime.block_on(total).unwrap()
        });
    });
    group.finish();
}

/// Whole processes: `postern run` of a script that calls no tool, with configuration, workspace and
/// record, and beside it an interpreter by itself where there is one.
fn process(c: &mut Criterion) {
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("postern.toml");
    std::fs::write(&config, "[limits]\nwall_time = \"10s\"\n").unwrap();
    let silent = |command: &mut Command| {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()
    };
    let mut group = c.benchmark_group("process");
    for (name, file, source) in
        [("postern run", "script.js", "return 1+1"), ("postern run, Python", "script.py", "1+1")]
    {
        let script = folder.path().join(file);
        std::fs::write(&script, source).unwrap();
        let run = || {
            let mut postern = Command::new(env!("CARGO_BIN_EXE_postern"));
            postern.arg("run").arg(&script).arg("--config").arg(&config);
            let ended = silent(postern.arg("--record-dir").arg(folder.path().join("records")));
            assert!(ended.unwrap().success());
        };
        // Compiled code is found in the cache, and has been there for a while.
        run();
        std::thread::sleep(Duration::from_secs(4));
        group.bench_function(name, |b| b.iter(run));
    }
    for (program, option) in [("node", "-e"), ("python3", "-c")] {
        if silent(Command::new(program).arg("--version")).is_ok_and(|status| status.success()) {
            let run = || silent(Command::new(program).args([option, "1"])).unwrap();
            group.bench_function(format!("{program} {option} 1"), |b| b.iter(run));
        }
    }
    group.finish();
}

criterion_group!(benches, process, start, call, gate);
criterion_main!(benches);
