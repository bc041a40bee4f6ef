"""The simple convex h of a composite objective F = f + h: proximal maps in every arithmetic, and certificates.

"Simple" is Nesterov's word (Gradient methods for minimizing composite functions, 2013): min_z h(z) + ‖z − x‖²/(2α) has
a closed form. Who runs a method needs that map; who certifies a minimiser, subgradients and a duality gap.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, NoReturn, Self, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic import numbers
from boundlab.arithmetic.compiled import BALL, BOX, L1 as L1_NORM, Clients
from boundlab.arithmetic.near import NEAR, Near, norm, norm_up, sqrt
from boundlab.arithmetic.numbers import FLOATS, InexactError, Numbers, Operations, Scalar, read_number
from boundlab.errors import AssumptionError, SpecError
from boundlab.options import Options
from boundlab.randomness import Array, Floats

# Interface of the simple term h, whichever it is.

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
        return min(2.0 * self.radius, norm_up((2.0 * self.half).tolist()))

    @property
    def farthest(self) -> float:
        """The largest norm of a point, from above."""
        ways = norm(self.centre) + self.radius, norm(Near(np.abs(self.centre)) + self.half)
        return min(float(one.upper) for one in ways)

    def with_point(self, x: Array) -> Self:
        """Return a set that holds x, too: rounding may have put a point of the set outside."""
        away = NEAR.absolute(Near(x) - self.centre)
        if (away.value <= self.half).all() and norm(away).value <= self.radius:
            return self
        return replace(self, half=np.maximum(self.half, away.upper), radius=max(self.radius, float(norm(away).upper)))


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

    def near(self, x: Array) -> Near:
        """Return h(x) with its error; of a set what :meth:`value` says."""
        return Near(self.value(x))

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
    def shortest(self, x: Floats, slope: Floats) -> tuple[Near, float]:
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


# h(x) = weight·‖x‖₁.

_NEAR = 64


@final
@dataclass(frozen=True)
class L1(ProxFunction):
    """h(x) = weight·‖x‖₁; its proximal map is soft thresholding by size·weight.

    Parameters
    ----------
    weight
        Positive, unit (1, −1).

    Raises
    ------
    SpecError
        If the weight is not positive.
    """

    weight: Fraction
    bounded = False

    def __post_init__(self) -> None:
        if not self.weight > 0:
            raise SpecError(f"l1 must be > 0, got {float(self.weight):g}; leave it out for f alone")

    @property
    def words(self) -> str:  # type: ignore[override]
        """Description of h, for messages."""
        return f"the penalty {float(self.weight):g}·‖x‖₁"

    @cached_property
    def _weight(self) -> float:
        return float(self.weight)

    def values(self, X: Numbers, ops: Operations = FLOATS) -> Numbers:
        """Return weight·‖x‖₁."""
        return ops.number(self.weight) * ops.absolute(X).sum(-1, dtype=ops.wide)

    def near(self, x: Array) -> Near:
        """Return weight·‖x‖₁."""
        found: Near = self.values(Near(x), NEAR)
        return found

    def prox(self, x: Numbers, size: Numbers, ops: Operations = FLOATS) -> Numbers:
        """Take off what lies within ±size·weight."""
        return ops.shrink(x, size * ops.number(self.weight))

    def compiled(self, clients: Clients) -> Clients:
        """Return clients with this map."""
        return clients._replace(simple=L1_NORM, high=self._weight)

    def shortest(self, x: Floats, slope: Floats) -> tuple[Near, float]:
        """At 0 a subgradient takes off what lies within ±weight; elsewhere it is ±weight."""
        return slope - NEAR.clip(
            np.where(x != 0.0, -self._weight * np.sign(x), slope), -self._weight, self._weight
        ), 0.0

    def duality_gap(self, x: Floats, slope: Floats, error: float, reach: float) -> float:
        """Return h(x) + ⟨slope, x⟩ + (‖slope‖∞ − weight)₊·reach/weight: h(y) ≤ reach bounds ‖y‖₁."""
        size, farthest = Near(np.abs(x)).sum(), Near(reach) / self._weight
        beyond = NEAR.positive(Near(np.abs(slope).max()) + error - self._weight)
        return float(((self._weight + Near(error)) * size + Near(slope) @ x + beyond * farthest).upper)

    def rate(self, d: int) -> float:
        """Return weight·√d."""
        return float((self._weight * sqrt(Near(d))).upper)

    def sharpness(self, x: Floats, slope: Floats) -> float:
        """Return what the weight exceeds the slopes by, at 0."""
        return 0.0 if x.any() else max(self._weight - float(np.abs(slope).max()), 0.0)

    def piece(self, x: Floats, ops: Operations = FLOATS) -> tuple[Numbers, Numbers, Numbers]:
        """Keep zeros, and signs."""
        zero = ops.array(np.zeros(len(x)))
        low, high = np.where(x < 0.0, -np.inf, zero), np.where(x > 0.0, np.inf, zero)
        return low, high, ops.number(self.weight) * ops.array(np.sign(x))

    def lowest(self, slope: Vector, curvature: Scalar) -> Scalar:
        """Return −Σ_j (|slope_j| − weight)₊²/(2·curvature)."""
        weight = numbers.ball(numbers.rational(self.weight))
        if curvature == 0:
            inside = all(abs(entry) <= weight for entry in slope)
            return numbers.ball(0) if inside else numbers.flint().arb("-inf")
        beyond = [(abs(entry) - weight).max(numbers.ball(0)) for entry in slope]
        return -sum((entry * entry for entry in beyond), start=numbers.ball(0)) / (2 * curvature)

    def shrink(self, slope: Vector) -> Scalar:
        """Return weight/‖slope‖∞ or 1, from below."""
        arb, weight = numbers.flint().arb, numbers.ball(numbers.rational(self.weight))
        largest = max(abs(entry).upper() for entry in slope)
        # The last factor is far from 1 for balls, and 1 for floats.
        return arb(1) if largest <= weight else (weight / largest).lower() * (1 - arb(2) ** -_NEAR)

    def options(self) -> dict[str, Any]:
        """Return l1."""
        return {"l1": written(self.weight)}


# Indicators of bounded sets: of a box, and of a ball.

_AT_THE_EDGE = 1e-9  # of the radius


class SetIndicator(ProxFunction):
    """The indicator of a bounded set: 0 there, infinite elsewhere; its proximal map is the projection."""

    bounded = True

    @property
    @abstractmethod
    def size(self) -> float:
        """The largest coordinate of a point of the set."""

    def values(self, X: Numbers, ops: Operations = FLOATS) -> Numbers:
        """Return 0 inside, and as far outside as rounding alone puts means; infinity beyond."""
        away = X - self.prox(X * 1, 0, ops)
        return ops.zero_at((away * away).sum(-1), self.size)


@final
@dataclass(frozen=True)
class BoxIndicator(SetIndicator):
    """The indicator of low ≤ x_j ≤ high for every coordinate; its proximal map is the projection.

    Parameters
    ----------
    low, high
        Unit (0, 1).

    Raises
    ------
    SpecError
        If low is not below high.
    """

    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise SpecError(f"box=[low,high] needs low < high, got [{float(self.low):g},{float(self.high):g}]")

    @property
    def words(self) -> str:  # type: ignore[override]
        """Description of h, for messages."""
        return f"the box {float(self.low):g} ≤ x_j ≤ {float(self.high):g}"

    @cached_property
    def _ends(self) -> tuple[float, float]:
        return float(self.low), float(self.high)

    @cached_property
    def size(self) -> float:
        """The larger end."""
        return max(map(abs, self._ends))

    def prox(self, x: Numbers, size: Numbers, ops: Operations = FLOATS) -> Numbers:
        """Project."""
        return ops.clip(x, ops.number(self.low), ops.number(self.high))

    def compiled(self, clients: Clients) -> Clients:
        """Return clients with this map."""
        return clients._replace(simple=BOX, low=self._ends[0], high=self._ends[1])

    def shortest(self, x: Floats, slope: Floats) -> tuple[Near, float]:
        """At an end the normal cone takes off what points outside."""
        low, high = self._ends
        out = np.where(x >= high, np.maximum(slope, 0.0), slope)
        return Near(np.where(x <= low, np.minimum(slope, 0.0), out)), 0.0

    def duality_gap(self, x: Floats, slope: Floats, error: float, reach: float) -> float:
        """Return Σ_j max over y_j of slope_j·(x_j − y_j): it is attained at an end."""
        low, high = self._ends
        each = np.maximum((slope * (Near(x) - low)).upper, (slope * (Near(x) - high)).upper)
        return float((Near(each).sum() + error * sqrt(Near(len(x))) * (Near(high) - low)).upper)

    def support(self, A: Array) -> Floats:
        """Return Σ_j max(low·a_j, high·a_j): it is attained at a corner."""
        low, high = self._ends
        return np.asarray(Near(np.maximum((low * Near(A)).upper, (high * Near(A)).upper)).sum(1).upper)

    def bounded_set(self, d: int) -> BoundedSet:
        """Return the box around its middle."""
        low, high = -float_up(-self.low), float_up(self.high)
        middle = float((self.low + self.high) / 2)
        half = float_up(max(Fraction(high) - Fraction(middle), Fraction(middle) - Fraction(low)))
        radius = half if d == 1 else float((half * sqrt(Near(d))).upper)
        return BoundedSet(np.full(d, middle), np.full(d, half), radius)

    def holds_ball(self, x: Floats, radius: float) -> bool:
        """Return whether every coordinate is that far from both ends."""
        low, high = self._ends
        return bool(((Near(x) - radius).lower >= low).all() and ((Near(x) + radius).upper <= high).all())

    def sharpness(self, x: Floats, slope: Floats) -> float:
        """Return the smallest push outside at a corner."""
        low, high = self._ends
        push = np.where(x <= low, slope, np.where(x >= high, -slope, 0.0))
        return max(float(push.min()), 0.0)

    def piece(self, x: Floats, ops: Operations = FLOATS) -> tuple[Numbers, Numbers, Numbers]:
        """Keep ends ends."""
        (low, high), (least, most) = map(ops.number, (self.low, self.high)), self._ends
        return np.where(x >= most, high, low), np.where(x <= least, low, high), ops.array(np.zeros(len(x)))

    def lowest(self, slope: Vector, curvature: Scalar) -> Scalar:
        """Return the sum over coordinates, each with its minimiser at an end or where slope_j + curvature·y_j = 0."""
        low, high = (numbers.ball(numbers.rational(end)) for end in (self.low, self.high))
        total = numbers.ball(0)
        for entry in slope:
            if curvature == 0:
                total += (entry * low).min(entry * high)
            else:
                y = (-entry / curvature).max(low).min(high)
                total += entry * y + curvature * y * y / 2
        return total

    def options(self) -> dict[str, Any]:
        """Return box."""
        return {"box": [written(self.low), written(self.high)]}


@final
@dataclass(frozen=True)
class BallIndicator(SetIndicator):
    """The indicator of ‖x‖ ≤ radius; its proximal map is the projection.

    Parameters
    ----------
    radius
        Positive, unit (0, 1).

    Raises
    ------
    SpecError
        If the radius is not positive.
    """

    radius: Fraction

    def __post_init__(self) -> None:
        if not self.radius > 0:
            raise SpecError(f"ball=radius needs a radius > 0, got {float(self.radius):g}")

    @property
    def words(self) -> str:  # type: ignore[override]
        """Description of h, for messages."""
        return f"the ball ‖x‖ ≤ {float(self.radius):g}"

    @cached_property
    def size(self) -> float:
        """The radius."""
        return float(self.radius)

    def prox(self, x: Numbers, size: Numbers, ops: Operations = FLOATS) -> Numbers:
        """Project."""
        return ops.project(x, ops.number(self.radius))

    def compiled(self, clients: Clients) -> Clients:
        """Return clients with this map."""
        return clients._replace(simple=BALL, high=self.size)

    def shortest(self, x: Floats, slope: Floats) -> tuple[Near, float]:
        """On the sphere the normal cone takes off what points outside."""
        length = norm(x)
        if length.value < self.size * (1.0 - _AT_THE_EDGE):
            return Near(slope), 0.0
        outward = x / length
        inward = NEAR.positive(-(slope @ outward)) * outward
        return slope + inward, float(NEAR.absolute(length - self.size).upper)

    def duality_gap(self, x: Floats, slope: Floats, error: float, reach: float) -> float:
        """Return ⟨slope, x⟩ + radius·‖slope‖."""
        return float((Near(slope) @ x + self.size * norm(slope) + error * (norm(x) + self.size)).upper)

    def support(self, A: Array) -> Floats:
        """Return radius·‖a‖."""
        return np.asarray((self.size * norm(A)).upper)

    def bounded_set(self, d: int) -> BoundedSet:
        """Return the ball around 0."""
        radius = float_up(self.radius)
        return BoundedSet(np.zeros(d), np.full(d, radius), radius)

    def holds_ball(self, x: Floats, radius: float) -> bool:
        """Return whether ‖x‖ + radius is at most that of the ball."""
        return bool((norm(x) + radius).upper <= self.size)

    def lowest(self, slope: Vector, curvature: Scalar) -> Scalar:
        """Return −‖slope‖·z + curvature·z²/2 with z = min(radius, ‖slope‖/curvature)."""
        steep = (slope * slope).sum().upper().sqrt()  # the minimum falls as the norm grows
        z = numbers.ball(numbers.rational(self.radius))
        if curvature != 0:
            z = z.min(steep / curvature)
        return -steep * z + curvature * z * z / 2

    def options(self) -> dict[str, Any]:
        """Return ball."""
        return {"ball": written(self.radius)}


# The options that make an objective composite.

OPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "l1": "weight w: minimise f(x) + w·‖x‖₁ by proximal steps",
        "box": "[low,high]: minimise f over low ≤ x_j ≤ high by projected steps",
        "ball": "radius r: minimise f over ‖x‖ ≤ r by projected steps",
    }
)


def read_simple(options: Options) -> ProxFunction | None:
    """Return the h of the options l1, box and ball, whose numbers are taken at their word; None without any.

    Raises
    ------
    SpecError
        If there are two, or a number is wrong.
    """
    given = [key for key in OPTIONS if options.has(key)]
    if not given:
        return None
    if len(given) > 1:
        raise SpecError(f"{options.owner}: {' and '.join(given)} do not go together; keep one of them")
    key = given[0]
    what = f"{options.owner}: {key}"
    try:
        match key:
            case "l1":
                return L1(read_number(options.raw(key), what))
            case "ball":
                return BallIndicator(read_number(options.raw(key), what))
            case _:
                return BoxIndicator(*_ends(options.raw(key), what))
    except SpecError as error:
        raise SpecError(str(error) if str(error).startswith(what) else f"{options.owner}: {error}") from None


def _ends(raw: object, what: str) -> tuple[Fraction, Fraction]:
    listed = raw if isinstance(raw, (list, tuple)) else str(raw).strip("[] ").replace(",", " ").split()
    if len(listed) != 2:
        raise SpecError(f"{what} must be [low,high], e.g. [-1,1], got {raw!r}")
    return read_number(listed[0], what), read_number(listed[1], what)
