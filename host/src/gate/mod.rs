//! The gate: what stands between the one import and the servers. Every call passes the steps below,
//! in this order; each can only make the outcome stricter, and every attempt is journalled.
//!
//! 1. `resolve`: which server and tool, exactly; no first match across servers
//! 2. `grant`: is the tool on the run's allowlist
//! 3. `budget`: how many calls, how many at once
//! 4. `schema`: do the arguments fit
//! 5. `guard`: what the model says
//! 6. `approval`: what a person says, when the verdict so far is ask
//! 7. `dispatch`: the call itself, with a deadline
//! 8. `result`: what the script gets to see
//!
//! The ledger (where each value came from), policy and bound approvals come between `schema` and
//! `approval`: a step takes the [`Call`] so far and moves its verdict to the right.

mod attempt;
mod budget;
mod context;
mod discover;
mod dispatch;
mod grant;
mod guard;
mod resolve;
mod result;
mod schema;
mod strict_json;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use postern_check::{Thresholds, Verdict};
use serde_json::{Map, Value};

use crate::approval::{ApprovalRequest, Approver, Decision};
use crate::guard::Guard;
use crate::record::Record;
use crate::report::CallReport;
use crate::sandbox::{Answer, ArtifactWriter, Door, Limits, Reply, RunClock};
use crate::upstream::{ToolDefinition, Upstreams};
use crate::{ToolError, ToolErrorCode};

use attempt::Attempt;
use budget::Budget;
use context::Context;
pub(crate) use discover::{definition, rank};
pub use grant::{Grants, Pattern};

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
    /// The run's allowlist.
    pub grants: Grants,
    /// The run's limits.
    pub limits: Limits,
    /// On whose behalf the run acts.
    pub agent: crate::policy::Agent,
    /// The run's profile, if it has one.
    pub profile: Option<String>,
    /// What decides from all that is known of a call.
    pub policy: crate::policy::Policy,
    /// When scores mean asking and blocking.
    pub thresholds: Thresholds,
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
    context: Mutex<Context>,
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
    pub fn new(parts: GateParts) -> Self {
        let budget = Budget::new(&parts.limits);
        Self(Arc::new(Inner {
            parts,
            budget,
            context: Mutex::default(),
            calls: Mutex::default(),
            room: AtomicU64::new(ARGUMENTS_KEPT),
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
        let passed = match budget {
            Ok(()) => self.steps(&mut attempt, &tool, &arguments).await,
            Err(over) => Err(over),
        };
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

        self.guard(attempt, &call).await?;
        if attempt.verdict == Verdict::Ask {
            self.approve(attempt, &call).await?;
        }
        let result = self.dispatch(attempt, &call).await?;
        self.result(attempt, &call, result)
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

    /// Asks a person. The run's clock stands still meanwhile.
    async fn approve(&self, attempt: &mut Attempt<'_>, call: &Call) -> Result<(), ToolError> {
        let request = ApprovalRequest {
            run: self.parts.run.clone(),
            tool: call.definition.id(),
            arguments: call.arguments.clone(),
            intent: self.parts.intent.clone(),
            reasons: attempt.reasons.clone(),
            scores: attempt.scores.clone(),
        };
        let pause = self.parts.clock.pause();
        let asked = tokio::time::timeout(self.parts.approval_time, self.parts.approver.decide(request));
        let decision = attempt.timed(|t| &mut t.approval_ms, asked).await;
        drop(pause);
        let because = attempt.because();
        match decision {
            Ok(Decision::Approved) => Ok(()),
            Ok(Decision::Denied(reason)) => Err(ToolError::new(
                ToolErrorCode::ApprovalDenied,
                format!("{}: a person refused this call: {reason}", call.definition.id()),
            )),
            Ok(Decision::Unavailable) => Err(ToolError::new(
                ToolErrorCode::ApprovalRequired,
                format!(
                    "{}: a person must approve this call ({because}), and nobody can be asked",
                    call.definition.id()
                ),
            )),
            Err(_) => Err(ToolError::new(
                ToolErrorCode::ApprovalExpired,
                format!("{}: nobody decided about this call in time ({because})", call.definition.id()),
            )),
        }
    }

    fn context(&self) -> std::sync::MutexGuard<'_, Context> {
        self.context.lock().unwrap_or_else(PoisonError::into_inner)
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
