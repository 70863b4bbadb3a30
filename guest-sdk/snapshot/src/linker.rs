//! What a component may call while it is pre-initialised: WASI without sockets and without anything
//! behind it. Every other import is closed, that is, calling it ends the pre-initialisation.

use std::time::Duration;

use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Linker, ResourceTable, ResourceType};
use wasmtime::{Engine, Result};
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::filesystem::{WasiFilesystem, WasiFilesystemView};
use wasmtime_wasi::p2::DynPollable;
use wasmtime_wasi::p2::bindings::{cli, filesystem, random};
use wasmtime_wasi::random::WasiRandom;
use wasmtime_wasi::{HostMonotonicClock, HostWallClock, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

/// The store's data: a WASI context that holds nothing.
pub(crate) struct Room {
    wasi: WasiCtx,
    table: ResourceTable,
}

impl Room {
    pub(crate) fn new() -> Self {
        let mut wasi = WasiCtxBuilder::new();
        // Time and seeds end up in the snapshot: fixed, so that the same component gives the same bytes.
        wasi.wall_clock(Still).monotonic_clock(Still).insecure_random_seed(1);
        // A runner that cannot start says why, and is no snapshot then.
        wasi.inherit_stderr();
        wasi.allow_tcp(false).allow_udp(false).allow_ip_name_lookup(false);
        Self { wasi: wasi.build(), table: ResourceTable::new() }
    }
}

impl WasiView for Room {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

/// Clocks that stand still.
struct Still;

impl HostWallClock for Still {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(1)
    }
    fn now(&self) -> Duration {
        Duration::from_secs(1_700_000_000)
    }
}

impl HostMonotonicClock for Still {
    fn resolution(&self) -> u64 {
        1
    }
    fn now(&self) -> u64 {
        0
    }
}

/// Stands for every resource of a closed import.
struct Nothing;

/// A linker for `component`.
pub(crate) fn closed(engine: &Engine, component: &Component) -> Result<Linker<Room>> {
    let mut linker = Linker::<Room>::new(engine);
    wasmtime_wasi::p2::add_to_linker_proxy_interfaces_async(&mut linker)?;
    cli::environment::add_to_linker::<Room, WasiCli>(&mut linker, Room::cli)?;
    cli::exit::add_to_linker::<Room, WasiCli>(&mut linker, Room::cli)?;
    cli::terminal_input::add_to_linker::<Room, WasiCli>(&mut linker, Room::cli)?;
    cli::terminal_output::add_to_linker::<Room, WasiCli>(&mut linker, Room::cli)?;
    cli::terminal_stdin::add_to_linker::<Room, WasiCli>(&mut linker, Room::cli)?;
    cli::terminal_stdout::add_to_linker::<Room, WasiCli>(&mut linker, Room::cli)?;
    cli::terminal_stderr::add_to_linker::<Room, WasiCli>(&mut linker, Room::cli)?;
    random::insecure::add_to_linker::<Room, WasiRandom>(&mut linker, |room| room.ctx().ctx.random())?;
    random::insecure_seed::add_to_linker::<Room, WasiRandom>(&mut linker, |room| room.ctx().ctx.random())?;
    filesystem::types::add_to_linker::<Room, WasiFilesystem>(&mut linker, Room::filesystem)?;
    filesystem::preopens::add_to_linker::<Room, WasiFilesystem>(&mut linker, Room::filesystem)?;

    let engine = engine.clone();
    for (name, item) in component.component_type().imports(&engine) {
        let ComponentItem::ComponentInstance(interface) = item.ty else { continue };
        // A name of WASI is either above or, like sockets, not there at all: then linking fails.
        if name.starts_with("wasi:") {
            continue;
        }
        let mut closed = linker.instance(name)?;
        for (function, item) in interface.exports(&engine) {
            match item.ty {
                ComponentItem::ComponentFunc(_) => {
                    let whole = format!("{name} {function}");
                    closed.func_new(function, move |_, _, _, _| {
                        Err(wasmtime::Error::msg(format!("{whole} was called while pre-initialising")))
                    })?;
                }
                // The one resource that the contract takes from WASI: it must be WASI's own here too.
                ComponentItem::Resource(_) if function == "pollable" => {
                    closed.resource(function, ResourceType::host::<DynPollable>(), |_, _| Ok(()))?;
                }
                ComponentItem::Resource(_) => {
                    closed.resource(function, ResourceType::host::<Nothing>(), |_, _| Ok(()))?;
                }
                _ => {}
            }
        }
    }
    Ok(linker)
}
