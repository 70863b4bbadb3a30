//! The first file of a record: what was run, with what, and under which rules. Written once, before the run begins.

use std::path::PathBuf;

use postern_check::{ModelInfo, Thresholds};
use serde::{Deserialize, Serialize};

use crate::config::WhenUnavailable;
use crate::constraints::Explained;
use crate::ledger::InputLabels;
use crate::packages::Package;
use crate::policy::Agent;
use crate::sandbox::Limits;

/// What was run, and with what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The run's id.
    pub run: String,
    /// When it began.
    pub started: jiff::Timestamp,
    /// Postern's version.
    pub postern: String,
    /// The sandbox's version.
    pub wasmtime: String,
    /// The script's name, as given.
    pub script: String,
    /// SHA-256 of script.txt.
    pub script_sha256: String,
    /// The language it was taken for.
    pub language: String,
    /// BLAKE3 of the runner component.
    pub runner_blake3: String,
    /// SHA-256 over the configuration files; flags are not in it.
    pub config_sha256: String,
    /// SHA-256 over the texts of the policy that decided: the default one, the user's, the profile's. Empty in records
    /// of versions that did not say so.
    #[serde(default)]
    pub policy_version: String,
    /// The class of job that it was, if it had one.
    #[serde(default)]
    pub profile: Option<String>,
    /// On whose behalf it was.
    #[serde(default)]
    pub agent: Option<Agent>,
    /// The guard model; None when the embedder ran without one.
    #[serde(default)]
    pub guard: Option<GuardSettings>,
    /// What the user asked for.
    pub intent: String,
    /// The rules the user set.
    pub constraints: Vec<String>,
    /// Each clause of them, and what is checked of it.
    #[serde(default)]
    pub clauses: Vec<Explained>,
    /// Patterns of the tools that might be called.
    pub allow_tools: Vec<String>,
    /// What lay under /input.
    pub inputs: Vec<RecordedInput>,
    /// The packages that lay under /packages.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<Package>,
    /// The limits in force.
    pub limits: Limits,
    /// What its random numbers followed from, if they were not random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// SHA-256 of the public key that the record is signed with; empty in a record that is not.
    #[serde(default)]
    pub key_sha256: String,
}

/// With what the guard was asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GuardSettings {
    /// When scores meant asking and blocking.
    pub thresholds: Thresholds,
    /// What became of calls when it could not be asked.
    pub when_unavailable: WhenUnavailable,
    /// The folder of the weights, if the configuration names one.
    pub weights: Option<PathBuf>,
    /// The model, if it had answered before this run began. It starts beside the first script: then each outcome with
    /// scores names the weights, and so does report.json.
    pub model: Option<ModelInfo>,
}

/// An input, or something in it that has labels of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "InputForm")]
pub struct RecordedInput {
    /// Its name under /input.
    pub name: String,
    /// What was said of it; nothing: the user's own word, and nobody else's business.
    #[serde(flatten)]
    pub labels: InputLabels,
}

/// Older records have names alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum InputForm {
    Name(String),
    Labelled {
        name: String,
        #[serde(default)]
        trust: Option<postern_check::evidence::Trust>,
        #[serde(default)]
        holds: Option<crate::policy::Holds>,
    },
}

impl From<InputForm> for RecordedInput {
    fn from(form: InputForm) -> Self {
        match form {
            InputForm::Name(name) => Self { name, labels: InputLabels::default() },
            InputForm::Labelled { name, trust, holds } => Self { name, labels: InputLabels { trust, holds } },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_of_older_records_are_read() {
        let read: Vec<RecordedInput> =
            serde_json::from_str(r#"["a.csv", {"name": "b", "trust": "untrusted"}, {"name": "c"}]"#).unwrap();
        let written = serde_json::to_string(&read).unwrap();
        assert_eq!(written, r#"[{"name":"a.csv"},{"name":"b","trust":"untrusted"},{"name":"c"}]"#);
    }
}
