"""Formulas by cases: one value where an inequality holds, another where it does not."""

import re
from typing import Any, ClassVar, Final, final

import sympy

IF: Final = "If"


@final
class Choice(sympy.Expr):  # type: ignore[misc]  # SymPy has no types
    """One of two values: ``If(low <= high, then, otherwise)``. Only the one that is taken need be defined.

    Examples
    --------
    >>> k = sympy.Symbol("k")
    >>> Choice(k, 3, 1 / k, 0).subs(k, 4)
    0
    """

    is_real = True
    word: ClassVar[str] = IF

    def __new__(cls, low: Any, high: Any, then: Any, otherwise: Any) -> Any:
        """Return the value where numbers decide, or where both are the same."""
        low, high, then, otherwise = map(sympy.sympify, (low, high, then, otherwise))
        if low.is_Number and high.is_Number:
            return then if low <= high else otherwise
        # What signs of symbols decide, they decide for all numbers.
        if then == otherwise or (high - low).is_nonnegative:
            return then
        return otherwise if (low - high).is_positive else sympy.Expr.__new__(cls, low, high, then, otherwise)

    def doit(self, **hints: Any) -> Any:
        """Return the value where its sides can be worked out; that of the other branch is not asked for."""
        low, high, *values = self.args
        found = Choice(low.doit(**hints), high.doit(**hints), *values)
        return found if isinstance(found, Choice) else found.doit(**hints)

    def _both(self, fact: str) -> bool | None:
        return True if all(getattr(one, fact) for one in self.args[2:]) else None

    def _eval_is_nonnegative(self) -> bool | None:
        return self._both("is_nonnegative")

    def _eval_is_positive(self) -> bool | None:
        return self._both("is_positive")

    def _eval_is_integer(self) -> bool | None:
        return self._both("is_integer")

    def _sympystr(self, printer: Any) -> str:
        low, high, then, otherwise = map(printer._print, self.args)
        return f"{IF}({low} <= {high}, {then}, {otherwise})"

    def _latex(self, printer: Any) -> str:
        low, high, then, otherwise = map(printer._print, self.args)
        return rf"\left({then}\ \mathrm{{if}}\ {low} \leq {high},\ \mathrm{{else}}\ {otherwise}\right)"


def sides(text: str, signs: str) -> tuple[str, str, str] | None:
    """Return left side, sign and right side of an inequality; None where not one sign stands between two sides.

    Parameters
    ----------
    signs
        A pattern of the signs; those in parentheses, as in ``If(a <= b, x, y)``, divide nothing.
    """
    found = [
        one for one in re.finditer(signs, text) if text.count("(", 0, one.start()) == text.count(")", 0, one.start())
    ]
    return (text[: found[0].start()], found[0][0], text[found[0].end() :]) if len(found) == 1 else None
