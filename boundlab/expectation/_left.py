"""The exact left side of a theorem in floating point, by whichever engine applies: for searches."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundlab.algorithms import Algorithm
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.errors import SpecError
from boundlab.expectation import _enumerate, _moments
from boundlab.expectation._law import event_law, why_no_law
from boundlab.metrics import Metric, Quantity
from boundlab.metrics import metric as metric_of
from boundlab.objective import Problem
from boundlab.theorems import Theorem

Floats = NDArray[np.float64]
ENUMERATION = "enumeration of all event sequences, equal states merged"
MOMENTS = "first and second moments by linear recursion"


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
    return _enumerate.expectation(problem, parameters, law, left, points)
