"""Asynchronous SGD: stale gradients applied as they arrive, by who arrives or by who is drawn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, NamedTuple, final

import numpy as np
import sympy

from boundlab.algorithms import _option as option
from boundlab.algorithms._algorithm import Algorithm, drawn_with
from boundlab.algorithms._buffer import BufferProgram, by_staleness, why_not_stationary, why_not_uniform
from boundlab.algorithms._fold import Weigh, of_staleness
from boundlab.algorithms._option import VARIABLES, LocalSteps, Parameters, StepFactor, step_factor
from boundlab.algorithms._program import ClientSlots, Control, Event, EventLaw, EventProgram, MoveRow, Row, Share, Step
from boundlab.delays import DelayModel
from boundlab.errors import SpecError
from boundlab.events import Events, read_aged
from boundlab.formulas.folds import EntryOf
from boundlab.randomness import Stream, Streams
from boundlab.tape import Tape

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
        return 1.0 if self.schedule.constant else self.schedule.times(type(self.alpha)(1.0), tau=tau, n=clients)


@final
class AsyncSgd(Algorithm[AsyncSgdParameters]):
    """Asynchronous SGD: x_s ← x_s − α_k·g_i(stale model)."""

    id = "async_sgd"
    summary = "stale stochastic gradients applied one by one, with a constant or a delay-adaptive step size"
    parameter_type = AsyncSgdParameters
    rule, rule_variables = "schedule", _VARIABLES
    draws = (drawn_with("target", "which client gets each new model", "sampling", "uniform"),)

    def completed(self, parameters: AsyncSgdParameters, events: Events) -> Events:
        """Return the events.

        Raises
        ------
        SpecError
            If they name targets, and not exactly with sampling=uniform.
        """
        if (parameters.sampling == "uniform") != bool(events.detail):
            raise SpecError(
                "async_sgd: events name who gets the new model, [time, client, target], exactly with sampling=uniform"
            )
        return events

    def weights(self, parameters: AsyncSgdParameters, clients: int) -> Weigh | None:
        """Return α_k/α."""
        fixed = parameters.schedule.constant
        return None if fixed else of_staleness(partial(parameters.weight, clients=clients))

    def program(self, parameters: AsyncSgdParameters, clients: int) -> EventProgram:
        """Return one arrival: a buffer of one update, unless it is drawn who gets the new model."""
        if parameters.sampling == "uniform":
            return DrawnProgram(parameters, clients)
        return BufferProgram(
            self.id,
            LocalSteps((parameters.alpha,)),
            1,
            "post",
            clients,
            by_staleness(partial(parameters.weight, clients=clients)),
            ages=not parameters.schedule.constant,
        )

    def reacts(self, parameters: AsyncSgdParameters) -> bool:
        """Return whether who gets a model decides who is at work."""
        return parameters.sampling == "uniform"

    def details(
        self, parameters: AsyncSgdParameters, streams: Streams, clients: int, count: int
    ) -> Sequence[tuple[int, ...]]:
        """Return who gets each new model."""
        target = np.floor(streams.uniforms(Stream.SCHEDULE, 0, 0, count)[0] * clients).astype(np.int32)
        return [(one,) for one in target.tolist()]

    def read_events(self, raw: object, clients: int, where: str) -> Events:
        """Read [time, client]; with who gets the new model for sampling=uniform, or with the staleness."""
        return read_aged(raw, clients, where, "who gets the new model")

    def updates_a_version(self, parameters: AsyncSgdParameters) -> int | None:
        """Return 1."""
        return 1 if parameters.sampling == "arrival" else None

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
class DrawnProgram(EventProgram):
    """One arrival, and who gets the new model.

    As many gradients are in work as there are clients, and control says whose each of them is.
    """

    def __init__(self, parameters: AsyncSgdParameters, clients: int) -> None:
        self._parameters, self._clients = parameters, clients
        self._desk = ClientSlots(clients, 1, parameters.alpha, models=False)
        self.initial = self._desk.initial(0)
        self.slots = tuple((self._desk.result(place),) for place in range(clients))
        # Any register may hold anybody's work.
        self.alike, self.interchangeable = (tuple(range(clients)),), False

    def compiled(self) -> "QueueProgram":
        """Return the program whose clients have queues."""
        return QueueProgram(self._parameters, self._clients)

    def opening(self) -> tuple[tuple[Row, ...], Control]:
        """Everybody works on x0."""
        return self._desk.begin_all(), Control(tuple(_GradientInWork(client, 0, 0) for client in range(self._clients)))

    def choices(self, control: Control, law: EventLaw[Share]) -> list[tuple[Event, Share]]:
        """Return who is at work, and who gets the new model."""
        arrive: list[tuple[Event, Share]] = law.clients(sorted({one.client for one in _work(control)}))
        targets: list[tuple[Event, Share]] = law.equally([(i,) for i in range(self._clients)])
        return [(first[0] + second[0], first[1] * second[1]) for first in arrive for second in targets]

    def event(self, control: Control, event: Event, number: int) -> Step:
        """Apply the gradient, and hand the new model out."""
        (client, target), work = event, _work(control)
        slot = next(place for place, one in enumerate(work) if one.client == client and one.place == 0)
        use = self._desk.result(slot), self._parameters.weight(work[slot].age, self._clients)
        rows = [self._desk.server_update(use[::-1])]
        older = not self._parameters.schedule.constant
        work = [_GradientInWork(one.client, one.place - (one.client == client), one.age + older) for one in work]
        queue = sum(one.client == target for place, one in enumerate(work) if place != slot)
        work[slot] = _GradientInWork(target, queue, 0)
        return Step((*rows, *self._desk.begin(target, use[0])), Control(tuple(work)), True, (use,))


@final
class QueueProgram(EventProgram):
    """As :class:`DrawnProgram`, where each client's gradients in work wait in a queue; there is nothing to remember."""

    def __init__(self, parameters: AsyncSgdParameters, clients: int) -> None:
        self._desk = ClientSlots(clients, 1, parameters.alpha, models=False)
        self.initial = self._desk.initial(1)
        self.queues = frozenset(map(self._desk.result, range(clients)))
        self._use = self._desk.held(0), parameters.weight(0, clients)

    def opening(self) -> tuple[tuple[Row, ...], Control]:
        """Everybody works on x0."""
        return self._desk.begin_all(), Control()

    def event(self, control: Control, event: Event, number: int) -> Step:
        """Apply the gradient, and hand the new model out."""
        (client, target), desk = event, self._desk
        if target >= desk.clients:
            raise SpecError(f"client {target} does not exist; the problem has {desk.clients} clients")
        rows = MoveRow(self._use[0], desk.result(client)), desk.server_update(self._use[::-1]), *desk.begin(target)
        return Step(rows, control, True, (self._use,))


def _work(control: Control) -> list[_GradientInWork]:
    return [one for one in control.slots if isinstance(one, _GradientInWork)]


ASYNC_SGD = AsyncSgd()
