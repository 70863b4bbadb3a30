//! `postern prepare`: what the first run would otherwise have to do.

use super::print::println;
use clap::Args;

use super::exit::Exit;
use crate::Result;
use crate::sandbox::{Runners, Sandbox};

#[derive(Debug, Args)]
pub(super) struct Options {}

pub(super) fn run(_: Options) -> Result<Exit> {
    let sandbox = Sandbox::new(Runners::find())?;
    let runner = sandbox.runners().javascript(&sandbox)?;
    let state = if runner.compiled_now { "is ready" } else { "was ready already" };
    println!("JavaScript runner {} {state}", &runner.digest[..12]);
    Ok(Exit::Done)
}
