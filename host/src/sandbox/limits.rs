//! What one run may use. Every limit has a safe default, a flag and a config key.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::units;

/// The limits of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Wall time from the first line of user code on. Waiting for a person does not count, waiting
    /// for a tool does.
    #[serde(with = "units::duration")]
    pub wall_time: Duration,
    /// Time the script computes.
    #[serde(with = "units::duration")]
    pub cpu_time: Duration,
    /// Bytes, summed over all linear memories.
    #[serde(with = "units::bytes")]
    pub memory: u64,
    /// Bytes of standard output that are kept.
    #[serde(with = "units::bytes")]
    pub stdout_bytes: u64,
    /// Bytes of standard error that are kept.
    #[serde(with = "units::bytes")]
    pub stderr_bytes: u64,
    /// Tool calls; refused ones count.
    pub max_calls: u32,
    /// Tool calls at once; more wait for their turn.
    pub max_concurrent_calls: u32,
    /// Bytes of JSON text of one call's arguments.
    #[serde(with = "units::bytes")]
    pub max_argument_bytes: u64,
    /// Levels of nesting of one call's arguments.
    pub max_argument_depth: u32,
    /// Bytes of one call's result.
    #[serde(with = "units::bytes")]
    pub max_result_bytes: u64,
    /// Bytes in /workspace.
    #[serde(with = "units::bytes")]
    pub workspace_bytes: u64,
    /// Files and folders in /workspace, and as many again in /out.
    pub workspace_files: u64,
    /// Bytes in /out.
    #[serde(with = "units::bytes")]
    pub artifact_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: u64 = 1 << 20;
        Self {
            wall_time: Duration::from_secs(60),
            cpu_time: Duration::from_secs(30),
            memory: 256 * MIB,
            stdout_bytes: MIB,
            stderr_bytes: MIB,
            max_calls: 200,
            max_concurrent_calls: 16,
            max_argument_bytes: MIB,
            max_argument_depth: 64,
            max_result_bytes: 16 * MIB,
            workspace_bytes: 256 * MIB,
            workspace_files: 10_000,
            artifact_bytes: 64 * MIB,
        }
    }
}

impl Limits {
    /// Whether a run can work under these limits at all.
    ///
    /// # Errors
    /// A sentence that names the limit that is out of range.
    pub fn validate(&self) -> Result<(), String> {
        const LONGEST: Duration = Duration::from_secs(24 * 3600);
        for (name, value) in [("wall_time", self.wall_time), ("cpu_time", self.cpu_time)] {
            if value.is_zero() || value > LONGEST {
                return Err(format!("{name} must be more than 0 and at most 24h"));
            }
        }
        if !(8 << 20..=4 << 30).contains(&self.memory) {
            return Err("memory must lie between 8MiB and 4GiB".into());
        }
        if self.max_concurrent_calls == 0 {
            return Err("max_concurrent_calls must be at least 1".into());
        }
        // serde_json's own recursion limit is 128.
        if !(1..=100).contains(&self.max_argument_depth) {
            return Err("max_argument_depth must lie between 1 and 100".into());
        }
        for (name, value) in [
            ("stdout_bytes", self.stdout_bytes),
            ("stderr_bytes", self.stderr_bytes),
            ("max_argument_bytes", self.max_argument_bytes),
            ("max_result_bytes", self.max_result_bytes),
        ] {
            if value > 1 << 30 {
                return Err(format!("{name} must be at most 1GiB"));
            }
        }
        Ok(())
    }
}

/// Applies to every field, so that none can be forgotten: leaving one out does not compile.
macro_rules! each_limit {
    ($($name:ident),+ $(,)?) => {
        impl Limits {
            /// Of each limit the lower one.
            #[must_use]
            pub fn strictest(&self, other: &Self) -> Self {
                Self { $($name: self.$name.min(other.$name)),+ }
            }

            /// The first limit that is above the other's.
            pub fn exceeds(&self, other: &Self) -> Option<&'static str> {
                $(if self.$name > other.$name { return Some(stringify!($name)); })+
                None
            }
        }
    };
}

each_limit!(
    wall_time,
    cpu_time,
    memory,
    stdout_bytes,
    stderr_bytes,
    max_calls,
    max_concurrent_calls,
    max_argument_bytes,
    max_argument_depth,
    max_result_bytes,
    workspace_bytes,
    workspace_files,
    artifact_bytes,
);

/// Which limit ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitKind {
    /// [`Limits::wall_time`].
    WallTime,
    /// [`Limits::cpu_time`].
    CpuTime,
    /// [`Limits::memory`].
    Memory,
    /// [`Limits::max_calls`].
    Calls,
    /// [`Limits::workspace_bytes`] or [`Limits::workspace_files`].
    Workspace,
    /// [`Limits::artifact_bytes`], or too many files in /out.
    Artifacts,
}

impl LimitKind {
    /// The code that `--json` and records give.
    pub fn code(self) -> &'static str {
        match self {
            Self::WallTime => "wall-time",
            Self::CpuTime => "cpu-time",
            Self::Memory => "memory",
            Self::Calls => "calls",
            Self::Workspace => "workspace",
            Self::Artifacts => "artifacts",
        }
    }

    /// What happened, with the limit's value.
    pub fn describe(self, limits: &Limits) -> String {
        match self {
            Self::WallTime => format!("the run took longer than {}", units::show_duration(limits.wall_time)),
            Self::CpuTime => {
                format!("the script computed longer than {}", units::show_duration(limits.cpu_time))
            }
            Self::Memory => {
                format!("the script needed more memory than {}", units::show_bytes(limits.memory))
            }
            Self::Calls => format!("the script made more than {} tool calls", limits.max_calls),
            Self::Workspace => format!(
                "/workspace grew over {} or {} files",
                units::show_bytes(limits.workspace_bytes),
                limits.workspace_files
            ),
            Self::Artifacts => format!(
                "/out grew over {} or {} files",
                units::show_bytes(limits.artifact_bytes),
                limits.workspace_files
            ),
        }
    }
}
