"""All that can happen up to a horizon: control states after each event, and the rows that lead from one to the next.

Numbers of rows are in an arithmetic of the engine's own. What an identity of the registers tells is not followed, and
slots that may change places stand in one order, so that states that differ by names only are one.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar, final

import numpy as np

from boundlab.algorithms import X_S, AffineRow, Algorithm, Control, DescendRow, Event, EventLaw, EventProgram, MoveRow
from boundlab.arithmetic.numbers import Scalar, hashable, one_like, read_number
from boundlab.arithmetic.rational import ENGINE, Recipe, evaluated, rational
from boundlab.arithmetic.recurrence import EQUAL, Weights
from boundlab.delays import DelayModel, IndependentEvents, ServerPolicy, frequencies
from boundlab.errors import SpecError
from boundlab.objective import Problem
from boundlab.options import Options, number
from boundlab.randomness import Floats
from boundlab.tape import Initial

Number = TypeVar("Number")
LARGEST: Final = 200_000  # control states and events that lead on from them, over the whole horizon
# What moments take at most.
COMPILED: Final = 300_000  # entries of all upper triangles that sparse matrices move
LARGEST_MOMENTS: Final = 4 * 10**6  # entries of a matrix of second moments, or of those of all control states
WIDEST: Final = 40  # coordinates that mini-batches may mix: a tensor has the fourth power of entries


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
    levels
        What happens before the first event, and then one an event.
    terms
        After how many events metrics look, in their order, and by what they then divide: 1, or the weight of the sum.
    """

    initial: tuple[Initial, ...]
    shown: int
    levels: list[Level[Number]]
    terms: dict[int, Fraction]

    def seen(self, terms: dict[int, Fraction]) -> "Graph[Number]":
        """Return the graph as far as metrics look at it, who look then."""
        return replace(self, levels=self.levels[: max(terms) + 1], terms=terms)


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
    point
        What metrics look at in place of the server model.

    Attributes
    ----------
    initial
        What each register holds at first.
    sum, shown
        The register of the sum, and that which metrics see.
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
        point: tuple[str, int] | None = None,
    ) -> None:
        self._arithmetic, self._law, self._told = arithmetic, law, told
        self._program = program = arithmetic.program.showing(point)
        # Clients that change places would show each other's vectors.
        together = program.interchangeable and len(program.slots) > 0 and point is None
        self._groups = [*program.alike, *(map(tuple, twins) if together else ())]
        self._average, self._weights = average, weights
        self._ended = [0]  # iterations after 0, 1, … events
        self.sum = len(program.initial)
        self.initial = (*program.initial, *[Initial.ZERO] * average)
        self.shown = self.sum if average else program.register(point)
        self._one = arithmetic.number(1.0)
        self._known: dict[int, list[tuple[Number, int]]] = {}
        if program.identity is not None:
            *others, last = zip(program.identity.coef.tolist(), program.identity.register.tolist(), strict=True)
            self._known[last[1]] = [(arithmetic.number(-coef / last[0]), register) for coef, register in others]
        self._edges: dict[Control, tuple[list[tuple[Edge[Number], Control]], bool]] = {}
        self._clock: Hashable = None
        self._numbers: dict[Hashable, Number] = {}

    def graph(self, iterations: int) -> Graph[Number]:
        """Return all that can happen in so many iterations, after each of which metrics look.

        Raises
        ------
        SpecError
            If there are too many control states.
        """
        rows, control, order = self.opening()
        assert order is None  # noqa: S101  (slots start in order)
        everything = frozenset(range(self.sum + self._average))
        levels = [Level([[Edge(1, rows, None, 0)]], [()], [everything], False)]
        states, done, total = [control], 0, 0
        while done < iterations:
            found: dict[Control, int] = {}
            edges, each = [], list[bool]()
            for state in states:
                own, ends = self.edges(state, len(levels) - 1)
                each.append(ends)
                edges.append([replace(edge, to=found.setdefault(to, len(found))) for edge, to in own])
                total += len(own)
                if total > LARGEST:
                    raise SpecError(
                        f"more than {LARGEST} control states and events up to event {len(levels)} ({len(states)} "
                        "control states before it), which is too many; take fewer iterations or clients"
                    )
            states, iteration = list(found), all_end(each)
            levels.append(Level(edges, [self.alike(state) for state in states], [everything] * len(states), iteration))
            done += iteration
        terms = {place: Fraction(1) for place, level in enumerate(levels) if not place or level.iteration}
        return Graph(self.initial, self.shown, levels, terms)

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
        found = 0
        for found, _ in enumerate(everywhere(self), 1):
            if found > most:
                raise SpecError(f"there are more than {most} control states")
        return found

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


# Which registers anything reads later: at which event, and over all events.

_EDGES = 1000  # that are looked at to tell which registers outlive an event


def slimmed(edge: Edge[Number], after: frozenset[int]) -> tuple[Edge[Number], set[int]]:
    """Return the edge without rows whose result nothing reads, and what is read before it.

    Parameters
    ----------
    after
        The registers that are read after it.
    """
    order = edge.order
    needed = {order[register] for register in after} if order is not None else set(after)
    rows: list[Row[Number]] = []
    for row in reversed(edge.rows):
        if row.dst not in needed:
            continue
        needed.discard(row.dst)
        needed |= {source for _, source in row.terms} if isinstance(row, SumRow) else {row.src}
        rows.append(row)
    if order is not None:
        order = tuple(order[r] if r in after else r for r in range(len(order)))
        order = None if order == tuple(range(len(order))) else order
    return replace(edge, rows=tuple(rows[::-1]), order=order), needed


def everywhere(events: EventChoices[Number]) -> Iterator[list[Edge[Number]]]:
    """Yield what can happen in each control state that is ever reached, of events that do not change with time."""
    waiting = [events.opening()[1]]
    known = set(waiting)
    for control in waiting:
        found = events.edges(control, 0)[0]
        new = dict.fromkeys(after for _, after in found if after not in known)
        waiting += new
        known |= new.keys()
        yield [edge for edge, _ in found]


def lasting(events: EventChoices[Number], seen: frozenset[int], registers: int) -> frozenset[int]:
    """Return which of so many registers something reads in a later event than the one that wrote them.

    All of them where what an event does depends on when it happens, or where there are many control states.

    Parameters
    ----------
    seen
        The registers that metrics see.
    """
    everything = frozenset(range(registers))
    if events.clock(0) != events.clock(1):
        return everything
    edges: list[Edge[Number]] = []
    for own in everywhere(events):
        edges += own
        if len(edges) > _EDGES:
            return everything
    found, before = seen, everything
    while found != before:
        before = found
        found = found.union(*(slimmed(edge, found)[1] for edge in edges))
    return found


def pruned(graph: Graph[Number]) -> Graph[Number]:
    """Drop what nothing reads that metrics see, and merge control states that no later event tells apart."""
    seen = frozenset((graph.shown,))
    nodes = len(graph.levels[-1].alike)
    live: list[frozenset[int]] = [seen] * nodes
    same = [0] * nodes  # the class of each control state after the event
    levels: list[Level[Number]] = []
    for place in range(len(graph.levels) - 1, -1, -1):
        level = graph.levels[place]
        first = list({one: node for node, one in reversed(list(enumerate(same)))}.items())
        nodes_of = [node for _, node in sorted(first)]
        classes: dict[Any, int] = {}
        edges: list[list[Edge[Number]]] = []
        before, names = [], []
        for own in level.edges:
            kept: dict[Any, Edge[Number]] = {}
            reads = set(seen) if place - 1 in graph.terms else set()
            for edge in own:
                slim, needed = slimmed(replace(edge, to=same[edge.to]), live[edge.to])
                key = tuple(map(_name, slim.rows)), slim.order, slim.to
                if key in kept:
                    slim = replace(slim, share=slim.share + kept[key].share, events=slim.events + kept[key].events)
                kept[key] = slim
                reads |= needed
            signature = tuple((key, edge.share, edge.events) for key, edge in kept.items())
            names.append(classes.setdefault(signature, len(classes)))
            if names[-1] == len(edges):
                edges.append(list(kept.values()))
            before.append(frozenset(reads))
        alike = [_among(level.alike[node], live[node]) for node in nodes_of]
        levels.append(Level(edges, alike, [live[node] for node in nodes_of], level.iteration))
        live, same = before, names
    return replace(graph, levels=levels[::-1])


def _name(row: Row[Any]) -> Any:
    """Return what equal rows share."""
    match row:
        case SumRow():
            return row.dst, *((hashable(coefficient), source) for coefficient, source in row.terms)
        case PassRow():
            return row.dst, row.src, row.client, *map(hashable, row.sizes)
    return row


def _among(groups: Groups, live: frozenset[int]) -> Groups:
    """Return the groups as far as anything reads their registers later; a group that is not read alike is none."""
    out = []
    for group in groups:
        read = {tuple(register in live for register in slot) for slot in group}
        if len(read) == 1 and any(mask := next(iter(read))):
            out.append(tuple(tuple(r for r, keep in zip(slot, mask, strict=True) if keep) for slot in group))
    return tuple(out)


# Law of the next event, where events are independent of each other; and clients that may change places.


def by_batches(problem: Problem) -> bool:
    """Return whether noise comes from mini-batches of least squares."""
    form = problem.least_squares()
    return form is not None and form.batch > 0


def why_no_law(program: EventProgram, delays: DelayModel, policy: ServerPolicy) -> str:
    """Return '' if events are independent given the control state of a program, else why they are not."""
    if program.draws:
        return ""
    if delays.memoryless:
        return delays.memoryless
    if policy.kind == "periodic":
        return f"aggregations under {policy.describe()} depend on the clock"
    return ""


def event_law(delays: DelayModel, policy: ServerPolicy) -> EventLaw[float]:
    """Return the law of events, where :func:`why_no_law` has nothing against it."""
    p, p_s = frequencies(delays, policy)
    return EventLaw(p, float(p_s), tuple(map(float, delays.ages)))


_Past = tuple[Any, Event] | None  # the events before, the last one first


def event_sequences(program: EventProgram, law: EventLaw[Any], iterations: int) -> Iterator[tuple[list[Event], Any]]:
    """Yield all that can happen up to an iteration, one by one, with probabilities in the numbers of the law."""
    stack: list[tuple[Control, _Past, int, Any, int]] = [(program.opening()[1], None, 0, 1, 0)]
    while stack:
        control, past, count, weight, done = stack.pop()
        if done == iterations:
            events = []
            while past is not None:
                past, event = past
                events.append(event)
            yield events[::-1], weight
            continue
        for event, share in reversed(program.choices(control, law)):
            step = program.event(control, event, count)
            stack.append((step.control, (past, event), count + 1, weight * share, done + step.iteration))


def exact_event_law(delays: DelayModel, policy: ServerPolicy, *, counted: bool) -> EventLaw[Fraction] | None:
    """Return the law in the fractions that its floats stand for, or None where they are none that sum to 1.

    Parameters
    ----------
    counted
        Whether a count of arrivals says when the server aggregates: then it has no rate of its own.
    """
    if isinstance(delays, IndependentEvents):
        shares = [rational(one, ENGINE) for one in (*delays.p.tolist(), delays.p_s)]
        known = [one for one in shares if one is not None]
        return _law(known[:-1], known[-1]) if len(known) == len(shares) and sum(known) == 1 else None
    rates = [rational(rate, ENGINE) for rate in delays.rates().tolist()]
    server = Fraction(0) if counted else rational(policy.rate(delays), ENGINE)
    if server is None or any(rate is None for rate in rates):
        return None
    total = sum((rate for rate in rates if rate is not None), server)
    return _law([rate / total for rate in rates if rate is not None], server / total, delays.ages)


def _law(p: Sequence[Fraction], p_s: Fraction, ages: tuple[Fraction, ...] = ()) -> EventLaw[Fraction]:
    return EventLaw(np.array(p, dtype=object), p_s, ages)


def twins(problem: Problem, p: Floats) -> list[list[int]]:
    """Return groups of at least two clients with the same function and the same probability.

    Parameters
    ----------
    p
        Shape (n,): probabilities of the clients.
    """
    groups: dict[tuple[bytes, float], list[int]] = {}
    for client, share in enumerate(p.tolist()):
        key = problem.client_key(client)
        if key is not None:
            groups.setdefault((key, share), []).append(client)
    return [group for group in groups.values() if len(group) > 1]


# The numbers of a program without rounding.


def in_exact_numbers(program: EventProgram, rates: Sequence[Scalar] = ()) -> Arithmetic[Scalar]:
    """Return the arithmetic of a program: rational numbers, or balls where these do not do.

    Parameters
    ----------
    program
        Whose numbers know what they stand for; a float is the fraction that it stands for.
    rates
        In the order of their recipes.
    """
    # What is no rational number, such as (τ + 1)^−a, becomes a ball.
    return Arithmetic(program, lambda value: evaluated([value], rates, balls=None)[0] * one_like(*rates))


def exact_parameters(algorithm: Algorithm[Any], values: Mapping[str, Any], rates: Iterable[str]) -> Any:
    """Return parameters whose numbers know what they stand for.

    Parameters
    ----------
    values
        All options, by name.
    rates
        Those that are known without rounding elsewhere: they are rate 0, 1, … of all recipes.
    """
    own = {name: _at_its_word(value) for name, value in values.items()}
    own |= {name: Recipe(float(values[name]), ("rate", place)) for place, name in enumerate(rates)}
    return algorithm.read(Options(algorithm.id, own)).known()


def _at_its_word(value: Any) -> Any:
    """Return text such as 0.1 or 1/3 as that number; whole numbers may be words."""
    if not isinstance(value, str) or not {".", "/"} & {*value}:
        return value
    try:
        return Recipe(number(value, ""), read_number(value, ""))
    except SpecError:
        return value


def of_algorithm(
    algorithm: Algorithm[Any],
    values: Mapping[str, Any],
    clients: int,
    delays: DelayModel,
    rates: Sequence[str],
    exact: Callable[[str], Scalar],
) -> tuple[Arithmetic[Scalar], Scalar]:
    """Return the arithmetic of an algorithm's program, and 1 in the kind of numbers that it has.

    Parameters
    ----------
    values, rates
        As :func:`exact_parameters` takes them.
    exact
        What rates are without rounding, or as balls.
    """
    program = algorithm.under(exact_parameters(algorithm, values, rates), clients, delays)
    assert program is not None  # noqa: S101  (there is an engine)
    known = [exact(name) for name in rates]
    return in_exact_numbers(program, known), one_like(*known)
