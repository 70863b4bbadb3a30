## slices, padding, repetition
console.log(JSON.stringify(["abcdef".slice(-3, -1), "abcdef".substring(4, 1), "abc".at(-1), "7".padStart(3, "0"), "ab".padEnd(7, "xyz"), "=".repeat(5)]));
## trim and its whitespace
console.log(JSON.stringify(["\u00a0 a\ufeff\n".trim(), "  a ".trimStart(), " a  ".trimEnd(), "\u200ba".trim().length]));
## split with limits, patterns and groups
console.log(JSON.stringify(["a,b,c".split(",", 2), "a1b22c".split(/\d+/), "a1b2".split(/(\d)/), "abc".split(""), "".split(","), "".split("")]));
## replaceAll and what stands for the match
console.log("a.b.c".replaceAll(".", "-"), "John Smith".replace(/(\w+)\s(\w+)/, "$2, $1"), "abc".replace("b", "[$`|$&|$']"), "x".replace("x", "$$"));
## replace with a function
console.log("price 5, tax 10".replace(/\d+/g, (m, at, all) => `${Number(m) * 2}@${at}/${all.length}`));
## code points
const s = "a😀b";
console.log(s.length, [...s].length, s.codePointAt(1).toString(16), String.fromCodePoint(128512, 97), s.charCodeAt(1), JSON.stringify(s.split("")));
## half characters
const s = "a\ud83d";
console.log(s.isWellFormed(), s.toWellFormed() === "a\ufffd", JSON.stringify(s), encodeURIComponent("😀"));
## normal forms
const a = "é", b = "e\u0301";
console.log(a === b, a === b.normalize("NFC"), a.normalize("NFD").length, "ﬁ".normalize("NFKC"), a.normalize("NFD").replace(/\p{M}/gu, ""));
## case of many scripts
console.log("straße".toUpperCase(), "İ".toLowerCase().length, "ΣΑΣ".toLowerCase(), "ǆ".toUpperCase(), "ﬀ".toUpperCase());
## indexOf, includes, startsWith
console.log("banana".indexOf("an", 2), "banana".lastIndexOf("an"), "banana".includes(""), "banana".startsWith("na", 2), "banana".endsWith("nan", 5), "banana".search(/n./));
## comparisons
console.log(JSON.stringify(["a" < "b", "a" < "B", "10" < "9", "10" < 9, "é" > "z", ["b", "a", "C", "B"].sort(), ["10", "9", "1"].sort()]));
## templates, nested
const rows = [{ n: "a", v: 1 }, { n: "b", v: 2 }];
console.log(`total ${rows.reduce((t, r) => t + r.v, 0)}:
${rows.map((r) => `- ${r.n}: ${"*".repeat(r.v)}`).join("\n")}`);
## tagged templates
const tag = (strings, ...values) => strings.raw.map((s, i) => s + (i < values.length ? `<${values[i]}>` : "")).join("");
console.log(tag`a\n${1}b${2 + 3}`, String.raw`C:\new\${"x"}`, ((s) => s[0] === undefined)`\u{`);
## a template's strings are the same object each time
const seen = new Set();
const tag = (strings) => (seen.add(strings), Object.isFrozen(strings));
for (let i = 0; i < 3; i++) tag`a${i}b`;
console.log(seen.size, tag`x`);
## regex: named groups
const m = "2026-07-01T08:30".match(/(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)/);
const { year, month } = m.groups;
console.log(year, month, m.index, JSON.stringify(m.groups), "2026-07-01".replace(/(?<y>\d+)-(?<m>\d+)-(?<d>\d+)/, "$<d>.$<m>.$<y>"));
## regex: look around
console.log(JSON.stringify(["$12.50 and €7.25".match(/(?<=[$€])\d+(?=\.)/g), "foobar foobaz".match(/foo(?!bar)\w+/)[0], "a1 b2".match(/(?<!a)\d/)[0], "1234567".replace(/\B(?=(\d{3})+$)/g, ",")]));
## regex: sticky
const token = /\s*(\d+|[-+*/()])/y;
const out = [];
let m;
while ((m = token.exec("12+(3*4)-5 x"))) out.push(m[1]);
console.log(out.join(" "), token.lastIndex);
## regex: global, lastIndex
const r = /a(\d)/g;
const out = [];
for (let m; (m = r.exec("a1 a2 b3 a4")); ) out.push([m[1], m.index, r.lastIndex]);
console.log(JSON.stringify(out), r.test("a9"), r.lastIndex);
## regex: matchAll
console.log(JSON.stringify([..."k1=v1; k2=v2".matchAll(/(?<k>\w+)=(?<v>\w+)/g)].map((m) => [m.index, m.groups.k, m.groups.v])));
try { "a".matchAll(/a/); } catch (e) { console.log(e.name); }
## regex: unicode
console.log(JSON.stringify(["naïve Ω 北京 7".match(/\p{L}+/gu), "😀x".match(/./u)[0].length, "😀".match(/./)[0].length, /\u{1F600}/u.test("😀"), /^\p{Script=Greek}$/u.test("Ω"), /\p{Emoji_Presentation}/u.test("😀")]));
## regex: sets of the v flag
console.log(JSON.stringify(["aé1β".match(/[\p{L}--[a-z]]/gv), "a1_".match(/[\w&&\d]/gv)]));
## regex: dotAll, multiline, ignoreCase
console.log(/a.b/s.test("a\nb"), /a.b/.test("a\nb"), JSON.stringify("x\ny\nx".match(/^x$/gm)), /É/i.test("é"), /ſ/i.test("s"), /ſ/iu.test("s"));
## regex: indices
const m = /(?<a>\d+)-(\w)?/d.exec("xx 12-");
console.log(JSON.stringify(m.indices), JSON.stringify(m.indices.groups));
## regex: greedy, lazy, backreferences
console.log(JSON.stringify(["<a><b>".match(/<.+>/)[0], "<a><b>".match(/<.+?>/)[0], "aa bb ab".match(/\b(\w)\1\b/g), /^(?<q>['"]).*\k<q>$/.test(`"it's"`), "aaa".match(/a{2}/)[0]]));
## regex: groups that take no part
console.log(JSON.stringify("ac".match(/a(b)?(c)/)), JSON.stringify(/(?:(a)|b)*/.exec("ab")), JSON.stringify(/(z)((a+)?(b+)?(c))*/.exec("zaacbbbcac")));
## regex: flags, source, text
const r = new RegExp("a/b\n[/]", "gimsuy");
console.log(r.flags, r.source, String(r), new RegExp("").source, RegExp("x", "g").global, new RegExp(/a/g, "i").flags);
## regex: broken ones
for (const [p, f] of [["(", ""], ["[b-a]", ""], ["a", "zz"], ["\\u{110000}", "u"], ["(?<a>x)(?<a>y)", ""], ["a**", ""]])
  try { new RegExp(p, f); console.log("fine", p); } catch (e) { console.log(e instanceof SyntaxError, e.name); }
## regex: the protocol's symbols
class Prefix { constructor(p) { this.p = p; } [Symbol.search](s) { return s.indexOf(this.p); } [Symbol.split](s) { return s.split(this.p).reverse(); } [Symbol.replace](s, r) { return s.replace(this.p, `<${r}>`); } }
console.log("a-b-c".search(new Prefix("-")), JSON.stringify("a-b-c".split(new Prefix("-"))), "a-b".replace(new Prefix("-"), "x"));
## parsing a small CSV with quotes
const parse = (text) => text.trim().split("\n").map((line) => [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].slice(0, -1).map((m) => m[1].startsWith('"') ? m[1].slice(1, -1).replaceAll('""', '"') : m[1]));
console.log(JSON.stringify(parse('id,name,note\n1,"Smith, J.","said ""hi"""\n2,Ann,x')));
## names in another case
const words = (s) => s.replace(/([a-z\d])([A-Z])/g, "$1 $2").split(/[^A-Za-z\d]+/).filter(Boolean).map((w) => w.toLowerCase());
console.log(words("HTTPServer_errorCount-total").join("_"), words("some kebab-case").map((w, i) => i ? w[0].toUpperCase() + w.slice(1) : w).join(""));
## counting words
const counts = {};
for (const w of "the cat and the hat and the bat".split(" ")) counts[w] = (counts[w] ?? 0) + 1;
console.log(JSON.stringify(Object.entries(counts).sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))));
## escapes of URIs
console.log(encodeURIComponent("a b&c=d/é'()*!~"), encodeURI("https://x.test/a b?q=é&r=[1]#f"), decodeURIComponent("%E2%82%AC%20x"), escape("é b"), unescape("%u20AC%E9"));
try { decodeURIComponent("%E0%A4%A"); } catch (e) { console.log(e.name); }
## wrapping text
const wrap = (text, width) => text.split(" ").reduce((lines, w) => { const last = lines.at(-1); if ((last + " " + w).trim().length <= width) lines[lines.length - 1] = (last + " " + w).trim(); else lines.push(w); return lines; }, [""]);
console.log(wrap("The quick brown fox jumps over the lazy dog and runs away.", 20).join("\n"));
## strings as objects
const s = new String("ab");
console.log(typeof s, s == "ab", s === "ab", Object.keys(s).join(), "ab"[1], "ab"[5], JSON.stringify(s), "length" in s, [...s].join("-"));
## concat, raw numbers, coercion to text
console.log("a".concat(1, null, undefined, [2, [3]], {}), "" + [], "" + null, `${[1, , 2]}`, String(Symbol("x")), 1 + "2" - 1, "5" * "2", [] + {}, +[], +{}, +"0x1f", +" 12 ", +"");
## locale-free ordering of letters
console.log(["b", "a", "c"].sort((x, y) => x.localeCompare(y)).join(""), "a".localeCompare("a"), Math.sign("a".localeCompare("b")));
