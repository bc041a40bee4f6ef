"""Single numbers as losses need them: rational ones, those with one root, and balls, which roots and exponentials are.

What jumps asks on which side a number lies; a ball that cannot tell asks for more digits. What is continuous takes
every such ball: at the very point where two formulas meet no number of digits would tell.
"""

from collections.abc import Callable
from functools import wraps
from typing import Final

from boundlab.arithmetic.numbers import Scalar, ball, sign
from boundlab.errors import UndecidedError
from boundlab.problems.scalar import Operations

Operation = Callable[..., Scalar]


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


@_continuous(lambda r, width: r.min(width).max(-width))
def _clip(r: Scalar, width: Scalar) -> Scalar:
    """Return r itself where it lies inside: its slope then is that of a quadratic, as who makes steps wants to know."""
    if sign(r - width) >= 0:
        return width
    return -width if sign(r + width) <= 0 else r


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


def _where(condition: bool | None, then: Operation, otherwise: Operation) -> Scalar:
    """Return what holds, and where that is not known a ball of both."""
    if condition is None:
        return ball(then()).union(ball(otherwise()))
    return then() if condition else otherwise()


EXACT: Final = Operations(
    absolute=_absolute,
    exp=lambda r: ball(r).exp(),
    sign=sign,
    clip=_clip,
    minimum=_minimum,
    positive=_positive,
    shrink=_shrink,
    below=lambda r, bound: int(sign(r - bound) < 0),
    within=_within,
    where=_where,
    slant=lambda t: ball(1 + t**2).sqrt(),
    log_exp=lambda r: ball(r).exp().log1p(),
    falling=lambda r: -1 / (1 + ball(r).exp()),
    columns=tuple,
)
