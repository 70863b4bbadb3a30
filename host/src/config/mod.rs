//! Configuration: postern.toml, and what the command line adds to it. A key that is not known is an
//! error, for a misspelt rule would otherwise be no rule.

pub(crate) mod inputs;
mod policy;
pub(crate) mod profiles;
mod results;
pub mod units;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use postern_check::Thresholds;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::approval::{ApprovalMode, DEFAULT_APPROVAL_TIME};
use crate::grants::{Grants, Pattern};
use crate::guard::WorkerOptions;
use crate::ledger::InputLabels;
use crate::policy::{Agent, Known, Policy};
use crate::sandbox::Limits;
use crate::upstream::{Problem, ServerConfig, Transport, read_mcp_config};
use crate::{Error, Result};

pub use inputs::Mount;
pub use policy::PolicyConfig;
pub use profiles::{LanguageName, Profile};
pub use results::{OnFound, ResultRules, ResultsConfig};

/// The name that is looked for in the current folder.
pub const FILE_NAME: &str = "postern.toml";

/// Everything that can be configured.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// MCP servers by name.
    pub servers: BTreeMap<String, ServerConfig>,
    /// Further files in the form of Claude Desktop, Cursor and VS Code.
    pub mcp_config: Vec<PathBuf>,
    /// Patterns of tools that a run may call. When there are any, the servers' own grants do not count.
    pub allow_tools: Vec<String>,
    /// What one run may use.
    pub limits: Limits,
    /// What becomes of results in which something is found.
    pub results: ResultsConfig,
    /// The guard model.
    pub guard: GuardConfig,
    /// Asking people.
    pub approvals: ApprovalsConfig,
    /// On whose behalf runs act.
    pub agent: Agent,
    /// What rules decide about calls.
    pub policy: PolicyConfig,
    /// Classes of job, by name.
    pub profiles: BTreeMap<String, Profile>,
    /// What is said of host paths that are given to scripts as input: the longest path that a file lies in counts.
    pub inputs: BTreeMap<PathBuf, InputLabels>,
    /// What is written into records.
    pub record: RecordConfig,
    /// Where records are kept.
    pub record_dir: Option<PathBuf>,
    /// What is wrong with single servers; the others work.
    #[serde(skip)]
    pub problems: Vec<Problem>,
    /// SHA-256 over the files this was read from.
    #[serde(skip)]
    digest: Sha256,
}

/// `[guard]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GuardConfig {
    /// The folder of the weights.
    pub weights: Option<PathBuf>,
    /// `auto`, `cpu`, `cuda` or `cuda:N`.
    pub device: Option<String>,
    /// The worker program.
    pub worker: Option<PathBuf>,
    /// Threads for computing.
    pub threads: Option<u32>,
    /// When scores mean asking and blocking.
    pub thresholds: Thresholds,
    /// What becomes of calls when the model cannot be asked.
    pub when_unavailable: WhenUnavailable,
}

/// What becomes of calls when the guard model cannot be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhenUnavailable {
    /// They are refused.
    #[default]
    Refuse,
    /// Those pass that only read from a trusted server, reach nobody outside, and that the rules alone allow.
    AllowTrustedReads,
}

/// `[record]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RecordConfig {
    /// Patterns of arguments that are left out, beside what looks like a secret: `*.pin`, `crm/create.person.*`.
    pub redact: Vec<String>,
}

/// `[approvals]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ApprovalsConfig {
    /// What becomes of calls that a person has to decide.
    pub mode: ApprovalMode,
    /// How long a question stays open.
    #[serde(deserialize_with = "units::duration::deserialize")]
    pub timeout: Duration,
}

impl Default for ApprovalsConfig {
    fn default() -> Self {
        Self { mode: ApprovalMode::default(), timeout: DEFAULT_APPROVAL_TIME }
    }
}

impl Config {
    /// Reads a file. Paths in it are relative to it.
    ///
    /// # Errors
    /// If it cannot be read, is no TOML, has a key or a value that means nothing.
    pub fn read(path: &Path) -> Result<Self> {
        let fault = |message: String| Error::Config { path: path.to_owned(), message };
        let text = std::fs::read_to_string(path).map_err(|e| fault(format!("cannot be read: {e}")))?;
        let mut config: Self = toml::from_str(&text).map_err(|e| fault(without_values(&e, &text)))?;
        config.digest.update(text.as_bytes());
        config.make_absolute(path.parent().unwrap_or(Path::new("")));
        for (name, server) in &config.servers {
            if let Some(unknown) = server.warnings.iter().find(|warning| warning.contains("no such key")) {
                return Err(fault(format!("servers.{name}: {unknown}")));
            }
            let say =
                |message: &String| Problem { server: name.clone(), tool: None, message: message.clone() };
            config.problems.extend(server.warnings.iter().map(say));
            if let Transport::Unusable { reason } = &server.transport {
                config.problems.push(say(reason));
            }
        }
        for file in std::mem::take(&mut config.mcp_config) {
            config.add_mcp_config(&file)?;
        }
        config.policy.read(&mut config.digest)?;
        for profile in config.profiles.values_mut() {
            profile.read(&mut config.digest)?;
        }
        config.validate().map_err(|e| match e {
            Error::Setting(message) => fault(message),
            other => other,
        })?;
        // Only of the file: a flag may be stricter than a profile.
        for (name, profile) in &config.profiles {
            if let Some(limit) = profile.exceeds(&config.limits) {
                return Err(fault(format!(
                    "profiles.{name}: limits.{limit} is above that of [limits]; a profile can only be stricter"
                )));
            }
            if let Some(key) = profile.results.laxer(&config.results) {
                return Err(fault(format!(
                    "profiles.{name}: results.{key} is laxer than that of [results]; a profile can only be stricter"
                )));
            }
        }
        Ok(config)
    }

    /// The file that was named, else the one in the current folder, else the defaults.
    ///
    /// # Errors
    /// As [`read`](Self::read). A file that was not named need not exist.
    pub fn find(named: Option<&Path>) -> Result<Self> {
        match named {
            Some(path) => Self::read(path),
            None if Path::new(FILE_NAME).is_file() => Self::read(Path::new(FILE_NAME)),
            None => Ok(Self::default()),
        }
    }

    /// Adds the servers of a file in the form of Claude Desktop, Cursor or VS Code.
    ///
    /// # Errors
    /// If the file cannot be read, or names a server that is there already.
    pub fn add_mcp_config(&mut self, path: &Path) -> Result<()> {
        let added = read_mcp_config(path)?;
        self.digest.update(std::fs::read(path).unwrap_or_default());
        self.problems.extend(added.problems);
        for (name, server) in added.servers {
            if self.servers.contains_key(&name) {
                let message = format!("the server {name:?} is configured twice; rename one of the two");
                return Err(Error::Config { path: path.to_owned(), message });
            }
            self.servers.insert(name, server);
        }
        Ok(())
    }

    /// Whether the values make sense together.
    ///
    /// # Errors
    /// [`Error::Setting`], which names the value.
    pub fn validate(&self) -> Result<()> {
        self.limits.validate().map_err(|e| Error::Setting(format!("limits: {e}")))?;
        self.guard.thresholds.validate().map_err(|e| Error::Setting(format!("guard.thresholds: {e}")))?;
        self.results.validate(&self.limits).map_err(Error::Setting)?;
        for (name, server) in &self.servers {
            let fits = server.results.validate(&self.limits);
            fits.map_err(|e| Error::Setting(format!("servers.{name}.{e}")))?;
        }
        for (name, profile) in &self.profiles {
            profile.validate(&self.limits).map_err(|e| Error::Setting(format!("profiles.{name}: {e}")))?;
        }
        crate::record::Redactor::new(&self.record.redact)?;
        self.grants().map(drop)
    }

    /// The policy that decides about calls of a run, with the rules of its profile if it has one.
    ///
    /// # Errors
    /// [`Error::Policy`] if a text means nothing, [`Error::Profile`] if there is no such profile.
    pub fn compile_policy(&self, profile: Option<&str>, known: &Known) -> Result<Policy> {
        let mut sources = self.policy.sources()?;
        if let Some(name) = profile {
            sources.extend(self.profile(name)?.source()?);
        }
        Policy::compile(sources, known)
    }

    /// The profile of this name.
    ///
    /// # Errors
    /// [`Error::Profile`], which names those that are near.
    pub fn profile(&self, name: &str) -> Result<&Profile> {
        let names = self.profiles.keys().map(String::as_str);
        self.profiles.get(name).ok_or_else(|| profiles::unknown(name, names))
    }

    /// The tools that a run may call: `allow_tools` when there are any, else what each server's `grant`
    /// says. Naming a server grants nothing.
    ///
    /// # Errors
    /// If a pattern is none.
    pub fn grants(&self) -> Result<Grants> {
        if !self.allow_tools.is_empty() {
            return self
                .allow_tools
                .iter()
                .map(|p| Pattern::parse(p))
                .collect::<Result<_>>()
                .map(Grants::new);
        }
        if let Some(name) = self.servers.keys().find(|name| name.contains(['*', '?'])) {
            return Err(Error::Setting(format!(
                "a server cannot be called {name:?}: * and ? stand for others in patterns"
            )));
        }
        let of_server = |(name, server): (&String, &ServerConfig)| {
            let patterns = server.grant.as_deref().unwrap_or_default();
            patterns.iter().map(|tool| Pattern::parse(&format!("{name}/{tool}"))).collect::<Vec<_>>()
        };
        self.servers.iter().flat_map(of_server).collect::<Result<_>>().map(Grants::new)
    }

    /// The same under a profile, which can only take away.
    ///
    /// # Errors
    /// If a pattern is none, or there is no such profile.
    pub fn grants_under(&self, profile: Option<&str>) -> Result<Grants> {
        let grants = self.grants()?;
        match profile {
            Some(name) => self.profile(name)?.narrow(grants),
            None => Ok(grants),
        }
    }

    /// How the guard worker is started.
    pub fn worker_options(&self) -> WorkerOptions {
        WorkerOptions {
            program: self.guard.worker.clone(),
            weights: self.guard.weights.clone(),
            device: self.guard.device.clone(),
            threads: self.guard.threads,
        }
    }

    /// SHA-256 over the files this was read from, in hex.
    pub fn digest(&self) -> String {
        crate::sandbox::hex(&self.digest.clone().finalize())
    }

    fn make_absolute(&mut self, base: &Path) {
        for profile in self.profiles.values_mut() {
            profile.make_absolute(base);
        }
        inputs::make_absolute(&mut self.inputs, base);
        let paths =
            [&mut self.guard.weights, &mut self.guard.worker, &mut self.record_dir, &mut self.policy.file];
        for path in paths.into_iter().flatten().chain(&mut self.mcp_config) {
            if path.is_relative() {
                *path = base.join(&path);
            }
        }
    }
}

/// The error with its place and its key, but without the value that stands there: it may be a secret.
fn without_values(error: &toml::de::Error, text: &str) -> String {
    let Some(span) = error.span() else { return error.message().to_owned() };
    let before = &text[..span.start];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let (line, column) = (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1);
    let whole = text[line_start..].lines().next().unwrap_or_default();
    let key = whole.split_once('=').map(|(key, _)| format!(" ({})", key.trim())).unwrap_or_default();
    let value = text.get(span).unwrap_or_default().trim_matches(['"', '\'']);
    let message = error.message();
    let about_a_value = ["invalid type: string", "invalid value: string", "unknown variant"];
    let message = match about_a_value.iter().any(|start| message.starts_with(start)) && !value.is_empty() {
        true => message.replace(value, "..."),
        false => message.to_owned(),
    };
    format!("line {line}, column {column}{key}: {message}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        std::fs::write(&path, text).unwrap();
        Config::read(&path)
    }

    #[test]
    fn an_empty_file_is_the_defaults() {
        let config = read("").unwrap();
        assert_eq!(config.limits, Limits::default());
        assert_eq!(config.guard.thresholds, Thresholds::default());
        assert!(config.servers.is_empty() && !config.grants().unwrap().allow("a", "b"));
    }

    #[test]
    fn what_is_not_known_is_an_error_with_its_line() {
        for (text, hint) in [
            ("[limits]\nwall_tiem = \"1s\"", "line 2"),
            ("[guard.thresholds]\nblock_unsafe = 2", "block_unsafe"),
            ("[limits]\nmemory = \"lots\"", "256MiB"),
            ("[servers.a]\nargs = \"sk-secret\"", "line 2"),
            ("allow_tools = [\"search\"]", "server/tool"),
            ("[approvals]\nmode = \"always\"", "line 2"),
            ("[policy]\ndefaultAction = \"deny\"", "line 2"),
            ("[agent]\nname = \"x\"", "line 2"),
            ("[guard]\nwhen_unavailable = \"allow\"", "line 2"),
            ("[inputs.a]\ntrust = \"no\"", "line 2"),
            ("[inputs.a]\nsink = \"none\"", "line 2"),
            ("[profiles.a]\ntool = []", "line 2"),
            ("[profiles.a.limits]\nwall_tiem = \"1s\"", "wall_tiem"),
            ("[profiles.a.limits]\nmax_calls = 1000", "max_calls"),
            ("[results]\nsecret = \"pass\"", "`secrets`"),
            ("[results]\nsecrets = \"deny\"", "line 2"),
            ("[results]\nmax_bytes = \"1GiB\"", "limits.max_result_bytes"),
            ("[servers.a]\ncommand = \"x\"\n[servers.a.results]\nsecret = \"pass\"", "`secrets`"),
            ("[servers.a]\ncommand = \"x\"\nresults.max_bytes = \"1GiB\"", "servers.a.results.max_bytes"),
            ("[results]\nsecrets = \"block\"\n[profiles.a.results]\nsecrets = \"pass\"", "laxer"),
            ("[profiles.a.results]\nsecrets = \"no\"", "line 2"),
            ("x", "line 1"),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!(error.code(), "config-invalid", "{text}");
            assert!(error.to_string().contains(hint), "{text}: {error}");
            assert!(!error.to_string().contains("sk-secret"), "{error}");
        }
    }

    #[test]
    fn a_policy_file_is_part_of_the_configuration() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        std::fs::write(&path, "[policy]\nfile = \"p.cedar\"\n[profiles.a]\npolicy = \"a.cedar\"").unwrap();
        assert_eq!(Config::read(&path).unwrap_err().code(), "policy-invalid");
        let permit = "@id(\"mine\") permit (principal, action, resource);";
        std::fs::write(folder.path().join("p.cedar"), permit).unwrap();
        let rule = "@id(\"of-a\") forbid (principal, action, resource) when { context.calls > 5 };";
        std::fs::write(folder.path().join("a.cedar"), rule).unwrap();
        let config = Config::read(&path).unwrap();
        let known = Known::default();
        let plain = config.compile_policy(None, &known).unwrap();
        assert!(plain.rule("granted").is_some() && plain.rule("mine").is_some());
        let of_profile = config.compile_policy(Some("a"), &known).unwrap();
        assert!(of_profile.rule("of-a").is_some() && of_profile.version() != plain.version());
        assert_eq!(config.compile_policy(Some("b"), &known).unwrap_err().code(), "profile-unknown");
        std::fs::write(folder.path().join("a.cedar"), format!("{rule} ")).unwrap();
        assert_ne!(Config::read(&path).unwrap().digest(), config.digest());
        // What was read stays in force.
        assert_eq!(config.compile_policy(Some("a"), &known).unwrap().version(), of_profile.version());
    }

    #[test]
    fn a_server_grants_what_it_says() {
        let servers = "[servers.a]\ncommand = \"x\"\ngrant = [\"list_*\"]\n[servers.b]\ncommand = \"y\"\n";
        let grants = read(servers).unwrap().grants().unwrap();
        assert!(grants.allow("a", "list_x") && !grants.allow("a", "drop") && !grants.allow("b", "drop"));
        let grants = read(&format!("allow_tools = [\"a/*\"]\n{servers}")).unwrap().grants().unwrap();
        assert!(grants.allow("a", "drop") && !grants.allow("b", "drop"));
    }
}
