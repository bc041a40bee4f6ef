"""Comparisons that floats leave open, decided in exact numbers: with more digits, or without rounding."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, Final, final

import numpy as np
import sympy

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar, ball, digits, exact_array, float_ends
from boundlab.arithmetic.problem import AtMinimum, RationalProblem
from boundlab.arithmetic.rational import TooLongError
from boundlab.compare.trials import OTHER, TELLING, Budget, Sides, Trials, in_floats, trial_tape
from boundlab.errors import BoundlabError, UndecidedError
from boundlab.execute.enclosed import EPS
from boundlab.expectation import (
    engine,
    enumerated,
    exact_event_law,
    exact_program,
    folded,
    looked_at,
    operations,
    twins,
)
from boundlab.formulas.enclose import Formulas, scalar
from boundlab.instance.from_case import exact_rate, exact_rates, exact_tape
from boundlab.instance.plan import Plan
from boundlab.instance.readings import formulas_at
from boundlab.metrics import Enclosure, Quantity
from boundlab.randomness import Ints, Streams
from boundlab.tape import Tape

# Runs that floats do not enclose well enough, once more with as many digits as their errors take.

UNASKED: Final = 10**11  # operations: some minutes of a processor
_TRIES: Final = 4
_OF_FLOATS: Final = 53.0
_UNKNOWN: Final = 256


def sharpen(plan: Plan, found: Trials, sides: Sides, seed: int, most: float) -> str:
    """Move the ends of left sides in where floats leave them further apart than a page can hide.

    Parameters
    ----------
    most
        About how many operations may be spent in all.

    Returns
    -------
    What was done, in words; empty where nothing was.
    """
    budget, bits = Budget(most), 0
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


def lost_bits(left: Enclosure, ks: Ints) -> float | None:
    """Return about how many bits the errors of a run grow by, as far as floats show it; None where they do not.

    Left sides are squares, or move no faster than they.
    """
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
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
    from boundlab.execute import rationals

    model = plan.problem.in_balls() if plan.problem.noiseless else None
    if model is None:
        return None
    formulas = formulas_at(plan.theorem, known, plan.measured)
    bits = _UNKNOWN if lost is None else rationals.enough(lost)
    parts = list[tuple[Fraction, Enclosure]]()
    try:
        for share, own in plan.summands:
            tape = exact_tape(own, Streams(seed, trial))
            for _ in range(_TRIES):
                if not budget.spend(rationals.operations(tape, model, bits)):
                    return None
                try:
                    rates = partial(exact_rates, own, formulas, balls=True)
                    parts.append((share, rationals.along(own.metric, own.problem, tape, rates, own.ks, bits)))
                except rationals.TooFewDigitsError as error:
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
_FRACTIONS: Final = 0  # in place of bits
_TOLD: Final = 100  # bits that both sides have where they are called equal for all that is known
_FLOATS: Final = 30  # the same where the bound is a recursion in floats
_LONGEST: Final = 1 << 13
_PART: Final = 5e4  # operations that a row of a tape costs the interpreter where moments are followed
_SLOWER: Final = 30.0  # times as long an expectation over events takes in balls as in floats
ABOVE, BELOW, TIED, OPEN = 1, -1, 2, 0


def decide(plan: Plan, found: Trials, sides: Sides, seed: int, most: float) -> None:
    """Decide what is open of trials that are numbers, as far as a budget goes; the nearest to a violation first.

    What no exact numbers decide, half the digits may speak for: see :class:`boundlab.compare.trials.Sides`.

    Parameters
    ----------
    most
        About how many operations may be spent in all.
    """
    budget = Budget(most)
    at = at_minimum(plan) if sides.open.any() else None
    order = np.argsort(-np.where(sides.open, sides.ratio, -1.0).max(axis=1), kind="stable")
    done = set[bytes]()
    for trial in order.tolist():
        if sides.above.any() or not sides.open[trial].any() or found.keys[trial] in done:
            continue
        done.add(found.keys[trial])
        alike = [place for place, key in enumerate(found.keys) if key == found.keys[trial]]
        tape = trial_tape(plan, seed, trial)
        _settle(sides, alike, one_schedule(plan, at, budget, seed, trial, tape), found.known[trial])
        if plan.problem.noiseless and sides.open[trial].any() and not sides.above.any():
            start = plan.problem.x0.astype(OTHER[plan.problem.dtype])
            _, second = in_floats(plan, tape, start, plan.problem.full_gradients())
            lowest = sides.right.lower[trial]
            sides.agreed[alike] |= (sides.left.value[trial] <= lowest) & (second <= lowest)
    sides.tie()


def decide_expected(plan: Plan, sides: Sides, most: float) -> None:
    """Decide what is open of an expectation over the events; parameters as for :func:`decide`."""
    if sides.open.any():
        _settle(sides, [0], over_events(plan, Budget(most)), plan.known())
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
    sharp, points = one_schedule(plan, at(), Budget(most), seed, trial, tape), range(len(plan.ks))
    if sharp is None or not sharp.budget.spend(sharp.cost(_BITS[0], points)):
        return None
    with digits(_BITS[0]):
        try:
            found = sharp.left(points, formulas_at(plan.theorem, plan.known()[0], plan.measured), balls=False)
        except BoundlabError:
            return None
        return Enclosure(*np.array([float_ends(found[point]) for point in points]).T)


def _settle(sides: Sides, trials: list[int], sharp: "Sharp | None", known: Sequence[Mapping[str, Any]]) -> None:
    """Write down what exact numbers find of the open points of trials that are alike."""
    if sharp is None:
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


@final
@dataclass(slots=True)
class Sharp:
    """Both sides at some points in balls of more and more digits, and in fractions.

    Parameters
    ----------
    cost
        ``cost(bits, points)``: about how many operations balls of so many bits take up to the last of some points.
    left
        ``left(points, formulas, balls=…)``: the left sides at some points, where the formulas say what the theorem's
        symbols are, its step size among them. A :class:`boundlab.errors.UndecidedError` is a kink that balls meet, any
        other :class:`boundlab.errors.BoundlabError` that exact numbers do not reach so far.
    found
        The left sides, as narrow as they became.
    """

    plan: Plan
    budget: Budget
    cost: Callable[[int, Iterable[int]], float]
    left: Callable[..., dict[int, Scalar]]
    found: dict[int, Scalar] = field(default_factory=dict)

    def decide(self, known: Mapping[int, Mapping[str, Any]], ends: Mapping[int, tuple[float, float]]) -> dict[int, int]:
        """Return what is found of each open point: ABOVE, BELOW, TIED or OPEN.

        Parameters
        ----------
        known
            Point → what the bound is evaluated with there.
        ends
            Point → between what it lies, which is all that is known of a bound that is no formula.
        """
        theorem, measured = self.plan.theorem, self.plan.measured
        formulas = {point: formulas_at(theorem, values, measured) for point, values in known.items()}
        found, widths, settled = dict.fromkeys(known, OPEN), dict[int, Scalar](), set[int]()
        ladder, total = [*_BITS, *[_FRACTIONS] * theorem.bound.closed], sympy.Add(*theorem.bound.terms.values())
        while ladder:
            bits = ladder.pop(0)
            balls = bits != _FRACTIONS
            left_over = {OPEN} if balls else {OPEN, TIED}
            waiting = [one for one, side in found.items() if side in left_over and not (balls and one in settled)]
            if not waiting:
                continue
            if balls and not self.budget.spend(self.cost(bits, waiting)):
                break
            try:
                with digits(bits or _BITS[0]):
                    left = self.left(waiting, formulas[waiting[0]], balls=balls)
                    self.found |= left
                    for point in waiting:
                        side = self._side(left[point], total, formulas[point], ends[point], balls=balls)
                        found[point] = side or found[point]
                        if balls and side == OPEN and (radius := ball(left[point]).rad()).is_finite():
                            if point in widths and 2 * radius > widths[point]:  # f* is not known any better
                                settled.add(point)
                            widths[point] = radius
            except UndecidedError:  # balls meet a kink: fractions know its side, and smaller balls may
                ladder.sort(key=lambda one: one != _FRACTIONS)
            except BoundlabError as error:
                if balls:  # they do not reach this problem or this step; where they grow too long, fractions may
                    ladder = [_FRACTIONS] * (_FRACTIONS in ladder and isinstance(error, TooLongError))
        return found

    def _side(
        self, left: Scalar, total: sympy.Expr, formulas: Formulas, ends: tuple[float, float], *, balls: bool
    ) -> int:
        closed = self.plan.theorem.bound.closed
        right = None if balls else scalar(formulas.exact(total))
        if right is not None and not isinstance(left, numbers.flint().arb):  # f* may be a ball
            return ABOVE if numbers.sign(left - right) > 0 else BELOW
        one, other = ball(left), formulas.ball(total) if closed else ball(ends[0]).union(ball(ends[1]))
        if closed and one.is_exact() and not (one > other or one <= other):  # √4 is a fraction, and no ball knows it
            exact = scalar(formulas.exact(total))
            other = other if exact is None else ball(exact)
        if one > other or one <= other:
            return ABOVE if one > other else BELOW
        known = min(one.rel_accuracy_bits(), other.rel_accuracy_bits()) >= (_TOLD if closed else _FLOATS)
        return TIED if known else OPEN


def one_schedule(plan: Plan, at: AtMinimum | None, budget: Budget, seed: int, trial: int, tape: Tape) -> Sharp | None:
    """Return the run of one trial: without noise, or its expectation over the noise of quadratics; None: of neither."""
    from boundlab.execute import rationals

    noisy = not plan.problem.noiseless
    if at is None or (noisy and at.problem.quadratic() is None):
        return None
    model = at.problem
    bounds = [plan.problem.step_bounds(client) for client in range(plan.problem.n)]

    def cost(bits: int, _points: Iterable[int]) -> float:
        if not noisy:
            return rationals.operations(tape, model, bits)
        coordinates = (tape.registers + 1) * plan.problem.d
        return len(tape) * (_PART + 100.0 * coordinates**2) * (1.0 + bits / 1024.0)

    def left(points: Sequence[int], formulas: Formulas, *, balls: bool) -> dict[int, Scalar]:
        if not balls and (noisy or not isinstance(model, RationalProblem)):
            raise TooLongError("noise, roots and exponentials are followed in balls")
        exact, rates, shown = exact_tape(plan, Streams(seed, trial)), exact_rates(plan, formulas, balls=balls), []
        if noisy and isinstance(model, RationalProblem):
            from boundlab.expectation import moments

            found = moments.given_schedule(
                model, exact, rationals.exactly(exact, rates, balls=balls), plan.metric, plan.ks, largest=np.inf
            )
        else:
            rationals.run(
                exact,
                model,
                rates,
                lambda _m, x: shown.append(plan.metric.at(at, x)),
                balls=balls,
                longest=_LONGEST,
                bounds=bounds,
            )
            found = folded(plan.metric, plan.ks, shown)
        return {point: found[point] for point in points}

    return Sharp(plan, budget, cost, left)


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
    off = rounding[0] + 4.0 * EPS * abs(best.value)
    least = ball(best.value - best.gap - off).union(ball(best.value + off))
    return AtMinimum(model, exact_array(best.x) + numbers.flint().arb(0, away or 0.0), least)


def over_events(plan: Plan, budget: Budget) -> Sharp | None:
    """Return the expectation over events and noise; None where no exact numbers reach it."""
    model = plan.problem.rational({})
    best = None if model is None else model.minimum()
    if model is None or plan.theorem.shape or (best is None and plan.metric.quantity is not Quantity.SLOPE):
        return None

    def cost(bits: int, points: Iterable[int]) -> float:
        last = max(int(plan.ks[point]) for point in points)
        return _SLOWER * operations(*plan.random_run, iterations=last) * (1.0 + bits / 1024.0)

    def left(points: Sequence[int], formulas: Formulas, *, balls: bool) -> dict[int, Scalar]:
        how, _ = engine(*plan.random_run)
        law = exact_event_law(plan.delays, plan.policy, counted=getattr(plan.parameters, "count", None) is not None)
        if law is None:
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
            from boundlab.expectation import moments

            found = moments.in_exact_numbers(model, arithmetic, law, plan.metric, ks)
        else:
            alike = twins(plan.problem, law.p.astype(np.float64))
            found = enumerated(model, best, unit, looked_at(arithmetic, law, alike, plan.metric, ks), plan.metric, ks)
        return dict(zip(points, found, strict=True))

    return Sharp(plan, budget, cost, left)
