//! `postern prepare`: what the first run would otherwise have to do.

use super::print::println;
use clap::Args;

use super::exit::Exit;
use crate::Result;
use crate::sandbox::{Runners, Sandbox};
use crate::script::Language;

#[derive(Debug, Args)]
pub(super) struct Options {}

pub(super) fn run(_: Options) -> Result<Exit> {
    let sandbox = Sandbox::new(Runners::find())?;
    for language in [Language::JavaScript, Language::Python] {
        let runner = sandbox.runners().of(language, &sandbox)?;
        let state = if runner.compiled_now { "is ready" } else { "was ready already" };
        println!("{} runner {} {state}", language.name(), &runner.digest[..12]);
    }
    Ok(Exit::Done)
}
