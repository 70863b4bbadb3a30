// console: formats, groups, tables. How a value looks is inspect.js's.
(function (host, lib) {
  "use strict";

  /// The engine's own classes, whose toString says less than the console does.
  const plain = new Set(Object.getOwnPropertyNames(globalThis).filter((key) => /^[A-Z]/.test(key)));
  const hasOwnText = (object) => {
    for (let at = object; at !== null; at = Object.getPrototypeOf(at)) {
      if (!Object.hasOwn(at, "toString")) continue;
      const maker = Object.getOwnPropertyDescriptor(at, "constructor")?.value;
      return at === object || !(typeof maker === "function" && plain.has(maker.name));
    }
    return false;
  };

  const number = (read, arg) => {
    if (typeof arg === "bigint") return `${arg}n`;
    const value = typeof arg === "symbol" ? NaN : read(arg);
    return Object.is(value, -0) ? "-0" : String(value);
  };
  const text = (arg) => {
    if (typeof arg === "number" || typeof arg === "bigint") return lib.inspect(arg);
    return typeof arg === "object" && arg !== null && !hasOwnText(arg) ? lib.inspect(arg, 0) : String(arg);
  };
  const marks = {
    s: text,
    d: (arg) => number(Number, arg),
    i: (arg) => number(parseInt, arg),
    f: (arg) => typeof arg === "bigint" ? String(Number(arg)) : number(parseFloat, arg),
    j: (arg) => lib.stringify(arg),
    o: (arg) => lib.inspect(arg),
    O: (arg) => lib.inspect(arg),
    c: () => "",
  };

  const format = (args) => {
    let rest = args;
    let out = "";
    if (typeof args[0] === "string" && args.length > 1 && args[0].includes("%")) {
      let next = 1;
      out = args[0].replace(/%[sdifjoOc%]/g, (mark) => {
        if (mark === "%%") return "%";
        if (next >= args.length) return mark;
        const arg = args[next++];
        try {
          return marks[mark[1]](arg);
        } catch {
          // A cycle has no JSON, and a value may refuse to be a text or a number.
          return lib.inspect(arg);
        }
      });
      rest = args.slice(next);
      if (rest.length) out += " ";
    }
    return out + rest.map((arg) => typeof arg === "string" ? arg : lib.inspect(arg)).join(" ");
  };

  let indent = "";
  const print = (fd, line) => {
    host.write(fd, (indent ? indent + line.replaceAll("\n", `\n${indent}`) : line).toWellFormed());
  };
  const printer = (fd) => (...args) => print(fd, format(args));

  const grid = (header, lines) => {
    const widths = header.map((h, i) => Math.max(h.length, ...lines.map((line) => line[i].length)) + 2);
    const rule = (l, m, r) => l + widths.map((w) => "─".repeat(w)).join(m) + r;
    const line = (cells) => `│${cells.map((c, i) => ` ${c}`.padEnd(widths[i])).join("│")}│`;
    print(1, [rule("┌", "┬", "┐"), line(header), rule("├", "┼", "┤"), ...lines.map(line), rule("└", "┴", "┘")].join("\n"));
  };
  const cell = (value) => lib.inspect(value).replaceAll("\n", " ");
  const table = (data, chosen) => {
    if (typeof data !== "object" || data === null) return print(1, format([data]));
    if (data instanceof Map)
      return grid(["(iteration index)", "Key", "Values"], [...data].map(([k, v], i) => [String(i), cell(k), cell(v)]));
    if (data instanceof Set) return grid(["(iteration index)", "Values"], [...data].map((v, i) => [String(i), cell(v)]));
    const rows = Object.entries(data);
    const isObject = (row) => typeof row === "object" && row !== null;
    const columns = new Set(chosen ?? rows.flatMap(([, row]) => isObject(row) ? Object.keys(row) : []));
    const simple = rows.some(([, row]) => !isObject(row));
    const lines = rows.map(([key, row]) => {
      const cells = [...columns].map((c) => isObject(row) && Object.hasOwn(row, c) ? cell(row[c]) : "");
      return [key, ...cells, ...(simple ? [isObject(row) ? "" : cell(row)] : [])];
    });
    grid(["(index)", ...columns, ...(simple ? ["Values"] : [])], lines);
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
    dir: (value, options) => print(1, lib.inspect(value, options?.depth === null ? Infinity : options?.depth)),
    trace: (...args) => print(2, `Trace: ${format(args)}\n${host.frames(lib.stack(new Error()))}`.trimEnd()),
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
  console.dirxml = console.log;
  console.groupCollapsed = console.group;
  lib.define(console, Symbol.toStringTag, "console");
})
