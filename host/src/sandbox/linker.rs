//! What a guest can import: WASI without sockets or http, and the contract.
//!
//! CPython cannot be linked without the functions of wasi:sockets. For it alone they are here, and every
//! one of them answers that access is denied: no code that could open a socket is behind them.

use wasmtime::component::types::ComponentItem;
use wasmtime::component::{
    Component, HasSelf, Linker, LinkerInstance, Resource, ResourceAny, ResourceType, Type, Val,
};
use wasmtime::{Engine, StoreContextMut};
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

/// Packages of interfaces that a script has no use for.
const NETWORK: [&str; 2] = ["wasi:sockets/", "wasi:http/"];

/// Stands for a socket, an address resolver and whatever else can be made of a network: it is never made.
struct Nothing;

/// The same linker with the network interfaces that `component` imports, all of whose functions fail.
pub(crate) fn without_network(
    linker: &Linker<Guest>,
    engine: &Engine,
    component: &Component,
) -> wasmtime::Result<Linker<Guest>> {
    let mut linker = linker.clone();
    for (interface, item) in component.component_type().imports(engine) {
        let ComponentItem::ComponentInstance(contents) = item.ty else { continue };
        if !NETWORK.iter().any(|package| interface.starts_with(package)) {
            continue;
        }
        let mut instance = linker.instance(interface)?;
        for (name, item) in contents.exports(engine) {
            match item.ty {
                // What it uses of wasi:io is that package's to define.
                ComponentItem::Resource(_)
                    if !["pollable", "input-stream", "output-stream", "error"].contains(&name) =>
                {
                    instance.resource(name, ResourceType::host::<Nothing>(), |_, _| Ok(()))?;
                }
                ComponentItem::ComponentFunc(_) => deny(&mut instance, interface, name)?,
                _ => {}
            }
        }
    }
    Ok(linker)
}

/// Defines a function that answers `access-denied`, or traps where its type leaves no way to say so.
fn deny(instance: &mut LinkerInstance<'_, Guest>, interface: &str, name: &str) -> wasmtime::Result<()> {
    let full = format!("{interface}#{name}");
    instance.func_new_async(
        name,
        move |mut store: StoreContextMut<'_, Guest>, signature, arguments, results| {
            let full = full.clone();
            Box::new(async move {
                // What a guest lends must be given back, also by who does not look at it.
                for argument in arguments {
                    if let Val::Resource(resource) = argument {
                        resource.resource_drop_async(&mut store).await?;
                    }
                }
                let answer = match signature.results().next() {
                    Some(Type::Result(result)) => match result.err() {
                        Some(Type::Enum(_)) => {
                            Val::Result(Err(Some(Box::new(Val::Enum("access-denied".into())))))
                        }
                        _ => wasmtime::bail!("{full}: there is no network"),
                    },
                    // A handle of the network itself, which is asked for before anything can be refused.
                    Some(Type::Own(_)) => {
                        let nothing = Resource::<Nothing>::new_own(0);
                        Val::Resource(ResourceAny::try_from_resource(nothing, &mut store)?)
                    }
                    _ => wasmtime::bail!("{full}: there is no network"),
                };
                if let Some(result) = results.first_mut() {
                    *result = answer;
                }
                Ok(())
            })
        },
    )
}
