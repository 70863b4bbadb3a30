"""What must not be the same in every run although all begin from one snapshot: random numbers, and what the
machine that built it left behind.
"""

import builtins
import gc
import io
import os
import random
import sys
import warnings

HOME = "/workspace"
# The packages of the run's profile, where it has any.
PACKAGES = "/packages"


class _Whole(io.FileIO):
    """Writes all that it is given: the host takes 64 KiB at a time, and above it is no buffer that would go on."""

    def write(self, data):
        rest, done = memoryview(data).cast("B"), 0
        while done < len(rest):
            done += super().write(rest[done:])
        return done


def freeze() -> None:
    """Last step of building: forgets the machine that did it, and takes what is there out of the collector's
    sight, so that a collection in a run looks at what the script made and nothing else."""
    sys.orig_argv[:] = ["python", "script.py"]
    sys.path[:] = []
    sys.dont_write_bytecode = True
    os._exit = _exit
    # Python's own are made by `site`, which a run has not.
    builtins.exit = builtins.quit = sys.exit
    for name in ("stdout", "stderr"):
        raw = _Whole(getattr(sys, name).fileno(), "w", closefd=False)
        raw.name = f"<{name}>"
        # What is written goes out at once: a run that ends at a limit has no time to flush.
        stream = io.TextIOWrapper(raw, "utf-8", "backslashreplace", "\n", line_buffering=True, write_through=True)
        stream.mode = "w"
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    warnings.resetwarnings()
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    warnings.filterwarnings("ignore", category=PendingDeprecationWarning)
    warnings.filterwarnings("ignore", category=ImportWarning)
    warnings.filterwarnings("ignore", category=ResourceWarning)
    gc.collect()
    gc.freeze()


def begin() -> None:
    """First step of a run."""
    random.seed(os.urandom(32))
    # Starting has filled it from the host's arguments, of which there are none.
    sys.argv[:] = ["script.py"]
    # The host gives a run no environment; these two are what the library asks for.
    os.environ.update(HOME=HOME, TMPDIR=HOME)
    try:
        os.chdir(HOME)
    except OSError:
        pass  # a host without that folder
    if os.path.isdir(PACKAGES):
        sys.path.append(PACKAGES)


def _exit(status):
    """Without this it would end the runtime, and with it what is left to report."""
    raise SystemExit(status)
