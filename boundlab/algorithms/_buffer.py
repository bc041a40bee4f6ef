"""The buffer of FedBuff: its compiler, shared by all algorithms that aggregate after so many arrivals."""

import heapq
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, TypeVar

import numpy as np

from boundlab.algorithms import _option as option
from boundlab.algorithms._algorithm import Algorithm
from boundlab.algorithms._arrivals import Arrivals, Weigh
from boundlab.algorithms._in_flight import InFlight
from boundlab.algorithms._loop import POST, PRE, WAIT, Rules
from boundlab.algorithms._program import Event
from boundlab.algorithms._steps import LocalSteps
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.errors import SpecError
from boundlab.events import Events
from boundlab.randomness import Streams
from boundlab.tape import RecordAt, Tape

_IDLE = "with reply=wait client {client} has nothing to send before the aggregation of its last update"
# Rates that differ by no more are equal: they are quotients of the same numbers.
EQUAL_RATES: Final = 1e-12
Reply = Literal["post", "pre", "wait"]
REPLY: Final[Mapping[Reply, str]] = MappingProxyType(
    {
        "post": "the client that completes the buffer gets the new model",
        "pre": "the old one",
        "wait": "every client waits for the aggregation of its update",
    }
)
_REPLIES: Final[Mapping[Reply, int]] = MappingProxyType({"post": POST, "pre": PRE, "wait": WAIT})


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
    """An algorithm that aggregates after every ``count`` arrivals.

    Parameters
    ----------
    models
        Whether x_s ← Σ weight·y over a full buffer; else x_s ← x_s + Σ weight·(y − x).
    """

    server: Literal["any", "count", "none"] = "count"
    models: bool = False

    @abstractmethod
    def weights(self, parameters: P) -> Weigh:
        """Return what gives the weights of a run's full buffers."""

    def stalest(self, parameters: P) -> int | None:
        """Return the largest staleness with which an update enters a buffer: others are ignored. None: all enter."""
        return None

    def stops(self, parameters: P) -> bool:
        """Return whether a client whose update would be staler stops, and begins anew from the new model."""
        return False

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

    def schedule(self, parameters: P, events: Events, clients: int, records: RecordAt, iterations: int) -> Tape:
        """Compile; each aggregation is one iteration, and an arrival that is ignored is none.

        Raises
        ------
        SpecError
            With reply=wait, if an update of a client arrives that waits, or the buffer can never be filled.
        """
        stalest = self.stalest(parameters)
        check_wait(self.id, parameters.reply, parameters.count, clients)
        rules = Rules(
            parameters.count,
            reply=_REPLIES[parameters.reply],
            stalest=-1 if stalest is None else stalest,
            stops=self.stops(parameters),
            models=self.models,
            base=not self.models,
        )
        compiler = Arrivals(rules, parameters.local, parameters.count, self.weights(parameters), _IDLE)
        return compiler.tape(self.id, events, clients, records, iterations)

    def events_for(self, parameters: P, clients: int, iterations: int) -> int:
        """Return count arrivals an aggregation: more are needed where some are ignored."""
        return parameters.count * iterations

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
        return ""

    def quantities(self, parameters: P, tape: Tape, until: int, settings: Mapping[str, float]) -> dict[str, float]:
        """Return also the local steps Q and the updates b in a buffer, where updates are differences."""
        found = super().quantities(parameters, tape, until, settings)
        return found and {**found, "Q": parameters.local.steps, "b": parameters.count}

    def figures(self, parameters: P, tape: Tape) -> dict[str, Any]:
        """Return how many updates were ignored, where some can be."""
        return {} if self.stalest(parameters) is None else {"ignored": len(tape.notes.get("dropped", ()))}

    def sample(
        self, parameters: P, delays: DelayModel, policy: ServerPolicy, streams: Streams, clients: int, count: int
    ) -> Events:
        """Return arrivals; with reply=wait they depend on the aggregations.

        Raises
        ------
        SpecError
            With reply=wait, if the buffer can never be filled.
        """
        if parameters.reply != "wait":
            return super().sample(parameters, delays, policy, streams, clients, count)
        check_wait(self.id, parameters.reply, parameters.count, clients)
        return sample_waiting(delays, streams, clients, parameters.count, count)


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


def check_wait(name: str, reply: Reply, count: int, clients: int) -> None:
    """Refuse reply=wait where fewer clients than ``count`` can be in the buffer at a time."""
    if reply == "wait" and count > clients:
        raise SpecError(f"{name}: with reply=wait a buffer of {count} never fills from {clients} clients; lower count")


def sample_waiting(delays: DelayModel, streams: Streams, clients: int, batch: int, count: int) -> Events:
    """Return the first ``count`` arrivals where each client waits for the aggregation of its update."""
    clock = delays.clock(streams)
    queue = [(clock.arrival(client, 0.0), client) for client in range(clients)]
    heapq.heapify(queue)
    waiting: list[int] = []
    time, actor = np.empty(count), np.empty(count, dtype=np.int32)
    for place in range(count):
        time[place], actor[place] = now, client = heapq.heappop(queue)
        waiting.append(client)
        if len(waiting) == batch:
            for other in waiting:
                heapq.heappush(queue, (clock.arrival(other, now), other))
            waiting = []
    return Events(time, actor)
