// TextEncoder and TextDecoder, atob and btoa, crypto, performance, AbortController.
(function (host, lib) {
  "use strict";
  const { DOMException } = lib;

  class TextEncoder {
    get encoding() {
      return "utf-8";
    }
    encode(text = "") {
      return host.encode(String(text).toWellFormed());
    }
    encodeInto(text, target) {
      let read = 0;
      let written = 0;
      for (const character of String(text).toWellFormed()) {
        const bytes = host.encode(character);
        if (written + bytes.length > target.length) break;
        target.set(bytes, written);
        written += bytes.length;
        read += character.length;
      }
      return { read, written };
    }
  }
  lib.tag(TextEncoder);
  lib.global("TextEncoder", TextEncoder);

  class TextDecoder {
    #fatal;
    #ignoreBOM;
    #rest = new Uint8Array(0);
    #started = false;
    constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
      if (!/^\s*(unicode-1-1-utf-8|unicode11utf8|unicode20utf8|utf-?8|x-unicode20utf8)\s*$/i.test(String(label)))
        throw new RangeError(`the encoding ${label} is not available: only utf-8 is`);
      this.#fatal = Boolean(fatal);
      this.#ignoreBOM = Boolean(ignoreBOM);
    }
    get encoding() {
      return "utf-8";
    }
    get fatal() {
      return this.#fatal;
    }
    get ignoreBOM() {
      return this.#ignoreBOM;
    }
    decode(input = new Uint8Array(0), { stream = false } = {}) {
      let bytes = lib.bytes(input);
      if (!bytes) throw new TypeError("TextDecoder.decode takes an ArrayBuffer or a view of one");
      if (this.#rest.length) {
        const joined = new Uint8Array(this.#rest.length + bytes.length);
        joined.set(this.#rest);
        joined.set(bytes, this.#rest.length);
        bytes = joined;
      }
      const [text, used] = host.decode(bytes, this.#fatal, Boolean(stream));
      this.#rest = bytes.slice(used);
      const cut = !this.#started && !this.#ignoreBOM && text.startsWith("\ufeff");
      this.#started = stream && (this.#started || text.length > 0);
      return cut ? text.slice(1) : text;
    }
  }
  lib.tag(TextDecoder);
  lib.global("TextDecoder", TextDecoder);

  const invalid = (message) => new DOMException(message, "InvalidCharacterError");
  lib.global("atob", function atob(text) {
    const plain = host.atob(String(text).toWellFormed());
    if (plain === null || plain === undefined) throw invalid("atob takes base64 text");
    return plain;
  });
  lib.global("btoa", function btoa(text) {
    const encoded = host.btoa(String(text).toWellFormed());
    if (encoded === null || encoded === undefined)
      throw invalid("btoa takes characters up to U+00FF: encode the text with TextEncoder first");
    return encoded;
  });

  const integer = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array, BigUint64Array];
  class Crypto {
    getRandomValues(array) {
      if (!integer.some((type) => array instanceof type))
        throw new DOMException("getRandomValues takes an array of integers", "TypeMismatchError");
      if (array.byteLength > 65536) throw new DOMException("getRandomValues gives at most 65536 bytes", "QuotaExceededError");
      lib.bytes(array).set(host.randomBytes(array.byteLength));
      return array;
    }
    randomUUID() {
      return host.uuid();
    }
  }
  lib.tag(Crypto);
  lib.global("crypto", new Crypto());

  // QuickJS seeds Math.random when the context is made, that is, in the snapshot; and its own clock
  // for performance begins there as well.
  lib.define(Math, "random", () => host.random());
  lib.global("performance", {
    [Symbol.toStringTag]: "Performance",
    now: () => host.now(),
    get timeOrigin() {
      return Date.now() - host.now();
    },
    mark() {},
    measure() {},
  });

  class Event {
    #type;
    #cancelable;
    constructor(type, { cancelable = false } = {}) {
      this.#type = String(type);
      this.#cancelable = Boolean(cancelable);
    }
    get type() {
      return this.#type;
    }
    get cancelable() {
      return this.#cancelable;
    }
    target = null;
    defaultPrevented = false;
    preventDefault() {
      this.defaultPrevented ||= this.#cancelable;
    }
  }
  lib.tag(Event);
  lib.global("Event", Event);

  class EventTarget {
    #listeners = new Map();
    addEventListener(type, listener, options) {
      const list = this.#listeners.get(type) ?? [];
      this.#listeners.set(type, list);
      if (!list.some((entry) => entry.listener === listener)) list.push({ listener, once: Boolean(options?.once) });
    }
    removeEventListener(type, listener) {
      const list = this.#listeners.get(type) ?? [];
      this.#listeners.set(type, list.filter((entry) => entry.listener !== listener));
    }
    dispatchEvent(event) {
      event.target = this;
      for (const { listener, once } of [...(this.#listeners.get(event.type) ?? [])]) {
        if (once) this.removeEventListener(event.type, listener);
        if (typeof listener === "function") listener.call(this, event);
        else listener?.handleEvent?.(event);
      }
      return !event.defaultPrevented;
    }
  }
  lib.tag(EventTarget);
  lib.global("EventTarget", EventTarget);

  const making = Symbol();
  class AbortSignal extends EventTarget {
    #aborted = false;
    #reason = undefined;
    onabort = null;
    constructor(key) {
      if (key !== making) throw new TypeError("a signal comes from new AbortController().signal or AbortSignal.timeout(ms)");
      super();
    }
    get aborted() {
      return this.#aborted;
    }
    get reason() {
      return this.#reason;
    }
    throwIfAborted() {
      if (this.#aborted) throw this.#reason;
    }
    static abortWith(signal, reason) {
      if (signal.#aborted) return;
      signal.#aborted = true;
      signal.#reason = reason === undefined ? new DOMException("this was aborted", "AbortError") : reason;
      const event = new Event("abort");
      if (typeof signal.onabort === "function") signal.onabort(event);
      signal.dispatchEvent(event);
    }
    static abort(reason) {
      const signal = new AbortSignal(making);
      abort(signal, reason);
      return signal;
    }
    static timeout(ms) {
      const signal = new AbortSignal(making);
      setTimeout(() => abort(signal, new DOMException(`${ms} ms have passed`, "TimeoutError")), ms);
      return signal;
    }
    static any(signals) {
      const signal = new AbortSignal(making);
      for (const one of signals) {
        if (one.aborted) abort(signal, one.reason);
        else one.addEventListener("abort", () => abort(signal, one.reason), { once: true });
      }
      return signal;
    }
  }
  const abort = AbortSignal.abortWith;
  delete AbortSignal.abortWith;
  lib.tag(AbortSignal);
  lib.global("AbortSignal", AbortSignal);

  class AbortController {
    #signal = new AbortSignal(making);
    get signal() {
      return this.#signal;
    }
    abort(reason) {
      abort(this.#signal, reason);
    }
  }
  lib.tag(AbortController);
  lib.global("AbortController", AbortController);
})
