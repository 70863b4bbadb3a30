//! What exists beside the language itself.

use serde_json::json;

use crate::host::{error, printed, run, value};

#[test]
fn the_console_shows_values_as_node_does() {
    let shown = [
        ("console.log('a', 1, -0, 10n, null, undefined, true)", "a 1 -0 10n null undefined true\n"),
        (
            "console.log({a: 'x', b: [1, {c: 3}], f() {}}, {a: [1, [2, {c: 3}]]})",
            "{ a: 'x', b: [ 1, { c: 3 } ], f: [Function: f] } {\n  a: [ 1, [ 2, { c: 3 } ] ]\n}\n",
        ),
        (
            "console.log([], {}, [,1], new Map([['k', {v: 1}]]), new Set([1, 'b']))",
            "[] {} [ <1 empty item>, 1 ] Map(1) { 'k' => { v: 1 } } Set(2) { 1, 'b' }\n",
        ),
        ("const o = {n: 1}; o.self = o; console.log(o)", "<ref *1> { n: 1, self: [Circular *1] }\n"),
        (
            "class P { x = 1 } console.log(new P(), P, class {}, Object.create(null))",
            "P { x: 1 } [class P] [class (anonymous)] [Object: null prototype] {}\n",
        ),
        (
            "console.log(\"it's\", [\"it's\"], [Symbol('s')], /x/g, new Date(0))",
            "it's [ \"it's\" ] [ Symbol(s) ] /x/g 1970-01-01T00:00:00.000Z\n",
        ),
        (
            "console.log('%s is %d years, %o and %j; 100%', 'Ada', 36, {a: 1}, [1], 'more')",
            "Ada is 36 years, { a: 1 } and [1]; 100% more\n",
        ),
        (
            "console.log({get a() { return 1 }, [Symbol('k')]: 2, 'b-c': 3})",
            "{ a: [Getter], 'b-c': 3, [Symbol(k)]: 2 }\n",
        ),
        (
            "console.log(new Uint8Array([1, 2]), Promise.resolve(4), new Promise(() => {}))",
            "Uint8Array(2) [ 1, 2 ] Promise { 4 } Promise { <pending> }\n",
        ),
        (
            "console.group('g'); console.info('in\\nside'); console.groupEnd(); console.debug('out')",
            "g\n  in\n  side\nout\n",
        ),
        (
            "console.log(new URL('https://a.test/x?y=1'), new URLSearchParams('a=1'))",
            "URL { 'https://a.test/x?y=1' } URLSearchParams { 'a' => '1' }\n",
        ),
        (
            "console.log(new ArrayBuffer(2), {[Symbol('k')]: 1}, new WeakMap())",
            "ArrayBuffer { [Uint8Contents]: <00 00>, byteLength: 2 } { [Symbol(k)]: 1 } WeakMap { <items unknown> }\n",
        ),
        (
            "let o = 1; for (let i = 0; i < 9; i++) o = { o }; console.dir(o, { depth: 0 }); console.log('%s %d %i %f', { o }, '7x', '7x', '7x')",
            "{ o: [Object] }\n{ o: [Object] } NaN 7 7\n",
        ),
        (
            "const e = {}; e.e = e; console.log('%j|%d', e, Object.create(null))",
            "<ref *1> { e: [Circular *1] }|[Object: null prototype] {}\n",
        ),
        ("console.log(new Proxy({}, {ownKeys() { throw 1 }}))", "[cannot be shown: error]\n"),
    ];
    for (source, text) in shown {
        assert_eq!(printed(source), text, "{source}");
    }
    let long = printed("console.log({list: [...Array(120).keys()], text: 'x'.repeat(80)})");
    assert!(long.contains("... 20 more items") && long.starts_with("{\n  list: ["), "{long}");
    assert_eq!(
        printed("console.table([{a: 1, b: 'x'}, {a: 2}])"),
        "┌─────────┬───┬─────┐\n│ (index) │ a │ b   │\n├─────────┼───┼─────┤\n│ 0       │ 1 │ 'x' │\n│ 1       │ 2 │     │\n└─────────┴───┴─────┘\n"
    );
    let ran = run("console.warn('w'); console.error(new RangeError('boom'))");
    assert!(
        ran.stderr.starts_with("w\nRangeError: boom\n    at <anonymous> (script.js:1:"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("postern:"), "{}", ran.stderr);
}

#[test]
fn timers_fire_in_order_and_can_be_cleared() {
    assert_eq!(
        value(
            "const a = []; setTimeout(() => a.push(3), 30); setTimeout(() => a.push(1), 10); setTimeout(x => a.push(x), 0, 0); setImmediate(() => a.push('i')); queueMicrotask(() => a.push('m')); const gone = setTimeout(() => a.push('no'), 5); clearTimeout(gone); await new Promise(r => setTimeout(r, 60)); return a"
        ),
        json!(["m", 0, "i", 1, 3])
    );
    assert_eq!(
        value(
            "let n = 0; await new Promise(done => { const t = setInterval(() => { if (++n === 3) { clearInterval(t); done() } }, 5) }); await new Promise(r => setTimeout(r, 30)); return n"
        ),
        json!(3)
    );
    assert_eq!(
        value("const t = setTimeout(() => {}, 50000); clearTimeout(+t); t.unref(); return typeof +t"),
        json!("number")
    );
    assert_eq!(error("setTimeout('code', 1)").name, "TypeError");
}

#[test]
fn urls() {
    assert_eq!(
        value(
            "const u = new URL('../c?x=1&y=a%20b#h', 'https://user:pw@例え.test:8443/a/b'); return [u.href, u.origin, u.protocol, u.username, u.host, u.hostname, u.port, u.pathname, u.search, u.hash, u.searchParams.get('y')]"
        ),
        json!([
            "https://user:pw@xn--r8jz45g.test:8443/c?x=1&y=a%20b#h",
            "https://xn--r8jz45g.test:8443",
            "https:",
            "user",
            "xn--r8jz45g.test:8443",
            "xn--r8jz45g.test",
            "8443",
            "/c",
            "?x=1&y=a%20b",
            "#h",
            "a b"
        ])
    );
    assert_eq!(
        value(
            "const u = new URL('https://a.test'); u.pathname = '/p q'; u.searchParams.append('k', 'ü&'); u.searchParams.set('z', 1); u.hash = 'f'; u.port = '81'; u.search += '&w=2'; return [String(u), [...u.searchParams.keys()], JSON.stringify({u})]"
        ),
        json!([
            "https://a.test:81/p%20q?k=%C3%BC%26&z=1&w=2#f",
            ["k", "z", "w"],
            "{\"u\":\"https://a.test:81/p%20q?k=%C3%BC%26&z=1&w=2#f\"}"
        ])
    );
    assert_eq!(
        value(
            "try { new URL('not a url') } catch (e) { return [e.name, e.code, URL.canParse('x'), URL.parse('x'), URL.canParse('/x', 'https://a.test')] }"
        ),
        json!(["TypeError", "ERR_INVALID_URL", false, null, true])
    );
    assert_eq!(
        value(
            "const p = new URLSearchParams({a: '1', b: 'x y'}); p.append('a', '2'); const q = new URLSearchParams([['z', 1], ['a', 2]]); q.sort(); return [p.toString(), p.getAll('a'), p.has('b'), p.size, Object.fromEntries(p), String(q), new URLSearchParams('?m=%26').get('m')]"
        ),
        json!(["a=1&b=x+y&a=2", ["1", "2"], true, 3, {"a": "2", "b": "x y"}, "a=2&z=1", "&"])
    );
}

#[test]
fn text_and_bytes() {
    assert_eq!(
        value("return [...new TextEncoder().encode('€\\ud800')]"),
        json!([0xe2, 0x82, 0xac, 0xef, 0xbf, 0xbd])
    );
    assert_eq!(
        value(
            "const d = new TextDecoder(); return [d.decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x68, 0x69])), d.decode(new Uint8Array([0xff, 0x41])), d.decode(new Uint16Array([0x6968]).buffer), new TextDecoder('utf8', {ignoreBOM: true}).decode(new Uint8Array([0xef, 0xbb, 0xbf])).length]"
        ),
        json!(["hi", "\u{fffd}A", "hi", 1])
    );
    assert_eq!(
        value(
            "const d = new TextDecoder(); const b = new TextEncoder().encode('a€b'); return d.decode(b.subarray(0, 2), {stream: true}) + d.decode(b.subarray(2, 3), {stream: true}) + d.decode(b.subarray(3))"
        ),
        json!("a€b")
    );
    assert_eq!(
        value(
            "try { new TextDecoder('utf-8', {fatal: true}).decode(new Uint8Array([255])) } catch (e) { return e.name }"
        ),
        json!("TypeError")
    );
    assert_eq!(error("new TextDecoder('latin1')").name, "RangeError");
    assert_eq!(
        value("return [btoa('\\xff\\x00a'), atob('/wBh').charCodeAt(0), atob(' aGk '), btoa('')]"),
        json!(["/wBh", 255, "hi", ""])
    );
    assert_eq!(
        value(
            "return ['€', 'a'].map(t => { try { return btoa(t) } catch (e) { return e.name } }).concat((() => { try { atob('*') } catch (e) { return e.name } })())"
        ),
        json!(["InvalidCharacterError", "YQ==", "InvalidCharacterError"])
    );
}

#[test]
fn structured_clone() {
    assert_eq!(
        value(
            "const a = {d: new Date(5), m: new Map([[1, new Set([2])]]), r: /x/gi, b: new Uint8Array([1, 2]).subarray(1), e: new TypeError('t'), u: undefined}; a.self = a; const c = structuredClone(a); return [c !== a, c.self === c, c.d.getTime(), c.m.get(1).has(2), String(c.r), [...c.b], c.e instanceof TypeError, c.e.message, 'u' in c]"
        ),
        json!([true, true, 5, true, "/x/gi", [2], true, "t", true])
    );
    assert_eq!(
        value("try { structuredClone({f() {}}) } catch (e) { return [e.name, e instanceof DOMException] }"),
        json!(["DataCloneError", true])
    );
}

#[test]
fn chance_and_time_are_not_the_snapshot_s() {
    let draw = "return [Math.random(), crypto.randomUUID(), [...crypto.getRandomValues(new Uint8Array(8))]]";
    let (first, second) = (value(draw), value(draw));
    for i in 0..3 {
        assert_ne!(first[i], second[i]);
    }
    assert_eq!(
        value(
            "return /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())"
        ),
        json!(true)
    );
    assert!(value("return performance.now()").as_f64().unwrap() < 2000.0);
    let year = value("return new Date().getFullYear()").as_f64().unwrap();
    assert!(year >= 2025.0);
    assert_eq!(value("return [new Date(0).getTimezoneOffset(), String(new Date(0))]")[0], json!(0));
}

#[test]
fn aborting() {
    assert_eq!(
        value(
            "const c = new AbortController(); let n = 0; c.signal.addEventListener('abort', () => n++); c.abort(); c.abort(); try { c.signal.throwIfAborted() } catch (e) { return [n, e.name, c.signal.aborted] }"
        ),
        json!([1, "AbortError", true])
    );
    assert_eq!(
        value(
            "const s = AbortSignal.timeout(5); await new Promise(r => s.onabort = r); return s.reason.name"
        ),
        json!("TimeoutError")
    );
}

#[test]
fn there_is_no_network_and_no_way_to_other_modules() {
    let thrown = error("await fetch('https://example.com')");
    assert!(thrown.message.contains("a script has no network. Call a tool instead"), "{}", thrown.message);
    assert_eq!(
        value("return [typeof process, typeof Deno, typeof std, typeof os, typeof Bun]"),
        json!(["undefined", "undefined", "undefined", "undefined", "undefined"])
    );
    for module in ["http", "node:child_process", "./x.js", "std", "os", "axios"] {
        for how in [format!("require('{module}')"), format!("await import('{module}')")] {
            let thrown = error(&how);
            assert!(
                thrown.message.contains("a script has fs, fs/promises, path"),
                "{how}: {}",
                thrown.message
            );
        }
    }
    assert_eq!(
        value(
            "const {readFile} = await import('node:fs/promises'); const path = (await import('path')).default; return [typeof readFile, path.join('/a', '../b')]"
        ),
        json!(["function", "/b"])
    );
}

#[test]
fn runs_do_not_see_each_other() {
    value("globalThis.left = 1; Array.prototype.map = null; JSON.stringify = null; return 1");
    assert_eq!(value("return [typeof left, [1].map(x => x + 1)]"), json!(["undefined", [2]]));
}
