"""Formulas of a theorem, as they stand and with numbers in place of symbols."""

from collections.abc import Mapping
from typing import Any, final

import sympy
from sympy.printing.str import StrPrinter

from boundlab.arithmetic.writing import Written
from boundlab.theorems import Theorem


def formula(expression: sympy.Expr, theorem: Theorem, put_in: Mapping[str, Written] | None = None) -> Written:
    """Return a formula as ``boundlab show`` prints it; the one place where derivations print formulas.

    Parameters
    ----------
    put_in
        Numbers that stand in place of symbols; nothing is simplified.
    """
    near = False
    text = {symbol: symbol.name for symbol in expression.free_symbols}
    latex = {symbol: theorem.symbols[symbol.name].latex for symbol in text if symbol.name in theorem.symbols}
    exact = dict(text)
    for symbol in text:
        number = (put_in or {}).get(symbol.name)
        if number is not None:
            near = near or number.near
            text[symbol], exact[symbol] = _closed(number.text), _closed(number.exact)
            latex[symbol] = number.latex if number.text.isdecimal() else rf"\left({number.latex}\right)"
    return Written(
        _Printer(text).doprint(expression), sympy.latex(expression, symbol_names=latex),
        _Printer(exact).doprint(expression), near,
    )  # fmt: skip


def _closed(number: str) -> str:
    return number if number.isdecimal() else f"({number})"


@final
class _Printer(StrPrinter):  # type: ignore[misc]
    """Prints symbols under other names."""

    def __init__(self, names: Mapping[Any, str]) -> None:
        super().__init__()
        self._names = names

    def _print_Symbol(self, expr: sympy.Symbol) -> str:  # noqa: N802  (SymPy's name)
        return self._names.get(expr, expr.name)
