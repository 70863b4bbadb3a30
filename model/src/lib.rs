//! Postern's guard: scores one tool call with a small encoder in libtorch.
//!
//! A check is rendered to token ids and features (`render`), goes through the encoder and its six heads
//! (`net`), and comes back as scores (`guard`). The `postern-guard` binary speaks the worker's
//! protocol (`worker`), trains (`train`) and measures (`eval`). What becomes of a call is not decided here: see
//! [`postern_check::judge`].

pub mod bench;
mod device;
mod error;
pub mod eval;
mod guard;
mod net;
pub mod render;
pub mod train;
mod trees;
mod weights;
pub mod worker;

pub use device::{Device, Precision};
pub use error::Error;
pub use guard::{Guard, MAX_BATCH};
pub use weights::default_folder;
