## asyncio: gather keeps order
import asyncio
async def f(n):
    await asyncio.sleep(0.03 - n * 0.01)
    return n
async def main():
    print(await asyncio.gather(*(f(n) for n in range(3))))
asyncio.run(main())
## asyncio: gather with errors
import asyncio
async def f(n):
    if n == 1: raise ValueError("one")
    return n
async def main():
    print([repr(r) for r in await asyncio.gather(f(0), f(1), f(2), return_exceptions=True)])
    try:
        await asyncio.gather(f(0), f(1))
    except ValueError as error:
        print(error)
asyncio.run(main())
## asyncio: tasks and cancellation
import asyncio
async def f():
    try:
        await asyncio.sleep(10)
    except asyncio.CancelledError:
        print("cancelled")
        raise
async def main():
    t = asyncio.create_task(f())
    await asyncio.sleep(0)
    t.cancel()
    try:
        await t
    except asyncio.CancelledError:
        print(t.cancelled(), t.done())
asyncio.run(main())
## asyncio: wait_for and timeout
import asyncio
async def main():
    try:
        await asyncio.wait_for(asyncio.sleep(5), 0.01)
    except asyncio.TimeoutError:
        print("late")
    try:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(5)
    except TimeoutError:
        print("too late")
asyncio.run(main())
## asyncio: task group
import asyncio
async def f(n): return n * 2
async def main():
    async with asyncio.TaskGroup() as g:
        a, b = g.create_task(f(1)), g.create_task(f(2))
    print(a.result(), b.result())
asyncio.run(main())
## asyncio: task group with an error
import asyncio
async def bad(): raise ValueError("x")
async def main():
    try:
        async with asyncio.TaskGroup() as g:
            g.create_task(bad())
            g.create_task(asyncio.sleep(10))
    except* ValueError as e:
        print(len(e.exceptions))
asyncio.run(main())
## asyncio: queue and workers
import asyncio
async def main():
    q, out = asyncio.Queue(), []
    async def work():
        while True:
            x = await q.get()
            out.append(x * x)
            q.task_done()
    ws = [asyncio.create_task(work()) for _ in range(3)]
    for i in range(10): q.put_nowait(i)
    await q.join()
    for w in ws: w.cancel()
    print(sorted(out))
asyncio.run(main())
## asyncio: lock, event, semaphore, condition
import asyncio
async def main():
    lock, event, most, now = asyncio.Lock(), asyncio.Event(), 0, 0
    sem = asyncio.Semaphore(2)
    async def f():
        nonlocal most, now
        await event.wait()
        async with sem:
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.005)
            now -= 1
    ts = [asyncio.create_task(f()) for _ in range(6)]
    async with lock: event.set()
    await asyncio.gather(*ts)
    print(most, lock.locked())
asyncio.run(main())
## asyncio: as_completed and wait
import asyncio
async def f(n):
    await asyncio.sleep(n / 100)
    return n
async def main():
    print([await x for x in asyncio.as_completed([f(3), f(1), f(2)])])
    done, pending = await asyncio.wait([asyncio.create_task(f(1)), asyncio.create_task(f(9))], return_when=asyncio.FIRST_COMPLETED)
    print(len(done), len(pending))
    for p in pending: p.cancel()
asyncio.run(main())
## asyncio: futures and callbacks
import asyncio
async def main():
    loop = asyncio.get_running_loop()
    f = loop.create_future()
    f.add_done_callback(lambda f: print("done", f.result()))
    loop.call_later(0.01, f.set_result, 5)
    print(await f)
    loop.call_soon(print, "soon")
    await asyncio.sleep(0)
asyncio.run(main())
## asyncio: shield
import asyncio
async def f():
    await asyncio.sleep(0.02)
    return "kept"
async def main():
    t = asyncio.create_task(f())
    try:
        await asyncio.wait_for(asyncio.shield(t), 0.005)
    except TimeoutError:
        print("late", await t)
asyncio.run(main())
## async generators and comprehensions
import asyncio
async def g():
    for i in range(4):
        await asyncio.sleep(0)
        yield i
async def main():
    print([i async for i in g() if i % 2], {i: i async for i in g()})
    async for i in g():
        if i == 1: break
    print(i)
asyncio.run(main())
## async context managers
import asyncio, contextlib
class C:
    async def __aenter__(self): print("in"); return self
    async def __aexit__(self, *a): print("out", a[0].__name__ if a[0] else None); return True
@contextlib.asynccontextmanager
async def c():
    yield "y"
async def main():
    async with C(), c() as y:
        print(y)
        raise ValueError
asyncio.run(main())
## asyncio: to_thread and executors
import asyncio
async def main():
    print(await asyncio.to_thread(sum, [1, 2]), await asyncio.get_running_loop().run_in_executor(None, max, 3, 4))
asyncio.run(main())
## asyncio: loops by hand
import asyncio
async def f(): return 3
loop = asyncio.new_event_loop()
print(loop.run_until_complete(f()), loop.is_running())
loop.close()
print(loop.is_closed())
## asyncio: order of callbacks
import asyncio
async def main():
    seen = []
    loop = asyncio.get_running_loop()
    loop.call_later(0.02, seen.append, "later")
    loop.call_soon(seen.append, "soon")
    seen.append("now")
    await asyncio.sleep(0.04)
    print(seen)
asyncio.run(main())
## contextvars
import asyncio, contextvars
v = contextvars.ContextVar("v", default=0)
async def f(n):
    v.set(n)
    await asyncio.sleep(0)
    return v.get()
async def main(): print(await asyncio.gather(f(1), f(2)), v.get())
asyncio.run(main())
print(contextvars.copy_context().run(lambda: v.set(9) and v.get()), v.get())
## asyncio: a stream reader fed by hand
import asyncio
async def main():
    r = asyncio.StreamReader()
    r.feed_data(b"one\ntwo")
    r.feed_eof()
    print(await r.readline(), await r.read())
asyncio.run(main())
## concurrent.futures
from concurrent.futures import ThreadPoolExecutor, as_completed
with ThreadPoolExecutor(max_workers=3) as e:
    print(list(e.map(lambda x: x * x, range(5))), sorted(f.result() for f in as_completed([e.submit(pow, 2, n) for n in range(4)])))
    print(repr(e.submit(int, "x").exception()))
