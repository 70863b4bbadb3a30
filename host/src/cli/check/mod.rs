//! `postern check`: the guard's word on one call, or on many, and why.

mod explain;
mod page;
#[cfg(test)]
mod tests;

use std::io::{BufRead, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use super::print::println;
use clap::Args;
use futures::StreamExt;
use postern_check::{Check, Facts, Judgement, MAX_CHECK_BYTES, ModelInfo, Scores, Thresholds, judge};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use self::explain::{Deciding, Explained};
use self::page::Page;
use super::exit::Exit;
use super::options::ConfigOptions;
use super::show;
use crate::guard::{Guard, WorkerGuard};
use crate::report::ms;
use crate::{Error, Result};

/// Checks under way at once with --jsonl: two of the worker's batches.
const AT_ONCE: usize = 128;
/// Checks that are explained at once: each may need many times its size in memory.
const EXPLAINED_AT_ONCE: usize = 2;

#[derive(Debug, Args)]
pub(super) struct Options {
    /// A check as JSON: a file, or - for standard input
    #[arg(value_name = "FILE", required_unless_present = "jsonl", conflicts_with = "jsonl")]
    check: Option<PathBuf>,
    /// Many checks, one a line; answers come one a line, in order
    #[arg(long, value_name = "FILE")]
    jsonl: Option<PathBuf>,
    /// Print one JSON document, and nothing else, on standard output
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    config: ConfigOptions,
}

impl Options {
    pub(super) fn wants_json(&self) -> bool {
        self.json || self.jsonl.is_some()
    }
}

pub(super) async fn run(options: Options) -> Result<Exit> {
    let config = options.config.read()?;
    let guard = WorkerGuard::new(config.worker_options());
    guard.prepare();
    let explaining = Arc::new(Semaphore::new(EXPLAINED_AT_ONCE));
    let asker = Asker { guard, thresholds: config.guard.thresholds, explaining };
    match (&options.jsonl, &options.check) {
        (Some(path), _) => many(asker, path).await,
        (None, Some(path)) => one(asker, path, options.json).await,
        (None, None) => Err(Error::Setting("no check is given".into())),
    }
}

#[derive(Clone)]
struct Asker {
    guard: WorkerGuard,
    thresholds: Thresholds,
    explaining: Arc<Semaphore>,
}

struct Answer {
    judgement: Judgement,
    scores: Scores,
    thresholds: Thresholds,
    facts: Facts,
    explained: Explained,
    model: ModelInfo,
    ms: f64,
}

impl Asker {
    async fn ask(&self, check: Check) -> Result<Answer> {
        let model = self.guard.info().await.map_err(|down| Error::Guard(down.message))?;
        let facts = Facts::of(&check.action, None);
        let asked = check.clone();
        let scored = async {
            let began = Instant::now();
            let scores = self.guard.score(asked).await.map_err(|down| Error::Guard(down.message))?;
            Ok::<_, Error>((scores, ms(began.elapsed())))
        };
        let (scored, explained) = tokio::join!(scored, self.explain(check));
        let ((scores, ms), explained) = (scored?, explained?);
        let judgement = judge(&scores, &self.thresholds, facts);
        Ok(Answer { judgement, scores, thresholds: self.thresholds, facts, explained, model, ms })
    }

    /// On another thread: a large check takes its time.
    async fn explain(&self, check: Check) -> Result<Explained> {
        let bug = |e: String| Error::Sandbox(format!("a bug in postern: {e}"));
        let turn = self.explaining.clone().acquire_owned().await.map_err(|e| bug(e.to_string()))?;
        let explained = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            Explained::of(&check)
        });
        explained.await.map_err(|e| bug(e.to_string()))
    }
}

impl Answer {
    fn json(&self) -> Value {
        json!({
            "verdict": self.judgement.verdict,
            "deciding": Deciding::of(&self.judgement, &self.scores, &self.thresholds),
            "reasons": self.judgement.reasons,
            "scores": self.scores,
            "evidence": self.explained,
            "model": self.model,
            "ms": self.ms,
        })
    }

    fn page(&self, width: usize) -> String {
        let Self { judgement, scores, thresholds, facts, explained, model, ms } = self;
        Page { judgement, scores, thresholds, facts: *facts, explained, model, ms: *ms }.render(width)
    }
}

async fn one(asker: Asker, path: &Path, json: bool) -> Result<Exit> {
    let mut text = String::new();
    open(path)?.take(MAX_CHECK_BYTES as u64 + 1).read_to_string(&mut text).map_err(|source| Error::Io {
        doing: "cannot read",
        path: path.to_owned(),
        source,
    })?;
    let answer = asker.ask(parse(&text)?).await?;
    if json {
        show::print_json(&answer.json());
        return Ok(Exit::Done);
    }
    println!("{}", answer.page(page::width()).trim_end());
    Ok(Exit::Done)
}

/// A line that is no check is answered with an error; the others are not harmed by it. A guard that
/// is down ends it all.
async fn many(asker: Asker, path: &Path) -> Result<Exit> {
    let lines = Lines(std::io::BufReader::new(open(path)?));
    let lines = lines.filter(|line| !matches!(line, Ok(text) if text.trim().is_empty()));
    let mut bad = false;
    let mut answers = futures::stream::iter(lines)
        .map(|line| {
            let asker = asker.clone();
            async move {
                let line =
                    line.map_err(|source| Error::Io { doing: "cannot read", path: path.to_owned(), source })?;
                match parse(&line) {
                    Ok(check) => Ok(asker.ask(check).await?.json()),
                    Err(error) => Ok(json!({"error": {"code": error.code(), "message": error.to_string()}})),
                }
            }
        })
        .buffered(AT_ONCE);
    while let Some(answer) = answers.next().await {
        let answer: Result<Value> = answer;
        // Whoever read the answers may have gone.
        let answer = answer?;
        bad |= answer.get("error").is_some();
        let line = answer.to_string();
        let mut output = std::io::stdout().lock();
        if writeln!(output, "{line}").and_then(|()| output.flush()).is_err() {
            break;
        }
    }
    Ok(if bad { Exit::NotSetUp } else { Exit::Done })
}

/// Lines, of which no more is held in memory than a check may be long.
struct Lines<R>(R);

impl<R: BufRead> Iterator for Lines<R> {
    type Item = std::io::Result<String>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut line = Vec::new();
        loop {
            let most = (MAX_CHECK_BYTES as u64 + 2).saturating_sub(line.len() as u64).max(1);
            match self.0.by_ref().take(most).read_until(b'\n', &mut line) {
                Err(error) => return Some(Err(error)),
                Ok(0) if line.is_empty() => return None,
                Ok(0) => break,
                Ok(_) if line.ends_with(b"\n") => break,
                // What is too long anyway is read to its end, and forgotten.
                Ok(_) => line.truncate(MAX_CHECK_BYTES + 1),
            }
        }
        Some(Ok(String::from_utf8_lossy(&line).into_owned()))
    }
}

fn parse(text: &str) -> Result<Check> {
    Check::parse(text).map_err(|e| Error::Check { code: e.code(), message: e.to_string() })
}

fn open(path: &Path) -> Result<Box<dyn Read + Send>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(std::io::stdin()));
    }
    let file = std::fs::File::open(path).map_err(|source| Error::Io {
        doing: "cannot read",
        path: path.to_owned(),
        source,
    })?;
    Ok(Box::new(file))
}
