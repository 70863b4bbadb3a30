//! What of the configuration applies to runs: to all of them, and under a profile. Nothing of a single run is kept
//! here.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use postern_check::Thresholds;

use super::Script;
use crate::approval::Approver;
use crate::conclude::Preparation;
use crate::config::{Profile, WhenUnavailable, inputs, profiles};
use crate::gate::{Grants, Results};
use crate::ledger::{InputLabels, InputRules};
use crate::packages::{Package, Store};
use crate::policy::{Agent, Policy};
use crate::sandbox::{Input, Limits};
use crate::script::Language;
use crate::{Error, Result};

/// What of the configuration applies to every run.
pub(super) struct Settings {
    /// Of runs without a profile.
    pub(super) plain: Conditions,
    pub(super) profiles: BTreeMap<String, (Profile, Conditions)>,
    /// The profile of scripts that name none.
    pub(super) profile: Option<String>,
    pub(super) agent: Agent,
    pub(super) thresholds: Thresholds,
    pub(super) when_unavailable: WhenUnavailable,
    /// The folder of the guard's weights, if the configuration names one.
    pub(super) weights: Option<PathBuf>,
    /// What the configuration says of host paths that are given as input.
    pub(super) inputs: BTreeMap<PathBuf, InputLabels>,
    pub(super) approval_time: std::time::Duration,
    pub(super) packages: Store,
    pub(super) records: Option<PathBuf>,
    pub(super) redact: Vec<String>,
    pub(super) config_sha256: String,
}

/// Under what a run happens: as configured, or as a profile narrows it.
pub(super) struct Conditions {
    pub(super) grants: Grants,
    pub(super) limits: Limits,
    pub(super) results: Results,
    pub(super) approver: Arc<dyn Approver>,
    pub(super) policy: Policy,
}

impl Settings {
    pub(super) fn conditions(&self, profile: Option<&str>) -> Result<&Conditions> {
        let Some(name) = profile else { return Ok(&self.plain) };
        let names = self.profiles.keys().map(String::as_str);
        let (_, conditions) = self.profiles.get(name).ok_or_else(|| profiles::unknown(name, names))?;
        Ok(conditions)
    }

    /// What is said of these inputs: with the run, in the configuration, by its profile.
    pub(super) fn input_rules(&self, script: &Script, inputs: &[Input], profile: Option<&str>) -> InputRules {
        if inputs.is_empty() {
            return InputRules::default();
        }
        let profile = profile.and_then(|name| self.profiles.get(name));
        let mounts = profile.into_iter().flat_map(|(profile, _)| profile.mounts.iter().flatten());
        InputRules {
            run: inputs
                .iter()
                .zip(&script.inputs)
                .filter(|(_, (_, labels))| !labels.is_empty())
                .map(|(input, (_, labels))| (input.path.clone(), *labels))
                .collect(),
            config: inputs::real(self.inputs.iter().map(|(path, labels)| (path, *labels))),
            profile: inputs::real(mounts.map(|mount| (&mount.path, mount.labels))),
        }
    }

    /// The packages of a Python script's profile; no other script has any.
    pub(super) fn packages(&self, profile: Option<&str>, prepared: &Preparation) -> &[Package] {
        let of_profile = profile.and_then(|name| self.profiles.get(name));
        match (of_profile, prepared) {
            (Some((profile, _)), Preparation::Ready(prepared)) if prepared.language == Language::Python => {
                &profile.packages
            }
            _ => &[],
        }
    }

    /// The folder with all of them.
    pub(super) fn packages_folder(
        &self,
        profile: Option<&str>,
        packages: &[Package],
    ) -> Result<Option<PathBuf>> {
        if packages.is_empty() {
            return Ok(None);
        }
        let set = self.packages.set(packages).map(Some);
        set.map_err(|error| match (error, profile) {
            (Error::Package { code: code @ "package-missing", message, .. }, Some(name)) => {
                let hint = format!("run `postern packages fetch --profile {name}`");
                Error::Package { code, message, hint: Some(hint) }
            }
            (other, _) => other,
        })
    }

    /// Whether a script of this kind with these inputs may be run under the profile. A text that is no
    /// script is let through: its run says so better.
    pub(super) fn admit(
        &self,
        name: &str,
        prepared: &Preparation,
        inputs: &[(PathBuf, InputLabels)],
    ) -> Result<()> {
        let Some((profile, _)) = self.profiles.get(name) else { return Ok(()) };
        let refused = |message: String, hint: String| Error::Profile {
            code: "profile-refused",
            message,
            hint: Some(hint),
        };
        if let Preparation::Ready(prepared) = prepared
            && !profile.admits_language(prepared.language)
        {
            let all = profile.languages.iter().flatten().map(|language| language.name());
            let all = all.collect::<Vec<_>>().join(", ");
            let message = format!("the profile {name} admits no {}", prepared.language.name());
            return Err(refused(
                message,
                format!("it admits: {}", if all.is_empty() { "nothing" } else { &all }),
            ));
        }
        if let Some(input) = inputs.iter().map(|(path, _)| path).find(|input| !profile.admits_input(input)) {
            let message = format!("the profile {name} does not admit the input {}", input.display());
            let mounts = profile.mounts.iter().flatten().map(|mount| mount.path.display().to_string());
            let mounts = mounts.collect::<Vec<_>>().join(", ");
            let none = "it admits no input at all".to_owned();
            return Err(refused(
                message,
                if mounts.is_empty() { none } else { format!("it admits what lies in: {mounts}") },
            ));
        }
        Ok(())
    }
}
