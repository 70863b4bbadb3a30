//! `cargo xtask`: from a fresh clone to a running demo, the tests, and the chores around them.
//!
//! This file holds the command line and the exit status, and nothing else. Set-up is a list of steps
//! (step.rs); what each one makes is in the file of its name.

mod agentdojo;
mod binaries;
mod commands;
mod context;
mod debian;
mod encoder;
mod failure;
mod fetch;
mod guard;
mod libtorch;
mod process;
mod progress;
mod python;
mod runner;
mod sources;
mod stamp;
mod step;
mod test_deps;
mod unpacked;
mod wasm;

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::context::Context;
use crate::failure::Result;

#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about = "Set-up, demo, tests and other chores")]
struct Cli {
    #[command(flatten)]
    how: How,
    #[command(subcommand)]
    command: Task,
}

#[derive(Args)]
struct How {
    /// Take libtorch with CUDA even where no NVIDIA driver is found
    #[arg(long, global = true)]
    cuda: bool,
    /// Read every file of set-up again instead of trusting unchanged times
    #[arg(long, global = true)]
    verify: bool,
}

#[derive(Subcommand)]
enum Task {
    /// Fetch and build what Postern needs; does only what is missing or wrong
    Setup {
        /// Also the MCP servers that tests start
        #[arg(long)]
        test_deps: bool,
        /// Only this step, by its id (the name of its log in .postern/logs); repeatable
        #[arg(long, value_name = "STEP")]
        only: Vec<String>,
    },
    /// Set-up, then a generated script at work: what it may do, and what is blocked
    Demo {
        /// The language of the script
        #[arg(long, value_enum, default_value_t = commands::DemoScript::Ts)]
        lang: commands::DemoScript,
    },
    /// Set-up, then format, clippy, every test, and deny.toml where cargo-deny is at hand
    Test,
    /// The tools that only CI insists on (cargo-deny), into the cache
    Ci,
    /// Set-up, then the benchmarks; arguments go to `cargo bench`
    Bench {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Fetch the base encoder (and data where no --data is given), then `postern-guard train` with these
    /// arguments; --smoke: a few minutes on generated checks that must beat a bag of words
    Train {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Set-up of the guard, then `postern-guard eval` with these arguments: --data PATH, --log FILE, --json
    Eval {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Set-up, AgentDojo from PyPI, then its tasks, benign and hijacked, through the gate: --suite S, --limit N,
    /// --no-guard, --json OUT and more (--help after --)
    Agentdojo {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Remove what set-up made in this clone
    Clean {
        /// Also what it made for all clones
        #[arg(long)]
        cache: bool,
    },
}

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> Result<()> {
    let cx = Context::new(cli.how.cuda, cli.how.verify)?;
    match cli.command {
        Task::Setup { test_deps, only } => {
            let (_, summary) = commands::setup(&cx, test_deps, &only)?;
            eprintln!("{summary}");
            Ok(())
        }
        Task::Demo { lang } => commands::demo(&cx, lang),
        Task::Test => commands::test(&cx),
        Task::Ci => commands::ci(&cx),
        Task::Bench { args } => commands::bench(&cx, &args),
        Task::Train { args } => guard::train(&cx, &args),
        Task::Eval { args } => guard::eval(&cx, &args),
        Task::Agentdojo { args } => agentdojo::run(&cx, &args),
        Task::Clean { cache } => commands::clean(&cx, cache),
    }
}
