//! Calls as a script sees them: failures it can catch, answers in one documented shape, calls at the
//! same time.

use postern_tests::words::{call, outcome};
use postern_tests::{Postern, Server, png, sha256};
use serde_json::json;

/// A run's helper: the code of the error that a call fails with.
const CODE_OF: &str = "const codeOf = async (f) => { try { return { value: await f() }; } catch (e) {\n\
    return e instanceof ToolError ? { code: e.code, tool: e.tool, retryable: e.retryable, message: e.message } : { name: e.name, message: e.message }; } };\n";

/// fastmcp#4702, hpe#202: a failing tool could not be caught.
#[test]
fn row_08_every_failure_can_be_caught_and_told_apart() {
    let mut postern = Postern::new();
    let log = postern.log("t");
    let granted = ["echo", "fail", "rpc_error", "strict"];
    postern.permissive_guard().server("t", Server::test().grant(&granted).log(&log));
    let run = postern.run_js(&format!(
        "{CODE_OF}return {{\n\
           failed: await codeOf(() => tools.t.fail({{ message: 'no such table: orders' }})),\n\
           broken: await codeOf(() => tools.t.rpc_error({{}})),\n\
           noTool: await codeOf(() => tools.t.nope({{}})),\n\
           noServer: await codeOf(() => callTool('nowhere/echo', {{}})),\n\
           near: await codeOf(() => callTool('t/Echo', {{}})),\n\
           missing: await codeOf(() => tools.t.strict({{}})),\n\
           wrong: await codeOf(() => tools.t.strict({{ city: 7 }})),\n\
           extra: await codeOf(() => tools.t.strict({{ city: 'Bergen', country: 'NO' }})),\n\
           notGranted: await codeOf(() => tools.t.counter({{}})),\n\
           fine: await codeOf(() => tools.t.echo({{ partial: 'result' }})),\n\
         }};"
    ));
    let value = run.ok();
    let code = |case: &str| {
        value[case]["code"].as_str().unwrap_or_else(|| panic!("{case} is no ToolError: {value:#}"))
    };
    for (case, expected) in [
        ("failed", call::UPSTREAM),
        ("broken", call::UPSTREAM),
        ("noTool", call::UNKNOWN_TOOL),
        ("noServer", call::UNKNOWN_TOOL),
        ("near", call::UNKNOWN_TOOL),
        ("missing", call::INVALID_ARGUMENTS),
        ("wrong", call::INVALID_ARGUMENTS),
        ("extra", call::INVALID_ARGUMENTS),
        ("notGranted", call::NOT_GRANTED),
    ] {
        assert_eq!(code(case), expected, "{case}: {value:#}");
    }
    let message = |case: &str| value[case]["message"].as_str().expect("a message");
    assert!(message("failed").contains("no such table: orders"), "{value:#}");
    assert!(message("missing").contains("city") && message("extra").contains("country"), "{value:#}");
    assert_eq!(value["failed"]["tool"], "t/fail");
    assert_eq!(value["fine"]["value"]["partial"], "result");
    // Only what passed the gate arrived.
    assert_eq!(log.started(), ["fail", "rpc_error", "echo"]);
    assert_eq!(run.calls().len(), 10, "every attempt is reported, refused ones too");
}

/// The same helper in Python.
const PY_CODE_OF: &str = "def code_of(f):\n    try:\n        return {'value': f()}\n    except ToolError as e:\n\
    \x20       return {'code': e.code, 'tool': e.tool, 'retryable': e.retryable, 'message': str(e)}\n";

/// The same in Python.
#[test]
fn row_08_every_failure_can_be_caught_in_python() {
    let mut postern = Postern::new();
    let granted = ["echo", "fail", "rpc_error", "strict"];
    postern.permissive_guard().server("t", Server::test().grant(&granted));
    let run = postern.run_py(&format!(
        "{PY_CODE_OF}{{\n\
           'failed': code_of(lambda: tools.t.fail(message='no such table: orders')),\n\
           'broken': code_of(lambda: tools.t.rpc_error()),\n\
           'noTool': code_of(lambda: tools.t.nope()),\n\
           'noServer': code_of(lambda: call_tool('nowhere/echo')),\n\
           'missing': code_of(lambda: tools.t.strict()),\n\
           'wrong': code_of(lambda: tools.t.strict(city=7)),\n\
           'extra': code_of(lambda: tools.t.strict(city='Bergen', country='NO')),\n\
           'notGranted': code_of(lambda: tools.t.counter()),\n\
           'fine': code_of(lambda: tools.t.echo(partial='result')),\n\
         }}"
    ));
    let value = run.ok();
    for (case, expected) in [
        ("failed", call::UPSTREAM),
        ("broken", call::UPSTREAM),
        ("noTool", call::UNKNOWN_TOOL),
        ("noServer", call::UNKNOWN_TOOL),
        ("missing", call::INVALID_ARGUMENTS),
        ("wrong", call::INVALID_ARGUMENTS),
        ("extra", call::INVALID_ARGUMENTS),
        ("notGranted", call::NOT_GRANTED),
    ] {
        assert_eq!(value[case]["code"], expected, "{case}: {value:#}");
    }
    assert!(value["failed"]["message"].as_str().is_some_and(|text| text.contains("no such table: orders")));
    assert_eq!((&value["failed"]["tool"], &value["failed"]["retryable"]), (&json!("t/fail"), &json!(false)));
    assert_eq!(value["fine"]["value"]["partial"], "result");
    assert_eq!(run.calls().len(), 9, "every attempt is reported, refused ones too");

    postern.blocking_guard();
    let run = postern.run_py(&format!("{PY_CODE_OF}[code_of(lambda: tools.t.echo(n=1)), 'finished']"));
    assert_eq!((&run.ok()[0]["code"], &run.ok()[1]), (&json!(call::BLOCKED), &json!("finished")));
}

/// fastmcp#4702: a refusal by the guard is caught like any other failure.
#[test]
fn row_08_a_blocked_call_can_be_caught() {
    let mut postern = Postern::new();
    let log = postern.log("t");
    postern.blocking_guard().server("t", Server::test().log(&log));
    let run = postern
        .run_js(&format!("{CODE_OF}return [await codeOf(() => tools.t.echo({{ n: 1 }})), 'finished'];"));
    assert_eq!(run.ok()[0]["code"], call::BLOCKED);
    assert_eq!(run.ok()[1], "finished");
    assert_eq!(run.attempts(), [("t/echo", "block", call::BLOCKED)]);
    assert!(!run.calls()[0]["reasons"].as_array().expect("reasons").is_empty());
    assert_eq!(log.started(), [""; 0]);
}

/// fastmcp#4702: a failure that is not caught ends the run and says which call it was.
#[test]
fn row_08_an_uncaught_failure_says_what_failed() {
    let mut postern = Postern::new();
    postern.permissive_guard().server("t", Server::test());
    let run = postern.run_js("const n = 1;\nawait tools.t.fail({ message: 'out of paper' });\nreturn n;");
    assert!(run.script_error().contains("out of paper"));
    assert_eq!((run.error_text("name"), run.error_text("code")), ("ToolError", call::UPSTREAM));
    assert_eq!(run.document["error"]["line"], 2);
}

/// The same in Python, plain, awaited, and in a group of tasks.
#[test]
fn row_08_an_uncaught_failure_of_python_says_what_failed() {
    let mut postern = Postern::new();
    postern.permissive_guard().server("t", Server::test());
    for (source, line) in [
        ("n = 1\ntools.t.fail(message='out of paper')\nn", 2),
        ("n = 1\n\nawait tools.t.fail(message='out of paper')", 3),
        (
            "import asyncio\nasync def main():\n    await tools.t.fail(message='out of paper')\nasyncio.run(main())",
            3,
        ),
    ] {
        let run = postern.run_py(source);
        assert!(run.script_error().contains("out of paper"), "{run:#?}");
        assert_eq!((run.error_text("name"), run.error_text("code")), ("ToolError", call::UPSTREAM));
        assert_eq!(run.document["error"]["line"], line, "{source}");
    }
    postern.blocking_guard();
    let run = postern.run_py(
        "import asyncio\nasync def main():\n    async with asyncio.TaskGroup() as group:\n        \
         group.create_task(tools.t.echo(n=1))\nawait main()",
    );
    assert_eq!((run.outcome(), run.error_text("code")), (outcome::REFUSED, call::BLOCKED), "{run:#?}");
}

/// fastmcp#4263, codex exec, pi-codemode-guard: a forgotten `await` gave `{}` in silence.
#[test]
fn row_10_a_forgotten_await_is_never_silent() {
    let mut postern = Postern::new();
    let log = postern.log("t");
    postern.permissive_guard().server("t", Server::test().log(&log));

    // A returned promise is awaited.
    let run = postern.run_js("const r = tools.t.echo({ n: 1 });\nreturn r;");
    assert_eq!(*run.ok(), json!({"n": 1}));

    // One that nobody asks about is carried out and reported.
    let run = postern.run_js("const a = 1;\ntools.t.echo({ n: 2 });\nreturn a;");
    assert_eq!(*run.ok(), 1);
    assert!(run.warnings().contains("t/echo") && run.warnings().contains("line 2"), "{}", run.warnings());
    let run = postern.run_js("for (const n of [1, 2, 3]) tools.t.echo({ n });\nreturn 'sent';");
    assert_eq!(
        run.warnings().lines().filter(|line| line.contains("t/echo")).count(),
        3,
        "{}",
        run.warnings()
    );
    assert_eq!(log.started().len(), 5, "a call that was made is made");

    // One that failed where nobody looked is reported with its failure.
    let run = postern.run_js("tools.t.fail({ message: 'lost words' });\nreturn 1;");
    let said = format!("{} {}", run.warnings(), run.error_text("message"));
    assert!(said.contains("lost words"), "{run:#?}");

    // A promise inside of a value or of arguments is an error, not `{}`.
    for source in [
        "return { r: tools.t.echo({}) };",
        "return [1, [tools.t.echo({})]];",
        "const all = [1, 2].map((n) => tools.t.echo({ n })); return all;",
        "return await tools.t.echo({ inner: tools.t.echo({}) });",
    ] {
        let run = postern.run_js(source);
        assert!(run.script_error().contains("promise"), "{source}: {run:#?}");
    }

    // The value that was not waited for shows as what it is, and the call is reported.
    let run = postern.run_js(
        "const r = tools.t.echo({ n: 1 }); console.log(JSON.stringify(r), r.n); return r.n === undefined;",
    );
    assert!(run.warnings().contains("t/echo"), "{run:#?}");
}

/// The same in Python: what is used without `await` waits by itself; what nobody uses is carried out and
/// reported.
#[test]
fn row_10_a_forgotten_await_in_python_is_never_silent() {
    let mut postern = Postern::new();
    let log = postern.log("t");
    postern.permissive_guard().server("t", Server::test().log(&log));
    for (source, value) in [
        ("r = tools.t.echo(n=1)\nr", json!({"n": 1})),
        ("r = tools.t.echo(n=1)\nr['n'] + r.n", json!(2)),
        (
            "r = tools.t.echo(n=[1, 2])\n[len(r), [k for k in r], 'n' in r, f'{r}', r == {'n': [1, 2]}]",
            json!([1, ["n"], true, "{'n': [1, 2]}", true]),
        ),
        (
            "{'r': tools.t.echo(n=1), 'all': [tools.t.echo(n=n) for n in (1, 2)]}",
            json!({"r": {"n": 1}, "all": [{"n": 1}, {"n": 2}]}),
        ),
        ("await tools.t.echo(inner=tools.t.echo(n=1))", json!({"inner": {"n": 1}})),
        ("async def main():\n    return tools.t.echo(n=3)\nawait main()", json!({"n": 3})),
    ] {
        for first in ["", "import asyncio\n"] {
            let run = postern.run_py(&format!("{first}{source}"));
            assert_eq!(*run.ok(), value, "{source}");
            assert_eq!(run.warnings(), "", "{source}");
        }
    }
    let before = log.started().len();
    let run = postern.run_py("import asyncio\na = 1\ntools.t.echo(n=2)\na");
    assert_eq!(*run.ok(), 1);
    assert!(run.warnings().contains("t/echo") && run.warnings().contains("line 3"), "{}", run.warnings());
    assert_eq!(log.started().len(), before + 1, "a call that was made is made");
    let run = postern.run_py("import asyncio\ntools.t.fail(message='lost words')\n1");
    assert!(run.warnings().contains("lost words"), "{run:#?}");
    let run = postern.run_py("async def main():\n    return 1\nmain()\nprint('end')");
    assert!(run.warnings().contains("main") && run.warnings().contains("never awaited"), "{run:#?}");
}

/// cloudflare#1203, kimi-code#2554, hermes PR#7048, dify#39418, action_mcp#181: every server answers in
/// another shape.
#[test]
fn row_11_each_shape_of_result_has_one_meaning() {
    let mut postern = Postern::new();
    postern.permissive_guard().server("t", Server::test());
    for (file, source) in [
        (
            "script.js",
            "const [jsonText, prose, both, only, two] = await Promise.all([tools.t.json_text({}), tools.t.prose({}),\n\
               tools.t.structured_and_text({}), tools.t.structured_only({}), tools.t.two_texts({})]);\n\
             let failed; try { await tools.t.fail({ message: 'no' }); } catch (e) { failed = e.message; }\n\
             return { jsonText, prose, both, only, two, failed };",
        ),
        (
            "script.py",
            "import asyncio\n\
             json_text, prose, both, only, two = await asyncio.gather(tools.t.json_text(), tools.t.prose(),\n\
             \x20   tools.t.structured_and_text(), tools.t.structured_only(), tools.t.two_texts())\n\
             assert isinstance(both, dict) and isinstance(two, list) and both.celsius == both['celsius']\n\
             try:\n    await tools.t.fail(message='no')\nexcept ToolError as error:\n    failed = str(error)\n\
             {'jsonText': json_text, 'prose': prose, 'both': both, 'only': only, 'two': two, 'failed': failed}",
        ),
    ] {
        let run = postern.run_file(file, source);
        let value = run.ok();
        assert_eq!(value["jsonText"], json!({"kind": "json text", "list": [1, 2, 3]}), "{file}");
        assert_eq!(value["prose"], "It is raining in Bergen.", "{file}");
        assert_eq!(value["both"], json!({"celsius": 21.5, "sunny": true}), "{file}");
        assert_eq!(value["only"], json!({"celsius": 21.5, "sunny": true}), "{file}");
        assert_eq!(value["two"], json!(["first", "second"]), "{file}");
        assert!(value["failed"].as_str().is_some_and(|message| message.contains("no")), "{file}: {value}");
    }
}

/// cloudflare-os#327, codex `image()`, openai-agents-python#2148: images came as base64 in a text.
#[test]
fn row_21_an_image_becomes_an_artifact() {
    let mut postern = Postern::new();
    let out = postern.path("out");
    postern.permissive_guard().server("t", Server::test()).flags(["--out", out.to_str().expect("UTF-8")]);
    for (file, source) in [
        (
            "script.js",
            "const image = await tools.t.image({}); return { image, text: JSON.stringify(image).length };",
        ),
        (
            "script.py",
            "import json\nimage = tools.t.image()\n{'image': image, 'text': len(json.dumps(image))}",
        ),
    ] {
        let run = postern.run_file(file, source);
        let value = run.ok();
        assert_eq!(
            (&value["image"]["mimeType"], &value["image"]["bytes"]),
            (&json!("image/png"), &json!(png().len())),
            "{file}"
        );
        assert!(value["text"].as_u64().expect("a length") < 1000, "the bytes are not in the value: {value}");
        let name = value["image"]["artifact"].as_str().expect("the artifact's name");
        let (bytes, digest) = run.artifact(name).unwrap_or_else(|| panic!("no artifact {name}: {run:#?}"));
        assert_eq!((bytes, digest), (png().len() as u64, sha256(&png()).as_str()), "{file}");
        let length = run.process.stdout.len();
        assert!(length < 100_000, "{file}: the document is {length} bytes long");
    }

    // An image over the cap is an outcome of its own or an error, never half an image.
    postern.flags(["--artifact-bytes", "1MiB"]);
    for (file, source) in [("script.js", "return await tools.t.image({});"), ("script.py", "tools.t.image()")]
    {
        let run = postern.run_file(file, source);
        assert!(run.document["artifacts"].as_array().is_none_or(Vec::is_empty), "{run:#?}");
        assert_ne!(run.outcome(), outcome::OK, "{run:#?}");
    }
}

/// mcpproxy-go#987, vercel/ai#18720: calls at the same time went one after the other.
#[test]
fn row_29_ten_one_second_calls_take_one_second() {
    for (file, source) in [
        (
            "script.js",
            "await tools.t.echo({ warm: 'up' });\n\
             const start = Date.now();\n\
             await Promise.all([...Array(10).keys()].map((i) => tools.t.sleep({ ms: 1000, i })));\n\
             return Date.now() - start;",
        ),
        (
            "script.py",
            "import asyncio, time\nawait tools.t.echo(warm='up')\nstart = time.monotonic()\n\
             await asyncio.gather(*(tools.t.sleep(ms=1000, i=i) for i in range(10)))\n\
             round((time.monotonic() - start) * 1000)",
        ),
    ] {
        // A log of its own, or the first run's would speak for the second.
        let mut postern = Postern::new();
        let log = postern.log("t");
        postern.permissive_guard().server("t", Server::test().log(&log));
        let run = postern.run_file(file, source);
        let took = run.ok().as_u64().expect("milliseconds");
        assert!((1000..2000).contains(&took), "{file}: {took} ms");
        assert_eq!(log.most_at_once(), 10, "{file}");
    }
}

/// mcpproxy-go#987: and there is a cap on calls at the same time.
#[test]
fn row_29_calls_at_once_are_capped() {
    for (file, source) in [
        (
            "script.js",
            "const settled = await Promise.allSettled([...Array(12).keys()].map((i) => tools.t.sleep({ ms: 100, i })));\n\
             return settled.map((s) => s.status === 'fulfilled' ? 'ok' : s.reason.code);",
        ),
        (
            "script.py",
            "import asyncio\n\
             settled = await asyncio.gather(*(tools.t.sleep(ms=100, i=i) for i in range(12)), return_exceptions=True)\n\
             [one.code if isinstance(one, ToolError) else 'ok' for one in settled]",
        ),
    ] {
        let mut postern = Postern::new();
        let log = postern.log("t");
        let server = Server::test().log(&log);
        postern.permissive_guard().server("t", server).flags(["--max-concurrent-calls", "3"]);
        let run = postern.run_file(file, source);
        let codes: Vec<&str> =
            run.ok().as_array().expect("a list").iter().map(|code| code.as_str().expect("text")).collect();
        assert_eq!(codes.len(), 12, "{file}");
        // Over the cap a call either waits its turn or fails by name.
        assert!(codes.iter().all(|code| ["ok", call::CALL_LIMIT].contains(code)), "{file}: {codes:?}");
        assert!(codes.contains(&"ok"), "{file}");
        assert!(log.most_at_once() <= 3, "{file}: {} at once", log.most_at_once());
    }
}

/// codex#33402: several large results together were cut by rules that nobody could tell. Here there is one:
/// each is whole within its limit, and over it an error that says so.
#[test]
fn row_31_large_results_together_are_whole() {
    let mut postern = Postern::new();
    postern.permissive_guard().server("t", Server::test());
    let scripts = [
        (
            "script.js",
            "return await Promise.all([...Array(4).keys()].map(() => tools.t.big({ bytes: 200_000 }).catch((e) => [e.code, e.message])));",
        ),
        (
            "script.py",
            "import asyncio\n\
             got = await asyncio.gather(*(tools.t.big(bytes=200_000) for _ in range(4)), return_exceptions=True)\n\
             [[e.code, str(e)] if isinstance(e, ToolError) else e for e in got]",
        ),
    ];
    for (file, source) in scripts {
        let run = postern.run_file(file, source);
        let lengths: Vec<usize> =
            run.ok().as_array().expect("four").iter().map(|text| text.as_str().map_or(0, str::len)).collect();
        assert_eq!(lengths, [200_000; 4], "{file}");
    }
    postern.flags(["--max-result-bytes", "150000"]);
    for (file, source) in scripts {
        let run = postern.run_file(file, source);
        for failed in run.ok().as_array().expect("four") {
            assert_eq!(failed[0], call::UPSTREAM, "{file}: {failed}");
            assert!(failed[1].as_str().is_some_and(|text| text.contains("150000")), "{file}: {failed}");
        }
    }
}
