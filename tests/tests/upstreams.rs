//! Upstreams: what one server does wrong is that server's business.

use std::time::Duration;

use postern_tests::words::call;
use postern_tests::{HttpServer, Postern, Server};
use serde_json::{Value, json};

fn odd(postern: &mut Postern, plan: Value) {
    let folder = postern.folder().to_owned();
    postern.permissive_guard().server("odd", Server::odd(&folder, &plan)).server("t", Server::test());
}

fn tool(name: &str, schema: Value) -> Value {
    json!({"name": name, "description": "A tool.", "inputSchema": schema})
}

/// pctx 0.7.2/0.7.3, UTCP#10, copilot-cli#1876, codex#3152: references and recursion in schemas.
#[test]
fn row_13_every_lawful_schema_is_understood() {
    let mut postern = Postern::new();
    let tree = json!({
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/node"}},
        "required": ["root"],
        "$defs": {"node": {"type": "object", "properties": {
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
        }, "required": ["name"]}},
    });
    let pointer = json!({
        "type": "object",
        "properties": {"f": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "g": {"$ref": "#/properties/f/anyOf/0"}},
    });
    let one_of = json!({
        "type": "object",
        "properties": {"shape": {"oneOf": [
            {"type": "object", "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}}, "required": ["kind", "r"]},
            {"type": "object", "properties": {"kind": {"const": "square"}, "a": {"type": "number"}}, "required": ["kind", "a"]},
        ]}},
    });
    let loops = json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}});
    let pages = json!([[
        tool("tree", tree),
        tool("pointer", pointer),
        tool("one_of", one_of),
        tool("booleans", json!({"type": "object", "properties": {"any": true, "none": false}})),
        tool("self_reference", json!({"type": "object", "properties": {"next": {"$ref": "#"}}})),
        tool(
            "external",
            json!({"type": "object", "properties": {"x": {"$ref": "https://example.com/schema.json"}}})
        ),
        tool("loops", loops),
        tool(
            "draft_07",
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
            "definitions": {"n": {"type": "integer"}}, "properties": {"n": {"$ref": "#/definitions/n"}}})
        ),
    ]]);
    odd(&mut postern, json!({"pages": pages}));
    let listed = postern.tools();
    for name in ["tree", "pointer", "one_of", "booleans", "self_reference", "external", "loops", "draft_07"] {
        assert!(listed.contains(&format!("odd/{name}")), "{name} was dropped: {listed:?}");
    }
    let run = postern.run_js(
        "const attempt = async (tool, args) => { try { await callTool(`odd/${tool}`, args); return 'ok'; } catch (e) { return e.code; } };\n\
         const leaf = { name: 'leaf' };\n\
         return {\n\
           good: await Promise.all([\n\
             attempt('tree', { root: { name: 'a', children: [{ name: 'b', children: [leaf] }] } }),\n\
             attempt('pointer', { f: null, g: 3 }), attempt('one_of', { shape: { kind: 'square', a: 2 } }),\n\
             attempt('booleans', { any: [1] }), attempt('self_reference', { next: { next: {} } }), attempt('draft_07', { n: 1 }) ]),\n\
           bad: await Promise.all([\n\
             attempt('tree', { root: { name: 'a', children: [{ name: 'b', children: [{ nam: 'leaf' }] }] } }),\n\
             attempt('pointer', { g: null }), attempt('one_of', { shape: { kind: 'circle', a: 2 } }),\n\
             attempt('booleans', { none: 1 }), attempt('self_reference', { next: 7 }), attempt('draft_07', { n: 'one' }) ]),\n\
           odd: await Promise.all([attempt('external', { x: 1 }), attempt('loops', { x: 1 })]),\n\
         };",
    );
    let value = run.ok();
    assert_eq!(value["good"], json!(vec!["ok"; 6]), "{value:#}");
    assert_eq!(value["bad"], json!(vec![call::INVALID_ARGUMENTS; 6]), "{value:#}");
    // What cannot be decided may pass or be refused; it must come to an end.
    for code in value["odd"].as_array().expect("a list") {
        assert!([json!("ok"), json!(call::INVALID_ARGUMENTS)].contains(code), "{value:#}");
    }
}

/// claude-code#88049, gitlab-mcp#286, mastra#21859, atlas-ui-3#727: one bad schema hid all tools.
#[test]
fn row_14_one_bad_schema_hides_no_other_tool() {
    let mut postern = Postern::new();
    let pages = json!([[
        tool("good", json!({"type": "object"})),
        {"name": "no_schema", "description": "Has none."},
        tool("empty_schema", json!({})),
        tool("string_schema", json!({"type": "string"})),
        tool("any_of_schema", json!({"anyOf": [{"type": "object", "required": ["a"]}, {"type": "object", "required": ["b"]}]})),
        tool("list_schema", json!([1, 2])),
        tool("null_schema", json!(null)),
        tool("bad_keyword", json!({"type": "object", "properties": {"x": {"type": "strnig"}}})),
        tool("bad_pattern", json!({"type": "object", "properties": {"x": {"type": "string", "pattern": "("}}})),
        {"description": "Has no name.", "inputSchema": {"type": "object"}},
        "not even an object",
        tool("last", json!({"type": "object"})),
    ]]);
    odd(&mut postern, json!({"pages": pages}));
    let listing = postern.json(&["tools", "list"]);
    let said = listing.to_string();
    for name in ["no_schema", "string_schema", "list_schema", "bad_keyword", "bad_pattern"] {
        assert!(said.contains(name), "nothing is said of {name}: {listing:#}");
    }
    let run = postern.run_js("return [await tools.odd.good({ n: 1 }), await tools.odd.last({ n: 2 }), await tools.t.echo({ n: 3 })];");
    assert_eq!(*run.ok(), json!([{"n": 1}, {"n": 2}, {"n": 3}]));
}

/// copilot-cli#4006, vercel/ai#19240: only the first page of tools was read.
#[test]
fn row_15_all_pages_are_read() {
    let mut postern = Postern::new();
    postern.permissive_guard().server("t", Server::test().args(["--tools", "120"]));
    let listed = postern.tools();
    for name in ["t/echo", "t/extra_0001", "t/extra_0060", "t/extra_0120"] {
        assert!(listed.contains(&name.to_owned()), "{name} of {} tools", listed.len());
    }
    assert_eq!(*postern.run_js("return (await tools.t.extra_0120({})).tool;").ok(), "extra_0120");
}

/// codebase-memory-mcp#1247: a cursor that never advances was followed for ever.
#[test]
fn row_15_a_cursor_that_never_advances_is_noticed() {
    let mut postern = Postern::new();
    odd(&mut postern, json!({"pages": [[tool("only", json!({"type": "object"}))]], "stuck": true}));
    let run = postern.run_js("return await tools.odd.only({ n: 1 });");
    assert_eq!(*run.ok(), json!({"n": 1}));
    assert!(run.process.elapsed < Duration::from_secs(10), "{:?}", run.process.elapsed);
    assert_eq!(postern.tools().iter().filter(|name| *name == "odd/only").count(), 1);
}

/// azure-devops-mcp#147, daedra#4, mcpm.sh#264: lines on standard output that are no messages.
#[test]
fn row_16_noise_between_messages_is_skipped() {
    let mut postern = Postern::new();
    odd(
        &mut postern,
        json!({
            "pages": [[tool("good", json!({"type": "object"}))]],
            "before": ["*** odd server 1.0 ***", "", "\u{1b}[32mINFO\u{1b}[0m ready", "{\"jsonrpc\": \"2.0\", \"id\":"],
            "between": ["[debug] request", "{}", "[1, 2]", "null", "   "],
            "huge_line": 20_000_000,
        }),
    );
    let run = postern.run_js(
        "let first; try { first = await tools.odd.good({ n: 1 }); } catch (e) { first = e.code; }\n\
         return { first, second: await tools.odd.good({ n: 2 }), other: await tools.t.echo({ n: 3 }) };",
    );
    let value = run.ok();
    // The oversized line is refused; whether the call behind it is found again or fails, it ends.
    assert!([json!({"n": 1}), json!(call::UPSTREAM)].contains(&value["first"]), "{value}");
    assert_eq!((&value["second"], &value["other"]), (&json!({"n": 2}), &json!({"n": 3})));
    let said = format!("{}\n{}", run.warnings(), run.process.stderr);
    assert!(said.contains("odd"), "nobody was told of the noise: {said}");
    assert!(said.len() < 10_000, "the noise itself is not repeated: {} bytes", said.len());
    if let Some(peak) = run.process.peak_memory {
        assert!(peak < 400 << 20, "{peak} bytes");
    }
}

const DIE: &str = "const start = Date.now(); let code;\n\
    try { await tools.t.die({}); } catch (e) { code = e.code; }\n\
    const ms = Date.now() - start;\n\
    const bystander = await tools.u.echo({ n: 1 });\n\
    let again; for (let i = 0; i < 40 && !again; i++) {\n\
      try { again = await tools.t.pid({}); } catch { await new Promise((r) => setTimeout(r, 100)); } }\n\
    return { code, ms, bystander, again };";

/// fastmcp#499, python-sdk#1577, kimi-code#2109: a server that died mid-call left the call hanging.
#[test]
fn row_17_a_server_that_dies_fails_its_call_and_is_started_again() {
    let mut postern = Postern::new();
    let log = postern.log("t");
    postern.permissive_guard().server("t", Server::test().log(&log)).server("u", Server::test());
    let run = postern.run_js(DIE);
    let value = run.ok();
    assert_eq!(value["code"], call::UPSTREAM);
    assert!(value["ms"].as_u64().is_some_and(|ms| ms < 1000), "{value}");
    assert_eq!(value["bystander"], json!({"n": 1}));
    assert_eq!(
        log.started().iter().filter(|tool| *tool == "die").count(),
        1,
        "a call that may have worked is not repeated"
    );
    let first = log.lines()[0]["pid"].clone();
    assert!(value["again"]["pid"].is_u64() && value["again"]["pid"] != first, "not started again: {value}");
}

/// fastmcp#499: the same over HTTP, where the socket drops and nobody can start the server again.
#[test]
fn row_17_a_dropped_socket_fails_the_call() {
    let mut postern = Postern::new();
    let log = postern.log("t");
    let http = HttpServer::test(&[("TEST_SERVER_LOG", postern.path("t.log.jsonl").to_str().expect("UTF-8"))]);
    postern.permissive_guard().server("t", http.entry()).server("u", Server::test());
    let run = postern.run_js(&DIE.replace("i < 40", "i < 3"));
    let value = run.ok();
    assert_eq!(value["code"], call::UPSTREAM);
    assert!(value["ms"].as_u64().is_some_and(|ms| ms < 1000), "{value}");
    assert_eq!(value["bystander"], json!({"n": 1}));
    assert_eq!(log.started(), ["die"]);
}

/// fastmcp#499: a server that cannot even be started.
#[test]
fn row_17_a_server_that_does_not_start_harms_only_itself() {
    let mut postern = Postern::new();
    postern
        .permissive_guard()
        .server("gone", Server::stdio(["/nowhere/at/all"]))
        .server("mute", Server::stdio(["cat"]).call_timeout("2s"))
        .server("quits", Server::stdio(["false"]))
        .server("closed", Server::http("http://127.0.0.1:9/mcp"))
        .server("t", Server::test());
    let run = postern.run_js(
        "const start = Date.now(); const here = await tools.t.echo({ n: 1 }); const ms = Date.now() - start;\n\
         const codes = {}; for (const name of ['gone', 'quits', 'closed'])\n\
           try { await callTool(`${name}/x`, {}); } catch (e) { codes[name] = e.code; }\n\
         return { here, ms, codes };",
    );
    let value = run.ok();
    assert_eq!(value["here"], json!({"n": 1}));
    assert!(value["ms"].as_u64().is_some_and(|ms| ms < 5000), "a dead server held up a living one: {value}");
    for name in ["gone", "quits", "closed"] {
        let code = &value["codes"][name];
        assert!([json!(call::UPSTREAM), json!(call::UNKNOWN_TOOL)].contains(code), "{name}: {value}");
    }
}

fn cancels_and_goes_on(server: Server, postern: &mut Postern, log: &postern_tests::ServerLog) {
    postern.permissive_guard().server("t", server.tool_timeout("sleep", "300ms"));
    let run = postern.run_js(
        "const before = await tools.t.pid({});\n\
         let code; try { await tools.t.sleep({ ms: 30_000 }); } catch (e) { code = e.code; }\n\
         const after = await tools.t.pid({});\n\
         return { code, same: before.pid === after.pid };",
    );
    assert_eq!(*run.ok(), json!({"code": call::TIMEOUT, "same": true}), "{run:#?}");
    assert!(log.eventually("cancel", "sleep"), "the server was not told: {:?}", log.events());
}

/// qwen-code#11272, mcpproxy-go#1317: cancelling a call killed the server.
#[test]
fn row_18_a_cancelled_call_leaves_the_server_alive() {
    let mut postern = Postern::new();
    let log = postern.log("t");
    cancels_and_goes_on(Server::test().log(&log), &mut postern, &log);
}

/// qwen-code#11272: the same over HTTP.
#[test]
fn row_18_a_cancelled_call_leaves_the_http_server_alive() {
    let mut postern = Postern::new();
    let log = postern.log("t");
    let http = HttpServer::test(&[("TEST_SERVER_LOG", postern.path("t.log.jsonl").to_str().expect("UTF-8"))]);
    cancels_and_goes_on(http.entry(), &mut postern, &log);
}

/// UTCP#20, llm-sandbox#100, claude-code#15945: a call's time could not be set, or had no bound at all.
#[test]
fn row_19_the_time_for_a_call_is_set_per_server_and_per_tool() {
    let mut postern = Postern::new();
    let slow = Server::test().call_timeout("400ms").tool_timeout("sleep", "5s");
    postern.permissive_guard().server("t", slow).server("u", Server::test().call_timeout("5s"));
    let run = postern.run_js(
        "const attempt = async (f) => { const start = Date.now(); try { await f(); return ['ok']; } catch (e) { return [e.code, Date.now() - start]; } };\n\
         return await Promise.all([\n\
           attempt(() => tools.t.never({})),\n\
           attempt(() => tools.t.progress({ steps: 20, every_ms: 100 })),\n\
           attempt(() => tools.t.sleep({ ms: 900 })),\n\
           attempt(() => tools.u.progress({ steps: 10, every_ms: 100 })) ]);",
    );
    let value = run.ok();
    for late in 0..2 {
        assert_eq!(value[late][0], call::TIMEOUT, "{value}");
        // Progress shows life; it does not make a bound boundless.
        assert!(value[late][1].as_u64().is_some_and(|ms| (400..1500).contains(&ms)), "{value}");
    }
    assert_eq!((&value[2], &value[3]), (&json!(["ok"]), &json!(["ok"])));
}

/// mcpproxy-go, Claude Desktop and VS Code: the files in which people already have their servers.
#[test]
fn servers_come_from_the_files_of_other_products() {
    let server = postern_tests::binary("postern-test-server");
    let entry = json!({"command": server, "args": [], "env": {"GREETING": "hello"}});
    for document in [json!({"mcpServers": {"t": entry}}), json!({"servers": {"t": entry}})] {
        let mut postern = Postern::new();
        let file = postern.write("mcp.json", document.to_string());
        postern.permissive_guard().flags([
            "--mcp-config",
            file.to_str().expect("UTF-8"),
            "--allow-tool",
            "t/*",
        ]);
        let run = postern.run_js("return (await tools.t.env({})).GREETING;");
        assert_eq!(*run.ok(), "hello", "{document}");
    }
}

/// And a server from such a file is granted nothing unless somebody grants it.
#[test]
fn servers_of_other_products_are_granted_nothing_by_themselves() {
    let mut postern = Postern::new();
    let log = postern.path("log.jsonl");
    let entry =
        json!({"command": postern_tests::binary("postern-test-server"), "env": {"TEST_SERVER_LOG": log}});
    let file = postern.write("mcp.json", json!({"mcpServers": {"t": entry}}).to_string());
    postern.permissive_guard().flags(["--mcp-config", file.to_str().expect("UTF-8")]);
    let run = postern.run_js("try { return await tools.t.echo({}); } catch (e) { return e.code; }");
    assert_eq!(*run.ok(), call::NOT_GRANTED);
    assert!(!log.exists(), "something was dispatched");
}
