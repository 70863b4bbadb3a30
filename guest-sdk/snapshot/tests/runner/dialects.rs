//! What models write, through the host's preparation and the runner: each text gives the same value.

use postern::script::prepare;
use serde_json::{Value, json};

use crate::host::{End, run};

fn value(text: &str) -> (Value, Vec<String>) {
    let prepared = prepare(text, None, "script").unwrap();
    match run(&prepared.source).end {
        End::Value(done) => (serde_json::from_str(&done.value).unwrap(), done.warnings),
        other => panic!("{text}\n{}\n{other:?}", prepared.source),
    }
}

#[test]
fn every_dialect_gives_the_value() {
    let dialects = [
        "const c = await tools.crm.list({}); return c.length",
        "const c = await tools.crm.list({});\nc.length",
        "(await tools.crm.list({})).length // the number",
        "tools.crm.list({}).then(c => c.length)",
        "async () => { const c = await tools.crm.list({}); return c.length }",
        "async () => (await tools.crm.list({})).length;",
        "(async function () { return (await tools.crm.list({})).length });",
        "(async () => { return (await tools.crm.list({})).length })()",
        "async ({ tools }) => (await tools.crm.list({})).length",
        "export default async function main() { return (await callTool('crm/list')).length }",
        "export default async ({ callTool }) => (await callTool('crm/list')).length",
        "export default (await callTool('crm/list')).length;",
        "async function main() { return (await tools.crm.list()).length }",
        "async function main() { return (await tools.crm.list()).length }\nawait main();",
        "const main = async () => (await tools.crm.list()).length;",
        "try { const c = await tools.crm.list({}); c.length } catch (e) { console.error(e) }",
        "if (true) {\n  (await tools.crm.list({})).length;\n} else { 0 }",
        "```ts\ninterface C { id: number; name: string }\nconst list = (await tools.crm.list({})) as C[];\nlist.length\n```",
        "Here it is:\n\n```js\nreturn (await tools.crm.list({})).length\n```\nDone.",
        "enum Size { Two = 2 }\nconst n: Size = Size.Two;\nreturn n;",
        "class Box<T> { constructor(public readonly items: T[]) {} }\nconst b = new Box<unknown>(await tools.crm.list({}));\nb.items.length",
        "import * as fs from 'node:fs/promises';\nimport path, { join } from 'path';\nawait fs.writeFile(join('/workspace', 'n'), '2');\nNumber(await fs.readFile('n', 'utf8'))",
        "const fs = require('fs');\nfs.writeFileSync('n', '2');\nreturn Number(fs.readFileSync('n', 'utf8'))",
        "let total = 0;\nfor (const _ of await tools.crm.list({})) total++;\ntotal;",
        "#!/usr/bin/env node\nreturn 2",
        "\u{feff}const a = 2;\r\nreturn a\r\n",
    ];
    for text in dialects {
        let got = value(text);
        assert_eq!(got, (json!(2), vec![]), "{text}");
    }
}

#[test]
fn a_last_expression_that_is_no_result_is_told() {
    let (got, warnings) = value("const m = new Map();\nm.set('a', 1);");
    assert_eq!(got, json!(null));
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].starts_with("the value of the last expression holds a Map at $"), "{warnings:?}");
    let (got, warnings) = value("console.log('x')");
    assert_eq!((got, warnings.len()), (json!(null), 0));
    let (_, warnings) = value("({a: tools.crm.list({})})");
    assert!(warnings.iter().any(|w| w.contains("a promise at $.a: await it first")), "{warnings:?}");
    assert!(
        warnings.iter().any(|w| w.contains("the call to crm/list on line 1 was never awaited")),
        "{warnings:?}"
    );
}

#[test]
fn errors_lead_back_to_the_text() {
    for (text, line) in [
        ("Run this:\n```ts\ninterface A { a: string }\nconst x: A | null = null;\n\nconst y = x!.a;\n```", 6),
        ("export default async function () {\n  const x = null;\n  return x.a;\n}", 3),
        ("import {\n  readFile\n} from 'fs';\nnull.a", 4),
        ("enum E {\n  A,\n  B\n}\nawait tools.test.fail({ code: 'blocked' });", 5),
    ] {
        let prepared = prepare(text, None, "script").unwrap();
        let End::Error(error) = run(&prepared.source).end else { panic!("{text}") };
        let place = prepared.map.original(error.line.unwrap(), error.column.unwrap());
        assert_eq!(place.map(|(line, _)| line), Some(line), "{text}\n{}\n{error:?}", prepared.source);
        let stack = prepared.map.stack(&error.stack, "report.ts");
        assert!(stack.contains(&format!("report.ts:{line}:")), "{stack}");
    }
}
