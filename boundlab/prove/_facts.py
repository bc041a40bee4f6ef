"""Facts: lines that the checker has accepted. Nothing else makes one."""

from collections.abc import Mapping
from dataclasses import InitVar, dataclass
from types import MappingProxyType
from typing import Any, final

from boundlab.prove._context import Context
from boundlab.prove._errors import ProofError
from boundlab.prove._terms import Claim, Expr, Lin

_KEY = object()
# Axioms that are no assumption about functions or runs: the algorithm itself, and where it starts.
OWN_AXIOMS = frozenset({"algorithm", "start"})


@dataclass(frozen=True, eq=False)
class Shared:
    """What facts about numbers and facts about vectors have in common.

    Parameters
    ----------
    context
        Where it holds: with the ranges and hypotheses there.
    names
        All symbols that it depends on, whether they stand in the claim or not: it holds where each has a value.
    axioms
        What it rests on: assumptions and parts of the setting, by their names.
    rule, premises, data
        How it was made, for whoever checks it again.
    number
        Its place among the lines of the checker.
    """

    context: Context
    names: frozenset[str]
    axioms: frozenset[str]
    rule: str
    premises: tuple["Shared", ...]
    data: Mapping[str, Any]
    number: int
    # Not kept: whoever holds a fact cannot make another one with it.
    key: InitVar[object]

    def __post_init__(self, key: object) -> None:
        if key is not _KEY:
            raise ProofError("only the kernel makes facts")
        object.__setattr__(self, "data", MappingProxyType(dict(self.data)))


@final
@dataclass(frozen=True, eq=False)
class Fact(Shared):
    """A claim that holds."""

    claim: Claim

    @property
    def sides(self) -> tuple[Expr, Expr]:
        """What is compared."""
        return self.claim.left, self.claim.right

    def __str__(self) -> str:
        return str(self.claim)


@final
@dataclass(frozen=True, eq=False)
class VectorFact(Shared):
    """Two vectors that are equal (almost surely)."""

    left: Lin
    right: Lin

    @property
    def sides(self) -> tuple[Lin, Lin]:
        """What is equal."""
        return self.left, self.right

    def __str__(self) -> str:
        return f"{self.left} = {self.right}"
