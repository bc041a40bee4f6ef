"""Unit degrees of formulas: how they behave under f → c·f, x → s·x and time → t·time."""

from collections.abc import Mapping, Sequence

import sympy

from boundlab.errors import FormulaError
from boundlab.formulas.folds import Choice, EntryOf, FoldIndex, IndexFold, ProdFold, StepAt
from boundlab.formulas.symbols import SYMBOLS, SymbolInfo

Units = tuple[sympy.Expr, sympy.Expr, sympy.Expr]

_NONE: Units = (sympy.S.Zero, sympy.S.Zero, sympy.S.Zero)


def exact_units(units: Sequence[int]) -> Units:
    """Return degrees (a, b) or (a, b, c) as exact numbers; two of them have no seconds."""
    a, b, *more = map(sympy.Integer, units)
    return a, b, more[0] if more else sympy.S.Zero


def degrees(expression: sympy.Expr, symbols: Mapping[str, SymbolInfo] = SYMBOLS) -> Units | None:
    """Return the degrees (a, b, c) of a homogeneous expression, None for the literal 0, which has every degree.

    Raises
    ------
    FormulaError
        If a sum, Min or Max mixes degrees, or exp, log, floor or an exponent takes a quantity with units.

    Examples
    --------
    >>> from boundlab.formulas.symbols import symbol
    >>> degrees(symbol("L") * symbol("R") ** 2)
    (1, 0, 0)
    """
    if isinstance(expression, FoldIndex):
        return _NONE
    if isinstance(expression, (EntryOf, IndexFold, StepAt)):
        return _folded(expression, symbols)
    if expression.is_Symbol:
        return exact_units(symbols[expression.name].units)
    if expression == 0:
        return None
    if expression.is_number:
        return _NONE
    if isinstance(expression, sympy.Mul):
        parts = [degrees(part, symbols) or _NONE for part in expression.args]
        a, b, c = (sum(column, sympy.S.Zero) for column in zip(*parts, strict=True))
        return a, b, c
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


def _folded(expression: sympy.Expr, symbols: Mapping[str, SymbolInfo]) -> Units | None:
    """Return the degrees of what has an index: those of a vector, of the step, or of a fold's terms."""
    body, *rest = expression.args
    for one in rest:
        if (degrees(one, symbols) or _NONE) != _NONE:
            raise FormulaError(f"{expression} counts in {one}, which has units {_show(degrees(one, symbols))}")
    inner = degrees(body, symbols)
    if isinstance(expression, ProdFold) and (inner or _NONE) != _NONE:
        raise FormulaError(f"{expression} multiplies factors with units {_show(inner)}")
    return inner


def _power(expression: sympy.Pow, symbols: Mapping[str, SymbolInfo]) -> Units:
    base, exponent = expression.args
    inner = degrees(base, symbols) or _NONE
    if (degrees(exponent, symbols) or _NONE) != _NONE:
        raise FormulaError(f"the exponent {exponent} has units")
    if not exponent.is_number and inner != _NONE:
        raise FormulaError(f"{base} has units {_show(inner)} and the exponent {exponent} is not a number")
    a, b, c = inner
    return (a * exponent, b * exponent, c * exponent) if exponent.is_number else _NONE


def _same(expression: sympy.Expr, symbols: Mapping[str, SymbolInfo]) -> Units | None:
    common: Units | None = None
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


def _show(units: Units | None) -> str:
    return shown(units or _NONE)


def shown(units: Sequence[object]) -> str:
    """Return degrees for people: (a, b), or (a, b, c) where there are seconds among them."""
    found = units[:2] if not any(units[2:]) else units
    return f"({', '.join(map(str, found))})".replace("-", "−")
