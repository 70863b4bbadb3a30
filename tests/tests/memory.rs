//! Memory: what a script holds, what it prints and how long it lives never show in the host.

use postern_tests::words::{call, exit, limit, outcome};
use postern_tests::{Postern, Run, Server};

const MIB: u64 = 1 << 20;

#[track_caller]
fn host_stayed_below(run: &Run, most: u64) {
    if let Some(peak) = run.process.peak_memory {
        assert!(peak < most, "the host held {} MiB: {:?}", peak / MIB, run.document["usage"]);
    }
}

/// Runs bombs of one language with `memory` MiB, each in a host of less than `host` MiB. One may also end as
/// an error that `refused` knows.
fn bombs_hit_the_limit(file: &str, memory: u64, host: u64, refused: fn(&Run) -> bool, sources: &[&str]) {
    let mut postern = Postern::new();
    postern.flags(["--memory", format!("{memory}MiB").as_str()]);
    for source in sources {
        let run = postern.run_file(file, source);
        match run.outcome() {
            outcome::LIMIT => run.limit(limit::MEMORY),
            outcome::SCRIPT_ERROR => {
                assert_eq!(run.process.exit, exit::SCRIPT_ERROR, "{source}: {run:#?}");
                assert!(refused(&run), "{source}: {run:#?}");
            }
            other => panic!("{source} ended as {other}: {run:#?}"),
        }
        assert!(run.usage("memory_bytes") <= memory * MIB, "{source}: {run:#?}");
        host_stayed_below(&run, host * MIB);
    }
}

/// monty PR#419: memory bombs took the host's memory.
#[test]
fn row_05_memory_bombs_hit_the_scripts_own_limit() {
    // The engine may notice first; then it is an error like any other.
    let noticed = |run: &Run| {
        let said = format!("{} {}", run.error_text("name"), run.script_error()).to_lowercase();
        ["rangeerror", "out of memory", "internalerror"].iter().any(|word| said.contains(word))
    };
    let sources = [
        "let s = 'x'; for (;;) s += s + Math.random();",
        "'x'.repeat(2 ** 30).length",
        "const all = []; for (;;) all.push(new ArrayBuffer(1 << 20));",
        "const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1));",
        "new Uint8Array(2 ** 31).fill(1).length",
        "const all = []; for (;;) all.push({ n: all.length });",
        "const map = new Map(); for (let i = 0; ; i++) map.set(i, String(i));",
        "JSON.parse('[' + '[0],'.repeat(2 ** 23) + '0]').length",
        "let f = () => 1; for (;;) { const g = f; const pad = Array(100).fill(0); f = () => g === f || pad; }",
        "new Array(2 ** 32 - 1).fill(0).length",
        "const all = []; for (;;) all.push(new Promise(() => {}));",
    ];
    bombs_hit_the_limit("script.js", 64, 300, noticed, &sources);
}

/// The same in Python.
#[test]
fn row_05_memory_bombs_in_python_hit_the_scripts_own_limit() {
    // What could never be is refused before any memory is asked for.
    let refused = |run: &Run| ["OverflowError", "MemoryError"].contains(&run.error_text("name"));
    let sources = [
        "list(range(10**18))",
        "list(range(10**8))",
        "b'x' * (1 << 40)",
        "b'x' * (1 << 30)",
        "s = 'x'\nwhile True: s += s",
        "all = []\nwhile True: all.append(bytearray(1 << 20))",
        "d = {}\nwhile True: d[len(d)] = str(len(d))",
        "import json\njson.loads('[' + '[0],' * (1 << 23) + '0]')",
        "x = []\nwhile True:\n    try:\n        x = [x, x * 2, list(range(100_000))]\n    except MemoryError:\n        raise",
        "import io\nb = io.BytesIO()\nwhile True: b.write(bytes(1 << 20))",
    ];
    bombs_hit_the_limit("script.py", 128, 400, refused, &sources);
    // Less than the runtime itself needs is a limit too.
    let mut small = Postern::new();
    small.flags(["--memory", "16MiB"]);
    small.run_py("1").limit(limit::MEMORY);

    // It can be caught, and the script goes on.
    let mut postern = Postern::new();
    postern.flags(["--memory", "128MiB"]);
    let run = postern.run_py("try:\n    b'x' * (1 << 29)\nexcept MemoryError:\n    r = 'caught'\nr");
    assert_eq!(*run.ok(), "caught");
}

/// monty PR#419: what fits is not refused.
#[test]
fn row_05_memory_below_the_limit_can_be_used() {
    let mut postern = Postern::new();
    postern.flags(["--memory", "64MiB"]);
    assert_eq!(
        *postern.run_js("return new Uint8Array(24 << 20).fill(1).reduce((sum, n) => sum + n, 0);").ok(),
        24 << 20
    );
}

/// monty#464: a flood of output was held in the host's memory.
#[test]
fn row_06_output_is_capped_and_its_true_size_is_told() {
    let postern = Postern::new();
    let js = "const line = 'x'.repeat(1023); for (let i = 0; i < 100_000; i++)";
    let py = "line = 'x' * 1023\nimport sys\nfor _ in range(100_000):";
    let many = 100_000 * 1024;
    for (file, source, stream, bytes) in [
        ("script.js", format!("{js} console.log(line);"), "stdout", many),
        ("script.js", format!("{js} console.error(line);"), "stderr", many),
        ("script.js", "console.log('y'.repeat(64 << 20));".to_owned(), "stdout", (64 << 20) + 1),
        ("script.js", "console.error('é'.repeat(4 << 20));".to_owned(), "stderr", (8 << 20) + 1),
        ("script.py", format!("{py} print(line)"), "stdout", many),
        ("script.py", format!("{py} print(line, file=sys.stderr)"), "stderr", many),
        ("script.py", "print('y' * (32 << 20))".to_owned(), "stdout", (32 << 20) + 1),
        (
            "script.py",
            "import sys\nprint('é' * (4 << 20), file=sys.stderr)".to_owned(),
            "stderr",
            (8 << 20) + 1,
        ),
    ] {
        let run = postern.run_file(file, &source);
        run.ok();
        let kept = run.document[stream].as_str().expect("text").len() as u64;
        assert!((MIB - 1024..=MIB + 1024).contains(&kept), "kept {kept} bytes of {source}");
        assert_eq!(run.document[format!("{stream}_truncated")], true, "{source}");
        assert_eq!(run.document[format!("{stream}_bytes")], bytes, "{source}");
        host_stayed_below(&run, 500 * MIB);
    }
}

/// monty#464: a cap that is not reached changes nothing; the cap is a flag.
#[test]
fn row_06_short_output_is_whole() {
    let mut postern = Postern::new();
    for (file, source, stdout) in [
        ("script.js", "console.log('a', 1); console.error('b');", "a 1\n"),
        (
            "script.py",
            "import sys\nprint('a', 1)\nprint('b', file=sys.stderr)\nprint('no line', end='')",
            "a 1\nno line",
        ),
    ] {
        let run = postern.run_file(file, source);
        run.ok();
        assert_eq!((run.stdout(), run.stderr()), (stdout, "b\n"), "{file}");
        assert_eq!(
            (&run.document["stdout_truncated"], &run.document["stdout_bytes"]),
            (&false.into(), &stdout.len().into()),
            "{file}"
        );
    }

    postern.flags(["--stdout-bytes", "10"]);
    let run = postern.run_js("console.log('0123456789abc'); return 1;");
    run.ok();
    assert!(run.stdout().starts_with("0123456789") && !run.stdout().contains("abc"), "{}", run.stdout());
    assert_eq!(
        (&run.document["stdout_truncated"], &run.document["stdout_bytes"]),
        (&true.into(), &14.into())
    );
}

/// ComponentizeJS#80, jco#668: a long-lived instance trapped or grew after many calls.
#[test]
fn row_36_thousands_of_calls_in_one_run() {
    let mut postern = Postern::new();
    postern.permissive_guard().server("t", Server::test());
    postern.flags(["--max-calls", "10000", "--max-concurrent-calls", "2000"]);
    // A tool that does not exist is refused before the guard is asked: this is about the door.
    for (file, source, memory, host) in [
        (
            "script.js",
            "let refused = 0;\n\
             const attempt = async (name) => { try { await callTool(`t/${name}`, { pad: 'x'.repeat(1000) }); } catch (e) { if (e.code === 'unknown-tool') refused++; } };\n\
             for (let i = 0; i < 4000; i++) await attempt(`one_${i}`);\n\
             await Promise.all([...Array(1000).keys()].map((i) => attempt(`many_${i}`)));\n\
             const last = await tools.t.echo({ still: 'here' });\n\
             return { refused, last };",
            64,
            300,
        ),
        (
            "script.py",
            "import asyncio\n\
             refused = 0\n\
             async def attempt(name):\n    global refused\n    try:\n        await call_tool(f't/{name}', pad='x' * 1000)\n\
             \x20   except ToolError as error:\n        refused += error.code == 'unknown-tool'\n\
             for i in range(4000): await attempt(f'one_{i}')\n\
             await asyncio.gather(*(attempt(f'many_{i}') for i in range(1000)))\n\
             {'refused': refused, 'last': await tools.t.echo(still='here')}",
            128,
            400,
        ),
    ] {
        let run = postern.run_file(file, source);
        assert_eq!(*run.ok(), serde_json::json!({"refused": 5000, "last": {"still": "here"}}), "{file}");
        assert_eq!(run.usage("calls"), 5001, "{file}");
        assert!(run.usage("memory_bytes") < memory * MIB, "{file}: {:?}", run.document["usage"]);
        host_stayed_below(&run, host * MIB);
    }
}

/// StarlingMonkey#321: many calls that are really dispatched, in turn and at once.
#[test]
fn row_36_many_real_calls() {
    let mut postern = Postern::new();
    let log = postern.log("t");
    postern.permissive_guard().server("t", Server::test().log(&log));
    postern.flags(["--max-calls", "300"]);
    for (nth, file, source) in [
        (
            1,
            "script.js",
            "let sum = 0;\n\
             for (let i = 0; i < 40; i++) sum += (await tools.t.echo({ i })).i;\n\
             for (let round = 0; round < 10; round++)\n\
               for (const { i } of await Promise.all([...Array(16).keys()].map((i) => tools.t.echo({ i })))) sum += i;\n\
             return sum;",
        ),
        (
            2,
            "script.py",
            "import asyncio\n\
             total = 0\n\
             for i in range(40): total += (await tools.t.echo(i=i)).i\n\
             for _ in range(10):\n    for r in await asyncio.gather(*(tools.t.echo(i=i) for i in range(16))): total += r.i\n\
             total",
        ),
    ] {
        let run = postern.run_file(file, source);
        assert_eq!(*run.ok(), 40 * 39 / 2 + 10 * (16 * 15 / 2), "{file}");
        assert_eq!(log.started().len(), nth * 200, "{file}");
        let fine =
            |attempt: &serde_json::Value| attempt["verdict"] == "allow" && attempt["scores"].is_object();
        assert!(run.calls().iter().all(fine), "{file}");
    }
}

/// monty#112, hyperlight: nesting overflowed the parser's stack.
#[test]
fn row_26_deeply_nested_source_is_an_error() {
    let postern = Postern::new();
    let deep = 100_000;
    let nested = |open: &str, middle: &str, close: &str| open.repeat(deep) + middle + &close.repeat(deep);
    for (name, source) in [
        ("parentheses.js", nested("(", "1", ")")),
        ("parentheses.ts", nested("(", "1", ")")),
        ("lists.ts", nested("[", "", "]")),
        ("objects.ts", format!("return {}", nested("{a:", "1", "}"))),
        ("not.ts", nested("!", "1", "")),
        ("functions.ts", nested("(()=>", "1", ")")),
        ("templates.ts", nested("`${", "1", "}`")),
        ("types.ts", format!("let x: {} = 1", nested("Array<", "number", ">"))),
        ("blocks.js", nested("{", "", "}")),
        ("ifs.ts", nested("if (1) ", "1", "")),
        ("sums.ts", format!("return 1{}", "+1".repeat(deep))),
        ("members.ts", format!("const a = {{}}; return a{}", "?.a".repeat(deep))),
        ("parentheses.py", nested("(", "1", ")")),
        ("lists.py", nested("[", "", "]")),
        ("dicts.py", nested("{1:", "1", "}")),
        ("minus.py", nested("-", "1", "")),
        ("not.py", nested("not ", "1", "")),
        ("sums.py", format!("1{}", "+1".repeat(deep))),
        ("members.py", format!("a = 1\na{}", ".real".repeat(deep))),
        ("calls.py", format!("a{}", "()".repeat(deep))),
        ("lambdas.py", nested("lambda:", "1", "")),
        ("ifs.py", format!("1{}", " if 1 else 1".repeat(deep / 2))),
        ("eval.py", "eval('(' * 100000 + '1' + ')' * 100000)".to_owned()),
    ] {
        let run = postern.run_file(name, &source);
        let (ended, message) = ((run.outcome(), run.process.exit), run.error_text("message"));
        // Some engines can do some of these; what none may do is die.
        let fair = [(outcome::OK, exit::OK), (outcome::SCRIPT_ERROR, exit::SCRIPT_ERROR)];
        if name.ends_with(".py") {
            assert!(fair.contains(&ended), "{name}: {ended:?} {message}");
            assert!(!message.contains("runtime failed"), "{name}: {message}");
        } else {
            // JavaScript may also be refused before it starts; what is no success says something.
            let refused = (outcome::REFUSED, exit::REFUSED);
            assert!(fair.contains(&ended) || ended == refused, "{name}: {run:#?}");
            assert!(run.outcome() == outcome::OK || !message.is_empty(), "{name}: {run:#?}");
        }
    }
}

/// hyperlight JSON depth 64: arguments nested deeper than any parser should follow.
#[test]
fn row_26_deep_arguments_results_and_values() {
    let mut postern = Postern::new();
    let log = postern.log("t");
    let folder = postern.folder().to_owned();
    let deep = format!(
        r#"{{"content":[],"structuredContent":{{"v":{}{}}}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let plan = serde_json::json!({
        "pages": [[{"name": "deep", "inputSchema": {"type": "object"}}, {"name": "echo", "inputSchema": {"type": "object"}}]],
        "results": {"deep": deep},
    });
    postern
        .permissive_guard()
        .server("t", Server::test().log(&log))
        .server("odd", Server::odd(&folder, &plan));
    for (nth, file, source) in [
        (
            1,
            "script.js",
            "const nest = (levels) => { let v = []; for (let i = 1; i < levels; i++) v = [v]; return v; };\n\
             const attempt = async (f) => { try { return await f(); } catch (e) { return e.code ?? e.name; } };\n\
             const isText = (v) => typeof v === 'string';\n\
             return {\n\
               shallow: await attempt(async () => JSON.stringify(await tools.t.echo({ v: nest(60) })).length),\n\
               over: await attempt(() => tools.t.echo({ v: nest(80) })),\n\
               wild: isText(await attempt(() => tools.t.echo({ v: nest(100_000) }))),\n\
               text: isText(await attempt(() => tools.t.deep({ levels: 100_000 }))),\n\
               structured: isText(await attempt(() => tools.odd.deep({}))),\n\
               after: (await attempt(() => tools.t.echo({ alive: true }))).alive,\n\
               odd: await attempt(async () => (await tools.odd.echo({ alive: true })).alive),\n\
             };",
        ),
        (
            2,
            "script.py",
            "import json\n\
             def nest(levels):\n    v = []\n    for _ in range(levels - 1): v = [v]\n    return v\n\
             async def attempt(f):\n    try:\n        return await f()\n    except Exception as error:\n\
             \x20       return getattr(error, 'code', type(error).__name__)\n\
             {\n\
             \x20 'shallow': len(json.dumps(await tools.t.echo(v=nest(60)), separators=(',', ':'))),\n\
             \x20 'over': await attempt(lambda: tools.t.echo(v=nest(80))),\n\
             \x20 'wild': isinstance(await attempt(lambda: tools.t.echo(v=nest(100_000))), str),\n\
             \x20 'text': isinstance(await attempt(lambda: tools.t.deep(levels=100_000)), str),\n\
             \x20 'structured': isinstance(await attempt(lambda: tools.odd.deep()), str),\n\
             \x20 'after': (await attempt(lambda: tools.t.echo(alive=True)))['alive'],\n\
             \x20 'odd': (await attempt(lambda: tools.odd.echo(alive=True)))['alive'],\n\
             }",
        ),
    ] {
        let run = postern.run_file(file, source);
        let value = run.ok();
        assert_eq!(value["shallow"], 60 * 2 + r#"{"v":}"#.len(), "{file}: {value}");
        assert_eq!(value["over"], call::INVALID_ARGUMENTS, "{file}: {value}");
        assert_eq!(value["wild"], true, "{file}, an error's code or name: {value}");
        assert_eq!(value["text"], true, "{file}, the text itself, or an error's code: {value}");
        assert_eq!(value["structured"], true, "{file}, an error's code: {value}");
        assert_eq!((&value["after"], &value["odd"]), (&true.into(), &true.into()), "{file}: {value}");
        let echoes = log.started().iter().filter(|tool| *tool == "echo").count();
        assert_eq!(echoes, nth * 2, "{file}: what is too deep must not be dispatched");
    }
}

/// hyperlight JSON depth 64: a script's own value and its own recursion.
#[test]
fn row_26_deep_values_and_recursion_stay_in_the_script() {
    let postern = Postern::new();
    let run = postern.run_js("let v = []; for (let i = 0; i < 100_000; i++) v = [v]; return v;");
    assert!(!run.script_error().is_empty());
    for source in [
        "const f = () => f() + 1; try { f(); } catch (e) { return e.name; }",
        "const o = {}; Object.defineProperty(o, 'x', { get() { return this.x; } }); try { o.x; } catch (e) { return e.name; }",
        "try { JSON.parse('['.repeat(1e6)); } catch (e) { return e.name === 'SyntaxError' ? 'RangeError' : e.name; }",
    ] {
        let run = postern.run_js(source);
        assert!(
            ["RangeError", "InternalError"].contains(&run.ok().as_str().expect("a name")),
            "{source}: {run:#?}"
        );
    }
}

/// The same in Python: RecursionError can be caught.
#[test]
fn row_26_recursion_in_python_stays_in_the_script() {
    let postern = Postern::new();
    let nest = "x = []\nfor i in range(100_000): x = [x]\n";
    let run = postern.run_py(&format!("{nest}x"));
    assert!(run.outcome() != outcome::OK || run.warnings().contains("nested"), "{run:#?}");
    for body in [
        "def f(): return f() + 1\nf()",
        "class A:\n    def __getattr__(self, name): return getattr(self, name)\nA().x",
        "class A:\n    def __repr__(self): return repr(self)\nrepr(A())",
        "repr(x)",
        "json.dumps(x)",
        "json.loads('[' * 100_000)",
        "copy.deepcopy(x)",
        "pickle.dumps(x)",
        "re.compile('(' * 5000 + 'a' + ')' * 5000)",
        "ast.literal_eval('-' * 50_000 + '1')",
    ] {
        let indented = body.replace('\n', "\n    ");
        let run = postern.run_py(&format!(
            "import ast, copy, json, pickle, re\n{nest}r = 'fine'\ntry:\n    {indented}\n\
             except (RecursionError, MemoryError, ValueError, SyntaxError) as error:\n    r = type(error).__name__\nr"
        ));
        assert_eq!(run.outcome(), outcome::OK, "{body}: {} {}", run.outcome(), run.error_text("message"));
    }
}
