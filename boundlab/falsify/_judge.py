"""Evaluate candidates, whichever way fits, and keep count of what was tried."""

import time
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import Algorithm
from boundlab.assumptions import RUN_IN_BALL, assumption
from boundlab.errors import BoundlabError, shortened
from boundlab.falsify import _candidate as catalog, _expectation, _sides
from boundlab.falsify._candidate import Candidate, behind_tape, tried
from boundlab.falsify._families import parameters
from boundlab.falsify._shared_runs import SharedRun, make_shared_run
from boundlab.falsify._sides import PROMISING, CandidateSides
from boundlab.formulas.symbols import having
from boundlab.instance.applicability import looked_at
from boundlab.theorems import Theorem

_SHARED_RUNS = 12
# What problems are told apart by.
_CONSTANTS = having("function", "noise", "heterogeneity", "start")
_SCHEDULE = having("schedule")
# What engines say, and what floating point does to numbers that nobody would choose; all else is a defect to be seen.
FAILURES = (BoundlabError, ArithmeticError, np.linalg.LinAlgError)


@final
@dataclass(frozen=True, slots=True)
class Score:
    """A candidate with both sides at the horizon where left/right is largest; its iterations are that horizon.

    Parameters
    ----------
    lost
        √(3P) where the left side is a lower bound, see :mod:`boundlab.falsify._noise`; else 0.
    last
        Where the run ended, shape (d,); empty where there is no one run.
    """

    candidate: Candidate
    left: float
    right: float
    ratio: float
    lost: float = 0.0
    last: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))

    @property
    def violates(self) -> bool:
        """True if the left side is above the right one by more than the search rounds; nothing is decided by that."""
        return self.ratio > PROMISING


@final
@dataclass
class Judge:
    """Evaluates candidates for one theorem within a budget.

    Parameters
    ----------
    deadline
        Value of ``time.monotonic()`` at which the search ends.
    limit
        Most candidates, or None: what is asked beyond is not looked at.
    tried, refused
        How many candidates the theorem applied to, by family, and why it did not apply to the others.
    before
        How many candidates another judge had tried when this one was made of it.
    unmet
        The conditions that no instance was found to meet, with the numbers of the nearest one.
    forgiven
        How many were refused of other instances than those that are made to meet the conditions: they say nothing of
        these.
    """

    theorem: Theorem
    deadline: float
    limit: int | None = None
    tried: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    best: Score | None = None
    before: int = 0
    unmet: str = ""
    forgiven: int = 0
    weights: dict[tuple[object, ...], bool] = field(default_factory=dict)
    shared_runs: OrderedDict[tuple[object, ...], SharedRun | BoundlabError] = field(default_factory=OrderedDict)
    fingerprints: dict[tuple[object, ...], bytes] = field(default_factory=dict)

    @property
    def algorithm(self) -> Algorithm[Any]:
        """The theorem's algorithm."""
        return catalog.algorithm(self.theorem.algorithm)

    @property
    def expectation(self) -> bool:
        """True if the theorem is about the mean over random events that exact engines know."""
        return self.algorithm.server == "any"

    @property
    def count(self) -> int:
        """How many candidates were tried."""
        return self.before + self.tried.total()

    @property
    def late(self) -> bool:
        """True if the time is up; a search with a limit of candidates has no end."""
        return self.limit is None and time.monotonic() > self.deadline

    def aside(self, before: int) -> "Judge":
        """Return a judge with counts of its own, after so many candidates; runs that are kept are shared."""
        return replace(self, tried=Counter(), refused=Counter(), best=None, before=before, forgiven=0)

    def join(self, tried: Counter[str], refused: Counter[str], best: Score | None) -> None:
        """Add what a judge that was put aside has counted and found."""
        self.tried.update(tried)
        self.refused.update(refused)
        if best is not None and (self.best is None or best.ratio > self.best.ratio):
            self.best = best

    def scores(self, candidates: Sequence[Candidate], ks: Sequence[int] | None = None) -> list[Score]:
        """Return the scores of candidates to which the theorem applies.

        Parameters
        ----------
        ks
            Horizons to look at; by default about a dozen, or the candidate's own where the theorem is about one.
        """
        found: list[Score] = []
        groups: dict[tuple[object, ...], list[Candidate]] = {}
        for one in candidates:
            if self.late:
                break
            if not self._meets(one):
                continue
            if self._alone(one):
                found += self._one(one, ks) if self._left is None or self._left > 0 else []
            else:
                groups.setdefault((self._tape(one), one.noisy, *sorted(one.step)), []).append(one)
        for group in groups.values():
            if not self.late and (some := group[: self._left]):
                found += self._group(some, ks)
        for score in found:
            if self.best is None or score.ratio > self.best.ratio:
                self.best = score
        return found

    @property
    def _left(self) -> int | None:
        """How many more candidates may be tried; None where there is no limit."""
        return None if self.limit is None else max(self.limit - self.count, 0)

    def score(self, candidate: Candidate) -> Score | None:
        """Return the score of one candidate at its own horizon, None where the theorem does not apply."""
        found = self.scores([candidate], [_expectation.horizon(candidate)])
        return found[0] if found else None

    def refuse(self, reason: object, number: int = 1) -> None:
        """Count candidates that were given up."""
        self.refused[shortened(" ".join(str(reason).split()), 160)] += number

    def _alone(self, one: Candidate) -> bool:
        """Return whether a candidate is evaluated by itself, and not with all that share its runs."""
        if not one.separable or self._weighs(one) or self.theorem.left_reads - {self.theorem.horizon_symbol}:
            return True
        # What holds at every x is decided one by one, and so is where a run goes, and what reads an accuracy.
        if "error" in one.problem or self.theorem.left.over.summed or self.theorem.assume or tried(self.theorem):
            return True
        if RUN_IN_BALL in self.theorem.core.asked:
            return True
        if one.constrained and (one.noisy or "box" in one.problem):
            return True
        return self.expectation and (not one.noisy or one.problem["type"] == "quadratic")

    def _weighs(self, one: Candidate) -> bool:
        """Return whether the algorithm minimises another mean of the f_i than the plain one, or steps along it."""
        key = one.clients, one.constrained, tuple(sorted(one.settings.items()))
        if key not in self.weights:
            try:
                own = parameters(self.theorem, self.algorithm, one.settings)
                p = self.algorithm.objective_weights(own, one.clients)
                self.weights[key] = (one.constrained and self.algorithm.along_mean(own)) or len(set(p or ())) > 1
            except BoundlabError:
                self.weights[key] = False  # making the shared run says what is wrong
        return self.weights[key]

    def _meets(self, candidate: Candidate) -> bool:
        """Return whether the problem meets the assumptions that are checked problem by problem.

        The others hold for a whole family or not at all, and are asked once a tape.
        """
        asked = [name for name in self.theorem.core.asked if assumption(name).check is not None]
        try:
            problem = looked_at(self.theorem, candidate.build())
            for name in asked:
                problem.require(name, self.theorem.id)
        except FAILURES as error:
            self.refuse(error)
            return False
        return True

    def _one(self, candidate: Candidate, ks: Sequence[int] | None) -> list[Score]:
        try:
            sides = _expectation.evaluate(self.theorem, candidate, ks)
        except FAILURES as error:
            self.refuse(error)
            return []
        return self._scored(sides, [candidate])

    def _group(self, group: list[Candidate], ks: Sequence[int] | None) -> list[Score]:
        try:
            sides = _sides.evaluate(self.shared(group[0], ks), group)
        except FAILURES as error:
            if len(group) > 1:
                return [score for one in group for score in self._group([one], ks)]
            self.refuse(error)
            return []
        return self._scored(sides, group)

    def shared(self, candidate: Candidate, ks: Sequence[int] | None = None) -> SharedRun:
        """Return the runs of a candidate's schedule, from the last few if they are there.

        Raises
        ------
        BoundlabError
            If they cannot be made.
        """
        key = (*self._tape(candidate), None if ks is None else tuple(ks))
        if key not in self.shared_runs:
            try:
                self.shared_runs[key] = make_shared_run(self.theorem, candidate, ks)
            except BoundlabError as error:
                self.shared_runs[key] = error.with_traceback(None)
            while len(self.shared_runs) > _SHARED_RUNS:
                self.shared_runs.popitem(last=False)
        self.shared_runs.move_to_end(key)
        found = self.shared_runs[key]
        if isinstance(found, BoundlabError):
            raise type(found)(str(found))
        return found

    def fingerprint(self, candidate: Candidate) -> bytes:
        """Return that of a candidate's runs; where delays change nothing of them, no others are made to tell.

        Raises
        ------
        BoundlabError
            If they cannot be made.
        """
        if self._delayed(candidate):
            return self.shared(candidate).fingerprint
        key = self._tape(replace(candidate, delays=""))
        if key not in self.fingerprints:
            self.fingerprints[key] = self.shared(candidate).fingerprint
        return self.fingerprints[key]

    def _delayed(self, one: Candidate) -> bool:
        """Return whether delays may change a candidate's runs, or what the theorem reads off them or asks of them."""
        theorem, asked = self.theorem, map(assumption, self.theorem.core.asked)
        if self.algorithm.arrivals or theorem.left.in_seconds or not _SCHEDULE.isdisjoint(theorem.inputs()):
            return True
        if any(each.of == "run" and not each.by_construction for each in asked):
            return True
        try:
            own = parameters(theorem, self.algorithm, one.settings)
        except BoundlabError:
            return True
        return any(draw.when(own, one.clients) for draw in self.algorithm.draws)

    def _tape(self, one: Candidate) -> tuple[object, ...]:
        """Return what a candidate's tapes depend on; other rates than the local one may depend on L, mu and others."""
        behind = behind_tape(self.theorem)
        step = tuple(sorted((name, value) for name, value in one.step.items() if name in behind))
        problem = one.problem_spec() if behind & _CONSTANTS else (one.clients, str(one.problem["type"]))
        return problem, step, one.delays, tuple(sorted(one.settings.items())), one.iterations

    def _scored(self, sides: CandidateSides, group: Sequence[Candidate]) -> list[Score]:
        ratio, place = sides.best()
        found = []
        for column, (one, row) in enumerate(zip(group, place.tolist(), strict=True)):
            if ratio[column] < 0.0:
                self.refuse("no step size, a condition that is not met, or a run that diverges: nothing is claimed")
                continue
            self.tried[one.family] += 1
            # The window N needs updates beyond the horizon; the candidate's own iterations include them.
            beyond = 0 if self.theorem.left.in_seconds else one.iterations - int(sides.ks[-1])
            own = replace(one, iterations=int(sides.ks[row]) + beyond)
            left, right = float(sides.left[row, column]), float(sides.right[row, column])
            lost = float(sides.lost[column])
            found.append(Score(own, left, right, float(ratio[column]), lost, sides.last[column]))
        return found
