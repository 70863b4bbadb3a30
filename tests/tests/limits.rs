//! The limits that are not about time or memory: each is a flag and a key, and each says its name.

use postern_tests::words::{call, exit, limit, outcome};
use postern_tests::{Postern, Server};
use serde_json::json;

#[test]
fn calls_are_counted_refused_ones_too() {
    let mut postern = Postern::new();
    let log = postern.log("t");
    postern.permissive_guard().server("t", Server::test().log(&log)).flags(["--max-calls", "5"]);
    let run = postern.run_js(
        "const codes = [];\n\
         const attempt = async (tool) => { try { await callTool(tool, {}); codes.push('ok'); } catch (e) { codes.push(e.code); } };\n\
         for (const tool of ['t/echo', 't/nope', 't/echo', 't/neither', 't/echo', 't/echo', 't/pid']) await attempt(tool);\n\
         return codes;",
    );
    let codes =
        ["ok", call::UNKNOWN_TOOL, "ok", call::UNKNOWN_TOOL, "ok", call::CALL_LIMIT, call::CALL_LIMIT];
    assert_eq!(*run.ok(), json!(codes));
    assert_eq!(log.started().len(), 3);

    // A script that does not catch it is ended by the limit.
    let run = postern.run_js("for (;;) await tools.t.echo({});");
    run.limit(limit::CALLS);
    assert_eq!(log.started().len(), 3 + 5);
}

#[test]
fn the_default_number_of_calls_is_two_hundred() {
    let postern = Postern::new();
    let run = postern.run_js(
        "const codes = {}; for (let i = 0; i < 210; i++) try { await callTool(`none/tool_${i}`, {}); } catch (e) { codes[e.code] = (codes[e.code] ?? 0) + 1; }\n\
         return codes;",
    );
    assert_eq!(*run.ok(), json!({call::UNKNOWN_TOOL: 200, call::CALL_LIMIT: 10}));
}

#[test]
fn arguments_have_a_size_and_a_depth() {
    let mut postern = Postern::new();
    let log = postern.log("t");
    postern.permissive_guard().server("t", Server::test().log(&log));
    postern.flags(["--max-argument-bytes", "10KiB", "--max-argument-depth", "8"]);
    let run = postern.run_js(
        "const attempt = async (args) => { try { await tools.t.echo(args); return 'ok'; } catch (e) { return e.code; } };\n\
         const nest = (levels) => { let v = 1; for (let i = 0; i < levels; i++) v = [v]; return v; };\n\
         return [await attempt({ s: 'x'.repeat(10_000) }), await attempt({ s: 'x'.repeat(10_241) }), await attempt({ s: 'é'.repeat(6000) }),\n\
           await attempt({ v: nest(6) }), await attempt({ v: nest(20) })];",
    );
    let refused = call::INVALID_ARGUMENTS;
    assert_eq!(*run.ok(), json!(["ok", refused, refused, "ok", refused]));
    assert_eq!(log.started().len(), 2);
}

#[test]
fn results_have_a_size() {
    let mut postern = Postern::new();
    postern.permissive_guard().server("t", Server::test()).flags(["--max-result-bytes", "1MiB"]);
    let run = postern.run_js(
        "const small = (await tools.t.big({ bytes: 1_000_000 })).length;\n\
         let error; try { await tools.t.big({ bytes: 1_100_000 }); } catch (e) { error = { code: e.code, message: e.message }; }\n\
         return { small, error, after: await tools.t.echo({ n: 1 }) };",
    );
    let value = run.ok();
    assert_eq!((&value["small"], &value["after"]), (&json!(1_000_000), &json!({"n": 1})));
    assert_eq!(value["error"]["code"], call::UPSTREAM, "{value}");
    assert!(
        value["error"]["message"].as_str().is_some_and(|text| text.contains("1")),
        "says how large: {value}"
    );
}

#[test]
fn a_large_result_within_the_default_arrives_whole() {
    let mut postern = Postern::new();
    postern.permissive_guard().server("t", Server::test());
    assert_eq!(*postern.run_js("return (await tools.t.big({ bytes: 12 << 20 })).length;").ok(), 12 << 20);
}

#[test]
fn the_workspace_has_a_size_and_a_number_of_files() {
    let mut postern = Postern::new();
    postern.flags(["--workspace-bytes", "1MiB", "--workspace-files", "20"]);
    let run = postern.run_js(
        "const attempt = async (f) => { try { await f(); return 'ok'; } catch (e) { return e.code ?? e.name; } };\n\
         const block = 'x'.repeat(100 << 10);\n\
         const sizes = []; for (let i = 0; i < 15; i++) sizes.push(await attempt(() => fs.appendFile('/workspace/big', block)));\n\
         await fs.rm('/workspace/big');\n\
         const again = await attempt(() => fs.writeFile('/workspace/small', block));\n\
         const files = []; for (let i = 0; i < 30; i++) files.push(await attempt(() => fs.writeFile(`/workspace/f${i}`, '')));\n\
         const folders = []; for (let i = 0; i < 30; i++) folders.push(await attempt(() => fs.mkdir(`/workspace/d${i}`)));\n\
         return { sizes, again, files, folders };",
    );
    let value = run.ok();
    let count =
        |name: &str| value[name].as_array().expect("a list").iter().filter(|code| **code == "ok").count();
    assert!((9..=10).contains(&count("sizes")), "{value}");
    assert_eq!(value["again"], "ok", "what is removed is free again: {value}");
    assert!((15..=20).contains(&count("files")), "{value}");
    assert!(count("files") + count("folders") <= 20, "folders count too: {value}");
}

#[test]
fn artifacts_have_a_size() {
    let mut postern = Postern::new();
    let out = postern.path("out");
    postern.flags(["--artifact-bytes", "1MiB", "--out", out.to_str().expect("UTF-8")]);
    let run = postern.run_js(
        "await fs.writeFile('/out/small.txt', 'fine');\n\
         let code = 'ok'; try { await fs.writeFile('/out/large.bin', new Uint8Array(2 << 20)); } catch (e) { code = e.code; }\n\
         return code;",
    );
    // Whether the write fails or the run does: no artifact over the cap is kept.
    assert!(run.outcome() == outcome::LIMIT || *run.ok() != "ok", "{run:#?}");
    let large = out.join("large.bin");
    assert!(!large.exists() || large.metadata().expect("a size").len() <= 1 << 20);
    let kept: u64 = run.document["artifacts"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|artifact| artifact["bytes"].as_u64())
        .sum();
    assert!(kept <= 1 << 20, "{run:#?}");
}

#[test]
fn limits_come_from_the_configuration_and_flags_win() {
    let mut postern = Postern::new();
    postern.set("limits.wall_time", "300ms").set("limits.stdout_bytes", "5");
    let source =
        "console.log('0123456789'); const start = Date.now(); while (Date.now() - start < 800) ; return 1;";
    let run = postern.run_js(source);
    run.limit(limit::WALL_TIME);
    assert_eq!(run.document["stdout_truncated"], true);
    postern.flags(["--wall-time", "5s"]);
    assert_eq!(*postern.run_js(source).ok(), 1);
}

#[test]
fn a_limit_that_means_nothing_is_refused() {
    let postern = Postern::new();
    let script = postern.write("script.js", "return 1;");
    for (flag, value) in [
        ("--wall-time", "soon"),
        ("--wall-time", "-1s"),
        ("--memory", "lots"),
        ("--memory", "1e99"),
        ("--max-calls", "-1"),
        ("--max-argument-depth", "one"),
        ("--workspace-bytes", ""),
    ] {
        let finished = postern.command(&["run", script.to_str().expect("UTF-8"), &format!("{flag}={value}")]);
        assert_eq!(finished.exit, exit::USAGE, "{flag} {value}: {finished:#?}");
        assert!(finished.stderr.contains(flag), "{flag} {value}: {finished:#?}");
    }
}

#[test]
fn what_was_done_before_a_limit_is_still_reported() {
    let mut postern = Postern::new();
    postern.permissive_guard().server("t", Server::test()).flags(["--wall-time", "3s"]);
    let run = postern.run_js("console.log('begun'); await tools.t.echo({ n: 1 }); for (;;) ;");
    run.limit(limit::WALL_TIME);
    assert_eq!(run.stdout(), "begun\n");
    assert_eq!(run.attempts()[0].0, "t/echo");
    assert!(run.usage("wall_ms") >= 3000);
    assert!(run.error_text("message").contains("3"), "says which limit and how much: {run:#?}");
}
