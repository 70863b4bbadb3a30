//! TypeScript: the globals of a script. Tools are methods of one constant, so that a tool of any name has its
//! place in it; types that have a name stand in a namespace for each server.

use super::names::{self, JS_UNREACHABLE, Names, js_property};
use super::shape::{Extra, Literal, Record, Shape, Tuple, Type};
use super::tidy::Style;
use super::{Server, Signature, text};

/// Objects shorter than this stand in one line.
const WIDTH: usize = 80;
/// Names that a namespace's types must not hide.
const HIDDEN: [&str; 5] = ["Array", "Error", "Promise", "Record", "ToolError"];

pub(super) const STYLE: Style = Style { named: |_| false, name_arguments: false, name_result: false };

/// What every script has, before its tools.
pub(super) fn preamble(codes: &[&str]) -> String {
    let codes: Vec<String> = codes.iter().map(|code| literal(code)).collect();
    include_str!("preamble.d.ts").replace("\"CODE\"", &codes.join(" | "))
}

/// The declarations of these servers' tools.
pub(super) fn declare(servers: &[Server]) -> String {
    let mut namespaces = Names::default();
    let (mut members, mut types, mut functions) = (String::new(), String::new(), String::new());
    for server in servers {
        let namespace = namespaces.unique(&names::ts_namespace(server.name));
        let mut scope = Names::without(HIDDEN);
        let (mut methods, mut inside) = (String::new(), String::new());
        for tool in &server.tools {
            let printed = Tool::new(tool, &namespace, &mut scope);
            inside += &printed.types;
            let unreachable = [server.name, tool.name].iter().any(|name| JS_UNREACHABLE.contains(name));
            if unreachable { functions += &printed.function() } else { methods += &printed.method() }
        }
        if !methods.is_empty() {
            members += &format!("  {}: {{\n{methods}  }};\n", key(server.name));
        }
        if !inside.is_empty() {
            types += &format!("\ndeclare namespace tools.{namespace} {{\n{inside}}}\n");
        }
    }
    functions += "/** Calls a tool by its full name, `server/tool`. */\n\
        declare function callTool(name: string, args?: object): Promise<unknown>;\n";
    format!("{functions}\ndeclare const tools: {{\n{members}}};\n{types}")
}

struct Tool<'a> {
    signature: &'a Signature<'a>,
    arguments: String,
    result: String,
    /// Declarations of types that are new in the namespace.
    types: String,
}

impl<'a> Tool<'a> {
    fn new(signature: &'a Signature<'a>, namespace: &str, scope: &mut Names) -> Self {
        let prefix = format!("tools.{namespace}.");
        let mut types = String::new();
        let mut side = |shape: &Shape| {
            let names: Vec<(String, bool)> = signature.name_defs(shape, scope);
            let printer = Printer { names: &names, prefix: &prefix };
            for (def, (name, new)) in shape.defs.iter().zip(&names) {
                if *new {
                    types += &comment(def.doc.as_slice(), 1);
                    types += &printer.definition(name, &def.ty);
                }
            }
            printer.ty(&shape.root, 2)
        };
        let arguments = side(&signature.input);
        let result = signature.output.as_ref().map_or_else(|| "unknown".to_owned(), side);
        let optional = if takes_nothing(&signature.input, signature.input.head()) { "?" } else { "" };
        Self { signature, arguments: format!("args{optional}: {arguments}"), result, types }
    }

    fn method(&self) -> String {
        let Signature { name, .. } = self.signature;
        let doc = comment(&self.signature.doc, 2);
        format!("{doc}    {}({}): Promise<{}>;\n", key(name), self.arguments, self.result)
    }

    /// A tool that no property leads to.
    fn function(&self) -> String {
        let doc = comment(&self.signature.doc, 0);
        let (arguments, result) = (outdented(&self.arguments), outdented(&self.result));
        format!(
            "{doc}declare function callTool(name: {}, {arguments}): Promise<{result}>;\n",
            literal(&self.signature.id)
        )
    }
}

/// Whether a call without arguments is one.
fn takes_nothing(shape: &Shape, ty: &Type) -> bool {
    match shape.resolved(ty) {
        Type::Record(record) => record.may_be_empty(),
        Type::Union(parts) => {
            parts.iter().any(|part| !matches!(part, Type::Union(_)) && takes_nothing(shape, part))
        }
        Type::Map(_) | Type::Unknown => true,
        _ => false,
    }
}

/// A text made two levels deep, at none.
fn outdented(text: &str) -> String {
    text.replace("\n    ", "\n")
}

struct Printer<'a> {
    names: &'a [(String, bool)],
    prefix: &'a str,
}

impl Printer<'_> {
    fn definition(&self, name: &str, ty: &Type) -> String {
        match ty {
            Type::Record(record) => {
                format!("  interface {name} {}\n", block(record, &self.fields(record, 2), 1))
            }
            ty => format!("  type {name} = {};\n", self.ty(ty, 1)),
        }
    }

    /// `level` is how deep the line stands on which the type begins.
    fn ty(&self, ty: &Type, level: usize) -> String {
        match ty {
            Type::Unknown => "unknown".into(),
            Type::Never => "never".into(),
            Type::Null => "null".into(),
            Type::Bool => "boolean".into(),
            Type::Int | Type::Float => "number".into(),
            Type::Text => "string".into(),
            Type::Literals(literals) => literals.iter().map(constant).collect::<Vec<_>>().join(" | "),
            Type::List(item) => self.list(item, level),
            Type::Tuple(tuple) => self.tuple(tuple, level),
            Type::Map(value) => format!("{{ [name: string]: {} }}", self.ty(value, level)),
            Type::Record(record) => self.record(record, level),
            Type::Union(parts) => {
                parts.iter().map(|part| self.ty(part, level)).collect::<Vec<_>>().join(" | ")
            }
            Type::Named(index) => format!("{}{}", self.prefix, self.names[*index].0),
        }
    }

    fn single(&self, ty: &Type, level: usize) -> String {
        let several = match ty {
            Type::Union(_) => true,
            Type::Literals(literals) => literals.len() > 1,
            _ => false,
        };
        if several { format!("({})", self.ty(ty, level)) } else { self.ty(ty, level) }
    }

    fn list(&self, item: &Type, level: usize) -> String {
        format!("{}[]", self.single(item, level))
    }

    fn tuple(&self, tuple: &Tuple, level: usize) -> String {
        let items = tuple.items.iter().enumerate().map(|(number, item)| {
            if number < tuple.required { self.ty(item, level) } else { self.single(item, level) + "?" }
        });
        let rest = tuple.rest.iter().map(|rest| format!("...{}", self.list(rest, level)));
        format!("[{}]", items.chain(rest).collect::<Vec<_>>().join(", "))
    }

    fn record(&self, record: &Record, level: usize) -> String {
        // Made once: what fits in one line is the same at any level.
        let fields = self.fields(record, level + 1);
        let line = fields.join("; ");
        let plain = record.fields.iter().all(|field| field.doc.is_none());
        if fields.is_empty() {
            "{}".into()
        } else if plain && line.len() <= WIDTH && !line.contains('\n') {
            format!("{{ {line} }}")
        } else {
            block(record, &fields, level)
        }
    }

    fn fields(&self, record: &Record, level: usize) -> Vec<String> {
        let fields = record.fields.iter().map(|field| {
            let optional = if field.required { "" } else { "?" };
            format!("{}{optional}: {}", key(&field.name), self.ty(&field.ty, level))
        });
        // The fields' own types would have to fit one that is told here.
        let more = matches!(record.extra, Extra::Open(_)).then(|| "[name: string]: unknown".to_owned());
        fields.chain(more).collect()
    }
}

/// An object in several lines, with the comments on its fields.
fn block(record: &Record, fields: &[String], level: usize) -> String {
    let mut out = String::from("{\n");
    let docs = record.fields.iter().map(|field| field.doc.as_slice()).chain([&[][..]]);
    for (field, doc) in fields.iter().zip(docs) {
        out += &comment(doc, level + 1);
        out += &format!("{}{field};\n", indent(level + 1));
    }
    out + &indent(level) + "}"
}

fn indent(level: usize) -> String {
    "  ".repeat(level)
}

fn constant(value: &Literal) -> String {
    match value {
        Literal::Text(text) => literal(text),
        Literal::Int(digits) | Literal::Float(digits) => digits.clone(),
        Literal::Bool(value) => value.to_string(),
    }
}

fn literal(text: &str) -> String {
    text::quoted(text, |c| format!("\\u{{{:x}}}", u32::from(c)))
}

/// A property's name, in quotes if it needs them.
fn key(name: &str) -> String {
    if js_property(name) { name.to_owned() } else { literal(name) }
}

/// The line without what ends a comment, and without what a compiler obeys in one.
fn harmless(line: &str) -> String {
    line.replace("*/", "*\\/").replace("@ts-", "@ ts-")
}

fn comment(lines: &[String], level: usize) -> String {
    let margin = indent(level);
    let clean: Vec<String> = lines.iter().map(|line| harmless(line)).collect();
    match clean.as_slice() {
        [] => String::new(),
        [line] => format!("{margin}/** {line} */\n"),
        lines => {
            let inside: String =
                lines.iter().map(|line| format!("{margin} * {line}").trim_end().to_owned() + "\n").collect();
            format!("{margin}/**\n{inside}{margin} */\n")
        }
    }
}
