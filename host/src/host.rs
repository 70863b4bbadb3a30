//! What an embedder sees: a [`Host`] runs [`Script`]s and gives [`Report`]s.

mod builder;
mod script;
mod settings;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::approval::Sealer;
use crate::conclude::{self, Preparation};
use crate::config::Config;
use crate::constraints::Constraints;
use crate::gate::{Gate, GateParts, Grants, Tools};
use crate::guard::{Guard, WorkerGuard};
use crate::ledger::InputRules;
use crate::packages::{Package, Store};
use crate::pins::Pins;
use crate::policy::Policy;
use crate::record::{
    Closing, GuardSettings, Manifest, Promotion, Record, RecordKey, RecordedInput, Redactor,
};
use crate::report::Report;
use crate::sandbox::{ArtifactFile, CompiledRunner, Door, Input, Job, RunClock, Runners, Sandbox, Workspace};
use crate::upstream::Upstreams;
use crate::{Error, Result};

pub use builder::HostBuilder;
pub use script::Script;
use settings::{Conditions, Settings};

/// How long calls that were given up may take to write down that they were.
const SETTLE_TIME: std::time::Duration = std::time::Duration::from_millis(200);

/// Runs scripts. Everything that lasts longer than one run (engine, servers, guard) is here and is
/// started when it is first needed. Cheap to clone.
///
/// ```no_run
/// # async fn example() -> postern::Result<()> {
/// use postern::{Config, Host, Script};
///
/// let host = Host::new(Config::read("postern.toml".as_ref())?)?;
/// let script = Script::new("return (await tools.crm.list_customers()).length").intent("How many customers are there?");
/// let report = host.run(script).await?;
/// println!("{}: {}", report.run, report.value);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Host {
    sandbox: Sandbox,
    upstreams: Upstreams,
    guard: Option<Arc<dyn Guard>>,
    sealer: Arc<Sealer>,
    pins: Option<Arc<Pins>>,
    settings: Arc<Settings>,
}

impl Host {
    /// A host as configured, with the guard in a worker process.
    ///
    /// # Errors
    /// As [`HostBuilder::build`].
    pub fn new(config: Config) -> Result<Self> {
        Self::builder(config).build()
    }

    /// To change more than the configuration can say.
    pub fn builder(config: Config) -> HostBuilder {
        let guard = WorkerGuard::new(config.worker_options());
        let records = config.record_dir.clone().unwrap_or_else(crate::record::default_folder);
        HostBuilder {
            config,
            runners: Runners::find(),
            guard: Some(Arc::new(guard)),
            approver: None,
            asked: None,
            local: Vec::new(),
            records: Some(records),
            pins: None,
            profile: None,
            packages: Store::find(),
        }
    }

    /// The servers.
    pub fn upstreams(&self) -> &Upstreams {
        &self.upstreams
    }

    /// The sandbox.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// The guard, unless the host was built without one.
    pub fn guard(&self) -> Option<&Arc<dyn Guard>> {
        self.guard.as_ref()
    }

    /// The tools that runs without a profile may call.
    pub fn grants(&self) -> &Grants {
        &self.settings.plain.grants
    }

    /// The tools that runs under this profile may call, or without one, to be looked through.
    ///
    /// ```no_run
    /// # async fn example(host: &postern::Host) -> postern::Result<()> {
    /// for tool in host.tools(None)?.search("send mail", 5).await.tools {
    ///     println!("{}: {}", tool.id(), tool.summary().description.unwrap_or_default());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If there is no such profile.
    pub fn tools(&self, profile: Option<&str>) -> Result<Tools> {
        let profile = profile.or(self.settings.profile.as_deref());
        Ok(Tools::new(self.upstreams.clone(), self.settings.conditions(profile)?.grants.clone()))
    }

    /// The policy of runs without a profile.
    pub fn policy(&self) -> &Policy {
        &self.settings.plain.policy
    }

    /// Ends the servers in order. Without this they end with the process.
    pub async fn close(&self) {
        self.upstreams.close().await;
    }

    /// The content of a proposed artifact.
    ///
    /// # Errors
    /// If it cannot be read, or is no longer what the report says.
    pub fn artifact(&self, report: &Report, artifact: &ArtifactFile) -> Result<Vec<u8>> {
        let records = self.records()?;
        crate::record::artifact(records, &report.run, artifact)
    }

    /// Copies all artifacts of a run into a folder, over what is there, and writes that into its record.
    ///
    /// # Errors
    /// As [`record::promote`](crate::record::promote).
    pub fn promote(&self, report: &Report, to: &Path) -> Result<Vec<Promotion>> {
        let records = self.records()?;
        let key = RecordKey::open(&crate::record::state_folder())?;
        crate::record::promote(records, &report.run, &[], to, true, &key)
    }

    fn records(&self) -> Result<&Path> {
        let none = || Error::Setting("artifacts are kept with the record, and none is kept".into());
        self.settings.records.as_deref().ok_or_else(none)
    }

    /// Runs a script to its end.
    ///
    /// # Errors
    /// If the run cannot start, or its record cannot be kept. Whatever the script does is in the
    /// [`Report`].
    pub async fn run(&self, script: Script) -> Result<Report> {
        let run = uuid::Uuid::now_v7().to_string();
        let profile = script.profile.as_deref().or(self.settings.profile.as_deref());
        let conditions = self.settings.conditions(profile)?;
        let prepared = Preparation::of(&script.text, script.language, &script.name);
        if let Some(name) = profile {
            self.settings.admit(name, &prepared, &script.inputs)?;
        }
        let packages = self.settings.packages(profile, &prepared);
        let folder = self.settings.packages_folder(profile, packages)?;
        let runner = self.sandbox.runners().of(prepared.runner(), &self.sandbox)?;
        let inputs: Vec<Input> =
            script.inputs.iter().map(|(path, _)| Input::new(path)).collect::<Result<_>>()?;
        let input_rules = self.settings.input_rules(&script, &inputs, profile);
        let what =
            What { run: &run, script: &script, prepared: &prepared, profile, inputs: &inputs, packages };
        let manifest = self.manifest(&what, &runner, &input_rules, conditions);
        let redactor = Redactor::new(&self.settings.redact)?;
        let (record, out) = self.begin_record(manifest, &script.text, redactor.clone())?;
        let limits = &conditions.limits;
        let workspace = Workspace::create(out.path(), &inputs, limits)?.with_packages(folder);
        let clock = Arc::new(RunClock::default());
        let stop = script.cancel.child_token();
        let gate = Gate::new(GateParts {
            run: run.clone(),
            intent: script.intent.clone(),
            constraints: script.constraints.clone(),
            script: script.text.clone(),
            sealer: Arc::clone(&self.sealer),
            pins: self.pins.clone(),
            inputs: inputs.clone(),
            input_rules,
            stop: stop.clone(),
            grants: conditions.grants.clone(),
            limits: limits.clone(),
            results: conditions.results.clone(),
            agent: self.settings.agent.clone(),
            profile: profile.map(str::to_owned),
            policy: conditions.policy.clone(),
            thresholds: self.settings.thresholds,
            when_unavailable: self.settings.when_unavailable,
            guard: self.guard.clone(),
            approver: Arc::clone(&conditions.approver),
            approval_time: self.settings.approval_time,
            upstreams: self.upstreams.clone(),
            record: record.clone(),
            redactor: Arc::new(redactor),
            clock: Arc::clone(&clock),
            artifacts: workspace.artifact_writer(),
            observer: script.observer.clone(),
        });

        let finished = match &prepared {
            Preparation::Ready(prepared) => {
                self.start_beside(&prepared.source, conditions);
                let door: Arc<dyn Door> = Arc::new(gate.clone());
                let job = Job {
                    source: &prepared.source,
                    door,
                    workspace: &workspace,
                    limits,
                    clock: &clock,
                    cancel: &stop,
                    seed: script.seed,
                };
                Some(self.sandbox.run(&runner, job).await?)
            }
            Preparation::Broken(_) => None,
        };
        gate.settled(SETTLE_TIME).await;

        let report = conclude::report(run, finished, &prepared, &script.name, &gate, &workspace, limits)?;
        if let Some(record) = &record {
            let guard = self.guard.as_ref().and_then(|guard| guard.known());
            record.close(&Closing { ended: jiff::Timestamp::now(), guard, report: report.clone() })?;
        }
        Ok(report)
    }

    /// A script that may call tools will soon need the guard and the servers it names: they start
    /// while the script does. One that calls none pays for neither.
    fn start_beside(&self, source: &str, conditions: &Conditions) {
        let calls = ["tools.", "tools[", "tools import", "callTool", "call_tool"];
        if !calls.iter().any(|call| source.contains(call)) {
            return;
        }
        let named: Vec<&str> = self
            .upstreams
            .server_names()
            .filter(|name| conditions.grants.any_of(name) && source.contains(name))
            .collect();
        if named.is_empty() {
            return;
        }
        self.upstreams.prepare(&named);
        conditions.policy.prepare();
        if let Some(guard) = &self.guard {
            guard.prepare();
        }
    }

    fn manifest(
        &self,
        what: &What<'_>,
        runner: &CompiledRunner,
        rules: &InputRules,
        conditions: &Conditions,
    ) -> Manifest {
        let What { run, script, prepared, profile, inputs, packages } = *what;
        let settings = &self.settings;
        let guard = self.guard.as_ref().map(|guard| GuardSettings {
            thresholds: settings.thresholds,
            when_unavailable: settings.when_unavailable,
            weights: settings.weights.clone(),
            model: guard.known(),
        });
        Manifest {
            run: run.to_owned(),
            started: jiff::Timestamp::now(),
            postern: env!("CARGO_PKG_VERSION").into(),
            wasmtime: crate::sandbox::WASMTIME_VERSION.into(),
            script: script.name.clone(),
            script_sha256: crate::sandbox::hex(&Sha256::digest(script.text.as_bytes())),
            language: prepared.language().to_owned(),
            runner_blake3: runner.digest.to_string(),
            config_sha256: settings.config_sha256.clone(),
            policy_version: conditions.policy.version().to_owned(),
            profile: profile.map(str::to_owned),
            agent: Some(settings.agent.clone()),
            guard,
            intent: script.intent.clone(),
            constraints: script.constraints.clone(),
            clauses: Constraints::compile(&script.constraints).explain(),
            allow_tools: conditions.grants.patterns(),
            inputs: inputs
                .iter()
                .flat_map(|input| rules.listed(input))
                .map(|(name, labels)| RecordedInput { name, labels })
                .collect(),
            packages: packages.to_vec(),
            limits: conditions.limits.clone(),
            seed: script.seed,
            key_sha256: String::new(), // the record's to fill in
        }
    }

    fn begin_record(
        &self,
        manifest: Manifest,
        script: &str,
        redactor: Redactor,
    ) -> Result<(Option<Arc<Record>>, Out)> {
        match &self.settings.records {
            Some(records) => {
                let key = RecordKey::open(&crate::record::state_folder())?;
                let record = Record::begin(records, manifest, script, key, redactor)?;
                let out = Out::Recorded(record.artifacts());
                Ok((Some(Arc::new(record)), out))
            }
            None => {
                let out = tempfile::Builder::new().prefix("postern-out-").tempdir();
                let out = out.map_err(|source| Error::Io {
                    doing: "cannot make a folder in",
                    path: std::env::temp_dir(),
                    source,
                })?;
                Ok((None, Out::Temporary(out)))
            }
        }
    }
}

/// What is about to run.
#[derive(Clone, Copy)]
struct What<'a> {
    run: &'a str,
    script: &'a Script,
    prepared: &'a Preparation,
    profile: Option<&'a str>,
    inputs: &'a [Input],
    packages: &'a [Package],
}

/// The folder behind /out.
enum Out {
    Recorded(PathBuf),
    Temporary(tempfile::TempDir),
}

impl Out {
    fn path(&self) -> &Path {
        match self {
            Self::Recorded(path) => path,
            Self::Temporary(folder) => folder.path(),
        }
    }
}
