//! `postern profiles`: the capability matrix. One row per class of job, one column per thing it may do.

use clap::Args;
use serde_json::{Value, json};

use super::exit::Exit;
use super::options::ConfigOptions;
use super::print::println;
use super::show;
use crate::config::units::{show_bytes, show_duration};
use crate::config::{Mount, Profile, ResultRules};
use crate::packages::Package;
use crate::sandbox::Limits;
use crate::{Config, Error, Result};

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Print one JSON document, and nothing else, on standard output
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    config: ConfigOptions,
}

/// One row: what is in force, not what is written.
struct Row {
    name: Option<String>,
    description: String,
    tools: Vec<String>,
    /// Of `tools`, only those.
    within: Option<Vec<String>>,
    mounts: Option<Vec<Mount>>,
    languages: Option<Vec<&'static str>>,
    packages: Vec<Package>,
    approvals: &'static str,
    policies: Vec<String>,
    limits: Limits,
    /// Of servers that say nothing else.
    results: ResultRules,
}

pub(super) fn run(options: Options) -> Result<Exit> {
    let config = options.config.read()?;
    let mut rows = vec![row(&config, None, &Profile::default())?];
    for (name, profile) in &config.profiles {
        rows.push(row(&config, Some(name), profile)?);
    }
    if options.json {
        show::print_json(&json!({"profiles": rows.iter().map(as_json).collect::<Vec<_>>()}));
        return Ok(Exit::Done);
    }
    let header =
        ["profile", "for", "tools", "inputs", "languages", "packages", "approvals", "policy", "limits"];
    let mut table = show::table(&header);
    for row in &rows {
        table.add_row(cells(row, &rows[0].limits));
    }
    println!("{table}");
    Ok(Exit::Done)
}

fn row(config: &Config, name: Option<&str>, profile: &Profile) -> Result<Row> {
    let limits = profile
        .limits(&config.limits)
        .map_err(|e| Error::Setting(format!("profiles.{}: {e}", name.unwrap_or_default())))?;
    let mut policies: Vec<String> =
        config.policy.sources()?.iter().map(|source| source.path.display().to_string()).collect();
    policies.extend(profile.source()?.map(|source| source.path.display().to_string()));
    Ok(Row {
        name: name.map(str::to_owned),
        description: profile.description.clone(),
        tools: config.grants()?.patterns(),
        within: profile.tools.clone(),
        mounts: profile.mounts.clone(),
        languages: profile
            .languages
            .as_ref()
            .map(|languages| languages.iter().map(|language| language.name()).collect()),
        packages: profile.packages.clone(),
        approvals: config.approvals.mode.narrowed(profile.approvals).name(),
        policies,
        results: config.results.rules(None, Some(&profile.results), &limits),
        limits,
    })
}

fn as_json(row: &Row) -> Value {
    let mounts = row.mounts.iter().flatten();
    let paths = row.mounts.as_ref().map(|all| all.iter().map(|mount| &mount.path).collect::<Vec<_>>());
    let labels: serde_json::Map<String, Value> = mounts
        .filter(|mount| !mount.labels.is_empty())
        .map(|mount| (mount.path.display().to_string(), json!(mount.labels)))
        .collect();
    json!({
        "name": row.name, "description": row.description, "granted": row.tools, "tools": row.within,
        "inputs": paths, "input_labels": labels, "languages": row.languages, "packages": row.packages,
        "approvals": row.approvals, "policies": row.policies, "limits": row.limits, "results": row.results,
    })
}

fn cells(row: &Row, base: &Limits) -> [String; 9] {
    let list = |items: &[String]| if items.is_empty() { "none".to_owned() } else { items.join(", ") };
    let any = |items: Option<Vec<String>>| items.map_or_else(|| "any".to_owned(), |items| list(&items));
    let tools = match &row.within {
        None => list(&row.tools),
        Some(within) => format!("{} of {}", list(within), list(&row.tools)),
    };
    let languages = row.languages.as_ref().map(|all| all.iter().map(|name| (*name).to_owned()).collect());
    // The default policy is in force everywhere unless a file replaces it; only what differs is news.
    let policy = row.policies.iter().filter(|path| !path.starts_with("default.cedar")).cloned();
    let policy: Vec<String> = policy.collect();
    [
        row.name.clone().unwrap_or_else(|| "(none)".to_owned()),
        show::one_line(&row.description),
        tools,
        any(row.mounts.as_ref().map(|all| all.iter().map(ToString::to_string).collect())),
        any(languages),
        list(&row.packages.iter().map(ToString::to_string).collect::<Vec<_>>()),
        row.approvals.to_owned(),
        if policy.is_empty() { "default".to_owned() } else { policy.join(", ") },
        limits(row, base),
    ]
}

/// Of the row without a profile the limits that people ask about first; of a profile what differs.
fn limits(row: &Row, base: &Limits) -> String {
    let own = &row.limits;
    let first = row.name.is_none();
    let all = [
        ("wall", show_duration(own.wall_time), own.wall_time != base.wall_time, true),
        ("cpu", show_duration(own.cpu_time), own.cpu_time != base.cpu_time, true),
        ("memory", show_bytes(own.memory), own.memory != base.memory, true),
        ("calls", own.max_calls.to_string(), own.max_calls != base.max_calls, true),
        (
            "at once",
            own.max_concurrent_calls.to_string(),
            own.max_concurrent_calls != base.max_concurrent_calls,
            false,
        ),
        ("stdout", show_bytes(own.stdout_bytes), own.stdout_bytes != base.stdout_bytes, false),
        ("stderr", show_bytes(own.stderr_bytes), own.stderr_bytes != base.stderr_bytes, false),
        (
            "arguments",
            show_bytes(own.max_argument_bytes),
            own.max_argument_bytes != base.max_argument_bytes,
            false,
        ),
        (
            "depth",
            own.max_argument_depth.to_string(),
            own.max_argument_depth != base.max_argument_depth,
            false,
        ),
        ("results", show_bytes(own.max_result_bytes), own.max_result_bytes != base.max_result_bytes, false),
        ("workspace", show_bytes(own.workspace_bytes), own.workspace_bytes != base.workspace_bytes, false),
        ("files", own.workspace_files.to_string(), own.workspace_files != base.workspace_files, false),
        ("artifacts", show_bytes(own.artifact_bytes), own.artifact_bytes != base.artifact_bytes, false),
    ];
    let shown: Vec<String> = all
        .into_iter()
        .filter(|(_, _, differs, usual)| if first { *usual } else { *differs })
        .map(|(name, value, ..)| format!("{name} {value}"))
        .collect();
    if shown.is_empty() { "the same".to_owned() } else { shown.join(", ") }
}
