"""Arithmetics: what formulas over arrays need of one, that of floats, and the numbers of the exact ones.

These are rationals, rationals with one square root, and balls: all three add, multiply and compare by :func:`sign`; a
ball that cannot tell its sign asks for more digits. :mod:`boundlab.arithmetic.numbers` is their arithmetic, that of
tensors stands in :mod:`boundlab.arithmetic.tensors`.
"""

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import wraps
from typing import Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import SpecError, UndecidedError
from boundlab.randomness import Array

Scalar: TypeAlias = Any  # flint.fmpq, Surd or flint.arb
START_BITS, LARGEST_BITS = 128, 1 << 16
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
    absolute, exp, log
        |r|, eʳ and log r; the last one of floats, also of those that carry their error.
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
    log: Function = np.log


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


# How many digits balls need.


def decided(once: Callable[[], Scalar]) -> tuple[Scalar, int]:
    """Run with more and more digits until every comparison is decided.

    Returns
    -------
    The value, and with how many bits it was found.

    Raises
    ------
    UndecidedError
        If too many would be needed.
    """
    bits = START_BITS
    while True:
        try:
            with digits(bits):
                value = once()
            lost = _lost(value, bits)
            if lost is None:
                return value, bits
            needed = lost + 2 * START_BITS
        except UndecidedError as error:
            # Balls grow at a steady rate: where this run got with so many digits says how many the whole takes.
            needed = int(1.25 * bits / max(error.done, 0.002))
            if bits == LARGEST_BITS:
                raise
        if needed > LARGEST_BITS * 5 // 4 or bits == LARGEST_BITS:
            raise UndecidedError(f"{needed} bits or more would be needed for balls that do not grow too large")
        bits = min(max(needed, 2 * bits), LARGEST_BITS)


def _lost(value: Any, bits: int) -> int | None:
    """Return how many of its bits a ball has lost, or None if enough are left."""
    if not isinstance(value, flint().arb):
        return None
    if not value.is_finite():
        return bits
    accuracy = int(value.rel_accuracy_bits())
    if accuracy >= START_BITS // 2 or value.rad() < flint().arb(2) ** -(4 * START_BITS):
        return None
    return bits if value.contains(0) else bits - accuracy  # how small it is, no digit tells yet


# The arithmetic of exact numbers, in arrays of objects: rational ones, those with one root, and balls.
#
# What jumps asks on which side a number lies; a ball that cannot tell asks for more digits. What is continuous takes
# every such ball: at the very point where two formulas meet no number of digits would tell.

Operation = Callable[..., Scalar]
Entries = NDArray[Any]


def _continuous(on_balls: Operation) -> Callable[[Operation], Operation]:
    """Make a ball that does not know its side take a formula that holds on both of them."""

    def careful(operation: Operation) -> Operation:
        @wraps(operation)
        def of(*entries: Scalar) -> Scalar:
            try:
                return operation(*entries)
            except UndecidedError:
                return on_balls(*map(ball, entries))

        return of

    return careful


@_continuous(abs)
def _absolute(r: Scalar) -> Scalar:
    return r if sign(r) >= 0 else -r


@_continuous(lambda r, most: r.min(most))
def _minimum(r: Scalar, most: Scalar) -> Scalar:
    return most if sign(r - most) >= 0 else r


@_continuous(lambda r, low, high: r.min(high).max(low))
def _clip(r: Scalar, low: Scalar, high: Scalar) -> Scalar:
    """Return r itself where it lies inside: its slope then is that of a quadratic, as who makes steps wants to know."""
    if sign(r - high) >= 0:
        return high + 0 * r  # a number like r
    return low + 0 * r if sign(r - low) <= 0 else r


@_continuous(lambda r: r.max(0 * r))
def _positive(r: Scalar) -> Scalar:
    return r if sign(r) >= 0 else r * 0


@_continuous(lambda r, by: _positive(r - by) - _positive(-r - by))
def _shrink(r: Scalar, by: Scalar) -> Scalar:
    if sign(r - by) >= 0:
        return r - by
    return r + by if sign(r + by) <= 0 else r * 0


def _within(r: Scalar, width: Scalar) -> bool | None:
    try:
        return sign(r - width) < 0 < sign(r + width)
    except UndecidedError:
        return None


def _where(condition: bool | None, then: Scalar, otherwise: Scalar) -> Scalar:
    """Return what holds, and where that is not known a ball of both."""
    if condition is None:
        return ball(then).union(ball(otherwise))
    return then if condition else otherwise


def _moved(c: Scalar, r: Scalar, slope: Scalar, a: Scalar) -> Scalar:
    return c + ((1 - a) * r if slope is r else r - a * slope)


def _first(rows: Entries) -> Any:
    if rows.ndim > 1:
        return np.array([_first(row) for row in rows])
    best = 0
    for place in range(1, len(rows)):
        if sign(rows[place] - rows[best]) > 0:
            best = place
    return best


def exact_array(data: Any) -> Entries:
    """Return fractions, floats or integers, or nested lists of them, as an array of exact numbers."""
    made = flint().fmpq
    of = np.frompyfunc(lambda x: made(*x.as_integer_ratio()), 1, 1)
    return np.asarray(of(np.array(data, dtype=object)), dtype=object)


def fractions(x: Entries) -> Any:
    """Return an array of rational numbers as a list of fractions, or nested lists."""
    return np.frompyfunc(fraction, 1, 1)(x).tolist()


def _solve(A: Entries, b: Entries) -> Entries:
    """Solve systems of a matrix each.

    Raises
    ------
    InexactError
        If the numbers have a root, and the matrix is not diagonal.
    """
    if A.ndim > 2:
        return np.array([_solve(*one) for one in zip(A, b, strict=True)], dtype=object)
    d = len(b)
    if not any(A[j, k] != 0 for j in range(d) for k in range(d) if j != k):
        return np.asarray(b / A.diagonal())
    entries = [*A.ravel(), *b]
    if any(isinstance(entry, Surd) for entry in entries):
        raise InexactError("proximal steps of this problem are not computed beside a root")
    table = flint().arb_mat if any(isinstance(entry, flint().arb) for entry in entries) else flint().fmpq_mat
    return np.array(table(d, d, entries[: d * d]).solve(table(d, 1, entries[d * d :])).entries(), dtype=object)


def _linear(A: Entries) -> Callable[[Entries], Entries]:
    """Return x ↦ A x; for balls by the products of flint's matrices, made once for each precision."""
    made: dict[int, Any] = {}

    def of(x: Entries) -> Entries:
        if x.ndim > 1 or not any(isinstance(entry, flint().arb) for entry in x):
            return np.asarray(x @ A.T)
        bits = flint().ctx.prec
        if bits not in made:
            made.clear()
            made[bits] = flint().arb_mat(*A.shape, A.ravel().tolist())
        return np.array((made[bits] * flint().arb_mat(len(x), 1, x.tolist())).entries(), dtype=object)

    return of


def _project(x: Entries, radius: Scalar) -> Entries:
    """Project: balls with their own roots; rational numbers where x is inside, or one number.

    Raises
    ------
    InexactError
        If the norm has no rational value.
    """
    if len(x) == 1:
        return np.asarray(EXACT.clip(x, -radius, radius))
    square, limit = (x * x).sum(), radius * radius
    if isinstance(square, flint().arb):
        return np.asarray(x * (ball(radius) / square.max(ball(limit)).sqrt()))
    if sign(square - limit) <= 0:
        return x
    raise InexactError("the projection onto a ball takes roots")


def _zero_at(square: Scalar, _size: Scalar) -> Scalar:
    """Return 0.

    Raises
    ------
    SpecError
        If the number is not 0 for certain.
    """
    if ball(square) > 0:
        raise SpecError("an iterate lies where F is infinite")
    return 0 * square


def _each(operation: Operation, inputs: int = 1) -> Operation:
    """Let an operation of single numbers be one of arrays, entry by entry."""
    return np.frompyfunc(operation, inputs, 1)


EXACT: Final = Operations(
    absolute=_each(_absolute),
    exp=_each(lambda r: ball(r).exp()),
    sign=_each(sign),
    clip=_each(_clip, 3),
    minimum=_each(_minimum, 2),
    positive=_each(_positive),
    shrink=_each(_shrink, 2),
    below=_each(lambda r, bound: int(sign(r - bound) < 0), 2),
    within=_each(_within, 2),
    where=_each(_where, 3),
    slant=_each(lambda t: ball(1 + t**2).sqrt()),
    log_exp=_each(lambda r: ball(r).exp().log1p()),
    falling=_each(lambda r: -1 / (1 + ball(r).exp())),
    columns=lambda pairs: pairs.T,
    first=_first,
    solve=_solve,
    linear=_linear,
    project=_project,
    zero_at=_zero_at,
    number=rational,
    moved=_each(_moved, 4),
    ball=lambda x: isinstance(x, flint().arb),
    array=exact_array,
    places=np.asarray,
)


@final
class BallSteps:
    """Local steps x ← (I − size·A_i)x + size·r_i, where each point enters once: balls shrink as the points do.

    Parameters
    ----------
    A, right
        Shapes (n, d, d) and (n, d): A_i and r_i, rational.
    """

    def __init__(self, A: Numbers, right: Numbers) -> None:
        self._A, self._right = A, right
        self._known: dict[int, tuple[Any, Any, Any]] = {}

    def step(self, client: int, x: Numbers, size: Scalar) -> Numbers:
        """Return the result of one step of a size that is a ball."""
        made, key, d = flint(), (hashable(size), flint().ctx.prec), len(x)
        if client not in self._known or self._known[client][0] != key:  # most runs have one size
            turned = [int(place % (d + 1) == 0) - size * entry for place, entry in enumerate(self._A[client].ravel())]
            shift = made.arb_mat(d, 1, [size * entry for entry in self._right[client]])
            self._known[client] = key, made.arb_mat(d, d, turned), shift
        _, matrix, shift = self._known[client]
        return np.array((matrix * made.arb_mat(d, 1, list(x)) + shift).entries(), dtype=object)
