//! The policy as people meet it: checked, explained, shown, and refused when it means nothing.

use std::path::Path;

use postern_tests::words::exit;
use postern_tests::{Finished, Postern, Server, workspace_root};
use serde_json::{Value, json};

/// With the servers that the documentation's examples name. None of them is ever started.
fn with_servers() -> Postern {
    let mut postern = Postern::new();
    for name in ["fs", "mail", "crm"] {
        postern.server(name, Server::stdio(["postern-no-such-program"]));
    }
    postern
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn command(postern: &Postern, words: &[&str]) -> Finished {
    let config = postern.write_config();
    let mut all = words.to_vec();
    all.extend(["--config", text(&config)]);
    postern.command(&all)
}

fn document(finished: &Finished) -> Value {
    serde_json::from_str(&finished.stdout).unwrap_or_else(|e| panic!("no document ({e}): {finished:#?}"))
}

fn explain(postern: &Postern, call: &Value) -> Value {
    let path = postern.write("call.json", call.to_string());
    postern.json(&["policy", "explain", text(&path)])
}

fn ids(explained: &Value) -> Vec<&str> {
    let rules = explained["rules"].as_array().expect("rules");
    rules.iter().map(|rule| rule["id"].as_str().expect("an id")).collect()
}

#[test]
fn the_default_policy_is_in_force_without_any_configuration() {
    let postern = Postern::new();
    let checked = postern.json(&["policy", "check"]);
    assert_eq!(checked["ok"], true);
    let shown = command(&postern, &["policy", "show"]);
    let default = std::fs::read_to_string(workspace_root().join("host/src/policy/default.cedar"));
    assert_eq!(shown.stdout.trim_end(), default.expect("the default policy").trim_end());
    let shown = postern.json(&["policy", "show"]);
    assert_eq!(shown["version"].as_str().map(str::len), Some(64));
    assert!(
        shown["rules"]
            .as_array()
            .is_some_and(|rules| rules.len() as u64 >= checked["rules"].as_u64().unwrap_or(99))
    );
}

#[test]
fn a_call_is_explained() {
    let mut postern = with_servers();
    postern.set("agent.id", "reporting");
    let scores = json!({
        "unsafe": 0.9, "approval_policy": {"allow": 0.8, "require_human": 0.1, "reject": 0.1},
        "args_grounded": 0.9, "blast_radius": 0.5, "effect": "write", "exfiltration": 0.0, "injected": 0.0,
    });
    let call = json!({
        "tool": "mail/send", "outside": true, "side_effects": true, "scores": scores,
        "findings": [{"code": "private-outward", "path": "/body", "message": "body holds the rows of crm/list"}],
    });
    let explained = explain(&postern, &call);
    assert_eq!(explained["verdict"], "block");
    assert_eq!(explained["reasons"][0], json!({"code": "unsafe", "message": "unsafe 0.90 >= 0.80"}));
    assert_eq!(ids(&explained), ["granted", "guard-unsafe-block", "flow-ask"]);
    assert_eq!(explained["without_scores"]["verdict"], "ask");
    assert_eq!(explained["without_scores"]["reasons"][0]["message"], "body holds the rows of crm/list");
    // For people too, from standard input.
    let config = postern.write_config();
    let words = ["policy", "explain", "-", "--config", text(&config)];
    let finished = postern.command_with(&words, &call.to_string());
    assert_eq!(finished.exit, exit::OK, "{finished:#?}");
    for part in ["block", "guard-unsafe-block", "default.cedar", "line", "without the guard"] {
        assert!(finished.stdout.contains(part), "{part}: {finished:#?}");
    }
}

#[test]
fn a_call_document_that_means_nothing_is_refused() {
    let postern = with_servers();
    for (call, part) in [
        (json!({"tool": "mail/send", "findings": ["sql_write"]}), "sql-write"),
        (json!({"tool": "mail/send", "outsid": true}), "outsid"),
        (json!({"tool": "send"}), "server/tool"),
    ] {
        let path = postern.write("call.json", call.to_string());
        let finished = command(&postern, &["policy", "explain", text(&path)]);
        assert_eq!(finished.exit, exit::SETUP, "{finished:#?}");
        assert!(finished.stderr.contains(part), "{finished:#?}");
    }
}

/// Runs a script whose policy is wrong; it must not start.
#[track_caller]
fn refused(postern: &Postern, parts: &[&str]) {
    let run = postern.write("script.js", "console.log('it ran'); return 1;");
    let finished = postern.run_raw(&[text(&run)], &[]);
    assert_eq!(finished.exit, exit::SETUP, "{finished:#?}");
    assert!(!finished.stdout.contains("it ran"), "{finished:#?}");
    for part in parts {
        assert!(finished.stderr.contains(part), "{part}: {finished:#?}");
    }
}

/// Row 34: AGT#2926, harness#384, agentgateway#3092. A misspelt key or rule was taken, and nothing was protected.
#[test]
fn row_34_a_bad_policy_does_not_start() {
    let mut postern = with_servers();
    postern.set("policy.defaultAction", "deny");
    refused(&postern, &["defaultAction"]);

    let mut postern = with_servers();
    postern.set("policy.file", "nowhere.cedar");
    refused(&postern, &["nowhere.cedar"]);

    let mut postern = with_servers();
    postern.set("policy.file", "policy.cedar");
    for (rule, parts) in [
        ("defaultAction: deny", &["policy.cedar:1:"][..]),
        (
            "// a rule\nforbid (principal, action, resource)\nwhen { context.findings.contains(\"sql-wirte\") };",
            &["policy.cedar:3:", "sql-wirte", "sql-write", "| when"],
        ),
        (
            "forbid (principal, action == Action::\"fx/write\", resource);",
            &["policy.cedar:1:", "did you mean fs"],
        ),
        (
            "forbid (principal, action, resource) when { context.calls > 5 && context.calls < 3 };",
            &["policy.cedar:1:", "never apply"],
        ),
    ] {
        postern.write("policy.cedar", rule);
        refused(&postern, parts);
        let checked = command(&postern, &["policy", "check", "--offline", "--json"]);
        assert_eq!(checked.exit, exit::SETUP, "{checked:#?}");
        let checked = document(&checked);
        assert_eq!(
            (&checked["ok"], &checked["errors"][0]["code"]),
            (&json!(false), &json!("policy-invalid"))
        );
    }
}

/// Row 34: rules about arguments do not empty the list of tools, and a run goes on as before.
#[test]
fn a_rule_about_arguments_leaves_tools_alone() {
    let mut postern = Postern::new();
    postern.permissive_guard().server("t", Server::test()).set("policy.file", "policy.cedar");
    let before = {
        let mut plain = Postern::new();
        plain.server("t", Server::test());
        plain.tools()
    };
    postern.write(
        "policy.cedar",
        "forbid (principal, action, resource) when { context.call.hasTag(\"nothing-such\") };",
    );
    assert_eq!(postern.tools(), before);
    assert_eq!(*postern.run_js("return (await tools.t.counter({ by: 1 })).count;").ok(), json!(1));
}

#[test]
fn tools_that_a_server_does_not_have_are_found_when_it_is_asked() {
    let mut postern = Postern::new();
    postern.server("t", Server::test());
    let rule = "@verdict(\"ask\")\nforbid (principal, action == Action::\"t/countr\", resource);";
    let file = postern.write("own.cedar", rule);
    let offline = command(&postern, &["policy", "check", text(&file), "--offline"]);
    assert_eq!(offline.exit, exit::OK, "{offline:#?}");
    let asked = command(&postern, &["policy", "check", text(&file)]);
    assert_eq!(asked.exit, exit::SETUP, "{asked:#?}");
    for part in ["own.cedar:2:", "countr", "counter"] {
        assert!(asked.stderr.contains(part), "{part}: {asked:#?}");
    }
    // A server that does not answer is no reason to refuse.
    let mut postern = with_servers();
    postern.set("policy.file", "policy.cedar");
    postern.write("policy.cedar", "forbid (principal, action == Action::\"fs/anything\", resource);");
    let checked = postern.json(&["policy", "check"]);
    assert_eq!((&checked["ok"], checked["notes"].as_array().map(Vec::len)), (&json!(true), Some(3)));
}

#[test]
fn a_file_adds_to_the_default_policy_or_replaces_it() {
    let mut postern = with_servers();
    postern.set("policy.file", "policy.cedar");
    postern.write("policy.cedar", "@id(\"mine\") permit (principal, action, resource == Server::\"fs\");");
    let leak = json!({"tool": "fs/write_file", "findings": ["secret-outward"]});
    assert_eq!(explain(&postern, &leak)["verdict"], "block");
    postern.set("policy.replace_default", true);
    let explained = explain(&postern, &leak);
    assert_eq!((&explained["verdict"], ids(&explained)), (&json!("allow"), vec!["mine"]));
    let other = explain(&postern, &json!({"tool": "mail/send"}));
    assert_eq!((&other["verdict"], &other["reasons"][0]["code"]), (&json!("block"), &json!("no-permit")));
    assert_ne!(explained["policy_version"], with_servers().json(&["policy", "show"])["version"]);
}

#[test]
fn a_call_of_the_record_is_explained() {
    let mut postern = Postern::new();
    postern.asking_guard().server("t", Server::test());
    let run = postern.run_js("try { await tools.t.counter({ by: 3 }); } catch (e) {} return 1;");
    let id = run.document["run"].as_str().expect("a run").to_owned();
    let records = postern.records();
    let words = ["policy", "explain", &id, "1", "--record-dir", text(&records)];
    let explained = postern.json(&words);
    assert_eq!(explained["verdict"], "ask");
    assert!(ids(&explained).contains(&"guard-unsafe-ask"), "{explained:#}");
    assert_eq!(explained["without_scores"]["verdict"], "allow");
    let missing = command(&postern, &["policy", "explain", &id, "7", "--record-dir", text(&records)]);
    assert_eq!(missing.exit, exit::SETUP, "{missing:#?}");
    assert!(missing.stderr.contains("no call 7"), "{missing:#?}");
}

/// The examples of docs/policy.md: `json` blocks follow the rules they are about, and say the verdict.
#[test]
fn the_documented_examples_decide_as_documented() {
    let page = std::fs::read_to_string(workspace_root().join("docs/policy.md")).expect("the page");
    let mut postern = with_servers();
    postern.set("policy.file", "policy.cedar");
    let (mut rules, mut calls) = (0, 0);
    let mut open: Option<(String, String)> = None;
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(kind)) => open = Some((kind.to_owned(), String::new())),
            (Some((_, body)), None) => {
                body.push_str(line);
                body.push('\n');
            }
            (Some(_), Some(_)) => {
                let (kind, body) = open.take().expect("it is open");
                if kind == "cedar" {
                    postern.write("policy.cedar", &body);
                    let checked = command(&postern, &["policy", "check", "--offline"]);
                    assert_eq!(checked.exit, exit::OK, "{body}: {checked:#?}");
                    rules += 1;
                } else if let Some(verdict) = kind.strip_prefix("json ") {
                    let call: Value = serde_json::from_str(&body).expect("a call");
                    assert_eq!(explain(&postern, &call)["verdict"], verdict, "{body}");
                    calls += 1;
                }
            }
            (None, None) => {}
        }
    }
    assert!(rules >= 4 && calls >= 8, "{rules} rules and {calls} calls");
}

/// Every finding is in the page's table, and none that is not there.
#[test]
fn the_documented_findings_are_all_there_are() {
    let page = std::fs::read_to_string(workspace_root().join("docs/policy.md")).expect("the page");
    let table = page.split("## Findings").nth(1).and_then(|rest| rest.split("## Examples").next());
    let rows =
        table.expect("the table").lines().filter(|line| line.starts_with("| ") && line.contains("| `"));
    let postern = with_servers();
    let mut documented = 0;
    for row in rows {
        let code = row.split('`').nth(1).expect("a code");
        let explained = explain(&postern, &json!({"tool": "fs/x", "findings": [code]}));
        assert_eq!(explained["findings"][0]["code"], code);
        let meaning = explained["findings"][0]["message"].as_str().expect("a meaning");
        assert!(row.contains(meaning), "{row}: {meaning}");
        documented += 1;
    }
    assert!(documented >= 40, "{documented} findings");
}
