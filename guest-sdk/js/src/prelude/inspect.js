// console, and the way it shows values.
(function (host, lib) {
  "use strict";
  const WIDTH = 76;
  const DEPTH = 6;
  const ITEMS = 100;

  const name = /^[A-Za-z_$][\w$]*$/;
  const quote = (text) => {
    const mark = !text.includes("'") ? "'" : !text.includes('"') ? '"' : !text.includes("`") ? "`" : "'";
    let out = lib.stringify(text).slice(1, -1).replaceAll('\\"', '"');
    if (mark === "'") out = out.replaceAll("'", "\\'");
    return mark + out + mark;
  };
  const keyText = (key) => typeof key === "symbol" ? `[${String(key)}]` : name.test(key) ? key : quote(key);

  const className = (value) => {
    const proto = Object.getPrototypeOf(value);
    if (proto === null) return "[Object: null prototype]";
    const maker = Object.getOwnPropertyDescriptor(proto, "constructor")?.value ?? proto.constructor;
    return typeof maker === "function" && maker.name ? maker.name : "Object";
  };

  const scalar = (value) => {
    switch (typeof value) {
      case "string": return quote(value);
      case "bigint": return `${value}n`;
      case "number": return Object.is(value, -0) ? "-0" : String(value);
      case "symbol": return String(value);
      default: return String(value);
    }
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

  const layout = (head, open, parts, close) => {
    const lead = head ? `${head} ` : "";
    if (parts.length === 0) return `${lead}${open}${close}`;
    const flat = parts.join(", ");
    const pad = open === "[" ? "" : " ";
    if (flat.length + lead.length <= WIDTH && !flat.includes("\n"))
      return open === "[" ? `${lead}[ ${flat} ]` : `${lead}${open}${pad}${flat}${pad}${close}`;
    return `${lead}${open}\n  ${parts.join(",\n").replaceAll("\n", "\n  ")}\n${close}`;
  };

  const inspect = (value, depth, above) => {
    if (value === null || (typeof value !== "object" && typeof value !== "function")) return scalar(value);
    if (value === globalThis.tools) return "[tools: catalog.search(query) finds them]";
    if (above.includes(value)) return "[Circular]";
    const inner = [...above, value];
    const show = (item) => inspect(item, depth + 1, inner);
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
      if (count > parts.length) parts.push(`... ${count - parts.length} more item${count - parts.length > 1 ? "s" : ""}`);
      return parts;
    };
    const index = (key) => typeof key === "string" && /^\d+$/.test(key);
    const maker = className(value);
    const head = maker === "Object" ? "" : maker;

    if (typeof value === "function") {
      const kind = /^class\b/.test(Function.prototype.toString.call(value)) ? "class" : "Function";
      const title = kind === "class" ? `[class ${value.name || "(anonymous)"}]` : value.name ? `[Function: ${value.name}]` : "[Function (anonymous)]";
      const parts = value === undefined ? [] : properties();
      return parts.length ? layout(title, "{", parts, "}") : title;
    }
    if (value instanceof Error) return errorText(value, show);
    if (value instanceof Date) return isNaN(value) ? "Invalid Date" : value.toISOString();
    if (value instanceof RegExp) return String(value);
    if (value instanceof lib.Promise) {
      const [state, held] = host.promise(value);
      return state === "pending" ? "Promise { <pending> }" : layout("Promise", "{", [state === "rejected" ? `<rejected> ${show(held)}` : show(held)], "}");
    }
    if (value instanceof String || value instanceof Number || value instanceof Boolean) return `[${maker}: ${scalar(value.valueOf())}]`;
    if (lib.URL && value instanceof lib.URL) return `URL { ${quote(value.href)} }`;
    if (lib.URLSearchParams && value instanceof lib.URLSearchParams)
      return layout("URLSearchParams", "{", [...value].map(([k, v]) => `${quote(k)} => ${quote(v)}`), "}");
    if (depth > DEPTH) return Array.isArray(value) ? "[Array]" : `[${maker}]`;
    if (Array.isArray(value)) {
      const parts = [];
      let holes = 0;
      const flush = () => {
        if (holes) parts.push(`<${holes} empty item${holes > 1 ? "s" : ""}>`);
        holes = 0;
      };
      const last = Math.min(value.length, ITEMS);
      for (let i = 0; i < last; i++) {
        if (!(i in value)) holes++;
        else {
          flush();
          parts.push(show(value[i]));
        }
      }
      flush();
      if (value.length > last) parts.push(`... ${value.length - last} more item${value.length - last > 1 ? "s" : ""}`);
      return layout(maker === "Array" ? "" : `${maker}(${value.length})`, "[", [...parts, ...properties(index)], "]");
    }
    if (value instanceof Map)
      return layout(`Map(${value.size})`, "{", some(value, value.size, ([k, v]) => `${show(k)} => ${show(v)}`), "}");
    if (value instanceof Set) return layout(`Set(${value.size})`, "{", some(value, value.size, show), "}");
    if (value instanceof ArrayBuffer) return `ArrayBuffer { byteLength: ${value.byteLength} }`;
    if (ArrayBuffer.isView(value) && !(value instanceof DataView))
      return layout(`${maker}(${value.length})`, "[", some(value, value.length, scalar), "]");
    return layout(head, "{", properties(), "}");
  };

  /// A value as the console shows it. Never throws: a getter or a proxy of the script's may.
  lib.inspect = (value) => {
    try {
      return inspect(value, 0, []);
    } catch (error) {
      return `[cannot be shown: ${error?.name ?? "error"}]`;
    }
  };

  const format = (args) => {
    let rest = args;
    let text = "";
    if (typeof args[0] === "string" && args.length > 1 && args[0].includes("%")) {
      let next = 1;
      text = args[0].replace(/%[sdifjoOc%]/g, (mark) => {
        if (mark === "%%") return "%";
        if (next >= args.length) return mark;
        const arg = args[next++];
        switch (mark) {
          case "%s": return typeof arg === "object" && arg !== null ? lib.inspect(arg) : String(arg);
          case "%d": return typeof arg === "object" ? "NaN" : String(Number(arg));
          case "%i": return String(parseInt(arg, 10));
          case "%f": return String(parseFloat(arg));
          case "%j": return lib.stringify(arg);
          case "%c": return "";
          default: return lib.inspect(arg);
        }
      });
      rest = args.slice(next);
      if (rest.length) text += " ";
    }
    return text + rest.map((arg) => typeof arg === "string" ? arg : lib.inspect(arg)).join(" ");
  };

  let indent = "";
  const print = (fd, text) => {
    if (indent) text = indent + text.replaceAll("\n", `\n${indent}`);
    host.write(fd, text.toWellFormed());
  };
  const printer = (fd) => (...args) => print(fd, format(args));

  const table = (data) => {
    if (typeof data !== "object" || data === null) return print(1, format([data]));
    const rows = data instanceof Map ? [...data] : Object.entries(data);
    const columns = [];
    const simple = rows.some(([, row]) => typeof row !== "object" || row === null);
    for (const [, row] of rows)
      if (typeof row === "object" && row !== null) for (const key of Object.keys(row)) if (!columns.includes(key)) columns.push(key);
    const header = ["(index)", ...columns, ...(simple ? ["Values"] : [])];
    const cell = (value) => value === undefined ? "" : lib.inspect(value).replaceAll("\n", " ");
    const lines = rows.map(([key, row]) => {
      const object = typeof row === "object" && row !== null;
      return [String(key), ...columns.map((c) => object && c in row ? cell(row[c]) : ""), ...(simple ? [object ? "" : cell(row)] : [])];
    });
    const widths = header.map((h, i) => Math.max(h.length, ...lines.map((line) => line[i].length)) + 2);
    const rule = (l, m, r) => l + widths.map((w) => "─".repeat(w)).join(m) + r;
    const line = (cells) => `│${cells.map((c, i) => ` ${c}`.padEnd(widths[i])).join("│")}│`;
    print(1, [rule("┌", "┬", "┐"), line(header), rule("├", "┼", "┤"), ...lines.map(line), rule("└", "┴", "┘")].join("\n"));
  };

  const counts = new Map();
  const clocks = new Map();
  const elapsed = (label) => `${label}: ${(host.now() - clocks.get(label)).toFixed(3)}ms`;
  lib.global("console", {
    log: printer(1),
    info: printer(1),
    debug: printer(1),
    warn: printer(2),
    error: printer(2),
    table,
    dir: (value) => print(1, lib.inspect(value)),
    trace: (...args) => print(2, `Trace: ${format(args)}\n${host.frames(String(new Error().stack))}`.trimEnd()),
    assert: (condition, ...args) => {
      if (!condition) print(2, args.length ? `Assertion failed: ${format(args)}` : "Assertion failed");
    },
    group: (...args) => {
      if (args.length) print(1, format(args));
      indent += "  ";
    },
    groupEnd: () => {
      indent = indent.slice(2);
    },
    count: (label = "default") => {
      counts.set(label, (counts.get(label) ?? 0) + 1);
      print(1, `${label}: ${counts.get(label)}`);
    },
    countReset: (label = "default") => void counts.delete(label),
    time: (label = "default") => void clocks.set(label, host.now()),
    timeLog: (label = "default", ...args) => clocks.has(label) && print(1, [elapsed(label), ...args.map((a) => format([a]))].join(" ")),
    timeEnd: (label = "default") => {
      if (clocks.has(label)) print(1, elapsed(label));
      clocks.delete(label);
    },
  });
  console.groupCollapsed = console.group;
})
