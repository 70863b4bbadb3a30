//! The guard decides, or nothing happens.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use postern_tests::words::{call, exit};
use postern_tests::{Postern, Run, Server, worker_of, workspace_root};
use serde_json::json;

const EVERY_CALL: &str = "const codes = [];\n\
    const attempt = async (f) => { try { await f(); codes.push('ok'); } catch (e) { codes.push(e.code); } };\n\
    await attempt(() => tools.t.echo({ n: 1 }));\n\
    await Promise.all([attempt(() => tools.t.counter({})), attempt(() => callTool('t/pid', {}))]);\n\
    return codes;";

/// A copy of the guard's weights, to be broken.
fn weights(postern: &Postern) -> PathBuf {
    let (from, to) = (workspace_root().join("model/weights"), postern.path("weights"));
    std::fs::create_dir(&to).expect("a new folder");
    for entry in std::fs::read_dir(&from).unwrap_or_else(|error| panic!("{}: {error}", from.display())) {
        let entry = entry.expect("an entry");
        if entry.file_type().expect("a type").is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name())).expect("a copy");
        }
    }
    to
}

fn safetensors(weights: &Path) -> PathBuf {
    let files = std::fs::read_dir(weights).expect("a folder").map(|entry| entry.expect("an entry").path());
    files.into_iter().find(|path| path.extension().is_some_and(|e| e == "safetensors")).expect("weights")
}

/// Runs with what is left of the weights and expects that nothing gets through.
fn nothing_gets_through(what: &str, break_it: impl FnOnce(&Path)) -> Run {
    let mut postern = Postern::new();
    let log = postern.log("t");
    let weights = weights(&postern);
    break_it(&weights);
    // The guard that lets everything pass, so that only its absence can hold a call back.
    postern
        .permissive_guard()
        .server("t", Server::test().log(&log))
        .env("POSTERN_WEIGHTS", weights.display().to_string());
    let run = postern.run_js(EVERY_CALL);
    assert_eq!(*run.ok(), json!(vec![call::GUARD_UNAVAILABLE; 3]), "{what}: {run:#?}");
    assert_eq!(log.started(), [""; 0], "{what}: something was dispatched");
    for attempt in run.calls() {
        assert_eq!(attempt["code"], call::GUARD_UNAVAILABLE, "{what}");
        assert_ne!(attempt["verdict"], "allow", "{what}");
    }
    run
}

#[test]
fn missing_weights_block_every_call() {
    nothing_gets_through("no folder", |weights| std::fs::remove_dir_all(weights).expect("removed"));
    nothing_gets_through("no weights", |weights| {
        std::fs::remove_file(safetensors(weights)).expect("removed")
    });
}

#[test]
fn damaged_weights_block_every_call() {
    nothing_gets_through("half a file", |weights| {
        let file = std::fs::OpenOptions::new().write(true).open(safetensors(weights)).expect("opened");
        file.set_len(file.metadata().expect("a size").len() / 2).expect("shortened");
    });
    nothing_gets_through("not safetensors", |weights| {
        std::fs::write(safetensors(weights), b"\xff\xff\xff\xff\xff\xff\xff\x7f{}").expect("written");
    });
    nothing_gets_through("no numbers", |weights| {
        // A valid header before data that are all not-a-number: scores that mean nothing.
        let path = safetensors(weights);
        let mut bytes = std::fs::read(&path).expect("read");
        let header = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize + 8;
        bytes[header..].fill(0xff);
        std::fs::write(&path, bytes).expect("written");
    });
}

#[test]
fn an_uncaught_refusal_ends_the_run_and_says_what_is_missing() {
    let mut postern = Postern::new();
    let nowhere = postern.path("nowhere").display().to_string();
    postern.permissive_guard().server("t", Server::test()).env("POSTERN_WEIGHTS", nowhere);
    let run = postern.run_js("return await tools.t.echo({});");
    assert!(run.process.exit != exit::OK && run.error_text("code") == call::GUARD_UNAVAILABLE, "{run:#?}");
}

#[test]
fn a_script_without_calls_needs_no_guard() {
    let mut postern = Postern::new();
    let nowhere = postern.path("nowhere").display().to_string();
    postern.env("POSTERN_WEIGHTS", nowhere);
    assert_eq!(*postern.run_js("return 6 * 7;").ok(), 42);
}

#[test]
fn check_without_weights_gives_no_verdict() {
    let mut postern = Postern::new();
    let nowhere = postern.path("nowhere").display().to_string();
    postern.env("POSTERN_WEIGHTS", nowhere);
    let request = json!({"action": {"tool": "crm.list", "args": {}}, "intent": "list"});
    let finished = postern.command_with(&["check", "-", "--json"], &request.to_string());
    assert_ne!(finished.exit, exit::OK, "{finished:#?}");
    assert!(!finished.stdout.contains("\"verdict\""), "{finished:#?}");
}

/// A worker that is killed between two calls: what follows is refused or scored by a new one, and
/// never let through unseen.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_guard_lets_nothing_through_unseen() {
    let mut postern = Postern::new();
    let log = postern.log("t");
    postern.permissive_guard().server("t", Server::test().log(&log));
    let run = std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            postern.run_js(
                "const seen = [];\n\
                 for (let i = 0; i < 12; i++) {\n\
                   try { await tools.t.echo({ i }); seen.push('ok'); } catch (e) { seen.push(e.code); }\n\
                   await new Promise((r) => setTimeout(r, 250));\n\
                 }\n\
                 return seen;",
            )
        });
        let deadline = Instant::now() + Duration::from_secs(20);
        while log.started().is_empty() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
        let worker = worker_of(postern.folder()).expect("a guard is running beside the run");
        let killed =
            std::process::Command::new("kill").args(["-9", &worker.to_string()]).status().expect("kill runs");
        assert!(killed.success());
        running.join().expect("no panic")
    });
    let seen: Vec<&str> =
        run.ok().as_array().expect("a list").iter().map(|code| code.as_str().expect("text")).collect();
    assert!(seen.iter().all(|code| ["ok", call::GUARD_UNAVAILABLE].contains(code)), "{seen:?}");
    assert_eq!(seen.last(), Some(&"ok"), "the guard was not started again: {seen:?}");
    let allowed = run.calls().iter().filter(|attempt| attempt["verdict"] == "allow").count();
    assert_eq!(log.started().len(), allowed);
    for attempt in run.calls() {
        assert_eq!(
            attempt["verdict"] == "allow",
            attempt["scores"].is_object(),
            "let through without scores: {attempt}"
        );
    }
}
