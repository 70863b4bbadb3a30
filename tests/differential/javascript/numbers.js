## toFixed, toPrecision, toExponential
console.log([1.005.toFixed(2), (0.5).toFixed(0), (2.5).toFixed(0), (-1.5).toFixed(0), (1e21).toFixed(2), (123.456).toPrecision(4), (0.00001).toPrecision(1), (1234.5678).toExponential(2), (0).toExponential(), (25).toPrecision(1), (1.45).toFixed(1), (-0.0000001).toFixed(2)].join(" "));
## numbers as text
console.log([0.1 + 0.2, 1e21, 1e-7, 123456789012345680000, 5e-324, 1.7976931348623157e308, -0, 100, 0.000001, 1 / 3, 2 ** 53, 4.35, 1e300 * 1e10].map(String).join(" "));
## numbers in other bases
console.log((255).toString(16), (255).toString(2), (-7).toString(2), (0.5).toString(2), (3.75).toString(8), (35).toString(36), (2 ** 53 - 1).toString(7), (255.5).toString(16), parseInt("zz", 36), 0b101, 0o17, 0xff);
## parseInt, parseFloat, Number
console.log(JSON.stringify(["12px", "0x1f", "  7", "1e3", "-0", "", "abc", "3.9", "0b11", "1_000", "Infinity", null, true, [5], "12abc"].map((x) => [x, parseInt(x), parseFloat(x), Number(x)].map(String))));
## limits and tests
console.log(Number.MAX_SAFE_INTEGER, Number.EPSILON, Number.MIN_VALUE, Number.isInteger(5.0), Number.isSafeInteger(2 ** 53), Number.isNaN("x"), isNaN("x"), Number.isFinite("1"), isFinite("1"), Object.is(-0, 0), 1 / -0);
## Math: whole numbers
console.log([Math.round(-0.5), Math.round(2.5), Math.round(-2.5), Math.trunc(-4.7), Math.floor(-4.2), Math.ceil(-4.7), Math.sign(-3), Math.abs(-7), Math.max(), Math.min(), Math.max(1, NaN), Math.max(..."123"), Math.clz32(1), Math.imul(0xffffffff, 5), Math.fround(5.5)].map((x) => Object.is(x, -0) ? "-0" : String(x)).join(" "));
## Math: roots and powers
console.log([Math.sqrt(2), Math.cbrt(27), Math.hypot(3, 4), Math.hypot(), 2 ** 0.5, (-8) ** (1 / 3), 2 ** -1, Math.pow(NaN, 0), Math.log2(8), Math.log10(1000), Math.log1p(0), Math.expm1(0), Math.exp(1), Math.log(10)].map(String).join(" "));
## Math: angles, to ten digits
console.log([Math.sin(1), Math.cos(1), Math.tan(1), Math.asin(0.5), Math.acos(0.5), Math.atan2(1, -1), Math.sinh(1), Math.cosh(1), Math.tanh(1), Math.asinh(1), Math.acosh(2), Math.atanh(0.5), Math.PI, Math.E, Math.SQRT1_2].map((x) => x.toPrecision(10)).join(" "));
## bits
console.log(5 & 3, 5 | 3, 5 ^ 3, ~5, 1 << 31, -1 >>> 0, -1 >> 31, 2 ** 32 | 0, 3.7 | 0, -3.7 | 0, 1 << 33, "5" & 7, NaN | 0, 2 ** 53 >>> 0);
## remainders and division
console.log([5 % 3, -5 % 3, 5 % -3, -0 % 1, 5.5 % 2, 1 % 0, Infinity % 2, 1 / 0, 0 / 0, -1 / 0].map((x) => Object.is(x, -0) ? "-0" : String(x)).join(" "), ((-5 % 3) + 3) % 3);
## money in cents
const lines = [[3, 19.99], [1, 0.1], [7, 0.7]];
const cents = lines.reduce((t, [n, p]) => t + n * Math.round(p * 100), 0);
console.log(cents, (cents / 100).toFixed(2), (0.1 * 3).toFixed(20), 1.1 + 2.2, 0.1 * 3 === 0.3, Math.abs(0.1 * 3 - 0.3) < Number.EPSILON);
## mean, median, deviation
const a = [2, 4, 4, 4, 5, 5, 7, 9];
const mean = a.reduce((x, y) => x + y) / a.length;
const sorted = a.toSorted((x, y) => x - y);
console.log(mean, (sorted[3] + sorted[4]) / 2, Math.sqrt(a.reduce((t, x) => t + (x - mean) ** 2, 0) / a.length), Math.max(...a) - Math.min(...a));
## BigInt: arithmetic
console.log(2n ** 100n, -7n / 2n, -7n % 2n, 5n * -3n, (1n << 70n) - 1n, -1n >> 1n, 0xffn & 0x0fn, ~5n, BigInt("0x1fffffffffffff"), BigInt(2 ** 53), BigInt("  12 "), -(-3n));
## BigInt: comparison and mixing
console.log(1n == 1, 1n === 1, 2n > 1, [3n, 1, 2n].sort((a, b) => (a < b ? -1 : 1)).join(), typeof 1n, 0n ? "t" : "f", Number(2n ** 64n), String(10n), `${5n}`, 1n + BigInt(2));
for (const f of [() => 1n + 1, () => Math.max(1n), () => BigInt(1.5), () => BigInt("x"), () => 1n / 0n, () => +1n, () => 2n ** -1n]) try { f(); } catch (e) { console.log(e.name); }
## BigInt: width, bases, factorial
let f = 1n;
for (let i = 1n; i <= 30n; i++) f *= i;
console.log(f.toString(), f.toString(36), BigInt.asUintN(8, 257n), BigInt.asIntN(8, 255n), (123n).toString(2), new BigInt64Array([2n ** 63n]).join(), f.toString().length);
## a prime sieve and greatest common divisors
const sieve = (n) => { const no = new Uint8Array(n + 1); const out = []; for (let i = 2; i <= n; i++) { if (no[i]) continue; out.push(i); for (let j = i * i; j <= n; j += i) no[j] = 1; } return out; };
const gcd = (a, b) => (b ? gcd(b, a % b) : a);
console.log(sieve(60).join(), sieve(100000).length, gcd(1071, 462));
## a checksum and a hash
const crc = (text) => { let c = ~0; for (const b of new TextEncoder().encode(text)) { c ^= b; for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1; } return (~c >>> 0).toString(16); };
const fnv = (text) => [...text].reduce((h, c) => Math.imul(h ^ c.charCodeAt(0), 16777619) >>> 0, 2166136261);
console.log(crc("The quick brown fox"), fnv("hello"));
## increments, commas, precedence
let i = 1;
const a = i++ + ++i, b = (i, i * 2), c = -(2 ** 2), d = 2 ** 3 ** 2, e = 1 < 2 < 3, f = 3 > 2 > 1;
let x = 10; x **= 2; x %= 7; x <<= 3; x ||= 5; x &&= x + 1; let y = null; y ??= "d";
console.log(a, b, c, d, e, f, x, y, typeof typeof 1, !!"" + 1, void 0 ?? "v", 0 || null || "last", "" ?? "kept");
## equality that converts
console.log(null == undefined, null == 0, "" == 0, "1" == 1, [1] == 1, [] == false, NaN == NaN, "a" == { toString: () => "a" }, null >= 0, undefined == 0, true == "1", new Number(1) == 1);
## separators and long literals
console.log(1_000_000, 0xff_ff, 1e1_0, .5, 5., 0.1e-2, 9007199254740993, 1_0n);
## random numbers have their range
const all = Array.from({ length: 1000 }, () => Math.random());
console.log(all.every((x) => x >= 0 && x < 1), new Set(all).size > 990, Math.abs(all.reduce((a, b) => a + b) / 1000 - 0.5) < 0.1, typeof crypto.randomUUID(), /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(crypto.randomUUID()));
