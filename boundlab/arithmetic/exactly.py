"""The arithmetic of exact numbers, in arrays of objects: rational ones, those with one root, and balls.

What jumps asks on which side a number lies; a ball that cannot tell asks for more digits. What is continuous takes
every such ball: at the very point where two formulas meet no number of digits would tell.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.numbers import (
    InexactError,
    Numbers,
    Operations,
    Scalar,
    Surd,
    ball,
    flint,
    fraction,
    hashable,
    rational,
    sign,
)
from boundlab.errors import SpecError, UndecidedError

Operation = Callable[..., Scalar]
Array = NDArray[Any]


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


def _first(rows: Array) -> Any:
    if rows.ndim > 1:
        return np.array([_first(row) for row in rows])
    best = 0
    for place in range(1, len(rows)):
        if sign(rows[place] - rows[best]) > 0:
            best = place
    return best


def exact_array(data: Any) -> Array:
    """Return fractions, floats or integers, or nested lists of them, as an array of exact numbers."""
    made = flint().fmpq
    of = np.frompyfunc(lambda x: made(*x.as_integer_ratio()), 1, 1)
    return np.asarray(of(np.array(data, dtype=object)), dtype=object)


def fractions(x: Array) -> Any:
    """Return an array of rational numbers as a list of fractions, or nested lists."""
    return np.frompyfunc(fraction, 1, 1)(x).tolist()


def _solve(A: Array, b: Array) -> Array:
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


def _linear(A: Array) -> Callable[[Array], Array]:
    """Return x ↦ A x; for balls by the products of flint's matrices, made once for each precision."""
    made: dict[int, Any] = {}

    def of(x: Array) -> Array:
        if x.ndim > 1 or not any(isinstance(entry, flint().arb) for entry in x):
            return np.asarray(x @ A.T)
        bits = flint().ctx.prec
        if bits not in made:
            made.clear()
            made[bits] = flint().arb_mat(*A.shape, A.ravel().tolist())
        return np.array((made[bits] * flint().arb_mat(len(x), 1, x.tolist())).entries(), dtype=object)

    return of


def _project(x: Array, radius: Scalar) -> Array:
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
