"""Ask an exact engine once more for what its left side was made of."""

import contextlib
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from boundlab.algorithms import EventLaw
from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.problem import Core, Minimum, RationalProblem
from boundlab.errors import SpecError, UndecidedError
from boundlab.exact._derivation import MOST
from boundlab.exact._trace import Models, MomentsOf, Outcomes, Point
from boundlab.execute import Numbers
from boundlab.execute.rationals import TooLongError, run
from boundlab.expectation import (
    Arithmetic,
    Moments,
    marginals,
    marginals_of_schedule,
    moments_of_schedule,
    outcomes,
    outcomes_of_schedule,
    second_moments,
)
from boundlab.metrics import Metric
from boundlab.objective import StepBounds
from boundlab.tape import Tape

_LONGEST: Final = 10**5  # bits of a number of a table
_FEW: Final = 3  # moments from which no recursion can be read


def of_events(
    model: RationalProblem,
    best: Minimum | None,
    arithmetic: Arithmetic[Scalar],
    unit: Scalar,
    law: EventLaw[Fraction],
    alike: Sequence[Sequence[int]],
    metric: Metric,
    k: int,
) -> Outcomes:
    """Return all that can happen."""
    try:
        each, steps = outcomes(model, best, arithmetic, unit, law, metric, k)
    except SpecError:  # too many states to keep what led to them
        pass
    else:
        if len(each) <= MOST:
            return Outcomes(each, steps, [])
    return Outcomes(None, [], marginals(model, best, arithmetic, unit, law, alike, metric, k))


def of_signs(
    model: RationalProblem, best: Minimum | None, tape: Tape, of_tape: Numbers[Scalar], unit: Scalar
) -> Outcomes:
    """Return all that the signs of the noise can do to one schedule."""
    try:
        each = outcomes_of_schedule(model, best, tape, of_tape, unit)
    except SpecError:
        pass
    else:
        if len(each) <= MOST:
            return Outcomes(each, [], [])
    return Outcomes(None, [], marginals_of_schedule(model, best, tape, of_tape, unit))


def of_moments(
    model: RationalProblem,
    arithmetic: Arithmetic[Scalar],
    law: EventLaw[Fraction],
    metric: Metric,
    k: int,
    core: Core | None,
) -> MomentsOf:
    """Return the moments over random events."""
    each: list[Moments] = []
    second_moments(model, arithmetic, law, metric, np.array([k]), core, each.append)
    return MomentsOf(each, metric.over.averages_iterates)


def of_core(
    model: RationalProblem,
    best: Minimum | None,
    arithmetic: Arithmetic[Scalar],
    unit: Scalar,
    law: EventLaw[Fraction],
    metric: Metric,
    k: int,
    core: Core,
) -> MomentsOf | Outcomes:
    """Return the moments of runs in a box; of fewer than show how they go on all that can happen, if it is few rows."""
    if k <= _FEW:
        with contextlib.suppress(SpecError, UndecidedError):
            each, steps = outcomes(model, best, arithmetic, unit, law, metric, k)
            if len(each) <= MOST:
                return Outcomes(each, steps, [])
    return of_moments(model, arithmetic, law, metric, k, core)


def of_moments_along(
    model: RationalProblem, tape: Tape, of_tape: Numbers[Scalar], metric: Metric, k: int, core: Core | None
) -> MomentsOf:
    """Return the moments at all records of a schedule."""
    each: list[Moments] = []
    moments_of_schedule(model, tape, of_tape, metric, k, core, each.append)
    return MomentsOf(each, False)


def of_models(
    tape: Tape,
    model: RationalProblem,
    rates: Sequence[Scalar],
    balls: Sequence[Scalar],
    bounds: Sequence[StepBounds | None],
    *,
    exact: bool,
) -> Models:
    """Return the models of a schedule.

    Parameters
    ----------
    rates, balls
        The rates without rounding, and as balls of the present precision.
    bounds
        What local steps of each client do to errors.
    exact
        Whether the former are known.
    """
    shown: list[Point] = []
    moves: list[tuple[Point, Point]] = []

    def follow(values: Sequence[Scalar], *, as_balls: bool) -> Models:
        run(
            tape,
            model,
            values,
            lambda _m, x: shown.append(tuple(x)),
            balls=as_balls,
            longest=_LONGEST,
            moved=lambda x, y: moves.append((tuple(x), tuple(y))),
            bounds=bounds,
        )
        return Models(shown, tape, moves)

    if exact:
        try:
            return follow(rates, as_balls=False)
        except TooLongError:
            shown.clear()
            moves.clear()
    return follow(balls, as_balls=True)
