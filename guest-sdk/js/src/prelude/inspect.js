// The way the console shows a value: as Node does, but deeper, and with an array on one line if it fits.
(function (host, lib) {
  "use strict";
  /// Columns of a line, and how many levels of nesting it may show.
  const WIDTH = 80;
  const LEVELS = 3;
  const DEPTH = 6;
  const ITEMS = 100;
  /// Texts shorter than this are never broken at their line ends.
  const SHORT = 16;

  const name = /^[A-Za-z_]\w*$/;
  const quote = (text) => {
    const mark = !text.includes("'") ? "'" : !text.includes('"') ? '"' : !text.includes("`") ? "`" : "'";
    const hex = (code) => `\\x${code.toString(16).toUpperCase().padStart(2, "0")}`;
    const out = lib.stringify(text).slice(1, -1).replace(/\\u00([0-9a-f]{2})|\\(.)|([\x7f-\x9f])/g, (all, low, escaped, high) =>
      low ? hex(parseInt(low, 16)) : high ? hex(high.charCodeAt(0)) : escaped === '"' ? '"' : all);
    return mark + (mark === "'" ? out.replaceAll("'", "\\'") : out) + mark;
  };
  const keyText = (key) => typeof key === "symbol" ? `[${String(key)}]` : name.test(key) ? key : quote(key);
  const more = (count, what) => `... ${count} more ${what}${count > 1 ? "s" : ""}`;

  /// The class that made `value`; undefined if nothing on its chain of prototypes says so.
  const className = (value) => {
    for (let at = value; at !== null; at = Object.getPrototypeOf(at)) {
      const maker = Object.getOwnPropertyDescriptor(at, "constructor")?.value;
      if (typeof maker === "function" && maker.name && value instanceof maker) return maker.name;
    }
    return undefined;
  };
  const tagOf = (value, maker) => {
    const tag = value[Symbol.toStringTag];
    return typeof tag !== "string" || tag === "" || tag === maker || Object.prototype.propertyIsEnumerable.call(value, Symbol.toStringTag) ? "" : tag;
  };
  /// What stands before a bracket: the class, how many are in it, and what it calls itself.
  const prefix = (value, count = "") => {
    const maker = className(value);
    const tag = tagOf(value, maker);
    const title = maker === undefined ? `[Object${count}: null prototype]` : `${maker}${count}`;
    return `${title} ${tag ? `[${tag}] ` : ""}`;
  };

  const scalar = (value) => {
    switch (typeof value) {
      case "string": return quote(value);
      case "bigint": return `${value}n`;
      case "number": return Object.is(value, -0) ? "-0" : String(value);
      default: return String(value);
    }
  };
  const textOrScalar = (value, depth) => {
    if (typeof value !== "string" || value.length <= SHORT || value.length <= WIDTH - 2 * depth - 4) return scalar(value);
    return value.split(/(?<=\n)/).map(quote).join(" +\n  ");
  };

  const errorText = (error, show) => {
    const frames = host.frames(lib.stack(error));
    let text = `${error.name ?? "Error"}${error.message ? `: ${error.message}` : ""}`;
    if (frames) text += `\n${frames}`;
    const own = Object.keys(error).filter((key) => key !== "stack" && key !== "message");
    const extra = own.map((key) => `${keyText(key)}: ${show(error[key])}`);
    if (error.cause !== undefined && !own.includes("cause")) extra.push(`[cause]: ${show(error.cause)}`);
    if (error instanceof AggregateError && !own.includes("errors")) extra.push(`[errors]: ${show(error.errors)}`);
    return extra.length ? `${text} {\n  ${extra.join(",\n").replaceAll("\n", "\n  ")}\n}` : frames ? text : `[${text}]`;
  };

  const functionText = (value) => {
    const title = value.name || "(anonymous)";
    if (/^class\b/.test(Function.prototype.toString.call(value))) {
      const parent = Object.getPrototypeOf(value)?.name;
      return `[class ${title}${parent ? ` extends ${parent}` : ""}]`;
    }
    const kind = Object.getPrototypeOf(value)?.[Symbol.toStringTag] ?? "Function";
    return value.name ? `[${kind}: ${title}]` : `[${kind} ${title}]`;
  };

  const bytesText = (buffer) => {
    const bytes = new Uint8Array(buffer);
    const shown = [...bytes.subarray(0, ITEMS)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    return `[Uint8Contents]: <${shown}${bytes.length > ITEMS ? ` ${more(bytes.length - ITEMS, "byte")}` : ""}>`;
  };

  /// `above` are the objects around `value`. `shared` belongs to one text: `most` levels, the `level` that was
  /// reached last, and the number of each object that holds itself.
  const inspect = (value, above, shared) => {
    const depth = above.length;
    if (value === null || (typeof value !== "object" && typeof value !== "function")) return textOrScalar(value, depth);
    if (value === globalThis.tools) return "[tools: catalog.search(query) finds them]";
    if (above.includes(value)) {
      if (!shared.cycles.has(value)) shared.cycles.set(value, shared.cycles.size + 1);
      return `[Circular *${shared.cycles.get(value)}]`;
    }
    const inner = [...above, value];
    const show = (item) => inspect(item, inner, shared);
    const property = (key) => {
      const { get, set, value: held } = Object.getOwnPropertyDescriptor(value, key) ?? {};
      const text = get ? (set ? "[Getter/Setter]" : "[Getter]") : set ? "[Setter]" : show(held);
      return `${keyText(key)}: ${text}`;
    };
    const properties = (skip) => {
      const keys = Reflect.ownKeys(value).filter((key) => !skip?.(key) && Object.prototype.propertyIsEnumerable.call(value, key));
      const parts = keys.slice(0, 2 * ITEMS).map(property);
      if (keys.length > parts.length) parts.push(`... ${keys.length - parts.length} more properties`);
      return parts;
    };
    const some = (iterator, count, each) => {
      const parts = [];
      for (const item of iterator) {
        if (parts.length === ITEMS) break;
        parts.push(each(item));
      }
      if (count > parts.length) parts.push(more(count - parts.length, "item"));
      return parts;
    };
    const index = (key) => typeof key === "string" && /^\d+$/.test(key);
    /// The reference that a cycle points to.
    const reference = () => shared.cycles.has(value) ? `<ref *${shared.cycles.get(value)}>` : "";
    const last = shared.level;
    const layout = (open, parts, close, title = "") => {
      const before = [reference(), title].filter(Boolean).join(" ");
      const start = before ? `${before} ${open}` : open;
      if (parts.length === 0) {
        // What is empty is no level of its own.
        shared.level = last;
        return start + close;
      }
      const flat = parts.join(", ");
      // Twelve columns are left for what comes before and after it.
      const fits = flat.length + open.length + before.length + 2 * depth + 12 <= WIDTH;
      if (fits && shared.level - depth < LEVELS && !flat.includes("\n")) return `${start} ${flat} ${close}`;
      return `${start}\n  ${parts.join(",\n").replaceAll("\n", "\n  ")}\n${close}`;
    };

    if (typeof value === "function") {
      const title = functionText(value);
      shared.level = depth;
      const parts = depth > shared.most ? [] : properties();
      if (parts.length) return layout("{", parts, "}", title);
      shared.level = last;
      return title;
    }
    if (value instanceof Error) {
      const text = errorText(value, show);
      return [reference(), text].filter(Boolean).join(" ");
    }
    if (value instanceof Date) return isNaN(value) ? "Invalid Date" : value.toISOString();
    if (value instanceof RegExp) return String(value);
    for (const boxed of [String, Number, Boolean, BigInt, Symbol])
      if (value instanceof boxed) return `[${className(value)}: ${scalar(value.valueOf())}]`;
    if (lib.URL && value instanceof lib.URL) return `URL { ${quote(value.href)} }`;
    if (value instanceof WeakMap || value instanceof WeakSet) return `${prefix(value)}{ <items unknown> }`;
    if (depth > shared.most) return Array.isArray(value) ? "[Array]" : `[${prefix(value).trim().replace(/^\[(.*)\]$/, "$1")}]`;

    shared.level = depth;
    if (value instanceof lib.Promise) {
      const [state, held] = host.promise(value);
      const text = state === "pending" ? "<pending>" : state === "rejected" ? `<rejected> ${show(held)}` : show(held);
      return layout(`${prefix(value)}{`, [text, ...properties()], "}");
    }
    if (lib.URLSearchParams && value instanceof lib.URLSearchParams)
      return layout("URLSearchParams {", [...value].map(([k, v]) => `${quote(k)} => ${quote(v)}`), "}");
    if (Array.isArray(value)) {
      const parts = [];
      let holes = 0;
      const flush = () => {
        if (holes) parts.push(`<${holes} empty item${holes > 1 ? "s" : ""}>`);
        holes = 0;
      };
      const end = Math.min(value.length, ITEMS);
      for (let i = 0; i < end; i++) {
        if (!(i in value)) holes++;
        else {
          flush();
          parts.push(show(value[i]));
        }
      }
      flush();
      if (value.length > end) parts.push(more(value.length - end, "item"));
      const title = prefix(value, `(${value.length})`);
      return layout(title === `Array(${value.length}) ` ? "[" : `${title}[`, [...parts, ...properties(index)], "]");
    }
    if (value instanceof Map) {
      const parts = some(value, value.size, ([k, v]) => `${show(k)} => ${show(v)}`);
      return layout(`${prefix(value, `(${value.size})`)}{`, [...parts, ...properties()], "}");
    }
    if (value instanceof Set)
      return layout(`${prefix(value, `(${value.size})`)}{`, [...some(value, value.size, show), ...properties()], "}");
    if (value instanceof ArrayBuffer)
      return layout(`${prefix(value)}{`, [bytesText(value), `byteLength: ${value.byteLength}`, ...properties()], "}");
    if (value instanceof DataView) {
      const parts = ["byteLength", "byteOffset", "buffer"].map((key) => `${key}: ${show(value[key])}`);
      return layout(`${prefix(value)}{`, [...parts, ...properties()], "}");
    }
    if (ArrayBuffer.isView(value)) {
      const parts = some(value, value.length, scalar);
      return layout(`${prefix(value, `(${value.length})`)}[`, [...parts, ...properties(index)], "]");
    }
    const title = Object.prototype.toString.call(value) === "[object Arguments]" ? "[Arguments] " : prefix(value);
    return layout(title === "Object " ? "{" : `${title}{`, properties(), "}");
  };

  /// A value as the console shows it, to so many levels. Never throws: a getter or a proxy of the script's may.
  lib.inspect = (value, most = DEPTH) => {
    try {
      return inspect(value, [], { most, level: 0, cycles: new Map() });
    } catch (error) {
      return `[cannot be shown: ${error?.name ?? "error"}]`;
    }
  };
})
