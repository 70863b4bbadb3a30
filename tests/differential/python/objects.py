## dataclasses
from dataclasses import asdict, dataclass, field, replace
@dataclass(order=True)
class P:
    x: int
    tags: list = field(default_factory=list, compare=False)
    y: int = 2
p = P(1, ["a"])
print(p, asdict(p), replace(p, x=5), P(1) < P(2), P(1) == P(1, ["z"]))
## dataclasses: frozen, slots, post init
from dataclasses import FrozenInstanceError, InitVar, dataclass, fields
@dataclass(frozen=True, slots=True, kw_only=True)
class Q:
    a: int
    b: InitVar[int] = 3
    def __post_init__(self, b): object.__setattr__(self, "a", self.a + b)
q = Q(a=1)
print(q, hash(q) == hash(Q(a=1)), [f.name for f in fields(q)])
try:
    q.a = 2
except FrozenInstanceError as error:
    print(error)
## enum
from enum import Enum, Flag, IntEnum, auto, unique
class C(Enum):
    RED = auto()
    BLUE = auto()
class F(Flag):
    A = 1
    B = 2
class I(IntEnum):
    LOW = 1
print(C.RED, C["BLUE"].value, C(1).name, list(C), F.A | F.B, F.A in (F.A | F.B), I.LOW < 2, C.RED is C(1))
## enum: errors and StrEnum
from enum import Enum, StrEnum
class S(StrEnum):
    ON = "on"
print(S.ON == "on", f"{S.ON}", S("on"))
try:
    S("off")
except ValueError as error:
    print(error)
## typing
from typing import Literal, NamedTuple, Optional, TypedDict, get_args, get_type_hints
class R(TypedDict):
    a: int
class N(NamedTuple):
    x: int
    y: str = "d"
def f(a: int, b: Optional[str] = None) -> list[int]: ...
print(get_args(Literal["a", 1]), N(1), R(a=1), get_type_hints(f)["return"], R.__required_keys__)
## typing: generics and protocols
from typing import Generic, Protocol, TypeVar, runtime_checkable
T = TypeVar("T")
class Box(Generic[T]):
    def __init__(self, x: T): self.x = x
@runtime_checkable
class HasX(Protocol):
    x: int
print(Box[int](3).x, isinstance(Box(1), HasX), isinstance(3, HasX))
## classes: inheritance and super
class A:
    def who(self): return "A"
class B(A):
    def who(self): return "B" + super().who()
class C(A):
    def who(self): return "C" + super().who()
class D(B, C): pass
print(D().who(), [k.__name__ for k in D.__mro__])
## classes: properties and descriptors
class Positive:
    def __set_name__(self, owner, name): self.name = "_" + name
    def __get__(self, o, t=None): return getattr(o, self.name, 0)
    def __set__(self, o, v):
        if v < 0: raise ValueError("negative")
        setattr(o, self.name, v)
class A:
    n = Positive()
    @property
    def twice(self): return self.n * 2
    @classmethod
    def make(cls): return cls()
    @staticmethod
    def s(): return "s"
a = A.make()
a.n = 4
print(a.twice, A.s(), vars(a))
try:
    a.twice = 1
except AttributeError as error:
    print(type(error).__name__)
## classes: special methods
class V:
    def __init__(self, *c): self.c = c
    def __add__(self, o): return V(*(a + b for a, b in zip(self.c, o.c)))
    def __getitem__(self, i): return self.c[i]
    def __len__(self): return len(self.c)
    def __repr__(self): return f"V{self.c}"
    def __bool__(self): return any(self.c)
    def __call__(self, x): return x * len(self)
    def __contains__(self, x): return x == 42
print(V(1, 2) + V(3, 4), list(V(5, 6)), bool(V(0)), V(1, 1)(3), 42 in V(), V(1, 2, 3)[1:])
## classes: metaclass and init_subclass
class M(type):
    def __new__(m, name, bases, ns, **k): return super().__new__(m, name, bases, {**ns, "tag": name.lower()}, **k)
class A(metaclass=M):
    subs = []
    def __init_subclass__(cls, **k): A.subs.append((cls.__name__, k))
class B(A, x=1): pass
print(B.tag, A.subs, type(B).__name__)
## classes: slots and dir
class S:
    __slots__ = ("a",)
s = S()
s.a = 1
try:
    s.b = 2
except AttributeError as error:
    print(type(error).__name__)
print([n for n in dir(s) if not n.startswith("__")], hasattr(s, "__dict__"))
## abc
from abc import ABC, abstractmethod
class A(ABC):
    @abstractmethod
    def f(self): ...
try:
    A()
except TypeError as error:
    print("abstract" in str(error))
class B(A):
    def f(self): return 1
print(B().f(), issubclass(B, A))
## contextlib
import contextlib, io
@contextlib.contextmanager
def c(n):
    print("in", n)
    try:
        yield n
    finally:
        print("out", n)
with contextlib.ExitStack() as s:
    print([s.enter_context(c(i)) for i in range(2)])
with contextlib.suppress(KeyError), contextlib.redirect_stdout(io.StringIO()) as o:
    print("hidden")
    {}["x"]
print(repr(o.getvalue()), contextlib.nullcontext(3).enter_result)
## exceptions: chains, else, finally
def f(x):
    try:
        return 10 / x
    except ZeroDivisionError as error:
        raise ValueError("bad") from error
    else:
        print("never")
    finally:
        print("finally")
try:
    f(0)
except ValueError as error:
    print(repr(error), repr(error.__cause__), error.__suppress_context__)
print(f(4))
## exceptions: groups and notes
try:
    raise ExceptionGroup("g", [ValueError(1), TypeError(2), ExceptionGroup("h", [ValueError(3)])])
except* ValueError as g:
    print([type(e).__name__ for e in g.exceptions])
except* TypeError as g:
    print(g.exceptions)
e = ValueError("x")
e.add_note("a note")
print(e.__notes__)
## exceptions: hierarchy and arguments
class MyError(Exception):
    def __init__(self, code): super().__init__(f"code {code}"); self.code = code
try:
    raise MyError(7)
except Exception as error:
    print(error, error.code, error.args, type(error).__mro__[1].__name__)
for f in (lambda: [][1], lambda: {}["k"], lambda: None.x, lambda: int("z"), lambda: "a" + 1, lambda: nope):
    try:
        f()
    except Exception as error:
        print(type(error).__name__)
## traceback
import traceback
def f(): raise KeyError("k")
try:
    f()
except KeyError as error:
    print(traceback.format_exception_only(error), [s.name for s in traceback.extract_tb(error.__traceback__)])
## closures and scopes
x = "global"
def outer():
    n = 0
    def inc():
        nonlocal n
        n += 1
        return n
    return inc
i = outer()
i()
print(i(), [f() for f in [lambda k=k: k for k in range(3)]], x, (lambda *a, **k: (a, k))(1, b=2))
## arguments
def f(a, /, b, *c, d=4, **e): return a, b, c, d, e
print(f(1, 2, 3, d=5, z=6), f(*[1, 2], **{"y": 0}))
try:
    f(a=1)
except TypeError as error:
    print("TypeError")
## pattern matching
def m(x):
    match x:
        case {"type": "a", "v": [first, *rest]}: return first, rest
        case [1, _] | (2, _): return "pair"
        case str(s) if len(s) > 2: return s.upper()
        case int() | float(): return "number"
        case None: return "none"
        case _: return "else"
print([m(x) for x in ({"type": "a", "v": [1, 2, 3]}, [1, 9], "abc", "ab", 2.5, None)])
## walrus and conditional expressions
if (n := len("abcd")) > 3:
    print(n, [y for x in range(5) if (y := x * x) > 3], "yes" if n else "no")
## inspect
import inspect
def f(a: int, *, b="x") -> str: "doc"
print(inspect.signature(f), inspect.getdoc(f), inspect.isfunction(f), [p.kind.name for p in inspect.signature(f).parameters.values()])
## types
import types
n = types.SimpleNamespace(a=1, b="c")
print(n, types.MappingProxyType({"k": 1})["k"], types.new_class("K").__name__, isinstance(print, types.BuiltinFunctionType))
## eval, exec, compile
ns = {}
exec("def sq(x): return x * x", ns)
print(eval("sq(7)", ns), eval(compile("1 + 2", "<s>", "eval")), sorted(k for k in ns if not k.startswith("__")))
## global names and builtins
import builtins
print(callable(builtins.print), "x" in globals(), id(1) == id(1))
## importlib
import importlib.util, sys
m = importlib.import_module("json.decoder")
print(m.__name__, "json" in sys.modules, importlib.util.find_spec("no_such_module"))
try:
    import no_such_module
except ImportError as error:
    print(error, error.name)
## warnings
import warnings
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    warnings.warn("careful", UserWarning)
    print([(str(w.message), w.category.__name__) for w in seen])
## logging
import logging, sys
logging.basicConfig(stream=sys.stdout, format="%(levelname)s %(name)s %(message)s", level=logging.INFO)
logging.getLogger("a.b").info("x=%d", 1)
logging.debug("hidden")
try:
    1 / 0
except ZeroDivisionError:
    logging.warning("failed", exc_info=False)
## logging: handlers and filters
import io, logging
s = io.StringIO()
l = logging.getLogger("own")
l.propagate = False
h = logging.StreamHandler(s)
h.addFilter(lambda r: "no" not in r.getMessage())
l.addHandler(h)
l.error("yes")
l.error("no")
print(repr(s.getvalue()), l.isEnabledFor(logging.DEBUG))
## argparse
import argparse
p = argparse.ArgumentParser(prog="p")
p.add_argument("files", nargs="+")
p.add_argument("-n", type=int, default=1)
p.add_argument("--flag", action="store_true")
print(p.parse_args(["a", "b", "-n", "3", "--flag"]))
print(p.format_usage().split()[:2])
## unittest
import io, unittest
class T(unittest.TestCase):
    def test_ok(self): self.assertEqual(1 + 1, 2)
    def test_bad(self): self.assertIn(3, [1])
r = unittest.TextTestRunner(stream=io.StringIO()).run(unittest.defaultTestLoader.loadTestsFromTestCase(T))
print(r.testsRun, len(r.failures), r.wasSuccessful())
## unittest.mock
from unittest.mock import MagicMock, patch
m = MagicMock(return_value=3)
print(m(1, a=2), m.call_args, m.called)
with patch("json.dumps", return_value="patched"):
    import json
    print(json.dumps({}))
## doctest
import doctest
def f():
    """
    >>> 1 + 1
    2
    """
print(doctest.run_docstring_examples(f, {}), doctest.testmod().failed >= 0)
## uuid
import uuid
print(uuid.uuid5(uuid.NAMESPACE_DNS, "acme.test"), uuid.uuid3(uuid.NAMESPACE_URL, "x"), uuid.UUID("{12345678-1234-5678-1234-567812345678}").hex[:8], uuid.uuid4().version)
## ipaddress
import ipaddress
n = ipaddress.ip_network("10.0.0.0/29")
print(n.num_addresses, [str(h) for h in n.hosts()][:2], ipaddress.ip_address("10.0.0.3") in n, ipaddress.ip_address("::1").is_loopback, n.supernet())
## mimetypes and http status
import http, mimetypes
print(mimetypes.guess_type("a.json")[0], http.HTTPStatus.NOT_FOUND.phrase, http.HTTPMethod.GET.name)
## cmd-like: string streams and print options
import io
s = io.StringIO()
print(1, "a", sep="-", end="!", file=s)
print(repr(s.getvalue()), *range(3), sep="|")
## iter with a sentinel, reversed, enumerate
i = iter([1, 2, 0, 3])
print(list(iter(lambda: next(i), 0)), list(enumerate("ab", 1)), list(reversed((1, 2))), next(iter(()), "default"))
