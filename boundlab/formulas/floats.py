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


def _floor(x: Any) -> Any:
    # log(1000)/log(10) is 2.9999999999999996 in floating point: what is an integer up to rounding is that integer.
    near = np.rint(x)
    return np.where(np.abs(x - near) <= _NEAR * np.maximum(np.abs(near), 1.0), near, np.floor(x))


def _ceil(x: Any) -> Any:
    return -_floor(-np.asarray(x))


# Naming the few functions that formulas can hold spares lambdify its import of all of NumPy (0.2 s).
_NAMESPACE: Mapping[str, Any] = {
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "floor": _floor,
    "ceil": _ceil,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "abs": np.abs,
    "e": np.e,
    "pi": np.pi,
}


@functools.lru_cache(maxsize=1024)
def _function(expression: sympy.Expr) -> tuple[tuple[str, ...], Callable[..., Any]]:
    symbols = sorted(expression.free_symbols, key=str)
    printer = NumPyPrinter({"fully_qualified_modules": False, "inline": True, "allow_unknown_functions": False})
    return tuple(map(str, symbols)), sympy.lambdify(symbols, expression, modules=[dict(_NAMESPACE)], printer=printer)


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
    names, function = _function(expression)
    try:
        # x/0 is inf here on purpose: with M = 1 Theorem 7's D has γ/(L²(M−1)) inside a Min.
        with np.errstate(all="ignore"):
            return np.asarray(
                function(*(np.asarray(values[name], dtype=np.float64)[()] for name in names)),
                dtype=np.float64,
            )
    except (OverflowError, ZeroDivisionError):
        raise FormulaError(f"{what}: a number of the formula is too large for floating point") from None
