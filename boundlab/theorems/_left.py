"""The left side in a file: one quantity, or the terms of a sum."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import sympy

from boundlab.errors import SpecError
from boundlab.formulas.defined import Demands, demands
from boundlab.formulas.folds import StepAt
from boundlab.formulas.parse import parse
from boundlab.formulas.symbols import SymbolInfo, names_of
from boundlab.metrics import (
    INDEX,
    INDICES,
    KINDS,
    MODEL,
    QUANTITIES,
    Counter,
    Metric,
    Quantity,
    Term,
    compose,
    compose_sum,
    index_symbol,
)
from boundlab.options import nearest

_KEYS: Final = ("quantity", "over", "index", "reach", "weights", "from", "to")
_SECONDS: Final = "seconds"
_REACHED: Final[Mapping[str, str]] = {
    "last": "best-expected", "mean": "best-mean", **{one: one for one in KINDS if one.startswith("best")}
}  # fmt: skip
_TERM_KEYS: Final = ("quantity", "point", "times")
_SUMMED: Final[Mapping[str, Quantity]] = {one.name.lower(): one for one in Quantity}


def left_side(
    said: Mapping[str, Any] | Sequence[Mapping[str, Any]], symbols: Mapping[str, SymbolInfo], where: str
) -> Metric:
    """Read the table [left], or the tables [[left]] that are added.

    Raises
    ------
    SpecError
        If a key is unknown, or a value none that it can have.
    FormulaError
        If a formula cannot be read.
    """
    return _left(said, symbols, where) if isinstance(said, Mapping) else _sum(said, symbols, where)


def _left(table: Mapping[str, Any], symbols: Mapping[str, SymbolInfo], where: str) -> Metric:
    """Read a left side: a quantity, how the iterates enter, what the index counts, which models, their weights.

    With ``reach`` some model within so many seconds or iterations is to have a small left side: the best one.
    """
    known(table, _KEYS, f"{where}, left")
    words = {"quantity": QUANTITIES, "over": KINDS, "index": (*INDICES.values(), _SECONDS)}
    said = {"over": "last", "index": "iteration", **table}
    if "quantity" not in said:
        raise SpecError(f"{where}, left: quantity is missing; one of {', '.join(QUANTITIES)}")
    for key, allowed in words.items():
        if said[key] not in allowed:
            raise SpecError(f"{where}, left.{key}: {said[key]!r} is none; {nearest(str(said[key]), allowed)}")
    counter: Counter = next((letter for letter, name in INDICES.items() if name == said["index"]), "T")
    index, own = INDEX[counter], dict(symbols)
    if index.name in own:
        raise SpecError(f"{where}, symbols.{index.name}: in [left] {index.name} counts the models; choose another name")
    own[index.name] = index_symbol(index.name)
    formulas: dict[str, sympy.Expr] = {}
    for key in ("from", "to", "weights"):
        if key in table:
            found = formula(table[key], own, f"{where}, left.{key}", {})
            formulas[key] = found.subs(own[index.name].symbol, index)
            if key != "weights" and index in formulas[key].free_symbols:
                raise SpecError(f"{where}, left.{key}: {index.name} counts from it; it cannot depend on {index.name}")
    if any(formulas[key].has(StepAt) for key in ("from", "to") if key in formulas):
        raise SpecError(f"{where}, left: from and to count models, and read no alpha_at")
    _refuse_vectors(formulas.values(), own, where)
    other = {"K": "T", "T": "K"}[counter]
    if any(other in names_of(one) for one in formulas.values()):
        raise SpecError(f"{where}, left: {other} is read, but the index counts {counter}; see index")
    if "reach" in table:
        if said["over"] not in _REACHED:
            raise SpecError(f"{where}, left: reach is for a left side over {', '.join(_REACHED)}")
        if said["over"] != "last":
            said["over"] = _REACHED[said["over"]]
        elif not formulas:  # else they are refused
            said["over"], formulas = _REACHED["last"], {"from": sympy.S.Zero, "to": own[counter].symbol}
    try:
        return compose(
            said["quantity"],
            said["over"],
            in_seconds=said["index"] == _SECONDS,
            counter=counter,
            begin=formulas.get("from"),
            end=formulas.get("to"),
            weights=formulas.get("weights"),
        )
    except SpecError as error:
        raise SpecError(f"{where}, left: {error}") from None


def _sum(tables: Sequence[Mapping[str, Any]], symbols: Mapping[str, SymbolInfo], where: str) -> Metric:
    """Read the terms of a left side: a quantity, at which point, times what."""
    terms = []
    for place, table in enumerate(tables, 1):
        name = f"{where}, left {place}"
        known(table, _TERM_KEYS, name)
        quantity, point = table.get("quantity"), table.get("point", MODEL)
        if not isinstance(quantity, str) or quantity not in _SUMMED:
            raise SpecError(f"{name}: quantity must be one of {', '.join(_SUMMED)}, got {quantity!r}")
        if not isinstance(point, str):
            raise SpecError(f"{name}: point must be text, such as {MODEL!r}; got {point!r}")
        times = formula(table.get("times", 1), symbols, f"{name}: times", {})
        _refuse_vectors((times,), symbols, where)
        if times.has(StepAt):
            raise SpecError(f"{name}: times = {times} is one number, and alpha_at(k) another one at each k")
        if {"K", "T"} & names_of(times):
            raise SpecError(f"{name}: times = {times} reads the horizon; terms have the same coefficients at every K")
        terms.append(Term(times, _SUMMED[quantity], point))
    if terms[0].times.free_symbols or not terms[0].times.is_positive:
        raise SpecError(f"{where}, left 1: times must be a number above 0: the first term says what units they have")
    try:
        return compose_sum(terms)
    except SpecError as error:
        raise SpecError(f"{where}, left: {error}") from None


def _refuse_vectors(formulas: Iterable[sympy.Expr], symbols: Mapping[str, SymbolInfo], where: str) -> None:
    each = sorted({one for rule in formulas for one in names_of(rule) if one in symbols and symbols[one].vector})
    if each:
        raise SpecError(f"{where}, left: {each[0]} is one number per client, and left sides read none of these")


def reached(
    left: Mapping[str, Any],
    terms: Mapping[str, sympy.Expr],
    symbols: Mapping[str, SymbolInfo],
    where: str,
    written: dict[sympy.Expr, Demands],
) -> tuple[dict[str, sympy.Expr], sympy.Expr]:
    """Return the right side of a statement with ``reach`` and the seconds or iterations that its terms make.

    Raises
    ------
    SpecError
        If ``reach`` is no positive symbol.
    """
    name = left["reach"]
    if not isinstance(name, str) or name not in symbols or not symbols[name].symbol.is_positive:
        raise SpecError(f"{where}, left.reach must name a positive symbol, such as eps under [symbols]; got {name!r}")
    total = sympy.Add(*terms.values())
    written[total] = tuple(one for term in terms.values() for one in written.get(term) or demands(term))
    return {name: symbols[name].symbol}, total


def known(table: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    """Refuse keys that a table does not have."""
    for key in table:
        if key not in keys:
            raise SpecError(f"{where}: unknown key {key!r}; {nearest(key, keys)}")


def formula(
    text: object, symbols: Mapping[str, SymbolInfo], what: str, written: dict[sympy.Expr, Demands]
) -> sympy.Expr:
    """Read a formula, or a number, over symbols; what it demands as it is written goes to ``written``."""
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        text = repr(text)
    own = {name: info.symbol for name, info in symbols.items()}
    return parse(text, own, what, written)  # type: ignore[arg-type]
