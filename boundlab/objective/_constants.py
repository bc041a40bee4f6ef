"""Certified numbers of a problem: constants with the side on which they may err, minimisers, matrices of quadratics."""

import math
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import SymbolError

Array = NDArray[np.floating[Any]]
Side = Literal["exact", "upper", "lower"]


@dataclass(frozen=True, slots=True)
class Constant:
    """A number that a theorem needs, with the side on which it may err.

    Parameters
    ----------
    value
        The number, finite.
    side
        ``exact`` (to rounding), ``upper`` (never below the truth) or ``lower`` (never above it).
    how
        Where it comes from, in a few words: closed form, eigenvalue, duality gap, user.

    Raises
    ------
    SymbolError
        If the value is not finite or the side is not one of the three.

    Examples
    --------
    >>> Constant(2.0, "upper", "eigenvalue").as_dict()
    {'value': 2.0, 'side': 'upper', 'how': 'eigenvalue'}
    """

    value: float
    side: Side
    how: str

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise SymbolError(f"a constant must be finite, got {self.value!r} ({self.how})")
        if self.side not in ("exact", "upper", "lower"):
            raise SymbolError(f"a constant's side is exact, upper or lower, got {self.side!r}")

    def as_dict(self) -> dict[str, Any]:
        """Return the constant as JSON-ready fields."""
        return {"value": self.value, "side": self.side, "how": self.how}


@dataclass(frozen=True, slots=True)
class Optimum:
    """A minimiser with its certificate.

    Parameters
    ----------
    x
        Shape (d,): the point.
    value
        f(x), unit (1, 0).
    gap
        f(x) − f* ≤ gap, unit (1, 0).
    distance
        ‖x − x*‖ ≤ distance for a minimiser x*, unit (0, 1); None where no such bound is known.
    how
        Where the certificate comes from.
    """

    x: Array
    value: float
    gap: float
    distance: float | None
    how: str


@final
@dataclass(frozen=True, slots=True)
class QuadraticForm:
    """What a quadratic problem is made of: f_i(x) = ½(x − b_i)ᵀA_i(x − b_i), and the noise of its gradients.

    Parameters
    ----------
    A
        Shape (n, d, d), symmetric, unit (1, −2).
    b
        Shape (n, d), unit (0, 1).
    sigma
        Stochastic gradients are ∇f_i plus noise that depends on nothing else, of mean 0 and covariance
        sigma²/d·I, so that E‖noise‖² = sigma²; unit (1, −1).
    """

    A: NDArray[np.float64]
    b: NDArray[np.float64]
    sigma: float
