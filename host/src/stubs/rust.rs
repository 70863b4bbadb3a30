//! Rust: a module for a guest, with a module for each server in it, a function for each tool and a type for
//! each object, set of words and union.

use super::names::{Names, pascal, rust_item, rust_plain, type_name};
use super::shape::{Def, Extra, Field, Literal, Record, Shape, Tuple, Type};
use super::tidy::Style;
use super::{Server, Signature, text};

/// Names that types are made of.
const WORDS: [&str; 13] = [
    "BTreeMap",
    "Box",
    "Call",
    "Deserialize",
    "Err",
    "None",
    "Ok",
    "Option",
    "Serialize",
    "Some",
    "String",
    "Value",
    "Vec",
];
/// The longest tuple that derives everything.
const MAX_TUPLE: usize = 12;
const DERIVES: &str = "#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]\n";

pub(super) const STYLE: Style = Style {
    named: |ty| match ty {
        Type::Record(_) | Type::Union(_) => true,
        Type::Literals(literals) => all_words(literals),
        _ => false,
    },
    name_arguments: true,
    name_result: true,
};

/// What every guest has, before its tools.
pub(super) fn preamble() -> String {
    include_str!("preamble.rs.txt").to_owned()
}

/// The declarations of these servers' tools.
pub(super) fn declare(servers: &[Server]) -> String {
    let mut modules = Names::default();
    let mut out = String::new();
    for server in servers {
        let module = modules.unique(&rust_item(server.name));
        let mut scope = Names::without(WORDS);
        let mut functions = Names::without(["call_tool"]);
        let mut inside = String::new();
        for tool in &server.tools {
            let function = functions.unique(&rust_item(tool.name));
            inside += "\n";
            inside += &declare_tool(tool, &function, &mut scope);
        }
        let doc = comment(&[format!("Tools of {}.", text::line(server.name, 200))]);
        out += &format!(
            "\n{doc}pub mod {module} {{\n    use super::{{BTreeMap, Call, Deserialize, Serialize, Value, call_tool, json}};\n"
        );
        out += &indented(&inside);
        out += "}\n";
    }
    out
}

fn indented(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".into() } else { format!("    {line}\n") }).collect()
}

fn declare_tool(tool: &Signature, function: &str, scope: &mut Names) -> String {
    let mut out = String::new();
    let head = tool.input.head();
    let takes_nothing = matches!(head, Type::Record(record) if record.fields.is_empty());
    let (parameters, arguments) = if takes_nothing {
        (String::new(), "json!({})".to_owned())
    } else {
        let (types, ty) = declare_shape(tool, &tool.input, scope);
        out += &types;
        (format!("arguments: &{ty}"), "arguments".to_owned())
    };
    let result = match &tool.output {
        None => "Value".to_owned(),
        Some(shape) => {
            let (types, ty) = declare_shape(tool, shape, scope);
            out += &types;
            ty
        }
    };
    out += &comment(&tool.doc);
    let borrow = if takes_nothing { "&" } else { "" };
    out += &format!("pub fn {function}({parameters}) -> Call<{result}> {{\n");
    out += &format!("    call_tool({}, {borrow}{arguments})\n}}\n", literal(&tool.id));
    out
}

/// The types of a shape that are new, and what its root is called.
fn declare_shape(tool: &Signature, shape: &Shape, scope: &mut Names) -> (String, String) {
    let names = tool.name_defs(shape, scope);
    let printer = Printer { shape, names: &names };
    let mut out = String::new();
    for (def, (name, new)) in shape.defs.iter().zip(&names) {
        if *new {
            out += &printer.definition(name, def);
            out += "\n";
        }
    }
    (out, printer.ty(&shape.root, false))
}

struct Printer<'a> {
    shape: &'a Shape,
    names: &'a [(String, bool)],
}

impl Printer<'_> {
    fn definition(&self, name: &str, def: &Def) -> String {
        let doc = comment(def.doc.as_slice());
        let body = match &def.ty {
            Type::Record(record) => self.structure(name, record, def.recursive),
            Type::Literals(literals) => words(name, literals),
            Type::Union(parts) if self.told_apart(parts) => self.variants(name, parts, def.recursive),
            // Which one it is shows only in what it holds, so it is left as it came.
            Type::Union(parts) => {
                let parts: Vec<String> =
                    parts.iter().map(|part| format!("`{}`", self.ty(part, false))).collect();
                let said = format!("One of {}.", parts.join(", "));
                format!("{}pub type {name} = Value;\n", comment(&[text::line(&said, 400)]))
            }
            // An alias cannot hold itself.
            ty if def.recursive => {
                format!("{DERIVES}#[serde(transparent)]\npub struct {name}(pub {});\n", self.ty(ty, true))
            }
            ty => format!("pub type {name} = {};\n", self.ty(ty, false)),
        };
        doc + &body
    }

    fn structure(&self, name: &str, record: &Record, recursive: bool) -> String {
        let default = record.may_be_empty();
        let mut names = Names::default();
        let items: Vec<(String, &Field)> =
            record.fields.iter().map(|field| (names.unique(&rust_item(&field.name)), field)).collect();
        let differ = |(item, field): &&(String, &Field)| rust_plain(item) != field.name;
        let camel = items.iter().any(|item| differ(&item))
            && items.iter().all(|(item, field)| camel(rust_plain(item)) == field.name);
        let mut out = if default { DERIVES.replace("Debug,", "Debug, Default,") } else { DERIVES.to_owned() };
        if camel {
            out += "#[serde(rename_all = \"camelCase\")]\n";
        }
        out += &format!("pub struct {name} {{\n");
        for item in &items {
            let (ident, field) = item;
            let mut attributes = Vec::new();
            if !camel && differ(&item) {
                attributes.push(format!("rename = {}", literal(&field.name)));
            }
            let mut ty = self.ty(&field.ty, recursive);
            if !field.required {
                attributes.push("skip_serializing_if = \"Option::is_none\"".into());
                if !ty.starts_with("Option<") {
                    ty = format!("Option<{ty}>");
                }
            }
            out += &indented(&comment(field.doc.as_slice()));
            if !attributes.is_empty() {
                out += &format!("    #[serde({})]\n", attributes.join(", "));
            }
            out += &format!("    pub {ident}: {ty},\n");
        }
        if let Extra::Open(value) = &record.extra {
            let more = names.unique("more");
            out += "    /// What else there is.\n    #[serde(flatten)]\n";
            out += &format!("    pub {more}: BTreeMap<String, {}>,\n", self.ty(value, false));
        }
        out + "}\n"
    }

    /// Whether a value's kind, or a field with one of some words, always says which of these it is.
    fn told_apart(&self, parts: &[Type]) -> bool {
        parts.iter().enumerate().all(|(at, a)| {
            parts[at + 1..].iter().all(|b| {
                let (a, b) = (self.shape.resolved(a), self.shape.resolved(b));
                kinds(a, self.shape, 0) & kinds(b, self.shape, 0) == 0 || told_by_field(a, b, self.shape)
            })
        })
    }

    fn variants(&self, name: &str, parts: &[Type], recursive: bool) -> String {
        let mut names = Names::default();
        let mut out = format!("{DERIVES}#[serde(untagged)]\npub enum {name} {{\n");
        for part in parts {
            let ty = self.ty(part, recursive);
            let called = match part {
                Type::Named(index) => {
                    let whole = &self.names[*index].0;
                    // `FilterRange` is a range when it stands in `Filter`.
                    let own = whole
                        .strip_prefix(name)
                        .filter(|own| own.starts_with(|c: char| c.is_ascii_uppercase()));
                    own.unwrap_or(whole).to_owned()
                }
                other => pascal(kind(other)),
            };
            out += &format!("    {}({ty}),\n", names.unique(&called));
        }
        out + "}\n"
    }

    /// `boxed` when the type stands in one that may hold itself.
    fn ty(&self, ty: &Type, boxed: bool) -> String {
        match ty {
            Type::Unknown | Type::Never | Type::Record(_) => "Value".into(),
            Type::Null => "()".into(),
            Type::Bool => "bool".into(),
            Type::Int => "i64".into(),
            Type::Float => "f64".into(),
            Type::Text => "String".into(),
            Type::Literals(literals) => scalar(literals).into(),
            Type::List(item) => format!("Vec<{}>", self.ty(item, false)),
            Type::Tuple(tuple) => self.tuple(tuple, boxed),
            Type::Map(value) => format!("BTreeMap<String, {}>", self.ty(value, false)),
            Type::Union(_) => match ty.without_null() {
                (inner, true) if !matches!(inner, Type::Union(_)) => {
                    format!("Option<{}>", self.ty(&inner, boxed))
                }
                _ => "Value".into(),
            },
            Type::Named(index) => {
                let name = &self.names[*index].0;
                if boxed && self.shape.defs[*index].recursive { format!("Box<{name}>") } else { name.clone() }
            }
        }
    }

    fn tuple(&self, tuple: &Tuple, boxed: bool) -> String {
        if tuple.is_exact() && tuple.items.len() <= MAX_TUPLE {
            let items: Vec<String> = tuple.items.iter().map(|item| self.ty(item, boxed)).collect();
            return if items.len() == 1 {
                format!("({},)", items[0])
            } else {
                format!("({})", items.join(", "))
            };
        }
        let mut items = tuple.items.iter().chain(tuple.rest.as_deref());
        match items.next() {
            Some(first) if items.all(|item| item == first) => format!("Vec<{}>", self.ty(first, false)),
            _ => "Vec<Value>".into(),
        }
    }
}

/// Kinds of JSON that values of a type are of, as bits; all where that is not known.
fn kinds(ty: &Type, shape: &Shape, depth: usize) -> u8 {
    const ANY: u8 = 0b11_1111;
    match shape.resolved(ty) {
        Type::Null => 1,
        Type::Bool => 2,
        Type::Int | Type::Float => 4,
        Type::Text => 8,
        Type::List(_) | Type::Tuple(_) => 16,
        Type::Map(_) | Type::Record(_) => 32,
        Type::Literals(literals) => literals.iter().fold(0, |kinds, literal| {
            kinds
                | match literal {
                    Literal::Text(_) => 8,
                    Literal::Int(_) | Literal::Float(_) => 4,
                    Literal::Bool(_) => 2,
                }
        }),
        Type::Union(parts) if depth < 4 => {
            parts.iter().fold(0, |all, part| all | kinds(part, shape, depth + 1))
        }
        _ => ANY,
    }
}

fn told_by_field(a: &Type, b: &Type, shape: &Shape) -> bool {
    let (Type::Record(a), Type::Record(b)) = (a, b) else { return false };
    let words = |field: &Field| match shape.resolved(&field.ty) {
        Type::Literals(literals) if field.required && all_words(literals) => Some(literals.clone()),
        _ => None,
    };
    a.fields.iter().any(|field| {
        let other = b.fields.iter().find(|other| other.name == field.name);
        match (words(field), other.and_then(words)) {
            (Some(a), Some(b)) => a.iter().all(|word| !b.contains(word)),
            _ => false,
        }
    })
}

/// Whether these become an enum, which refuses other words.
fn all_words(literals: &[Literal]) -> bool {
    literals.iter().all(|literal| matches!(literal, Literal::Text(_)))
}

/// A word for the variant that holds such a value.
fn kind(ty: &Type) -> &'static str {
    match ty {
        Type::Bool => "bool",
        Type::Int | Type::Float => "number",
        Type::Text => "text",
        Type::List(_) | Type::Tuple(_) => "list",
        Type::Map(_) | Type::Record(_) => "object",
        Type::Literals(literals) => match scalar(literals) {
            "bool" => "bool",
            "i64" | "f64" => "number",
            _ => "value",
        },
        _ => "value",
    }
}

/// What holds any of these literals.
fn scalar(literals: &[Literal]) -> &'static str {
    let all = |test: fn(&Literal) -> bool| literals.iter().all(test);
    if all(|literal| matches!(literal, Literal::Text(_))) {
        "String"
    } else if all(|literal| matches!(literal, Literal::Bool(_))) {
        "bool"
    } else if all(|literal| matches!(literal, Literal::Int(digits) if digits.parse::<i64>().is_ok())) {
        "i64"
    } else if all(|literal| matches!(literal, Literal::Int(_) | Literal::Float(_))) {
        "f64"
    } else {
        "Value"
    }
}

/// From a variant's name to the word that stands for it.
type Spelling = fn(&str) -> String;

/// An enum of words.
fn words(name: &str, literals: &[Literal]) -> String {
    let mut names = Names::default();
    let variants: Vec<(String, &str)> = literals
        .iter()
        .filter_map(|literal| match literal {
            Literal::Text(text) => Some((names.unique(&type_name(text)), text.as_str())),
            _ => None,
        })
        .collect();
    let rules: [(&str, Spelling); 3] = [
        ("lowercase", |variant| variant.to_ascii_lowercase()),
        ("snake_case", |variant| separated(variant, '_')),
        ("kebab-case", |variant| separated(variant, '-')),
    ];
    let rule = rules.iter().find(|(_, rule)| variants.iter().all(|(variant, word)| rule(variant) == *word));
    let mut out = DERIVES.replace("Clone, ", "Clone, Copy, ").replace("PartialEq, ", "PartialEq, Eq, ");
    if let Some((rule, _)) = rule {
        out += &format!("#[serde(rename_all = \"{rule}\")]\n");
    }
    out += &format!("pub enum {name} {{\n");
    for (variant, word) in &variants {
        if rule.is_none() && variant != word {
            out += &format!("    #[serde(rename = {})]\n", literal(word));
        }
        out += &format!("    {variant},\n");
    }
    out + "}\n"
}

/// What serde's `snake_case` and `kebab-case` make of a variant.
fn separated(variant: &str, separator: char) -> String {
    let mut out = String::new();
    for (at, c) in variant.char_indices() {
        if at > 0 && c.is_ascii_uppercase() {
            out.push(separator);
        }
        out.push(if c == '_' { separator } else { c.to_ascii_lowercase() });
    }
    out
}

/// What serde's `camelCase` makes of a field.
fn camel(field: &str) -> String {
    let mut out = String::new();
    let mut upper = false;
    for c in field.chars() {
        if c == '_' {
            upper = true;
        } else if std::mem::take(&mut upper) && !out.is_empty() {
            out.push(c.to_ascii_uppercase());
        } else {
            out.push(c);
        }
    }
    out
}

fn literal(text: &str) -> String {
    text::quoted(text, |c| format!("\\u{{{:x}}}", u32::from(c)))
}

/// A doc comment with nothing in it that rustdoc would run.
fn comment(lines: &[String]) -> String {
    lines
        .iter()
        .map(|line| {
            let text = line.trim_start_matches(' ');
            let margin = (line.len() - text.len()).min(2);
            let text = text.replace("```", "'''").replace("~~~", "'''");
            format!("/// {}{text}", " ".repeat(margin)).trim_end().to_owned() + "\n"
        })
        .collect()
}
