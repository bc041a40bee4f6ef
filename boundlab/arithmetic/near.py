"""Floats that know how far off they are: rounding is bounded once, in the operations, and not once a formula.

A :class:`Near` is an array beside a bound of its error, entry by entry. What is worked out with it encloses the result
without rounding, in whatever order sums are taken; its ends are numbers with a side. A kink is the whole interval of
slopes. :data:`NEAR` has the words of losses, :func:`norm` and :func:`eigenvalues` what constants need beside them.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final, NoReturn, final

import numpy as np

from boundlab.arithmetic.numbers import InexactError, Operations
from boundlab.randomness import Floats

_EPS: Final = float(np.finfo(np.float64).eps)
_U: Final = _EPS / 2.0 * 1.01  # of one rounding, relatively
_LIBRARY: Final = 16.0 * _U  # of a function of a library: eight units in the last place
_UP: Final = 1.0 + 16.0 * _U  # a few roundings of an error itself
_TINY: Final = 1e-300  # more than what underflow takes
_FEW: Final = 1000  # entries of which norms are rounded in fractions
_ROWS: Final = 4096  # that are multiplied at a time
_quiet = np.errstate(all="ignore")  # what leaves the floats has no end, and says so itself


@final
class Near:
    """Numbers that are at most ``off`` from those that are meant.

    Parameters
    ----------
    value, off
        Arrays, or numbers; ``off`` may be one for all entries. 0: the numbers are meant as they are.

    Attributes
    ----------
    shape, ndim
        The lengths of the axes, and how many there are.
    """

    __slots__ = ("ndim", "off", "shape", "value")
    __array_ufunc__ = None  # an array beside it is a Near, too
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Any, off: Any = 0.0) -> None:
        self.value = np.asarray(value, dtype=np.float64)
        self.shape, self.ndim = self.value.shape, self.value.ndim
        off = np.asarray(off, dtype=np.float64)
        self.off = off if off.shape == self.shape else np.broadcast_to(off, self.shape)  # which takes microseconds

    @property
    def T(self) -> "Near":  # noqa: N802  (as arrays have it)
        """The transpose."""
        return Near(self.value.T, self.off.T)

    def __getitem__(self, at: Any) -> "Near":
        return Near(self.value[at], self.off[at])

    def reshape(self, *shape: int) -> "Near":
        """Return the same numbers in another shape."""
        return Near(self.value.reshape(*shape), self.off.reshape(*shape))

    def __neg__(self) -> "Near":
        return Near(-self.value, self.off)

    @_quiet
    def __add__(self, other: Any) -> "Near":
        more = _near(other)
        total = self.value + more.value
        return Near(total, (self.off + more.off + _U * np.abs(total)) * _UP)

    __radd__ = __add__

    def __sub__(self, other: Any) -> "Near":
        return self + -_near(other)

    def __rsub__(self, other: Any) -> "Near":
        return -self + _near(other)

    @_quiet
    def __mul__(self, other: Any) -> "Near":
        by = _near(other)
        product, sizes = self.value * by.value, np.abs(self.value)
        off = self.off * (np.abs(by.value) + by.off) + sizes * by.off + _U * np.abs(product)
        return Near(product, off * _UP + np.where((sizes > 0.0) & (by.value != 0.0), _TINY, 0.0))

    __rmul__ = __mul__

    @_quiet
    def __truediv__(self, other: Any) -> "Near":
        by = _near(other)
        ratio, least = self.value / by.value, np.abs(by.value) - by.off
        off = (self.off + np.abs(ratio) * by.off) / least + _U * np.abs(ratio)
        return Near(ratio, np.where(least > 0.0, off * _UP + np.where(self.value != 0.0, _TINY, 0.0), np.inf))

    def __rtruediv__(self, other: Any) -> "Near":
        return _near(other) / self

    def __pow__(self, exponent: int) -> "Near":
        """Return the square, the one power that formulas here have."""
        return self * self if exponent == 2 else NotImplemented

    def __matmul__(self, other: Any) -> "Near":
        return _product(self, _near(other))

    def __rmatmul__(self, other: Any) -> "Near":
        return _product(_near(other), self)

    @_quiet
    def sum(self, axis: Any = None, dtype: None = None) -> "Near":
        """Return the sum of all entries, or along axes; it has the one type."""
        total = self.value.sum(axis)
        count = self.value.size // max(1, total.size)
        off = self.off.sum(axis) + count * _U * np.abs(self.value).sum(axis)
        return Near(total, off * (1.0 + 2.0 * (count + 8) * _U))

    def mean(self, axis: Any = None) -> "Near":
        """Return the mean of all entries, or along axes."""
        total = self.sum(axis)
        return total / (self.value.size // max(1, total.value.size))

    def max(self, axis: Any = None) -> "Near":
        """Return the largest entry, or those along an axis."""
        return Near(self.value.max(axis), self.off.max(axis))

    @property
    @_quiet
    def upper(self) -> Floats:
        """Floats that are not below the numbers; infinite where the numbers left the floats."""
        end = np.where(self.off == 0.0, self.value, np.nextafter(self.value + self.off, np.inf))
        out: Floats = np.where(np.isnan(end), np.inf, end)[()]
        return out

    @property
    def lower(self) -> Floats:
        """Floats that are not above the numbers."""
        return -(-self).upper


def _near(x: Any) -> Near:
    return x if isinstance(x, Near) else given(x)


def given(data: Any) -> Near:
    """Return floats as they are, and fractions, or nested lists of them, as floats that are at most a rounding off."""
    numbers = np.asarray(data)
    value = numbers.astype(np.float64)
    if numbers.dtype != object:
        return Near(value)
    exact = np.asarray(np.frompyfunc(lambda one: Fraction(float(one)) == one, 1, 1)(numbers), dtype=bool)
    return Near(value, np.where(exact, 0.0, _U * np.abs(value) + _TINY))


def stacked(parts: Sequence[Near]) -> Near:
    """Return Nears of one shape as one, along a new first axis."""
    return Near(np.array([one.value for one in parts]), np.array([one.off for one in parts]))


@_quiet
def _product(A: Near, x: Near) -> Near:
    n, sizes = A.value.shape[-1], np.abs(x.value) + x.off
    off = np.abs(A.value) @ (x.off + (n + 1) * _U * sizes)
    if A.off.any():
        off = off + A.off @ sizes
    # Products with 0 take nothing: what rests at the minimiser has a left side of 0.
    return Near(A.value @ x.value, off * (1.0 + 4.0 * (n + 4) * _U) + n * _TINY * bool(sizes.any()))


def _smooth(function: Callable[[Any], Any], steepest: Callable[[Any, Any], Any]) -> Callable[[Any], Near]:
    """Let a function of a library be one of Near; ``steepest`` says how steep it is at most around its values."""

    @_quiet
    def of(x: Any) -> Near:
        x = _near(x)
        value = function(x.value)
        off = _LIBRARY * np.abs(value)
        if x.off.any():
            off = off + np.where(x.off > 0.0, steepest(x, value) * x.off, 0.0)
        return Near(value, off * _UP)

    return of


def _either(r: Near, below: float, at: float, above: float) -> Near:
    """Return what a number below, at or above 0 stands for; all of these where that is not known."""
    told, middle = np.abs(r.value) > r.off, (below + above) / 2.0
    side = np.where(r.value < 0.0, below, np.where(r.value > 0.0, above, at))
    known = told | (r.off == 0.0)
    return Near(np.where(known, side, middle), np.where(known, 0.0, abs(above - below) / 2.0))


def _between(r: Any, low: Any, high: Any) -> Near:
    r, low, high = map(_near, (r, low, high))
    return Near(np.clip(r.value, low.value, high.value), np.maximum(r.off, np.maximum(low.off, high.off)))


def _unsaid(*_: Any) -> NoReturn:
    raise InexactError("floats that carry their error have no such operation")


exp: Final = _smooth(np.exp, lambda x, value: value * np.exp(x.off))
sqrt: Final = _smooth(
    lambda x: np.sqrt(np.maximum(x, 0.0)),
    # √(v + off) − √v, and √v − √(v − off), are at most off/√v, and √(2·off).
    lambda x, value: 1.0 / np.maximum(value, np.sqrt(x.off / 2.0)),
)
NEAR: Final = Operations(
    absolute=lambda x: Near(np.abs(x.value), x.off),
    exp=exp,
    log=_smooth(np.log, lambda x, _: 1.0 / np.maximum(x.value - x.off, 0.0)),
    sign=lambda r: _either(r, -1.0, 0.0, 1.0),
    clip=_between,
    minimum=lambda r, most: _between(r, -np.inf, most),
    positive=lambda r: _between(r, 0.0, np.inf),
    below=lambda r, bound: _either(r - bound, 1.0, 0.0, 0.0),
    slant=_smooth(lambda t: np.hypot(1.0, t), lambda *_: 1.0),
    log_exp=_smooth(lambda r: np.logaddexp(0.0, r), lambda x, _: np.minimum(1.0, np.exp(x.value + x.off))),
    falling=lambda r: -1.0 / (1.0 + exp(_between(r, -700.0, 700.0))),
    columns=lambda pairs: (pairs[..., 0], pairs[..., 1]),
    linear=lambda A: lambda x: x @ A.T,
    number=given,
    array=given,
    places=np.asarray,
    shrink=_unsaid, within=_unsaid, where=_unsaid, first=_unsaid, solve=_unsaid, project=_unsaid, zero_at=_unsaid,
)  # fmt: skip


@_quiet
def strayed(found: Any, meant: Near) -> Any:
    """Return how far floats of whatever origin may be from the numbers that are meant, entry by entry.

    What is found another time, with sums in another order, may be as far on the other side: errors count twice.
    """
    away = (np.abs(found - meant.value) + 2.0 * meant.off) * _UP
    return np.where(np.isnan(away), np.inf, away)[()]


@_quiet
def norm(x: Any, axis: int | tuple[int, ...] = -1) -> Near:
    """Return Euclidean norms along axes."""
    x = _near(x)
    size = np.abs(x.value).max(axis, keepdims=True, initial=0.0)
    scale = np.where((size > 0.0) & (size < np.inf), size, 1.0)  # squares stay within floats
    own = np.sqrt(np.square(x.value / scale).sum(axis)) * scale.max(axis, initial=0.0)
    terms = x.value.size // max(1, own.size)
    off = (terms + 8) * _U * own
    if x.off.any():
        off = off + norm(x.off, axis).upper
    return Near(own, off * _UP)


def norm_up(x: Sequence[float | Fraction]) -> float:
    """Return the least float that is not below ‖x‖: a norm that is a float is that float."""
    square = sum((Fraction(entry) ** 2 for entry in x), Fraction(0))
    if not square:
        return 0.0
    shift = min(52 - (square.numerator.bit_length() - square.denominator.bit_length()) // 2, 1074)
    if square * Fraction(4) ** (shift + 1) < 1 << 106 and shift < 1074:
        shift += 1
    scaled = square * Fraction(4) ** shift  # its root has the 53 bits of a float, or those of one near 0
    root = math.isqrt(math.floor(scaled))
    root += root * root < scaled
    try:
        return math.ldexp(root, -shift)
    except OverflowError:
        return math.inf


def norms_up(rows: Floats, factor: float = 1.0) -> Floats:
    """Return the norms of factor·rows from above, shape (n,); exactly rounded where there are few entries."""
    if rows.size <= _FEW and np.isfinite(rows).all():
        by = Fraction(factor)
        return np.array([norm_up([by * Fraction(entry) for entry in row]) for row in rows.tolist()])
    return np.asarray((norm(rows) * factor).upper)


def distance(a: Any, b: Any, unsure: float | None = 0.0) -> float:
    """Return ‖a − b‖, unit (0, 1), rounded up; exactly rounded where there are few entries.

    Parameters
    ----------
    unsure
        How far b is at most from the point that is meant; it is added, and None counts as 0.
    """
    apart = _distance(a, b)
    total = apart + (unsure or 0.0)
    # At a tie a constant that is the nearest float below the sum would refute a true theorem.
    short = bool(unsure) and math.isfinite(total) and Fraction(total) < Fraction(apart) + Fraction(unsure or 0.0)
    return math.nextafter(total, math.inf) if short else total


def _distance(a: Any, b: Any) -> float:
    first, second = (np.asarray(one, dtype=np.float64) for one in (a, b))
    if len(first) <= _FEW and np.isfinite(first).all() and np.isfinite(second).all():
        pairs = zip(first.tolist(), second.tolist(), strict=True)
        return norm_up([Fraction(one) - Fraction(other) for one, other in pairs])
    return float(norm(Near(first) - second).upper)


def eigenvalues(A: Near) -> Near:
    """Return the eigenvalues of symmetric matrices in order, shape (…, d); of diagonal ones without error the entries.

    An eigensolver's backward error is a modest multiple of d·eps·‖A‖₂ (LAPACK Users' Guide, section 4.7).
    """
    value, d = (A.value + np.swapaxes(A.value, -1, -2)) / 2.0, A.value.shape[-1]
    flat = ~np.any((value * (1.0 - np.eye(d)) != 0.0) | (A.off > 0.0), axis=(-2, -1), keepdims=True)[..., 0]
    entries = np.sort(np.diagonal(value, axis1=-2, axis2=-1), axis=-1)
    found = entries if flat.all() else np.where(flat, entries, np.linalg.eigvalsh(value))
    away = norm(A.off, (-2, -1)).upper + 4.0 * d * _EPS * np.abs(found).max(-1)
    return Near(found, np.where(flat, 0.0, np.asarray(away)[..., None]))


def singular(A: Near) -> Near:
    """Return the singular values of a matrix, the largest first: their error is bounded as that of eigenvalues."""
    found = np.linalg.svd(A.value, compute_uv=False)
    return Near(found, norm(A.off, (-2, -1)).upper + 4.0 * max(A.shape) * _EPS * found.max(initial=0.0))


def curvatures(X: Any, by: Near) -> Near:
    """Return the eigenvalues of Σ_j by_j·a_j a_jᵀ in order, of fewer rows than columns those that are not surely 0.

    Parameters
    ----------
    X, by
        The a_j, shape (S, p), and weights ≥ 0, shape (S,).
    """
    if len(X) < X.shape[1]:
        rows = sqrt(by)[:, None] * X
        gram = rows @ rows.T
    else:
        parts = [slice(first, first + _ROWS) for first in range(0, len(X), _ROWS)]
        gram = sum((Near(X[part].T) @ (by[part][:, None] * X[part]) for part in parts), start=Near(0.0))
    return eigenvalues(gram)
