//! Time: nothing a script does outlives its limits, and waiting is not computing.

use std::time::Duration;

use postern_tests::words::{call, exit, limit, outcome};
use postern_tests::{Postern, Run, Server, timely};

const SECOND: Duration = Duration::from_secs(1);
/// How late a limit may come.
const LATE: Duration = Duration::from_millis(100);

/// Runs a script that the wall limit of a second has to end, in time.
#[track_caller]
fn cut_after_a_second(file: &str, source: &str) -> Run {
    let mut postern = Postern::new();
    postern.flags(["--wall-time", "1s"]);
    let run = timely(SECOND + LATE, || postern.run_file(file, source));
    run.limit(limit::WALL_TIME);
    run
}

/// Runs loops without an end, each cut in time and not too early.
fn loops_end_at_the_limit(file: &str, sources: &[&str]) {
    for source in sources {
        let run = cut_after_a_second(file, source);
        assert!(run.usage("wall_ms") >= 1000, "too early: {source}");
    }
}

/// UTCP code-mode#13: a synchronous loop ignored the time limit.
#[test]
fn row_01_loops_end_at_the_limit() {
    let sources = [
        "while (true) {}",
        "for (;;) { try { null.x } catch { continue } finally { } }",
        "const spin = () => Promise.resolve().then(spin); await spin();",
        "const spin = () => queueMicrotask(spin); spin(); await new Promise(() => {});",
        "/^(a+)+$/.test('a'.repeat(60) + 'b')",
        "const sieve = function* () { for (;;) yield 1 }; for (const _ of sieve()) ;",
        "[...Array(1000).keys()].sort(() => { for (;;) ; })",
        "JSON.stringify({ toJSON() { for (;;) ; } })",
        "class A { get x() { return this.x2 } get x2() { for (;;) ; } } new A().x",
        "try { for (;;) ; } finally { for (;;) ; }",
    ];
    loops_end_at_the_limit("script.js", &sources);
}

/// The same in Python.
#[test]
fn row_01_python_loops_end_at_the_limit() {
    let sources = [
        "while True: pass",
        "while True:\n    try:\n        None.x\n    except Exception:\n        continue",
        "import asyncio\nasync def spin():\n    while True:\n        await asyncio.sleep(0)\nawait spin()",
        "import re\nre.match(r'^(a+)+$', 'a' * 60 + 'b')",
        "import itertools\nfor _ in itertools.count(): pass",
        "sum(itertools.count()) if (itertools := __import__('itertools')) else 0",
        "sorted(range(1000), key=lambda x: [0 for _ in iter(int, 1)])",
        "class A:\n    def __getattr__(self, name):\n        while True: pass\nA().x",
        "try:\n    while True: pass\nfinally:\n    while True: pass",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    ];
    loops_end_at_the_limit("script.py", &sources);
}

/// UTCP code-mode#13: as above, by computing time.
#[test]
fn row_01_loops_end_at_the_cpu_limit_too() {
    let mut postern = Postern::new();
    postern.flags(["--cpu-time", "1s"]);
    for (file, source) in [("script.js", "while (true) {}"), ("script.py", "while True: pass")] {
        let run = postern.run_file(file, source);
        run.limit(limit::CPU_TIME);
        // Computing time is the script's own, however busy the machine is.
        assert!(Duration::from_millis(run.usage("cpu_ms")) <= SECOND + LATE, "{run:#?}");
    }
}

/// UTCP code-mode#13: one run's loop must not hold up another's.
#[test]
fn row_01_other_runs_do_not_notice() {
    let mut looping = Postern::new();
    looping.flags(["--wall-time", "2s"]);
    let bystander = Postern::new();
    std::thread::scope(|scope| {
        let cut = scope.spawn(|| looping.run_js("for (;;) ;"));
        let run = bystander.run_js("return 1 + 1;");
        assert_eq!(*run.ok(), 2);
        assert!(run.process.elapsed < SECOND, "{:?}", run.process.elapsed);
        cut.join().expect("no panic").limit(limit::WALL_TIME);
    });
}

/// Runs operations that the limit ends, or that fail before; `also` is which other outcomes will do.
fn operations_end(file: &str, also: &[&str], sources: &[&str]) {
    for source in sources {
        let mut postern = Postern::new();
        postern.flags(["--wall-time", "1s"]);
        let run = postern.run_file(file, source);
        match run.outcome() {
            outcome::LIMIT => assert_eq!(run.process.exit, exit::LIMIT, "{source}: {run:#?}"),
            outcome::SCRIPT_ERROR => assert_eq!(run.process.exit, exit::SCRIPT_ERROR, "{source}: {run:#?}"),
            other => assert!(also.contains(&other), "{source} ended as {other}: {run:#?}"),
        }
        assert!(run.process.elapsed < 3 * SECOND, "{source}: {:?}", run.process.elapsed);
    }
}

/// smolagents#2473: one operation on a huge integer could not be interrupted.
#[test]
fn row_02_one_endless_operation_ends_too() {
    let sources = [
        "2n ** 100000000n",
        "10n ** (10n ** 8n)",
        "(1n << 1000000000n).toString().length",
        "let x = 3n; for (;;) x = x * x;",
        "BigInt('9'.repeat(20_000_000)) % 7n",
        "'ab'.repeat(2 ** 24).replace(/(a|b|ab)*c/g, '')",
        "Array(2 ** 25).fill(1).sort(() => -1).reverse().join('').split('')",
    ];
    operations_end("script.js", &[], &sources);
}

/// The same in Python, which can do some of them within the second.
#[test]
fn row_02_one_endless_operation_of_python_ends_too() {
    let sources = [
        "10 ** (10 ** 8)",
        "str(1 << 3_000_000_000)",
        "x = 3\nwhile True: x = x * x",
        "int('9' * 4000) ** 100_000 % 7",
        "'ab' * (1 << 24) in 'ba' * (1 << 25)",
        "max(range(1 << 40))",
        "import hashlib\nhashlib.sha256(b'x' * (64 << 20)).hexdigest() * (1 << 20)",
    ];
    operations_end("script.py", &[outcome::OK], &sources);
}

/// smolagents#2197: a sleep outlived the limit.
#[test]
fn row_03_sleeping_ends_at_the_limit() {
    for source in [
        "await new Promise((resolve) => setTimeout(resolve, 30_000));",
        "await new Promise(() => setInterval(() => {}, 10_000));",
        "setTimeout(() => {}, 30_000); await new Promise((resolve) => setTimeout(resolve, 2 ** 31 - 1));",
    ] {
        cut_after_a_second("script.js", source);
    }
}

/// The same in Python.
#[test]
fn row_03_sleeping_in_python_ends_at_the_limit() {
    for source in [
        "import time\ntime.sleep(30)",
        "import asyncio\nawait asyncio.sleep(30)",
        "import asyncio\nasyncio.run(asyncio.sleep(1e6))",
        "import asyncio\nwhile True:\n    try:\n        await asyncio.sleep(30)\n    except BaseException:\n        pass",
    ] {
        cut_after_a_second("script.py", source);
    }
}

/// Runs scripts that wait for a tool, each with the tool that it still waits for at the limit.
fn hanging_tools_are_cancelled(file: &str, scripts: &[(&str, &str)]) {
    for (source, tool) in scripts {
        let mut postern = Postern::new();
        let log = postern.log("t");
        postern.permissive_guard().server("t", Server::test().log(&log)).flags(["--wall-time", "3s"]);
        let run = timely(3 * SECOND + LATE, || postern.run_file(file, source));
        run.limit(limit::WALL_TIME);
        let pending =
            run.calls().iter().find(|attempt| attempt["tool"] == format!("t/{tool}")).expect("recorded");
        assert_eq!(pending["code"], call::CANCELLED, "{run:#?}");
        assert!(log.eventually("cancel", tool), "{source}: the server was not told: {:?}", log.events());
    }
}

/// smolagents#2464, eryx PR#73, wasmtime#9188: a tool that hangs outlived the limit.
#[test]
fn row_03_a_hanging_tool_ends_at_the_limit_and_is_cancelled() {
    let scripts = [
        ("await tools.t.never({});", "never"),
        ("await Promise.all([tools.t.sleep({ ms: 30_000 }), tools.t.echo({})]);", "sleep"),
        ("try { await tools.t.never({}); } catch { await tools.t.never({}); }", "never"),
    ];
    hanging_tools_are_cancelled("script.js", &scripts);
}

/// The same in Python, plain and awaited.
#[test]
fn row_03_a_hanging_tool_ends_a_python_run_at_the_limit_and_is_cancelled() {
    let scripts = [
        ("tools.t.never()", "never"),
        ("await tools.t.never()", "never"),
        ("import asyncio\nawait asyncio.gather(tools.t.sleep(ms=30_000), tools.t.echo())", "sleep"),
    ];
    hanging_tools_are_cancelled("script.py", &scripts);
}

/// openclaw PR#80600: awaiting a promise that nobody settles waited until the wall limit.
#[test]
fn row_04_a_promise_that_cannot_settle_is_an_error_at_once() {
    let postern = Postern::new();
    for source in [
        "await new Promise(() => {});",
        "await Promise.race([]);",
        "await { then() {} };",
        "let go; const gate = new Promise((resolve) => { go = resolve; }); await gate;",
        "await Promise.all([1, new Promise(() => {})]);",
        "async function main() { await new Promise(() => {}); }\nawait main();",
        "for await (const x of (async function* () { await new Promise(() => {}); yield 1; })()) console.log(x);",
        "export default async () => { await new Promise(() => {}); };",
    ] {
        let run = postern.run_js(source);
        assert!(run.script_error().contains("never settle"), "{source}: {run:#?}");
        assert!(run.process.elapsed < 2 * SECOND, "{source} waited {:?}", run.process.elapsed);
    }
}

/// The same in Python: a future that nobody completes.
#[test]
fn row_04_a_future_that_nobody_completes_is_an_error_at_once() {
    let postern = Postern::new();
    for (source, line) in [
        ("import asyncio\nawait asyncio.get_running_loop().create_future()", Some(2)),
        ("import asyncio\nawait asyncio.Event().wait()", Some(2)),
        ("import asyncio\nasync def main():\n    await asyncio.Queue().get()\nasyncio.run(main())", Some(3)),
        ("import asyncio\nlock = asyncio.Lock()\nawait lock.acquire()\nawait lock.acquire()", Some(4)),
        (
            "import asyncio\nasync def f():\n    await asyncio.Future()\nawait asyncio.gather(f(), asyncio.sleep(0.01))",
            None,
        ),
    ] {
        let run = postern.run_py(source);
        assert!(run.script_error().contains("never happen"), "{source}: {run:#?}");
        assert_eq!(run.error_text("code"), "deadlock", "{source}: {run:#?}");
        if let Some(line) = line {
            assert_eq!(run.document["error"]["line"], line, "{source}: {run:#?}");
        }
        assert!(run.process.elapsed < 2 * SECOND, "{source} waited {:?}", run.process.elapsed);
    }
}

/// openclaw#119011: there were no timers.
#[test]
fn row_22_timers_work_and_waiting_is_not_computing() {
    let postern = Postern::new();
    let run = postern.run_js(
        "const start = Date.now(); await new Promise((resolve) => setTimeout(resolve, 300)); return Date.now() - start;",
    );
    let waited = run.ok().as_u64().expect("milliseconds");
    assert!((299..1500).contains(&waited), "{waited}");
    assert!(run.usage("wall_ms") >= 299, "a wait counts as time: {run:#?}");
    assert!(run.usage("cpu_ms") < 200, "a wait is no computing: {run:#?}");

    for (source, value) in [
        (
            "const seen = []; for (const ms of [30, 10, 20]) setTimeout((x) => seen.push(x), ms, ms);\
          await new Promise((r) => setTimeout(r, 60)); return seen.join();",
            "10,20,30",
        ),
        (
            "const seen = []; const id = setTimeout(() => seen.push('no'), 5); clearTimeout(id);\
          await new Promise((r) => setTimeout(r, 20)); return seen.join() || 'none';",
            "none",
        ),
        (
            "let n = 0; await new Promise((r) => { const id = setInterval(() => { if (++n === 3) { clearInterval(id); r(); } }, 5); });\
          return String(n);",
            "3",
        ),
        (
            "const order = []; setTimeout(() => order.push('timer'), 0); queueMicrotask(() => order.push('job')); order.push('now');\
          await new Promise((r) => setTimeout(r, 5)); return order.join();",
            "now,job,timer",
        ),
        (
            "const all = await Promise.all([...Array(1000).keys()].map((i) => new Promise((r) => setTimeout(r, i % 50, i))));\
          return String(all.length);",
            "1000",
        ),
    ] {
        assert_eq!(*postern.run_js(source).ok(), value, "{source}");
    }
}

/// The same in Python.
#[test]
fn row_22_sleeping_works_in_python_and_is_not_computing() {
    let postern = Postern::new();
    for sleep in ["await asyncio.sleep(0.3)", "time.sleep(0.3)"] {
        let run = postern.run_py(&format!(
            "import asyncio, time\nstart = time.monotonic()\n{sleep}\nround((time.monotonic() - start) * 1000)"
        ));
        let waited = run.ok().as_u64().expect("milliseconds");
        assert!((299..1500).contains(&waited), "{waited}");
        assert!(run.usage("wall_ms") >= 299, "a wait counts as time: {run:#?}");
        assert!(run.usage("cpu_ms") < 250, "a wait is no computing: {run:#?}");
    }
    let run = postern.run_py(
        "import asyncio\nseen = []\nasync def late(ms):\n    await asyncio.sleep(ms / 1000)\n    seen.append(ms)\n\
         await asyncio.gather(*(late(ms) for ms in (60, 20, 40)))\nseen",
    );
    assert_eq!(*run.ok(), serde_json::json!([20, 40, 60]));
}

/// A configuration that finds nothing that an earlier run made.
fn without_cache() -> Postern {
    let mut postern = Postern::new();
    let cache = postern.path("empty-cache");
    std::fs::create_dir(&cache).expect("a new folder");
    let cache = cache.display().to_string();
    // Every place in which something could lie.
    postern.env("XDG_CACHE_HOME", &cache).env("POSTERN_CACHE", &cache).env("HOME", &cache);
    postern
}

/// datarobot-genai PR#608: the time that set-up takes was taken from the script's.
#[test]
fn row_37_a_cold_start_does_not_eat_the_limit() {
    let mut postern = without_cache();
    postern.permissive_guard().server("t", Server::test()).flags(["--wall-time", "1s"]);
    let source = "const start = Date.now(); while (Date.now() - start < 600) ; return 'done';";
    assert_eq!(*postern.run_js(source).ok(), "done");
}

/// The same for Python, whose runner takes longest to compile.
#[test]
fn row_37_a_cold_start_of_python_does_not_eat_the_limit() {
    let mut postern = without_cache();
    postern.flags(["--wall-time", "5s"]);
    assert_eq!(*postern.run_py("'done'").ok(), "done");
}

/// Starting Postern is no reason not to use it: a script without calls runs, whole process, faster than
/// Node.js runs `1`. Measured in turn, so that a busy machine is as busy for both.
#[test]
fn a_script_without_calls_is_faster_than_node() {
    let postern = Postern::new();
    let script = postern.write("script.js", "return 1;");
    let records = postern.records();
    let config = postern.write_config();
    let text = |path: &std::path::Path| path.to_str().expect("UTF-8").to_owned();
    let words =
        ["run", &text(&script), "--config", &text(&config), "--record-dir", &text(&records), "--json"];
    if std::process::Command::new("node").arg("--version").output().is_err() {
        eprintln!("not tested: there is no node to compare with");
        return;
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..15 {
        let run = postern.command(&words);
        assert_eq!(run.exit, exit::OK, "{run:#?}");
        ours.push(run.elapsed);
        theirs.push(postern.program("node", &["-e", "1"], "").elapsed);
    }
    ours.sort();
    theirs.sort();
    assert!(ours[7] < theirs[7], "medians: postern {:?}, node {:?}", ours[7], theirs[7]);
}
