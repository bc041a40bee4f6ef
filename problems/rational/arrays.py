"""Parts that problems given by rational arrays share."""

from collections.abc import Sequence
from fractions import Fraction

import sympy

from boundlab.arithmetic.problem import Constants, RationalProblem, along, norm_square, number, root


class RationalArrays(RationalProblem):
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

    def sign_noise(self) -> list[Fraction] | None:
        """Return sigma·direction/‖direction‖ where it is rational."""
        return along(self.direction, self.sigma)


def smoothness(L: Fraction) -> Constants:
    """Return L and L_sq = L²."""
    return {"L": number(L), "L_sq": number(L**2)}


def farthest(x: Sequence[Fraction], rows: Sequence[Sequence[Fraction]]) -> sympy.Expr:
    """Return the largest distance of a row from x."""
    return root(max(norm_square([a - b for a, b in zip(x, row, strict=True)]) for row in rows))
