## Date: parts in UTC
const d = new Date(Date.UTC(2026, 1, 28, 23, 59, 59, 7));
console.log(d.getUTCFullYear(), d.getUTCMonth(), d.getUTCDate(), d.getUTCDay(), d.getUTCHours(), d.getUTCMilliseconds(), d.toISOString(), JSON.stringify(d), d.getTimezoneOffset());
## Date: overflow of parts
console.log([new Date(Date.UTC(2026, 0, 31 + 1)), new Date(Date.UTC(2026, 12, 1)), new Date(Date.UTC(2024, 2, 0)), new Date(Date.UTC(2026, 0, 1, -1)), new Date(2026, 13, 40), new Date(99, 0)].map((d) => d.toISOString()).join(" "));
## Date: ISO texts
const texts = ["2026-07-01", "2026-07-01T08:30", "2026-07-01T08:30:15.123Z", "2026-07-01T08:30:15+02:00", "2026-07", "2026", "+012026-01-01T00:00:00Z", "-000001-07-01T00:00:00Z", "2026-07-01T24:00:00Z", "2026-13-01", "2026-02-30T00:00:00Z", "2026-07-01T08:30:15.1234567Z", "2026-07-01T8:30"];
console.log(texts.map((t) => { const n = Date.parse(t); return Number.isNaN(n) ? "none" : new Date(n).toISOString(); }).join("\n"));
## Date: texts as mails have them
const texts = ["Wed, 01 Jul 2026 08:30:00 GMT", "Wed, 01 Jul 2026 08:30:00 +0200", "Jul 1, 2026", "1 July 2026", "July 1, 2026 8:30 PM", "2026/07/01", "7/1/2026", "2026-07-01 08:30", "2026-07-01 08:30:00", "Wed Jul 01 2026 08:30:00 GMT+0200", "01 Jul 2026 08:30:00 EST", "nonsense", ""];
console.log(texts.map((t) => { const n = Date.parse(t); return `${t}: ${Number.isNaN(n) ? "none" : new Date(n).toISOString()}`; }).join("\n"));
## Date: arithmetic
const a = new Date("2026-01-31T00:00:00Z"), b = new Date("2026-03-01T12:00:00Z");
const next = new Date(a); next.setUTCMonth(next.getUTCMonth() + 1);
console.log((b - a) / 86400000, a < b, next.toISOString(), new Date(+a + 36e5).toISOString(), Math.max(a, b) === b.getTime(), a == new Date(a), typeof (a + 1));
## Date: setters
const d = new Date(0);
d.setUTCFullYear(2024, 1, 29); d.setUTCHours(25, 61); d.setUTCMilliseconds(-1);
console.log(d.toISOString(), d.setTime(5), new Date(NaN).getTime(), d.setUTCDate(NaN), d.valueOf());
const set = (name, ...parts) => { const d = new Date(5); d[name](...parts); return d.valueOf(); };
console.log(set("setMonth", 1, undefined), set("setHours", "7"), set("setFullYear"), set("setUTCDate", 3, NaN), set("setMinutes", null), set("setSeconds", true, 2.9), set("setUTCHours", 1, 2, 3, Infinity), Date.prototype.setHours.length, Date.prototype.setDate.name);
try { Date.prototype.setDate.call({}, 1); } catch (e) { console.log(e.name); }
try { new Date().setDate(1n); } catch (e) { console.log(e.name); }
## Date: what is no date
const d = new Date("x");
console.log(String(d), d.toTimeString(), d.getTime(), JSON.stringify({ d }), isNaN(d), d instanceof Date, new Date(8.64e15).toISOString(), new Date(8.64e15 + 1).getTime());
try { d.toISOString(); } catch (e) { console.log(e.name); }
## Date: local time is UTC
const d = new Date(2026, 6, 1, 8, 30);
console.log(d.toISOString(), d.getHours(), d.getDay(), d.toDateString(), d.toString(), `${d}`, d.toTimeString(), d.toUTCString(), d.toJSON());
## Date: days, weeks and quarters
const days = (y, m) => new Date(Date.UTC(y, m, 0)).getUTCDate();
const week = (d) => { const t = new Date(d); t.setUTCDate(t.getUTCDate() + 4 - (t.getUTCDay() || 7)); return Math.ceil(((t - Date.UTC(t.getUTCFullYear(), 0, 1)) / 864e5 + 1) / 7); };
console.log([2023, 2024, 2100, 2000].map((y) => days(y, 2)).join(), week("2026-01-01"), week("2026-12-31"), week("2027-01-03"), Math.floor(new Date("2026-07-01").getUTCMonth() / 3) + 1);
## Date: sorting and grouping by day
const at = ["2026-07-02T01:00Z", "2026-07-01T23:59Z", "2026-07-02T00:00Z"].map((t) => new Date(t));
const by = {};
for (const d of at.sort((a, b) => a - b)) (by[d.toISOString().slice(0, 10)] ??= []).push(d.getUTCHours());
console.log(JSON.stringify(by));
## Date: to primitive values
const d = new Date(0);
console.log(+d, `${d}`.slice(0, 15), d[Symbol.toPrimitive]("number"), typeof d[Symbol.toPrimitive]("default"), Object.prototype.toString.call(d), typeof Date(), typeof Date.now(), Date.length, new Date(2020, 0).constructor === Date);
## Date: years beyond four digits, and before the epoch
console.log([new Date(-1), new Date(-62198755200000), new Date(253402300800000), new Date("1900-02-28T23:59:59.999Z")].map((d) => d.toISOString()).join(" "), new Date(-1).getUTCDay());
## durations as people write them
const show = (ms) => { const s = Math.floor(ms / 1000); return [[86400, "d"], [3600, "h"], [60, "m"], [1, "s"]].reduce(([left, out], [n, u]) => [left % n, left >= n ? [...out, Math.floor(left / n) + u] : out], [s, []])[1].join(" ") || "0s"; };
console.log([0, 999, 61000, 3600000, 90061000].map(show).join(", "));
