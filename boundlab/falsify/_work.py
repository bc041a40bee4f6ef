"""Pieces of the search that processes do ahead of it: each has counts of its own, which are added in order."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, final

import numpy as np

from boundlab.falsify._candidate import Candidate
from boundlab.falsify._family_scan import Key, batches
from boundlab.falsify._judge import Judge, Score
from boundlab.falsify._optimise import climb, optimise, perturbed, to_vector

_HOPELESS = 10  # refused candidates for each that was tried, after which the theorem seems to apply to hardly anything
_GENERATIONS = 8  # of a restart


@final
@dataclass(frozen=True, slots=True)
class SearchBudget:
    """How far the search goes.

    Parameters
    ----------
    begin, seconds
        Of ``time.monotonic()``.
    limit
        Most candidates, or None.
    """

    begin: float
    seconds: float
    limit: int | None

    def spent(self, share: float, judge: Judge) -> bool:
        """Return whether this share of the budget is used up."""
        used = self.limit is not None and (
            judge.count >= share * self.limit
            or judge.refused.total() - judge.forgiven >= _HOPELESS * (judge.count + min(self.limit, 100))
        )
        return used or time.monotonic() >= self.begin + share * self.seconds


@final
@dataclass(frozen=True, slots=True)
class Scan:
    """Look at one batch of the structured families."""

    index: int


@final
@dataclass(frozen=True, slots=True)
class Climb:
    """Optimise a score until a share of the budget is spent; ``before`` candidates were tried when it was said."""

    place: int
    score: Score
    before: int
    end: float


@final
@dataclass(frozen=True, slots=True)
class Restart:
    """Begin again near or far from one of the candidates."""

    number: int
    bases: Sequence[Candidate]
    before: int


Piece: TypeAlias = Scan | Climb | Restart


@final
@dataclass(frozen=True, slots=True)
class Done:
    """Outcome of a piece of work.

    Parameters
    ----------
    key, label
        Of a batch: which runs were looked at, empty where no others make the same, and in words.
    last
        Whether there is no such batch any more.
    """

    scores: list[Score] = field(default_factory=list)
    tried: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    best: Score | None = None
    key: Key = ()
    label: str = ""
    last: bool = False


@final
class Worker:
    """Does pieces of work; batches in the order of their numbers, some of which other processes may do.

    Parameters
    ----------
    judge
        Of the theorem; its counts are not touched.
    seed
        Of the random numbers: each piece has its own.
    """

    def __init__(self, judge: Judge, budget: SearchBudget, seed: int) -> None:
        self._judge, self._budget, self._seed = judge, budget, seed
        self._batches, self._next = batches(judge), 0
        self._seen: set[Key] = set()

    def __call__(self, piece: Piece) -> Done:
        """Do it."""
        if isinstance(piece, Scan):
            return self._scan(piece)
        judge = self._judge.aside(piece.before)
        score = self._climb(piece, judge) if isinstance(piece, Climb) else self._restart(piece, judge)
        return Done([] if score is None else [score], judge.tried, judge.refused, judge.best)

    def _scan(self, piece: Scan) -> Done:
        found = None
        while self._next <= piece.index:
            found, self._next = next(self._batches, None), self._next + 1
        if found is None:
            return Done(last=True)
        label, look = found
        judge = self._judge.aside(0)  # nobody knows what the batches before it have tried: each keeps the limit alone
        key, scores = look(judge, self._seen)
        if key:
            self._seen.add(key)
        return Done(scores, judge.tried, judge.refused, judge.best, key, label)

    def _climb(self, piece: Climb, judge: Judge) -> Score:
        def over() -> bool:
            return self._budget.spent(piece.end, judge)

        return optimise(climb(piece.score, judge, over), judge, over, self._random(0, piece.place))

    def _restart(self, piece: Restart, judge: Judge) -> Score | None:
        random = self._random(1, piece.number)
        base = piece.bases[int(random.integers(len(piece.bases)))]
        start = judge.score(perturbed(base, random)) if len(to_vector(base)) else None
        if start is None:
            return None
        return optimise(start, judge, lambda: self._budget.spent(1.0, judge), random, _GENERATIONS)

    def _random(self, kind: int, number: int) -> np.random.Generator:
        return np.random.default_rng([self._seed, kind, number])
