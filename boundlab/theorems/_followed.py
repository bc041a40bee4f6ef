"""Facts that follow from a statement's fields alone, worked out once for each statement."""

from collections.abc import Callable, Mapping
from functools import lru_cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, final

import sympy

from boundlab.formulas.symbols import followed, lookup

Rest = ParamSpec("Rest")
Fact = TypeVar("Fact")


@final
class _Same:
    """A statement that is equal to itself alone: statements are frozen, and hold what has no hash."""

    __slots__ = ("statement",)

    def __init__(self, statement: Any) -> None:
        self.statement = statement

    def __hash__(self) -> int:
        return id(self.statement)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.statement is self.statement


def once(
    most: int = 512,
) -> Callable[[Callable[Concatenate[Any, Rest], Fact]], Callable[Concatenate[Any, Rest], Fact]]:
    """Return what makes a function of a statement work out once what it gives: nobody may change that.

    Such a function reads nothing but the statement's fields and its other arguments, which have hashes. What it raises
    is raised again. A copy of a statement is another one, of which nothing is known yet.

    Parameters
    ----------
    most
        Results that are kept.
    """

    def of(function: Callable[Concatenate[Any, Rest], Fact]) -> Callable[Concatenate[Any, Rest], Fact]:
        @lru_cache(maxsize=most)
        def known(same: _Same, *rest: Rest.args, **more: Rest.kwargs) -> Fact:
            return function(same.statement, *rest, **more)

        @wraps(function)
        def found(statement: Any, *rest: Rest.args, **more: Rest.kwargs) -> Fact:
            return known(_Same(statement), *rest, **more)  # type: ignore[arg-type]  # they have hashes

        return found  # type: ignore[return-value]  # the first argument has no name any more

    return of


@once()
def defining(theorem: Any) -> Mapping[str, sympy.Expr]:
    """Return how each defined symbol follows from others."""
    own = ((name, rule, lookup(name, theorem.symbols).symbol) for name, rule in theorem.step.items())
    return {**theorem.definitions, **{name: rule for name, rule, symbol in own if rule != symbol}}


@once(8192)
def read_by(theorem: Any, names: frozenset[str], known: frozenset[str]) -> frozenset[str]:
    """Return names and all that their definitions use."""
    rules = theorem.defining()
    return followed(names, lambda name: theorem.reads(rules[name]) if name in rules and name not in known else ())
