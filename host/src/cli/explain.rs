//! `postern policy explain`: what decided about a call. One that is written down is put to the policy of today; one of
//! the record is told as it was decided, and put to the policy of today if that is another one. Asks nobody.

use std::io::Read;
use std::path::Path;

use owo_colors::OwoColorize;
use postern_check::{Reason, Scores, Thresholds, Verdict};
use serde::Serialize;
use serde_json::{Value, json};

use super::print::println;
use super::show;
use crate::policy::{CallDocument, CallFacts, Decision, Known, Policy};
use crate::record::{self, Attempt, Entry, Manifest, Outcome, RecordedApproval, RecordedFacts};
use crate::visible::visible;
use crate::{Config, Error, Result};

/// The longest call document that is read, in bytes.
const MAX_CALL: u64 = 4 << 20;

/// Explains a call that is written down.
pub(super) fn document(path: &Path, config: &Config, profile: Option<&str>, json: bool) -> Result<()> {
    let policy = config.compile_policy(profile, &Known::servers(config.servers.keys()))?;
    let facts = read_document(path, config, profile)?;
    let decided = Decided::by(&policy, &facts);
    if json {
        let mut document = decided.json();
        document["findings"] = json!(facts.findings);
        document["notes"] = json!([]);
        show::print_json(&document);
        return Ok(());
    }
    decided.print(&format!("{}/{}", facts.server, facts.tool));
    if !facts.findings.is_empty() {
        let finding = |f: &crate::policy::Finding| (f.code.to_owned(), f.path.clone(), f.message.clone());
        print_findings(facts.findings.iter().map(finding));
    }
    decided.print_without();
    Ok(())
}

fn read_document(path: &Path, config: &Config, profile: Option<&str>) -> Result<CallFacts> {
    let name = path.display();
    let wrong = |message: String| Error::Setting(format!("{name}: {message}"));
    let mut text = String::new();
    let read = match path.as_os_str() == "-" {
        true => std::io::stdin().take(MAX_CALL).read_to_string(&mut text),
        false => std::fs::File::open(path).and_then(|file| file.take(MAX_CALL).read_to_string(&mut text)),
    };
    read.map_err(|e| wrong(format!("cannot be read: {e}")))?;
    let document: CallDocument = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
    let mut facts = document.facts(&config.agent, &config.guard.thresholds).map_err(wrong)?;
    if facts.profile.is_none() {
        facts.profile = profile.map(str::to_owned);
    }
    Ok(facts)
}

/// Explains a call of the record. `run` is a record's folder, or an id as elsewhere.
pub(super) fn recorded(
    run: &Path,
    number: u32,
    folder: Option<&Path>,
    config: &Config,
    json: bool,
) -> Result<()> {
    let read = read_record(run, folder, config)?;
    let fault = |message: String| Error::Record { run: read.manifest.run.clone(), message };
    let attempt = read.journal.iter().find_map(|entry| match entry {
        Entry::Attempt(attempt) if attempt.call == number => Some(attempt),
        _ => None,
    });
    let attempt = attempt.ok_or_else(|| fault(format!("there is no call {number}")))?;
    let outcome = read.journal.iter().find_map(|entry| match entry {
        Entry::Outcome(outcome) if outcome.call == number => Some(outcome),
        _ => None,
    });
    let outcome = outcome.ok_or_else(|| {
        fault(format!("call {number} to {} has no outcome: the run was cut off before it", attempt.tool))
    })?;
    let call = Recorded { manifest: &read.manifest, attempt, outcome };
    let today = outcome.facts.as_deref().map(|facts| call.today(facts, config)).transpose().map_err(fault)?;
    match json {
        true => show::print_json(&call.told(today.as_ref())),
        false => call.print(today.as_ref()),
    }
    Ok(())
}

fn read_record(run: &Path, folder: Option<&Path>, config: &Config) -> Result<record::Read> {
    if run.join("run.json").is_file() {
        return record::read_folder(run);
    }
    let id = run.to_str().ok_or_else(|| Error::Setting("the run's id is no text".into()))?;
    let folder = folder.map(Path::to_owned).or_else(|| config.record_dir.clone());
    record::read(&folder.unwrap_or_else(record::default_folder), id)
}

// ---- of the record

/// One call of the record.
struct Recorded<'a> {
    manifest: &'a Manifest,
    attempt: &'a Attempt,
    outcome: &'a Outcome,
}

/// The same for machines. Scores and thresholds are written here and not in a [`Value`], which would make other numbers
/// of them.
#[derive(Serialize)]
struct Told<'a> {
    run: &'a str,
    call: u32,
    at: jiff::Timestamp,
    tool: &'a str,
    verdict: Verdict,
    code: Option<&'a str>,
    reasons: &'a [Reason],
    rules: Vec<Value>,
    arguments: Option<Vec<Value>>,
    findings: Option<&'a [record::RecordedFinding]>,
    facts: Option<&'a RecordedFacts>,
    scores: Option<&'a Scores>,
    approvals: &'a [RecordedApproval],
    policy_version: &'a str,
    profile: Option<&'a str>,
    thresholds: Option<Thresholds>,
    without_scores: Option<Value>,
    today: Option<Value>,
    notes: Vec<String>,
}

/// What the policy of today makes of a call of the record.
struct Today {
    /// Why it may decide otherwise than then; empty if nothing has changed.
    changes: Vec<String>,
    decided: Result<Decided, String>,
    notes: Vec<String>,
}

impl Recorded<'_> {
    fn today(&self, facts: &RecordedFacts, config: &Config) -> Result<Today, String> {
        let (mut call, notes) = facts.call(self.manifest, self.attempt, self.outcome)?;
        let then = call.thresholds;
        call.thresholds = config.guard.thresholds;
        let profile = self.manifest.profile.as_deref();
        // What cannot be compiled today says nothing about what was decided.
        let policy = config.compile_policy(profile, &Known::servers(config.servers.keys()));
        let mut changes = Vec::new();
        match &policy {
            Ok(policy) if self.manifest.policy_version.is_empty() => {
                changes.push(format!(
                    "the record does not say which policy it was; today it is {}",
                    show::short_digest(policy.version())
                ));
            }
            Ok(policy) if policy.version() != self.manifest.policy_version => changes.push(format!(
                "the policy is another one than then: {} then, {} today",
                show::short_digest(&self.manifest.policy_version),
                show::short_digest(policy.version())
            )),
            Ok(_) => {}
            Err(e) => changes.push(format!("the policy of today cannot be compiled: {e}")),
        }
        changes.extend(threshold_changes(&then, &call.thresholds));
        let decided = policy.map(|policy| Decided::by(&policy, &call)).map_err(|e| e.to_string());
        Ok(Today { changes, decided, notes })
    }

    /// What the record has instead of facts.
    fn why_no_facts(&self) -> &'static str {
        match self.manifest.policy_version.is_empty() {
            true => "the record is of a version that did not keep what was known of calls",
            false => "it ended before anything was found out about it, so no rule was asked",
        }
    }

    fn told<'a>(&'a self, today: Option<&Today>) -> Told<'a> {
        let (manifest, attempt, outcome) = (self.manifest, self.attempt, self.outcome);
        let facts = outcome.facts.as_deref();
        let notes =
            today.map(|today| today.notes.clone()).unwrap_or_else(|| vec![self.why_no_facts().into()]);
        let same = today.and_then(Today::same);
        let rules = |facts: &RecordedFacts| -> Vec<Value> {
            let rule = |rule: &record::AppliedRule| {
                let mut document = json!(rule);
                if let Some(known) = same.and_then(|decided| decided.policy.rule(&rule.id)) {
                    document["file"] = json!(known.file);
                    document["line"] = json!(known.line);
                }
                document
            };
            facts.rules.iter().map(rule).collect()
        };
        let argument = |argument: &record::RecordedArgument| {
            let mut document = json!(argument);
            document["value"] = json!(argument.text(attempt));
            document
        };
        Told {
            run: &manifest.run,
            call: attempt.call,
            at: attempt.at,
            tool: &attempt.tool,
            verdict: outcome.verdict,
            code: outcome.code.as_deref(),
            reasons: &outcome.reasons,
            rules: facts.map(rules).unwrap_or_default(),
            arguments: facts.map(|facts| facts.arguments.iter().map(argument).collect()),
            findings: facts.map(|facts| facts.findings.as_slice()),
            facts,
            scores: outcome.scores.as_ref(),
            approvals: &outcome.approvals,
            policy_version: &manifest.policy_version,
            profile: manifest.profile.as_deref(),
            thresholds: manifest.guard.as_ref().map(|guard| guard.thresholds),
            without_scores: same.and_then(Decided::without_json),
            today: today.map(Today::json),
            notes,
        }
    }

    fn print(&self, today: Option<&Today>) {
        let (manifest, attempt, outcome) = (self.manifest, self.attempt, self.outcome);
        let ended = match (&outcome.code, outcome.verdict) {
            (Some(code), _) => code.clone(),
            (None, Verdict::Ask) => "approved".into(),
            (None, _) => "done".into(),
        };
        println!(
            "{} {}  {ended}  (call {} of run {}, {})",
            show::verdict(outcome.verdict),
            show::one_line(&attempt.tool),
            attempt.call,
            manifest.run,
            outcome.at
        );
        print_reasons(&outcome.reasons);
        outcome.approvals.iter().for_each(print_approval);
        let Some(facts) = outcome.facts.as_deref() else { return show::note(self.why_no_facts()) };
        self.print_rules(facts, today);
        self.print_facts(facts);
        if let Some(scores) = &outcome.scores {
            print_scores(scores, facts.guard_sha256.as_deref());
        }
        let finding = |f: &record::RecordedFinding| (f.code.clone(), f.path.clone(), f.message.clone());
        if !facts.findings.is_empty() {
            print_findings(facts.findings.iter().map(finding));
        }
        let Some(today) = today else { return };
        today.print(&attempt.tool);
    }

    fn print_rules(&self, facts: &RecordedFacts, today: Option<&Today>) {
        let same = today.and_then(Today::same);
        let mut table = show::table(&["rule", "means", "where"]);
        for rule in &facts.rules {
            let lifted = if rule.lifted { " (lifted)" } else { "" };
            let place = same.and_then(|decided| decided.policy.rule(&rule.id));
            let place = place.map(|rule| format!("{} line {}", rule.file, rule.line));
            table.add_row([
                show::one_line(&rule.id),
                format!("{}{lifted}", rule.kind),
                place.unwrap_or_else(|| {
                    format!("policy {}", show::short_digest(&self.manifest.policy_version))
                }),
            ]);
        }
        println!("{table}");
    }

    fn print_facts(&self, facts: &RecordedFacts) {
        if !facts.arguments.is_empty() {
            println!("\n{}", "arguments".bold());
            let mut table = show::table(&["path", "value", "origin", "from", "decides"]);
            for argument in &facts.arguments {
                table.add_row([
                    show::one_line(&argument.path),
                    show::one_line(&argument.text(self.attempt)),
                    show::word(&argument.origin),
                    show::one_line(&argument.from.join(", ")),
                    if argument.authority { "whom or what it reaches" } else { "" }.to_owned(),
                ]);
            }
            println!("{table}");
        }
        println!("\n{}", "call".bold());
        let labels = &facts.labels;
        println!(
            "  {:14} its server is {}, sink {}, holds {}",
            "labels",
            show::word(&labels.trust),
            show::word(&labels.sink),
            show::word(&labels.holds)
        );
        let effects = match (facts.read_only, facts.side_effects) {
            (true, _) => "changes nothing, as a trusted server says",
            (false, Some(true)) => "changes something",
            (false, Some(false)) => "changes nothing",
            (false, None) => "nobody who can be believed says what it changes",
        };
        let outside = if facts.outside { "; reaches outside" } else { "" };
        println!("  {:14} {effects}{outside}", "effects");
        println!("  {:14} {}", "trigger", show::word(&facts.trigger));
        let spent = match facts.budget.spent.is_empty() {
            true => String::new(),
            false => format!("; with it {}", facts.budget.spent.join(", ")),
        };
        println!("  {:14} call {} of {}{spent}", "budget", facts.budget.calls, facts.budget.of);
        if let Some(profile) = &self.manifest.profile {
            println!("  {:14} {}", "profile", show::one_line(profile));
        }
    }
}

impl Today {
    /// What it says, if nothing has changed since the call was decided.
    fn same(&self) -> Option<&Decided> {
        self.decided.as_ref().ok().filter(|_| self.changes.is_empty())
    }

    fn json(&self) -> Value {
        let mut document = match &self.decided {
            Ok(decided) => decided.json(),
            Err(e) => json!({ "error": e }),
        };
        document["changes"] = json!(self.changes);
        document
    }

    fn print(&self, tool: &str) {
        println!("\n{}", "today".bold());
        let changed = !self.changes.is_empty();
        if !changed {
            let version = self.decided.as_ref().map_or("", |d| show::short_digest(d.policy.version()));
            println!("  the policy is the same as then ({version})");
        }
        self.changes.iter().for_each(|change| println!("  {}", show::one_line(change)));
        if let Ok(decided) = &self.decided {
            if changed {
                decided.print(tool);
            }
            decided.print_without();
        }
        // What the record lacks matters only to another policy than the one that decided.
        if changed {
            self.notes.iter().for_each(|note| show::note(note));
        }
    }
}

fn threshold_changes(then: &Thresholds, now: &Thresholds) -> Vec<String> {
    let number = |name, then: f32, now: f32| {
        (then.to_bits() != now.to_bits())
            .then(|| format!("guard.thresholds.{name} was {then}, and is {now} today"))
    };
    let head = (then.policy_head != now.policy_head).then(|| {
        format!("guard.thresholds.policy_head was {}, and is {} today", then.policy_head, now.policy_head)
    });
    let numbers = [
        number("block_unsafe", then.block_unsafe, now.block_unsafe),
        number("ask_unsafe", then.ask_unsafe, now.ask_unsafe),
        number("ask_ungrounded", then.ask_ungrounded, now.ask_ungrounded),
    ];
    numbers.into_iter().flatten().chain(head).collect()
}

// ---- by a policy

/// What a policy says of a call, with and without the guard's scores.
struct Decided {
    policy: Policy,
    decision: Decision,
    without: Option<Decision>,
}

impl Decided {
    fn by(policy: &Policy, facts: &CallFacts) -> Self {
        let without =
            facts.scores.as_ref().map(|_| policy.decide(&CallFacts { scores: None, ..facts.clone() }));
        Self { policy: policy.clone(), decision: policy.decide(facts), without }
    }

    fn json(&self) -> Value {
        let decision = &self.decision;
        json!({
            "verdict": decision.verdict, "reasons": decision.reasons, "rules": self.rules(decision),
            "lifted": decision.lifted, "without_scores": self.without_json(),
            "policy_version": self.policy.version(),
        })
    }

    fn without_json(&self) -> Option<Value> {
        let without = self.without.as_ref()?;
        Some(json!({"verdict": without.verdict, "reasons": without.reasons, "rules": self.rules(without)}))
    }

    fn rules(&self, decision: &Decision) -> Vec<Value> {
        let rules = decision.policies.iter().filter_map(|id| self.policy.rule(id));
        rules.map(|r| json!({"id": r.id, "kind": r.kind, "file": r.file, "line": r.line})).collect()
    }

    fn print(&self, tool: &str) {
        println!("{} {}", show::verdict(self.decision.verdict), show::one_line(tool));
        print_reasons(&self.decision.reasons);
        self.print_rules(&self.decision);
    }

    fn print_without(&self) {
        if let Some(without) = &self.without {
            println!("\n{} {}", "without the guard's scores".bold(), show::verdict(without.verdict));
            self.print_rules(without);
        }
    }

    fn print_rules(&self, decision: &Decision) {
        let mut table = show::table(&["rule", "means", "where"]);
        for rule in decision.policies.iter().filter_map(|id| self.policy.rule(id)) {
            let lifted = if decision.lifted.contains(&rule.id) { " (lifted)" } else { "" };
            table.add_row([
                rule.id.clone(),
                format!("{}{lifted}", rule.kind),
                format!("{} line {}", rule.file, rule.line),
            ]);
        }
        println!("{table}");
    }
}

/// What came of asking a person, and who that was.
fn print_approval(approval: &RecordedApproval) {
    let by = approval.by.as_ref().map(|by| match &by.who {
        Some(who) => format!(" by {} ({})", visible(who), visible(&by.via)),
        None => format!(" ({})", visible(&by.via)),
    });
    println!("  {:10} {}{}", "a person", approval.said.words(), by.unwrap_or_default());
}

fn print_reasons(reasons: &[Reason]) {
    for reason in reasons {
        println!("  {:22} {}", reason.code, show::one_line(&reason.message));
    }
}

fn print_findings(findings: impl Iterator<Item = (String, Option<String>, String)>) {
    println!("\n{}", "findings".bold());
    for (code, path, message) in findings {
        let place = path.unwrap_or_else(|| "the call".into());
        println!("  {code:22} {}: {}", show::one_line(&place), show::one_line(&message));
    }
}

fn print_scores(scores: &Scores, weights: Option<&str>) {
    println!(
        "\n{}{}",
        "scores".bold(),
        weights.map(|w| format!(" of the weights {}", show::short_digest(w))).unwrap_or_default()
    );
    let policy = &scores.approval_policy;
    println!(
        "  unsafe {:.2}  injected {:.2}  exfiltration {:.2}  args_grounded {:.2}  blast_radius {:.2} ({})",
        scores.unsafe_,
        scores.injected,
        scores.exfiltration,
        scores.args_grounded,
        scores.blast_radius,
        show::word(&scores.effect)
    );
    println!(
        "  policy: allow {:.2}  require_human {:.2}  reject {:.2}",
        policy.allow, policy.require_human, policy.reject
    );
}
