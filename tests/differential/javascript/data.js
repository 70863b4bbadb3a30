## arrays: copies that leave the original
const a = [3, 1, 2];
console.log(JSON.stringify([a.toSorted(), a.toReversed(), a.with(0, 9), a.toSpliced(1, 1, "x", "y"), a]));
try { a.with(5, 0); } catch (e) { console.log(e.name); }
## arrays: at, findLast, findLastIndex
const a = [5, 12, 8, 130, 44];
console.log(a.at(-2), a.at(9), a.findLast((x) => x > 10), a.findLastIndex((x) => x > 100), a.find((x) => x > 10), a.findIndex((x) => x > 999));
## arrays: flat, flatMap
console.log(JSON.stringify([[1, [2, [3, [4]]]].flat(), [1, [2, [3, [4]]]].flat(Infinity), ["a b", "c"].flatMap((s) => s.split(" ")), [1, , 3].flat()]));
## arrays: groupBy
const by = Object.groupBy ?? ((items, key) => { const out = Object.create(null); let i = 0; for (const x of items) (out[key(x, i++)] ??= []).push(x); return out; });
const byMap = Map.groupBy ?? ((items, key) => { const out = new Map(); let i = 0; for (const x of items) { const k = key(x, i++); out.has(k) ? out.get(k).push(x) : out.set(k, [x]); } return out; });
const rows = [{ t: "a", n: 1 }, { t: "b", n: 2 }, { t: "a", n: 3 }];
const g = by(rows, (r) => r.t);
console.log(JSON.stringify(g), Object.getPrototypeOf(g), JSON.stringify([...byMap(rows, (r) => r.n % 2 === 1)]));
## arrays: sorting is stable
const rows = Array.from({ length: 60 }, (_, i) => ({ k: i % 3, i }));
console.log(rows.sort((a, b) => a.k - b.k).map((r) => r.i).join(","));
## arrays: sort without a comparison
console.log(JSON.stringify([[10, 9, 1, undefined, 2].sort(), [true, "b", null, 3].sort(), [, 2, 1, undefined].sort().length, [-1, -2, 0].sort()]));
## arrays: sort by several keys
const rows = [["b", 2], ["a", 2], ["c", 1], ["a", 1]];
console.log(JSON.stringify(rows.sort(([a, x], [b, y]) => y - x || a.localeCompare(b))));
## arrays: splice, copyWithin, fill
const a = [1, 2, 3, 4, 5];
console.log(JSON.stringify([a.splice(-3, 2, "x"), a, [1, 2, 3, 4, 5].copyWithin(0, 3), new Array(3).fill(0), [1, 2, 3].fill(9, -1)]));
## arrays: reduce, reduceRight, some, every
console.log([1, 2, 3].reduce((a, b) => a + b), ["a", "b"].reduceRight((a, b) => a + b, ""), [].every((x) => false), [].some((x) => true), [1, 2].some((x) => x > 1));
try { [].reduce((a, b) => a); } catch (e) { console.log(e instanceof TypeError); }
## arrays: holes
const a = [1, , 3];
let n = 0;
a.forEach(() => n++);
console.log(n, 1 in a, a.length, JSON.stringify(a), JSON.stringify(a.map((x) => x * 2)), Object.keys(a).join(), [...a][1], a.includes(undefined), a.indexOf(undefined));
## arrays: length
const a = [1, 2, 3];
a.length = 1; a[3] = "x"; a.extra = true;
console.log(JSON.stringify(a), a.length, Object.keys(a).join());
try { a.length = -1; } catch (e) { console.log(e.name); }
## arrays: from, of, isArray, entries
console.log(JSON.stringify([Array.from("abc", (c, i) => c + i), Array.from({ length: 2, 0: "x" }), Array.of(7), Array.isArray([]), [...["a", "b"].entries()], Array.from(new Map([[1, 2]]))]));
## arrays: includes, indexOf, NaN
console.log([NaN].includes(NaN), [NaN].indexOf(NaN), [1, 2, 1].lastIndexOf(1), [1, 2, 3].indexOf(3, -1), [[1]].includes([1]));
## arrays: join, toString, concat
console.log([1, [2, [3]], null, undefined, "x"].join("-"), String([1, [2, 3]]), JSON.stringify([1].concat([2], [[3]], 4)), JSON.stringify([0].concat({ length: 1, 0: "s", [Symbol.isConcatSpreadable]: true })));
## arrays: array-likes through call
console.log(Array.prototype.map.call("abc", (c) => c.toUpperCase()).join(""), Array.prototype.slice.call({ 0: "a", 1: "b", length: 2 }).join(), (function () { return [].slice.call(arguments, 1).join(); })(1, 2, 3));
## arrays: changing while going round
const a = [1, 2, 3, 4];
const out = [];
for (const x of a) { out.push(x); if (x === 2) a.push(9); if (x === 3) a.shift(); }
console.log(out.join(), a.join());
## arrays: subclass
class Stack extends Array { top() { return this.at(-1); } }
const s = Stack.from([1, 2, 3]).map((x) => x * 2);
console.log(s instanceof Stack, s.top(), s.length, s.filter((x) => x > 2).constructor.name, Array.isArray(s));
## unique, chunks, zip, range
const chunk = (a, n) => Array.from({ length: Math.ceil(a.length / n) }, (_, i) => a.slice(i * n, i * n + n));
console.log(JSON.stringify([[...new Set([3, 1, 3, 2, 1])], chunk([1, 2, 3, 4, 5], 2), [1, 2].map((x, i) => [x, "ab"[i]]), [...Array(5).keys()]]));
## objects: order of the keys
console.log(Object.keys({ b: 1, 2: 1, a: 1, 1: 1, "-1": 1, "01": 1, [Symbol("s")]: 1 }).join(), JSON.stringify({ z: 1, 10: 2, 9: 3 }));
## objects: entries and back
const prices = { apple: 1.5, pear: 2 };
console.log(JSON.stringify(Object.fromEntries(Object.entries(prices).map(([k, v]) => [k.toUpperCase(), v * 2]))), Object.values(prices).join(), JSON.stringify(Object.fromEntries(new Map([["a", 1]]))));
## objects: spread, assign, rest
const a = { x: 1, n: { deep: true } };
const b = { ...a, y: 2, ...null, ...["e"], ...(1 > 2 && { no: 1 }) };
const { x, ...rest } = b;
console.log(JSON.stringify([b, rest, Object.assign({}, a, { x: 9 }), b.n === a.n]));
## objects: freeze, seal
"use strict";
const o = Object.freeze({ a: 1, n: { b: 1 } });
const f = (job) => { "use strict"; try { return job(); } catch (e) { return e.name; } };
o.n.b = 2;
console.log(f(() => { "use strict"; o.a = 2; }), o.n.b, Object.isFrozen(o), Object.isSealed(Object.seal({})), f(() => { "use strict"; delete o.a; }), Object.isExtensible(Object.preventExtensions({})));
## objects: property descriptors
const o = { get a() { return 1; }, b: 2 };
Object.defineProperty(o, "hidden", { value: 3 });
console.log(JSON.stringify(Object.keys(o)), JSON.stringify(Object.getOwnPropertyDescriptor(o, "hidden")), typeof Object.getOwnPropertyDescriptor(o, "a").get, Object.getOwnPropertyNames(o).join(), Object.hasOwn(o, "hidden"), "toString" in o);
## objects: computed names, shorthand, accessors
const k = "dyn", v = 1;
const o = { v, [k + 1]: 2, ["a b"]: 3, get twice() { return this.v * 2; }, set twice(x) { this.v = x / 2; }, m() { return "m"; } };
o.twice = 10;
console.log(JSON.stringify(o), o.m(), o.v);
## objects: without a prototype
const d = Object.create(null);
d.toString = 1;
console.log(JSON.stringify(d), Object.getPrototypeOf(d), "constructor" in d, Object.keys(Object.setPrototypeOf({ a: 1 }, { b: 2 })).join());
const all = []; for (const key in Object.create({ inherited: 1 }, { own: { value: 1, enumerable: true } })) all.push(key);
console.log(all.join());
## Map: order and keys of every kind
const key = {};
const m = new Map([["a", 1], [1, "n"], ["1", "s"], [key, "o"], [NaN, "nan"]]);
m.set("a", 2).delete(1);
console.log(m.size, m.get(NaN), m.get(key), m.get({}), [...m.keys()].map(String).join(), new Map([[0, "z"]]).has(-0));
## Map: deleting while going round
const m = new Map([[1, 1], [2, 2], [3, 3]]);
const seen = [];
for (const [k] of m) { seen.push(k); m.delete(k + 1); if (k === 1) m.set(9, 9); }
console.log(seen.join(), [...m.keys()].join());
## Map: totals per group
const m = new Map();
for (const [team, n] of [["a", 1], ["b", 5], ["a", 2]]) m.set(team, (m.get(team) ?? 0) + n);
console.log(JSON.stringify([...m]), JSON.stringify(Object.fromEntries(m)), JSON.stringify([...m].sort((x, y) => y[1] - x[1])[0]));
## Set: operations
const A = new Set([1, 2, 3]), B = new Set([3, 4, 2]);
const or = (name, byHand) => A[name] ? A[name](B) : byHand();
console.log(JSON.stringify([
  [...or("union", () => new Set([...A, ...B]))], [...or("intersection", () => new Set([...A].filter((x) => B.has(x))))],
  [...or("difference", () => new Set([...A].filter((x) => !B.has(x))))],
  [...or("symmetricDifference", () => new Set([...[...A].filter((x) => !B.has(x)), ...[...B].filter((x) => !A.has(x))]))],
  or("isSubsetOf", () => [...A].every((x) => B.has(x))), or("isDisjointFrom", () => ![...A].some((x) => B.has(x)))]));
## Set: order, NaN, chaining
const s = new Set("hello").add("h").add(NaN).add(NaN).add(0).add(-0);
console.log(s.size, [...s].map(String).join(), s.has(NaN), Object.is([...s].at(-1), 0), JSON.stringify(s));
## WeakMap, WeakSet, WeakRef
const key = {}, w = new WeakMap([[key, 1]]);
console.log(w.get(key), w.has({}), w.delete(key), w.has(key), new WeakSet([key]).has(key), new WeakRef(key).deref() === key);
for (const bad of [1, "a", null]) try { w.set(bad, 1); } catch (e) { console.log(e.name); }
## JSON: indent and replacers
const o = { b: [1, { c: null }], a: "x", d: undefined, e: () => 1 };
console.log(JSON.stringify(o, null, 2), JSON.stringify(o, ["a", "b"]), JSON.stringify(o, (k, v) => typeof v === "number" ? v + 1 : v, "--"), JSON.stringify({ a: [], b: {} }, null, 1));
## JSON: values without a form
console.log(JSON.stringify([undefined, () => 1, Symbol("x"), NaN, Infinity, -0, new Date(0), /x/, new Map([[1, 2]]), new Error("e"), null]), JSON.stringify(undefined), JSON.stringify(Symbol("x")), JSON.stringify({ [Symbol("k")]: 1 }));
try { JSON.stringify(1n); } catch (e) { console.log(e.name); }
## JSON: toJSON and boxed values
class Money { constructor(n) { this.n = n; } toJSON(key) { return `${this.n} EUR at ${key || "top"}`; } }
console.log(JSON.stringify({ price: new Money(5), list: [new Money(1)] }), JSON.stringify(new Money(2)), JSON.stringify([new Number(3), new String("s"), new Boolean(false), Object(1)]), JSON.stringify(new Date(NaN)));
## JSON: revivers
console.log(JSON.parse('{"d":"2026-01-02T00:00:00.000Z","n":"5"}', (k, v) => k === "d" ? new Date(v) : k === "n" ? Number(v) : v).d.getTime());
const order = [];
JSON.parse('{"a":{"b":1},"c":[2]}', function (k, v) { order.push(k); return k === "b" ? undefined : v; });
console.log(order.join("|"), JSON.stringify(JSON.parse("[1,2,3]", (k, v) => v === 2 ? undefined : v)));
## JSON: broken texts
for (const text of ["{", "{a:1}", "[1,]", "'a'", "01", "\"\t\"", "nul", "", "1 2", "[1]]", "\u00a0[1]"])
  try { console.log(JSON.stringify(JSON.parse(text))); } catch (e) { console.log(e.name); }
## JSON: escapes, cycles, depth, big numbers
const o = { a: "\u2028\u0001\"\\/é😀" };
console.log(JSON.stringify(o), JSON.parse('"\\u00e9\\n\\/"'), JSON.parse("[1e3,-0,1.50,12345678901234567890]").map(String).join());
o.self = o;
try { JSON.stringify(o); } catch (e) { console.log(e.name); }
console.log(JSON.stringify(JSON.parse("[".repeat(500) + "]".repeat(500))).length);
## JSON: keys twice, __proto__
const o = JSON.parse('{"a":1,"a":2,"__proto__":{"x":1}}');
console.log(o.a, o.x, Object.keys(o).join(), Object.hasOwn(o, "__proto__"));
## typed arrays
const a = new Uint8Array([1, 2, 300, -1]);
console.log(a.join(), new Uint8ClampedArray([300, -5, 1.5, 2.5]).join(), new Int16Array([40000]).join(), new Float32Array([0.1])[0], a.subarray(1, 3).join(), a.toSorted().join(), Array.from(a.entries()).length, a.BYTES_PER_ELEMENT);
## typed arrays share their buffer
const buffer = new ArrayBuffer(8);
const bytes = new Uint8Array(buffer), ints = new Uint32Array(buffer, 4, 1);
ints[0] = 0x01020304;
bytes.set([9, 8], 2);
console.log(bytes.join(), buffer.slice(2, 4).byteLength, ints.byteOffset, Object.prototype.toString.call(ints));
try { new Uint32Array(buffer, 1); } catch (e) { console.log(e.name); }
## DataView
const v = new DataView(new ArrayBuffer(16));
v.setInt16(0, -2); v.setUint32(2, 0xdeadbeef, true); v.setFloat32(6, 1.5); v.setInt8(10, 200);
console.log([...new Uint8Array(v.buffer)].map((b) => b.toString(16).padStart(2, "0")).join(" "), v.getUint16(0), v.getInt32(2, true), v.getFloat32(6));
v.setBigUint64(8, 2n ** 63n); console.log(v.getBigInt64(8));
try { v.getInt32(14); } catch (e) { console.log(e.name); }
## bytes as hexadecimal text
const bytes = Uint8Array.from("deadbeef".match(/../g), (h) => parseInt(h, 16));
console.log(bytes.join(), [...bytes].map((b) => b.toString(16).padStart(2, "0")).join(""), bytes.reduce((a, b) => (a * 256 + b) >>> 0, 0), new Uint8Array([1, 2, 3]).indexOf(2));
## structuredClone
const o = { d: new Date(0), m: new Map([[1, { a: [1] }]]), s: new Set(["x"]), r: /a/gi, b: new Uint8Array([1, 2]), n: null, u: undefined, big: 5n };
o.self = o;
const c = structuredClone(o);
console.log(c !== o, c.self === c, c.d.getTime(), c.m.get(1).a[0], c.m.get(1) !== o.m.get(1), c.s.has("x"), String(c.r), c.b.join(), "u" in c, c.big);
for (const bad of [() => 1, Symbol("x"), { f() {} }]) try { structuredClone(bad); } catch (e) { console.log(e.name, e.code); }
## structuredClone: sharing and transfer
const buffer = new ArrayBuffer(4), o = { a: new Uint8Array(buffer, 1, 2), b: new Uint16Array(buffer) };
const c = structuredClone(o);
c.a[0] = 7;
console.log(c.a.buffer === c.b.buffer, new Uint8Array(c.b.buffer).join(), o.a[0], c.a.byteOffset);
const moved = structuredClone(o, { transfer: [buffer] });
console.log(buffer.byteLength, o.b.length, moved.b.length);
try { structuredClone(1, { transfer: [5] }); } catch (e) { console.log("no"); }
## structuredClone: classes, errors, getters
class P { constructor() { this.x = 1; } get y() { return 2; } }
const c = structuredClone(new P()), e = structuredClone(new RangeError("r", { cause: "why" }));
console.log(c instanceof P, JSON.stringify(c), e instanceof RangeError, e.message, e.cause, e.name, JSON.stringify(structuredClone({ get a() { return 1; } })), structuredClone([1, , 3]).length);
