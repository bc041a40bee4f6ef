"""The parts of a theorem: bounds, step conditions, and what an evaluation gives."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, final

import numpy as np
import sympy

from boundlab.formulas.floats import evaluate
from boundlab.formulas.symbols import SymbolInfo
from boundlab.randomness import Floats, Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound(ABC):
    """The right side of a theorem.

    Parameters
    ----------
    terms
        Name → SymPy expression, each in the units of the theorem's metric; none where there is no closed form.
    replaces
        A symbol that may be given in place of others: ``{"alpha": ("c", "d")}``.
    """

    terms: Mapping[str, sympy.Expr] = field(default_factory=dict)
    replaces: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def closed(self) -> bool:
        """True if the bound is in closed form."""
        return True

    def reads(self, given: frozenset[str]) -> tuple[str, ...]:
        """Return the symbols that it reads beside those of its expressions, when those of ``given`` are set."""
        return ()

    @abstractmethod
    def terms_at(
        self, found: Mapping[str, Floats], symbols: Mapping[str, SymbolInfo], counter: str, theorem: str
    ) -> Iterator[tuple[str, str, Floats]]:
        """Compute the terms one after the other: the name, what a message calls it, and its values.

        Parameters
        ----------
        found
            Values of all symbols that are read, broadcastable with each other; vectors have shape (n,).
        symbols
            The table of their names.
        counter
            The symbol that counts iterations.
        theorem
            Its id, for messages.
        """

    @abstractmethod
    def right_side(self, tex: Callable[[sympy.Expr], str], shape: bool) -> str:
        """Return the relation and the right side in LaTeX; ``shape`` where constants are unknown."""

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields: the terms as text, and in words what is iterated."""

    def gone(self, given: frozenset[str]) -> frozenset[str]:
        """Return the symbols that those of ``given`` replace."""
        return frozenset(old for new, olds in self.replaces.items() if new in given for old in olds)

    def instead(self, names: Iterable[str], given: frozenset[str]) -> tuple[str, ...]:
        """Return the names, with what replaces some of them in their place."""
        asked, gone = tuple(names), self.gone(given)
        added = (new for new, olds in self.replaces.items() if new in given and set(olds) & set(asked))
        return (*(name for name in asked if name not in gone), *added)


@final
@dataclass(frozen=True, slots=True)
class FormulaBound(Bound):
    """A bound in closed form: the sum of named terms."""

    terms: Mapping[str, sympy.Expr]

    def terms_at(
        self, found: Mapping[str, Floats], symbols: Mapping[str, SymbolInfo], counter: str, theorem: str
    ) -> Iterator[tuple[str, str, Floats]]:
        """Evaluate one term after the other."""
        for name, term in self.terms.items():
            yield name, f"term {name}", evaluate(term, found, f"{theorem}, term {name}")

    def right_side(self, tex: Callable[[sympy.Expr], str], shape: bool) -> str:
        """Return the sum of the terms."""
        total = " + ".join(tex(term) for term in self.terms.values())
        return rf"= \mathcal{{O}}\left({total}\right)" if shape else rf"\le {total}"

    def as_dict(self) -> dict[str, Any]:
        """Return the terms."""
        return {"terms": {name: str(term) for name, term in self.terms.items()}, "recursion": ""}


@final
@dataclass(frozen=True, slots=True)
class RecursionBound(Bound):
    """A bound that is iterated numerically; its one term is called ``recursion``.

    Parameters
    ----------
    function
        ``function(values, iterations)``: values by name (floats, and vectors of shape (n,)), sorted distinct
        iterations of shape (m,); returns the bound at each, shape (m,).
    inputs
        The symbols that it reads, the iterations apart.
    between
        The same arguments give two bounds of this shape, below and above what is iterated, without rounding.
    description
        What is iterated, in words.
    latex
        The recursion for people.
    """

    function: Callable[[Mapping[str, Any], Ints], Floats]
    between: Callable[[Mapping[str, Any], Ints], tuple[Floats, Floats]]
    inputs: tuple[str, ...]
    description: str
    latex: str

    @property
    def closed(self) -> bool:
        """False: only its numbers are known."""
        return False

    def reads(self, given: frozenset[str]) -> tuple[str, ...]:
        """Return the inputs, or what replaces them."""
        return self.instead(self.inputs, given)

    def terms_at(
        self, found: Mapping[str, Floats], symbols: Mapping[str, SymbolInfo], counter: str, theorem: str
    ) -> Iterator[tuple[str, str, Floats]]:
        """Run the recursion, whose values are the one term."""
        yield "recursion", "the recursion", _iterate(self, found, symbols, counter)

    def right_side(self, tex: Callable[[sympy.Expr], str], shape: bool) -> str:
        """Return the recursion for S_K."""
        return rf"\le S_K,\quad {self.latex}"

    def as_dict(self) -> dict[str, Any]:
        """Return the description."""
        return {"terms": {}, "recursion": self.description}


@final
@dataclass(frozen=True, slots=True)
class Condition:
    """``quantity ≤ limit`` or, strict, ``quantity < limit``, without which the theorem says nothing.

    Parameters
    ----------
    quantity, limit
        SymPy expressions over base and defined symbols, in the same units.
    statement
        The condition for people, e.g. ``D ≤ 2/(M(μ+L))``.
    strict
        Whether equality does not meet it.
    """

    quantity: sympy.Expr
    limit: sympy.Expr
    statement: str
    strict: bool = False

    @property
    def sign(self) -> str:
        """``<`` or ``≤``."""
        return "<" if self.strict else "≤"

    def meets(self, left: Any, right: Any) -> Any:
        """Return whether the values of both sides, numbers or arrays of them, meet it."""
        return left < right if self.strict else left <= right


@final
@dataclass(frozen=True, slots=True, eq=False)
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


def _iterate(
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
        try:
            total[rows] = bound.function(values, ks)[back.reshape(-1)]
        except OverflowError:  # Python's own floats raise where those of arrays are infinite
            total[rows] = np.inf
    return total.reshape(shape)
