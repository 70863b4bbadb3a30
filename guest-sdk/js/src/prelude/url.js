// URL and URLSearchParams. Parsing is Rust's (web.rs); here are the classes.
(function (host, lib) {
  "use strict";
  const NAMES = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];
  const text = (value) => String(value).toWellFormed();

  class URLSearchParams {
    #pairs = [];
    #changed = () => {};
    constructor(init = "") {
      if (typeof init === "object" && init !== null) {
        if (typeof init[Symbol.iterator] === "function") {
          for (const pair of init) {
            const [name, value, ...more] = pair;
            if (value === undefined || more.length) throw new TypeError("URLSearchParams takes pairs of a name and a value");
            this.#pairs.push([text(name), text(value)]);
          }
        } else for (const key of Object.keys(init)) this.#pairs.push([text(key), text(init[key])]);
      } else this.#read(text(init));
    }
    #read(query) {
      const flat = host.formParse(query.startsWith("?") ? query.slice(1) : query);
      this.#pairs = [];
      for (let i = 0; i < flat.length; i += 2) this.#pairs.push([flat[i], flat[i + 1]]);
    }
    /// Ties the parameters of a URL to it; gives the function that reads them again.
    static bind(params, changed) {
      params.#changed = changed;
      return (query) => params.#read(query);
    }
    get size() {
      return this.#pairs.length;
    }
    append(name, value) {
      this.#pairs.push([text(name), text(value)]);
      this.#changed();
    }
    delete(name, value) {
      this.#pairs = this.#pairs.filter(([n, v]) => n !== text(name) || (value !== undefined && v !== text(value)));
      this.#changed();
    }
    get(name) {
      return this.#pairs.find(([n]) => n === text(name))?.[1] ?? null;
    }
    getAll(name) {
      return this.#pairs.filter(([n]) => n === text(name)).map(([, v]) => v);
    }
    has(name, value) {
      return this.#pairs.some(([n, v]) => n === text(name) && (value === undefined || v === text(value)));
    }
    set(name, value) {
      const at = this.#pairs.findIndex(([n]) => n === text(name));
      if (at < 0) this.#pairs.push([text(name), text(value)]);
      else {
        this.#pairs[at] = [text(name), text(value)];
        this.#pairs = this.#pairs.filter(([n], i) => i <= at || n !== text(name));
      }
      this.#changed();
    }
    sort() {
      this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      this.#changed();
    }
    forEach(callback, self) {
      for (const [name, value] of this.#pairs) callback.call(self, value, name, this);
    }
    *entries() {
      for (const [name, value] of this.#pairs) yield [name, value];
    }
    *keys() {
      for (const [name] of this.#pairs) yield name;
    }
    *values() {
      for (const [, value] of this.#pairs) yield value;
    }
    [Symbol.iterator]() {
      return this.entries();
    }
    toString() {
      return host.formText(this.#pairs.flat());
    }
  }
  const bind = URLSearchParams.bind;
  delete URLSearchParams.bind;
  lib.tag(URLSearchParams);
  lib.global("URLSearchParams", URLSearchParams);
  lib.URLSearchParams = URLSearchParams;

  const parse = (url, base) => host.urlParse(text(url), base === undefined ? undefined : text(base));

  class URL {
    #parts;
    #params;
    #reread;
    constructor(url, base) {
      this.#parts = parse(url, base);
      if (!this.#parts.length) {
        const error = new TypeError(`Invalid URL: ${text(url)}${base === undefined ? "" : ` (base ${text(base)})`}`);
        error.code = "ERR_INVALID_URL";
        throw error;
      }
    }
    static canParse(url, base) {
      return parse(url, base).length > 0;
    }
    static parse(url, base) {
      return URL.canParse(url, base) ? new URL(url, base) : null;
    }
    /// One part, or with `value` that part set.
    static part(url, index, value) {
      if (value === undefined) return url.#parts[index];
      if (index === 0) url.#parts = new URL(value).#parts;
      else url.#parts = host.urlSet(url.#parts[0], NAMES[index], text(value));
      url.#reread?.(url.#parts[9]);
    }
    get searchParams() {
      if (!this.#params) {
        this.#params = new URLSearchParams(this.#parts[9]);
        this.#reread = bind(this.#params, () => {
          this.#parts = host.urlSet(this.#parts[0], "search", this.#params.toString());
        });
      }
      return this.#params;
    }
    toString() {
      return this.#parts[0];
    }
    toJSON() {
      return this.#parts[0];
    }
  }
  const part = URL.part;
  delete URL.part;
  NAMES.forEach((name, index) => Object.defineProperty(URL.prototype, name, {
    get() {
      return part(this, index);
    },
    set: name === "origin" ? undefined : function (value) {
      part(this, index, String(value));
    },
    enumerable: true,
    configurable: true,
  }));
  lib.tag(URL);
  lib.global("URL", URL);
  lib.URL = URL;
})
