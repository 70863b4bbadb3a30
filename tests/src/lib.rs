//! What the end-to-end tests share: starting the real `postern` against real servers and reading
//! what came of it.
//!
//! Nothing in here pretends to be a part of Postern. A test that needs an answer from a tool starts
//! a server; a test that needs a verdict asks the guard.
//!
//! ```no_run
//! use postern_tests::{Postern, Server};
//!
//! let mut postern = Postern::new();
//! postern.permissive_guard().server("t", Server::test());
//! let run = postern.run_js("return await tools.t.echo({ n: 1 });");
//! assert_eq!(run.ok()["n"], 1);
//! ```

#![allow(clippy::unwrap_used)] // a test that cannot set its scene has to stop

mod binaries;
pub mod compilers;
mod index;
pub mod interpreters;
mod png;
mod postern;
mod process;
mod run;
mod server;
pub mod stage;
pub mod words;

pub use binaries::{binary, real_server, test_wheel, workspace_root};
pub use index::PackageIndex;
pub use png::png;
pub use postern::Postern;
pub use process::{Finished, timely, worker_of};
pub use run::Run;
pub use server::{HttpServer, Server, ServerLog};

/// The SHA-256 of `bytes` in lower-case hex, as `--json` writes it.
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
