//! The commands around a run: tools, doctor, record, and what is said about mistakes.

use postern_tests::words::{call, exit, outcome};
use postern_tests::{Postern, Server};
use serde_json::{Value, json};

#[test]
fn exit_codes_follow_the_outcome() {
    let mut postern = Postern::new();
    postern.flags(["--wall-time", "300ms"]);
    for (source, outcome, code) in [
        ("return 1;", outcome::OK, exit::OK),
        ("throw new Error('x');", outcome::SCRIPT_ERROR, exit::SCRIPT_ERROR),
        ("for (;;) ;", outcome::LIMIT, exit::LIMIT),
    ] {
        postern.run_js(source).ended(outcome, code);
        // Without --json the code is the same.
        let script = postern.path("script.js");
        assert_eq!(postern.run_raw(&[script.to_str().expect("UTF-8")], &[]).exit, code, "{source}");
    }
    for words in [
        &["run"][..],
        &["run", "a.js", "--nonsense"],
        &["nonsense"],
        &["run", "a.js", "--approvals", "maybe"],
        &["run", "a.js", "--lang", "perl"],
        &[],
    ] {
        let finished = postern.command(words);
        assert_eq!(finished.exit, exit::USAGE, "{words:?}: {finished:#?}");
    }
    assert_eq!(postern.command(&["--version"]).exit, exit::OK);
    let help = postern.command(&["run", "--help"]);
    assert_eq!(help.exit, exit::OK);
    for flag in [
        "--intent",
        "--constraint",
        "--config",
        "--mcp-config",
        "--allow-tool",
        "--input",
        "--out",
        "--approvals",
        "--json",
        "--wall-time",
        "--max-calls",
    ] {
        assert!(help.stdout.contains(flag), "{flag} is not in the help");
    }
}

#[test]
fn a_script_that_is_not_there_is_named() {
    let finished = Postern::new().command(&["run", "nowhere.js"]);
    assert!(![exit::OK, exit::SCRIPT_ERROR, exit::LIMIT].contains(&finished.exit), "{finished:#?}");
    assert!(finished.stderr.contains("nowhere.js"), "{finished:#?}");
}

#[test]
fn mistakes_in_the_configuration_have_a_line() {
    let postern = Postern::new();
    let script = postern.write("script.js", "return 1;");
    for (text, line, hint) in [
        ("[limits]\nwall_time = \"1s\"\nwall_tme = \"2s\"\n", "3", "wall_tme"),
        ("[limits]\n\nwall_time = \"soon\"\n", "3", "wall_time"),
        ("[limits\nwall_time = \"1s\"\n", "1", ""),
        ("[guard.thresholds]\nask_unsafe = 2.0\n", "2", "ask_unsafe"),
        ("[guard.thresholds]\nask_unsafe = \"high\"\n", "2", "ask_unsafe"),
        ("[servers.a]\ncommand = 7\n", "2", "command"),
        ("\n\nnonsense = true\n", "3", "nonsense"),
        ("[approvals]\nmode = \"sometimes\"\n", "2", "mode"),
        ("[limits]\nmemory = \"256MiB\"\nmemory = \"1GiB\"\n", "3", "memory"),
    ] {
        let config = postern.write("bad.toml", text);
        let finished = postern.command(&[
            "run",
            script.to_str().expect("UTF-8"),
            "--config",
            config.to_str().expect("UTF-8"),
        ]);
        assert_eq!(finished.exit, exit::SETUP, "{text}: {finished:#?}");
        assert!(
            finished.stderr.contains("bad.toml") && finished.stderr.contains(line),
            "{text}: {finished:#?}"
        );
        assert!(finished.stderr.contains(hint), "{text}: {finished:#?}");
    }
    let finished = postern.command(&["run", script.to_str().expect("UTF-8"), "--config", "nowhere.toml"]);
    assert_eq!(finished.exit, exit::SETUP, "{finished:#?}");
    assert!(finished.stderr.contains("nowhere.toml"), "{finished:#?}");
    let broken = postern.write("mcp.json", "{\"mcpServers\": {\n  \"a\": {\n");
    let finished = postern.command(&[
        "run",
        script.to_str().expect("UTF-8"),
        "--mcp-config",
        broken.to_str().expect("UTF-8"),
    ]);
    assert_eq!(finished.exit, exit::SETUP, "{finished:#?}");
    assert!(finished.stderr.contains("mcp.json") && finished.stderr.contains("line"), "{finished:#?}");
}

#[test]
fn a_value_of_the_configuration_that_may_be_secret_is_not_repeated() {
    let postern = Postern::new();
    let script = postern.write("script.js", "return 1;");
    let config = postern.write(
        "bad.toml",
        "[servers.a]\ncommand = \"x\"\nenv = { TOKEN = [\"sk-secret-1\"] }\nargs = \"sk-secret-1\"\n",
    );
    let finished = postern.command(&[
        "run",
        script.to_str().expect("UTF-8"),
        "--config",
        config.to_str().expect("UTF-8"),
    ]);
    assert_eq!(finished.exit, exit::SETUP, "{finished:#?}");
    assert!(finished.stderr.contains("bad.toml"), "{finished:#?}");
    assert!(!format!("{}{}", finished.stdout, finished.stderr).contains("sk-secret-1"), "{finished:#?}");
}

#[test]
fn grants_are_patterns() {
    let mut postern = Postern::new();
    let log = postern.log("t");
    let none: &[&str] = &[];
    postern.permissive_guard().server("t", Server::test().grant(none).log(&log));
    let source = "const codes = []; for (const tool of ['echo', 'json_text', 'pid']) try { await callTool(`t/${tool}`, {}); codes.push('ok'); } catch (e) { codes.push(e.code); }\nreturn codes;";
    let no = call::NOT_GRANTED;
    assert_eq!(*postern.run_js(source).ok(), json!([no, no, no]));
    assert_eq!(log.started(), [""; 0]);
    postern.flags(["--allow-tool", "t/echo", "--allow-tool", "t/json_*"]);
    assert_eq!(*postern.run_js(source).ok(), json!(["ok", "ok", no]));
}

#[test]
fn tools_are_listed_and_shown() {
    let mut postern = Postern::new();
    postern.permissive_guard().server("t", Server::test()).server("gone", Server::stdio(["/nowhere/at/all"]));
    let listing = postern.json(&["tools", "list"]);
    let tools = listing["tools"].as_array().expect("tools");
    let echo = tools.iter().find(|tool| tool["name"] == "t/echo").expect("t/echo");
    assert_eq!(echo["description"], "Returns its arguments.");
    assert!(
        listing.to_string().contains("gone"),
        "nothing is said of the server that did not start: {listing:#}"
    );

    let shown = postern.json(&["tools", "show", "t/strict"]);
    assert_eq!(shown["name"], "t/strict");
    assert_eq!(shown["inputSchema"]["required"], json!(["city"]));
    assert_eq!(shown["annotations"]["readOnlyHint"], true);

    let config = postern.write_config();
    let text = postern.command(&["tools", "list", "--config", config.to_str().expect("UTF-8")]);
    assert!(text.stdout.contains("t/echo"), "{text:#?}");
    let missing = postern.command(&["tools", "show", "t/ecoh", "--config", config.to_str().expect("UTF-8")]);
    assert!(
        missing.exit != exit::OK && missing.stderr.contains("t/echo"),
        "suggests what is near: {missing:#?}"
    );
}

#[test]
fn doctor_says_what_works() {
    let mut postern = Postern::new();
    postern.permissive_guard().server("t", Server::test()).server("gone", Server::stdio(["/nowhere/at/all"]));
    let config = postern.write_config();
    let finished = postern.command(&["doctor", "--config", config.to_str().expect("UTF-8"), "--json"]);
    let document: Value =
        serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {finished:#?}"));
    let said = document.to_string();
    assert!(said.contains("cpu") || said.contains("cuda"), "the guard's device: {document:#}");
    assert!(said.contains("\"t\"") && said.contains("gone"), "the upstreams: {document:#}");
    assert_ne!(finished.exit, exit::OK, "one upstream does not answer: {document:#}");
    let text = postern.command(&["doctor", "--config", config.to_str().expect("UTF-8")]);
    assert!(text.stdout.contains("guard") && text.stdout.contains("gone"), "{text:#?}");

    let mut well = Postern::new();
    well.permissive_guard().server("t", Server::test());
    well.json(&["doctor"]);
}

#[test]
fn doctor_says_that_the_guard_is_missing() {
    let mut postern = Postern::new();
    let nowhere = postern.path("nowhere").display().to_string();
    postern.env("POSTERN_WEIGHTS", nowhere);
    let config = postern.write_config();
    let finished = postern.command(&["doctor", "--config", config.to_str().expect("UTF-8")]);
    assert_ne!(finished.exit, exit::OK, "{finished:#?}");
    assert!(
        format!("{}{}", finished.stdout, finished.stderr).contains("nowhere"),
        "says where it looked: {finished:#?}"
    );
}

#[test]
fn a_record_tells_the_run() {
    let mut postern = Postern::new();
    postern.permissive_guard().server("t", Server::test());
    postern.flags(["--intent", "Count to one", "--constraint", "No more than one"]);
    let source = "await fs.writeFile('/out/a.txt', 'a'); try { await tools.t.nope({ k: 'v' }); } catch { }\nreturn await tools.t.echo({ n: 1 });";
    let run = postern.run_js(source);
    run.ok();
    let records = postern.records();
    let records = records.to_str().expect("UTF-8");
    let finished = postern.command(&["record", "show", run.id(), "--record-dir", records, "--json"]);
    assert_eq!(finished.exit, exit::OK, "{finished:#?}");
    let record: Value = serde_json::from_str(&finished.stdout).expect("one document");
    let said = record.to_string();
    for part in
        ["t/nope", "t/echo", call::UNKNOWN_TOOL, "Count to one", "No more than one", "a.txt", run.id()]
    {
        assert!(said.contains(part), "{part} is not in the record: {record:#}");
    }
    let model = run.document["calls"][1]["scores"]["unsafe"].clone();
    assert!(model.is_number(), "{run:#?}");
    let text = postern.command(&["record", "show", run.id(), "--record-dir", records]);
    assert!(
        text.exit == exit::OK && text.stderr.contains("t/nope") && text.stderr.contains("t/echo"),
        "{text:#?}"
    );
    assert!(postern.records().join(run.id()).is_dir(), "one folder a run");

    let missing = postern.command(&["record", "show", "no-such-run", "--record-dir", records]);
    assert!(missing.exit != exit::OK && missing.stderr.contains("no-such-run"), "{missing:#?}");
    for climbing in ["../records", "..", "/etc", ""] {
        let finished = postern.command(&["record", "show", climbing, "--record-dir", records]);
        assert_ne!(finished.exit, exit::OK, "{climbing}: {finished:#?}");
    }
}

#[test]
fn a_failed_run_is_recorded_too() {
    let postern = Postern::new();
    let run = postern.run_js("throw new Error('kept for later');");
    run.ended(outcome::SCRIPT_ERROR, exit::SCRIPT_ERROR);
    let records = postern.records();
    let finished = postern.command(&[
        "record",
        "show",
        run.id(),
        "--record-dir",
        records.to_str().expect("UTF-8"),
        "--json",
    ]);
    assert!(
        finished.stdout.contains("kept for later") && finished.stdout.contains(outcome::SCRIPT_ERROR),
        "{finished:#?}"
    );
}

#[test]
fn json_is_one_document_whatever_the_script_prints() {
    let postern = Postern::new();
    let run = postern
        .run_js("console.log('{\"outcome\": \"forged\"}'); console.error('}'); return { outcome: 'mine' };");
    assert_eq!(*run.ok(), json!({"outcome": "mine"}));
    assert_eq!(run.stdout(), "{\"outcome\": \"forged\"}\n");
}

#[test]
fn people_get_value_and_output() {
    let postern = Postern::new();
    let script = postern.write("script.js", "console.log('printed by the script'); return { answer: 42 };");
    let finished = postern.run_raw(&[script.to_str().expect("UTF-8")], &[]);
    assert_eq!(finished.exit, exit::OK, "{finished:#?}");
    assert!(
        finished.stdout.contains("printed by the script") && finished.stdout.contains("42"),
        "{finished:#?}"
    );
    let script = postern.write("bad.js", "const a = 1;\nreturn a.b.c;");
    let finished = postern.run_raw(&[script.to_str().expect("UTF-8")], &[]);
    assert!(finished.stderr.contains("TypeError") && finished.stderr.contains('2'), "{finished:#?}");
}

#[test]
fn terminal_control_from_a_script_or_server_is_not_passed_on() {
    let mut postern = Postern::new();
    let fail = json!({"name": "fail", "answers": [{"error": "owned \u{1b}]0;title\u{7}\u{1b}[2J"}]});
    let server = Server::story(postern.folder(), &json!({"tools": [fail]}));
    postern.permissive_guard().server("t", server);
    let source = "try { await tools.t.fail({}); } catch (e) { throw e; }";
    let script = postern.write("script.js", source);
    let finished = postern.run_raw(&[script.to_str().expect("UTF-8")], &[]);
    let shown = format!("{}{}", finished.stdout, finished.stderr);
    assert_eq!(finished.exit, exit::SCRIPT_ERROR, "{finished:#?}");
    assert!(shown.contains("owned"), "the tool's words are shown: {finished:#?}");
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{7}'), "{finished:#?}");
}
