//! `postern-guard`: the guard's worker process, and the program that trains and measures its model.

use std::io::{BufReader, BufWriter};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use postern_guard::{Device, Error, Guard, Precision, bench, default_folder, eval, train, worker};

#[derive(Parser)]
#[command(
    name = "postern-guard",
    version,
    about = "Scores tool calls: JSON lines on stdin, JSON lines on stdout"
)]
struct Cli {
    #[command(flatten)]
    model: Model,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Args)]
struct Model {
    /// Folder of the weights [default: `weights` beside this program]
    #[arg(long, value_name = "DIR", env = "POSTERN_WEIGHTS", global = true)]
    weights: Option<PathBuf>,
    /// auto, cpu, cuda or cuda:N
    #[arg(long, default_value_t = Device::Auto, env = "POSTERN_GUARD_DEVICE", global = true)]
    device: Device,
    /// Numbers that the encoder multiplies: auto (what gives the same scores everywhere), f32 or bf16
    #[arg(long, default_value_t = Precision::Auto, env = "POSTERN_GUARD_PRECISION", global = true)]
    precision: Precision,
    /// Threads that one batch is computed on [default: what libtorch chooses]
    #[arg(long, value_parser = clap::value_parser!(i32).range(1..=256), env = "POSTERN_GUARD_THREADS", global = true)]
    threads: Option<i32>,
}

#[derive(Subcommand)]
enum Command {
    /// Train a model on labelled checks
    Train(train::TrainOptions),
    /// Turn public data into labelled checks for training
    Data(train::convert::DataOptions),
    /// Measure a model on labelled checks
    Eval(eval::EvalOptions),
    /// Measure how fast a model is here, and how far apart devices and precisions are
    Bench(bench::BenchOptions),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("POSTERN_LOG").unwrap_or_else(|_| "info".into()),
        )
        .with_writer(std::io::stderr)
        .init();
    let done = match &cli.command {
        Some(Command::Train(options)) => {
            cli.model.threads.into_iter().for_each(tch::set_num_threads);
            train::run(options)
        }
        Some(Command::Data(options)) => train::convert::run(options),
        Some(Command::Eval(options)) => load(&cli.model).and_then(|guard| eval::run(&guard, options)),
        Some(Command::Bench(options)) => weights(&cli.model)
            .and_then(|folder| bench::run(&folder, cli.model.device, cli.model.threads, options)),
        None => return serve(&cli.model),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn weights(model: &Model) -> Result<PathBuf, Error> {
    model.weights.clone().or_else(default_folder).ok_or(Error::NoWeights)
}

fn load(model: &Model) -> Result<Guard, Error> {
    let folder = weights(model)?;
    let threads = model.threads.unwrap_or_else(tch::get_num_threads);
    // Loading only copies; starting a pool of threads for it would take longer than it does.
    tch::set_num_threads(1);
    let guard = Guard::load_with(&folder, model.device, model.precision);
    tch::set_num_threads(threads);
    guard
}

fn serve(model: &Model) -> ExitCode {
    let stdout = BufWriter::new(std::io::stdout());
    let outcome = match load(model) {
        Ok(guard) => {
            worker::serve(&guard, BufReader::new(std::io::stdin()), stdout).map(|()| ExitCode::SUCCESS)
        }
        Err(error) => {
            tracing::error!("{error}");
            worker::decline(error.to_failure(), stdout).map(|()| ExitCode::FAILURE)
        }
    };
    outcome.unwrap_or_else(|error| {
        tracing::error!("the host is gone: {error}");
        ExitCode::FAILURE
    })
}
