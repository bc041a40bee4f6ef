"""Independent trials of a plan."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from boundlab import theorems
from boundlab.delays import frequencies
from boundlab.errors import AssumptionError, SpecError, UndecidedError
from boundlab.events import Events
from boundlab.execute import iterates
from boundlab.execute.floats import run
from boundlab.expectation import AFFORDABLE, engine, left_side, operations
from boundlab.instance.plan import Plan
from boundlab.instance.schedules import explain, kept_by_all
from boundlab.metrics import Enclosure, Proved, Watch, terms_of
from boundlab.objective import Array, Oracle
from boundlab.randomness import Floats, Streams
from boundlab.simulate import NUMPY, Backend, in_order, run_work
from boundlab.simulate.work import Work, collect, compile_trial
from boundlab.tape import RecordAt, Statistics, Tape, statistics
from boundlab.theorems import Evaluation

# Computed left sides beside their bounds: what is proved of them, and what their digits leave open.

Flags = NDArray[np.bool_]
_NARROW: Final = 1e-6
TELLING: Final = 1e-3  # of the bound: an end of an enclosure further above the largest value is told apart from it


@dataclass(slots=True)
class Budget:
    """About how many operations may be spent in all, infinite: as many as it takes; and how many more were needed."""

    left: float
    needed: float = 0.0

    def spend(self, cost: float) -> bool:
        """Return whether there is so much, and take it."""
        if cost > self.left:
            self.needed += cost
            return False
        self.left -= cost
        return True


@final
@dataclass(slots=True)
class Sides:
    """Left and right sides, shape (trials, points) each; where nothing is sampled, one trial stands for all.

    Parameters
    ----------
    left, right
        With the ends that floats prove; those of the left sides move in where exact numbers are asked.
    above, below
        Where the left side is proved to be larger than the right one, and where it is proved not to be.
    tied, agreed
        Where neither is: whether no digits tell them apart, and whether half the digits find the same side below.
    cost
        About how many operations would decide what is open; infinite where no engine can.
    """

    left: Enclosure
    right: Enclosure
    above: Flags = field(init=False)
    below: Flags = field(init=False)
    tied: Flags = field(init=False)
    agreed: Flags = field(init=False)
    cost: float = float("inf")

    def __post_init__(self) -> None:
        self.left = Enclosure(self.left.value.copy(), self.left.lower.copy(), self.left.upper.copy())
        self.compare()
        self.tied, self.agreed = np.zeros_like(self.above), np.zeros_like(self.above)

    def compare(self) -> None:
        """Write down what the ends of both sides tell."""
        self.above = self.left.lower > self.right.upper
        self.below = self.left.upper <= self.right.lower

    def narrow(self, trials: list[int], point: int, value: float, lower: float, upper: float) -> None:
        """Write down between which ends another engine proves a left side to lie, in trials that are alike.

        Raises
        ------
        RuntimeError
            If they exclude what is proved already: one of the two is wrong.
        """
        left = self.left
        for trial in trials:
            low, high = max(left.lower[trial, point], lower), min(left.upper[trial, point], upper)
            if low > high:
                known = f"{left.lower[trial, point]!r} to {left.upper[trial, point]!r}"
                raise RuntimeError(f"a left side is proved to lie in {known} and in {lower!r} to {upper!r}")
            left.lower[trial, point], left.upper[trial, point] = low, high
            if not low <= left.value[trial, point] <= high:
                left.value[trial, point] = min(max(value, low), high)

    def tie(self) -> None:
        """Call equal what nothing decided, where both sides are known to many digits that do not tell them apart."""
        left, right = self.left, self.right
        with np.errstate(over="ignore"):
            narrow = [one.upper <= (1.0 + _NARROW) * one.lower for one in (left, right)]
        self.tied |= self.open & (left.value <= right.upper) & (left.lower <= right.upper) & narrow[0] & narrow[1]

    @property
    def open(self) -> Flags:
        """Where nothing is proved."""
        return ~(self.above | self.below)

    @property
    def ratio(self) -> Floats:
        """Left over right; 0 where both are 0."""
        return ratio(self.left.value, self.right.value)

    def worst(self, among: Flags) -> tuple[int, int]:
        """Return trial and point of the largest ratio among some."""
        place = np.unravel_index(int(np.argmax(np.where(among, self.ratio, -np.inf))), among.shape)
        return int(place[0]), int(place[1])


def ratio(left: Floats, right: Floats) -> Floats:
    """Return left over right; 0 where both are 0."""
    safe = np.where(right > 0.0, right, 1.0)
    return np.where(right > 0.0, left / safe, np.where(left > 0.0, np.inf, 0.0))


def stacked(parts: list[Enclosure]) -> Enclosure:
    """Return enclosures of shape (points,) as one of shape (trials, points)."""
    return Enclosure(*(np.stack([getattr(one, end) for one in parts]) for end in ("value", "lower", "upper")))


# Expectations in place of samples, where an exact engine applies: over the events, or over the noise given them.

# A second evaluation: at half the digits of a problem's own, or at twice as many.
OTHER: Final[Mapping[Any, Any]] = {np.float64: np.float32, np.float32: np.float64}
_ROW = 10**5  # operations that the interpreter costs for a row of a tape, or a local step, beside the arithmetic


def expectation(plan: Plan, *, unasked: bool = False) -> tuple[Enclosure, str] | None:
    """Return the left side at plan.ks over all events and all noise, and the method; None if no engine gives it.

    Parameters
    ----------
    unasked
        Whether that is done only where the predicted number of operations is at most
        :data:`boundlab.expectation.AFFORDABLE`.
    """
    averaged = plan.problem.quadratic() is not None and plan.metric.from_expectations
    if plan.own_case and (plan.problem.noiseless or averaged or not plan.one_schedule):
        return None  # a number for each schedule is what such a bound is about
    method, reason = engine(*plan.random_run)
    if reason:
        return None
    words = f"no sampling: {method}"
    if unasked:
        predicted = operations(*plan.random_run, iterations=plan.iterations)
        if predicted > AFFORDABLE:
            return None
        words += f"; {predicted:.1g} operations predicted, limit {AFFORDABLE:.0e}"
    try:
        return left_side(*plan.random_run, iterations=plan.iterations, ks=plan.ks), words
    except UndecidedError:
        if unasked:  # rounding could decide at a kink; trials are taken then
            return None
        raise


def certain(plan: Plan) -> bool:
    """Return whether all trials have the same tape, so that one of them is all there is beside noise."""
    return theorems.certain(plan.algorithm, plan.parameters, plan.problem.n, plan.delays, plan.policy)


def given_schedule_operations(plan: Plan, tape: Tape) -> float:
    """Return how many operations :func:`left_sides` takes, predicted; infinite where it does not apply."""
    problem = plan.problem
    if problem.noiseless or tape.implicit.any():
        return float("inf")
    from boundlab.expectation import moments

    if moments.why_not(plan.metric, problem, tape):
        return float("inf")
    # A row of the tape copies the moments of all registers; a local step multiplies matrices.
    each, step = _ROW + 10.0 * moments.entries(tape, problem), _ROW + 4.0 * problem.d**3
    return len(tape) * each + float(tape.descend.steps.sum()) * step


def require_given_schedule(plan: Plan) -> None:
    """Say why neither the events nor the noise can be averaged exactly, if so.

    Raises
    ------
    SpecError
        If every engine has a reason not to apply.
    """
    problem = plan.problem
    if problem.noiseless and (plan.own_case or certain(plan)):
        return  # each schedule is a case of its own
    given = problem.quadratic() is not None and not problem.noiseless
    if given and plan.metric.from_expectations:
        return
    reason = engine(*plan.random_run)[1]
    reason = reason or f"{plan.theorem.id} is about each schedule by itself"
    more = (
        "without noise there is nothing left to average given a schedule"
        if problem.noiseless
        else f"the mean over the noise given a schedule needs a mean of recorded quantities, not {plan.metric.id}"
        if given
        else f"the expectation over the noise given a schedule needs a quadratic, not {problem.id}"
    )
    raise SpecError(f"exact: no exact engine applies: {reason}; {more}")


def left_sides(plan: Plan, tape: Tape, *, compiled: bool = False) -> Enclosure:
    """Return the left side given a schedule at plan.ks: without noise, or its expectation over the noise.

    Parameters
    ----------
    compiled
        Whether machine code is to run it.

    Raises
    ------
    SpecError
        If the coefficients of all noise are too many.
    """
    from boundlab.expectation import moments

    problem = plan.problem
    if reason := moments.why_not(plan.metric, problem, tape):
        raise SpecError(f"exact: {reason}; take fewer clients or dimensions")
    try:
        return moments.left_side(plan.metric, problem, tape, plan.ks, compiled=compiled)
    except UndecidedError:  # rounding could decide at a kink: what floats make of it proves nothing
        if not problem.noiseless:
            raise
        return Enclosure.unproved(in_floats(plan, tape, problem.x0, problem.full_gradients())[1])


def in_floats(plan: Plan, tape: Tape, x0: Array, oracle: Oracle) -> Floats:
    """Return the ends of the left sides at plan.ks, shape (2, points), as floats of the type of ``x0`` give them."""
    watch = Watch(plan.metric, plan.problem, plan.ks)
    with np.errstate(over="ignore", invalid="ignore"):
        run(tape, x0, oracle, watch)
    return np.array([watch.low, watch.high])


def random_events(plan: Plan) -> dict[str, Any]:
    """Return the part of a case file that stands for i.i.d. events, or for arrivals that a count aggregates."""
    p, p_s = frequencies(plan.delays, plan.policy)
    if plan.policy.count is not None:
        delays = {"type": "exponential", "rates": plan.delays.rates().tolist()}
        return {"delays": delays, "server": plan.policy.describe()}
    if not p_s:  # nothing but arrivals
        return {"delays": {"type": "exponential", "rates": p.tolist()}}
    return {"delays": {"type": "iid", "p": p.tolist(), "p_s": p_s}}


@final
@dataclass(frozen=True, slots=True)
class Trials:
    """All trials: samples, or numbers, each a left side of its own schedule beside its own bound.

    Parameters
    ----------
    left
        Shape (trials, points): between which ends the metric of each lies at each recorded iteration.
    right
        Shape (trials, points): the right side for the schedule of each.
    terms
        Named terms of the bounds, shape (points,), averaged over the trials.
    statistics
        Read off each tape.
    known, keys
        Of numbers: what each bound was evaluated with, by trial and point; and what only trials with equal schedules
        share.
    open
        What the bound of some trial reads as floats have it, with rounding not enclosed.
    """

    left: Enclosure
    right: Enclosure
    terms: dict[str, Floats]
    statistics: list[Statistics]
    known: Sequence[list[dict[str, Any]]] = ()
    keys: Sequence[bytes] = ()
    open: frozenset[str] = frozenset()


def common_bound(bounds: Floats) -> Floats:
    """Return the harmonic mean of the trials' bounds, shape (points,); their common value where they are equal."""
    if (bounds == bounds[0]).all():
        common: Floats = bounds[0]
        return common
    out: Floats = 1.0 / (1.0 / np.maximum(bounds, 1e-300)).mean(axis=0)
    return out


def common_terms(terms: dict[str, Floats], bounds: Floats) -> dict[str, Floats]:
    """Return terms in the proportions of their averages, so that they add up to the common bound."""
    if (bounds == bounds[0]).all():
        return terms
    scale = common_bound(bounds) / np.maximum(bounds.mean(axis=0), 1e-300)
    return {name: term * scale for name, term in terms.items()}


def trial_tape(plan: Plan, seed: int, trial: int, records: RecordAt | None = None) -> Tape:
    """Compile the run of one trial, with the records that its metric needs, or with others."""
    shown, streams = records or plan.metric.records(plan.ks), Streams(seed, trial)
    return compile_trial(
        plan.algorithm, plan.parameters, plan.problem.n, plan.delays, plan.policy, plan.iterations, shown, streams
    )


def mean_times(plan: Plan, seed: int, trials: int) -> Floats:
    """Return when the iterations plan.ks have ended in the mean over trials, shape (points,), in the delays' unit."""
    shown = [trial_tape(plan, seed, trial, RecordAt(plan.ks)).record.time for trial in range(trials)]
    mean: Floats = np.mean(shown, axis=0)
    return mean


def trial_events(plan: Plan, seed: int, trial: int) -> Events:
    """Return the events that trial ``trial`` hands to the compiler, as far as its run goes."""
    last = trial_tape(plan, seed, trial).events
    streams = Streams(seed, trial)
    events = plan.algorithm.sample(
        plan.parameters, plan.delays, plan.policy, streams, plan.problem.n, max(len(last), 1)
    )
    # Compilers add events of their own, such as aggregations after a count; they lie between those handed in.
    return events.head(int(np.count_nonzero(events.time <= last.time[-1]))) if len(last) else events


@final
@dataclass(frozen=True, slots=True)
class _Own:
    """Result of one trial.

    Parameters
    ----------
    low, high
        Both ends of its left sides, shape (points,).
    seen, open
        What its schedule says; and of what that is as floats have it, with rounding not enclosed.
    statistics
        Read off the tape.
    """

    low: Floats
    high: Floats
    seen: list[dict[str, float]]
    statistics: Statistics
    open: frozenset[str]


def run_trials(
    plan: Plan,
    trials: int,
    seed: int,
    progress: Callable[[int], None] | None = None,
    *,
    backend: Backend = NUMPY,
    each_of: Plan | None = None,
) -> Trials:
    """Run all trials.

    Parameters
    ----------
    each_of
        The plan of the expectations of which the left side is the smallest: all of them are beside its own bound.
    progress
        Called after each trial with the number done; torch finishes many at a time.
    backend
        Where trials run.

    Raises
    ------
    AssumptionError
        If the schedule of a trial breaks a condition of the theorem.
    """
    shown = plan if each_of is None else each_of
    parts = [(share, _ran(own, trials, seed, progress, backend)) for share, own in shown.summands]
    found = parts[0][1]
    low, high = (
        np.sum([float(share) * np.stack([getattr(one, end) for one in own]) for share, own in parts], axis=0)
        for end in ("low", "high")
    )
    if each_of is None:
        right, terms, _ = _bounds(plan, [one.seen for one in found])
    else:
        right, terms = plan.right_sides().spread((trials, 1)), dict(plan.terms)
    return Trials(Enclosure(low, low, high), right, terms, [one.statistics for one in found])


def _ran(plan: Plan, trials: int, seed: int, progress: Callable[[int], None] | None, backend: Backend) -> list[_Own]:
    """Run all trials of a left side that is no sum."""
    if not plan.metric.quantity.of_model:  # which tensors do not know
        backend = replace(NUMPY, jobs=backend.jobs)
    work = Work(
        [plan.metric],
        lambda trial: trial_tape(plan, seed, trial),
        lambda tape, shows: _watched(plan, tape, shows[0]),
    )
    return run_work(backend, work, plan.problem, seed, trials, progress)


def _watched(plan: Plan, tape: Tape, shows: Floats) -> _Own:
    watch = Watch(plan.metric, plan.problem, plan.ks)
    watch.take(shows)
    return _own(plan, tape, watch.low, watch.high)


def compute_trials(
    plan: Plan, trials: int, seed: int, progress: Callable[[int], None] | None = None, backend: Backend = NUMPY
) -> Trials:
    """Work out the left side of each trial's schedule: without noise, or its expectation over the noise.

    Raises
    ------
    AssumptionError
        If the schedule of a trial breaks a condition of the theorem.
    SpecError
        If the noise cannot be averaged.
    """
    sides: dict[bytes, Enclosure] = {}

    def one(trial: int) -> tuple[Enclosure, bytes, _Own]:
        tape = trial_tape(plan, seed, trial)
        key = tape.digest()
        if key not in sides:  # schedules may be alike
            fast, summands = backend.id == "compiled", plan.summands
            parts = [(one, own, tape if own is plan else trial_tape(own, seed, trial)) for one, own in summands]
            sides[key] = Enclosure.weighted([(one, left_sides(own, its, compiled=fast)) for one, own, its in parts])
        left = sides[key]
        return left, key, _own(plan, tape, left.value, left.value)

    found = collect(in_order(one, trials, backend.jobs), progress)
    right, terms, known = _bounds(plan, [own.seen for _, _, own in found])
    left, each = stacked([left for left, _, _ in found]), [own for _, _, own in found]
    open_ = frozenset[str]().union(*(own.open for own in each))
    return Trials(left, right, terms, [own.statistics for own in each], known, [key for _, key, _ in found], open_)


def enclose_trials(
    plan: Plan, trials: int, seed: int, backend: Backend, exactly: Callable[[int, Tape], Enclosure | None]
) -> Enclosure:
    """Return between which ends the trials of :func:`run_trials` lie, shape (trials, points) each.

    The ends are proved. Of a noisy problem that does not say how far its gradients round they are those of two runs,
    one with half the digits; at a kink both of these may take the wrong side, so nothing is known there.

    Parameters
    ----------
    exactly
        The left sides of a trial in exact numbers; None where they do not reach it.
    """
    if terms_of(plan.metric):
        parts = [(share, enclose_trials(own, trials, seed, backend, lambda *_: None)) for share, own in plan.summands]
        return Enclosure.weighted(parts)
    problem, proved = plan.problem, Proved(plan.problem)
    fast = backend.id == "compiled"
    says = problem.noiseless or problem.rounding(np.asarray(problem.x0, dtype=np.float64)) is not None

    known: dict[bytes, Enclosure] = {}

    def one(trial: int) -> Enclosure:
        tape = trial_tape(plan, seed, trial)
        if not problem.noiseless:
            return own(trial, tape)
        if (key := tape.digest()) not in known:  # schedules may be alike
            known[key] = own(trial, tape)
        return known[key]

    def own(trial: int, tape: Tape) -> Enclosure:
        streams, kink = Streams(seed, trial), False
        try:
            found = iterates.along(
                plan.metric, problem, tape, problem.oracle(streams), plan.ks, compiled=fast, proved=proved
            )
            if np.isfinite(found.upper).all():
                return found
        except UndecidedError:  # on which side of a kink a step is taken is left to rounding
            kink = True
        if (better := exactly(trial, tape)) is not None:
            return better
        starts = problem.x0, problem.x0.astype(OTHER[problem.dtype])
        ends = np.array([in_floats(plan, tape, start, problem.oracle(streams)) for start in starts])
        if kink or says:
            return Enclosure.unproved(ends[0, 1])
        return Enclosure(ends[0, 1], ends[:, 0].min(axis=0), ends[:, 1].max(axis=0))

    return stacked(list(in_order(one, trials, backend.jobs)))


def _own(plan: Plan, tape: Tape, low: Floats, high: Floats) -> _Own:
    schedules = plan.schedules
    seen = [] if schedules is None else schedules.read_at(tape, plan.ks, plan.fixed)
    open_ = frozenset[str]() if schedules is None else schedules.unenclosed(tape, plan.ks, plan.fixed)
    return _Own(low, high, seen, statistics(tape), open_)


def _bounds(
    plan: Plan, seen: list[list[dict[str, float]]]
) -> tuple[Enclosure, dict[str, Floats], list[list[dict[str, Any]]]]:
    """Return the bound for each trial's schedule, or for all of them the one that suits every schedule.

    Returns
    -------
    The right sides, shape (trials, points); the means of their terms; and what they were evaluated with.
    """
    schedules, shape = plan.schedules, (len(seen), len(plan.ks))
    if schedules is None:
        known = [plan.known()] * len(seen)
        return plan.right_sides(known[:1]).spread(shape), dict(plan.terms), known
    if schedules.averaged:
        # A statement about the mean over schedules takes limits that all of them keep.
        seen = [kept_by_all(plan.theorem, seen)] * len(seen)
    found: list[Evaluation] = []
    for trial, own in enumerate(seen):
        try:
            found.append(found[0] if found and schedules.averaged else schedules.evaluate(own, plan.ks, plan.fixed))
        except AssumptionError as error:
            raise (error if schedules.averaged else explain(trial, error)) from None
    terms = {name: np.mean([one.terms[name] for one in found], axis=0) for name in plan.terms}
    known = [plan.known(own) for own in seen]
    return plan.right_sides(known).spread(shape), terms, known
