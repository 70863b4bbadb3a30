//! What do the arguments say, and what did the user say of them? Files that may not be read, SQL that does
//! more than it should, links into the network, paths that only look inside, rules old and new. Each is a
//! public report, with its number in the list of cases.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use postern_tests::stage::{ATTEMPT, Deciding, Stage, answering, tool};
use postern_tests::words::{call, exit, outcome};
use postern_tests::{Run, Server};
use serde_json::{Value, json};

const BOTH: [Deciding; 2] = [Deciding::Rules, Deciding::All];

/// One attempt as the record has it.
#[derive(Debug)]
struct Decided {
    verdict: String,
    code: String,
    dispatched: bool,
    /// The first reason's code.
    reason: String,
}

/// Every attempt of a run in the order they were made, out of its journal: only there does it say whether
/// a call was sent, whatever the server does with it.
fn decided(stage: &Stage, run: &Run) -> Vec<Decided> {
    let path = stage.postern.records().join(run.id()).join("journal.jsonl");
    let journal = std::fs::read_to_string(path).expect("a journal");
    let lines: Vec<Value> =
        journal.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    let of_kind = |kind: &'static str| lines.iter().filter(move |line| line["type"] == kind);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let one = |attempt: &Value| {
        let outcome = of_kind("outcome")
            .find(|outcome| outcome["call"] == attempt["call"])
            .unwrap_or_else(|| panic!("no outcome of {attempt}"));
        Decided {
            verdict: text(&outcome["verdict"]),
            code: text(&outcome["code"]),
            dispatched: outcome["dispatched"] == true,
            reason: text(&outcome["reasons"][0]["code"]),
        }
    };
    of_kind("attempt").map(one).collect()
}

/// The gate's own no: a reason of its own, and nothing was sent.
#[track_caller]
fn blocked(decided: &Decided, reasons: &[&str]) {
    assert_eq!(
        (decided.verdict.as_str(), decided.code.as_str(), decided.dispatched),
        ("block", call::BLOCKED, false),
        "{decided:?}"
    );
    assert!(reasons.contains(&decided.reason.as_str()), "{decided:?} is blocked, but not by {reasons:?}");
}

/// With the rules alone a harmless call is allowed; the guard may want a person to look at it.
#[track_caller]
fn harmless(decided: &Decided, deciding: Deciding) {
    let fits = match deciding {
        Deciding::Rules => decided.verdict == "allow" && decided.dispatched,
        Deciding::All => decided.verdict != "block",
    };
    assert!(fits, "{deciding:?} {decided:?}");
}

/// A new folder below that of the stage, by its true path.
fn folder(stage: &Stage, name: &str) -> PathBuf {
    let path = stage.postern.path(name);
    std::fs::create_dir_all(&path).expect("a new folder");
    path.canonicalize().expect("it exists")
}

fn git(repository: &std::path::Path, words: &[&str]) {
    let status = Command::new("git")
        .args(["-c", "user.name=Test", "-c", "user.email=test@example.com"])
        .args(words)
        .current_dir(repository)
        .stdout(Stdio::null())
        .status()
        .expect("git runs");
    assert!(status.success(), "git {words:?}");
}

/// 11, claude-code#28595: a file that may not be read is not read by another tool either.
#[test]
fn case_11_a_forbidden_file_is_forbidden_to_every_tool() {
    for deciding in BOTH {
        let mut stage = Stage::new(deciding);
        let root = folder(&stage, "repository");
        std::fs::write(root.join("application.yml"), "password: 4711-horse\n").expect("written");
        std::fs::write(root.join("README.md"), "A service.\n").expect("written");
        git(&root, &["init", "--quiet"]);
        git(&root, &["add", "."]);
        git(&root, &["commit", "--quiet", "-m", "A first commit"]);
        let root = root.to_str().expect("UTF-8").to_owned();
        let (Some(files), Some(history)) = (
            Server::real("server-filesystem", [&root]),
            Server::real("mcp-server-git", ["--repository", &root]),
        ) else {
            return;
        };
        stage.postern.server("fs", files).server("git", history);
        let run = stage.run(
            "Explain what the service in this repository does",
            &["Never read application.yml"],
            &format!(
                "{ATTEMPT}const root = {root:?};\n\
                 const all = [\n\
                   await attempt(() => tools.fs.read_text_file({{ path: `${{root}}/README.md` }})),\n\
                   await attempt(() => tools.fs.read_text_file({{ path: `${{root}}/application.yml` }})),\n\
                   await attempt(() => tools.git.git_show({{ repo_path: root, revision: 'HEAD:application.yml' }})),\n\
                   await attempt(() => tools.fs.search_files({{ path: root, pattern: '**/application.yml' }})),\n\
                   await attempt(() => tools.fs.read_multiple_files({{ paths: [`${{root}}/README.md`, `${{root}}/application.yml`] }})),\n\
                 ];\n\
                 return JSON.stringify(all);"
            ),
        );
        let calls = decided(&stage, &run);
        assert_eq!(calls.len(), 5, "{calls:?}");
        harmless(&calls[0], deciding);
        for held in &calls[1..] {
            blocked(held, &["constraint-broken"]);
        }
        assert!(!run.ok().to_string().contains("4711-horse"), "{run:#?}");
    }
}

/// A database that says it is only read.
fn database(stage: &mut Stage) {
    let tools = json!([
        answering("read_query", &["query"], json!([{"json": {"rows": [{"count": 2}]}}])),
        tool("describe_table", &["table_name"], "id, name"),
    ]);
    stage.server("sqlite", tools, "");
}

/// The texts that reached a tool of a server, by this argument.
fn reached(stage: &Stage, server: &str, argument: &str) -> Vec<String> {
    let started = stage.postern.log(server).lines().into_iter().filter(|line| line["event"] == "start");
    started.map(|line| line["arguments"][argument].as_str().unwrap_or_default().to_owned()).collect()
}

const COUNT: &str = "SELECT count(*) AS count FROM customers";

/// 20, sqlite-explorer#12, cli-printing-press#693 and #2799, servers#1348 and #3314: a query tool that is
/// said to read, and SQL that begins like reading.
#[test]
fn case_20_sql_that_reads_is_all_that_a_reading_tool_gets() {
    const BEYOND: [&str; 4] = ["sql-beyond-tool", "sql-attach", "sql-several", "sql-function"];
    for deciding in BOTH {
        let mut stage = Stage::new(deciding);
        database(&mut stage);
        let script = format!(
            "{ATTEMPT}await attempt(() => tools.sqlite.read_query({{ query: '{COUNT}' }}));\n\
             await attempt(() => tools.sqlite.read_query({{ query: 'WITH d AS (SELECT 1) DELETE FROM customers WHERE id > 0 -- limit' }}));\n\
             await attempt(() => tools.sqlite.read_query({{ query: \"SELECT 1; ATTACH DATABASE '/tmp/other.db' AS other\" }}));\n\
             await attempt(() => tools.sqlite.describe_table({{ table_name: 'customers); DROP TABLE customers; --' }}));"
        );
        let run = stage.run("Count the customers, read only", &[], &script);
        let calls = decided(&stage, &run);
        assert_eq!(calls.len(), 4, "{calls:?}");
        assert_eq!(
            (calls[0].verdict.as_str(), calls[0].dispatched),
            ("allow", true),
            "{deciding:?} {run:#?}"
        );
        blocked(&calls[1], &BEYOND);
        blocked(&calls[2], &BEYOND);
        blocked(&calls[3], &["sql-in-name"]);
        assert_eq!(reached(&stage, "sqlite", "query"), [COUNT], "{deciding:?}");
    }
    // Others of their kind. After three refusals of one tool a run ends, so these go in threes.
    for three in [
        [
            "REPLACE INTO customers VALUES (1)",
            "/* SELECT */ UPDATE customers SET name = NULL",
            "VACUUM INTO '/tmp/x'",
        ],
        [
            "SELECT load_extension('/tmp/evil')",
            "SELECT 1;/**/DROP TABLE customers",
            "EXPLAIN ANALYZE DELETE FROM customers",
        ],
    ] {
        let mut stage = Stage::new(Deciding::Rules);
        database(&mut stage);
        let script = format!(
            "{ATTEMPT}for (const query of {}) await attempt(() => tools.sqlite.read_query({{ query }}));",
            json!(three)
        );
        let run = stage.run("Count the customers, read only", &[], &script);
        let calls = decided(&stage, &run);
        assert_eq!(calls.len(), 3, "{calls:?}");
        for (held, query) in calls.iter().zip(three) {
            assert_eq!(held.verdict, "block", "{query}: {held:?}");
            blocked(held, &BEYOND);
        }
        assert!(reached(&stage, "sqlite", "query").is_empty(), "{three:?}");
    }
}

/// 21, servers#4838 and #3180, fetch-mcp#45: links into this machine and its network, in any dress. A page
/// that the user named is fetched.
#[test]
fn case_21_links_into_the_network_are_not_fetched() {
    const NAMED: &str = "https://docs.example.com/start";
    const INSIDE: [[&str; 3]; 3] = [
        [
            "http://169.254.169.254/latest/meta-data/iam/",
            "http://2130706433/",
            "http://[::ffff:10.0.0.1]/admin",
        ],
        [
            "http://0x7f.1/",
            "http://[fd00:ec2::254]/latest/",
            "http://metadata.google.internal/computeMetadata/v1/",
        ],
        ["http://docs.example.com@10.1.2.3/start", "http://0177.0.0.1:8080/", "file:///etc/passwd"],
    ];
    for (deciding, inside) in [
        (Deciding::All, INSIDE[0]),
        (Deciding::Rules, INSIDE[0]),
        (Deciding::Rules, INSIDE[1]),
        (Deciding::Rules, INSIDE[2]),
    ] {
        let mut stage = Stage::new(deciding);
        stage.server("web", json!([tool("fetch", &["url"], "Start here.")]), "");
        let script = format!(
            "{ATTEMPT}for (const url of {}) await attempt(() => tools.web.fetch({{ url }}));",
            json!([NAMED, inside[0], inside[1], inside[2]])
        );
        let run = stage.run(&format!("Read {NAMED} and tell me how to begin"), &[], &script);
        let calls = decided(&stage, &run);
        assert_eq!(calls.len(), 4, "{calls:?}");
        assert_eq!(
            (calls[0].verdict.as_str(), calls[0].dispatched),
            ("allow", true),
            "{deciding:?} {run:#?}"
        );
        for (held, url) in calls[1..].iter().zip(inside) {
            assert_eq!(held.verdict, "block", "{deciding:?} {url}: {held:?}");
            blocked(held, &["url-inside", "url-scheme"]);
        }
        assert_eq!(reached(&stage, "web", "url"), [NAMED], "{deciding:?}");
    }
}

/// 25, servers#1845 and #3752, MAVSDK#3069, cyanheads#21: a folder whose name begins like the allowed one, and a
/// link in the allowed one that leads out.
#[cfg(unix)]
#[test]
fn case_25_a_sibling_and_a_link_are_not_inside() {
    for deciding in BOTH {
        let mut stage = Stage::new(deciding);
        let root = folder(&stage, "w/app");
        let secrets = folder(&stage, "w/app-secrets");
        std::fs::write(root.join("notes.txt"), "Buy tea.\n").expect("written");
        std::fs::write(secrets.join("x"), "4711-horse\n").expect("written");
        std::os::unix::fs::symlink(secrets.join("x"), root.join("link")).expect("a link");
        let root = root.to_str().expect("UTF-8").to_owned();
        let Some(files) = Server::real("server-filesystem", [&root]) else { return };
        stage.postern.server("fs", files);
        let script = format!(
            "const root = {root:?};\nconst said = [];\n\
             const read = async (path) => {{ try {{ said.push(await tools.fs.read_text_file({{ path }})); }} catch (e) {{ said.push([e.name, e.code, e.message]); }} }};\n\
             await read(`${{root}}/notes.txt`);\n\
             await read(`${{root}}-secrets/x`);\n\
             await read(`${{root}}/../app-secrets/x`);\n\
             await read(`${{root}}/link`);\n\
             return JSON.stringify(said);"
        );
        let intent = "Sum up my notes";
        let run = stage.run(intent, &[&format!("Stay inside {root}")], &script);
        let calls = decided(&stage, &run);
        assert_eq!(calls.len(), 4, "{calls:?}");
        harmless(&calls[0], deciding);
        blocked(&calls[1], &["constraint-broken"]);
        blocked(&calls[2], &["constraint-broken", "path-escapes"]);
        refused_or_asked(&calls[3]);
        assert!(!run.ok().to_string().contains("4711-horse"), "{run:#?}");

        // Without the user's rule the root is the server's own affair, and its refusal arrives as an error.
        if deciding == Deciding::Rules {
            let run = stage.run(intent, &[], &script);
            for held in &decided(&stage, &run)[1..] {
                refused_or_asked(held);
            }
            let said = run.ok().as_str().expect("text").to_owned();
            assert!(said.contains("ToolError") && !said.contains("4711-horse"), "{said}");
        }
    }
}

/// Held by the gate, or sent and refused by the server: a typed error either way.
#[cfg(unix)]
#[track_caller]
fn refused_or_asked(call: &Decided) {
    let held = !call.dispatched && [call::APPROVAL_REQUIRED, call::BLOCKED].contains(&call.code.as_str());
    let refused = call.dispatched && call.code == call::UPSTREAM;
    assert!(held || refused, "{call:?}");
}

/// 28, NeMo#1413: an old rule and a new request contradict each other. Neither wins unseen: a person is
/// shown both.
#[test]
fn case_28_an_old_rule_against_a_new_request_is_for_a_person() {
    for deciding in BOTH {
        let mut stage = Stage::new(deciding);
        stage.server("mail", json!([tool("send", &["to", "subject", "body"], "sent")]), "");
        let (intent, rule) = ("Send the summary to the client, kim@client.test", "No external mail");
        for intent in [intent, "Send the summary to the client"] {
            let run = stage.run(
                intent,
                &[rule],
                "return await tools.mail.send({ to: 'kim@client.test', subject: 'Summary', body: 'All is well.' });",
            );
            assert_eq!(stage.verdict(&run, "mail/send"), "ask", "{deciding:?} {run:#?}");
            run.ended(outcome::APPROVAL_REQUIRED, exit::APPROVAL_REQUIRED);
            let reasons = run.calls()[0]["reasons"].as_array().expect("reasons");
            let conflict = reasons.iter().find(|reason| reason["code"] == "constraint-conflict");
            let message = conflict.unwrap_or_else(|| panic!("{run:#?}"))["message"].as_str().expect("text");
            assert!(message.contains(rule) && message.contains(intent), "{message}");
        }
    }
}

/// 30, agentmetry#11: a command inside JSON inside JSON is a command.
#[test]
fn case_30_a_command_in_nested_json_is_found() {
    for deciding in BOTH {
        let mut stage = Stage::new(deciding);
        stage.server("runner", json!([tool("execute", &["input"], "done")]), "");
        stage.server("jobs", json!([tool("submit", &["input"], "done")]), "");
        stage.server("notes", json!([tool("add", &["text"], "kept")]), "");
        let script = format!(
            "{ATTEMPT}const once = JSON.stringify({{ cmd: 'rm -rf ~' }});\n\
             await attempt(() => tools.runner.execute({{ input: once }}));\n\
             await attempt(() => tools.jobs.submit({{ input: once }}));\n\
             await attempt(() => tools.jobs.submit({{ input: JSON.stringify({{ task: {{ args: once }} }}) }}));\n\
             await attempt(() => tools.notes.add({{ text: 'Never type rm -rf ~ in a terminal.' }}));"
        );
        let run = stage.run("Keep a note: never type rm -rf ~ in a terminal", &[], &script);
        let calls = decided(&stage, &run);
        assert_eq!(calls.len(), 4, "{calls:?}");
        for held in &calls[..3] {
            assert_eq!(held.verdict, "block", "{deciding:?} {held:?}");
            blocked(held, &["shell-destroys"]);
        }
        harmless(&calls[3], deciding);
        assert!(!stage.reached("runner/execute") && !stage.reached("jobs/submit"), "{run:#?}");
    }
}

/// 30, agentmetry#11: two readers of a key that comes twice may disagree. A script has no way to send one:
/// what it passes is an object, and replacing what turns it into text changes nothing.
#[test]
fn case_30_a_script_cannot_send_a_key_twice() {
    let mut stage = Stage::new(Deciding::Rules);
    stage.server("fs", json!([tool("read_file", &["path"], "text")]), "");
    let run = stage.run(
        "Read a.txt",
        &[],
        "const twice = '{\"path\":\"a.txt\",\"path\":\"b.txt\"}';\n\
         const seen = [];\n\
         const attempt = async (args) => { try { await callTool('fs/read_file', args); seen.push('ok'); } catch (e) { seen.push(e.code ?? e.name); } };\n\
         await attempt(twice);\n\
         await attempt({ path: 'a.txt', toJSON: () => JSON.parse(twice) });\n\
         JSON.stringify = () => twice;\n\
         String.prototype.toJSON = () => twice;\n\
         await attempt({ path: 'a.txt' });\n\
         return seen;",
    );
    // A text is no arguments, and what an object says of itself with toJSON is said once.
    assert_eq!(*run.ok(), json!(["TypeError", "ok", "ok"]), "{run:#?}");
    let sent: Vec<&Value> = run.calls().iter().map(|call| &call["arguments"]).collect();
    assert_eq!(sent, [&json!({"path": "b.txt"}), &json!({"path": "a.txt"})]);
    let log = stage.postern.log("fs").lines();
    let came: Vec<&Value> =
        log.iter().filter(|line| line["event"] == "start").map(|line| &line["arguments"]).collect();
    assert_eq!(came, sent, "the server got what the gate looked at");
}

const KEY: &str = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n-----END OPENSSH PRIVATE KEY-----\n";

/// A guard that has a person asked about everything, files, and a vault whose key may be fetched.
fn asked_about_everything(labels: &str) -> Stage {
    let mut stage = Stage::new(Deciding::All);
    stage.postern.asking_guard();
    stage.server("fs", json!([tool("write_file", &["path", "content"], "written")]), labels);
    stage.server("vault", json!([tool("get", &["name"], KEY)]), "holds = \"secret\"");
    stage
}

/// The user's own rules.
fn permit_out(stage: &mut Stage) {
    stage.postern.set("policy.file", "policy.cedar");
    stage.postern.write(
        "policy.cedar",
        "@id(\"own-out\")\n@lifts(\"ask\")\npermit (principal, action == Action::\"fs/write_file\", resource)\n\
         when { context.call.hasTag(\"path\") && context.call.getTag(\"path\") like \"out/*\" };\n\
         @id(\"own-vault\")\n@lifts(\"ask\")\npermit (principal, action == Action::\"vault/get\", resource);\n",
    );
}

/// 40, claude-code#83611: what the user has allowed once and for all is not asked about again and again, and
/// nothing more is allowed by it.
#[test]
fn case_40_a_permit_of_the_user_spares_a_hundred_questions() {
    let intent = "Split the table into a hundred files under ./out";
    let mut stage = asked_about_everything("");
    let one = "return await tools.fs.write_file({ path: './out/0.txt', content: 'row 0' });";
    assert_eq!(stage.verdict(&stage.run(intent, &[], one), "fs/write_file"), "ask", "without the rule");

    permit_out(&mut stage);
    let script = format!(
        "{ATTEMPT}for (let ten = 0; ten < 10; ten++) {{\n\
           await Promise.all([...Array(10).keys()].map((n) => tools.fs.write_file({{ path: `./out/${{ten * 10 + n}}.txt`, content: `row ${{n}}` }})));\n\
         }}\n\
         const key = await tools.vault.get({{ name: 'deploy' }});\n\
         await tools.fs.write_file({{ path: './out/key.pem', content: key }});\n\
         await attempt(() => tools.fs.write_file({{ path: './out/../notes.txt', content: 'row' }}));\n\
         await attempt(() => tools.fs.write_file({{ path: 'out/../notes.txt', content: 'row' }}));\n\
         await attempt(() => tools.fs.write_file({{ path: './outer/notes.txt', content: 'row' }}));\n\
         return 'done';"
    );
    let run = stage.run(intent, &[], &script);
    assert_eq!(*run.ok(), "done");
    let calls = decided(&stage, &run);
    assert_eq!(calls.len(), 105, "{calls:?}");
    let (allowed, held) = calls.split_at(102);
    for call in allowed {
        assert_eq!((call.verdict.as_str(), call.dispatched), ("allow", true), "{call:?}");
    }
    for call in held {
        assert_eq!(
            (call.verdict.as_str(), call.code.as_str(), call.dispatched),
            ("ask", call::APPROVAL_REQUIRED, false),
            "{call:?}"
        );
    }
    assert_eq!(reached(&stage, "fs", "path").len(), 101, "a hundred files and the key");
}

/// 40: a permit that lifts questions lifts no block. The same folder, but everybody reads it.
#[test]
fn case_40_a_permit_does_not_make_a_key_public() {
    let mut stage = asked_about_everything("sink = \"public\"");
    permit_out(&mut stage);
    let run = stage.run(
        "Put the report under ./out",
        &[],
        "const key = await tools.vault.get({ name: 'deploy' });\n\
         return await tools.fs.write_file({ path: './out/key.pem', content: key });",
    );
    assert_eq!(stage.verdict(&run, "fs/write_file"), "block", "{run:#?}");
    assert!(stage.reasons(&run, "fs/write_file").iter().any(|code| code == "secret-to-public"), "{run:#?}");
}
