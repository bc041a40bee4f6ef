"""Local optimisation of left/right over the continuous numbers of a candidate: generations that share their runs."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.falsify._candidate import Candidate, flat, shaped
from boundlab.falsify._expectation import horizon
from boundlab.falsify._judge import Judge, Score
from boundlab.options import typed

Floats = NDArray[np.float64]
_LARGEST = 30.0  # of a coordinate: logarithms, logits and centres stay within what numbers can be
_ELITE = 6
_SHORTEST = 1e-4
_SMALLEST = 1e-12
_STEP = 1e-3  # by how much an integer must help
_LARGEST_INTEGER = 500
_SIZES = ("delta", "sigma", "ball", "l1")  # positive numbers of a problem whose coordinates do not mix
_DATA = ("a", "y", "x0")  # numbers of a problem that is made of data
_ENUMERATED = 12  # iterations of which all sequences of events are looked at


def optimise(
    score: Score, judge: Judge, over: Callable[[], bool], rng: np.random.Generator, generations: int = 14
) -> Score:
    """Return the best score near a candidate, with the same discrete choices.

    Each generation draws points around the best one, as wide and in the directions in which the good ones lie, and
    looks at them together: they share their runs.
    """
    start = to_vector(score.candidate)
    if not len(start):
        return score
    best, centre, wide = score, start, 0.25
    elite = [(score.ratio, start)]
    size = 2 * len(start) + 8
    for _ in range(generations):
        if over() or wide < _SHORTEST:
            break
        points = centre + wide * _directions(elite, size, rng)
        points = points[np.abs(points).max(axis=1) <= _LARGEST]
        made = {one.key(): (one, z) for one, z in ((from_vector(score.candidate, z), z) for z in points)}
        better = False
        for found in judge.scores([one for one, _ in made.values()], [horizon(score.candidate)]):
            key = replace(found.candidate, iterations=score.candidate.iterations).key()
            elite.append((found.ratio, made[key][1]))
            if found.ratio > best.ratio:
                better = better or found.ratio > best.ratio * (1.0 + 1e-4)
                best, centre = found, made[key][1]
        elite = sorted(elite, key=lambda one: -one[0])[:_ELITE]
        wide *= 1.5 if better else 0.4
    return best


def climb(score: Score, judge: Judge, over: Callable[[], bool]) -> Score:
    """Return the best score that larger integer settings and other horizons lead to, one at a time."""
    best, moved = score, True
    while moved and not over():
        moved = False
        enumerated = judge.expectation and best.candidate.problem["type"] != "quadratic"
        for candidate in _neighbours(best.candidate, _ENUMERATED if enumerated else _LARGEST_INTEGER):
            found = judge.score(candidate)
            if found is not None and found.ratio > best.ratio * (1.0 + _STEP):
                best, moved = found, True
                break
            if over():
                break
    return best


def _neighbours(one: Candidate, longest: int) -> Iterator[Candidate]:
    for name, value in one.settings.items():
        if value.isdigit() and 0 < int(value) <= _LARGEST_INTEGER:
            yield replace(one, settings={**one.settings, name: str(2 * int(value))})
    for last in (2 * one.iterations, one.iterations + 1, one.iterations // 2):
        if 1 <= last <= longest:
            yield replace(one, iterations=last)


def _directions(elite: list[tuple[float, Floats]], size: int, rng: np.random.Generator) -> Floats:
    """Return random directions of unit size, half of them within the differences of good points."""
    dimension = len(elite[0][1])
    plain = rng.standard_normal((size, dimension))
    # Single coordinates: most of them matter little.
    plain[: size // 3] *= rng.permutation(np.resize(np.eye(dimension), (size // 3, dimension)))
    if len(elite) > 2:
        apart = np.array([point - elite[0][1] for _, point in elite[1:]])
        length = float(np.abs(apart).max()) or 1.0
        half = size // 2
        plain[-half:] = rng.standard_normal((half, len(apart))) @ (apart / length) + 0.05 * plain[-half:]
    return plain


def perturbed(candidate: Candidate, rng: np.random.Generator) -> Candidate:
    """Return a candidate some way off, near or far."""
    start = to_vector(candidate)
    wide = (0.2, 0.6, 2.0)[int(rng.integers(3))]
    return from_vector(candidate, np.clip(start + wide * rng.standard_normal(len(start)), -_LARGEST, _LARGEST))


def to_vector(candidate: Candidate) -> Floats:
    """Return the continuous numbers: steps, sizes and weights as logarithms, probabilities as log-odds.

    The first client's centre and its first weight stay what they are: they fix the origin and a unit. Rows of data are
    moved as they are, with their targets. Of other problems whose coordinates mix only the step sizes are moved.
    """
    problem = candidate.problem
    out = [np.log(value) for value in candidate.step.values()]
    out += flat([problem[name] for name in _DATA]) if candidate.sampled else []
    if candidate.separable:
        out += [np.log(problem[name]) for name in _SIZES if problem.get(name)]
        out += np.log(np.maximum(candidate.rows("w").reshape(-1)[1:], _SMALLEST)).tolist()
        out += candidate.rows("c")[1:].reshape(-1).tolist()
        out += candidate.start().tolist()
    out += [np.log(value) for value in _probabilities(candidate)]
    return np.array(out, dtype=np.float64)


def from_vector(candidate: Candidate, z: Floats) -> Candidate:
    """Return the candidate with these numbers."""
    entries = iter(z.tolist())
    step = {name: float(np.exp(next(entries))) for name in candidate.step}
    found = replace(candidate, step=step)
    if candidate.sampled:
        found = found.with_problem(**{name: shaped(candidate.problem[name], entries) for name in _DATA})
    if candidate.separable:
        problem: dict[str, Any] = dict(candidate.problem)
        for name in _SIZES:
            if problem.get(name):
                problem[name] = float(np.exp(next(entries)))
        w, c, start = candidate.rows("w"), candidate.rows("c"), candidate.start()
        w.reshape(-1)[1:] = [float(np.exp(next(entries))) for _ in range(w.size - 1)]
        c[1:] = np.reshape([next(entries) for _ in range(c[1:].size)], c[1:].shape)
        start[:] = [next(entries) for _ in start]
        found = replace(found, problem=problem).with_arrays(w, c, start)
    p = _probabilities(candidate)
    if not p:
        return found
    odds = np.exp(np.array([next(entries) for _ in p]))
    return replace(found, delays=iid((odds / (1.0 + odds.sum())).tolist()))


def _probabilities(candidate: Candidate) -> list[float]:
    """Return p_i/p_s of i.i.d. events, or nothing."""
    p = candidate.shares()
    return [value / (1.0 - sum(p)) for value in p]


def iid(p: list[float]) -> str:
    """Return the delays with these probabilities of the clients; the server has the rest."""
    return f"iid:p={typed(p)}"
