"""The search: structured families, then local optimisation, then shrinking."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count, islice

import numpy as np

from boundlab.errors import BoundlabError
from boundlab.falsify import _families, _noise, _random_events
from boundlab.falsify._candidate import Candidate
from boundlab.falsify._judge import Judge, Score
from boundlab.falsify._optimise import optimise, perturbed, to_vector
from boundlab.falsify._shrink import CLEAR, shrink

Progress = Callable[[str], None]
_HORIZONS = (30, 300, 3000, 30_000)  # shorter ones are looked at on the way
_OWN_HORIZONS = (30, 3, 1, 300, 3000)  # where the step size depends on the horizon
_SLICE = 8  # schedules looked at before the next horizon has its turn
_SCAN, _IMPROVE = 0.6, 0.75  # shares of the budget after which the next stage begins
_NOISY_RUN = 300
_LONGEST = 100_000  # server updates times clients: seconds
_DEVIATIONS = 10.0  # the quadratic part in standard deviations of the run


def search(judge: Judge, seed: int, progress: Progress) -> Score | None:
    """Return the smallest violation found, or the closest instance.

    The order of the candidates is determined by the theorem and the seed; the budget says how far it is followed.
    """
    begin = time.monotonic()
    budget = judge.deadline - begin
    limit = judge.limit

    def spent(share: float) -> bool:
        used = limit is not None and judge.count >= share * limit
        return used or time.monotonic() >= begin + share * budget

    found = _scan(judge, lambda: spent(_SCAN), progress)
    if not found:
        return None
    ranked = _distinct(sorted(found.values(), key=lambda score: -score.ratio))
    best = ranked[0]
    rng = np.random.default_rng(seed)
    for place, score in enumerate(ranked[:3]):
        end = _SCAN + (_IMPROVE - _SCAN) * (place + 1) / 3.0
        progress(f"local optimisation from {score.ratio:.4g}")
        better = optimise(score, judge, lambda end=end: spent(end))  # type: ignore[misc]
        best = better if better.ratio > best.ratio else best
    while not best.violates and not spent(1.0):
        # Nothing yet: begin again from points near the closest instances, as long as the budget lasts.
        start = judge.score(perturbed(ranked[int(rng.integers(min(len(ranked), 3)))].candidate, rng))
        if start is not None:
            better = optimise(start, judge, lambda: spent(1.0), 80)
            best = better if better.ratio > best.ratio else best
        elif not len(to_vector(ranked[0].candidate)):
            break
    if not best.violates:
        return best
    progress(f"shrinking {best.ratio:.4g}")
    if limit is not None:
        judge.limit = None  # the limit bounds the search; shrinking ends by itself
    # The structured instance has simpler numbers than the optimised one: shrink it where it is as clear.
    start = ranked[0] if ranked[0].ratio >= min(CLEAR, best.ratio) else best
    last = begin + max(budget, time.monotonic() - begin + 0.25 * budget)
    return shrink(start, judge, lambda: time.monotonic() >= last)


def _distinct(scores: list[Score]) -> list[Score]:
    """Return the best of each family, the best family first."""
    seen: dict[str, Score] = {}
    for score in scores:
        seen.setdefault(score.candidate.family, score)
    return list(seen.values())


def _scan(judge: Judge, over: Callable[[], bool], progress: Progress) -> dict[str, Score]:
    """Return the best score of each family, stopping after the batch with a clear violation."""
    found: dict[str, Score] = {}
    for label, ends, batch in _random(judge) if judge.expectation else _scheduled(judge):
        best = 0.0 if judge.best is None else judge.best.ratio
        progress(f"{judge.count} candidates, {label}, largest ratio {best:.4g}")
        for score in batch:
            kept = found.get(score.candidate.family)
            if kept is None or score.ratio > kept.ratio:
                found[score.candidate.family] = score
        if over() or (ends and best >= CLEAR):
            break
    return found


def _random(judge: Judge) -> Iterator[tuple[str, bool, list[Score]]]:
    """Yield (what was looked at, whether a clear violation may end the scan here, scores)."""
    for number, batch in enumerate(_random_events.candidates(judge.theorem), 1):
        last = batch[0].iterations
        # A whole run is looked at for the price of its end where events are enumerated.
        yield batch[0].family, number % 20 == 0, judge.scores(batch, range(1, last + 1) if last < 20 else None)


def _scheduled(judge: Judge) -> Iterator[tuple[str, bool, list[Score]]]:
    """Go through schedules and horizons diagonally: few and short first, but each gets its turn."""
    theorem = judge.theorem
    source = _families.schedules(theorem, judge.algorithm)
    horizons = _OWN_HORIZONS if theorem.horizon == "fixed" else _HORIZONS
    slices: list[list[tuple[str, int, str, dict[str, str]]]] = []
    for turn in count():
        slices.append(list(islice(source, _SLICE)))
        work = [(horizon, slices[turn - level]) for level, horizon in enumerate(horizons[: turn + 1])]
        if not any(part for _, part in work):
            return
        for horizon, part in work:
            part = [one for one in part if horizon * one[1] <= _LONGEST]
            for place, one in enumerate(part, 1):
                yield f"T = {horizon}, {one[0]}", place == len(part), _schedule(judge, *one, horizon)


def _schedule(
    judge: Judge, family: str, clients: int, delays: str, settings: dict[str, str], horizon: int
) -> list[Score]:
    """Return the scores of all problems on one schedule: structured starts, points where runs settle, noise."""
    theorem = judge.theorem
    iterations = horizon + int(settings.get("N", "1")) - 1
    some = _families.problems(theorem, family, clients, delays, settings, iterations)
    scores = judge.scores(some)
    if not scores:
        return []
    ranked = sorted(scores, key=lambda score: -score.ratio)[:8]
    again = [
        replace(one.candidate, family=f"orbit, {one.candidate.family}", iterations=iterations).with_problem(x0=one.last)
        for one in ranked
        if np.isfinite(one.last) and abs(one.last) > 1e-9
    ]
    scores += judge.scores(again)
    if clients <= 2 and horizon <= _NOISY_RUN and _noisy(judge):
        noisy = _families.problems(theorem, family, clients, delays, settings, iterations, noise=True)
        scores += judge.scores([one for one in (_widened(judge, each) for each in noisy) if one is not None])
    return scores


def _noisy(judge: Judge) -> bool:
    """Return whether the theorem allows noise that is not zero."""
    return bool({"bounded-variance", "bounded-second-moment"} & set(judge.theorem.assumptions))


def _widened(judge: Judge, candidate: Candidate) -> Candidate | None:
    """Return the candidate with a quadratic part that its run hardly ever leaves; None if it has no such run."""
    try:
        bench = judge.bench(candidate)
        spread = _noise.widest(bench, candidate)
    except BoundlabError:
        return None
    if not np.isfinite(spread) or not 0.0 < spread < 1e6:
        return None
    if candidate.problem["type"] == "quadratic":
        return candidate
    return candidate.with_problem(delta=float(f"{_DEVIATIONS * spread:.1e}"))
