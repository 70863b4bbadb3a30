//! `postern record`: what earlier runs did.

use std::path::PathBuf;

use super::print::println;
use clap::{Args, Subcommand};
use owo_colors::OwoColorize;
use serde_json::json;

use super::exit::Exit;
use super::options::RecordOptions;
use super::{show, verify};
use crate::Result;
use crate::record;
use crate::visible::visible;

#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(subcommand)]
    action: Action,
    #[command(flatten)]
    records: RecordOptions,
    /// Print one JSON document, and nothing else, on standard output
    #[arg(long, global = true)]
    pub(super) json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// All runs, oldest first
    List,
    /// One run, whole
    Show {
        /// Its id, the first characters of it, or last
        run: String,
    },
    /// Whether a record, or every one, is still what was written
    Verify {
        /// Its id, the first characters of it, or last [default: all]
        run: Option<String>,
        /// The public key of whoever made it [default: this user's own]
        #[arg(long, value_name = "FILE")]
        public_key: Option<PathBuf>,
    },
}

pub(super) fn run(options: Options) -> Result<Exit> {
    let records = options.records.folder()?;
    match &options.action {
        Action::List => {
            let runs = record::list(&records)?;
            if options.json {
                show::print_json(&json!({ "runs": runs }));
            } else {
                runs.iter().for_each(|run| println!("{run}"));
            }
        }
        Action::Show { run } => {
            let read = record::read(&records, run)?;
            if options.json {
                show::print_json(&read);
            } else {
                show_record(&read);
            }
        }
        Action::Verify { run, public_key } => {
            return verify::run(&records, run.as_deref(), public_key.as_ref(), options.json);
        }
    }
    Ok(Exit::Done)
}

fn show_record(read: &record::Read) {
    let manifest = &read.manifest;
    println!("{} {}", "run".bold(), manifest.run);
    println!("  {:12} {}", "started", manifest.started);
    println!(
        "  {:12} {} ({}, sha256 {})",
        "script",
        manifest.script,
        manifest.language,
        show::short_digest(&manifest.script_sha256)
    );
    if !manifest.intent.is_empty() {
        println!("  {:12} {}", "intent", manifest.intent);
    }
    for constraint in &manifest.constraints {
        println!("  {:12} {constraint}", "constraint");
    }
    for clause in &manifest.clauses {
        println!("  {:12} {clause}", "rule");
    }
    for input in &manifest.inputs {
        let labels = if input.labels.is_empty() { String::new() } else { format!(" ({})", input.labels) };
        println!("  {:12} {}{labels}", "input", show::one_line(&input.name));
    }
    for package in &manifest.packages {
        println!("  {:12} {package} (sha256 {})", "package", show::short_digest(&package.sha256));
    }
    if let Some(profile) = &manifest.profile {
        println!("  {:12} {profile}", "profile");
    }
    if !manifest.policy_version.is_empty() {
        println!("  {:12} {}", "policy", show::short_digest(&manifest.policy_version));
    }
    println!("  {:12} {}", "granted", manifest.allow_tools.join(", "));
    let runner = show::short_digest(&manifest.runner_blake3);
    println!(
        "  {:12} postern {}, wasmtime {}, runner {runner}",
        "versions", manifest.postern, manifest.wasmtime
    );
    match &read.closing {
        Some(closing) => {
            if let Some(guard) = &closing.guard {
                println!(
                    "  {:12} {} ({}) on {}",
                    "guard",
                    guard.version,
                    show::short_digest(&guard.sha256),
                    guard.device
                );
            }
            println!();
            show::report(&closing.report, false);
            read.journal.iter().for_each(show_planted);
            if !closing.report.calls.is_empty() {
                show::note(&format!(
                    "postern policy explain {} NUMBER tells why a call was decided so",
                    manifest.run
                ));
            }
        }
        None => {
            println!("\nthe run never came to its end; what the journal has:");
            for entry in &read.journal {
                if let Ok(line) = serde_json::to_string(entry) {
                    println!("  {}", show::one_line(&line));
                }
            }
        }
    }
}

/// The words of what was planted: a person reads this, and sees what a script or a model would not be told.
fn show_planted(entry: &record::Entry) {
    let record::Entry::Outcome(outcome) = entry else { return };
    let record::Outcome { call, result_label: Some(label), .. } = outcome.as_ref() else { return };
    for planted in &label.instructions {
        let place = if planted.path.is_empty() { String::new() } else { format!(" at {}", planted.path) };
        let text = planted.text.as_deref().map(visible).unwrap_or_default();
        println!("  call {call}, orders{place} (strength {}): {}", planted.strength, show::one_line(&text));
    }
}
