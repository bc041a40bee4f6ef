"""The search: known witnesses, structured families and worst cases, then local optimisation, then shrinking."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import final

import numpy as np

from boundlab.errors import MissingExtraError
from boundlab.falsify import _fit, _worst
from boundlab.falsify._family_scan import Key
from boundlab.falsify._judge import Judge, Score
from boundlab.falsify._optimise import climb, optimise
from boundlab.falsify._shrink import CONVINCES, Accept, coarse, convincing, smallest
from boundlab.falsify._witnesses import known_witnesses
from boundlab.falsify._work import Climb, Done, Piece, Restart, Scan, SearchBudget, Worker
from boundlab.simulate.simulation import Ahead

Progress = Callable[[str], None]
_BEFORE = 400  # candidates before the first worst case: the solver takes seconds to load
_BETWEEN = 60  # candidates from one worst case to the next
_CLEAR = 1.15  # left/right of a violation after which no clearer one is looked for
# Refused candidates, and how many for each that was tried, after which instances are made to meet the conditions.
_REFUSED, _FOR_EACH = 20, 10
_SCAN, _IMPROVE = 0.6, 0.75  # shares of the budget after which the next stage begins
_STARTS = 4  # violations from which one that a hand can check is looked for
_CLIMBS = 3  # closest instances from which local optimisation begins
_ROUND = 8  # restarts that begin from the same instances
_AFTER = 0.3  # of the candidates that led to a violation are looked at for a clearer one
_BASINS = 8  # closest instances from which the search begins again
_IDLE = 200  # restarts without a candidate after which it ends


def _extent(score: Score) -> tuple[bool, int, int]:
    return coarse(score.candidate)


@final
@dataclass
class _Best:
    """The best score of each family."""

    judge: Judge
    scores: dict[str, Score] = field(default_factory=dict)
    first: int | None = None
    small: Score | None = None

    def take(self, batch: list[Score]) -> None:
        """Keep what is better than before."""
        for score in batch:
            kept = self.scores.get(score.candidate.family)
            if kept is None or score.ratio > kept.ratio:
                self.scores[score.candidate.family] = score
        broken = [score for score in batch if score.violates]
        if self.first is None and broken:
            self.first = self.judge.count
        self.small = min([*broken, *([self.small] if self.small else [])], key=_extent, default=None)

    def join(self, done: Done) -> None:
        """Keep what a worker found."""
        self.judge.join(done.tried, done.refused, done.best)
        self.take(done.scores)

    @property
    def largest(self) -> float:
        """The largest ratio."""
        return self.ranked[0].ratio if self.scores else 0.0

    def drop(self, family: str) -> None:
        """Forget what was found in a family: nothing confirms it."""
        del self.scores[family]
        self.first, self.small = None, None
        self.take([score for score in self.scores.values() if score.violates])

    @property
    def ranked(self) -> list[Score]:
        """The families' best, the best family first, of much the same ones the smallest."""

        def place(score: Score) -> tuple[float, int, int]:
            own = score.candidate
            return -float(f"{score.ratio:.3g}"), own.clients, own.dimension

        return sorted(self.scores.values(), key=place)

    @property
    def clear(self) -> Score | None:
        """The smallest of the families' best that is a clear violation."""
        return min((one for one in self.scores.values() if one.ratio >= _CLEAR), key=_extent, default=None)

    @property
    def enough(self) -> bool:
        """True if a violation is clear, or has been the best for a long time."""
        if self.first is None:
            return False
        return self.ranked[0].ratio >= _CLEAR or self.judge.count > (1.0 + _AFTER) * self.first + 200


@final
@dataclass(frozen=True, slots=True)
class Found:
    """Finding to be confirmed.

    Parameters
    ----------
    score
        A violation, or one of the closest instances.
    clear
        Where the violation was shrunk, the one that it was made of: it breaks the bound by more.
    convincing
        A larger one that a hand can check, where the smallest one is none or breaks the bound by little.
    """

    score: Score
    clear: Score | None = None
    convincing: Score | None = None


def search(judge: Judge, seed: int, progress: Progress, by_hand: Accept, jobs: int = 1) -> Iterator[Found]:
    """Yield violations to be confirmed, each shrunk and as it was found, and at last the closest instances.

    Who takes another one has not confirmed the one before. The order of the candidates is determined by the theorem
    and the seed; the budget says how far it is followed.

    Parameters
    ----------
    by_hand
        Whether a hand can check a violation.
    jobs
        Processes that look at candidates; with a limit the answer does not depend on them.
    """
    begin = time.monotonic()
    budget = SearchBudget(begin, judge.deadline - begin, judge.limit)
    found, rng, last = _Best(judge), np.random.default_rng(seed), begin + 1.25 * budget.seconds
    found.take(judge.scores(known_witnesses(judge.theorem)))
    if found.enough:
        yield from _finalists(found, rng, progress, by_hand, last)
    with Ahead(Worker(judge, budget, seed), jobs) as workers:
        for _ in _stages(found, workers, budget, progress):
            if found.enough:
                yield from _finalists(found, rng, progress, by_hand, last)
    yield from _finalists(found, rng, progress, by_hand, max(last, time.monotonic() + 0.25 * budget.seconds))
    yield from [Found(score) for score in found.ranked[:_BASINS] if not score.violates]


def _finalists(
    found: _Best, rng: np.random.Generator, progress: Progress, by_hand: Accept, last: float
) -> Iterator[Found]:
    """Yield each violation made as small as can be and as it was found, and forget it if neither was confirmed."""

    def late() -> bool:
        return time.monotonic() >= last

    while found.scores and (best := found.ranked[0]).violates:
        # What shrinking looks at is not counted: the limit bounds the search, and shrinking ends by itself.
        judge = replace(found.judge.aside(found.judge.count), limit=None)
        near = best.ratio < CONVINCES
        clear = found.clear or (optimise(climb(best, judge, late), judge, late, rng) if near else best)
        progress(f"shrinking {clear.ratio:.4g}")
        seeds = [clear] if found.small is None or found.small is best else [clear, found.small]
        small = smallest(seeds, judge, late, rng)
        others = [one for one in found.ranked[:_STARTS] if one.violates and one is not clear]
        yield Found(small, clear, convincing([clear, *others], small, judge, late, by_hand))
        yield Found(clear)
        found.drop(best.candidate.family)


def _stages(found: _Best, workers: Ahead[Piece, Done], budget: SearchBudget, progress: Progress) -> Iterator[None]:
    """Look at structured families with worst cases in between, then search from the best ones."""
    judge = found.judge
    asks, asked, seen, fitted = _worst.asks(judge), _BEFORE - _BETWEEN, set[Key](), False
    for done in workers.map(Scan(index) for index in count()):
        if done.last:
            break
        if done.key and done.key in seen:
            continue
        seen.add(done.key)
        found.join(done)
        progress(f"{judge.count} candidates, {done.label}, largest ratio {found.largest:.4g}")
        yield
        if not fitted and _seldom(judge):
            fitted = True
            _fit_conditions(found)
            yield
        if judge.count >= asked + _BETWEEN and not budget.spent(_SCAN, judge):
            asked = judge.count
            _ask(found, asks)
            yield
        if budget.spent(_SCAN, judge):
            break
    judge.forgiven = judge.refused.total() if fitted else 0
    while not judge.unmet and not budget.spent(_SCAN, judge) and _ask(found, asks):
        yield
    before, some = judge.count, found.ranked[:_CLIMBS]
    ends = [_SCAN + (_IMPROVE - _SCAN) * (place + 1) / _CLIMBS for place in range(len(some))]
    for done in workers.map(Climb(place, score, before, ends[place]) for place, score in enumerate(some)):
        found.join(done)
        progress(f"{judge.count} candidates, local optimisation, largest ratio {found.largest:.4g}")
        yield
    idle, number = 0, 0
    while found.scores and not budget.spent(1.0, judge) and idle < _IDLE:
        # Nothing yet: begin again from points near and far from the closest instances.
        before, bases = judge.count, [score.candidate for score in found.ranked[:_BASINS]]
        for done in workers.map(Restart(number + one, bases, before) for one in range(_ROUND)):
            found.join(done)
            progress(f"{judge.count} candidates, restarts, largest ratio {found.largest:.4g}")
            # What the theorem does not apply to counts for nothing.
            idle = 0 if done.tried else idle + 1
            yield
            if budget.spent(1.0, judge):
                break
        number += _ROUND


def _seldom(judge: Judge) -> bool:
    """Return whether hardly any candidate meets the conditions that the theorem has."""
    return bool(judge.theorem.conditions) and judge.refused.total() >= _REFUSED + _FOR_EACH * judge.count


def _fit_conditions(found: _Best) -> None:
    """Look at instances that are made to meet the conditions, or keep which ones nothing meets."""
    judge = found.judge
    some, judge.unmet = _fit.fitted(judge)
    judge.forgiven = judge.refused.total()
    found.take(judge.scores(some))


def _ask(found: _Best, asks: Iterator[_worst.Ask]) -> bool:
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
