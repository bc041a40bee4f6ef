"""SymPy expressions as fast functions of float64 arrays."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import sympy
from sympy.printing.numpy import NumPyPrinter

from boundlab.errors import FormulaError
from boundlab.formulas.folds import NO_STEPS, ClientVector, IndexFold
from boundlab.randomness import Floats

_NEAR = 1e-12
_LARGEST = 2**53


def _floor(x: Any) -> Any:
    # log(1000)/log(10) is 2.9999999999999996 in floating point: what is an integer up to rounding is that integer.
    near = np.rint(x)
    return np.where(np.abs(x - near) <= _NEAR * np.maximum(np.abs(near), 1.0), near, np.floor(x))


def _entry(vector: Any, place: Any) -> Any:
    vector, place = np.asarray(vector), np.asarray(place)
    inside = (place == np.floor(place)) & (place >= 0) & (place < len(vector))
    return np.where(inside, vector[np.where(inside, place, 0).astype(np.intp)], np.nan)


_OPERATIONS: Mapping[str, tuple[np.ufunc, float]] = {
    "Sum": (np.add, 0.0),
    "Prod": (np.multiply, 1.0),
    "MaxOver": (np.maximum, -np.inf),
    "MinOver": (np.minimum, np.inf),
}
_AT_ONCE = 1 << 20


def _fold(word: str, most: int, term: Callable[[Any, Any], Any], ends: tuple[Any, Any], grid: Any) -> Any:
    """Put the terms at first, …, last together, for all ends on a grid at once.

    Parameters
    ----------
    term
        Gives the terms at indices, whose axis comes before those of the grid, which it is given with that axis.
    grid
        Of the shape of everything that does not depend on the index.
    """
    operation, neutral = _OPERATIONS[word]
    first, last, _ = np.broadcast_arrays(*(np.asarray(end, dtype=np.float64) for end in ends), grid)
    known = (first == np.floor(first)) & (last == np.floor(last))
    if not known.any():
        return np.full(grid.shape, np.nan)
    low, high = float(first[known].min()), float(last[known].max())
    if not high - low < most:
        raise OverflowError(f"{word} has more than {most} terms")
    if max(abs(low), abs(high)) >= _LARGEST:
        raise OverflowError(f"{word} has terms beyond 2^53, which floats do not count")

    def terms(begin: float, end: float) -> Any:
        index = np.arange(begin, end).reshape((-1,) + (1,) * grid.ndim)
        return np.asarray(term(index, np.broadcast_to(grid, (len(index), *grid.shape)))), index

    found = np.full(grid.shape, neutral)
    values, _ = terms(low, low + 1)
    if values.size == 1 and (first == low)[known].all():  # one sequence of terms: all that one asks are its first ones
        each, index = terms(low, high + 1)
        row = operation.accumulate(np.broadcast_to(each, index.shape).ravel().astype(np.longdouble))
        asked = np.where(known, last - low, -1).astype(np.intp)
        found = np.where(asked >= 0, row[np.maximum(asked, 0)] if len(row) else neutral, neutral).astype(np.float64)
        return np.where(known, found, np.nan)
    step = max(1, _AT_ONCE // max(1, grid.size))
    for begin in np.arange(low, high + 1, step):
        each, index = terms(begin, min(begin + step, high + 1))
        inside = (index >= first) & (index <= last)
        found = operation(found, operation.reduce(np.where(inside, each, neutral), axis=0))
    return np.where(known, found, np.nan)


# Naming the few functions that formulas can hold spares lambdify its import of all of NumPy (0.2 s). No symbol's name
# begins so: one called e, pi or maximum would be taken for what is called that here.
_NAMESPACE: Mapping[str, Any] = {
    "_f_sqrt": np.sqrt,
    "_f_exp": np.exp,
    "_f_log": np.log,
    "_f_floor": _floor,
    "_f_ceil": lambda x: -_floor(-np.asarray(x)),
    "_f_minimum": np.minimum,
    "_f_maximum": np.maximum,
    "_f_abs": np.abs,
    "_f_e": np.e,
    "_f_pi": np.pi,
    "_f_reduce": functools.reduce,
    "_f_fold": _fold,
    "_f_entry": _entry,
    "_f_where": np.where,
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

    def _print_FoldIndex(self, expr: Any) -> str:  # noqa: N802
        return f"_i_{expr.plain}"

    def _print_EntryOf(self, expr: Any) -> str:  # noqa: N802
        return f"_f_entry({self._print(expr.args[0])}, {self._print(expr.args[1])})"

    def _print_Choice(self, expr: Any) -> str:  # noqa: N802
        return "_f_where({} <= {}, {}, {})".format(*map(self._print, expr.args))

    def _print_StepAt(self, expr: Any) -> str:  # noqa: N802
        raise FormulaError(NO_STEPS)

    def _print_IndexFold(self, expr: Any) -> str:  # noqa: N802
        body, index, *ends = map(self._print, expr.args)
        return f"_f_fold({expr.word!r}, {expr.most_terms}, lambda {index}, _grid: {body}, ({', '.join(ends)}), _grid)"

    def _print_Integer(self, expr: Any) -> str:  # noqa: N802
        return str(expr.p) if abs(expr.p) <= _LARGEST else repr(float(expr.p))

    def _print_Rational(self, expr: Any) -> str:  # noqa: N802
        if max(abs(expr.p), expr.q) <= _LARGEST:
            return str(super()._print_Rational(expr))
        return f"({expr.p / expr.q!r})"


@functools.lru_cache(maxsize=1024)
def _function(expression: sympy.Expr) -> tuple[tuple[str, ...], Callable[..., Any], tuple[int, ...] | None]:
    """Return names, the function of their values and a grid, and the places of numbers if it needs that grid."""
    symbols = sorted(expression.free_symbols, key=lambda symbol: str(symbol.name))
    names = [symbol.name for symbol in symbols]
    places = {name: f"_x_{place}" for place, name in enumerate(names)}
    function = sympy.lambdify(
        [*(sympy.Symbol(place) for place in places.values()), sympy.Symbol("_grid")],
        expression,
        modules=[dict(_NAMESPACE)],
        printer=_FloatPrinter(places),
    )
    spread = tuple(place for place, symbol in enumerate(symbols) if not isinstance(symbol, ClientVector))
    return tuple(names), function, spread if expression.has(IndexFold) else None


def evaluate(expression: sympy.Expr, values: Mapping[str, Floats], what: str) -> Floats:
    """Evaluate an expression; infinities and NaN are returned, not raised.

    Parameters
    ----------
    expression
        Over the whitelist of :mod:`boundlab.formulas.parse`.
    values
        Arrays that broadcast with each other, one for each free symbol; of a vector, shape (n,).
    what
        For messages: what the expression is.

    Raises
    ------
    FormulaError
        If a number of the formula is beyond floating point.
    """
    try:
        names, function, spread = _function(expression)
        # x/0 is inf here on purpose: with M = 1 Theorem 7's D has γ/(L²(M−1)) inside a Min.
        with np.errstate(all="ignore"):
            given = [np.asarray(values[name], dtype=np.float64)[()] for name in names]
            grid = None
            if spread is not None:
                grid = np.broadcast_to(0.0, np.broadcast_shapes(*(given[place].shape for place in spread)))
            return np.asarray(function(*given, grid), dtype=np.float64)
    except (OverflowError, ZeroDivisionError) as error:
        said = str(error) if "terms" in str(error) else "a number of the formula is too large for floating point"
        raise FormulaError(f"{what}: {said}") from None
