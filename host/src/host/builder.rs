//! From a configuration to a [`Host`]: what an embedder may replace, and what profiles narrow. Starts
//! nothing.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::{Conditions, Host, Settings};
use crate::approval::{ApprovalMode, Approver, DeniesAll, NobodyApproves, Sealer, TerminalApprover};
use crate::config::{Approvals, Config, Profile};
use crate::gate::Pattern;
use crate::guard::Guard;
use crate::pins::Pins;
use crate::policy::{Known, Policy};
use crate::sandbox::{Runners, Sandbox};
use crate::upstream::{LocalServer, Upstreams};
use crate::{Error, Result};

/// Puts a [`Host`] together.
pub struct HostBuilder {
    pub(super) config: Config,
    pub(super) runners: Runners,
    pub(super) guard: Option<Arc<dyn Guard>>,
    pub(super) approver: Option<Arc<dyn Approver>>,
    pub(super) local: Vec<(String, Arc<dyn LocalServer>)>,
    pub(super) records: Option<PathBuf>,
    pub(super) profile: Option<String>,
    pub(super) pins: Option<Pins>,
}

impl HostBuilder {
    /// Where tools are pinned when they are first used. Without it nothing notices that a tool has changed
    /// since the last run.
    #[must_use]
    pub fn pins(mut self, pins: Pins) -> Self {
        self.pins = Some(pins);
        self
    }

    /// Another guard than the worker process.
    #[must_use]
    pub fn guard(mut self, guard: Arc<dyn Guard>) -> Self {
        self.guard = Some(guard);
        self
    }

    /// No guard model: only the deterministic steps decide. For measurements, and for embedders who
    /// have a judge of their own behind their tools.
    #[must_use]
    pub fn without_guard(mut self) -> Self {
        self.guard = None;
        self
    }

    /// Somebody else who decides what must be asked.
    #[must_use]
    pub fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Tools in this process. They are granted by `allow_tools`, or all when there is none.
    #[must_use]
    pub fn local_server(mut self, name: impl Into<String>, server: Arc<dyn LocalServer>) -> Self {
        self.local.push((name.into(), server));
        self
    }

    /// The profile of scripts that name none.
    #[must_use]
    pub fn profile(mut self, name: impl Into<String>) -> Self {
        self.profile = Some(name.into());
        self
    }

    /// No records: nothing about a run outlives it.
    #[must_use]
    pub fn without_records(mut self) -> Self {
        self.records = None;
        self
    }

    /// Other places for language runtimes and compiled code.
    #[must_use]
    pub fn runners(mut self, runners: Runners) -> Self {
        self.runners = runners;
        self
    }

    /// The host. Starts nothing yet.
    ///
    /// # Errors
    /// If the configuration or a policy makes no sense, or the platform cannot run the sandbox.
    pub fn build(self) -> Result<Host> {
        self.config.validate()?;
        if let Some(name) = &self.profile {
            self.config.profile(name)?;
        }
        let mut known = Known::servers(self.config.servers.keys());
        for (name, server) in &self.local {
            known = known.with_tools(name, server.tools().into_iter().map(|tool| tool.name));
        }
        let mut grants = self.config.grants()?;
        if self.config.allow_tools.is_empty() {
            let local = self.local.iter().map(|(name, _)| Pattern::parse(&format!("{name}/*")));
            grants = grants.with(local.collect::<Result<_>>()?);
        }
        let plain = Conditions {
            grants,
            limits: self.config.limits.clone(),
            approver: self.approver.unwrap_or_else(|| default_approver(self.config.approval.mode)),
            policy: self.config.compile_policy(None, &known)?,
        };
        let mut profiles = BTreeMap::new();
        for (name, profile) in &self.config.profiles {
            let policy = match profile.policy {
                Some(_) => self.config.compile_policy(Some(name), &known)?,
                None => plain.policy.clone(),
            };
            let conditions = plain.narrowed(name, profile, policy)?;
            profiles.insert(name.clone(), (profile.clone(), conditions));
        }
        let settings = Settings {
            plain,
            profiles,
            profile: self.profile,
            agent: self.config.agent.clone(),
            thresholds: self.config.guard.thresholds,
            when_unavailable: self.config.guard.when_unavailable,
            weights: self.config.guard.weights.clone(),
            inputs: self.config.inputs.clone(),
            approval_time: self.config.approval.timeout,
            records: self.records,
            redact: self.config.record.redact.clone(),
            config_sha256: self.config.digest(),
        };
        let most = usize::try_from(self.config.limits.max_result_bytes).unwrap_or(usize::MAX);
        let mut upstreams = Upstreams::builder().with_servers(self.config.servers).max_result_bytes(most);
        for (name, server) in self.local {
            upstreams = upstreams.with_local(name, server);
        }
        Ok(Host {
            sandbox: Sandbox::new(self.runners)?,
            upstreams: upstreams.build(),
            guard: self.guard,
            pins: self.pins.map(Arc::new),
            sealer: Arc::new(Sealer::new().map_err(|e| Error::Sandbox(format!("no random bytes: {e}")))?),
            settings: Arc::new(settings),
        })
    }
}

fn default_approver(mode: ApprovalMode) -> Arc<dyn Approver> {
    match (mode, TerminalApprover::new()) {
        (ApprovalMode::Ask, Some(terminal)) => Arc::new(terminal),
        _ => Arc::new(NobodyApproves),
    }
}

impl Conditions {
    fn narrowed(&self, name: &str, profile: &Profile, policy: Policy) -> Result<Self> {
        let limits = profile.limits(&self.limits);
        let limits = limits.map_err(|e| Error::Setting(format!("profiles.{name}: {e}")))?;
        let approver: Arc<dyn Approver> = match profile.approvals {
            Approvals::Ask => Arc::clone(&self.approver),
            Approvals::Never => Arc::new(NobodyApproves),
            Approvals::Deny => Arc::new(DeniesAll::new(format!(
                "the profile {name} refuses what a person would have to approve"
            ))),
        };
        let grants = match profile.patterns()? {
            Some(patterns) => self.grants.clone().within(patterns),
            None => self.grants.clone(),
        };
        Ok(Self { grants, limits, approver, policy })
    }
}
