//! Scripts that ask for too much: an error of theirs wherever that can be, and never a run that ends
//! without saying why.

use std::time::Duration;

use serde_json::json;

use crate::host::{End, error, run, run_for, value};

#[test]
fn deep_recursion_is_a_range_error() {
    assert_eq!(error("function f() { return f() + 1 } f()").name, "RangeError");
    assert_eq!(
        value("let n = 0; const f = () => { n++; f() }; try { f() } catch (e) { return [e.name, n > 500] }"),
        json!(["RangeError", true])
    );
    assert_eq!(value("try { JSON.parse('['.repeat(1e5)) } catch (e) { return e.name }"), json!("RangeError"));
    let nest = "let a = []; for (let i = 0; i < 1e5; i++) a = [a];";
    for source in ["structuredClone(a)", "a.toString()", "a.flat(Infinity)"] {
        assert_eq!(
            value(&format!("{nest} try {{ {source} }} catch (e) {{ return e.name }}")),
            json!("RangeError"),
            "{source}"
        );
    }
    // QuickJS looks for cycles in every level of every level, which takes seconds.
    let slow = run_for(
        &format!("{nest} try {{ JSON.stringify(a) }} catch (e) {{ return e.name }}"),
        Duration::from_secs(120),
    );
    assert!(matches!(&slow.end, End::Value(done) if done.value == "\"RangeError\""), "{:?}", slow.end);
    assert_eq!(
        error(&format!("{nest} return a")).message,
        "the returned value is nested more than 100 levels deep"
    );
    assert!(matches!(run(&format!("{nest} console.log(a); throw a")).end, End::Error(_)));
}

#[test]
fn deep_source_is_an_error() {
    for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("!", ""), ("a=>", "1"), ("`${", "}`")] {
        let source = format!("return {}1{}", open.repeat(100_000), close.repeat(100_000));
        let thrown = error(&source);
        assert!(
            ["RangeError", "SyntaxError", "InternalError"].contains(&thrown.name.as_str()),
            "{open}: {thrown:?}"
        );
    }
}

#[test]
fn memory_runs_out_in_the_script() {
    match run("const a = []; for (;;) a.push('x'.repeat(1 << 20) + a.length)").end {
        End::Error(error) => assert_eq!(error.message, "out of memory"),
        other => panic!("{other:?}"),
    }
    assert_eq!(
        value(
            "try { const a = []; for (;;) a.push(new ArrayBuffer(8 << 20)) } catch (e) { return e.message }"
        ),
        json!("out of memory")
    );
    assert_eq!(
        value(
            "let s = 'x'; try { for (;;) s += s } catch (e) { s = ''; return ['out of memory', 'string too long', 'invalid string length'].includes(e.message) }"
        ),
        json!(true)
    );
}

#[test]
fn a_loop_can_be_cut_off() {
    for source in [
        "for (;;) {}",
        "for (;;) await null",
        "await tools.test.sleep({ms: 60000})",
        "/(a*)*b/.test('a'.repeat(40))",
        "2n ** 100000000n",
    ] {
        let ran = run_for(source, Duration::from_millis(400));
        match ran.end {
            End::Timeout => assert!(ran.took < Duration::from_secs(3), "{source}: {:?}", ran.took),
            End::Error(error) => assert!(source.contains("**"), "{source}: {error:?}"),
            other => panic!("{source}: {other:?}"),
        }
    }
}

#[test]
fn a_full_pipe_does_not_end_the_run() {
    let ran = run(
        "for (let i = 0; i < 3000; i++) { console.log('x'.repeat(1023)); console.error('y'.repeat(1023)) } return 1",
    );
    assert!(matches!(ran.end, End::Value(_)), "{:?}", ran.end);
    assert!(ran.stdout.len() <= 1 << 20 && ran.stdout.len() > 1 << 19, "{}", ran.stdout.len());
}
