//! The data program: turns public data that anybody can install, and hand-written suites, into labelled checks,
//! and makes counterfactuals of them. Reads files as text; never runs anything of what it reads.
//!
//! No test set may be read in here.

mod bfcl;
mod pycall;
mod suites;
mod swap;
mod tau;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use postern_check::{Action, BlastRadius, Check, Trigger};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::data::{Labelled, Labels, Policy, Task, Writer};
use crate::Error;

/// What `postern-guard data` takes.
#[derive(Clone, Debug, clap::Args)]
pub struct DataOptions {
    /// Folder of the BFCL data: `bfcl_eval/data` of PyPI bfcl-eval 2026.3.23
    #[arg(long, value_name = "DIR")]
    pub bfcl: Option<PathBuf>,
    /// Folder of the tau2 domains: `inspect_evals/tau2/data/domains` of PyPI inspect-evals 0.28.0
    #[arg(long, value_name = "DIR")]
    pub tau: Option<PathBuf>,
    /// Folder of hand-written suites, *.json: `model/suites` of this repository
    #[arg(long, value_name = "DIR")]
    pub suites: Option<PathBuf>,
    /// Where the *.jsonl.gz go
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Counterfactual checks to make of the converted ones, about so many
    #[arg(long, value_name = "N", default_value_t = 6000)]
    pub counterfactuals: usize,
    /// Seed of the counterfactuals
    #[arg(long, default_value_t = 7)]
    pub seed: u64,
}

/// Converts what was named and writes one file for each source, and one of counterfactuals of the packages.
///
/// # Errors
/// If nothing was named, or a file is missing, cannot be written or is not as expected; the message names
/// file and line.
pub fn run(options: &DataOptions) -> Result<(), Error> {
    if options.bfcl.is_none() && options.tau.is_none() && options.suites.is_none() {
        return Err(Error::Data("nothing to convert; name folders with --bfcl, --tau or --suites".into()));
    }
    std::fs::create_dir_all(&options.out).map_err(Error::io(&options.out))?;
    let mut honest = Vec::new();
    if let Some(folder) = &options.bfcl {
        honest.extend(write("bfcl", options, |emit| bfcl::convert(folder, emit))?);
    }
    if let Some(folder) = &options.tau {
        honest.extend(write("tau2", options, |emit| tau::convert(folder, emit))?);
    }
    if let Some(folder) = &options.suites {
        write("suites", options, |emit| suites::convert(folder, options.seed, emit))?;
    }
    // Suites bring theirs along.
    if options.counterfactuals > 0 && !honest.is_empty() {
        write("counterfactual", options, |emit| {
            swap::make(&honest, options.counterfactuals, options.seed, emit).map(|()| 0)
        })?;
    }
    Ok(())
}

/// Takes a check that was made.
type Emit<'a> = &'a mut dyn FnMut(Labelled) -> Result<(), Error>;

/// Writes what a converter makes, and returns it. The converter says how many calls it had to leave out.
fn write(
    name: &str,
    options: &DataOptions,
    convert: impl FnOnce(Emit) -> Result<usize, Error>,
) -> Result<Vec<Labelled>, Error> {
    let path = options.out.join(format!("{name}.jsonl.gz"));
    let mut writer = Writer::create(&path)?;
    let mut all = Vec::new();
    let left_out = convert(&mut |labelled| {
        if writer.write(&labelled)? {
            all.push(labelled);
        }
        Ok(())
    })?;
    let count = writer.finish()?;
    tracing::info!("{}: {count} checks, {left_out} calls left out", path.display());
    Ok(all)
}

/// A call that serves its request.
struct Honest {
    source: &'static str,
    group: String,
    tool: String,
    args: Map<String, Value>,
    intent: String,
    rules: Vec<String>,
    context: Vec<String>,
    effect: Option<BlastRadius>,
    user_task: String,
}

impl Honest {
    fn label(self) -> Labelled {
        let context = self.context.join("\n");
        let check = Check {
            action: Action { tool: self.tool, args: self.args },
            intent: self.intent,
            trigger: if context.is_empty() { Trigger::User } else { Trigger::ToolResult },
            constraints: self.rules,
            context,
        };
        let labels = Labels {
            unsafe_: Some(0.0),
            injected: Some(0.0),
            exfiltration: Some(0.0),
            grounded: grounded(&check),
            effect: self.effect,
            policy: Some(Policy::Allow),
        };
        let task = Some(Task { user: self.user_task, injection: None });
        let (source, kind) = (self.source.into(), "benign_clean".into());
        Labelled { check, labels, source, group: self.group, kind, task }
    }
}

/// 1 if at least half of the values of an honest call stand in the request, the rules or the context. Else
/// nobody knows: they may be paraphrased or computed.
fn grounded(check: &Check) -> Option<f32> {
    let text = known_text(check);
    let values = leaves(&check.action.args);
    let found = values.iter().filter(|value| text.contains(&value.to_lowercase())).count();
    (!values.is_empty() && found * 2 >= values.len()).then_some(1.0)
}

/// All that a call's values can come from, in lower case.
fn known_text(check: &Check) -> String {
    format!("{}\n{}\n{}", check.intent, check.constraints.join("\n"), check.context).to_lowercase()
}

/// Texts and numbers inside arguments, as text.
fn leaves(args: &Map<String, Value>) -> Vec<String> {
    fn walk(value: &Value, out: &mut Vec<String>) {
        match value {
            Value::String(text) if !text.trim().is_empty() => out.push(text.trim().to_string()),
            // 980.0 is written 980 by people
            Value::Number(number) => {
                let text = number.to_string();
                out.push(text.strip_suffix(".0").unwrap_or(&text).to_string());
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, out)),
            Value::Object(fields) => fields.values().for_each(|field| walk(field, out)),
            _ => {}
        }
    }
    let mut out = Vec::new();
    args.values().for_each(|value| walk(value, &mut out));
    out
}

/// The end of a long text, from a whole word on.
fn tail(text: &str, most: usize) -> &str {
    let Some((from, _)) = text.char_indices().rev().nth(most) else { return text };
    text[from..].split_once(char::is_whitespace).map_or(&text[from..], |(_, rest)| rest)
}

/// A file of JSON Lines, one document handed over after the other.
fn json_lines<T: DeserializeOwned>(
    path: &Path,
    mut each: impl FnMut(T) -> Result<(), Error>,
) -> Result<(), Error> {
    let file = BufReader::new(File::open(path).map_err(Error::io(path))?);
    for (number, line) in file.lines().enumerate() {
        let line = line.map_err(Error::io(path))?;
        if line.trim().is_empty() {
            continue;
        }
        let named =
            |e: &dyn std::fmt::Display| Error::Data(format!("{}, line {}: {e}", path.display(), number + 1));
        let document = serde_json::from_str(&line).map_err(|e| named(&e))?;
        each(document).map_err(|error| match error {
            Error::Data(why) => named(&why),
            other => other,
        })?;
    }
    Ok(())
}

/// A file that is one JSON document, packed or not.
fn json<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let file = File::open(path).map_err(Error::io(path))?;
    let packed = path.extension().is_some_and(|ending| ending == "gz");
    let file: Box<dyn Read> = if packed { Box::new(GzDecoder::new(file)) } else { Box::new(file) };
    // the message of the parser names line and column
    serde_json::from_reader(BufReader::new(file)).map_err(|e| Error::Data(format!("{}: {e}", path.display())))
}
