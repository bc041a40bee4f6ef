"""The incremental (sub)gradient method: each iteration is a pass, a step for every client, one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from math import factorial
from typing import Final, Literal, final

import numpy as np

from boundlab.algorithms import _option as option
from boundlab.algorithms._algorithm import MemberRounds, drawn_with
from boundlab.algorithms._option import Parameters, StepSize, step_size
from boundlab.algorithms._program import (
    X_S,
    AffineRow,
    Averages,
    Control,
    DescendRow,
    Event,
    EventLaw,
    EventProgram,
    Share,
    Step,
)
from boundlab.delays import Clock
from boundlab.errors import SpecError
from boundlab.randomness import Stream, Streams
from boundlab.tape import Initial

_ORDERS: Final = 10_000  # of a pass, that one event of a program may choose from


@final
@dataclass(frozen=True, slots=True)
class IncrementalParameters(Parameters):
    """The parameters of the incremental method: α_k, unit (−1, 2), is the size of all steps of pass k.

    ``shuffled`` draws a new order for every pass (random reshuffling).
    """

    step: StepSize = step_size(k=" in pass k")
    order: Literal["cyclic", "shuffled"] = option.choice(
        "cyclic (default) or shuffled: the order of the clients in a pass", ("cyclic", "shuffled")
    )


@final
class Incremental(MemberRounds[IncrementalParameters]):
    """The incremental method; its event is the end of a pass, with the order of the clients."""

    id = "incremental"
    summary = "incremental (sub)gradients: each iteration passes through all clients, one step each"
    parameter_type = IncrementalParameters
    step_size_symbols = ("alpha", "c")
    draws = (drawn_with("order", "the order of the clients in each pass", "order", "shuffled"),)
    form, example = "[pass end, [all clients in their order]]", "[[2, [0, 1]]]"

    def averages(self, parameters: IncrementalParameters, clients: int) -> Averages:
        """Each iteration is a pass of one step a client."""
        return Averages(clients, parameters.step.of(0), every=1, ahead=0)

    def program(self, parameters: IncrementalParameters, clients: int) -> "IncrementalProgram":
        """Return one pass."""
        return IncrementalProgram(parameters, clients)

    def drawn(self, parameters: IncrementalParameters, streams: Streams, clients: int, count: int) -> list[Event]:
        """Return the order of each pass."""
        if parameters.order == "cyclic":
            return [tuple(range(clients))] * count
        # The ranks of n uniform numbers are a uniform order.
        u = (streams.uniforms(Stream.SCHEDULE, 0, turn, clients)[0] for turn in range(count))
        return [tuple(np.argsort(one).tolist()) for one in u]

    def ends(self, drawn: Sequence[Event], clock: Clock, clients: int) -> list[float]:
        """Return when the last client of each pass is done, each after the one before."""
        return clock.ends([(client,) for order in drawn for client in order])[clients - 1 :: clients]

    def wrong(self, members: Sequence[int], clients: int) -> str:
        """Say so where a pass does not ask each client once."""
        asks = f": a pass asks each of the {clients} clients once, got {members}"
        return "" if sorted(members) == list(range(clients)) else asks


@final
class IncrementalProgram(EventProgram):
    """One pass; there is nothing to remember from one to the next but its number, which α_k may depend on."""

    draws = True

    def __init__(self, parameters: IncrementalParameters, clients: int) -> None:
        self._step, self._shuffled, self._clients = parameters.step, parameters.order == "shuffled", clients
        self.sizes = None if self._step.d is None else self._step.at
        self.initial = (Initial.START, *[Initial.UNWRITTEN] * clients)

    def choices(self, control: Control, law: EventLaw[Share]) -> list[tuple[Event, Share]]:
        """Return the one order, or all orders.

        Raises
        ------
        SpecError
            If there are too many.
        """
        who = tuple(range(self._clients))
        if not self._shuffled:
            return law.equally([who])
        if self._clients > _ORDERS or factorial(self._clients) > _ORDERS:
            raise SpecError(f"incremental: {self._clients} clients have more than {_ORDERS} orders")
        return law.equally(list(permutations(who)))

    def clock(self, number: int) -> int | None:
        """Return k where α_k diminishes."""
        return None if self._step.d is None else number

    def event(self, control: Control, event: Event, number: int) -> Step:
        """Take the steps of all clients in their order; their changes add up to that of the model."""
        size, k = self._step.of(number), None if self._step.d is None else number
        steps = [DescendRow(place + 1, place, client, 1, size, k) for place, client in enumerate(event)]
        uses = tuple((place + 1, 1.0) for place in range(len(event)))
        return Step((*steps, AffineRow(X_S, ((1.0, len(event)),))), control, True, uses)


INCREMENTAL = Incremental()
