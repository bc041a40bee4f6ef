"""Huber losses and absolute deviations in rational numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any, final

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import EXACT
from boundlab.arithmetic.problem import (
    Constants,
    Core,
    Minimum,
    RationalQuadraticForm,
    Rows,
    gradients,
    noise,
    norm_square,
    root,
)
from boundlab.arithmetic.writing import (
    Reason,
    Sentence,
    Written,
    away,
    coordinate,
    difference,
    extreme,
    functions,
    joined,
    linear,
    math,
    norm,
    reason,
    root_mean_square,
    say,
    times,
    written,
)
from boundlab.problems.clients import Coordinates, ScalarLoss, loss_of
from boundlab.problems.minimisers import nearest_zero
from boundlab.problems.rational.arrays import (
    RationalArrays,
    curvature,
    distance_to_farthest,
    farthest,
    of_slopes,
    smoothness,
)

ZERO = Fraction(0)
_PAIRS = 4 * 10**5


@final
@dataclass(frozen=True)
class RationalSeparable(RationalArrays):
    """Huber's losses of width ``delta``, or |·| where it is None."""

    c: Rows
    w: Rows
    delta: Fraction | None
    x0: list[Fraction]
    sigma: Fraction
    direction: list[Fraction] | None = None

    @cached_property
    def clients(self) -> Coordinates:
        """Return the functions."""
        width = None if self.delta is None else numbers.rational(self.delta)
        return Coordinates(self._loss(width), self.w, self.c, EXACT)

    def _loss(self, width: Any) -> ScalarLoss:
        return loss_of("lad" if width is None else "huber", width)

    @cached_property
    def _in_fractions(self) -> ScalarLoss:
        return self._loss(self.delta)

    def described(self) -> list[Sentence]:
        """Return sums of |x_j − c_ij|, or of h(x_j − c_ij) and what h is."""
        found = functions([self._formula(client) for client in range(self.n)])
        if self.delta is None:
            return found
        inside, slope, rest = (
            linear([(factor, piece)], constant)
            for factor, piece, constant in (
                (Fraction(1, 2), math("u²", "u^2"), ZERO),
                (self.delta, math("|u|", "|u|"), -(self.delta**2) / 2),
                (Fraction(0), math("u", "u"), self.delta),
            )
        )
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

    def bends(self) -> list[tuple[Fraction, Fraction, Fraction | None]] | None:
        """Return w, c and delta of each client."""
        return None if self.d > 1 else [(w[0], c[0], self.delta) for w, c in zip(self.w, self.c, strict=True)]

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

    def minimum(self) -> Minimum:
        """Return the minimiser nearest to x0, coordinate by coordinate."""
        columns = zip(zip(*self.c, strict=True), zip(*self.w, strict=True), self.x0, strict=True)
        return self.at([nearest_zero(c, w, self.delta, start) for c, w, start in columns])

    def constants(self) -> Constants:
        """Return all constants but those of large problems."""
        steepest = max(norm_square(row) for row in self.w) * Fraction(self._in_fractions.steepest) ** 2
        found = {**noise(self.sigma), **gradients(steepest, self.sigma), "B": root(steepest), **self.start_constants()}
        if self.delta is not None:
            most = max(max(row) for row in self.w)
            found |= smoothness(most)
            if all(entry > 0 for row in self.w for entry in row):
                found["zeta"] = farthest(self.minimum().x, self.c)
        if self.n**2 * self.d <= _PAIRS:
            found |= self._heterogeneity()
        return found

    def reasons(self) -> dict[str, Reason]:
        """Return those of slopes and curvatures too; of the heterogeneity on a line."""
        width, sigma = self.delta, self.sigma
        line, by, latex_by = self.d == 1, *(("", "") if width is None else ("·δ", r" \delta"))
        weights = [w for row in self.w for w in row]
        index, latex = ("i", "i") if line else ("ij", "{ij}")
        steepest = times(extreme(map(norm, self.w)), Fraction(1) if width is None else width)
        size = ("w_i", "w_i") if line else ("‖w_i‖", r"\|w_i\|")
        found = {
            **super().reasons(),
            **of_slopes(steepest, f"max_i {size[0]}{by}", rf"\max_i {size[1]}{latex_by}", sigma),
        }
        if width is not None:
            found |= curvature(weights, f"max_{index} w_{index}", rf"\max_{latex} w_{latex}")
            found["zeta"] = distance_to_farthest(self.minimum().x, self.c, "c")
        return found | (self._apart() if line and self.n**2 <= _PAIRS else {})

    def _apart(self) -> dict[str, Reason]:
        """Return how sigma_g and sigma_g_mean follow on a line: from the slopes at one point."""
        rows = [(x, own, sum(own, ZERO) / self.n) for x, own in zip(self._points(0), self._slopes(0), strict=True)]
        each = [(x, i, slope, mean) for x, own, mean in rows for i, slope in enumerate(own)]
        x, i, most, middle = max(each, key=lambda one: abs(one[2] - one[3]))
        _, own, mean = max(rows, key=lambda one: sum(((slope - one[2]) ** 2 for slope in one[1]), ZERO))
        text, latex = "sup_x max_i |f_i′(x) − f′(x)|", r"\sup_x \max_i |f_i'(x) - f'(x)|"
        at = written(x)
        there = joined(
            f"{text} = |f_{i}′({{}}) − f′({{}})|",
            rf"{latex} = |f_{{{{{i}}}}}'({{}}) - f'({{}})|",
            at,
            at,
        )
        apart = reason(text, latex, away(most, middle))
        return {
            "sigma_g": apart if at.near else replace(apart, formula=there),
            "sigma_g_mean": reason(
                "sup_x √(Σ_i (f_i′(x) − f′(x))²/n)",
                r"\sup_x \sqrt{\sum_i (f_i'(x) - f'(x))^2/n}",
                root_mean_square([difference(slope, mean) for slope in own]),
            ),
        }

    def _slopes(self, j: int) -> list[list[Fraction]]:
        """Return all clients' slopes at both sides of every break point; between them |D_i| and ΣD_i² are convex."""
        slope = self._in_fractions.slope
        return [[w[j] * slope(x - c[j], EXACT) for c, w in zip(self.c, self.w, strict=True)] for x in self._points(j)]

    def _points(self, j: int) -> list[Fraction]:
        """Return the break points, or for |·|, whose slopes jump there, points on both sides of each."""
        width = self.delta or ZERO
        points = sorted({row[j] + shift for row in self.c for shift in (-width, width)})
        if self.delta is not None:
            return points
        return [points[0] - 1, *((a + b) / 2 for a, b in pairwise(points)), points[-1] + 1]

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
