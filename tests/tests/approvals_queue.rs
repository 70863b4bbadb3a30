//! Approvals in the queue: a run waits, somebody decides from another process, and what was tampered with on
//! the way counts for nothing. All through the real binary, the folder of the queue in between.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use postern_tests::stage::tool;
use postern_tests::words::{call, exit, outcome};
use postern_tests::{Finished, Postern, Run, Server, ServerLog, binary};
use serde_json::{Value, json};

/// A server whose `counter` is always asked about, by a rule; its other tools are not.
fn asking() -> (Postern, ServerLog) {
    let mut postern = Postern::new();
    let log = postern.log("t");
    postern.permissive_guard().server("t", Server::test().log(&log)).flags(["--approvals", "queue"]);
    postern.set("policy.file", "policy.cedar");
    postern.write(
        "policy.cedar",
        "@id(\"see\")\n@reason(\"somebody has to see this\")\n@verdict(\"ask\")\n\
         forbid (principal, action == Action::\"t/counter\", resource);\n",
    );
    (postern, log)
}

const COUNT: &str = "try { return (await tools.t.counter({ by: 3 })).count + 41; } \
                     catch (e) { return { code: e.code, message: e.message, details: e.details }; }";

fn approvals(postern: &Postern, words: &[&str]) -> Finished {
    postern.command(&[&["approvals"][..], words].concat())
}

/// `postern approvals` with `--json`, and its exit code.
fn document(postern: &Postern, words: &[&str]) -> (i32, Value) {
    let finished = approvals(postern, &[words, &["--json"]].concat());
    let value = serde_json::from_str(&finished.stdout);
    (finished.exit, value.unwrap_or_else(|error| panic!("no document ({error}): {finished:#?}")))
}

fn listed(postern: &Postern) -> Vec<Value> {
    document(postern, &["list"]).1["approvals"].as_array().expect("approvals").clone()
}

/// What waits, once that many do.
fn waiting(postern: &Postern, many: usize) -> Vec<Value> {
    let deadline = Instant::now() + Duration::from_secs(50);
    loop {
        let all = listed(postern);
        if all.iter().filter(|one| one["state"] == "waiting").count() == many {
            return all;
        }
        assert!(Instant::now() < deadline, "{many} never waited: {all:#?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn id(waiting: &Value) -> &str {
    waiting["id"].as_str().expect("an id")
}

/// Runs a script, and does something else as long as it runs.
fn meanwhile(postern: &Postern, source: &str, other: impl FnOnce()) -> Run {
    std::thread::scope(|scope| {
        let running = scope.spawn(|| postern.run_js(source));
        other();
        running.join().expect("no panic")
    })
}

fn file(postern: &Postern, name: &str) -> PathBuf {
    postern.path("home").join("approvals").join(name)
}

fn files(postern: &Postern) -> usize {
    std::fs::read_dir(file(postern, "")).expect("the queue").count()
}

fn journal(postern: &Postern, run: &Run) -> String {
    std::fs::read_to_string(postern.records().join(run.id()).join("journal.jsonl")).expect("a journal")
}

#[test]
fn somebody_elsewhere_approves_and_other_calls_go_on() {
    let (postern, log) = asking();
    let source = "const counted = tools.t.counter({ by: 3 });\n\
                  const echoed = await tools.t.echo({ n: 7 });\n\
                  return [echoed.n, (await counted).count];";
    let run = meanwhile(&postern, source, || {
        let found = waiting(&postern, 1);
        let question = &found[0]["question"];
        assert_eq!((&question["tool"], &question["arguments"]), (&json!("t/counter"), &json!({"by": 3})));
        assert_eq!(question["reasons"][0]["message"], "somebody has to see this", "{question:#}");
        assert!(log.eventually("finish", "echo"), "the other call goes on");
        assert_eq!(log.started(), ["echo"]);
        // Long enough to be seen to stand still on the clock.
        std::thread::sleep(Duration::from_secs(2));
        let shown = approvals(&postern, &["show", &id(&found[0])[..8]]);
        for part in ["t/counter", "by: 3", "somebody has to see this", "waiting", "postern approvals approve"]
        {
            assert!(shown.stdout.contains(part), "{part}: {shown:#?}");
        }
        let list = approvals(&postern, &["list"]);
        assert!(list.stdout.contains(&id(&found[0])[..8]) && list.stdout.contains("t/counter"), "{list:#?}");
        let approved = approvals(&postern, &["approve", id(&found[0])]);
        assert_eq!(approved.exit, exit::OK, "{approved:#?}");
    });
    assert_eq!(*run.ok(), json!([7, 1]), "{run:#?}");
    let elapsed = u64::try_from(run.process.elapsed.as_millis()).expect("no such time");
    assert!(run.usage("wall_ms") + 2_000 <= elapsed, "waiting is not counted: {run:#?}");
    assert!(
        run.process.stderr.contains("postern approvals show"),
        "the run says what it waits for: {run:#?}"
    );
    assert_eq!(files(&postern), 0);
    let (exit, answer) = document(&postern, &["list"]);
    assert_eq!((exit, answer), (0, json!({"approvals": []})));
}

#[test]
fn the_script_and_the_record_hear_why_it_was_denied() {
    let (postern, log) = asking();
    let run = meanwhile(&postern, COUNT, || {
        let found = waiting(&postern, 1);
        let reason = "not before Monday";
        assert_eq!(approvals(&postern, &["deny", id(&found[0]), "--reason", reason]).exit, exit::OK);
    });
    let value = run.ok();
    assert_eq!(value["code"], "approval-denied", "{run:#?}");
    assert!(value["message"].as_str().is_some_and(|text| text.contains("not before Monday")), "{value}");
    assert!(journal(&postern, &run).contains("not before Monday"));
    assert_eq!(log.started(), [""; 0]);
    let (exit, again) = document(&postern, &["approve", "0"]);
    assert_eq!((exit, &again["error"]["code"]), (exit::SETUP, &json!("approval-unknown")), "{again}");
}

#[test]
fn a_question_that_was_tampered_with_approves_nothing() {
    let (postern, log) = asking();
    let run = meanwhile(&postern, COUNT, || {
        let found = waiting(&postern, 1);
        let path = file(&postern, &format!("{}.question.json", id(&found[0])));
        let text = std::fs::read_to_string(&path).expect("the question");
        assert!(text.contains("\"by\": 3"), "{text}");
        std::fs::write(&path, text.replace("\"by\": 3", "\"by\": 1")).expect("written");
        assert_eq!(listed(&postern)[0]["state"], "changed");
        let (exit, refused) = document(&postern, &["approve", id(&found[0])]);
        assert_eq!((exit, &refused["error"]["code"]), (exit::SETUP, &json!("approval-changed")), "{refused}");
    });
    let value = run.ok();
    assert_eq!(
        (&value["code"], &value["details"]["kind"]),
        (&json!(call::BLOCKED), &json!("question-changed"))
    );
    assert_eq!(run.calls()[0]["reasons"][0]["code"], "question-changed", "{run:#?}");
    assert!(journal(&postern, &run).contains("question-changed"));
    assert_eq!(log.started(), [""; 0]);
    assert_eq!(files(&postern), 0);
}

#[test]
fn an_answer_that_was_not_given_counts_for_nothing() {
    let (postern, log) = asking();
    let run = meanwhile(&postern, COUNT, || {
        let found = waiting(&postern, 1);
        let question = &found[0]["question"];
        let forged = json!({"content": {"id": id(&found[0]), "seal": question["seal"], "shown_sha256": "00",
            "at": question["asked"], "say": {"decision": "approve"}}, "mac": "00".repeat(32)});
        let path = file(&postern, &format!("{}.answer.json", id(&found[0])));
        std::fs::write(path, forged.to_string()).expect("written");
    });
    let value = run.ok();
    assert_eq!(
        (&value["code"], &value["details"]["kind"]),
        (&json!(call::BLOCKED), &json!("answer-tampered"))
    );
    assert!(journal(&postern, &run).contains("answer-tampered"));
    assert_eq!(log.started(), [""; 0]);
}

#[test]
fn nobody_answers_in_time() {
    let (mut postern, log) = asking();
    postern.set("approvals.timeout", "1s");
    let run = postern.run_js(COUNT);
    assert_eq!(run.ok()["code"], "approval-expired", "{run:#?}");
    assert_eq!(run.attempts(), [("t/counter", "ask", "approval-expired")]);
    assert_eq!(log.started(), [""; 0]);
    assert_eq!(files(&postern), 0);
}

/// A run whose process is at hand.
fn start(postern: &Postern, name: &str, source: &str) -> Child {
    let script = postern.write(name, source);
    let config = postern.write_config();
    let mut command = Command::new(binary("postern"));
    command.arg("run").arg(script).arg("--config").arg(config).arg("--record-dir").arg(postern.records());
    command.args(["--approvals", "queue", "--json"]).current_dir(postern.folder());
    command.env("POSTERN_HOME", postern.path("home")).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("postern starts")
}

fn finish(child: Child) -> Value {
    let output = child.wait_with_output().expect("it ends");
    serde_json::from_slice(&output.stdout).expect("a document")
}

fn signal(child: &Child, signal: &str) {
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(status.expect("kill runs").success());
}

#[cfg(unix)]
#[test]
fn an_answer_is_for_one_call_and_used_once() {
    let (postern, log) = asking();
    let twice = "const said = [];\n\
                 for (let n = 0; n < 2; n++) {\n\
                   try { await tools.t.counter({ by: 3 }); said.push('ok'); } catch (e) { said.push(e.details?.kind ?? e.code); }\n\
                 }\n\
                 return said;";
    let one = start(&postern, "one.js", twice);
    let first = id(&waiting(&postern, 1)[0]).to_owned();
    let other = start(&postern, "other.js", COUNT);
    let second = waiting(&postern, 2).iter().map(id).find(|id| *id != first).expect("another").to_owned();

    // Stopped, the run cannot take its answer before it has been copied.
    signal(&one, "-STOP");
    assert_eq!(approvals(&postern, &["approve", &first]).exit, exit::OK);
    assert_eq!(listed(&postern).iter().find(|one| id(one) == first).expect("it")["state"], "answered");
    let (_, again) = document(&postern, &["approve", &first]);
    assert_eq!(again["error"]["code"], "approval-answered", "{again}");
    let answer = std::fs::read(file(&postern, &format!("{first}.answer.json"))).expect("the answer");

    std::fs::write(file(&postern, &format!("{second}.answer.json")), &answer).expect("written");
    let other = finish(other);
    assert_eq!(other["value"]["details"]["kind"], "answer-of-another", "{other:#}");
    assert_eq!(log.started(), [""; 0]);

    signal(&one, "-CONT");
    let third = loop {
        let all = waiting(&postern, 1);
        if id(&all[0]) != first {
            break id(&all[0]).to_owned();
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    std::fs::write(file(&postern, &format!("{third}.answer.json")), &answer).expect("written");
    let one = finish(one);
    assert_eq!(one["value"], json!(["ok", "answer-used"]), "{one:#}");
    assert_eq!(log.started(), ["counter"]);
    assert_eq!(files(&postern), 0);
}

#[cfg(unix)]
#[test]
fn a_dead_run_leaves_a_stale_question_and_a_cancelled_one_leaves_none() {
    let (postern, log) = asking();
    let mut dead = start(&postern, "dead.js", COUNT);
    let found = waiting(&postern, 1);
    dead.kill().expect("killed");
    dead.wait().expect("it ends");
    assert_eq!(listed(&postern)[0]["state"], "stale");
    let (exit, refused) = document(&postern, &["approve", id(&found[0])]);
    assert_eq!((exit, &refused["error"]["code"]), (exit::SETUP, &json!("approval-stale")), "{refused}");
    assert_eq!(files(&postern), 0, "it has been cleaned away");

    let cancelled = start(&postern, "cancelled.js", COUNT);
    waiting(&postern, 1);
    signal(&cancelled, "-INT");
    assert_eq!(finish(cancelled)["outcome"], "cancelled");
    assert_eq!(files(&postern), 0);
    assert_eq!(log.started(), [""; 0]);
}

#[test]
fn one_answer_covers_a_group_and_outliers_wait_beside_it() {
    let (mut postern, _) = asking();
    let log = postern.log("fs");
    let story = json!({"tools": [tool("move_file", &["source", "destination"], "moved")]});
    let server = Server::story(postern.folder(), &story).log(&log);
    postern.server("fs", server);
    postern.write(
        "policy.cedar",
        "@id(\"see\")\n@reason(\"moves are seen\")\n@verdict(\"ask\")\n\
         forbid (principal, action == Action::\"fs/move_file\", resource);\n",
    );
    let source = "const files = ['/tmp/old/1', '/tmp/old/2', '/home/ann/notes', '/tmp/old/3'];\n\
        const move = (source) => tools.fs.move_file({ source, destination: '/tmp/trash/' });\n\
        const said = await Promise.allSettled(files.map(move));\n\
        return said.map((one) => one.reason?.code ?? one.status);";
    let run = meanwhile(&postern, source, || {
        // One question for the folder, one for the outlier, at the same time.
        let found = waiting(&postern, 2);
        let of = |part: &str| {
            let holds = |one: &&Value| {
                one["question"]["arguments"]["source"].as_str().is_some_and(|s| s.starts_with(part))
            };
            id(found.iter().find(holds).unwrap_or_else(|| panic!("{part}: {found:#?}")))
        };
        let (_, none) = document(&postern, &["approve", of("/tmp/old/"), "--group=0"]);
        assert_eq!(none["error"]["code"], "approval-no-group", "{none}");
        let group = approvals(&postern, &["approve", of("/tmp/old/"), "--group=2", "--by", "Ann"]);
        assert_eq!(group.exit, exit::OK, "{group:#?}");
        assert_eq!(approvals(&postern, &["deny", of("/home/"), "--reason", "mine"]).exit, exit::OK);
        // The group was of two; the third is asked about again.
        let deadline = Instant::now() + Duration::from_secs(30);
        let third = loop {
            let all = waiting(&postern, 1);
            if !found.iter().any(|one| id(one) == id(&all[0])) {
                break id(&all[0]).to_owned();
            }
            assert!(Instant::now() < deadline, "{all:#?}");
        };
        assert_eq!(approvals(&postern, &["approve", &third, "--group"]).exit, exit::OK);
    });
    assert_eq!(*run.ok(), json!(["fulfilled", "fulfilled", "approval-denied", "fulfilled"]), "{run:#?}");
    assert_eq!(log.started().len(), 3);
    // The record says for each call who decided, and of the one that nobody was asked about, whose answer covers it.
    let journal = journal(&postern, &run);
    let outcomes = journal.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let mut said: Vec<Value> = outcomes.filter_map(|line: Value| line["approvals"].get(0).cloned()).collect();
    said.sort_by_key(|approval| approval["said"].to_string());
    let words: Vec<&str> = said.iter().filter_map(|approval| approval["said"].as_str()).collect();
    assert_eq!(words, ["approved-like", "approved-like", "covered", "denied"], "{said:#?}");
    let ann = json!({"via": "queue", "who": "Ann"});
    assert_eq!(said[2]["by"], ann);
    let covering =
        said.iter().find(|one| one["question"] == said[2]["question"]).expect("the question of the group");
    assert_eq!((&covering["said"], &covering["by"]), (&json!("approved-like"), &ann));
}

#[test]
fn secrets_do_not_lie_in_the_queue() {
    const SECRET: &str = "correct-horse-9";
    let (mut postern, _) = asking();
    let log = postern.log("crm");
    let story = json!({"tools": [tool("login", &["user", "password"], "welcome")]});
    let server = Server::story(postern.folder(), &story).log(&log);
    postern.server("crm", server);
    postern.write(
        "policy.cedar",
        "@id(\"see\")\n@reason(\"logins are seen\")\n@verdict(\"ask\")\n\
         forbid (principal, action == Action::\"crm/login\", resource);\n",
    );
    let source = format!("return await tools.crm.login({{ user: 'ann', password: '{SECRET}' }});");
    let run = meanwhile(&postern, &source, || {
        let found = waiting(&postern, 1);
        let path = file(&postern, &format!("{}.question.json", id(&found[0])));
        let text = std::fs::read_to_string(&path).expect("the question");
        assert!(text.contains("[redacted ") && text.contains("ann") && !text.contains(SECRET), "{text}");
        let shown = approvals(&postern, &["show", id(&found[0])]);
        assert!(!shown.stdout.contains(SECRET) && shown.stdout.contains("[redacted "), "{shown:#?}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let mode = |path: PathBuf| std::fs::metadata(path).expect("there").mode() & 0o777;
            assert_eq!(mode(path), 0o600);
            assert_eq!(mode(file(&postern, "")), 0o700);
            let key = postern.path("home").join("approvals-key");
            assert_eq!(mode(key.clone()), 0o600);
            let key = std::fs::read_to_string(key).expect("the key");
            assert!(!text.contains(key.trim()));
        }
        assert_eq!(approvals(&postern, &["approve", id(&found[0])]).exit, exit::OK);
    });
    assert_eq!(*run.ok(), "welcome");
    assert_eq!(log.lines()[0]["arguments"]["password"], SECRET, "what was approved is what is sent");
    // The marker is that of the record: whoever reads both knows it again.
    assert!(journal(&postern, &run).contains("[redacted "));
    let key = std::fs::read_to_string(postern.path("home").join("approvals-key")).expect("the key");
    assert!(!journal(&postern, &run).contains(key.trim()));
}

#[test]
fn the_choice_has_one_name_everywhere_and_a_profile_only_narrows() {
    let (mut postern, log) = asking();
    postern.set("approvals.mode", "never").set("profiles.job.approvals", "queue");
    let matrix = postern.json(&["profiles"]);
    assert_eq!(matrix["profiles"][0]["approvals"], "never");
    assert_eq!(matrix["profiles"][1]["approvals"], "never", "a profile cannot ask where nobody is asked");
    postern.set("approvals.mode", "queue").set("profiles.job.approvals", "deny");
    assert_eq!(postern.json(&["profiles"])["profiles"][1]["approvals"], "deny");
    postern.flags(["--profile", "job"]);
    let run = postern.run_js(COUNT);
    assert_eq!(run.ok()["code"], "approval-denied", "the flag says queue, the profile is stricter: {run:#?}");
    assert_eq!(run.outcome(), outcome::OK);
    assert_eq!(log.started(), [""; 0]);
    assert_eq!(files(&postern), 0);
}
