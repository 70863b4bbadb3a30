//! One test for each way of writing a script, and for each text that is none.
#![allow(clippy::unwrap_used)]

use super::*;

fn source(text: &str) -> String {
    match prepare(text, None, "script") {
        Ok(prepared) => prepared.source,
        Err(problem) => panic!("{text}\n{problem:?}"),
    }
}

fn problem(text: &str) -> ScriptProblem {
    match prepare(text, None, "script") {
        Ok(prepared) => panic!("{text}\n{}", prepared.source),
        Err(problem) => problem,
    }
}

// ---- the value ------------------------------------------------------------

#[test]
fn a_returned_value_stays_as_it_is() {
    assert_eq!(
        source("const x = await tools.a.b({});\nreturn x;"),
        "const x = await tools.a.b({});\nreturn x;"
    );
    assert_eq!(source("if (x) return 1;\nfor (;;) {}"), "if (x) return 1;\nfor (;;) {}");
    assert_eq!(source("let x = 1"), "let x = 1");
}

#[test]
fn the_last_expression_is_the_value() {
    assert_eq!(source("1 + 1"), "return __postern_value(1 + 1);");
    assert_eq!(source("1 + 1; // two"), "return __postern_value(1 + 1);; // two");
    assert_eq!(source("'hello'"), "return __postern_value('hello');");
    assert_eq!(source("a();\n(async () => 1)()\n;"), "a();\nreturn __postern_value((async () => 1)());\n;");
    assert_eq!(
        source("tools.a.b({}).then(x => x.c)"),
        "return __postern_value(tools.a.b({}).then(x => x.c));"
    );
    assert_eq!(
        source("if (a) { b; c } else if (d) e\nelse { let f }"),
        "if (a) { b; return __postern_value(c); } else if (d) return __postern_value(e);\nelse { let f }"
    );
    assert_eq!(
        source("try { await a() } catch (e) { e.code } finally { z }"),
        "try { return await __postern_value(await a()); } catch (e) { return __postern_value(e.code); } finally { z }"
    );
    assert_eq!(source("'use strict'; x"), "'use strict'; return __postern_value(x);");
}

// ---- whole functions ------------------------------------------------------

#[test]
fn a_whole_function_is_called() {
    assert_eq!(source("async () => { return 1 }"), "return (async () => { return 1 })();");
    assert_eq!(source("() => 1;"), "return (() => 1)();;");
    assert_eq!(source("(async function () { return 1 });"), "return ((async function () { return 1 }))();;");
    assert_eq!(
        source("async ({ tools }) => 1"),
        "return (async ({ tools }) => 1)({tools, callTool, catalog, fs, console});"
    );
    assert_eq!(
        source("async (tools, ctx) => 1"),
        "return (async (tools, ctx) => 1)(tools, {tools, callTool, catalog, fs, console});"
    );
}

#[test]
fn a_script_of_functions_runs_the_main_one() {
    assert_eq!(
        source("async function main() {}\nfunction help() {}"),
        "async function main() {}\nfunction help() {}\nreturn await main();"
    );
    assert_eq!(
        source("const N = 2;\nasync function report({ tools }) {}"),
        "const N = 2;\nasync function report({ tools }) {}\nreturn await report({tools, callTool, catalog, fs, console});"
    );
    assert_eq!(source("const run = async () => 1;"), "const run = async () => 1;\nreturn await run();");
    assert_eq!(source("function a() {}\nfunction b() {}"), "function a() {}\nfunction b() {}");
    assert_eq!(source("function main() {}\nmain()"), "function main() {}\nreturn __postern_value(main());");
}

#[test]
fn a_default_export_is_called_or_is_the_value() {
    assert_eq!(source("export default async function go() {}"), "async function go() {}\nreturn await go();");
    assert_eq!(
        source("export default async function () {}"),
        "const __postern_default = async function () {};\nreturn await __postern_default();"
    );
    assert_eq!(
        source("export default async () => 1;"),
        "const __postern_default = async () => 1;\nreturn await __postern_default();"
    );
    assert!(
        source("export default {a: 1}").starts_with(
            "const __postern_default = {a: 1}\nreturn typeof __postern_default === \"function\""
        )
    );
    assert!(source("const f = () => 1;\nexport { f as default }").ends_with(
        "return typeof f === \"function\" ? await f({tools, callTool, catalog, fs, console}) : f;"
    ));
    assert_eq!(problem("export default class {}").code, "script-form");
}

#[test]
fn other_exports_are_dropped() {
    assert_eq!(source("export const a = 1;\na"), "const a = 1;\nreturn __postern_value(a);");
    assert_eq!(source("export async function main() {}"), "async function main() {}\nreturn await main();");
    assert_eq!(
        source("const a = 1;\nexport {\n  a\n};\na"),
        "const a = 1;\n;\n\n\nreturn __postern_value(a);"
    );
    assert_eq!(problem("export * from 'x'").line, Some(1));
}

// ---- imports --------------------------------------------------------------

#[test]
fn known_modules_can_be_imported() {
    assert_eq!(
        source("import fs from 'node:fs/promises';\nlet a"),
        "var fs = require(\"node:fs/promises\");\nlet a"
    );
    assert_eq!(source("import * as path from 'path'\nlet a"), "var path = require(\"path\");\nlet a");
    assert_eq!(
        source("import fs, {\n  readFile,\n  writeFile as save\n} from 'fs';\nlet a"),
        "var fs = require(\"fs\"), {readFile, \"writeFile\": save} = require(\"fs\");\n\n\n\nlet a"
    );
    assert_eq!(source("import 'fs'; let a"), "; let a");
}

#[test]
fn other_modules_are_refused_with_those_that_exist() {
    let problem = problem("let a;\nimport axios from 'axios';");
    assert_eq!(
        (problem.code, problem.line, problem.message.as_str()),
        ("script-form", Some(2), "there is no module \"axios\"")
    );
    assert!(problem.hint.unwrap().starts_with("a script can import fs, fs/promises, path"));
}

// ---- TypeScript -----------------------------------------------------------

#[test]
fn types_are_taken_out() {
    let text = "interface C { id: number }\nenum Kind { A = 'a', B = 'b' }\nimport type { X } from 'x';\n\
                class P { constructor(private readonly n: number) {} get(): number { return this.n } }\n\
                const f = <T,>(x: T): T => x;\nconst list = (await tools.crm.list({})) as C[];\n\
                const o = { a: 1 } satisfies Record<string, number>;\nnamespace N { export const z = 3 }\n\
                return [f<number>(1), Kind.B, new P(2).get(), list!.length, N.z];";
    let prepared = prepare(text, None, "script").unwrap();
    assert_eq!(prepared.language, Language::TypeScript);
    for gone in ["interface", "enum", " as C", "satisfies", "private", "import", "<T", "namespace"] {
        assert!(!prepared.source.contains(gone), "{gone}:\n{}", prepared.source);
    }
    assert!(prepared.source.contains("return ["));
    let place = prepared.source.lines().position(|line| line.contains("return [")).unwrap() as u32 + 1;
    assert_eq!(prepared.map.original(place, 1).map(|(line, _)| line), Some(9));
}

#[test]
fn javascript_is_left_as_it_is_written() {
    let text = "const a = 1 // kept\n\n\n   return   a";
    let prepared = prepare(text, None, "x.js").unwrap();
    assert_eq!((prepared.source.as_str(), prepared.language), (text, Language::JavaScript));
}

#[test]
fn what_only_looks_like_javascript_is_typescript() {
    let prepared =
        prepare("const r = await callTool<Customer>('crm/list', {});\nreturn r", None, "script").unwrap();
    assert_eq!(prepared.language, Language::TypeScript);
    assert!(prepared.source.contains("callTool("), "{}", prepared.source);
    assert_eq!(
        prepare("return a<b>(c)", Some(Language::TypeScript), "script").unwrap().source.trim(),
        "return a(c);"
    );
    assert_eq!(prepare("return 1 < 2", None, "a.ts").unwrap().language, Language::TypeScript);
}

#[test]
fn types_and_dialects_go_together() {
    assert!(
        source("async (): Promise<number> => { const x: number = 1; return x }")
            .starts_with("return (async () => {")
    );
    assert!(
        source("type A = string;\nexport default async function main(a: A): Promise<void> {}")
            .contains("return await main(")
    );
    assert!(source("let a: number = 1;\na + 1").contains("return __postern_value(a + 1)"));
    assert!(source("import fs from 'fs';\nimport { type Stats } from 'fs';\nconst t: string = await fs.readFile('a', 'utf8');\nt").contains("var fs = require(\"fs\")"));
}

// ---- Markdown -------------------------------------------------------------

#[test]
fn the_script_is_found_in_markdown() {
    for (text, line) in [
        ("```js\nreturn a\n```", 2),
        ("Here is the script:\n\n```typescript title=\"x\"\nreturn a\n```\nIt returns `a`.", 4),
        ("\n~~~\nreturn a\n~~~\n", 3),
        ("```ts\nreturn a\n", 2),
        ("First install:\n```sh\nnpm i\n```\nThen:\n```js\nreturn a\n```", 7),
        ("1. do\n   ```js\n   return a\n   ```", 3),
    ] {
        let prepared = prepare(text, None, "script").unwrap();
        assert_eq!(prepared.source.trim().trim_end_matches(';'), "return a", "{text}");
        assert_eq!(prepared.map.original(1, 1).map(|(line, _)| line), Some(line), "{text}");
    }
    let template = "const t = `\n```js\nx\n```\n`.length;\nreturn t";
    assert_eq!(
        prepare(&template.replace("```", "\\`\\`\\`"), None, "script").unwrap().map.original(1, 1),
        Some((1, 1))
    );
}

#[test]
fn several_code_blocks_are_refused() {
    let problem = problem("```js\na\n```\nor\n```ts\nb\n```");
    assert_eq!(problem.code, "script-form");
    assert!(
        problem.message.contains("2 code blocks of JavaScript, TypeScript or Python (lines 1, 5)"),
        "{}",
        problem.message
    );
    assert_eq!(super::tests::problem("no code here\n```rust\nfn main() {}\n```").code, "script-language");
}

// ---- what is no script ----------------------------------------------------

#[test]
fn nothing_is_refused() {
    for text in ["", "  \n\t", "\u{feff}", "```js\n```"] {
        let refused = prepare(text, None, "script");
        assert!(refused.is_err() || text.contains("```"), "{text:?}");
    }
}

#[test]
fn a_list_of_calls_is_refused_with_the_script_for_it() {
    for (text, hint) in [
        (
            r#"[{"tool": "crm.list", "args": {"q": 1}}, {"tool": "mail/send"}]"#,
            r#"await callTool("crm/list", {"q":1}); await callTool("mail/send", {})"#,
        ),
        (r#"{"name": "crm/list", "arguments": {}}"#, r#"await callTool("crm/list", {})"#),
        (
            r#"{"tool_calls": [{"type": "function", "function": {"name": "mcp__crm__list", "arguments": "{\"a\":[1]}"}}]}"#,
            r#"await callTool("crm/list", {"a":[1]})"#,
        ),
        ("```json\n{\"name\": \"list\", \"input\": {}}\n```", r#"await callTool("server/list", {})"#),
    ] {
        let problem = problem(text);
        assert_eq!(problem.code, "script-form", "{text}");
        assert_eq!(problem.hint.unwrap(), format!("write the calls: {hint}"), "{text}");
    }
    assert_eq!(source(r#"{"name": "Ada", "age": 36}"#), r#"return ({"name": "Ada", "age": 36})"#);
    assert_eq!(source("[1, 2]"), "return __postern_value([1, 2]);");
}

#[test]
fn shell_is_refused() {
    for text in [
        "ls -la",
        "pwd",
        "$ curl https://example.com | jq .",
        "#!/bin/bash\necho hi",
        "# fetch\nnpm install x\nnode x.js",
        "cat /etc/passwd",
        "```sh\nls\n```",
        "git status && ls",
        "cd ..",
        "echo \"hi\" > /out/x",
        "export A=1",
    ] {
        let problem = problem(text);
        assert_eq!(problem.code, "script-form", "{text}");
        assert!(problem.message.contains("shell"), "{text}: {}", problem.message);
        assert!(problem.hint.unwrap().contains("await tools.server.tool"));
    }
    for text in [
        "find = 1",
        "head.next()",
        "export const a = 1",
        "echo(1)",
        "node => node.x",
        "let cat = 1; cat + 1",
        "make: for (;;) break make",
    ] {
        assert!(prepare(text, None, "script").is_ok(), "{text}");
    }
}

#[test]
fn python_is_run_as_python() {
    for text in [
        "import json\n\ndef f(x):\n    return x\n\nprint(f(1))",
        "print(\"hi\")",
        "for x in range(3):\n    print(x)",
        "#!/usr/bin/env python3\nx = 1",
        "from math import sqrt\nprint(sqrt(2))",
        "async def main():\n    await tools.a.b()\n",
        "if x:\n    pass\nelif y:\n    pass\n",
        "rows = tools.crm.list_customers()\nprint(len(rows))",
        "sorted(x['name'] for x in tools.crm.list_customers())",
    ] {
        let prepared = prepare(text, None, "script").unwrap();
        assert_eq!((prepared.language, prepared.source.as_str()), (Language::Python, text));
        // What says that it is something else is believed, and told if it cannot be.
        match prepare(text, Some(Language::JavaScript), "script") {
            Ok(prepared) => assert_eq!(prepared.language, Language::JavaScript),
            Err(problem) => {
                assert!(["script-language", "script-syntax"].contains(&problem.code), "{text}: {problem:?}");
            }
        }
    }
    for (text, name, language) in [("x = 1", "a.py", None), ("1", "a.js", Some(Language::Python))] {
        assert_eq!(prepare(text, language, name).unwrap().language, Language::Python);
    }
    let prepared = prepare("Here:\n\n```python\nx = 1\nx\n```\nIt is one.", None, "script").unwrap();
    assert_eq!((prepared.language, prepared.source.as_str()), (Language::Python, "x = 1\nx\n"));
    assert_eq!(prepared.map.original(2, 1), Some((5, 1)));
    // Its texts may hold fences.
    let text = "t = \"\"\"\n```js\n1\n```\n\"\"\"\nt";
    assert_eq!(prepare(text, None, "a.py").unwrap().source, text);
    assert_eq!(prepare("# nothing\n", None, "a.py").unwrap_err().code, "script-form");
    assert!(prepare("pip install x\nls -la", None, "a.py").unwrap_err().message.contains("shell"));
}

// ---- syntax errors --------------------------------------------------------

#[test]
fn syntax_errors_point_into_the_users_text() {
    let problem = problem("Look:\n```ts\nconst a: number = 1;\nconst b = = 2;\n```\n");
    assert_eq!(
        (problem.code, problem.name(), problem.line, problem.column),
        ("script-syntax", "SyntaxError", Some(4), Some(11))
    );
    assert_eq!(problem.excerpt.as_deref(), Some("4 | const b = = 2;\n              ^"));
    let error = crate::Error::from(problem);
    assert_eq!(error.code(), "script-syntax");
    assert!(
        error.to_string().starts_with("SyntaxError: ") && error.to_string().contains("(line 4, column 11)"),
        "{error}"
    );

    let crlf = super::tests::problem("\u{feff}let a = 1;\r\nlet é = ) ;\r\n");
    assert_eq!((crlf.line, crlf.column), (Some(2), Some(9)));
    assert_eq!(super::tests::problem("const a = {").code, "script-syntax");
    assert_eq!(super::tests::problem("let x = 'abc").line, Some(1));
}

#[test]
fn too_long_and_too_deep_are_errors() {
    assert_eq!(problem(&"x;".repeat(MAX_BYTES)).code, "script-too-large");
    for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("a(", ")"), ("`${", "}`"), ("(a=>", ")")] {
        let deep = |n: usize| format!("{}1{}", open.repeat(n), close.repeat(n));
        assert_eq!(problem(&deep(100_000)).code, "script-syntax", "{open}");
        assert!(prepare(&deep(200), None, "script").is_ok(), "{open}");
    }
}

#[test]
fn nothing_overflows_the_stack() {
    // What the bracket count does not see, as dense as it gets, through parser, transformer and printer.
    let many = 20_000;
    for (unit, tail) in [
        ("!", "1"),
        ("-+", "1"),
        ("a=>", "1"),
        ("a?b:", "c"),
        ("a=", "1"),
        ("if(a)", "b"),
        ("a+", "b"),
        ("a.b.", "c"),
        ("a**", "b"),
        ("new ", "a"),
        ("await ", "a"),
        ("/'/+(", ""),
        ("`${`${", ""),
        ("a:", "b"),
        ("else ", ""),
        ("for(;;)", "a"),
        ("a??", "b"),
        ("async a=>", "1"),
        ("a?.", "b"),
        ("...", "a"),
        ("[/\"/,", ""),
        ("{/'/;", ""),
        ("(/\"/+\")\"+", ""),
    ] {
        let text = format!("{}{tail}", unit.repeat(many));
        let _ = prepare(&text, None, "script");
        let _ = prepare(&text, Some(Language::TypeScript), "script");
    }
    for (unit, tail) in [
        ("A<", "B"),
        ("keyof ", "A"),
        ("A extends B?C:", "D"),
        ("()=>", "A"),
        ("A|", "B"),
        ("/'/;[", ""),
        ("{a:", ""),
    ] {
        let _ = prepare(&format!("type X = {}{tail}", unit.repeat(many)), None, "script");
    }
    // A quote in a regular expression hides the rest of the line from the count.
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("a(", ")"),
        ("(a=>", ")"),
        ("{a:", "}"),
        ("`${", "}`"),
        ("a[", "]"),
    ] {
        for text in [
            format!("/'/;{}", open.repeat(many)),
            format!("/'/;{}1{}", open.repeat(many), close.repeat(many)),
        ] {
            for language in [None, Some(Language::TypeScript)] {
                let _ = prepare(&text, language, "script");
            }
        }
    }
    let _ = prepare(&format!("let a: A{}", "[]".repeat(many)), None, "script");
    let _ = prepare(&format!("a{}", "()".repeat(many)), None, "script");
    let _ = prepare(&format!("let a: number = b{}", "[0]".repeat(many)), None, "script");
}

// ---- the way back ---------------------------------------------------------

#[test]
fn places_lead_back() {
    let prepared = prepare("```js\nconst a = 1;\n  a.b.c\n```", None, "script").unwrap();
    assert_eq!(prepared.source, "const a = 1;\n  return __postern_value(a.b.c);\n");
    assert_eq!(prepared.map.original(1, 7), Some((2, 7)));
    assert_eq!(prepared.map.original(2, 26), Some((3, 3)));
    assert_eq!(prepared.map.original(2, 28), Some((3, 5)));
    let stack = "    at f (script.js:2:28)\n    at map (native)\n    at script.js:1:7";
    assert_eq!(
        prepared.map.stack(stack, "report.md"),
        "    at f (report.md:3:5)\n    at map (native)\n    at report.md:2:7"
    );

    let main = prepare("async function main() {}", None, "script").unwrap();
    assert_eq!(main.map.original(2, 1), None);
    assert_eq!(
        main.map.stack("    at main (script.js:1:1)\n    at <anonymous> (script.js:2:14)", "a.js"),
        "    at main (a.js:1:1)"
    );
    assert_eq!(
        prepare("#!/usr/bin/env node\nreturn 1", None, "script").unwrap().source,
        "///usr/bin/env node\nreturn 1"
    );
}
