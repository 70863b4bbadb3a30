//! Where a script runs: one wasmtime component instance with no network, no environment and no
//! credentials, and with a limit on everything.
//!
//! What must never come in here: a decision about a tool call. The one import that leads out is the
//! [`Door`], and what stands behind it is the gate's business.

/// The version of the WebAssembly runtime.
pub const WASMTIME_VERSION: &str = "48.0.8";

mod bindings;
mod clock;
mod digests;
mod door;
mod engine;
mod files;
mod limits;
mod linker;
mod meter;
mod output;
mod run;
mod runners;
mod workspace;

pub use clock::RunClock;
pub use door::{Answer, Door, Reply};
pub use engine::Sandbox;
pub use limits::{LimitKind, Limits};
pub use output::Captured;
pub use run::{Ending, Finished, Job, ScriptFailure, Usage};
pub use runners::cache_dir;
pub use runners::{CompiledRunner, Runners};
pub(crate) use workspace::hex;
pub use workspace::{ArtifactFile, ArtifactWriter, Input, Workspace};
