"""The parts of a theorem: bounds, step conditions, and what an evaluation gives."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, final

import numpy as np
import sympy
from numpy.typing import NDArray

from boundlab.formulas.symbols import SymbolInfo

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@final
@dataclass(frozen=True, slots=True)
class FormulaBound:
    """A bound in closed form: the sum of named terms.

    Parameters
    ----------
    terms
        Name → SymPy expression, each in the units of the theorem's metric.
    """

    terms: Mapping[str, sympy.Expr]


@final
@dataclass(frozen=True, slots=True)
class RecursionBound:
    """A bound that is iterated numerically; its one term is called ``recursion``.

    Parameters
    ----------
    function
        ``function(values, iterations)``: values by name (floats, and vectors of shape (n,)), sorted distinct
        iterations of shape (m,); returns the bound at each, shape (m,).
    inputs
        The symbols that it reads, the iterations apart.
    replaces
        A symbol that may be given in place of others: ``{"alpha": ("c", "d")}``.
    description
        What is iterated, in words.
    latex
        The recursion for people.
    """

    function: Callable[[Mapping[str, Any], Ints], Floats]
    inputs: tuple[str, ...]
    description: str
    latex: str
    replaces: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def reads(self, given: frozenset[str]) -> tuple[str, ...]:
        """Return the symbols that are read when those of ``given`` are set."""
        gone = self.gone(given)
        added = [name for name in self.replaces if name in given]
        return tuple(name for name in self.inputs if name not in gone) + tuple(added)

    def gone(self, given: frozenset[str]) -> frozenset[str]:
        """Return the symbols that those of ``given`` replace."""
        return frozenset(old for new, olds in self.replaces.items() if new in given for old in olds)


Bound = FormulaBound | RecursionBound


@final
@dataclass(frozen=True, slots=True)
class Condition:
    """``quantity ≤ limit``, without which the theorem says nothing.

    Parameters
    ----------
    quantity, limit
        SymPy expressions over base and defined symbols, in the same units.
    statement
        The condition for people, e.g. ``D ≤ 2/(M(μ+L))``.
    """

    quantity: sympy.Expr
    limit: sympy.Expr
    statement: str


@final
@dataclass(frozen=True, slots=True)
class Evaluation:
    """A theorem at given values.

    Parameters
    ----------
    total
        The bound, shape of the grid, in the units of the metric.
    terms
        The named terms, each of the shape of the total; they sum to it.
    derived
        The defined symbols and the step size, each of its own shape.
    kind
        ``bound``, or ``shape`` where a printed O(·) has unknown constants: then only ratios mean something.
    """

    total: Floats
    terms: Mapping[str, Floats]
    derived: Mapping[str, Floats]
    kind: Literal["bound", "shape"]


def iterate(
    bound: RecursionBound, found: Mapping[str, Floats], symbols: Mapping[str, SymbolInfo], counter: str
) -> Floats:
    """Run the recursion once for each distinct setting of the grid, and read it off at all its iterations."""
    reads = [name for name in bound.reads(frozenset(found)) if name in found]
    vectors = {name: found[name] for name in reads if symbols[name].vector}
    scalars = [name for name in reads if not symbols[name].vector]
    columns = np.broadcast_arrays(found[counter], *(found[name] for name in scalars))
    shape = columns[0].shape
    table = np.stack([column.reshape(-1) for column in columns], axis=1)
    settings, which = np.unique(table[:, 1:], axis=0, return_inverse=True)
    total = np.empty(len(table))
    for number, setting in enumerate(settings):
        rows = np.flatnonzero(which.reshape(-1) == number)
        ks: Ints
        ks, back = np.unique(table[rows, 0].astype(np.int64), return_inverse=True)
        values = {**dict(zip(scalars, map(float, setting), strict=True)), **vectors}
        total[rows] = bound.function(values, ks)[back.reshape(-1)]
    return total.reshape(shape)


def expanded(given: Iterable[str]) -> frozenset[str]:
    """Return the names, with those that follow from p, or from rates and lambda_s."""
    names = frozenset(given)
    if "rates" in names and "lambda_s" in names:
        names |= {"p"}
    return names | {"n", "p_s", "p_min", "qbar"} if "p" in names else names
