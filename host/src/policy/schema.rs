//! What policies may speak of: the Cedar schema, the closed vocabularies that Cedar itself cannot
//! check, and the servers and tools that there are.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use cedar_policy::Schema;

use super::findings;

/// The group that every tool is in.
pub(super) const ANY_CALL: &str = "call";

/// The servers and tools that a policy may name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    servers: BTreeMap<String, Option<BTreeSet<String>>>,
}

impl Known {
    /// These servers; what tools they have is not known.
    pub fn servers(names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { servers: names.into_iter().map(|name| (name.into(), None)).collect() }
    }

    /// What tools one server has. A policy that names another of its tools is then refused.
    #[must_use]
    pub fn with_tools(
        mut self,
        server: impl Into<String>,
        tools: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.servers.insert(server.into(), Some(tools.into_iter().map(Into::into).collect()));
        self
    }

    /// The names of the servers.
    pub(super) fn server_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.servers.keys().map(String::as_str)
    }

    pub(super) fn has_server(&self, name: &str) -> bool {
        self.servers.contains_key(name)
    }

    /// The server's tools, if they are known.
    pub(super) fn tools(&self, server: &str) -> Option<&BTreeSet<String>> {
        self.servers.get(server)?.as_ref()
    }
}

const TYPES: &str = r#"
entity Agent { owner: String };
entity Server { trust: String };
entity Call tags String;

type Scores = {
    "sound": Bool, "unfit": Bool,
    "unsafe": Long, "args_grounded": Long, "blast_radius": Long, "exfiltration": Long, "injected": Long,
    "allow": Long, "require_human": Long, "reject": Long,
    "policy": String, "effect": String,
};
type Thresholds = { "block_unsafe": Long, "ask_unsafe": Long, "ask_ungrounded": Long, "policy_head": Bool };
type Known = {
    "findings": Set<String>,
    "origins": Set<String>, "authority_origins": Set<String>,
    "trust": String, "sink": String, "holds": String,
    "read_only": Bool, "outside": Bool, "changes": Bool, "names_target": Bool, "side_effects": String,
    "trigger": String, "calls": Long, "profile"?: String,
    "scores"?: Scores, "thresholds": Thresholds,
    "call": Call,
};

action "call" appliesTo { principal: [Agent], resource: [Server], context: Known };
"#;

/// The schema for a policy that names these tools (`server/tool`). Tools that it does not name are all
/// alike to it, so they need not be in the schema.
pub(super) fn schema(tools: &BTreeSet<String>) -> Result<Schema, String> {
    let mut text = TYPES.to_owned();
    for tool in tools {
        // Writing to a text cannot fail.
        let _ = writeln!(
            text,
            "action \"{}\" in [\"{ANY_CALL}\"] appliesTo {{ principal: [Agent], resource: [Server], context: Known }};",
            tool.escape_debug()
        );
    }
    let (schema, _) = Schema::from_cedarschema_str(&text).map_err(|e| e.to_string())?;
    Ok(schema)
}

pub(super) const TRUST: &[&str] = &["untrusted", "trusted"];
pub(super) const SINK: &[&str] = &["none", "private", "public"];
pub(super) const HOLDS: &[&str] = &["public", "private", "secret"];
pub(super) const SIDE_EFFECTS: &[&str] = &["yes", "no", "unknown"];
pub(super) const TRIGGER: &[&str] = &["user", "tool_result"];
pub(super) const POLICY_HEAD: &[&str] = &["allow", "require_human", "reject"];
pub(super) const EFFECT: &[&str] = &["none", "read", "write", "external_send", "irreversible"];
pub(super) const ORIGIN: &[&str] =
    &["user", "constraint", "trusted", "literal", "field", "prose", "nowhere", "order"];

/// The words that an attribute can be, or that a set can hold; `None`: any.
pub(super) fn vocabulary(path: &str) -> Option<Vec<&'static str>> {
    let words = match path {
        "context.findings" => return Some(findings::ALL.iter().map(|kind| kind.code).collect()),
        "context.trust" | "resource.trust" => TRUST,
        "context.sink" => SINK,
        "context.holds" => HOLDS,
        "context.side_effects" => SIDE_EFFECTS,
        "context.trigger" => TRIGGER,
        "context.scores.policy" => POLICY_HEAD,
        "context.scores.effect" => EFFECT,
        "context.origins" | "context.authority_origins" => ORIGIN,
        _ => return None,
    };
    Some(words.to_vec())
}

/// The least and the greatest that a number can be.
pub(super) fn range(path: &str) -> (i64, i64) {
    if path.starts_with("context.scores.") || path.starts_with("context.thresholds.") {
        return (0, 1_000);
    }
    if path == "context.calls" {
        return (0, i64::from(u32::MAX));
    }
    (i64::MIN, i64::MAX)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::policy::{Holds, Sink};
    use postern_check::evidence::{Origin, Trust};
    use postern_check::{BlastRadius, PolicyHead, Trigger};
    use serde::Serialize;

    fn words(values: impl IntoIterator<Item = impl Serialize>) -> Vec<String> {
        values.into_iter().map(|v| serde_json::to_value(v).unwrap().as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn the_vocabularies_are_those_of_the_types() {
        assert_eq!(ORIGIN, words(Origin::ALL));
        assert_eq!(EFFECT, words(BlastRadius::ALL));
        assert_eq!(TRUST, words([Trust::Untrusted, Trust::Trusted]));
        assert_eq!(SINK, words([Sink::None, Sink::Private, Sink::Public]));
        assert_eq!(HOLDS, words([Holds::Public, Holds::Private, Holds::Secret]));
        assert_eq!(TRIGGER, words([Trigger::User, Trigger::ToolResult]));
        assert_eq!(POLICY_HEAD, words([PolicyHead::Allow, PolicyHead::RequireHuman, PolicyHead::Reject]));
    }

    #[test]
    fn any_name_of_a_tool_fits_into_the_schema() {
        let tools = ["a/b", "a/quo\"te", "a/back\\slash", "a/line\nbreak", "a/ä", "a/'", "a/x/y"];
        schema(&tools.iter().map(|t| (*t).to_owned()).collect()).unwrap();
    }
}
