"""Facts that follow from a statement's fields alone, worked out once for each statement."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, final

import sympy

from boundlab.formulas.symbols import lookup


@final
class Same:
    """A statement that is equal to itself alone: statements are frozen, and hold what has no hash."""

    __slots__ = ("statement",)

    def __init__(self, statement: Any) -> None:
        self.statement = statement

    def __hash__(self) -> int:
        return id(self.statement)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.statement is self.statement


@lru_cache(maxsize=512)
def defining(same: Same) -> Mapping[str, sympy.Expr]:
    """Return how each defined symbol follows from others."""
    theorem = same.statement
    own = ((name, rule, lookup(name, theorem.symbols).symbol) for name, rule in theorem.step.items())
    return {**theorem.definitions, **{name: rule for name, rule, symbol in own if rule != symbol}}


@lru_cache(maxsize=8192)
def read_by(same: Same, names: frozenset[str], known: frozenset[str]) -> frozenset[str]:
    """Return names and all that their definitions use."""
    theorem, rules = same.statement, same.statement.defining()
    found: set[str] = set()
    stack = list(names)
    while stack:
        name = stack.pop()
        if name not in found:
            found.add(name)
            stack += sorted(theorem.reads(rules[name])) if name in rules and name not in known else []
    return frozenset(found)
