"""Conditions of theorems at numbers: up to rounding for who looks at a formula, without any for who compares."""

import itertools
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from boundlab.errors import AssumptionError, SilentError
from boundlab.formulas.decide import Number, at_most
from boundlab.formulas.floats import evaluate
from boundlab.formulas.symbols import SymbolInfo, names_of
from boundlab.theorems._bound import Condition, Floats
from boundlab.theorems._statement import Statement

# Two sides that are equal may differ by their last digits: so far, who only looks at a formula may go.
ROUNDED: Final = 1e-12
# Sides that are further apart are told from each other by floats.
_APART: Final = 1e-9
# How far a rounded step may lie beyond a condition that its formula meets: a few roundings.
_ULPS: Final = 3


def at_lowest(conditions: Iterable[Condition], symbols: Mapping[str, SymbolInfo]) -> frozenset[str]:
    """Return the symbols that a condition holds at the lower end of their domain: σ ≤ 0, τ_max ≤ 0, K_m ≤ 1."""
    numbers = [
        (one.quantity.name, one.limit)
        for one in conditions
        if one.quantity.is_Symbol and one.limit.is_number and not one.strict
    ]
    return frozenset(name for name, limit in numbers if float(limit) <= symbols[name].domain.low)


def require(
    theorem: Statement, condition: Condition, found: Mapping[str, Floats], base: Collection[str], *, exactly: bool
) -> None:
    """Make sure that a condition is met everywhere on a grid.

    Parameters
    ----------
    found
        Values of all symbols, broadcastable with each other.
    base
        Those that were given; the others follow from their definitions.
    exactly
        Whether the numbers are taken as the fractions that they are; a condition that is not decided is not met.

    Raises
    ------
    AssumptionError
        If it is not met; a :class:`boundlab.errors.SilentError` if another number of iterations may meet it.
    """
    what = f"{theorem.id}, {condition.statement}"
    sides = np.broadcast_arrays(*(evaluate(one, found, what) for one in (condition.quantity, condition.limit)))
    left, right = (np.atleast_1d(side) for side in sides)
    broken = ~condition.meets(left, right * (1 + ROUNDED))
    if exactly or condition.strict:  # equality up to rounding would meet what equality does not meet
        with np.errstate(invalid="ignore"):
            near = np.abs(left - right) <= _APART * np.maximum(np.abs(left), np.abs(right))
        near |= np.isinf(left) | np.isinf(right)  # beyond floating point
        for place in map(tuple, np.argwhere(near).tolist()):
            here = at_place(theorem, _read(theorem, condition) & set(base), found, left.shape, place)
            values = fractions(theorem, _sides(condition), here, base)
            broken[place] = not met(theorem, condition, values)
    if broken.any():
        a, b = left[broken].flat[0], right[broken].flat[0]
        silent = theorem.horizon_symbol in _read(theorem, condition)
        raise (SilentError if silent else AssumptionError)(
            f"{theorem.id} needs {condition.statement}, got {_unequal(a, b)}"
        )


def met(theorem: Statement, condition: Condition, values: Mapping[str, Number]) -> bool:
    """Return whether a condition is certainly met at numbers by symbol; the rest follows from the definitions."""
    left, right, rules = condition.quantity, condition.limit, theorem.defining()
    if condition.strict:
        return at_most(right, left, rules, values) is False
    return at_most(left, right, rules, values) is True


def _sides(condition: Condition) -> frozenset[str]:
    return names_of(condition.quantity) | names_of(condition.limit)


def _read(theorem: Statement, condition: Condition) -> frozenset[str]:
    return theorem.read_by(_sides(condition))


def at_place(
    theorem: Statement, names: Collection[str], found: Mapping[str, Floats], shape: tuple[int, ...], place: Any
) -> dict[str, Floats]:
    """Return the values of symbols at one place of a grid; vectors are the same everywhere."""
    return {
        name: found[name] if theorem.symbols[name].vector else np.asarray(np.broadcast_to(found[name], shape)[place])
        for name in names
    }


def fractions(
    theorem: Statement, names: Collection[str], at: Mapping[str, Floats], base: Collection[str]
) -> dict[str, Number]:
    """Return what was given of symbols, and of those that define them, as the fractions that the floats are."""
    read = [name for name in theorem.read_by(names) if name in base]
    return {name: as_fractions(at[name]) for name in read if np.isfinite(at[name]).all()}


def as_fractions(value: Any) -> Number:
    """Return the fraction that a float is, or those of a vector."""
    return tuple(map(Fraction, np.asarray(value).tolist())) if np.ndim(value) else Fraction(float(value))


def _unequal(a: float, b: float) -> str:
    """Return ``a > b`` with as many digits as tell them apart, or that both are equal."""
    if a == b:
        return f"{a:.6g} on both sides"
    short = f"{a:.6g} > {b:.6g}"
    if f"{a:.6g}" != f"{b:.6g}":
        return short
    return f"{a:.17g} > {b:.17g}" if a > b else f"{a:.17g}, larger by less than rounding"


def admissible(theorem: Statement, known: Mapping[str, Any], options: Mapping[str, float]) -> dict[str, float]:
    """Return step sizes that meet the conditions as the fractions that they are, or the same ones if none is near.

    A step that a formula gives is rounded, maybe beyond a condition that the formula just meets: 1/49 is above the
    49th part of 1. The nearest number of floating point that meets all conditions is the step of the run.

    Parameters
    ----------
    known
        Numbers by symbol; where a condition reads another one, nothing is changed.
    options
        Step sizes by name.
    """
    free = [name for name in options if name in theorem.settable or name not in theorem.defining()]
    absent = theorem.bound.gone(frozenset((*known, *options)))
    about = [one for one in theorem.conditions if _read(theorem, one) & set(free) and not _read(theorem, one) & absent]
    if not about:
        return dict(options)
    read = frozenset().union(*(_read(theorem, one) for one in about))
    sized = {
        name: np.asarray(value, dtype=np.float64)[() if theorem.symbols[name].vector else (0,) * np.ndim(value)]
        for name, value in known.items()
        if name in read and (np.size(value) == 1 or theorem.symbols[name].vector)
    }
    values = {name: as_fractions(value) for name, value in sized.items() if np.isfinite(value).all()}
    for moves in sorted(itertools.product(range(-_ULPS, _ULPS + 1), repeat=len(free)), key=_length):
        moved = {name: _moved(options[name], by) for name, by in zip(free, moves, strict=True)}
        exact = values | {name: Fraction(value) for name, value in moved.items()}
        # A step at the end of a strict condition is not moved to where it would be met.
        if all(met(theorem, replace(one, strict=False), exact) for one in about):
            return {**options, **moved}
    return dict(options)


def _length(moves: tuple[int, ...]) -> int:
    return sum(map(abs, moves))


def _moved(value: float, by: int) -> float:
    for _ in range(abs(by)):
        value = math.nextafter(value, math.inf if by > 0 else 0.0)
    return value
