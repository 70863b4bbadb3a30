"""Postern's Python runner: CPython behind one export, `run-source`, and one door out.

- `_postern.library` imports the standard library, once, when the component is built
- `_postern.door` makes tool calls and their errors
- `_postern.loop` is the event loop that waits for calls and timers
- `_postern.script` takes one script from text to its value
- `_postern.values` turns values into JSON text
- `_postern.failure` turns an exception into what its author can use
- `_postern.fresh` makes each run start afresh

This module is imported when the component is built, and every run starts from a copy of the memory that
this left. So nothing here may keep a handle of the host, draw a random number or read a clock before a run
has begun.
"""

from _postern import library  # first: what the others import is meant to be in the snapshot whole

import wit_world

from _postern import fresh, script

library.prepare()
fresh.freeze()


class WitWorld(wit_world.WitWorld):
    """What the component exports."""

    def run_source(self, source: str) -> wit_world.Completion:
        return script.run(source)
