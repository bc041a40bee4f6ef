"""How a theorem is evaluated: what it needs, what follows from that, and what is refused."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import sympy

from boundlab.errors import InfiniteError, SymbolError
from boundlab.formulas.floats import evaluate as evaluate_expression
from boundlab.formulas.symbols import check, names_of
from boundlab.options import nearest
from boundlab.theorems._bound import Evaluation, Floats
from boundlab.theorems._conditions import require
from boundlab.theorems._defined import require_defined
from boundlab.theorems._followed import once
from boundlab.theorems._statement import Statement


def expanded(given: Iterable[str]) -> frozenset[str]:
    """Return the names, with those that follow from p, or from rates and lambda_s."""
    names = frozenset(given)
    if "rates" in names and "lambda_s" in names:
        names |= {"p"}
    return names | {"n", "p_s", "p_min", "qbar"} if "p" in names else names


def needs(theorem: Statement, given: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the base symbols, and the defined ones in the order of computation."""
    return _needs(theorem, frozenset(given))


@once(4096)
def _needs(theorem: Statement, known: frozenset[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    defining = theorem.defining()
    absent = theorem.bound.gone(known)
    base: dict[str, None] = {}
    order: dict[str, None] = {}

    def visit(name: str) -> None:
        if name in base or name in order:
            return
        if name in known or name not in defining:
            base[name] = None
            return
        for other in sorted(theorem.reads(defining[name])):
            visit(other)
        order[name] = None

    for expression in theorem.expressions():
        if not names_of(expression) & absent:
            for name in sorted(theorem.reads(expression)):
                visit(name)
    for name in theorem.bound.reads(known):
        visit(name)
    more = theorem.left_reads | theorem.rule_reads | theorem.assume_reads
    for name in (*theorem.step, *sorted(more)):
        if name not in absent:
            visit(name)
    if not theorem.bound.closed:
        base[theorem.horizon_symbol] = None
    return tuple(base), tuple(order)


def inputs(theorem: Statement, given: Iterable[str]) -> tuple[str, ...]:
    """Return the symbols that need a value when those of ``given`` are set, in the order of the table."""
    return _inputs(theorem, expanded(given))


@once(4096)
def _inputs(theorem: Statement, given: frozenset[str]) -> tuple[str, ...]:
    base, _ = needs(theorem, given)
    place = {name: position for position, name in enumerate(theorem.symbols)}
    return tuple(sorted(base, key=place.__getitem__))


def rules(theorem: Statement) -> dict[str, sympy.Expr]:
    """Return the defined symbols that the statement uses, each by the ones after it."""
    _, order = needs(theorem, ())
    defining = theorem.defining()
    own = () if "c" in theorem.step else tuple(theorem.step)
    return {name: defining[name] for name in reversed(order) if name not in own}


def missing(theorem: Statement, names: Sequence[str], known: Mapping[str, Any]) -> SymbolError:
    """Return the error for symbols that have no value: what they are, or of several a line to paste."""
    if len(names) > 1:
        asked = dict.fromkeys("p" if {"p", "qbar"} & {*names} and one in expanded("p") else one for one in names)
        lists = {"p", *(one for one in names if theorem.symbols[one].vector)}
        paste = " ".join(f"--set {one}={'[…]' if one in lists else '…'}" for one in asked)
        return SymbolError(f"{theorem.id} needs {len(asked)} more values: {paste}; boundlab show says what they are")
    (name,) = names
    wrong = [other for other in known if other not in inputs(theorem, known)]
    close = nearest(name, wrong) if wrong else ""
    hint = f"; {close}" if close.startswith("did") and "p" not in known else ""
    return SymbolError(f"{theorem.id} needs {name}: {theorem.symbols[name].describe()}; set {name}=…{hint}")


def derive(theorem: Statement, known: Mapping[str, Any], goals: Iterable[str] | None, first: int) -> dict[str, Floats]:
    """Check the base symbols and compute the defined ones (those that ``goals`` need, or all)."""
    base, order = needs(theorem, known)
    defining = theorem.defining()
    if goals is not None:
        wanted = theorem.read_by(goals, known)
        base, order = (tuple(name for name in part if name in wanted) for part in (base, order))
    found: dict[str, Floats] = {}
    if lacking := [name for name in inputs(theorem, known) if name in base and name not in known]:
        raise missing(theorem, lacking, known)
    for name in base:
        if name == theorem.horizon_symbol and first == 0:
            found[name] = np.asarray(known[name], dtype=np.float64)
            if (found[name] < 0).any():
                raise SymbolError(f"iterations must be ≥ 0, got {found[name].min():g}")
        else:
            found[name] = check(name, known[name], theorem.symbols)
        if theorem.symbols[name].vector and np.ndim(known.get("n", [])) == 0 and len(found[name]) != known["n"]:
            raise SymbolError(f"{name} has {len(found[name])} numbers, and there are n = {float(known['n']):g} clients")
    for name in order:
        what = f"the step {name}" if name in theorem.step else f"the definition of {name}"
        require_defined(theorem, what, defining[name], found, base)
        found[name] = evaluate_expression(defining[name], found, f"{theorem.id}, {name}")
    return found


def evaluated(theorem: Statement, known: Mapping[str, Any], first: int, *, exactly: bool) -> Evaluation:
    """Evaluate the bound after checking its conditions.

    Parameters
    ----------
    exactly
        Whether the conditions are checked at the very numbers, as a comparison needs it; else up to rounding.

    Raises
    ------
    SymbolError, AssumptionError
        As :meth:`Theorem.evaluate`.
    """
    found = derive(theorem, known, None, first)
    base, order = needs(theorem, known)
    absent = theorem.bound.gone(frozenset(known))
    for condition in theorem.conditions:
        if not (names_of(condition.quantity) | names_of(condition.limit)) & absent:
            for side in (condition.quantity, condition.limit):
                require_defined(theorem, f"the condition {condition.statement}", side, found, base)
            require(theorem, condition, found, base, exactly=exactly)
    for name, term in theorem.bound.expressions().items():
        require_defined(theorem, f"the term {name}", term, found, base)
    terms = {
        name: _sound(theorem, words, value, found)
        for name, words, value in theorem.bound.terms_at(found, theorem.symbols, theorem.horizon_symbol, theorem.id)
    }
    shapes = [found[name].shape for name in base if not theorem.symbols[name].vector]
    shape = np.broadcast_shapes(*shapes, *(term.shape for term in terms.values()))
    full = {name: np.broadcast_to(term, shape) for name, term in terms.items()}
    total = np.asarray(sum(full.values(), start=np.zeros(shape)))
    _sound(theorem, "the sum of the terms", total, found)
    derived = {name: found[name] for name in order}
    return Evaluation(total, MappingProxyType(full), MappingProxyType(derived), theorem.kind)


def _sound(theorem: Statement, what: str, value: Floats, found: Mapping[str, Floats]) -> Floats:
    wrong = ~np.isfinite(value)
    if not wrong.any():
        return value
    shown = {
        name: array
        for name, array in found.items()
        if name not in theorem.defining() and not theorem.symbols[name].vector
    }
    # Symbols that the term does not read may have more numbers than it has.
    shape = np.broadcast_shapes(value.shape, *(array.shape for array in shown.values()))
    place = np.unravel_index(int(np.argmax(np.broadcast_to(wrong, shape))), shape)
    kind = "not a number" if np.isnan(np.broadcast_to(value, shape)[place]) else "infinite"
    parts = (f"{name}={float(np.broadcast_to(array, shape)[place]):g}" for name, array in shown.items())
    raise InfiniteError(f"{theorem.id}: {what} is {kind} at {', '.join(parts)}")
