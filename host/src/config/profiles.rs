//! `[profiles.NAME]`: classes of job. A profile only ever takes away: what is not granted without it
//! is not granted with it, and its limits are at most those of `[limits]`. Nothing here decides about a
//! single call.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::ResultsConfig;
use super::inputs::Mount;
use super::policy::{read_now, source};
use crate::approval::ApprovalMode;
use crate::grants::{Grants, Pattern};
use crate::packages::{self, Package};
use crate::policy::Source;
use crate::sandbox::Limits;
use crate::script::Language;
use crate::{Error, Result};

/// What a class of job may do. What it does not say is as without a profile.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    /// What it is for.
    pub description: String,
    /// Host paths; only they, and what lies in them, can be given to a script as input. Inputs are
    /// always read-only. An empty list: no input at all.
    pub mounts: Option<Vec<Mount>>,
    /// Patterns of tools. Of the tools that are granted, only those may be called.
    pub tools: Option<Vec<String>>,
    /// Keys of `[limits]`, each at most what stands there.
    pub limits: toml::Table,
    /// What becomes of results in which something is found, where that is stricter than without it.
    pub results: ResultsConfig,
    /// What becomes of calls that a person has to decide; None: as `[approvals]` says. Where nobody is
    /// asked without the profile, nobody is asked with it.
    pub approvals: Option<ApprovalMode>,
    /// What scripts may be written in.
    pub languages: Option<Vec<LanguageName>>,
    /// Wheels that Python scripts may use beside the standard library.
    pub packages: Vec<Package>,
    /// A file with rules in Cedar, added to those that apply to every run.
    pub policy: Option<PathBuf>,
    #[serde(skip)]
    source: Option<Source>,
}

/// A language, as profiles and flags name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LanguageName {
    /// JavaScript.
    Js,
    /// TypeScript.
    Ts,
    /// Python.
    Py,
}

impl LanguageName {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        Language::from(self).name()
    }
}

impl From<LanguageName> for Language {
    fn from(name: LanguageName) -> Self {
        match name {
            LanguageName::Js => Self::JavaScript,
            LanguageName::Ts => Self::TypeScript,
            LanguageName::Py => Self::Python,
        }
    }
}

impl Profile {
    /// The limits of a run that would otherwise have these.
    ///
    /// # Errors
    /// A sentence that names the key that means nothing.
    pub fn limits(&self, base: &Limits) -> Result<Limits, String> {
        Ok(self.own_limits(base)?.strictest(base))
    }

    /// The patterns of its tools.
    ///
    /// # Errors
    /// If one is none.
    pub fn patterns(&self) -> Result<Option<Vec<Pattern>>> {
        let parse = |tools: &Vec<String>| tools.iter().map(|tool| Pattern::parse(tool)).collect();
        self.tools.as_ref().map(parse).transpose()
    }

    /// These grants, without what the profile takes away.
    ///
    /// # Errors
    /// If a pattern is none.
    pub(crate) fn narrow(&self, grants: Grants) -> Result<Grants> {
        Ok(match self.patterns()? {
            Some(patterns) => grants.within(patterns),
            None => grants,
        })
    }

    /// Its own policy text, if it has one.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn source(&self) -> Result<Option<Source>> {
        source(self.policy.as_deref(), self.source.as_ref())
    }

    /// Whether a script of this language may be run.
    pub fn admits_language(&self, language: Language) -> bool {
        let all = self.languages.as_deref();
        all.is_none_or(|all| all.iter().any(|name| Language::from(*name) == language))
    }

    /// Whether this host path may be given to a script. Links are followed first.
    pub fn admits_input(&self, path: &Path) -> bool {
        let Some(mounts) = &self.mounts else { return true };
        let Ok(real) = path.canonicalize() else { return false };
        mounts.iter().filter_map(|mount| mount.path.canonicalize().ok()).any(|mount| real.starts_with(mount))
    }

    /// Whether the values make sense beside the run's own limits.
    pub(super) fn validate(&self, base: &Limits) -> Result<(), String> {
        let own = self.own_limits(base)?;
        own.validate().map_err(|e| format!("limits: {e}"))?;
        self.results.validate(base)?;
        self.patterns().map_err(|e| format!("tools: {e}"))?;
        packages::each_once(&self.packages).map_err(|e| format!("packages: {e}"))
    }

    /// The first key that is above what `[limits]` allows.
    pub(super) fn exceeds(&self, base: &Limits) -> Option<&'static str> {
        self.own_limits(base).ok().and_then(|own| own.exceeds(base))
    }

    pub(super) fn make_absolute(&mut self, base: &Path) {
        let mounts = self.mounts.iter_mut().flatten().map(|mount| &mut mount.path);
        for path in mounts.chain(&mut self.policy) {
            if path.is_relative() {
                *path = base.join(&path);
            }
        }
    }

    pub(super) fn read(&mut self, digest: &mut sha2::Sha256) -> Result<()> {
        read_now(self.policy.as_deref(), &mut self.source, digest)
    }

    fn own_limits(&self, base: &Limits) -> Result<Limits, String> {
        let mut all = toml::Table::try_from(base).map_err(|e| format!("limits: {e}"))?;
        all.extend(self.limits.clone());
        all.try_into().map_err(|e: toml::de::Error| format!("limits: {}", e.message()))
    }
}

/// No profile of this name.
pub(crate) fn unknown<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Error {
    let near = crate::upstream::near(name, known.clone());
    let all: Vec<&str> = known.collect();
    let hint = match (near.is_empty(), all.is_empty()) {
        (false, _) => format!("did you mean {}?", near.join(", ")),
        (true, false) => format!("there is: {}", all.join(", ")),
        (true, true) => "profiles stand in postern.toml as [profiles.NAME]".into(),
    };
    Error::Profile {
        code: "profile-unknown",
        message: format!("there is no profile {name:?}"),
        hint: Some(hint),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::time::Duration;

    fn profile(text: &str) -> Profile {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn limits_only_become_stricter() {
        let base = Limits::default();
        let tight = profile("[limits]\nwall_time = \"5s\"\nmax_calls = 3");
        let limits = tight.limits(&base).unwrap();
        assert_eq!((limits.wall_time, limits.max_calls), (Duration::from_secs(5), 3));
        assert_eq!(limits.memory, base.memory);
        // A flag that is stricter still wins.
        let flag = Limits { max_calls: 1, ..base.clone() };
        assert_eq!(tight.limits(&flag).unwrap().max_calls, 1);
        assert_eq!(tight.exceeds(&base), None);
        assert_eq!(profile("[limits]\nmemory = \"4GiB\"").exceeds(&base), Some("memory"));
        assert!(profile("[limits]\nmax_cals = 3").validate(&base).unwrap_err().contains("max_cals"));
        assert!(profile("[limits]\nwall_time = 0").validate(&base).unwrap_err().contains("wall_time"));
    }

    #[test]
    fn languages_and_patterns() {
        let profile = profile("languages = [\"ts\"]\ntools = [\"crm/list_*\"]");
        assert!(profile.admits_language(Language::TypeScript) && !profile.admits_language(Language::Python));
        assert_eq!(profile.patterns().unwrap().unwrap().len(), 1);
        assert!(Profile::default().admits_language(Language::Python));
        assert!(
            Profile { tools: Some(vec!["search".into()]), ..profile }.validate(&Limits::default()).is_err()
        );
    }

    #[test]
    fn inputs_lie_in_what_is_mounted() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["data", "data-secret"] {
            std::fs::create_dir(path(name)).unwrap();
            std::fs::write(path(name).join("x"), "x").unwrap();
        }
        let profile = Profile { mounts: Some(vec![path("data").into()]), ..Profile::default() };
        assert!(profile.admits_input(&path("data")) && profile.admits_input(&path("data/x")));
        assert!(!profile.admits_input(&path("data-secret/x")) && !profile.admits_input(&path("nowhere")));
        assert!(!profile.admits_input(&path("data/../data-secret/x")));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(path("data-secret/x"), path("data/link")).unwrap();
            assert!(!profile.admits_input(&path("data/link")));
        }
        assert!(!Profile { mounts: Some(Vec::new()), ..Profile::default() }.admits_input(&path("data")));
        assert!(Profile::default().admits_input(&path("data")));
    }

    #[test]
    fn an_unknown_profile_names_those_that_are_near() {
        let error = unknown("reprots", ["reports", "triage"].into_iter());
        assert_eq!(error.code(), "profile-unknown");
        assert!(error.hint().unwrap().contains("reports"));
    }
}
