//! `postern tools`: what the configured servers offer.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::print::{eprintln, println};
use clap::{Args, Subcommand};
use owo_colors::OwoColorize;
use serde::Serialize;
use serde_json::{Value, json};

use super::exit::Exit;
use super::options::ConfigOptions;
use super::{show, types};
use crate::gate::{Tools, definition};
use crate::pins::{Pin, Pins};
use crate::upstream::{Problem, ToolDefinition, ToolSummary, Upstreams};
use crate::visible::visible;
use crate::{Error, Result};

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
    /// All tools, granted or not; or those that match, best first
    List {
        /// Words to be found in name, title, description or the names of arguments
        query: Vec<String>,
    },
    /// The granted tools that match, best first, as a script's catalog.search gives them
    Search {
        /// What the tool should do, in a few words; none: all tools by name
        query: Vec<String>,
        /// Tools that are shown at most
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
        /// As a run under this profile sees them
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
    },
    /// One tool, whole
    #[command(visible_alias = "describe")]
    Show {
        /// server/tool
        tool: String,
    },
    /// The tools as declarations in a language, which a model can be given
    Types(types::Options),
    /// The tools that are pinned as they were when first used
    Pins {
        /// Start the servers and say which tools are no longer as they were pinned
        #[arg(long)]
        check: bool,
    },
    /// Show how a tool differs from its pin, and pin it as it is now
    Accept {
        /// server/tool
        tool: String,
    },
}

pub(super) async fn run(options: Options) -> Result<Exit> {
    let config = options.config.read()?;
    let pins = Pins::default_path(options.config.config.as_deref());
    let profile = match &options.action {
        Action::Search { profile, .. } => profile.as_deref(),
        _ => None,
    };
    let grants = config.grants_under(profile)?;
    let mut problems = config.problems;
    let upstreams = Upstreams::new(config.servers);
    let ended = match &options.action {
        Action::List { query } => {
            let found = upstreams.search(&query.join(" "), |_| true, |_| true).await;
            problems.extend(found.problems);
            let tools = found.tools;
            let granted = |tool: &ToolDefinition| grants.allow(&tool.server, &tool.name);
            if options.json {
                let tools: Vec<Value> = tools.iter().map(|tool| listed(tool, granted(tool))).collect();
                print_document(&tools, &problems);
            } else {
                let mut table = show::table(&["tool", "granted", "what it does"]);
                for tool in &tools {
                    let about = tool.title().or(tool.description.as_deref()).unwrap_or_default();
                    let granted = if granted(tool) { "yes" } else { "no" };
                    table.add_row([tool.id(), granted.to_owned(), show::one_line(about)]);
                }
                println!("{table}");
                warn(&problems);
            }
            Ok(Exit::Done)
        }
        Action::Search { query, limit, .. } => {
            let found = Tools::new(upstreams.clone(), grants).search(&query.join(" "), *limit).await;
            problems.extend(found.problems);
            show_found(&found.tools, &problems, options.json);
            Ok(Exit::Done)
        }
        Action::Show { tool } => show_one(&upstreams, tool).await,
        Action::Types(types) => types::run(types, &upstreams, &grants, problems, options.json).await,
        Action::Pins { check } => show_pins(&upstreams, &pins, *check, options.json).await,
        Action::Accept { tool } => accept(&upstreams, &pins, tool, options.json).await,
    };
    upstreams.close().await;
    ended
}

fn show_found(tools: &[Arc<ToolDefinition>], problems: &[Problem], json: bool) {
    let found: Vec<ToolSummary> = tools.iter().map(|tool| tool.summary()).collect();
    if json {
        return print_document(&found, problems);
    }
    warn(problems);
    if found.is_empty() {
        return eprintln!("nothing that is granted matches; `postern tools list` shows what there is");
    }
    let mut table = show::table(&["tool", "what it does"]);
    for tool in found {
        let about = tool.description.or(tool.title).unwrap_or_default();
        table.add_row([show::one_line(&tool.name), show::one_line(&about)]);
    }
    println!("{table}");
}

fn print_document(tools: &[impl Serialize], problems: &[Problem]) {
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    show::print_json(&json!({"tools": tools, "problems": problems}));
}

pub(super) fn warn(problems: &[Problem]) {
    problems.iter().for_each(|problem| eprintln!("{} {problem}", "warning:".yellow().bold()));
}

async fn show_one(upstreams: &Upstreams, tool: &str) -> Result<Exit> {
    let tool = look_up(upstreams, tool).await?;
    show::print_json(&definition(&tool));
    Ok(Exit::Done)
}

pub(super) async fn look_up(upstreams: &Upstreams, tool: &str) -> Result<Arc<ToolDefinition>> {
    let (server, name) = tool
        .split_once('/')
        .ok_or_else(|| Error::Setting(format!("{tool:?} is no tool's name: write server/tool")))?;
    upstreams.tool(server, name).await.map_err(|e| Error::Setting(e.message))
}

/// All pins; with `check`, how each stands to what its server says today.
async fn show_pins(upstreams: &Upstreams, path: &Path, check: bool, json: bool) -> Result<Exit> {
    let pins = Pins::open(path)?;
    let mut today: BTreeMap<String, Pin> = BTreeMap::new();
    if check {
        let catalog = upstreams.catalog().await;
        warn(&catalog.problems);
        today.extend(catalog.tools.iter().map(|tool| (tool.id(), pins.state(tool))));
    }
    let state = |tool: &str| match today.get(tool) {
        _ if !check => None,
        None => Some("missing"),
        Some(pin) => Some(word(pin)),
    };
    let all = pins.all();
    if json {
        let pins: Vec<Value> = all
            .iter()
            .map(|(tool, pin)| json!({"tool": tool, "sha256": pin.sha256, "state": state(tool)}))
            .collect();
        show::print_json(&json!({"file": path, "pins": pins}));
        return Ok(Exit::Done);
    }
    if all.is_empty() {
        println!("no tool is pinned in {}", path.display());
        return Ok(Exit::Done);
    }
    let mut table = show::table(if check { &["tool", "sha256", "today"] } else { &["tool", "sha256"] });
    for (tool, pin) in &all {
        let short = pin.sha256.get(..12).unwrap_or(&pin.sha256);
        table.add_row(
            [Some(visible(tool)), Some(short.to_owned()), state(tool).map(str::to_owned)]
                .into_iter()
                .flatten(),
        );
    }
    println!("{table}");
    Ok(Exit::Done)
}

async fn accept(upstreams: &Upstreams, path: &Path, tool: &str, json: bool) -> Result<Exit> {
    let tool = look_up(upstreams, tool).await?;
    let before = Pins::open(path)?.accept(&tool)?;
    if json {
        let diff = match &before {
            Pin::Changed { diff } => Some(diff),
            Pin::New | Pin::Same => None,
        };
        show::print_json(
            &json!({"tool": tool.id(), "was": word(&before), "diff": diff, "sha256": tool.digest(), "file": path}),
        );
        return Ok(Exit::Done);
    }
    if let Pin::Changed { diff } = &before {
        for line in diff.lines() {
            match line.as_bytes().first() {
                Some(b'+') => println!("{}", line.green()),
                Some(b'-') => println!("{}", line.red()),
                _ => println!("{line}"),
            }
        }
    }
    let said = match before {
        Pin::New => "is pinned now",
        Pin::Same => "was pinned so already",
        Pin::Changed { .. } => "is pinned as it is now",
    };
    println!("{} {} {said}", "✓".green(), visible(&tool.id()));
    Ok(Exit::Done)
}

fn word(pin: &Pin) -> &'static str {
    match pin {
        Pin::New => "new",
        Pin::Same => "same",
        Pin::Changed { .. } => "changed",
    }
}

fn listed(tool: &ToolDefinition, granted: bool) -> Value {
    let mut tool = definition(tool);
    tool["granted"] = granted.into();
    tool
}
