## texts, numbers and nothing
console.log("a", 1, -0, 1.50, NaN, null, undefined, true, 10n, Symbol("s"));
console.log();
console.log("");
console.log("a\nb", ["a\nb", "it's", 'say "x"', "`'\""]);
## small arrays and objects
console.log([1, "a", null], { a: 1, "b-c": "x", 3: true }, [], {}, [[]], [{}], { a: {}, b: [] });
## nested, three levels
console.log({ user: { name: "Ann", tags: ["a", "b"] }, n: [1, [2, 3]] }, { a: { b: { c: 1 } }, d: [["x"]] });
## maps, sets, dates, patterns
console.log(new Map([["a", 1], [{ k: 1 }, [2]]]), new Set(["x", 1]), new Map(), new Set(), new Date(0), /a\/b/gi);
## functions and classes
class A {} class B extends A {}
console.log(() => {}, function named() {}, async function af() {}, function* g() {}, A, B, Math.max, [A], { m() {} }, class {});
## instances
class P { constructor() { this.x = 1; this.self = undefined; } #hidden = 2; get y() { return 1; } }
class Empty {}
console.log(new P(), new Empty(), [new P()], Object.create(null), Object.assign(Object.create(null), { a: 1 }), Object.create({ a: 1 }));
## arrays: holes, keys, long ones
const a = [1, , , 4];
a.k = "v";
console.log(a, new Array(3), [undefined, null], [1.5, -0]);
## typed arrays
console.log(new Uint8Array([1, 2]), new Float64Array([0.5]), new BigInt64Array([1n]), new Uint8Array(0));
## accessors
console.log({ get a() { return 1; }, set a(v) {}, get b() { return 1; }, set c(v) {}, plain: 1 });
## subclasses and tags
class Counter extends Map {} class Stack extends Array {} class Bag extends Set {} class Bytes extends Uint8Array {} class Later extends Promise {}
console.log(new Counter([["a", 1]]), Stack.from([1]), new Bag([1]), new Bytes(1), Later.resolve(1), new (class {})(), new (class extends Counter {})());
console.log(Object.assign(new Map([[1, 2]]), { own: 1 }), Object.assign(new Set(), { own: 1 }), Object.assign(() => {}, { own: 1 }), Object.assign(class A {}, { s: 2 }));
## errors begin with their name and message
class HttpError extends Error { constructor(m) { super(m); this.name = "HttpError"; this.status = 404; } }
for (const e of [new Error("plain"), new TypeError("typed"), new HttpError("own")]) console.log(`${e}`, e.stack.split("\n")[0]);
## boxed values, promises
console.log(new Number(1), new String("s"), new Boolean(false), Object(1n), Object(Symbol("b")), Promise.resolve(5), new Promise(() => {}), [Promise.resolve("x")]);
## cycles
const o = { name: "o", inner: {} };
o.self = o; o.inner.up = o; 
const l = [1]; l.push(l);
console.log(o, l);
## tags, iterators, generators
class T { get [Symbol.toStringTag]() { return "Tag"; } }
console.log(new T(), [1].values(), "a"[Symbol.iterator](), (function* () {})(), Math, JSON, globalThis.Reflect === Reflect);
## URLs and parameters
console.log(new URLSearchParams("a=1&b=2"), new URLSearchParams(), [new WeakMap(), new WeakSet()], (function () { return arguments; })(1, 2));
## formats
console.log("%s is %d years and %i, %f", "Ann", 42.5, 42.9, "1.50", "extra", { a: 1 });
console.log("%O|%O|%j|%%|%c|%x", [1], { a: { b: 1 } }, { j: 1 }, "css", "left");
console.log("%s %s", "only one"); console.log("100%", 5); console.log("%d", "x", "%s"); console.log("%s|%s|%s|%s", null, undefined, 5n, -0); console.log("%s", { a: { b: 1 } }, [1, "a"]); console.log("%d %i", 5n, 7n);
## formats: values with their own toString
class P { toString() { return "own"; } }
console.log("%s %s %s", new P(), Symbol("x"), () => 1);
console.log("%s", new Date(0)); console.log("%s", class Q {}); console.log("%s", Object.create(null));
## groups
console.group("outer"); console.log("in\ntwo"); console.group(); console.log({ a: 1 }); console.groupEnd(); console.info("back"); console.groupEnd(); console.groupEnd(); console.log("out");
## counts
console.count(); console.count("x"); console.count(); console.countReset(); console.count(); console.count("x");
## tables
console.table([{ a: 1, b: "x" }, { a: 2, c: true }]);
console.table([[1, 2], [3, 4]]); console.table(["p", "q"]); console.table({ r1: { v: 1 }, r2: { v: 2 } }); console.table(5); console.table([]);
## tables: chosen columns, maps, sets
console.table([{ a: 1, b: 2 }], ["b"]);
console.table(new Map([["k", 1]])); console.table(new Set(["s"]));
## dir and debug
console.dir({ a: { b: 1 } }); console.debug("d", [1]); console.info("%s", "i"); console.log(String(console), typeof console.log, Object.prototype.toString.call(console));
## long lines are broken
console.log({ first: "a".repeat(30), second: "b".repeat(30), third: "c".repeat(30) });
console.log(["a".repeat(40), "b".repeat(40)]);
console.log([{ id: 1, name: "Customer number one", plan: "enterprise", active: true, city: "Paris" }, { id: 2, name: "Two", plan: "free", active: false, city: "Rome" }]);
## lines at the very width
for (let n = 64; n < 78; n++) console.log({ key: "x".repeat(n) }, [1, "y".repeat(n)]);
for (let n = 50; n < 66; n++) console.log({ key: "x".repeat(n), b: 1 }, ["y".repeat(n), 1, 2]);
## strings in objects
console.log(["tab\t", "nul\0", "\u001b[0m", "é😀", "back\\slash", "\u007f", "\ud800"], { "a b": 1, "é": 2, $x: 3, "1a": 4, "": 5 });
## texts with line ends
console.log(["one\ntwo", "a long line, which ends here\nand then another one that is long\nand the last"], { k: "x".repeat(70) + "\n" + "y".repeat(10) });
## nested lines
console.log({ list: [{ id: 1, name: "x".repeat(40), tags: {} }, { id: 2, name: "y".repeat(50), tags: [] }], map: new Map([["k".repeat(30), { v: "v".repeat(40) }]]) });
