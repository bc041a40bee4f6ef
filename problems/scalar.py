"""Losses of one number, each written once for arrays, tensors, rational numbers and balls.

The kernel of :mod:`boundlab.execute.kernels` and the loop of :mod:`boundlab.execute._walk` have texts of their own, and
are tested against these.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, TypeAlias, final

import numpy as np

from boundlab.arithmetic import compiled
from boundlab.errors import AssumptionError
from boundlab.objective import Array

Kind = Literal["huber", "pseudo-huber", "lad"]
Numbers: TypeAlias = Any  # an array, a tensor, or one number of :mod:`boundlab.arithmetic.numbers`
Function = Callable[..., Numbers]
_MANY = 256  # numbers from which a call of NumPy costs less than its work


@final
@dataclass(frozen=True, slots=True)
class Operations:
    """A number system as losses need it; adding, multiplying and dividing is what its numbers do by themselves.

    Parameters
    ----------
    absolute, exp
        |r| and eʳ.
    sign, clip
        The sign of r, 0 at 0, and clip(r, width): the nearest number to r in [−width, width]. Both may overwrite r.
    minimum
        minimum(r, s).
    positive, shrink
        max(r, 0), and shrink(r, by): r moved towards 0 by this much, and no further.
    below
        below(r, bound): 1 where r < bound, else 0.
    within, where
        within(r, width): where |r| ≤ width; where(condition, then, otherwise): the results of two functions, of which a
        single number calls only the one that it takes.
    slant, log_exp, falling
        √(1 + r²), log(1 + eʳ), and −1/(1 + eʳ), which may overwrite r.
    columns
        The two columns of an array, such that they fit to margins.
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


@dataclass(frozen=True)
class ScalarLoss(ABC):
    """A convex function φ of one number.

    A class says what its largest φ'' is, None where there is a kink, and where that lies.

    Parameters
    ----------
    width
        The |r| at which it turns linear; None: it has no such parameter.
    steepest
        The largest |φ'|.
    """

    width: Any = None
    steepest: Any = 1.0
    curvature: ClassVar[float | None] = 1.0
    kink: ClassVar[float] = math.nan
    number: ClassVar[int]  # of the same φ in compiled loops

    @abstractmethod
    def value(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ(r)."""

    @abstractmethod
    def slope(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ'(r), 0 at a kink; r may be overwritten."""

    def prox(self, r: Numbers, a: Numbers, ops: Operations) -> Numbers:
        """Return argmin_s φ(s) + (s − r)²/(2a).

        Raises
        ------
        AssumptionError
            If it has no closed form.
        """
        raise AssumptionError("this loss has no proximal step in closed form")

    def from_kink(self, r: Array) -> Array:
        """Return how far r is from where φ' jumps."""
        out: Array = np.abs(r - self.kink)
        return out


@final
class HuberLoss(ScalarLoss):
    """r²/2 for |r| ≤ width, width·(|r| − width/2) beyond."""

    number = compiled.HUBER

    def value(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ(r)."""
        size = ops.absolute(r)
        small = ops.minimum(size, self.width)
        return small * (size - small / 2)

    def slope(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ'(r)."""
        return ops.clip(r, self.width)

    def prox(self, r: Numbers, a: Numbers, ops: Operations) -> Numbers:
        """Return the proximal point."""
        return ops.where(
            ops.within(r, self.width * (1 + a)), lambda: r / (1 + a), lambda: ops.shrink(r, a * self.width)
        )


@final
class PseudoHuberLoss(ScalarLoss):
    """width²·(√(1 + (r/width)²) − 1)."""

    number = compiled.PSEUDO_HUBER

    def value(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ(r), as r²/(1 + √(1 + (r/width)²)): without cancellation at small r."""
        return r * r / (1 + ops.slant(r / self.width))

    def slope(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ'(r)."""
        return r / ops.slant(r / self.width)


@final
class AbsoluteLoss(ScalarLoss):
    """|r|."""

    number = compiled.ABSOLUTE
    curvature, kink = None, 0.0

    def value(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ(r)."""
        return ops.absolute(r)

    def slope(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ'(r)."""
        return ops.sign(r)

    def prox(self, r: Numbers, a: Numbers, ops: Operations) -> Numbers:
        """Return the proximal point: soft thresholding."""
        return ops.shrink(r, a)


@final
class SquareLoss(ScalarLoss):
    """r²/2."""

    number = compiled.SQUARE

    def value(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ(r)."""
        return 0.5 * r**2

    def slope(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ'(r)."""
        return r


@final
class HingeLoss(ScalarLoss):
    """max(0, 1 − r)."""

    number = compiled.HINGE
    curvature, kink = None, 1.0

    def value(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ(r)."""
        return ops.positive(1 - r)

    def slope(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ'(r)."""
        return -ops.below(r, 1)


@final
class LogisticLoss(ScalarLoss):
    """log(1 + e⁻ʳ); φ'' = σ(1 − σ) ≤ ¼."""

    number = compiled.LOGISTIC
    curvature = 0.25

    def value(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ(r)."""
        return ops.log_exp(-r)

    def slope(self, r: Numbers, ops: Operations) -> Numbers:
        """Return φ'(r)."""
        return ops.falling(r)


def loss_of(kind: Kind, width: Any) -> ScalarLoss:
    """Return the loss of separable problems; lad does not read the width."""
    if kind == "lad":
        return AbsoluteLoss()
    return HuberLoss(width, width) if kind == "huber" else PseudoHuberLoss(width, width)


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
    clip=lambda r, width: r.clip(-width, width),  # maximum and minimum of a number take three times as long
    minimum=np.minimum,
    positive=lambda r: np.maximum(0.0, r),
    shrink=lambda r, by: np.sign(r) * np.maximum(np.abs(r) - by, 0.0),
    below=lambda r, bound: (r < bound).astype(r.dtype),
    within=lambda r, width: np.abs(r) <= width,
    where=lambda condition, then, otherwise: np.where(condition, then(), otherwise()),
    slant=_slant,
    log_exp=lambda r: np.logaddexp(0.0, r),
    falling=_falling,
    columns=lambda pairs: pairs.T,
)
