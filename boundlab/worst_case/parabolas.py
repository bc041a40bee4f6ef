"""The range of G on x ↦ h·x²/2 with h = mu and h = L: many bounds are attained there."""

from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations

from boundlab.arithmetic.rational import Exact
from boundlab.worst_case.model import ProgramModel

Vector = list[Fraction]


def parabolas(model: ProgramModel, constants: Mapping[str, Exact]) -> list[list[Vector]]:
    """Return what the leaf points are on one or both of the two functions, from x_0 = 1.

    Guesses, which a certificate has to bear out. None where there are several clients.
    """
    if len(model.samples) != 1:
        return []
    made = [_leaves(model, constants[name].value) for name in ("mu", "L") if name in constants]
    return [list(some) for count in (1, 2) for some in combinations(made, count)]


def _leaves(model: ProgramModel, curvature: Fraction) -> Vector:
    """Return the leaf points, as numbers: x_0 = 1, and the gradients one after the other."""
    out = [model.start.get(place, Fraction(0)) for place in range(model.program.points)]
    for sample in model.samples[0]:
        own = min(sample.g, default=None)
        if own is not None:
            rest = sum((weight * out[i] for i, weight in sample.x.items() if i != own), Fraction(0))
            # g = h·x, where x may hold g itself: a proximal point.
            out[own] = curvature * rest / (1 - curvature * sample.x.get(own, Fraction(0)))
    return out
