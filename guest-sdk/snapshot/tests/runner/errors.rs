//! What the author of a script is told when it fails.

use serde_json::json;

use crate::host::{error, value};

#[test]
fn errors_have_a_name_a_message_and_a_place() {
    let thrown = error("const x = 1;\nfunction g() {\n  null.foo }\ng()");
    assert_eq!((thrown.name.as_str(), thrown.line), ("TypeError", Some(3)));
    assert!(thrown.message.contains("foo"), "{}", thrown.message);
    assert!(thrown.stack.contains("at g (script.js:3:"), "{}", thrown.stack);
    assert!(!thrown.stack.contains("postern:") && !thrown.stack.contains("<eval>"), "{}", thrown.stack);

    let thrown = error("missing + 1");
    assert_eq!((thrown.name.as_str(), thrown.line, thrown.column), ("ReferenceError", Some(1), Some(1)));
    assert_eq!(thrown.message, "missing is not defined");
    assert_eq!(error("throw new Error('x')").column.map(|c| c < 12), Some(true));

    let thrown = error(
        "await 1;\nclass MyError extends Error { get name() { return 'MyError' } }\nthrow new MyError('mine')",
    );
    assert_eq!((thrown.name.as_str(), thrown.message.as_str(), thrown.line), ("MyError", "mine", Some(3)));
}

#[test]
fn syntax_errors_have_their_line() {
    let thrown = error("const ok = 1;\nlet a = ;");
    assert_eq!((thrown.name.as_str(), thrown.line), ("SyntaxError", Some(2)));
}

#[test]
fn what_is_no_error_can_be_thrown() {
    assert_eq!(error("throw {a: 1, b: [2]}").name, "Thrown");
    assert!(error("throw {a: 1, b: [2]}").message.starts_with("{ a: 1, b: [ 2 ] } (thrown as object"));
    assert!(error("throw 'plain'").message.starts_with("plain (thrown as string"));
    assert!(error("await Promise.reject(undefined)").message.starts_with("undefined (thrown as undefined"));
    assert!(error("throw null").message.starts_with("null (thrown as null"));
}

#[test]
fn causes_and_gathered_errors_are_told() {
    let thrown = error(
        "function low() { throw new RangeError('deep') }\ntry { low() } catch (e) { throw new Error('top', {cause: e}) }",
    );
    assert_eq!((thrown.message.as_str(), thrown.line), ("top (caused by RangeError: deep)", Some(2)));
    assert!(
        thrown.stack.contains("caused by: RangeError: deep\n    at low (script.js:1:"),
        "{}",
        thrown.stack
    );

    let thrown =
        error("await Promise.any([Promise.reject(new Error('a')), Promise.reject(new TypeError('b'))])");
    assert_eq!(thrown.name, "AggregateError");
    assert!(thrown.message.contains("[Error: a; TypeError: b]"), "{}", thrown.message);
}

#[test]
fn a_promise_that_can_never_settle_is_an_error_at_once() {
    let thrown = error("await new Promise(() => {})");
    assert_eq!(thrown.name, "DeadlockError");
    assert!(thrown.message.contains("nothing is pending"));
    assert_eq!(error("await tools.test.echo({}); await {then() {}}").name, "DeadlockError");
}

#[test]
fn unhandled_rejections_fail_the_run() {
    let thrown = error("(async () => { throw new RangeError('lost') })();\nreturn 1");
    assert_eq!((thrown.name.as_str(), thrown.message.as_str(), thrown.line), ("RangeError", "lost", Some(1)));
    assert_eq!(error("tools.test.fail({}).then(() => 1); return 1").name, "ToolError");
    assert_eq!(
        value("const p = Promise.reject(new Error('late')); await null; p.catch(() => {}); return 1"),
        json!(1)
    );
    // It waits in vain because of the rejection, so that is what is told.
    assert_eq!(
        error("await new Promise(() => { (async () => { throw new RangeError('why') })() })").name,
        "RangeError"
    );
}

#[test]
fn errors_in_timers_fail_the_run() {
    let thrown = error(
        "setTimeout(() => {\n  throw new RangeError('in a timer') }, 1);\nawait tools.test.sleep({ms: 2000})",
    );
    assert_eq!((thrown.name.as_str(), thrown.line), ("RangeError", Some(2)));
    assert!(!thrown.stack.contains("postern:"), "{}", thrown.stack);
}

#[test]
fn an_error_that_fights_back_is_still_an_error() {
    let thrown =
        error("const e = new Error('x'); Object.defineProperty(e, 'message', {get() { throw 1 }}); throw e");
    assert_eq!(thrown.name, "InternalError");
    assert_eq!(error("throw new Proxy({}, {get() { throw 1 }})").name, "Thrown");
}
