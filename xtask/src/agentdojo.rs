//! AgentDojo through the gate: the steps that it needs, then `postern-agentdojo` with the caller's arguments and the
//! clone's own places.

use std::time::Instant;

use crate::commands;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::process;
use crate::step::{self, Ending};
use crate::test_deps::AGENTDOJO;

pub(crate) fn run(cx: &Context, args: &[String]) -> Result<()> {
    let (_, summary) = commands::setup(cx, false, &[])?;
    eprintln!("{summary}");
    let started = Instant::now();
    let rows = step::run(cx, &[&AGENTDOJO])?;
    eprintln!("{}", step::summary(&rows, started.elapsed()));
    if let Some(row) = rows.iter().find(|row| row.ending == Ending::LeftOut) {
        return Err(Failure::new(row.note.clone()));
    }
    let mut run = cx.run("postern-agentdojo")?;
    run.arg("--python").arg(AGENTDOJO.python(cx));
    run.arg("--server").arg(cx.root.join("tests/agentdojo/server.py"));
    process::show_running(run.args(args))
}
