"""FedCompass: semi-asynchronous aggregation by arrival groups (Li et al. 2024), Algorithms 1 to 3."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms._algorithm import Algorithm
from boundlab.algorithms.fedcompass._parameters import FedCompassParameters
from boundlab.algorithms.fedcompass._quantities import read_off
from boundlab.algorithms.fedcompass._scheduler import (
    Assignment,
    Compass,
    Group,
    Moment,
    closed_loop,
    follow,
)
from boundlab.arithmetic.rational import shortest_decimal
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.events import SERVER, Events, read_events
from boundlab.randomness import Streams
from boundlab.tape import SERVER_MODEL, Initial, RecordAt, Tape, Writer

Floats = NDArray[np.float64]
_GROUPS_SHOWN = 50


@final
class FedCompass(Algorithm[FedCompassParameters]):
    """The compiler of FedCompass."""

    id = "fedcompass"
    summary = "clients get as many local steps as make groups of them arrive together, to be aggregated together"
    parameter_type = FedCompassParameters
    step_size_symbols = ("eta",)
    weighs = "p"
    single_client_values = MappingProxyType({})

    def read_events(self, raw: object, clients: int, where: str) -> Events:
        """Read [[time, actor], …]; timers may be named as "s", and need not be."""
        return read_events(raw, clients, where)

    def events_for(self, parameters: FedCompassParameters, clients: int, iterations: int) -> int:
        """Guess two events a version."""
        return 2 * iterations + 16

    def sample(
        self,
        parameters: FedCompassParameters,
        delays: DelayModel,
        policy: ServerPolicy,
        streams: Streams,
        clients: int,
        count: int,
    ) -> Events:
        """Return the first ``count`` events, timers included: the delay model gives the time of ONE local step."""
        arrival = _arrival(parameters, delays, streams)
        return _events(list(islice(closed_loop(parameters.compass(clients), arrival), count)))

    def in_one_pass(
        self,
        parameters: FedCompassParameters,
        clients: int,
        delays: DelayModel,
        iterations: int,
        records: RecordAt,
        streams: Streams,
    ) -> Tape:
        """Return the tape of a trial: what the scheduler answers is known when events are drawn."""
        compass = parameters.compass(clients)
        moments = _until(closed_loop(compass, _arrival(parameters, delays, streams)), iterations)
        return _ArrivalCompiler(parameters, compass, moments, clients, records, iterations).tape()

    def schedule(
        self, parameters: FedCompassParameters, events: Events, clients: int, records: RecordAt, iterations: int
    ) -> Tape:
        """Compile; k counts server versions.

        Raises
        ------
        SpecError
            If an arrival is impossible, or a named timer does not exist.
        """
        compass = parameters.compass(clients)
        moments = _follow(compass, events, iterations)
        return _ArrivalCompiler(parameters, compass, moments, clients, records, iterations).tape()

    def quantities(
        self, parameters: FedCompassParameters, tape: Tape, until: int, settings: Mapping[str, float]
    ) -> dict[str, float]:
        """Return the symbols of ``fedcompass.*`` over the first ``until`` server updates.

        Raises
        ------
        CaseError
            If there are fewer updates than a window holds.
        """
        rules = parameters.rules
        p = np.array([float(one) for one in parameters.objective(tape.clients)])
        symbols = read_off(tape, p, until, int(settings.get("N", 1)))
        used = super().quantities(parameters, tape, until, settings)
        return {**used, "Qmin": float(rules.Qmin), "Qmax": float(rules.Qmax), **symbols}

    def why_not(self, assumption: str, parameters: FedCompassParameters, delays: DelayModel) -> str:
        """Answer for equal weights."""
        if assumption != "equal-weights":
            return super().why_not(assumption, parameters, delays)
        differ = parameters.p is not None and any(one != Fraction(1, delays.n) for one in parameters.own_weights)
        return (
            "the weights p are not 1/n each"
            if differ
            else f"alpha = {parameters.alpha:g} scales all weights"
            if parameters.alpha != 1.0
            else "normalise=yes weighs updates by their local steps"
            if parameters.normalise
            else "st makes weights fall with the staleness"
            if parameters.st.kind != "constant"
            else ""
        )

    def objective_weights(self, parameters: FedCompassParameters, clients: int) -> tuple[Fraction, ...]:
        """Return p: the theorems are about F = Σ p_i f_i."""
        return parameters.objective(clients)

    def figures(self, parameters: FedCompassParameters, tape: Tape) -> dict[str, Any]:
        """Return the history of the arrival groups and what it did to the clients."""
        compass = parameters.compass(tape.clients)
        moments = _follow(compass, tape.events, tape.iterations)
        kinds = [moment.answer.kind for moment in moments]
        uses, descend = tape.uses, tape.descend
        runs = np.bincount(descend.client[uses.update], minlength=tape.clients)
        steps = np.bincount(descend.client[uses.update], weights=descend.steps[uses.update], minlength=tape.clients)
        tau = uses.version - descend.version[uses.update]
        return {
            "aggregations": kinds.count("complete") + kinds.count("timer"),
            "aggregations_by_timer": kinds.count("timer"),
            "first_updates": kinds.count("first"),
            "late_arrivals": kinds.count("late"),
            "tau_max": int(tau.max(initial=0)),
            "mean_Q": [float(s / r) if r else None for s, r in zip(steps, runs, strict=True)],
            "groups": len(compass.history),
            "group_history": [_group_as_dict(compass, group) for group in compass.history[:_GROUPS_SHOWN]],
        }


@final
class _ArrivalCompiler:
    """Turns what the scheduler did into instructions.

    Registers beside x_s: of each client the result of its last run and the model from which that began,
    which stay until it is answered; and the general buffer, for late updates outlive their client's wait.
    """

    def __init__(
        self,
        parameters: FedCompassParameters,
        compass: Compass,
        moments: Sequence[Moment],
        clients: int,
        records: RecordAt,
        iterations: int,
    ) -> None:
        self.parameters, self.moments = parameters, moments
        self.p = parameters.weights(clients).tolist()
        self.writer = Writer(_events(moments), clients, records, iterations)
        self.result = self.writer.register(count=clients)
        self.start = self.writer.register(count=clients)
        self.late = self.writer.register(Initial.ZERO)
        self.late_uses: list[tuple[int, float]] = []
        self.run, self.version, self.steps = [-1] * clients, [0] * clients, [0] * clients
        self.weight, self.arrived = [0.0] * clients, [-1] * clients
        self.group, self.next_steps = [-1] * len(moments), [-1] * len(moments)
        self._send(compass.started)

    def tape(self) -> Tape:
        """Compile every moment."""
        writer = self.writer
        for event, moment in enumerate(self.moments):
            writer.begin(event)
            answer, client = moment.answer, moment.actor
            if client != SERVER:
                self._arrive(client, event)
            if answer.kind == "late":
                weight = self.weight[client]
                self.late_uses.append((self.run[client], weight))
                writer.affine(self.late, (1.0, self.late), *self._change(client))
            if answer.updates:
                self._update(answer.aggregated, flush=answer.kind != "first")
            self._send(answer.assigned)
            writer.end()
        for group, steps in zip(self.group, self.next_steps, strict=True):
            writer.note("event_group", group)
            writer.note("event_Q", steps)
        return writer.tape()

    def _arrive(self, client: int, event: int) -> None:
        """Weigh an update with its staleness at its own arrival."""
        parameters = self.parameters
        weight = parameters.alpha * self.p[client] * parameters.st(self.writer.version - self.version[client])
        if parameters.normalise:
            weight *= parameters.rules.Qmax / self.steps[client]
        self.weight[client], self.arrived[client] = weight, event
        self.writer.arrive(self.run[client])

    def _change(self, client: int) -> tuple[tuple[float, int], tuple[float, int]]:
        """Return −weight·Δ_i as terms: weight·(result − start)."""
        weight = self.weight[client]
        return (weight, self.result + client), (-weight, self.start + client)

    def _update(self, clients: Iterable[int], *, flush: bool) -> None:
        terms: list[tuple[float, int]] = []
        for client in clients:
            self.writer.use(self.run[client], self.weight[client])
            terms += self._change(client)
        if not (flush and self.late_uses):
            self.writer.server_update(*terms)
            return
        for run, weight in self.late_uses:
            self.writer.use(run, weight)
        self.writer.server_update(*terms, (1.0, self.late))
        self.writer.affine(self.late)
        self.late_uses.clear()

    def _send(self, assigned: Iterable[Assignment]) -> None:
        writer = self.writer
        for sent in assigned:
            i = sent.client
            writer.affine(self.start + i, (1.0, SERVER_MODEL))
            self.run[i] = writer.descend(self.result + i, SERVER_MODEL, i, sent.steps, self.parameters.eta)
            self.version[i], self.steps[i] = writer.version, sent.steps
            if self.arrived[i] >= 0:
                self.group[self.arrived[i]], self.next_steps[self.arrived[i]] = sent.group, sent.steps


def _follow(compass: Compass, events: Events, iterations: int) -> list[Moment]:
    """Schedule the events up to the one that completes the last iteration."""
    both = list(zip(events.time.tolist(), events.actor.tolist(), strict=True))
    named = [time for time, actor in both if actor == SERVER]
    return _until(follow(compass, [pair for pair in both if pair[1] != SERVER], named), iterations)


def _until(moments: Iterator[Moment], iterations: int) -> list[Moment]:
    """Return moments up to the one that completes the last iteration, or all there are."""
    found: list[Moment] = []
    versions = 0
    while versions < iterations and (moment := next(moments, None)) is not None:
        found.append(moment)
        versions += moment.answer.updates
    return found


def _events(moments: Sequence[Moment]) -> Events:
    return Events(
        np.array([moment.time for moment in moments], dtype=np.float64),
        np.array([moment.actor for moment in moments], dtype=np.int32),
    )


def _arrival(
    parameters: FedCompassParameters, delays: DelayModel, streams: Streams
) -> Callable[[int, float, int], float]:
    """Return when a client's next update comes, by its own speeds or by the delay model."""
    if parameters.speeds is not None:
        return _own_clock(parameters.speeds)
    clock = delays.clock(streams)

    def arrival(client: int, start: float, steps: int) -> float:
        time = float(clock.arrival(client, start, steps=steps))
        # 0.1 + 0.2 is 0.3 on a clock: fourteen digits drop the rounding of the sum, which floors would feel.
        rounded = float(f"{time:.14g}")
        return rounded if rounded > start else time

    return arrival


def _own_clock(speeds: tuple[tuple[Fraction, ...], ...]) -> Callable[[int, float, int], float]:
    done = [0] * len(speeds)

    def arrival(client: int, start: float, steps: int) -> float:
        rounds = speeds[client]
        speed = rounds[min(done[client], len(rounds) - 1)]
        done[client] += 1
        return float(shortest_decimal(start) + steps * speed)

    return arrival


def _group_as_dict(compass: Compass, group: Group) -> dict[str, Any]:
    return {
        "group": group.id,
        "created": group.created,
        "expected": float(compass.expected(group)),
        "latest": group.latest,
        "clients": [{"client": sent.client, "Q": sent.steps} for sent in group.assignments],
        "late": list(group.late),
        "aggregated": group.aggregated,
        "by_timer": group.by_timer,
    }


FEDCOMPASS = FedCompass()
