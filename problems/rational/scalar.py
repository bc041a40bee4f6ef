"""Single numbers as losses need them: rational ones, those with one root, and balls, which roots and exponentials are.

What has kinks asks on which side a number lies; a ball that cannot tell asks for more digits.
"""

from typing import Final

from boundlab.arithmetic.numbers import Scalar, ball, sign
from boundlab.problems.scalar import Operations


def _absolute(r: Scalar) -> Scalar:
    return r if sign(r) >= 0 else -r


def _minimum(r: Scalar, most: Scalar) -> Scalar:
    return most if sign(r - most) >= 0 else r


def _clip(r: Scalar, width: Scalar) -> Scalar:
    """Return r itself where it lies inside: its slope then is that of a quadratic, as who makes steps wants to know."""
    if sign(r - width) >= 0:
        return width
    return -width if sign(r + width) <= 0 else r


def _shrink(r: Scalar, by: Scalar) -> Scalar:
    if sign(r - by) >= 0:
        return r - by
    return r + by if sign(r + by) <= 0 else r * 0


def _within(r: Scalar, width: Scalar) -> bool:
    return sign(r - width) < 0 < sign(r + width)


EXACT: Final = Operations(
    absolute=_absolute,
    exp=lambda r: ball(r).exp(),
    sign=sign,
    clip=_clip,
    minimum=_minimum,
    positive=lambda r: r if sign(r) >= 0 else r * 0,
    shrink=_shrink,
    below=lambda r, bound: int(sign(r - bound) < 0),
    within=_within,
    where=lambda condition, then, otherwise: then() if condition else otherwise(),
    slant=lambda t: ball(1 + t**2).sqrt(),
    log_exp=lambda r: ball(r).exp().log1p(),
    falling=lambda r: -1 / (1 + ball(r).exp()),
    columns=tuple,
)
