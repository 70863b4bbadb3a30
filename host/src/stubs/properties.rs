//! What holds for every schema, name and text: something is printed, always the same, never much, and the
//! languages' parsers take it.
#![allow(clippy::unwrap_used)]

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use oxc::allocator::Allocator;
use oxc::parser::Parser;
use oxc::span::SourceType;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

use super::{Target, tool_declarations};
use crate::upstream::ToolDefinition;

const CASES: u32 = 256;

/// Names and texts that mean something to one of the languages, or to none.
const TEXTS: [&str; 30] = [
    "a",
    "b",
    "list_customers",
    "from",
    "self",
    "type",
    "class",
    "more",
    "arguments",
    "name",
    "x-y",
    "x.y",
    "日本",
    "__init__",
    "*/",
    "\"\"\"",
    "\\",
    "a\nb",
    "",
    "constructor",
    "$x",
    "7",
    "type: ignore",
    "```",
    "\u{202e}\u{0}",
    "Value",
    "int",
    "@ts-ignore",
    "//",
    "\u{2028}'\"#{}",
];

#[test]
fn any_schema_is_declared_in_text_that_parses() {
    let python = RefCell::new(Python::start());
    let modules = RefCell::new(String::new());
    let mut runner =
        TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) });
    let tool = (name(), name(), text(), schema(), proptest::option::of(schema()));
    let ran = runner.run(&proptest::collection::vec(tool, 1..4), |tools| {
        let tools: Vec<ToolDefinition> = tools.into_iter().map(definition).collect();
        for target in [Target::TypeScript, Target::Python, Target::Rust] {
            let declared = tool_declarations(&tools, target);
            prop_assert_eq!(&declared, &tool_declarations(&tools, target));
            prop_assert!(!declared.chars().any(|c| c.is_control() && c != '\n'), "{}", declared);
            match target {
                Target::TypeScript => {
                    let allocator = Allocator::default();
                    let parsed = Parser::new(&allocator, &declared, SourceType::d_ts()).parse();
                    prop_assert!(parsed.diagnostics.is_empty(), "{:?}\n{}", parsed.diagnostics, declared);
                }
                Target::Python => {
                    let said = python.borrow_mut().parse(&declared);
                    prop_assert_eq!(said, "ok", "{}", declared);
                }
                Target::Rust => {
                    let mut modules = modules.borrow_mut();
                    let module = format!("mod m{} {{\n{declared}}}\n", modules.len());
                    modules.push_str(&module);
                }
            }
        }
        Ok(())
    });
    ran.unwrap();
    python.into_inner().stop();
    rustfmt(&modules.into_inner());
}

/// As a server may send it, without the repairs that a catalog makes.
fn definition(
    (server, name, about, input, output): (String, String, String, Value, Option<Value>),
) -> ToolDefinition {
    let mut tool = ToolDefinition::new(server, name, json!({"type": "object"})).with_description(about);
    tool.input_schema = input;
    tool.output_schema = output;
    tool
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(&TEXTS[..]).prop_map(str::to_owned)
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::collection::vec(prop::sample::select(&TEXTS[..]), 0..6).prop_map(|words| words.join(" ")),
        prop::collection::vec(prop::sample::select(&TEXTS[..]), 0..6).prop_map(|words| words.concat()),
        ".{0,40}",
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
        Just(json!([1])),
        Just(json!({"a": 1})),
    ]
}

fn kind() -> impl Strategy<Value = Value> {
    prop::sample::select(vec!["object", "array", "string", "integer", "number", "boolean", "null", "odd"])
        .prop_map(Value::from)
}

fn schema() -> impl Strategy<Value = Value> {
    let references = vec![
        "#",
        "#/$defs/a",
        "#/$defs/b",
        "#/properties/a",
        "#/$defs/a/items",
        "#/nowhere",
        "x",
        "#a",
        "#/anyOf/0",
    ];
    let leaf = prop_oneof![
        scalar(),
        kind().prop_map(|kind| json!({"type": kind})),
        prop::collection::vec(kind(), 0..3).prop_map(|kinds| json!({"type": kinds})),
        scalar().prop_map(|value| json!({"const": value})),
        prop::collection::vec(scalar(), 0..5).prop_map(|values| json!({"enum": values})),
        prop::sample::select(references).prop_map(|reference| json!({"$ref": reference})),
    ];
    leaf.prop_recursive(5, 60, 5, |inner| {
        let schemas = prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from);
        let named = prop::collection::vec((name(), inner.clone()), 0..4)
            .prop_map(|fields| Value::Object(fields.into_iter().collect()))
            .boxed();
        let keyword = prop_oneof![
            4 => (Just("properties"), named.clone()),
            2 => (prop::sample::select(vec!["$defs", "patternProperties"]), named),
            3 => (prop::sample::select(vec!["anyOf", "oneOf", "allOf", "prefixItems", "items"]), schemas),
            3 => (prop::sample::select(vec!["items", "additionalProperties", "not", "additionalItems"]), inner),
            2 => (Just("required"), prop::collection::vec(name(), 0..3).prop_map(Value::from)),
            3 => (Just("type"), kind()),
            2 => (prop::sample::select(vec!["description", "title", "format", "pattern", "$id", "$anchor"]), text().prop_map(Value::from)),
            1 => (prop::sample::select(vec!["default", "nullable", "minItems", "maxItems", "minimum", "enum"]), scalar()),
        ];
        prop::collection::vec(keyword, 1..6).prop_map(|keywords| {
            let keywords: Map<String, Value> =
                keywords.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
            Value::Object(keywords)
        })
    })
}

/// CPython's own parser, one text after another.
struct Python {
    child: Child,
    ask: ChildStdin,
    hear: BufReader<ChildStdout>,
}

impl Python {
    fn start() -> Self {
        let program = "import ast, json, sys\n\
            for line in sys.stdin:\n    \
                try: ast.parse(json.loads(line)); print('ok', flush=True)\n    \
                except SyntaxError as e: print(repr(e), flush=True)\n";
        let mut child = Command::new("python3")
            .args(["-c", program])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 is here: set-up needs it too");
        let (ask, hear) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, ask, hear }
    }

    fn parse(&mut self, text: &str) -> String {
        writeln!(self.ask, "{}", Value::from(text)).unwrap();
        let mut said = String::new();
        self.hear.read_line(&mut said).unwrap();
        said.trim_end().to_owned()
    }

    fn stop(mut self) {
        drop(self.ask);
        assert!(self.child.wait().unwrap().success());
    }
}

/// The parser of Rust's own formatter.
fn rustfmt(text: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stubs.rs");
    std::fs::write(&file, text).unwrap();
    let done =
        Command::new("rustfmt").args(["--edition", "2024"]).arg(&file).output().expect("rustfmt is here");
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr).chars().take(3_000).collect::<String>()
    );
}
