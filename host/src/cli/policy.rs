//! `postern policy`: is a policy right, what does it decide about a call, and what is in force.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use super::exit::Exit;
use super::options::ConfigOptions;
use super::print::{eprintln, println};
use super::show;
use crate::policy::{CallDocument, CallFacts, Decision, Known, Policy, RuleKind, Source, findings};
use crate::record::{self, Entry};
use crate::upstream::Upstreams;
use crate::{Config, Error, Result};

/// The longest call document that is read, in bytes.
const MAX_CALL: u64 = 4 << 20;

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
    /// What the policy decides about one call, and by which rules
    Explain {
        /// A call as JSON, or - for standard input; with CALL-NUMBER, a run of the record
        call: PathBuf,
        /// Which call of the run, from 1
        number: Option<u32>,
        /// With the rules of this profile
        #[arg(long, value_name = "NAME")]
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
            let policy = config.compile_policy(profile.as_deref(), &known(&config))?;
            let call = match number {
                None => from_document(call, &config, profile.as_deref())?,
                Some(number) => from_record(call, *number, record_dir.as_deref(), &config)?,
            };
            explain(&policy, &call, options.json);
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

// ---- explain

/// A call and what must be said about where it is from.
struct Call {
    facts: CallFacts,
    notes: Vec<String>,
}

fn from_document(path: &Path, config: &Config, profile: Option<&str>) -> Result<Call> {
    let name = path.display();
    let wrong = |message: String| Error::Setting(format!("{name}: {message}"));
    let mut text = String::new();
    let read = match path.as_os_str() == "-" {
        true => std::io::stdin().take(MAX_CALL).read_to_string(&mut text),
        false => std::fs::File::open(path).and_then(|file| file.take(MAX_CALL).read_to_string(&mut text)),
    };
    read.map_err(|e| wrong(format!("cannot be read: {e}")))?;
    let document: CallDocument = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
    let mut facts = document.facts(&config.agent, &config.guard.thresholds).map_err(wrong)?;
    if facts.profile.is_none() {
        facts.profile = profile.map(str::to_owned);
    }
    Ok(Call { facts, notes: Vec::new() })
}

/// What the record says of a call: tool, arguments, scores, and the findings among its reasons.
fn from_record(run: &Path, number: u32, folder: Option<&Path>, config: &Config) -> Result<Call> {
    let run = run.to_str().ok_or_else(|| Error::Setting("the run's id is no text".into()))?;
    let folder = folder.map(Path::to_owned).or_else(|| config.record_dir.clone());
    let read = record::read(&folder.unwrap_or_else(record::default_folder), run)?;
    let fault = |message: String| Error::Record { run: read.manifest.run.clone(), message };
    let attempt = read.journal.iter().find_map(|entry| match entry {
        Entry::Attempt(attempt) if attempt.call == number => Some(attempt),
        _ => None,
    });
    let attempt = attempt.ok_or_else(|| fault(format!("there is no call {number}")))?;
    let outcome = read.journal.iter().find_map(|entry| match entry {
        Entry::Outcome(outcome) if outcome.call == number => Some(outcome),
        _ => None,
    });
    let reasons = outcome.map(|outcome| outcome.reasons.as_slice()).unwrap_or_default();
    let found: Vec<Value> = reasons
        .iter()
        .filter(|reason| findings::known(&reason.code).is_some())
        .map(|reason| json!({"code": reason.code, "message": reason.message}))
        .collect();
    let arguments = if attempt.arguments.is_object() { attempt.arguments.clone() } else { json!({}) };
    let document = json!({
        "tool": attempt.tool, "arguments": arguments, "findings": found, "calls": attempt.call,
        "scores": outcome.and_then(|outcome| outcome.scores.clone()),
    });
    let document: CallDocument =
        serde_json::from_value(document).map_err(|e| fault(format!("call {number} is damaged: {e}")))?;
    let facts = document.facts(&config.agent, &config.guard.thresholds).map_err(fault)?;
    let note = "put together from the record: origins, labels and side effects of the call are not in it";
    Ok(Call { facts, notes: vec![note.into()] })
}

fn explain(policy: &Policy, call: &Call, json: bool) {
    let facts = &call.facts;
    let decision = policy.decide(facts);
    let without = facts.scores.as_ref().map(|_| policy.decide(&CallFacts { scores: None, ..facts.clone() }));
    if json {
        let rules = |decision: &Decision| -> Vec<Value> {
            let rules = decision.policies.iter().filter_map(|id| policy.rule(id));
            rules.map(|r| json!({"id": r.id, "kind": r.kind, "file": r.file, "line": r.line})).collect()
        };
        let without = without.as_ref().map(|decision| {
            json!({"verdict": decision.verdict, "reasons": decision.reasons, "rules": rules(decision)})
        });
        show::print_json(&json!({
            "verdict": decision.verdict, "reasons": decision.reasons, "rules": rules(&decision),
            "lifted": decision.lifted, "findings": facts.findings, "without_scores": without,
            "policy_version": policy.version(), "notes": call.notes,
        }));
        return;
    }
    println!("{} {}/{}", show::verdict(decision.verdict), facts.server, show::one_line(&facts.tool));
    for reason in &decision.reasons {
        println!("  {:22} {}", reason.code, show::one_line(&reason.message));
    }
    print_rules(policy, &decision);
    if !facts.findings.is_empty() {
        println!("\n{}", "findings".bold());
        for finding in &facts.findings {
            let place = finding.path.as_deref().unwrap_or("the call");
            println!("  {:22} {}: {}", finding.code, show::one_line(place), show::one_line(&finding.message));
        }
    }
    if let Some(without) = without {
        println!("\n{} {}", "without the guard's scores".bold(), show::verdict(without.verdict));
        print_rules(policy, &without);
    }
    call.notes.iter().for_each(|note| show::note(note));
}

fn print_rules(policy: &Policy, decision: &Decision) {
    let mut table = show::table(&["rule", "means", "where"]);
    for rule in decision.policies.iter().filter_map(|id| policy.rule(id)) {
        let lifted = if decision.lifted.contains(&rule.id) { " (lifted)" } else { "" };
        table.add_row([
            rule.id.clone(),
            format!("{}{lifted}", rule.kind),
            format!("{} line {}", rule.file, rule.line),
        ]);
    }
    println!("{table}");
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
