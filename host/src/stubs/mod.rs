//! Typed APIs: from the definitions of tools to declarations that a model, or whoever writes for it, can be
//! given. TypeScript and Python declare the globals of a script, Rust a module for a guest.
//!
//! ```text
//! lower, refs, notes     a JSON Schema: its types, where its references lead, what it says to people
//! shape, join, tidy      the types in one form for all languages, put together, and as a language wants them
//! names, text            identifiers and literals; texts of servers made fit to stand in source code
//! typescript, python, rust   one printer each
//! ```
//!
//! Every tool is declared, whatever its schema is like; where nothing is known the type is `unknown`, `Any`,
//! `Value`. A declaration may promise less than the schema and never more, and however large or hostile a
//! schema is, what is made of it is bounded. The same tools give the same text. The gate checks arguments
//! against the schema itself: nothing here decides about a call, or talks to a server.

mod join;
mod lower;
mod names;
mod notes;
mod python;
mod refs;
mod rust;
mod shape;
mod text;
mod tidy;
mod typescript;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use crate::ToolErrorCode;
use crate::upstream::ToolDefinition;
use lower::Side;
use names::Names;
use shape::Shape;

/// The longest description of a tool, in characters.
const MAX_DESCRIPTION: usize = 1_200;

/// What declarations are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    /// The globals of a JavaScript or TypeScript script.
    TypeScript,
    /// The globals of a Python script, as a stub file.
    Python,
    /// A module for a guest.
    Rust,
}

/// The declarations of these tools, whole: with what every script or guest has beside them, so that a compiler
/// of the language takes them as they are. The order of `tools` does not count.
pub fn declarations<'a>(tools: impl IntoIterator<Item = &'a ToolDefinition>, target: Target) -> String {
    let codes = ToolErrorCode::ALL.map(ToolErrorCode::as_str);
    let preamble = match target {
        Target::TypeScript => typescript::preamble(&codes),
        Target::Python => python::preamble(&codes),
        Target::Rust => rust::preamble(),
    };
    preamble + &tool_declarations(tools, target)
}

/// The same without what they have in common: for a model that knows it already and asks for one more tool.
pub fn tool_declarations<'a>(tools: impl IntoIterator<Item = &'a ToolDefinition>, target: Target) -> String {
    let mut tools: Vec<&ToolDefinition> = tools.into_iter().collect();
    tools.sort_by(|a, b| (&a.server, &a.name).cmp(&(&b.server, &b.name)));
    let mut servers: Vec<Server> = Vec::new();
    for tool in tools {
        let signature = Signature::of(tool, target);
        match servers.last_mut() {
            Some(server) if server.name == tool.server => server.tools.push(signature),
            _ => servers.push(Server { name: &tool.server, tools: vec![signature] }),
        }
    }
    match target {
        Target::TypeScript => typescript::declare(&servers),
        Target::Python => python::declare(&servers),
        Target::Rust => rust::declare(&servers),
    }
}

/// A server and those of its tools that are declared, sorted by name.
struct Server<'a> {
    name: &'a str,
    tools: Vec<Signature<'a>>,
}

/// What is declared of one tool.
struct Signature<'a> {
    /// Both raw, as they travel.
    server: &'a str,
    name: &'a str,
    id: String,
    /// Lines of plain text.
    doc: Vec<String>,
    input: Shape,
    /// `None` when nothing is known of the result.
    output: Option<Shape>,
}

impl<'a> Signature<'a> {
    fn of(tool: &'a ToolDefinition, target: Target) -> Self {
        let style = match target {
            Target::TypeScript => &typescript::STYLE,
            Target::Python => &python::STYLE,
            Target::Rust => &rust::STYLE,
        };
        let owner = names::pascal(&tool.name);
        let shape = |schema, side| tidy::tidy(lower::lower(schema, side), style, side, &owner);
        let input = shape(&tool.input_schema, Side::Input);
        let output = tool.output_schema.as_ref().map(|schema| shape(schema, Side::Output));
        let words = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
        let mut doc = text::lines(words, MAX_DESCRIPTION);
        doc.extend(notes::needs(&tool.input_schema));
        Self { server: &tool.server, name: &tool.name, id: tool.id(), doc, input, output }
    }

    /// Names for the definitions of one of its shapes; with each, whether it is not declared yet.
    fn name_defs(&self, shape: &Shape, scope: &mut Names) -> Vec<(String, bool)> {
        let digests = tidy::digests(shape);
        let longer = [self.name, &format!("{}_{}", self.server, self.name)];
        shape.defs.iter().zip(digests).map(|(def, digest)| scope.shared(&def.hint, &longer, digest)).collect()
    }
}
