//! What a script may rely on in the JavaScript runner, asked of the real component
//! (`cargo xtask setup` builds it into .postern/runners).
#![allow(clippy::unwrap_used)]

mod calls;
mod dialects;
mod errors;
mod files;
mod globals;
mod host;
mod limits;
mod values;
