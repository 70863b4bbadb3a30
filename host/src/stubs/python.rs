//! Python: the globals of a script, in the form of a stub file. Tools whose name an attribute can say are
//! methods of their server's class; the others are called by their full name, `call_tool("server/tool")`.

use std::collections::{BTreeSet, HashSet};

use super::join::union;
use super::names::{Names, pascal, py_attribute, py_key, py_keyword, type_name};
use super::shape::{Extra, Field, Literal, Record, Shape, Type};
use super::tidy::Style;
use super::{Server, Signature, text};

/// A signature without comments that is longer stands in several lines.
const WIDTH: usize = 100;
/// Names that types are made of, and that no class of ours may hide.
const WORDS: [&str; 14] = [
    "Any",
    "Call",
    "Literal",
    "Never",
    "NotRequired",
    "TypeAlias",
    "TypedDict",
    "bool",
    "dict",
    "float",
    "int",
    "list",
    "str",
    "tuple",
];
/// What else means something in the file.
const TAKEN: [&str; 9] =
    ["Exception", "Generator", "Generic", "ToolError", "Tools", "TypeVar", "None", "True", "False"];

pub(super) const STYLE: Style =
    Style { named: |ty| matches!(ty, Type::Record(_)), name_arguments: false, name_result: true };

/// What every script has, before its tools.
pub(super) fn preamble(codes: &[&str]) -> String {
    let codes: Vec<String> = codes.iter().map(|code| literal(code)).collect();
    include_str!("preamble.pyi").replace("\"CODE\"", &codes.join(", "))
}

/// The declarations of these servers' tools.
pub(super) fn declare(servers: &[Server]) -> String {
    // In a class an attribute hides a type of its name.
    let raw = servers
        .iter()
        .flat_map(|server| std::iter::once(server.name).chain(server.tools.iter().map(|tool| tool.name)));
    let mut file = File {
        scope: Names::without(WORDS.into_iter().chain(TAKEN).chain(raw)),
        types: String::new(),
        functions: Vec::new(),
        aliases: BTreeSet::new(),
    };
    let (mut classes, mut attributes) = (String::new(), String::new());
    for server in servers {
        let methods = file.server(server);
        if let (Some(attribute), false) = (py_attribute(server.name), methods.is_empty()) {
            let class = file.scope.unique(&type_name(server.name));
            classes += &format!("class {class}:\n{}\n", methods.join(""));
            attributes += &format!("    {attribute}: {class}\n");
        }
    }
    let aliases: String = file.aliases.iter().map(|word| alias(word)).collect();
    let tools = if attributes.is_empty() {
        "class Tools: ...\n".into()
    } else {
        format!("class Tools:\n{attributes}")
    };
    let any = "def call_tool(name: str, arguments: dict[str, Any] = ..., /, **named: Any) -> Call[Any]:\n    \
        \"\"\"Calls a tool by its full name, `server/tool`.\"\"\"\n";
    let overload = if file.functions.is_empty() { "" } else { "@overload\n" };
    let functions: String = file.functions.iter().map(|function| format!("@overload\n{function}")).collect();
    let aliases = if aliases.is_empty() { aliases } else { aliases + "\n" };
    format!("{aliases}{}{classes}{tools}\ntools: Tools\n\n{functions}{overload}{any}", file.types)
}

/// A second name for a type's, where a tool has the first.
fn alias(word: &str) -> String {
    if word.starts_with(|c: char| c.is_ascii_lowercase()) || word == "Call" {
        format!("_{word} = {word}\n")
    } else {
        format!("from typing import {word} as _{word}\n")
    }
}

/// What is declared so far.
struct File {
    scope: Names,
    types: String,
    /// Overloads of `call_tool`.
    functions: Vec<String>,
    /// Words that have a second name.
    aliases: BTreeSet<&'static str>,
}

impl File {
    /// Declares the tools of a server; gives those that are methods.
    fn server(&mut self, server: &Server) -> Vec<String> {
        let reachable = py_attribute(server.name).is_some();
        let attribute = |tool: &Signature| py_attribute(tool.name).filter(|_| reachable);
        let hidden: HashSet<String> = server.tools.iter().filter_map(attribute).collect();
        let mut methods = Vec::new();
        for tool in &server.tools {
            match attribute(tool) {
                Some(name) => methods.push(self.tool(tool, Some(&name), &hidden)),
                None => {
                    let function = self.tool(tool, None, &HashSet::new());
                    self.functions.push(function);
                }
            }
        }
        methods
    }

    /// A tool as the method of its server's class, or without one as a case of `call_tool`. `hidden` are names
    /// that mean something else there.
    fn tool(&mut self, tool: &Signature, method: Option<&str>, hidden: &HashSet<String>) -> String {
        let arguments = Arguments::of(tool);
        let names = self.define(tool, &tool.input, true);
        let output = tool.output.as_ref().map(|shape| (shape, self.define(tool, shape, false)));
        let odd = self.odd(tool, &arguments, &names);
        let mut parameters = vec![match method {
            Some(_) => (arguments.free("self"), None),
            None => (format!("{}: Literal[{}]", arguments.free("name"), literal(&tool.id)), None),
        }];
        let by_place = method.is_none() || odd.is_some();
        if let Some((class, optional)) = odd {
            let absent = if optional { " = ..." } else { "" };
            parameters.push((format!("{}: {class}{absent}", arguments.free("arguments")), None));
        }
        if by_place {
            parameters.push(("/".into(), None));
        }
        if !arguments.named.is_empty() {
            parameters.push(("*".into(), None));
        }
        let mut printer = Printer { names: &names, input: true, hidden, aliases: &mut self.aliases };
        for (name, field) in &arguments.named {
            let absent = if field.required { "" } else { " = ..." };
            parameters.push((format!("{name}: {}{absent}", printer.ty(&field.ty)), field.doc.clone()));
        }
        if let Some(more) = &arguments.more {
            parameters.push((format!("**{}: {}", arguments.free("more"), printer.ty(more)), None));
        }
        let call = printer.word("Call");
        let result = match &output {
            None => printer.word("Any"),
            Some((shape, names)) => {
                Printer { names, input: false, hidden, aliases: &mut self.aliases }.ty(&shape.root)
            }
        };
        let margin = if method.is_some() { "    " } else { "" };
        let name = method.unwrap_or("call_tool");
        let parameters = laid_out(&parameters, margin);
        let doc = docstring(&tool.doc, &format!("{margin}    "));
        let body = if doc.is_empty() { " ...\n".to_owned() } else { format!("\n{doc}") };
        format!("{margin}def {name}({parameters}) -> {call}[{result}]:{body}")
    }

    /// A dict of the arguments that cannot be written as keywords: its class, and whether it may be left out.
    fn odd(
        &mut self,
        tool: &Signature,
        arguments: &Arguments,
        names: &[(String, bool)],
    ) -> Option<(String, bool)> {
        if arguments.odd.is_empty() {
            return None;
        }
        let class = self.scope.unique(&type_name(&format!("{}Arguments", pascal(tool.name))));
        let record = Record { fields: arguments.odd.clone(), extra: Extra::Unsaid };
        let none = HashSet::new();
        let mut printer = Printer { names, input: true, hidden: &none, aliases: &mut self.aliases };
        self.types += &printer.definition(&class, &Type::Record(record.clone()), None);
        Some((class, record.may_be_empty()))
    }

    /// Declares the types of a shape; gives their names.
    fn define(&mut self, tool: &Signature, shape: &Shape, input: bool) -> Vec<(String, bool)> {
        let names = tool.name_defs(shape, &mut self.scope);
        let none = HashSet::new();
        let mut printer = Printer { names: &names, input, hidden: &none, aliases: &mut self.aliases };
        for (def, (name, new)) in shape.defs.iter().zip(&names) {
            if *new {
                self.types += &printer.definition(name, &def.ty, def.doc.as_deref());
            }
        }
        names
    }
}

/// How the arguments of a tool are given.
struct Arguments {
    /// By name: the keyword, and the argument.
    named: Vec<(String, Field)>,
    /// In a dict, because no keyword says them.
    odd: Vec<Field>,
    /// Any other name with a value of this type.
    more: Option<Type>,
}

impl Arguments {
    fn of(tool: &Signature) -> Self {
        let Record { fields, extra } = flat(&tool.input, tool.input.head());
        let mut arguments = Self { named: Vec::new(), odd: Vec::new(), more: None };
        for field in fields {
            match py_keyword(&field.name) {
                Some(keyword) => arguments.named.push((keyword, field)),
                None => arguments.odd.push(field),
            }
        }
        if let Extra::Open(value) = extra {
            arguments.more = Some(*value);
        }
        arguments
    }

    /// A name for a parameter of ours that is none of the tool's.
    fn free(&self, name: &str) -> String {
        let mut name = name.to_owned();
        while self.named.iter().any(|(keyword, _)| *keyword == name) {
            name.insert(0, '_');
        }
        name
    }
}

/// All fields that an object of this type may have, needed only if every variant needs them.
fn flat(shape: &Shape, ty: &Type) -> Record {
    match shape.resolved(ty) {
        Type::Record(record) => record.clone(),
        Type::Union(parts) => {
            let variants: Vec<Record> = parts
                .iter()
                .filter(|part| !matches!(part, Type::Null))
                .map(|part| match shape.resolved(part) {
                    Type::Union(_) => flat(shape, &Type::Unknown),
                    _ => flat(shape, part),
                })
                .collect();
            either(variants)
        }
        Type::Map(value) => Record { fields: Vec::new(), extra: Extra::Open(value.clone()) },
        _ => Record { fields: Vec::new(), extra: Extra::Open(Box::new(Type::Unknown)) },
    }
}

fn either(variants: Vec<Record>) -> Record {
    let mut fields: Vec<Field> = Vec::new();
    let everywhere = |name: &str| {
        let needs = |record: &Record| record.fields.iter().any(|field| field.name == name && field.required);
        variants.iter().all(needs)
    };
    for field in variants.iter().flat_map(|record| &record.fields) {
        match fields.iter_mut().find(|known| known.name == field.name) {
            Some(known) => known.ty = union([known.ty.clone(), field.ty.clone()]),
            None => fields.push(Field { required: everywhere(&field.name), ..field.clone() }),
        }
    }
    fields.sort_by_key(|field| !field.required);
    let open = variants.iter().any(|record| matches!(record.extra, Extra::Open(_)));
    let extra = if open { Extra::Open(Box::new(Type::Unknown)) } else { Extra::Unsaid };
    Record { fields, extra }
}

/// Parameters with their comments: in one line if they fit and nothing is said about them.
fn laid_out(parameters: &[(String, Option<String>)], margin: &str) -> String {
    let line = parameters.iter().map(|(parameter, _)| parameter.as_str()).collect::<Vec<_>>().join(", ");
    if line.len() <= WIDTH && parameters.iter().all(|(_, doc)| doc.is_none()) {
        return line;
    }
    let mut out = String::from("\n");
    for (parameter, doc) in parameters {
        let comma = if parameter.starts_with("**") { "" } else { "," };
        out += &format!("{margin}    {parameter}{comma}{}\n", comment(doc.as_deref()));
    }
    out + margin
}

struct Printer<'a> {
    names: &'a [(String, bool)],
    /// Whether a script makes these values.
    input: bool,
    /// Names that mean something else where the types stand.
    hidden: &'a HashSet<String>,
    aliases: &'a mut BTreeSet<&'static str>,
}

impl Printer<'_> {
    fn word(&mut self, word: &'static str) -> String {
        if self.hidden.contains(word) {
            self.aliases.insert(word);
            return format!("_{word}");
        }
        word.to_owned()
    }

    fn definition(&mut self, name: &str, ty: &Type, doc: Option<&str>) -> String {
        let Type::Record(record) = ty else {
            return format!("{name}: TypeAlias = {}{}\n\n", self.ty(ty), comment(doc));
        };
        let more = matches!(record.extra, Extra::Open(_)).then_some("# and any other key\n");
        let mut out = String::new();
        // In a class body a field hides the type of its name.
        let hides = |name: &str| WORDS.contains(&name) || self.names.iter().any(|(known, _)| known == name);
        if record.fields.iter().all(|field| py_key(&field.name) && !hides(&field.name)) {
            out += &format!("class {name}(TypedDict):\n");
            let doc = doc.map(|doc| docstring(&[doc.to_owned()], "    ")).unwrap_or_default();
            if doc.is_empty() && record.fields.is_empty() {
                out += "    pass\n";
            }
            out += &doc;
            for field in &record.fields {
                out +=
                    &format!("    {}: {}{}\n", field.name, self.item(field), comment(field.doc.as_deref()));
            }
            out += &more.map(|more| format!("    {more}")).unwrap_or_default();
        } else {
            out += &format!("{name} = TypedDict({}, {{{}\n", literal(name), comment(doc));
            for field in &record.fields {
                let doc = comment(field.doc.as_deref());
                out += &format!("    {}: {},{doc}\n", literal(&field.name), self.item(field));
            }
            out += &more.map(|more| format!("    {more}")).unwrap_or_default();
            out += "})\n";
        }
        out + "\n"
    }

    fn item(&mut self, field: &Field) -> String {
        let ty = self.ty(&field.ty);
        if field.required { ty } else { format!("{}[{ty}]", self.word("NotRequired")) }
    }

    fn ty(&mut self, ty: &Type) -> String {
        match ty {
            // A record has a name by now.
            Type::Unknown | Type::Record(_) => self.word("Any"),
            Type::Never => self.word("Never"),
            Type::Null => "None".into(),
            Type::Bool => self.word("bool"),
            Type::Int => self.word("int"),
            Type::Float => self.word("float"),
            Type::Text => self.word("str"),
            Type::Literals(literals) => self.literals(literals),
            Type::List(item) => format!("{}[{}]", self.word("list"), self.ty(item)),
            // What a script makes may be a tuple; what it gets is always a list.
            Type::Tuple(tuple) if tuple.is_exact() && self.input => {
                let items: Vec<String> = tuple.items.iter().map(|item| self.ty(item)).collect();
                format!("{}[{}]", self.word("tuple"), items.join(", "))
            }
            Type::Tuple(tuple) => {
                let item = tuple.item();
                format!("{}[{}]", self.word("list"), self.ty(&item))
            }
            Type::Map(value) => format!("{}[{}, {}]", self.word("dict"), self.word("str"), self.ty(value)),
            Type::Union(parts) => parts.iter().map(|part| self.ty(part)).collect::<Vec<_>>().join(" | "),
            Type::Named(index) => self.names[*index].0.clone(),
        }
    }

    /// There are no literals of fractions.
    fn literals(&mut self, literals: &[Literal]) -> String {
        let values: Vec<String> = literals.iter().filter_map(constant).collect();
        let float = (values.len() < literals.len()).then(|| self.word("float"));
        let values = (!values.is_empty()).then(|| format!("{}[{}]", self.word("Literal"), values.join(", ")));
        values.into_iter().chain(float).collect::<Vec<_>>().join(" | ")
    }
}

fn constant(value: &Literal) -> Option<String> {
    match value {
        Literal::Text(text) => Some(literal(text)),
        Literal::Int(digits) => Some(digits.clone()),
        Literal::Float(_) => None,
        Literal::Bool(value) => Some(if *value { "True" } else { "False" }.into()),
    }
}

fn literal(text: &str) -> String {
    text::quoted(text, |c| match u32::from(c) {
        code @ ..=0xffff => format!("\\u{code:04x}"),
        code => format!("\\U{code:08x}"),
    })
}

fn comment(doc: Option<&str>) -> String {
    // A comment that begins with `type:` is a type.
    doc.map(|doc| format!("  # {}{doc}", if doc.starts_with("type") { "- " } else { "" })).unwrap_or_default()
}

fn docstring(lines: &[String], margin: &str) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut text = String::new();
    let all = lines.join("\n");
    let mut chars = all.chars().peekable();
    while let Some(c) = chars.next() {
        // No two quotes side by side, and none at the end: neither could begin the closing ones.
        if c == '\\' || c == '"' && chars.peek().is_none_or(|next| *next == '"') {
            text.push('\\');
        }
        text.push(c);
    }
    let mut out = format!("{margin}\"\"\"");
    for (number, line) in text.split('\n').enumerate() {
        match (number, line) {
            (0, line) => out += line,
            (_, "") => out += "\n",
            (_, line) => out += &format!("\n{margin}{line}"),
        }
    }
    if lines.len() > 1 {
        out += &format!("\n{margin}");
    }
    out + "\"\"\"\n"
}
