"""Structured families, batch by batch: problems on schedules, and on random events."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import count, islice

import numpy as np

from boundlab.assumptions import BOUNDED_DOMAIN
from boundlab.falsify import _families, _noise, _random_events
from boundlab.falsify._candidate import Candidate
from boundlab.falsify._families import Schedule
from boundlab.falsify._judge import FAILURES, Judge, Score
from boundlab.falsify._shared_runs import SharedRun
from boundlab.falsify._sides import constants_of, step_size
from boundlab.theorems import Theorem, over

Key = tuple[object, ...]
# Called with a judge and the runs that were looked at: which runs these are, empty where no others make the same, and
# the scores.
Batch = Callable[[Judge, set[Key]], tuple[Key, list[Score]]]
_HORIZONS = (30, 300, 3000, 30_000)  # shorter ones are looked at on the way
_OWN_HORIZONS = (3, 1, 10, 30, 2, 300, 5, 100, 1000, 3000)  # where the step size depends on the horizon
_DRAWN = {1: 30, 2: 8, 3: 5, 4: 4}  # horizons at which all sequences of that many clients can be looked at
_SLICE, _OWN_SLICE = 8, 2  # schedules looked at before the next horizon has its turn
_NOISY_RUN = 1000
_SIGNS = {1: 8, 2: 4, 3: 3, 4: 2}  # the same where all signs of noise are looked at, too
_LONGEST = 100_000  # server updates times clients: seconds
_DEVIATIONS = 5.5  # the quadratic part in standard deviations of the run


def batches(judge: Judge) -> Iterator[tuple[str, Batch]]:
    """Yield what is looked at, and what looks."""
    return _random(judge) if judge.expectation else _scheduled(judge)


def _random(judge: Judge) -> Iterator[tuple[str, Batch]]:
    for batch in _random_events.candidates(judge.theorem):
        yield batch[0].family, partial(_events, batch)


def _events(batch: Sequence[Candidate], judge: Judge, _seen: set[Key]) -> tuple[Key, list[Score]]:
    last = batch[0].iterations
    if batch[0].noisy:
        batch = _widened(judge, batch)
    # A whole run is looked at for the price of its end where events are enumerated.
    return (), judge.scores(batch, range(judge.theorem.first_iteration, last + 1) if last < 20 else None)


def _scheduled(judge: Judge) -> Iterator[tuple[str, Batch]]:
    """Go through schedules and horizons diagonally: few and short first, but each gets its turn."""
    theorem = judge.theorem
    source = _families.schedules(theorem, judge.algorithm)
    horizons = _OWN_HORIZONS if theorem.horizon == "fixed" else _HORIZONS
    slices: list[list[Schedule]] = []
    for turn in count():
        slices.append(list(islice(source, _OWN_SLICE if theorem.horizon == "fixed" else _SLICE)))
        work = [
            (level, last, slices[turn - place - 2 * level])
            for level in range(_families.LEVELS)
            for place, last in enumerate(horizons[: max(0, turn - 2 * level + 1)])
        ]
        if turn >= len(horizons) + 2 * _families.LEVELS and not any(part for _, _, part in work):
            return
        for level, last, part in work:
            for one in part:
                most = _most(theorem, one[1])
                if last * one[1] <= _LONGEST and (last <= most or last == horizons[0]):
                    yield f"T = {last}, {one[0]}", partial(_schedule, one, min(last, most), level)


def _most(theorem: Theorem, clients: int) -> int:
    """Return the longest horizon that is looked at with so many clients."""
    return _DRAWN.get(clients, 3) if over(theorem).drawn and clients > 1 else _LONGEST


def _schedule(schedule: Schedule, last: int, level: int, judge: Judge, seen: set[Key]) -> tuple[Key, list[Score]]:
    """Return the scores of all problems on one schedule: structured starts, points where runs settle, noise.

    Parameters
    ----------
    seen
        The runs that were looked at: some algorithms do not care who is late.
    """
    theorem = judge.theorem
    _, clients, _, setting = schedule
    iterations = last + int(setting.get("N", "1")) - 1
    quiet, noise = _families.problems(theorem, schedule, iterations, level), list[Candidate]()
    if clients <= len(_SIGNS) and last <= _NOISY_RUN and _families.noise_allowed(theorem):
        signs = BOUNDED_DOMAIN in theorem.core.assumed
        longest = iterations - last + min(last, _SIGNS[clients]) if signs else iterations
        noise = _families.problems(theorem, schedule, longest, level, noise=True)
    runs = _runs(judge, [*quiet, *noise])
    key = (level, *runs) if runs else ()
    if key in seen:
        return key, []
    scores = judge.scores(quiet)
    ranked = sorted(scores, key=lambda score: -score.ratio)[:8]
    again = (
        []
        if not level
        else [
            replace(one.candidate, family=f"orbit, {one.candidate.family}", iterations=iterations).with_arrays(
                x0=one.last
            )
            for one in ranked
            if len(one.last) and np.isfinite(one.last).all() and 1e-9 < np.abs(one.last).max() < 1e9
        ]
    )
    scores += judge.scores(again)
    return key, scores + judge.scores(_widened(judge, noise))


def _runs(judge: Judge, candidates: Sequence[Candidate]) -> Key:
    """Return what only schedules share that make the same runs; nothing where there are none."""
    try:
        return (judge.fingerprint(candidates[0]), candidates[0].problem_spec()) if candidates else ()
    except FAILURES:
        return ()


def _widened(judge: Judge, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates with quadratic parts that their runs hardly ever leave, without those that have no such run."""
    spread = dict.fromkeys((place for place, one in enumerate(candidates) if one.tailed), np.nan)
    sized: dict[int, tuple[SharedRun, list[tuple[int, float]]]] = {}
    for place in spread:
        if judge.late:
            break
        try:
            shared = judge.shared(candidates[place])
            size = step_size(shared, candidates[place], constants_of(shared.theorem, candidates[place]))
        except FAILURES as error:
            judge.refuse(error)
            continue
        if np.isfinite(size):
            sized.setdefault(id(shared), (shared, []))[1].append((place, size))
    for shared, some in sized.values():
        width = _noise.at_once(shared)
        for part in (some[first : first + width] for first in range(0, len(some), width)):
            places, sizes = zip(*part, strict=True)
            try:
                found = _noise.widest(shared, [candidates[place] for place in places], np.array(sizes))
            except FAILURES as error:
                judge.refuse(error, len(part))
                continue
            spread |= zip(places, found.tolist(), strict=True)
    wide = ((one, spread.get(place)) for place, one in enumerate(candidates))
    usable = ((one, width) for one, width in wide if width is None or 0.0 < width < 1e6)
    return [one if width is None else _with_room(judge.theorem, one, width) for one, width in usable]


def _with_room(theorem: Theorem, candidate: Candidate, spread: float) -> Candidate:
    """Return a candidate whose quadratic part holds points with this standard deviation."""
    reach = float(np.abs(candidate.start() - candidate.rows("c")).max())
    delta = float(f"{reach + _DEVIATIONS * spread:.1e}")
    if _families.kind_of(theorem) == "huber":
        return candidate.with_problem(delta=delta)
    # Where only B counts, it stays: B = w·delta.
    weights = [float(f"{one * candidate.problem['delta'] / delta:.2e}") for one in candidate.problem["w"]]
    return candidate.with_problem(delta=delta, w=weights)
