"""Interface of the simple term h, whichever it is."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, NoReturn, Self, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic import numbers
from boundlab.arithmetic.compiled import Clients
from boundlab.arithmetic.numbers import FLOATS, InexactError, Numbers, Operations, Scalar
from boundlab.errors import AssumptionError
from boundlab.objective._constants import EPS, Array, Floats

Vector = NDArray[Any]  # exact numbers as objects, shape (d,)


@final
@dataclass(frozen=True, slots=True)
class BoundedSet:
    """A bounded set, from outside: every x in it has |x_j − centre_j| ≤ half_j for all j, and ‖x − centre‖ ≤ radius.

    Parameters
    ----------
    centre, half
        Shape (d,) each, unit (0, 1).
    """

    centre: Floats
    half: Floats
    radius: float

    @property
    def diameter(self) -> float:
        """The largest distance of two points, from above."""
        corners = float(np.linalg.norm(2.0 * self.half)) * (1.0 + self._rounding)
        return min(2.0 * self.radius, corners)

    @property
    def farthest(self) -> float:
        """The largest norm of a point, from above."""
        corner = float(np.linalg.norm(np.abs(self.centre) + self.half))
        return min(float(np.linalg.norm(self.centre)) + self.radius, corner) * (1.0 + self._rounding)

    def with_point(self, x: Array) -> Self:
        """Return a set that holds x, too: rounding may have put a point of the set outside."""
        away = np.abs(np.asarray(x, dtype=np.float64) - self.centre)
        far = float(np.linalg.norm(away))
        if far <= self.radius and (away <= self.half).all():
            return self
        up = 1.0 + self._rounding
        half = np.where(away <= self.half, self.half, away * up)
        return replace(self, half=half, radius=self.radius if far <= self.radius else far * up)

    @property
    def _rounding(self) -> float:
        return 0.0 if len(self.half) == 1 else (len(self.half) + 8) * EPS


class ProxFunction(ABC):
    """A closed convex function h ≥ 0 with a proximal map in closed form. Its numbers are rational.

    Parameters
    ----------
    bounded
        Whether h is the indicator of a bounded set: 0 there, infinite elsewhere.
    words
        What it is, for messages.
    """

    bounded: bool
    words: str

    def value(self, x: Array) -> float:
        """Return h(x), unit (1, 0); infinite outside a set by more than rounding explains."""
        return float(self.values(x))

    @abstractmethod
    def values(self, X: Numbers, ops: Operations = FLOATS) -> Numbers:
        """Return h(X), or h at each row of X, in an arithmetic.

        Raises
        ------
        SpecError
            If it is infinite, in exact numbers.
        """

    @abstractmethod
    def prox(self, x: Numbers, size: Numbers, ops: Operations = FLOATS) -> Numbers:
        """Return argmin_z h(z) + ‖z − x‖²/(2·size) in an arithmetic.

        Parameters
        ----------
        x
            Shape (d,) or (…, d), unit (0, 1); it may be overwritten.
        size
            Step sizes ≥ 0, unit (−1, 2): one, or as many as there are x, shape (…, 1).

        Raises
        ------
        InexactError
            If it is not computed in these numbers.
        """

    @abstractmethod
    def compiled(self, clients: Clients) -> Clients:
        """Return clients whose steps end with this proximal map."""

    @abstractmethod
    def shortest(self, x: Floats, slope: Floats) -> tuple[Floats, float]:
        """Return the shortest vector of slope + ∂h(z) for a point z near x, and how far z is away.

        Parameters
        ----------
        x
            A result of :meth:`prox`, shape (d,).
        slope
            ∇f(x), shape (d,), unit (1, −1).
        """

    @abstractmethod
    def duality_gap(self, x: Floats, slope: Floats, error: float, reach: float) -> float:
        """Return max ⟨slope, x − y⟩ + h(x) − h(y) over all y with h(y) ≤ reach, from above; unit (1, 0).

        For convex f with the gradient ``slope`` at x it is at least F(x) − F(y) for all these y.

        Parameters
        ----------
        error
            How far the slope may be from ∇f(x).
        reach
            F(x) − inf f or more: h(x*) cannot exceed it.
        """

    def support(self, A: Array) -> Floats:
        """Return max ⟨a, x⟩ over the x where h is finite, for each row a of A, from above; infinite where not bounded.

        Parameters
        ----------
        A
            Shape (S, d).

        Returns
        -------
        ndarray, shape (S,)
        """
        return np.full(len(A), np.inf)

    def bounded_set(self, d: int) -> BoundedSet | None:
        """Return the set in R^d whose indicator h is, both as it is and with its numbers as floats; None: it is none.

        Parameters
        ----------
        d
            The dimension.
        """
        return None

    def holds_ball(self, x: Floats, radius: float) -> bool:
        """Return whether h is the indicator of a set that surely holds all points at most ``radius`` from x."""
        return False

    def rate(self, d: int) -> float:
        """Return what h changes by at most where x moves by 1 within its domain, from above; unit (1, −1)."""
        return 0.0

    def sharpness(self, x: Floats, slope: Floats) -> float:
        """Return m with ⟨slope, y − x⟩ + h(y) − h(x) ≥ m·‖y − x‖₁ for all y, 0 where none is known; unit (1, −1).

        If m > 0 and f is convex with this gradient at x, x is the one minimiser of F.
        """
        return 0.0

    def piece(self, x: Floats, ops: Operations = FLOATS) -> tuple[Numbers, Numbers, Numbers] | None:
        """Return the face of h on which x lies: between which ends coordinates may move with h linear, and the rates.

        Shape (d,) each; a coordinate whose ends are one number stands still. None where h has no such pieces.
        """
        return None

    @abstractmethod
    def lowest(self, slope: Vector, curvature: Scalar) -> Scalar:
        """Return min_y ⟨slope, y⟩ + curvature/2·‖y‖² + h(y) in balls, or less; −∞ where that may be infinite.

        Parameters
        ----------
        slope
            Unit (1, −1).
        curvature
            Not negative, unit (1, −2).
        """

    def shrink(self, slope: Vector) -> Scalar:
        """Return a t in [0, 1] with which t·slope surely has a :meth:`lowest` value without curvature; in balls."""
        return numbers.ball(1)

    def holds_at(self, x: Vector, pull: Vector) -> bool:
        """Return whether ``pull`` is a subgradient of h at x, without rounding: x is the proximal point of x + pull.

        False where that is not decided.
        """
        from boundlab.arithmetic.numbers import EXACT

        try:
            return bool((self.prox(x + pull, 1, EXACT) == x).all())
        except InexactError:
            return False

    def in_floats(self) -> Self:
        """Return the same with the floats that its numbers are rounded to, as those that the maps of floats take."""
        rounded = {one.name: Fraction(float(getattr(self, one.name))) for one in fields(self)}  # type: ignore[arg-type]
        return replace(self, **rounded)  # type: ignore[type-var]

    def no_gradient(self, who: str) -> NoReturn:
        """Say that F = f + h has no gradient.

        Parameters
        ----------
        who
            Id of the problem.

        Raises
        ------
        AssumptionError
            Always.
        """
        raise AssumptionError(f"problem {who} with {self.words} has no gradient: its steps are proximal gradient steps")

    def no_proximal_step(self, who: str) -> NoReturn:
        """Say that f_i + h has no proximal map in closed form; as :meth:`no_gradient`."""
        raise AssumptionError(
            f"problem {who} with {self.words} has no proximal step of f_i + h in closed form: its steps are proximal "
            "gradient steps"
        )

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """Return the options that :func:`boundlab.objective.simple.read_simple` makes it of."""


def float_up(value: Fraction) -> float:
    """Return a float that is no less than the number, nor than the float that it is rounded to."""
    near = float(value)
    return near if Fraction(near) >= value else float(np.nextafter(near, np.inf))


def written(value: Fraction) -> float | str:
    """Return a number as an option: a float where that is its decimal, else text such as 1/3."""
    return float(value) if Fraction(repr(float(value))) == value else str(value)
