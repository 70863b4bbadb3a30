//! The record: what is written can be verified offline, what is changed is found, and what was proposed is promoted
//! only on purpose.

use postern_tests::words::exit;
use postern_tests::{Finished, Postern, Run, Server, binary, sha256};
use serde_json::{Value, json};

fn with(postern: &Postern, words: &[&str], more: &[&str]) -> Finished {
    let records = postern.records();
    let mut all = words.to_vec();
    all.extend(["--record-dir", records.to_str().expect("UTF-8")]);
    all.extend(more);
    postern.command(&all)
}

fn document(finished: &Finished) -> Value {
    serde_json::from_str(&finished.stdout).unwrap_or_else(|e| panic!("not one document ({e}): {finished:#?}"))
}

/// Exit code and standing of the only record.
fn verified(postern: &Postern) -> (i32, Value) {
    let finished = with(postern, &["record", "verify"], &["--json"]);
    let document = document(&finished);
    assert_eq!(document["runs"].as_array().map(Vec::len), Some(1), "{document:#}");
    (finished.exit, document["runs"][0].clone())
}

fn calls() -> (Postern, Run) {
    let mut postern = Postern::new();
    postern.permissive_guard().server("t", Server::test());
    let run = postern.run_js(
        "for (let n = 0; n < 3; n++) await tools.t.echo({ n, password: 'letmein-' + n });\n\
         try { await tools.t.nope({}); } catch { }\n\
         await fs.writeFile('/out/report.md', '# Report');\n\
         await fs.mkdir('/out/data'); await fs.writeFile('/out/data/a.bin', Uint8Array.from([0, 255, 1]));\n\
         console.log('api_key=a1b2c3d4e5f6a7b8');\n\
         return { token: 'Zx944kkLLm2QQ' };",
    );
    run.ok();
    (postern, run)
}

#[test]
fn a_run_can_be_verified_offline() {
    let (postern, run) = calls();
    let (code, record) = verified(&postern);
    assert_eq!((code, &record["standing"]), (exit::OK, &json!("whole")), "{record:#}");
    assert_eq!(record["lines"], record["sealed_lines"]);
    assert_eq!((&record["artifacts"], &record["run"]), (&json!(2), &json!(run.id())));
    for name in [run.id(), &run.id()[..30], "last"] {
        let text = with(&postern, &["record", "verify", name], &[]);
        assert!(text.exit == exit::OK && text.stdout.contains("whole"), "{text:#?}");
        assert!(text.stderr.contains("secret half"), "it says what a signature is worth: {text:#?}");
    }
    // The chain is what the documentation says, whatever tool looks at it.
    let folder = postern.records().join(run.id());
    let mut prev = sha256(&std::fs::read(folder.join("run.json")).expect("a manifest"));
    let journal = std::fs::read_to_string(folder.join("journal.jsonl")).expect("a journal");
    for (number, line) in journal.lines().enumerate() {
        let value: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!((&value["seq"], &value["prev"]), (&json!(number), &json!(prev)));
        prev = sha256(line.as_bytes());
    }
    assert_eq!(record["head"], json!(prev));
}

#[test]
fn a_change_is_found_and_named() {
    let (postern, run) = calls();
    let path = postern.records().join(run.id()).join("journal.jsonl");
    let journal = std::fs::read_to_string(&path).expect("a journal");
    std::fs::write(&path, journal.replacen("t/nope", "t/echo", 1)).expect("written");
    let (code, record) = verified(&postern);
    assert_eq!((code, &record["standing"]), (exit::SETUP, &json!("broken")), "{record:#}");
    let line = journal.lines().position(|line| line.contains("t/nope")).expect("the attempt") + 1;
    assert_eq!(record["fault"]["file"], "journal.jsonl");
    // The line itself reads well; the one after it no longer follows.
    assert_eq!(record["fault"]["line"], json!(line + 1));
    let text = with(&postern, &["record", "verify", "last"], &[]);
    assert!(text.stdout.contains("broken") && text.stdout.contains("journal.jsonl, line"), "{text:#?}");
}

#[test]
fn a_finished_run_that_lost_its_end_is_found_by_the_machine_that_ran_it() {
    let (postern, run) = calls();
    let folder = postern.records().join(run.id());
    let journal = std::fs::read_to_string(folder.join("journal.jsonl")).expect("a journal");
    let lines: Vec<&str> = journal.split_inclusive('\n').collect();
    std::fs::write(folder.join("journal.jsonl"), lines[..lines.len() - 3].concat()).expect("written");
    assert_eq!(verified(&postern).1["standing"], "broken");
    std::fs::remove_file(folder.join("report.json")).expect("removed");
    assert_eq!(verified(&postern).1["standing"], "broken");
}

#[test]
fn somebody_else_needs_the_public_key() {
    let (mut postern, _) = calls();
    let key = postern.path("home/record-key.pub.pem");
    postern.env("POSTERN_HOME", postern.path("elsewhere").display().to_string());
    let (code, record) = verified(&postern);
    assert_eq!((code, &record["standing"]), (exit::SETUP, &json!("unknown-key")), "{record:#}");
    let finished =
        with(&postern, &["record", "verify", "--public-key", key.to_str().expect("UTF-8")], &["--json"]);
    assert_eq!(finished.exit, exit::OK, "{finished:#?}");
    assert_eq!(document(&finished)["runs"][0]["standing"], "whole");
    let wrong = with(&postern, &["record", "verify", "--public-key", "postern.toml"], &[]);
    assert!(wrong.exit == exit::SETUP && wrong.stderr.contains("postern.toml"), "{wrong:#?}");
}

#[test]
fn secrets_stay_out_of_the_record_and_reach_the_caller() {
    let (postern, run) = calls();
    assert_eq!(run.document["value"]["token"], "Zx944kkLLm2QQ");
    assert!(run.stdout().contains("a1b2c3d4e5f6a7b8"));
    assert_eq!(run.calls()[0]["arguments"]["password"], "letmein-0");
    let folder = postern.records().join(run.id());
    for name in ["run.json", "journal.jsonl", "report.json"] {
        let text = std::fs::read_to_string(folder.join(name)).expect("a file");
        for secret in ["letmein-0", "a1b2c3d4e5f6a7b8", "Zx944kkLLm2QQ", "BEGIN PRIVATE KEY"] {
            assert!(!text.contains(secret), "{secret} is in {name}");
        }
    }
    let report = std::fs::read_to_string(folder.join("report.json")).expect("a report");
    assert!(report.contains("[redacted password ") && report.contains("[redacted secret "), "{report}");
}

#[test]
fn a_pattern_leaves_an_argument_out() {
    let mut postern = Postern::new();
    postern.permissive_guard().server("t", Server::test()).set("record.redact", vec!["t/echo.*.pin"]);
    let run = postern
        .run_js("return await tools.t.echo({ card: { pin: 'swordfish', name: 'Ann' }, pin: 'outside' });");
    assert_eq!(run.ok()["card"]["pin"], "swordfish");
    let journal = std::fs::read_to_string(postern.records().join(run.id()).join("journal.jsonl"));
    let journal = journal.expect("a journal");
    assert!(journal.contains("[redacted pattern ") && !journal.contains("swordfish"), "{journal}");
    assert!(journal.contains("outside") && journal.contains("Ann"), "{journal}");
    postern.set("record.redact", vec![""]);
    let script = postern.path("script.js");
    let finished = postern.run_raw(&[script.to_str().expect("UTF-8")], &[]);
    assert!(finished.exit == exit::SETUP && finished.stderr.contains("record.redact"), "{finished:#?}");
}

#[cfg(unix)]
#[test]
fn only_the_user_can_read_the_key() {
    use std::os::unix::fs::PermissionsExt;
    let (postern, _) = calls();
    let key = postern.path("home/record-key.pem");
    assert_eq!(std::fs::metadata(&key).expect("a key").permissions().mode() & 0o777, 0o600);
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o640)).expect("changed");
    let finished = postern.run_raw(&["script.js"], &[]);
    assert!(
        finished.exit == exit::SETUP && finished.stderr.contains("can be read by others"),
        "{finished:#?}"
    );
}

#[test]
fn artifacts_are_promoted_on_purpose() {
    let (postern, run) = calls();
    let list = document(&with(&postern, &["artifacts", "list", "last"], &["--json"]));
    assert_eq!(list["artifacts"].as_array().map(Vec::len), Some(2), "{list:#}");
    let shown = with(&postern, &["artifacts", "show", "last", "report.md"], &[]);
    assert_eq!((shown.exit, shown.stdout.as_str()), (exit::OK, "# Report"));
    let shown = document(&with(&postern, &["artifacts", "show", "last", "/out/data/a.bin"], &["--json"]));
    assert_eq!((&shown["text"], &shown["base64"]), (&Value::Null, &json!("AP8B")));

    let promote = |more: &[&str]| {
        let mut words = vec!["artifacts", "promote", "last", "--to", "site"];
        words.extend(more);
        with(&postern, &words, &[])
    };
    let unasked = promote(&["report.md"]);
    assert!(unasked.exit != exit::OK && unasked.stderr.contains("--yes"), "{unasked:#?}");
    assert!(!postern.path("site").exists());
    assert_eq!(promote(&["--yes"]).exit, exit::USAGE, "neither a path nor --all");
    let done = promote(&["report.md", "--yes", "--json"]);
    assert_eq!(done.exit, exit::OK, "{done:#?}");
    let done = document(&done);
    assert_eq!(done["promoted"][0]["sha256"], json!(sha256(b"# Report")));
    assert_eq!(std::fs::read(postern.path("site/report.md")).expect("promoted"), b"# Report");
    assert!(!postern.path("site/data").exists());

    std::fs::write(postern.path("site/report.md"), "mine").expect("written");
    let again = promote(&["--all", "--yes"]);
    assert!(again.exit != exit::OK && again.stderr.contains("--force"), "{again:#?}");
    assert!(!postern.path("site/data").exists(), "all or nothing");
    assert_eq!(promote(&["--all", "--yes", "--force"]).exit, exit::OK);
    assert_eq!(std::fs::read(postern.path("site/data/a.bin")).expect("promoted"), [0, 255, 1]);

    let (code, record) = verified(&postern);
    assert_eq!((code, &record["promotions"]), (exit::OK, &json!(3)), "{record:#}");
    let missing = promote(&["../script.txt", "--yes"]);
    assert!(missing.exit != exit::OK && !postern.path("script.txt").exists(), "{missing:#?}");
    std::fs::write(postern.records().join(run.id()).join("artifacts/report.md"), "changed").expect("written");
    let changed = promote(&["data/a.bin", "--yes", "--force"]);
    assert!(changed.exit == exit::SETUP && changed.stderr.contains("report.md"), "{changed:#?}");
}

/// In a terminal of Python's making.
#[cfg(unix)]
#[test]
fn a_person_is_asked_before_artifacts_are_promoted() {
    let (postern, _) = calls();
    let program = "import os, pty, sys\nsys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
    let (exe, records) = (binary("postern"), postern.records());
    let mut words =
        vec!["-c", program, exe.to_str().expect("UTF-8"), "artifacts", "promote", "last", "report.md"];
    words.extend(["--to", "site", "--record-dir", records.to_str().expect("UTF-8")]);
    let refused = postern.program("python3", &words, "no\n");
    assert!(refused.stdout.contains("/out/report.md") && refused.stdout.contains("yes / No"), "{refused:#?}");
    assert!(refused.exit != exit::OK && !postern.path("site").exists(), "{refused:#?}");
    let agreed = postern.program("python3", &words, "yes\n");
    assert_eq!(agreed.exit, exit::OK, "{agreed:#?}");
    assert_eq!(std::fs::read(postern.path("site/report.md")).expect("promoted"), b"# Report");
}

#[test]
fn a_tool_is_pinned_and_a_change_is_shown() {
    let mut postern = Postern::new();
    postern.server("t", Server::test());
    let accepted = postern.json(&["tools", "accept", "t/echo"]);
    assert_eq!(accepted["was"], "new");
    assert_eq!(postern.json(&["tools", "accept", "t/echo"])["was"], "same");
    let pins = postern.json(&["tools", "pins", "--check"]);
    assert_eq!(pins["pins"][0], json!({"tool": "t/echo", "sha256": accepted["sha256"], "state": "same"}));

    // The lock lies beside the configuration, and can be read, compared and edited.
    let lock = postern.path("postern.lock");
    let mut document: Value =
        serde_json::from_str(&std::fs::read_to_string(&lock).expect("a lock")).expect("JSON");
    document["tools"]["t/echo"]["definition"]["description"] = "Something else.".into();
    document["tools"]["t/echo"]["sha256"] = "00".into();
    std::fs::write(&lock, document.to_string()).expect("written");
    assert_eq!(postern.json(&["tools", "pins", "--check"])["pins"][0]["state"], "changed");
    let accepted = postern.json(&["tools", "accept", "t/echo"]);
    assert_eq!(accepted["was"], "changed");
    assert!(accepted["diff"].as_str().expect("a diff").contains("-  Something else."), "{accepted:#}");

    std::fs::write(&lock, "<<<<<<< ours").expect("written");
    let config = postern.write_config();
    let damaged =
        postern.command(&["tools", "accept", "t/echo", "--config", config.to_str().expect("UTF-8")]);
    assert!(damaged.exit == exit::SETUP && damaged.stderr.contains("postern.lock"), "{damaged:#?}");
    assert_eq!(std::fs::read_to_string(&lock).expect("a lock"), "<<<<<<< ours");
}
