"""Problems given by rational arrays: what they share, quadratics, and maxima of affine functions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import final

import sympy

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import EXACT, exact_array, fractions
from boundlab.arithmetic.problem import (
    Constants,
    Minimum,
    OfClients,
    RationalProblem,
    RationalQuadraticForm,
    Rows,
    along,
    dot,
    gradients,
    noise,
    norm_square,
    number,
    root,
)
from boundlab.arithmetic.writing import (
    Reason,
    Sentence,
    Written,
    coordinate,
    entry,
    extreme,
    functions,
    length,
    linear,
    math,
    norm,
    reason,
    say,
    square,
    vector,
    with_noise,
)
from boundlab.problems.clients import Matrices, Pieces


class RationalArrays(OfClients, RationalProblem):
    """A problem given by arrays, with additive noise; a final class has these fields.

    Parameters
    ----------
    sigma
        E‖noise‖² = sigma².
    direction
        That of noise with two signs, of any length; None: the noise is Gaussian.
    """

    sigma: Fraction
    direction: list[Fraction] | None

    def reasons(self) -> dict[str, Reason]:
        """Return those of the start and of the noise."""
        size = reason("√(E‖noise‖²)", r"\sqrt{E\|\text{noise}\|^2}")
        return {**super().reasons(), "sigma": size, "sigma_l": size}

    def sign_noise(self) -> list[Fraction] | None:
        """Return sigma·direction/‖direction‖ where it is rational."""
        return along(self.direction, self.sigma)


def smoothness(L: Fraction) -> Constants:
    """Return L and L_sq = L²."""
    return {"L": number(L), "L_sq": number(L**2)}


def farthest(x: Sequence[Fraction], rows: Sequence[Sequence[Fraction]]) -> sympy.Expr:
    """Return the largest distance of a row from x."""
    return root(max(norm_square([a - b for a, b in zip(x, row, strict=True)]) for row in rows))


def curvature(entries: Iterable[Fraction], text: str, latex: str) -> dict[str, Reason]:
    """Return how L and L_sq follow from the largest of some numbers."""
    largest = extreme(map(entry, entries))
    return {"L": reason(text, latex, largest), "L_sq": reason("L²", "L^2", square(largest))}


def of_slopes(largest: Written | None, text: str, latex: str, sigma: Fraction) -> dict[str, Reason]:
    """Return how B, G_sq and G follow from the largest length of a (sub)gradient."""
    squared = square(largest)
    return {
        "B": reason(text, latex, largest),
        "G_sq": reason("sup_x max_i ‖∇f_i(x)‖²", r"\sup_x \max_i \|\nabla f_i(x)\|^2", squared),
        "G": reason(
            "√(sup_x max_i ‖∇f_i(x)‖² + σ²)",
            r"\sqrt{\sup_x \max_i \|\nabla f_i(x)\|^2 + \sigma^2}",
            with_noise(squared, sigma),
        ),
    }


def distance_to_farthest(x: Sequence[Fraction], rows: Sequence[Sequence[Fraction]], name: str) -> Reason:
    """Return how the largest distance of a row from x follows; ``name`` is that of the rows."""
    ways = extreme(length([*zip(x, row, strict=True)]) for row in rows)
    return reason(f"max_i ‖x* − {name}_i‖", rf"\max_i \|x^\star - {name}_i\|", ways)


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


@final
@dataclass(frozen=True)
class RationalMaxAffine(RationalArrays):
    """f_i(x) = max_j (a_ij·x + b_ij); the first piece that attains the maximum gives the subgradient."""

    a: list[Rows]
    b: Rows
    x0: list[Fraction]
    sigma: Fraction
    minimiser: list[Fraction] | None = None
    direction: list[Fraction] | None = None

    @cached_property
    def clients(self) -> Pieces:
        """Return the functions."""
        return Pieces(self.a, self.b, EXACT)

    def described(self) -> list[Sentence]:
        """Return max(x + 1, −x) and the like."""
        found = []
        for pieces, offsets in zip(self.a, self.b, strict=True):
            each = [
                linear([(one, coordinate(j, self.d)) for j, one in enumerate(row)], offset)
                for row, offset in zip(pieces, offsets, strict=True)
            ]
            text, latex, exact = (", ".join(getattr(one, of) for one in each) for of in ("text", "latex", "exact"))
            found.append(Written(f"max({text})", rf"\max({latex})", f"max({exact})"))
        return functions(found)

    def scaled(self, factors: Sequence[Fraction]) -> "RationalMaxAffine":
        """Return the problem with slopes factor_i·a_i and offsets factor_i·b_i."""
        a = [[[by * entry for entry in row] for row in one] for by, one in zip(factors, self.a, strict=True)]
        return replace(self, a=a, b=[[by * entry for entry in row] for by, row in zip(factors, self.b, strict=True)])

    def minimum(self) -> Minimum | None:
        """Return the minimum: the point given, if it is one, or in one dimension where two pieces of a client cross."""
        if self.minimiser is not None and self._stationary(self.minimiser):
            return self.at(self.minimiser)
        if self.d > 1:
            return None
        points = {self.x0[0]}
        for rows, offsets in zip(self.a, self.b, strict=True):
            for j, (row, offset) in enumerate(zip(rows, offsets, strict=True)):
                for other, height in zip(rows[:j], offsets[:j], strict=True):
                    if row[0] != other[0]:
                        points.add((height - offset) / (row[0] - other[0]))
        values = {point: self.at([point]).value for point in points}
        least = min(values.values())
        # The slopes beyond all crossings must not lead down.
        for edge, step in ((min(points), -1), (max(points), 1)):
            if self.at([edge + step]).value < least:
                return None
        best = [point for point, value in values.items() if value == least]
        return Minimum([min(max(self.x0[0], min(best)), max(best))], least)

    def _stationary(self, x: list[Fraction]) -> bool:
        """Return whether the slopes that the clients choose at x sum to 0, which makes it a minimiser."""
        return not self.full_gradient(exact_array(x)).any()

    def reasons(self) -> dict[str, Reason]:
        """Return those of slopes too."""
        steepest = extreme(norm(row) for rows in self.a for row in rows)
        return {**super().reasons(), **of_slopes(steepest, "max_ij ‖a_ij‖", r"\max_{ij} \|a_{ij}\|", self.sigma)}

    def constants(self) -> Constants:
        """Return B, G, sigma and, in one dimension, R and F0."""
        steepest = max(norm_square(row) for rows in self.a for row in rows)
        return {
            **noise(self.sigma),
            **gradients(steepest, self.sigma),
            "B": root(steepest),
            **self.start_constants(),
        }
