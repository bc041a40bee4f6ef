"""Sequences that obey y ← q·y + c, with as many rules as the schedule has turns: found, and checked at every term."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from boundlab.arithmetic.numbers import Scalar, rational, sign
from boundlab.arithmetic.writing import sides

_TURNS: Final = 6
_LATEST: Final = 8  # before which a rule must begin
_TERMS: Final = 4  # fewer would obey any rule
_JOINT: Final = 6  # the same of a rule with three coefficients


@final
@dataclass(frozen=True, slots=True)
class Rule:
    """y_{k+turns} = q·y_k + c for k = first, first + turns, …, as far as the sequence goes."""

    first: int
    turns: int
    q: Scalar
    c: Scalar


def rules(sequence: Sequence[Scalar]) -> list[Rule]:
    """Return the rules of a sequence, one a turn, the fewest that there are; none where there are no such rules.

    Balls obey none: whether two of them are equal is not known.
    """
    if any(sides(one) is None for one in sequence):
        return []
    for turns in range(1, _TURNS + 1):
        for first in range(_LATEST + 1):
            found = [_rule(sequence, place, turns) for place in range(first, first + turns)]
            if all(rule is not None for rule in found):
                return [rule for rule in found if rule is not None]
    return []


def _rule(sequence: Sequence[Scalar], first: int, turns: int) -> Rule | None:
    terms = sequence[first::turns]
    if len(terms) < _TERMS:
        return None
    zero: Any = terms[0] - terms[0]
    q, c = zero, terms[1]
    if sign(terms[1] - terms[0]) != 0:
        q = (terms[2] - terms[1]) / (terms[1] - terms[0])
        c = terms[1] - q * terms[0]
    elif sign(terms[2] - terms[1]) == 0:  # nothing moves
        q, c = zero + rational(1), zero
    for now, then in itertools.pairwise(terms):
        if sign(q * now + c - then) != 0:
            return None
    return Rule(first, turns, q, c)


def joint(v: Sequence[Scalar], m: Sequence[Scalar]) -> tuple[Scalar, Scalar, Scalar] | None:
    """Return a, b, c with v_{k+1} = a·v_k + b·m_k + c for all k; None: there are none, or too few terms to tell."""
    if len(v) < _JOINT or any(sides(one) is None for one in (*v, *m)):
        return None
    # Differences of neighbours leave a and b; Cramer's rule gives them from two.
    dv, dm = ([then - now for now, then in itertools.pairwise(one)] for one in (v, m))
    determinant = dv[0] * dm[1] - dv[1] * dm[0]
    if sign(determinant) == 0:
        return None
    a = (dv[1] * dm[1] - dv[2] * dm[0]) / determinant
    b = (dv[0] * dv[2] - dv[1] * dv[1]) / determinant
    c = v[1] - a * v[0] - b * m[0]
    for now, mean, then in zip(v, m, v[1:], strict=False):
        if sign(a * now + b * mean + c - then) != 0:
            return None
    return a, b, c


def total(rule: Rule, start: Scalar, terms: int) -> Scalar:
    """Return the sum of so many terms from ``start`` on: with s = c/(1 − q) it is n·s + (start − s)(1 − qⁿ)/(1 − q)."""
    one = rational(1)
    if sign(rule.q - one) == 0:
        return terms * start + rule.c * rational(terms * (terms - 1) // 2)
    rest = rule.c / (one - rule.q)
    return terms * rest + (start - rest) * (one - power(rule.q, terms)) / (one - rule.q)


def power(x: Scalar, exponent: int) -> Scalar:
    """Return x^exponent of an exponent ≥ 0."""
    out, base = x * 0 + rational(1), x
    while exponent:
        if exponent & 1:
            out = out * base
        base, exponent = base * base, exponent >> 1
    return out
