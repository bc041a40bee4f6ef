"""Parts that problems given by rational arrays share."""

from collections.abc import Iterable, Sequence
from fractions import Fraction

import sympy

from boundlab.arithmetic.problem import Constants, OfClients, RationalProblem, along, norm_square, number, root
from boundlab.arithmetic.reasons import Reason, entry, extreme, length, reason, square, with_noise
from boundlab.arithmetic.writing import Written


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
