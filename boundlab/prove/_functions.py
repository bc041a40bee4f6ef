"""Functions in rational numbers, for exact models: values, subgradients and constants without rounding.

They have one or two dimensions. A maximum of affine functions is Lipschitz, a quadratic smooth, a Huber function both;
a piecewise quadratic of one variable is smooth, and need not be convex.
"""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import TypeAlias, final

Point: TypeAlias = tuple[Fraction, ...]
_ZERO, _FINE = Fraction(0), 64


def inner(one: Point, other: Point) -> Fraction:
    """Return ⟨u, v⟩."""
    return sum((a * b for a, b in zip(one, other, strict=True)), _ZERO)


def plus(one: Point, other: Point, by: Fraction = Fraction(1)) -> Point:
    """Return u + by·v."""
    return tuple(a + by * b for a, b in zip(one, other, strict=True))


def summed(size: int, parts: Iterable[tuple[Fraction, Point]]) -> Point:
    """Return Σ weight·u, of vectors of so many parts."""
    found: Point = tuple(Fraction() for _ in range(size))
    for weight, point in parts:
        found = plus(found, point, weight)
    return found


def square_root(value: Fraction) -> Fraction | None:
    """Return the root of a number where that is rational, else None."""
    if value < 0:
        return None
    found = Fraction(isqrt(value.numerator), isqrt(value.denominator))
    return found if found * found == value else None


def root_above(value: Fraction) -> Fraction:
    """Return the root of a number, or a rational number not far above it."""
    exact = square_root(value)
    return Fraction(isqrt(int(value * _FINE**2)) + 1, _FINE) if exact is None else exact


class Function(ABC):
    """A function of one or two variables whose values and slopes at rational points are rational."""

    @abstractmethod
    def value(self, x: Point) -> Fraction:
        """Return f(x)."""

    @abstractmethod
    def slopes(self, x: Point) -> tuple[Point, ...]:
        """Return points whose convex hull is the set of subgradients at x; the first is the one that runs use."""

    @abstractmethod
    def lipschitz(self) -> Fraction | None:
        """Return the square of the least Lipschitz constant, None where there is none."""

    @abstractmethod
    def smoothness(self) -> Fraction | None:
        """Return the least Lipschitz constant of the gradient, None where there is none."""

    def convexity(self) -> Fraction:
        """Return the largest mu for which f − mu/2·‖x‖² is convex."""
        return _ZERO

    def breaks(self) -> tuple[Fraction, ...]:
        """Return where the slope of a function of one variable is not linear."""
        return ()

    @property
    def dimension(self) -> int:
        """The number of variables."""
        return 1

    def slope(self, x: Point) -> Point:
        """Return the subgradient that runs use."""
        return self.slopes(x)[0]


def _affine(slope: Point, level: Fraction) -> str:
    names = ("x",) if len(slope) == 1 else ("x1", "x2")
    parts = [
        f"{a}*{name}" if abs(a) != 1 else name if a > 0 else f"-{name}"
        for a, name in zip(slope, names, strict=True)
        if a
    ]
    return " + ".join([*parts, *([str(level)] if level or not parts else [])]).replace("+ -", "- ")


@final
@dataclass(frozen=True)
class MaxAffine(Function):
    """max of ⟨slope, x⟩ + level over pieces (slope, level)."""

    pieces: tuple[tuple[Point, Fraction], ...]

    def value(self, x: Point) -> Fraction:
        """Return the largest piece at x."""
        return max(inner(slope, x) + level for slope, level in self.pieces)

    def slopes(self, x: Point) -> tuple[Point, ...]:
        """Return the slopes of the largest pieces."""
        top = self.value(x)
        return tuple(slope for slope, level in self.pieces if inner(slope, x) + level == top)

    def lipschitz(self) -> Fraction | None:
        """Return the largest square of a slope: of all pieces, though one may be nowhere the largest."""
        return max(inner(slope, slope) for slope, _ in self.pieces)

    def smoothness(self) -> Fraction | None:
        """Return 0 for one piece."""
        return _ZERO if len({slope for slope, _ in self.pieces}) == 1 else None

    def breaks(self) -> tuple[Fraction, ...]:
        """Return where two pieces meet."""
        return tuple(
            (b - a) / (s[0] - t[0]) for (s, a), (t, b) in itertools.combinations(self.pieces, 2) if s[0] != t[0]
        )

    @property
    def dimension(self) -> int:
        """Of the slopes."""
        return len(self.pieces[0][0])

    def _absolute(self) -> str | None:
        """Return a·|x − c| where it is that."""
        if self.dimension > 1 or len(self.pieces) != 2:
            return None
        (((one,), level), ((other,), also)) = self.pieces
        if one + other or level + also or not one:
            return None
        centre = -level / one
        sign = "-" if centre > 0 else "+"
        text = f"|x {sign} {abs(centre)}|" if centre else "|x|"
        return text if abs(one) == 1 else f"{abs(one)}*{text}"

    def __str__(self) -> str:
        if (short := self._absolute()) is not None:
            return short
        parts = [_affine(slope, level) for slope, level in self.pieces]
        return parts[0] if len(parts) == 1 else f"max({', '.join(parts)})"


class Curved(Function):
    """A function whose second derivatives are among a few numbers."""

    curvatures: tuple[Fraction, ...]

    def smoothness(self) -> Fraction | None:
        """Return the largest curvature without its sign."""
        return max(abs(one) for one in self.curvatures)

    def convexity(self) -> Fraction:
        """Return the least curvature."""
        return min(self.curvatures)


@final
@dataclass(frozen=True)
class Quadratic(Curved):
    """Σ curvature_j/2·(x_j − centre_j)²; a curvature may be negative."""

    curvatures: Point
    centre: Point

    def value(self, x: Point) -> Fraction:
        """Return the sum."""
        return sum((c * (a - b) ** 2 for c, a, b in zip(self.curvatures, x, self.centre, strict=True)), _ZERO) / 2

    def slopes(self, x: Point) -> tuple[Point, ...]:
        """Return the gradient."""
        return (tuple(c * (a - b) for c, a, b in zip(self.curvatures, x, self.centre, strict=True)),)

    def lipschitz(self) -> Fraction | None:
        """Return None unless it is constant."""
        return None if any(self.curvatures) else _ZERO

    @property
    def dimension(self) -> int:
        """Of the centre."""
        return len(self.centre)

    def __str__(self) -> str:
        names = ("x",) if self.dimension == 1 else ("x1", "x2")
        parts = [
            f"{c / 2}*({name} - {a})^2" if a else f"{c / 2}*{name}^2"
            for c, a, name in zip(self.curvatures, self.centre, names, strict=True)
        ]
        return " + ".join(parts)


@final
@dataclass(frozen=True)
class Huber(Function):
    """curvature/2·(x − centre)² up to a distance of ``width``, and its tangent from there on; one variable."""

    curvature: Fraction
    centre: Fraction
    width: Fraction

    def value(self, x: Point) -> Fraction:
        """Return the quadratic, or the tangent."""
        far = abs(x[0] - self.centre)
        near = min(far, self.width)
        return self.curvature * near * (far - near / 2)

    def slopes(self, x: Point) -> tuple[Point, ...]:
        """Return the derivative."""
        return ((self.curvature * max(-self.width, min(self.width, x[0] - self.centre)),),)

    def lipschitz(self) -> Fraction | None:
        """Return the square of the slope of the tangent."""
        return (self.curvature * self.width) ** 2

    def smoothness(self) -> Fraction | None:
        """Return the curvature."""
        return self.curvature

    def breaks(self) -> tuple[Fraction, ...]:
        """Return where the tangents begin."""
        return (self.centre - self.width, self.centre + self.width)

    def __str__(self) -> str:
        at = f"|x - {self.centre}|"
        return f"Huber({self.curvature}/2*{at}^2 for {at} <= {self.width})" if self.curvature and self.width else "0"


@final
@dataclass(frozen=True)
class PiecewiseQuadratic(Curved):
    """A function of one variable whose slope is continuous, and linear between knots.

    Parameters
    ----------
    knots
        In their order, at least one.
    curvatures
        Of the pieces, one more than there are knots; they may be negative.
    slope
        At the first knot, where the value is 0.
    """

    knots: tuple[Fraction, ...]
    curvatures: tuple[Fraction, ...]
    slope_there: Fraction = _ZERO

    def __post_init__(self) -> None:
        if len(self.curvatures) != len(self.knots) + 1 or list(self.knots) != sorted(set(self.knots)):
            raise ValueError("a piece has one curvature, and knots increase")

    def _from_first(self, x: Fraction) -> tuple[Fraction, Fraction]:
        """Return value and slope."""
        at, value, slope = self.knots[0], _ZERO, self.slope_there
        ends = [*self.knots[1:], x] if x > at else [x]
        for place, end in enumerate(ends):
            way = min(end, x) - at
            curvature = self.curvatures[place + 1 if x > self.knots[0] else 0]
            value += slope * way + curvature * way * way / 2
            slope += curvature * way
            at += way
            if at == x:
                break
        return value, slope

    def value(self, x: Point) -> Fraction:
        """Return the integral of the slope from the first knot."""
        return self._from_first(x[0])[0]

    def slopes(self, x: Point) -> tuple[Point, ...]:
        """Return the derivative."""
        return ((self._from_first(x[0])[1],),)

    def lipschitz(self) -> Fraction | None:
        """Return the largest square of a slope at a knot, None where it is unbounded."""
        if self.curvatures[0] or self.curvatures[-1]:
            return None
        return max(self.slopes((at,))[0][0] ** 2 for at in self.knots)

    def breaks(self) -> tuple[Fraction, ...]:
        """Return the knots."""
        return self.knots

    def __str__(self) -> str:
        ends = ["", *map(str, self.knots), ""]
        pieces = [
            f"{curvature} for {f'{low} <= ' if low else ''}x{f' <= {high}' if high else ''}"
            for curvature, (low, high) in zip(self.curvatures, itertools.pairwise(ends), strict=True)
        ]
        first = self.knots[0]
        return f"the function with f({first}) = 0, f'({first}) = {self.slope_there}, f'' = {', '.join(pieces)}"


# ---------------------------------------------------------------------- minimisers


def in_hull(point: Point, of: tuple[Point, ...]) -> bool:
    """Return whether a point of one or two dimensions lies in the convex hull of others (Carathéodory)."""
    if len(point) == 1:
        return min(one[0] for one in of) <= point[0] <= max(one[0] for one in of)
    for corners in itertools.combinations_with_replacement(of, 3):
        a, b, c = corners
        u, v, w = plus(b, a, Fraction(-1)), plus(c, a, Fraction(-1)), plus(point, a, Fraction(-1))
        area = u[0] * v[1] - u[1] * v[0]
        if area:
            s, t = (w[0] * v[1] - w[1] * v[0]) / area, (u[0] * w[1] - u[1] * w[0]) / area
            if s >= 0 and t >= 0 and s + t <= 1:
                return True
        elif u[0] * w[1] == u[1] * w[0] and 0 <= inner(u, w) <= inner(u, u) and (any(u) or not any(w)):
            return True
    return False


def minimise(functions: tuple[Function, ...], near: Point) -> tuple[Point, tuple[Point, ...]] | None:
    """Return the nearest minimiser of the mean of convex functions, with subgradients of sum 0; None: not found."""
    if functions[0].dimension == 1:
        found = list(_minimisers_on_a_line(functions, near))
        return min(found, key=lambda one: abs(one[0][0] - near[0]), default=None)
    quadratics = [one for one in functions if isinstance(one, Quadratic)]
    if len(quadratics) < len(functions):
        return None
    star = []
    for place in range(functions[0].dimension):
        weight = sum((one.curvatures[place] for one in quadratics), _ZERO)
        if weight <= 0:
            return None
        star.append(sum((one.curvatures[place] * one.centre[place] for one in quadratics), _ZERO) / weight)
    return tuple(star), tuple(one.slope(tuple(star)) for one in functions)


def infimum(functions: tuple[Function, ...], weights: tuple[Fraction, ...] = ()) -> Fraction | None:
    """Return the infimum of Σ weight·f of functions of one variable, convex or not; None where there is none.

    Without weights it is that of their mean.
    """
    shares = weights or tuple(Fraction(1, len(functions)) for _ in functions)
    marks, slope = _breaks(functions), _mean_slope(functions, shares)
    for x, side in ((marks[0], -1), (marks[-1], 1)):
        near, far = (side * slope(x + side * way) for way in (1, 2))
        # Outside of the marks the slope is linear: how the function ends.
        if far < near or (far == near and far < 0):
            return None
    return min(weighted_value(functions, shares, (at,)) for at in _still(functions, shares))


def weighted_value(functions: Sequence[Function], weights: Sequence[Fraction], x: Point) -> Fraction:
    """Return Σ weight·f(x)."""
    return sum((weight * one.value(x) for weight, one in zip(weights, functions, strict=True)), _ZERO)


def _mean_slope(functions: Sequence[Function], weights: Sequence[Fraction]) -> Callable[[Fraction], Fraction]:
    pairs = list(zip(weights, functions, strict=True))
    return lambda x: sum((weight * one.slope((x,))[0] for weight, one in pairs), _ZERO)


def _breaks(functions: Iterable[Function]) -> list[Fraction]:
    return sorted({at for one in functions for at in one.breaks()}) or [_ZERO]


def _still(functions: Sequence[Function], weights: Sequence[Fraction]) -> Iterator[Fraction]:
    """Yield breaks, and where the slope of Σ weight·f, which is linear between two of them, is 0."""
    marks, slope = _breaks(functions), _mean_slope(functions, weights)
    yield from marks
    for a, b in itertools.pairwise([marks[0] - 1, *marks, marks[-1] + 1]):
        one, two = a + (b - a) / 3, b - (b - a) / 3
        low, high = slope(one), slope(two)
        if low != high:
            # Of a root that lies beyond the piece no more is used than that it is a point.
            yield one - low * (two - one) / (high - low)


def _minimisers_on_a_line(functions: tuple[Function, ...], near: Point) -> Iterator[tuple[Point, tuple[Point, ...]]]:
    """Yield minimisers, among them both ends of the interval that they make up, and the start if it is one."""
    for at in (near[0], *_still(functions, [Fraction(1)] * len(functions))):
        if (found := _leaning(functions, (at,))) is not None:
            yield (at,), found


def _leaning(functions: tuple[Function, ...], at: Point) -> tuple[Point, ...] | None:
    ranges = [(min(one)[0], max(one)[0]) for one in (f.slopes(at) for f in functions)]
    missing = -sum((low for low, _ in ranges), _ZERO)
    if not 0 <= missing <= sum((high - low for low, high in ranges), _ZERO):
        return None
    found = []
    for low, high in ranges:
        part = min(missing, high - low)
        missing -= part
        found.append((low + part,))
    return tuple(found)


# Gradients of functions of one variable, exactly: how far from that of their mean, how large on a way.


def spread(functions: Sequence[Function], weights: Sequence[Fraction]) -> tuple[Fraction, Fraction] | None:
    """Return sup over x of max_i |f_i' − f'|² and of (1/n)·Σ |f_i' − f'|², where f = Σ weight_i·f_i.

    None where they are unbounded, or the functions have several variables or kinks. Between two breaks every slope is
    linear, so that both are convex there and largest at an end.
    """
    if any(one.dimension != 1 or one.smoothness() is None for one in functions):
        return None
    breaks = sorted({_ZERO, *(at for one in functions for at in one.breaks())})
    first, last = breaks[0], breaks[-1]
    for inner, outer in ((first, first - 1), (last, last + 1)):
        if _gaps(functions, weights, inner) != _gaps(functions, weights, outer):
            return None  # they go on to move apart
    found = [[gap * gap for gap in _gaps(functions, weights, at)] for at in breaks]
    return max(map(max, found)), max(sum(gaps, _ZERO) for gaps in found) / len(functions)


def _gaps(functions: Sequence[Function], weights: Sequence[Fraction], x: Fraction) -> list[Fraction]:
    mean = _mean_slope(functions, weights)(x)
    return [one.slope((x,))[0] - mean for one in functions]


def mean_slope(function: Function, first: Fraction, last: Fraction) -> Fraction:
    """Return the mean of f' between two points; 0 where they are one."""
    if first == last:
        return _ZERO
    return (function.value((last,)) - function.value((first,))) / (last - first)


def steepest(function: Function, first: Fraction, last: Fraction) -> Fraction:
    """Return the largest |f'|² between two points; 0 where they are one."""
    low, high = sorted((first, last))
    marks = [low, high, *(at for at in function.breaks() if low < at < high)]
    return _ZERO if low == high else max(function.slope((at,))[0] ** 2 for at in marks)
