## classes: private members
class Counter { #n = 0; static #made = 0; constructor() { Counter.#made++; } #step(by) { this.#n += by; return this; } up(by = 1) { return this.#step(by); } get n() { return this.#n; } set n(v) { this.#n = v; } static get made() { return Counter.#made; } static is(o) { return #n in o; } }
const c = new Counter().up().up(5); c.n += 10; new Counter();
console.log(c.n, Counter.made, Counter.is(c), Counter.is({}), JSON.stringify(c), Object.keys(c).length);
try { Counter.prototype.up.call({}); } catch (e) { console.log(e.name); }
## classes: static blocks and fields
class A { static order = []; static { A.order.push("block"); this.x = 5; } static y = this.x * 2; ["com" + "puted"] = 1; arrow = () => this.computed; static async *gen() { yield 1; } }
console.log(A.order.join(), A.y, new A().computed, (0, new A().arrow)(), Object.keys(new A()).join(), typeof A.gen);
## classes: inheritance and super
class A { constructor(x) { this.x = x; } hi() { return `A${this.x}`; } static make(...a) { return new this(...a); } get kind() { return "a"; } }
class B extends A { constructor() { super(7); this.y = super.hi(); } hi() { return `B(${super.hi()})`; } get kind() { return super.kind + "b"; } }
const b = B.make();
console.log(b.hi(), b.y, b.kind, b instanceof A, B.name, Object.getPrototypeOf(B) === A, b.constructor.name);
try { class C extends A { constructor() { this.z = 1; } } new C(); } catch (e) { console.log(e.name); }
## classes: order of initialisation
const log = [];
class A { a = log.push("field a"); constructor() { log.push("A", this.name()); } name() { return "A.name"; } }
class B extends A { b = log.push("field b"); constructor() { log.push("before"); super(); log.push("B"); } name() { return "B.name"; } }
new B();
console.log(log.join(", "));
## classes: accessors, symbols, toString
class Money { constructor(n) { this.n = n; } [Symbol.toPrimitive](hint) { return hint === "number" ? this.n : `${this.n} EUR (${hint})`; } get [Symbol.toStringTag]() { return "Money"; } static [Symbol.hasInstance](x) { return "n" in x; } }
const m = new Money(5);
console.log(`${m}`, +m, m + "", m * 2, Object.prototype.toString.call(m), { n: 1 } instanceof Money);
## classes: called without new, new.target
function F() { return new.target === undefined ? "called" : undefined; }
class A { constructor() { this.made = new.target.name; } }
class B extends A {}
console.log(F(), new B().made, typeof new F());
try { A(); } catch (e) { console.log(e.name); }
## classes: mixins, extending expressions
const Named = (Base) => class extends Base { name() { return "n:" + this.id; } };
class Base { id = 3; }
class Both extends Named(Base) {}
console.log(new Both().name(), Both.name, Object.getPrototypeOf(Both).name === "", (class Inner {}).name, (class {}).name);
## classes: extending what is built in
class HttpError extends Error { constructor(status, message, options) { super(message, options); this.status = status; } get name() { return "HttpError"; } }
class Counter extends Map { inc(k) { return this.set(k, (this.get(k) ?? 0) + 1); } }
const e = new HttpError(404, "none", { cause: "gone" });
console.log(String(e), e.status, e.cause, e instanceof Error, Object.prototype.toString.call(e), new Counter().inc("a").inc("a").get("a"), new Counter() instanceof Map);
## functions: arguments, defaults, rest
function f(a, b = a + 1, ...rest) { return [a, b, rest, arguments.length, f.length]; }
console.log(JSON.stringify([f(1), f(1, undefined, 3), f(1, null, 3, 4)]), ((a, b) => {}).length, (function (a) { a = 9; return arguments[0]; })(1));
## functions: names
const f = () => {}, o = { m() {}, get g() { return 1; }, ["x" + 1]: () => {}, async *ag() {} };
console.log(f.name, o.m.name, Object.getOwnPropertyDescriptor(o, "g").get.name, o.x1.name, o.ag.name, (() => {}).name === "", f.bind().name, Symbol("s").description, new Function("a", "return a").name);
## functions: this
const o = { v: 1, plain() { return this?.v; }, arrow: () => typeof this, nested() { return [1].map(function () { return this?.v; }, this).concat([1].map(() => this.v)); } };
const loose = o.plain;
console.log(o.plain(), loose.call({ v: 2 }), o.plain.bind({ v: 3 }).call({ v: 4 }), o.nested().join(), (0, o.plain).apply({ v: 5 }), typeof o.arrow());
## functions: closures and loops
const fs1 = [], fs2 = [];
for (let i = 0; i < 3; i++) fs1.push(() => i);
for (var j = 0; j < 3; j++) fs2.push(() => j);
const counter = (() => { let n = 0; return { up: () => ++n, get n() { return n; } }; })();
counter.up(); counter.up();
console.log(fs1.map((f) => f()).join(), fs2.map((f) => f()).join(), counter.n);
## functions: hoisting and the dead zone
console.log(typeof h, h(), typeof v);
function h() { return "hoisted"; }
var v = 1;
try { t; let t = 1; } catch (e) { console.log(e.name); }
try { undeclared; } catch (e) { console.log(e.name, typeof undeclared); }
try { const c = 1; c = 2; } catch (e) { console.log(e.name); }
## functions: currying, composing, memory
const pipe = (...fs) => (x) => fs.reduce((v, f) => f(v), x);
const memo = (f, seen = new Map()) => (n) => seen.has(n) ? seen.get(n) : (seen.set(n, f(n)), seen.get(n));
const fib = memo((n) => (n < 2 ? n : fib(n - 1) + fib(n - 2)));
console.log(pipe((x) => x + 1, (x) => x * 2, String)(3), fib(80), ((a) => (b) => (c) => a + b + c)(1)(2)(3));
## destructuring: nested, defaults, swaps
const { a: { b: [, second = "d", ...more] }, missing = "def", ["k" + 1]: k = null, ...rest } = { a: { b: [1, undefined, 3, 4] }, k1: 0, x: 1, y: 2 };
let p = 1, q = 2;
[p, q] = [q, p];
console.log(second, more.join(), missing, k, JSON.stringify(rest), p, q, (({ x }, [y]) => x + y)({ x: 1 }, "2"));
try { const { x } = null; } catch (e) { console.log(e.name); }
## destructuring: order and closing
const log = [];
const it = { [Symbol.iterator]: () => ({ next: () => (log.push("next"), { value: log.length, done: false }), return: () => (log.push("return"), {}) }) };
const [a, , b] = it;
for (const x of it) { if (x > 5) break; }
console.log(a, b, log.join());
## optional chaining and its kin
const o = { a: { f() { return this.v; }, v: 5 }, n: null };
console.log(o?.a?.v, o.b?.c.d.e, o.n?.x, o.a.f?.(), o.a.g?.(), o.a?.["v"], delete o?.n, o?.x ?? "none", (o.z ??= []).push(1), o.a.v &&= 0);
try { o.q.r; } catch (e) { console.log(e.name); }
## labelled loops, switch, comma
const out = [];
outer: for (let i = 0; i < 4; i++) { for (let j = 0; j < 4; j++) { if (j === 2) continue outer; if (i === 2) break outer; out.push(`${i}${j}`); } }
const kind = (x) => { switch (true) { case x < 0: return "neg"; case x === 0: default: return "zero or so"; case x > 9: return "big"; } };
block: { out.push("in"); break block; }
let n = 0; do { n++; } while (n < 5);
console.log(out.join(), kind(-1), kind(10), kind(5), n, (() => { switch (3) { case 1: return 1; default: n = 9; case 2: return n; } })());
## try, catch, finally
const f = () => { try { return "try"; } finally { log.push("finally"); } };
const log = [];
const g = () => { try { throw 1; } catch { return "caught"; } finally { return "finally wins"; } };
const h = () => { for (const x of [1, 2]) { try { continue; } finally { log.push(x); } } };
h();
console.log(f(), g(), log.join());
## errors: causes, aggregates, conversion
const e = new TypeError("outer", { cause: new RangeError("inner") });
const all = new AggregateError([new Error("a"), 2], "both");
console.log(String(e), e.cause.message, "cause" in new Error("x"), all.errors.length, String(all), Object.keys(e).length, JSON.stringify(e), new Error().message === "", Error("x") instanceof Error, new Error("x", { cause: undefined }).hasOwnProperty("cause"));
## errors: which kind is thrown
const kinds = [() => null.x, () => undefined(), () => x1, () => new Array(-1), () => "a".repeat(-1), () => (1).toFixed(101), () => decodeURI("%"), () => JSON.parse("{"), () => ({}).x.y, () => Symbol() + "", () => new (class { constructor() { return Object.freeze({ set: 1 }); } })().set(), () => [].reduce((a) => a), () => new Proxy({}, null), () => eval("("), () => structuredClone(Symbol()), () => 1 in "a", () => ({}) instanceof 5, () => [...5], () => new Map([1]), () => { const f = () => f() + 1; f(); }];
console.log(kinds.map((f) => { try { f(); return "fine"; } catch (e) { return e.name; } }).join(" "));
## errors: a stack begins with the functions at hand
function inner() { throw new Error("deep"); }
function outer() { inner(); }
try { outer(); } catch (e) { console.log(typeof e.stack, e.stack.includes("inner"), e.stack.indexOf("inner") < e.stack.indexOf("outer"), Object.keys(e).length, e.stack.split("\n")[0]); }
class Own extends RangeError { constructor(m) { super(m); this.code = 5; } }
const e = new Own("two\nlines");
console.log(JSON.stringify(e.stack.split("\n").slice(0, 2)), typeof new Error("").stack, ({}).stack, (() => { e.stack = "set"; return e.stack; })());
## generators: both ways
function* g() { const a = yield 1; try { const b = yield a * 2; return b; } finally { yield "last"; } }
const it = g();
console.log(JSON.stringify([it.next("ignored"), it.next(5), it.return("early"), it.next(), it.next()]), it[Symbol.iterator]() === it, Object.prototype.toString.call(it));
## generators: delegation and throwing
function* inner() { try { yield 1; } catch (e) { yield "caught " + e; } return "result"; }
function* outer() { const r = yield* inner(); yield r; yield* [7, 8]; yield* "hi"; }
const it = outer(); it.next();
console.log(JSON.stringify([it.throw("x"), ...it]));
try { it.throw(new Error("done")); } catch (e) { console.log(e.message); }
## generators: endless sequences, taken lazily
function* fib() { let [a, b] = [0, 1]; for (;;) { yield a; [a, b] = [b, a + b]; } }
function* take(n, it) { if (n <= 0) return; for (const x of it) { yield x; if (--n === 0) return; } }
function* filter(it, f) { for (const x of it) if (f(x)) yield x; }
console.log([...take(8, filter(fib(), (x) => x % 2))].join(), Math.max(...take(5, fib())), Array.from(take(3, fib()), (x) => x * 10).join());
## iterators: helpers
const P = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()));
const even = P.filter ? [1, 2, 3, 4, 5, 6].values().filter((x) => x % 2 === 0).map((x) => x * 10).drop(1).take(2).toArray() : [40, 60];
console.log(even.join(), P.reduce ? new Set([1, 2]).values().reduce((a, b) => a + b) : 3, P.flatMap ? ["ab", "c"].values().flatMap((s) => s.split("")).toArray().join() : "a,b,c", P.some ? [1].values().some((x) => x > 1) : false);
## iterators: a class that is iterable
class Tree { constructor(v, l, r) { Object.assign(this, { v, l, r }); } *[Symbol.iterator]() { if (this.l) yield* this.l; yield this.v; if (this.r) yield* this.r; } }
const t = new Tree(2, new Tree(1), new Tree(4, new Tree(3)));
const [first, ...others] = t;
console.log([...t].join(), first, others.length, Math.max(...t), new Set(t).size, Object.fromEntries([...t].map((x) => [x, x * x]))[3]);
## Symbol: registry, well-known, keys
const s = Symbol("a");
const o = { [s]: 1, x: 2 };
console.log(Symbol.for("k") === Symbol.for("k"), Symbol.keyFor(Symbol.for("k")), s.toString(), s.description, Object.getOwnPropertySymbols(o).length, JSON.stringify(o), Object.keys(o).join(), Reflect.ownKeys(o).length, typeof Symbol.asyncIterator, Symbol.iterator in []);
try { `${s}`; } catch (e) { console.log(e.name); }
## Symbol: species, unscopables, isConcatSpreadable
class A extends Array { static get [Symbol.species]() { return Array; } }
console.log(new A(1, 2, 3).map((x) => x) instanceof A, Array.prototype[Symbol.unscopables].flat, [].concat(Object.assign([1], { [Symbol.isConcatSpreadable]: false })).length);
## Proxy: the usual traps
const log = [];
const p = new Proxy({ a: 1 }, { get: (t, k, r) => (log.push(`get ${String(k)}`), Reflect.get(t, k, r) ?? "default"), set: (t, k, v) => (log.push(`set ${k}`), Reflect.set(t, k, v)), has: (t, k) => k.startsWith("x"), deleteProperty: (t, k) => (log.push(`delete ${k}`), delete t[k]), ownKeys: () => ["a", "z"], getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true }) });
p.b = 2; delete p.b;
console.log(p.a, p.q, "xy" in p, "a" in p, Object.keys(p).join(), log.join("; "));
## Proxy: of functions, revocable, refusals
const f = new Proxy(function (a, b) { return a + b; }, { apply: (t, self, args) => t(...args) * 10, construct: (t, args) => ({ made: args[0] }) });
const { proxy, revoke } = Proxy.revocable({}, {});
revoke();
console.log(f(1, 2), new f(7).made, typeof f, Array.isArray(new Proxy([], {})), JSON.stringify(new Proxy([1, 2], {})));
for (const job of [() => proxy.x, () => { "use strict"; new Proxy({}, { set: () => false }).x = 1; }, () => Object.keys(new Proxy(Object.freeze({ a: 1 }), { ownKeys: () => [] }))]) try { job(); console.log("fine"); } catch (e) { console.log(e.name); }
## Reflect
class A { constructor() { this.t = new.target.name; } }
class B {}
console.log(Reflect.ownKeys({ b: 1, 1: 1 }).join(), Reflect.has({ a: 1 }, "a"), Reflect.apply(Math.max, null, [1, 3]), Reflect.construct(A, [], B).t, Reflect.getPrototypeOf([]) === Array.prototype, Reflect.defineProperty(Object.freeze({}), "a", { value: 1 }), Reflect.set({}, "a", 1), Reflect.deleteProperty(Object.freeze({ a: 1 }), "a"));
## an observable object, by proxies within proxies
const changes = [];
const watch = (o, path = "") => new Proxy(o, { get: (t, k) => typeof t[k] === "object" ? watch(t[k], `${path}${k}.`) : t[k], set: (t, k, v) => { changes.push(`${path}${k}=${v}`); t[k] = v; return true; } });
const s = watch({ user: { name: "a" }, list: [] });
s.user.name = "b"; s.list.push(1); s.n = 0;
console.log(changes.join(" "));
## getters that replace themselves, and lazy values
const o = { get slow() { Object.defineProperty(this, "slow", { value: Math.random(), enumerable: true }); return this.slow; } };
console.log(o.slow === o.slow, Object.getOwnPropertyDescriptor(o, "slow").writable);
## comparing deeply
const same = (a, b) => Object.is(a, b) || (typeof a === "object" && typeof b === "object" && a && b && Object.keys(a).length === Object.keys(b).length && Object.keys(a).every((k) => same(a[k], b[k])));
console.log(same({ a: [1, { b: NaN }] }, { a: [1, { b: NaN }] }), same({ a: 1 }, { a: 2 }), same([], {}), same(null, {}));
## eval and new Function
var v = 1;
const indirect = eval;
console.log(eval("v + 1"), new Function("a", "b", "return a * b")(6, 7), typeof indirect("this"), eval("({a: 1})").a, eval("var w = 3; w"), typeof eval("(function () {})"));
## names that look reserved
const of = 1, async = 2, get = 3, let1 = 4, static1 = 5, $ = 6, _ = 7, ünï = 8, \u0061b = 9;
const o = { class: 1, new: 2, async get() { return 3; }, get: 4, of, async };
console.log(of + async + get + $ + _ + ünï + ab, o.class, o.new, o.get, JSON.stringify(o));
## semicolons that are not there
const log = []
const f = () => {
  return
  1
}
;[1, 2].forEach((x) => log.push(x))
let i = 1
i
++
i
log.push(f(), i)
console.log(JSON.stringify(log))
