## URL: its parts
const u = new URL("https://ann:p%40ss@Example.TEST:8443/a/../b c/é?q=1&r=a%20b#frag");
console.log([u.href, u.origin, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash].join("\n"), JSON.stringify({ u }));
## URL: relative to a base
console.log(["../x", "/y", "?q", "#h", "//other.test/z", "https:g", "a/./b/../c", "", "mailto:a@b.test"].map((r) => new URL(r, "https://x.test/p/q/r?s#t").href).join("\n"));
## URL: setting parts
const u = new URL("http://x.test/");
u.protocol = "https"; u.hostname = "y.test"; u.port = "443"; u.pathname = "/a b"; u.search = "k=v w"; u.hash = "z"; u.username = "me"; u.port = "99999";
console.log(u.href, String(u) === u.toString());
u.href = "ftp://f.test/x"; u.host = "g.test:2121"; console.log(u.href, u.origin);
## URL: kinds of hosts
console.log(["http://[::1]:80/", "http://0x7f.1/", "http://EXAMPLE.test./", "http://münchen.test/", "file:///C:/a", "data:text/plain,hi", "javascript:alert(1)", "http://a.test:80", "HTTP://A.TEST/%7Efoo/%2e%2e/x"].map((t) => { const u = new URL(t); return `${u.href} ${u.host} ${u.origin}`; }).join("\n"));
## URL: what is none
for (const t of ["", "x", "http://", "http://a b/", "//x.test", "http://x.test:99999", "https://[::1"]) try { console.log(new URL(t).href); } catch (e) { console.log(e instanceof TypeError, e.code, URL.canParse(t)); }
console.log(URL.canParse("a", "http://x.test"), URL.canParse("http://x.test"));
## URLSearchParams: reading
const p = new URLSearchParams("?a=1&a=2&b=x+y%26z&c&=e&d=%zz");
console.log(p.get("a"), p.getAll("a").join(), p.get("b"), JSON.stringify(p.get("c")), p.get("q"), p.has("a", "2"), p.size, JSON.stringify([...p]), String(p));
## URLSearchParams: writing
const p = new URLSearchParams({ q: "a b&c", n: 5 });
p.append("q", "é"); p.set("n", "6"); p.append("z", ""); p.delete("q", "é"); p.append("a", "~*'()"); p.sort();
console.log(p.toString(), new URLSearchParams([["x", "1"], ["x", "2"]]).toString(), new URLSearchParams(new Map([["m", "1"]])).toString(), [...p.keys()].join());
## URLSearchParams tied to a URL
const u = new URL("https://x.test/?a=1");
u.searchParams.append("b", "2 3"); u.searchParams.delete("a");
console.log(u.href, u.search);
u.search = "?c=4"; console.log(u.searchParams.get("c"), u.searchParams.has("b"));
u.searchParams.forEach((v, k) => console.log(k, v));
## TextEncoder, TextDecoder
const bytes = new TextEncoder().encode("aé€😀\ud800");
console.log([...bytes].join(), new TextDecoder().decode(bytes), new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 97, 0xff, 98])).length, JSON.stringify(new TextEncoder().encodeInto("aé€", new Uint8Array(4))), new TextDecoder().encoding);
try { new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([0xff])); } catch (e) { console.log(e.name); }
try { new TextDecoder("nonsense"); } catch (e) { console.log(e.name); }
## TextDecoder in pieces
const d = new TextDecoder();
const bytes = new TextEncoder().encode("x€😀y");
let out = "";
for (const b of bytes) out += `${d.decode(new Uint8Array([b]), { stream: true })}|`;
console.log(out + d.decode(), new TextDecoder().decode(bytes.subarray(0, 3)), new TextDecoder("utf8", { ignoreBOM: true }).decode(new Uint8Array([0xef, 0xbb, 0xbf])).length, new TextDecoder().decode(new DataView(bytes.buffer, 0, 1)));
## TextDecoder: broken UTF-8
const d = (...b) => JSON.stringify(new TextDecoder().decode(new Uint8Array(b)));
console.log(d(0xc0, 0x80), d(0xe2, 0x82), d(0xf0, 0x9f, 0x98), d(0xed, 0xa0, 0x80), d(0xf5, 0x80), d(0xe2, 0x28, 0xa1), d(0x80, 0x80));
## btoa, atob
console.log(btoa("hello\u00ff"), atob("aGVsbG8="), atob(" aGVs bG8 "), atob("YQ"), btoa(""), btoa(String.fromCharCode(...new TextEncoder().encode("é€"))), new TextDecoder().decode(Uint8Array.from(atob("w6nigqw="), (c) => c.charCodeAt(0))));
for (const f of [() => btoa("€"), () => atob("a"), () => atob("a=b="), () => atob("!")]) try { console.log(f()); } catch (e) { console.log(e.name, e.code, e instanceof DOMException); }
## crypto.getRandomValues
const a = crypto.getRandomValues(new Uint8Array(64)), b = crypto.getRandomValues(new Uint32Array(4));
console.log(a.length, new Set(a).size > 20, b.some((x) => x > 0xffff), crypto.getRandomValues(a) === a);
for (const bad of [new Float32Array(1), new Uint8Array(65537), [1]]) try { crypto.getRandomValues(bad); console.log("fine"); } catch (e) { console.log(e.name); }
## Event, EventTarget
const t = new EventTarget();
const log = [];
const f = (e) => log.push(e.type);
t.addEventListener("x", f); t.addEventListener("x", f); t.addEventListener("x", { handleEvent(e) { log.push(e.target === t); } }); t.addEventListener("x", () => log.push("once"), { once: true });
t.dispatchEvent(new Event("x")); t.removeEventListener("x", f);
console.log(t.dispatchEvent(new Event("x", { cancelable: true })), log.join());
t.addEventListener("y", (e) => e.preventDefault());
console.log(t.dispatchEvent(new Event("y", { cancelable: true })), t.dispatchEvent(new Event("y")));
## DOMException
const e = new DOMException("m", "AbortError");
console.log(e.name, e.message, e.code, e instanceof Error, String(e), Object.prototype.toString.call(e), new DOMException().name, new DOMException("x", "Own").code, ["NotFoundError", "SyntaxError", "InvalidStateError", "DataCloneError", "SecurityError"].map((n) => new DOMException("", n).code).join());
## what objects call themselves
console.log([new URL("http://x.test"), new URLSearchParams(), console, crypto, performance, new TextEncoder(), new AbortController(), AbortSignal.abort(), new Event("x"), new EventTarget(), new Error("x"), new Date(0), /x/, Symbol("x"), 1n, null, undefined, JSON, Math, globalThis].map((x) => Object.prototype.toString.call(x).slice(8, -1)).join());
## globals and their kinds
console.log(["URL", "structuredClone", "queueMicrotask", "setTimeout", "clearTimeout", "TextEncoder", "AbortController", "atob", "performance", "crypto", "console", "globalThis", "fetch", "WeakRef", "FinalizationRegistry", "SharedArrayBuffer", "Proxy"].map((n) => typeof globalThis[n]).join(), globalThis === global, typeof window, typeof document);
## timers give handles that clear
const h = setTimeout(() => console.log("never"), 1);
clearTimeout(h); clearTimeout(undefined); clearTimeout(null); clearTimeout({}); clearInterval(h);
console.log(typeof h.ref, h.hasRef(), h.unref() === h, typeof +h);
try { setTimeout("code", 1); } catch (e) { console.log(e.name); }
await new Promise((r) => setTimeout(r, 10));
## files: written and read
const fs = require("fs/promises");
await fs.mkdir("a/b", { recursive: true });
await fs.writeFile("a/x.txt", "one\n"); await fs.appendFile("a/x.txt", "twö\n"); await fs.writeFile("a/b/y.bin", new Uint8Array([1, 2, 255]));
console.log(JSON.stringify(await fs.readFile("a/x.txt", "utf8")), [...await fs.readFile("a/b/y.bin")].join(), (await fs.readdir("a")).sort().join(), (await fs.stat("a/x.txt")).size, (await fs.stat("a")).isDirectory());
await fs.rename("a/x.txt", "a/z.txt"); await fs.copyFile("a/z.txt", "a/w.txt"); await fs.rm("a/z.txt");
console.log((await fs.readdir("a", { recursive: true })).sort().join());
## files: errors have codes
const fs = require("node:fs");
for (const f of [() => fs.readFileSync("none"), () => fs.readdirSync("none"), () => fs.mkdirSync("."), () => fs.rmdirSync("none"), () => fs.statSync("none"), () => fs.readFileSync("."), () => fs.writeFileSync("none/x", "")]) try { f(); console.log("fine"); } catch (e) { console.log(e.code, e instanceof Error); }
fs.rmSync("none", { force: true }); console.log(fs.existsSync("none"));
## path
const path = require("path");
console.log([path.join("a", "../b", "./c/"), path.basename("/x/y.tar.gz", ".gz"), path.extname("a.b.c"), path.extname(".x"), path.dirname("/a/b/c"), path.normalize("/a//b/../c/."), path.isAbsolute("a"), path.relative("/a/b/c", "/a/d"), path.resolve("/a", "b", "../c"), path.join(), path.dirname("a"), JSON.stringify(path.parse("/home/u/f.txt")), path.format({ dir: "/x", base: "y" }), path.sep].join(" "));
