"""Evaluate candidates, whichever way fits, and keep count of what was tried."""

import time
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

from boundlab.algorithms import Algorithm
from boundlab.assumptions import assumption
from boundlab.errors import BoundlabError
from boundlab.falsify import _catalog as catalog
from boundlab.falsify import _expectation, _noise, _schedules
from boundlab.falsify._candidate import Candidate
from boundlab.falsify._schedules import Bench, Sides
from boundlab.instance.rounding import above
from boundlab.theorems import Theorem

_BENCHES = 8


@final
@dataclass(frozen=True, slots=True)
class Score:
    """A candidate with both sides at the horizon where left/right is largest; its iterations are that horizon.

    Parameters
    ----------
    lost
        √(3P) where the left side is a lower bound, see :mod:`boundlab.falsify._noise`; else 0.
    last
        The server model at the end of the run, 0 where an expectation was taken.
    """

    candidate: Candidate
    left: float
    right: float
    ratio: float
    lost: float = 0.0
    last: float = 0.0

    @property
    def violates(self) -> bool:
        """Whether the left side is above the right one by more than rounding."""
        return above(self.ratio, 1.0)


@final
@dataclass
class Judge:
    """Evaluates candidates for one theorem within a budget.

    Parameters
    ----------
    deadline
        Value of ``time.monotonic()`` after which :attr:`over` is true.
    limit
        Most candidates, or None.
    """

    theorem: Theorem
    deadline: float
    limit: int | None = None
    tried: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    best: Score | None = None
    benches: OrderedDict[tuple[object, ...], Bench] = field(default_factory=OrderedDict)

    @property
    def algorithm(self) -> Algorithm[Any]:
        """The theorem's algorithm."""
        return catalog.algorithm(self.theorem.algorithm)

    @property
    def expectation(self) -> bool:
        """Whether the theorem is about the mean over random events."""
        return self.algorithm.server == "any"

    @property
    def count(self) -> int:
        """How many candidates were tried."""
        return self.tried.total()

    @property
    def over(self) -> bool:
        """Whether time or candidates are used up."""
        return time.monotonic() >= self.deadline or (self.limit is not None and self.count >= self.limit)

    def scores(self, candidates: Sequence[Candidate], ks: Sequence[int] | None = None) -> list[Score]:
        """Return the scores of candidates to which the theorem applies.

        Parameters
        ----------
        ks
            Horizons to look at; by default about a dozen, or the candidate's own where the theorem is about one.
        """
        found: list[Score] = []
        candidates = [one for one in candidates if self._meets(one)]
        quiet = [] if self.expectation else [one for one in candidates if not one.problem["sigma"]]
        for one in candidates if self.expectation else [one for one in candidates if one.problem["sigma"]]:
            found += self._one(one, ks)
        groups: dict[tuple[object, ...], list[Candidate]] = {}
        for one in quiet:
            groups.setdefault(self._tape(one), []).append(one)
        for group in groups.values():
            found += self._group(group, ks)
        for score in found:
            if self.best is None or score.ratio > self.best.ratio:
                self.best = score
        return found

    def _meets(self, candidate: Candidate) -> bool:
        """Return whether the problem meets the assumptions that are checked problem by problem.

        The others hold for a whole family or not at all, and are asked once a tape.
        """
        asked = [name for name in self.theorem.assumptions if assumption(name).check is not None]
        if not asked:
            return True
        try:
            problem = candidate.build()
            for name in asked:
                problem.require(name, self.theorem.id)
        except BoundlabError as error:
            self.refused[_short(error)] += 1
            return False
        return True

    def score(self, candidate: Candidate) -> Score | None:
        """Return the score of one candidate at its own horizon, None where the theorem does not apply."""
        found = self.scores([candidate], [candidate.iterations])
        return found[0] if found else None

    def _one(self, candidate: Candidate, ks: Sequence[int] | None) -> list[Score]:
        lost = 0.0
        try:
            if self.expectation:
                sides = _expectation.evaluate(self.theorem, candidate, ks)
            else:
                sides, lost = _noise.evaluate(self.bench(candidate, ks), candidate)
        except BoundlabError as error:
            self.refused[_short(error)] += 1
            return []
        self.tried[candidate.family] += 1
        return _scored(sides, [candidate], lost)

    def _group(self, group: list[Candidate], ks: Sequence[int] | None) -> list[Score]:
        try:
            bench = self.bench(group[0], ks)
            sides = _schedules.evaluate(bench, group)
        except BoundlabError as error:
            self.refused[_short(error)] += len(group)
            return []
        for one in group:
            self.tried[one.family] += 1
        return _scored(sides, group, 0.0)

    def bench(self, candidate: Candidate, ks: Sequence[int] | None = None) -> Bench:
        """Return the tape of a candidate's schedule, from the last few if it is there."""
        key = (*self._tape(candidate), None if ks is None else tuple(ks))
        if key not in self.benches:
            self.benches[key] = _schedules.make_bench(self.theorem, candidate, ks)
            while len(self.benches) > _BENCHES:
                self.benches.popitem(last=False)
        self.benches.move_to_end(key)
        return self.benches[key]

    def _tape(self, one: Candidate) -> tuple[object, ...]:
        """Return what a candidate's tape depends on; other rates than the local one may depend on L and mu."""
        server = _schedules.server_rates(self.theorem)
        weights = tuple(one.problem["w"]) if server else one.clients
        return weights, one.delays, tuple(sorted(one.settings.items())), one.iterations


def _short(error: BoundlabError) -> str:
    return " ".join(str(error).split())[:120]


def _scored(sides: Sides, group: Sequence[Candidate], lost: float) -> list[Score]:
    from dataclasses import replace

    ratio, place = sides.best()
    found = []
    for column, (one, row) in enumerate(zip(group, place.tolist(), strict=True)):
        if ratio[column] > 0.0:
            # The window N needs updates beyond the horizon; the candidate's own iterations include them.
            beyond = one.iterations - int(sides.ks[-1])
            own = replace(one, iterations=int(sides.ks[row]) + beyond)
            left, right = float(sides.left[row, column]), float(sides.right[row, column])
            found.append(Score(own, left, right, float(ratio[column]), lost, float(sides.last[column])))
    return found
