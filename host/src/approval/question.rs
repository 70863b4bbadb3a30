//! What is asked, in a form that may be written down and shown to people elsewhere: secrets are replaced by
//! markers. What is decided about is the exact call, which does not leave the process; its seal stands here
//! in its place.

use jiff::Timestamp;
use postern_check::evidence::Origin;
use postern_check::{Reason, Scores};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ApprovalRequest, MOST_ALIKE};
use crate::policy::Agent;
use crate::visible::visible;

/// A question to a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Its name: a UUID.
    pub id: String,
    /// What the answer is bound to: the seal of the exact call, in hex.
    pub seal: String,
    /// The run that asks.
    pub run: String,
    /// On whose behalf it acts.
    pub agent: Agent,
    /// `server/tool`.
    pub tool: String,
    /// Of the tool's definition.
    pub definition_sha256: String,
    /// SHA-256 of the policy.
    pub policy_version: String,
    /// The arguments as they would be sent, but for the secrets in them.
    pub arguments: Map<String, Value>,
    /// Where each value came from.
    pub origins: Vec<ValueOrigin>,
    /// What the user had asked for.
    pub intent: String,
    /// Why somebody is asked.
    pub reasons: Vec<Reason>,
    /// What the guard said.
    pub scores: Option<Scores>,
    /// What calls must have in common with this one to be covered by an answer for its group; null when
    /// there is no group.
    pub alike: Option<String>,
    /// When it was put.
    pub asked: Timestamp,
    /// Until when an answer counts.
    pub expires: Timestamp,
}

/// Where one value of the arguments came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueOrigin {
    /// JSON pointer into the arguments.
    pub path: String,
    /// It decides whom or what the call reaches.
    pub authority: bool,
    /// `user`, `constraint`, `trusted`, `literal`, `field`, `prose`, `nowhere` or `order`.
    pub origin: String,
    /// The tools whose results hold it, as `server/tool`.
    pub from: Vec<String>,
}

impl Question {
    /// What of a request may be written down.
    pub fn of(request: &ApprovalRequest) -> Self {
        let redactor = &request.redactor;
        let mut question = Self::exact(request);
        let exact = Value::Object(std::mem::take(&mut question.arguments));
        let shown = redactor.value(&request.tool, &exact);
        question.alike = request.alike.as_ref().map(|likeness| {
            redactor.text(&likeness.describe_but(|path| shown.pointer(path) != exact.pointer(path)))
        });
        if let Value::Object(shown) = shown {
            question.arguments = shown;
        }
        question.intent = redactor.text(&question.intent);
        question.reasons.iter_mut().for_each(|reason| reason.message = redactor.text(&reason.message));
        // A name can hold a secret too.
        question.origins.iter_mut().for_each(|origin| origin.path = redactor.text(&origin.path));
        question
    }

    /// The request as it is, for whoever may see all of it: the person at the run's own terminal.
    pub(super) fn exact(request: &ApprovalRequest) -> Self {
        let origin = |fact: &crate::policy::ArgumentFact| ValueOrigin {
            path: fact.path.clone(),
            authority: fact.authority,
            origin: name(fact.origin).to_owned(),
            from: fact.from.clone(),
        };
        Self {
            id: request.id.clone(),
            seal: request.seal.clone(),
            run: request.run.clone(),
            agent: request.agent.clone(),
            tool: request.tool.clone(),
            definition_sha256: request.definition_sha256.clone(),
            policy_version: request.policy_version.clone(),
            arguments: request.arguments.clone(),
            origins: request.origins.iter().map(origin).collect(),
            intent: request.intent.clone(),
            reasons: request.reasons.clone(),
            scores: request.scores.clone(),
            alike: request.alike.as_ref().map(super::Likeness::describe),
            asked: request.asked,
            expires: request.expires,
        }
    }

    /// Each argument in one line, fit for a terminal: name, value cut after `most` characters, and where it
    /// came from if it reaches something.
    pub(crate) fn lines(&self, most: usize) -> Vec<String> {
        let line = |(name, value): (&String, &Value)| {
            let value = visible(&value.to_string());
            let shown: String = value.chars().take(most).collect();
            let cut = if shown.len() < value.len() {
                format!(" ... ({} bytes in all)", value.len())
            } else {
                String::new()
            };
            format!("{}: {shown}{cut}{}", visible(name), self.came_from(name))
        };
        self.arguments.iter().map(line).collect()
    }

    /// What the guard said, in one line.
    pub(crate) fn guard(&self) -> Option<String> {
        self.scores.as_ref().map(|scores| {
            let Scores { unsafe_, injected, exfiltration, .. } = scores;
            format!("unsafe {unsafe_:.2}, injected {injected:.2}, exfiltration {exfiltration:.2}")
        })
    }

    /// What an answer for the group would cover.
    pub(crate) fn group(&self) -> Option<String> {
        let alike = self.alike.as_ref()?;
        Some(format!("up to {MOST_ALIKE} calls of this tool with {}", visible(alike)))
    }

    fn came_from(&self, name: &str) -> String {
        let own = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        let of_argument = |path: &str| path == own || path.starts_with(&format!("{own}/"));
        let origins = self.origins.iter().filter(|origin| origin.authority && of_argument(&origin.path));
        let Some(worst) = origins.max_by_key(|origin| rank(&origin.origin)) else { return String::new() };
        let from =
            if worst.from.is_empty() { String::new() } else { format!(" ({})", worst.from.join(", ")) };
        format!("  <- {}{}", place(&worst.origin), visible(&from))
    }
}

fn name(origin: Origin) -> &'static str {
    match origin {
        Origin::User => "user",
        Origin::Constraint => "constraint",
        Origin::Trusted => "trusted",
        Origin::Literal => "literal",
        Origin::Field => "field",
        Origin::Prose => "prose",
        Origin::Nowhere => "nowhere",
        Origin::Order => "order",
    }
}

/// The least trusted place last; a name that is not known is worse than all.
fn rank(origin: &str) -> usize {
    Origin::ALL.iter().position(|known| name(*known) == origin).unwrap_or(usize::MAX)
}

fn place(origin: &str) -> String {
    match origin {
        "user" => "the request",
        "constraint" => "a rule",
        "trusted" => "a trusted result",
        "literal" => "the script",
        "field" => "a field of a result",
        "prose" => "text of a result",
        "nowhere" => "nowhere: computed or made up",
        "order" => "text that gives orders",
        other => return visible(other),
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::tests::request;
    use super::*;

    #[test]
    fn secrets_are_not_written_down() {
        let request = request(
            r#"{"to": "ann@corp.example", "password": "p@ss/hunter2", "body": "see ghp_abcdefghijklmnopqrstuvwxyz0123456789"}"#,
        );
        let question = Question::of(&request);
        let text = serde_json::to_string(&question).unwrap();
        for secret in ["hunter2", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        assert!(text.contains("ann@corp.example"), "{text}");
        assert!(question.alike.unwrap().contains("password as here"), "{text}");
        let exact = Question::exact(&request);
        assert!(serde_json::to_string(&exact).unwrap().contains("hunter2"));
    }

    #[test]
    fn the_worst_origin_of_an_argument_is_shown() {
        let mut question = Question::of(&request(r#"{"to": ["a", "b"], "a/b": 1}"#));
        let origin = |path: &str, origin: &str| ValueOrigin {
            path: path.into(),
            authority: true,
            origin: origin.into(),
            from: vec!["mail/read".into()],
        };
        question.origins =
            vec![origin("/to/0", "user"), origin("/to/1", "prose"), origin("/a~1b", "literal")];
        assert_eq!(
            question.lines(600),
            ["to: [\"a\",\"b\"]  <- text of a result (mail/read)", "a/b: 1  <- the script (mail/read)"]
        );
        assert_eq!(question.lines(2)[1], "a/b: 1  <- the script (mail/read)");
        assert!(question.lines(2)[0].contains("[\" ... (9 bytes in all)"), "{:?}", question.lines(2));
    }

    #[test]
    fn it_reads_back_as_it_was_written() {
        let question = Question::of(&request(r#"{"to": "a", "n": 1.5, "deep": {"x": [null, true]}}"#));
        let text = serde_json::to_string(&question).unwrap();
        assert_eq!(serde_json::from_str::<Question>(&text).unwrap(), question);
    }
}
