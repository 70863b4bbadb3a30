//! What a run gives back.

use serde_json::json;

use crate::host::{completion, error, value};

#[test]
fn the_returned_value_is_json() {
    assert_eq!(value("return 1 + 1"), json!(2));
    assert_eq!(value("// only a comment"), json!(null));
    assert_eq!(value("return undefined"), json!(null));
    assert_eq!(
        value("return {a: [1, 'x', null, true], u: undefined, n: NaN}"),
        json!({"a": [1, "x", null, true], "n": null})
    );
    assert_eq!(value("return new Date(0)"), json!("1970-01-01T00:00:00.000Z"));
    assert_eq!(value("return 'é\\ud800'"), json!("é\u{fffd}"));
    assert_eq!(
        value("return ['\\\\ud800', {'\\udfff': '\\\\\\ud800'}, '😀']"),
        json!(["\\ud800", {"\u{fffd}": "\\\u{fffd}"}, "😀"])
    );
    assert_eq!(value("return await tools.test.echo({x: '\\ud800'})"), json!({"x": "\u{fffd}"}));
    assert_eq!(value("return new Promise(r => setTimeout(r, 5, {late: 1}))"), json!({"late": 1}));
}

#[test]
fn things_that_json_would_lose_are_refused_with_their_place() {
    let refused = [
        ("return {list: [1, {big: 10n}]}", "the returned value holds a BigInt at $.list[1].big"),
        ("return 10n", "the returned value holds a BigInt at $:"),
        ("return {f() {}}", "the returned value holds a function at $.f"),
        ("return () => 1", "the returned value holds a function at $:"),
        ("return {'a b': Symbol()}", "the returned value holds a symbol at $[\"a b\"]"),
        ("return new Map([[1, 2]])", "the returned value holds a Map at $:"),
        ("return {s: new Set()}", "the returned value holds a Set at $.s"),
        ("const o = {}; o.o = {o}; return o", "the returned value holds itself (a cycle) at $.o.o"),
        ("return {b: new Uint8Array(2)}", "the returned value holds bytes (Uint8Array) at $.b"),
        ("return {a: Promise.resolve(1)}", "the returned value holds a promise at $.a: await it first"),
        ("return {a: [tools.test.echo({})]}", "the returned value holds a promise at $.a[0]: await it first"),
    ];
    for (source, message) in refused {
        let error = error(source);
        assert_eq!(error.name, "TypeError", "{source}");
        assert!(error.message.starts_with(message), "{source}: {}", error.message);
    }
}

#[test]
fn the_same_object_twice_is_no_cycle() {
    assert_eq!(
        value("const x = {n: 1}; return {a: x, b: [x, x]}"),
        json!({"a": {"n": 1}, "b": [{"n": 1}, {"n": 1}]})
    );
}

#[test]
fn a_caught_error_can_be_returned() {
    let got = value(
        "try { await tools.test.fail({}) } catch (e) { return [e, new RangeError('r', {cause: 'c'})] }",
    );
    assert_eq!(
        got,
        json!([
            {"name": "ToolError", "message": "the server said no", "code": "upstream", "retryable": true,
             "details": {"status": 503}, "tool": "test/fail"},
            {"name": "RangeError", "message": "r", "cause": "c"},
        ])
    );
}

#[test]
fn timers_that_outlive_the_script_are_told() {
    let (got, warnings) = completion("setTimeout(() => {}, 60000);\nsetInterval(() => {}, 60000);\nreturn 1");
    assert_eq!(got, json!(1));
    assert!(warnings[0].starts_with("the timer set on line 1 was still waiting"), "{warnings:?}");
    assert!(warnings[1].starts_with("the interval set on line 2 was still running"), "{warnings:?}");
}
