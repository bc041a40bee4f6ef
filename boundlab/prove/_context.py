"""What is known of symbols: the ranges that the checker has, and the signs that it shows."""

from collections.abc import Iterable
from typing import final

from boundlab.prove import _lines as lines
from boundlab.prove._errors import refused
from boundlab.prove._ranges import FIRST as FIRST
from boundlab.prove._ranges import Range as Range
from boundlab.prove._ranges import Ranges
from boundlab.prove._scalars import ONE, Number, Scalar, Symbol, check_name, of_symbol, scalar
from boundlab.recheck import kernel as core

_ZERO = scalar(0)


@final
class Context(Ranges):
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
        super().__init__(parent)
        self.why, self.number = why, number
        self.replay: core.Replay = core.empty() if parent is None else parent.replay

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
            self.replay.declare(lines.symbol_dict(name, own, by, exponent), self.checked)
        self._own[name] = own
        return _ZERO if own.arity else of_symbol(Symbol(name))

    def known_or_taken(self, name: str) -> bool:
        """Return whether a name is declared, here or in some other case."""
        return name in self.checked.order

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
        return self._shown(scalar(value), strict=False)

    def positive(self, value: Number) -> bool:
        """Return whether a number is shown to be > 0."""
        return self._shown(scalar(value), strict=True)

    def _shown(self, value: Scalar, *, strict: bool) -> bool:
        with refused():
            return self.checked.shown(core.number(lines.number(value), "a number"), strict=strict)

    def range_of(self, symbol: Symbol) -> Range | None:
        """Return between which ends a symbol, a member of a family or a power is shown to lie."""
        if symbol.exponent is None:
            own = self.find(symbol.name)
            if own is None or not own.moving:
                return own
            if not symbol.indices or not self.nonnegative(Scalar(symbol.indices[0])):
                return None
            return own.of(Scalar(symbol.indices[0]))
        base = of_symbol(symbol.base)
        if not self.nonnegative(base):
            return None
        if self.nonnegative(base - 1):
            return Range(low=ONE, above=self.positive(base - 1) and self.positive(Scalar(symbol.exponent)))
        return Range(low=_ZERO, high=ONE if self.nonnegative(1 - base) else None, above=self.positive(base))
