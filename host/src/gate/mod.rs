//! The gate: what stands between the one import and the servers. Every call passes the steps below,
//! in this order; each can only make the outcome stricter, and every attempt is journalled.
//!
//! 1. `resolve`: which server and tool, exactly; no first match across servers
//! 2. `grant`: is the tool on the run's allowlist
//! 3. `budget`: how many calls, how many at once
//! 4. `schema`: do the arguments fit
//! 5. `ledger`: where each value came from, and what else is known of the call
//! 6. `policy`: what follows from that
//! 7. `guard`: what the model says, and what the policy makes of it
//! 8. `approval`: what a person says, when the verdict so far is ask; then steps 5 and 6 again
//! 9. `dispatch`: the call itself, with a deadline
//! 10. `result`: what is in the result, what the script gets to see, and what the ledger keeps of it

mod approve;
mod attempt;
mod budget;
mod denials;
mod discover;
mod dispatch;
mod guard;
mod ledger;
mod links;
mod policy;
mod resolve;
mod result;
mod schema;
mod strict_json;

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use postern_check::{Thresholds, Verdict};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::approval::{Approver, Groups, Sealer};
use crate::config::WhenUnavailable;
use crate::constraints::{Constraints, Explained, Spent};
use crate::guard::Guard;
use crate::ledger::{InputRules, Ledger};
use crate::pins::Pins;
use crate::policy::{Agent, Finding, Policy};
use crate::record::{Record, Redactor};
use crate::report::CallReport;
use crate::sandbox::{Answer, ArtifactWriter, Door, Input, Limits, Reply, RunClock};
use crate::upstream::{ToolDefinition, Upstreams};
use crate::{ToolError, ToolErrorCode};

pub use crate::grants::{Grants, Pattern};
use attempt::Attempt;
use budget::Budget;
use denials::Denials;
pub(crate) use denials::MOST as MOST_DENIALS;
pub use discover::Tools;
pub(crate) use discover::definition;
use ledger::Traced;
pub use result::Results;

/// Is told of every call when it has its answer.
pub type Observer = Arc<dyn Fn(&CallReport) + Send + Sync>;

/// What the gate of one run works with.
pub struct GateParts {
    /// The run's id.
    pub run: String,
    /// What the user asked for; may be empty.
    pub intent: String,
    /// The rules the user set.
    pub constraints: Vec<String>,
    /// The script's text: values in it were chosen by whoever wrote it.
    pub script: String,
    /// On whose behalf the run acts.
    pub agent: Agent,
    /// The class of job it is, if it has one.
    pub profile: Option<String>,
    /// What decides.
    pub policy: Policy,
    /// Seals approvals to what was approved.
    pub sealer: Arc<Sealer>,
    /// Tools as they were when they were first used; None pins nothing.
    pub pins: Option<Arc<Pins>>,
    /// What the user handed to the run.
    pub inputs: Vec<Input>,
    /// What is said of it.
    pub input_rules: InputRules,
    /// Ends the run when it goes on asking for what was refused.
    pub stop: CancellationToken,
    /// The run's allowlist.
    pub grants: Grants,
    /// The run's limits.
    pub limits: Limits,
    /// What becomes of results in which something is found.
    pub results: Results,
    /// When scores mean asking and blocking.
    pub thresholds: Thresholds,
    /// What becomes of calls when the model cannot be asked.
    pub when_unavailable: WhenUnavailable,
    /// The model. None: the embedder has decided to run without one.
    pub guard: Option<Arc<dyn Guard>>,
    /// Who decides an ask.
    pub approver: Arc<dyn Approver>,
    /// How long a question stays open.
    pub approval_time: Duration,
    /// The servers.
    pub upstreams: Upstreams,
    /// Where attempts are written down; None keeps no record.
    pub record: Option<Arc<Record>>,
    /// Replaces secrets in what is written down elsewhere, as in the record.
    pub redactor: Arc<Redactor>,
    /// Stands still while a person decides.
    pub clock: Arc<RunClock>,
    /// Where images and other bytes from tools go.
    pub artifacts: ArtifactWriter,
    /// Is told of every call.
    pub observer: Option<Observer>,
}

/// The gate of one run. Cheap to clone.
#[derive(Clone)]
pub struct Gate(Arc<Inner>);

struct Inner {
    parts: GateParts,
    budget: Budget,
    ledger: OnceLock<Mutex<Ledger>>,
    /// The user's rules, as far as they can be checked.
    constraints: Constraints,
    spent: Mutex<Spent>,
    inputs: tokio::sync::Mutex<Vec<Input>>,
    /// What was found out about tools, by the digest of their definition.
    definitions: Mutex<HashMap<String, Vec<Finding>>>,
    denials: Denials,
    groups: Groups,
    calls: Mutex<Vec<Option<CallReport>>>,
    /// Bytes of arguments that may still be kept whole, in the report and the journal.
    room: AtomicU64,
}

/// Arguments of one run that are kept whole; later ones are kept in part.
const ARGUMENTS_KEPT: u64 = 32 << 20;
/// Calls over the limit that are still written down; after them they are only counted.
const OVER_KEPT: u32 = 1_000;

/// A call on its way through the steps.
struct Call {
    definition: Arc<ToolDefinition>,
    arguments: Map<String, Value>,
}

impl Gate {
    /// A gate for one run.
    pub fn new(mut parts: GateParts) -> Self {
        let budget = Budget::new(&parts.limits);
        Self(Arc::new(Inner {
            constraints: Constraints::compile(&parts.constraints),
            spent: Mutex::default(),
            inputs: tokio::sync::Mutex::new(std::mem::take(&mut parts.inputs)),
            definitions: Mutex::default(),
            budget,
            ledger: OnceLock::new(),
            denials: Denials::new(parts.stop.clone()),
            groups: Groups::default(),
            calls: Mutex::default(),
            room: AtomicU64::new(ARGUMENTS_KEPT),
            parts,
        }))
    }

    /// Every attempt so far, in order, that has its answer.
    pub fn calls(&self) -> Vec<CallReport> {
        let calls = self.0.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.iter().flatten().cloned().collect()
    }

    /// Waits until every attempt has its outcome, but no longer than `time`. Calls that the script
    /// left behind are being given up and write that down as they go.
    pub async fn settled(&self, time: Duration) {
        let all = async {
            while self.0.calls.lock().unwrap_or_else(PoisonError::into_inner).iter().any(Option::is_none) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        // Those that do not make it in time are missing from the report, not from the journal.
        let _ = tokio::time::timeout(time, all).await;
    }

    /// Every attempt, also those that were only counted.
    pub fn attempts(&self) -> u32 {
        self.0.budget.made()
    }

    /// Each clause of the user's rules, and what is checked of it.
    pub fn clauses(&self) -> Vec<Explained> {
        self.0.constraints.explain()
    }

    /// Why the gate ended the run, if it did.
    pub fn stopped(&self) -> Option<String> {
        self.0.denials.stopped()
    }

    /// Whether a call was refused because there had been too many.
    pub fn calls_exhausted(&self) -> bool {
        self.0.budget.exhausted()
    }
}

impl Inner {
    /// Passes one call through all steps.
    async fn call(&self, tool: String, arguments: String) -> Answer {
        let (counted, budget) = self.budget.count();
        if let Err(over) = &budget
            && counted > self.parts.limits.max_calls.saturating_add(OVER_KEPT)
        {
            return Err(over.clone());
        }
        let mut attempt = Attempt::begin(self, counted, &tool, &arguments)?;
        let passed = match budget.and_then(|()| self.denials.check(&tool)) {
            Ok(()) => self.steps(&mut attempt, &tool, &arguments).await,
            Err(over) => Err(over),
        };
        // What is withheld after the call was made is no refusal of the call.
        if let Err(error) = &passed
            && !attempt.dispatched
        {
            self.denials.count(&tool, error);
        }
        attempt.end(passed)
    }

    async fn steps(&self, attempt: &mut Attempt<'_>, tool: &str, arguments: &str) -> Answer {
        let (server, name) = resolve::parse(tool, &self.parts.upstreams)?;
        self.grant(server, name).await?;
        schema::check_size(arguments, &self.parts.limits)?;
        let definition =
            attempt.timed(|t| &mut t.resolve_ms, self.parts.upstreams.tool(server, name)).await?;
        attempt.definition = Some(definition.digest().to_owned());
        let arguments = schema::check(arguments, &definition, &self.parts.limits)?;
        let call = Call { definition, arguments };
        let mut traced = self.trace(attempt.number(), &call.definition, &call.arguments).await?;
        self.spend(&mut traced);
        if let Err(refused) = self.may_go(attempt, &call, &mut traced).await {
            self.give_back(&mut traced);
            return Err(refused);
        }
        let answer = self.dispatch(attempt, &call).await;
        match answer {
            Ok(result) => self.result(attempt, &call, &traced, result).await,
            Err(error) => Err(self.failure(attempt, &traced, error).await),
        }
    }

    /// Steps 6 to 8: what decides whether the call is made.
    async fn may_go(
        &self,
        attempt: &mut Attempt<'_>,
        call: &Call,
        traced: &mut Traced,
    ) -> Result<(), ToolError> {
        self.judge(attempt, traced).await?;
        match attempt.verdict {
            Verdict::Ask => self.approve(attempt, call, traced).await,
            Verdict::Allow | Verdict::Block => Ok(()),
        }
    }

    /// Step 2. A name that its server does not have is said to be unknown rather than not granted, but
    /// only of a server that this run may talk to anyway.
    async fn grant(&self, server: &str, name: &str) -> Result<(), ToolError> {
        let Err(refused) = self.parts.grants.check(server, name) else { return Ok(()) };
        if self.parts.grants.any_of(server)
            && let Err(error) = self.parts.upstreams.tool(server, name).await
            && error.code == ToolErrorCode::UnknownTool
        {
            return Err(error);
        }
        Err(refused)
    }
}

impl Door for Gate {
    fn call(&self, tool: String, arguments: String) -> Reply {
        let inner = Arc::clone(&self.0);
        Box::pin(async move { inner.call(tool, arguments).await })
    }

    fn search(&self, query: String, limit: u32) -> Reply {
        let inner = Arc::clone(&self.0);
        Box::pin(async move { discover::search(&inner.parts, &query, limit).await })
    }

    fn describe(&self, tool: String) -> Reply {
        let inner = Arc::clone(&self.0);
        Box::pin(async move { discover::describe(&inner.parts, &tool).await })
    }
}
