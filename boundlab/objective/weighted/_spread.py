"""How far a gradient may be from a weighted mean of gradients, if the distance from their plain mean is known."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

# How far the clients are from F.
OF_BOTH: Final = frozenset({"sigma_g", "sigma_g_mean"})


def scales(weights: Sequence[Fraction]) -> list[Fraction]:
    """Return n·p_i: with these factors of the f_i the plain mean is Σ p_i f_i."""
    return [len(weights) * weight for weight in weights]


def spread_factor(weights: Sequence[Fraction]) -> Fraction:
    """Return t with max_i ‖g_i − Σ_k p_k g_k‖ ≤ t·max_i ‖g_i − m‖ for all vectors g_i and their mean m.

    As Σ_k (g_k − m) = 0, any number c may be taken off all coefficients: g_i − Σ p_k g_k =
    (1 − p_i + c)(g_i − m) − Σ_{k≠i} (p_k − c)(g_k − m). The best c makes t = 1 for equal weights, and is attained
    for two clients.

    Parameters
    ----------
    weights
        p, positive, of sum 1.
    """
    return max(
        min(
            abs(1 - own + c) + sum((abs(p - c) for k, p in enumerate(weights) if k != i), Fraction(0))
            for c in {*(p for k, p in enumerate(weights) if k != i), own - 1}
        )
        for i, own in enumerate(weights)
    )
