## sizes are 32 bits wide
import sys
print(sys.maxsize)
try: list(range(10**18))
except (OverflowError, MemoryError) as e: print(type(e).__name__)
---
2147483647
OverflowError
## hashes are narrow
print(all(abs(hash(text)) < 2**31 for text in ["a", "b", "c"]))
---
True
## no threads, no processes
import multiprocessing, threading, subprocess
process = lambda: multiprocessing.get_context("spawn").Process(target=int).start()
for job in (threading.Thread(target=int).start, lambda: subprocess.run(["true"]), process):
    try: job(); print("fine")
    except Exception as e: print("refused")
---
refused
refused
refused
## arguments and the environment
import os, sys
print(sys.argv, sorted(os.environ))
---
['script.py'] ['HOME', 'TMPDIR']
## modules that are not there
for name in ["ssl", "ctypes", "bz2", "mmap"]:
    try: __import__(name); print(name)
    except ModuleNotFoundError: print("no", name)
---
no ssl
no ctypes
no bz2
no mmap
## a run within a run
import asyncio
async def inner(): return 5
async def outer(): return asyncio.run(inner())
try: print(asyncio.run(outer()))
except RuntimeError as e: print("refused")
---
5
## no network
import socket
try: socket.create_connection(("127.0.0.1", 9), 1)
except OSError as e: print(type(e).__name__)
---
PermissionError
## packages from elsewhere
try: import pip; print("pip")
except ModuleNotFoundError: print("no pip")
---
no pip
