//! Postern's JavaScript runner: QuickJS behind one export, `run-source`, and one door out,
//! `postern:sandbox/tools`.
//!
//! - `engine` makes the QuickJS context and what a script sees in it (`prelude/*.js`)
//! - `run` takes one script from text to its value or its error
//! - `events` waits for tool calls and timers
//! - `frames` turns QuickJS stacks into the script's own
//! - `files`, `web` are the functions behind `fs`, `URL`, `TextDecoder` and the like
//!
//! The component is pre-initialised: `preinit` runs once when it is built, and every run starts from
//! a copy of the memory it left. So nothing in `engine` or the prelude may keep a handle of the host,
//! draw a random number or read a clock before a run has begun. Rust keeps ids and handles; promises,
//! callbacks and error objects live on the JavaScript side, and no QuickJS value outlives a run.

mod engine;
mod events;
mod files;
mod frames;
mod run;
mod web;

/// Bindings of the contract and of the two WASI interfaces that std does not offer.
mod bindings {
    #![allow(unsafe_code, reason = "generated")]
    wit_bindgen::generate!({
        path: ["../../wit", "wit/clocks.wit", "wit/random.wit"],
        inline: "
            package postern:js-runner;
            world js-runner {
                include postern:sandbox/runner@0.1.0;
                import wasi:clocks/monotonic-clock@0.2.12;
                import wasi:random/random@0.2.12;
                export preinit: func();
            }
        ",
        generate_all,
    });

    export!(Runner);

    /// What the component exports.
    struct Runner;

    impl Guest for Runner {
        fn preinit() {
            crate::engine::prepare();
        }

        fn run_source(source: String) -> Result<Completion, ScriptError> {
            crate::run::run(&source)
        }
    }
}
