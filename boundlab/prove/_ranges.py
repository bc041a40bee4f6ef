"""Between which ends symbols lie, in a chain of cases."""

from dataclasses import dataclass
from typing import Self, final

from boundlab.prove._errors import only_for_rules
from boundlab.prove._scalars import Scalar, bound_variable

# The first index of a family, in the ends of its range.
FIRST = bound_variable(0)


@final
@dataclass(frozen=True, slots=True)
class Range:
    """Between which ends a symbol, or each member of a family, lies.

    Parameters
    ----------
    low, high
        Ends, None for none; they name symbols declared before. Those of a family may hold its first index, as
        ``FIRST``; its members then lie in the range where that index is ≥ 0.
    above, below
        Whether the symbol is never equal to its lower, its upper end.
    integer
        Whether it is a whole number.
    arity
        Of a family, how many indices it has; 0 for a symbol.
    guarded
        Of a family with one index, whether the range is that of members whose index is ≥ 0.
    """

    low: Scalar | None = None
    high: Scalar | None = None
    above: bool = False
    below: bool = False
    integer: bool = False
    arity: int = 0
    guarded: bool = False

    def names(self) -> set[str]:
        """Return the names in its ends, but for its own index."""
        found = set[str]().union(*(end.names() for end in (self.low, self.high) if end is not None))
        return found - FIRST.names()

    @property
    def moving(self) -> bool:
        """Whether the range is that of members with an index ≥ 0, on which its ends may depend."""
        return self.guarded or any(end is not None and FIRST.names() <= end.names() for end in (self.low, self.high))

    def of(self, index: Scalar) -> "Range":
        """Return the range of one member of a family."""
        here = dict.fromkeys(FIRST.names(), index)
        low, high = (None if end is None else end.put(here) for end in (self.low, self.high))
        return Range(low, high, self.above, self.below, self.integer)


class Ranges:
    """Ranges of symbols; a child narrows some of them.

    Parameters
    ----------
    parent
        What holds there holds here.
    """

    def __init__(self, parent: Self | None) -> None:
        self.parent = parent
        self._own: dict[str, Range] = {}

    def narrow(self, name: str, own: Range) -> None:
        """Give a symbol a smaller range here; for the kernel, which knows that it is one part of several."""
        only_for_rules("narrowing a range")
        self._own[name] = own

    def find(self, name: str) -> Range | None:
        """Return the range of a name, or None."""
        return next((one._own[name] for one in self.chain() if name in one._own), None)

    def declared(self, name: str) -> Range | None:
        """Return the range that a name was declared with, in whatever case, or None."""
        return next((one._own[name] for one in reversed(self.chain()) if name in one._own), None)

    def order(self) -> list[str]:
        """Return all names, in the order of their declaration."""
        before = self.parent.order() if self.parent is not None else []
        return [*before, *(name for name in self._own if name not in before)]

    def chain(self) -> list[Self]:
        """Return it and all above it."""
        found: list[Self] = []
        here: Self | None = self
        while here is not None:
            found.append(here)
            here = here.parent
        return found

    def within(self, other: "Ranges") -> bool:
        """Return whether it is the other one or below it."""
        return other in self.chain()
