// The door: `tools`, `callTool` and `catalog`. Every call is a promise that remembers whether anybody
// ever asked for its answer, so that a call which was never awaited is reported and not lost.
(function (host, lib) {
  "use strict";
  const { define, Promise, then } = lib;

  class ToolError extends Error {}
  define(ToolError.prototype, "name", "ToolError");
  lib.global("ToolError", ToolError);
  lib.ToolError = ToolError;

  /// Calls without an answer yet: id -> call.
  const flying = new Map();
  /// Every call of this run that nobody has asked about so far.
  const unasked = new Set();

  /// What a promise of a call stands for: promise -> call.
  const callOf = new WeakMap();

  class CallPromise extends Promise {
    static get [Symbol.species]() {
      return Promise;
    }
    then(fulfilled, rejected) {
      const call = callOf.get(this);
      if (call) {
        call.wanted = true;
        unasked.delete(call);
      }
      return super.then(fulfilled, rejected);
    }
  }
  // To a script it is a promise like any other.
  Object.defineProperty(CallPromise, "name", { value: "Promise" });

  /// Whether `promise` is that of a call itself, not of something done with its answer.
  lib.isCall = (promise) => callOf.has(promise);

  /// Starts a call. `prepare` checks what the script gave and says what goes to the host.
  const start = (kind, label, prepare) => {
    // Made here, where the script's own frames are on the stack; filled in only if the call fails.
    const error = new ToolError();
    const call = { label, error, wanted: false, races: 0, failure: undefined, resolve: undefined, reject: undefined };
    const promise = new CallPromise((resolve, reject) => {
      call.resolve = resolve;
      call.reject = reject;
    });
    callOf.set(promise, call);
    unasked.add(call);
    try {
      flying.set(host.start(kind, ...prepare()), call);
    } catch (failure) {
      call.failure = failure;
      call.reject(failure);
    }
    return promise;
  };

  const argumentsText = (label, args) => {
    if (args === undefined) return "{}";
    if (typeof args !== "object" || args === null || Array.isArray(args)) {
      const got = args === null ? "null" : Array.isArray(args) ? "an array" : `a ${typeof args}`;
      throw new TypeError(`${label} takes one object with the tool's arguments by name, such as {"id": 7}; it was given ${got}`);
    }
    const text = lib.encode(args, `the argument object of ${label}`);
    if (text[0] !== "{") throw new TypeError(`${label} takes one object with the tool's arguments; its toJSON gave something else`);
    return text;
  };

  const toolName = (name) => {
    if (typeof name !== "string")
      throw new TypeError('callTool takes the tool\'s full name first: await callTool("server/tool", {...})');
    const slash = name.indexOf("/");
    if (slash > 0 && slash < name.length - 1) return name.toWellFormed();
    const dot = name.indexOf(".");
    const right = dot > 0 && dot < name.length - 1
      ? `write callTool(${lib.stringify(`${name.slice(0, dot)}/${name.slice(dot + 1)}`)}, {...})`
      : 'write callTool("server/tool", {...}); catalog.search(query) finds the full name';
    throw new TypeError(`${lib.stringify(name)} is not a tool's full name: ${right}`);
  };

  lib.global("callTool", function callTool(name, args) {
    const label = String(name);
    return start("call", label, () => [toolName(name), argumentsText(label, args)]);
  });

  // `tools.<server>.<tool>(args)`. Any name works, so most property reads mean a server or a tool;
  // these do not: the language and JSON ask for them by themselves, and `await tools` must not hang.
  const reserved = new Set(["then", "toJSON", "toString", "valueOf", "constructor", "prototype"]);
  const door = (target, shown, get, apply) => {
    const known = new Map();
    define(target, "toString", () => shown);
    return new Proxy(target, {
      get(object, key) {
        if (typeof key === "symbol" || reserved.has(key)) return key === "toString" ? object.toString : undefined;
        if (!known.has(key)) known.set(key, get(key));
        return known.get(key);
      },
      apply,
      set(object, key) {
        throw new TypeError(`${shown} cannot be changed (${String(key)})`);
      },
    });
  };
  const method = (server, tool) => {
    const name = `${server}/${tool}`;
    const call = (args) => start("call", name, () => [name.toWellFormed(), argumentsText(name, args)]);
    Object.defineProperty(call, "name", { value: name });
    return call;
  };
  const server = (name) => door(function () {}, `[tools of ${name}]`, (tool) => method(name, tool), () => {
    throw new TypeError(`tools.${name} is a server: call one of its tools, await tools.${name}.<tool>({...})`);
  });
  const tools = door(function () {}, "[tools: catalog.search(query) finds them]", server, () => {
    throw new TypeError('tools is not a function: write await tools.<server>.<tool>({...}) or await callTool("server/tool", {...})');
  });
  lib.global("tools", tools);

  lib.global("catalog", Object.freeze({
    search(query = "", limit = 20) {
      return start("search", "catalog.search", () => {
        if (typeof query !== "string") throw new TypeError("catalog.search takes a string, and optionally how many tools to give");
        const most = Number(limit);
        if (!(most >= 1)) throw new TypeError("catalog.search takes a limit of at least 1");
        return [query.toWellFormed(), String(Math.min(Math.floor(most), 1000))];
      });
    },
    describe(name) {
      return start("describe", "catalog.describe", () => [toolName(name), ""]);
    },
  }));

  // A race that is decided does not need its losers any more, and must not keep the run waiting for
  // them. So what is raced counts as wanted only until its race is decided.
  for (const kind of ["race", "any"]) {
    const original = Promise[kind];
    define(Promise, kind, function (promises) {
      if (this !== Promise) return original.call(this, promises);
      const calls = [];
      const plain = [];
      for (const item of promises) {
        const call = callOf.get(item);
        if (call) {
          unasked.delete(call);
          call.races += 1;
          calls.push(call);
          plain.push(then.call(item));
        } else plain.push(item);
      }
      const race = original.call(Promise, plain);
      if (calls.length) {
        const decided = () => calls.forEach((call) => (call.races -= 1));
        then.call(race, decided, decided);
      }
      return race;
    });
    Object.defineProperty(Promise[kind], "name", { value: kind });
  }

  const fail = (call, { code, message, retryable, details }) => {
    const error = call.error;
    define(error, "message", message);
    error.code = code;
    error.retryable = retryable;
    if (details !== undefined) {
      try {
        error.details = lib.parse(details);
      } catch {
        error.details = details;
      }
    }
    error.tool = call.label;
    call.failure = error;
    call.reject(error);
  };

  /// Hands a call its answer.
  lib.settleCall = (id, good, payload) => {
    const call = flying.get(id);
    if (!call) return;
    flying.delete(id);
    if (!good) return fail(call, lib.parse(payload));
    let value;
    try {
      // A throw here would leave the promise open for ever.
      value = lib.parse(payload);
    } catch (error) {
      const message = `the answer of ${call.label} cannot be read: ${error.name}: ${error.message}`;
      return fail(call, { code: "upstream", message, retryable: false });
    }
    call.resolve(value);
  };

  /// Whether some call in flight must still be waited for.
  lib.wanted = () => {
    for (const call of flying.values()) if (call.wanted || call.races > 0 || unasked.has(call)) return true;
    return false;
  };

  /// One warning for each call that nobody asked about.
  lib.lostCalls = () => [...unasked].map((call) => {
    const line = lib.line(call.error);
    const where = line === undefined ? "" : ` on line ${line}`;
    const failure = call.failure ? `, and it failed: ${call.failure.name}: ${call.failure.message}` : "";
    return `the call to ${call.label}${where} was never awaited${failure}`;
  });
})
