"""Lines of a proof file as they were read, and what all rules ask of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import final

from boundlab.recheck import _structure as read
from boundlab.recheck._errors import WrongError
from boundlab.recheck._numbers import Number
from boundlab.recheck._ranges import Context
from boundlab.recheck._structure import Claim
from boundlab.recheck._terms import Combination, instance, minus, number_in, plus


@final
@dataclass(frozen=True, eq=False)
class Fact:
    """A line of the file, as it was read: a claim, or an equation of vectors."""

    number: int
    rule: str
    context: Context
    premises: tuple["Fact", ...]
    axioms: frozenset[str]
    data: read.Fields
    claim: Claim | None = None
    left: Combination = field(default_factory=dict)
    right: Combination = field(default_factory=dict)
    names: set[str] = field(default_factory=set)  # all that it depends on
    touched: set[str] = field(default_factory=set)  # all that stands in what it was made of
    beside: list["Fact"] = field(default_factory=list)  # what it rests on in other cases, beside its premises

    @property
    def where(self) -> str:
        """Its place in the file."""
        return f"fact {self.number} ({self.rule})"

    @property
    def says(self) -> Claim:
        """Its claim; raises where it is about vectors."""
        if self.claim is None:
            raise WrongError(f"{self.where} is an equation of vectors")
        return self.claim

    @property
    def relation(self) -> str:
        """How its sides are related; of vectors they are equal, which says nothing of numbers."""
        return "an equation of vectors" if self.claim is None else self.claim.relation

    @property
    def sides(self) -> tuple[Combination, Combination]:
        """Its two sides, of numbers or of vectors."""
        return (self.left, self.right) if self.claim is None else (self.claim.left, self.claim.right)

    def text(self) -> str:
        """Return what it says."""
        return read.claim_text(self.claim) if self.claim else f"{read.text(self.left)} = {read.text(self.right)}"


def same(found: Combination, wanted: Combination, what: str) -> None:
    """Raise unless two combinations are one."""
    if difference := minus(found, wanted):
        raise WrongError(f"{what}: {read.text(difference)[:300]} is left over")


def same_claim(given: Claim, wanted: Claim, what: str) -> None:
    """Raise unless a claim says what another one says, or an equation where an inequality is needed."""
    if wanted.equality and not given.equality:
        raise WrongError(f"{what} is no equation")
    difference = minus(given.body, wanted.body)
    if difference and not (wanted.equality and not plus(given.body, wanted.body)):
        raise WrongError(f"{what} differs by {read.text(difference)[:300]}")


def put(one: Claim, values: Mapping[str, Number]) -> Claim:
    """Return an instance of a claim."""
    return Claim(instance(one.left, values), one.relation, instance(one.right, values))


def equation(fact: Fact, left: Combination, right: Combination) -> None:
    """Raise unless a fact is the equation left = right."""
    if not fact.says.equality:
        raise WrongError("it is no equation")
    same(fact.says.left, left, "its left side")
    same(fact.says.right, right, "its right side")


def alike(fact: Fact, one: Fact, changed: Callable[[Combination], Combination]) -> None:
    """Raise unless a fact says of changed sides what another one says of its own."""
    if fact.relation != one.relation:
        raise WrongError(f"its relation is another one: it is {fact.relation}, not {one.relation}")
    for found, side, which in zip(fact.sides, one.sides, ("left", "right"), strict=True):
        same(found, changed(side), f"its {which} side")


def above(fact: Fact, body: Combination) -> None:
    """Raise unless a fact is body ≥ 0."""
    if fact.says.equality:
        raise WrongError("it is an equation")
    same(fact.says.body, body, "its claim")


def number_of(fact: Fact) -> Number:
    """Return the number that a fact is about."""
    found = number_in(fact.says.body)
    if found is None:
        raise WrongError(f"fact {fact.number} is about no number")
    return found
