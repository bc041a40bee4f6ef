"""The search: known witnesses, structured families and worst cases, then local optimisation, then shrinking."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, islice
from typing import final

import numpy as np

from boundlab.assumptions import independent_events
from boundlab.errors import MissingExtraError
from boundlab.falsify import _families, _noise, _random_events, _shapes, _witnesses, _worst
from boundlab.falsify._candidate import Candidate
from boundlab.falsify._families import Schedule
from boundlab.falsify._judge import FAILURES, Judge, Score
from boundlab.falsify._optimise import climb, optimise, perturbed, to_vector
from boundlab.falsify._shrink import CLEAR, shrink
from boundlab.falsify._sides import constants_of, step_size
from boundlab.theorems import Theorem

Progress = Callable[[str], None]
_HORIZONS = (30, 300, 3000, 30_000)  # shorter ones are looked at on the way
_OWN_HORIZONS = (3, 1, 10, 30, 2, 300, 5, 100, 1000, 3000)  # where the step size depends on the horizon
_DRAWN = {1: 30, 2: 8, 3: 5, 4: 4}  # horizons at which all sequences of that many clients can be looked at
_SLICE, _OWN_SLICE = 8, 2  # schedules looked at before the next horizon has its turn
_BEFORE = 400  # candidates before the first worst case: the solver takes seconds to load
_BETWEEN = 60  # candidates from one worst case to the next
_SCAN, _IMPROVE = 0.6, 0.75  # shares of the budget after which the next stage begins
_NOISY_RUN = 1000
_LONGEST = 100_000  # server updates times clients: seconds
_DEVIATIONS = 5.5  # the quadratic part in standard deviations of the run
_AFTER = 0.3  # of the candidates that led to a violation are looked at for a clearer one
_HOPELESS = 10  # refused candidates for each that was tried, after which the theorem seems to apply to hardly anything
_BASINS = 8  # closest instances from which the search begins again
_IDLE = 200  # restarts without a candidate after which it ends


@final
@dataclass
class _Found:
    """The best score of each family."""

    judge: Judge
    scores: dict[str, Score] = field(default_factory=dict)
    first: int | None = None

    def take(self, batch: list[Score]) -> None:
        """Keep what is better than before."""
        for score in batch:
            kept = self.scores.get(score.candidate.family)
            if kept is None or score.ratio > kept.ratio:
                self.scores[score.candidate.family] = score
        if self.first is None and any(score.violates for score in batch):
            self.first = self.judge.count

    def drop(self, family: str) -> None:
        """Forget what was found in a family: nothing confirms it."""
        del self.scores[family]
        self.first = self.judge.count if any(score.violates for score in self.scores.values()) else None

    @property
    def ranked(self) -> list[Score]:
        """The families' best, the best family first, of much the same ones the smallest."""

        def place(score: Score) -> tuple[float, int, int]:
            own = score.candidate
            return -float(f"{score.ratio:.3g}"), own.clients, int(np.size(own.problem["x0"]))

        return sorted(self.scores.values(), key=place)

    @property
    def enough(self) -> bool:
        """Whether a violation is clear, or has been the best for long."""
        if self.first is None:
            return False
        return self.ranked[0].ratio >= CLEAR or self.judge.count > (1.0 + _AFTER) * self.first + 200


def search(judge: Judge, seed: int, progress: Progress) -> Iterator[Score]:
    """Yield violations to be confirmed, each shrunk and as it was found, and at last the closest instances.

    Who takes another one has not confirmed the one before. The order of the candidates is determined by the theorem
    and the seed; the budget says how far it is followed.
    """
    begin = time.monotonic()
    budget = judge.deadline - begin
    limit = judge.limit

    def spent(share: float) -> bool:
        used = limit is not None and (
            judge.count >= share * limit or judge.refused.total() >= _HOPELESS * (judge.count + min(limit, 100))
        )
        return used or time.monotonic() >= begin + share * budget

    found, rng = _Found(judge), np.random.default_rng(seed)
    for _ in _stages(found, rng, spent, progress):
        if found.enough:
            yield from _finalists(found, rng, progress, begin + 1.25 * budget)
    yield from _finalists(found, rng, progress, max(begin + 1.25 * budget, time.monotonic() + 0.25 * budget))
    yield from [score for score in found.ranked[:_BASINS] if not score.violates]


def _finalists(found: _Found, rng: np.random.Generator, progress: Progress, last: float) -> Iterator[Score]:
    """Yield each violation shrunk and as it was found, and forget it if neither was confirmed."""

    def late() -> bool:
        return time.monotonic() >= last

    judge = found.judge
    while found.scores and (best := found.ranked[0]).violates:
        before, judge.limit = judge.limit, None  # the limit bounds the search; shrinking ends by itself
        clear = best if best.ratio >= CLEAR else optimise(climb(best, judge, late), judge, late, rng)
        progress(f"shrinking {clear.ratio:.4g}")
        yield shrink(clear, judge, late)
        yield clear
        judge.limit = before
        found.drop(best.candidate.family)


def _stages(
    found: _Found, rng: np.random.Generator, spent: Callable[[float], bool], progress: Progress
) -> Iterator[None]:
    """Look at known witnesses and structured families with worst cases in between, then search from the best ones."""
    judge = found.judge
    found.take(judge.scores(_witnesses.candidates(judge.theorem)))
    yield
    asks, asked = _worst.asks(judge), _BEFORE - _BETWEEN
    for label, batch in _random(judge) if judge.expectation else _scheduled(judge):
        best = found.ranked[0].ratio if found.scores else 0.0
        progress(f"{judge.count} candidates, {label}, largest ratio {best:.4g}")
        found.take(batch)
        yield
        if judge.count >= asked + _BETWEEN and not spent(_SCAN):
            asked = judge.count
            _ask(found, asks)
            yield
        if spent(_SCAN):
            break
    while not spent(_SCAN) and _ask(found, asks):
        yield
    for place, score in enumerate(found.ranked[:3]):
        end = _SCAN + (_IMPROVE - _SCAN) * (place + 1) / 3.0
        progress(f"local optimisation from {score.ratio:.4g}")
        better = optimise(climb(score, judge, lambda end=end: spent(end)), judge, lambda end=end: spent(end), rng)  # type: ignore[misc]
        found.take([better])
        yield
    idle = 0
    while found.scores and not spent(1.0) and idle < _IDLE:
        # Nothing yet: begin again from points near and far from the closest instances.
        some = found.ranked[:_BASINS]
        base = some[int(rng.integers(len(some)))].candidate
        before = judge.count
        start = judge.score(perturbed(base, rng)) if len(to_vector(base)) else None
        if start is not None:
            progress(f"{judge.count} candidates, from {start.ratio:.4g}, largest ratio {found.ranked[0].ratio:.4g}")
            found.take([optimise(start, judge, lambda: spent(1.0), rng, 8)])
        # What the theorem does not apply to counts for nothing.
        idle = idle + 1 if judge.count == before else 0
        yield


def _ask(found: _Found, asks: Iterator[_worst.Ask]) -> bool:
    """Answer the next worst case that has an answer; False if nothing is left to ask, or there is no solver."""
    judge = found.judge
    before = judge.tried[_worst.FAMILY]
    for ask in asks:
        try:
            score = _worst.answer(judge, ask)
        except MissingExtraError as error:
            judge.refuse(error)
            for _ in asks:
                pass
            return False
        found.take([] if score is None else [score])
        if judge.tried[_worst.FAMILY] > before:
            return True
    return False


def _random(judge: Judge) -> Iterator[tuple[str, list[Score]]]:
    """Yield (what was looked at, scores)."""
    for batch in _random_events.candidates(judge.theorem):
        last = batch[0].iterations
        if batch[0].noisy:
            batch = [one for one in (_widened(judge, each) for each in batch) if one is not None]
        # A whole run is looked at for the price of its end where events are enumerated.
        if batch:
            yield batch[0].family, judge.scores(batch, range(1, last + 1) if last < 20 else None)


def _scheduled(judge: Judge) -> Iterator[tuple[str, list[Score]]]:
    """Go through schedules and horizons diagonally: few and short first, but each gets its turn."""
    theorem = judge.theorem
    source = _families.schedules(theorem, judge.algorithm)
    horizons = _OWN_HORIZONS if theorem.horizon == "fixed" else _HORIZONS
    slices: list[list[Schedule]] = []
    seen: set[tuple[object, ...]] = set()
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
                    yield f"T = {last}, {one[0]}", _schedule(judge, one, min(last, most), level, seen)


def _most(theorem: Theorem, clients: int) -> int:
    """Return the longest horizon that is looked at with so many clients."""
    return _DRAWN.get(clients, 3) if independent_events(theorem.assumptions) and clients > 1 else _LONGEST


def _schedule(judge: Judge, schedule: Schedule, last: int, level: int, seen: set[tuple[object, ...]]) -> list[Score]:
    """Return the scores of all problems on one schedule: structured starts, points where runs settle, noise.

    Parameters
    ----------
    seen
        The runs that were looked at: some algorithms do not care who is late.
    """
    theorem = judge.theorem
    _, clients, _, setting = schedule
    iterations = last + int(setting.get("N", "1")) - 1
    quiet = _families.problems(theorem, schedule, iterations, level)
    key = level, *_runs(judge, quiet)
    if key in seen:
        return []
    if len(key) > 1:
        seen.add(key)
    scores = judge.scores(quiet)
    ranked = sorted(scores, key=lambda score: -score.ratio)[:8]
    again = (
        []
        if not level
        else [
            replace(one.candidate, family=f"orbit, {one.candidate.family}", iterations=iterations).with_problem(
                x0=one.last.tolist() if len(one.last) > 1 else float(one.last[0])
            )
            for one in ranked
            if len(one.last) and np.isfinite(one.last).all() and 1e-9 < np.abs(one.last).max() < 1e9
        ]
    )
    scores += judge.scores(again)
    if clients <= 4 and last <= _NOISY_RUN and _shapes.noise_allowed(theorem):
        noise = _families.problems(theorem, schedule, iterations, level, noise=True)
        scores += judge.scores([one for one in (_widened(judge, each) for each in noise) if one is not None])
    return scores


def _runs(judge: Judge, candidates: Sequence[Candidate]) -> tuple[object, ...]:
    """Return what only schedules share that make the same runs; nothing where there are none."""
    try:
        return (judge.bench(candidates[0]).fingerprint, candidates[0].problem_spec()) if candidates else ()
    except FAILURES:
        return ()


def _widened(judge: Judge, candidate: Candidate) -> Candidate | None:
    """Return the candidate with a quadratic part that its run hardly ever leaves; None if it has no such run."""
    if candidate.problem["type"] == "quadratic":
        return candidate
    try:
        bench = judge.bench(candidate)
        size = step_size(bench, candidate, constants_of(bench.theorem, candidate))
        spread = _noise.widest(bench, candidate, size) if np.isfinite(size) else np.nan
    except FAILURES as error:
        judge.refuse(error)
        return None
    if not np.isfinite(spread) or not 0.0 < spread < 1e6:
        return None
    reach = float(np.abs(candidate.start() - candidate.rows("c")).max())
    delta = float(f"{reach + _DEVIATIONS * spread:.1e}")
    if _shapes.kind_of(judge.theorem) == "huber":
        return candidate.with_problem(delta=delta)
    # Where only B counts, it stays: B = w·delta.
    weights = [float(f"{one * candidate.problem['delta'] / delta:.2e}") for one in candidate.problem["w"]]
    return candidate.with_problem(delta=delta, w=weights)
