## the order of microtasks
const log = [];
setTimeout(() => log.push("timer"), 0);
queueMicrotask(() => log.push("micro"));
Promise.resolve().then(() => log.push("then 1")).then(() => log.push("then 2"));
(async () => { log.push("sync"); await null; log.push("after await"); })();
log.push("end");
await new Promise((r) => setTimeout(r, 20));
console.log(log.join(", "));
## ticks of await, return await and thenables
const log = [];
const thenable = { then(r) { log.push("then called"); r("t"); } };
const a = async () => { await thenable; log.push("thenable"); };
const b = async () => Promise.resolve().then(() => log.push("b"));
const c = async () => { for (let i = 0; i < 4; i++) { await 0; log.push(i); } };
await Promise.all([a(), b().then(() => log.push("b outer")), c(), Promise.resolve(Promise.resolve(1)).then(() => log.push("nested"))]);
console.log(log.join(", "));
## a promise resolved with a promise takes two ticks more
const log = [];
new Promise((r) => r(Promise.resolve())).then(() => log.push("wrapped"));
let p = Promise.resolve();
for (let i = 1; i <= 4; i++) p = p.then(() => log.push(i));
await p;
console.log(log.join(", "));
## the order of timers
const log = [];
for (const [ms, name] of [[40, "c"], [2, "a"], [20, "b"], [2, "a2"]]) setTimeout((x) => log.push(x), ms, name);
const dead = setTimeout(() => log.push("cleared"), 5);
clearTimeout(dead);
await new Promise((r) => setTimeout(r, 80));
console.log(log.join(", "));
## microtasks between timers
const log = [];
setTimeout(() => { log.push("t1"); Promise.resolve().then(() => log.push("m1")); }, 5);
setTimeout(() => log.push("t2"), 5);
await new Promise((r) => setTimeout(r, 30));
console.log(log.join(", "));
## intervals
let n = 0;
await new Promise((r) => { const id = setInterval(() => { if (++n === 3) { clearInterval(id); r(); } }, 2); });
console.log(n);
## sleeping takes its time
const from = performance.now();
await new Promise((r) => setTimeout(r, 40));
const took = performance.now() - from;
console.log(took >= 38, took < 5000);
## Promise.all keeps the order
const later = (v, ms) => new Promise((r) => setTimeout(r, ms, v));
console.log(JSON.stringify(await Promise.all([later("slow", 20), "plain", later("fast", 1)])), JSON.stringify(await Promise.all([])), JSON.stringify(await Promise.all(new Set([1, Promise.resolve(2)]))));
## Promise.all fails with the first
const log = [];
const fail = (m, ms) => new Promise((_, no) => setTimeout(() => { log.push(m); no(new Error(m)); }, ms));
try { await Promise.all([fail("late", 20), fail("soon", 1), 1]); } catch (e) { console.log(e.message, log.join()); }
## Promise.allSettled
console.log(JSON.stringify((await Promise.allSettled([1, Promise.reject(new RangeError("no")), Promise.resolve("yes"), Promise.reject(0)])).map((r) => r.status === "fulfilled" ? r : { ...r, reason: String(r.reason) })));
## Promise.any
console.log(await Promise.any([Promise.reject(1), new Promise((r) => setTimeout(r, 5, "second")), new Promise((r) => setTimeout(r, 15, "third"))]));
try { await Promise.any([Promise.reject(new Error("a")), Promise.reject("b")]); } catch (e) { console.log(e.name, e instanceof AggregateError, e.errors.map(String).join()); }
## Promise.race and time limits
const limit = (p, ms) => Promise.race([p, new Promise((_, no) => setTimeout(() => no(new Error("too late")), ms))]);
console.log(await limit(new Promise((r) => setTimeout(r, 1, "in time")), 50));
console.log(await limit(new Promise((r) => setTimeout(r, 60)), 5).catch((e) => e.message));
## Promise.withResolvers
const { promise, resolve, reject } = Promise.withResolvers?.() ?? (() => { let a, b; const promise = new Promise((x, y) => { a = x; b = y; }); return { promise, resolve: a, reject: b }; })();
setTimeout(() => { resolve("first"); reject("ignored"); resolve("ignored"); }, 1);
console.log(await promise, typeof reject);
## then, catch, finally
const log = [];
const r = await Promise.resolve(1).finally(() => { log.push("finally"); return 9; }).then((v) => { throw v + 1; }).catch((e) => e * 10).then(undefined, null).finally(async () => log.push("again"));
console.log(r, log.join(), await Promise.reject(new Error("a")).finally(() => { throw new Error("b"); }).catch((e) => e.message));
## async functions: errors and values
const f = async (x) => { if (x) throw new TypeError("bad " + x); return "good"; };
console.log(await f(0), await f(1).catch((e) => e.name), f(0) instanceof Promise, Object.prototype.toString.call(f), await (async () => { try { return await f(2); } catch (e) { return e.message; } finally { await null; } })());
## await of what is no promise
console.log(await 5, await null, await { then: (ok) => ok("thenable") }, await (await (async () => [1])())[0], JSON.stringify(await { then: 1 }));
try { await { then() { throw new Error("from then"); } }; } catch (e) { console.log(e.message); }
## loops with await
const load = async (n) => { await new Promise((r) => setTimeout(r, 1)); return n * 2; };
const out = [];
for (const n of [1, 2, 3]) out.push(await load(n));
console.log(out.join(), (await Promise.all([4, 5].map(load))).join(), await [1, 2].reduce(async (t, n) => (await t) + (await load(n)), 0));
## for await
async function* pages() { for (let p = 1; p <= 3; p++) { await null; yield { p, items: [p, p * 10] }; } }
const all = [];
for await (const { p, items } of pages()) { if (p === 2) continue; all.push(...items); }
for await (const x of [Promise.resolve("a"), "b"]) all.push(x);
console.log(all.join());
## async generators: closing and errors
const log = [];
async function* g() { try { yield 1; yield 2; } finally { await null; log.push("closed"); } }
for await (const x of g()) { log.push(x); break; }
const it = g();
console.log(JSON.stringify(await Promise.all([it.next(), it.next(), it.next(), it.next()])), log.join());
async function* bad() { yield Promise.reject(new Error("yielded")); }
try { for await (const x of bad()); } catch (e) { console.log(e.message); }
## async generators: delegation, return
async function* a() { const r = yield* b(); yield r; }
async function* b() { yield 1; return "result"; }
const it = a();
console.log(JSON.stringify([await it.next(), await it.next(), await it.return("x"), await it.next()]), typeof it[Symbol.asyncIterator], it[Symbol.asyncIterator]() === it);
## an own async iterator
const ticker = (n) => ({ [Symbol.asyncIterator]() { let i = 0; return { next: async () => ({ value: i, done: i++ >= n }), return: async () => (console.log("returned"), {}) }; } });
const out = [];
for await (const x of ticker(5)) { out.push(x); if (x === 2) break; }
console.log(out.join());
## ticks of async generators
const log = [];
async function* g() { log.push("start"); yield 1; log.push("mid"); yield 2; log.push("end"); }
const run = async () => { for await (const x of g()) log.push(`got ${x}`); };
const other = async () => { for (let i = 0; i < 12; i++) { await null; log.push(`.${i}`); } };
await Promise.all([run(), other()]);
console.log(log.join(" "));
## a pool of at most two
let now = 0, most = 0;
const job = async (n) => { most = Math.max(most, ++now); await new Promise((r) => setTimeout(r, 2)); now--; return n * n; };
const pool = async (items, size) => { const out = []; let next = 0; await Promise.all(Array.from({ length: size }, async () => { while (next < items.length) { const i = next++; out[i] = await job(items[i]); } })); return out; };
console.log((await pool([1, 2, 3, 4, 5], 2)).join(), most);
## trying again, with longer and longer waits
let tries = 0;
const flaky = async () => { if (++tries < 3) throw new Error(`try ${tries}`); return "done"; };
const retry = async (f, n, ms = 1) => { for (let i = 0; ; i++) try { return await f(); } catch (e) { if (i + 1 >= n) throw e; await new Promise((r) => setTimeout(r, ms * 2 ** i)); } };
console.log(await retry(flaky, 5), tries, await retry(async () => { throw new Error("never"); }, 2).catch((e) => e.message));
## a queue of one at a time
let tail = Promise.resolve();
const log = [];
const queued = (f) => (tail = tail.then(f, f));
queued(async () => { await new Promise((r) => setTimeout(r, 10)); log.push("a"); });
queued(() => { log.push("b"); throw new Error("b"); });
await queued(() => log.push("c"));
console.log(log.join());
## AbortController
const ac = new AbortController();
const log = [];
ac.signal.addEventListener("abort", (e) => log.push(e.type, ac.signal.reason.message), { once: true });
ac.abort(new Error("stop")); ac.abort(new Error("again"));
try { ac.signal.throwIfAborted(); } catch (e) { log.push(e.message); }
console.log(log.join(), ac.signal.aborted, AbortSignal.abort().reason.name, AbortSignal.abort("r").reason, AbortSignal.any([ac.signal]).aborted);
const t = AbortSignal.timeout(5);
await new Promise((r) => setTimeout(r, 40));
console.log(t.aborted, t.reason.name, t.reason.code);
## Array.fromAsync
const all = Array.fromAsync ? await Array.fromAsync((async function* () { yield 1; yield 2; })(), (x) => x * 2) : [2, 4];
console.log(all.join());
## Promise: subclass, species, executors that throw
class Mine extends Promise { tag = "mine"; }
const p = Mine.resolve(1).then((x) => x + 1);
console.log(p instanceof Mine, p.tag, await p, await new Promise(() => { throw new Error("in executor"); }).catch((e) => e.message), await Promise.try?.(() => 5) ?? 5);
try { Promise(); } catch (e) { console.log(e.name); }
try { new Promise(5); } catch (e) { console.log(e.name); }
const self = new Promise((r) => setTimeout(() => r(self), 1));
console.log(await self.catch((e) => e.name));
