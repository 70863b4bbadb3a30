//! The `postern` command: one file per subcommand. What a command prints and how it ends are decided
//! here; what it does is the library's business.

mod approvals;
mod artifacts;
mod check;
mod doctor;
mod exit;
mod explain;
mod options;
mod packages;
mod policy;
mod prepare;
mod print;
mod profiles;
mod prompt;
mod record;
mod run;
mod show;
mod tools;
mod types;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::Error;
use exit::Exit;

/// Runs model-written code in WebAssembly and guards every tool call it makes.
#[derive(Debug, Parser)]
#[command(name = "postern", version, after_help = exit::TABLE, max_term_width = 100)]
struct Command {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    /// Run a script; every tool call it makes passes the gate.
    Run(Box<run::Options>),
    /// Ask the guard about one tool call, without making it.
    Check(check::Options),
    /// What decides about calls: check a policy, try it on a call, print it.
    Policy(policy::Options),
    /// Which classes of job there are and what each may do.
    Profiles(profiles::Options),
    /// Packages for Python scripts: fetch those that profiles name, list them, look at a wheel.
    Packages(packages::Options),
    /// What tools the configured servers have.
    Tools(tools::Options),
    /// Print the system prompt that teaches a model to write scripts for this host.
    Prompt(prompt::Options),
    /// What earlier runs did.
    Record(record::Options),
    /// Calls that wait for a person: list them, look at one, approve it, deny it.
    Approvals(approvals::Options),
    /// What runs proposed in /out: list it, look at it, copy it out.
    Artifacts(artifacts::Options),
    /// What is set up, which device the guard uses, which servers answer.
    Doctor(doctor::Options),
    /// Compile the language runtimes into the cache, so that the first run does not have to.
    Prepare(prepare::Options),
}

/// Reads the command line and carries it out.
pub fn main() -> ExitCode {
    let command = Command::parse();
    start_log();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(source) => {
            let error = Error::Sandbox(format!("no threads to run on: {source}"));
            return show::error(&error, false).into();
        }
    };
    let json = command.wants_json();
    let ended = runtime.block_on(async {
        // On a worker: in `block_on` itself a computing script would hold up everything else.
        match tokio::spawn(command.carry_out()).await {
            Ok(ended) => ended,
            Err(e) => Err(Error::Sandbox(format!("a bug in postern: {e}"))),
        }
    });
    // A thread that waits for an answer in the terminal must not hold up the end.
    runtime.shutdown_background();
    ended.unwrap_or_else(|error| show::error(&error, json)).into()
}

impl Command {
    fn wants_json(&self) -> bool {
        match &self.command {
            Subcommands::Run(options) => options.json,
            Subcommands::Check(options) => options.wants_json(),
            Subcommands::Policy(options) => options.json,
            Subcommands::Profiles(options) => options.json,
            Subcommands::Packages(options) => options.json,
            Subcommands::Tools(options) => options.json,
            Subcommands::Prompt(options) => options.json,
            Subcommands::Record(options) => options.json,
            Subcommands::Approvals(options) => options.json,
            Subcommands::Artifacts(options) => options.json,
            Subcommands::Doctor(options) => options.json,
            Subcommands::Prepare(_) => false,
        }
    }

    async fn carry_out(self) -> crate::Result<Exit> {
        match self.command {
            Subcommands::Run(options) => run::run(*options).await,
            Subcommands::Check(options) => check::run(options).await,
            Subcommands::Policy(options) => policy::run(options).await,
            Subcommands::Profiles(options) => profiles::run(options),
            Subcommands::Packages(options) => packages::run(options).await,
            Subcommands::Tools(options) => tools::run(options).await,
            Subcommands::Prompt(options) => prompt::run(options),
            Subcommands::Record(options) => record::run(options),
            Subcommands::Approvals(options) => approvals::run(options),
            Subcommands::Artifacts(options) => artifacts::run(options),
            Subcommands::Doctor(options) => doctor::run(options).await,
            Subcommands::Prepare(options) => prepare::run(options),
        }
    }
}

/// Warnings go to standard error; `RUST_LOG` shows more. What rmcp says is left out unless it is asked
/// for by name: it repeats texts of servers, and addresses that may hold keys.
fn start_log() {
    use tracing_subscriber::filter::{LevelFilter, Targets};
    use tracing_subscriber::prelude::*;
    let asked = std::env::var("RUST_LOG").ok();
    let mut filter: Targets = match asked.as_deref().map(str::parse) {
        Some(Ok(filter)) => filter,
        _ => Targets::new().with_default(LevelFilter::WARN),
    };
    if !asked.is_some_and(|asked| asked.contains("rmcp")) {
        filter = filter.with_target("rmcp", LevelFilter::OFF);
    }
    let format =
        tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_target(false).without_time();
    tracing_subscriber::registry().with(format.with_filter(filter)).init();
}
