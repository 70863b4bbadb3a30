// Where the engine's dates are not as the standard has them.
(function (host, lib) {
  "use strict";
  const proto = Date.prototype;
  const { setTime } = proto;

  /// Replaces a method by one of the same name and length that calls it.
  const replace = (name, make) => {
    const original = proto[name];
    const method = make(original);
    Object.defineProperties(method, { name: { value: name }, length: { value: original.length } });
    lib.define(proto, name, method);
  };

  // A part that is no number makes the date invalid. The engine would leave the date as it was.
  for (const name of Object.getOwnPropertyNames(proto).filter((key) => /^set(?!Time)/.test(key)))
    replace(name, (original) => ({
      method(...parts) {
        const numbers = parts.slice(0, Math.max(original.length, 1)).map((part) => +part);
        const whole = numbers.length > 0 && numbers.every(Number.isFinite);
        return whole ? original.apply(this, numbers) : setTime.call(this, NaN);
      },
    }).method);

  // The name of the time zone, which is always this one.
  for (const name of ["toString", "toTimeString"])
    replace(name, (original) => ({
      method() {
        const text = original.call(this);
        return text.endsWith("+0000") ? `${text} (Coordinated Universal Time)` : text;
      },
    }).method);
})
