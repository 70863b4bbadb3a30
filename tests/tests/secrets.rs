//! Secrets: what the configuration gives to a server reaches that server and nobody else.

use std::path::Path;

use postern_tests::{HttpServer, Postern, Server};
use serde_json::json;

const SECRET: &str = "sk-test-9f8e7d6c5b4a";

/// Fails if any file below `folder` but the configuration holds the secret.
fn no_file_holds_it(folder: &Path) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            no_file_holds_it(&path);
        } else if path.extension().is_none_or(|ending| ending != "toml") {
            let content = std::fs::read(&path).expect("readable");
            assert!(!String::from_utf8_lossy(&content).contains(SECRET), "{} holds a secret", path.display());
        }
    }
}

/// Runs a command of every kind and looks for the secret in all that it leaves.
fn nowhere_to_be_seen(postern: &Postern, source: &str) -> serde_json::Value {
    let run = postern.run_js(source);
    let config = postern.write_config();
    let config = config.to_str().expect("UTF-8");
    let records = postern.records();
    let records = records.to_str().expect("UTF-8");
    let script = postern.path("script.js");
    let mut finished = vec![
        postern.run_raw(&[script.to_str().expect("UTF-8")], &[]),
        postern.command(&["tools", "list", "--config", config]),
        postern.command(&["tools", "list", "--config", config, "--json"]),
        postern.command(&["doctor", "--config", config]),
        postern.command(&["doctor", "--config", config, "--json"]),
        postern.command(&["record", "show", run.id(), "--record-dir", records]),
        postern.command(&["record", "show", run.id(), "--record-dir", records, "--json"]),
    ];
    let document = run.document.clone();
    finished.push(run.process);
    for command in &finished {
        assert!(!format!("{}{}", command.stdout, command.stderr).contains(SECRET), "{command:#?}");
    }
    no_file_holds_it(&postern.records());
    document
}

#[test]
fn a_variable_reaches_its_server_and_no_record() {
    let mut postern = Postern::new();
    postern
        .permissive_guard()
        .server("t", Server::test().env("API_TOKEN", SECRET))
        .server("u", Server::test());
    // The script learns that the variable is there without learning it.
    let document = nowhere_to_be_seen(
        &postern,
        &format!(
            "const [mine, other] = await Promise.all([tools.t.env({{}}), tools.u.env({{}})]);\n\
             try {{ await tools.t.rpc_error({{}}); }} catch {{ }}\n\
             try {{ await tools.t.die({{}}); }} catch {{ }}\n\
             return {{ there: typeof mine.API_TOKEN, length: {}, other: other.API_TOKEN ?? null }};",
            SECRET.len()
        ),
    );
    assert_eq!(document["value"], json!({"there": "string", "length": SECRET.len(), "other": null}));
}

#[test]
fn a_header_reaches_its_server_and_no_record() {
    let mut postern = Postern::new();
    let http = HttpServer::test(&[("TEST_SERVER_BEARER", SECRET)]);
    postern.permissive_guard().server("t", http.entry().header("Authorization", &format!("Bearer {SECRET}")));
    let document = nowhere_to_be_seen(&postern, "return (await tools.t.echo({ n: 1 })).n;");
    assert_eq!(document["value"], 1);
}

#[test]
fn a_wrong_header_is_not_shown_in_the_error() {
    let mut postern = Postern::new();
    let http = HttpServer::test(&[("TEST_SERVER_BEARER", "another-token")]);
    let key = format!("Bearer {SECRET}");
    postern
        .permissive_guard()
        .server("t", http.entry().header("Authorization", &key).header("X-Api-Key", SECRET));
    let document = nowhere_to_be_seen(
        &postern,
        "try { return await tools.t.echo({ n: 1 }); } catch (e) { return e.message; }",
    );
    assert!(document["value"].is_string(), "{document:#}");
}

#[test]
fn a_server_gets_an_environment_of_its_own() {
    let mut postern = Postern::new();
    postern
        .env("POSTERN_TEST_AMBIENT", SECRET)
        .env("AWS_SECRET_ACCESS_KEY", SECRET)
        .env("LD_PRELOAD_TEST", SECRET);
    postern.permissive_guard().server("t", Server::test().env("GREETING", "hello"));
    let run = postern.run_js("return await tools.t.env({});");
    let env = run.ok().as_object().expect("an object");
    assert_eq!(env["GREETING"], "hello");
    assert!(env.contains_key("PATH"));
    for name in env.keys() {
        assert!(["PATH", "HOME", "LANG", "GREETING"].contains(&name.as_str()), "{name} was inherited");
    }
}

/// A command that is not there, with a secret among its arguments.
#[test]
fn a_server_that_does_not_start_is_named_without_its_arguments() {
    let mut postern = Postern::new();
    let server = Server::stdio(["/nowhere/at/all", "--token", SECRET]).env("API_TOKEN", SECRET);
    postern.permissive_guard().server("t", server);
    nowhere_to_be_seen(&postern, "try { return await tools.t.echo({}); } catch (e) { return e.message; }");
}
