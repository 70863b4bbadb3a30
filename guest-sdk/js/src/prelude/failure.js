// From whatever was thrown to a report: name, message, stack. Also the rejections nobody handled.
(function (host, lib) {
  "use strict";

  const headline = (error) => {
    const name = error?.name === undefined ? "Error" : String(error.name);
    const message = error?.message === undefined ? "" : String(error.message);
    return message ? `${name}: ${message}` : name;
  };

  const { isError } = lib;

  /// What caused an error, and what an AggregateError gathers: indented below its stack.
  const below = (error, depth, seen) => {
    if (depth > 8) return "";
    let text = "";
    const add = (label, inner) => {
      if (seen.has(inner)) return;
      if (typeof inner === "object" && inner !== null) seen.add(inner);
      text += `\n${label}: ${isError(inner) ? headline(inner) : lib.inspect(inner)}`;
      if (isError(inner)) {
        const frames = host.frames(lib.stack(inner));
        if (frames) text += `\n${frames}`;
        text += below(inner, depth + 1, seen);
      }
    };
    if (error.cause !== undefined) add("caused by", error.cause);
    if (Array.isArray(error.errors)) error.errors.slice(0, 20).forEach((inner, i) => add(`error ${i + 1} of ${error.errors.length}`, inner));
    return text;
  };

  /// Name, message, raw stack, what lies below, and the JSON of a failed call (or "").
  lib.describe = (thrown) => {
    if (!isError(thrown)) {
      const text = typeof thrown === "string" ? thrown : lib.inspect(thrown);
      return ["Thrown", `${text} (thrown as ${thrown === null ? "null" : typeof thrown}: throw new Error(...) keeps the line)`, "", "", ""];
    }
    const name = thrown.name === undefined ? "Error" : String(thrown.name);
    let message = thrown.message === undefined ? "" : String(thrown.message);
    let inner = thrown.cause;
    for (let i = 0; i < 8 && inner !== undefined && inner !== null; i++) {
      message += ` (caused by ${isError(inner) ? headline(inner) : lib.inspect(inner)})`;
      inner = inner.cause;
    }
    if (Array.isArray(thrown.errors) && thrown.errors.length) {
      const list = thrown.errors.slice(0, 5).map((e) => isError(e) ? headline(e) : lib.inspect(e)).join("; ");
      message += ` [${list}${thrown.errors.length > 5 ? `; and ${thrown.errors.length - 5} more` : ""}]`;
    }
    let tool = "";
    if (thrown instanceof lib.ToolError && thrown.code !== undefined) {
      const { tool: called, code, retryable, details } = thrown;
      try {
        tool = lib.stringify({ tool: called, code, message: thrown.message, retryable, details });
      } catch {
        tool = lib.stringify({ tool: String(called), code: String(code), message: String(thrown.message), retryable: retryable === true });
      }
    }
    return [name, message, lib.stack(thrown), below(thrown, 0, new Set([thrown])), tool].map((s) => s.toWellFormed());
  };

  const rejected = new Map();
  /// Told of each rejection without a handler, and again when it gets one.
  lib.rejection = (promise, reason, handled) => {
    if (handled) rejected.delete(promise);
    else if (!lib.isCall(promise)) rejected.set(promise, reason);
  };
  /// The reasons of the rejections that still have none, at most one: `main` is the script's own.
  lib.unhandled = (main) => {
    for (const [promise, reason] of rejected) if (promise !== main) return [reason];
    return [];
  };
})
