//! 500 fixed checks get the scores they got when the weights were committed.
//!
//! The checks lie in `reference/checks.jsonl`, written by `robustness/make.py`: edges of what is read, then
//! mixtures of scenarios and transforms. What they score says nothing of how good the guard is; that it does
//! not change says that rendering, network and weights are what they were. After a wanted change:
//!
//!     POSTERN_BLESS=1 cargo test -p postern-guard --test reference

#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use postern_check::{Check, Scores};
use postern_guard::{Device, Guard};
use serde::{Deserialize, Serialize};

/// How far a score may be from the recorded one: f32 on another CPU adds up in another order.
const TOLERANCE: f32 = 2e-3;
const HINT: &str = "if this is wanted, run POSTERN_BLESS=1 cargo test -p postern-guard --test reference";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    id: String,
    input: Check,
}

/// `scores.json`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recorded {
    /// SHA-256 of the weights that gave the scores.
    weights: String,
    /// In the order of the checks: unsafe, allow, require_human, reject, args_grounded, blast_radius,
    /// exfiltration, injected, to four decimals.
    scores: Vec<(String, [f32; 8])>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference")
}

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(folder().join("checks.jsonl")).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e} in {line:.200}")))
        .collect()
}

fn numbers(scores: &Scores) -> [f32; 8] {
    let policy = &scores.approval_policy;
    [
        scores.unsafe_,
        policy.allow,
        policy.require_human,
        policy.reject,
        scores.args_grounded,
        scores.blast_radius,
        scores.exfiltration,
        scores.injected,
    ]
}

/// One check a line, so that a change can be read in a diff.
fn write(recorded: &Recorded) {
    let mut text = format!("{{\"weights\":\"{}\",\"scores\":[", recorded.weights);
    for (n, (id, scores)) in recorded.scores.iter().enumerate() {
        let scores = scores.map(|score| format!("{score:.4}")).join(",");
        let comma = if n == 0 { "" } else { "," };
        write!(text, "{comma}\n[{},[{scores}]]", serde_json::to_string(id).unwrap()).unwrap();
    }
    text.push_str("\n]}\n");
    std::fs::write(folder().join("scores.json"), text).unwrap();
}

#[test]
fn fixed_checks_score_as_recorded() {
    let guard = Guard::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("weights"), Device::Cpu).unwrap();
    let rows = rows();
    assert_eq!(rows.len(), 500);
    let checks: Vec<Check> = rows.iter().map(|row| row.input.clone()).collect();
    let scores = guard.score(&checks).unwrap();
    for (row, scores) in rows.iter().zip(&scores) {
        assert!(scores.are_sound(), "{}: {scores:?}", row.id);
    }
    let weights = guard.info().sha256.clone();
    let found = rows.iter().zip(&scores).map(|(row, scores)| (row.id.clone(), numbers(scores))).collect();
    let found = Recorded { weights, scores: found };
    if std::env::var_os("POSTERN_BLESS").is_some_and(|value| value == "1") {
        write(&found);
        return;
    }
    compare(&found);
}

fn compare(found: &Recorded) {
    let text = std::fs::read_to_string(folder().join("scores.json")).expect(HINT);
    let recorded: Recorded = serde_json::from_str(&text).unwrap();
    assert_eq!(recorded.weights, found.weights, "the scores were recorded with other weights; {HINT}");
    let ids = |all: &Recorded| all.scores.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&recorded), ids(found), "the scores were recorded for other checks; {HINT}");
    let off = |(was, is): (&[f32; 8], &[f32; 8])| {
        was.iter().zip(is).map(|(was, is)| (was - is).abs()).fold(0.0, f32::max)
    };
    let wrong: Vec<String> = recorded
        .scores
        .iter()
        .zip(&found.scores)
        .filter(|((_, was), (_, is))| off((was, is)) > TOLERANCE)
        .map(|((id, was), (_, is))| format!("{id}: {is:.4?} and not {was:.4?}"))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} checks score differently; {HINT}\n{}",
        wrong.len(),
        found.scores.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
}
