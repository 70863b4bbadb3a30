//! One run: an instance is made, the script is called under all limits, and what came of it is told.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use wasmtime::Store;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{Deterministic, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

use super::bindings::{Completion, ScriptError};
use super::files::{FilesView, Quotas};
use super::meter::{MemoryMeter, Metered};
use super::output::{Capture, Captured};
use super::{CompiledRunner, Door, LimitKind, Limits, RunClock, Sandbox, Workspace};
use crate::script::Language;
use crate::{Error, Result};

/// Bytes that one host call may copy out of the guest, beside the arguments of a tool call: room
/// for the longest file write or line of output.
const COPY_ROOM: u64 = 8 << 20;

/// The data of one store.
pub(crate) struct Guest {
    pub(crate) wasi: WasiCtx,
    pub(crate) table: ResourceTable,
    pub(crate) door: Arc<dyn Door>,
    /// Calls the guest holds, see `door`.
    pub(crate) held: usize,
    memory: MemoryMeter,
    quotas: Quotas,
}

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl Guest {
    pub(crate) fn files(&mut self) -> FilesView<'_> {
        FilesView { wasi: &mut self.wasi, table: &mut self.table, quotas: &mut self.quotas }
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// The script finished; its value as JSON text.
    Value(String),
    /// The script failed.
    Failed(ScriptFailure),
    /// A limit was reached.
    Limit(LimitKind),
    /// It was given up from outside.
    Cancelled,
}

/// An error that the script did not catch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScriptFailure {
    /// The error's class, such as `TypeError`.
    pub name: String,
    /// What it says.
    pub message: String,
    /// 1-based, in the text that was run.
    pub line: Option<u32>,
    /// 1-based, in the text that was run.
    pub column: Option<u32>,
    /// As the language prints it.
    pub stack: String,
    /// JSON text of the failed call's error, when that is what ended the script.
    pub tool_error: Option<String>,
}

/// What a run used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Wall time, without waiting for people.
    pub wall: Duration,
    /// Computing time of the script.
    pub cpu: Duration,
    /// The most linear memory at once, in bytes.
    pub memory_bytes: u64,
}

/// All that the sandbox knows of a finished run.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it ended.
    pub ending: Ending,
    /// What the author should know although the run may have succeeded.
    pub warnings: Vec<String>,
    /// Standard output.
    pub stdout: Captured,
    /// Standard error.
    pub stderr: Captured,
    /// What it used.
    pub usage: Usage,
}

impl Finished {
    /// What is known of a run of which nothing is known.
    pub(crate) fn nothing() -> Self {
        Self {
            ending: Ending::Value("null".into()),
            warnings: Vec::new(),
            stdout: Captured::default(),
            stderr: Captured::default(),
            usage: Usage::default(),
        }
    }
}

/// What one run works with.
pub struct Job<'a> {
    /// The script, in the form that `script::prepare` gives.
    pub source: &'a str,
    /// Where its calls go.
    pub door: Arc<dyn Door>,
    /// Its folders.
    pub workspace: &'a Workspace,
    /// Its limits.
    pub limits: &'a Limits,
    /// Its wall clock; started when user code starts.
    pub clock: &'a RunClock,
    /// Ends the run; what the script had written until then is kept.
    pub cancel: &'a CancellationToken,
    /// Makes the script's random numbers the same in each run with this seed; without it they are random.
    pub seed: Option<u64>,
}

impl Sandbox {
    /// Does a job on a runner. Dropping the future ends the run and gives up its calls.
    ///
    /// # Errors
    /// If the sandbox itself fails. Whatever the script does is an [`Ending`].
    pub async fn run(&self, runner: &CompiledRunner, job: Job<'_>) -> Result<Finished> {
        let Job { source, door, workspace, limits, clock, cancel, seed } = job;
        let _slot = Arc::clone(&self.slots)
            .acquire_owned()
            .await
            .map_err(|_| Error::Sandbox("the sandbox is shutting down".into()))?;
        let (stdout, stderr) = (Capture::new(limits.stdout_bytes), Capture::new(limits.stderr_bytes));
        let mut store = self.store(door, workspace, limits, &stdout, &stderr, seed)?;
        let failed = |e: wasmtime::Error| Error::Sandbox(format!("cannot start the runner: {e:#}"));
        let instance = match runner.pre.instantiate_async(&mut store).await {
            Ok(instance) => instance,
            // The limit is below what the runtime has to begin with.
            Err(_) if store.data().memory.refused() => {
                return Ok(Finished { ending: Ending::Limit(LimitKind::Memory), ..Finished::nothing() });
            }
            Err(error) => return Err(failed(error)),
        };

        // Set-up is over: from here on it is the user's time.
        clock.start();
        let mut call = Box::pin(instance.call_run_source(&mut store, source));
        let mut metered = Metered { future: call.as_mut(), used: Duration::ZERO, limit: limits.cpu_time };
        let end = tokio::select! {
            biased;
            end = &mut metered => end.map_or(End::Limit(LimitKind::CpuTime), End::Returned),
            () = clock.reaches(limits.wall_time) => End::Limit(LimitKind::WallTime),
            () = cancel.cancelled() => End::Cancelled,
        };
        let cpu = metered.used;
        drop(call);

        let guest = store.data();
        let usage = Usage { wall: clock.elapsed(), cpu, memory_bytes: guest.memory.peak() };
        let (ending, warnings) = ending(end, runner.language, guest, workspace);
        Ok(Finished { ending, warnings, stdout: stdout.captured(), stderr: stderr.captured(), usage })
    }

    fn store(
        &self,
        door: Arc<dyn Door>,
        workspace: &Workspace,
        limits: &Limits,
        stdout: &Capture,
        stderr: &Capture,
        seed: Option<u64>,
    ) -> Result<Store<Guest>> {
        let mut wasi = WasiCtxBuilder::new();
        if let Some(seed) = seed {
            wasi.secure_random(seeded("secure", seed)).insecure_random(seeded("insecure", seed));
            wasi.insecure_random_seed(u128::from(seed));
        }
        wasi.stdout(stdout.clone()).stderr(stderr.clone());
        wasi.allow_tcp(false).allow_udp(false).allow_ip_name_lookup(false);
        workspace.mount(&mut wasi)?;
        let guest = Guest {
            wasi: wasi.build(),
            table: ResourceTable::new(),
            door,
            held: 0,
            memory: MemoryMeter::new(limits.memory),
            quotas: Quotas::new(workspace),
        };
        let mut store = Store::new(&self.engine, guest);
        store.limiter(|guest| &mut guest.memory);
        let copy = limits.max_argument_bytes + COPY_ROOM;
        store.set_hostcall_fuel(usize::try_from(copy).unwrap_or(usize::MAX));
        // At each tick the guest yields: other runs get their turn, and time limits are looked at.
        store.set_epoch_deadline(1);
        store.epoch_deadline_async_yield_and_update(1);
        Ok(store)
    }
}

/// Random bytes that follow from a seed. So many, and a prime number of them, that what a script draws (16
/// bytes for a UUID) begins to repeat only after a million draws.
fn seeded(what: &str, seed: u64) -> Deterministic {
    const BYTES: usize = 1_048_573;
    let mut bytes = vec![0; BYTES];
    let mut hash = blake3::Hasher::new();
    hash.update(what.as_bytes()).update(&seed.to_le_bytes());
    hash.finalize_xof().fill(&mut bytes);
    Deterministic::new(bytes)
}

enum End {
    Returned(wasmtime::Result<Result<Completion, ScriptError>>),
    Limit(LimitKind),
    Cancelled,
}

fn ending(end: End, language: Language, guest: &Guest, workspace: &Workspace) -> (Ending, Vec<String>) {
    // A limit that only refuses (memory, files) shows as an error in the script.
    let refused_something = || {
        if guest.memory.refused() {
            Some(LimitKind::Memory)
        } else if workspace.workspace_quota.exceeded() {
            Some(LimitKind::Workspace)
        } else if workspace.out_quota.exceeded() {
            Some(LimitKind::Artifacts)
        } else {
            None
        }
    };
    match end {
        End::Limit(kind) => (Ending::Limit(kind), Vec::new()),
        End::Cancelled => (Ending::Cancelled, Vec::new()),
        End::Returned(Ok(Ok(completion))) => (Ending::Value(completion.value), completion.warnings),
        End::Returned(Ok(Err(error))) => {
            let warnings = error.warnings;
            let failure = ScriptFailure {
                name: error.name,
                message: error.message,
                line: error.line,
                column: error.column,
                stack: error.stack,
                tool_error: error.tool_error,
            };
            match refused_something() {
                Some(kind) if caused_by(kind, &failure) => (Ending::Limit(kind), warnings),
                _ => (Ending::Failed(failure), warnings),
            }
        }
        End::Returned(Err(trap)) => match (trap.downcast_ref::<wasmtime::Trap>(), refused_something()) {
            (_, Some(LimitKind::Memory)) => (Ending::Limit(LimitKind::Memory), Vec::new()),
            (Some(wasmtime::Trap::StackOverflow), _) => {
                (Ending::Failed(stack_overflow(language)), Vec::new())
            }
            _ => {
                let message = format!("the language runtime failed: {}", trap.root_cause());
                let failure = ScriptFailure { name: "RuntimeError".into(), message, ..Default::default() };
                (Ending::Failed(failure), Vec::new())
            }
        },
    }
}

/// Whether the script's error is what a refusal of this kind looks like from inside, so that a
/// script that caught the refusal and failed later of something else is not misreported.
fn caused_by(kind: LimitKind, failure: &ScriptFailure) -> bool {
    match kind {
        // Where not even an error object can be made, QuickJS throws null.
        LimitKind::Memory => {
            failure.message.contains("out of memory")
                || (failure.name == "Thrown" && failure.message.starts_with("null"))
                || failure.name == "MemoryError"
        }
        _ => failure.message.contains("ENOSPC") || failure.message.to_lowercase().contains("no space"),
    }
}

fn stack_overflow(language: Language) -> ScriptFailure {
    let name = match language {
        Language::Python => "RecursionError",
        Language::JavaScript | Language::TypeScript => "RangeError",
    };
    let message = "the call stack overflowed".into();
    ScriptFailure { name: name.into(), message, ..Default::default() }
}
