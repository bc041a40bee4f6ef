"""Quadratics in rational numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import final

from boundlab.arithmetic import numbers
from boundlab.arithmetic.exactly import EXACT, exact_array, fractions
from boundlab.arithmetic.problem import (
    Constants,
    Minimum,
    RationalQuadraticForm,
    Rows,
    dot,
    noise,
    norm_square,
    number,
    root,
)
from boundlab.arithmetic.reasons import Reason, entry, extreme, reason
from boundlab.arithmetic.writing import Sentence, Written, coordinate, functions, linear, math, say, vector
from boundlab.problems.clients import Matrices
from boundlab.problems.rational.arrays import RationalArrays, curvature, distance_to_farthest, farthest, smoothness


@final
@dataclass(frozen=True)
class RationalQuadratic(RationalArrays):
    """f_i(x) = ½(x − b_i)ᵀA_i(x − b_i)."""

    A: list[Rows]
    b: Rows
    x0: list[Fraction]
    sigma: Fraction
    direction: list[Fraction] | None = None

    @cached_property
    def clients(self) -> Matrices:
        """Return the functions."""
        return Matrices(self.A, self.b, EXACT)

    def described(self) -> list[Sentence]:
        """Return ½a(x − b)² on a line, else ½(x − b_i)ᵀA_i(x − b_i) with the matrices row by row."""
        if self.d == 1:
            return functions([self._parabola(A[0][0], b[0]) for A, b in zip(self.A, self.b, strict=True)])
        formula = math("½·(x − b_i)ᵀ A_i (x − b_i)", r"\tfrac12 (x - b_i)^{\top} A_i (x - b_i)")
        found = [say("{} = {} with", math("f_i(x)", "f_i(x)"), formula)]
        for client, (A, b) in enumerate(zip(self.A, self.b, strict=True)):
            names = math(f"A_{client}", f"A_{{{client}}}"), math(f"b_{client}", f"b_{{{client}}}")
            rows = [vector(numbers.rationals(row)) for row in A]
            words = ", ".join(["{}"] * len(rows))
            centre = vector(numbers.rationals(b))
            found.append(say(f"{{}} with the rows {words}, {{}} = {{}}", names[0], *rows, names[1], centre))
        return found

    def _parabola(self, a: Fraction, b: Fraction) -> Written:
        inner = linear([(Fraction(1), coordinate(0, 1))], -b)
        close = ("", "") if b == 0 else ("(", ")")
        text, latex, exact = (f"{close[0]}{one}{close[1]}" for one in (inner.text, inner.latex, inner.exact))
        return linear([(a / 2, Written(f"{text}²", f"{latex}^2", f"{exact}²"))])

    def scaled(self, factors: Sequence[Fraction]) -> "RationalQuadratic":
        """Return the problem with matrices factor_i·A_i."""
        A = [[[by * entry for entry in row] for row in one] for by, one in zip(factors, self.A, strict=True)]
        return replace(self, A=A)

    def quadratic(self) -> RationalQuadraticForm:
        """Return A, b and the noise."""
        return RationalQuadraticForm(self.A, self.b, self.sigma, self.direction)

    def minimum(self) -> Minimum:
        """Solve mean(A)·x = mean(A·b)."""
        mean, zero = exact_array(self.quadratic().mean()), exact_array([0] * self.d)
        return self.at(fractions(EXACT.solve(mean, -self.full_gradient(zero))))

    def reasons(self) -> dict[str, Reason]:
        """Return those of the curvatures of diagonal matrices too."""
        index, latex = ("i", "i") if self.d == 1 else ("i,jj", "{i,jj}")
        diagonal = [one[j][j] for one in self.A for j in range(self.d)]
        name, least = rf"\min_i A_{latex}", extreme(map(entry, diagonal), "min")
        return {
            **super().reasons(),
            **curvature(diagonal, f"max A_{index}", rf"\max A_{latex}"),
            "mu": reason(f"min A_{index}", name, least),
            "zeta": distance_to_farthest(self.minimum().x, self.b, "b"),
        }

    def constants(self) -> Constants:
        """Return sigma, R, F0, zeta; L and mu of diagonal matrices; sigma_g where all A_i are equal."""
        best = self.minimum().x
        found = {**noise(self.sigma), **self.start_constants()}
        found["zeta"] = farthest(best, self.b)
        if not any(one[j][k] for one in self.A for j in range(self.d) for k in range(self.d) if j != k):
            diagonal = [one[j][j] for one in self.A for j in range(self.d)]
            found |= {**smoothness(max(diagonal)), "mu": number(min(diagonal))}
        if all(one == self.A[0] for one in self.A):
            middle = [sum((row[j] for row in self.b), Fraction(0)) / self.n for j in range(self.d)]
            away = [[a - b for a, b in zip(middle, row, strict=True)] for row in self.b]
            squares = [norm_square([dot(line, one) for line in self.A[0]]) for one in away]
            found |= {"sigma_g": root(max(squares)), "sigma_g_mean": root(sum(squares, Fraction(0)) / self.n)}
        return found
