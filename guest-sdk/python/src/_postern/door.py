"""The door: `tools`, `call_tool` and `catalog`, what calls become, and how they fail. Holds the host's handles
of calls in flight, so it holds none whenever no run is going on.

A script with nothing asynchronous in it gets the answer itself. Any other gets a `Call`: awaited, it lets
everything else go on meanwhile; used without that, it waits where it stands.
"""

import asyncio
import json
import keyword
import operator
import sys

from componentize_py_types import Err
from wit_world.imports import catalog as host_catalog
from wit_world.imports import poll
from wit_world.imports import tools as host_tools

from _postern import values

SCRIPT = "script.py"

# Calls in flight, in the order in which they were made.
flying: dict["Call", None] = {}
# Calls that nobody has asked about so far.
unasked: dict["Call", None] = {}
# Whether this run's script has something asynchronous in it.
asynchronous = False


class ToolError(Exception):
    """A tool call failed. `code` is one of a closed set, such as "unknown-tool", "blocked" or "upstream"; `tool` the
    tool's full name; `retryable` tells whether the same call may succeed later; `details` is more for programs,
    or None; `hint` is what to do about it, where the details say so."""

    def __init__(self, message="", code="upstream", retryable=False, details=None, tool=None):
        super().__init__(message)
        self.message = message
        self.code = code
        self.retryable = retryable
        self.details = details
        self.tool = tool

    @property
    def hint(self):
        return self.details.get("hint") if isinstance(self.details, dict) else None

    def __reduce__(self):
        return (ToolError, (self.message, self.code, self.retryable, self.details, self.tool))


ToolError.__module__ = "postern"


class Call:
    """A call that was made. `await` gives its answer; any other use of it waits for the answer first."""

    __slots__ = ("_label", "_line", "_waiters", "_pending", "_pollable", "_value", "_failure", "__weakref__")

    def __init__(self, label, pending):
        self._label = label
        self._line = _line()
        self._waiters = []
        self._pending = pending
        self._pollable = pending.subscribe()
        self._value = self._failure = None
        flying[self] = None
        unasked[self] = None

    def _wait(self):
        """The answer. Nothing else goes on until it is there."""
        unasked.pop(self, None)
        if self in flying:
            poll.poll([self._pollable])
            self._take()
        return self._outcome()

    def _take(self):
        """Takes the answer from the host, and hands it to whoever waits for it."""
        try:
            self._release_pollable()
            try:
                text = self._pending.finish()
            except Err as error:
                self._failure = _failure(self._label, error.value)
            else:
                self._value = self._decoded(text)
        finally:
            self._release()
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    def _give_up(self):
        """Drops the call; the host cancels it."""
        if self in flying:
            self._release_pollable()
            self._release()
            self._failure = ToolError("the call was given up", "cancelled", tool=self._label)

    def _decoded(self, text):
        try:
            return values.decode(text)
        except (ValueError, RecursionError) as error:
            message = f"the answer of {self._label} cannot be read: {type(error).__name__}: {error}"
            self._failure = ToolError(message, "upstream", tool=self._label)

    def _release_pollable(self):
        # A child of the pending: it has to go first.
        pollable, self._pollable = self._pollable, None
        if pollable is not None:
            pollable.__exit__(None, None, None)

    def _release(self):
        flying.pop(self, None)
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.__exit__(None, None, None)

    def _outcome(self):
        if self._failure is not None:
            raise self._failure
        return self._value

    def __await__(self):
        unasked.pop(self, None)
        if self in flying:
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            try:
                yield from waiter
            except asyncio.CancelledError:
                if waiter in self._waiters:
                    self._waiters.remove(waiter)
                if not self._waiters:
                    self._give_up()
                raise
        return self._outcome()

    # ---- the answer's own face, for a script that forgot to await -----------------------------

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._wait(), name)

    def __eq__(self, other):
        if isinstance(other, Call):
            return self is other or self._wait() == other._wait()
        return self._wait() == other

    def __hash__(self):
        return id(self)

    def __ne__(self, other):
        return not self == other

    def __repr__(self):
        return repr(self._wait())

    def __str__(self):
        return str(self._wait())

    def __format__(self, spec):
        return format(self._wait(), spec)

    def __reduce__(self):
        raise TypeError("a call cannot be copied: await it and copy its answer")


def _delegate():
    """Operators and protocols, each as the answer has it."""
    one = ["bool", "len", "iter", "int", "float", "complex", "index", "reversed", "abs", "neg", "pos"]
    functions = {"bool": bool, "len": len, "iter": iter, "int": int, "float": float, "complex": complex}
    functions |= {"reversed": reversed, "abs": abs, "index": operator.index, "neg": operator.neg, "pos": operator.pos}
    for name in one:
        setattr(Call, f"__{name}__", lambda self, f=functions[name]: f(self._wait()))
    two = {
        "getitem": operator.getitem, "contains": operator.contains, "delitem": operator.delitem, "lt": operator.lt,
        "le": operator.le, "gt": operator.gt, "ge": operator.ge, "add": operator.add, "sub": operator.sub,
        "mul": operator.mul, "truediv": operator.truediv, "floordiv": operator.floordiv, "mod": operator.mod,
        "or": operator.or_, "and": operator.and_,
    }  # fmt: skip
    for name, function in two.items():
        setattr(Call, f"__{name}__", lambda self, other, f=function: f(self._wait(), other))
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "or", "and"):
        setattr(Call, f"__r{name}__", lambda self, other, f=two[name]: f(other, self._wait()))
    Call.__setitem__ = lambda self, key, value: operator.setitem(self._wait(), key, value)


_delegate()


def _line():
    """The line of the script that is being carried out."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != SCRIPT:
        frame = frame.f_back
    return frame.f_lineno if frame is not None else None


def _failure(label, error):
    details = None
    if error.details is not None:
        try:
            details = values.decode(error.details)
        except (ValueError, RecursionError):
            details = error.details
    code = error.code.name.lower().replace("_", "-")
    return ToolError(error.message, code, error.retryable, details, label)


def _made(label, pending):
    call = Call(label, pending)
    return call if asynchronous else call._wait()


def begin(is_asynchronous: bool) -> None:
    """First step of a run."""
    global asynchronous
    asynchronous = is_asynchronous


def lost() -> list[str]:
    """Waits for the calls that nobody asked about, and says which they were."""
    said = []
    for call in list(unasked):
        try:
            call._wait()
            failure = ""
        except ToolError as error:
            failure = f", and it failed: ToolError: {error}"
        where = "" if call._line is None else f" on line {call._line}"
        said.append(f"the call to {call._label}{where} was never awaited{failure}")
    return said


def end() -> None:
    """Last step of a run: gives up what is still in flight."""
    for call in list(flying):
        call._give_up()


# ---- what scripts see -----------------------------------------------------------------------


def _name(name) -> str:
    if not isinstance(name, str):
        raise TypeError('call_tool takes the tool\'s full name first: call_tool("server/tool", {...})')
    server, slash, tool = name.partition("/")
    if server and slash and tool:
        return values.clean(name)
    server, dot, tool = name.partition(".")
    if server and dot and tool:
        right = f"write call_tool({json.dumps(f'{server}/{tool}')}, {{...}})"
    else:
        right = f'write call_tool("server/tool", {{...}}); catalog.search(query) finds the full name'
    raise ValueError(f"{name!r} is not a tool's full name: {right}")


def _arguments(label, given, named) -> str:
    if len(given) > 1 or given and not isinstance(given[0], dict) and given[0] is not None:
        got = f"{len(given)} values" if len(given) > 1 else values.article(type(given[0]).__name__)
        raise TypeError(f"{label} takes its arguments by name, such as {label}(id=7), or one dict; it was given {got}")
    arguments = dict(given[0] or {}) if given else {}
    for key, value in named.items():
        arguments[_unreserved(key)] = value
    return values.encode(arguments, f"the arguments of {label} are not JSON: the object", numbers=True)


def call_tool(name, /, *arguments, **named):
    """Calls a tool by its full name: `call_tool("crm/get_customer", id=7)`, or with one dict of arguments."""
    full = _name(name)
    return _made(full, host_tools.call(full, _arguments(full, arguments, named)))


class _Tool:
    """One tool: called with its arguments by name."""

    __slots__ = ("_full", "_shown")

    def __init__(self, server, tool):
        self._full = values.clean(f"{server}/{tool}")
        self._shown = f"tools.{server}.{tool}"

    def __call__(self, /, *arguments, **named):
        return _made(self._full, host_tools.call(self._full, _arguments(self._full, arguments, named)))

    def __repr__(self):
        return f"<tool {self._full}>"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"{self._shown} is a tool: call it, {self._shown}(...)")


class _Server:
    """The tools of one server, by name."""

    __slots__ = ("_name",)

    def __init__(self, name):
        self._name = name

    def __getattr__(self, tool):
        if tool.startswith("__"):
            raise AttributeError(tool)
        return _Tool(self._name, _unreserved(tool))

    def __getitem__(self, tool):
        return _Tool(self._name, tool)

    def __call__(self, *_, **__):
        raise TypeError(f"tools.{self._name} is a server: call one of its tools, tools.{self._name}.<tool>(...)")

    def __repr__(self):
        return f"<tools of {self._name}>"


class _Tools:
    """All servers, by name."""

    __slots__ = ()
    __name__ = "tools"

    def __getattr__(self, server):
        if server.startswith("__"):
            raise AttributeError(server)
        return ToolError if server == "ToolError" else _Server(_unreserved(server))

    def __getitem__(self, name):
        server, slash, tool = str(name).partition("/")
        return _Tool(server, tool) if slash else _Server(server)

    def __call__(self, *_, **__):
        raise TypeError('tools is not a function: write tools.<server>.<tool>(...) or call_tool("server/tool", ...)')

    def __setattr__(self, name, value):
        raise TypeError(f"tools cannot be changed ({name})")

    def __repr__(self):
        return "<tools: catalog.search(query) finds them>"


def _unreserved(name):
    """`import_` stands for a name that Python keeps for itself."""
    return name[:-1] if name.endswith("_") and keyword.iskeyword(name[:-1]) else name


class _Catalog:
    """What tools there are."""

    __slots__ = ()
    __name__ = "catalog"

    def search(self, query="", limit=20):
        """Tools that match, best first: a list of {name, title?, description?}."""
        if not isinstance(query, str):
            raise TypeError("catalog.search takes a text, and optionally how many tools to give")
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise ValueError("catalog.search takes a limit of at least 1")
        return _made("catalog.search", host_catalog.search(values.clean(query), min(limit, 1000)))

    def describe(self, name):
        """One tool, whole: {name, title?, description?, inputSchema, outputSchema?, annotations?}."""
        if isinstance(name, _Tool):
            name = name._full
        return _made("catalog.describe", host_catalog.describe(_name(name)))

    def __repr__(self):
        return "<catalog: search(query, limit), describe(name)>"


tools = _Tools()
catalog = _Catalog()
