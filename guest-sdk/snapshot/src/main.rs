//! `postern-snapshot IN.wasm OUT.wasm`: runs a runner component's `preinit` export once and writes a
//! component that starts with the memory it left behind. The same input gives the same output, byte
//! for byte: clocks stand still and random numbers are fixed while it runs. What a run must not share
//! with the snapshot (seeds, time origins) is the runner's business.
//!
//! The linker is this program's own, not the host's: `preinit` may compute, and that is all. Nothing
//! of the host can be in a snapshot.

mod linker;

use std::path::Path;
use std::process::ExitCode;

use wasmtime::{Config, Engine, Result, Store, error::Context};
use wasmtime_wizer::Wizer;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let [input, output] = &arguments[..] else {
        eprintln!("usage: postern-snapshot IN.wasm OUT.wasm");
        return ExitCode::from(2);
    };
    match write(Path::new(input), Path::new(output)) {
        Ok((before, after)) => {
            println!("{}: {before} bytes, pre-initialised {after}", Path::new(output).display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("postern-snapshot: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Reads one component and writes the other, whole or not at all; gives both sizes.
fn write(input: &Path, output: &Path) -> Result<(usize, usize)> {
    let component = std::fs::read(input).with_context(|| format!("cannot read {}", input.display()))?;
    let ready = snapshot(&component).with_context(|| format!("cannot pre-initialise {}", input.display()))?;
    let part = output.with_extension("part");
    std::fs::write(&part, &ready)
        .and_then(|()| std::fs::rename(&part, output))
        .with_context(|| format!("cannot write {}", output.display()))?;
    Ok((component.len(), ready.len()))
}

/// The component as it is after `preinit`.
fn snapshot(component: &[u8]) -> Result<Vec<u8>> {
    let mut config = Config::new();
    // QuickJS needs little of it here; the default of 512 KiB is for smaller programs.
    config.max_wasm_stack(4 << 20);
    config.async_stack_size(5 << 20);
    let engine = Engine::new(&config)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut store = Store::new(&engine, linker::Room::new());
        let mut wizer = Wizer::new();
        // Without keep_init_func a component breaks (48.0.8): the core export goes, and the component
        // still lifts it.
        wizer.init_func("preinit").keep_init_func(true);
        let (ready, _) = wizer
            .run_component(&mut store, component, async |store, component| {
                linker::closed(store.engine(), component)?.instantiate_async(store, component).await
            })
            .await?;
        Ok(ready)
    })
}
