"""From an exception to a report: name, message, place, and the traceback as CPython prints it, with the script's
own lines only."""

import json
import linecache
import sys
import traceback
from importlib import metadata

from wit_world import ScriptError

from _postern import door, fresh, loop, values

# So many causes of causes are followed.
DEEPEST = 8
# Longer tracebacks lose their middle.
MOST_FRAMES = 60
# So many packages are named.
MOST_PACKAGES = 30


def show_source(source: str) -> None:
    """Lets tracebacks quote the script's lines."""
    lines = [line + "\n" for line in source.split("\n")]
    # Without a time of change the cache never looks for a file.
    linecache.cache[door.SCRIPT] = (len(source), None, lines, door.SCRIPT)


def report(error: BaseException, warnings: list[str]) -> ScriptError:
    """What the host is told."""
    try:
        return _report(error, warnings)
    # The error's own methods are the script's: they may do anything, even use up what is left of the memory.
    except Exception as other:
        message = f"the script failed, and its error cannot be shown ({type(other).__name__})"
        return ScriptError(type(error).__name__, message, None, None, "", None, warnings)


def _report(error, warnings):
    name, message, line, column = type(error).__name__, _message(error), None, None
    if isinstance(error, SystemExit):
        code = error.code
        message = code if isinstance(code, str) else f"the script ended itself with exit code {code}"
    if isinstance(error, SyntaxError) and error.filename == door.SCRIPT:
        message, line, column = str(error.msg), error.lineno, error.offset
    elif isinstance(error, loop.DeadlockError) and error.line is not None:
        line = error.line
    else:
        line, column = _place(error)
    clean = values.clean
    return ScriptError(clean(name), clean(message), line, column, clean(_stack(error)), _tool_error(error), warnings)


def _message(error) -> str:
    message = _text(error)
    seen, inner = 0, error.__cause__
    while inner is not None and seen < DEEPEST:
        message += f" (caused by {_headline(inner)})"
        seen, inner = seen + 1, inner.__cause__
    if isinstance(error, BaseExceptionGroup):
        shown = "; ".join(_headline(inner) for inner in error.exceptions[:5])
        more = len(error.exceptions) - 5
        message += f" [{shown}{f'; and {more} more' if more > 0 else ''}]"
    return message + _advice(error)


def _headline(error) -> str:
    text = _text(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _text(error) -> str:
    try:
        return str(error)
    except Exception:
        return "(its text cannot be made)"


NETWORK = frozenset("requests httpx aiohttp urllib3 websockets boto3 openai anthropic paramiko".split())
MISSING = frozenset("ssl ctypes mmap multiprocessing tkinter curses readline resource bz2 lzma fcntl termios".split())


def _advice(error) -> str:
    """What to do where a module is missing."""
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return ""
    name = error.name.partition(".")[0]
    packages = _packages()
    if name in NETWORK:
        return f": a script has no network; call a tool, catalog.search(query) finds one{packages and f'; {packages}'}"
    if name in MISSING:
        return ": this part of the standard library is not in the sandbox"
    if name in sys.modules:
        return ""  # the package is there, a module within it is not
    none = "this run has no packages beside the standard library"
    return f": nothing can be installed while a script runs, and {packages or none}"


def _packages() -> str:
    """Which packages the run has; the empty text if none."""
    try:
        found = metadata.distributions(path=[fresh.PACKAGES])
        names = sorted({f"{one.name} {one.version}" for one in found}, key=str.lower)
    # What is used here may be the script's own by now.
    except Exception:
        return ""
    if not names:
        return ""
    more = len(names) - MOST_PACKAGES
    return f"the packages of this run are {', '.join(names[:MOST_PACKAGES])}{f' and {more} more' if more > 0 else ''}"


def _own_frames(error):
    """(line, column) of each place of the script on the way to where it failed."""
    found = []
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        if code.co_filename == door.SCRIPT:
            found.append((step.tb_lineno, code, step.tb_lasti))
        step = step.tb_next
    return found


def _place(error):
    frames = _own_frames(error)
    if not frames:
        # An error that a task or a group carries shows its own way.
        for inner in getattr(error, "exceptions", ()):
            if (place := _place(inner)) != (None, None):
                return place
        return None, None
    line, code, at = frames[-1]
    column = None
    for index, (_, _, start, _) in enumerate(code.co_positions()):
        if index == at // 2:
            column = start
            break
    if column is not None:
        text = linecache.getline(door.SCRIPT, line)
        column = len(text.encode(errors="replace")[:column].decode(errors="replace")) + 1
    return line, column


def _stack(error) -> str:
    shown = traceback.TracebackException.from_exception(error, compact=True)
    _only_own(shown, 0)
    return "".join(shown.format()).rstrip("\n")


def _only_own(shown, depth):
    if shown is None or depth > DEEPEST:
        return
    if shown.stack is not None:
        own = [frame for frame in shown.stack if frame.filename == door.SCRIPT]
        if len(own) > MOST_FRAMES:
            own = own[: MOST_FRAMES // 2] + own[-MOST_FRAMES // 2 :]
        shown.stack = traceback.StackSummary.from_list(own) if own else None
    for inner in (shown.__cause__, shown.__context__, *(shown.exceptions or ())):
        _only_own(inner, depth + 1)


def _tool_error(error):
    """JSON text of the failed call that this error is, or that its group holds."""
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(_tool_error, error.exceptions)), None)
    if not isinstance(error, door.ToolError):
        return None
    parts = {"tool": error.tool, "code": error.code, "message": str(error), "retryable": bool(error.retryable)}
    if error.details is not None:
        parts["details"] = error.details
    try:
        return values.encode(parts, "the error", numbers=False)
    except Exception:
        plain = {key: str(parts[key]) for key in ("tool", "code", "message")}
        return json.dumps({**plain, "retryable": parts["retryable"]})
