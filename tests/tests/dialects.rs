//! What models write, and what they are told when it does not work.

use std::time::Duration;

use postern_tests::Postern;
use postern_tests::words::{exit, outcome};

/// Runs files of these names and texts, each of which says 42.
fn dialects_give_42(files: &[(&str, &str)]) {
    let postern = Postern::new();
    for (name, source) in files {
        let run = postern.run_file(name, source);
        assert_eq!(run.outcome(), outcome::OK, "{name}: {run:#?}");
        assert_eq!(*run.ok(), 42, "{name}");
    }
}

/// cloudflare#959/#961, goose#9647, openclaw#113069, pi-codemode-guard: models write many dialects.
#[test]
fn row_23_every_dialect_gives_its_value() {
    dialects_give_42(&[
        (
            "types.ts",
            "const n: number = 41;\nfunction inc(x: number): number { return x + 1; }\nreturn inc(n);",
        ),
        ("interface.ts", "interface P { x: number; y?: string }\nconst p: P = { x: 42 };\nreturn p.x;"),
        ("alias.ts", "type Id = string | number;\nconst id = 42 as Id;\nid"),
        ("enum.ts", "enum Answer { No = 1, Yes = 42 }\nreturn Answer.Yes;"),
        ("const-enum.ts", "const enum A { X = 40, Y = X + 2 }\nreturn A.Y;"),
        ("generics.ts", "const first = <T,>(list: T[]): T => list[0]!;\nreturn first<number>([42]);"),
        ("satisfies.ts", "const c = { n: 42 } as const satisfies Record<string, number>;\nreturn c.n;"),
        (
            "class.ts",
            "abstract class A { constructor(protected readonly n: number) {} abstract get(): number }\nclass B extends A { get() { return this.n } }\nreturn new B(42).get();",
        ),
        (
            "overloads.ts",
            "function f(x: string): string;\nfunction f(x: number): number;\nfunction f(x: any) { return x }\nreturn f(42);",
        ),
        (
            "type-import.ts",
            "import type { Customer } from './types';\nconst c: Customer | null = null;\nreturn c ?? 42;",
        ),
        (
            "declare.ts",
            "declare const tools: any;\ndeclare global { interface X { y: 1 } }\nreturn typeof tools === 'function' ? 42 : 42;",
        ),
        ("namespace.ts", "namespace N { export const n = 42 }\nreturn N.n;"),
        ("async-types.ts", "const get = async (): Promise<number> => 42;\nreturn await get();"),
        ("fence.ts", "```ts\nconst n: number = 42;\nreturn n;\n```"),
        ("fence-js.js", "```javascript\nreturn 42;\n```\n"),
        ("fence-plain.js", "```\nreturn 42\n```"),
        (
            "prose.ts",
            "Here is the script you asked for:\n\n```typescript\nconst n: number = 42;\nn\n```\n\nIt returns the answer.",
        ),
        ("crlf.ts", "```ts\r\nconst n: number = 41;\r\nreturn n + 1;\r\n```\r\n"),
        ("bom.js", "\u{feff}return 42;"),
        ("return.js", "if (true) {\n  return 42;\n}\nreturn 1;"),
        ("arrow.js", "async () => {\n  const n = await Promise.resolve(42);\n  return n;\n}"),
        ("arrow-semicolon.js", "async () => { return 42; };"),
        ("arrow-short.js", "() => 42"),
        ("arrow.ts", "async (): Promise<number> => {\n  return 42;\n}"),
        ("function.js", "async function () {\n  return 42;\n}"),
        ("iife.js", "(async () => {\n  return 42;\n})();"),
        ("iife-bang.js", "await (async function main() { return 42; })()"),
        ("export.js", "export default async function main() {\n  return 42;\n}"),
        ("export-arrow.ts", "export default async (): Promise<number> => 42;"),
        ("export-value.js", "const answer = 42;\nexport default answer;"),
        ("main.js", "async function main() {\n  return 42;\n}\nmain();"),
        ("then.js", "Promise.resolve(41).then((n) => n + 1);"),
        ("expression.js", "const n = 41;\nn + 1"),
        ("object.js", "({ answer: 42 }).answer"),
        ("comment.js", "const n = 42;\nn // the answer"),
        ("await.js", "const n = await Promise.resolve(42);\nn;"),
        ("html-like.js", "const s = '```ts';\nreturn s.length + 37;"),
        ("shebang.js", "#!/usr/bin/env node\nreturn 42;"),
        ("strict.js", "'use strict';\nreturn 42;"),
    ]);
}

/// The same of Python.
#[test]
fn row_23_every_dialect_of_python_gives_its_value() {
    dialects_give_42(&[
        ("expression.py", "n = 41\nn + 1"),
        ("result.py", "result = 42"),
        ("return.py", "n = 42\nreturn n"),
        ("return-inside.py", "for n in range(50):\n    if n == 42:\n        return n\nreturn 1"),
        ("main.py", "def main():\n    return 42"),
        ("main-called.py", "def main():\n    return 42\n\nmain()"),
        ("main-guard.py", "def main():\n    return 42\n\nif __name__ == '__main__':\n    main()"),
        ("main-tools.py", "def main(tools):\n    return 42 if tools else 0"),
        ("main-async.py", "async def main():\n    return 42"),
        ("main-run.py", "import asyncio\nasync def main():\n    return 42\nasyncio.run(main())"),
        ("main-await.py", "async def main():\n    return 42\nawait main()"),
        ("main-forgot.py", "async def main():\n    return 42\nmain()"),
        (
            "main-exit.py",
            "import sys\ndef main():\n    global result\n    result = 42\n    return 0\nif __name__ == '__main__':\n    sys.exit(main())",
        ),
        (
            "loop.py",
            "import asyncio\nasync def main():\n    return 42\nloop = asyncio.get_event_loop()\nloop.run_until_complete(main())",
        ),
        ("one-function.py", "import math\n\ndef answer():\n    return 42"),
        ("fence.py", "```python\n42\n```"),
        ("answer.md", "Here you are:\n\n```python\nn = 41\nn + 1\n```\n\nThat is it."),
        ("fence-py", "```py\n42\n```"),
        ("list.md", "1. Run this:\n\n   ```python\n   n = 41\n   if n:\n       n += 1\n   n\n   ```\n"),
        ("crlf.py", "n = 41\r\nif n:\r\n    n += 1\r\nn\r\n"),
        ("bom.py", "\u{feff}42"),
        ("shebang", "#!/usr/bin/env python3\nx = 42\nx"),
        ("unnamed", "numbers = [n for n in range(43)]\nmax(numbers)"),
        ("unnamed-2", "import json\njson.loads('42')"),
        ("unnamed-3", "def f(x):\n    return x\n\nprint(f(1))\n42"),
        ("docstring.py", "'''What it does.'''\n42"),
        ("fenced-text.py", "text = '''\n```js\nreturn 1\n```\n'''\n42 if text else 0"),
        ("try.py", "try:\n    1 / 0\nexcept ZeroDivisionError:\n    42"),
        ("with.py", "import contextlib\nwith contextlib.suppress(KeyError):\n    42"),
        ("match.py", "match 3:\n    case 3:\n        42"),
        (
            "types.py",
            "from __future__ import annotations\nfrom typing import TypedDict\nclass R(TypedDict):\n    n: int\nr: R = {'n': 42}\nr['n']",
        ),
        ("async-for.py", "async def g():\n    yield 42\n[n async for n in g()][0]"),
        (
            "imports.py",
            "from postern import tools, ToolError, catalog\nimport tools as also\n42 if also is tools else 0",
        ),
        ("semicolon.py", "n = 41; n + 1"),
        ("tabs.py", "if True:\n\tn = 42\nn"),
    ]);
}

/// cloudflare#959: a script can also come on standard input, and its language from a flag or, for Python,
/// from the text.
#[test]
fn row_23_a_script_comes_from_standard_input_too() {
    let postern = Postern::new();
    let records = postern.records();
    let words = ["run", "-", "--json", "--record-dir", records.to_str().expect("UTF-8")];
    for (more, source) in [
        (&["--lang", "ts"][..], "const n: number = 42;\nreturn n;"),
        (&["--lang", "py"], "x = 42\nx"),
        (&[], "import math\nprint(math.pi)\n42"),
    ] {
        let finished = postern.command_with(&[&words[..], more].concat(), source);
        assert_eq!(finished.exit, exit::OK, "{finished:#?}");
        let document: serde_json::Value = serde_json::from_str(&finished.stdout).expect("one document");
        assert_eq!(document["value"], 42, "{source}");
    }
}

/// cloudflare#961, goose#9647: what is no script is refused with what to write instead.
#[test]
fn row_23_what_is_no_script_is_told_what_to_write() {
    let postern = Postern::new();
    for (source, hint) in [
        (r#"[{"tool": "t/echo", "arguments": {"n": 1}}]"#, r#"calltool(\"t/echo\", {\"n\":1})"#),
        (r#"{"name": "t.echo", "arguments": {"n": 1}}"#, "calltool("),
        (r#"{"tool_calls": [{"function": {"name": "echo", "arguments": "{}"}}]}"#, "calltool("),
        ("curl -s https://example.com/api | jq .", "tools."),
        ("$ npm install axios\n$ node index.js", "tools."),
        ("#!/bin/bash\nset -e\necho hi", "JavaScript"),
        ("import os\nprint(os.environ)", "JavaScript"),
        ("def main():\n    return 1\n\nmain()", "JavaScript"),
        ("I'm sorry, I can't help with that.", "JavaScript"),
        ("", "empty"),
        ("  \n\t\n", "empty"),
        ("// only a comment", "empty"),
        ("```ts\n```", "empty"),
    ] {
        let run = postern.run_file("script.js", source);
        assert_ne!(run.outcome(), outcome::OK, "{source}: {run:#?}");
        let said = run.document["error"].to_string();
        assert!(said.to_lowercase().contains(&hint.to_lowercase()), "{source}: {said}");
    }
}

/// The same of Python.
#[test]
fn row_23_what_is_no_python_is_told_what_to_write() {
    let postern = Postern::new();
    for (source, hint) in [
        ("pip install requests\npython main.py", "tools."),
        ("# only a comment", "empty"),
        ("```python\n```", "empty"),
        ("const a = 1;\nreturn a;", "SyntaxError"),
    ] {
        let run = postern.run_file("script.py", source);
        assert_ne!(run.outcome(), outcome::OK, "{source}: {run:#?}");
        assert!(run.document["error"].to_string().contains(hint), "{source}: {run:#?}");
    }
}

/// openclaw#113069: imports of things that a sandbox does not have say what to use instead.
#[test]
fn row_23_imports_say_what_there_is() {
    let postern = Postern::new();
    for (source, names) in [
        ("import axios from 'axios';\nreturn axios;", "axios"),
        ("const cp = require('child_process');\nreturn cp;", "child_process"),
        ("const { exec } = await import('node:child_process');\nreturn exec;", "child_process"),
        ("import http from 'node:http';\nreturn http;", "http"),
        ("const r = await fetch('https://example.com');\nreturn r.status;", "fetch"),
    ] {
        let run = postern.run_js(source);
        assert_ne!(run.outcome(), outcome::OK, "{source}: {run:#?}");
        assert!(run.error_text("message").contains(names), "{source}: {run:#?}");
    }
    let run = postern.run_js("import fs from 'node:fs/promises';\nawait fs.writeFile('/workspace/a', 'b');\nreturn await fs.readFile('/workspace/a', 'utf8');");
    assert_eq!(*run.ok(), "b");
}

/// The same of Python.
#[test]
fn row_23_imports_of_python_say_what_there_is() {
    let postern = Postern::new();
    for (source, error, says) in [
        ("import requests", "ModuleNotFoundError", "no network"),
        ("import pandas as pd", "ModuleNotFoundError", "nothing can be installed"),
        ("import ssl", "ModuleNotFoundError", "not in the sandbox"),
        ("import socket\nsocket.create_connection(('example.com', 443))", "PermissionError", ""),
        ("import socket\nsocket.socket().connect(('127.0.0.1', 80))", "PermissionError", ""),
        ("import urllib.request\nurllib.request.urlopen('http://example.com')", "URLError", ""),
        ("import subprocess\nsubprocess.run(['ls'])", "", ""),
        ("import threading\nthreading.Thread(target=print).start()", "RuntimeError", "thread"),
        ("input()", "EOFError", "EOF"),
    ] {
        let run = postern.run_py(source);
        assert!(run.script_error().contains(says), "{source}: {run:#?}");
        if !error.is_empty() {
            assert_eq!(run.error_text("name"), error, "{source}: {run:#?}");
        }
    }
    let run = postern
        .run_py("try:\n    import ujson as json\nexcept ImportError:\n    import json\njson.dumps([1])");
    assert_eq!(*run.ok(), "[1]");
}

/// Runs scripts that print something late, each with what it prints.
fn late_output_is_printed(file: &str, scripts: &[(&str, &str)]) {
    let postern = Postern::new();
    for (source, printed) in scripts {
        let run = postern.run_file(file, source);
        run.ok();
        assert_eq!(run.stdout(), *printed, "{source}");
        assert!(run.process.elapsed < Duration::from_secs(3), "{source}");
    }
}

/// e2b#477, code-interpreter#44, microsandbox#283, cloudflare/sandbox-sdk#206: what was still running at
/// the end of the text was lost.
#[test]
fn row_24_what_is_still_running_is_waited_for() {
    late_output_is_printed(
        "script.js",
        &[
            ("Promise.resolve('late').then(console.log)", "late\n"),
            (
                "(async () => { await new Promise((r) => setTimeout(r, 30)); console.log('late'); })();",
                "late\n",
            ),
            ("setTimeout(() => console.log('late'), 30);", "late\n"),
            ("queueMicrotask(() => queueMicrotask(() => console.log('late')));", "late\n"),
            (
                "async function main() { for (const n of [1, 2]) { await null; console.log(n); } }\nmain().then(() => console.log('done'));",
                "1\n2\ndone\n",
            ),
            ("await Promise.all([1, 2].map(async (n) => { await null; console.log(n); }));", "1\n2\n"),
            ("console.log(await Promise.resolve('top'));", "top\n"),
        ],
    );
}

/// The same of Python.
#[test]
fn row_24_what_is_still_running_in_python_is_waited_for() {
    let late =
        "import asyncio\nasync def late():\n    await asyncio.sleep(0.03)\n    print('late')\n    return 7\n";
    late_output_is_printed(
        "script.py",
        &[
            (&format!("{late}asyncio.create_task(late())\nawait asyncio.sleep(0)"), "late\n"),
            (&format!("{late}await late()"), "late\n"),
            (&format!("{late}asyncio.run(late())"), "late\n"),
            (&format!("{late}await asyncio.sleep(0)\nprint(asyncio.run(late()))"), "late\n7\n"),
            (
                &format!("{late}async def main():\n    return asyncio.run(late())\nprint(await main())"),
                "late\n7\n",
            ),
            (
                &format!("{late}loop = asyncio.new_event_loop()\nprint(loop.run_until_complete(late()))"),
                "late\n7\n",
            ),
            ("import asyncio\nprint(await asyncio.sleep(0, 'top'))", "top\n"),
        ],
    );
}

/// openclaw#95904, #83389: errors said nothing.
#[test]
fn row_25_errors_have_a_name_a_message_and_the_users_own_line() {
    let postern = Postern::new();
    for (name, source, error, message, line) in [
        ("syntax.js", "const a = 1;\nconst b = ;\n", "SyntaxError", "", Some(2)),
        ("syntax.ts", "const a: number = 1;\n\nlet b: = 2;\n", "SyntaxError", "", Some(3)),
        ("unclosed.js", "function f() {\n  return 1;\n", "SyntaxError", "", None),
        ("reference.js", "const a = 1;\n\nreturn nope + a;", "ReferenceError", "nope", Some(3)),
        (
            "type.js",
            "function f() {\n  throw new TypeError('bad input');\n}\n\nf();",
            "TypeError",
            "bad input",
            Some(2),
        ),
        (
            "undefined.ts",
            "interface A { n: number }\n\nconst x: A = JSON.parse('{}');\nreturn x.n.toFixed(2);",
            "TypeError",
            "undefined",
            Some(4),
        ),
        (
            "fence.ts",
            "Sure:\n```ts\nconst a: number = 1;\nthrow new Error('late');\n```",
            "Error",
            "late",
            Some(4),
        ),
        (
            "enum.ts",
            "enum E {\n  A,\n  B,\n}\nthrow new RangeError('after an enum');",
            "RangeError",
            "after an enum",
            Some(5),
        ),
        (
            "async.js",
            "const f = async () => {\n  await null;\n  throw new Error('in a task');\n};\nawait f();",
            "Error",
            "in a task",
            Some(3),
        ),
        (
            "custom.js",
            "class QuotaError extends Error { name = 'QuotaError' }\nthrow new QuotaError('too many');",
            "QuotaError",
            "too many",
            Some(2),
        ),
        (
            "cause.js",
            "throw new Error('outer', { cause: new Error('inner reason') });",
            "Error",
            "inner reason",
            Some(1),
        ),
        ("json.js", "const t = '{';\nreturn JSON.parse(t);", "SyntaxError", "", Some(2)),
        ("text.js", "throw 'plain words';", "", "plain words", None),
        ("object.js", "await Promise.reject({ reason: 'quota' });", "", "quota", None),
        ("null.js", "throw null;", "", "null", None),
        ("undefined.js", "await Promise.reject();", "", "undefined", None),
        (
            "lost.js",
            "Promise.reject(new Error('nobody looked'));\nreturn 1;",
            "Error",
            "nobody looked",
            Some(1),
        ),
        (
            "aggregate.js",
            "await Promise.any([Promise.reject(new Error('first one'))]);",
            "AggregateError",
            "first one",
            None,
        ),
    ] {
        let run = postern.run_file(name, source);
        assert!(run.script_error().contains(message), "{name}: {run:#?}");
        if !error.is_empty() {
            assert_eq!(run.error_text("name"), error, "{name}: {run:#?}");
        }
        if let Some(line) = line {
            assert_eq!(run.document["error"]["line"], line, "{name}: {run:#?}");
        }
        assert!(!run.error_text("code").is_empty(), "{name}: {run:#?}");
    }
}

/// The same of Python, whose tracebacks show the user's own lines as CPython prints them.
#[test]
fn row_25_errors_of_python_have_a_name_a_message_and_the_users_own_line() {
    let postern = Postern::new();
    for (name, source, error, message, line) in [
        ("syntax.py", "a = 1\nb = = 2\n", "SyntaxError", "invalid syntax", 2),
        ("indent.py", "if True:\n    a = 1\n      b = 2\n", "IndentationError", "indent", 3),
        ("unclosed.py", "def f():\n    return (1\n", "SyntaxError", "never closed", 2),
        ("name.py", "a = 1\n\nnope + a", "NameError", "nope", 3),
        ("raise.py", "def f():\n    raise TypeError('bad input')\n\nf()", "TypeError", "bad input", 2),
        ("fence.md", "Sure:\n```python\na = 1\nraise ValueError('late')\n```", "ValueError", "late", 4),
        ("task.py", "async def f():\n    raise KeyError('in a task')\nawait f()", "KeyError", "in a task", 2),
        (
            "custom.py",
            "class QuotaError(Exception): pass\nraise QuotaError('too many')",
            "QuotaError",
            "too many",
            2,
        ),
        (
            "cause.py",
            "try:\n    int('x')\nexcept ValueError as e:\n    raise RuntimeError('outer') from e",
            "RuntimeError",
            "invalid literal",
            4,
        ),
        ("library.py", "import json\njson.loads('{')", "JSONDecodeError", "line 1", 2),
        (
            "lost.py",
            "import asyncio\nasync def f():\n    raise ValueError('nobody looked')\nasyncio.create_task(f())\nawait asyncio.sleep(0)",
            "ValueError",
            "nobody looked",
            3,
        ),
        (
            "group.py",
            "raise ExceptionGroup('many', [ValueError('first one')])",
            "ExceptionGroup",
            "first one",
            1,
        ),
        ("attribute.py", "{'a': 1}.b", "AttributeError", "'b'", 1),
        ("exit.py", "import sys\nsys.exit('not today')", "SystemExit", "not today", 2),
        ("bad-str.py", "class E(Exception):\n    def __str__(self): raise RuntimeError\nraise E", "E", "", 3),
    ] {
        let run = postern.run_file(name, source);
        assert!(run.script_error().contains(message), "{name}: {run:#?}");
        assert_eq!(run.error_text("name"), error, "{name}: {run:#?}");
        assert_eq!(run.document["error"]["line"], line, "{name}: {run:#?}");
        assert!(!run.error_text("stack").contains("_postern"), "{name}: {run:#?}");
    }
    let source = "def outer():\n    return inner()\ndef inner():\n    return {}['k']\n\nouter()";
    let run = postern.run_file("report.py", source);
    let name = postern.path("report.py").display().to_string();
    let expected = [
        "Traceback (most recent call last):",
        &format!("  File \"{name}\", line 6, in <module>"),
        "    outer()",
        "    ~~~~~^^",
        &format!("  File \"{name}\", line 2, in outer"),
        "    return inner()",
        &format!("  File \"{name}\", line 4, in inner"),
        "    return {}['k']",
        "           ~~^^^^^",
        "KeyError: 'k'",
    ];
    assert_eq!(run.error_text("stack").lines().collect::<Vec<_>>(), expected);
}

/// openclaw#83389: a machine can tell a script that cannot be read from one that threw.
#[test]
fn row_25_causes_have_codes() {
    let postern = Postern::new();
    let code = |source: &str| postern.run_js(source).error_text("code").to_owned();
    let (syntax, thrown, deadlock) =
        (code("const = 1"), code("throw new Error('x')"), code("await new Promise(() => {})"));
    assert!(syntax != thrown && thrown != deadlock && syntax != deadlock, "{syntax} {thrown} {deadlock}");
    let python = |source: &str| postern.run_py(source).error_text("code").to_owned();
    let of_python = [
        python("x = = 1"),
        python("raise ValueError('x')"),
        python("import asyncio\nawait asyncio.Event().wait()"),
    ];
    assert_eq!(of_python, [syntax, thrown, deadlock], "one word for one thing");
}
