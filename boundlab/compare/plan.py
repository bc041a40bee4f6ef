"""Put a theorem, a problem, delays and an algorithm together, and check that they fit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import Algorithm, Records
from boundlab.constants import Constant
from boundlab.delays import DelayModel, ServerPolicy, frequencies, why_not_iid
from boundlab.errors import AssumptionError, SpecError
from boundlab.metrics import Metric, metric
from boundlab.objective import ASSUMPTIONS, Problem
from boundlab.registry import lookup
from boundlab.specs import Options, nearest, number
from boundlab.theorems import Theorem
from boundlab.trial import spaced_iterations


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that a comparison needs, checked.

    Parameters
    ----------
    iterations, ks
        The horizon K, and the recorded iterations, shape (points,), all ≤ K.
    values
        What the bound was evaluated with, by symbol.
    constants
        The certified constants behind those values.
    bound, terms
        Shape (points,) each: the right side and its named terms at ks.
    outside
        Assumptions that are not met and that the user chose to go beyond, with the reasons.
    """

    theorem: Theorem
    problem: Problem
    delays: DelayModel
    policy: ServerPolicy
    algorithm: Algorithm
    parameters: Any
    parameter_values: Mapping[str, Any]
    metric: Metric
    iterations: int
    ks: NDArray[np.int64]
    values: Mapping[str, Any]
    constants: Mapping[str, Constant]
    bound: NDArray[np.float64]
    terms: Mapping[str, NDArray[np.float64]]
    outside: Mapping[str, str]

    @property
    def records(self) -> Records:
        """What a run shows."""
        return Records(self.ks, self.metric.average)


def make_plan(
    theorem: Theorem,
    problem: Problem,
    delays: DelayModel,
    policy: ServerPolicy,
    iterations: int,
    settings: Mapping[str, str],
    beyond: Sequence[str] = (),
    ks: NDArray[np.int64] | None = None,
) -> Plan:
    """Check the assumptions, gather the constants, and evaluate the bound.

    Parameters
    ----------
    settings
        Algorithm parameters (M, start, clock, reply) and free symbols of the theorem (alpha, D, a_init).
        The step size is the theorem's own unless the theorem leaves it free.
    beyond
        Assumptions that may fail; the result then says so and cannot refute the theorem.
    ks
        Iterations to compare at; default: about twelve, or the horizon alone where the step depends on it.

    Raises
    ------
    AssumptionError
        If an assumption is not met and not in ``beyond``.
    SpecError
        If a setting is unknown or a number is out of range.
    """
    if iterations < 1:
        raise SpecError(f"iterations must be ≥ 1, got {iterations}")
    for name in beyond:
        if name not in theorem.assumptions and name != "options":
            raise SpecError(
                f"{theorem.id} does not assume {name!r}; {nearest(name, (*theorem.assumptions, 'options'))}"
            )
    left = metric(theorem.metric)
    algorithm: Algorithm = lookup("algorithms", theorem.algorithm)
    outside = _assumptions(theorem, problem, delays, policy, beyond)
    constants = dict(problem.constants())
    values = _known(problem, constants, delays, policy, iterations)
    symbols, chosen = _split(theorem, algorithm, settings, policy, set(values))
    outside |= _deviations(theorem, chosen, beyond)
    chosen["M"] = Options(algorithm.id, chosen).integer("M", 1, minimum=1)
    values |= {"M": chosen["M"]} | symbols
    points = _points(theorem, iterations, left) if ks is None else ks
    evaluation = theorem.at_iterations(values, points)
    step = theorem.step_options(values)
    parameter_values = {**chosen, **step}
    parameters = algorithm.read(Options(algorithm.id, parameter_values))
    return Plan(
        theorem, problem, delays, policy, algorithm, parameters, parameter_values, left, iterations, points,
        values, constants, evaluation.total, evaluation.terms, outside,
    )  # fmt: skip


def _known(
    problem: Problem,
    constants: Mapping[str, Constant],
    delays: DelayModel,
    policy: ServerPolicy,
    iterations: int,
) -> dict[str, Any]:
    """Return what problem and delays say about the symbols."""
    p, p_s = frequencies(delays, policy)
    values: dict[str, Any] = {name: constant.value for name, constant in constants.items()}
    values |= {"p": p, "p_s": p_s, "K": iterations}
    norms = problem.gradient_norms_at_optimum()
    if norms is not None:
        values["G_star"] = norms
    return values


def _split(
    theorem: Theorem, algorithm: Algorithm, settings: Mapping[str, str], policy: ServerPolicy, known: set[str]
) -> tuple[dict[str, float], dict[str, Any]]:
    """Tell symbols of the theorem from parameters of the algorithm."""
    symbols: dict[str, float] = {}
    chosen: dict[str, Any] = dict(theorem.options)
    if policy.count is not None:
        chosen["count"] = policy.count
    free = theorem.free(known | {"M"})
    own = {"alpha", "c", "d"} - free
    for key, text in settings.items():
        if key in own:
            raise SpecError(
                f"{theorem.id} sets its own step size; {key} cannot be chosen (a fixed-step theorem takes any alpha)"
            )
        if key in free:
            symbols[key] = number(text, f"{theorem.id}: {key}")
        elif key == "count":
            raise SpecError("count belongs to the server policy: --server count:every=…")
        elif key in algorithm.parameters:
            chosen[key] = text
        else:
            hint = nearest(key, {*free, *algorithm.parameters} - own)
            raise SpecError(
                f"{key!r} is neither a free symbol of {theorem.id} nor a parameter of {algorithm.id}; {hint}"
            )
    return symbols, chosen


def _assumptions(
    theorem: Theorem,
    problem: Problem,
    delays: DelayModel,
    policy: ServerPolicy,
    beyond: Sequence[str],
) -> dict[str, str]:
    """Return what fails and was allowed to; raise for the rest."""
    outside: dict[str, str] = {}
    for name in theorem.assumptions:
        if name != "iid-events":
            if name in beyond and problem.assumptions().get(name):
                raise AssumptionError(
                    f"--beyond {name} is not possible: the bound has no value on problem {problem.id} "
                    f"({problem.assumptions()[name]})"
                )
            problem.require(name, theorem.id)
            continue
        reason = why_not_iid(delays, policy)
        if reason and name not in beyond:
            raise AssumptionError(
                f"{theorem.id} assumes {name} ({ASSUMPTIONS[name]}), which {delays.id} delays do not meet: {reason}; "
                f"exponential delays with --server poisson, or delays iid, would fit "
                f"(or --beyond {name} to compare outside the theorem)"
            )
        if reason:
            outside[name] = reason
    return outside


def _deviations(theorem: Theorem, chosen: Mapping[str, Any], beyond: Sequence[str]) -> dict[str, str]:
    """Return the options in which the run differs from what the proof takes."""
    outside: dict[str, str] = {}
    for key, want in theorem.options.items():
        if chosen[key] != want:
            reason = f"the proof takes {key}={want}, the run {key}={chosen[key]}"
            if "options" not in beyond:
                raise AssumptionError(f"{theorem.id}: {reason} (--beyond options compares outside the theorem)")
            outside[f"{key}={want}"] = reason
    return outside


def _points(theorem: Theorem, iterations: int, left: Metric) -> NDArray[np.int64]:
    if theorem.horizon == "fixed":
        return np.array([iterations], dtype=np.int64)
    # A printed shape is made for large K: nothing is read off it at K = 0.
    return spaced_iterations(iterations, 1 if left.average or theorem.shape else 0)
