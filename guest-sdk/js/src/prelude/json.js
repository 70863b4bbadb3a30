// From a script's value to JSON text, with an error that names the place where that cannot be done.
// JSON.stringify alone turns promises and Maps into `{}` and drops functions in silence.
(function (host, lib) {
  "use strict";
  const stringify = lib.stringify;
  /// Objects within objects. What reads JSON on the other side takes about this much.
  const DEEPEST = 100;

  const plain = /^[A-Za-z_$][\w$]*$/;
  const step = (key, inArray) => inArray ? `[${key}]` : plain.test(key) ? `.${key}` : `[${stringify(key)}]`;

  /// Why `value` is not JSON, and what to write; undefined if it is, or can be made so.
  const refusal = (value) => {
    switch (typeof value) {
      case "bigint":
        return ["a BigInt", "convert it first with Number(...) or String(...)"];
      case "symbol":
        return ["a symbol", "it has no JSON form"];
      case "function":
        return ["a function", "call it, or leave it out"];
      case "object":
        break;
      default:
        return undefined;
    }
    if (value instanceof lib.Promise) return ["a promise", "await it first"];
    if (value instanceof Map) return ["a Map", "convert it first, for example with Object.fromEntries(map)"];
    if (value instanceof Set) return ["a Set", "convert it first, for example with [...set]"];
    if (value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef)
      return [`a ${value.constructor.name}`, "it has no JSON form"];
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
      return [`bytes (${value.constructor.name})`,
        "write them to a file under /out, or decode them with new TextDecoder().decode(bytes)"];
    return undefined;
  };

  /// JSON text of `value`. `subject` begins the error, as in "the returned value".
  lib.encode = (value, subject) => {
    // The objects between the root and the value at hand, and the keys that lead to them.
    const holders = [];
    const keys = [];
    const path = (key) => {
      let text = "$";
      for (let i = 1; i < holders.length; i++) text += step(keys[i], Array.isArray(holders[i - 1]));
      return holders.length ? text + step(key, Array.isArray(holders[holders.length - 1])) : text;
    };
    const fail = (key, [what, remedy]) => {
      throw new TypeError(`${subject} holds ${what} at ${path(key)}: ${remedy}`);
    };
    let root = true;
    const text = stringify(value, function (key, item) {
      if (root) {
        root = false;
        holders.length = 0;
      } else {
        while (holders.length && holders[holders.length - 1] !== this) {
          holders.pop();
          keys.pop();
        }
      }
      const no = refusal(item);
      if (no) fail(key, no);
      if (typeof item !== "object" || item === null) return item;
      if (item instanceof Error) item = lib.errorData(item);
      else if (item instanceof RegExp) return String(item);
      else if (lib.URLSearchParams && item instanceof lib.URLSearchParams) return String(item);
      if (holders.includes(item)) fail(key, ["itself (a cycle)", "return only the parts you need"]);
      if (holders.length === DEEPEST) throw new RangeError(`${subject} is nested more than ${DEEPEST} levels deep`);
      holders.push(item);
      keys.push(key);
      return item;
    });
    if (text === undefined) return "null";
    // Half a character is JSON to JavaScript, as an escape, and to hardly anybody else.
    return text.includes("\\ud") ? text.replace(/\\(?:u(d[89a-f][0-9a-f]{2})|.)/g, (all, half) => half ? "\ufffd" : all) : text;
  };

  // A script that returns nothing has the value of its last expression, and the host marks that by
  // this call. It was perhaps never meant as a result (`map.set(...)`), so it may be anything.
  let implied = false;
  lib.notes = [];
  lib.implied = (value) => {
    implied = true;
    return value;
  };

  /// JSON text of what the script gave.
  lib.result = (value) => {
    try {
      return lib.encode(value, implied ? "the value of the last expression" : "the returned value");
    } catch (error) {
      if (!implied) throw error;
      lib.notes.push(`${error.message}. So the run has no value: \`return\` what it should give`);
      return "null";
    }
  };

  /// An error as data, for a script that returns what it caught.
  lib.errorData = (error) => {
    const data = { name: String(error.name), message: String(error.message) };
    for (const key of Object.keys(error)) if (typeof error[key] !== "function") data[key] = error[key];
    if (error.cause !== undefined) data.cause = error.cause;
    if (error instanceof AggregateError) data.errors = error.errors;
    return data;
  };
})
