"""Formulas of a theorem, as they stand and with numbers in place of symbols."""

from collections.abc import Mapping

import sympy

from boundlab.arithmetic.writing import Written
from boundlab.formulas.written import written
from boundlab.theorems import Theorem


def formula(expression: sympy.Expr, theorem: Theorem, put_in: Mapping[str, Written] | None = None) -> Written:
    """Return a formula as ``boundlab show`` prints it.

    Parameters
    ----------
    put_in
        Numbers that stand in place of symbols; nothing is simplified.
    """
    near = False
    text = theorem.spelling()
    exact = dict(text)
    latex = {one: theorem.symbols[one.name].latex for one in expression.free_symbols if one.name in theorem.symbols}
    for symbol in expression.free_symbols:
        number = (put_in or {}).get(symbol.name)
        if number is not None:
            near = near or number.near
            text[symbol.name], exact[symbol.name] = _closed(number.text), _closed(number.exact)
            latex[symbol] = number.latex if number.text.isdecimal() else rf"\left({number.latex}\right)"
    return Written(
        written(expression, theorem.symbols, text),
        sympy.latex(expression, symbol_names=latex),
        written(expression, theorem.symbols, exact),
        near,
    )


def _closed(number: str) -> str:
    return number if number.isdecimal() else f"({number})"
