"""Huber losses and absolute deviations in rational numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, final

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar, sign
from boundlab.arithmetic.problem import (
    Constants,
    Core,
    Minimum,
    RationalProblem,
    RationalQuadraticForm,
    Rows,
    Vector,
    along,
    gradients,
    noise,
    norm_square,
    number,
    root,
)
from boundlab.arithmetic.writing import Sentence, Written, coordinate, functions, linear, math, say

ZERO = Fraction(0)
_PAIRS = 4 * 10**5


@final
@dataclass(frozen=True)
class RationalSeparable(RationalProblem):
    """f_i(x) = Σ_j w_ij·φ(x_j − c_ij), φ Huber's loss of width ``delta``, or |·| where it is None."""

    c: Rows
    w: Rows
    delta: Fraction | None
    x0: list[Fraction]
    sigma: Fraction
    direction: list[Fraction] | None = None

    @property
    def n(self) -> int:  # type: ignore[override]
        """Return the number of clients."""
        return len(self.c)

    @cached_property
    def _c(self) -> list[Vector]:
        return [[numbers.rational(entry) for entry in row] for row in self.c]

    @cached_property
    def _w(self) -> list[Vector]:
        return [[numbers.rational(entry) for entry in row] for row in self.w]

    @cached_property
    def _delta(self) -> Scalar | None:
        return None if self.delta is None else numbers.rational(self.delta)

    def sign_noise(self) -> list[Fraction] | None:
        """Return sigma·direction/‖direction‖ where it is rational."""
        return along(self.direction, self.sigma)

    def described(self) -> list[Sentence]:
        """Return sums of |x_j − c_ij|, or of h(x_j − c_ij) and what h is."""
        found = functions([self._formula(client) for client in range(self.n)])
        if self.delta is None:
            return found
        inside, slope, rest = (
            linear([(factor, piece)], constant)
            for factor, piece, constant in (
                (Fraction(1, 2), math("u²", "u^2"), ZERO), (self.delta, math("|u|", "|u|"), -(self.delta**2) / 2),
                (Fraction(0), math("u", "u"), self.delta),
            )
        )  # fmt: skip
        return [*found, say("where h(u) = {} for {} ≤ {}, and {} beyond", inside, math("|u|", "|u|"), rest, slope)]

    def _formula(self, client: int) -> Written:
        terms = []
        for place, (centre, weight) in enumerate(zip(self.c[client], self.w[client], strict=True)):
            inner = linear([(Fraction(1), coordinate(place, self.d))], -centre)
            left, right = ("|", "|") if self.delta is None else ("h(", ")")
            terms.append(
                (
                    weight,
                    Written(f"{left}{inner.text}{right}", f"{left}{inner.latex}{right}", f"{left}{inner.exact}{right}"),
                )
            )
        return linear(terms)

    def core(self) -> Core | None:
        """Return the box where nobody is further than delta from his centre."""
        if self.delta is None:
            return None
        low = [max(column) - self.delta for column in zip(*self.c, strict=True)]
        high = [min(column) + self.delta for column in zip(*self.c, strict=True)]
        if any(bottom > top for bottom, top in zip(low, high, strict=True)):
            return None
        A = [[[w if j == k else ZERO for k in range(self.d)] for j, w in enumerate(row)] for row in self.w]
        return Core(RationalQuadraticForm(A, self.c, self.sigma, self.direction), low, high)

    def scaled(self, factors: Sequence[Fraction]) -> "RationalSeparable":
        """Return the problem with weights factor_i·w_i."""
        return replace(self, w=[[by * entry for entry in row] for by, row in zip(factors, self.w, strict=True)])

    def gradient(self, client: int, x: Vector) -> Vector:
        """Return w_i·φ'(x − c_i)."""
        out = []
        width = self._delta
        for point, centre, weight in zip(x, self._c[client], self._w[client], strict=True):
            away = point - centre
            if width is None:
                out.append(weight * sign(away))
            elif sign(away - width) >= 0:
                out.append(weight * width)
            elif sign(away + width) <= 0:
                out.append(-weight * width)
            else:
                out.append(weight * away)
        return out

    def descend(self, client: int, x: Vector, size: Scalar) -> Vector:
        """Do one step; on the quadratic part x ← (1 − size·w)·x + size·w·c."""
        out = []
        width = self._delta
        for point, centre, weight in zip(x, self._c[client], self._w[client], strict=True):
            away = point - centre
            if width is None:
                out.append(point - size * (weight * sign(away)))
            elif sign(away - width) >= 0:
                out.append(point - size * (weight * width))
            elif sign(away + width) <= 0:
                out.append(point + size * (weight * width))
            else:
                part = size * weight
                out.append((1 - part) * point + part * centre)
        return out

    def prox(self, client: int, x: Vector, size: Scalar) -> Vector:
        """Return the proximal point: soft thresholding, and its like for Huber's loss."""
        out = []
        width = self._delta
        for point, centre, weight in zip(x, self._c[client], self._w[client], strict=True):
            away, pull = point - centre, size * weight
            reach = pull if width is None else width * (1 + pull)
            move = pull if width is None else width * pull
            if sign(away - reach) >= 0:
                out.append(point - move)
            elif sign(away + reach) <= 0:
                out.append(point + move)
            else:
                out.append(away * 0 + centre if width is None else centre + away / (1 + pull))
        return out

    def value(self, x: Vector) -> Scalar:
        """Return f(x)."""
        total: Any = numbers.rational(0)
        half = numbers.rational(Fraction(1, 2))
        for centres, weights in zip(self._c, self._w, strict=True):
            for point, centre, weight in zip(x, centres, weights, strict=True):
                away = point - centre
                size = away if sign(away) >= 0 else -away
                if self._delta is not None:
                    far = sign(size - self._delta) >= 0
                    size = self._delta * (size - half * self._delta) if far else half * (away * away)
                total = total + weight * size
        return total * numbers.rational(Fraction(1, self.n))

    def minimum(self) -> Minimum:
        """Return the minimiser nearest to x0, coordinate by coordinate."""
        x = [self._nearest(j) for j in range(self.d)]
        return Minimum(x, numbers.fraction(self.value([numbers.rational(entry) for entry in x])))

    def _sides(self, j: int, x: Fraction) -> tuple[Fraction, Fraction]:
        """Return the left and the right derivative of Σ_i in coordinate j."""
        left = right = ZERO
        for row, weights in zip(self.c, self.w, strict=True):
            away = x - row[j]
            if self.delta is None:
                left += weights[j] * (1 if away > 0 else -1)
                right += weights[j] * (1 if away >= 0 else -1)
            else:
                slope = weights[j] * min(max(away, -self.delta), self.delta)
                left, right = left + slope, right + slope
        return left, right

    def _breaks(self, j: int) -> list[Fraction]:
        width = self.delta or ZERO
        return sorted({row[j] + shift for row in self.c for shift in (-width, width)})

    def _nearest(self, j: int) -> Fraction:
        points = self._breaks(j)
        if not any(weights[j] for weights in self.w):
            return self.x0[j]
        sides = [self._sides(j, point) for point in points]
        # The first point whose right derivative is ≥ 0, the last whose left one is ≤ 0; zeros lie at or between them.
        low = next(k for k, (_, right) in enumerate(sides) if right >= 0)
        high = max(k for k, (left, _) in enumerate(sides) if left <= 0)
        first, last = points[low], points[high]
        if low > 0 and sides[low][0] > 0:
            first = self._crossing(points[low - 1], sides[low - 1][1], points[low], sides[low][0])
        if high + 1 < len(points) and sides[high][1] < 0:
            last = self._crossing(points[high], sides[high][1], points[high + 1], sides[high + 1][0])
        return min(max(self.x0[j], min(first, last)), max(first, last))

    @staticmethod
    def _crossing(a: Fraction, at_a: Fraction, b: Fraction, at_b: Fraction) -> Fraction:
        """Return where the linear piece from (a, at_a < 0) to (b, at_b > 0) is zero."""
        return a - at_a * (b - a) / (at_b - at_a)

    def constants(self) -> Constants:
        """Return all constants but those of large problems."""
        width = Fraction(1) if self.delta is None else self.delta
        steepest = max(norm_square(row) for row in self.w) * width**2
        found = {**noise(self.sigma), **gradients(steepest, self.sigma), "B": root(steepest), **self.start_constants()}
        if self.delta is not None:
            most = max(max(row) for row in self.w)
            found |= {"L": number(most), "L_sq": number(most**2)}
            if all(entry > 0 for row in self.w for entry in row):
                best = self.minimum().x
                away = max(norm_square([a - b for a, b in zip(best, row, strict=True)]) for row in self.c)
                found["zeta"] = root(away)
        if self.n**2 * self.d <= _PAIRS:
            found |= self._heterogeneity()
        return found

    def _slopes(self, j: int) -> list[list[Fraction]]:
        """Return all clients' slopes at both sides of every break point; between them |D_i| and ΣD_i² are convex."""
        if self.delta is not None:
            width = self.delta
            return [
                [w[j] * min(max(x - c[j], -width), width) for c, w in zip(self.c, self.w, strict=True)]
                for x in self._breaks(j)
            ]
        points = self._breaks(j)
        beyond = [points[0] - 1, *((a + b) / 2 for a, b in pairwise(points)), points[-1] + 1]
        return [[w[j] * (1 if x > c[j] else -1) for c, w in zip(self.c, self.w, strict=True)] for x in beyond]

    def _heterogeneity(self) -> Constants:
        most = [ZERO] * self.n
        mean = ZERO
        for j in range(self.d):
            largest, squares = [ZERO] * self.n, ZERO
            for slopes in self._slopes(j):
                middle = sum(slopes, ZERO) / self.n
                away = [(slope - middle) ** 2 for slope in slopes]
                largest = [max(a, b) for a, b in zip(largest, away, strict=True)]
                squares = max(squares, sum(away, ZERO) / self.n)
            most = [a + b for a, b in zip(most, largest, strict=True)]
            mean += squares
        return {"sigma_g": root(max(most)), "sigma_g_mean": root(min(mean, max(most)))}
