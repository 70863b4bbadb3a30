//! Looking for tools by what they are called and said to do. The index of a server's tools is made when
//! they are first searched, and again when the server lists others; an unchanged server keeps its own.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::text::strip_controls;
use super::tool::ToolSet;
use super::{Problem, ToolDefinition, Upstreams};
use crate::search::{Part, Segment, Subject, has_words, search};

/// A first sentence is cut after this many characters.
const LONGEST_SENTENCE: usize = 160;
/// A title likewise.
const LONGEST_TITLE: usize = 80;
/// How deep names of arguments are looked for in a schema.
const DEPTH: usize = 12;
/// Names of arguments that are looked at, of one tool.
const MOST_ARGUMENTS: usize = 200;

/// The tools that match a query.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The best first; all by name, if the query has no words.
    pub tools: Vec<Arc<ToolDefinition>>,
    /// What is wrong with the servers that were asked. Their other tools are found.
    pub problems: Vec<Problem>,
}

/// What a search says about a tool: enough to choose by, and nothing bigger. The schemas are in its
/// definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolSummary {
    /// `server/tool`.
    pub name: String,
    /// A name for people, at most 80 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The first sentence of its description, in one line, at most 160 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl ToolDefinition {
    /// What a search says about it.
    pub fn summary(&self) -> ToolSummary {
        let description = self.description.as_deref().map(first_sentence);
        ToolSummary {
            name: self.id(),
            title: self.title().map(|title| cut(title, LONGEST_TITLE)).filter(|title| !title.is_empty()),
            description: description.filter(|description| !description.is_empty()),
        }
    }
}

impl Upstreams {
    /// The tools that match, best first: those with a word of the query in name, title, description or the
    /// names of their arguments, more and rarer words before fewer and more usual ones. A query without
    /// words, such as `*`, gives all by name.
    ///
    /// Only servers that `wanted` names are contacted, and only tools that `seen` lets through have any
    /// part in the answer.
    pub async fn search(
        &self,
        query: &str,
        wanted: impl Fn(&str) -> bool,
        seen: impl Fn(&ToolDefinition) -> bool,
    ) -> Found {
        let (sets, problems) = self.sets_of(wanted).await;
        if !has_words(query) {
            let all = sets.iter().flat_map(|set| set.tools.values());
            let mut tools: Vec<_> = all.filter(|tool| seen(tool)).cloned().collect();
            tools.sort_by_cached_key(|tool| tool.id());
            return Found { tools, problems };
        }
        for set in &sets {
            prepare(set).await;
        }
        let indices: Vec<&Index> = sets.iter().map(|set| set.index()).collect();
        let seen_of = |index: &Index| index.tools.iter().map(|tool| seen(tool)).collect();
        let parts: Vec<Part<'_>> =
            indices.iter().map(|index| Part { segment: &index.segment, seen: seen_of(index) }).collect();
        let hits = search(&parts, query).unwrap_or_default();
        let tools = hits.into_iter().map(|(part, at)| Arc::clone(&indices[part].tools[at])).collect();
        Found { tools, problems }
    }
}

/// The tools of one server, ready to be searched.
#[derive(Debug)]
pub(super) struct Index {
    segment: Segment,
    /// By the segment's numbers.
    tools: Vec<Arc<ToolDefinition>>,
}

impl ToolSet {
    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let tools: Vec<Arc<ToolDefinition>> = self.tools.values().cloned().collect();
            Index { segment: Segment::new(tools.iter().map(|tool| subject(tool))), tools }
        })
    }
}

/// Makes the index on a thread where it holds nobody up: thousands of tools take some time.
async fn prepare(set: &Arc<ToolSet>) {
    if set.index.get().is_none() {
        let set = Arc::clone(set);
        // Should that thread fail, the index is made where it is needed.
        let _ = tokio::task::spawn_blocking(move || set.index().tools.len()).await;
    }
}

fn subject(tool: &ToolDefinition) -> Subject<'_> {
    let mut arguments = Vec::new();
    names(&tool.input_schema, DEPTH, &mut arguments);
    Subject {
        server: &tool.server,
        name: &tool.name,
        title: tool.title().unwrap_or_default(),
        description: tool.description.as_deref().unwrap_or_default(),
        arguments,
    }
}

/// The names of all properties that a schema speaks of, wherever.
fn names<'a>(schema: &'a Value, depth: usize, into: &mut Vec<&'a str>) {
    if depth == 0 || into.len() >= MOST_ARGUMENTS {
        return;
    }
    match schema {
        Value::Object(schema) => {
            for (key, value) in schema {
                match (key.as_str(), value) {
                    // Values, not schemas.
                    ("enum" | "const" | "default" | "examples" | "example" | "required", _) => {}
                    ("properties", Value::Object(properties)) => {
                        let room = MOST_ARGUMENTS.saturating_sub(into.len());
                        into.extend(properties.keys().take(room).map(String::as_str));
                        properties.values().for_each(|value| names(value, depth - 1, into));
                    }
                    _ => names(value, depth - 1, into),
                }
            }
        }
        Value::Array(schemas) => schemas.iter().for_each(|schema| names(schema, depth - 1, into)),
        _ => {}
    }
}

/// The first sentence, in one line.
fn first_sentence(text: &str) -> String {
    let text = text.trim();
    // What stands apart from the rest is a sentence too, with or without a full stop.
    let paragraph = text.split("\n\n").next().unwrap_or(text);
    let end = paragraph.char_indices().find_map(|(at, c)| {
        let (before, after) = (&paragraph[..at], &paragraph[at + c.len_utf8()..]);
        let ends =
            matches!(c, '。' | '！' | '？') || matches!(c, '.' | '!' | '?') && ends_here(before, after);
        ends.then(|| paragraph.len() - after.trim_start_matches(CLOSING).len())
    });
    cut(&paragraph[..end.unwrap_or(paragraph.len())], LONGEST_SENTENCE)
}

/// What may stand behind the full stop and still be of the sentence.
const CLOSING: [char; 5] = ['"', '\'', ')', '`', '”'];

/// Whether a full stop between these two ends a sentence: not in `e.g. this`, `v1.2`, `notes.txt`.
fn ends_here(before: &str, after: &str) -> bool {
    let after = after.trim_start_matches(CLOSING);
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    let letters = word.contains('.') && word.split('.').all(|part| part.chars().count() == 1);
    let abbreviated = letters || ["etc", "vs", "cf", "approx", "incl"].contains(&word);
    let follows = after.trim_start();
    let goes_on = follows.len() == after.len() || abbreviated || follows.starts_with(char::is_lowercase);
    follows.is_empty() || !goes_on
}

/// In one line, without control characters, not longer than `most` characters.
fn cut(text: &str, most: usize) -> String {
    // A description has any length; blanks may be taken out of what is read of it.
    let head: String = text.chars().take(8 * most).collect();
    let line = strip_controls(&head).split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some(_) => line.chars().take(most - 1).chain(['…']).collect(),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    #[test]
    fn a_summary_is_one_sentence() {
        for (text, sentence) in [
            ("Sends a message.", "Sends a message."),
            ("Sends a message. It cannot be undone.", "Sends a message."),
            ("Sends\n  a message\n\nArgs:\n  to: whom", "Sends a message"),
            ("Reads a file, e.g. notes.txt. Or another.", "Reads a file, e.g. notes.txt."),
            ("Since v1.2 it works (really.) Yes", "Since v1.2 it works (really.)"),
            ("Who is it? I know.", "Who is it?"),
            ("发送消息。不能撤销。", "发送消息。"),
            ("  \n ", ""),
            ("\u{1b}[31mred\u{7}", "red"),
        ] {
            assert_eq!(first_sentence(text), sentence, "{text}");
        }
        let long = first_sentence(&"word ".repeat(100_000));
        assert_eq!(long.chars().count(), LONGEST_SENTENCE);
        assert!(long.ends_with('…'));
    }

    #[test]
    fn a_summary_holds_nothing_bigger() {
        let schema = json!({"type": "object", "properties": {"to": {"description": "x".repeat(9000)}}});
        let tool =
            ToolDefinition::new("mail", "send", schema).with_description("Sends. And more.".repeat(500));
        let summary = serde_json::to_value(tool.summary()).unwrap();
        assert_eq!(summary, json!({"name": "mail/send", "description": "Sends."}));
    }

    #[test]
    fn names_of_arguments_are_found_at_every_depth() {
        let schema = json!({
            "properties": {
                "to": {"type": "array", "items": {"type": "object", "properties": {"address": {}}}},
                "kind": {"enum": ["a"], "default": {"properties": {"not_me": {}}}},
            },
            "anyOf": [{"properties": {"cc": {}}}],
            "$defs": {"file": {"properties": {"mimeType": {}, "properties": {"type": "string"}}}},
        });
        let mut found = Vec::new();
        names(&schema, DEPTH, &mut found);
        assert_eq!(found, ["to", "kind", "address", "cc", "mimeType", "properties"]);
        let mut deep = json!({"properties": {"last": {}}});
        for _ in 0..100 {
            deep = json!({"items": deep});
        }
        let (mut found, wide) = (
            Vec::new(),
            json!({"properties": (0..9_000).map(|n| (format!("a{n}"), json!({}))).collect::<serde_json::Map<_, _>>()}),
        );
        names(&deep, DEPTH, &mut found);
        assert!(found.is_empty());
        names(&wide, DEPTH, &mut found);
        assert_eq!(found.len(), MOST_ARGUMENTS);
    }
}
