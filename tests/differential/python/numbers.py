## int: big and bits
n = 3**200
print(n, n.bit_length(), divmod(-7, 2), pow(3, -1, 11), (255).to_bytes(2, "little"), (-1) >> 3, 0b101 ^ 0x0F)
## int: parsing and bases
print(int("ff", 16), int("0b11", 0), int("1_000"), bin(10), oct(8), hex(-255))
for text in ("1.5", "", "x"):
    try:
        int(text)
    except ValueError as error:
        print(error)
## float: repr and rounding
print(0.1 + 0.2, round(2.5), round(-3.5), round(1234.5678, -2), 1e22, 1e-7, float("inf"), float.fromhex("0x1.8p1"), (0.5).as_integer_ratio(), 1e308 * 10)
## float: exact sums
import math
print(math.fsum([0.1] * 10), sum([0.1, 0.2]), math.isclose(0.1 + 0.2, 0.3), math.nextafter(1, 2), math.ulp(1.0))
## math
import math
print(math.gcd(12, 18), math.lcm(4, 6), math.comb(10, 3), math.perm(5, 2), math.isqrt(99), math.factorial(20), math.dist((0, 0), (3, 4)), math.hypot(1, 2, 2))
## math: transcendental
import math
for f in (math.sin, math.cos, math.tan, math.exp, math.log, math.sqrt, math.atan, math.gamma, math.erf):
    print(f.__name__, round(f(0.7), 12))
## math: edges
import math
print(math.floor(-1.5), math.trunc(-1.5), math.copysign(1, -0.0), math.frexp(8), math.modf(2.25), math.remainder(7, 4), math.isnan(math.nan), math.prod([2, 3]))
## cmath and complex
import cmath
print((1 + 2j) * (3 - 1j), abs(3 + 4j), cmath.sqrt(-1), complex("1+2j").conjugate(), round(cmath.phase(1j), 6))
## decimal: arithmetic
from decimal import ROUND_HALF_UP, Decimal, getcontext
print(Decimal("0.1") + Decimal("0.2"), Decimal("2.675").quantize(Decimal("0.01"), ROUND_HALF_UP), Decimal(1) / 7, getcontext().prec)
## decimal: context and errors
from decimal import Decimal, DivisionByZero, InvalidOperation, localcontext
with localcontext() as c:
    c.prec = 5
    print(Decimal(2).sqrt(), Decimal("1e-3").normalize(), Decimal("123.45").as_tuple())
for f in (lambda: Decimal(1) / 0, lambda: Decimal("x")):
    try:
        f()
    except (DivisionByZero, InvalidOperation) as error:
        print(type(error).__name__)
## decimal: formatting and comparison
from decimal import Decimal
print(f"{Decimal('1234.5'):,.2f}", Decimal("1.10") == Decimal("1.1"), str(Decimal("1.10")), max(Decimal("1"), Decimal("NaN").is_nan()), Decimal("-0").is_signed())
## fractions
from fractions import Fraction
print(Fraction(1, 3) + Fraction("0.5"), Fraction(3.25), Fraction("3.1415").limit_denominator(100), round(Fraction(7, 2)), Fraction(-6, 4))
## statistics
import statistics as s
d = [2, 4, 4, 4, 5, 5, 7, 9]
print(s.mean(d), s.median(d), s.mode(d), s.pstdev(d), round(s.stdev(d), 6), s.quantiles(d, n=4), s.multimode("aabb"))
## statistics: regression and distributions
import statistics as s
print(s.linear_regression([1, 2, 3], [2, 4, 6]), s.correlation([1, 2, 3], [3, 2, 1]), round(s.NormalDist(0, 1).cdf(1.96), 5), s.fmean([1, 2], [3, 1]), s.harmonic_mean([40, 60]))
## random: the same seed, the same numbers
import random
r = random.Random(42)
print(r.random(), r.randint(1, 100), r.choice("abc"), r.sample(range(100), 5), r.gauss(0, 1))
l = list(range(8))
r.shuffle(l)
print(l, r.choices("ab", [1, 9], k=5), r.getrandbits(70), r.triangular(0, 1))
## random: the module's own generator
import random
random.seed("a text")
print([random.randrange(10) for _ in range(10)], random.uniform(1, 2), random.expovariate(1))
s = random.getstate()
x = random.random()
random.setstate(s)
print(x == random.random())
## numbers tower
import numbers
from decimal import Decimal
print(isinstance(1, numbers.Integral), isinstance(1.5, numbers.Real), isinstance(Decimal(1), numbers.Real), isinstance(1j, numbers.Complex))
## bool arithmetic and chains
print(True + True, sum([True, False, True]), 1 < 2 < 3 != 4, not [], None or "x", 0 and 1, bool("0"))
## division and modulo
print(7 // -2, 7 % -2, -7.5 // 2, -7.5 % 2, divmod(7.5, 2), 2**-1, 0.0 == -0.0)
for a, b in ((1, 0), (1.0, 0), (1, 0.0)):
    try:
        a / b
    except ZeroDivisionError as error:
        print(type(error).__name__)
## range
r = range(10, 0, -3)
print(list(r), len(r), 4 in r, r[-1], r[1:], r.index(7), range(0) == range(2, 2))
## min, max, any, all, zip
print(max([], default=0), min("b", "a"), any([]), all([]), list(zip("ab", [1, 2], strict=True)), dict(zip("ab", range(2))), max([3, -5], key=abs))
try:
    list(zip([1], [], strict=True))
except ValueError as error:
    print(error)
## matrix by hand
m = [[1, 2], [3, 4]]
print([list(r) for r in zip(*m)], [[sum(a * b for a, b in zip(r, c)) for c in zip(*m)] for r in m])
## primes and collatz
def primes(n):
    sieve = bytearray([1]) * (n + 1)
    for i in range(2, int(n**0.5) + 1):
        if sieve[i]:
            sieve[i * i :: i] = bytes(len(range(i * i, n + 1, i)))
    return [i for i in range(2, n + 1) if sieve[i]]
print(primes(50), len(primes(100000)))
