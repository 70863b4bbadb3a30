//! Approvals: a call that a person has to decide waits for one, and without one does not happen.

use postern_tests::words::{call, exit, outcome};
use postern_tests::{Finished, Postern, Run, Server, ServerLog, binary};
use serde_json::json;

fn asking() -> (Postern, ServerLog) {
    let mut postern = Postern::new();
    let log = postern.log("t");
    postern.asking_guard().server("t", Server::test().log(&log));
    (postern, log)
}

#[track_caller]
fn nobody_was_asked(run: &Run, log: &ServerLog) {
    run.ended(outcome::APPROVAL_REQUIRED, exit::APPROVAL_REQUIRED);
    assert_eq!(run.attempts(), [("t/counter", "ask", call::APPROVAL_REQUIRED)]);
    assert_eq!(run.calls()[0]["arguments"], json!({"by": 3}), "the exact call is listed");
    assert!(!run.calls()[0]["reasons"].as_array().expect("reasons").is_empty());
    assert_eq!(log.started(), [""; 0]);
}

/// codex#24135/#29857, poe-code#392: without anybody to ask, a run hung or went ahead.
#[test]
fn row_32_without_a_terminal_the_run_ends_and_names_the_call() {
    for (file, source) in
        [("script.js", "return await tools.t.counter({ by: 3 });"), ("script.py", "tools.t.counter(by=3)")]
    {
        let (postern, log) = asking();
        nobody_was_asked(&postern.run_file(file, source), &log);
    }
}

#[test]
fn never_asking_is_a_choice() {
    let (mut postern, log) = asking();
    postern.flags(["--approvals", "never"]);
    nobody_was_asked(&postern.run_js("return await tools.t.counter({ by: 3 });"), &log);
}

#[test]
fn never_asking_can_be_configured() {
    let (mut postern, log) = asking();
    postern.set("approvals.mode", "never");
    nobody_was_asked(&postern.run_js("return await tools.t.counter({ by: 3 });"), &log);
}

#[test]
fn a_script_can_catch_it_and_go_on() {
    let (postern, log) = asking();
    let run = postern.run_js(
        "try { await tools.t.counter({ by: 3 }); } catch (e) { console.log(e.code); }\nreturn 'partial';",
    );
    assert_eq!(run.stdout().trim(), call::APPROVAL_REQUIRED);
    assert_eq!(run.attempts(), [("t/counter", "ask", call::APPROVAL_REQUIRED)]);
    assert_eq!(log.started(), [""; 0]);
}

/// codex#24135, hermes#97044: the same question in a loop, with nobody to answer. The run must neither hang
/// nor go ahead, and it names the call.
#[test]
fn row_32_fifty_times_the_same_with_nobody_to_ask() {
    for (file, source) in [
        (
            "script.js",
            "for (let i = 0; i < 50; i++) try { await tools.t.counter({ by: 3 }); console.log('made'); } catch (e) { console.log(e.code); }",
        ),
        (
            "script.py",
            "for _ in range(50):\n    try:\n        await tools.t.counter(by=3)\n        print('made')\n\
             \x20   except ToolError as error:\n        print(error.code)",
        ),
    ] {
        let (postern, log) = asking();
        let run = postern.run_file(file, source);
        // All were caught, so the script itself ends well.
        run.ended(outcome::OK, exit::OK);
        assert_eq!(run.stdout(), format!("{}\n", call::APPROVAL_REQUIRED).repeat(50), "{file}");
        assert_eq!(run.attempts(), [("t/counter", "ask", call::APPROVAL_REQUIRED); 50], "{file}");
        assert!(
            run.calls().iter().all(|attempt| attempt["arguments"] == json!({"by": 3})),
            "{file}: {run:#?}"
        );
        assert_eq!(log.started(), [""; 0], "{file}");
    }
}

/// Runs in a terminal of Python's making, and types `answer`.
fn in_a_terminal(postern: &Postern, source: &str, answer: &str) -> Finished {
    let script = postern.write("script.js", source);
    let config = postern.write_config();
    let program = "import os, pty, sys\nsys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
    let text = |path: &std::path::Path| path.to_str().expect("UTF-8").to_owned();
    let words = [
        "-c".to_owned(),
        program.to_owned(),
        text(&binary("postern")),
        "run".to_owned(),
        text(&script),
        "--config".to_owned(),
        text(&config),
        "--record-dir".to_owned(),
        text(&postern.records()),
        "--approvals".to_owned(),
        "terminal".to_owned(),
    ];
    postern.program("python3", &words.iter().map(String::as_str).collect::<Vec<_>>(), answer)
}

#[test]
fn a_person_at_a_terminal_can_approve() {
    let (postern, log) = asking();
    let finished = in_a_terminal(&postern, "return (await tools.t.counter({ by: 3 })).count + 41;", "y\n");
    assert_eq!(finished.exit, exit::OK, "{finished:#?}");
    assert!(finished.stdout.contains("t/counter"), "the prompt shows the call: {finished:#?}");
    assert!(finished.stdout.contains("42"), "{finished:#?}");
    assert_eq!(log.started(), ["counter"]);
}

#[test]
fn a_person_at_a_terminal_can_refuse() {
    let (postern, log) = asking();
    let source = "try { await tools.t.counter({ by: 3 }); } catch (e) { console.log('it was', e.code); }";
    for answer in ["n\n", "\n", "perhaps\nn\n", "\u{4}"] {
        let finished = in_a_terminal(&postern, source, answer);
        assert!(finished.stdout.contains("it was approval-denied"), "{answer:?}: {finished:#?}");
        assert_eq!(log.started(), [""; 0], "{answer:?}");
    }
}
