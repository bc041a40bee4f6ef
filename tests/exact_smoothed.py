"""Maxima of affine functions with rounded kinks in rational numbers, as tests need them: with the pieces looked for."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from boundlab.arithmetic import numbers
from boundlab.arithmetic.problem import Constants, Minimum, RationalProblem, Vector
from boundlab.errors import SpecError
from boundlab.problems.max_affine import SmoothedMaxAffine
from boundlab.problems.solvers import dot, fractions, maximise, steepest_mean

Exact = Sequence[Fraction]
# Pieces in pairs ±a: 0 is a minimiser.
PAIRS = (
    "smoothed-max-affine:a=[[[1,0.5],[-1,-0.5],[0.3,2],[-0.3,-2]],[[1,-1],[-1,1],[0,0.7],[0,-0.7]]],"
    "c=[[0,0,-1,-1],[-0.3,-0.3,0.2,0.2]],x0=[2,-1],minimiser=[0,0],L=3"
)


def middle(x: Vector) -> tuple[list[Fraction], Any]:
    """Return a point as fractions, or the middle of a ball of points, and how far the others are at most."""
    if all(type(entry) is numbers.flint().fmpq for entry in x):
        return [numbers.fraction(entry) for entry in x], 0
    balls = [numbers.ball(entry) for entry in x]
    middles = [numbers.fraction(numbers.flint().fmpq(*_parts(entry))) for entry in balls]
    return middles, sum((entry.rad() for entry in balls), start=0 * balls[0]).upper()


def _parts(entry: Any) -> tuple[Any, Any]:
    digits, power = entry.mid().man_exp()
    return (digits * 2**power, 1) if power >= 0 else (digits, 2**-power)


def around(x: Exact, off: Any) -> Vector:
    plus = numbers.flint().arb(0, off) if off else 0
    return np.array([numbers.rational(entry) + plus for entry in x], dtype=object)


class Smoothed(RationalProblem):
    """The same functions; at a ball of points what it gives holds all values, by smoothness."""

    def __init__(self, problem: SmoothedMaxAffine) -> None:
        self.problem, self.n, self.x0 = problem, problem.n, fractions(problem.x0)
        self.L, self.mu = Fraction(problem.L), Fraction(problem.mu)
        self.a = [[fractions(row) for row in one] for one in problem.a]
        self.c = [fractions(row) for row in problem.c]

    def envelope(self, client: int, x: Exact, width: Fraction) -> list[Fraction]:
        """Return Σ λ_j·a_j for the best weights at x."""
        height = [own + dot(row, x) for own, row in zip(self.c[client], self.a[client], strict=True)]
        floats = np.array([float(entry) for entry in height])
        guess = np.flatnonzero(maximise(floats, self.problem.a[client], float(width))).tolist()
        slope = steepest_mean(height, self.a[client], width, guess)
        if slope is None:
            raise SpecError("the pieces on top are not found")
        return slope

    def slope(self, client: int, x: Exact) -> list[Fraction]:
        """Return ∇f_client(x)."""
        steep = self.envelope(client, x, self.L - self.mu)
        return [own + self.mu * entry for own, entry in zip(steep, x, strict=True)]

    def height(self, client: int, x: Exact) -> Fraction:
        """Return f_client(x), from the point where the inner minimum is attained."""
        steep, width = self.envelope(client, x, self.L - self.mu), self.L - self.mu
        lowest = [at - own / width for at, own in zip(x, steep, strict=True)]
        top = max(own + dot(row, lowest) for own, row in zip(self.c[client], self.a[client], strict=True))
        return top + dot(steep, steep) / (2 * width) + self.mu * dot(x, x) / 2

    def gradient(self, client: int, x: Vector) -> Vector:
        at, off = middle(x)
        return around(self.slope(client, at), off * numbers.ball(numbers.rational(self.L)) if off else 0)

    def prox(self, client: int, x: Vector, size: Any) -> Vector:
        at, off = middle(x)
        (step,), unsure = middle([size])
        assert not unsure or unsure < 1e-12 * float(step)
        shrink = 1 / (1 + step * self.mu)
        steep = self.envelope(client, [shrink * entry for entry in at], 1 / (1 / (self.L - self.mu) + step * shrink))
        found = [shrink * (entry - step * own) for entry, own in zip(at, steep, strict=True)]
        # Another size moves the point by no more than its difference times the slope there.
        longest = sum(abs(own + self.mu * entry) for own, entry in zip(steep, found, strict=True))
        return around(found, off + 2 * unsure * numbers.ball(numbers.rational(longest)) if off or unsure else 0)

    def value(self, x: Vector) -> Any:
        at, off = middle(x)
        found = numbers.rational(sum((self.height(client, at) for client in range(self.n)), Fraction(0)) / self.n)
        if not off:
            return found
        steep = sum((sum(map(abs, self.slope(client, at))) for client in range(self.n)), Fraction(0))
        reach = (numbers.ball(numbers.rational(steep)) + numbers.ball(numbers.rational(self.L)) * off) * off
        return found + numbers.flint().arb(0, reach.upper())

    def minimum(self) -> Minimum | None:
        """Return the minimiser given, if it is one, without rounding."""
        if self.problem.minimiser is None:
            return None
        best = fractions(self.problem.minimiser)
        slopes = [self.slope(client, best) for client in range(self.n)]
        if any(sum(column, Fraction(0)) for column in zip(*slopes, strict=True)):
            return None
        return Minimum(best, sum((self.height(client, best) for client in range(self.n)), Fraction(0)) / self.n)

    def constants(self) -> Constants:
        return {}
