// setTimeout and its kin. The clock and the order are Rust's (events.rs); the callbacks are here.
(function (host, lib) {
  "use strict";
  const LONGEST = 2 ** 31 - 1;
  /// What is set, by the number the script knows: number -> timer.
  const timers = new Map();
  /// The event loop's number of a timer's next turn -> the script's number of the timer.
  const turns = new Map();

  const arm = (number, timer) => {
    timer.turn = host.timer(timer.ms, timer.repeat);
    turns.set(timer.turn, number);
  };

  class Timeout {
    #number;
    constructor(callback, ms, args, repeat) {
      if (typeof callback !== "function") throw new TypeError("a timer takes a function first");
      const delay = Number(ms);
      const timer = { callback, args, repeat, ms: delay >= 1 && delay <= LONGEST ? delay : repeat ? 1 : 0, origin: new Error(), turn: 0 };
      timer.turn = host.timer(timer.ms, repeat);
      this.#number = timer.turn;
      timers.set(this.#number, timer);
      turns.set(timer.turn, this.#number);
    }
    static number(handle) {
      return typeof handle === "object" && handle !== null && #number in handle ? handle.#number : Number(handle);
    }
    ref() {
      return this;
    }
    unref() {
      return this;
    }
    hasRef() {
      return true;
    }
    [Symbol.toPrimitive]() {
      return this.#number;
    }
  }

  const clear = (handle) => {
    const number = Timeout.number(handle);
    const timer = timers.get(number);
    if (!timer) return;
    timers.delete(number);
    turns.delete(timer.turn);
    host.cancel(timer.turn);
  };

  lib.global("setTimeout", function setTimeout(callback, ms = 0, ...args) {
    return new Timeout(callback, ms, args, false);
  });
  lib.global("setInterval", function setInterval(callback, ms = 0, ...args) {
    return new Timeout(callback, ms, args, true);
  });
  lib.global("setImmediate", function setImmediate(callback, ...args) {
    return new Timeout(callback, 0, args, false);
  });
  lib.global("clearTimeout", function clearTimeout(handle) {
    if (handle !== undefined && handle !== null) clear(handle);
  });
  lib.global("clearInterval", function clearInterval(handle) {
    if (handle !== undefined && handle !== null) clear(handle);
  });
  lib.global("clearImmediate", function clearImmediate(handle) {
    if (handle !== undefined && handle !== null) clear(handle);
  });

  /// Runs a timer's callback. What it throws ends the script, as an uncaught exception does elsewhere.
  lib.fire = (turn) => {
    const number = turns.get(turn);
    const timer = timers.get(number);
    turns.delete(turn);
    if (!timer) return;
    if (!timer.repeat) timers.delete(number);
    try {
      (0, timer.callback)(...timer.args);
    } finally {
      if (timers.get(number) === timer) arm(number, timer);
    }
  };

  /// One warning for each timer that the end of the script cuts off.
  lib.lostTimers = () => [...timers.values()].map((timer) => {
    const line = lib.line(timer.origin);
    const where = line === undefined ? "" : ` set on line ${line}`;
    return timer.repeat
      ? `the interval${where} was still running when the script ended, and was stopped`
      : `the timer${where} was still waiting when the script ended, and was dropped: await what it does`;
  });
})
