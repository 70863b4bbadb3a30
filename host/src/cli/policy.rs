//! `postern policy`: is a policy right, what does it decide about a call, and what is in force.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use super::exit::Exit;
use super::options::ConfigOptions;
use super::print::{eprintln, println};
use super::{explain, show};
use crate::policy::{Known, Policy, RuleKind, Source};
use crate::upstream::Upstreams;
use crate::{Config, Error, Result};

#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(subcommand)]
    action: Action,
    /// Print one JSON document, and nothing else, on standard output
    #[arg(long, global = true)]
    pub(super) json: bool,
    #[command(flatten)]
    config: ConfigOptions,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Whether a policy is right: every rule that names what there is not, or can never apply
    Check {
        /// A file whose rules are checked beside the default ones [default: what the configuration names]
        file: Option<PathBuf>,
        /// Do not ask the servers which tools they have
        #[arg(long)]
        offline: bool,
    },
    /// What decides about one call, or what decided about one of the record, and by which rules
    Explain {
        /// A call as JSON, or - for standard input; with NUMBER a run of the record: its id, the first characters of it,
        /// last, or its folder
        call: PathBuf,
        /// Which call of the run, from 1
        number: Option<u32>,
        /// With the rules of this profile; a call of the record has its own
        #[arg(long, value_name = "NAME", conflicts_with = "number")]
        profile: Option<String>,
        /// Where records are kept
        #[arg(long, value_name = "FOLDER")]
        record_dir: Option<PathBuf>,
    },
    /// Print the policy in force
    Show {
        /// With the rules of this profile
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
    },
}

pub(super) async fn run(options: Options) -> Result<Exit> {
    let config = options.config.read()?;
    match &options.action {
        Action::Check { file, offline } => check(config, file.as_deref(), *offline, options.json).await,
        Action::Explain { call, number, profile, record_dir } => {
            match number {
                None => explain::document(call, &config, profile.as_deref(), options.json)?,
                Some(number) => {
                    explain::recorded(call, *number, record_dir.as_deref(), &config, options.json)?;
                }
            }
            Ok(Exit::Done)
        }
        Action::Show { profile } => {
            let policy = config.compile_policy(profile.as_deref(), &known(&config))?;
            show_policy(&policy, options.json);
            Ok(Exit::Done)
        }
    }
}

fn known(config: &Config) -> Known {
    Known::servers(config.servers.keys())
}

// ---- check

async fn check(config: Config, file: Option<&Path>, offline: bool, json: bool) -> Result<Exit> {
    let mut checked: Vec<(String, Vec<Source>)> = Vec::new();
    match file {
        Some(file) => {
            let own = Source::read(file)?;
            let sources = match config.policy.replace_default {
                true => vec![own],
                false => vec![Source::builtin(), own],
            };
            checked.push((file.display().to_string(), sources));
        }
        None => {
            let common = config.policy.sources()?;
            checked.push(("policy".into(), common.clone()));
            for (name, profile) in &config.profiles {
                if let Some(own) = profile.source()? {
                    let sources = common.iter().cloned().chain([own]).collect();
                    checked.push((format!("profile {name}"), sources));
                }
            }
        }
    }
    let mut known = known(&config);
    let mut notes = Vec::new();
    if !offline && !config.servers.is_empty() {
        (known, notes) = with_tools(known, config).await;
    }

    let mut errors: Vec<Error> = Vec::new();
    let mut rules = 0;
    for (_, sources) in checked {
        match Policy::check(sources, &known) {
            Ok(policy) => rules = rules.max(policy.rules().len()),
            Err(found) => {
                // A fault in the common part shows in every profile; it is told once.
                let said: Vec<String> = errors.iter().map(ToString::to_string).collect();
                errors.extend(found.into_iter().filter(|error| !said.contains(&error.to_string())));
            }
        }
    }
    if json {
        let errors: Vec<Value> = errors.iter().map(as_json).collect();
        show::print_json(&json!({"ok": errors.is_empty(), "rules": rules, "errors": errors, "notes": notes}));
    } else {
        notes.iter().for_each(|note| show::note(note));
        for error in &errors {
            eprintln!("{} {error}", "error:".red().bold());
            if let Some(hint) = error.hint() {
                eprintln!("{} {hint}", " hint:".cyan().bold());
            }
        }
        if errors.is_empty() {
            println!("{} {rules} rules", "ok".green().bold());
        }
    }
    Ok(if errors.is_empty() { Exit::Done } else { Exit::NotSetUp })
}

/// Asks every server for its tools. What a server that does not answer has stays unknown.
async fn with_tools(mut known: Known, config: Config) -> (Known, Vec<String>) {
    let names: Vec<String> = config.servers.keys().cloned().collect();
    let mut notes: Vec<String> = config.problems.iter().map(ToString::to_string).collect();
    let upstreams = Upstreams::new(config.servers);
    let catalog = upstreams.catalog().await;
    upstreams.close().await;
    for name in names {
        let silent = catalog.problems.iter().find(|problem| problem.server == name && problem.tool.is_none());
        match silent {
            Some(problem) => notes.push(format!("{problem}; its tools are not checked")),
            None => {
                let tools = catalog.tools.iter().filter(|tool| tool.server == name);
                known = known.with_tools(name.clone(), tools.map(|tool| tool.name.clone()));
            }
        }
    }
    (known, notes)
}

fn as_json(error: &Error) -> Value {
    match error {
        Error::Policy { path, line, column, message, excerpt, hint } => json!({
            "code": error.code(), "file": path, "line": line, "column": column,
            "message": message, "excerpt": excerpt, "hint": hint,
        }),
        other => json!({"code": other.code(), "message": other.to_string(), "hint": other.hint()}),
    }
}

// ---- show

fn show_policy(policy: &Policy, json: bool) {
    if json {
        let sources: Vec<Value> =
            policy.sources().iter().map(|s| json!({"file": s.path, "text": s.text})).collect();
        let count = |kind: RuleKind| policy.rules().iter().filter(|rule| rule.kind == kind).count();
        let counts = json!({
            "block": count(RuleKind::Block), "ask": count(RuleKind::Ask),
            "always-ask": count(RuleKind::AlwaysAsk), "permit": count(RuleKind::Permit),
            "lift": count(RuleKind::Lift),
        });
        show::print_json(
            &json!({"version": policy.version(), "sources": sources, "rules": policy.rules(), "counts": counts}),
        );
        return;
    }
    // Nothing but the texts, so that they can be written to a file and changed.
    for (number, source) in policy.sources().iter().enumerate() {
        if policy.sources().len() > 1 {
            let gap = if number > 0 { "\n" } else { "" };
            println!("{gap}// ==== {} ====\n", source.path.display());
        }
        println!("{}", source.text.trim_end());
    }
}
