//! The policy in force: compiled once from its texts, asked about every call.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use cedar_policy::{
    Authorizer, Entities, PolicyId, PolicySet, Request, ValidationMode, ValidationWarning, Validator, ffi,
};
use postern_check::{Reason, Verdict};
use serde::Serialize;

use super::input::CallFacts;
use super::request;
use super::rule::{Rule, RuleKind};
use super::schema::{self, Known};
use super::sense;
use super::text::{self, Fault, Source, statements};
use crate::{Error, Result};

/// The reason of a call that no permit is for.
pub const NO_PERMIT: &str = "no-permit";

/// What a policy decides about one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The strictest that any rule says.
    pub verdict: Verdict,
    /// Why, the decisive ones first. None if the call is allowed.
    pub reasons: Vec<Reason>,
    /// Ids of the rules that apply, in the policy's order; permits too.
    pub policies: Vec<String>,
    /// Ids of the rules that would have had a person asked, had no permit lifted them.
    pub lifted: Vec<String>,
}

impl Decision {
    fn refused(reason: Reason) -> Self {
        Self { verdict: Verdict::Block, reasons: vec![reason], policies: Vec::new(), lifted: Vec::new() }
    }
}

/// A policy. Cheap to clone.
#[derive(Clone)]
pub struct Policy(Form);

#[derive(Clone)]
enum Form {
    /// The default policy alone, compiled when it is first needed: a run without calls never pays for it.
    Builtin,
    Compiled(Arc<Compiled>),
}

static BUILTIN: LazyLock<Compiled> = LazyLock::new(|| {
    // Its rules are checked by a test, so that no start has to.
    match compile(vec![Source::builtin()], &Known::default(), false) {
        Ok(compiled) => compiled,
        Err(errors) => unreachable!("the default policy is part of this program: {errors:?}"),
    }
});

/// Every run's record names its version; a run without calls need not compile it for that.
static BUILTIN_VERSION: LazyLock<String> = LazyLock::new(|| text::version(&[Source::builtin()]));

struct Compiled {
    sources: Vec<Source>,
    version: String,
    rules: Vec<Rule>,
    places: HashMap<PolicyId, usize>,
    blocks: PolicySet,
    asks: PolicySet,
    permits: PolicySet,
    /// Some rule looks at single arguments.
    arguments: bool,
    authorizer: Authorizer,
}

impl Policy {
    /// The default policy alone.
    pub fn builtin() -> Self {
        Self(Form::Builtin)
    }

    /// Compiles on a thread of its own what is compiled only when it is first needed.
    pub fn prepare(&self) {
        if matches!(self.0, Form::Builtin) {
            // Without a thread the first decision compiles it.
            let _ = std::thread::Builder::new().spawn(|| {
                LazyLock::force(&BUILTIN);
            });
        }
    }

    fn compiled(&self) -> &Compiled {
        match &self.0 {
            Form::Builtin => &BUILTIN,
            Form::Compiled(compiled) => compiled,
        }
    }

    /// Compiles texts into one policy: all their rules together.
    ///
    /// # Errors
    /// The first [`Error::Policy`] of [`check`](Self::check).
    pub fn compile(sources: Vec<Source>, known: &Known) -> Result<Self> {
        if matches!(sources.as_slice(), [only] if only.is_builtin()) {
            return Ok(Self::builtin());
        }
        Self::check(sources, known).map_err(|mut errors| errors.swap_remove(0))
    }

    /// The same with everything that is wrong, in the order of the texts. Never an empty list.
    ///
    /// # Errors
    /// [`Error::Policy`] for every statement that is no policy, and every rule that names what there is
    /// not or that can never apply.
    pub fn check(sources: Vec<Source>, known: &Known) -> Result<Self, Vec<Error>> {
        compile(sources, known, true).map(|compiled| Self(Form::Compiled(Arc::new(compiled))))
    }

    /// SHA-256 over the texts, in hex. Compiles nothing.
    pub fn version(&self) -> &str {
        match &self.0 {
            Form::Builtin => &BUILTIN_VERSION,
            Form::Compiled(compiled) => &compiled.version,
        }
    }

    /// The texts.
    pub fn sources(&self) -> &[Source] {
        &self.compiled().sources
    }

    /// The rules in order.
    pub fn rules(&self) -> &[Rule] {
        &self.compiled().rules
    }

    /// The rule of this id.
    pub fn rule(&self, id: &str) -> Option<&Rule> {
        self.compiled().rules.iter().find(|rule| rule.id == id)
    }

    /// What becomes of the call. Whatever cannot be evaluated blocks.
    pub fn decide(&self, facts: &CallFacts) -> Decision {
        let (request, entities) = match request::build(facts, self.compiled().arguments) {
            Ok(built) => built,
            Err(e) => {
                return Decision::refused(Reason::new(
                    "policy-error",
                    format!("the call cannot be put to the policy: {e}"),
                ));
            }
        };
        let applying = self
            .applying(&self.compiled().blocks, &request, &entities)
            .and_then(|blocks| Ok((blocks, self.applying(&self.compiled().asks, &request, &entities)?)))
            .and_then(|(blocks, asks)| {
                Ok((blocks, asks, self.applying(&self.compiled().permits, &request, &entities)?))
            });
        let (blocks, asks, permits) = match applying {
            Ok(applying) => applying,
            Err(reason) => return Decision::refused(reason),
        };

        let lifting = permits.iter().any(|rule| rule.kind == RuleKind::Lift);
        let (lifted, asks): (Vec<&Rule>, Vec<&Rule>) =
            asks.into_iter().partition(|rule| lifting && rule.kind == RuleKind::Ask);
        let says = |rules: &[&Rule]| rules.iter().flat_map(|rule| rule.reasons(facts)).collect::<Vec<_>>();
        let mut reasons = says(&blocks);
        if permits.is_empty() {
            let message = format!("no permit of the policy is for {}/{}", facts.server, facts.tool);
            reasons.push(Reason::new(NO_PERMIT, message));
        }
        let verdict = match (reasons.is_empty(), asks.is_empty()) {
            (false, _) => Verdict::Block,
            (true, false) => Verdict::Ask,
            (true, true) => Verdict::Allow,
        };
        reasons.extend(says(&asks));
        // Two rules may quote the same finding.
        let mut seen = std::collections::HashSet::new();
        reasons.retain(|reason| seen.insert((reason.code.clone(), reason.message.clone())));

        let mut applied: Vec<&Rule> = [blocks, asks, lifted.clone(), permits].concat();
        applied.sort_by_key(|rule| self.compiled().places.get(&PolicyId::new(&rule.id)).copied());
        let ids = |rules: &[&Rule]| rules.iter().map(|rule| rule.id.clone()).collect();
        Decision { verdict, reasons, policies: ids(&applied), lifted: ids(&lifted) }
    }

    /// The rules of the set that apply, in the policy's order.
    fn applying(
        &self,
        set: &PolicySet,
        request: &Request,
        entities: &Entities,
    ) -> Result<Vec<&Rule>, Reason> {
        if set.is_empty() {
            return Ok(Vec::new());
        }
        let response = self.compiled().authorizer.is_authorized(request, set, entities);
        let diagnostics = response.diagnostics();
        if let Some(error) = diagnostics.errors().next() {
            return Err(Reason::new("policy-error", format!("the policy cannot be evaluated: {error}")));
        }
        let mut places: Vec<usize> =
            diagnostics.reason().filter_map(|id| self.compiled().places.get(id).copied()).collect();
        places.sort_unstable();
        Ok(places.into_iter().map(|place| &self.compiled().rules[place]).collect())
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy")
            .field("version", &self.compiled().version)
            .field("rules", &self.compiled().rules.len())
            .finish()
    }
}

/// One rule on its way to being compiled.
struct Read {
    source: usize,
    /// Where its statement begins in the source.
    start: usize,
    rule: Rule,
    cedar: cedar_policy::Policy,
    /// Cedar's JSON form. Not made of rules that need no checks: it costs as much as parsing them.
    json: Option<serde_json::Value>,
}

impl Read {
    fn reads_arguments(&self) -> bool {
        match &self.json {
            Some(json) => sense::reads_arguments(json),
            None => self.rule.text.contains("context.call."),
        }
    }
}

fn compile(sources: Vec<Source>, known: &Known, validate: bool) -> Result<Compiled, Vec<Error>> {
    // With the number of the source and the offset in it, to be told in the texts' order.
    let mut faults: Vec<(usize, Fault)> = Vec::new();
    let mut read: Vec<Read> = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        for statement in statements(&source.text) {
            let whole = validate && (!source.is_builtin() || sources.len() == 1);
            match read_statement(number, source, statement, &read, whole) {
                Ok(rule) => read.push(rule),
                Err(fault) => faults.push((number, fault)),
            }
        }
        let rules_of_it = read.iter().any(|rule| rule.source == number);
        if !rules_of_it && faults.is_empty() {
            faults.push((number, Fault::new(0, "there is no rule in this policy")));
        }
    }
    if validate {
        faults.extend(validated(&read, known));
    }
    if !faults.is_empty() {
        faults.sort_by_key(|(source, fault)| (*source, fault.offset));
        return Err(faults.into_iter().map(|(source, fault)| sources[source].error(fault)).collect());
    }

    let set = |kinds: &[RuleKind]| {
        let of_kind = read.iter().filter(|read| kinds.contains(&read.rule.kind));
        PolicySet::from_policies(of_kind.map(|read| read.cedar.clone()))
            // Ids are unique by now.
            .map_err(|e| vec![Error::Sandbox(format!("the policy cannot be put together: {e}"))])
    };
    Ok(Compiled {
        version: text::version(&sources),
        blocks: set(&[RuleKind::Block])?,
        asks: set(&[RuleKind::Ask, RuleKind::AlwaysAsk])?,
        permits: set(&[RuleKind::Permit, RuleKind::Lift])?,
        places: read.iter().enumerate().map(|(at, read)| (PolicyId::new(&read.rule.id), at)).collect(),
        arguments: read.iter().any(Read::reads_arguments),
        rules: read.into_iter().map(|read| read.rule).collect(),
        authorizer: Authorizer::new(),
        sources,
    })
}

/// Offsets of the fault are those in the source.
fn read_statement(
    number: usize,
    source: &Source,
    statement: text::Statement<'_>,
    earlier: &[Read],
    whole: bool,
) -> Result<Read, Fault> {
    let here = |fault: Fault| Fault { offset: statement.start + fault.offset, ..fault };
    let cedar = cedar_policy::Policy::parse(None, statement.text)
        .map_err(|e| here(syntax_fault(&ffi::DetailedError::from(&e), statement.text)))?;
    let (line, _) = source.place(statement.start);
    let file = source.path.display().to_string();
    let mut rule = Rule::read(&cedar, statement, file, line).map_err(here)?;
    // Rules without an @id are called after their line, and another file may have a rule in that line.
    let of_other_file = earlier.iter().any(|other| other.rule.id == rule.id && other.source != number);
    if of_other_file && cedar.annotation("id").is_none() {
        let name = format!("{}-{number}", rule.id);
        if rule.code == rule.id {
            rule.code.clone_from(&name);
        }
        rule.id = name;
    }
    if let Some(other) = earlier.iter().find(|other| other.rule.id == rule.id) {
        let message =
            format!("the id {:?} is there already: {} line {}", rule.id, other.rule.file, other.rule.line);
        let hint = match other.rule.file == rule.file {
            true => "give each rule an @id of its own",
            false => {
                "rules are added to the default policy; to replace it, set replace_default = true in [policy]"
            }
        };
        return Err(here(Fault::new(text::literal(statement.text, &rule.id), message).hint(hint)));
    }
    let json = match whole {
        true => Some(cedar.to_json().map_err(|e| here(Fault::new(0, e.to_string())))?),
        false => None,
    };
    let cedar = cedar.new_id(PolicyId::new(&rule.id));
    Ok(Read { source: number, start: statement.start, rule, cedar, json })
}

/// What Cedar's parser says, with the place that it means.
fn syntax_fault(error: &ffi::DetailedError, text: &str) -> Fault {
    let offset = place_in(error).unwrap_or(0);
    if text.contains("?principal") || text.contains("?resource") {
        return Fault::new(
            text.find('?').unwrap_or(offset),
            "a template is no rule: it has a slot to be filled",
        )
        .hint("name the agent or the server instead");
    }
    let fault = Fault::new(offset, error.message.clone());
    let missing_end = !text.trim_end().ends_with(';');
    match (&error.help, missing_end) {
        (_, true) => fault.hint("a rule ends with a semicolon"),
        (Some(help), false) => fault.hint(help.clone()),
        (None, false) => fault.hint("a rule is: permit|forbid (principal, action, resource) when { ... };"),
    }
}

fn place_in(error: &ffi::DetailedError) -> Option<usize> {
    let own = error.source_locations.first().map(|label| label.loc.start);
    own.or_else(|| error.related.iter().find_map(place_in))
}

/// What Cedar's validator and we find wrong with the rules that are to be checked.
fn validated(read: &[Read], known: &Known) -> Vec<(usize, Fault)> {
    let rules: Vec<_> = read.iter().filter_map(|read| Some((read, read.json.as_ref()?))).collect();
    let tools = rules.iter().flat_map(|(_, json)| sense::tools(json)).collect();
    let validator = match schema::schema(&tools) {
        Ok(schema) => Validator::new(schema),
        Err(e) => {
            return vec![(0, Fault::new(0, format!("the names of tools do not fit into a schema: {e}")))];
        }
    };
    let mut found = Vec::new();
    for (read, json) in rules {
        let here = |fault: Fault| (read.source, Fault { offset: read.start + fault.offset, ..fault });
        let ours = sense::faults(json, &read.rule.text, known);
        if !ours.is_empty() {
            found.extend(ours.into_iter().map(here));
            continue;
        }
        let Ok(set) = PolicySet::from_policies([read.cedar.clone()]) else { continue };
        let result = validator.validate(&set, ValidationMode::Strict);
        let id = format!("for policy `{}`, ", read.rule.id);
        let fault = |error: ffi::DetailedError| {
            let place = place_in(&error).unwrap_or(0);
            let fault = Fault::new(place, error.message.replace(&id, ""));
            match error.help {
                Some(help) => fault.hint(help.replace(&id, "")),
                None => fault,
            }
        };
        let errors: Vec<Fault> =
            result.validation_errors().map(|e| fault(ffi::DetailedError::from(e))).collect();
        if !errors.is_empty() {
            found.extend(errors.into_iter().map(here));
            continue;
        }
        for warning in result.validation_warnings() {
            match warning {
                ValidationWarning::ImpossiblePolicy(_) => {
                    let fault = Fault::new(0, "this rule can never apply");
                    found.push(here(fault.hint("no call meets its head and its conditions")));
                }
                // Texts may be of any script; names that only look like others are not what is read.
                ValidationWarning::BidiCharsInString(_)
                | ValidationWarning::BidiCharsInIdentifier(_)
                | ValidationWarning::MixedScriptIdentifier(_)
                | ValidationWarning::ConfusableIdentifier(_) => {
                    found.push(here(fault(ffi::DetailedError::from(warning))));
                }
                _ => {}
            }
        }
    }
    found
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
