//! Tool calls: forms, answers, errors, order, and those that nobody awaited.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;

use crate::host::{End, completion, error, printed, run, value};

#[test]
fn both_forms_reach_the_tool_by_its_raw_name() {
    assert_eq!(value("return await tools.test.echo({x: 1})"), json!({"x": 1}));
    assert_eq!(value("return await callTool('test/echo', {x: 1})"), json!({"x": 1}));
    assert_eq!(value("return (await tools['my-server']['some.tool']({})).length"), json!(2));
    assert_eq!(
        value("const {crm} = tools; const {list} = crm; return (await list()).map(c => c.name)"),
        json!(["Ada", "Bob"])
    );
    let ran = run("await tools.test.echo(); await callTool('test/echo')");
    assert_eq!(*ran.seen.calls.lock().unwrap(), vec![("test/echo".into(), "{}".into()); 2]);
}

#[test]
fn the_proxies_do_not_hang_or_call_by_accident() {
    let ran = run(
        "await tools; await tools.crm; JSON.stringify([{t: {...tools}}, Object.keys(tools.crm)]); `${tools} ${tools.crm}`; console.log(tools, tools.crm, tools.crm.list); return 1",
    );
    assert!(matches!(ran.end, End::Value(_)), "{:?}", ran.end);
    assert_eq!(ran.seen.calls.lock().unwrap().len(), 0);
}

#[test]
fn wrong_forms_say_the_right_one() {
    let wrong = [
        ("callTool('crm.list')", r#"write callTool("crm/list", {...})"#),
        ("callTool('list')", r#"write callTool("server/tool", {...})"#),
        ("callTool(tools.crm.list)", r#"callTool takes the tool's full name first"#),
        ("tools.crm()", "tools.crm is a server"),
        ("tools('crm/list')", "tools is not a function"),
        (
            "tools.crm.list('x')",
            "crm/list takes one object with the tool's arguments by name, such as {\"id\": 7}; it was given a string",
        ),
        ("tools.crm.list([1])", "it was given an array"),
        ("tools.crm.list({id: 1n})", "the argument object of crm/list holds a BigInt at $.id"),
        (
            "tools.crm.list({id: tools.test.echo({})})",
            "the argument object of crm/list holds a promise at $.id: await it first",
        ),
        (
            "(() => { const a = {}; a.a = a; return tools.crm.list(a) })()",
            "the argument object of crm/list holds itself (a cycle) at $.a",
        ),
        (
            "(() => { let a = {}; for (let i = 0; i < 1e5; i++) a = {a}; return tools.crm.list(a) })()",
            "the argument object of crm/list is nested more than 100 levels deep",
        ),
    ];
    for (source, message) in wrong {
        let error = error(&format!("\nreturn await {source}"));
        assert!(["TypeError", "RangeError"].contains(&error.name.as_str()), "{source}: {error:?}");
        assert!(error.message.contains(message), "{source}: {}", error.message);
        assert_eq!(error.line, Some(2), "{source}: {error:?}");
    }
}

#[test]
fn calls_overlap() {
    let ran = run("await Promise.all([...Array(10)].map(() => tools.test.sleep({ms: 200})))");
    assert!(matches!(ran.end, End::Value(_)));
    assert!(ran.took < Duration::from_millis(1200), "{:?}", ran.took);
}

#[test]
fn a_thousand_at_once() {
    let source = "return (await Promise.all([...Array(1000)].map((_, i) => tools.test.echo({i})))).reduce((s, x) => s + x.i, 0)";
    assert_eq!(value(source), json!(499_500));
}

#[test]
fn a_failed_call_throws_a_tool_error() {
    let caught = "try { await tools.test.fail({code: 'blocked'}) } catch (e) { return [e instanceof ToolError, e instanceof Error, e.name, e.code, e.message, e.retryable, e.details === undefined, e.tool] }";
    assert_eq!(
        value(caught),
        json!([true, true, "ToolError", "blocked", "the guard refused this", false, true, "test/fail"])
    );
    let failed = error("const x = 1;\n\n  await tools.test.fail({});");
    assert_eq!((failed.name.as_str(), failed.line), ("ToolError", Some(3)));
    assert_eq!(failed.message, "the server said no");
    let tool: serde_json::Value = serde_json::from_str(&failed.tool_error.unwrap()).unwrap();
    assert_eq!(
        tool,
        json!({"tool": "test/fail", "code": "upstream", "message": "the server said no", "retryable": true, "details": {"status": 503}})
    );
    assert!(!failed.stack.contains("postern:"), "{}", failed.stack);
    assert_eq!(value("try { await tools.nobody.x({}) } catch (e) { return e.code }"), json!("unknown-tool"));
}

#[test]
fn an_answer_that_cannot_be_read_is_an_error() {
    for text in ["'not json'", "'['.repeat(100000)"] {
        assert_eq!(
            value(&format!("try {{ await tools.test.raw({{text: {text}}}) }} catch (e) {{ return e.code }}")),
            json!("upstream")
        );
    }
}

#[test]
fn a_call_never_awaited_is_waited_for_and_told() {
    let (got, warnings) = completion("const a = 1;\ntools.test.sleep({ms: 30});\nreturn 'done'");
    assert_eq!(got, json!("done"));
    assert_eq!(warnings, ["the call to test/sleep on line 2 was never awaited"]);
    let ran = run("tools.test.sleep({ms: 30})");
    assert_eq!(ran.seen.finished.load(Ordering::SeqCst), 1);

    let (_, warnings) = completion("tools.test.fail({code: 'blocked'})");
    assert_eq!(
        warnings,
        [
            "the call to test/fail on line 1 was never awaited, and it failed: ToolError: the guard refused this"
        ]
    );
    let (_, warnings) = completion("for (let i = 0; i < 200; i++) tools.test.echo({i})");
    assert_eq!((warnings.len(), warnings[50].as_str()), (51, "and 150 more of the same kind"));
}

#[test]
fn what_follows_a_call_is_drained() {
    assert_eq!(
        printed(
            "tools.test.sleep({ms: 20}).then(() => tools.test.echo({a: 1})).then(r => console.log('got', r))"
        ),
        "got { a: 1 }\n"
    );
    assert_eq!(printed("setTimeout(() => console.log('later'), 20)"), "later\n");
    assert_eq!(
        printed("(async () => { await tools.test.sleep({ms: 10}); console.log('inner') })()"),
        "inner\n"
    );
}

#[test]
fn the_losers_of_a_race_are_cancelled() {
    for race in ["race", "any"] {
        let ran = run(&format!(
            "return await Promise.{race}([tools.test.sleep({{ms: 60000}}), tools.test.sleep({{ms: 10}})])"
        ));
        let End::Value(done) = ran.end else { panic!("{:?}", ran.end) };
        assert_eq!((done.value.as_str(), done.warnings.len()), (r#"{"ms":10}"#, 0));
        assert!(ran.took < Duration::from_secs(5), "{:?}", ran.took);
        assert_eq!(ran.seen.finished.load(Ordering::SeqCst), 1);
    }
    assert_eq!(printed("Promise.race([tools.test.sleep({ms: 20})]).then(r => console.log(r.ms))"), "20\n");
}

#[test]
fn an_error_does_not_wait_for_the_rest() {
    let ran = run("await Promise.all([tools.test.sleep({ms: 60000}), tools.test.fail({})])");
    assert!(matches!(ran.end, End::Error(_)));
    assert!(ran.took < Duration::from_secs(5));
}

#[test]
fn the_catalog_answers() {
    assert_eq!(
        value("return (await catalog.search('customers', 3))[0]"),
        json!({"name": "crm/list", "query": "customers", "limit": 3})
    );
    assert_eq!(value("return (await catalog.search())[0].limit"), json!(20));
    assert_eq!(value("return (await catalog.describe('crm/list')).inputSchema.type"), json!("object"));
}
