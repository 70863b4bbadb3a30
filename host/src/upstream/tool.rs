//! One tool as its server describes it, and how a listing becomes tools: each on its own, so that a
//! bad one costs itself only.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::Problem;
use super::find::Index;
use super::schema::{self, Checked};
use super::text::{bounded, strip_controls};
use crate::canonical::canonical;

/// A name longer than this is not one.
const MAX_NAME_BYTES: usize = 256;

/// A tool of one server. Cheap to share; never changes: a server that describes it anew gets a new
/// definition with another [`digest`](Self::digest).
#[derive(Debug)]
pub struct ToolDefinition {
    /// The server's name in the configuration, never what the server calls itself.
    pub server: String,
    /// The name by which the server knows the tool.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What the tool does, in the server's words. Not to be believed.
    pub description: Option<String>,
    /// JSON Schema of the arguments, repaired where it had to be: it compiles, accepts objects
    /// only, and refers to nothing outside itself.
    pub input_schema: Value,
    /// JSON Schema of the structured result, when there is one.
    pub output_schema: Option<Value>,
    /// The server's hints.
    pub annotations: Annotations,
    digest: String,
    arguments: jsonschema::Validator,
    result: Option<jsonschema::Validator>,
}

/// What a server says about a tool. `None` is "it does not say", for which the protocol assumes the
/// worse: not read-only, destructive, not idempotent, open world.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// A name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Changes nothing.
    #[serde(rename = "readOnlyHint", skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// May destroy something.
    #[serde(rename = "destructiveHint", skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// A second call with the same arguments changes nothing more.
    #[serde(rename = "idempotentHint", skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// Reaches beyond a closed set of things, as the web does.
    #[serde(rename = "openWorldHint", skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

impl ToolDefinition {
    /// A tool of an in-process server.
    pub fn new(server: impl Into<String>, name: impl Into<String>, input_schema: Value) -> Self {
        let name = name.into();
        let raw = json!({"name": name, "inputSchema": input_schema});
        let raw = match raw {
            Value::Object(raw) => raw,
            _ => Map::new(),
        };
        Self::build(server.into(), name, &raw).0
    }

    /// The same with a description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self.redigest();
        self
    }

    /// The same with a schema of the structured result.
    #[must_use]
    pub fn with_output_schema(mut self, output_schema: Value) -> Self {
        let checked = schema::result_schema(Some(&output_schema));
        (self.output_schema, self.result) = split(checked);
        self.redigest();
        self
    }

    /// The same with hints.
    #[must_use]
    pub fn with_annotations(mut self, annotations: Annotations) -> Self {
        self.annotations = annotations;
        self.redigest();
        self
    }

    fn redigest(&mut self) {
        let input = Some(&self.input_schema);
        self.digest = digest(
            &self.name,
            self.description.as_deref(),
            input,
            self.output_schema.as_ref(),
            &self.annotations,
        );
    }

    /// `server/tool`, the name that policies, checks and scripts use.
    pub fn id(&self) -> String {
        format!("{}/{}", self.server, self.name)
    }

    /// The name for people, wherever the server has put it.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref().or(self.annotations.title.as_deref())
    }

    /// SHA-256, in hex, over name, description, both schemas as the server sent them, and the hints.
    /// The order of keys does not count.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The compiled [`input_schema`](Self::input_schema).
    pub fn argument_validator(&self) -> &jsonschema::Validator {
        &self.arguments
    }

    /// The compiled [`output_schema`](Self::output_schema).
    pub fn result_validator(&self) -> Option<&jsonschema::Validator> {
        self.result.as_ref()
    }

    fn build(server: String, name: String, raw: &Map<String, Value>) -> (Self, Vec<String>) {
        let mut faults = Vec::new();
        let mut text = |key: &str| match raw.get(key) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(_) => {
                faults.push(format!("its {key} is not a text and is left out"));
                None
            }
        };
        let (title, description) = (text("title"), text("description"));
        let annotations = annotations(raw.get("annotations"), &mut faults);
        let input = schema::arguments_schema(raw.get("inputSchema"));
        let output = schema::result_schema(raw.get("outputSchema"));
        faults.extend(input.repairs);
        faults.extend(output.iter().flat_map(|checked| checked.repairs.iter().cloned()));
        let digest = digest(
            &name,
            description.as_deref(),
            raw.get("inputSchema"),
            raw.get("outputSchema"),
            &annotations,
        );
        let (output_schema, result) = split(output);
        let tool = Self {
            server,
            name,
            title,
            description,
            input_schema: input.schema,
            output_schema,
            annotations,
            digest,
            arguments: input.validator,
            result,
        };
        (tool, faults)
    }
}

fn split(checked: Option<Checked>) -> (Option<Value>, Option<jsonschema::Validator>) {
    checked.map_or((None, None), |checked| (Some(checked.schema), Some(checked.validator)))
}

fn annotations(raw: Option<&Value>, faults: &mut Vec<String>) -> Annotations {
    let raw = match raw {
        None | Some(Value::Null) => return Annotations::default(),
        Some(Value::Object(raw)) => raw,
        Some(_) => {
            faults.push("its annotations are not an object and are left out".into());
            return Annotations::default();
        }
    };
    let mut hint = |key: &str| match raw.get(key) {
        None | Some(Value::Null) => None,
        Some(Value::Bool(hint)) => Some(*hint),
        Some(_) => {
            faults.push(format!("its {key} is neither true nor false and is left out"));
            None
        }
    };
    Annotations {
        read_only: hint("readOnlyHint"),
        destructive: hint("destructiveHint"),
        idempotent: hint("idempotentHint"),
        open_world: hint("openWorldHint"),
        title: raw.get("title").and_then(Value::as_str).map(str::to_owned),
    }
}

fn digest(
    name: &str,
    description: Option<&str>,
    input: Option<&Value>,
    output: Option<&Value>,
    hints: &Annotations,
) -> String {
    let definition = json!({
        "name": name,
        "description": description,
        "inputSchema": input,
        "outputSchema": output,
        "annotations": hints,
    });
    crate::sandbox::hex(&Sha256::digest(canonical(&definition).to_string().as_bytes()))
}

/// The tools of one server, as last listed.
#[derive(Debug, Default)]
pub(super) struct ToolSet {
    pub(super) tools: BTreeMap<String, Arc<ToolDefinition>>,
    /// Names the server gave to two different tools: neither is used.
    pub(super) ambiguous: Vec<String>,
    pub(super) problems: Vec<Problem>,
    /// Made when first searched. A new listing is a new set, so it never tells of tools that are gone.
    pub(super) index: OnceLock<Index>,
}

/// Gathers a listing page by page.
pub(super) struct Listing {
    server: String,
    set: ToolSet,
}

impl Listing {
    pub(super) fn new(server: &str) -> Self {
        Self { server: server.to_owned(), set: ToolSet::default() }
    }

    /// Adds one tool as sent. True when it is a name not seen before.
    pub(super) fn add(&mut self, raw: &Value) -> bool {
        let Some(raw) = raw.as_object() else {
            self.problem(None, "an entry of its tool list is not an object and is left out".into());
            return false;
        };
        let name = match raw.get("name") {
            Some(Value::String(name)) => name,
            _ => {
                self.problem(None, "a tool without a name is left out".into());
                return false;
            }
        };
        if name.is_empty() || name.len() > MAX_NAME_BYTES || name.chars().any(char::is_control) {
            let shown = bounded(&strip_controls(name), 40);
            self.problem(None, format!("a tool is left out: {shown:?} cannot be a tool's name"));
            return false;
        }
        if self.set.ambiguous.contains(name) {
            return false;
        }
        let (tool, faults) = ToolDefinition::build(self.server.clone(), name.clone(), raw);
        match self.set.tools.get(name) {
            None => {
                for fault in faults {
                    self.problem(Some(name), fault);
                }
                self.set.tools.insert(name.clone(), Arc::new(tool));
                true
            }
            // The same tool twice, as a server that ignores the cursor sends it.
            Some(known) if known.digest == tool.digest => false,
            Some(_) => {
                self.set.tools.remove(name);
                self.set.ambiguous.push(name.clone());
                self.problem(Some(name), "two different tools have this name; neither is used".into());
                false
            }
        }
    }

    pub(super) fn problem(&mut self, tool: Option<&str>, message: String) {
        // A server cannot fill the memory with faults either.
        if self.set.problems.len() < 1_000 {
            self.set.problems.push(Problem {
                server: self.server.clone(),
                tool: tool.map(str::to_owned),
                message,
            });
        }
    }

    pub(super) fn len(&self) -> usize {
        self.set.tools.len()
    }

    pub(super) fn finish(self) -> ToolSet {
        self.set
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn listing(tools: &[Value]) -> ToolSet {
        let mut listing = Listing::new("s");
        for tool in tools {
            listing.add(tool);
        }
        listing.finish()
    }

    fn tool(description: &str) -> Value {
        json!({"name": "t", "description": description, "inputSchema": {"type": "object", "properties": {"a": {}, "b": {}}}})
    }

    // Runtime case 34: drift is seen, the order of keys is not drift.
    #[test]
    fn the_digest_sees_every_change_but_not_the_order_of_keys() {
        let of = |raw: Value| listing(&[raw]).tools["t"].digest().to_owned();
        let first = of(tool("d"));
        let reordered = json!({"inputSchema": {"properties": {"b": {}, "a": {}}, "type": "object"}, "description": "d", "name": "t"});
        assert_eq!(first, of(reordered));
        assert_eq!(first.len(), 64);
        let mut changed = vec![tool("other")];
        for (key, value) in [
            ("inputSchema", json!({"type": "object"})),
            ("outputSchema", json!({"type": "object"})),
            ("annotations", json!({"readOnlyHint": true})),
        ] {
            let mut raw = tool("d");
            raw[key] = value;
            changed.push(raw);
        }
        for raw in changed {
            assert_ne!(first, of(raw.clone()), "{raw}");
        }
    }

    // Runtime case 14: one bad schema must not hide the others.
    #[test]
    fn a_bad_tool_costs_itself_only() {
        let set = listing(&[
            json!({"name": "fine", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true, "destructiveHint": "no"}}),
            json!({"name": "missing"}),
            json!({"name": "empty", "inputSchema": {}}),
            json!({"name": "text", "inputSchema": {"type": "string"}}),
            json!({"name": "union", "inputSchema": {"anyOf": [{"required": ["a"]}]}}),
            json!({"inputSchema": {}}),
            json!({"name": "bad\u{7}name"}),
            json!(5),
        ]);
        let names: Vec<_> = set.tools.keys().cloned().collect();
        assert_eq!(names, ["empty", "fine", "missing", "text", "union"]);
        assert_eq!(set.tools["fine"].annotations.read_only, Some(true));
        assert_eq!(set.tools["fine"].annotations.destructive, None);
        for (tool, fragment) in
            [("missing", "no inputSchema"), ("empty", "{}"), ("text", "\"string\""), ("union", "anyOf")]
        {
            let said = set.problems.iter().find(|p| p.tool.as_deref() == Some(tool)).unwrap();
            assert!(said.message.contains(fragment), "{}", said.message);
        }
    }

    #[test]
    fn a_name_given_twice_to_different_tools_is_used_for_neither() {
        let set = listing(&[tool("one"), tool("two"), tool("one")]);
        assert!(set.tools.is_empty());
        assert_eq!(set.ambiguous, ["t"]);
        let set = listing(&[tool("same"), tool("same")]);
        assert_eq!(set.tools.len(), 1);
        assert!(set.problems.is_empty());
    }
}
