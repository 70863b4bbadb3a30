//! `postern tools types`: the tools as declarations that a model, or whoever writes for it, can be given.

use std::sync::Arc;

use clap::{Args, ValueEnum};
use serde_json::json;

use super::exit::Exit;
use super::print::println;
use super::show;
use crate::grants::Grants;
use crate::stubs::{self, Target};
use crate::upstream::{Problem, ToolDefinition, Upstreams};
use crate::{Error, Result};

#[derive(Debug, Args)]
pub(super) struct Options {
    /// The language
    #[arg(long, value_enum)]
    lang: Lang,
    /// Only tools of this server; may be given several times
    #[arg(long, value_name = "SERVER")]
    server: Vec<String>,
    /// Only this tool, as server/tool; may be given several times
    #[arg(long, value_name = "TOOL")]
    tool: Vec<String>,
    /// Only tools that the configuration grants
    #[arg(long)]
    granted: bool,
    /// Leave out what every script has beside its tools
    #[arg(long)]
    bare: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Lang {
    /// The globals of a JavaScript or TypeScript script
    Ts,
    /// The globals of a Python script
    Py,
    /// A module for a guest in Rust
    Rust,
}

impl Lang {
    fn target(self) -> Target {
        match self {
            Self::Ts => Target::TypeScript,
            Self::Py => Target::Python,
            Self::Rust => Target::Rust,
        }
    }
}

pub(super) async fn run(
    options: &Options,
    upstreams: &Upstreams,
    grants: &Grants,
    mut problems: Vec<Problem>,
    json: bool,
) -> Result<Exit> {
    let (mut tools, found) = chosen(options, upstreams).await?;
    problems.extend(found);
    if options.granted {
        tools.retain(|tool| grants.allow(&tool.server, &tool.name));
    }
    let declared = tools.iter().map(|tool| &**tool);
    let target = options.lang.target();
    let text = if options.bare {
        stubs::tool_declarations(declared, target)
    } else {
        stubs::declarations(declared, target)
    };
    if json {
        let tools: Vec<String> = tools.iter().map(|tool| tool.id()).collect();
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        show::print_json(&json!({"types": text, "tools": tools, "problems": problems}));
    } else {
        println!("{}", text.trim_end());
        super::tools::warn(&problems);
    }
    Ok(Exit::Done)
}

/// The tools that were asked for; servers of others are not started.
async fn chosen(
    options: &Options,
    upstreams: &Upstreams,
) -> Result<(Vec<Arc<ToolDefinition>>, Vec<Problem>)> {
    if let Some(unknown) =
        options.server.iter().find(|name| !upstreams.server_names().any(|known| known == *name))
    {
        let known: Vec<&str> = upstreams.server_names().collect();
        let known = if known.is_empty() {
            "no servers are configured".to_owned()
        } else {
            format!("there are {}", known.join(", "))
        };
        return Err(Error::Setting(format!("there is no server {unknown:?}; {known}")));
    }
    let mut tools = Vec::new();
    for name in &options.tool {
        tools.push(super::tools::look_up(upstreams, name).await?);
    }
    let all = options.server.is_empty() && options.tool.is_empty();
    if !all && options.server.is_empty() {
        return Ok((tools, Vec::new()));
    }
    let catalog =
        upstreams.catalog_of(|name| all || options.server.iter().any(|server| server == name)).await;
    for tool in catalog.tools {
        if !tools.iter().any(|known| known.id() == tool.id()) {
            tools.push(tool);
        }
    }
    Ok((tools, catalog.problems))
}
