"""Between Python's values and JSON text: what a tool answers, what it is given, and what a script leaves behind.
An error names the place in the value where it cannot be done.
"""

import dataclasses
import datetime
import decimal
import enum
import json
import math
import pathlib
import types
import uuid

MOST_NOTES = 12


class Record(dict):
    """An object that a tool answered: a dict whose items are attributes too. A name that dict itself has
    (`items`, `keys`, `get`...) is always dict's; the item is `record["items"]`."""

    __slots__ = ()

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            pass
        # What looks for special methods is told in as few words as it expects.
        if name.startswith("__"):
            raise AttributeError(name)
        known = ", ".join(map(repr, list(self)[:MOST_NOTES])) or "nothing"
        raise AttributeError(f"there is no {name!r} in this result; it has {known}", name=name, obj=self)

    def __setattr__(self, name, value):
        self[name] = value

    def __delattr__(self, name):
        try:
            del self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __copy__(self):
        return Record(self)

    def copy(self):
        """A shallow copy, of the same kind."""
        return Record(self)

    def __reduce__(self):
        # Elsewhere it is a plain dict.
        return (dict, (dict(self),))


def decode(text: str):
    """What a tool answered."""
    return json.loads(text, object_hook=Record)


def clean(text: str) -> str:
    """The text with nothing in it that is no character: half a surrogate pair cannot leave the sandbox."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def encode(value, subject: str, *, numbers: bool) -> str:
    """JSON text of `value`. `subject` begins the error, as in "the returned value". With `numbers`, what is no
    number in JSON (NaN) is an error; without it, it becomes null, as in JavaScript.
    """
    try:
        try:
            text = json.dumps(value, default=_plain, allow_nan=False, ensure_ascii=False)
        except ValueError as error:
            if numbers or "Out of range float" not in str(error):
                raise
            text = json.dumps(_finite(value), default=_plain, allow_nan=False, ensure_ascii=False)
    except RecursionError:
        raise RecursionError(f"{subject} is nested too deep") from None
    except (TypeError, ValueError) as error:
        what = str(error)
        if "Circular reference" in what:
            what = "itself (a cycle): return only the parts you need"
        elif "Out of range float" in what:
            what = "a number that JSON does not know (nan or inf)"
        elif "keys must be" in what:
            what = "a key that is no text: convert it with str(...)"
        elif not isinstance(error, _NoJson):
            raise
        raise type(error)(f"{subject} holds {what}{_place(error)}") from None
    return clean(text)


class _NoJson(TypeError):
    """A value without a form in JSON; its text says what it is and what to do."""


# To a script it is a TypeError like any other.
_NoJson.__name__ = _NoJson.__qualname__ = "TypeError"
_NoJson.__module__ = "builtins"


def _place(error: BaseException) -> str:
    """Where in the value it was, from the notes that `json` leaves on its way out."""
    path = ""
    for note in getattr(error, "__notes__", ()):
        if note.startswith("when serializing ") and " item " in note:
            key = note.partition(" item ")[2]
            path = f"[{key}]{path}"
    return f", at {path[:200]}" if path else ""


def _plain(value):
    """What `json` does not know, in parts that it does."""
    from _postern import door

    match value:
        case door.Call():
            return value._wait()
        case datetime.datetime() | datetime.date() | datetime.time():
            return value.isoformat()
        case datetime.timedelta():
            return value.total_seconds()
        case decimal.Decimal():
            return _number(value)
        case uuid.UUID() | pathlib.PurePath():
            return str(value)
        case enum.Enum():
            return value.value
        case set() | frozenset():
            try:
                return sorted(value)
            except TypeError:
                return list(value)
        case BaseException():
            return describe_error(value)
        case types.SimpleNamespace():
            return vars(value)
        case types.MappingProxyType():
            return dict(value)
        case bytes() | bytearray() | memoryview():
            raise _NoJson("bytes: decode them, or write them to a file under /out")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, type):
        raise _NoJson(f"the class {value.__name__}: make an instance of it, or leave it out")
    if isinstance(value, types.CoroutineType):
        raise _NoJson("a coroutine: await it first")
    if callable(value):
        raise _NoJson("a function: call it, or leave it out")
    if hasattr(value, "keys") and hasattr(value, "__getitem__"):
        return {key: value[key] for key in value.keys()}
    if hasattr(value, "__iter__"):
        return list(value)
    raise _NoJson(f"{article(type(value).__name__)}, which has no form in JSON")


def article(kind: str) -> str:
    """The word with its article."""
    return f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}"


def _number(value: decimal.Decimal):
    """The number, where that says the same; else its text."""
    if value.is_finite():
        if value == value.to_integral_value() and value.as_tuple().exponent == 0:
            return int(value)
        if decimal.Decimal(repr(float(value))) == value:
            return float(value)
    return str(value)


def _finite(value):
    """The same with None for what is no number."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    if value is None or isinstance(value, (str, int)):
        return value
    return _finite(_plain(value))


def describe_error(error: BaseException) -> dict:
    """An error as data, for a script that returns what it caught."""
    data = {"name": type(error).__name__, "message": str(error)}
    for key in ("code", "tool", "retryable", "details"):
        if (value := getattr(error, key, None)) is not None:
            data[key] = value
    if error.__cause__ is not None:
        data["cause"] = describe_error(error.__cause__)
    return data
