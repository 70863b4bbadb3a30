//! Step 10: what the script gets to see of a result. It is read once: what is found in it is labelled, and passed,
//! redacted or withheld as the configuration says; then it goes into the ledger.

use serde_json::{Value, json};

use super::attempt::Attempt;
use super::ledger::{Reading, Traced};
use super::{Call, Inner};
use crate::config::{OnFound, ResultRules, ResultsConfig};
use crate::sandbox::Answer;
use crate::scan::{Became, Found, Look, ResultLabel, kinds};
use crate::upstream::{Blob, ToolResult};
use crate::{ToolError, ToolErrorCode};

/// What becomes of results in which something is found, in one run.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// Of every server that says nothing else.
    pub all: ResultsConfig,
    /// The profile's own, which only make it stricter.
    pub profile: ResultsConfig,
}

/// What a script gets of a result.
pub(super) enum Given {
    AsItIs,
    Instead(Value),
    Nothing,
}

impl Given {
    fn became(&self) -> Became {
        match self {
            Self::AsItIs => Became::Passed,
            Self::Instead(_) => Became::Redacted,
            Self::Nothing => Became::Blocked,
        }
    }
}

impl Inner {
    /// Looks through it and through the files with it that are text, saves the files as artifacts, checks the size, notes it in the ledger.
    pub(super) async fn result(
        &self,
        attempt: &mut Attempt<'_>,
        call: &Call,
        traced: &Traced,
        result: ToolResult,
    ) -> Answer {
        let tool = &call.definition;
        let rules = self.result_rules(&tool.server);
        let ToolResult { value, beside, mut blobs, warnings, .. } = result;
        for warning in warnings {
            tracing::warn!(tool = %tool.id(), "{warning}");
        }
        let json = value.to_string();
        if json.len() as u64 > rules.max_bytes {
            let message = format!(
                "{}: the call was made, but its result is {} bytes long; at most {} are passed on (--max-result-bytes, \
                 results.max_bytes)",
                tool.id(),
                json.len(),
                rules.max_bytes
            );
            return Err(ToolError::new(ToolErrorCode::Upstream, message));
        }
        let Reading { mut value, mut json, mut prepared, found, given } =
            self.read_json(traced, json, value, rules).await?;
        let (mut more_found, mut more_prepared) = (Vec::new(), Vec::new());
        for said in &beside {
            let read = self.read(traced, said.clone(), rules).await?;
            more_prepared.push(read.prepared);
            more_found.push(read.found);
        }
        attempt.beside = beside;
        let mut became = given.became();
        // The script learns nothing of what is withheld, so nothing of it can be in a later call.
        let mut refusal = matches!(given, Given::Nothing).then(|| withheld(&tool.id(), &found, rules));
        for blob in &mut blobs {
            // What a script can read as a text is one, whatever its server calls it.
            let Ok(text) = str::from_utf8(&blob.bytes) else { continue };
            let read = self.read(traced, text.into(), rules).await?;
            became = became.max(read.given.became());
            match read.given {
                Given::AsItIs => {}
                Given::Instead(Value::String(text)) => blob.bytes = text.into(),
                Given::Instead(_) | Given::Nothing => {
                    refusal.get_or_insert_with(|| withheld(&tool.id(), &read.found, rules));
                }
            }
            more_prepared.push(read.prepared);
            more_found.push(read.found);
        }
        attempt.label = ResultLabel::new(became, &found, &more_found);
        if let Some(refusal) = refusal {
            return Err(refusal);
        }
        let mut given = match given {
            Given::Instead(value) => Some(value),
            Given::AsItIs | Given::Nothing => None,
        };
        for blob in &blobs {
            let kept = self.save(&tool.name, blob, &mut value);
            let kept =
                kept.map_err(|e| ToolError::new(ToolErrorCode::Upstream, format!("{}: {e}", tool.id())))?;
            if let Some(given) = &mut given {
                replace(given, &blob.name, &kept);
            }
        }
        if !blobs.is_empty() {
            // It names its files otherwise than when it was read.
            Reading { json, prepared, .. } = self.read(traced, value, rules).await?;
        }
        // As it was: what was cut out of it is still known, should it come by another way.
        self.note(prepared);
        more_prepared.into_iter().for_each(|prepared| self.note(prepared));
        Ok(given.map_or(json, |given| given.to_string()))
    }

    /// What a server says of its failure is as much its word as a result is.
    pub(super) async fn failure(
        &self,
        attempt: &mut Attempt<'_>,
        traced: &Traced,
        mut error: ToolError,
    ) -> ToolError {
        let rules = self.result_rules(&traced.facts.server);
        let id = format!("{}/{}", traced.facts.server, traced.facts.tool);
        let mut all = Vec::new();
        let mut strictest = Became::Passed;
        let details = error.details.take().filter(|details| !details.is_null());
        let more = details.as_ref().is_some_and(|details| says_more(details, &error.message));
        let message = Value::String(std::mem::take(&mut error.message));
        for (value, is_message) in std::iter::once((message, true)).chain(details.map(|of| (of, false))) {
            let Reading { value, prepared, found, given, .. } = match self.read(traced, value, rules).await {
                Ok(read) => read,
                Err(unread) => return unread,
            };
            let became = given.became();
            strictest = strictest.max(became);
            let value = match given {
                Given::AsItIs => value,
                Given::Instead(instead) => instead,
                Given::Nothing => {
                    let message = format!(
                        "{id}: the tool failed, and what it says is withheld: {}",
                        what(&found, rules)
                    );
                    let details = json!({"kind": "error-withheld", "dispatched": attempt.dispatched});
                    all.push(found);
                    attempt.label = ResultLabel::new(became, &all[0], &all[1..]);
                    return ToolError { message, details: Some(details), ..error };
                }
            };
            match value {
                Value::String(text) if is_message => error.message = text,
                value => error.details = Some(value),
            }
            // Details that only repeat the message are told once.
            if is_message || more {
                all.push(found);
                self.note(prepared);
            }
        }
        if let Some((found, beside)) = all.split_first() {
            attempt.label = ResultLabel::new(strictest, found, beside);
        }
        error
    }

    fn result_rules(&self, server: &str) -> ResultRules {
        let own = self.parts.upstreams.config(server).map(|config| &config.results);
        let Results { all, profile } = &self.parts.results;
        all.rules(own, Some(profile), &self.parts.limits)
    }

    /// Writes a blob into /out and puts its path, which it gives back, where the placeholder's name was.
    fn save(&self, tool: &str, blob: &Blob, value: &mut Value) -> std::io::Result<String> {
        let path =
            self.parts.artifacts.write(&format!("{tool}-{}", blob.name), &blob.bytes).map_err(|e| {
                let message = format!("{} of {} bytes cannot be kept: {e}", blob.mime, blob.bytes.len());
                std::io::Error::new(e.kind(), message)
            })?;
        replace(value, &blob.name, &path);
        Ok(path)
    }
}

/// Whether the details of an error have words that its message has not.
fn says_more(details: &Value, message: &str) -> bool {
    match details {
        Value::String(text) => !message.contains(text.trim()),
        Value::Array(items) => items.iter().any(|item| says_more(item, message)),
        Value::Object(fields) => {
            fields.iter().any(|(name, field)| name != "kind" && says_more(field, message))
        }
        _ => false,
    }
}

/// What is worth looking for.
pub(super) fn look(rules: ResultRules) -> Look {
    Look { instructions: rules.instructions > OnFound::Ignore, secrets: rules.secrets > OnFound::Ignore }
}

/// What becomes of a result with this in it.
pub(super) fn decide(found: &Found, value: &Value, rules: ResultRules) -> Given {
    let planted = !found.planted.is_empty();
    let secret = !found.secrets.is_empty();
    let is = |of: bool, rule: OnFound, what: OnFound| of && rule == what;
    // What is not searched may hold anything.
    let unknown = found.unsearched > 0 && rules.instructions.max(rules.secrets) >= OnFound::Redact;
    if unknown || is(planted, rules.instructions, OnFound::Block) || is(secret, rules.secrets, OnFound::Block)
    {
        return Given::Nothing;
    }
    let instructions = is(planted, rules.instructions, OnFound::Redact);
    let secrets = is(secret, rules.secrets, OnFound::Redact);
    if !instructions && !secrets {
        return Given::AsItIs;
    }
    found.without(value, instructions, secrets).map_or(Given::Nothing, Given::Instead)
}

/// What was found, and which rule is about it; never what it says.
fn what(found: &Found, rules: ResultRules) -> String {
    let mut parts = Vec::new();
    if !found.planted.is_empty() {
        let rule = name(rules.instructions);
        parts.push(format!("text that gives orders to whoever reads it (results.instructions = {rule})"));
    }
    if !found.secrets.is_empty() {
        parts.push(format!(
            "{} (results.secrets = {})",
            kinds(&found.secrets).join(", "),
            name(rules.secrets)
        ));
    }
    if found.unsearched > 0 {
        parts.push(format!("{} bytes at its end are more than is searched", found.unsearched));
    }
    parts.join("; ")
}

fn name(rule: OnFound) -> &'static str {
    match rule {
        OnFound::Ignore => "ignore",
        OnFound::Pass => "pass",
        OnFound::Redact => "redact",
        OnFound::Block => "block",
    }
}

/// The error of a call that was made and whose result the script does not get.
fn withheld(id: &str, found: &Found, rules: ResultRules) -> ToolError {
    let message = format!(
        "{id}: the call was made, and what it does has happened; its result is withheld: {}",
        what(found, rules)
    );
    let details = json!({
        "kind": "result-withheld", "dispatched": true, "instructions": found.planted.len(), "secrets": kinds(&found.secrets),
    });
    ToolError::new(ToolErrorCode::Blocked, message).with_details(details)
}

/// Replaces the name in the placeholders `{"artifact": name, ...}`.
fn replace(value: &mut Value, name: &str, path: &str) {
    match value {
        Value::Object(fields) => {
            if fields.get("artifact").and_then(Value::as_str) == Some(name) {
                fields.insert("artifact".into(), path.into());
            }
            fields.values_mut().for_each(|field| replace(field, name, path));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, name, path)),
        _ => {}
    }
}
