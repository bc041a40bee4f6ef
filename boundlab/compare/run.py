"""From a plan to a comparison: which values are computed, which are sampled, and what they say."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from boundlab.compare.judge import (
    MORE,
    Band,
    Comparison,
    band,
    judge_computed,
    judge_sample,
    kept,
    require_band,
    trivial_bound,
)
from boundlab.compare.sharp import UNASKED, at_minimum, decide, decide_expected, sharpen, trial_exactly
from boundlab.compare.trials import (
    TELLING,
    Sides,
    Trials,
    certain,
    common_bound,
    common_terms,
    compute_trials,
    enclose_trials,
    expectation,
    given_schedule_operations,
    require_given_schedule,
    run_trials,
    trial_tape,
)
from boundlab.errors import SpecError
from boundlab.expectation import AFFORDABLE, engine, operations
from boundlab.files import Document, schema
from boundlab.instance.applicability import MetricEnclosure, certain_range
from boundlab.instance.plan import Plan
from boundlab.metrics import Enclosure
from boundlab.options import Axis, BandKind
from boundlab.randomness import Floats
from boundlab.result import Tabular, drawn
from boundlab.simulate import NUMPY, Backend
from boundlab.tape import statistics
from boundlab.theorems import Theorem
from boundlab.verdict import Verdict, counted, joint_verdict

_NOT_ENCLOSED = (
    "rounding of trial {} is not enclosed (a step near a kink, or a problem that does not say how far its gradients "
    "round), and no exact numbers reach this run"
)
_MOST_SAMPLED = 2_000  # expectations of which a left side is the smallest
_ROUNDED = 4.0 * float(np.finfo(np.float64).eps)


def compare(
    plan: Plan,
    trials: int,
    seed: int,
    level: float = 0.99,
    kind: BandKind = "bootstrap",
    progress: Callable[[int], None] | None = None,
    *,
    exact: bool | None = None,
    enclose: bool = False,
    backend: Backend = NUMPY,
) -> Comparison:
    """Compute or sample the left side of a plan and compare it with the bound.

    Parameters
    ----------
    trials, level, kind
        Of a sample; see :func:`boundlab.compare.band`.
    exact
        True: compute expectations in place of sampling, over the events and the noise where an engine does both, else
        over the noise given each trial's schedule. None: do so where the predicted number of operations is at most
        :data:`boundlab.expectation.AFFORDABLE`. False: sample.
    enclose
        Whether what the digits of floats leave open is decided in exact numbers however long that takes; else where
        that is predicted to be as cheap.
    backend
        Where trials that are sampled run.

    Raises
    ------
    SpecError
        If there are too few trials or the level is out of range; with ``exact``, if no engine applies.
    """
    require_band(level, kind)
    budget = np.inf if enclose else AFFORDABLE
    if exact is not False and (computed := expectation(plan, unasked=exact is None)) is not None:
        result = _expected(plan, *computed, seed, budget)
        proved = bool(np.isfinite(computed[0].upper).all())
        if exact or proved or plan.theorem.shape or result.verdict is not Verdict.INCONCLUSIVE:
            return result
        # A sample says more than a number of whose rounding nothing is known.
    noisy, alone = not plan.problem.noiseless, certain(plan)
    unasked, given, number = exact is None, plan.own_case or alone, None
    if exact:
        require_given_schedule(plan)
    elif unasked:
        # A number for each schedule is worth more than a sample only where the bound is about each schedule.
        quadratic = given and noisy and plan.problem.quadratic() is not None
        schedules = 1 if alone or plan.metric.in_seconds else trials
        exact = quadratic and schedules * given_schedule_operations(plan, trial_tape(plan, seed, 0)) <= AFFORDABLE
    if given and (exact or not noisy):
        number = _each_schedule(plan, 1 if alone else trials, seed, progress, budget, backend)
        if not (noisy and unasked) or plan.theorem.shape or number.verdict is not Verdict.INCONCLUSIVE:
            return number
        exact = False  # a sample says more than a number of whose digits rounding leaves none
    if trials < 2:
        raise SpecError(f"this run draws {'noise' if alone else 'its schedule'}: at least 2 trials, got {trials}")
    if plan.metric.over.of_expectations and not exact:
        parts = _each_expectation(plan)
        found = run_trials(plan, trials, seed, progress, backend=backend, each_of=parts)
        return _sampled(plan, found, seed, level, "student", backend, budget, "", MORE, parts)
    if exact:  # a sample of schedules
        found = compute_trials(plan, trials, seed, progress, backend)
    else:
        found = run_trials(plan, trials, seed, progress, backend=backend)
    averaged, decides = "given schedules" if exact else "", MORE
    if number is not None:
        decides = f"computed, digits are lost: {number.reason}"
    elif not exact:
        decides = _deciding(plan, seed, given=given, tried=unasked)
    result = _sampled(plan, found, seed, level, kind, backend, budget, averaged, decides)
    narrow = number is not None and (number.band.upper - number.band.lower <= TELLING * number.bound).all()
    return number if number and narrow and result.verdict is Verdict.INCONCLUSIVE else result


def _deciding(plan: Plan, seed: int, *, given: bool, tried: bool) -> str:
    """Return what decides where a sample does not, in words.

    Parameters
    ----------
    given
        Whether the bound is about each schedule, or there is one alone.
    tried
        Whether what is cheap was tried: a kink was in the way.
    """
    if given:
        cost = given_schedule_operations(plan, trial_tape(plan, seed, 0))
    else:
        cost = operations(*plan.random_run, iterations=plan.iterations)
    possible = np.isfinite(cost) and not (tried and cost <= AFFORDABLE)
    return f"the option exact computes it (about {max(1.0, cost / 1e9):.0f} s)" if possible else MORE


def _each_expectation(plan: Plan) -> Plan:
    """Return the plan about all expectations of which the left side is the smallest one.

    Raises
    ------
    SpecError
        If there are several horizons, or too many expectations; or if the bound depends on the schedule.
    """
    each = plan.metric.over.each(int(plan.ks[-1]))
    several = len(plan.ks) > 1 or (set(plan.values) - set(plan.fixed) and not plan.metric.in_seconds)
    if each is None or several or len(each[1]) > _MOST_SAMPLED:
        reason = engine(*plan.random_run)[1] or "it takes too many operations (the option exact does not mind)"
        if plan.metric.over.at_mean:
            raise SpecError(f"{plan.theorem.id} is about a mean iterate, which no run shows: {reason}")
        raise SpecError(
            f"{plan.theorem.id} is about a smallest expectation, which no run shows, and nothing computes it: {reason}"
            f"; of {_MOST_SAMPLED} expectations at most at one horizon under one bound samples are taken"
        )
    over, ks = each
    return replace(plan, metric=replace(plan.metric, over=over), ks=ks, schedules=None)


def _expected(plan: Plan, left: Enclosure, method: str, seed: int, budget: float) -> Comparison:
    """Judge an expectation over the events and the noise."""
    shape = (1, len(plan.ks))
    sides = Sides(left.spread(shape), plan.right_sides().spread(shape))
    if not (plan.theorem.shape or plan.metric.over.summed):  # no exact numbers are asked of a sum
        decide_expected(plan, sides, budget)
    verdict, reason = kept(plan, judge_computed(plan, sides), sides.ratio)
    left = sides.left
    band_ = Band(left.value[0], left.lower[0], left.upper[0], 1.0, method, 0)
    shown, still = statistics(trial_tape(plan, seed, 0)), trivial_bound(plan, plan.bound)
    return Comparison(plan, band_, plan.bound, plan.terms, verdict, reason, seed, shown, 0, still, "expectation")


def _each_schedule(
    plan: Plan, trials: int, seed: int, progress: Callable[[int], None] | None, budget: float, backend: Backend
) -> Comparison:
    """Judge numbers, each for its own schedule."""
    found = compute_trials(plan, trials, seed, progress, backend)
    plan, sides = plan.leaning(found.open), Sides(found.left, found.right)
    again = (
        sharpen(plan, found, sides, seed, UNASKED if np.isfinite(budget) else budget) if plan.problem.noiseless else ""
    )
    if not (plan.theorem.shape or plan.metric.over.summed):
        decide(plan, found, sides, seed, budget)
    worst = sides.worst(np.ones_like(sides.above))[0]
    bound = common_bound(sides.right.value)
    with np.errstate(over="ignore", invalid="ignore"):
        # Equal bounds leave the values as they are, to the last digit.
        scale = np.where(sides.right.value == bound, 1.0, bound / np.maximum(sides.right.value, 1e-300))
        value, lower, upper = (scale * one for one in (sides.left.value, sides.left.lower, sides.left.upper))
    words = "no noise" if plan.problem.noiseless else "expectations over the noise"
    how = "smallest and largest of the trials, each a number for its own schedule"
    method = f"{words}: {'the one schedule that all trials have' if certain(plan) else how}{again}"
    if loose := int((upper.max(axis=0) - value.max(axis=0) > TELLING * bound).sum()):
        method += f"; at {loose} of {len(bound)} points the largest is how far rounding may lead (the option enclose)"
    left = Band(value.mean(axis=0), lower.min(axis=0), upper.max(axis=0), 1.0, method, trials)
    terms = common_terms(found.terms, sides.right.value)
    verdict, reason = kept(plan, judge_computed(plan, sides), sides.ratio, found.known)
    how = "" if plan.problem.noiseless else "given schedules"
    still = trivial_bound(plan, bound)
    return Comparison(plan, left, bound, terms, verdict, reason, seed, found.statistics[worst], worst, still, how)


def _sampled(
    plan: Plan, found: Trials, seed: int, level: float, kind: BandKind, backend: Backend, budget: float, averaged: str,
    decides: str, each_of: Plan | None = None,
) -> Comparison:  # fmt: skip
    """Judge a sample; what it decides, it decides by trials whose rounding is enclosed.

    Parameters
    ----------
    budget
        About how many operations exact numbers may take.
    averaged
        What each trial averages exactly, if anything: then its rounding is enclosed.
    decides
        What does where the sample does not, in words.
    each_of
        The plan of the trials, where the left side is the smallest of their expectations: the band covers all of these
        at once.
    """
    each, trials = found.right, len(found.statistics)
    bound, range_ = common_bound(each.value), None if each_of else _range(plan)
    with np.errstate(over="ignore", invalid="ignore"):
        worst = int(np.argmax((found.left.lower / np.maximum(each.value, 1e-300)).max(axis=1)))

    def judged(low: Floats, high: Floats) -> tuple[Verdict, str, Band]:
        with np.errstate(over="ignore", invalid="ignore"):
            low, high, right = _to_common(low, high, each, bound)
            left = band(low, high, level, kind, seed)
            if each_of:
                left = _smallest(left)
            return judge_sample(plan, left, high, right, range_, decides)

    verdict, reason, left = judged(found.left.lower, found.left.upper)
    if verdict in (Verdict.VIOLATED, Verdict.HOLDS) and not averaged:
        most = UNASKED if np.isfinite(budget) else budget
        exactly = partial(trial_exactly, each_of or plan, seed, most / trials, cache(partial(at_minimum, plan)))
        ends = enclose_trials(each_of or plan, trials, seed, backend, exactly)
        open_ = np.flatnonzero(~np.isfinite(ends.upper).all(axis=1))
        if len(open_):
            verdict, reason = Verdict.INCONCLUSIVE, _NOT_ENCLOSED.format(1 + open_[0])
        else:
            verdict, reason, left = judged(ends.lower, ends.upper)
    with np.errstate(divide="ignore", invalid="ignore"):
        verdict, reason = kept(each_of or plan, (verdict, reason), left.lower / bound, found.known)
    shown, still = found.statistics[worst], trivial_bound(plan, bound)
    terms = common_terms(found.terms, each.value)
    return Comparison(plan, left, bound, terms, verdict, reason, seed, shown, worst, still, averaged, range_, backend)


def _smallest(left: Band) -> Band:
    """Return the band of the smallest of several expectations: no lower than all lower ends, no higher than one."""
    mean, lower, upper = (np.array([one.min()]) for one in (left.mean, left.lower, left.upper))
    return replace(left, mean=mean, lower=lower, upper=upper, method=f"of the smallest expectation; {left.method}")


def _to_common(low: Floats, high: Floats, each: Enclosure, bound: Floats) -> tuple[Floats, Floats, Enclosure]:
    """Return trials relative to one bound, outwards; equal bounds leave them as they are, to the last digit."""
    if (each.value == bound).all():
        return low, high, Enclosure(bound, each.lower[0], each.upper[0])
    with np.errstate(over="ignore", invalid="ignore"):
        low = low * (bound / np.maximum(each.upper, 1e-300)) * (1.0 - _ROUNDED)
        high = high * (bound / np.maximum(each.lower, 1e-300)) * (1.0 + _ROUNDED)
    return low, high, Enclosure(bound, bound, bound)


def _range(plan: Plan) -> MetricEnclosure | None:
    """Return the range of the left side; None also where the bound is another one for each schedule.

    Then trials count relative to their bounds, and how small a bound can become is not known.
    """
    if set(plan.values) - set(plan.fixed):
        return None
    return certain_range(plan.metric, plan.problem, plan.algorithm, plan.parameters, plan.ks)


# Comparisons at several horizons, judged together.


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Horizons(Tabular):
    """Comparisons at several horizons, a separate run for each, judged together.

    Parameters
    ----------
    comparisons
        By increasing horizon.
    """

    comparisons: tuple[Comparison, ...]

    @property
    def theorem(self) -> Theorem:
        """Compared theorem."""
        return self.comparisons[0].plan.theorem

    @property
    def iterations(self) -> list[int]:
        """The horizons."""
        return [one.plan.iterations for one in self.comparisons]

    @property
    def verdict(self) -> Verdict:
        """Joint verdict of all comparisons: ``violated`` at one horizon refutes the theorem."""
        return joint_verdict([one.verdict for one in self.comparisons])

    @property
    def deciding(self) -> Comparison:
        """The horizon that decides: of those with the verdict of all, the one at which the bound is nearest."""
        own = [one for one in self.comparisons if one.verdict is self.verdict]
        return max(own, key=lambda one: float(one.ratio.max()))

    @property
    def vacuous(self) -> str:
        """Why the theorem is vacuous, which it is where it is so at every horizon; empty where it is not."""
        return self.deciding.vacuous if all(one.vacuous for one in self.comparisons) else ""

    @property
    def headline(self) -> str:
        """The verdict, and whether the bound is vacuous."""
        return self.deciding.headline if self.vacuous else self.verdict.value

    @property
    def reason(self) -> str:
        """Why, by the horizon that decides; before it the counts of the verdicts, where not all are the same."""
        found, empty = [one.verdict for one in self.comparisons], sum(bool(one.vacuous) for one in self.comparisons)
        apart = f"of {len(found)} horizons {counted(found)}; " if len(set(found)) > 1 else ""
        if not (apart or empty) and self.verdict is Verdict.HOLDS:
            apart = f"at all {len(found)} horizons; the closest: "
        if self.vacuous or not empty or self.verdict is Verdict.VIOLATED:
            return f"{apart}{self.deciding.explanation}"
        return f"{apart}vacuous at {empty} of {len(found)} horizons; {self.deciding.reason}"

    @property
    def case(self) -> Document:
        """The case file of the horizon that decides."""
        return self.deciding.case

    def line(self) -> str:
        """Return theorem, horizons and verdict."""
        first, *more = self.iterations
        several = f"{len(more) + 1} horizons {first} … {more[-1]}" if more else f"the horizon {first}"
        return f"{self.theorem.id} at {several}: {self.headline}: {self.reason}"

    def columns(self) -> dict[str, Any]:
        """Return a row for each horizon, with its verdict."""
        every = [one.columns() for one in self.comparisons]
        numbers = {name: np.array([one[name][-1] for one in every]) for name in every[0]}
        return {**numbers, "verdict": np.array([one.verdict.value for one in self.comparisons])}

    def plot(
        self, ax: Any = None, *, terms: bool = False, others: "Sequence[Horizons]" = (), axis: Axis = "iterations"
    ) -> Any:
        """Draw left sides and bounds over the horizons; parameters are those of :meth:`Comparison.plot`."""
        return drawn("draw_comparison", self, ax, terms, others, axis)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {
            "schema": schema("horizons"),
            "theorem": self.theorem.id,
            "iterations": self.iterations,
            "verdict": self.verdict.value,
            "reason": self.reason,
            "comparisons": [one.as_dict() for one in self.comparisons],
        }
