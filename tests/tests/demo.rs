//! The demo of examples/acme, as a user runs it: the shipped script, the shipped configuration, the
//! guard with its own thresholds.

use std::path::{Path, PathBuf};

use postern_tests::words::{call, exit};
use postern_tests::{Postern, sha256, workspace_root};
use serde_json::{Value, json};

const INTENT: &str = "Find customers who churned last quarter and draft a summary for the sales team";
const CONSTRAINT: &str = "Customer data must not leave acme.test systems";

const SUMMARY: &str = "\
# Churn, 2026-07-01 to 2026-10-01 (exclusive)

4 customers left; $3810 of monthly revenue lost.

| Customer | Plan | Left on | MRR |
|---|---|---|---|
| Hollis Labs | enterprise | 2026-09-30 | $2400 |
| Elm & Sons Legal | business | 2026-08-30 | $720 |
| Juniper Travel | business | 2026-07-01 | $510 |
| Bright Harbor Books | team | 2026-07-14 | $180 |
";

fn acme() -> PathBuf {
    workspace_root().join("examples/acme")
}

/// The words of the command in examples/acme/README.md, for this folder.
fn words(postern: &Postern, script: &str) -> Vec<String> {
    let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    vec![
        "run".to_owned(),
        text(&acme().join(script)),
        "--config".to_owned(),
        text(&acme().join("postern.toml")),
        "--intent".to_owned(),
        INTENT.to_owned(),
        "--constraint".to_owned(),
        CONSTRAINT.to_owned(),
        "--out".to_owned(),
        text(&postern.path("target/acme/out")),
        "--record-dir".to_owned(),
        text(&postern.records()),
    ]
}

/// In Python too, with the same calls and the same answer.
#[test]
fn the_report_is_drafted_and_the_upload_is_blocked() {
    for script in ["report.ts", "report.py"] {
        is_drafted_and_blocked(script);
    }
}

fn is_drafted_and_blocked(script: &str) {
    let postern = Postern::new();
    let mut words = words(&postern, script);
    words.push("--json".to_owned());
    let finished = postern.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(finished.exit, exit::OK, "{finished:#?}");
    let document: Value = serde_json::from_str(&finished.stdout).expect("one document");

    assert_eq!(
        document["value"],
        json!({"churned": ["C-1008", "C-1005", "C-1010", "C-1002"], "lost_mrr": 3810, "draft": "draft-1", "upload": call::BLOCKED})
    );
    let attempts: Vec<(&str, &str)> = document["calls"]
        .as_array()
        .expect("calls")
        .iter()
        .map(|attempt| {
            (attempt["tool"].as_str().expect("a tool"), attempt["verdict"].as_str().expect("a verdict"))
        })
        .collect();
    assert_eq!(
        attempts,
        [
            ("crm/list_customers", "allow"),
            ("mail/create_draft", "allow"),
            ("web/fetch", "allow"),
            ("http/post", "block")
        ],
        "{finished:#?}"
    );
    let blocked = &document["calls"][3];
    assert_eq!(blocked["arguments"]["url"], "https://collector.example.com/upload");
    assert!(!blocked["reasons"].as_array().expect("reasons").is_empty(), "{blocked:#}");
    // What the rules refuse is not put to the guard.
    for attempt in
        document["calls"].as_array().expect("calls").iter().filter(|call| call["verdict"] == "allow")
    {
        let score = attempt["scores"]["unsafe"].as_f64().expect("every call that passes was scored");
        assert!((0.0..=1.0).contains(&score), "{attempt:#}");
    }

    // Nothing left; what should be there is.
    assert!(!postern.path("target/acme/outbox.jsonl").exists(), "something left the machine");
    let draft: Value = serde_json::from_str(
        std::fs::read_to_string(postern.path("target/acme/drafts/drafts.jsonl"))
            .expect("the drafts file")
            .trim(),
    )
    .expect("one draft");
    assert_eq!((&draft["to"], &draft["body"]), (&json!(["sales@acme.test"]), &json!(SUMMARY)));
    let promoted = std::fs::read_to_string(postern.path("target/acme/out/summary.md")).expect("the artifact");
    assert_eq!(promoted, SUMMARY);
    let artifacts = document["artifacts"].as_array().expect("artifacts");
    assert_eq!(artifacts.len(), 1, "{artifacts:?}");
    assert!(artifacts[0]["path"].as_str().is_some_and(|path| path.ends_with("summary.md")));
    assert_eq!(
        (&artifacts[0]["bytes"], &artifacts[0]["sha256"]),
        (&json!(SUMMARY.len()), &json!(sha256(SUMMARY.as_bytes())))
    );
    assert!(
        document["stdout"]
            .as_str()
            .is_some_and(|text| text.contains("4 customers churned") && text.contains("blocked"))
    );
}

#[test]
fn people_get_a_table_of_calls() {
    for script in ["report.ts", "report.py"] {
        gives_a_table(script);
    }
}

fn gives_a_table(script: &str) {
    let postern = Postern::new();
    let words = words(&postern, script);
    let finished = postern.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(finished.exit, exit::OK, "{finished:#?}");
    let shown = format!("{}{}", finished.stdout, finished.stderr);
    for (tool, verdict) in [
        ("crm/list_customers", "allow"),
        ("mail/create_draft", "allow"),
        ("web/fetch", "allow"),
        ("http/post", "block"),
    ] {
        let row = shown.lines().filter(|line| line.contains(tool)).any(|line| line.contains(verdict));
        assert!(row, "no row says that {tool} came to {verdict}:\n{shown}");
    }
    assert!(shown.contains("summary.md"), "{shown}");
    assert!(!shown.contains("\u{1b}["), "no colours where there is no terminal:\n{shown}");
}
