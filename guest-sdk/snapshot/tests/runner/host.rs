//! A small host for the JavaScript runner: the contract with a few tools in process, and folders of
//! its own for each run. Not Postern: what is tested here is the component.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinHandle;
use wasmtime::component::{Component, HasSelf, Linker, Resource, ResourceTable};
use wasmtime::{Config, Engine, Result, Store, StoreLimits, StoreLimitsBuilder};
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::filesystem::{WasiFilesystem, WasiFilesystemView};
use wasmtime_wasi::p2::bindings::{cli, filesystem, random};
use wasmtime_wasi::p2::pipe::MemoryOutputPipe;
use wasmtime_wasi::p2::{DynPollable, Pollable, subscribe};
use wasmtime_wasi::random::WasiRandom;
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

mod bindings {
    wasmtime::component::bindgen!({
        path: "../../wit",
        world: "runner",
        imports: { default: trappable },
        exports: { default: async },
        with: {
            // `pollable` must be wasmtime-wasi's own type: our calls and its timers sit in one list.
            "wasi": wasmtime_wasi::p2::bindings,
            "postern:sandbox/tools.pending": super::Pending,
        },
    });
}

use bindings::postern::sandbox::{catalog, tools};
pub(crate) use bindings::{Completion, ScriptError};
use tools::{ErrorCode, ToolError};

type Answer = Result<String, ToolError>;

/// A call in flight: a task that ends when the script drops it. `pub` for the bindings alone.
#[allow(unreachable_pub)]
pub struct Pending {
    task: JoinHandle<Answer>,
    answer: Option<Answer>,
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Pending {
    async fn ready(&mut self) {
        if self.answer.is_none() {
            let died = |e| Err(refuse(ErrorCode::Upstream, format!("the tool died: {e}")));
            self.answer = Some((&mut self.task).await.unwrap_or_else(died));
        }
    }
}

fn refuse(code: ErrorCode, message: impl Into<String>) -> ToolError {
    ToolError { code, message: message.into(), retryable: false, details: None }
}

struct State {
    wasi: WasiCtx,
    table: ResourceTable,
    limits: StoreLimits,
    seen: Arc<Seen>,
}

/// What a run did.
#[derive(Default)]
pub(crate) struct Seen {
    /// Tool names and arguments, in order.
    pub(crate) calls: Mutex<Vec<(String, String)>>,
    /// Calls that got their answer.
    pub(crate) finished: AtomicUsize,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl State {
    fn pending(
        &mut self,
        answer: impl Future<Output = Answer> + Send + 'static,
    ) -> Result<Resource<Pending>> {
        let seen = self.seen.clone();
        let task = tokio::spawn(async move {
            let answer = answer.await;
            seen.finished.fetch_add(1, Ordering::SeqCst);
            answer
        });
        Ok(self.table.push(Pending { task, answer: None })?)
    }
}

/// The tools: `test/echo`, `test/sleep {ms}`, `test/fail {code}`, `test/raw {text}` (answers that text as it is)
/// and `crm/list`.
async fn answer(name: String, arguments: String) -> Answer {
    let args: Value = match serde_json::from_str(&arguments) {
        Ok(args) => args,
        Err(error) => return Err(refuse(ErrorCode::InvalidArguments, error.to_string())),
    };
    match name.as_str() {
        "test/echo" => Ok(arguments),
        "test/sleep" => {
            tokio::time::sleep(Duration::from_millis(args["ms"].as_u64().unwrap_or(0))).await;
            Ok(arguments)
        }
        "test/fail" => Err(match args["code"].as_str() {
            Some("blocked") => refuse(ErrorCode::Blocked, "the guard refused this"),
            Some("not-granted") => refuse(ErrorCode::NotGranted, "not in the run's allowlist"),
            _ => ToolError {
                code: ErrorCode::Upstream,
                message: "the server said no".into(),
                retryable: true,
                details: Some(json!({"status": 503}).to_string()),
            },
        }),
        "test/raw" => Ok(args["text"].as_str().unwrap_or_default().into()),
        "crm/list" | "my-server/some.tool" => {
            Ok(json!([{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bob"}]).to_string())
        }
        _ => Err(refuse(ErrorCode::UnknownTool, format!("no upstream has a tool named {name}"))),
    }
}

impl tools::Host for State {
    fn call(&mut self, tool: String, arguments: String) -> Result<Resource<Pending>> {
        self.seen.calls.lock().unwrap().push((tool.clone(), arguments.clone()));
        self.pending(answer(tool, arguments))
    }
}

impl tools::HostPending for State {
    fn subscribe(&mut self, pending: Resource<Pending>) -> Result<Resource<DynPollable>> {
        subscribe(&mut self.table, pending)
    }

    fn finish(&mut self, pending: Resource<Pending>) -> Result<Answer> {
        let early = || Err(refuse(ErrorCode::Cancelled, "there is no answer"));
        Ok(self.table.get_mut(&pending)?.answer.take().unwrap_or_else(early))
    }

    fn drop(&mut self, pending: Resource<Pending>) -> Result<()> {
        self.table.delete(pending)?;
        Ok(())
    }
}

impl catalog::Host for State {
    fn search(&mut self, query: String, limit: u32) -> Result<Resource<Pending>> {
        self.pending(
            async move { Ok(json!([{"name": "crm/list", "query": query, "limit": limit}]).to_string()) },
        )
    }

    fn describe(&mut self, tool: String) -> Result<Resource<Pending>> {
        self.pending(async move { Ok(json!({"name": tool, "inputSchema": {"type": "object"}}).to_string()) })
    }
}

/// The engine and the runner in it: compiled once a process.
fn runner() -> &'static (Engine, bindings::RunnerPre<State>) {
    static RUNNER: OnceLock<(Engine, bindings::RunnerPre<State>)> = OnceLock::new();
    RUNNER.get_or_init(|| {
        let mut config = Config::new();
        config.epoch_interruption(true);
        config.max_wasm_stack(16 << 20);
        config.async_stack_size(17 << 20);
        let engine = Engine::new(&config).unwrap();
        let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.postern/runners/js.wasm"));
        let wasm = std::fs::read(&path).unwrap_or_else(|error| {
            panic!("{}: {error}. Run `cargo xtask setup`: it builds the runner", path.display())
        });
        let component = Component::new(&engine, wasm).unwrap();
        let linker = linker(&engine).unwrap();
        let pre = bindings::RunnerPre::new(linker.instantiate_pre(&component).unwrap()).unwrap();
        let ticking = engine.weak();
        std::thread::spawn(move || {
            while let Some(engine) = ticking.upgrade() {
                engine.increment_epoch();
                drop(engine);
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        (engine, pre)
    })
}

fn linker(engine: &Engine) -> Result<Linker<State>> {
    let mut linker = Linker::<State>::new(engine);
    wasmtime_wasi::p2::add_to_linker_proxy_interfaces_async(&mut linker)?;
    cli::environment::add_to_linker::<State, WasiCli>(&mut linker, State::cli)?;
    cli::exit::add_to_linker::<State, WasiCli>(&mut linker, State::cli)?;
    cli::terminal_input::add_to_linker::<State, WasiCli>(&mut linker, State::cli)?;
    cli::terminal_output::add_to_linker::<State, WasiCli>(&mut linker, State::cli)?;
    cli::terminal_stdin::add_to_linker::<State, WasiCli>(&mut linker, State::cli)?;
    cli::terminal_stdout::add_to_linker::<State, WasiCli>(&mut linker, State::cli)?;
    cli::terminal_stderr::add_to_linker::<State, WasiCli>(&mut linker, State::cli)?;
    random::insecure::add_to_linker::<State, WasiRandom>(&mut linker, |s| s.ctx().ctx.random())?;
    random::insecure_seed::add_to_linker::<State, WasiRandom>(&mut linker, |s| s.ctx().ctx.random())?;
    filesystem::types::add_to_linker::<State, WasiFilesystem>(&mut linker, State::filesystem)?;
    filesystem::preopens::add_to_linker::<State, WasiFilesystem>(&mut linker, State::filesystem)?;
    tools::add_to_linker::<State, HasSelf<State>>(&mut linker, |s| s)?;
    catalog::add_to_linker::<State, HasSelf<State>>(&mut linker, |s| s)?;
    Ok(linker)
}

/// How a run ended.
#[derive(Debug)]
#[allow(dead_code, reason = "shown when a test fails")]
pub(crate) enum End {
    Value(Completion),
    Error(ScriptError),
    Trap(wasmtime::Error),
    Timeout,
}

/// A run, ended.
pub(crate) struct Ran {
    pub(crate) end: End,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) seen: Arc<Seen>,
    /// Of the run alone, without compiling.
    pub(crate) took: Duration,
    pub(crate) out: PathBuf,
    _folders: tempfile::TempDir,
}

/// Runs a script for at most ten seconds in 64 MiB, with `hello.txt` under /input.
pub(crate) fn run(source: &str) -> Ran {
    run_for(source, Duration::from_secs(10))
}

/// The same with another limit.
pub(crate) fn run_for(source: &str, limit: Duration) -> Ran {
    let (engine, pre) = runner();
    let folders = tempfile::tempdir().unwrap();
    let mut wasi = WasiCtxBuilder::new();
    let stdout = MemoryOutputPipe::new(1 << 20);
    let stderr = MemoryOutputPipe::new(1 << 20);
    wasi.stdout(stdout.clone()).stderr(stderr.clone());
    for (name, perms) in
        [("input", FsPerms::ReadOnly), ("workspace", FsPerms::ReadWrite), ("out", FsPerms::ReadWrite)]
    {
        let folder = folders.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        if name == "input" {
            std::fs::write(folder.join("hello.txt"), "hello, grüße\n").unwrap();
        }
        wasi.preopened_dir(&folder, format!("/{name}"), perms).unwrap();
    }
    let seen = Arc::new(Seen::default());
    let state = State {
        wasi: wasi.build(),
        table: ResourceTable::new(),
        limits: StoreLimitsBuilder::new().memory_size(64 << 20).build(),
        seen: seen.clone(),
    };
    let mut store = Store::new(engine, state);
    store.limiter(|state| &mut state.limits);
    store.set_epoch_deadline(1);
    store.epoch_deadline_async_yield_and_update(1);

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let source = source.to_owned();
    let started = Instant::now();
    let end = runtime.block_on(async move {
        let job = async {
            let runner = pre.instantiate_async(&mut store).await?;
            runner.call_run_source(&mut store, &source).await
        };
        match tokio::time::timeout(limit, job).await {
            Err(_) => End::Timeout,
            Ok(Err(error)) => End::Trap(error),
            Ok(Ok(Err(error))) => End::Error(error),
            Ok(Ok(Ok(completion))) => End::Value(completion),
        }
    });
    let took = started.elapsed();
    let text = |pipe: MemoryOutputPipe| String::from_utf8(pipe.contents().to_vec()).unwrap();
    let out = folders.path().join("out");
    Ran { end, stdout: text(stdout), stderr: text(stderr), seen, took, out, _folders: folders }
}

/// The value and the warnings of a script that must succeed.
pub(crate) fn completion(source: &str) -> (Value, Vec<String>) {
    match run(source).end {
        End::Value(done) => (serde_json::from_str(&done.value).unwrap(), done.warnings),
        other => panic!("{source}\n{other:?}"),
    }
}

/// The value of a script that must succeed without a warning.
pub(crate) fn value(source: &str) -> Value {
    let (value, warnings) = completion(source);
    assert_eq!(warnings, Vec::<String>::new(), "{source}");
    value
}

/// The error of a script that must fail.
pub(crate) fn error(source: &str) -> ScriptError {
    match run(source).end {
        End::Error(error) => error,
        other => panic!("{source}\n{other:?}"),
    }
}

/// What a script prints to stdout.
pub(crate) fn printed(source: &str) -> String {
    let ran = run(source);
    assert!(matches!(ran.end, End::Value(_)), "{source}\n{:?}", ran.end);
    ran.stdout
}
