//! Isolation: a script has what it was given, and no run has anything of another's.

use postern_tests::words::{exit, limit, outcome};
use postern_tests::{Postern, Server};
use serde_json::{Value, json};

/// pctx 0.5.0: runs at the same time got each other's answers.
#[test]
fn row_38_sixty_four_runs_at_once_do_not_mix() {
    let mut looping = Postern::new();
    looping.flags(["--wall-time", "500ms"]);
    let postern = Postern::new();
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..64)
            .map(|i| {
                let (postern, looping) = (&postern, &looping);
                scope.spawn(move || {
                    let name = format!("script-{i}.js");
                    match i % 4 {
                        0 => postern.run_file(&name, &format!("await null; throw new Error('boom {i}');")),
                        1 if i % 8 == 1 => looping.run_file(&name, &format!("console.log({i}); for (;;) ;")),
                        _ => postern.run_file(&name, &format!(
                            "console.log('start', {i}); globalThis.mine = {i}; await fs.writeFile('/workspace/n', '{i}');\n\
                             await new Promise((r) => setTimeout(r, 50));\n\
                             return {{ mine, file: await fs.readFile('/workspace/n', 'utf8') }};"
                        )),
                    }
                })
            })
            .collect();
        let mut ids = std::collections::BTreeSet::new();
        for (i, run) in runs.into_iter().enumerate() {
            let run = run.join().expect("no panic");
            match i % 4 {
                0 => assert_eq!(run.script_error(), format!("boom {i}")),
                1 if i % 8 == 1 => run.limit(limit::WALL_TIME),
                _ => {
                    assert_eq!(*run.ok(), json!({"mine": i, "file": i.to_string()}));
                    assert_eq!(run.stdout(), format!("start {i}\n"));
                }
            }
            assert!(ids.insert(run.id().to_owned()), "two runs are called {}", run.id());
            assert!(!run.process.stderr.contains("panicked"), "{run:#?}");
        }
    });
}

/// pctx 0.5.0: runs at the same time, each with a server and a guard of its own.
#[test]
fn row_38_runs_at_once_get_their_own_answers() {
    let mut postern = Postern::new();
    postern.permissive_guard().server("t", Server::test());
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..6)
            .map(|i| {
                let postern = &postern;
                scope.spawn(move || {
                    postern.run_file(&format!("script-{i}.js"), &format!(
                        "return await Promise.all([...Array(8).keys()].map(async (k) => (await tools.t.echo({{ run: {i}, k }})).run));"
                    ))
                })
            })
            .collect();
        for (i, run) in runs.into_iter().enumerate() {
            assert_eq!(*run.join().expect("no panic").ok(), json!(vec![i; 8]));
        }
    });
}

/// pctx 0.5.0: the same in Python.
#[test]
fn row_38_python_runs_at_once_do_not_mix() {
    let postern = Postern::new();
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..16)
            .map(|i| {
                let postern = &postern;
                let source = match i % 4 {
                    0 => format!("import asyncio\nawait asyncio.sleep(0.01)\nraise ValueError('boom {i}')"),
                    _ => format!(
                        "import asyncio\nprint('start', {i})\nopen('/workspace/n', 'w').write('{i}')\n\
                         await asyncio.sleep(0.05)\nint(open('/workspace/n').read())"
                    ),
                };
                scope.spawn(move || postern.run_file(&format!("script-{i}.py"), &source))
            })
            .collect();
        for (i, run) in runs.into_iter().enumerate() {
            let run = run.join().expect("no panic");
            if i % 4 == 0 {
                assert_eq!(run.script_error(), format!("boom {i}"));
            } else {
                assert_eq!((run.ok(), run.stdout()), (&json!(i), format!("start {i}\n").as_str()));
            }
        }
    });
}

/// wassette `wasistate.rs`: the guest saw the host's arguments, environment and folders.
#[test]
fn row_39_a_script_sees_nothing_of_the_host() {
    let mut postern = Postern::new();
    postern.env("POSTERN_TEST_AMBIENT", "ambient-secret-4711").flags(["--intent", "an intent nobody reads"]);
    let run = postern.run_js(
        "const attempt = async (f) => { try { return await f(); } catch (e) { return `${e.name}`; } };\n\
         return {\n\
           env: await attempt(() => JSON.stringify(globalThis.process?.env ?? {})),\n\
           argv: await attempt(() => JSON.stringify(globalThis.process?.argv ?? [])),\n\
           exit: await attempt(() => typeof globalThis.process?.exit),\n\
           globals: Object.getOwnPropertyNames(globalThis).filter((n) => /^(Deno|Bun|os|std|Java|wasi|WebAssembly|host|lib|__.*)$/.test(n)),\n\
           fetch: await attempt(async () => (await fetch('http://127.0.0.1/')).status),\n\
           socket: await attempt(() => new WebSocket('ws://127.0.0.1/')),\n\
           xhr: await attempt(() => new XMLHttpRequest()),\n\
           net: await attempt(() => import('node:net')),\n\
           dns: await attempt(() => import('node:dns')),\n\
           os: await attempt(() => import('node:os')),\n\
           worker: await attempt(() => new Worker('x.js')),\n\
           passwd: await attempt(() => fs.readFile('/etc/passwd', 'utf8')),\n\
           proc: await attempt(() => fs.readFile('/proc/self/environ', 'utf8')),\n\
           up: await attempt(() => fs.readFile('../../../../../../etc/passwd', 'utf8')),\n\
           nul: await attempt(() => fs.readFile('/workspace/\\0/../../etc/passwd', 'utf8')),\n\
           roots: await attempt(() => fs.readdir('/')),\n\
           work: await attempt(() => fs.readdir('/workspace')),\n\
           cwd: await attempt(() => globalThis.process?.cwd?.() ?? '/workspace'),\n\
         };",
    );
    let value = run.ok();
    assert!(!run.process.stdout.contains("ambient-secret-4711"), "{value:#}");
    assert!(!run.process.stdout.contains("an intent nobody reads"), "{value:#}");
    assert!(!value.to_string().contains("root:"), "{value:#}");
    assert_eq!((&value["env"], &value["globals"], &value["work"]), (&json!("{}"), &json!([]), &json!([])));
    let argv: Vec<Value> = serde_json::from_str(value["argv"].as_str().expect("text")).expect("JSON");
    assert!(
        argv.is_empty()
            || !value["argv"].as_str().expect("text").contains(postern.folder().to_str().expect("UTF-8"))
    );
    for case in ["fetch", "socket", "xhr", "net", "dns", "worker", "passwd", "proc", "up", "nul"] {
        assert!(
            value[case].as_str().is_some_and(|name| name.ends_with("Error")),
            "{case} is there: {value:#}"
        );
    }
    let roots: Vec<&str> =
        value["roots"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert!(roots.iter().all(|root| ["workspace", "out", "input"].contains(root)), "{roots:?}");
    assert!(!value["cwd"].as_str().expect("text").contains("postern-test"), "{value:#}");
}

/// The same in Python.
#[test]
fn row_39_a_python_script_sees_nothing_of_the_host() {
    let mut postern = Postern::new();
    postern.env("POSTERN_TEST_AMBIENT", "ambient-secret-4711").flags(["--intent", "an intent nobody reads"]);
    let run = postern.run_py(
        "import os, platform, socket, sys, urllib.request\n\
         def attempt(f):\n    try:\n        return f()\n    except BaseException as error:\n        return type(error).__name__\n\
         {\n\
           'env': dict(os.environ), 'argv': sys.argv, 'path': sys.path, 'cwd': os.getcwd(), 'exe': sys.executable,\n\
           'prefix': sys.prefix, 'node': attempt(platform.node), 'host': attempt(socket.gethostname),\n\
           'socket': attempt(lambda: socket.create_connection(('127.0.0.1', 80), 1)),\n\
           'udp': attempt(lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 53))),\n\
           'listen': attempt(lambda: socket.create_server(('127.0.0.1', 0))),\n\
           'dns': attempt(lambda: socket.getaddrinfo('localhost', 80)),\n\
           'http': attempt(lambda: urllib.request.urlopen('http://127.0.0.1/')),\n\
           'fork': attempt(lambda: os.fork()), 'system': attempt(lambda: os.system('ls')),\n\
           'passwd': attempt(lambda: open('/etc/passwd').read()), 'proc': attempt(lambda: open('/proc/self/environ').read()),\n\
           'up': attempt(lambda: open('../../../../../etc/passwd').read()), 'nul': attempt(lambda: open('/workspace/\\0/../../etc/passwd')),\n\
           'link': attempt(lambda: os.symlink('/etc/passwd', '/workspace/l') or open('/workspace/l').read()),\n\
           'work': os.listdir('/workspace'), 'out': os.listdir('/out'), 'names': sorted(n for n in globals() if n[:2] != '__'),\n\
         }",
    );
    let value = run.ok();
    assert!(!run.process.stdout.contains("ambient-secret-4711"), "{value:#}");
    assert!(!run.process.stdout.contains("an intent nobody reads"), "{value:#}");
    assert!(!value.to_string().contains("root:"), "{value:#}");
    assert_eq!(value["env"], json!({"HOME": "/workspace", "TMPDIR": "/workspace"}));
    assert_eq!((&value["argv"], &value["path"]), (&json!(["script.py"]), &json!([])));
    assert_eq!((&value["cwd"], &value["out"]), (&json!("/workspace"), &json!([])));
    for case in
        ["socket", "udp", "listen", "dns", "http", "fork", "system", "passwd", "proc", "up", "nul", "link"]
    {
        assert!(
            value[case].as_str().is_some_and(|name| name.ends_with("Error") || name == "gaierror"),
            "{case} is there: {value:#}"
        );
    }
    let home = std::env::var("HOME").expect("a home");
    assert!(!value.to_string().contains(&format!("{home}/")), "where it was built shows: {value:#}");
}

/// wassette: each run starts with a fresh world; clocks go on and random numbers differ.
#[test]
fn row_39_each_run_starts_afresh() {
    let postern = Postern::new();
    let source = "const before = globalThis.marker ?? 'fresh'; globalThis.marker = 'used'; Array.prototype.map = null;\n\
        await fs.writeFile('/workspace/left', 'x');\n\
        return { before, random: [Math.random(), crypto.randomUUID(), [...crypto.getRandomValues(new Uint8Array(8))].join()], now: Date.now() };";
    let (one, two) = (postern.run_js(source), postern.run_js(source));
    let (one, two) = (one.ok(), two.ok());
    assert_eq!((&one["before"], &two["before"]), (&json!("fresh"), &json!("fresh")));
    for k in 0..3 {
        assert_ne!(one["random"][k], two["random"][k], "a snapshot's random numbers repeat");
    }
    assert!(two["now"].as_u64() > one["now"].as_u64(), "the clock stands still");
    let real =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_millis()
            as u64;
    assert!(real.abs_diff(two["now"].as_u64().expect("ms")) < 60_000, "the clock is wrong");
}

/// The same in Python; and with a seed the random numbers are the same.
#[test]
fn row_39_each_python_run_starts_afresh() {
    let mut postern = Postern::new();
    let source = "import builtins, os, random, secrets, tempfile, time, uuid\n\
        before = getattr(builtins, 'marker', 'fresh')\nbuiltins.marker = 'used'\nopen('/workspace/left', 'x').close()\n\
        {'before': before, 'now': time.time(), 'shuffled': random.sample(range(100), 3),\n\
         'random': [random.random(), str(uuid.uuid4()), os.urandom(8).hex(), secrets.token_hex(4), random.Random().random(), tempfile.mktemp()]}";
    let (first, second) = (postern.run_py(source), postern.run_py(source));
    let (one, two) = (first.ok(), second.ok());
    assert_eq!((&one["before"], &two["before"]), (&json!("fresh"), &json!("fresh")));
    for k in 0..6 {
        assert_ne!(one["random"][k], two["random"][k], "a snapshot's random numbers repeat: {k}");
    }
    assert!(two["now"].as_f64() > one["now"].as_f64(), "the clock stands still");

    postern.flags(["--seed", "7"]);
    let (first, second) = (postern.run_py(source), postern.run_py(source));
    let (one, two) = (first.ok(), second.ok());
    assert_eq!((&one["random"], &one["shuffled"]), (&two["random"], &two["shuffled"]));
    let javascript = "return [Math.random(), crypto.randomUUID()];";
    assert_eq!(postern.run_js(javascript).ok(), postern.run_js(javascript).ok());
}

/// wassette: a script is not started when it asks for more than a script gets.
#[test]
fn row_39_the_outcome_is_honest_about_what_is_missing() {
    let postern = Postern::new();
    let run = postern.run_js("return await fetch('https://example.com/');");
    run.ended(outcome::SCRIPT_ERROR, exit::SCRIPT_ERROR);
    assert!(run.error_text("message").contains("no network"), "{run:#?}");
}
