## collections: Counter
from collections import Counter
c = Counter("mississippi")
print(c.most_common(2), c["x"], sorted((c - Counter("miss")).items()), c.total())
## collections: defaultdict and OrderedDict
from collections import OrderedDict, defaultdict
d = defaultdict(list)
for k, v in [("a", 1), ("b", 2), ("a", 3)]:
    d[k].append(v)
o = OrderedDict(d)
o.move_to_end("a")
print(dict(d), list(o), o.popitem(last=False))
## collections: deque
from collections import deque
q = deque(range(5), maxlen=5)
q.append(5)
q.rotate(2)
q.appendleft(9)
print(q, q.index(1))
## collections: namedtuple and ChainMap
from collections import ChainMap, namedtuple
P = namedtuple("P", "x y", defaults=[0])
print(P(1), P(1, 2)._asdict(), P(3)._replace(y=4), ChainMap({"a": 1}, {"a": 2, "b": 3})["b"])
## collections: UserDict and abc
from collections import UserDict
from collections.abc import Iterable, Mapping
class D(UserDict):
    def __getitem__(self, k): return super().__getitem__(k.lower())
print(D(a=1)["A"], isinstance({}, Mapping), isinstance(3, Iterable))
## itertools: chains and slices
from itertools import accumulate, chain, count, cycle, islice, pairwise, takewhile
print(list(islice(count(3, 2), 4)), list(chain([1], "ab")), list(accumulate([1, 2, 3], initial=10)), list(pairwise("abc")), list(takewhile(lambda x: x < 3, [1, 2, 5, 1])), list(islice(cycle("xy"), 5)))
## itertools: combinatorics
from itertools import combinations, combinations_with_replacement, permutations, product
print(list(combinations("abc", 2)), len(list(permutations(range(5)))), list(product("ab", [1, 2])), list(combinations_with_replacement("ab", 2)))
## itertools: groupby, tee, zip_longest, starmap
from itertools import compress, filterfalse, groupby, starmap, tee, zip_longest
print([(k, list(g)) for k, g in groupby("aabbc")], list(zip_longest([1, 2], "a", fillvalue="-")), list(starmap(pow, [(2, 3), (3, 2)])))
a, b = tee([1, 2])
print(list(a), list(b), list(compress("abc", [1, 0, 1])), list(filterfalse(lambda x: x % 2, range(5))))
## functools: reduce, partial, cache
from functools import cache, lru_cache, partial, reduce
@lru_cache(maxsize=2)
def f(n): return n * 2
f(1), f(1), f(2), f(3)
print(reduce(lambda a, b: a * b, range(1, 6)), partial(int, base=2)("101"), f.cache_info())
@cache
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(80))
## functools: singledispatch, wraps, total_ordering
from functools import cmp_to_key, singledispatch, total_ordering, wraps
@singledispatch
def kind(x): return "other"
@kind.register
def _(x: int): return "int"
def deco(f):
    @wraps(f)
    def g(): return f()
    return g
@deco
def named(): "doc"
@total_ordering
class V:
    def __init__(self, n): self.n = n
    def __eq__(self, o): return self.n == o.n
    def __lt__(self, o): return self.n < o.n
print(kind(1), kind("a"), named.__name__, named.__doc__, V(1) >= V(0), sorted([3, 1, 2], key=cmp_to_key(lambda a, b: b - a)))
## functools: cached_property
from functools import cached_property
class A:
    n = 0
    @cached_property
    def x(self):
        A.n += 1
        return 7
a = A()
print(a.x, a.x, A.n, a.__dict__)
## heapq
import heapq
h = [5, 1, 4]
heapq.heapify(h)
heapq.heappush(h, 2)
print([heapq.heappop(h) for _ in range(4)], heapq.nlargest(2, [3, 9, 4]), heapq.nsmallest(1, "bca"), list(heapq.merge([1, 4], [2, 3])))
## bisect
import bisect
l = [1, 3, 3, 5]
bisect.insort(l, 4)
print(l, bisect.bisect_left(l, 3), bisect.bisect_right(l, 3), bisect.bisect([r[0] for r in [(1, "a"), (4, "b")]], 2))
## array
from array import array
a = array("i", [1, 2, 3])
a.append(4)
print(a, a.tobytes()[:4], a.itemsize, array("d", [1.5]).tolist())
## operator
import operator
print(operator.itemgetter(1, 0)("ab"), operator.attrgetter("real")(3), operator.methodcaller("upper")("a"), operator.matmul.__name__)
## sorting: stable, keys, reverse
rows = [("b", 2), ("a", 2), ("c", 1)]
print(sorted(rows, key=lambda r: r[1]), sorted(rows, key=lambda r: (-r[1], r[0])), max(rows, key=lambda r: r[1]), sorted("bAc", key=str.lower, reverse=True))
## comprehensions
print([x * y for x in range(3) for y in range(3) if x != y], {k: v for v, k in enumerate("abc")}, sorted({x % 3 for x in range(10)}), sum(x for x in range(101)))
## dict: order, merge, views
d = {"b": 1} | {"a": 2}
d |= {"c": 3}
d.setdefault("d", []).append(1)
print(d, list(reversed(d)), d.keys() & {"a", "z"}, d.pop("b"), dict.fromkeys("xy", 0), list(d.items())[0])
## set operations
a, b = {1, 2, 3}, frozenset([3, 4])
print(sorted(a | b), a & b, sorted(a - b), sorted(a ^ b), a >= {1}, a.isdisjoint({9}))
## list: slices and methods
l = list(range(10))
l[2:5] = ["x"]
del l[::3]
print(l, l[::-1], l.index(6), [1, 2] * 2, [*range(3), *"ab"])
## unpacking
a, *b, c = range(5)
(x, y), z = (1, 2), 3
print(a, b, c, x, y, z, {**{"a": 1}, "b": 2}, [*{"k": 1}])
## generators
def g():
    got = yield 1
    print("got", got)
    try:
        yield 2
    finally:
        print("closed")
i = g()
print(next(i), i.send("x"))
i.close()
## generators: yield from and return
def inner():
    yield 1
    return "r"
def outer():
    x = yield from inner()
    yield x
print(list(outer()))
## copy
import copy
a = [1, [2, 3], {"k": [4]}]
b, c = copy.copy(a), copy.deepcopy(a)
a[1].append(9)
print(b, c)
## pickle
import datetime, pickle
data = {"a": [1, (2, 3)], "d": datetime.date(2026, 1, 2), "s": {1}, "b": b"x", "f": 1.5}
print(pickle.loads(pickle.dumps(data)) == data, len(pickle.dumps(data, 0)) > 0)
## shelve-like: marshal
import marshal
print(marshal.loads(marshal.dumps([1, "a", None, 2.5, (True,)])))
## struct
import struct
p = struct.pack(">IhB4s", 1, -2, 255, b"ab")
print(p, struct.unpack(">IhB4s", p), struct.calcsize("<qd"), list(struct.iter_unpack("<H", b"\x01\x00\x02\x00")))
## sqlite3: tables and joins
import sqlite3
c = sqlite3.connect(":memory:")
c.executescript("create table p(id integer primary key, n text); create table o(p int, v real); insert into p values (1,'ann'),(2,'bob'); insert into o values (1,2.5),(1,3.5),(2,1)")
print(c.execute("select n, sum(v) from p join o on o.p = p.id group by n order by n").fetchall())
## sqlite3: parameters, rows, rollback
import sqlite3
c = sqlite3.connect(":memory:")
c.row_factory = sqlite3.Row
c.execute("create table t(a, b)")
c.executemany("insert into t values (?, ?)", [(i, str(i)) for i in range(3)])
c.commit()
c.execute("delete from t")
c.rollback()
row = c.execute("select * from t where a = :x", {"x": 2}).fetchone()
print(row.keys(), tuple(row), c.total_changes)
## sqlite3: functions and errors
import sqlite3
c = sqlite3.connect(":memory:")
c.create_function("twice", 1, lambda x: x * 2)
print(c.execute("select twice(21), upper('é'), json_extract('{\"a\":[1,2]}', '$.a[1]')").fetchone())
try:
    c.execute("select * from nope")
except sqlite3.OperationalError as error:
    print(error)
## hashlib
import hashlib
for name in ("md5", "sha1", "sha256", "sha512", "blake2b", "sha3_256"):
    print(name, hashlib.new(name, b"abc").hexdigest()[:32])
print(hashlib.blake2s(b"x", digest_size=8, key=b"k").hexdigest())
## hmac and secrets
import hmac, secrets
print(hmac.new(b"k", b"m", "sha256").hexdigest()[:16], hmac.compare_digest("a", "a"), len(secrets.token_hex(8)))
## base64 and binascii
import base64, binascii
print(base64.b64encode(b"\xff\x00hi"), base64.urlsafe_b64decode("_wBoaQ=="), base64.b32encode(b"a"), base64.b85encode(b"abcd"), binascii.crc32(b"abc"), binascii.hexlify(b"ab", "-"))
## zlib
import zlib
z = zlib.compress(b"a" * 1000, 9)
d = zlib.decompressobj()
print(len(z) < 30, d.decompress(z[:5]) + d.decompress(z[5:]) == b"a" * 1000, zlib.adler32(b"x"))
## gzip
import gzip, io
b = gzip.compress(b"hello" * 10, mtime=0)
with gzip.open(io.BytesIO(b), "rt") as f:
    print(f.read()[:10])
## zipfile
import io, zipfile
b = io.BytesIO()
with zipfile.ZipFile(b, "w", zipfile.ZIP_DEFLATED) as z:
    z.writestr("a/b.txt", "x" * 100)
with zipfile.ZipFile(b) as z:
    print(z.namelist(), z.read("a/b.txt")[:3], z.getinfo("a/b.txt").file_size, z.testzip())
## tarfile
import io, tarfile
b = io.BytesIO()
with tarfile.open(fileobj=b, mode="w:gz") as t:
    i = tarfile.TarInfo("n.txt")
    i.size = 3
    t.addfile(i, io.BytesIO(b"abc"))
b.seek(0)
with tarfile.open(fileobj=b) as t:
    print(t.getnames(), t.extractfile("n.txt").read())
## io
import io
t = io.TextIOWrapper(io.BytesIO(b"a\r\nb\n"), newline=None)
print(t.readlines(), io.StringIO("x\ny").read(2))
s = io.BytesIO(b"0123456789")
s.seek(-3, 2)
print(s.read(), s.tell(), io.BufferedReader(s).seekable())
## weakref and gc
import gc, weakref
class A: pass
a = A()
w, d = weakref.ref(a), weakref.WeakValueDictionary(k=a)
del a
gc.collect()
print(w(), dict(d))
## graphlib
from graphlib import CycleError, TopologicalSorter
print(list(TopologicalSorter({"c": ["b"], "b": ["a"]}).static_order()))
try:
    TopologicalSorter({"a": ["b"], "b": ["a"]}).prepare()
except CycleError as error:
    print(error.args[0])
## queue
import queue
q = queue.PriorityQueue()
for x in (3, 1, 2): q.put(x)
print([q.get() for _ in range(3)], q.empty())
try:
    queue.Queue().get_nowait()
except queue.Empty:
    print("empty")
## colorsys and imghdr-less
import colorsys
print(tuple(round(x, 4) for x in colorsys.rgb_to_hsv(0.2, 0.4, 0.6)))
## wave
import io, wave
b = io.BytesIO()
with wave.open(b, "wb") as w:
    w.setnchannels(1); w.setsampwidth(2); w.setframerate(8000); w.writeframes(b"\0\0" * 4)
b.seek(0)
with wave.open(b) as w:
    print(w.getparams())
## plistlib
import plistlib
print(plistlib.loads(plistlib.dumps({"a": [1, True, "x"], "d": b"z"})))
