"""Asynchronous SGD: stale gradients applied as they arrive, by who arrives or by who is drawn."""

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, final

import numpy as np
import sympy

from boundlab.algorithms import _option as option
from boundlab.algorithms._algorithm import Algorithm, arrivals, drawn_with
from boundlab.algorithms._arrivals import Arrivals, of_staleness
from boundlab.algorithms._buffer import why_not_stationary, why_not_uniform
from boundlab.algorithms._loop import Rules
from boundlab.algorithms._option import Parameters
from boundlab.algorithms._program import ClientSlots, Control, Event, EventLaw, EventProgram, Row, Share, Step
from boundlab.algorithms._steps import VARIABLES, LocalSteps, StepFactor, step_factor
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.errors import CaseError, SpecError
from boundlab.events import Events, read_client, read_rows
from boundlab.formulas.folds import EntryOf
from boundlab.randomness import Stream, Streams
from boundlab.tape import RecordAt, Tape

_VARIABLES: Final = ("tau", "n")


@final
@dataclass(frozen=True, slots=True)
class AsyncSgdParameters(Parameters):
    """The parameters of asynchronous SGD: α, unit (−1, 2).

    What ``schedule`` says multiplies α; ``delay_adaptive`` is due to Mishchenko et al. (NeurIPS 2022). With
    ``sampling=uniform`` a client works on a model when its earlier ones are done (Koloskova, Stich, Jaggi, NeurIPS
    2022).
    """

    alpha: float = option.number("step size", above=0.0)
    schedule: StepFactor = step_factor(  # noqa: RUF009  (a field)
        "schedule",
        "constant (default), delay_adaptive: alpha·min(1, n/tau), or any formula of staleness tau and n times alpha",
        {"constant": "1", "delay_adaptive": "Min(1, n/tau)"},
        _VARIABLES,
        "If(tau <= 1, 1, 1/2)",
    )
    sampling: Literal["arrival", "uniform"] = option.choice(
        "arrival (default): who arrives gets the new model; uniform: a client drawn uniformly does",
        ("arrival", "uniform"),
    )

    def weight(self, tau: int, clients: int) -> float:
        """Return α_k/α of a gradient that is τ versions old."""
        return 1.0 if self.schedule.constant else self.schedule.at(tau=tau, n=clients)


@final
class AsyncSgd(Algorithm[AsyncSgdParameters]):
    """The compiler of asynchronous SGD: x_s ← x_s − α_k·g_i(stale model)."""

    id = "async_sgd"
    summary = "stale stochastic gradients applied one by one, with a constant or a delay-adaptive step size"
    parameter_type = AsyncSgdParameters
    rule, rule_variables = "schedule", _VARIABLES
    draws = (drawn_with("target", "which client gets each new model", "sampling", "uniform"),)

    def schedule(
        self, parameters: AsyncSgdParameters, events: Events, clients: int, records: RecordAt, iterations: int
    ) -> Tape:
        """Compile; each arrival is one iteration.

        Raises
        ------
        SpecError
            If a client arrives that has no model to work on, or events name targets exactly without
            sampling=uniform.
        """
        uniform = parameters.sampling == "uniform"
        if uniform != bool(events.detail):
            raise SpecError(
                "async_sgd: events name who gets the new model, [time, client, target], exactly with sampling=uniform"
            )
        weigh = of_staleness(lambda tau: parameters.weight(tau, clients))
        compiler = Arrivals(
            Rules(1), LocalSteps((parameters.alpha,)), 0, weigh, "client {client} has no model to work on"
        )
        target = [row[0] for row in events.detail]
        return compiler.tape(self.id, events, clients, records, iterations, target)

    def program(self, parameters: AsyncSgdParameters, clients: int) -> "AsyncSgdProgram":
        """Return one arrival."""
        return AsyncSgdProgram(parameters, clients)

    def sample(
        self,
        parameters: AsyncSgdParameters,
        delays: DelayModel,
        policy: ServerPolicy,
        streams: Streams,
        clients: int,
        count: int,
    ) -> Events:
        """Return arrivals; with sampling=uniform also who gets the new model."""
        if parameters.sampling == "arrival":
            return arrivals(delays, streams, count)
        clock = delays.clock(streams)
        waiting = [0] * clients
        queue = [(clock.arrival(client, 0.0), client) for client in range(clients)]
        heapq.heapify(queue)
        target = np.floor(streams.uniforms(Stream.SCHEDULE, 0, 0, count)[0] * clients).astype(np.int32)
        time, actor = np.empty(count), np.empty(count, dtype=np.int32)
        busy = [True] * clients
        for place, chosen in enumerate(target.tolist()):
            now, client = heapq.heappop(queue)
            time[place], actor[place] = now, client
            busy[client] = False
            waiting[chosen] += 1
            for i in {client, chosen}:
                if waiting[i] and not busy[i]:
                    waiting[i] -= 1
                    busy[i] = True
                    heapq.heappush(queue, (clock.arrival(i, now), i))
        return Events(time, actor, tuple((i,) for i in target.tolist()))

    def read_events(self, raw: object, clients: int, where: str) -> Events:
        """Read [[time, client], …], or [[time, client, target], …] for sampling=uniform.

        Raises
        ------
        CaseError
            Naming the event by its place, counted from 1.
        """
        rows = read_rows(raw, where, "[time, client], or [time, client, who gets the new model]", (2, 3))
        if len({len(row) for _, row in rows}) != 1:
            raise CaseError(f"{where}: either all events name who gets the new model, or none does")
        who = [[read_client(i, clients, f"{where}: event {k}") for i in row] for k, (_, row) in enumerate(rows, 1)]
        detail = tuple((row[1],) for row in who) if len(who[0]) == 2 else ()
        times = np.array([time for time, _ in rows])
        return Events(times, np.array([row[0] for row in who], dtype=np.int32), detail)

    def why_not(self, assumption: str, parameters: AsyncSgdParameters, delays: DelayModel) -> str:
        """Say how the arrivals, buffers of one update, come about."""
        if assumption not in ("stationary-participation", "uniform-buffer"):
            return super().why_not(assumption, parameters, delays)
        if parameters.sampling == "uniform" and delays.n > 1:
            return "with sampling=uniform a client arrives only after it was drawn"
        if assumption == "uniform-buffer":
            return why_not_uniform(delays, twice=False)
        return why_not_stationary(delays, "" if parameters.schedule.constant else "schedule=constant")

    def step_factor(self, parameters: AsyncSgdParameters, tape: Callable[[], Tape]) -> Any:
        """Return 1, or the entry k of the factors of this run."""
        if parameters.schedule.constant:
            return sympy.S.One
        run = tape()
        stale = (run.uses.version - run.descend.version[run.uses.update]).tolist()
        factors = {tau: parameters.schedule.exactly(tau=tau, n=run.clients) for tau in sorted({*stale})}
        numbers = {tau: sympy.Rational(one.numerator, one.denominator) for tau, one in factors.items()}
        return EntryOf(sympy.Tuple(*(numbers[tau] for tau in stale)), VARIABLES["k"])

    def figures(self, parameters: AsyncSgdParameters, tape: Tape) -> dict[str, Any]:
        """Return how often a step that reads the staleness was smaller than α."""
        if parameters.schedule.constant:
            return {}
        return {"steps_shortened": int(np.count_nonzero(tape.uses.weight < 1.0))}


class _GradientInWork(NamedTuple):
    """Gradient in work: its client, its place in that client's queue, and the age of its model."""

    client: int
    place: int
    age: int


@final
class AsyncSgdProgram(EventProgram):
    """One arrival; as many gradients are in work as there are clients, and control says whose each of them is."""

    def __init__(self, parameters: AsyncSgdParameters, clients: int) -> None:
        self._parameters, self._clients = parameters, clients
        self._uniform, self._ages = parameters.sampling == "uniform", not parameters.schedule.constant
        self._desk = ClientSlots(clients, 1, parameters.alpha, models=False)
        self.initial = self._desk.initial(0)
        self.slots = tuple((self._desk.result(place),) for place in range(clients))
        if self._uniform:  # any register may hold anybody's work
            self.alike, self.interchangeable = (tuple(range(clients)),), False

    def opening(self) -> tuple[tuple[Row, ...], Control]:
        """Everybody works on x0."""
        return self._desk.begin_all(), self._control([_GradientInWork(client, 0, 0) for client in range(self._clients)])

    def _control(self, work: list[_GradientInWork]) -> Control:
        # Where everybody works on one model, whose a slot is goes without saying, and slots may change places.
        return Control(tuple(work) if self._uniform else tuple(one.age for one in work))

    def _work(self, control: Control) -> list[_GradientInWork]:
        if self._uniform:
            return [one for one in control.slots if isinstance(one, _GradientInWork)]
        return [_GradientInWork(client, 0, age) for client, age in enumerate(control.slots) if isinstance(age, int)]

    def choices(self, control: Control, law: EventLaw[Share]) -> list[tuple[Event, Share]]:
        """Return who is at work, with sampling=uniform also who gets the new model."""
        busy = sorted({one.client for one in self._work(control)})
        arrive: list[tuple[Event, Share]] = law.clients(busy)
        if not self._uniform:
            return arrive
        targets: list[tuple[Event, Share]] = law.equally([(i,) for i in range(self._clients)])
        return [(first[0] + second[0], first[1] * second[1]) for first in arrive for second in targets]

    def event(self, control: Control, event: Event, number: int) -> Step:
        """Apply the gradient, and hand the new model out."""
        client, target, work = event[0], event[-1], self._work(control)
        slot = next(place for place, one in enumerate(work) if one.client == client and one.place == 0)
        result, age = self._desk.result(slot), work[slot].age
        rows = [self._desk.server_update((self._parameters.weight(age, self._clients), result))]
        work = [
            _GradientInWork(one.client, one.place - (one.client == client), one.age + 1 if self._ages else 0)
            for one in work
        ]
        queue = sum(one.client == target for place, one in enumerate(work) if place != slot)
        work[slot] = _GradientInWork(target, queue, 0)
        return Step((*rows, *self._desk.begin(target, result)), self._control(work), True)


ASYNC_SGD = AsyncSgd()
