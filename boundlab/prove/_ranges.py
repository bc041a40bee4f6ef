"""Between which ends symbols lie, in a chain of cases."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Self, final

from boundlab.prove._errors import ProofError, only_for_rules
from boundlab.prove._scalars import Number, Scalar, bound_variable, is_bound, scalar

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
        # All names of all cases: a name of one case means nothing else in another.
        self._taken: set[str] = set() if parent is None else parent._taken
        self.narrowed: set[str] = set()  # what may not be generalised here: narrowed, fixed, or in a hypothesis
        self.meaning: dict[str, set[str]] = {}  # what a symbol that has a value is made of
        self.root: Self = self if parent is None else parent.root

    def narrow(self, name: str, own: Range) -> None:
        """Give a symbol a smaller range here; for the kernel, which knows that it is one part of several."""
        only_for_rules("narrowing a range")
        self._own[name] = own
        self.narrowed.add(name)

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

    def restricted(self) -> set[str]:
        """Return the names that may not be generalised here."""
        return set().union(*(one.narrowed for one in self.chain()))

    def closure(self, names: Iterable[str]) -> set[str]:
        """Return the names, with those that their ranges depend on; bound variables are left out."""
        found: set[str] = set()
        stack = [name for name in names if not is_bound(name)]
        while stack:
            name = stack.pop()
            if name in found:
                continue
            own = self.find(name)
            if own is None:
                raise ProofError(f"{name} is not declared")
            found.add(name)
            stack += self.needs(name)
        return found

    def needs(self, name: str) -> set[str]:
        """Return the names that a symbol's range, or its value, is made of."""
        own = self.find(name)
        found = set() if own is None else own.names()
        return found.union(*(one.meaning.get(name, ()) for one in self.chain()))

    # ------------------------------------------------------------------ whole numbers

    def integer(self, value: Number, bound: frozenset[str] = frozenset()) -> bool:
        """Return whether a number is certainly whole: whole coefficients, whole symbols, no negative power."""
        own = scalar(value)
        if own.factors:
            return False
        for powers, coefficient in own.top.terms.items():
            if isinstance(coefficient, Fraction):
                return False
            for symbol, power in powers:
                known = self.find(symbol.name)
                ok = symbol.name in bound or (known is not None and known.integer)
                if power < 0 or symbol.exponent is not None or not ok:
                    return False
                if not all(self.integer(Scalar(one), bound) for one in symbol.indices):
                    return False
        return True

    # ------------------------------------------------------------------ points
