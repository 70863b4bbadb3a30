//! From a configuration to a [`Host`]: what an embedder may replace, and what profiles narrow. Starts
//! nothing.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::{Conditions, Host, Settings};
use crate::approval::{
    ApprovalMode, Approver, Asked, DeniesAll, NobodyApproves, Queue, QueueApprover, Sealer, TerminalApprover,
};
use crate::config::{Config, Profile};
use crate::gate::{Pattern, Results};
use crate::guard::Guard;
use crate::packages::Store;
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
    pub(super) asked: Option<Asked>,
    pub(super) local: Vec<(String, Arc<dyn LocalServer>)>,
    pub(super) records: Option<PathBuf>,
    pub(super) profile: Option<String>,
    pub(super) pins: Option<Pins>,
    pub(super) packages: Store,
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

    /// Is told of every question that is put into the queue of approvals.
    #[must_use]
    pub fn on_question(mut self, asked: Asked) -> Self {
        self.asked = Some(asked);
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

    /// Another place for the packages that profiles name.
    #[must_use]
    pub fn packages(mut self, store: Store) -> Self {
        self.packages = store;
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
        let approvers = Approvers { mode: self.config.approvals.mode, own: self.approver, asked: self.asked };
        let plain = Conditions {
            grants,
            limits: self.config.limits.clone(),
            results: Results { all: self.config.results.clone(), ..Results::default() },
            approver: approvers.of(None)?,
            policy: self.config.compile_policy(None, &known)?,
        };
        let mut profiles = BTreeMap::new();
        for (name, profile) in &self.config.profiles {
            let policy = match profile.policy {
                Some(_) => self.config.compile_policy(Some(name), &known)?,
                None => plain.policy.clone(),
            };
            let conditions = plain.narrowed(name, profile, policy, &approvers)?;
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
            approval_time: self.config.approvals.timeout,
            packages: self.packages,
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
            sealer: Arc::new(Sealer::new()?),
            settings: Arc::new(settings),
        })
    }
}

/// Who decides, by what is configured.
struct Approvers {
    mode: ApprovalMode,
    /// The embedder's own, who takes the place of terminal and queue.
    own: Option<Arc<dyn Approver>>,
    asked: Option<Asked>,
}

impl Approvers {
    /// Of runs of this profile; None: of those without one.
    fn of(&self, profile: Option<(&str, ApprovalMode)>) -> Result<Arc<dyn Approver>> {
        let mode = self.mode.narrowed(profile.map(|(_, mode)| mode));
        let who = match profile {
            Some((name, own)) if own == mode => format!("the profile {name}"),
            _ => "the configuration".to_owned(),
        };
        Ok(match (mode, &self.own) {
            (ApprovalMode::Deny, _) => {
                Arc::new(DeniesAll::new(format!("{who} refuses what a person would have to approve")))
            }
            (ApprovalMode::Never, _) => Arc::new(NobodyApproves),
            (ApprovalMode::Terminal | ApprovalMode::Queue, Some(own)) => Arc::clone(own),
            (ApprovalMode::Terminal, None) => match TerminalApprover::new() {
                Some(terminal) => Arc::new(terminal),
                None => Arc::new(NobodyApproves),
            },
            (ApprovalMode::Queue, None) => {
                let approver = QueueApprover::new(Queue::open(&crate::record::state_folder())?);
                match &self.asked {
                    Some(asked) => Arc::new(approver.on_question(Arc::clone(asked))),
                    None => Arc::new(approver),
                }
            }
        })
    }
}

impl Conditions {
    fn narrowed(&self, name: &str, profile: &Profile, policy: Policy, approvers: &Approvers) -> Result<Self> {
        let limits = profile.limits(&self.limits);
        let limits = limits.map_err(|e| Error::Setting(format!("profiles.{name}: {e}")))?;
        let approver = match profile.approvals {
            Some(own) => approvers.of(Some((name, own)))?,
            None => Arc::clone(&self.approver),
        };
        let grants = profile.narrow(self.grants.clone())?;
        let results = Results { profile: profile.results.clone(), ..self.results.clone() };
        Ok(Self { grants, limits, results, approver, policy })
    }
}
