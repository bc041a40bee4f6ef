"""The left side on one case as a closed form in the horizon: a sequence that obeys a linear recursion over Q.

Moments of quadratics at one iteration follow linearly from those at the one before, by a map that is the same for all
iterations; so twice as many exact values as there are moments determine the sequence at all horizons.
"""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, cast, final

import numpy as np

from boundlab.algorithms import Control, Event, EventLaw, EventProgram, Step
from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.recurrence import Recurrence
from boundlab.case import Case, RandomEvents
from boundlab.errors import SpecError
from boundlab.events import Events
from boundlab.exact._engine import ExactEngine, has_moments
from boundlab.expectation import Arithmetic, engine, second_moments, state_space
from boundlab.instance.from_case import plan_of
from boundlab.metrics import AVERAGE_ITERATE, LAST, MEAN, Quantity

_CONTROLS: Final = 50
_ORDER: Final = 36
# Powers of the horizon with which left sides obey recursions: averages are sums divided by K, whose squares count.
_POWERS: Final = ((LAST, 0), (MEAN, 1), (AVERAGE_ITERATE, 2))


@final
@dataclass(frozen=True, slots=True)
class ClosedLeft:
    """The left side at each horizon K from ``first`` on, as the sequence K^power·left(K)."""

    sequence: Recurrence
    first: int
    power: int


@final
class InTurns(EventProgram):
    """A program whose clients arrive in a sequence that repeats; control knows the place in it."""

    draws = True
    interchangeable = False

    def __init__(self, program: EventProgram, actors: list[int]) -> None:
        self._program, self._actors = program, actors
        self.initial, self.local, self.slots = program.initial, program.local, program.slots
        self.alike, self.identity, self.points = program.alike, program.identity, program.points

    def opening(self) -> tuple[tuple[Any, ...], Control]:
        """Return that of the program, at the first place."""
        rows, control = self._program.opening()
        return rows, Control(control.slots, (0, control.shared))

    def _at(self, control: Control) -> tuple[int, Control]:
        place, shared = cast("tuple[int, Hashable]", control.shared)
        return place, Control(control.slots, shared)

    def choices(self, control: Control, law: EventLaw[Any]) -> list[tuple[Event, Any]]:
        """Return the arrival whose turn it is.

        Raises
        ------
        SpecError
            If the program draws something besides, or the client has nothing to arrive with.
        """
        place, own = self._at(control)
        found = [event for event, _ in self._program.choices(own, law) if event[0] == self._actors[place]]
        if len(found) != 1:
            raise SpecError("who arrives does not say what happens")
        return law.equally(found)

    def event(self, control: Control, event: Event, number: int) -> Step:
        """Do what the program does, and go on to the next place."""
        place, own = self._at(control)
        step = self._program.event(own, event, number)
        after = Control(step.control.slots, ((place + 1) % len(self._actors), step.control.shared))
        return Step(step.rows, after, step.iteration)

    def clock(self, number: int) -> Any:
        """Return that of the program."""
        return self._program.clock(number)


def closed_left(case: Case, exact: ExactEngine) -> ClosedLeft:
    """Return the left side at all horizons.

    Parameters
    ----------
    case
        Its events are one round of a sequence that repeats, or their law.

    Raises
    ------
    SpecError
        If the left side, the problem or the run has no such closed form here, saying why.
    """
    metric, model = exact.plan.metric, exact.model
    power = next((power for over, power in _POWERS if over is metric.over), None)
    if power is None or metric.quantity is Quantity.CONTROL:
        raise SpecError(f"{metric.id} has no closed form in the horizon")
    if not has_moments(model):
        raise SpecError("closed forms in the horizon need a quadratic whose minimiser is rational")
    arithmetic, law = _program(case, exact)
    controls, moments = state_space(model, arithmetic, law, metric, _CONTROLS)
    order = moments + power % 2  # a mean over k needs the sum of all before
    if order > _ORDER:
        raise SpecError(f"a run of {order} moments is too large for a closed form; {_ORDER} are the most")
    _require_settled(case, exact, controls)
    first = metric.over.first
    ks = np.arange(first, first + 2 * order)
    found = second_moments(model, arithmetic, law, metric, ks)
    if any(not isinstance(value, numbers.flint().fmpq) for value in found):
        raise SpecError("a step is no fraction")
    terms = [value * numbers.rational(k) ** power for k, value in zip(ks.tolist(), found, strict=True)]
    return ClosedLeft(Recurrence.of(terms), first, power)


def _program(case: Case, exact: ExactEngine) -> tuple[Arithmetic[Scalar], EventLaw[Fraction]]:
    """Return what one event does, and the law of events."""
    n = exact.plan.problem.n
    if isinstance(case.events, RandomEvents):
        if reason := engine(*exact.plan.random_run)[1]:
            raise SpecError(reason)
        return exact.arithmetic()[0], exact.event_law()
    if case.algorithm.program(exact.plan.parameters, n) is None:
        raise SpecError(f"{case.algorithm.id} has no one-event program")
    if case.events.detail:
        raise SpecError("events that say more than who arrives have no closed form")
    arithmetic, actors = exact.arithmetic()[0], _round(case.events)
    law = EventLaw(np.array([Fraction(1, n)] * n, dtype=object), Fraction(0))
    return replace(arithmetic, program=InTurns(arithmetic.program, actors)), law


def _round(events: Events) -> list[int]:
    """Return the shortest sequence of arrivals that repeats."""
    actors: list[int] = events.actor.tolist()
    return next(actors[:turns] for turns in range(1, len(actors) + 1) if actors[turns:] == actors[:-turns])


def _require_settled(case: Case, exact: ExactEngine, controls: int) -> None:
    """Make sure that what the theorem reads off the schedule is the same at all later horizons.

    After at most so many events as there are control states the run repeats itself, after as many again staleness and
    weights do. Largest values, means and windows that are the same at all horizons of one round later stay so.

    Raises
    ------
    SpecError
        If something is not.
    """
    plan = exact.plan
    read = sorted((plan.values.keys() - plan.fixed.keys()) & plan.theorem.read)
    if not read:
        return
    if isinstance(case.events, RandomEvents):
        raise SpecError(f"{', '.join(read)}: read off random events, not known at all horizons")
    actors, last = _round(case.events), 4 * controls
    count = case.algorithm.events_for(plan.parameters, plan.problem.n, last)
    events = Events(np.arange(1.0, count + 1.0), np.resize(case.events.actor[: len(actors)], count))
    for k in range(3 * controls, last + 1):
        longer = replace(case, events=events, iterations=k, raw={**case.raw, "claim": {"k": k}})
        later = plan_of(plan.theorem, longer).values
        for name in read:
            if later[name] != plan.values[name]:
                at = f"{plan.values[name]:.6g} up to the horizon of the case, {later[name]:.6g} up to {k}"
                raise SpecError(f"{name} is {at}: it moves along the run")
