//! The small examples do what they say. They are about scripts, so the guard lets all calls pass; the
//! demo has a test of its own.

use postern_tests::words::call;
use postern_tests::{Postern, Server, workspace_root};
use serde_json::json;

fn example(name: &str) -> String {
    workspace_root().join("examples").join(name).to_str().expect("UTF-8").to_owned()
}

fn acme() -> Postern {
    let mut postern = Postern::with_config(&workspace_root().join("examples/acme/postern.toml"));
    postern.permissive_guard();
    postern
}

#[test]
fn parallel() {
    let run = acme().run(&[&example("scripts/parallel.ts")]);
    let names = ["Alder Dental Group", "Cobalt Freight", "Foxglove Interiors", "Ivy Lane Nursery"];
    assert_eq!(*run.ok(), json!({"names": names, "mrr": 640 + 2900 + 210 + 195}));
    assert_eq!(run.calls().len(), 4);
}

#[test]
fn files() {
    let postern = Postern::new();
    let out = postern.path("out");
    let words = [
        &example("scripts/files.js"),
        "--input",
        &example("scripts/orders.csv"),
        "--out",
        out.to_str().expect("UTF-8"),
    ];
    let run = postern.run(&words);
    assert_eq!(*run.ok(), json!({"customers": 2, "scratch": ["totals.json"]}));
    let report = std::fs::read_to_string(out.join("reports/totals.txt")).expect("the artifact");
    assert_eq!(report, "C-1001: 150\nC-1003: 80\n");
    assert_eq!(run.artifact("reports/totals.txt").map(|(bytes, _)| bytes), Some(report.len() as u64));
    assert!(!out.join("totals.json").exists(), "the workspace is private");
}

#[test]
fn errors() {
    let run = acme().run(&[&example("scripts/errors.ts")]);
    let expected = json!({
        "unknown_customer": call::UPSTREAM,
        "wrong_arguments": call::INVALID_ARGUMENTS,
        "unknown_tool": call::UNKNOWN_TOOL,
        "fine": "ok",
    });
    assert_eq!(*run.ok(), expected);
    assert!(run.stdout().contains("C-0000"), "the tool's own words: {}", run.stdout());
}

/// The shipped file, with `npx` replaced by the copy of the server that is installed for tests.
#[test]
fn mcp_config() {
    let mut postern = Postern::new();
    postern.permissive_guard();
    postern.write("note.txt", "from a file");
    let text = std::fs::read_to_string(example("mcp-config.json")).expect("the example");
    let mut document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let entry = &mut document["mcpServers"]["filesystem"];
    assert_eq!((&entry["command"], &entry["args"][2]), (&json!("npx"), &json!("${workspaceFolder}")));
    let Some(installed) = postern_tests::real_server("server-filesystem") else { return };
    *entry = json!({"command": installed[0], "args": [installed[1], "${workspaceFolder}"]});
    let file = postern.write("mcp-config.json", document.to_string());
    postern.flags(["--mcp-config", file.to_str().expect("UTF-8"), "--allow-tool", "filesystem/read_*"]);
    let path = postern.path("note.txt").display().to_string();
    let run = postern.run_js(&format!(
        "return JSON.stringify(await tools.filesystem.read_text_file({{ path: {path:?} }}));"
    ));
    assert!(run.ok().as_str().is_some_and(|text| text.contains("from a file")), "{run:#?}");
}

/// The acme server over HTTP serves the same customers.
#[test]
fn acme_over_http() {
    use std::io::BufRead;
    let mut child = std::process::Command::new(postern_tests::binary("acme-server"))
        .args(["crm", "--http", "0"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the server starts");
    let mut line = String::new();
    std::io::BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    let url = line.trim().strip_prefix("listening on ").expect("the address");
    let mut postern = Postern::new();
    postern.permissive_guard().server("crm", Server::http(url));
    let run = postern.run_js("return (await tools.crm.get_customer({ id: 'C-1003' })).name;");
    child.kill().expect("it still runs");
    child.wait().expect("it ends");
    assert_eq!(*run.ok(), "Cobalt Freight");
}
