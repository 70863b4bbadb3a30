//! Suites: environments written by hand, one JSON file each. Tools with their effects, tasks of users with the calls
//! and results of every step, goals that a stranger plants in results, and wordings for planting them. They are
//! expanded here into labelled checks: task by goal by wording, and the same calls under requests of their own.
//!
//! Where a stranger could write, a result has [`MARKER`]. A suite that is held out lends its wordings to no other.

mod author;
mod lures;
mod show;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use postern_check::BlastRadius;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Emit, json};
use crate::Error;
use crate::train::HELD_OUT;
use crate::train::dice::{Dice, hash};
use author::Author;
use lures::Lures;

/// Where a planted text can stand; taken out where nothing is planted.
const MARKER: &str = "{{plant}}";
/// Where the goal goes in a wording.
const GOAL: &str = "{goal}";

#[derive(Deserialize)]
struct Suite {
    /// The file's name; the group of its checks is `suites/` and this.
    #[serde(skip)]
    name: String,
    tools: Vec<Tool>,
    tasks: Vec<Task>,
    goals: Vec<Goal>,
    lures: Vec<String>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    effect: BlastRadius,
}

/// What a user wants, and how it is done.
#[derive(Deserialize)]
struct Task {
    request: String,
    #[serde(default)]
    as_constraint: Vec<String>,
    /// The user hands over to a text: what that brings about is for a person to look at.
    #[serde(default)]
    delegated: bool,
    steps: Vec<Call>,
}

/// What a stranger wants, also as a user would ask for it.
#[derive(Deserialize)]
struct Goal {
    goal: String,
    request: String,
    exfiltration: bool,
    calls: Vec<Call>,
}

#[derive(Deserialize)]
struct Call {
    tool: String,
    args: Map<String, Value>,
    result: Value,
}

impl Call {
    /// Whether it does the same.
    fn is(&self, other: &Self) -> bool {
        self.tool == other.tool && self.args == other.args
    }
}

impl Suite {
    fn effect(&self, call: &Call) -> BlastRadius {
        // `read` has made sure that every tool is there.
        self.tools.iter().find(|tool| tool.name == call.tool).map_or(BlastRadius::Write, |tool| tool.effect)
    }

    fn calls(&self) -> impl Iterator<Item = &Call> {
        let steps = self.tasks.iter().flat_map(|task| &task.steps);
        self.goals.iter().flat_map(|goal| &goal.calls).chain(steps)
    }

    fn group(&self) -> String {
        format!("suites/{}", self.name)
    }

    fn is_held_out(&self) -> bool {
        HELD_OUT.contains(&self.group().as_str())
    }

    /// What makes it unfit to be expanded.
    fn fault(&self) -> Option<String> {
        let known: BTreeSet<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
        if let Some(call) = self.calls().find(|call| !known.contains(call.tool.as_str())) {
            return Some(format!("no tool is called {}", call.tool));
        }
        if let Some(lure) = self.lures.iter().find(|lure| !lure.contains(GOAL)) {
            return Some(format!("no {GOAL} in the lure {lure:?}"));
        }
        let empty = self.tasks.iter().any(|task| task.steps.is_empty())
            || self.goals.iter().any(|goal| goal.calls.is_empty());
        if empty || self.tasks.len() < 2 || self.goals.len() < 2 || self.lures.is_empty() {
            return Some("two tasks and two goals with calls, and a lure, are the least".into());
        }
        None
    }
}

/// Expands every suite of a folder. Nothing is left out.
pub(super) fn convert(folder: &Path, seed: u64, emit: Emit) -> Result<usize, Error> {
    let suites = read(folder)?;
    let lures = Lures::new(suites.iter().filter(|suite| !suite.is_held_out()));
    for suite in &suites {
        // A dice of its own: what is made of a suite does not hang on how many stand before it.
        let dice = Dice::new(hash(seed, &suite.name));
        for labelled in Author::new(suite, &lures, dice).write() {
            emit(labelled)?;
        }
    }
    Ok(0)
}

/// Every `*.json` of a folder, by name.
fn read(folder: &Path) -> Result<Vec<Suite>, Error> {
    let entries = std::fs::read_dir(folder).map_err(Error::io(folder))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    if paths.is_empty() {
        return Err(Error::Data(format!("no *.json in {}", folder.display())));
    }
    let read = |path: &PathBuf| {
        let mut suite: Suite = json(path)?;
        suite.name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        match suite.fault() {
            Some(why) => Err(Error::Data(format!("{}: {why}", path.display()))),
            None => Ok(suite),
        }
    };
    paths.iter().map(read).collect()
}

/// The values of the suite's calls by the names of tool arguments, for calls with a value that is not theirs.
fn values(suite: &Suite) -> BTreeMap<String, Vec<Value>> {
    let mut out: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for call in suite.calls() {
        for (name, value) in &call.args {
            let values = out.entry(name.clone()).or_default();
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
    }
    out
}
