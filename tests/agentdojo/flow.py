"""Writes a list of known calls as a script that gets its values the way a generated script would.

A planner that writes a script before anything has run knows the user's words and nothing else. So a value of an
argument is written as

1. a literal, where the user's words hold it;
2. a read of an earlier result, where that holds it as a whole value: `r0.result[2].id_`;
3. a cut out of an earlier result's text: `r1.slice(210, 232)`;
4. a text put together from such pieces and literals between them;
5. a literal, where all that fails: the planner made it up.

Short values are looked for in results before the user's words, since a short text is easily in there by accident.
Values of a hijacker's calls are read from the planted text first, from other results next, and never taken from the
user's words before those.

Only Python's own library may be used here, and nothing in here may know a tool or a suite.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any, Iterator

# A shorter text is looked for in results before the user's words.
LONG_ENOUGH = 4
# A piece of a longer text counts as coming from a result from this length on, in characters ...
PIECE = 12
# ... or from LONG_ENOUGH on, when it holds one of these: it is an address, a number, a date or a path then.
TELLING = re.compile(r"[0-9@/]")
# Words, numbers, addresses, dates, paths, and each character between them: a piece never ends within one.
TOKEN = re.compile(r"\w(?:[\w@/:.+-]*\w)?|\W")
NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z")


@dataclass
class Step:
    """One call: what is called, with which arguments, what a script sees as its result in a run without any gate."""

    tool: str
    args: dict[str, Any]
    result: Any = None
    # Whether a hijacker added it.
    injected: bool = False


@dataclass
class Leaf:
    """A value in a result: how a script reads it, its field's name, and the stretches that somebody planted."""

    read: str
    name: str
    value: Any
    planted: list[tuple[int, int]] = field(default_factory=list)


def script(server: str, steps: list[Step], words: str, planted: list[re.Pattern[str]]) -> str:
    """The script. It notes each call it makes on standard output by its number, goes on after an error, and returns
    the errors as `[number, code, message]`."""
    lines = ["const missed = [];"]
    if steps:
        lines.append(f"let {', '.join(f'r{number}' for number in range(len(steps)))};")
    seen: list[Leaf] = []
    for number, step in enumerate(steps):
        arguments = Writer(seen, words, step.injected).write(step.args)
        lines += [
            "try {",
            f"  const given = {arguments};",
            f"  console.log({number});",
            f"  r{number} = await {member(f'tools.{server}', step.tool)}(given);",
            f"}} catch (error) {{ missed.push([{number}, error.code ?? error.name, error.message]); }}",
        ]
        # Later results come first: a script works with what it has just read.
        seen = [leaf for leaf in leaves(f"r{number}", step.result, planted)] + seen
    lines.append("return { missed };")
    return "\n".join(lines) + "\n"


def leaves(read: str, value: Any, planted: list[re.Pattern[str]]) -> Iterator[Leaf]:
    """Every text and number of a result, names of fields last."""
    keys: list[Leaf] = []
    yield from _leaves(read, "", value, planted, keys)
    yield from keys


def _leaves(read: str, name: str, value: Any, planted: list[re.Pattern[str]], keys: list[Leaf]) -> Iterator[Leaf]:
    if isinstance(value, dict):
        for at, (key, inner) in enumerate(value.items()):
            yield from _leaves(member(read, key), key, inner, planted, keys)
            keys.append(Leaf(f"Object.keys({read})[{at}]", "", key))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _leaves(f"{read}[{at}]", name, inner, planted, keys)
    elif isinstance(value, str):
        yield Leaf(read, name, value, [found.span() for pattern in planted for found in pattern.finditer(value)])
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield Leaf(read, name, value)


def member(of: str, name: str) -> str:
    return f"{of}.{name}" if NAME.match(name) else f"{of}[{json.dumps(name)}]"


def literal(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def units(text: str) -> int:
    """The length as JavaScript counts it."""
    return len(text.encode("utf-16-le")) // 2


def whole(text: str, start: int, end: int) -> bool:
    """Whether neither a word nor a number is cut through at either end."""

    def inside(at: int) -> bool:
        return 0 < at < len(text) and bool(re.match(r"\d\d|[^\W\d]{2}", text[at - 1 : at + 1]))

    return not inside(start) and not inside(end)


def places(part: str, text: str) -> Iterator[tuple[int, int]]:
    """Where `part` stands in `text` as whole words."""
    start = text.find(part)
    while start >= 0:
        if whole(text, start, start + len(part)):
            yield start, start + len(part)
        start = text.find(part, start + 1)


class Writer:
    """Writes the arguments of one call."""

    def __init__(self, seen: list[Leaf], words: str, injected: bool):
        self.seen, self.words, self.injected = seen, words, injected

    def write(self, value: Any, name: str = "") -> str:
        if isinstance(value, dict):
            return "{ " + ", ".join(f"{literal(k)}: {self.write(v, k)}" for k, v in value.items()) + " }"
        if isinstance(value, list):
            return "[" + ", ".join(self.write(inner, name) for inner in value) + "]"
        if isinstance(value, str):
            return self.text(value, name)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return self.number(value, name)
        return literal(value)

    def text(self, value: str, name: str) -> str:
        if not value.strip():
            return literal(value)
        if not self.injected and len(value) >= LONG_ENOUGH and self.said(value):
            return literal(value)
        found = self.leaf(value, name)
        if found:
            return found
        if not self.injected and self.said(value):
            return literal(value)
        return self.cut(value) or self.pieces(value)

    def number(self, value: int | float, name: str) -> str:
        forms = list(dict.fromkeys([literal(value), f"{value:.2f}", f"{value:,.2f}", f"{value:,}", f"{value:g}"]))
        if not self.injected and any(self.said(form) for form in forms):
            return literal(value)
        # One digit is anywhere: only a field of the argument's own name makes it more than an accident.
        accident = len(f"{value:g}") < 2
        found = self.leaf(value, name, accident)
        if found:
            return found
        for form in [] if accident else forms:
            cut = self.cut(form)
            if cut:
                return f'Number({cut}.replaceAll(",", ""))'
        return literal(value)

    def said(self, text: str) -> bool:
        return next(places(text, self.words), None) is not None

    def leaf(self, value: Any, name: str, only_named: bool = False) -> str | None:
        """A read of a whole value, best of a field with the argument's name. Who is no hijacker reads none that
        holds planted text."""
        other = None
        for leaf in self.seen:
            alike = isinstance(leaf.value, str) == isinstance(value, str) and leaf.value == value
            if not alike or (leaf.planted and not self.injected):
                continue
            if leaf.name.strip("_") == name.strip("_") != "":
                return leaf.read
            other = other or leaf.read
        return None if only_named else other

    def cut(self, value: str) -> str | None:
        """A cut out of a longer text: of the planted stretches first for a hijacker, never of them for others."""
        best = None
        for leaf in self.seen:
            if not isinstance(leaf.value, str):
                continue
            for start, end in places(value, leaf.value):
                inside = any(a <= start and end <= b for a, b in leaf.planted)
                touching = any(a < end and start < b for a, b in leaf.planted)
                if inside and self.injected or not touching and not self.injected:
                    return sliced(leaf, start, end)
                if best is None and self.injected:
                    best = sliced(leaf, start, end)
        return best

    def pieces(self, value: str) -> str:
        """A text put together from the longest pieces that results hold, and literals."""
        tokens = [token.span() for token in TOKEN.finditer(value)]
        parts: list[tuple[bool, str]] = []
        at = 0
        while at < len(tokens):
            start, end = tokens[at]
            cut, after = None, at + 1
            # A result that holds a stretch holds each shorter one, so the first miss ends the search.
            for to in range(at, len(tokens)):
                longer = self.cut(value[start : tokens[to][1]])
                if longer is None:
                    break
                cut, end, after = longer, tokens[to][1], to + 1
            piece = value[start:end]
            telling = len(piece) >= PIECE or (len(piece) >= LONG_ENOUGH and TELLING.search(piece))
            if cut and telling and (self.injected or not self.said(piece)):
                parts.append((True, cut))
            elif cut and telling:
                parts.append((False, piece))
            else:
                parts.append((False, value[slice(*tokens[at])]))
                after = at + 1
            at = after
        return joined(parts)


def sliced(leaf: Leaf, start: int, end: int) -> str:
    return f"{leaf.read}.slice({units(leaf.value[:start])}, {units(leaf.value[:end])})"


def joined(parts: list[tuple[bool, str]]) -> str:
    """An expression, literals side by side made one."""
    merged: list[tuple[bool, str]] = []
    for read, text in parts:
        if merged and not read and not merged[-1][0]:
            merged[-1] = (False, merged[-1][1] + text)
        else:
            merged.append((read, text))
    return " + ".join(text if read else literal(text) for read, text in merged)
