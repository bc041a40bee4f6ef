"""One event as a short program over fixed registers: what an algorithm is, beside its parameters.

It says what a single event does, given a small control state (who works on what, how full a buffer is, how old a model
is). :mod:`boundlab.algorithms._fold` makes a tape of it, event after event; expectations over random events walk from
one control state to the next.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.rational import as_fraction
from boundlab.errors import SpecError, TapeError
from boundlab.events import SERVER
from boundlab.randomness import Floats, Ints
from boundlab.tape import Identity, Initial

Share = TypeVar("Share", float, Fraction)
X_S: Final = 0  # the register of the server model


class AffineRow(NamedTuple):
    """Register dst ← Σ coef·src over (coef, src); no terms means zero."""

    dst: int
    terms: tuple[tuple[float, int], ...]


class DescendRow(NamedTuple):
    """Register dst ← src, then ``steps`` local steps of a client.

    Parameters
    ----------
    step_size
        Of the first step, unit (−1, 2); the others follow by :attr:`EventProgram.local`.
    k
        The k of the α_k that ``step_size`` is, where α_k = c/(k + d); else None.
    implicit
        Whether each step is proximal, x ← prox_{step_size·f_client}(x).
    """

    dst: int
    src: int
    client: int
    steps: int
    step_size: float
    k: int | None = None
    implicit: bool = False


class MoveRow(NamedTuple):
    """Renaming of register src to dst from here on: no row of a tape, and nothing reads src before it is written."""

    dst: int
    src: int


Row: TypeAlias = AffineRow | DescendRow | MoveRow
Event: TypeAlias = tuple[int, ...]  # who acts, and whom or what it concerns besides


class Control(NamedTuple):
    """Control state, which together with the event decides which rows the event has.

    Parameters
    ----------
    slots
        One entry a slot of :attr:`EventProgram.slots`: what is known of its registers, such as the age of the model in
        work.
    shared
        All else.
    """

    slots: tuple[Any, ...] = ()
    shared: Any = None


class Step(NamedTuple):
    """Effect of one event.

    Parameters
    ----------
    rows
        In program order.
    control
        After the event.
    iteration
        Whether the event ends an iteration: only then does the server model change.
    uses
        Registers of the results that the server update is made of, with their weights, in the order of its terms.
    dropped
        Registers of results that arrive and are ignored.
    sent
        Whether results of which other registers are made reach the server with this event.
    """

    rows: tuple[Row, ...]
    control: Control
    iteration: bool
    uses: tuple[tuple[int, float], ...] = ()
    dropped: tuple[int, ...] = ()
    sent: bool = True


@final
@dataclass(frozen=True, slots=True)
class EventLaw(Generic[Share]):
    """Law of the next event, whatever came before: probabilities that are floats or fractions.

    Parameters
    ----------
    p
        Shape (n,): those of the clients; fractions in an array of objects.
    p_s
        That of an aggregation, where events name them.
    ages
        Those of a staleness 0, 1, …, where each update has one of its own; else none.
    """

    p: NDArray[Any]
    p_s: Share
    ages: tuple[Share, ...] = ()

    def clients(self, busy: Iterable[int] | None = None) -> list[tuple[Event, Share]]:
        """Return who arrives next among clients at work, by default all of them, with probabilities of sum 1."""
        p: list[Share] = self.p.tolist()
        who = list(range(len(p))) if busy is None else list(busy)
        total = sum((p[i] for i in who), start=type(self.p_s)(0))
        return [((i,), p[i] / total) for i in who]

    def everybody(self) -> list[tuple[Event, Share]]:
        """Return the clients and the server, with their probabilities."""
        return [*(((i,), one) for i, one in enumerate(self.p.tolist())), ((SERVER,), self.p_s)]

    def equally(self, events: Sequence[Event]) -> list[tuple[Event, Share]]:
        """Return events that are equally likely."""
        share = type(self.p_s)(1) / len(events)
        return [(event, share) for event in events]

    def coin(self, p: float) -> list[tuple[Event, Share]]:
        """Return (1,) with probability p, and (0,) where that is not sure."""
        heads: Any = p if isinstance(self.p_s, float) else as_fraction(p)
        both: list[tuple[Event, Share]] = [((1,), heads), ((0,), 1 - heads)]
        return both if p < 1.0 else both[:1]


class EventProgram(ABC):
    """One event of an algorithm.

    Parameters
    ----------
    initial
        What each register holds at first; register 0 is the server model.
    local
        Relative sizes of the local steps, shape (steps,); empty where all are 1.
    slots
        Registers that belong together, and whose control state is one entry of :attr:`Control.slots`: those of client i
        for each i, then others.
    alike
        Groups of slots that may change places, together with their entries, whatever the clients' functions are.
    interchangeable
        Whether the slots of clients with the same function and probability may change places.
    identity
        A linear identity of the registers after every event, by which its last register is known from the others.
    draws
        Whether the program draws by itself who is asked, so that no law of arrivals is needed.
    points
        The registers of :attr:`boundlab.algorithms.Algorithm.points`, one a client, as they are after each iteration.
    sums
        What holds of the registers of a whole run, to be checked.
    models
        Whether a result that the server holds is a model, and not the difference that a client made.
    stalest
        The largest staleness of a result that counts; None: all do.
    stops
        Whether clients whose results would be staler begin anew at once.
    queues
        Registers of results that wait for each other, where a client may have several in work: only the compiler knows
        them. Local steps are put behind, a move takes the first.
    first_update
        The number that keys the noise of a client's first update: 1 where its first message is none.
    sizes
        Gives α_k of rows that name their k, for an array of them.
    coefficients
        Gives, in their order, the coefficients that stand as NaN in the rows of event k.
    """

    initial: tuple[Initial, ...]
    local: tuple[float, ...] = ()
    slots: tuple[tuple[int, ...], ...] = ()
    alike: tuple[tuple[int, ...], ...] = ()
    interchangeable: bool = True
    identity: Identity | None = None
    draws: bool = False
    points: Mapping[str, Sequence[int]] = MappingProxyType({})
    sums: tuple[Identity, ...] = ()
    models: bool = False
    stalest: int | None = None
    stops: bool = False
    queues: frozenset[int] = frozenset()
    first_update: int = 0
    sizes: Callable[[Ints], Floats] | None = None
    coefficients: Callable[[int], Sequence[float]] | None = None

    def showing(self, point: tuple[str, int] | None) -> "EventProgram":
        """Return the program with all registers that records of a point need; by default it has them.

        The compiler and whoever averages over random events ask once, before all else.

        Parameters
        ----------
        point
            As :attr:`boundlab.tape.RecordAt.point`.
        """
        return self

    def register(self, point: tuple[str, int] | None) -> int:
        """Return the register that records of a point show.

        Raises
        ------
        TapeError
            If the algorithm does not have it.
        """
        if point is not None and point[0] not in self.points:
            raise TapeError(f"records ask for the point {point}, which this algorithm does not have")
        return X_S if point is None else self.points[point[0]][point[1]]

    def opening(self) -> tuple[tuple[Row, ...], Control]:
        """Return what happens before the first event, and the control state after it.

        By default nothing: each event begins with the model that the one before left.
        """
        return (), Control()

    def choices(self, control: Control, law: EventLaw[Share]) -> list[tuple[Event, Share]]:
        """Return the events that can come next, with their probabilities; by default a round of all clients."""
        return law.equally([(SERVER,)])

    @abstractmethod
    def event(self, control: Control, event: Event, number: int) -> Step:
        """Return what an event does.

        Parameters
        ----------
        number
            Events before it.
        """

    def possible(self, control: Control, event: Event, clients: int) -> bool:
        """Return whether a program that draws by itself can draw an event; of too many choices nobody asks."""
        try:
            choices = self.choices(control, EventLaw(np.full(clients, 1.0 / clients), 0.0))
        except SpecError:
            return True
        return any(one == event for one, _ in choices)

    def compiled(self) -> "EventProgram":
        """Return the program as the compiler asks for it, which knows by itself how stale results are.

        So its control needs no ages of models, and sizes and coefficients that change with the number of an event alone
        can be left to ``sizes`` and ``coefficients``.
        """
        return self

    def aged(self, most: int) -> "EventProgram":
        """Return the program of updates whose staleness is given, at most so many versions."""
        raise NotImplementedError

    def ignored(self, client: int) -> Step:
        """Return what happens where the result of a client is too stale, and its client begins anew."""
        raise NotImplementedError

    def certain(self, clients: int) -> bool:
        """Return whether there is only one thing that can happen, event after event, whoever arrives when."""
        law, control, seen = EventLaw(np.full(clients, 1.0 / clients), 0.0), self.opening()[1], set()
        while self.draws and control not in seen:
            seen.add(control)
            choices = self.choices(control, law)
            if len(choices) > 1:
                return False
            control = self.event(control, choices[0][0], 0).control
        return self.draws

    def clock(self, number: int) -> Hashable:
        """Return what :meth:`event` reads off the number of events: equal ones give equal rows. By default nothing."""
        return None


@final
class ClientSlots:
    """Writes the rows of an event for clients that always work on one update, as the arrival-driven algorithms do.

    Registers: x_s; the result in work of each client; results that the server holds.

    Parameters
    ----------
    models
        Whether a result is the client's model y, or the difference y − x to the model x it started from.
    """

    def __init__(self, clients: int, steps: int, step_size: float, *, models: bool) -> None:
        self.clients, self._steps, self._size, self._models = clients, steps, step_size, models

    def result(self, client: int) -> int:
        """Return the register of a client's result."""
        return 1 + client

    def held(self, place: int) -> int:
        """Return the register of a result that the server holds."""
        return 1 + self.clients + place

    def initial(self, held: int) -> tuple[Initial, ...]:
        """Return what all registers hold at first, where the server holds at most so many results."""
        return (Initial.START, *[Initial.UNWRITTEN] * (self.clients + held))

    def begin(self, client: int, register: int | None = None, model: int = X_S) -> list[Row]:
        """Hand the present model, or another one, to a client."""
        to = self.result(client) if register is None else register
        rows: list[Row] = [DescendRow(to, model, client, self._steps, self._size)]
        return rows if self._models else [*rows, AffineRow(to, ((1.0, to), (-1.0, model)))]

    def begin_all(self) -> tuple[Row, ...]:
        """Hand the initial model to everybody."""
        return tuple(row for client in range(self.clients) for row in self.begin(client))

    def server_update(self, *terms: tuple[float, int]) -> AffineRow:
        """Return x_s ← x_s + Σ coef·src; with models x_s ← Σ coef·src."""
        return AffineRow(X_S, terms if self._models else ((1.0, X_S), *terms))


# Algorithms whose server models are averages of results of local passes, each begun at such a model.


@final
@dataclass(frozen=True, slots=True)
class Averages:
    """Every server model is a convex combination of x0 and of results of local passes from earlier server models.

    So a convex set with x0 that no local step leaves holds all of them, whatever the events are. Behind the model
    after k iterations lie at most max(0, ⌊(k + ahead)/every⌋) passes one after the other.

    Parameters
    ----------
    steps, step_size
        Of a pass: how many steps, and the largest size that any step of the run has.
    every, ahead
        How fast passes can follow each other.
    """

    steps: int
    step_size: float
    every: int
    ahead: int

    def depth(self, ks: Ints) -> Ints:
        """Return the most passes behind the model after each of ``ks`` iterations, shape (points,)."""
        return np.maximum(0, (ks + self.ahead) // self.every)

    def mean_depth(self, ks: Ints) -> Floats:
        """Return the mean of :meth:`depth` over 0 … k−1 for each k ≥ 1, shape (points,)."""
        # Σ_{j<m} ⌊j/e⌋ with m = q·e + r is e·q(q−1)/2 + r·q; terms below 0 count as 0.
        q, r = np.divmod(np.maximum(ks + self.ahead, 0), self.every)
        before = self.every * (q * (q - 1) // 2) + r * q
        # ahead < every, so that the terms from 0 to ahead − 1, which no k ≥ 0 has, are 0.
        return np.asarray(before / np.maximum(ks, 1), dtype=np.float64)


# Algorithms whose server adds differences that clients make: how much of them is on its way at any time.


@final
@dataclass(frozen=True, slots=True)
class InFlight:
    """Every server update is x_s ← x_s + Σ weight·(y − x), y what local steps make of an earlier server model x.

    Weights are ≥ 0. Whatever the events are, these limits hold; none depends on how stale an update is.

    Parameters
    ----------
    steps, step_size
        Of an update: how many local steps, and the largest size that any of them has, unit (−1, 2).
    pending
        The largest total weight of updates that began with earlier versions, when a version begins.
    begun
        The largest total weight of updates that begin with one version.
    used
        The largest total weight in one server update.
    """

    steps: int
    step_size: float
    pending: float
    begun: float
    used: float
