"""Numbers of the exact engines: rationals, rationals with one square root, and balls.

All three add, multiply and compare by :func:`sign`; a ball that cannot tell its sign asks for more digits.
"""

import contextlib
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np

from boundlab.errors import SpecError, UndecidedError

Scalar: TypeAlias = Any  # flint.fmpq, Surd or flint.arb
START_BITS, LARGEST_BITS = 128, 1 << 16


def flint() -> Any:
    """Return python-flint, which who evaluates a formula in floats does not load."""
    import flint as module

    return module


@contextlib.contextmanager
def digits(bits: int) -> Iterator[None]:
    """Let balls have this precision inside."""
    with flint().ctx.workprec(bits):
        yield


@final
class Surd:
    """a + b·√r with rational a, b and one r > 0 that all numbers of a run share."""

    __slots__ = ("a", "b", "r")

    def __init__(self, a: Any, b: Any, r: Any) -> None:
        self.a, self.b, self.r = a, b, r

    def __add__(self, other: Any) -> "Surd":
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Surd):
            return Surd(self.a + other.a, self.b + other.b, self.r)
        return Surd(self.a + other, self.b, self.r)

    __radd__ = __add__

    def __neg__(self) -> "Surd":
        return Surd(-self.a, -self.b, self.r)

    def __sub__(self, other: Any) -> "Surd":
        return self.__add__(-other)  # an array adds itself, entry by entry

    def __rsub__(self, other: Any) -> "Surd":
        return self.__neg__().__add__(other)

    def __mul__(self, other: Any) -> "Surd":
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Surd):
            a, b = self.a, self.b
            return Surd(a * other.a + b * other.b * self.r, a * other.b + b * other.a, self.r)
        return Surd(self.a * other, self.b * other, self.r)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Surd":
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Surd):
            norm = other.a * other.a - other.b * other.b * other.r
            top = self * Surd(other.a, -other.b, other.r)
            return Surd(top.a / norm, top.b / norm, self.r)
        return Surd(self.a / other, self.b / other, self.r)

    def __rtruediv__(self, other: Any) -> "Surd":
        return Surd(self.a * 0 + other, self.b * 0, self.r).__truediv__(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Surd) and bool(self.a == other.a and self.b == other.b)

    def __hash__(self) -> int:
        return hash((self.a, self.b))

    def sign(self) -> int:
        """Return −1, 0 or 1."""
        a, b = _order(self.a), _order(self.b)
        if a == b or b == 0:
            return a
        if a == 0:
            return b
        # The larger of |a| and |b|√r decides.
        return a * _order(self.a * self.a - self.b * self.b * self.r)


def _order(x: Any) -> int:
    if type(x) is flint().fmpq:  # its numerator is compared in a third of the time
        x = x.p
    return int(x > 0) - int(x < 0)


def sign(x: Scalar) -> int:
    """Return −1, 0 or 1.

    Raises
    ------
    UndecidedError
        If a ball contains numbers of both signs; more digits may tell.
    """
    if isinstance(x, Surd):
        return x.sign()
    order = _order(x)
    if order == 0 and isinstance(x, flint().arb) and not (x == 0):
        raise UndecidedError(f"an iterate meets a kink too closely to tell its side with {flint().ctx.prec} bits")
    return order


def rational(value: Fraction | int) -> Any:
    """Return a flint rational."""
    return flint().fmpq(value.numerator, value.denominator)


def rationals(entries: Sequence[Any]) -> list[Any]:
    """Return rational numbers, or nested lists of them, as flint's."""
    return [rationals(entry) if isinstance(entry, list) else rational(entry) for entry in entries]


def fraction(x: Any) -> Fraction:
    """Return a flint rational as a Fraction."""
    return Fraction(int(x.p), int(x.q))


def ball(x: Scalar) -> Any:
    """Return a number as a ball of the present precision."""
    arb = flint().arb
    if isinstance(x, Surd):
        return arb(x.a) + arb(x.b) * arb(x.r).sqrt()
    return arb(x)


def one_like(*values: Scalar) -> Scalar:
    """Return 1 as a ball, as a surd or as a rational: the first of these that is among the values."""
    one = rational(1)
    if any(isinstance(value, flint().arb) for value in values):
        return ball(one)
    roots = [value.r for value in values if isinstance(value, Surd)]
    return Surd(one, one - one, roots[0]) if roots else one


def square_root(x: Any) -> Any:
    """Return √x of a float or of a ball."""
    return math.sqrt(x) if isinstance(x, float) else x.sqrt()


def near(value: float, relative: float) -> Any:
    """Return the ball of all numbers that differ from a float by this much, relatively."""
    return flint().arb(value, abs(value) * relative)


def hashable(x: Scalar) -> Any:
    """Return a key that equal numbers share, floats among them; for balls, those with the same middle and radius."""
    if isinstance(x, float):
        return x
    if type(x) is flint().fmpq:  # hashes the slower way by itself, as a Fraction
        return x.p, x.q
    if isinstance(x, Surd):
        return hashable(x.a), hashable(x.b)
    if isinstance(x, flint().arb):
        return hashable(x.mid().fmpq()), hashable(x.rad().fmpq())
    return x


def text(x: Scalar) -> str:
    """Return a number for people: ``91/36 = 2.5278``."""
    if isinstance(x, flint().arb):
        return f"[{_down(x.lower())}, {_up(x.upper())}]"
    about = f"{float(ball(x)):.10g}"
    if not isinstance(x, Surd):
        exact = str(x)
        return exact if exact == about else f"{shortened(exact)} = {about}"
    parts = f"{x.a} + {x.b}*sqrt({x.r})" if x.b > 0 else f"{x.a} - {-x.b}*sqrt({x.r})"
    return f"{shortened(parts)} = {about}" if x.b != 0 else text(x.a)


def shortened(words: str, most: int = 120) -> str:
    """Return a number as it is written, of a long one both ends."""
    if len(words) <= most:
        return words
    return f"{words[: 5 * most // 12]}…{words[-(most // 6) :]} ({len(words)} characters)"


def _down(x: Any) -> str:
    value = float(x)
    return f"{math.nextafter(value, -math.inf):.17g}"


def _up(x: Any) -> str:
    value = float(x)
    return f"{math.nextafter(value, math.inf):.17g}"


def read_number(raw: object, what: str) -> Fraction:
    """Read an exact number: an integer, a decimal (0.1 is 1/10), or text such as ``1/3``.

    Raises
    ------
    SpecError
        If it is none of these, of more than 1000 characters, or so small that floats do not tell it from 0.
    """
    from boundlab.options import number

    about = number(raw, what)  # refuses what is no finite number, in the usual words
    if isinstance(raw, str):
        top, _, bottom = raw.partition("/")
        return Fraction(top.strip()) / Fraction(bottom.strip() or "1") if about else Fraction(0)
    if isinstance(raw, float):
        return Fraction(repr(raw))
    if isinstance(raw, int):
        return Fraction(raw)
    raise SpecError(f"{what} must be a number, got {raw!r}")


def float_ends(x: Scalar) -> tuple[float, float, float]:
    """Return a float near a number, and floats below and above it; (nan, −∞, ∞) of what is no finite ball."""
    about = ball(x)
    if not about.is_finite():
        return (math.inf, math.inf, math.inf) if about > 0 else (math.nan, -math.inf, math.inf)
    low, high = float(about.lower()), float(about.upper())
    while low > -math.inf and not flint().arb(low) <= about:
        low = math.nextafter(low, -math.inf)
    while high < math.inf and not flint().arb(high) >= about:
        high = math.nextafter(high, math.inf)
    return min(max(float(about), low), high), low, high
