//! What is printed, as a whole: the files in `golden/` are what a model gets for the tools below. A change that
//! is meant is written there with `POSTERN_BLESS=1 cargo test`; the compilers of the languages check the same
//! files (`tests/tests/stubs.rs`).
#![allow(clippy::unwrap_used)]

use std::path::Path;

use serde_json::{Value, json};

use super::{Target, declarations, tool_declarations};
use crate::ToolErrorCode;
use crate::upstream::ToolDefinition;

fn tool(server: &str, name: &str, about: &str, input: Value) -> ToolDefinition {
    ToolDefinition::new(server, name, input).with_description(about)
}

/// A server as one would wish it.
fn crm() -> Vec<ToolDefinition> {
    let defs = json!({
        "Customer": {"type": "object", "description": "Who buys.", "properties": {
            "id": {"type": "integer"}, "name": {"type": "string"}, "status": {"$ref": "#/$defs/Status"},
            "parent": {"anyOf": [{"$ref": "#/$defs/Customer"}, {"type": "null"}]},
            "tags": {"type": "array", "items": {"type": "string"}}}, "required": ["id", "name", "status"]},
        "Status": {"enum": ["active", "churned"]}
    });
    vec![
        tool("crm", "list_customers", "Lists customers.\n\n    Newest first.", json!({"type": "object", "$defs": defs, "properties": {
            "limit": {"type": "integer", "description": "How many", "minimum": 1, "maximum": 100, "default": 10},
            "status": {"$ref": "#/$defs/Status"},
            "since": {"type": "string", "format": "date-time"},
            "sort": {"type": "object", "properties": {"by": {"enum": ["name", "id"]}, "descending": {"type": "boolean"}}, "required": ["by"]}}}))
        .with_output_schema(json!({"type": "object", "$defs": defs, "properties": {
            "customers": {"type": "array", "items": {"$ref": "#/$defs/Customer"}}, "nextCursor": {"type": ["string", "null"]}},
            "required": ["customers"]})),
        tool("crm", "get_customer", "One customer.", json!({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}))
            .with_output_schema(json!({"$ref": "#/$defs/Customer", "$defs": defs})),
        tool("crm", "add_event", "Writes something down.", json!({"type": "object",
            "properties": {
                "customer_id": {"type": "integer"}, "email": {"type": "string", "format": "email"},
                "event": {"oneOf": [
                    {"type": "object", "properties": {"kind": {"const": "call"}, "minutes": {"type": "number", "exclusiveMinimum": 0}}, "required": ["kind", "minutes"]},
                    {"type": "object", "properties": {"kind": {"const": "visit"}, "place": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}], "items": false, "minItems": 2}}, "required": ["kind"]}]},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "again": {"$ref": "#/properties/event/oneOf/0/properties/minutes"}},
            "required": ["event"], "anyOf": [{"required": ["customer_id"]}, {"required": ["email"]}]})),
        tool("crm", "query", "Finds by a tree of conditions.", json!({"type": "object", "properties": {"where": {"$ref": "#/definitions/condition"}}, "required": ["where"],
            "definitions": {"condition": {"anyOf": [
                {"type": "object", "properties": {"field": {"type": "string"}, "equals": {}}, "required": ["field", "equals"], "additionalProperties": false},
                {"type": "object", "properties": {"and": {"type": "array", "items": {"$ref": "#/definitions/condition"}}}, "required": ["and"]}]}}}))
        .with_output_schema(json!({"type": "array", "items": {"type": "object", "additionalProperties": true}})),
        tool("crm", "ping", "", json!({"type": "object", "properties": {}})).with_output_schema(json!({"type": "boolean"})),
    ]
}

/// Names and texts that no language takes as they are.
fn odd() -> Vec<ToolDefinition> {
    let none = || json!({"type": "object", "properties": {}});
    let mut tools = vec![
        tool(
            "my-server",
            "get-env",
            "Ends */ here \"\"\" and \\ there\u{7}.\n@ts-expect-error\n# type: ignore\n```\npanic!()\n```",
            none(),
        ),
        tool("my-server", "getEnv", "A twin in some languages.", none()),
        tool(
            "my-server",
            "then",
            "What promises have.",
            json!({"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}),
        ),
        tool(
            "words",
            "list",
            "Hides a type of Python.",
            json!({"type": "object", "properties": {"ids": {"type": "array", "items": {"type": "integer"}}}}),
        ),
        tool(
            "words",
            "import",
            "A word of every language.",
            json!({"type": "object", "properties": {
            "from": {"type": "string", "description": "type: a comment \" ends\""}, "self": {"type": "boolean"}, "type": {"const": 7},
            "x-y": {"type": "string"}, "more": {"type": "null"}, "日本": {"type": "number"}}, "required": ["from", "x-y"], "additionalProperties": {"type": "integer"}}),
        ),
        tool("words", "import_", "Its twin.", none()),
        tool("words", "__init__", "Python's own.", none()),
        tool("words", "self", "Rust's own.", none()),
        tool("words", "Call", "A name of ours.", none())
            .with_output_schema(json!({"type": "array", "items": {"type": "integer"}})),
        ToolDefinition::new("words", "nothing", json!(null)),
        tool(
            "then",
            "x",
            "On a server that no property leads to.",
            json!({"type": "object", "properties": {
            "deep": {"type": "object", "properties": {"a": {"type": "string", "description": "In several lines."}}}}}),
        ),
    ];
    tools.push(
        tool("words", "tree", "A schema that is its own part.", json!({"type": "object", "properties": {"child": {"$ref": "#"}, "value": {"type": "string"}}}))
            .with_output_schema(json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#"}}, {"type": "object", "additionalProperties": {"$ref": "#"}}]})),
    );
    tools
}

fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/stubs/golden").join(name);
    if std::env::var_os("POSTERN_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let wanted = std::fs::read_to_string(&path).unwrap();
    assert!(
        wanted == text,
        "{name} is not what is printed now:\n{}",
        similar::TextDiff::from_lines(wanted.as_str(), text).unified_diff()
    );
}

#[test]
fn golden() {
    for (target, ending) in [(Target::TypeScript, "d.ts"), (Target::Python, "pyi"), (Target::Rust, "rs.txt")]
    {
        check(&format!("crm.{ending}"), &declarations(&crm(), target));
        check(&format!("odd.{ending}"), &declarations(&odd(), target));
    }
}

#[test]
fn the_order_of_tools_does_not_count() {
    for target in [Target::TypeScript, Target::Python, Target::Rust] {
        let (forth, mut back) = (crm(), crm());
        back.reverse();
        assert_eq!(declarations(&forth, target), declarations(&back, target));
    }
}

#[test]
fn no_tool_is_dropped_and_the_raw_name_stands_in_each() {
    for target in [Target::TypeScript, Target::Python, Target::Rust] {
        let text = declarations(&odd(), target);
        for name in ["get-env", "getEnv", "then", "import", "import_", "__init__", "self", "Call", "nothing"]
        {
            assert!(text.contains(name), "{name} is missing in {target:?}");
        }
        let parts = tool_declarations(&odd(), target);
        assert!(text.ends_with(&parts) && parts.len() < text.len());
        assert!(!declarations(&[], target).is_empty());
    }
}

#[test]
fn every_code_of_a_failed_call_is_declared() {
    for code in ToolErrorCode::ALL {
        for target in [Target::TypeScript, Target::Python] {
            assert!(declarations(&[], target).contains(code.as_str()), "{code}");
        }
    }
}

fn typescript(input: Value) -> String {
    // As it is, not as listing makes it safe: what stands here must hold for any schema.
    let mut tool = ToolDefinition::new("s", "t", json!({}));
    tool.input_schema = input;
    tool_declarations(&[tool], Target::TypeScript)
}

fn property(schema: Value) -> String {
    let text = typescript(json!({"type": "object", "properties": {"p": schema}, "required": ["p"],
        "$defs": {"n": {"type": "integer"}, "a/b": {"type": "boolean"}, "loop": {"$ref": "#/$defs/pool"}, "pool": {"$ref": "#/$defs/loop"}}}));
    let line =
        text.lines().find(|line| line.contains("p:")).unwrap_or_else(|| panic!("{text}")).trim().to_owned();
    let from = line.find("p: ").unwrap() + 3;
    line[from..].trim_end_matches(" }): Promise<unknown>;").trim_end_matches(';').to_owned()
}

#[test]
fn schemas_become_types() {
    for (schema, ty) in [
        (json!(true), "unknown"),
        (json!({}), "unknown"),
        (json!({"type": ["string", "null"]}), "string | null"),
        (json!({"type": "string", "nullable": true}), "string | null"),
        (json!({"type": ["integer", "number"]}), "number"),
        (json!({"const": null}), "null"),
        (json!({"const": 1.0}), "1"),
        (json!({"enum": ["a", 1, -2.5, true, null]}), "\"a\" | 1 | -2.5 | true | null"),
        (json!({"type": "string", "enum": ["a", 1]}), "\"a\""),
        (json!({"enum": (0..1000).map(|n| n.to_string()).collect::<Vec<_>>()}), "string"),
        (json!({"type": "array"}), "unknown[]"),
        (json!({"type": "array", "items": {"enum": ["a", "b"]}}), "(\"a\" | \"b\")[]"),
        (
            json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}], "items": false, "minItems": 2}),
            "[string, number]",
        ),
        (
            json!({"type": "array", "prefixItems": [{"type": "string"}], "minItems": 1}),
            "[string, ...unknown[]]",
        ),
        (
            json!({"items": [{"type": "string"}, {"type": "number"}], "additionalItems": {"type": "null"}}),
            "[string?, number?, ...null[]]",
        ),
        (json!({"type": "object"}), "{ [name: string]: unknown }"),
        (
            json!({"type": "object", "additionalProperties": {"type": "integer"}}),
            "{ [name: string]: number }",
        ),
        (json!({"type": "object", "additionalProperties": false}), "{}"),
        (
            json!({"type": "object", "patternProperties": {"^x": {"type": "integer"}}}),
            "{ [name: string]: unknown }",
        ),
        (
            json!({"type": "object", "patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": false}),
            "{ [name: string]: number }",
        ),
        (
            json!({"properties": {"a": {"type": "string"}, "b-c": false, "d": {}}, "required": ["d", "e"]}),
            "{ d: unknown; e: unknown; a?: string }",
        ),
        (json!({"$ref": "#/$defs/n"}), "number"),
        (json!({"$ref": "#/%24defs/a~1b"}), "boolean"),
        (json!({"$ref": "#/$defs/nowhere"}), "unknown"),
        (json!({"$ref": "https://elsewhere.test/x.json"}), "unknown"),
        (json!({"$ref": "#/$defs/loop"}), "unknown"),
        (
            json!({"allOf": [{"properties": {"a": {"type": "number"}}}, {"properties": {"a": {"type": "integer"}, "b": true}, "required": ["a"]}]}),
            "{ a: number; b?: unknown }",
        ),
        (json!({"allOf": [{"type": "string"}, {"type": "integer"}]}), "never"),
        (json!({"anyOf": [{"type": "string"}, {"$ref": "#/$defs/n"}, false]}), "string | number"),
        (json!({"anyOf": [{"type": "string"}, true]}), "unknown"),
        (
            json!({"type": "object", "properties": {"a": {}}, "oneOf": [{"properties": {"k": {"const": 1}}}, {"properties": {"k": {"const": 2}}}]}),
            "{ a?: unknown; k?: 1 } | { a?: unknown; k?: 2 }",
        ),
        (json!({"not": {"type": "string"}}), "unknown"),
    ] {
        assert_eq!(property(schema.clone()), ty, "{schema}");
    }
}

/// What is no schema at all was taken for any object when the tool was listed.
#[test]
fn a_tool_with_a_senseless_schema_is_not_dropped() {
    for schema in [json!("nonsense"), json!({"type": "nonsense"})] {
        let text = typescript(json!({"type": "object", "properties": {"p": schema}}));
        assert!(text.contains("t(args?: "), "{text}");
    }
}

/// Milliseconds that this thread has computed: other work on the machine does not count.
fn computed() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec * 1_000 + now.tv_nsec / 1_000_000
}

#[test]
fn hostile_schemas_cost_little() {
    let mut chain = serde_json::Map::new();
    for n in 0..5_000 {
        chain.insert(format!("d{n}"), json!({"allOf": [{"$ref": format!("#/$defs/d{}", n + 1)}, {"$ref": format!("#/$defs/d{}", n + 2)}]}));
    }
    let mut doubling = serde_json::Map::new();
    for n in 0..60 {
        let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
        doubling.insert(format!("d{n}"), json!({"type": "object", "properties": {"a": next, "b": next}}));
    }
    let wide: serde_json::Map<String, Value> = (0..20_000)
        .map(|n| (format!("p{n}"), json!({"type": "string", "description": "x".repeat(500)})))
        .collect();
    let mut deep = json!({"type": "string"});
    for _ in 0..100 {
        deep = json!({"type": "object", "properties": {"p": deep}, "required": ["p"]});
    }
    let variants: Vec<Value> =
        (0..40).map(|n| json!({"type": "object", "properties": {"k": {"const": n}}})).collect();
    for schema in [
        json!({"type": "object", "properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": chain}),
        json!({"type": "object", "properties": {"p": {"$ref": "#/$defs/d0"}}, "$defs": doubling}),
        json!({"type": "object", "properties": wide}),
        deep,
        json!({"type": "object", "allOf": vec![json!({"anyOf": variants}); 8]}),
        json!({"type": "object", "allOf": vec![json!({"$ref": "#"}); 500]}),
    ] {
        let mut tool =
            ToolDefinition::new("s", "t", json!({"type": "object"})).with_output_schema(schema.clone());
        tool.input_schema = schema;
        for target in [Target::TypeScript, Target::Python, Target::Rust] {
            let began = computed();
            let text = declarations([&tool], target);
            assert!(text.len() < 400_000, "{target:?}: {} bytes", text.len());
            let took = computed() - began;
            assert!(took < 2_000, "{target:?}: {took} ms");
        }
    }
}
