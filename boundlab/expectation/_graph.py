"""All that can happen up to a horizon: control states after each event, and the rows that lead from one to the next.

Numbers of rows are in an arithmetic of the engine's own. What an identity of the registers tells is not followed, and
slots that may change places stand in one order, so that states that differ by names only are one.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar, final

from boundlab.algorithms import X_S, AffineRow, Control, DescendRow, Event, EventLaw, EventProgram, MoveRow
from boundlab.arithmetic.rational import Recipe
from boundlab.arithmetic.weights import EQUAL, Weights
from boundlab.errors import SpecError
from boundlab.tape import Initial

Number = TypeVar("Number")
LARGEST: Final = 200_000  # control states and events that lead on from them, over the whole horizon


@final
@dataclass(frozen=True, slots=True)
class SumRow(Generic[Number]):
    """Register dst ← Σ coefficient·source."""

    dst: int
    terms: tuple[tuple[Number, int], ...]


@final
@dataclass(frozen=True, slots=True)
class PassRow(Generic[Number]):
    """Register dst ← src, then a local step of the client for each of the sizes."""

    dst: int
    src: int
    client: int
    sizes: tuple[Number, ...]


Row: TypeAlias = SumRow[Number] | PassRow[Number] | MoveRow
Groups: TypeAlias = tuple[tuple[tuple[int, ...], ...], ...]  # groups of slots, each the tuple of its registers


@final
@dataclass(frozen=True, slots=True)
class Edge(Generic[Number]):
    """An event.

    Parameters
    ----------
    share
        Its probability, given the control state before.
    rows
        What it does.
    order
        Afterwards register r is called what ``order[r]`` was; None: nothing changes its name.
    to
        The control state after it, counted within its level.
    events
        Which event it is, or which events do the same; none where nobody asks.
    """

    share: Any
    rows: tuple[Row[Number], ...]
    order: tuple[int, ...] | None
    to: int
    events: tuple[Event, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Level(Generic[Number]):
    """One event later.

    Parameters
    ----------
    edges
        Those of each control state.
    alike
        Per control state *after* the event: groups of tuples of registers that may change places.
    reads
        Per control state after the event: the registers that something reads later, as far as it is known.
    iteration
        Whether an iteration ends.
    """

    edges: list[list[Edge[Number]]]
    alike: list[Groups]
    reads: list[frozenset[int]]
    iteration: bool


@final
@dataclass(frozen=True, slots=True)
class Graph(Generic[Number]):
    """All that can happen.

    Parameters
    ----------
    initial
        What each register holds at first.
    shown
        The register that metrics see: the server model, or the sum of all before.
    opening
        What happens before the first event.
    levels
        One an event.
    """

    initial: tuple[Initial, ...]
    shown: int
    opening: tuple[Row[Number], ...]
    levels: list[Level[Number]]


class EventChoices(Protocol[Number]):
    """Possible events: random ones, or those of one schedule."""

    def opening(self) -> tuple[tuple[Row[Number], ...], Control, tuple[int, ...] | None]:
        """Return the rows before the first event, the control state after them, and new names of registers."""

    def clock(self, number: int) -> Any:
        """Return what the edges read off the number of events before."""

    def edges(self, control: Control, number: int) -> tuple[list[tuple[Edge[Number], Control]], bool]:
        """Return what can happen next, each with the control state after it, and whether an iteration ends."""


@final
@dataclass(frozen=True, slots=True)
class Arithmetic(Generic[Number]):
    """How the floats of a program become numbers.

    Parameters
    ----------
    program
        Whose numbers know what they stand for, where the arithmetic is one of exact numbers.
    number
        From a number of the program.
    """

    program: EventProgram
    number: Callable[[float], Number]


def in_floats(program: EventProgram) -> Arithmetic[float]:
    """Return the floats as they are."""
    return Arithmetic(program, float)


def all_end(each: Sequence[bool]) -> bool:
    """Return whether all that can happen next ends an iteration; else nothing does.

    Raises
    ------
    SpecError
        If some of it does: then engines, which go through all that can happen event by event, would take models of
        different iterations for those of one.
    """
    if any(each) and not all(each):
        raise SpecError(
            "some of what can happen next ends an iteration and some does not; no exact engine applies to a program "
            "whose events do not go on to the arrival that counts"
        )
    return any(each)


@final
class Lowering(Generic[Number]):
    """Writes the rows of a program in an arithmetic.

    Parameters
    ----------
    twins
        Groups of clients with the same function and probability.
    average
        Whether the sum of all server models before is kept.
    told
        Whether each edge says which event it is.
    weights
        Those of the models in the sum, and whether the present one is in it.
    """

    def __init__(
        self,
        arithmetic: Arithmetic[Number],
        law: EventLaw[Any],
        twins: Sequence[Sequence[int]],
        *,
        average: bool,
        told: bool = False,
        weights: Weights = EQUAL,
    ) -> None:
        self._arithmetic, self._law, self._told = arithmetic, law, told
        self._program = program = arithmetic.program
        together = program.interchangeable and len(program.slots) > 0
        self._groups = [*program.alike, *(map(tuple, twins) if together else ())]
        self._average, self._weights = average, weights
        self._ended = [0]  # iterations after 0, 1, … events
        self.sum = len(program.initial)
        self._one = arithmetic.number(1.0)
        self._known: dict[int, list[tuple[Number, int]]] = {}
        if program.identity is not None:
            *others, last = zip(program.identity.coef.tolist(), program.identity.register.tolist(), strict=True)
            self._known[last[1]] = [(arithmetic.number(-coef / last[0]), register) for coef, register in others]
        self._edges: dict[Control, tuple[list[tuple[Edge[Number], Control]], bool]] = {}
        self._clock: Hashable = None
        self._numbers: dict[Hashable, Number] = {}

    def graph(self, iterations: int) -> Graph[Number]:
        """Return all that can happen in so many iterations.

        Raises
        ------
        SpecError
            If there are too many control states.
        """
        rows, control, order = self.opening()
        assert order is None  # noqa: S101  (slots start in order)
        levels: list[Level[Number]] = []
        states, done, total = [control], 0, 0
        while done < iterations:
            found: dict[Control, int] = {}
            edges, each = [], list[bool]()
            for state in states:
                own, ends = self.edges(state, len(levels))
                each.append(ends)
                edges.append([replace(edge, to=found.setdefault(to, len(found))) for edge, to in own])
                total += len(own)
                if total > LARGEST:
                    raise SpecError(
                        f"more than {LARGEST} control states and events up to event {len(levels) + 1} ({len(states)} "
                        "control states before it), which is too many; take fewer iterations or clients"
                    )
            states, iteration = list(found), all_end(each)
            everything = [frozenset(range(self.sum + self._average))] * len(states)
            levels.append(Level(edges, [self.alike(state) for state in states], everything, iteration))
            done += iteration
        initial = (*self._program.initial, *[Initial.ZERO] * self._average)
        return Graph(initial, self.sum if self._average else X_S, rows, levels)

    def opening(self) -> tuple[tuple[Row[Number], ...], Control, tuple[int, ...] | None]:
        """Return the rows before the first event, the control state after them, and new names of registers."""
        written, first = self._program.opening()
        control, order = self._in_order(first)
        rows = self._rows(written)
        return (*rows, *self._added(0)) if self._weights.closed else rows, control, order

    def _added(self, k: int) -> tuple[SumRow[Number], ...]:
        """Return what adds the model at ``k`` to the sum."""
        weight = self._weights.at(k) if self._average else Fraction(0)
        if not weight:
            return ()
        return (SumRow(self.sum, ((self._one, self.sum), (self._arithmetic.number(Recipe(weight, weight)), X_S))),)

    def clock(self, number: int) -> Hashable:
        """Return what the edges read off the number of events before."""
        return self._program.clock(number) if self._weights.values is None else number

    def edges(self, control: Control, number: int) -> tuple[list[tuple[Edge[Number], Control]], bool]:
        """Return what can happen next, each with the control state after it, and whether an iteration ends."""
        k = 0 if self._weights.values is None else self._ended[number]
        clock = self.clock(number)
        if clock != self._clock:
            self._edges, self._clock = {}, clock
        if control not in self._edges:
            found: dict[Hashable, tuple[Edge[Number], Control]] = {}
            ends: list[bool] = []
            for event, share in self._program.choices(control, self._law):
                step = self._program.event(control, event, number)
                ends.append(step.iteration)
                rows = self._rows(step.rows)
                if ends[-1]:
                    rows = (*rows, *self._added(k + 1)) if self._weights.closed else (*self._added(k), *rows)
                after, order = self._in_order(step.control)
                found[event] = (Edge(share, rows, order, -1, (event,) if self._told else ()), after)
            self._edges[control] = list(found.values()), all_end(ends)
        self._ended[number + 1 :] = [k + self._edges[control][1]]
        return self._edges[control]

    def controls(self, most: int) -> int:
        """Return how many control states there are, over all time.

        Raises
        ------
        SpecError
            If there are more than ``most``, or what an event does depends on how many came before.
        """
        if self.clock(0) is not None:
            raise SpecError("what an iteration does depends on how many came before it")
        first = self.opening()[1]
        found, ahead = {first}, [first]
        while ahead:
            new = {after for _, after in self.edges(ahead.pop(), 0)[0]} - found
            found, ahead = found | new, ahead + list(new)
            if len(found) > most:
                raise SpecError(f"there are more than {most} control states")
        return len(found)

    def alike(self, control: Control) -> Groups:
        """Return groups of slots, as their registers, that may change places in this control state."""
        found = []
        for group in self._groups:
            by_entry: dict[Hashable, list[tuple[int, ...]]] = {}
            for slot in group:
                entry = control.slots[slot] if control.slots else None
                by_entry.setdefault(entry, []).append(self._program.slots[slot])
            found += [tuple(slots) for slots in by_entry.values() if len(slots) > 1]
        return tuple(found)

    def _in_order(self, control: Control) -> tuple[Control, tuple[int, ...] | None]:
        """Return the control state with each group's slots in the order of their entries, and new names."""
        if not control.slots:
            return control, None
        slots, source = list(control.slots), list(range(len(control.slots)))
        for group in self._groups:
            ranked = sorted(group, key=lambda slot: (control.slots[slot] is None, control.slots[slot]))
            for place, slot in zip(group, ranked, strict=True):
                slots[place], source[place] = control.slots[slot], slot
        if source == list(range(len(source))):
            return control, None
        order = list(range(self.sum + self._average))
        for place, slot in enumerate(source):
            for register, old in zip(self._program.slots[place], self._program.slots[slot], strict=True):
                order[register] = old
        return Control(tuple(slots), control.shared), tuple(order)

    def _rows(self, written: Sequence[Any]) -> tuple[Row[Number], ...]:
        out: list[Row[Number]] = []
        for row in written:
            if row.dst in self._known:
                continue
            match row:
                case AffineRow():
                    terms = [(self._number(coef), src) for coef, src in row.terms]
                    out.append(SumRow(row.dst, self._without_known(terms)))
                case DescendRow():
                    size, local = self._number(row.step_size), self._program.local
                    sizes = tuple(size * self._number(part) for part in local)  # type: ignore[operator]
                    out.append(PassRow(row.dst, row.src, row.client, sizes or (size,) * row.steps))
                case _:
                    out.append(row)
        return tuple(out)

    def _number(self, value: float) -> Number:
        key = value.formula if isinstance(value, Recipe) else value
        if key not in self._numbers:
            self._numbers[key] = self._arithmetic.number(value)
        return self._numbers[key]

    def _without_known(self, terms: list[tuple[Number, int]]) -> tuple[tuple[Number, int], ...]:
        """Put what the identity says in place of its last register."""
        if not any(register in self._known for _, register in terms):
            return tuple(terms)
        total: dict[int, Any] = {}
        for coef, register in terms:
            for share, source in self._known.get(register, [(self._one, register)]):
                part = coef * share  # type: ignore[operator]
                total[source] = total[source] + part if source in total else part
        # A ball that may be 0 is neither equal to 0 nor different from it, and stays.
        return tuple((coef, register) for register, coef in total.items() if not coef == 0)  # noqa: SIM201
