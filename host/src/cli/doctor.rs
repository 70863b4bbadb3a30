//! `postern doctor`: is everything there, and does it answer.

use super::print::println;
use clap::Args;
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use super::exit::Exit;
use super::options::ConfigOptions;
use super::show;
use crate::guard::{Guard, WorkerGuard};
use crate::packages::{State, Store};
use crate::sandbox::{Runners, Sandbox};
use crate::script::Language;
use crate::upstream::{ServerStatus, Upstreams};
use crate::{Config, Result};

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Print one JSON document, and nothing else, on standard output
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    config: ConfigOptions,
}

/// One thing that was looked at.
struct Finding {
    name: String,
    ok: bool,
    detail: String,
    more: Value,
}

pub(super) async fn run(options: Options) -> Result<Exit> {
    let config = options.config.read()?;
    let mut findings = vec![runner(Language::JavaScript), runner(Language::Python), guard(&config).await];
    findings.extend(packages(&config));
    findings.extend(config.problems.iter().map(|problem| Finding {
        name: format!("server {}", problem.server),
        ok: false,
        detail: problem.message.clone(),
        more: Value::Null,
    }));
    findings.extend(servers(config).await);

    let healthy = findings.iter().all(|finding| finding.ok);
    if options.json {
        let findings: Vec<Value> = findings
            .iter()
            .map(|f| json!({"name": f.name, "ok": f.ok, "detail": f.detail, "more": f.more}))
            .collect();
        show::print_json(&json!({"ok": healthy, "version": env!("CARGO_PKG_VERSION"), "findings": findings}));
    } else {
        for finding in &findings {
            let mark = if finding.ok { "✓".green().to_string() } else { "✗".red().bold().to_string() };
            println!("{mark} {:18} {}", finding.name, finding.detail);
        }
    }
    Ok(if healthy { Exit::Done } else { Exit::NotSetUp })
}

fn runner(language: Language) -> Finding {
    let found = Sandbox::new(Runners::find()).and_then(|sandbox| {
        let runner = sandbox.runners().of(language, &sandbox)?;
        Ok((runner.digest, sandbox.runners().components().display().to_string()))
    });
    let name = format!("{} runner", language.name());
    match found {
        Ok((digest, folder)) => Finding {
            name,
            ok: true,
            detail: format!("{} in {folder}", &digest[..12]),
            more: json!({"blake3": &*digest, "folder": folder}),
        },
        Err(error) => {
            let hint = error.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
            Finding { name, ok: false, detail: format!("{error}{hint}"), more: json!({"code": error.code()}) }
        }
    }
}

/// One finding for each profile that names packages.
fn packages(config: &Config) -> Vec<Finding> {
    let store = Store::find();
    let with = config.profiles.iter().filter(|(_, profile)| !profile.packages.is_empty());
    with.map(|(name, profile)| {
        let not_right: Vec<String> = profile
            .packages
            .iter()
            .map(|package| (package, store.state(package)))
            .filter(|(_, state)| *state != State::There)
            .map(|(package, state)| format!("{package} is {}", state.name()))
            .collect();
        let ok = not_right.is_empty();
        let detail = if ok {
            format!("{} in the cache", profile.packages.len())
        } else {
            format!("{} (postern packages fetch --profile {name})", not_right.join(", "))
        };
        Finding { name: format!("packages of {name}"), ok, detail, more: json!(profile.packages) }
    })
    .collect()
}

async fn guard(config: &Config) -> Finding {
    let name = "guard".to_owned();
    match WorkerGuard::new(config.worker_options()).info().await {
        Ok(model) => Finding {
            name,
            ok: true,
            detail: format!(
                "model {} ({}) on {}",
                model.version,
                &model.sha256[..12.min(model.sha256.len())],
                model.device
            ),
            more: json!(model),
        },
        Err(down) => {
            Finding { name, ok: false, detail: down.message, more: json!({"code": "guard-unavailable"}) }
        }
    }
}

async fn servers(config: Config) -> Vec<Finding> {
    let upstreams = Upstreams::new(config.servers);
    let statuses = upstreams.status().await;
    upstreams.close().await;
    statuses
        .into_iter()
        .map(|status| Finding {
            name: format!("server {}", status.name),
            ok: !status.enabled || status.error.is_none(),
            detail: describe(&status),
            more: json!(status),
        })
        .collect()
}

fn describe(status: &ServerStatus) -> String {
    if !status.enabled {
        return format!("{}, turned off", status.transport);
    }
    if let Some(error) = &status.error {
        return format!("{}: {error}", status.transport);
    }
    let protocol = status.protocol.as_deref().map(|version| format!(", MCP {version}")).unwrap_or_default();
    let problems = match status.problems.len() {
        0 => String::new(),
        n => format!(
            ", {n} problems: {}",
            status.problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        ),
    };
    format!("{}{protocol}, {} tools, {} ms{problems}", status.transport, status.tools, status.connect_ms)
}
