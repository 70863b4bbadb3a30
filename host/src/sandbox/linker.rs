//! What a guest can import: WASI without sockets or http, and the contract.

use wasmtime::Engine;
use wasmtime::component::{HasSelf, Linker};
use wasmtime_wasi::WasiView;
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::p2::bindings::{cli, filesystem, random};
use wasmtime_wasi::random::WasiRandom;

use super::bindings::postern::sandbox::{catalog, tools};
use super::files::GuestFiles;
use super::run::Guest;

pub(crate) fn linker(engine: &Engine) -> wasmtime::Result<Linker<Guest>> {
    let mut linker = Linker::<Guest>::new(engine);
    let l = &mut linker;
    // io, clocks, random and the three standard streams
    wasmtime_wasi::p2::add_to_linker_proxy_interfaces_async(l)?;
    cli::environment::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::exit::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::terminal_input::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::terminal_output::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::terminal_stdin::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::terminal_stdout::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    cli::terminal_stderr::add_to_linker::<Guest, WasiCli>(l, Guest::cli)?;
    random::insecure::add_to_linker::<Guest, WasiRandom>(l, |g| g.ctx().ctx.random())?;
    random::insecure_seed::add_to_linker::<Guest, WasiRandom>(l, |g| g.ctx().ctx.random())?;
    filesystem::types::add_to_linker::<Guest, GuestFiles>(l, Guest::files)?;
    filesystem::preopens::add_to_linker::<Guest, GuestFiles>(l, Guest::files)?;
    tools::add_to_linker::<Guest, HasSelf<Guest>>(l, |g| g)?;
    catalog::add_to_linker::<Guest, HasSelf<Guest>>(l, |g| g)?;
    Ok(linker)
}
