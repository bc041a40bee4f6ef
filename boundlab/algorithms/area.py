"""AREA: asynchronous exact averaging (Iakovidou and Kim), Algorithms 1 and 2 and Appendix A."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from boundlab.algorithms import _option as option
from boundlab.algorithms._algorithm import Algorithm
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
    MoveRow,
    Row,
    Share,
    Step,
)
from boundlab.errors import SpecError
from boundlab.events import SERVER, Events
from boundlab.tape import Identity, Initial

# Registers: x_s, u, two a client.
_X_S, _U, _CLIENTS = X_S, 1, 2


@final
@dataclass(frozen=True, slots=True)
class AreaParameters(Parameters):
    """The parameters of AREA: M local steps of size α_k, unit (−1, 2), and aggregations after ``count`` arrivals (Δ).

    Where ``count`` is None, the events name the aggregations. With ``start=analysis`` x_i,0 = y_i,0 = x_s,0;
    otherwise the first message is Descend(x_s,0) − x_s,0 with α_0. The clocks are those of Algorithm 1 and of
    Appendix A, eq. (5).
    """

    step: StepSize = step_size()
    M: int = option.integer("local steps (default 1)", 1, minimum=1, maximum=10**6)
    count: int | None = option.integer("aggregate after every so many client updates", None, minimum=1)
    reply: Literal["pre", "post"] = option.choice(
        "pre (default) or post: is the client that completes the count answered before the aggregation?",
        ("pre", "post"),
    )
    start: Literal["algorithm", "analysis"] = option.choice(
        "algorithm (default, Algorithm 2) or analysis (Appendix A: first messages are 0)", ("algorithm", "analysis")
    )
    clock: Literal["algorithm", "analysis"] = option.choice(
        "algorithm (default: iteration k answers with alpha_k) or analysis (with alpha_{k-1})",
        ("algorithm", "analysis"),
    )

    def check(self, owner: str) -> None:
        """Refuse reply=post without count."""
        if self.reply == "post" and self.count is None:
            raise SpecError(f"{owner}: reply=post needs count: without it no arrival completes an aggregation")

    def answers_with(self, event: int) -> int:
        """Return the k of the α_k with which the server answers in event 0, 1, …."""
        return event + (1 if self.clock == "algorithm" else 0)


@final
class Area(Algorithm[AreaParameters]):
    """AREA; each arrival and each aggregation is one iteration."""

    id = "area"
    summary = "asynchronous exact averaging: clients send residuals, memory removes the bias of unequal rates"
    parameter_type = AreaParameters
    step_size_symbols = ("alpha", "c")
    server = "any"

    def completed(self, parameters: AreaParameters, events: Events) -> Events:
        """Return the events with the aggregations that ``count`` makes: one after so many arrivals, at the same time.

        Raises
        ------
        SpecError
            If ``count`` is set and the events name aggregations themselves.
        """
        if parameters.count is None:
            return events
        if (events.actor == SERVER).any():
            raise SpecError("area: with count the events must not name aggregations ('s'); drop them or drop count")
        after = np.arange(parameters.count, len(events) + 1, parameters.count)
        actor = np.insert(events.actor, after, np.int32(SERVER))
        return Events(np.insert(events.time, after, events.time[after - 1]), actor)

    def averages(self, parameters: AreaParameters, clients: int) -> Averages:
        """Return how x_s averages passes: after every event mean(y_i) = x_s + u (the tape's identity).

        So an aggregation writes x_s ← mean(y_i), and a y_i is x0 or an earlier x_i, which is x0 or Descend(x_s). A
        pass takes three events to the next one: an arrival computes x_i, the client's next arrival makes it y_i, an
        aggregation reads it. The first messages spare an event if they are passes, and with reply=post the
        aggregation itself is the event that computes the next x_i.
        """
        ahead = 1 if parameters.start == "algorithm" else 0
        every = 3
        if parameters.reply == "post":
            every, ahead = 2, ahead - 1
        return Averages(parameters.M, parameters.step.of(0), every, ahead)

    def drawn_events(self, parameters: AreaParameters, drawn: Sequence[Event]) -> Events:
        """Return clients and aggregations; where a count makes these, clients alone."""
        return super().drawn_events(parameters, [one for one in drawn if parameters.count is None or one[0] != SERVER])

    def program(self, parameters: AreaParameters, clients: int) -> "AreaProgram":
        """Return one arrival, or one aggregation."""
        return AreaProgram(parameters, clients)


@final
class AreaProgram(EventProgram):
    """One event of AREA on x_s, u, x_1 … x_n, y_1 … y_n.

    Control: who waits for an answer (reply=post), and the arrivals since the last aggregation where a count makes them.
    """

    def __init__(self, parameters: AreaParameters, clients: int) -> None:
        self._parameters, self._clients = parameters, clients
        self.first_update = 0 if parameters.start == "algorithm" else 1
        self.sizes = None if parameters.step.d is None else parameters.step.at
        self.initial = (Initial.START, Initial.ZERO, *[Initial.START] * (2 * clients))
        self.slots = tuple((_CLIENTS + client, _CLIENTS + clients + client) for client in range(clients))
        self.identity = Identity(
            "mean(y_i) = x_s + u",
            np.array([*(y for _, y in self.slots), _X_S, _U]),
            np.array([*[1.0 / clients] * clients, -1.0, -1.0]),
        )

    def opening(self) -> tuple[tuple[Row, ...], Control]:
        """Return the first messages, where they are passes."""
        passes = [self._answer(client, 0) for client in range(self._clients)]
        waits = (False,) * self._clients if self._parameters.reply == "post" else ()
        control = Control(waits, None if self._parameters.count is None else 0)
        return tuple(passes) if self._parameters.start == "algorithm" else (), control

    def choices(self, control: Control, law: EventLaw[Share]) -> list[tuple[Event, Share]]:
        """Return clients and server; under a count whose turn it is."""
        if self._parameters.count is None:
            return law.everybody()
        return law.equally([(SERVER,)]) if control.shared == self._parameters.count else law.clients()

    def clock(self, number: int) -> int | None:
        """Return the k of α_k where that diminishes."""
        return None if self._parameters.step.d is None else self._parameters.answers_with(number)

    def event(self, control: Control, event: Event, number: int) -> Step:
        """Do what the server does: with a message, or when it aggregates."""
        k, actor, n = self._parameters.answers_with(number), event[0], self._clients
        waits, arrivals = control
        if actor == SERVER:
            rows = [AffineRow(_X_S, ((1.0, _X_S), (1.0, _U))), AffineRow(_U, ())]
            answers = [self._answer(client, k) for client, waiting in enumerate(waits) if waiting]
            return Step((*rows, *answers), Control((False,) * len(waits), None if arrivals is None else 0), True)
        x, y = self.slots[actor]
        news = AffineRow(_U, ((1.0, _U), (1.0 / n, x), (-1.0 / n, y)))
        if isinstance(arrivals, int):
            arrivals += 1
            if waits and arrivals == self._parameters.count:
                waits = tuple(client == actor for client in range(n))
                return Step((news, MoveRow(y, x)), Control(waits, arrivals), True)
        return Step((news, MoveRow(y, x), self._answer(actor, k)), Control(waits, arrivals), True)

    def _answer(self, client: int, k: int) -> DescendRow:
        step = self._parameters.step
        of = None if step.d is None else k
        return DescendRow(self.slots[client][0], _X_S, client, self._parameters.M, step.of(k), of)


AREA = Area()
