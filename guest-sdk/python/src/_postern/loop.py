"""The event loop: `asyncio` as it is, but for what it sleeps on. The original wants a pair of sockets, which a
sandbox has not; this one waits for tool calls and timers in one poll of the host.
"""

import asyncio
import contextlib
import time
import types
from asyncio import events, tasks
from wit_world.imports import monotonic_clock, poll

from _postern import door

# How long a busy loop may go on before it looks for answers, in seconds.
GLANCE = 0.001
# How long after the end of a script what it began may still sleep, in seconds.
GRACE = 1.0


class DeadlockError(RuntimeError):
    """The script waits for something that cannot happen. `line` is where, if that is known."""

    line = None


DeadlockError.__module__ = "postern"


class _Selector:
    """What the loop takes for a selector of files."""

    def __init__(self):
        self._looked = 0.0

    def select(self, timeout=None):
        """Waits until a call has its answer or the time is over; hands answers out by itself."""
        calls = [call for call in door.flying if call._waiters]
        if timeout is not None and timeout <= 0:
            now = time.monotonic()
            if not calls or now - self._looked < GLANCE:
                return []
            self._looked = now
        elif timeout is None and not calls:
            raise _deadlock()
        pollables = [call._pollable for call in calls]
        alarm = None
        if timeout is not None:
            alarm = monotonic_clock.subscribe_duration(max(0, int(timeout * 1e9)))
            pollables.append(alarm)
        try:
            ready = poll.poll(pollables)
        finally:
            del pollables
            if alarm is not None:
                alarm.__exit__(None, None, None)
        for index in ready:
            if index < len(calls):
                calls[index]._take()
        return []

    def close(self):
        """There is nothing to close."""


def _deadlock():
    """The error, with the line of the script at which it waits."""
    error = DeadlockError(
        "the script waits for something that can never happen: nothing is pending, neither a tool call nor a timer"
    )
    for task in tasks.all_tasks(asyncio.get_running_loop()):
        step = task.get_coro()
        while step is not None:
            frame = getattr(step, "cr_frame", None)
            if frame is not None and frame.f_code.co_filename == door.SCRIPT:
                error.line = frame.f_lineno
            step = getattr(step, "cr_await", None)
    return error


class Loop(asyncio.BaseEventLoop):
    """The one kind of loop there is."""

    def __init__(self):
        super().__init__()
        self._selector = _Selector()

    def _process_events(self, _):
        """`select` has done it."""

    def _write_to_self(self):
        """Nobody else could wake this loop: there are no threads."""

    def create_task(self, coro, **options):
        if isinstance(coro, door.Call):
            coro = awaited(coro)
        return super().create_task(coro, **options)

    def run_until_complete(self, future):
        if isinstance(future, door.Call):
            future = awaited(future)
        with stepped_out():
            return super().run_until_complete(future)

    def run_in_executor(self, executor, func, *arguments):
        """Done at once: there are no threads."""
        future = self.create_future()
        try:
            future.set_result(func(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future

    def default_exception_handler(self, context):
        """What nobody looked at is told to the author when the run ends."""
        error = context.get("exception")
        if error is not None:
            unseen.append(error)
        else:
            super().default_exception_handler(context)


# Errors of tasks that nobody awaited.
unseen: list[BaseException] = []


async def awaited(call):
    """A coroutine, for what takes nothing else."""
    return await call


@contextlib.contextmanager
def stepped_out():
    """Lets a loop run within a task of another, which stands still meanwhile: `asyncio.run` in a script that is
    already asynchronous."""
    outer = events._get_running_loop()
    if outer is None:
        yield
        return
    task = tasks.current_task(outer)
    if task is not None:
        tasks._leave_task(outer, task)
    events._set_running_loop(None)
    try:
        yield
    finally:
        events._set_running_loop(outer)
        if task is not None:
            tasks._enter_task(outer, task)


def run(main, *, debug=None, loop_factory=None):
    """`asyncio.run`, also for the answer of a tool, and also within another loop."""
    if not isinstance(main, types.CoroutineType) and hasattr(type(main), "__await__"):
        main = awaited(main)
    with stepped_out(), asyncio.Runner(debug=debug, loop_factory=loop_factory or Loop) as runner:
        return runner.run(main)


async def settle():
    """Lets the tasks that a script began go on for as long as they wait for a call, or soon have slept enough."""
    own, loop = tasks.current_task(), asyncio.get_running_loop()
    end = loop.time() + GRACE
    await asyncio.sleep(0)
    while others := [task for task in tasks.all_tasks() if task is not own]:
        sleeping = any(not timer.cancelled() and timer.when() <= end for timer in loop._scheduled)
        if not (any(call._waiters for call in door.flying) or sleeping or loop._ready):
            return
        await asyncio.wait(others, timeout=0.02)


class _Policy(events._BaseDefaultEventLoopPolicy):
    """`asyncio.get_event_loop()` outside of a coroutine makes a loop, as it long did."""

    _loop_factory = Loop

    def get_event_loop(self):
        if self._local._loop is None:
            self.set_event_loop(self.new_event_loop())
        return self._local._loop


def install() -> None:
    """Puts this loop in the place of the original; when the component is built."""
    asyncio.run = asyncio.runners.run = run
    asyncio.new_event_loop = events.new_event_loop = Loop
    asyncio.SelectorEventLoop = asyncio.EventLoop = Loop
    events._event_loop_policy = _Policy()


install()
