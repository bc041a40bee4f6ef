"""Simulation without a theorem: what ``boundlab run`` shows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.__about__ import __version__
from boundlab.algorithms import Algorithm
from boundlab.arguments import checked
from boundlab.case.provenance import provenance
from boundlab.delays import DelayModel, ServerPolicy, frequencies
from boundlab.errors import CertificateError, SpecError
from boundlab.files import json_value, schema
from boundlab.metrics import METRICS, Metric
from boundlab.objective import Problem
from boundlab.objective.weighted import minimised
from boundlab.options import Options, count
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.simulate.backend import NUMPY, Backend, run_work
from boundlab.simulate.trial import compile_trial, spaced_iterations
from boundlab.simulate.work import Work
from boundlab.tape import NOTHING, RecordAt, Statistics, Tape, statistics

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Simulation:
    """Sampled trajectories of one algorithm.

    Parameters
    ----------
    ks
        Recorded iterations, shape (points,).
    settings, parameters
        What was set, and what the algorithm has read, defaults included.
    metrics
        Metric id → values of all trials, shape (trials, points): midpoints of the certified intervals.
    statistics, figures
        One a trial: what every tape says, and what the algorithm itself makes of it.
    backend
        Where the trials ran.
    """

    algorithm: Algorithm[Any]
    problem: Problem
    delays: DelayModel
    policy: ServerPolicy
    settings: Mapping[str, Any]
    parameters: Any
    iterations: int
    seed: int
    ks: NDArray[np.int64]
    metrics: Mapping[str, NDArray[np.float64]]
    statistics: list[Statistics]
    figures: list[dict[str, Any]]
    backend: Backend = NUMPY

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {
            "schema": schema("run"),
            "boundlab": __version__,
            "kind": "sampled",
            "algorithm": self.algorithm.id,
            "problem": self.problem.spec(),
            "delays": self.delays.id,
            "server": self.policy.describe(),
            "provenance": provenance(None, self.problem, self.delays, self.policy, self.parameters),
            "parameters": dict(self.settings),
            "iterations": self.iterations,
            "trials": len(self.statistics),
            "seed": self.seed,
            "backend": self.backend.as_dict(),
            "k": self.ks.tolist(),
            "metrics": {name: json_value(values) for name, values in self.metrics.items()},
            "expected_frequencies": self._expected(),
            "statistics": [figures.as_dict() for figures in self.statistics],
            "figures": self.figures,
        }

    def tape(self, trial: int) -> Tape:
        """Return the tape of one of the trials, without records."""
        of, clients, streams = self.parameters, self.problem.n, Streams(self.seed, trial)
        return compile_trial(self.algorithm, of, clients, self.delays, self.policy, self.iterations, NOTHING, streams)

    def _expected(self) -> dict[str, Any] | None:
        """Return long-run frequencies where the delay model alone decides who comes when.

        Other algorithms hand work out themselves, and a client that waits for it comes less often.
        """
        if self.algorithm.server != "any":
            return None
        p, p_s = frequencies(self.delays, self.policy)
        return {"p": p.tolist(), "p_s": p_s, "how": self.delays.how_rates}


@checked
def simulate(
    algorithm: str,
    problem: Problem,
    delays: DelayModel,
    server: str | None,
    settings: Mapping[str, Any],
    iterations: int,
    trials: int,
    seed: int,
    progress: Callable[[int], None] | None = None,
    backend: Backend = NUMPY,
) -> Simulation:
    """Run independent trials and evaluate the metrics that the problem has a certificate for.

    Raises
    ------
    BoundlabError
        If the algorithm, a parameter or the server policy is wrong.
    """
    iterations, trials = count(iterations, "iterations", 1), count(trials, "trials", 1)
    seed = count(seed, "seed", 0)
    compiler: Algorithm[Any] = lookup("algorithms", algorithm)
    policy = compiler.policy(server, delays)
    chosen = dict(settings)
    if policy.count is not None:
        if "count" in chosen and str(chosen["count"]) != str(policy.count):
            raise SpecError(f"count = {chosen['count']} and --server {policy.describe()} contradict each other")
        chosen["count"] = policy.count
    parameters = compiler.read(Options(compiler.id, chosen))
    problem = minimised(problem, compiler, parameters)
    ks = spaced_iterations(iterations, 0)
    shown = _metrics(problem)

    def tape(trial: int) -> Tape:
        records = RecordAt(ks)
        return compile_trial(compiler, parameters, problem.n, delays, policy, iterations, records, Streams(seed, trial))

    def end(tape: Tape, shows: Floats) -> tuple[Floats, Statistics, dict[str, Any]]:
        return shows.mean(axis=2), statistics(tape), compiler.figures(parameters, tape)

    work = Work(shown, tape, end)
    found = run_work(backend, work, problem, seed, trials, progress)
    values = {metric.id: np.array([kept[place] for kept, _, _ in found]) for place, metric in enumerate(shown)}
    seen, figures = [one for _, one, _ in found], [one for _, _, one in found]
    return Simulation(
        compiler, problem, delays, policy, chosen, parameters, iterations, seed, ks, values, seen, figures, backend
    )


def _metrics(problem: Problem) -> list[Metric]:
    """Return what can be evaluated: the gap where f* is certified, the distance where x* is."""
    try:
        optimum = problem.optimum()
    except CertificateError:
        if problem.simple is not None:
            raise
        return [METRICS["gradient-norm"]]
    smooth = not problem.assumptions().get("smooth") and problem.simple is None
    return [
        METRICS["gap"],
        *([METRICS["squared-distance"]] if optimum.distance is not None else []),
        *([METRICS["gradient-norm"]] if smooth else []),
    ]
