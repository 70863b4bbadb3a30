//! Postern runs code that a model wrote as a WebAssembly component with no network and no
//! credentials, and checks every tool call it makes before the call reaches the server that owns
//! the tool.

pub mod approval;
mod canonical;
pub mod cli;
mod conclude;
pub mod config;
pub mod constraints;
mod error;
pub mod facts;
mod folders;
pub mod gate;
mod grants;
pub mod guard;
mod host;
pub mod ledger;
pub mod packages;
pub mod pins;
pub mod policy;
pub mod prompt;
pub mod record;
mod report;
pub mod sandbox;
pub mod scan;
pub mod script;
mod search;
mod secret_file;
pub mod secrets;
pub mod stubs;
mod tool_error;
pub mod upstream;
mod visible;

pub use config::Config;
pub use error::{Error, Result};
pub use host::{Host, HostBuilder, Script};
pub use report::{CallReport, Outcome, Report, RunError, UsageReport};
pub use tool_error::{ToolError, ToolErrorCode};
