"""The right side of an instance in balls: constants, steps and settings are the exact numbers that their floats are."""

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy

from boundlab.arithmetic.numbers import START_BITS, digits, float_ends
from boundlab.arithmetic.rational import ENGINE, rational
from boundlab.formulas.assignments import of_arrivals
from boundlab.formulas.known_numbers import Formulas, KnownNumber, known_value
from boundlab.metrics import Enclosure, Metric, range_of, terms_of, valued
from boundlab.theorems import RecursionBound, Theorem, derive

_ENOUGH: Final = 60  # bits that a right side shall have
_MOST: Final = 1 << 13
# What is computed from rates or read off a schedule is a sum or product of this many roundings at most, relatively.
_READ: Final = 256 * float(np.finfo(np.float64).eps)


def right_sides(theorem: Theorem, values: Sequence[Mapping[str, Any]], measured: Collection[str]) -> Enclosure:
    """Enclose the bound at some horizons.

    Parameters
    ----------
    values
        For each of them what the theorem is evaluated with, by symbol, the counter among them.
    measured
        The symbols that were read off a schedule or computed from rates: their floats may be rounded.
    """
    if theorem.shape:
        return Enclosure.unproved([float(theorem.evaluate(one).total) for one in values])
    if not theorem.bound.closed:
        return _iterated(theorem, values)
    total, known = sympy.Add(*theorem.bound.expressions().values()), dict[Any, tuple[float, float, float]]()
    ends = []
    for one in values:
        key = tuple(sorted((name, np.asarray(value).tobytes()) for name, value in one.items()))
        if key not in known:
            known[key] = _ends(formulas_at(theorem, one, measured), total)
            if not np.isfinite(known[key]).all():  # what is shown is the number that floats find
                known[key] = (float(theorem.evaluate(one).total), *known[key][1:])
        ends.append(known[key])
    found = np.array(ends) + 0.0  # no −0
    return Enclosure(found[:, 0], found[:, 1], found[:, 2])


def left_side(theorem: Theorem, formulas: Callable[[], Formulas], horizon: int) -> Metric:
    """Return the left side with the numbers of its formulas.

    Parameters
    ----------
    formulas
        Gives the symbols at the numbers that whoever asks takes them for; most left sides read none.
    horizon
        The largest K (or T) that is asked for.

    Raises
    ------
    SpecError
        If a weight has no value, or none that a weight can have.
    """
    if range_of(theorem.left) is None and not terms_of(theorem.left):
        return theorem.left

    known = formulas()

    def value(name: str) -> Fraction | None:
        found = known.exact(theorem.symbols[name].symbol)
        return Fraction(int(found.p), int(found.q)) if found is not None and found.is_Rational else None

    return valued(theorem.left, functools.cache(value), horizon, theorem.id)


def formulas_at(theorem: Theorem, values: Mapping[str, Any], measured: Collection[str]) -> Formulas:
    """Return all symbols of a theorem at numbers, and the rules of those that follow from others."""
    known = {
        name: known_value(value, functools.partial(known_number, rounded=name in measured))
        for name, value in values.items()
    }
    if "p" in values:
        known |= _of_arrivals(values["p"], values.get("p_s"))
    return Formulas(known, {name: rule for name, rule in theorem.defining().items() if name not in known})


@functools.lru_cache(maxsize=8192)
def known_number(value: float, *, rounded: bool) -> KnownNumber:
    """Return the exact number that a float is; where it may be rounded, the simple fraction that it stands for."""
    if rounded:
        found = rational(value, ENGINE)
        return KnownNumber(None, value, _READ) if found is None else KnownNumber.of(found)
    return KnownNumber.of(Fraction(value))


def _of_arrivals(p: Any, p_s: float | None) -> dict[str, KnownNumber]:
    """Return what follows from the probabilities of the clients, as fractions where these are simple and sum to 1."""
    each = np.asarray(p, dtype=np.float64).tolist()
    server = 1.0 - sum(each) if p_s is None else float(p_s)
    found = [rational(one, ENGINE) for one in (*each, server)]
    simple = [one for one in found if one is not None]
    if len(simple) == len(found) and sum(simple) == 1:
        return {name: KnownNumber.of(value) for name, value in of_arrivals(simple[:-1], simple[-1]).items()}
    about = {name: float(value) for name, value in of_arrivals(each, server).items()}
    rounded = {name: KnownNumber(None, value, _READ + len(each) * _READ / 64) for name, value in about.items()}
    return {**rounded, "n": KnownNumber.of(len(each))}


def _ends(formulas: Formulas, total: sympy.Expr) -> tuple[float, float, float]:
    """Return the middle and both ends, with more digits where they cancel."""
    bits = START_BITS
    while True:
        with digits(bits):
            found = formulas.ball(total)
            if not found.is_finite() or found.rel_accuracy_bits() >= _ENOUGH or 4 * bits > _MOST or found == 0:
                return float_ends(found)
        bits *= 4


def _iterated(theorem: Theorem, values: Sequence[Mapping[str, Any]]) -> Enclosure:
    """Enclose a recursion, horizons that differ in nothing else in one run."""
    bound, counter = theorem.bound, theorem.horizon_symbol
    assert isinstance(bound, RecursionBound)  # noqa: S101  (the only one that is no sum of formulas)
    ends = np.empty((2, len(values)))
    groups: dict[Any, list[int]] = {}
    for place, one in enumerate(values):
        rest = tuple(sorted((name, np.asarray(value).tobytes()) for name, value in one.items() if name != counter))
        groups.setdefault(rest, []).append(place)
    for places in groups.values():
        ks, back = np.unique([int(values[place][counter]) for place in places], return_inverse=True)
        found = derive(theorem, {**values[places[0]], counter: int(ks[-1])}, None, theorem.first_iteration)
        given = {name: value if theorem.symbols[name].vector else float(value) for name, value in found.items()}
        for end, row in zip(bound.between(given, ks), ends, strict=True):
            row[places] = end[back.ravel()]
    return Enclosure(ends.mean(axis=0), ends[0], ends[1])
