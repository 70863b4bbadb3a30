//! `postern artifacts`: what runs proposed in /out, and copying it out.

use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::PathBuf;

use base64::Engine as _;
use clap::{Args, Subcommand};
use owo_colors::OwoColorize;
use serde_json::json;

use super::exit::Exit;
use super::options::RecordOptions;
use super::print::{eprintln, println};
use super::show;
use crate::config::units::show_bytes;
use crate::record::{self, Proposal, RecordKey};
use crate::sandbox::ArtifactFile;
use crate::visible::visible;
use crate::{Error, Result};

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
    /// What a run proposed, and what was copied out
    List {
        /// Its id, the first characters of it, or last
        run: String,
    },
    /// The content of one artifact
    Show {
        /// Its id, the first characters of it, or last
        run: String,
        /// As in the list, with or without /out/
        path: String,
    },
    /// Copy artifacts out of the record, after asking; the record says which and where to
    Promote {
        /// Its id, the first characters of it, or last
        run: String,
        /// As in the list, with or without /out/
        #[arg(required_unless_present = "all")]
        path: Vec<String>,
        /// The folder that they are copied into
        #[arg(long, value_name = "FOLDER")]
        to: PathBuf,
        /// All of them
        #[arg(long, conflicts_with = "path")]
        all: bool,
        /// Write over files that are there
        #[arg(long)]
        force: bool,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

pub(super) fn run(options: Options) -> Result<Exit> {
    let records = options.records.folder()?;
    match options.action {
        Action::List { run } => {
            let proposal = record::proposals(&records, &run)?;
            if options.json {
                show::print_json(&proposal);
            } else {
                list(&proposal);
            }
        }
        Action::Show { run, path } => {
            let proposal = record::proposals(&records, &run)?;
            let found = find(&proposal, &path)?;
            let bytes = record::artifact(&records, &proposal.run, found)?;
            show_one(found, bytes, options.json)?;
        }
        Action::Promote { run, path, to, all: _, force, yes } => {
            let proposal = record::proposals(&records, &run)?;
            let chosen = match path.is_empty() {
                true => proposal.artifacts.iter().collect(),
                false => path.iter().map(|path| find(&proposal, path)).collect::<Result<Vec<_>>>()?,
            };
            if !yes && !agreed(&chosen, &to)? {
                return Err(Error::Setting("nothing was copied: the answer was not yes".into()));
            }
            let key = RecordKey::open(&record::state_folder())?;
            let done = record::promote(&records, &proposal.run, &path, &to, force, &key)?;
            if options.json {
                show::print_json(&json!({"run": proposal.run, "promoted": done}));
            } else {
                for promotion in &done {
                    println!("{} {}", "✓".green(), visible(&promotion.to));
                }
                let noun = if done.len() == 1 { "artifact" } else { "artifacts" };
                eprintln!("{} {noun} copied; noted in the record of {}", done.len(), proposal.run);
            }
        }
    }
    Ok(Exit::Done)
}

fn find<'a>(proposal: &'a Proposal, path: &str) -> Result<&'a ArtifactFile> {
    let bare = |path: &str| path.strip_prefix("/out/").unwrap_or(path).to_owned();
    proposal.artifacts.iter().find(|artifact| bare(&artifact.path) == bare(path)).ok_or_else(|| {
        let message =
            format!("{} is not among its artifacts; `postern artifacts list` shows them", visible(path));
        Error::Record { run: proposal.run.clone(), message }
    })
}

fn list(proposal: &Proposal) {
    println!("{} {}", "run".bold(), proposal.run);
    if proposal.artifacts.is_empty() {
        println!("  it proposed nothing");
        return;
    }
    let mut table = show::table(&["artifact", "size", "sha256", "copied to"]);
    for artifact in &proposal.artifacts {
        let to: Vec<String> = proposal
            .promotions
            .iter()
            .filter(|promotion| promotion.path == artifact.path)
            .map(|promotion| visible(&promotion.to))
            .collect();
        let short = artifact.sha256.get(..12).unwrap_or(&artifact.sha256).to_owned();
        table.add_row([visible(&artifact.path), show_bytes(artifact.bytes), short, to.join("\n")]);
    }
    println!("{table}");
}

/// To a terminal only what cannot act on it; into a file or a pipe the bytes themselves.
fn show_one(artifact: &ArtifactFile, bytes: Vec<u8>, json: bool) -> Result<()> {
    let text = std::str::from_utf8(&bytes).ok();
    if json {
        let encoded = text.is_none().then(|| base64::engine::general_purpose::STANDARD.encode(&bytes));
        show::print_json(&json!({
            "path": artifact.path, "bytes": artifact.bytes, "sha256": artifact.sha256, "text": text, "base64": encoded,
        }));
        return Ok(());
    }
    if !std::io::stdout().is_terminal() {
        // Nobody reading any more is no failure.
        let _ = std::io::stdout().write_all(&bytes);
        return Ok(());
    }
    match text {
        Some(text) => println!("{}", show::harmless(text.trim_end_matches('\n'))),
        None => show::note(&format!("{} is no text; write it into a file with >", visible(&artifact.path))),
    }
    Ok(())
}

/// Asks in the terminal. Without one, nobody can agree.
fn agreed(chosen: &[&ArtifactFile], to: &std::path::Path) -> Result<bool> {
    let terminal = File::options().read(true).write(true).open("/dev/tty");
    let (true, Ok(mut terminal)) = (std::io::stdin().is_terminal(), terminal) else {
        return Err(Error::Setting("there is no terminal to ask in: --yes copies without asking".into()));
    };
    let mut question = String::from("\n");
    for artifact in chosen {
        question.push_str(&format!("  {}  {}\n", visible(&artifact.path), show_bytes(artifact.bytes)));
    }
    question.push_str(&format!(
        "Copy these {} into {}? yes / No : ",
        chosen.len(),
        visible(&to.display().to_string())
    ));
    let fault = |source| Error::Io { doing: "cannot ask in", path: "/dev/tty".into(), source };
    terminal.write_all(question.as_bytes()).map_err(fault)?;
    let mut answer = String::new();
    BufReader::new(terminal).read_line(&mut answer).map_err(fault)?;
    let answer = answer.trim();
    Ok(answer.eq_ignore_ascii_case("y") || answer.eq_ignore_ascii_case("yes"))
}
