"""The buffer of FedBuff, shared by all algorithms that aggregate after so many arrivals; and one event of it."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import copy
from functools import partial
from itertools import chain, combinations
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeVar, cast, final

from boundlab.algorithms import _option as option
from boundlab.algorithms._algorithm import Algorithm
from boundlab.algorithms._fold import Weigh, of_staleness
from boundlab.algorithms._option import LocalSteps
from boundlab.algorithms._program import (
    X_S,
    AffineRow,
    ClientSlots,
    Control,
    Event,
    EventLaw,
    EventProgram,
    InFlight,
    MoveRow,
    Row,
    Share,
    Step,
)
from boundlab.delays import DelayModel
from boundlab.errors import SpecError
from boundlab.events import Events, aged, read_aged
from boundlab.tape import Initial, Tape

Reply = Literal["post", "pre", "wait"]
_IDLE: Final = "with reply=wait client {client} has nothing to send before the aggregation of its last update"
_WAITS: Final = -1  # in place of an age: the client waits for the aggregation of its update
_LATE: Final = 12  # clients whose updates would be ignored: any of them may come before one that counts
# Rates that differ by no more are equal: they are quotients of the same numbers.
EQUAL_RATES: Final = 1e-12
REPLY: Final[Mapping[Reply, str]] = MappingProxyType(
    {
        "post": "the client that completes the buffer gets the new model",
        "pre": "the old one",
        "wait": "every client waits for the aggregation of its update",
    }
)


class BufferParameters(option.Parameters):
    """Parameters with local steps, a buffer of ``count`` updates, and the word ``reply`` for who is answered when."""

    __slots__ = ()
    local: LocalSteps
    count: int
    reply: Reply


def reply_option(default: Reply = "post", words: Sequence[Reply] = tuple(REPLY)) -> Any:
    """Declare the option ``reply``, with these of its words."""
    says = "; ".join(f"{word}{' (default)' if word == default else ''}: {REPLY[word]}" for word in words)
    return option.choice(says, words, default)


P = TypeVar("P", bound=BufferParameters)


class Buffered(Algorithm[P]):
    """An algorithm that aggregates after every ``count`` arrivals: each aggregation is one iteration.

    Parameters
    ----------
    mixes
        Whether x_s keeps what the weights of models leave of 1.
    damped
        The option with the staleness function that damps late updates; '' where none does.
    """

    server: Literal["any", "count", "none"] = "count"
    mixes: bool = False
    damped: str = ""

    def models(self, parameters: P) -> bool:
        """Return whether x_s ← Σ weight·y over a full buffer, weights of sum 1; else x_s ← x_s + Σ weight·(y − x)."""
        return False

    def weight(self, parameters: P, tau: int) -> float:
        """Return the weight of an update that is τ versions old."""
        return 1.0 / parameters.count

    def ages(self, parameters: P) -> bool:
        """Return whether weights depend on the staleness."""
        return bool(self.damped) and getattr(parameters, self.damped).kind != "constant"

    def weights(self, parameters: P, clients: int) -> Weigh | None:
        """Return the weights of a run's full buffers."""
        return of_staleness(partial(self.weight, parameters)) if self.ages(parameters) else None

    def program(self, parameters: P, clients: int) -> "BufferProgram":
        """Return one arrival."""
        return BufferProgram(
            self.id,
            parameters.local,
            parameters.count,
            parameters.reply,
            clients,
            by_staleness(partial(self.weight, parameters)),
            models=self.models(parameters),
            mixes=self.mixes,
            ages=self.ages(parameters),
            stalest=self.stalest(parameters),
            stops=self.stops(parameters),
        )

    def stalest(self, parameters: P) -> int | None:
        """Return the largest staleness with which an update enters a buffer: others are ignored. None: all enter."""
        return None

    def stops(self, parameters: P) -> bool:
        """Return whether a client whose update would be staler stops, and begins anew from the new model."""
        return False

    def stays_feasible(self, parameters: P, clients: int) -> bool:
        """Return whether models are averaged; differences lead anywhere."""
        return self.models(parameters)

    def stays_on_set(self, parameters: P, clients: int) -> bool:
        """Return the same: passes begin at server models."""
        return self.models(parameters)

    def heaviest(self, parameters: P) -> float | None:
        """Return what no weight of an update exceeds, where all updates enter; None: nobody has said it."""
        return None

    def in_flight(self, parameters: P, clients: int) -> InFlight | None:
        """Return the weights on their way.

        When a version begins the buffer is empty, and each client has one update in work: with reply=post all but the
        one that is answered now have an earlier one, with reply=wait all but the count. With a version begin those that
        are answered at once, and what is answered until the buffer is full; with the first one all clients.
        """
        weight, count = self.heaviest(parameters), parameters.count
        used = self.server_rate(parameters)
        if weight is None or used is None:
            return None
        waits, again = {"post": (1, count - 1), "pre": (0, count), "wait": (count, 0)}[parameters.reply]
        pending, begun = weight * max(clients - waits, 0), weight * (clients + again)
        return InFlight(parameters.local.steps, max(parameters.local.eta), pending, begun, used)

    def events_for(self, parameters: P, clients: int, iterations: int) -> int:
        """Return count arrivals an aggregation: more are needed where some are ignored."""
        return parameters.count * iterations

    def read_events(self, raw: object, clients: int, where: str) -> Events:
        """Read [time, client], or [time, client, staleness]; see :func:`boundlab.events.read_aged`."""
        return read_aged(raw, clients, where) if aged(raw) else super().read_events(raw, clients, where)

    def completed(self, parameters: P, events: Events) -> Events:
        """Return the events.

        Raises
        ------
        SpecError
            If they say how stale updates are, where that decides which of them count.
        """
        if events.detail and self.stalest(parameters) is not None:
            raise SpecError(f"{self.id} counts by itself how stale updates are; write its events as [time, client]")
        return events

    def drawn_events(self, parameters: P, drawn: Sequence[Event]) -> Events:
        """Return the arrivals, with those that are ignored."""
        return super().drawn_events(parameters, [(client,) for one in drawn for client in one])

    def why_not(self, assumption: str, parameters: P, delays: DelayModel) -> str:
        """Say whether updates enter buffers independently of what came before, or each client's once."""
        waits = parameters.reply == "wait"
        ignores = self.stalest(parameters) is not None and not self.stops(parameters) and delays.n > 1
        if ignores and assumption in ("stationary-participation", "uniform-buffer"):
            return delays.memoryless or "whose update is ignored depends on what came before; stops=yes would fit"
        if assumption == "stationary-participation":
            return why_not_stationary(delays, self.fixed_weights(parameters, delays.n), waits=waits)
        if assumption == "uniform-buffer":
            return why_not_uniform(delays, twice=parameters.count > 1 and not waits)
        return super().why_not(assumption, parameters, delays)

    def fixed_weights(self, parameters: P, clients: int) -> str:
        """Return the option that would make weights independent of the staleness, '' if they are."""
        return f"{self.damped}=constant" if self.ages(parameters) else ""

    def spread(self, parameters: P, tape: Tape) -> dict[str, Any]:
        """Return how unequal the shares π_i are: chi² = n·Σ(π_i − 1/n)², and more; nothing without server updates."""
        found = self.quantities(parameters, tape, tape.iterations, {}) if tape.iterations else {}
        return {key: found[key] for key in ("chi2", "chi2_path", "alpha2") if key in found}

    def quantities(self, parameters: P, tape: Tape, until: int, settings: Mapping[str, float]) -> dict[str, float]:
        """Return also the local steps Q and the updates b in a buffer, where updates are differences."""
        found = super().quantities(parameters, tape, until, settings)
        return found and {**found, "Q": parameters.local.steps, "b": parameters.count}

    def figures(self, parameters: P, tape: Tape) -> dict[str, Any]:
        """Return how many updates were ignored, where some can be."""
        return {} if self.stalest(parameters) is None else {"ignored": len(tape.notes.get("dropped", ()))}

    def updates_a_version(self, parameters: P) -> int | None:
        """Return count, where all updates enter a buffer."""
        return parameters.count if self.stalest(parameters) is None else None

    def reacts(self, parameters: P) -> bool:
        """Return whether clients wait for an aggregation, or are stopped by one."""
        return parameters.reply == "wait" or self.stops(parameters)


def why_not_stationary(delays: DelayModel, fixed_weights: str, *, waits: bool = False) -> str:
    """Return '' if each update of a buffer is client i's with probability π_i whatever came before, else why not.

    Parameters
    ----------
    fixed_weights
        The option that would make weights independent of the staleness, '' if they are.
    waits
        Whether a client waits for the aggregation of its update.
    """
    if delays.n == 1 and not fixed_weights:
        return ""  # one client has all the weight of every buffer
    if delays.memoryless:
        return delays.memoryless
    if waits:
        return "with reply=wait a client that is in the buffer cannot enter it again"
    if fixed_weights:
        return f"weights that follow the staleness depend on what came before; {fixed_weights} would fit"
    return ""


def why_not_uniform(delays: DelayModel, *, twice: bool) -> str:
    """Return '' if each buffer is a uniform choice of clients without repetition, else why not.

    Parameters
    ----------
    twice
        Whether a client can stand in a buffer twice.
    """
    rates = delays.rates()
    if delays.memoryless:
        return delays.memoryless
    if rates.max() > rates.min() * (1.0 + EQUAL_RATES):
        return "clients are not equally fast"
    return "a client can stand in a buffer twice" if twice else ""


class Held(NamedTuple):
    """An update in the buffer: its staleness, and its client, −1 where weights do not ask for it."""

    tau: int
    client: int


# (memory, full buffer) → one weight an update, and the memory after this buffer.
WeighHeld = Callable[[Hashable, Sequence[Held]], tuple[Sequence[float], Hashable]]


def by_staleness(weight: Callable[[int], float]) -> WeighHeld:
    """Return weights that depend on the staleness alone, as a program asks for them."""
    return lambda _, buffer: ([weight(one.tau) for one in buffer], None)


@final
class BufferProgram(EventProgram):
    """The event of :class:`Buffered`.

    An event is the arrival of an update that counts, of the last client named, after those of other clients that are
    ignored: so there are equally many events between two aggregations, whatever happens. Whose updates are ignored
    works on the present model from then on, in whatever order they come, and the next one of that client counts.

    Control: the age of each client's model or that it waits, what is in the buffer, and the memory of the weights. For
    a compiler, which knows the ages: how many results the buffer has, and who waits.

    Parameters
    ----------
    name
        Whose program it is, for messages.
    weigh
        The weights of a full buffer.
    memory
        What they remember at first.
    models
        Whether the sum of models replaces x_s.
    mixes
        Whether x_s keeps what the weights of models leave of 1.
    ages
        Whether weights depend on the staleness; else all ages count as 0.
    named
        Whether weights depend on whose an update is.
    stalest
        The largest staleness of an update that counts; None: all do.
    stops
        Whether clients whose updates would be staler begin anew at once.

    Raises
    ------
    SpecError
        With reply=wait, if the buffer can never be filled.
    """

    def __init__(
        self,
        name: str,
        local: LocalSteps,
        count: int,
        reply: Reply,
        clients: int,
        weigh: WeighHeld,
        *,
        memory: Hashable = None,
        models: bool = False,
        mixes: bool = False,
        ages: bool = True,
        named: bool = False,
        stalest: int | None = None,
        stops: bool = False,
    ) -> None:
        if reply == "wait" and count > clients:
            raise SpecError(
                f"{name}: with reply=wait a buffer of {count} never fills from {clients} clients; lower count"
            )
        self._reply, self._clients, self._weigh, self.memory = reply, clients, weigh, memory
        self.ages, self.named, self._mixes, self.models = ages or stalest is not None, named, mixes and models, models
        self.stalest, self.stops, self._blind = stalest, stops, False
        self._steps, self.count = local, count
        self._desk = self.desk(clients)
        self.initial, self.local = self._desk.initial(count), local.relative
        of_clients = [(self._desk.result(client),) for client in range(clients)]
        self.slots = (*of_clients, *((self._desk.held(place),) for place in range(count)))
        self.alike = (tuple(range(clients, clients + count)),)
        self.interchangeable = not named

    def desk(self, places: int) -> ClientSlots:
        """Return what writes the rows of so many places."""
        return ClientSlots(places, self._steps.steps, self._steps.first, models=self.models)

    def compiled(self) -> "BufferProgram":
        """Return the program whose control knows neither ages nor memory: weights are those of fresh results."""
        found = copy(self)
        found._blind, found.ages, found.named = True, False, False
        return found

    def aged(self, most: int) -> "AgedProgram":
        """Return the program of updates whose staleness is given."""
        return AgedProgram(self, most)

    def ignored(self, client: int) -> Step:
        """Return that a result is ignored, and its client begins anew."""
        return Step(tuple(self._desk.begin(client)), Control(), False, dropped=(self._desk.result(client),))

    def opening(self) -> tuple[tuple[Row, ...], Control]:
        """Everybody works on x0, and the buffer is empty."""
        ages: dict[int, int] = {} if self._blind else dict.fromkeys(range(self._clients), 0)
        return self._desk.begin_all(), self._control(ages, [], self.memory)

    def _control(self, ages: Mapping[int, int], buffer: Sequence[Held], memory: Hashable) -> Control:
        if self._blind:
            return Control((), (len(buffer), tuple(sorted(i for i, age in ages.items() if age == _WAITS))))
        return Control((*ages.values(), *buffer, *[None] * (self.count - len(buffer))), memory)

    def _known(self, control: Control) -> tuple[dict[int, int], list[Held], Hashable]:
        """Return the ages, the buffer and the memory; who is not named works on a fresh model."""
        if self._blind:
            held, waiting = cast("tuple[int, tuple[int, ...]]", control.shared)
            return dict.fromkeys(waiting, _WAITS), [Held(0, -1)] * held, self.memory
        ages = cast("tuple[int, ...]", control.slots[: self._clients])
        return dict(enumerate(ages)), [one for one in control.slots if isinstance(one, Held)], control.shared

    def choices(self, control: Control, law: EventLaw[Share]) -> list[tuple[Event, Share]]:
        """Return the clients that do not wait, each after any of those whose updates are ignored.

        Raises
        ------
        SpecError
            If there are too many of these.
        """
        arrive = law.clients(i for i in range(self._clients) if control.slots[i] != _WAITS)
        late = [i for i in range(self._clients) if self._late(control.slots[i])]
        if len(late) > _LATE:
            raise SpecError(
                f"any of {len(late)} updates may be ignored before the next that counts; at most {_LATE} are told apart"
            )
        share: dict[int, Any] = {client: one for (client,), one in arrive}
        found: list[tuple[Event, Share]] = []
        ignored: tuple[int, ...]
        for ignored in chain.from_iterable(combinations(late, size) for size in range(len(late) + 1)):
            # In any order: each comes once, since its next one counts.
            chance = math.prod((share[i] for i in ignored), start=math.factorial(len(ignored)))
            counts = [(client, one) for (client,), one in arrive if client in ignored or client not in late]
            found += [((*ignored, client), chance * one) for client, one in counts]
        return found

    def _late(self, age: Hashable) -> bool:
        return self.stalest is not None and isinstance(age, int) and age > self.stalest

    def event(self, control: Control, event: Event, number: int) -> Step:
        """Put the update into the buffer, and aggregate if that is full.

        Raises
        ------
        SpecError
            If the client waits.
        """
        ignored, client, desk = event[:-1], event[-1], self._desk
        ages, buffer, memory = self._known(control)
        ages |= dict.fromkeys(ignored, 0)
        rows: list[Row] = [row for other in ignored for row in desk.begin(other)]
        if (age := ages.get(client, 0)) == _WAITS:
            raise SpecError(_IDLE.format(client=client))
        rows.append(MoveRow(desk.held(len(buffer)), desk.result(client)))
        buffer.append(Held(age, client if self.named else -1))
        full, uses, ages[client] = len(buffer) == self.count, tuple[tuple[int, float], ...](), _WAITS
        if self._reply == "pre" or (self._reply == "post" and not full):
            rows += desk.begin(client)
            ages[client] = 0
        if full:
            update, uses, memory = self.update(desk, memory, buffer)
            rows.append(update)
            if self.ages:
                ages = {i: self._older(one) for i, one in ages.items()}
            for waiting in sorted(i for i, one in ages.items() if one == _WAITS):
                rows += desk.begin(waiting)
                ages[waiting] = 0
            buffer = []
        return Step(tuple(rows), self._control(ages, buffer, memory), full, uses)

    def update(
        self, desk: ClientSlots, memory: Hashable, buffer: Sequence[Held]
    ) -> tuple[Row, tuple[tuple[int, float], ...], Hashable]:
        """Return what a full buffer makes of x_s, the results with their weights, and the memory of these."""
        weights, then = self._weigh(memory, buffer)
        uses = tuple((desk.held(j), weight) for j, weight in enumerate(weights))
        rest = [(1.0 - sum(weight for _, weight in uses), X_S)] if self._mixes else []
        return (
            desk.server_update(*rest, *((weight, register) for register, weight in uses)),
            uses,
            self.memory if self._blind else then,
        )

    def _older(self, age: int) -> int:
        """Return the age after an aggregation; what is too old is so for ever, or begins anew with those that wait."""
        if age == _WAITS or self._late(age):
            return age
        return _WAITS if self.stops and self._late(age + 1) else age + 1


@final
class AgedProgram(EventProgram):
    """One update of which it is said how old its model is: its client makes it at once, of that model.

    Registers: x_s; the models 1, 2, … versions old, which are x0 before there are any; the result that is made; results
    that the server holds.
    Control: what is in the buffer, the memory of the weights, and how many versions there were, where that matters.
    """

    draws = True  # steps begin when the event before ends: an update is begun before it arrives

    def __init__(self, of: BufferProgram, most: int) -> None:
        self._of, self._most, self._desk = of, most, of.desk(most + 1)
        self.models, self.local = of.models, of.local
        self.initial = (*[Initial.START] * (1 + most), *[Initial.UNWRITTEN] * (1 + of.count))

    def choices(self, control: Control, law: EventLaw[Share]) -> list[tuple[Event, Share]]:
        """Return who makes an update of which age, where these are drawn; else they are an input."""
        ages = [(age, share) for age, share in enumerate(law.ages) if share]
        each: list[tuple[Event, Share]] = law.clients()
        return [((who[0], age), share * one) for who, share in each for age, one in ages]

    def opening(self) -> tuple[tuple[Row, ...], Control]:
        """Begin with an empty buffer."""
        return (), Control(shared=((), self._of.memory, 0))

    def event(self, control: Control, event: Event, number: int) -> Step:
        """Make the update, and aggregate if the buffer is full."""
        (client, age), desk, made = event, self._desk, self._desk.result(self._most)
        held, memory, versions = cast("tuple[tuple[Held, ...], Hashable, int]", control.shared)
        rows = [*desk.begin(client, made, X_S if age == 0 else desk.result(age - 1))]
        rows.append(MoveRow(desk.held(len(held)), made))
        held = (*held, Held(min(age, versions), client if self._of.named else -1))
        if len(held) < self._of.count:
            return Step(tuple(rows), Control(shared=(held, memory, versions)), iteration=False)
        update, uses, memory = self._of.update(desk, memory, held)
        versions = min(versions + 1, self._most) if self._of.ages else 0  # no model is older than the first
        older: list[Row] = [MoveRow(desk.result(j), desk.result(j - 1)) for j in range(self._most - 1, 0, -1)]
        newest: list[Row] = [AffineRow(desk.result(0), ((1.0, X_S),))] if self._most else []
        return Step((*rows, *older, *newest, update), Control(shared=((), memory, versions)), True, uses)
