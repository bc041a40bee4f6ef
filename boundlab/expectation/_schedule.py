"""One schedule in place of random events: its tape, a few rows at a time, for the same engines."""

from typing import Generic, TypeVar, cast, final

from boundlab.algorithms import Control
from boundlab.errors import AssumptionError
from boundlab.execute import Combine, Numbers, Show, Update, rows
from boundlab.expectation._graph import Edge, Graph, Groups, Level, PassRow, Row, SumRow
from boundlab.objective import NO_NOISY_PROX
from boundlab.tape import Initial, Tape

Number = TypeVar("Number")


@final
class Schedule(Generic[Number]):
    """A tape cut before its local steps and behind its records; a record is copied to a register of its own.

    Parameters
    ----------
    sum
        That register.
    shown
        For each part whether it ends with a record.

    Raises
    ------
    AssumptionError
        If a step is implicit: there is nothing to average over then.
    """

    def __init__(self, tape: Tape, numbers: Numbers[Number], one: Number) -> None:
        self.sum = tape.registers
        self.initial = (*(Initial(value) for value in tape.initial.tolist()), Initial.UNWRITTEN)
        self._parts: list[tuple[Row[Number], ...]] = []
        self.shown: list[bool] = []
        own: list[Row[Number]] = []

        def cut(*, shown: bool) -> None:
            self._parts.append(tuple(own))
            self.shown.append(shown)
            own.clear()

        for row in rows(tape, numbers):
            match row:
                case Combine(dst, terms):
                    own.append(SumRow(dst, terms))
                case Update():
                    if row.implicit:
                        raise AssumptionError(NO_NOISY_PROX)
                    if own:  # noise of mini-batches depends on where it is drawn: that must be known by then
                        cut(shown=False)
                    own.append(PassRow(row.dst, row.src, row.client, row.sizes))
                case Show(_, src):
                    own.append(SumRow(self.sum, ((one, src),)))
                    cut(shown=True)

    def graph(self) -> Graph[Number]:
        """Return the schedule as all that can happen."""
        everything, none = frozenset(range(self.sum + 1)), cast(Groups, ())
        levels = [
            Level([[Edge(1, part, None, 0)]], [none], [everything], shown)
            for part, shown in zip(self._parts[1:], self.shown[1:], strict=False)
        ]
        last = max(place for place, shown in enumerate(self.shown) if shown)
        levels = levels[:last]
        return Graph(self.initial, self.sum, self._parts[0], levels)

    def opening(self) -> tuple[tuple[Row[Number], ...], Control, None]:
        """Return the first part."""
        return self._parts[0], Control(), None

    def clock(self, number: int) -> int:
        """Return the part: each has rows of its own."""
        return number

    def edges(self, control: Control, number: int) -> tuple[list[tuple[Edge[Number], Control]], bool]:
        """Return the next part."""
        return [(Edge(1, self._parts[number + 1], None, 0), control)], self.shown[number + 1]
