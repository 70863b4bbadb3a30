//! Step 5: what is known of a call. Where its values came from, what is in them, what its server and
//! tool are labelled with: everything that the policy decides with, put together in one place.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use postern_check::evidence::Evidence;
use postern_check::{Action, Check, Facts};
use serde_json::{Map, Value};

use super::{GateParts, Inner};
use crate::constraints::{ConstraintCall, Reserved};
use crate::facts::{facts, flags_definition};
use crate::ledger::{Acts, Labelled, Ledger, Provenance, Subject, inputs, label};
use crate::pins::Pin;
use crate::policy::{CallFacts, Finding, Sink};
use crate::upstream::{ServerConfig, ToolDefinition};
use crate::{ToolError, ToolErrorCode};

/// Reading this much for the first time is done beside the runtime's own threads.
const LONG: usize = 64 << 10;

/// A call that has been looked into.
pub(super) struct Traced {
    pub(super) facts: CallFacts,
    pub(super) labelled: Labelled,
    /// Its values are the user's own: what it fetches is what the request pointed at.
    pub(super) asked: bool,
    /// What the guard is asked.
    pub(super) check: Check,
    /// What the call counts as against the user's rules, while it does.
    reserved: Option<Reserved>,
    /// What the run has spent with it, as far as the user's rules count.
    pub(super) spent: Vec<String>,
}

impl Traced {
    /// From now on what the other counts as is this one's to give back.
    pub(super) fn take_over(&mut self, other: &mut Self) {
        self.reserved = other.reserved.take();
    }
}

impl Inner {
    /// What has come into the run. A run that makes no call never has one.
    fn shared_ledger(&self) -> &Arc<Mutex<Ledger>> {
        self.ledger.get_or_init(|| {
            let GateParts { intent, constraints, script, .. } = &self.parts;
            Arc::new(Mutex::new(Ledger::new(intent, constraints, script)))
        })
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.shared_ledger().lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts together what is known of a call, without the guard.
    pub(super) async fn trace(
        &self,
        number: u32,
        definition: &Arc<ToolDefinition>,
        arguments: &Map<String, Value>,
    ) -> Result<Traced, ToolError> {
        let mut findings = self.known_of(definition)?;
        let action =
            Action { tool: format!("{}.{}", definition.server, definition.name), args: arguments.clone() };
        let evidence = self.evidence(definition, &action).await?;
        let ledger = self.ledger();

        // Tools of this very process have no configuration: whoever put them there trusts them.
        let config = self.parts.upstreams.config(&definition.server);
        let trusted = config.is_none_or(|config| config.trusted);
        let targets: Vec<&str> =
            evidence.leaves.iter().filter(|leaf| leaf.authority).map(|leaf| leaf.value.as_str()).collect();
        let labelled = label(config.map(|config| &config.labels), trusted, definition, &targets);
        let acts = Acts::of(definition, trusted);
        let outside = acts.outside || labelled.labels.sink == Sink::Public;

        let subject = Subject { labels: labelled.labels, sink_stated: labelled.sink_stated, outside };
        findings.extend(ledger.findings(&evidence, subject));
        findings.extend(facts(definition, arguments, &self.parts.intent));
        if acts.contradicted {
            let message = "its server calls it read-only, and its name says that it changes something";
            findings.push(Finding::new("hint-contradicted", message));
        }
        let names_target = Facts::of(&action, None).names_target || !targets.is_empty();
        let facts = CallFacts {
            agent: self.parts.agent.clone(),
            server: definition.server.clone(),
            tool: definition.name.clone(),
            profile: self.parts.profile.clone(),
            read_only: acts.read_only,
            outside,
            labels: labelled.labels,
            arguments: ledger.arguments(&evidence),
            findings,
            trigger: ledger.trigger(),
            calls: number,
            names_target,
            side_effects: acts.side_effects,
            scores: None,
            thresholds: self.parts.thresholds,
        };
        let check = Check {
            action,
            intent: self.parts.intent.clone(),
            trigger: facts.trigger,
            constraints: self.parts.constraints.clone(),
            context: ledger.context(&evidence),
        };
        Ok(Traced {
            facts,
            labelled,
            asked: ledger.asked(&evidence),
            check,
            reserved: None,
            spent: Vec::new(),
        })
    }

    /// Where the values came from. What nobody has read yet is read now.
    async fn evidence(&self, definition: &ToolDefinition, action: &Action) -> Result<Evidence, ToolError> {
        self.read_inputs().await;
        let unread = self.ledger().unread();
        let mut evidence = if unread > LONG {
            let (ledger, action) = (Arc::clone(self.shared_ledger()), action.clone());
            let read = move || ledger.lock().unwrap_or_else(PoisonError::into_inner).evidence(&action);
            tokio::task::spawn_blocking(read).await.map_err(|_| {
                let message = format!("{}: the origins of its values cannot be found out", definition.id());
                ToolError::new(ToolErrorCode::Blocked, message)
            })?
        } else {
            self.ledger().evidence(action)
        };
        let config = self.parts.upstreams.config(&definition.server);
        let named = authority_names(definition, config);
        for leaf in &mut evidence.leaves {
            let name = leaf.path.split('/').nth(1).unwrap_or_default();
            leaf.authority |= named.contains(name);
        }
        Ok(evidence)
    }

    /// The files that the user handed over are read when the first call is made. Calls at the same time wait:
    /// none is looked into without them. Nor are they lost when a script gives that call up.
    async fn read_inputs(&self) {
        let mut inputs = self.inputs.lock().await;
        if inputs.is_empty() {
            return;
        }
        let (all, rules) = (inputs.clone(), self.parts.input_rules.clone());
        let read = tokio::task::spawn_blocking(move || inputs::read(&all, &rules)).await;
        let mut ledger = self.ledger();
        match read {
            Ok(read) => {
                read.left_out.iter().for_each(|labels| ledger.miss_input(*labels));
                read.texts.iter().for_each(|text| ledger.add_input(text));
            }
            Err(_) => inputs.iter().for_each(|input| {
                ledger.miss_input(self.parts.input_rules.of(&input.path));
            }),
        }
        inputs.clear();
    }

    /// What is known of a tool itself: whether it is what it was when it was pinned, and what its words
    /// are up to. Found out once for each definition.
    fn known_of(&self, definition: &Arc<ToolDefinition>) -> Result<Vec<Finding>, ToolError> {
        let mut known = self.definitions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(findings) = known.get(definition.digest()) {
            return Ok(findings.clone());
        }
        let mut findings = flags_definition(definition);
        if let Some(pins) = &self.parts.pins {
            let pin = pins.first_use(definition).map_err(|fault| {
                let message = format!("{}: its pin cannot be looked up: {fault}", definition.id());
                ToolError::new(ToolErrorCode::Blocked, message)
            })?;
            if let Pin::Changed { diff } = pin {
                let message = format!(
                    "the tool is described otherwise than when it was first used; `postern tools accept {}` takes it as it is now:\n{diff}",
                    definition.id()
                );
                findings.push(Finding::new("definition-changed", message));
            }
        }
        known.insert(definition.digest().to_owned(), findings.clone());
        Ok(findings)
    }

    /// What the user's rules say of a call, which from now on counts as spent. [`Self::give_back`] undoes
    /// that when the call is not made after all.
    pub(super) fn spend(&self, traced: &mut Traced) {
        if self.constraints.is_empty() {
            return;
        }
        let now = jiff::ZonedDateTime::now();
        let call = constraint_call(&traced.facts, &traced.check, &now);
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((findings, reserved)) = self.constraints.spend(&call, &mut spent) {
            traced.facts.findings.extend(findings);
            traced.reserved = Some(reserved);
            traced.spent = spent.told();
        }
    }

    /// The call is not made: it costs nothing.
    pub(super) fn give_back(&self, traced: &mut Traced) {
        if let Some(reserved) = traced.reserved.take() {
            self.spent.lock().unwrap_or_else(PoisonError::into_inner).release(&reserved);
        }
    }

    /// Notes what a call gave, also when that is an error with the server's words in it.
    pub(super) fn note(&self, traced: &Traced, value: &Value) {
        let from = Provenance {
            server: &traced.facts.server,
            tool: &traced.facts.tool,
            labels: traced.labelled.labels,
            stated: traced.labelled.holds_stated,
            asked: traced.asked,
        };
        self.ledger().add_result(&from, value);
    }
}

fn constraint_call<'a>(
    facts: &'a CallFacts,
    check: &'a Check,
    now: &'a jiff::ZonedDateTime,
) -> ConstraintCall<'a> {
    ConstraintCall {
        server: &facts.server,
        tool: &facts.tool,
        arguments: &check.action.args,
        side_effects: facts.side_effects,
        read_only: facts.read_only,
        outside: facts.outside,
        intent: &check.intent,
        now,
    }
}

/// Arguments that decide whom or what a call reaches, by what the configuration and the schema say;
/// those that are named so are known without it.
fn authority_names<'a>(tool: &'a ToolDefinition, config: Option<&'a ServerConfig>) -> BTreeSet<&'a str> {
    let own = config.and_then(|config| config.labels.tool(&tool.name));
    let mut names: BTreeSet<&str> =
        own.map(|own| own.authority.iter().map(String::as_str).collect()).unwrap_or_default();
    if let Some(properties) = tool.input_schema["properties"].as_object() {
        let formatted = |schema: &Value| {
            let format = schema["format"].as_str().or_else(|| schema["items"]["format"].as_str());
            matches!(
                format,
                Some(
                    "email"
                        | "idn-email"
                        | "uri"
                        | "iri"
                        | "uri-reference"
                        | "hostname"
                        | "idn-hostname"
                        | "ipv4"
                        | "ipv6"
                )
            )
        };
        names
            .extend(properties.iter().filter(|(_, schema)| formatted(schema)).map(|(name, _)| name.as_str()));
    }
    names
}
