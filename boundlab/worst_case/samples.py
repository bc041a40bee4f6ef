"""Where PEPit's functions were looked at, in exact numbers."""

from fractions import Fraction
from typing import Any

from boundlab.arithmetic.rational import fraction
from boundlab.recheck import Form, Sample


def vector(point: Any) -> dict[int, Fraction]:
    """Return a PEPit point as a combination of the leaf points, in exact numbers."""
    return {leaf.counter: fraction(weight) for leaf, weight in point.decomposition_dict.items() if weight}


def samples_of(function: Any, expressions: type) -> tuple[Sample, ...]:
    """Return the samples of a PEPit function, in exact numbers."""

    def value(expression: Any) -> Form:
        found: dict[int, Fraction] = {}
        for leaf, weight in expression.decomposition_dict.items():
            if isinstance(leaf, expressions) and weight:
                found[leaf.counter] = fraction(weight)  # type: ignore[attr-defined]  # of PEPit's class
        return Form(found)

    return tuple(Sample(vector(x), vector(g), value(f)) for x, g, f in function.list_of_points)
