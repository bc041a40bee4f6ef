"""Unit degrees of formulas: how they behave under f → c·f and x → s·x."""

from collections.abc import Mapping

import sympy

from boundlab.errors import FormulaError
from boundlab.formulas.choice import Choice
from boundlab.formulas.folds import EntryOf, FoldIndex, IndexFold, ProdFold, StepAt
from boundlab.formulas.symbols import SYMBOLS, SymbolInfo

Pair = tuple[sympy.Expr, sympy.Expr]

_NONE: Pair = (sympy.S.Zero, sympy.S.Zero)


def degrees(expression: sympy.Expr, symbols: Mapping[str, SymbolInfo] = SYMBOLS) -> Pair | None:
    """Return the degrees (a, b) of a homogeneous expression, None for the literal 0, which has every degree.

    Raises
    ------
    FormulaError
        If a sum, Min or Max mixes degrees, or exp, log, floor or an exponent takes a quantity with units.

    Examples
    --------
    >>> from boundlab.formulas.symbols import symbol
    >>> degrees(symbol("L") * symbol("R") ** 2)
    (1, 0)
    """
    if isinstance(expression, FoldIndex):
        return _NONE
    if isinstance(expression, (EntryOf, IndexFold, StepAt)):
        return _folded(expression, symbols)
    if expression.is_Symbol:
        a, b = symbols[expression.name].units
        return sympy.Integer(a), sympy.Integer(b)
    if expression == 0:
        return None
    if expression.is_number:
        return _NONE
    if isinstance(expression, sympy.Mul):
        parts = [degrees(part, symbols) or _NONE for part in expression.args]
        return sum((a for a, _ in parts), sympy.S.Zero), sum((b for _, b in parts), sympy.S.Zero)
    if isinstance(expression, sympy.Pow):
        return _power(expression, symbols)
    if isinstance(expression, (sympy.Add, sympy.Min, sympy.Max)):
        return _same(expression, symbols)
    if isinstance(expression, Choice):
        low, high, *values = expression.args
        _same(sympy.Add(low, high, evaluate=False), symbols)
        return _same(sympy.Add(*values, evaluate=False), symbols)
    if isinstance(expression, sympy.Abs):
        return degrees(expression.args[0], symbols)
    for argument in expression.args:
        if (degrees(argument, symbols) or _NONE) != _NONE:
            raise FormulaError(
                f"{expression.func.__name__} of {argument}, which has units {_show(degrees(argument, symbols))}"
            )
    return _NONE


def _folded(expression: sympy.Expr, symbols: Mapping[str, SymbolInfo]) -> Pair | None:
    """Return the degrees of what has an index: those of a vector, of the step, or of a fold's terms."""
    body, *rest = expression.args
    for one in rest:
        if (degrees(one, symbols) or _NONE) != _NONE:
            raise FormulaError(f"{expression} counts in {one}, which has units {_show(degrees(one, symbols))}")
    inner = degrees(body, symbols)
    if isinstance(expression, ProdFold) and (inner or _NONE) != _NONE:
        raise FormulaError(f"{expression} multiplies factors with units {_show(inner)}")
    return inner


def _power(expression: sympy.Pow, symbols: Mapping[str, SymbolInfo]) -> Pair:
    base, exponent = expression.args
    inner = degrees(base, symbols) or _NONE
    if (degrees(exponent, symbols) or _NONE) != _NONE:
        raise FormulaError(f"the exponent {exponent} has units")
    if not exponent.is_number and inner != _NONE:
        raise FormulaError(f"{base} has units {_show(inner)} and the exponent {exponent} is not a number")
    return (inner[0] * exponent, inner[1] * exponent) if exponent.is_number else _NONE


def _same(expression: sympy.Expr, symbols: Mapping[str, SymbolInfo]) -> Pair | None:
    common: Pair | None = None
    first = None
    for part in expression.args:
        own = degrees(part, symbols)
        if own is None:
            continue
        if common is None:
            common, first = own, part
        elif own != common:
            raise FormulaError(f"{first} has units {_show(common)}, but {part} has {_show(own)}")
    return common


def _show(pair: Pair | None) -> str:
    a, b = pair or _NONE
    return f"({a}, {b})".replace("-", "−")
