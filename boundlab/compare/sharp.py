"""Comparisons that floats leave open, decided in exact numbers: with more digits, or without rounding."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Final, final

import numpy as np
import sympy
from numpy.typing import NDArray

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar, ball, digits, float_ends
from boundlab.arithmetic.problem import AtMinimum, RationalProblem
from boundlab.arithmetic.rational import TooLongError
from boundlab.compare.trials import OTHER, TELLING, Budget, Computed, Sides, in_floats, trial_tape
from boundlab.errors import BoundlabError, UndecidedError
from boundlab.execute import rationals
from boundlab.execute.enclosed import EPS
from boundlab.execute.rationals import TooFewDigitsError, enough, operations as run_operations, run
from boundlab.expectation import (
    engine,
    enumerated,
    exact_event_law,
    exact_program,
    folded,
    operations,
    second_moments,
    twins,
)
from boundlab.formulas.known_numbers import Formulas, scalar
from boundlab.instance.from_case import exact_rate, exact_rates, exact_tape
from boundlab.instance.plan import Plan
from boundlab.instance.readings import formulas_at
from boundlab.metrics import Enclosure, Quantity
from boundlab.randomness import Streams
from boundlab.tape import Tape

# Runs that floats do not enclose well enough, once more with as many digits as their errors take.

UNASKED: Final = 10**11  # operations: some minutes of a processor
_TRIES: Final = 4
_OF_FLOATS: Final = 53.0
_UNKNOWN: Final = 256


def sharpen(plan: Plan, found: Computed, seed: int, most: float) -> str:
    """Move the ends of left sides in where floats leave them further apart than a page can hide.

    Parameters
    ----------
    most
        About how many operations may be spent in all.

    Returns
    -------
    What was done, in words; empty where nothing was.
    """
    sides, budget, bits = found.sides, Budget(most), 0
    with np.errstate(invalid="ignore", over="ignore"):
        wide = (sides.left.upper - sides.left.lower > TELLING * sides.right.value).any(axis=1)
    for trial in np.flatnonzero(wide).tolist():
        alike = [place for place, key in enumerate(found.keys) if key == found.keys[trial]]
        if alike[0] < trial:
            continue
        own = Enclosure(*(getattr(sides.left, end)[trial] for end in ("value", "lower", "upper")))
        again = with_digits(plan, found.known[trial][0], seed, trial, budget, lost_bits(own, plan.ks))
        if again is None:
            continue
        bits = max(bits, again[1])
        for point, ends in enumerate(zip(again[0].value, again[0].lower, again[0].upper, strict=True)):
            sides.narrow(alike, point, *map(float, ends))
    if not bits:
        return ""
    sides.compare()
    return f"; run with up to {bits} bits, as floats lose it"


def lost_bits(left: Enclosure, ks: NDArray[np.int64]) -> float | None:
    """Return about how many bits the errors of a run grow by, as far as floats show it; None where they do not.

    Left sides are squares, or move no faster than they.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        grown = np.log2(np.sqrt(left.upper / left.value) - 1.0) + _OF_FLOATS
    known = np.flatnonzero(np.isfinite(grown))
    if not len(known):
        return None
    last = known[-1]
    return float(grown[last] * (ks[-1] / ks[last] if ks[last] else 1.0))


def with_digits(
    plan: Plan, known: Mapping[str, Any], seed: int, trial: int, budget: Budget, lost: float | None = None
) -> tuple[Enclosure, int] | None:
    """Return the left sides of a trial without noise, and with how many bits; None where no digits reach it.

    Parameters
    ----------
    known
        What the theorem is evaluated with, its step among it.
    lost
        How many bits errors grow by, if that is known.
    """
    model = plan.problem.in_balls() if plan.problem.noiseless else None
    if model is None:
        return None
    formulas, bits = formulas_at(plan.theorem, known, plan.measured), _UNKNOWN if lost is None else enough(lost)
    parts = list[tuple[Fraction, Enclosure]]()
    try:
        for share, own in plan.summands:
            tape = exact_tape(own, Streams(seed, trial))
            for _ in range(_TRIES):
                if not budget.spend(run_operations(tape, model, bits)):
                    return None
                try:
                    rates = partial(exact_rates, own, formulas, balls=True)
                    parts.append((share, rationals.along(own.metric, own.problem, tape, rates, own.ks, bits)))
                except TooFewDigitsError as error:
                    bits = max(error.bits, bits + 64)
                else:
                    break
            else:
                return None
    except BoundlabError:
        return None
    return Enclosure.weighted(parts), bits


# Comparisons that floats leave open, decided in exact numbers: with more digits, or without rounding.


_BITS: Final = (256, 1024, 4096, 16384, 65536)
_TOLD: Final = 100  # bits that both sides have where they are called equal for all that is known
_FLOATS: Final = 30  # the same where the bound is a recursion in floats
_LONGEST: Final = 1 << 13
_SLOWER: Final = 30.0  # times as long an expectation over events takes in balls as in floats
ABOVE, BELOW, TIED, OPEN = 1, -1, 2, 0


def decide(plan: Plan, found: Computed, seed: int, most: float) -> None:
    """Decide what is open of trials that are numbers, as far as a budget goes; the nearest to a violation first.

    What no exact numbers decide, half the digits may speak for: see :class:`boundlab.compare.trials.Sides`.

    Parameters
    ----------
    most
        About how many operations may be spent in all.
    """
    sides, budget = found.sides, Budget(most)
    at = at_minimum(plan) if sides.open.any() else None
    order = np.argsort(-np.where(sides.open, sides.ratio, -1.0).max(axis=1), kind="stable")
    done = set[bytes]()
    for trial in order.tolist():
        if sides.above.any() or not sides.open[trial].any() or found.keys[trial] in done:
            continue
        done.add(found.keys[trial])
        alike = [place for place, key in enumerate(found.keys) if key == found.keys[trial]]
        tape = trial_tape(plan, seed, trial)
        _settle(sides, alike, OneSchedule(plan, at, budget, seed, trial, tape), found.known[trial])
        if plan.problem.noiseless and sides.open[trial].any() and not sides.above.any():
            start = plan.problem.x0.astype(OTHER[plan.problem.dtype])
            _, second = in_floats(plan, tape, start, plan.problem.full_gradients())
            lowest = sides.right.lower[trial]
            sides.agreed[alike] |= (sides.left.value[trial] <= lowest) & (second <= lowest)
    sides.tie()


def decide_expected(plan: Plan, sides: Sides, most: float) -> None:
    """Decide what is open of an expectation over the events; parameters as for :func:`decide`."""
    if sides.open.any():
        _settle(sides, [0], OverEvents(plan, plan.problem.rational({}), Budget(most)), plan.known())
    sides.tie()


def trial_exactly(
    plan: Plan, seed: int, most: float, at: Callable[[], AtMinimum | None], trial: int, tape: Tape
) -> Enclosure | None:
    """Return the left sides of a trial without noise in exact numbers; None where they are out of reach, or budget.

    Parameters
    ----------
    at
        Gives what :func:`at_minimum` does.
    """
    if not plan.problem.noiseless:
        return None
    if (again := with_digits(plan, plan.known()[0], seed, trial, Budget(most))) is not None:
        return again[0]
    sharp, points = OneSchedule(plan, at(), Budget(most), seed, trial, tape), range(len(plan.ks))
    if not sharp.possible or not sharp.budget.spend(sharp.cost(_BITS[0], points)):
        return None
    with digits(_BITS[0]):
        try:
            found = sharp.left(points, formulas_at(plan.theorem, plan.known()[0], plan.measured), balls=False)
        except BoundlabError:
            return None
        return Enclosure(*np.array([float_ends(found[point]) for point in points]).T)


def _settle(sides: Sides, trials: list[int], sharp: "Sharp", known: Sequence[Mapping[str, Any]]) -> None:
    """Write down what exact numbers find of the open points of trials that are alike."""
    if not sharp.possible:
        return
    trial = trials[0]
    points = np.flatnonzero(sides.open[trial]).tolist()
    ends = {p: (float(sides.right.lower[trial, p]), float(sides.right.upper[trial, p])) for p in points}
    for point, decision in sharp.decide({point: known[point] for point in points}, ends).items():
        table = {ABOVE: sides.above, BELOW: sides.below, TIED: sides.tied}.get(decision)
        if table is not None:
            table[trials, point] = True
    for point, left in sharp.found.items():
        if ball(left).is_finite():
            sides.narrow(trials, point, *float_ends(left))
    sides.cost = sharp.budget.needed


class Sharp(ABC):
    """Both sides at some points in balls of any precision, and in fractions."""

    def __init__(self, plan: Plan, budget: Budget) -> None:
        self._plan, self.budget = plan, budget
        self._total = sympy.Add(*plan.theorem.bound.expressions().values())
        self.found: dict[int, Scalar] = {}  # the left sides, as narrow as they became
        self._widths: dict[int, Scalar] = {}
        self._settled: set[int] = set()

    @property
    @abstractmethod
    def possible(self) -> bool:
        """True if this problem can be treated in exact numbers."""

    @abstractmethod
    def cost(self, bits: int, points: Iterable[int]) -> float:
        """Return about how many operations balls of so many bits take up to the last of some points."""

    @abstractmethod
    def left(self, points: Sequence[int], formulas: Formulas, *, balls: bool) -> dict[int, Scalar]:
        """Return the left sides at some points.

        Parameters
        ----------
        formulas
            What the theorem's symbols are, its step size among them.

        Raises
        ------
        BoundlabError
            If exact numbers do not reach so far.
        """

    def decide(self, known: Mapping[int, Mapping[str, Any]], ends: Mapping[int, tuple[float, float]]) -> dict[int, int]:
        """Return what is found of each open point: ABOVE, BELOW, TIED or OPEN.

        Parameters
        ----------
        known
            Point → what the bound is evaluated with there.
        ends
            Point → between what it lies, which is all that is known of a bound that is no formula.
        """
        theorem, measured = self._plan.theorem, self._plan.measured
        formulas = {point: formulas_at(theorem, values, measured) for point, values in known.items()}
        found, divided = dict.fromkeys(known, OPEN), not theorem.bound.closed
        for bits in _BITS:
            waiting = {
                point: formulas[point]
                for point, decision in found.items()
                if decision == OPEN and point not in self._settled
            }
            if not waiting:
                break
            if not self.budget.spend(self.cost(bits, waiting)):
                return found
            try:
                with digits(bits):
                    found |= self._in_balls(waiting, ends)
            except UndecidedError:  # balls meet a kink: fractions know its side, and smaller balls may
                found |= {} if divided else self._divided(formulas, found)
                divided = True
            except TooLongError:
                break
            except BoundlabError:  # exact numbers do not reach this problem or this step
                return found
        return found | ({} if divided else self._divided(formulas, found))

    def _in_balls(self, waiting: Mapping[int, Formulas], ends: Mapping[int, tuple[float, float]]) -> dict[int, int]:
        left = self.left(list(waiting), next(iter(waiting.values())), balls=True)
        self.found |= left
        found: dict[int, int] = {}
        closed = self._plan.theorem.bound.closed
        for point, formulas in waiting.items():
            one, (low, high) = ball(left[point]), ends[point]
            other = formulas.ball(self._total) if closed else ball(low).union(ball(high))
            if one > other:
                found[point] = ABOVE
            elif one <= other:
                found[point] = BELOW
            elif min(one.rel_accuracy_bits(), other.rel_accuracy_bits()) >= (_TOLD if closed else _FLOATS):
                found[point] = TIED
            elif one.is_finite():
                if point in self._widths and 2 * one.rad() > self._widths[point]:  # f* is not known any better
                    self._settled.add(point)
                self._widths[point] = one.rad()
        return found

    def _divided(self, formulas: Mapping[int, Formulas], found: Mapping[int, int]) -> dict[int, int]:
        """Return what fractions decide of all that balls have not."""
        left = {point: formulas[point] for point, decision in found.items() if decision in (OPEN, TIED)}
        return dict(self._in_fractions(left)) if left else {}

    def _in_fractions(self, waiting: Mapping[int, Formulas]) -> Iterator[tuple[int, int]]:
        try:
            left = self.left(list(waiting), next(iter(waiting.values())), balls=False)
        except BoundlabError:
            return
        self.found |= left
        for point, formulas in waiting.items():
            right = scalar(formulas.exact(self._total))
            with digits(_BITS[0]):
                if right is not None and not isinstance(left[point], numbers.flint().arb):  # f* may be a ball
                    yield point, ABOVE if numbers.sign(left[point] - right) > 0 else BELOW
                elif (above := ball(left[point]) - formulas.ball(self._total)) > 0 or above < 0:
                    yield point, ABOVE if above > 0 else BELOW


@final
class OneSchedule(Sharp):
    """The run of one trial: without noise, or its expectation over the noise of quadratics."""

    def __init__(self, plan: Plan, at: AtMinimum | None, budget: Budget, seed: int, trial: int, tape: Tape) -> None:
        super().__init__(plan, budget)
        model = None if at is None else at.problem
        self._at, self._model, self._streams, self._tape = at, model, Streams(seed, trial), tape
        self._form = None if plan.problem.noiseless or model is None else model.quadratic()
        self._bounds = [plan.problem.step_bounds(client) for client in range(plan.problem.n)]

    @property
    def possible(self) -> bool:
        """True if this problem and its noise can be treated in exact numbers."""
        return self._at is not None and (self._form is not None or self._plan.problem.noiseless)

    def cost(self, bits: int, points: Iterable[int]) -> float:
        """Return about how many operations balls of so many bits take up to the last of some points."""
        tape, model = self._tape, self._model
        cost = 0.0 if model is None else run_operations(tape, model, bits)
        if self._form is not None:
            adjoint_ = 200.0 * float(tape.descend.steps.sum()) * self._plan.problem.d**3
            cost += len(tape.record.src) * (cost + adjoint_) / 2.0
        return cost

    def left(self, points: Sequence[int], formulas: Formulas, *, balls: bool) -> dict[int, Scalar]:
        """Return the left sides; with noise in balls alone."""
        plan, model, function = self._plan, self._model, self._at
        if function is None or not (balls or (self._form is None and isinstance(model, RationalProblem))):
            raise TooLongError("noise, roots and exponentials are followed in balls")
        tape = exact_tape(plan, self._streams)
        rates = exact_rates(plan, formulas, balls=balls)
        shown = list[Scalar]()
        run(
            tape,
            function.problem,
            rates,
            lambda _m, x: shown.append(plan.metric.at(function, x)),
            balls=balls,
            longest=_LONGEST,
            bounds=self._bounds,
        )
        if self._form is not None:  # the mean obeys the recursion without noise
            added = rationals.noise(tape, self._form, rates, plan.metric, range(len(shown)))
            shown = [mean + more for mean, more in zip(shown, added, strict=True)]
        found = folded(plan.metric, plan.ks, shown)
        return {point: found[point] for point in points}


def at_minimum(plan: Plan) -> AtMinimum | None:
    """Return a plan's functions with their minimum: a rational one, or as far as floats have certified it."""
    model, problem, metric = plan.problem.in_balls(), plan.problem, plan.metric
    if model is None or plan.theorem.shape:
        return None
    exact = model.minimum() if isinstance(model, RationalProblem) else None
    if exact is not None or metric.quantity is Quantity.SLOPE:
        return AtMinimum.of(model, exact)
    try:
        best = problem.optimum()
    except BoundlabError:
        return None
    rounding, away = problem.rounding(np.asarray(best.x, dtype=np.float64)), best.distance
    if rounding is None or (away is None and metric.quantity is Quantity.DISTANCE):
        return None
    from boundlab.arithmetic.numbers import exact_array

    off = rounding[0] + 4.0 * EPS * abs(best.value)
    least = ball(best.value - best.gap - off).union(ball(best.value + off))
    return AtMinimum(model, exact_array(best.x) + numbers.flint().arb(0, away or 0.0), least)


@final
class OverEvents(Sharp):
    """The expectation over events and noise."""

    def __init__(self, plan: Plan, model: RationalProblem | None, budget: Budget) -> None:
        super().__init__(plan, budget)
        self._model, self._best = model, None if model is None else model.minimum()

    @property
    def possible(self) -> bool:
        """True if this problem can be treated in exact numbers."""
        known = self._best is not None or self._plan.metric.quantity is Quantity.SLOPE
        return self._model is not None and known and not self._plan.theorem.shape

    def cost(self, bits: int, points: Iterable[int]) -> float:
        """Return about how many operations balls of so many bits take up to the last of some points."""
        plan = self._plan
        last = max(int(plan.ks[point]) for point in points)
        return _SLOWER * operations(*plan.random_run, iterations=last) * (1.0 + bits / 1024.0)

    def left(self, points: Sequence[int], formulas: Formulas, *, balls: bool) -> dict[int, Scalar]:
        """Return the left sides."""
        plan, model = self._plan, self._model
        how, _ = engine(*plan.random_run)
        law = exact_event_law(plan.delays, plan.policy, counted=getattr(plan.parameters, "count", None) is not None)
        if model is None or law is None:
            raise TooLongError("the probabilities of the events are no simple fractions")
        arithmetic, unit = exact_program(
            plan.algorithm,
            plan.parameter_values,
            plan.problem.n,
            plan.delays,
            plan.rates,
            lambda name: exact_rate(plan, formulas, name, balls=balls),
        )
        ks = plan.ks[list(points)]
        if "moments" in how:
            found = second_moments(model, arithmetic, law, plan.metric, ks)
        else:
            alike = twins(plan.problem, law.p.astype(np.float64))
            found = enumerated(model, self._best, arithmetic, unit, law, alike, plan.metric, ks)
        return dict(zip(points, found, strict=True))
