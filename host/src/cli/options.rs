//! Flags that several commands share, and how they change the configuration.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::Result;
use crate::config::Config;
use crate::config::units::{parse_bytes, parse_duration};

/// Where the configuration comes from.
#[derive(Debug, Args)]
pub(super) struct ConfigOptions {
    /// The configuration; without it, postern.toml in the current folder if there is one
    #[arg(long, value_name = "FILE", global = true)]
    pub(super) config: Option<PathBuf>,
    /// A file with `mcpServers`, as Claude Desktop, Cursor and VS Code write it
    #[arg(long, value_name = "FILE", global = true)]
    pub(super) mcp_config: Vec<PathBuf>,
}

impl ConfigOptions {
    pub(super) fn read(&self) -> Result<Config> {
        let mut config = Config::find(self.config.as_deref())?;
        for file in &self.mcp_config {
            config.add_mcp_config(file)?;
        }
        Ok(config)
    }
}

/// Where records are.
#[derive(Debug, Args)]
pub(super) struct RecordOptions {
    /// Where records are kept
    #[arg(long, value_name = "FOLDER", global = true)]
    record_dir: Option<PathBuf>,
    /// The configuration; without it, postern.toml in the current folder if there is one
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
}

impl RecordOptions {
    /// The folder that was named, else the configuration's, else the user's.
    pub(super) fn folder(&self) -> Result<PathBuf> {
        let config = Config::find(self.config.as_deref())?;
        Ok(self.record_dir.clone().or(config.record_dir).unwrap_or_else(crate::record::default_folder))
    }
}

/// Limits of a run. Each stands in `[limits]` of the configuration under the same name.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub(super) struct LimitOptions {
    /// Wall time, waiting for a person not counted [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    wall_time: Option<Duration>,
    /// Computing time of the script [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    cpu_time: Option<Duration>,
    /// All linear memories together [default: 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    memory: Option<u64>,
    /// Standard output that is kept [default: 1MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    stdout_bytes: Option<u64>,
    /// Standard error that is kept [default: 1MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    stderr_bytes: Option<u64>,
    /// Tool calls, refused ones counted [default: 200]
    #[arg(long, value_name = "N")]
    max_calls: Option<u32>,
    /// Tool calls at once; more wait [default: 16]
    #[arg(long, value_name = "N")]
    max_concurrent_calls: Option<u32>,
    /// JSON text of one call's arguments [default: 1MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    max_argument_bytes: Option<u64>,
    /// Levels of nesting of one call's arguments [default: 64]
    #[arg(long, value_name = "N")]
    max_argument_depth: Option<u32>,
    /// JSON text of one call's result [default: 16MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    max_result_bytes: Option<u64>,
    /// Bytes in /workspace [default: 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    workspace_bytes: Option<u64>,
    /// Files in /workspace, and as many in /out [default: 10000]
    #[arg(long, value_name = "N")]
    workspace_files: Option<u64>,
    /// Bytes in /out [default: 64MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    artifact_bytes: Option<u64>,
}

impl LimitOptions {
    pub(super) fn apply(&self, config: &mut Config) {
        let limits = &mut config.limits;
        set(&mut limits.wall_time, self.wall_time);
        set(&mut limits.cpu_time, self.cpu_time);
        set(&mut limits.memory, self.memory);
        set(&mut limits.stdout_bytes, self.stdout_bytes);
        set(&mut limits.stderr_bytes, self.stderr_bytes);
        set(&mut limits.max_calls, self.max_calls);
        set(&mut limits.max_concurrent_calls, self.max_concurrent_calls);
        set(&mut limits.max_argument_bytes, self.max_argument_bytes);
        set(&mut limits.max_argument_depth, self.max_argument_depth);
        set(&mut limits.max_result_bytes, self.max_result_bytes);
        set(&mut limits.workspace_bytes, self.workspace_bytes);
        set(&mut limits.workspace_files, self.workspace_files);
        set(&mut limits.artifact_bytes, self.artifact_bytes);
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}
