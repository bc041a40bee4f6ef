"""One schedule in place of random events: its tape, a record at a time, for the same engines."""

from typing import Generic, TypeVar, cast, final

from boundlab.algorithms import Control
from boundlab.errors import AssumptionError
from boundlab.execute import Combine, Numbers, Show, Update, rows
from boundlab.expectation._graph import Edge, Graph, Groups, Level, Pass, Row, Sum
from boundlab.objective import NO_NOISY_PROX
from boundlab.tape import Initial, Tape

Number = TypeVar("Number")


@final
class Schedule(Generic[Number]):
    """What happens between records, as one event each; the record is copied to a register of its own.

    Parameters
    ----------
    sum
        That register.

    Raises
    ------
    AssumptionError
        If a step is implicit: there is nothing to average over then.
    """

    def __init__(self, tape: Tape, numbers: Numbers[Number], one: Number) -> None:
        self.sum = tape.registers
        self.initial = (*(Initial(value) for value in tape.initial.tolist()), Initial.UNWRITTEN)
        self._parts: list[tuple[Row[Number], ...]] = []
        own: list[Row[Number]] = []
        for row in rows(tape, numbers):
            match row:
                case Combine(dst, terms):
                    own.append(Sum(dst, terms))
                case Update():
                    if row.implicit:
                        raise AssumptionError(NO_NOISY_PROX)
                    own.append(Pass(row.dst, row.src, row.client, row.sizes))
                case Show(_, src):
                    self._parts.append((*own, Sum(self.sum, ((one, src),))))
                    own = []

    def graph(self) -> Graph[Number]:
        """Return the schedule as all that can happen; the first record is shown before any event."""
        everything, none = frozenset(range(self.sum + 1)), cast(Groups, ())
        levels = [Level([[Edge(1, part, None, 0)]], [none], [everything], True) for part in self._parts[1:]]
        return Graph(self.initial, self.sum, self._parts[0], levels)

    def opening(self) -> tuple[tuple[Row[Number], ...], Control, None]:
        """Return what happens up to the first record."""
        return self._parts[0], Control(), None

    def clock(self, number: int) -> int:
        """Return the record: each has rows of its own."""
        return number

    def edges(self, control: Control, number: int) -> tuple[list[tuple[Edge[Number], Control]], bool]:
        """Return what happens up to the next record."""
        return [(Edge(1, self._parts[number + 1], None, 0), control)], True

    def __len__(self) -> int:
        """Return how many records there are."""
        return len(self._parts)
