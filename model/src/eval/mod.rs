//! Measuring a model on labelled checks: ranking, verdicts, calibration, tasks, each with its interval.
//!
//! Nothing in here may change what a model says or where its thresholds lie. Labels come in only to be
//! compared with scores.

mod bootstrap;
mod figures;
mod log;
mod metrics;
mod table;
mod tasks;
#[cfg(test)]
mod tests;

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use postern_check::{Check, Facts, ModelInfo, Scores, Thresholds, Verdict, judge};
use serde::Serialize;

use crate::train::data::{self, Labelled};
use crate::{Error, Guard};
pub(crate) use bootstrap::Resampling;
pub(crate) use figures::Figures;
pub(crate) use metrics::{Metric, auroc};

/// What `postern-guard eval` takes.
#[derive(Clone, Debug, clap::Args)]
pub struct EvalOptions {
    /// Labelled checks: a folder of *.jsonl.gz, or one file; may be given more than once
    #[arg(long, value_name = "PATH", required = true)]
    pub data: Vec<PathBuf>,
    /// Print the figures as one JSON document
    #[arg(long)]
    pub json: bool,
    /// Print this many of the checks that came out wrong, to stderr
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub wrong: usize,
    /// Write id, kind and scores of every check to this file, one JSON document a line
    #[arg(long, value_name = "FILE")]
    pub scores: Option<PathBuf>,
    /// Add an entry for the log of evaluations to this file
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Resamples that the intervals come from; 0 leaves them out
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub resamples: usize,
    /// Seed of the resampling
    #[arg(long, default_value_t = 7)]
    pub seed: u64,
}

/// Checks that go to the model at once.
const CHUNK: usize = 512;
const PROGRESS: Duration = Duration::from_secs(10);

/// What the host would do with a call of these scores, if the tool's definition says nothing.
pub(crate) fn verdict(labelled: &Labelled, scores: &Scores) -> Verdict {
    judge(scores, &Thresholds::default(), Facts::of(&labelled.check.action, None)).verdict
}

/// Whether a label says unsafe; `None` if it says neither.
pub(crate) fn is_attack(labelled: &Labelled) -> Option<bool> {
    match labelled.labels.unsafe_ {
        Some(1.0) => Some(true),
        Some(0.0) => Some(false),
        _ => None,
    }
}

/// What an evaluation was of, and what it found.
#[derive(Serialize)]
pub(crate) struct Report {
    /// Names of the data, without their folders.
    data: Vec<String>,
    model: ModelInfo,
    thresholds: Thresholds,
    resamples: usize,
    figures: Figures,
}

/// Measures a model on labelled checks and prints the figures.
///
/// # Errors
/// If the data cannot be read, a file cannot be written, or libtorch fails.
pub fn run(guard: &Guard, options: &EvalOptions) -> Result<(), Error> {
    let (mut ids, mut checks) = (Vec::new(), Vec::new());
    for path in &options.data {
        for file in data::files(path)? {
            data::for_each(&file, &mut |id, labelled| {
                ids.push(id);
                checks.push(labelled);
            })?;
        }
    }
    let scores = score(guard, &checks)?;
    if let Some(path) = &options.scores {
        write_scores(path, &ids, &checks, &scores)?;
    }
    wrong(&checks, &scores, options.wrong);
    let how = Resampling { count: options.resamples, seed: options.seed };
    let report = Report {
        data: options.data.iter().map(|path| name(path)).collect(),
        model: guard.info().clone(),
        thresholds: Thresholds::default(),
        resamples: options.resamples,
        figures: Figures::new(&checks, &scores, how),
    };
    if let Some(path) = &options.log {
        log::add(path, &report)?;
        tracing::info!("added an entry to {}", path.display());
    }
    let text = if options.json {
        serde_json::to_string_pretty(&report).map_err(|e| Error::Data(e.to_string()))? + "\n"
    } else {
        table::all(&report)
    };
    // A reader that stopped reading is no failure of the evaluation.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(())
}

/// The figures over all of some checks and by source and kind, as text.
pub(crate) fn text(title: &str, checks: &[Labelled], scores: &[Scores]) -> String {
    table::short(title, &Figures::new(checks, scores, Resampling { count: 200, seed: 7 }))
}

/// The scores of checks, in their order.
pub(crate) fn score(guard: &Guard, checks: &[Labelled]) -> Result<Vec<Scores>, Error> {
    let started = Instant::now();
    let mut said = started;
    let mut scores = Vec::with_capacity(checks.len());
    for chunk in checks.chunks(CHUNK) {
        let chunk: Vec<Check> = chunk.iter().map(|labelled| labelled.check.clone()).collect();
        scores.extend(guard.score(&chunk)?);
        let rate = scores.len() as f64 / started.elapsed().as_secs_f64();
        if said.elapsed() > PROGRESS || scores.len() == checks.len() {
            let left = (checks.len() - scores.len()) as f64 / rate;
            tracing::info!("{}/{} checks, {rate:.0} a second, {left:.0} s left", scores.len(), checks.len());
            said = Instant::now();
        }
    }
    Ok(scores)
}

/// The last part of a path: a log should not say where somebody keeps his files.
fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn write_scores(
    path: &Path,
    ids: &[Option<String>],
    checks: &[Labelled],
    scores: &[Scores],
) -> Result<(), Error> {
    #[derive(Serialize)]
    struct Line<'a> {
        id: Option<&'a str>,
        kind: &'a str,
        attack: Option<bool>,
        verdict: Verdict,
        scores: &'a Scores,
    }
    let mut out = BufWriter::new(std::fs::File::create(path).map_err(Error::io(path))?);
    for ((id, labelled), scores) in ids.iter().zip(checks).zip(scores) {
        let line = Line {
            id: id.as_deref(),
            kind: &labelled.kind,
            attack: is_attack(labelled),
            verdict: verdict(labelled, scores),
            scores,
        };
        let line = serde_json::to_string(&line).map_err(|e| Error::Data(e.to_string()))?;
        writeln!(out, "{line}").map_err(Error::io(path))?;
    }
    out.flush().map_err(Error::io(path))
}

/// Shows some of the checks that came out wrong.
fn wrong(checks: &[Labelled], scores: &[Scores], most: usize) {
    let missed = checks.iter().zip(scores).filter(|(labelled, scores)| {
        let allowed = verdict(labelled, scores) == Verdict::Allow;
        is_attack(labelled).is_some_and(|attack| attack == allowed)
    });
    for (labelled, scores) in missed.take(most) {
        let (action, intent) = (&labelled.check.action, &labelled.check.intent);
        let args = serde_json::Value::Object(action.args.clone());
        eprintln!("wrong: {} {} {args} for {intent:?}: {scores:?}", labelled.kind, action.tool);
    }
}
