"""SGD without gradients that are too old: Ringmaster ASGD, and Rennala SGD, whose batches are of one model."""

import heapq
from abc import abstractmethod
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, TypeVar, final

import numpy as np

from boundlab.algorithms import _option as option
from boundlab.algorithms._arrivals import Weigh, of_staleness
from boundlab.algorithms._buffer import Buffered, BufferParameters, Reply, reply_option
from boundlab.algorithms._buffer_program import BufferProgram
from boundlab.algorithms._steps import LocalSteps, one_step
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.errors import SpecError
from boundlab.events import Events
from boundlab.randomness import Streams


class FreshParameters(BufferParameters):
    """Parameters of one gradient step an update, with the word ``stops``: whether what is too old is stopped."""

    __slots__ = ()
    stops: bool


P = TypeVar("P", bound=FreshParameters)
_STOPS: Final = "no (default): what is too old is ignored on arrival; yes: stopped, and begun anew"


class _Fresh(Buffered[P]):
    """The mean of ``count`` gradients that are fresh enough moves the server model."""

    single_client_values = MappingProxyType({})

    def weights(self, parameters: P) -> Weigh:
        """Return 1/count."""
        return of_staleness(lambda _: 1.0 / parameters.count)

    @abstractmethod
    def stalest(self, parameters: P) -> int:
        """Return the largest staleness of a gradient that counts."""

    def stops(self, parameters: P) -> bool:
        """Return the option."""
        return parameters.stops

    def program(self, parameters: P, clients: int) -> BufferProgram:
        """Return one arrival that counts."""
        share, stalest, stops = 1.0 / parameters.count, self.stalest(parameters), self.stops(parameters)
        return BufferProgram(
            self.id,
            parameters,
            clients,
            lambda _, buffer: ([share] * len(buffer), None),
            ages=False,
            stalest=stalest,
            stops=stops,
        )

    def sample(
        self, parameters: P, delays: DelayModel, policy: ServerPolicy, streams: Streams, clients: int, count: int
    ) -> Events:
        """Return arrivals; with stops=yes, when all of them count, they depend on the server updates."""
        if not parameters.stops:
            return super().sample(parameters, delays, policy, streams, clients, count)
        clock, stalest, begun = delays.clock(streams), self.stalest(parameters), [0] * clients
        queue = [(clock.arrival(client, 0.0), client, 0) for client in range(clients)]
        heapq.heapify(queue)
        time, actor = np.empty(count), np.empty(count, dtype=np.int32)
        for place in range(count):
            now, client, version = heapq.heappop(queue)
            while begun[client] != version:  # that one was stopped
                now, client, version = heapq.heappop(queue)
            time[place], actor[place] = now, client
            version, held = divmod(place + 1, parameters.count)
            for other in (client,) if held else range(clients):  # once each: nobody works on two gradients
                if other == client or version - begun[other] > stalest:
                    begun[other] = version
                    heapq.heappush(queue, (clock.arrival(other, now), other, version))
        return Events(time, actor)


@final
@dataclass(frozen=True, slots=True)
class RingmasterParameters(FreshParameters):
    """The parameters of Ringmaster ASGD: α, unit (−1, 2), and its delay threshold, the paper's R.

    A gradient counts if the server made fewer than ``threshold`` updates since its model. The others are ignored when
    they arrive or, with ``stops``, not computed to the end; their clients go on from the newest model.
    """

    local: LocalSteps = one_step("alpha")
    threshold: int = option.integer(
        "server updates after which a gradient is too old; with 1 only fresh ones count", minimum=1, maximum=10**6
    )
    stops: bool = option.flag(_STOPS)
    count: int = field(default=1, init=False)
    reply: Reply = field(default="post", init=False)


@final
class Ringmaster(_Fresh[RingmasterParameters]):
    """The compiler of Ringmaster ASGD: x_s ← x_s − α·g_i(stale model), or nothing (Maranjyan et al., ICML 2025)."""

    id = "ringmaster"
    summary = "asynchronous SGD without gradients that are as old as a threshold: they are ignored, or stopped"
    parameter_type = RingmasterParameters
    server = "none"

    def stalest(self, parameters: RingmasterParameters) -> int:
        """Return the largest delay below the threshold."""
        return parameters.threshold - 1


@final
@dataclass(frozen=True, slots=True)
class RennalaParameters(FreshParameters):
    """The parameters of Rennala SGD: α, unit (−1, 2), and the gradients in a batch, the paper's S.

    A gradient counts if it was taken at the present server model. The others are ignored when they arrive or, with
    ``stops``, not computed to the end; their clients go on from there.
    """

    local: LocalSteps = one_step("alpha")
    count: int = option.integer("gradients in a batch (default 1)", 1, minimum=1, maximum=10**6)
    reply: Reply = reply_option(words=("post", "pre"))
    stops: bool = option.flag(_STOPS)

    def check(self, owner: str) -> None:
        """Refuse reply=pre where all clients begin anew."""
        if self.stops and self.reply == "pre":
            raise SpecError(f"{owner}: with stops=yes everybody gets the new model; leave reply=pre out")


@final
class Rennala(_Fresh[RennalaParameters]):
    """The compiler of Rennala SGD: x_s ← x_s − α·(1/count)·Σ g_i(x_s) (Tyurin and Richtárik, NeurIPS 2023)."""

    id = "rennala"
    summary = "minibatch SGD whose batch is filled by whoever is fast: gradients at older models are ignored"
    parameter_type = RennalaParameters

    def stalest(self, parameters: RennalaParameters) -> int:
        """Return 0."""
        return 0


RINGMASTER, RENNALA = Ringmaster(), Rennala()
