## a text spread into an object
console.log(JSON.stringify({ ..."hi" }), JSON.stringify(Object.assign({}, "hi")));
---
{} {"0":"h","1":"i"}
## there is no Intl
console.log(typeof Intl, (1234567.891).toLocaleString("en-US"), (5).toLocaleString("en-US", { style: "currency", currency: "USD" }), new Date(0).toLocaleDateString("en-US", { month: "long" }));
---
undefined 1234567.891 5 01/01/1970
## letters are compared by their numbers
console.log(["b", "a", "C", "ä"].sort((x, y) => x.localeCompare(y)).join(), "a10".localeCompare("a9", undefined, { numeric: true }));
---
C,a,b,ä -1
## what errors say
for (const f of [() => null.x, () => ({}).x(), () => { const c = 1; c = 2; }, () => [...5]]) try { f(); } catch (e) { console.log(String(e)); }
---
TypeError: cannot read property 'x' of null
TypeError: not a function
TypeError: 'c' is read-only
TypeError: value is not iterable
## an error has no stack of its own
const e = new Error("m");
console.log(Object.getOwnPropertyNames(e).join());
---
message
## digits beyond what a number holds, in other bases
console.log((1e21).toString(7));
---
5135235413265003023000000
## a comparison that contradicts itself
console.log([3, 1, 2, 5, 4].sort((a, b) => a > b).join());
---
1,2,3,4,5
## no time at all is less than a millisecond
const log = [];
setTimeout(() => log.push("one"), 1);
setTimeout(() => log.push("none"), 0);
await new Promise((r) => setTimeout(r, 20));
console.log(log.join());
---
none,one
## the console shows six levels
console.log({ a: { b: { c: { d: 1 } } } });
---
{
  a: { b: { c: { d: 1 } } }
}
## arrays have no columns
console.log([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
---
[ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ]
## a URL is short
console.log(new URL("https://x.test/a?b=1"));
---
URL { 'https://x.test/a?b=1' }
## an error in the console
function far() {
  return new RangeError("far");
}
const e = far();
console.log(e);
---
RangeError: far
    at far (script.js:2:14)
    at <anonymous> (script.js:4:11)
## hidden properties are not shown
console.log("%o", [1]);
---
[ 1 ]
## iterators keep what they hold to themselves
console.log(new Set([1]).values());
---
Object [Set Iterator] {}
## what patterns leave behind
/(b)/.exec("abc");
console.log(RegExp.$1);
---
undefined
## a text that is too long
try { "a".repeat(2 ** 29); } catch (e) { console.log(e.name); }
---
InternalError
## dates that are hardly one
console.log(new Date("2026-183").getTime());
---
-56392243200000
## globals of Node
console.log(["Buffer", "process", "module", "WebAssembly", "Atomics", "Blob", "Headers", "CustomEvent"].map((name) => eval(`typeof ${name}`)).join());
---
undefined,undefined,undefined,undefined,undefined,undefined,undefined,undefined
## globals of Postern
console.log(typeof fs, typeof tools, typeof catalog, typeof callTool, typeof ToolError);
---
object function object function function
