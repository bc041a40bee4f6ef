"""Maxima of affine functions in rational numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import final

from boundlab.arithmetic.exactly import EXACT, exact_array
from boundlab.arithmetic.problem import (
    Constants,
    Minimum,
    Rows,
    gradients,
    noise,
    norm_square,
    root,
)
from boundlab.arithmetic.reasons import Reason, extreme, norm
from boundlab.arithmetic.writing import Sentence, Written, coordinate, functions, linear
from boundlab.problems.clients import Pieces
from boundlab.problems.rational.arrays import RationalArrays, of_slopes


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
