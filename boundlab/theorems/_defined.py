"""Domain of a theorem's formulas: whether they have values at given numbers; what is not defined is never met."""

from collections.abc import Collection, Mapping

import numpy as np
import sympy
from numpy.typing import NDArray

from boundlab.errors import AssumptionError, SilentError
from boundlab.formulas.decide import at_most
from boundlab.formulas.defined import Demand, broken, looked_at
from boundlab.formulas.floats import evaluate
from boundlab.formulas.symbols import names_of
from boundlab.theorems._bound import Floats
from boundlab.theorems._conditions import at_place, fractions
from boundlab.theorems._statement import Statement

_APART = 1e-9  # Sums that are smaller than that, by their summands, may be 0.
_TINY = 5e-324  # what floating point loses is not 0
_SHOWN = 4


def require_defined(
    theorem: Statement, what: str, formula: sympy.Expr, found: Mapping[str, Floats], base: Collection[str]
) -> None:
    """Make sure that a formula, as it is written, has a value everywhere on a grid.

    Parameters
    ----------
    what
        What the formula is, for the message.
    found
        Values of all symbols, broadcastable with each other.
    base
        Those that were given; the others follow from their definitions.

    Raises
    ------
    AssumptionError
        If it has none; a :class:`boundlab.errors.SilentError` if it may at another number of iterations.
    """
    needed = theorem.demands(formula)
    if not needed:
        return
    with np.errstate(all="ignore"):
        doubts = [_doubtful(one, found) for one in looked_at(needed)]
    if not any(one.any() for one in doubts):
        return
    names = [one for one in theorem.read_by(theorem.reads(formula)) if one in found]
    shape = np.broadcast_shapes((1,), *(found[name].shape for name in names if not theorem.symbols[name].vector))
    doubt = np.zeros(shape, dtype=bool)
    for one in doubts:
        doubt |= one
    for place in map(tuple, np.argwhere(doubt).tolist()):
        here = at_place(theorem, names, found, shape, place)

        def value(of: sympy.Expr, at: Mapping[str, Floats] = here) -> float:
            number = float(evaluate(of, at, theorem.id))
            # Floats are not told from 0: the fractions that they are may be.
            zero = _vanishes(of, at) and _is_zero(theorem, of, at, base)
            return 0.0 if zero else number or _TINY

        if (unmet := broken(needed, value)) is not None:
            raise _undefined(theorem, what, unmet, here, base)


def _doubtful(one: Demand, found: Mapping[str, Floats]) -> NDArray[np.bool_]:
    doubt = np.asarray(_vanishes(one.of, found))
    if one.kind == "power":
        return doubt
    value = evaluate(one.of, found, "")
    return doubt | ~(value > 0 if one.kind == "log" else value >= 0)


def _vanishes(of: sympy.Expr, found: Mapping[str, Floats]) -> NDArray[np.bool_]:
    """Return where an expression is 0 up to rounding: a sum by its summands, a product by its factors."""
    if of.is_Mul:
        parts = np.broadcast_arrays(*(_vanishes(one, found) for one in of.args))
        return np.asarray(np.logical_or.reduce(parts), dtype=bool)
    if of.is_Pow and of.exp.is_positive:
        return _vanishes(of.base, found)
    value = evaluate(of, found, "")
    if of.is_Add:
        return np.asarray(np.abs(value) <= _APART * sum(np.abs(evaluate(one, found, "")) for one in of.args))
    return np.asarray(np.abs(value) <= (0.0 if of.is_Symbol or of.is_number else _APART))


def _is_zero(theorem: Statement, of: sympy.Expr, at: Mapping[str, Floats], base: Collection[str]) -> bool:
    values = fractions(theorem, names_of(of), at, base)
    sides = ((of, sympy.S.Zero), (sympy.S.Zero, of))
    return all(at_most(left, right, theorem.defining(), values) is True for left, right in sides)


def _undefined(
    theorem: Statement, what: str, one: Demand, at: Mapping[str, Floats], base: Collection[str]
) -> AssumptionError:
    own = names_of(one.of)
    read = sorted(name for name in theorem.read_by(own) if name in base and np.ndim(at.get(name, [0])) == 0)
    zero = [name for name in read if at[name] == 0] if one.kind == "power" else []
    numbers = ", ".join(f"{name} = {float(at[name]):.6g}" for name in (zero or read)[:_SHOWN])
    advice = "; multiply it out" if one.kind == "power" else ""
    if len(zero) == 1 and theorem.symbols[zero[0]].domain.integer:
        advice = f"; say 1 <= {zero[0]} or multiply it out"
    silent = theorem.horizon_symbol in theorem.read_by(own)
    part = "" if one.text in own else f", {one.text},"
    return (SilentError if silent else AssumptionError)(f"{theorem.id}: {what} {one.fails}{part} at {numbers}{advice}")
