"""SymPy expressions as fast functions of float64 arrays."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray
from sympy.printing.numpy import NumPyPrinter

from boundlab.errors import FormulaError

Floats = NDArray[np.float64]

_NEAR = 1e-12
_LARGEST = 2**53


def _floor(x: Any) -> Any:
    # log(1000)/log(10) is 2.9999999999999996 in floating point: what is an integer up to rounding is that integer.
    near = np.rint(x)
    return np.where(np.abs(x - near) <= _NEAR * np.maximum(np.abs(near), 1.0), near, np.floor(x))


def _ceil(x: Any) -> Any:
    return -_floor(-np.asarray(x))


# Naming the few functions that formulas can hold spares lambdify its import of all of NumPy (0.2 s). No symbol's name
# begins so: one called e, pi or maximum would be taken for what is called that here.
_NAMESPACE: Mapping[str, Any] = {
    "_f_sqrt": np.sqrt,
    "_f_exp": np.exp,
    "_f_log": np.log,
    "_f_floor": _floor,
    "_f_ceil": _ceil,
    "_f_minimum": np.minimum,
    "_f_maximum": np.maximum,
    "_f_abs": np.abs,
    "_f_e": np.e,
    "_f_pi": np.pi,
    "_f_reduce": functools.reduce,
}


class _FloatPrinter(NumPyPrinter):  # type: ignore[misc]  # SymPy has no types
    """Prints parameters by their places, whatever symbols are called, and numbers beyond 2⁵³ as floats."""

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__({"fully_qualified_modules": False, "inline": True, "allow_unknown_functions": False})
        self._names = names

    def _module_format(self, fqn: str, register: bool = True) -> str:
        return f"_f_{super()._module_format(fqn, register)}"

    def _print_Abs(self, expr: Any) -> str:  # noqa: N802
        return f"_f_abs({self._print(expr.args[0])})"

    def _print_Symbol(self, expr: Any) -> str:  # noqa: N802
        return self._names[expr.name]

    def _print_Integer(self, expr: Any) -> str:  # noqa: N802
        return str(expr.p) if abs(expr.p) <= _LARGEST else repr(float(expr.p))

    def _print_Rational(self, expr: Any) -> str:  # noqa: N802
        if max(abs(expr.p), expr.q) <= _LARGEST:
            return str(super()._print_Rational(expr))
        return f"({expr.p / expr.q!r})"


@functools.lru_cache(maxsize=1024)
def _function(expression: sympy.Expr) -> tuple[tuple[str, ...], Callable[..., Any]]:
    names = sorted(symbol.name for symbol in expression.free_symbols)
    places = {name: f"_x_{place}" for place, name in enumerate(names)}
    function = sympy.lambdify(
        [sympy.Symbol(place) for place in places.values()],
        expression,
        modules=[dict(_NAMESPACE)],
        printer=_FloatPrinter(places),
    )
    return tuple(names), function


def evaluate(expression: sympy.Expr, values: Mapping[str, Floats], what: str) -> Floats:
    """Evaluate an expression; infinities and NaN are returned, not raised.

    Parameters
    ----------
    expression
        Over the whitelist of :mod:`boundlab.formulas.parse`.
    values
        Arrays that broadcast with each other, one for each free symbol.
    what
        For messages: what the expression is.

    Raises
    ------
    FormulaError
        If a number of the formula is beyond floating point.
    """
    try:
        names, function = _function(expression)
        # x/0 is inf here on purpose: with M = 1 Theorem 7's D has γ/(L²(M−1)) inside a Min.
        with np.errstate(all="ignore"):
            return np.asarray(
                function(*(np.asarray(values[name], dtype=np.float64)[()] for name in names)),
                dtype=np.float64,
            )
    except (OverflowError, ZeroDivisionError):
        raise FormulaError(f"{what}: a number of the formula is too large for floating point") from None
