//! Profiles: classes of job that only ever take away.

use postern_tests::words::{call, exit, limit, outcome};
use postern_tests::{Postern, Server};
use serde_json::{Value, json};

fn with_profile(keys: &[(&str, toml::Value)]) -> Postern {
    let mut postern = Postern::new();
    postern.permissive_guard().server("t", Server::test());
    postern.set("profiles.job.description", "a job for tests");
    for (key, value) in keys {
        postern.set(&format!("profiles.job.{key}"), value.clone());
    }
    postern.flags(["--profile", "job"]);
    postern
}

fn list(items: &[&str]) -> toml::Value {
    items.iter().map(|item| toml::Value::from(*item)).collect::<Vec<_>>().into()
}

#[test]
fn a_profile_narrows_the_tools() {
    let postern = with_profile(&[("tools", list(&["t/echo"]))]);
    let run = postern.run_js(
        "let code; try { await tools.t.counter({ by: 1 }); } catch (e) { code = e.code; }
         return code;",
    );
    assert_eq!(*run.ok(), json!(call::NOT_GRANTED));
    // What is not granted without it is not granted with it.
    let mut postern = with_profile(&[("tools", list(&["t/*"]))]);
    postern.server("t", Server::test().grant(&["echo"]));
    let run = postern.run_js("await tools.t.counter({ by: 1 });");
    run.ended(outcome::REFUSED, exit::REFUSED);
}

#[test]
fn a_profile_narrows_the_limits() {
    let mut postern = with_profile(&[]);
    postern.set("profiles.job.limits.max_calls", 1).set("profiles.job.limits.wall_time", "2s");
    postern.run_js("await tools.t.counter({ by: 1 }); await tools.t.counter({ by: 1 });").limit(limit::CALLS);
    postern.run_js("for (;;) ;").limit(limit::WALL_TIME);
    // A stricter flag counts.
    postern.flags(["--wall-time", "300ms"]);
    let run = postern.run_js("for (;;) ;");
    run.limit(limit::WALL_TIME);
    assert!(run.document["usage"]["wall_ms"].as_f64().is_some_and(|ms| ms < 1_500.0), "{run:#?}");
}

#[test]
fn a_profile_cannot_widen_a_limit() {
    let mut postern = with_profile(&[]);
    postern.set("limits.max_calls", 10).set("profiles.job.limits.max_calls", 11);
    let script = postern.write("script.js", "return 1;");
    let finished = postern.run_raw(&[script.to_str().expect("UTF-8")], &[]);
    assert_eq!(finished.exit, exit::SETUP, "{finished:#?}");
    assert!(
        finished.stderr.contains("profiles.job") && finished.stderr.contains("max_calls"),
        "{finished:#?}"
    );
}

#[test]
fn a_profile_decides_who_is_asked() {
    for (approvals, code) in [("never", "approval-required"), ("deny", "approval-denied")] {
        let mut postern = with_profile(&[("approvals", approvals.into())]);
        postern.asking_guard();
        let run = postern
            .run_js("try { await tools.t.counter({ by: 1 }); } catch (e) { return [e.code, e.message]; }");
        assert_eq!(run.ok()[0], code, "{run:#?}");
        assert_eq!(run.ok()[1].as_str().is_some_and(|m| m.contains("profile job")), approvals == "deny");
    }
}

#[test]
fn a_profile_refuses_languages_and_inputs() {
    let postern = with_profile(&[("languages", list(&["ts"])), ("mounts", list(&["data"]))]);
    let refused = |words: &[&str]| {
        let finished = postern.run_raw(words, &["--json"]);
        let document: Value = serde_json::from_str(&finished.stdout).expect("a document");
        (finished.exit, document["error"]["code"].as_str().map(str::to_owned))
    };
    let no = (exit::REFUSED, Some("profile-refused".to_owned()));
    let js = postern.write("a.js", "return 1;");
    assert_eq!(refused(&[js.to_str().expect("UTF-8")]), no);

    let ts = postern.write("a.ts", "return 1 as number;");
    let ts = ts.to_str().expect("UTF-8");
    let mine = postern.write("data/x.txt", "x");
    let other = postern.write("data-secret/x.txt", "x");
    assert_eq!(*postern.run(&[ts, "--input", mine.to_str().expect("UTF-8")]).ok(), json!(1));
    assert_eq!(refused(&[ts, "--input", other.to_str().expect("UTF-8")]), no);
    #[cfg(unix)]
    {
        let link = postern.path("data/link.txt");
        std::os::unix::fs::symlink(&other, &link).expect("a link");
        assert_eq!(refused(&[ts, "--input", link.to_str().expect("UTF-8")]), no);
    }
}

#[test]
fn an_unknown_profile_names_those_that_are_near() {
    let mut postern = with_profile(&[]);
    let script = postern.write("script.js", "return 1;");
    postern.set("profiles.reports.description", "x");
    let config = postern.write_config();
    let finished = postern.command(&[
        "run",
        script.to_str().expect("UTF-8"),
        "--config",
        config.to_str().expect("UTF-8"),
        "--profile",
        "reprots",
    ]);
    assert_eq!(finished.exit, exit::SETUP, "{finished:#?}");
    assert!(finished.stderr.contains("did you mean reports?"), "{finished:#?}");
}

#[test]
fn a_profile_has_rules_of_its_own() {
    let postern = with_profile(&[("policy", "job.cedar".into())]);
    let rule = "@id(\"only-counter\") forbid (principal, action, resource)
        unless { context has profile && context.profile == \"job\" && action == Action::\"t/counter\" };";
    postern.write("job.cedar", rule);
    let explain = |tool: &str, profile: &[&str]| {
        let call = postern.write("call.json", json!({"tool": tool}).to_string());
        let mut words = vec!["policy", "explain", call.to_str().expect("UTF-8")];
        words.extend(profile);
        postern.json(&words)["verdict"].clone()
    };
    assert_eq!(explain("t/counter", &["--profile", "job"]), "allow");
    assert_eq!(explain("t/echo", &["--profile", "job"]), "block");
    assert_eq!(explain("t/echo", &[]), "allow");
    postern.write("job.cedar", "forbid (principal, action == Action::\"x/counter\", resource);");
    let config = postern.write_config();
    let words = ["policy", "check", "--offline", "--config", config.to_str().expect("UTF-8")];
    let finished = postern.command(&words);
    assert_eq!(finished.exit, exit::SETUP, "{finished:#?}");
    assert!(finished.stderr.contains("job.cedar:1:"), "{finished:#?}");
}

#[test]
fn the_matrix_shows_who_may_do_what() {
    let sha256 = "0".repeat(64);
    let package: toml::Table =
        toml::from_str(&format!("name = \"tabulate\"\nversion = \"0.9.0\"\nsha256 = \"{sha256}\""))
            .expect("a table");
    let mut postern = with_profile(&[
        ("tools", list(&["t/echo"])),
        ("approvals", "deny".into()),
        ("languages", list(&["py"])),
        ("packages", toml::Value::Array(vec![package.into()])),
        ("mounts", list(&[])),
    ]);
    postern.set("profiles.job.limits.max_calls", 7);
    let matrix = postern.json(&["profiles"]);
    let rows = matrix["profiles"].as_array().expect("rows");
    assert_eq!(rows.len(), 2);
    assert_eq!((&rows[0]["name"], &rows[0]["approvals"]), (&Value::Null, &json!("terminal")));
    let job = &rows[1];
    assert_eq!(job["name"], "job");
    assert_eq!(job["tools"], json!(["t/echo"]));
    assert_eq!((&job["approvals"], &job["languages"]), (&json!("deny"), &json!(["Python"])));
    let packages = json!([{"name": "tabulate", "version": "0.9.0", "sha256": sha256}]);
    assert_eq!((&job["inputs"], &job["packages"]), (&json!([]), &packages));
    assert_eq!(job["limits"]["max_calls"], 7);
    let config = postern.write_config();
    let finished = postern.command(&["profiles", "--config", config.to_str().expect("UTF-8")]);
    assert_eq!(finished.exit, exit::OK, "{finished:#?}");
    for part in ["job", "t/echo", "deny", "Python", "tabulate", "0.9.0", "calls 7"] {
        assert!(finished.stdout.contains(part), "{part}: {}", finished.stdout);
    }
}
