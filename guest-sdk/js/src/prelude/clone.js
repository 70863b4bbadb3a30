// structuredClone.
(function (host, lib) {
  "use strict";
  const uncloneable = (what) => {
    throw new lib.DOMException(`${what} cannot be cloned`, "DataCloneError");
  };
  const errors = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

  const clone = (value, seen) => {
    if (typeof value === "symbol") uncloneable("a symbol");
    if (typeof value === "function") uncloneable(`the function ${value.name || "(anonymous)"}`);
    if (typeof value !== "object" || value === null) return value;
    if (seen.has(value)) return seen.get(value);
    const keep = (copy) => {
      seen.set(value, copy);
      return copy;
    };
    if (value instanceof Boolean || value instanceof Number || value instanceof String || value instanceof BigInt)
      return keep(Object(value.valueOf()));
    if (value instanceof Date) return keep(new Date(value.getTime()));
    if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
    if (value instanceof ArrayBuffer) return keep(value.slice(0));
    if (ArrayBuffer.isView(value)) {
      const buffer = clone(value.buffer, seen);
      const length = value instanceof DataView ? value.byteLength : value.length;
      return keep(new value.constructor(buffer, value.byteOffset, length));
    }
    if (value instanceof Map) {
      const copy = keep(new Map());
      for (const [key, item] of [...value]) copy.set(clone(key, seen), clone(item, seen));
      return copy;
    }
    if (value instanceof Set) {
      const copy = keep(new Set());
      for (const item of [...value]) copy.add(clone(item, seen));
      return copy;
    }
    if (value instanceof Error) {
      const copy = keep(new (errors[value.name] ?? Error)());
      lib.define(copy, "stack", value.stack);
      for (const key of ["message", "cause"])
        if (Object.hasOwn(value, key)) lib.define(copy, key, clone(value[key], seen));
      return copy;
    }
    if (value instanceof lib.Promise) uncloneable("a promise");
    if (value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef) uncloneable(`a ${value.constructor.name}`);
    if (Array.isArray(value)) {
      const copy = keep(new Array(value.length));
      for (const key of Object.keys(value)) copy[key] = clone(value[key], seen);
      return copy;
    }
    const copy = keep({});
    for (const key of Object.keys(value))
      Object.defineProperty(copy, key, { value: clone(value[key], seen), writable: true, enumerable: true, configurable: true });
    return copy;
  };

  lib.global("structuredClone", function structuredClone(value, { transfer = [] } = {}) {
    if (arguments.length === 0) throw new TypeError("structuredClone takes a value");
    const given = [...transfer];
    for (const item of given) if (!(item instanceof ArrayBuffer)) uncloneable("what is to be transferred and is no ArrayBuffer");
    const copy = clone(value, new Map());
    // What was transferred is empty at its old place.
    for (const buffer of given) buffer.transfer();
    return copy;
  });
})
