//! `postern tools`: what the configured servers offer.

use super::print::{eprintln, println};
use clap::{Args, Subcommand};
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use super::exit::Exit;
use super::options::ConfigOptions;
use super::show;
use crate::gate::{definition, rank};
use crate::upstream::{ToolDefinition, Upstreams};
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
    /// All tools, or those that match
    List {
        /// Words that must be in name, title or description
        query: Vec<String>,
    },
    /// One tool, whole
    Show {
        /// server/tool
        tool: String,
    },
}

pub(super) async fn run(options: Options) -> Result<Exit> {
    let config = options.config.read()?;
    let grants = config.grants()?;
    let mut problems = config.problems;
    let upstreams = Upstreams::new(config.servers);
    let ended = match &options.action {
        Action::List { query } => {
            let catalog = upstreams.catalog().await;
            problems.extend(catalog.problems.iter().cloned());
            let tools = rank(catalog.tools.iter().map(|tool| &**tool), &query.join(" "));
            let granted = |tool: &ToolDefinition| grants.allow(&tool.server, &tool.name);
            if options.json {
                let tools: Vec<Value> = tools.iter().map(|tool| listed(tool, granted(tool))).collect();
                let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
                show::print_json(&json!({"tools": tools, "problems": problems}));
            } else {
                let mut table = show::table(&["tool", "granted", "what it does"]);
                for tool in tools {
                    let about = tool.title.as_deref().or(tool.description.as_deref()).unwrap_or_default();
                    let granted = if granted(tool) { "yes" } else { "no" };
                    table.add_row([tool.id(), granted.to_owned(), show::one_line(about)]);
                }
                println!("{table}");
                problems.iter().for_each(|problem| eprintln!("{} {problem}", "warning:".yellow().bold()));
            }
            Ok(Exit::Done)
        }
        Action::Show { tool } => show_one(&upstreams, tool).await,
    };
    upstreams.close().await;
    ended
}

async fn show_one(upstreams: &Upstreams, tool: &str) -> Result<Exit> {
    let (server, name) = tool
        .split_once('/')
        .ok_or_else(|| Error::Setting(format!("{tool:?} is no tool's name: write server/tool")))?;
    let tool = upstreams.tool(server, name).await.map_err(|e| Error::Setting(e.message))?;
    show::print_json(&definition(&tool));
    Ok(Exit::Done)
}

fn listed(tool: &ToolDefinition, granted: bool) -> Value {
    let mut tool = definition(tool);
    tool["granted"] = granted.into();
    tool
}
