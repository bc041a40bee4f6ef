"""Evaluate candidates, whichever way fits, and keep count of what was tried."""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, final

import numpy as np

from boundlab.algorithms import Algorithm
from boundlab.errors import AssumptionError, BoundlabError, SpecError, SymbolError, shortened
from boundlab.expectation import left_side, operations
from boundlab.falsify import _candidate as catalog, _shared_runs
from boundlab.falsify._candidate import Candidate, flat, iid, rounding, server_rates, shaped, tried
from boundlab.falsify._families import parameters
from boundlab.falsify._shared_runs import (
    PROMISING,
    CandidateSides,
    SharedRun,
    make_shared_run,
    points_of,
    several,
    tapes,
)
from boundlab.formulas.symbols import having, names_of
from boundlab.instance import Plan, make_plan
from boundlab.instance.applicability import looked_at
from boundlab.instance.schedules import Schedules
from boundlab.metrics import Enclosure, Quantity, terms_of
from boundlab.randomness import Floats
from boundlab.theorems import Condition, Theorem, met, once

_SHARED_RUNS = 12
_KEPT: Final = 256  # candidates that are asked for once more: shrinking begins again and again
_HOPELESS = 10  # refused candidates for each that was tried, after which the theorem seems to apply to hardly anything
_SILENT = "no step size, a condition that is not met, or a run that diverges: nothing is claimed"
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
        √(3P) where the left side is a lower bound, see :mod:`boundlab.falsify._shared_runs`; else 0.
    last
        Where the run ended, shape (d,); empty where there is no one run.
    """

    candidate: Candidate
    left: float
    right: float
    ratio: float
    lost: float = 0.0
    last: Floats = field(default_factory=lambda: np.empty(0))

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
    clients
        The most that a candidate had to which the theorem applied.
    forgiven
        How many were refused of other instances than those that are made to meet the conditions: they say nothing of
        these.
    begin
        Value of ``time.monotonic()`` at which the search begins.
    """

    theorem: Theorem
    deadline: float
    limit: int | None = None
    tried: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    best: Score | None = None
    before: int = 0
    unmet: str = ""
    clients: int = 0
    forgiven: int = 0
    shared_runs: OrderedDict[tuple[object, ...], SharedRun | BoundlabError] = field(default_factory=OrderedDict)
    fingerprints: dict[tuple[object, ...], bytes] = field(default_factory=dict)
    begin: float = field(default_factory=time.monotonic)

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

    @property
    def seconds(self) -> float:
        """How long the search may take."""
        return self.deadline - self.begin

    def spent(self, share: float) -> bool:
        """Return whether this share of the budget is used up; too many refusals use it up as well."""
        used = self.limit is not None and (
            self.count >= share * self.limit
            or self.refused.total() - self.forgiven >= _HOPELESS * (self.count + min(self.limit, 100))
        )
        return used or time.monotonic() >= self.begin + share * self.seconds

    def aside(self, before: int) -> "Judge":
        """Return a judge with counts of its own, after so many candidates; runs that are kept are shared."""
        return replace(self, tried=Counter(), refused=Counter(), best=None, before=before, forgiven=0)

    def join(self, tried: Counter[str], refused: Counter[str], clients: int, best: Score | None) -> None:
        """Add what a judge that was put aside has counted and found."""
        self.tried.update(tried)
        self.refused.update(refused)
        self.clients = max(self.clients, clients)
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
                found += self._group([one], ks, alone=True) if self._left is None or self._left > 0 else []
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
        found = self.scores([candidate], [candidate.horizon])
        return found[0] if found else None

    def count_in(self, family: str, clients: int) -> None:
        """Count an instance that the theorem applies to."""
        self.tried[family] += 1
        self.clients = max(self.clients, clients)

    def refuse(self, reason: object, number: int = 1) -> None:
        """Count candidates that were given up."""
        self.refused[shortened(" ".join(str(reason).split()), 240)] += number

    @cached_property
    def _one_by_one(self) -> bool:
        """True if no candidate of the theorem shares its runs.

        Then it says what holds at every x or where a run goes, reads an accuracy, or has weights or terms on the left.
        """
        theorem = self.theorem
        along = theorem.assume or any(one.along for one in theorem.core.asked)
        weighed = theorem.left_reads - {theorem.horizon_symbol} or theorem.left.over.summed
        return bool(along or weighed or tried(theorem))

    @cached_property
    def _behind(self) -> frozenset[str]:
        """The symbols that the rates of a tape follow from: runs are shared only where these are the same."""
        return self.theorem.read_by({*server_rates(self.theorem), *self.theorem.rule_reads})

    def _alone(self, one: Candidate) -> bool:
        """Return whether a candidate is evaluated by itself, and not with all that share its runs."""
        if self._one_by_one or not one.separable or "error" in one.problem:
            return True
        if _weighs(self.theorem, one.clients, tuple(sorted(one.settings.items())), mean=one.constrained):
            return True
        if one.constrained and (one.noisy or "box" in one.problem):
            return True
        return self.expectation and (not one.noisy or one.problem["type"] == "quadratic")

    @cached_property
    def _on_clients(self) -> tuple[Condition, ...]:
        """The conditions that the number of clients alone meets or breaks."""
        theorem = self.theorem
        read = ((one, theorem.read_by(names_of(one.quantity) | names_of(one.limit))) for one in theorem.conditions)
        return tuple(one for one, names in read if names == {"n"})

    def speaks_of(self, clients: int) -> bool:
        """Return whether the theorem may say something of so many clients: else nothing of their runs is looked at."""
        return all(met(self.theorem, one, {"n": Fraction(clients)}) for one in self._on_clients)

    @cached_property
    def _asked(self) -> tuple[str, ...]:
        """The assumptions that are checked problem by problem."""
        return tuple(one.id for one in self.theorem.core.asked if one.check is not None)

    def _meets(self, candidate: Candidate) -> bool:
        """Return whether the problem meets the assumptions that are checked problem by problem.

        The others hold for a whole family or not at all, and are asked once a tape.
        """
        if not self.speaks_of(candidate.clients):
            self.refuse(_SILENT)
            return False
        try:
            problem = looked_at(self.theorem, candidate.build())
            for name in self._asked:
                problem.require(name, self.theorem.id)
        except FAILURES as error:
            self.refuse(error)
            return False
        return True

    def _group(self, group: list[Candidate], ks: Sequence[int] | None, *, alone: bool = False) -> list[Score]:
        """Return the scores of candidates that share their runs, or of one that is ``alone``."""
        try:
            first = group[0]
            sides = evaluate(self.theorem, first, ks) if alone else _shared_runs.evaluate(self.shared(first, ks), group)
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
        theorem = self.theorem
        if self.algorithm.arrivals or theorem.left.in_seconds or not _SCHEDULE.isdisjoint(theorem.inputs()):
            return True
        if any(each.of == "run" and not each.by_construction for each in theorem.core.asked):
            return True
        try:
            own = parameters(theorem, self.algorithm, one.settings)
        except BoundlabError:
            return True
        return any(draw.when(own, one.clients) for draw in self.algorithm.draws)

    def _tape(self, one: Candidate) -> tuple[object, ...]:
        """Return what a candidate's tapes depend on; other rates than the local one may depend on L, mu and others."""
        step = tuple(sorted((name, value) for name, value in one.step.items() if name in self._behind))
        problem = one.identity if self._behind & _CONSTANTS else (one.clients, str(one.problem["type"]))
        return problem, step, one.delays, tuple(sorted(one.settings.items())), one.iterations

    def _scored(self, sides: CandidateSides, group: Sequence[Candidate]) -> list[Score]:
        ratio, place = sides.best()
        found = []
        for column, (one, row) in enumerate(zip(group, place.tolist(), strict=True)):
            if ratio[column] < 0.0:
                self.refuse(_SILENT)
                continue
            self.count_in(one.family, one.clients)
            # The window N needs updates beyond the horizon; the candidate's own iterations include them.
            beyond = 0 if self.theorem.left.in_seconds else one.iterations - int(sides.ks[-1])
            own = replace(one, iterations=int(sides.ks[row]) + beyond)
            left, right = float(sides.left[row, column]), float(sides.right[row, column])
            found.append(Score(own, left, right, float(ratio[column]), float(sides.lost[column]), sides.last[column]))
        return found


@once(_KEPT)
def _weighs(theorem: Theorem, clients: int, settings: tuple[tuple[str, str], ...], *, mean: bool) -> bool:
    """Return whether an algorithm minimises another mean of the f_i than the plain one; ``mean``: or steps along it."""
    algorithm = catalog.algorithm(theorem.algorithm)
    try:
        own = parameters(theorem, algorithm, dict(settings))
        p = algorithm.objective_weights(own, clients)
    except BoundlabError:
        return False  # making the shared run says what is wrong
    return (mean and algorithm.along_mean(own)) or len(set(p or ())) > 1


# Candidates one by one, on any problem: by the ways of a comparison, or over all event sequences.

_UPDATES: Final = 512  # of a statement in seconds
_MOST: Final = 3e7  # operations of one candidate: a tenth of a second


@once(_KEPT)
def plan_of(theorem: Theorem, candidate: Candidate, *ks: int) -> Plan:
    """Return the plan of a comparison on the candidate at some horizons; by default at its own.

    Raises
    ------
    BoundlabError
        If problem, delays, options and theorem do not fit each other.
    """
    algorithm, problem = catalog.algorithm(theorem.algorithm), candidate.build()
    delays, policy = catalog.delays(candidate.delays, problem.n, theorem.algorithm)
    return make_plan(
        theorem,
        problem,
        delays,
        policy,
        candidate.iterations,
        candidate.all_settings(),
        ks=np.array(ks or [candidate.horizon], dtype=np.int64),
        algorithm=algorithm,
        most=_UPDATES,
    )


def evaluate(theorem: Theorem, candidate: Candidate, ks: Sequence[int] | None = None) -> CandidateSides:
    """Return both sides; the right one is inf where a condition is not met.

    Raises
    ------
    AssumptionError
        If problem, delays or options do not fit the theorem.
    SpecError
        If no exact engine applies.
    """
    return _evaluate(theorem, candidate, tuple(points_of(theorem, candidate.horizon, ks).tolist()))


@once(_KEPT)
def _evaluate(theorem: Theorem, candidate: Candidate, ks: tuple[int, ...]) -> CandidateSides:
    points = np.array(ks)
    nothing = CandidateSides(
        points, np.zeros((len(points), 1)), np.full((len(points), 1), np.inf), [np.empty(0)], np.zeros(1)
    )
    try:
        plan = plan_of(theorem, candidate, *ks)
    except SymbolError:
        return nothing
    except AssumptionError as error:
        if any(condition.statement in str(error) for condition in theorem.conditions):
            return nothing
        raise
    if plan.metric.quantity is Quantity.DISTANCE and plan.problem.optimum().distance is None:
        raise SpecError("no unique minimiser")
    found = left_of(plan, candidate)
    # Nothing but its ends confirms a violation of a function without fractions.
    ends = terms_of(plan.metric) or not (candidate.independent or plan.problem.rational({}))
    left = found.lower if ends else found.value
    if candidate.separable and not terms_of(plan.metric):
        left = left - rounding(plan.metric, candidate, candidate.iterations)
    return CandidateSides(plan.ks, left[:, None], plan.bound[:, None].copy(), [np.empty(0)], np.zeros(1))


def left_of(plan: Plan, candidate: Candidate, lost: float = 0.0) -> Enclosure:
    """Enclose the left side at all points of a plan.

    Parameters
    ----------
    lost
        √(3P) of a run with normal noise that leaves the quadratic part of its functions with a probability of at most
        P, see :class:`boundlab.falsify._shared_runs.LinearRun`: the left side is then one of quadratics, and only
        its lower end holds.
    """
    noisy = candidate.noisy and not candidate.carried
    if plan.algorithm.server == "any" or (noisy and (plan.one_schedule or not plan.own_case)):
        return left_side(*plan.random_run, plan.iterations, plan.ks)
    return run_by_run(plan, candidate, lost)


def run_by_run(plan: Plan, candidate: Candidate, lost: float = 0.0) -> Enclosure:
    """Enclose the left side as :func:`left_of`, by each run that there may be: a way of its own to a mean over events.

    Raises
    ------
    SpecError
        If these are too many.
    """
    from boundlab.expectation import moments

    problem = candidate.quadratic().build() if candidate.carried else plan.problem
    schedules = Schedules(
        plan.theorem,
        plan.algorithm,
        plan.problem.n,
        plan.delays,
        plan.policy,
        plan.iterations,
        0,
        plan.parameter_values,
    )
    if plan.metric.over.summed and several(schedules):  # sequence by sequence, and term by term, takes too long
        if operations(*plan.random_run, plan.iterations) > _MOST:
            raise SpecError("this sum takes too many operations for a search")
        return left_side(*plan.random_run, plan.iterations, plan.ks)
    total = np.zeros((3, len(plan.ks)))
    for share, own in plan.summands:
        for tape, weight in tapes(schedules, own.metric.records(plan.ks)):
            found = moments.left_side(own.metric, problem, tape, plan.ks)
            total += float(share) * weight * np.array([found.value, found.lower, found.upper])
    value, lower, upper = total
    kept = max(0.0, 1.0 - lost)
    return Enclosure(kept * value, kept * lower * (1.0 - 1e-9), upper * (1.0 + 1e-9))


# Local optimisation of left/right over the continuous numbers of a candidate: generations that share their runs.

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
        made = {one.key: (one, z) for one, z in ((from_vector(score.candidate, z), z) for z in points)}
        better = False
        for found in judge.scores([one for one, _ in made.values()], [score.candidate.horizon]):
            key = replace(found.candidate, iterations=score.candidate.iterations).key
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
    out: list[float] = []

    def keep(value: float, entry: float) -> float:
        out.append(entry)
        return value

    _moved(candidate, lambda value: keep(value, float(np.log(value))), lambda value: keep(value, value))
    return np.array(out, dtype=np.float64)


def from_vector(candidate: Candidate, z: Floats) -> Candidate:
    """Return the candidate with these numbers."""
    entries = iter(z.tolist())
    return _moved(candidate, lambda _: float(np.exp(next(entries))), lambda _: next(entries))


def _moved(candidate: Candidate, size: Callable[[float], float], place: Callable[[float], float]) -> Candidate:
    """Return the candidate with each positive number and each other one as two functions move it, in one order."""
    problem: dict[str, Any] = dict(candidate.problem)
    found = replace(candidate, step={name: size(value) for name, value in candidate.step.items()})
    if candidate.sampled:
        found = found.with_problem(**{name: shaped(problem[name], map(place, flat(problem[name]))) for name in _DATA})
    if candidate.separable:
        problem |= {name: size(problem[name]) for name in _SIZES if problem.get(name)}
        w, c, start = candidate.rows("w"), candidate.rows("c"), candidate.start()
        w.reshape(-1)[1:] = [size(max(one, _SMALLEST)) for one in w.reshape(-1)[1:].tolist()]
        c[1:] = np.reshape([place(one) for one in c[1:].reshape(-1).tolist()], c[1:].shape)
        start[:] = [place(one) for one in start.tolist()]
        found = replace(found, problem=problem).with_arrays(w, c, start)
    odds = np.array([size(one) for one in _probabilities(candidate)])
    return replace(found, delays=iid((odds / (1.0 + odds.sum())).tolist())) if len(odds) else found


def _probabilities(candidate: Candidate) -> list[float]:
    """Return p_i/p_s of i.i.d. events, or nothing."""
    p = candidate.shares()
    return [value / (1.0 - sum(p)) for value in p]
