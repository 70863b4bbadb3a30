// What the other files of the prelude share. Each file is one function of the same two arguments:
// `host`, the functions that engine.rs registers, and `lib`, this prelude's own common ground.
// The files run once, before the snapshot: nothing here may draw random numbers, read the clock or
// print, and what a script can change (prototypes, globals) is copied first where we depend on it.
(function (host, lib) {
  "use strict";

  lib.parse = JSON.parse;
  lib.stringify = JSON.stringify;
  lib.Promise = Promise;
  lib.then = Promise.prototype.then;

  /// Defines a property that a script can replace but does not see when it lists keys.
  lib.define = (object, key, value) =>
    Object.defineProperty(object, key, { value, writable: true, configurable: true });

  /// Makes a global.
  lib.global = (key, value) => lib.define(globalThis, key, value);

  /// Names the class that `Object.prototype.toString` and the console show.
  lib.tag = (constructor, name = constructor.name) =>
    Object.defineProperty(constructor.prototype, Symbol.toStringTag, { value: name, configurable: true });

  /// A view of the bytes of an ArrayBuffer or of any view of one; undefined for anything else.
  lib.bytes = (value) => {
    if (value instanceof Uint8Array) return value;
    if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) return new Uint8Array(value);
    return undefined;
  };

  // An error of ours is made where the script's frames are on the stack, and shown without our own.
  /// Whether a value is an error, of whatever kind. Asking must not fail: a proxy's traps may throw.
  lib.isError = (value) => {
    try {
      return value instanceof Error || Object.prototype.toString.call(value) === "[object Error]";
    } catch {
      return false;
    }
  };

  const engineStack = Object.getOwnPropertyDescriptor(Error.prototype, "stack");

  /// An error's stack as the engine has it, without the constructors that made it: `class MyError extends
  /// Error` begins where it was thrown, not in itself.
  lib.stack = (error) => {
    let stack = String((lib.isError(error) && !Object.hasOwn(error, "stack") ? engineStack.get.call(error) : error?.stack) ?? "");
    const maker = error?.constructor?.name;
    if (typeof maker !== "string" || !maker) return stack;
    while (stack.trimStart().startsWith(`at ${maker} (`)) stack = stack.trimStart().replace(/^.*\n?/, "");
    return stack;
  };

  // What a script reads begins with name and message, which the engine leaves out, and has only its own frames.
  Object.defineProperty(Error.prototype, "stack", {
    ...engineStack,
    get() {
      if (typeof engineStack.get.call(this) !== "string") return undefined;
      const frames = host.frames(lib.stack(this));
      return `${Error.prototype.toString.call(this)}${frames ? `\n${frames}` : ""}`;
    },
  });

  lib.line = (error) => {
    const at = host.position(lib.stack(error));
    return at.length ? at[0] : undefined;
  };

  const codes = { __proto__: null };
  // The numbers of old, by their place; where there is a gap, one was given up.
  ["IndexSize", , "HierarchyRequest", "WrongDocument", "InvalidCharacter", , "NoModificationAllowed", "NotFound", "NotSupported",
    "InUseAttribute", "InvalidState", "Syntax", "InvalidModification", "Namespace", "InvalidAccess", , "TypeMismatch", "Security",
    "Network", "Abort", "URLMismatch", "QuotaExceeded", "Timeout", "InvalidNodeType", "DataClone"]
    .forEach((kind, i) => (codes[`${kind}Error`] = i + 1));
  class DOMException extends Error {
    #name;
    constructor(message = "", name = "Error") {
      super(message);
      this.#name = String(name);
    }
    get name() {
      return this.#name;
    }
    get code() {
      return codes[this.#name] ?? 0;
    }
  }
  lib.tag(DOMException);
  lib.global("DOMException", DOMException);
  lib.DOMException = DOMException;

  // ng makes this one itself in some versions; one behaviour, whatever the engine brings.
  lib.global("queueMicrotask", function queueMicrotask(callback) {
    if (typeof callback !== "function") throw new TypeError("queueMicrotask takes a function");
    lib.then.call(lib.Promise.resolve(), () => callback());
  });
  lib.global("global", globalThis);

  const offline = (what) => function () {
    throw new TypeError(`${what} is not available: a script has no network. Call a tool instead: ` +
      'await callTool("server/tool", {...}); catalog.search(query) finds one');
  };
  lib.global("fetch", async function fetch() {
    offline("fetch")();
  });
  for (const name of ["XMLHttpRequest", "WebSocket", "EventSource"]) lib.global(name, offline(name));
})
