//! Step 5: what is known of a call. Where its values came from, what is in them, what its server and
//! tool are labelled with: everything that the policy decides with, put together in one place.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use postern_check::evidence::Evidence;
use postern_check::{Action, Check, Facts};
use serde_json::{Map, Value};

use super::result::{Given, decide, look};
use super::{GateParts, Inner};
use crate::config::ResultRules;
use crate::constraints::{ConstraintCall, Reserved};
use crate::facts::{facts, flags_definition};
use crate::ledger::{Acts, Labelled, Ledger, Prepared, Provenance, Subject, inputs, label};
use crate::pins::Pin;
use crate::policy::{CallFacts, Finding, Sink};
use crate::scan::Found;
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

/// What a call gave, read.
pub(super) struct Reading {
    pub(super) value: Value,
    /// The value as JSON.
    pub(super) json: String,
    pub(super) prepared: Prepared,
    pub(super) found: Found,
    /// What the script gets of it.
    pub(super) given: Given,
}

impl Inner {
    /// What has come into the run. A run that makes no call never has one.
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        let ledger = self.ledger.get_or_init(|| {
            let GateParts { intent, constraints, script, .. } = &self.parts;
            Mutex::new(Ledger::new(intent, constraints, script))
        });
        ledger.lock().unwrap_or_else(PoisonError::into_inner)
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
        let evidence = self.evidence(definition, &action).await;
        let ledger = self.ledger();

        // Tools of this very process have no configuration: whoever put them there trusts them.
        let config = self.parts.upstreams.config(&definition.server);
        let trusted = config.is_none_or(|config| config.trusted);
        let targets: Vec<&str> =
            evidence.leaves.iter().filter(|leaf| leaf.authority).map(|leaf| leaf.value.as_str()).collect();
        let labelled = label(config.map(|config| &config.labels), trusted, definition, &targets);
        let acts = Acts::of(definition, trusted);
        let outside = acts.outside || labelled.labels.sink == Sink::Public;

        let subject = Subject {
            server: &definition.server,
            labels: labelled.labels,
            sink_stated: labelled.sink_stated,
            outside,
        };
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

    /// Where the values came from.
    async fn evidence(&self, definition: &ToolDefinition, action: &Action) -> Evidence {
        self.read_inputs().await;
        let mut evidence = self.ledger().evidence(action);
        let config = self.parts.upstreams.config(&definition.server);
        let named = authority_names(definition, config);
        for leaf in &mut evidence.leaves {
            let name = leaf.path.split('/').nth(1).unwrap_or_default();
            leaf.authority |= named.contains(name);
        }
        evidence
    }

    /// The files that the user handed over are read when the first call is made. Calls at the same time wait:
    /// none is looked into without them. Nor are they lost when a script gives that call up.
    async fn read_inputs(&self) {
        let mut inputs = self.inputs.lock().await;
        if inputs.is_empty() {
            return;
        }
        let (all, rules) = (inputs.clone(), self.parts.input_rules.clone());
        let read = move || {
            let inputs::Texts { texts, left_out, .. } = inputs::read(&all, &rules);
            (texts.iter().map(Prepared::input).collect::<Vec<_>>(), left_out)
        };
        let read = tokio::task::spawn_blocking(read).await;
        let mut ledger = self.ledger();
        match read {
            Ok((prepared, left_out)) => {
                left_out.into_iter().for_each(|labels| ledger.miss_input(labels));
                prepared.into_iter().for_each(|input| ledger.add_input(input));
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

    /// Reads what a call gave: makes it ready for the ledger, and says what is in it. Gives the value back, and
    /// its JSON.
    pub(super) async fn read(
        &self,
        traced: &Traced,
        value: Value,
        rules: ResultRules,
    ) -> Result<Reading, ToolError> {
        self.read_json(traced, value.to_string(), value, rules).await
    }

    /// The same for a value whose JSON is there already.
    pub(super) async fn read_json(
        &self,
        traced: &Traced,
        json: String,
        value: Value,
        rules: ResultRules,
    ) -> Result<Reading, ToolError> {
        let (server, tool) = (traced.facts.server.clone(), traced.facts.tool.clone());
        let (labelled, asked) = (traced.labelled, traced.asked);
        let size = json.len();
        let read = move || {
            let from = Provenance {
                server: &server,
                tool: &tool,
                labels: labelled.labels,
                stated: labelled.holds_stated,
                asked,
            };
            let (prepared, found) = Prepared::result(&from, &value, &json, look(rules));
            let given = decide(&found, &value, rules);
            Reading { value, json, prepared, found, given }
        };
        if size <= LONG {
            return Ok(read());
        }
        tokio::task::spawn_blocking(read).await.map_err(|_| {
            // What cannot be read is not passed on: nobody would know where its values came from.
            let message = format!(
                "{}/{}: the call was made, and its result cannot be looked through",
                traced.facts.server, traced.facts.tool
            );
            ToolError::new(ToolErrorCode::Upstream, message)
        })
    }

    /// Notes what was read.
    pub(super) fn note(&self, prepared: Prepared) {
        self.ledger().add(prepared);
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
