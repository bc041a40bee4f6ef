"""The conditions of a theorem at numbers, and where they end: at the edge of what it claims it is false first."""

import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from boundlab.errors import BoundlabError
from boundlab.formulas.floats import evaluate
from boundlab.formulas.symbols import names_of
from boundlab.theorems import Condition, Theorem, derive, met

_LOOKED_AT = np.geomspace(1e-4, 1e4, 161).tolist()  # by 12 % from one to the next
_HALVINGS = 60
_BESIDE = 1e-9  # a share of the edge: so far off is near enough, and sure to be on its side


def sides(theorem: Theorem, conditions: Iterable[Condition], known: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """Return the values of both sides of conditions, floats or arrays of them.

    Raises
    ------
    BoundlabError
        If one has none.
    """
    both = [(one.quantity, one.limit) for one in conditions]
    found = derive(theorem, known, frozenset().union(*(names_of(side) for pair in both for side in pair)), 1)
    return [(evaluate(left, found, theorem.id), evaluate(right, found, theorem.id)) for left, right in both]


def edges(theorem: Theorem, name: str, known: Mapping[str, float]) -> list[float]:
    """Return the values of a symbol at which a condition on it and on known numbers just holds, in short decimals.

    Parameters
    ----------
    name
        Of a positive number, such as mu or alpha.
    known
        All other numbers that a condition may read to be looked at.
    """
    given = {*known, name}
    return list(dict.fromkeys(value for one in theorem.conditions for value in _ends(theorem, one, name, known, given)))


def _ends(theorem: Theorem, one: Condition, name: str, known: Mapping[str, float], given: set[str]) -> Iterator[float]:
    read = theorem.read_by(names_of(one.quantity) | names_of(one.limit), given)
    if name not in read or not read - theorem.defining().keys() <= given:
        return

    def meets(value: float) -> bool:
        try:
            return bool(one.meets(*sides(theorem, [one], {**known, name: value})[0]))
        except BoundlabError:
            return False

    looks = [(value, meets(value)) for value in _LOOKED_AT]
    for (inside, first), (outside, second) in pairwise(looks):
        if first == second:
            continue
        if second:
            inside, outside = outside, inside
        inwards = 1.0 + math.copysign(_BESIDE, inside - outside)
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2.0
            inside, outside = (middle, outside) if meets(middle) else (inside, middle)
        short = [
            value for digits in range(1, 6) if abs((value := float(f"{inside:.{digits}g}")) / inside - 1.0) < _BESIDE
        ]
        exact = {other: Fraction(number) for other, number in known.items()}
        yield next((value for value in short if met(theorem, one, {**exact, name: Fraction(value)})), inside * inwards)
