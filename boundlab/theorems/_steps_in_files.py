"""Steps that a file gives as formulas of k, in the words of algorithms."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import sympy

from boundlab.algorithms import VARIABLES, Algorithm
from boundlab.errors import FormulaError, SpecError, UndecidedError
from boundlab.formulas.defined import Demand, Demands
from boundlab.formulas.symbols import SYMBOLS, SymbolInfo, names_of
from boundlab.formulas.units import degrees
from boundlab.formulas.written import substitute
from boundlab.metrics import INDEX, index_symbol
from boundlab.registry import find
from boundlab.theorems._statement import OTHERS
from boundlab.theorems._steps_at import put_in

_NO_UNITS = (sympy.S.Zero, sympy.S.Zero)
_LOOKED_AT = 100  # models at which a divisor of a step is looked at


def step_of_each(
    formulas: Mapping[str, dict[str, sympy.Expr]],
    options: dict[str, str],
    symbols: Mapping[str, SymbolInfo],
    others: Sequence[str],
    written: Mapping[sympy.Expr, Demands],
    algorithm: str,
    where: str,
) -> tuple[sympy.Expr | None, sympy.Expr | None]:
    """Put a step that is another one in each iteration into the words of algorithms.

    These are c/(k + d), and alpha times the option :attr:`boundlab.algorithms.Algorithm.rule`.

    Returns
    -------
    step
        That of iteration k as a formula; None where an option says what it is, or the schedule does.
    rule
        The factor of alpha, where symbols stand in it.

    Raises
    ------
    SpecError
        If it is neither, or if another formula (or a text of ``others``) reads it.
    """
    step, k = formulas["step"], INDEX["K"]
    found = SYMBOLS["c"].symbol / (k + SYMBOLS["d"].symbol) if "c" in step else SYMBOLS["alpha"].symbol
    known = find("algorithms", algorithm)
    option = "" if known is None else known.rule
    for name, rule in list(step.items()):
        index = {one for one in rule.free_symbols if one.name not in symbols}
        if "tau" in symbols and "tau" in names_of(rule) and known is not None and "tau" in known.rule_variables:
            raise SpecError(
                f"{where}, step.{name}: tau is the staleness of the update in hand; call your symbol otherwise"
            )
        place = f"{where}, step.{name}"
        _require_kept(rule, written.get(rule, ()), symbols, place)
        if not index:
            continue
        if name != "alpha" or len(index) > 1 or option in options:
            raise SpecError(
                f"{place}: alpha alone may depend on one of k (or t) and tau, and then there is no option {option}"
            )
        rules = (*formulas["definitions"].values(), *formulas["terms"].values())
        read = [str(one) for one in rules if name in names_of(put_in(one, sympy.S.Zero))]
        read += [one for one in others if re.search(rf"\b{name}\b", one)]
        stale = VARIABLES["tau"] in index
        if read:
            each = "tau" if stale else "k"
            raise SpecError(
                f"{place}: alpha is another one at each {each}, so that {read[0]} cannot read it; write it out"
            )
        (one,) = index
        variable = VARIABLES["tau" if stale else "k"]
        rule = found = rule.subs(one, variable)
        c, d = (None, sympy.S.Zero) if stale else _falling(rule, k)
        if c is not None:
            del step[name]
            step |= {"c": c, "d": d}
            return found, None
        _require_read(known, variable, place)
        step[name], factor = _factored(rule, variable, symbols, place)
        free = names_of(factor)
        if not stale and "T" in free:
            raise SpecError(f"{place}: {rule} reads T; the horizon in it is K, of a left side over iterations")
        if "K" in free:
            step["K"] = SYMBOLS["K"].symbol
        if not free & symbols.keys() - {"K", "n" if stale else "K"}:
            options[option] = str(factor)
            factor = None
        return None if stale else found, factor
    return (None if {option, OTHERS} & options.keys() else found), None


def _require_read(algorithm: Algorithm[Any] | None, variable: sympy.Symbol, place: str) -> None:
    """Make sure that the algorithm has steps that depend on a variable."""
    if algorithm is None:
        return
    if variable.name not in algorithm.rule_variables:
        example = algorithm.examples(1).get(algorithm.rule, ())
        have = f"of which it says how ({algorithm.rule}), as in {example[-1]}" if example else "none that change"
        raise SpecError(f"{place}: steps of {algorithm.id} do not depend on {variable}; it has steps {have}")


def _factored(
    rule: sympy.Expr, variable: sympy.Symbol, symbols: Mapping[str, SymbolInfo], place: str
) -> tuple[sympy.Expr, sympy.Expr]:
    """Return a step size, and what it is multiplied by for each value of the variable: a number without units."""
    alpha, rest = sympy.factor(rule).as_independent(variable, as_Add=False)
    try:
        plain = (degrees(rest, {**symbols, variable.name: index_symbol(variable.name)}) or _NO_UNITS) == _NO_UNITS
    except FormulaError as error:
        raise SpecError(f"{place}: {error}") from None
    if not plain:
        try:
            alpha = substitute(rule, {variable: sympy.S.Zero})
        except UndecidedError:
            alpha = sympy.S.Zero
        if alpha == 0 or (isinstance(alpha, sympy.Min) and 0 in alpha.args):
            raise SpecError(
                f"{place}: {rule} is 0, or has no value, at {variable} = 0; there a step has the size alpha"
            )
        rest = rule / alpha
    sign = -1 if alpha.could_extract_minus_sign() else 1
    return sign * alpha, sign * rest


def _require_kept(rule: sympy.Expr, written: Demands, symbols: Mapping[str, SymbolInfo], place: str) -> None:
    """Refuse a step in which a divisor cancels that is 0 at some k: there the formula has no value as it is written."""
    for one in (each for each in written if isinstance(each, Demand)):  # in a Min 1/0 is a limit that is not there
        index = [symbol for symbol in one.of.free_symbols if symbol.name not in symbols]
        rest = one.of.as_independent(*index, as_Add=False)[1] if index else sympy.S.One
        for k in range(_LOOKED_AT) if len(rest.free_symbols) == 1 else ():
            at = {index[0]: sympy.Integer(k)}
            if rest.subs(at) == 0 and _has_value(rule, at):
                raise SpecError(f"{place}: {one.of} is 0 at {index[0]} = {k}, and the step has no value there")


def _has_value(rule: sympy.Expr, at: Mapping[sympy.Symbol, sympy.Expr]) -> bool:
    try:
        return substitute(rule, at).is_finite is not False
    except UndecidedError:
        return False


def _falling(rule: sympy.Expr, k: sympy.Symbol) -> tuple[sympy.Expr | None, sympy.Expr | None]:
    """Return c and d of c/(k + d), None where a step is not so."""
    top, below = map(sympy.expand, sympy.fraction(sympy.together(rule)))
    if k in top.free_symbols or not below.is_polynomial(k) or sympy.degree(below, k) != 1:
        return None, None
    slope, rest = below.coeff(k, 1), below.coeff(k, 0)
    return sympy.simplify(top / slope), sympy.simplify(rest / slope)
