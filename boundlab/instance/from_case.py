"""A case file as a plan: the same checks as a comparison, on explicit or on random events."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, final

import numpy as np

from boundlab.algorithms import Algorithm, Event, InFlight, VirtualIterate, undeclared_draws
from boundlab.case import Case, RandomEvents, build_delays, plain
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.errors import AssumptionError, SpecError
from boundlab.events import Events
from boundlab.instance.plan import Plan, make_plan
from boundlab.instance.settings import parameters, rates, split
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.tape import NOTHING, RecordAt, Tape
from boundlab.theorems import Theorem, about_each, over

# A step size that a file writes down is the theorem's own if it is so near: files keep fewer digits.
_WRITTEN: Final = 1e-9


@final
class FixedEvents(Algorithm[Any]):
    """An algorithm whose every trial has the events of a case."""

    def __init__(self, inner: Algorithm[Any], events: Events) -> None:
        self.inner, self.events = inner, events
        self.id, self.summary, self.server = inner.id, inner.summary, inner.server
        self.arrivals, self.draws = False, ()  # nothing is left to chance
        self.weighs, self.rule = inner.weighs, inner.rule
        self.parameter_type, self.step_size_symbols = inner.parameter_type, inner.step_size_symbols
        self.single_client_values = inner.single_client_values

    @property
    def parameters(self) -> Mapping[str, str]:
        """Option → one line on what it is."""
        return self.inner.parameters

    def read(self, options: Options) -> Any:
        """Read the parameters."""
        return self.inner.read(options)

    def schedule(self, parameters: Any, events: Events, clients: int, records: RecordAt, iterations: int) -> Tape:
        """Compile."""
        return self.inner.schedule(parameters, events, clients, records, iterations)

    def sample(
        self, parameters: Any, delays: DelayModel, policy: ServerPolicy, streams: Streams, clients: int, count: int
    ) -> Events:
        """Return the events of the case."""
        return self.events

    def why_not(self, assumption: str, parameters: Any, delays: DelayModel) -> str:
        """Say whether runs meet an assumption."""
        return self.inner.why_not(assumption, parameters, delays)

    def quantities(self, parameters: Any, tape: Tape, until: int, settings: Mapping[str, float]) -> dict[str, float]:
        """Read what theorems ask for off the tape."""
        return self.inner.quantities(parameters, tape, until, settings)

    def stays_feasible(self, parameters: Any, clients: int) -> bool:
        """Return whether models are convex combinations of local results."""
        return self.inner.stays_feasible(parameters, clients)

    def stays_on_set(self, parameters: Any, clients: int) -> bool:
        """Return whether gradients are taken at such points, too."""
        return self.inner.stays_on_set(parameters, clients)

    def in_flight(self, parameters: Any, clients: int) -> InFlight | None:
        """Return that of the algorithm, unless the events say how old their models are."""
        given = self.events.detail and self.inner.updates_a_version(parameters) is not None
        return None if given else self.inner.in_flight(parameters, clients)

    def step_factor(self, parameters: Any, tape: Callable[[], Tape]) -> Any:
        """Return that of the algorithm."""
        return self.inner.step_factor(parameters, tape)

    def virtual_iterate(self, parameters: Any, tape: Tape) -> VirtualIterate | None:
        """Return that of the algorithm."""
        return self.inner.virtual_iterate(parameters, tape)

    def largest_step(self, parameters: Any, clients: int) -> float | None:
        """Return that of the algorithm."""
        return self.inner.largest_step(parameters, clients)

    def program(self, parameters: Any, clients: int) -> None:
        """Return None: the events are known, so that nothing is to be averaged over."""

    def objective_weights(self, parameters: Any, clients: int) -> tuple[Fraction, ...] | None:
        """Return the weights of the clients in the objective."""
        return self.inner.objective_weights(parameters, clients)

    def along_mean(self, parameters: Any) -> bool:
        """Return that of the algorithm."""
        return self.inner.along_mean(parameters)

    def drawn_events(self, parameters: Any, drawn: Sequence[Event]) -> Events:
        """Return the events of a run whose program chose these."""
        return self.inner.drawn_events(parameters, drawn)

    def events_as_json(self, events: Events) -> list[list[Any]]:
        """Return events as case files have them."""
        return self.inner.events_as_json(events)


def given(case: Case) -> dict[str, Any]:
    """Return the parameters and settings of a case, as they stand there."""
    return {**case.raw.get("settings", {}), **case.raw.get("parameters", {})}


def own_rates(theorem: Theorem, case: Case) -> dict[str, Any]:
    """Return the rates that stand in the case although the theorem sets them itself."""
    set_by_theorem = rates(theorem, case.algorithm) - theorem.free()
    return {name: value for name, value in given(case).items() if name in set_by_theorem}


def plan_of(theorem: Theorem, case: Case) -> Plan:
    """Check a case against a theorem, as a comparison would.

    Raises
    ------
    AssumptionError
        If an assumption is not met, or the step size of the case is not that of the theorem.
    SpecError
        If case and theorem do not fit.
    """
    if case.algorithm.id != theorem.algorithm:
        raise SpecError(f"{theorem.id} is about {theorem.algorithm}, the case about {case.algorithm.id}")
    own = own_rates(theorem, case)
    settings = {name: _setting(value) for name, value in given(case).items() if name not in own}
    if isinstance(case.events, RandomEvents):
        plan = _random(theorem, case, case.events, settings)
    else:
        plan = _fixed(theorem, case, case.events, settings)
    for name, value in own.items():
        want, got = plan.parameter_values.get(name), plain(value)
        if want is None:
            known = " and ".join(theorem.step)
            raise AssumptionError(f"{theorem.id} says what {known} is; leave {name} = {value} out of the case")
        if not isinstance(got, (int, float)) or abs(got - want) > _WRITTEN * abs(want):
            raise AssumptionError(
                f"{theorem.id} sets {name} = {want} itself; the case has {name} = {value}, which may be left out"
            )
    return plan


def _setting(value: Any) -> Any:
    found = plain(value)
    if isinstance(found, float) and found.is_integer():
        return str(int(found))
    return repr(found) if isinstance(found, float) else str(found) if isinstance(found, int) else found


def _random(theorem: Theorem, case: Case, law: RandomEvents, settings: dict[str, Any]) -> Plan:
    if case.iterations is None:
        raise SpecError('a case of random events needs "iterations", how many there are')
    if law.policy.count is not None and settings.get("count") == str(law.policy.count):
        del settings["count"]
    return make_plan(
        theorem, case.problem, law.delays, law.policy, case.iterations, settings, ks=_at(theorem, case, case.iterations)
    )


def _fixed(theorem: Theorem, case: Case, events: Events, settings: dict[str, Any]) -> Plan:
    for name in over(theorem).laws:
        raise AssumptionError(
            f"{theorem.id} assumes {name} and bounds a mean over random events; this case has one explicit "
            'schedule: give "delays" and "iterations" in place of "events"'
        )
    if case.algorithm.server == "any":
        raise SpecError(f'theorems about {case.algorithm.id} are about random events; give "delays" and "iterations"')
    clients = case.problem.n
    algorithm = FixedEvents(case.algorithm, events)
    own = parameters(theorem, algorithm, split(theorem, algorithm, settings)[0])
    drawn = [one for one in case.algorithm.draws if one.when(own, clients)]
    if not about_each(theorem) and (reason := undeclared_draws(case.algorithm, own, clients)):
        raise AssumptionError(reason)
    if any(over(theorem)[one.id] == "averaged" for one in drawn):
        raise AssumptionError(
            f"{theorem.id} bounds the mean over {' and '.join(one.words for one in drawn)}; this case has one outcome: "
            'give "delays" and "iterations" in place of "events"'
        )
    if place := _impossible(case.algorithm, own, clients, events):
        raise AssumptionError(
            f"{theorem.id} is about what {case.algorithm.id} draws: event {place} of this case is none with its options"
        )
    most = algorithm.schedule(own, events, clients, NOTHING, 4 * len(events) + 4).iterations
    iterations = most if case.iterations is None else case.iterations
    if iterations > most or most == 0:
        raise SpecError(f"the events of the case make {most} server updates, {max(iterations, 1)} are asked for")
    delays = build_delays("deterministic", {}, clients)
    policy = algorithm.policy(None, delays)
    return make_plan(
        theorem, case.problem, delays, policy, iterations, settings, ks=_at(theorem, case, None), algorithm=algorithm
    )


def _impossible(algorithm: Algorithm[Any], own: Any, clients: int, events: Events) -> int:
    """Return the place, from 1 on, of the first event that an algorithm never draws; 0 where there is none."""
    program = algorithm.program(own, clients)
    if program is None or not program.draws:
        return 0
    control = program.opening()[1]
    for place, one in enumerate(algorithm.as_drawn(events), 1):
        event = one if isinstance(one, tuple) else (int(one),)
        if not program.possible(control, event, clients):
            return place
        control = program.event(control, event, place - 1).control
    return 0


def _at(theorem: Theorem, case: Case, horizon: int | None) -> Any:
    """Return the one iteration to look at: that of the claim, or the horizon (None: as far as windows go)."""
    claim = case.raw.get("claim")
    if theorem.horizon == "every" and isinstance(claim, dict) and isinstance(claim.get("k"), int):
        return np.array([claim["k"]])
    return None if horizon is None else np.array([horizon])
