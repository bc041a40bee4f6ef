"""Covers of the orthant by cones in which a polynomial has no negative coefficient, and their second check.

Where x_i ≥ x_j, write x_i = x_j + x_i' with x_i' ≥ 0, else x_j = x_i + x_j'. A polynomial whose coefficients are ≥ 0 in
all cones of such a tree of cases is ≥ 0; this is successive difference substitution, the method of Yang and Xia (2008).
"""

from dataclasses import dataclass
from typing import final

from sympy.polys.rings import PolyElement, PolyRing

Terms = dict[tuple[int, ...], int]
# Multiplications of a search, and how often an orthant is cut in two on the way to one cone.
_WORK = 150_000
_DEPTH = 14


@final
@dataclass(frozen=True, slots=True)
class Cut:
    """Two cases: x_i ≥ x_j, and x_j ≥ x_i. None stands for a cone in which all coefficients are ≥ 0."""

    i: int
    j: int
    first: "Cut | None"
    second: "Cut | None"


class _TooLongError(Exception):
    """The search has used up its multiplications."""


def find_cover(polynomial: PolyElement) -> Cut | None:
    """Return cases that show a polynomial with a negative coefficient to be ≥ 0 on the orthant; None if not found."""
    search = _Search()
    try:
        return search.cut(_homogeneous(polynomial), _DEPTH)
    except _TooLongError:
        return None


@final
class _Search:
    """A search that counts its multiplications: the same answer on every machine."""

    def __init__(self) -> None:
        self.left = _WORK

    def cut(self, terms: Terms, depth: int) -> Cut:
        """Return the cut for terms of which one is negative."""
        if depth == 0:
            raise _TooLongError
        i, j = _pair(terms)
        first, second = self.moved(terms, i, j), self.moved(terms, j, i)
        return Cut(i, j, *(self.cut(one, depth - 1) if _mixed(one) else None for one in (first, second)))

    def moved(self, terms: Terms, i: int, j: int) -> Terms:
        """Write x_i as x_j + x_i."""
        found: Terms = {}
        for powers, coefficient in terms.items():
            binomial = coefficient
            self.left -= powers[i] + 1
            for kept in range(powers[i], -1, -1):
                key = list(powers)
                key[i], key[j] = kept, powers[j] + powers[i] - kept
                place = tuple(key)
                found[place] = found.get(place, 0) + binomial
                binomial = binomial * kept // (powers[i] - kept + 1)
        if self.left < 0:
            raise _TooLongError
        return {powers: coefficient for powers, coefficient in found.items() if coefficient}


def _mixed(terms: Terms) -> bool:
    return any(coefficient < 0 for coefficient in terms.values())


def _homogeneous(polynomial: PolyElement) -> Terms:
    """Return integer coefficients by powers, with one more variable that stands for 1."""
    _, whole = polynomial.clear_denoms()
    degree = max(sum(powers) for powers in whole)
    return {(*powers, degree - sum(powers)): int(coefficient) for powers, coefficient in whole.items()}


def _pair(terms: Terms) -> tuple[int, int]:
    """Return the two variables whose order tells most about the negative terms."""
    positive = {powers for powers, coefficient in terms.items() if coefficient > 0}
    negative = [powers for powers, coefficient in terms.items() if coefficient < 0]
    size = len(next(iter(terms)))
    return max(
        ((i, j) for i in range(size) for j in range(i)),
        key=lambda pair: sum(_neighbours(powers, pair[0], pair[1], positive) for powers in negative),
        default=(0, 0),
    )


def _neighbours(powers: tuple[int, ...], i: int, j: int, positive: set[tuple[int, ...]]) -> int:
    """Count the positive terms that are this one with some of x_i in place of x_j, or the reverse; near ones double."""
    count = 0
    for amount in (1, 2):
        for up, down in ((i, j), (j, i)):
            if powers[down] >= amount:
                other = list(powers)
                other[up], other[down] = other[up] + amount, other[down] - amount
                count += (3 - amount) * int(tuple(other) in positive)
    return count


def covers(polynomial: PolyElement, cut: Cut) -> bool:
    """Return whether the cases show that the polynomial is ≥ 0: by SymPy's arithmetic, from the polynomial itself."""
    names = [str(symbol) for symbol in polynomial.ring.symbols]
    ring = PolyRing([*names, "one_"], polynomial.ring.domain)
    degree = max(sum(powers) for powers in polynomial)
    whole = ring.from_dict({(*powers, degree - sum(powers)): value for powers, value in polynomial.items()})
    return _holds(whole, cut)


def _holds(polynomial: PolyElement, cut: Cut | None) -> bool:
    if cut is None:
        return all(coefficient >= 0 for coefficient in polynomial.values())
    x, y = polynomial.ring.gens[cut.i], polynomial.ring.gens[cut.j]
    return _holds(polynomial.compose(x, x + y), cut.first) and _holds(polynomial.compose(y, x + y), cut.second)
