"""What is known of symbols: the ranges that the checker has, and the signs that it shows."""

from collections.abc import Iterable
from typing import Any, final

from boundlab.prove._errors import refused
from boundlab.prove._scalars import FIRST as FIRST, ZERO, Number, Scalar, Symbol, check_name, of_symbol, scalar
from boundlab.prove._writing import symbol_dict
from boundlab.recheck import kernel as core
from boundlab.recheck.kernel import Range as Range


@final
class Context:
    """Ranges of symbols; a child narrows some of them, or assumes something.

    Parameters
    ----------
    parent
        What holds there holds here.
    why
        What distinguishes it from its parent, in words.
    number
        Its place among the cases of the checker.
    """

    def __init__(self, parent: "Context | None" = None, why: str = "", number: int = 0) -> None:
        self.parent, self.why, self.number = parent, why, number
        self.replay: core.Replay = core.empty() if parent is None else parent.replay
        # How it came about: the hypothesis that holds there, or the other case of a split.
        self.supposed: Any = None
        self.sibling: Context | None = None

    @property
    def checked(self) -> core.Context:
        """The same case, as the checker has it."""
        return self.replay.context(self.number)

    def declare(self, name: str, own: Range, by: int | None = None, exponent: Scalar | None = None) -> Scalar:
        """Declare a symbol or a family, once.

        Parameters
        ----------
        by
            The line that says what it stands for.
        exponent
            The v of a symbol that stands for e^v.

        Raises
        ------
        ProofError
            If the name is known, or an end names something unknown, or itself.
        """
        check_name(name)
        with refused():
            self.replay.declare(symbol_dict(name, own, by, exponent), self.checked)
        return ZERO if own.arity else of_symbol(Symbol(name))

    def find(self, name: str) -> Range | None:
        """Return the range of a name, or None."""
        return self.checked.find(name) if self.checked.has(name) else None

    def declared(self, name: str) -> Range | None:
        """Return the range that a name was declared with, in whatever case, or None."""
        return next((found for one in reversed(self.chain()) if (found := one.find(name)) is not None), None)

    def order(self) -> list[str]:
        """Return all names, in the order of their declaration."""
        return [name for name in self.checked.order if self.checked.has(name) and not name.startswith("@")]

    def chain(self) -> list["Context"]:
        """Return it and all above it."""
        return [self, *(self.parent.chain() if self.parent is not None else ())]

    def within(self, other: "Context") -> bool:
        """Return whether it is the other one or below it."""
        return other in self.chain()

    def restricted(self) -> set[str]:
        """Return the names that may not be generalised here."""
        return self.checked.fixed

    def closure(self, names: Iterable[str]) -> set[str]:
        """Return the names, with those that their ranges depend on; bound variables are left out."""
        with refused():
            return self.checked.closure(names)

    # ------------------------------------------------------------------ signs

    def nonnegative(self, value: Number) -> bool:
        """Return whether a number is shown to be ≥ 0 for all values in the ranges."""
        with refused():
            return self.checked.shown(scalar(value), strict=False)

    def positive(self, value: Number) -> bool:
        """Return whether a number is shown to be > 0."""
        with refused():
            return self.checked.shown(scalar(value), strict=True)

    def range_of(self, symbol: Symbol) -> Range:
        """Return between which ends a symbol, a member of a family or a power is shown to lie."""
        with refused():
            return self.checked.range_of(symbol)
