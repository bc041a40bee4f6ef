"""Local optimisation of left/right over the continuous numbers of a candidate (SciPy, Nelder and Mead)."""

import contextlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.falsify._candidate import Candidate, text
from boundlab.falsify._judge import Judge, Score
from boundlab.options import numbers, parse_spec

Floats = NDArray[np.float64]
_LARGEST = 30.0  # of a coordinate: logarithms, logits and centres stay within what numbers can be


class _OverError(Exception):
    """Ends an optimisation whose budget is used up."""


def optimise(score: Score, judge: Judge, over: Callable[[], bool], evaluations: int = 150) -> Score:
    """Return the best score near a candidate, with the same discrete choices."""
    from scipy.optimize import minimize

    start = to_vector(score.candidate)
    if not len(start):
        return score
    best = [score]

    def objective(z: Floats) -> float:
        if over():
            raise _OverError
        if np.abs(z).max() > _LARGEST:
            return 0.0
        found = judge.score(from_vector(score.candidate, z))
        if found is None:
            return 0.0
        if found.ratio > best[0].ratio:
            best[0] = found
        return -found.ratio

    simplex = np.vstack([start, start + 0.25 * np.eye(len(start))])
    options = {"maxfev": evaluations, "initial_simplex": simplex, "xatol": 1e-4, "fatol": 1e-6}
    with contextlib.suppress(_OverError):
        minimize(objective, start, method="Nelder-Mead", options=options)
    return best[0]


def perturbed(candidate: Candidate, rng: np.random.Generator) -> Candidate:
    """Return a candidate some way off."""
    start = to_vector(candidate)
    return from_vector(candidate, start + 0.3 * rng.standard_normal(len(start)))


def to_vector(candidate: Candidate) -> Floats:
    """Return the continuous numbers: steps, delta and weights as logarithms, probabilities as log-odds, places as such.

    The first centre and the first weight stay what they are: they fix the origin and a unit.
    """
    problem, out = candidate.problem, [np.log(value) for value in candidate.step.values()]
    out += [np.log(problem["delta"])] if "delta" in problem else []
    out += [np.log(max(value, 1e-12)) for value in problem["w"][1:]]
    out += list(problem["c"][1:])
    out += [problem["x0"]]
    p = _probabilities(candidate)
    out += [np.log(value) for value in p]
    return np.array(out, dtype=np.float64)


def from_vector(candidate: Candidate, z: Floats) -> Candidate:
    """Return the candidate with these numbers."""
    entries = iter(z.tolist())
    step = {name: float(np.exp(next(entries))) for name in candidate.step}
    problem: dict[str, Any] = dict(candidate.problem)
    if "delta" in problem:
        problem["delta"] = float(np.exp(next(entries)))
    problem["w"] = [problem["w"][0], *(float(np.exp(next(entries))) for _ in problem["w"][1:])]
    problem["c"] = [problem["c"][0], *(next(entries) for _ in problem["c"][1:])]
    problem["x0"] = next(entries)
    found = replace(candidate, step=step, problem=problem)
    p = _probabilities(candidate)
    if not p:
        return found
    odds = np.exp(np.array([next(entries) for _ in p]))
    return replace(found, delays=iid((odds / (1.0 + odds.sum())).tolist()))


def _probabilities(candidate: Candidate) -> list[float]:
    """Return p_i/p_s of i.i.d. events, or nothing."""
    name, options = parse_spec(candidate.delays, "delays")
    if name != "iid" or "p" not in options:
        return []
    p = numbers(options["p"], "p")
    return [value / (1.0 - sum(p)) for value in p]


def iid(p: list[float]) -> str:
    """Return the delays with these probabilities of the clients; the server has the rest."""
    return f"iid:p={text(p)}"
