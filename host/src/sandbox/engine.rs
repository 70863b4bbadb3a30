//! One wasmtime engine for a process: pooling, epoch interruption, and settings that keep compiled
//! code valid from one process to the next.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use wasmtime::{Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use super::Runners;
use super::linker::linker;
use crate::{Error, Result};

/// How often a running guest hands control back: the precision of every time limit.
const TICK: Duration = Duration::from_millis(5);

/// Native stack a guest may use. QuickJS's own check allows 512 KiB of shadow stack, to which
/// JSON.stringify needs up to 12 MiB of native stack; CPython's limit of recursion may need twice that.
/// Beyond this the guest traps. Only what is used takes memory.
const WASM_STACK: usize = 32 << 20;

/// Runs that may be live at once in one process.
const MAX_RUNS: u32 = 128;

/// The engine and what all runs share. Cheap to clone.
#[derive(Clone)]
pub struct Sandbox {
    pub(crate) engine: Engine,
    pub(crate) linker: Arc<wasmtime::component::Linker<super::run::Guest>>,
    pub(crate) slots: Arc<Semaphore>,
    runners: Arc<Runners>,
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox").field("runners", &self.runners).finish_non_exhaustive()
    }
}

impl Sandbox {
    /// Makes the engine and starts its ticker thread, which ends with the engine.
    ///
    /// # Errors
    /// If the platform cannot give what the engine needs.
    pub fn new(runners: Runners) -> Result<Self> {
        let failed = |e: wasmtime::Error| Error::Sandbox(format!("{e:#}"));
        // Where address space is scarce (a small `ulimit -v`) the pool cannot be reserved; runs then
        // allocate on demand, under the same limits.
        let engine = Engine::new(&config(true)).or_else(|_| Engine::new(&config(false))).map_err(failed)?;
        let linker = Arc::new(linker(&engine).map_err(failed)?);
        start_ticker(&engine)?;
        let slots = Arc::new(Semaphore::new(MAX_RUNS as usize));
        Ok(Self { engine, linker, slots, runners: Arc::new(runners) })
    }

    /// The language runtimes.
    pub fn runners(&self) -> &Runners {
        &self.runners
    }
}

fn config(pooling: bool) -> Config {
    let mut config = Config::new();
    config.epoch_interruption(true);
    config.max_wasm_stack(WASM_STACK);
    config.async_stack_size(WASM_STACK + (512 << 10));
    // Nothing here needs these; said outright, so that compiled code does not depend on which cargo
    // features some other crate of the build turns on.
    config.gc_support(false);
    config.concurrency_support(false);
    // Both are set for both allocators: compiled code depends on them.
    config.memory_reservation(4 << 30);
    config.memory_guard_size(32 << 20);
    if pooling {
        let mut pool = PoolingAllocationConfig::new();
        pool.total_component_instances(MAX_RUNS)
            .total_core_instances(MAX_RUNS * 32)
            .total_memories(MAX_RUNS)
            .total_tables(MAX_RUNS * 8)
            .total_stacks(MAX_RUNS)
            .max_memory_size(4 << 30)
            .table_elements(20_000)
            // What a trivial script touches stays mapped, so that the next one takes no page faults.
            .linear_memory_keep_resident(2 << 20)
            .table_keep_resident(64 << 10)
            .async_stack_keep_resident(64 << 10)
            .pagemap_scan(wasmtime::Enabled::Auto);
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    }
    config
}

fn start_ticker(engine: &Engine) -> Result<()> {
    let engine = engine.weak();
    let tick = move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            std::thread::sleep(TICK);
        }
    };
    let spawned = std::thread::Builder::new().name("postern-epoch".into()).spawn(tick);
    spawned.map(drop).map_err(|e| Error::Sandbox(format!("no thread for the epoch ticker: {e}")))
}
