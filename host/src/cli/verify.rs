//! `postern record verify`: whether records are still what was written, and who says so.

use std::path::{Path, PathBuf};

use super::print::{eprintln, println};
use comfy_table::{Cell, Color};
use owo_colors::OwoColorize;
use serde_json::json;

use super::exit::Exit;
use super::show;
use crate::Result;
use crate::record::{self, FinishedRuns, PublicKey, Standing, Verified};
use crate::visible::visible;

/// Verifies one record, or all when none is named.
pub(super) fn run(records: &Path, run: Option<&str>, key: Option<&PathBuf>, json: bool) -> Result<Exit> {
    let state = record::state_folder();
    let own = PublicKey::of(&state)?;
    let finished = FinishedRuns::of(&state)?;
    let keys: Vec<PublicKey> = match key {
        Some(path) => vec![PublicKey::read(path)?],
        None => own.iter().cloned().collect(),
    };
    let runs = match run {
        Some(run) => vec![run.to_owned()],
        None => record::list(records)?,
    };
    let verified: Vec<Verified> =
        runs.iter().map(|run| record::verify(records, run, &keys, &finished)).collect::<Result<_>>()?;
    let good = verified.iter().all(|one| matches!(one.standing, Standing::Whole | Standing::CutOff));
    if json {
        show::print_json(&json!({"verified": good, "runs": verified}));
    } else {
        people(&verified, key.is_none());
    }
    Ok(if good { Exit::Done } else { Exit::NotSetUp })
}

fn people(verified: &[Verified], own: bool) {
    match verified {
        [] => println!("there are no records"),
        [one] => one_run(one),
        many => table(many),
    }
    let any = |standing| verified.iter().any(|one| one.standing == standing);
    if any(Standing::Whole) || any(Standing::CutOff) {
        let holder = if own { "this user's key on this machine" } else { "the key you named" };
        show::note(&format!(
            "a good signature means that {holder} signed it; whoever can read the secret half could write another record"
        ));
    }
    if any(Standing::CutOff) {
        show::note("a run that was cut off may have lost its last lines: nobody can tell");
    }
    if any(Standing::UnknownKey) {
        eprintln!(
            "{} hand over the public key of whoever made the record with --public-key, once you have it from them",
            " hint:".cyan().bold()
        );
    }
}

fn one_run(one: &Verified) {
    println!("{} {}", "run".bold(), one.run);
    let standing = match one.standing {
        Standing::Whole => "whole".green().bold().to_string(),
        Standing::CutOff => "cut off".yellow().bold().to_string(),
        Standing::UnknownKey => "signed with a key that is not at hand".yellow().bold().to_string(),
        Standing::Broken => "broken".red().bold().to_string(),
    };
    println!("  {:12} {standing}", "record");
    if let Some(fault) = &one.fault {
        println!("  {:12} {}", "first fault", place(fault));
        println!("  {:12} {}", "", visible(&fault.message));
    }
    println!("  {:12} {} in order, {} of them signed", "journal", lines(one.lines), one.sealed_lines);
    println!("  {:12} {} as they were, {} copied out", "artifacts", one.artifacts, one.promotions);
    println!("  {:12} {}", "key", visible(&one.key_sha256));
    println!("  {:12} {}", "head", one.head);
}

fn table(verified: &[Verified]) {
    let mut table = show::table(&["run", "record", "lines", "first fault"]);
    for one in verified {
        let (word, colour) = match one.standing {
            Standing::Whole => ("whole", Color::Green),
            Standing::CutOff => ("cut off", Color::Yellow),
            Standing::UnknownKey => ("unknown key", Color::Yellow),
            Standing::Broken => ("broken", Color::Red),
        };
        let fault = one.fault.as_ref();
        let fault = fault.map(|fault| format!("{}: {}", place(fault), visible(&fault.message)));
        table.add_row([
            Cell::new(&one.run),
            Cell::new(word).fg(colour),
            Cell::new(one.lines),
            Cell::new(fault.unwrap_or_default()),
        ]);
    }
    println!("{table}");
}

fn place(fault: &record::Fault) -> String {
    let line = fault.line.map(|line| format!(", line {line}")).unwrap_or_default();
    format!("{}{line}", visible(&fault.file))
}

fn lines(count: u64) -> String {
    format!("{count} {}", if count == 1 { "line" } else { "lines" })
}
