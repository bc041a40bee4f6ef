"""FedStaleWeight: FedBuff with weights that grow with a client's average staleness (Ma et al.)."""

from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType
from typing import Any, Literal, final

import numpy as np

from boundlab.algorithms import _option as option
from boundlab.algorithms._buffer import Buffered, BufferParameters, BufferProgram, Held, Reply, reply_option
from boundlab.algorithms._fold import Weigh
from boundlab.algorithms._option import LocalSteps, local_steps
from boundlab.arithmetic.rational import column
from boundlab.randomness import Floats, Ints
from boundlab.tape import Tape, arrived, staleness


@final
@dataclass(frozen=True, slots=True)
class FedStaleWeightParameters(BufferParameters):
    """The parameters of FedStaleWeight: M local steps of size eta_l, unit (−1, 2), and eta_g without units.

    ``window`` None averages all observations of a client's staleness. ``scale`` 0 gives FedBuff, 1 Algorithm 1, and
    b (``count``) the weights that the derivation of E[τ_i] makes fair.
    """

    local: LocalSteps = local_steps("eta_l", "M")
    eta_g: float = option.number("server rate (default 1)", 1.0, above=0.0)
    count: int = option.integer("b: updates in a full buffer (default 1)", 1, minimum=1, maximum=10**6)
    window: int | None = option.integer("observations in a moving average of staleness (default: all)", None, minimum=1)
    scale: float = option.number("weights ∝ 1 + scale·staleness (default 1; count is the fair one)", 1.0, minimum=0.0)
    include: Literal["current", "previous"] = option.choice(
        "current (default) or previous: do a buffer's own observations enter its weights?", ("current", "previous")
    )
    reply: Reply = reply_option()


@final
@dataclass(slots=True)
class _Averages:
    """Moving averages of the staleness that each client was observed with."""

    window: int | None
    seen: dict[int, deque[int]] = field(default_factory=dict)
    total: dict[int, int] = field(default_factory=dict)  # sums of what is in ``seen``, so that a look is cheap

    def add(self, client: int, tau: int) -> None:
        """Remember an observation."""
        taus = self.seen.setdefault(client, deque())
        taus.append(tau)
        self.total[client] = self.total.get(client, 0) + tau
        if self.window is not None and len(taus) > self.window:
            self.total[client] -= taus.popleft()

    def observe(self, buffer: Sequence[Held]) -> None:
        """Remember all observations of a buffer."""
        for update in buffer:
            self.add(update.client, update.tau)

    def of(self, client: int, number: type[float]) -> float:
        """Return the average as such a number, 0 where nothing was observed."""
        taus = self.seen.get(client)
        return number(self.total[client]) / len(taus) if taus else number(0)

    def frozen(self, clients: int) -> Hashable:
        """Return what later averages depend on: a client's observations, or their sum and number where all count."""
        if self.window is None:
            return tuple((self.total.get(i, 0), len(self.seen.get(i, ()))) for i in range(clients))
        return tuple(tuple(self.seen.get(i, ())) for i in range(clients))

    @classmethod
    def thawed(cls, window: int | None, memory: Any) -> "_Averages":
        """Return the averages that :meth:`frozen` was asked of; None: nothing was observed."""
        averages = cls(window)
        for client, known in enumerate(memory or ()):
            # Of the sum of so many observations none has to be remembered by itself.
            seen = known if window is not None else (known[0], *[0] * (known[1] - 1))[: known[1]]
            averages.seen[client], averages.total[client] = deque(seen), sum(seen)
        return averages


def _weights(parameters: FedStaleWeightParameters, averages: _Averages, buffer: Sequence[Held]) -> list[float]:
    """Return eta_g·(weight of each update, normalised over a full buffer), and observe its staleness."""
    # All of a buffer's observations come first, so that the order within it does not matter.
    if parameters.include == "current":
        averages.observe(buffer)
    raw = [1 + parameters.scale * averages.of(update.client, type(parameters.scale)) for update in buffer]
    if parameters.include == "previous":
        averages.observe(buffer)
    total = sum(raw)
    return [parameters.eta_g * weight / total for weight in raw]


def _of_run(parameters: FedStaleWeightParameters, clients: Ints, taus: Ints) -> Iterator[float]:
    """Yield the weights of all full buffers of a run."""
    averages, size = _Averages(parameters.window), parameters.count
    # A buffer at a time: many objects that live make Python look through all that there are.
    updates = map(Held, taus.tolist(), clients.tolist())
    for buffer in iter(lambda: [*islice(updates, size)], []):
        yield from _weights(parameters, averages, buffer)


@final
class FedStaleWeight(Buffered[FedStaleWeightParameters]):
    """FedStaleWeight: x_s ← x_s + eta_g·Σ α_k·(y_k − x_k), Σ α_k = 1 over each buffer."""

    id = "fedstaleweight"
    summary = "FedBuff with weights that make up for rare updates, read off each client's average staleness"
    parameter_type = FedStaleWeightParameters
    step_size_symbols = ("eta_l",)
    single_client_values = MappingProxyType({})
    rate = "eta_g"

    def weights(self, parameters: FedStaleWeightParameters, clients: int) -> Weigh:
        """Return the normalised weights by the averages of a run."""

        def weigh(whose: Ints, taus: Ints) -> Floats:
            return column([*_of_run(parameters, whose, taus)])

        return weigh

    def heaviest(self, parameters: FedStaleWeightParameters) -> float:
        """Return eta_g, or the count-th part of it where all weights are equal."""
        return parameters.eta_g / (parameters.count if parameters.scale == 0.0 else 1)

    def program(self, parameters: FedStaleWeightParameters, clients: int) -> BufferProgram:
        """Return one arrival; the observations that averages hold are part of the control state."""
        follows = parameters.scale != 0.0

        def weigh(memory: Hashable, buffer: Sequence[Held]) -> tuple[list[float], Hashable]:
            averages = _Averages.thawed(parameters.window, memory)
            weights = _weights(parameters, averages, buffer)
            return weights, averages.frozen(clients) if follows else None

        own = parameters.local, parameters.count, parameters.reply
        return BufferProgram(self.id, *own, clients, weigh, ages=follows, named=follows)

    def fixed_weights(self, parameters: FedStaleWeightParameters, clients: int) -> str:
        """Return the scale that forgets; the weights of one client sum to 1 anyway."""
        return "" if parameters.scale == 0.0 or clients == 1 else "scale=0"

    def figures(self, parameters: FedStaleWeightParameters, tape: Tape) -> dict[str, Any]:
        """Return each client's mean staleness, and chi² = n·Σ(π_i − 1/n)² of the shares."""
        if tape.iterations == 0:
            return {}
        clients = tape.descend.client[arrived(tape)]
        counts = np.bincount(clients, minlength=tape.clients)
        sums = np.bincount(clients, weights=staleness(tape), minlength=tape.clients)
        mean = sums / np.maximum(counts, 1)
        return {"mean_staleness": mean.tolist(), **self.spread(parameters, tape)}


FEDSTALEWEIGHT = FedStaleWeight()
