// `fs` and `path`, and the few modules that `require` and `import()` know.
(function (host, lib) {
  "use strict";
  const files = host.files;

  const pathText = (path) => {
    if (lib.URL && path instanceof lib.URL && path.protocol === "file:") return decodeURIComponent(path.pathname);
    if (typeof path !== "string") throw new TypeError(`a path is a string; this one is ${path === null ? "null" : typeof path}`);
    return path.toWellFormed();
  };
  const encodingOf = (options) => {
    const encoding = typeof options === "string" ? options : options?.encoding;
    if (encoding === undefined || encoding === null || encoding === "buffer") return undefined;
    if (/^utf-?8$/i.test(encoding) || /^ascii$/i.test(encoding)) return "utf8";
    throw new RangeError(`the encoding ${encoding} is not available: use "utf8", or none for bytes`);
  };
  const dataOf = (data) => {
    if (typeof data === "string") return data.toWellFormed();
    const bytes = lib.bytes(data);
    if (bytes) return bytes;
    throw new TypeError("a file takes a string or bytes: JSON.stringify(value) makes one of an object");
  };

  class Stats {
    #kind;
    constructor([size, mtimeMs, kind]) {
      this.size = size;
      this.mtimeMs = mtimeMs;
      this.mtime = new Date(mtimeMs);
      this.#kind = kind;
    }
    isFile() {
      return this.#kind === "f";
    }
    isDirectory() {
      return this.#kind === "d";
    }
    isSymbolicLink() {
      return this.#kind === "l";
    }
  }
  class Dirent {
    #kind;
    constructor(parentPath, name, kind) {
      this.name = name;
      this.parentPath = parentPath;
      this.#kind = kind;
    }
    isFile() {
      return this.#kind === "f";
    }
    isDirectory() {
      return this.#kind === "d";
    }
    isSymbolicLink() {
      return this.#kind === "l";
    }
  }

  const entries = (path, recursive) => {
    const found = [];
    const below = [[path, ""]];
    while (below.length) {
      const [folder, prefix] = below.shift();
      const flat = files.list(folder);
      for (let i = 0; i < flat.length; i += 2) {
        found.push({ folder, name: flat[i], relative: prefix + flat[i], kind: flat[i + 1] });
        if (recursive && flat[i + 1] === "d") below.push([`${folder}/${flat[i]}`, `${prefix}${flat[i]}/`]);
      }
    }
    return found;
  };

  const sync = {
    readFile(path, options) {
      return encodingOf(options) ? files.readText(pathText(path)) : files.readBytes(pathText(path));
    },
    writeFile(path, data, options) {
      encodingOf(options);
      files.write(pathText(path), dataOf(data), options?.flag ?? "w");
    },
    appendFile(path, data, options) {
      encodingOf(options);
      files.write(pathText(path), dataOf(data), "a");
    },
    readdir(path, options) {
      const found = entries(pathText(path), Boolean(options?.recursive));
      if (options?.withFileTypes) return found.map(({ folder, name, kind }) => new Dirent(folder, name, kind));
      return found.map(({ relative }) => relative);
    },
    mkdir(path, options) {
      files.mkdir(pathText(path), Boolean(options?.recursive));
    },
    rm(path, options) {
      try {
        files.remove(pathText(path), Boolean(options?.recursive), false);
      } catch (error) {
        if (!options?.force || error.code !== "ENOENT") throw error;
      }
    },
    rmdir(path) {
      files.remove(pathText(path), false, true);
    },
    unlink(path) {
      files.remove(pathText(path), false, false);
    },
    rename(from, to) {
      files.rename(pathText(from), pathText(to));
    },
    copyFile(from, to) {
      files.copy(pathText(from), pathText(to));
    },
    stat(path) {
      return new Stats(files.stat(pathText(path), true));
    },
    lstat(path) {
      return new Stats(files.stat(pathText(path), false));
    },
    access(path) {
      files.stat(pathText(path), true);
    },
    exists(path) {
      try {
        files.stat(pathText(path), true);
        return true;
      } catch {
        return false;
      }
    },
  };

  // The promise form is the one to use. The `Sync` names are there because scripts use them, and cost
  // nothing: no file operation here ever waits.
  const fs = {};
  for (const [name, action] of Object.entries(sync)) {
    fs[name] = {
      async [name](...args) {
        if (typeof args[args.length - 1] === "function")
          throw new TypeError(`fs.${name} gives a promise: write await fs.${name}(...) instead of passing a callback`);
        return action(...args);
      },
    }[name];
    fs[`${name}Sync`] = { [`${name}Sync`]: (...args) => action(...args) }[`${name}Sync`];
  }
  fs.constants = { F_OK: 0, X_OK: 1, W_OK: 2, R_OK: 4 };
  fs.promises = fs;
  lib.global("fs", fs);

  const normal = (path) => {
    const root = path.startsWith("/");
    const out = [];
    for (const part of path.split("/")) {
      if (part === "" || part === ".") continue;
      if (part === ".." && out.length && out[out.length - 1] !== "..") out.pop();
      else if (part !== ".." || !root) out.push(part);
    }
    const text = out.join("/") + (out.length && path.endsWith("/") ? "/" : "");
    return root ? `/${text}` : text || ".";
  };
  const trim = (path) => path.length > 1 ? path.replace(/\/+$/, "") || "/" : path;
  const path = {
    sep: "/",
    delimiter: ":",
    normalize: (p) => normal(pathText(p)),
    join: (...parts) => normal(parts.map(pathText).filter(Boolean).join("/") || "."),
    isAbsolute: (p) => pathText(p).startsWith("/"),
    resolve: (...parts) => {
      let at = "";
      for (const part of parts.map(pathText).reverse()) {
        if (part) at = at ? `${part}/${at}` : part;
        if (part.startsWith("/")) break;
      }
      return files.path(at);
    },
    dirname: (p) => {
      const at = trim(pathText(p)).lastIndexOf("/");
      return at < 0 ? "." : at === 0 ? "/" : trim(p).slice(0, at);
    },
    basename: (p, suffix = "") => {
      const base = trim(pathText(p)).split("/").pop();
      return suffix && base !== suffix && base.endsWith(suffix) ? base.slice(0, -suffix.length) : base;
    },
    extname: (p) => {
      const base = path.basename(p);
      const dot = base.lastIndexOf(".");
      return dot > 0 ? base.slice(dot) : "";
    },
    relative: (from, to) => {
      const a = path.resolve(from).split("/").filter(Boolean);
      const b = path.resolve(to).split("/").filter(Boolean);
      let same = 0;
      while (same < a.length && same < b.length && a[same] === b[same]) same++;
      return [...a.slice(same).map(() => ".."), ...b.slice(same)].join("/");
    },
    parse: (p) => {
      const base = path.basename(p);
      const ext = path.extname(p);
      const dir = p.includes("/") ? path.dirname(p) : "";
      return { root: p.startsWith("/") ? "/" : "", dir, base, ext, name: ext ? base.slice(0, -ext.length) : base };
    },
    format: ({ dir, root = "", base, name = "", ext = "" }) => {
      const file = base ?? name + ext;
      return dir ? (dir === "/" ? `/${file}` : `${dir}/${file}`) : root + file;
    },
  };
  path.posix = path;

  const modules = {
    fs,
    "fs/promises": fs,
    path,
    "path/posix": path,
    url: { URL: lib.URL, URLSearchParams: lib.URLSearchParams },
    "timers/promises": {
      setTimeout: (ms, value) => new lib.Promise((resolve) => setTimeout(resolve, ms, value)),
      setImmediate: (value) => new lib.Promise((resolve) => setImmediate(resolve, value)),
    },
  };
  lib.global("require", function require(name) {
    const plain = String(name).replace(/^node:/, "");
    if (Object.hasOwn(modules, plain)) return modules[plain];
    const error = new Error(`there is no module ${lib.stringify(String(name))}: a script has ${Object.keys(modules).join(", ")}; ` +
      "for anything outside, call a tool");
    error.code = "MODULE_NOT_FOUND";
    throw error;
  });
})
