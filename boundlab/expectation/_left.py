"""The exact left side of a theorem in floating point, by whichever engine applies: for searches."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundlab.algorithms import Algorithm
from boundlab.arithmetic.numbers import ball, rational
from boundlab.arithmetic.problem import InexactError
from boundlab.arithmetic.rational import shortest_decimal
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.errors import MissingExtraError, SpecError, UndecidedError
from boundlab.expectation import _enumerate, _moments
from boundlab.expectation._cost import enumeration_operations, moments_operations
from boundlab.expectation._enumerate_exact import Walk
from boundlab.expectation._law import EventLaw, event_law, why_no_law
from boundlab.expectation._twins import twins
from boundlab.metrics import Metric, Quantity
from boundlab.metrics import metric as metric_of
from boundlab.objective import Problem
from boundlab.theorems import Theorem

Floats = NDArray[np.float64]
ENUMERATION = "enumeration of all event sequences, equal states merged"
MOMENTS = "first and second moments by linear recursion"
_FRACTIONS = 40_000  # most states of one event in fractions: about a second


def engine(
    metric: Theorem | str, algorithm: Algorithm[Any] | str, problem: Problem, parameters: Any, delays: DelayModel,
    policy: ServerPolicy,
) -> tuple[str, str]:  # fmt: skip
    """Return the engine's description and '', or '' and why none applies."""
    left = _metric(metric)
    who = algorithm if isinstance(algorithm, str) else algorithm.id
    if not left.over.one_record:
        return "", f"the expectation of {left.id} over random events has no exact engine; replace delays by events"
    if who != "area":
        return "", f"the schedules of {who} depend on more than who comes next; replace delays by events"
    reason = why_no_law(delays, policy)
    if reason:
        return "", reason
    if problem.quadratic() is not None and parameters.reply == "pre":
        return MOMENTS, ""
    if not problem.noiseless:
        return "", f"problem {problem.id} with noise: moments need a quadratic, enumeration needs full gradients"
    if left.quantity is Quantity.DISTANCE and problem.optimum().distance is None:
        return "", f"problem {problem.id} has no unique minimiser with a certified distance"
    return ENUMERATION, ""


def _metric(metric: Theorem | str) -> Metric:
    return metric.left if isinstance(metric, Theorem) else metric_of(metric)


def applicable(
    metric: Theorem | str, algorithm: Algorithm[Any] | str, problem: Problem, parameters: Any, delays: DelayModel,
    policy: ServerPolicy, iterations: int = 1,
) -> str:  # fmt: skip
    """Return '' if :func:`left_side` has an engine, else the reason why not.

    Enumeration may still find too many states: how many differ is known only when they are made.
    """
    left = _metric(metric)
    if iterations < left.first:
        return f"{left.id} begins at iteration {left.first}"
    return engine(metric, algorithm, problem, parameters, delays, policy)[1]


def operations(
    metric: Theorem | str, algorithm: Algorithm[Any] | str, problem: Problem, parameters: Any, delays: DelayModel,
    policy: ServerPolicy, iterations: int,
) -> float:  # fmt: skip
    """Return how many operations :func:`left_side` will take at most, predicted; infinite if no engine applies.

    Moments and enumeration of the last horizon give all earlier ones by the way.
    """
    left = _metric(metric)
    how, reason = engine(metric, algorithm, problem, parameters, delays, policy)
    if reason:
        return float("inf")
    if how == MOMENTS:
        return moments_operations(problem, iterations, average=left.over.averages_iterates)
    return enumeration_operations(problem, parameters, delays, policy, iterations)


def left_side(
    metric: Theorem | str, algorithm: Algorithm[Any] | str, problem: Problem, parameters: Any, delays: DelayModel,
    policy: ServerPolicy, iterations: int, ks: ArrayLike | None = None,
) -> Floats:  # fmt: skip
    """Return the left side of a theorem without sampling, in floating point.

    Parameters
    ----------
    metric
        The theorem, or a key of :data:`boundlab.metrics.METRICS`.
    parameters
        As the algorithm reads them.
    iterations, ks
        The horizon, and the iterations to look at, shape (points,); by default the horizon alone.

    Returns
    -------
    ndarray
        Shape (points,), in the units of the metric: E over all events and all noise, up to rounding.

    Raises
    ------
    SpecError
        If no exact engine applies, or enumeration meets too many different states.
    UndecidedError
        If rounding could decide on which side of a kink an iterate lies, and fractions do not reach.
    """
    left = _metric(metric)
    how, reason = engine(metric, algorithm, problem, parameters, delays, policy)
    if reason:
        raise SpecError(f"no exact engine applies: {reason}")
    first = left.first
    points = np.array([iterations]) if ks is None else np.asarray(ks, dtype=np.int64)
    if points.size == 0 or points.min() < first or points.max() > iterations:
        raise SpecError(f"iterations must be between {first} and {iterations}")
    law = event_law(parameters, delays, policy)
    if how == MOMENTS:
        sigma = problem.require_quadratic("the moments").sigma
        return _moments.expectation(problem, parameters, law, sigma, left, points)
    try:
        return _enumerate.expectation(problem, parameters, law, left, points)
    except UndecidedError as error:
        return _in_fractions(problem, parameters, law, left, points, str(error))


def _in_fractions(
    problem: Problem, parameters: Any, law: EventLaw[float], left: Metric, points: NDArray[np.int64], why: str
) -> Floats:
    """Return what floats cannot: each number is taken as the decimal that it prints as, as in a case file."""
    try:
        model = problem.rational(problem.spec())
        best = None if model is None else model.minimum()
        if model is None or best is None or left.quantity is Quantity.SLOPE:
            raise InexactError(f"problem {problem.id} is not evaluated in rational numbers")
        c, d = (None if one is None else _exact(one) for one in (parameters.step.c, parameters.step.d))
        shares = np.array([shortest_decimal(one) for one in law.p.tolist()], dtype=object)
        walk = Walk(
            model, parameters, EventLaw(shares, shortest_decimal(law.p_s), law.count),
            lambda k: c if d is None else c / (k + d), twins(problem, law.p), _FRACTIONS,
        )  # fmt: skip
        return np.array([float(ball(walk.expectation(left, best, k))) for k in points.tolist()])
    except (SpecError, MissingExtraError) as error:
        raise UndecidedError(f"{why}, and {error}") from None


def _exact(value: float) -> Any:
    return rational(shortest_decimal(value))
