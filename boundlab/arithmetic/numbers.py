"""Arithmetics: what formulas over arrays need of one, that of floats, and the numbers of the exact ones.

These are rationals, rationals with one square root, and balls: all three add, multiply and compare by :func:`sign`; a
ball that cannot tell its sign asks for more digits. :mod:`boundlab.arithmetic.exactly` is their arithmetic, that of
tensors stands in :mod:`boundlab.arithmetic.tensors`.
"""

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import SpecError, UndecidedError

Scalar: TypeAlias = Any  # flint.fmpq, Surd or flint.arb
START_BITS, LARGEST_BITS = 128, 1 << 16
Array = NDArray[np.floating[Any]]
Numbers: TypeAlias = Any  # an array of floats, or of objects that are exact numbers, or a tensor
Function = Callable[..., Numbers]
_MANY = 256  # numbers from which a call of NumPy costs less than its work


class InexactError(SpecError):
    """Request that has no exact form here; floating point takes over."""


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
    """Return √x of a float, or of what has a root of its own."""
    return x.sqrt() if hasattr(x, "sqrt") else math.sqrt(x)


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


@final
@dataclass(frozen=True, slots=True)
class Operations:
    """A number system as losses need it; adding, multiplying and dividing is what its numbers do by themselves.

    Parameters
    ----------
    absolute, exp
        |r| and eʳ.
    sign, clip
        The sign of r, 0 at 0, and clip(r, low, high): the nearest number to r in [low, high]. Both may overwrite r.
    minimum
        minimum(r, s).
    positive, shrink
        max(r, 0), and shrink(r, by): r moved towards 0 by this much, and no further.
    below
        below(r, bound): 1 where r < bound, else 0.
    within, where
        within(r, width): where |r| ≤ width; where(condition, then, otherwise).
    slant, log_exp, falling
        √(1 + r²), log(1 + eʳ), and −1/(1 + eʳ), which may overwrite r.
    columns
        The two columns of an array, such that they fit to margins.
    first
        The place of the largest number of each row, the first one of several.
    solve
        solve(A, b): the solutions of A x = b, one b a matrix.
    linear
        linear(A): the function x ↦ A x, also of many x as rows.
    project
        project(x, radius): the point of the ball around 0 that is nearest to x, also of many x as rows.
    zero_at
        zero_at(square, size): what is 0 where this square of a distance is 0 but for rounding, and infinite elsewhere,
        for numbers of this size.
    moved
        moved(c, r, slope, a): c + r − a·slope for numbers r, which enter only once where the slope is r itself: balls
        then shrink as they do.
    wide
        The type of sums over many coordinates; None: that of their terms.
    together
        Coordinates that are worked on at a time: those of one point for several clients.
    ball
        Whether a number is a ball.
    number, array, places
        A number from a fraction, numbers from floats or fractions, and an array of places from integers.
    """

    absolute: Function
    exp: Function
    sign: Function
    clip: Function
    minimum: Function
    positive: Function
    shrink: Function
    below: Function
    within: Function
    where: Function
    slant: Function
    log_exp: Function
    falling: Function
    columns: Function
    first: Function
    solve: Function
    linear: Callable[[Numbers], Function]
    project: Function
    zero_at: Function
    number: Function
    array: Function
    places: Function
    wide: Any = None
    together: int = 1 << 14
    ball: Callable[[Any], bool] = lambda _: False
    moved: Function = lambda c, r, slope, a: c + (r - a * slope)


def _slant(t: Array) -> Array:
    """Return √(1 + t²); where t² overflows it is |t|."""
    if t.size < _MANY:
        near: Array = np.hypot(1.0, t)
        return near
    with np.errstate(over="ignore"):  # hypot takes care of that, at five times the cost
        out: Array = np.sqrt(1.0 + t * t)
    far = np.isinf(out)
    out[far] = np.abs(t[far])
    return out


def _falling(r: Array) -> Array:
    """Return −1/(1 + eʳ) by tanh, which cannot overflow, in place of r."""
    r *= 0.5
    np.tanh(r, out=r)
    r -= 1.0
    r *= 0.5
    return r


FLOATS: Final = Operations(
    absolute=np.abs,
    exp=np.exp,
    sign=np.sign,
    clip=lambda r, low, high: r.clip(low, high),  # maximum and minimum of a number take three times as long
    minimum=np.minimum,
    positive=lambda r: np.maximum(0.0, r),
    shrink=lambda r, by: r - r.clip(-by, by),
    below=lambda r, bound: (r < bound).astype(r.dtype),
    within=lambda r, width: np.abs(r) <= width,
    where=np.where,
    slant=_slant,
    log_exp=lambda r: np.logaddexp(0.0, r),
    falling=_falling,
    columns=lambda pairs: pairs.T,
    first=lambda rows: rows.argmax(axis=-1),
    solve=lambda A, b: np.linalg.solve(A, b[..., None])[..., 0],
    linear=lambda A: lambda x: x @ A.T,
    project=lambda x, radius: x * (radius / np.linalg.norm(x, axis=-1, keepdims=True).clip(radius)),
    zero_at=lambda square, size: np.where(square <= np.finfo(square.dtype).eps * size**2, 0.0, np.inf),
    number=float,
    array=lambda data: np.asarray(data, dtype=np.float64),
    places=np.asarray,
    wide=np.float64,
)
