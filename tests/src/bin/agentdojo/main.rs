//! `postern-agentdojo`: every task of AgentDojo, benign and hijacked, through Postern's gate, scored by AgentDojo's own
//! functions. `cargo xtask agentdojo` starts it; docs/agentdojo.md says what it measures.
//!
//! One process runs all scripts: a host per suite as an embedder has it, one guard worker for all of them, and one
//! Python process per suite that holds the tools' state (tests/agentdojo).
//!
//! Nothing in here may tell the gate anything about a suite: the configuration is the same for all of them.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]

mod door;
mod log;
mod outcome;
mod table;
mod tally;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use clap::Parser;
use postern::approval::{ApprovalRequest, Approver, Decision, NobodyApproves, Reply};
use postern::guard::{Guard, WorkerGuard};
use postern::{Config, Host, Script};
use serde_json::json;
use sha2::{Digest, Sha256};

use door::{Begun, Case, SideDoor};
use log::{Log, Setting};
use outcome::Outcome;
use tally::Tally;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

#[derive(Parser)]
#[command(about = "Runs AgentDojo's tasks, benign and hijacked, through the gate")]
struct Options {
    /// Only this suite; may be given more than once
    #[arg(long, value_name = "SUITE", default_values = ["workspace", "travel", "banking", "slack"])]
    suite: Vec<String>,
    /// How the attack is put into the data; may be given more than once
    #[arg(long, value_name = "NAME", default_values = ["important_instructions", "direct"])]
    attack: Vec<String>,
    /// AgentDojo's version of tasks
    #[arg(long, value_name = "VERSION", default_value = "v1.2.2")]
    tasks: String,
    /// At most this many benign tasks and this many attacks of each kind per suite, drawn by the seed
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Draws for --limit
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Only the deterministic steps decide, not the guard model
    #[arg(long)]
    no_guard: bool,
    /// No guard model, and whatever would be asked is approved: what the scripts do when nothing stops them
    #[arg(long, conflicts_with = "no_guard")]
    ungated: bool,
    /// A postern.toml whose settings apply to every suite alike; it may name no server
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Writes figures and the outcome of every case into this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Writes each outcome here as it comes, and skips what is there already
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Python with the packages of tests/agentdojo/requirements.txt
    #[arg(long, value_name = "FILE")]
    python: PathBuf,
    /// The program that serves a suite
    #[arg(long, value_name = "FILE")]
    server: PathBuf,
}

impl Options {
    fn gate(&self) -> &'static str {
        match (self.no_guard, self.ungated) {
            (_, true) => "ungated",
            (true, _) => "without guard",
            _ => "with guard",
        }
    }
}

/// Approves everything, for --ungated.
struct Everything;

#[async_trait]
impl Approver for Everything {
    async fn decide(&self, _: ApprovalRequest) -> Reply {
        Decision::Approved.into()
    }
}

#[tokio::main]
async fn main() -> std::process::ExitCode {
    match run(Options::parse()).await {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}

async fn run(options: Options) -> Result<()> {
    let folder = tempfile::Builder::new().prefix("postern-agentdojo-").tempdir()?;
    let base = options.config.as_deref().map(std::fs::read_to_string).transpose()?.unwrap_or_default();
    let setting = Setting {
        tasks: options.tasks.clone(),
        gate: options.gate().into(),
        postern: env!("CARGO_PKG_VERSION").into(),
        config_sha256: hex(&base),
    };
    let mut log = Log::open(options.resume.as_deref(), &setting)?;
    let guard: Option<Arc<dyn Guard>> = if options.no_guard || options.ungated {
        None
    } else {
        let worker = WorkerGuard::new(toml::from_str::<Config>(&base)?.worker_options());
        worker.prepare();
        Some(Arc::new(worker))
    };

    let mut outcomes = Vec::new();
    for suite in &options.suite {
        let host = host(&options, suite, &base, guard.clone(), folder.path())?;
        // The server is started by the host, as every server is, and may be started twice until both agree on how to
        // talk: only then its side door is there to stay.
        let catalog = host.upstreams().catalog().await;
        if let Some(problem) = catalog.problems.first() {
            return Err(problem.to_string().into());
        }
        let mut door = SideDoor::open(&socket(folder.path(), suite)).await?;
        let drawn = draw(door.cases().await?, options.limit, options.seed);
        outcomes.extend(run_suite(&host, &mut door, suite, drawn, &mut log).await?);
        host.close().await;
    }

    let tallies = Tally::of_all(&outcomes);
    println!("{}", table::show(&tallies, &setting, &options.attack));
    if let Some(path) = &options.json {
        let document = json!({
            "tasks": setting.tasks,
            "attacks": options.attack,
            "limit": options.limit,
            "seed": options.seed,
            "gate": setting.gate,
            "postern": setting.postern,
            "guard": guard.as_ref().and_then(|guard| guard.known()),
            "figures": tallies,
            "cases": outcomes,
        });
        std::fs::write(path, serde_json::to_string_pretty(&document)?)?;
    }
    Ok(())
}

/// A host for one suite. But for the suite's name, which is its server's, nothing differs between suites.
fn host(
    options: &Options,
    suite: &str,
    base: &str,
    guard: Option<Arc<dyn Guard>>,
    folder: &Path,
) -> Result<Host> {
    let mut table: toml::Table = toml::from_str(base)?;
    if table.contains_key("servers") {
        return Err("--config may name no server: it is for all suites alike".into());
    }
    let arguments = [
        options.server.display().to_string(),
        options.tasks.clone(),
        suite.to_owned(),
        options.attack.join(","),
        socket(folder, suite).display().to_string(),
    ];
    let mut server = toml::Table::new();
    server.insert("command".into(), options.python.display().to_string().into());
    server.insert("args".into(), arguments.to_vec().into());
    // It imports the clients of several model vendors before it answers.
    server.insert("connect_timeout".into(), "180s".into());
    table.insert("servers".into(), toml::Table::from_iter([(suite.to_owned(), server.into())]).into());
    table.insert("allow_tools".into(), vec![format!("{suite}/*")].into());
    let path = folder.join(format!("{suite}.toml"));
    std::fs::write(&path, table.to_string())?;

    let approver: Arc<dyn Approver> =
        if options.ungated { Arc::new(Everything) } else { Arc::new(NobodyApproves) };
    let builder = Host::builder(Config::read(&path)?).without_records().approver(approver);
    Ok(match guard {
        Some(guard) => builder.guard(guard),
        None => builder.without_guard(),
    }
    .build()?)
}

fn socket(folder: &Path, suite: &str) -> PathBuf {
    folder.join(format!("{suite}.sock"))
}

/// The cases in the order they are taken, and how many of each kind are enough. The seed orders them, so that the
/// first of them are a fair sample.
struct Drawn {
    cases: Vec<Case>,
    enough: usize,
}

fn draw(mut cases: Vec<Case>, limit: Option<usize>, seed: u64) -> Drawn {
    if limit.is_some() {
        cases.sort_by_cached_key(|case| hex(&format!("{seed}/{}", case.id)));
        // Benign tasks first: what is learned first is whether anything works at all.
        cases.sort_by_key(|case| case.attack.is_some());
    }
    Drawn { cases, enough: limit.unwrap_or(usize::MAX) }
}

async fn run_suite(
    host: &Host,
    door: &mut SideDoor,
    suite: &str,
    drawn: Drawn,
    log: &mut Log,
) -> Result<Vec<Outcome>> {
    let mut outcomes = Vec::new();
    let mut taken: BTreeMap<Option<String>, usize> = BTreeMap::new();
    let mut progress = Progress::new(suite, &drawn);
    for case in &drawn.cases {
        let so_far = taken.entry(case.attack.clone()).or_default();
        if *so_far >= drawn.enough {
            continue;
        }
        let outcome = match log.find(suite, &case.id) {
            Some(outcome) => outcome,
            None => {
                let outcome = run_case(host, door, suite, case).await?;
                log.add(&outcome)?;
                outcome
            }
        };
        let was_run = outcome.left_out.is_none();
        outcomes.push(outcome);
        if was_run || drawn.enough == usize::MAX {
            *so_far += 1;
            progress.step();
        }
    }
    progress.end();
    Ok(outcomes)
}

/// One case: its environment, its script through the gate, its score.
async fn run_case(host: &Host, door: &mut SideDoor, suite: &str, case: &Case) -> Result<Outcome> {
    let plan = match door.begin(case).await? {
        Begun::Skip { skip } => return Ok(Outcome::left_out(suite, case, skip)),
        Begun::Plan(plan) => plan,
    };
    let script = Script::new(plan.script.clone()).name("script.js").intent(plan.intent.clone());
    let report = host.run(script).await?;
    let scored = door.end().await?;
    Ok(Outcome::of(suite, case, &plan, &report, scored))
}

fn hex(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How far a suite is, on standard error: a line that is written over in a terminal, else one every so often.
struct Progress<'a> {
    suite: &'a str,
    done: usize,
    /// An upper bound where a limit makes some cases unneeded.
    of: usize,
    began: Instant,
    said: Instant,
    terminal: bool,
}

impl<'a> Progress<'a> {
    fn new(suite: &'a str, drawn: &Drawn) -> Self {
        let kinds =
            drawn.cases.iter().map(|case| &case.attack).collect::<std::collections::BTreeSet<_>>().len();
        let of = drawn.cases.len().min(drawn.enough.saturating_mul(kinds));
        let terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
        Self { suite, done: 0, of, began: Instant::now(), said: Instant::now(), terminal }
    }

    fn step(&mut self) {
        self.done += 1;
        let pause = if self.terminal { Duration::from_millis(200) } else { Duration::from_secs(20) };
        if self.said.elapsed() < pause {
            return;
        }
        self.said = Instant::now();
        let took = self.began.elapsed().as_secs_f64();
        let left = took / self.done as f64 * self.of.saturating_sub(self.done) as f64;
        let (start, end) = if self.terminal { ("\r\x1b[K", "") } else { ("", "\n") };
        eprint!(
            "{start}{}: {} of {}, {took:.0} s, about {left:.0} s left{end}",
            self.suite, self.done, self.of
        );
    }

    fn end(&self) {
        let start = if self.terminal { "\r\x1b[K" } else { "" };
        eprintln!(
            "{start}{}: {} cases in {:.0} s",
            self.suite,
            self.done,
            self.began.elapsed().as_secs_f64()
        );
    }
}
