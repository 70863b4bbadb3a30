//! Host bindings of the contract in wit/.

#![allow(missing_docs, unreachable_pub, clippy::all, reason = "generated code")]

wasmtime::component::bindgen!({
    path: "../wit",
    world: "runner",
    imports: { default: trappable },
    exports: { default: async },
    with: {
        // The pollable must be wasmtime-wasi's own type, so that pending calls and WASI's timers
        // can sit in one `poll` list.
        "wasi": wasmtime_wasi::p2::bindings,
        "postern:sandbox/tools.pending": super::door::Pending,
    },
});
