"""The range of G on x ↦ h·x²/2 with h = mu and h = L: many bounds are attained there."""

from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations

from boundlab.arithmetic.rational import Exact, exact
from boundlab.worst_case.model import ProgramModel

Vector = list[Fraction]


def parabolas(model: ProgramModel, constants: Mapping[str, Exact]) -> list[list[Vector]]:
    """Return what the leaf points are on one or both of the two functions, from x_0 = 1.

    Guesses, which a certificate has to bear out: coefficients of the run that are no simple fractions are those of
    floats. None where there are several clients.
    """
    if len(model.data) != 1:
        return []
    made = [_leaves(model, constants[name].value) for name in ("mu", "L") if name in constants]
    return [list(some) for count in (1, 2) for some in combinations(made, count)]


def _leaves(model: ProgramModel, curvature: Fraction) -> Vector:
    """Return the leaf points, as numbers: x_0 = 1, and the gradients one after the other."""
    out = [Fraction(0)] * model.program.points
    for i, weight in enumerate(model.start.tolist()):
        out[i] = Fraction(weight)
    for x, g in zip(model.data[0].x.tolist(), model.data[0].g.tolist(), strict=True):
        own = next((i for i, weight in enumerate(g) if weight), None)
        if own is not None:
            rest = sum((exact(w).value * out[i] for i, w in enumerate(x) if w and i != own), Fraction(0))
            # g = h·x, where x may hold g itself: a proximal point.
            out[own] = curvature * rest / (1 - curvature * exact(x[own]).value)
    return out
