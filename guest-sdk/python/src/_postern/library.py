"""The standard library, imported whole when the component is built: what is not in the snapshot cannot be
imported later, for a run has no files of its own. Also the changes that it needs in a world without threads,
sockets and files of time zones. Nothing here runs during a script.
"""

import importlib
import io
import pkgutil
import sys

# No use without a screen, another process or a network, or only a greeting.
LEFT_OUT = frozenset(
    """antigravity curses ensurepip idlelib lib2to3 multiprocessing pty pydoc_data this tkinter tty turtle
    turtledemo venv""".split()
)
# Submodules that end in these are for other machines, or are programs.
FOREIGN = ("__main__", "mbcs", "oem", "cp65001", "windows_events", "windows_utils", "_test", "popen_spawn_win32")


def prepare() -> None:
    """Imports everything, and fits it to the sandbox."""
    for name in sorted(sys.stdlib_module_names):
        if name in LEFT_OUT or name.startswith(("_test", "_xx", "xx")) or name in ("__main__", "__hello__", "__phello__"):
            continue
        module = _import(name)
        if module is not None and hasattr(module, "__path__"):
            for inner in pkgutil.walk_packages(module.__path__, name + ".", onerror=lambda _: None):
                if not inner.name.endswith(FOREIGN) and ".test" not in inner.name:
                    _import(inner.name)
    _time_zones()
    _executors()


def _import(name: str):
    try:
        return importlib.import_module(name)
    # Some of them raise whatever they like where their platform is missing.
    except (Exception, SystemExit):
        return None


def _time_zones() -> None:
    """Keeps the data of the package `tzdata` in memory and lets `zoneinfo` find it there."""
    import importlib.resources
    import zoneinfo
    from zoneinfo import _common

    root = importlib.resources.files("tzdata").joinpath("zoneinfo")
    keys = importlib.resources.files("tzdata").joinpath("zones").read_text("utf-8").split()
    data = {key: root.joinpath(*key.split("/")).read_bytes() for key in keys}
    # The list is kept once; neither it nor the data is a script's to change.
    known = frozenset(data)

    def load_tzdata(key):
        found = data.get(key)
        if found is None:
            raise zoneinfo.ZoneInfoNotFoundError(f"No time zone found with key {key}")
        return io.BytesIO(found)

    _common.load_tzdata = load_tzdata
    zoneinfo.available_timezones = lambda: set(known)
    zoneinfo.TZPATH = ()
    for name in [name for name in sys.modules if name == "tzdata" or name.startswith("tzdata.")]:
        del sys.modules[name]


def _executors() -> None:
    """There are no threads: what is handed to a pool of them is done at once, by whoever hands it over."""
    import concurrent.futures
    from concurrent.futures import thread

    class ThreadPoolExecutor(concurrent.futures.Executor):
        """As the original, but its work is done within `submit`: there are no threads here."""

        def __init__(self, max_workers=None, thread_name_prefix="", initializer=None, initargs=()):
            if max_workers is not None and max_workers <= 0:
                raise ValueError("max_workers must be greater than 0")
            self._closed = False
            if initializer is not None:
                initializer(*initargs)

        def submit(self, fn, /, *args, **kwargs):
            if self._closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            future = concurrent.futures.Future()
            future.set_running_or_notify_cancel()
            try:
                future.set_result(fn(*args, **kwargs))
            except Exception as error:
                future.set_exception(error)
            return future

        def shutdown(self, wait=True, *, cancel_futures=False):
            self._closed = True

    ThreadPoolExecutor.__module__ = "concurrent.futures.thread"
    ThreadPoolExecutor.__qualname__ = "ThreadPoolExecutor"
    concurrent.futures.ThreadPoolExecutor = thread.ThreadPoolExecutor = ThreadPoolExecutor
