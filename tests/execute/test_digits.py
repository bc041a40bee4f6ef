"""Runs with as many digits as their errors take: they hold the run in fractions, and stay narrow however these grow."""

import os
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from run_makers import plan_of, tape_of

from boundlab.arithmetic.numbers import Scalar, ball, digits, flint, rational as rational_number
from boundlab.arithmetic.problem import AtMinimum
from boundlab.arithmetic.rational import Recipe
from boundlab.case import problem_from
from boundlab.compare import compare
from boundlab.errors import SpecError
from boundlab.execute import enclosed, iterates, rationals, rationals as in_digits
from boundlab.expectation import folded
from boundlab.metrics import METRICS, Enclosure
from boundlab.objective import Problem, StepBounds
from boundlab.tape import RecordAt, Tape
from boundlab.verdict import Verdict

EXAMPLES = int(os.environ.get("BOUNDLAB_EXAMPLES", "25"))
RATES = "deterministic:rates=[4,2,1,1]"
# Delayed and federated methods, whose errors no step makes smaller: (algorithm, options, its step).
DELAYED = (
    ("async_sgd", {}, "alpha"),
    ("fedbuff", {"M": "2", "count": "2"}, "eta_l"),
    ("fedstaleweight", {"M": "1", "count": "2"}, "eta_l"),
    ("fedfa", {"Q": "2", "K": "2", "mode": "delta"}, "eta_l"),
    ("fedfa", {"Q": "1", "K": "3", "mode": "param"}, "eta_l"),
    ("fedcompass", {"Qmin": "1", "Qmax": "2"}, "eta"),
    ("afl_dga", {"scaling": "analysis", "local_steps": "1..2"}, "eta"),
    ("area", {"M": "2"}, "alpha"),
)
PROBLEMS = (
    "quadratic:clients=4,dimension=2,seed=3",
    "huber:clients=4,dimension=2,seed=1,x0=3",
    "logistic:clients=4,nu=0.1,samples=40",
)


def exact_tape(name: str, options: dict[str, str], n: int, T: int, records: RecordAt, law: str) -> Tape:
    """Return a tape whose numbers know what they stand for."""
    return tape_of(name, options, n, T, law, records=records, exact=True)


def with_enough(problem: Problem, tape: Tape, ks: Any, metric: str = "gradient-norm") -> Enclosure:
    """Return left sides with as many digits as they take."""
    bits = 64
    while True:
        try:
            return in_digits.along(METRICS[metric], problem, tape, list, ks, bits)
        except in_digits.TooFewDigitsError as error:
            bits = max(error.bits, bits + 1)


def entry_by_entry(problem: Problem, tape: Tape, ks: Any, bits: int) -> list[Scalar]:
    """Return the same in balls that go through all steps, and that no bound of errors makes smaller."""
    model, shown = problem.in_balls(), list[Scalar]()
    assert model is not None
    function = AtMinimum.of(model, None)
    with digits(bits):
        rationals.run(tape, model, [], lambda _m, x: shown.append(function.squared_slope(x)), balls=True)
        return folded(METRICS["gradient-norm"], ks, shown)


@pytest.mark.sweep(9)
@pytest.mark.parametrize("spec", PROBLEMS)
@pytest.mark.parametrize(("name", "options", "rate"), DELAYED)
def test_digits_hold_the_run_and_are_narrow_where_floats_lose_it(
    name: str, options: dict[str, str], rate: str, spec: str
) -> None:
    problem, T = problem_from(spec), 16
    bounds = problem.step_bounds(0)
    assert bounds is not None
    ks, metric = np.array([1, T // 2, T]), METRICS["gradient-norm"]
    for share in (0.3, 3.0):  # of 1/L: a run that converges, and one whose errors truly grow
        chosen = {**options, rate: f"{share / bounds.L:.2g}"}
        tape = exact_tape(name, chosen, problem.n, T, metric.records(ks), RATES)
        found, exact = with_enough(problem, tape, ks), entry_by_entry(problem, tape, ks, 1000)
        for low, high, value in zip(found.lower.tolist(), found.upper.tolist(), map(ball, exact), strict=True):
            assert value.rad() < 1e-30 * value
            assert flint().arb(low) <= value <= flint().arb(high)
            assert high - low <= 1e-9 * high
        floats = iterates.along(metric, problem, tape, problem.full_gradients(), ks)
        assert (floats.lower <= found.upper).all()
        assert (found.lower <= floats.upper).all()


def test_errors_that_grow_by_1e30_leave_the_digits_narrow() -> None:
    """Some seconds: errors take 350 updates to grow so far."""
    problem, T = problem_from(PROBLEMS[1]), 350
    metric, ks = METRICS["gradient-norm"], np.array([T])
    tape = exact_tape("fedbuff", {"M": "2", "count": "2", "eta_l": "0.5"}, 4, T, metric.records(ks), RATES)
    floats = iterates.along(metric, problem, tape, problem.full_gradients(), ks)
    assert floats.upper[0] > 1e30
    found = with_enough(problem, tape, ks)
    assert found.upper[0] - found.lower[0] <= 1e-12 * found.upper[0]
    assert found.lower[0] <= floats.value[0] * (1 + 1e-12)
    assert floats.value[0] <= found.upper[0] * (1 + 1e-12)


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("name", "options", "rate"), DELAYED[:6])
def test_floats_follow_a_run_with_small_steps_however_stale_its_gradients_are(
    name: str, options: dict[str, str], rate: str
) -> None:
    """Errors of w and of the older model differ by what lies between: they grow by (step·L)² an update, not step·L."""
    problem, T = problem_from(PROBLEMS[1]), 500
    metric, ks = METRICS["gradient-norm"], np.array([T])
    tape = tape_of(name, {**options, rate: "0.05"}, 4, T, RATES, records=metric.records(ks))
    found = iterates.along(metric, problem, tape, problem.full_gradients(), ks)
    assert found.upper[0] - found.lower[0] <= 1e-4 * found.upper[0]


def off(seed: int, bits: int, share: float = 2.7, T: int = 12, **more: str) -> list[tuple[Fraction, Fraction]]:
    """Return how far few digits put each iterate of an unstable random run off, and how far they say, both squared."""
    name, options, rate = DELAYED[seed % len(DELAYED)]
    options = {**options, **more}
    problem = problem_from(f"quadratic:clients=3,dimension=2,seed={seed % 5}")
    bounds = [problem.step_bounds(client) for client in range(problem.n)]
    assert bounds[0] is not None
    records = RecordAt(np.arange(1, T + 1))
    tape = exact_tape(name, {**options, rate: f"{share / bounds[0].L:.2g}"}, 3, T, records, "exponential")
    model, exact, found = problem.in_balls(), list[list[Fraction]](), list[Any]()
    assert model is not None
    rationals.run(tape, model, [], lambda _m, x: exact.append([fraction(one) for one in x]), balls=False, longest=10**6)
    with digits(bits):
        vectors = rationals.Balls(model, bounds)
        enclosed.run(tape, rationals.exactly(tape, [], balls=True), vectors, lambda _m, point: found.append(point))
        return [
            (
                sum(((fraction(a.mid().fmpq()) - b) ** 2 for a, b in zip(point.value, x, strict=True)), Fraction(0)),
                fraction(ball(point.error).upper().fmpq()) ** 2,
            )
            for point, x in zip(found, exact, strict=True)
        ]


def fraction(x: Any) -> Fraction:
    return Fraction(int(x.p), int(x.q))


@pytest.mark.nightly
@settings(max_examples=EXAMPLES)
@given(seed=st.integers(0, 2**16))
def test_few_digits_are_off_by_no_more_than_they_say(seed: int) -> None:
    assert all(away <= said for share, T in ((2.7, 12), (1.0, 20)) for away, said in off(seed, 30, share, T))


@pytest.mark.parametrize("share", [2.7, 4.0])
@pytest.mark.parametrize("seed", [1, 2, 9])
def test_local_steps_that_bring_points_apart_bring_apart_what_rounding_has_added(seed: int, share: float) -> None:
    """A pass of twenty steps longer than 2/L: what the first one rounds grows with all that follow."""
    assert all(away <= said for away, said in off(seed, 30, share, 2, M="20"))


@pytest.mark.parametrize("term", ["moved", "growth", "apart", "rounding"])
def test_a_term_that_is_dropped_from_the_errors_is_noticed(monkeypatch: pytest.MonkeyPatch, term: str) -> None:
    then = enclosed.Motion.then
    match term:
        case "moved":
            monkeypatch.setattr(StepBounds, "moved", lambda *_: 0.0)
        case "growth":
            monkeypatch.setattr(rationals, "max", min, raising=False)
        case "apart":
            monkeypatch.setattr(enclosed, "_apart", lambda *_: 0.0)
        case _:
            monkeypatch.setattr(enclosed.Motion, "then", lambda *of: then(*of)._replace(rounding=0.0))
    # Steps of 1/L bring no points apart: what grows then are the errors of models that are stale.
    runs = [off(seed, 30, 1.0, 60) for seed in (0, 8, 16)] if term == "apart" else map(off, range(16), [30] * 16)
    assert not all(away <= said for run in runs for away, said in run)


def test_who_looks_at_local_steps_sees_points_with_their_distance_from_the_exact_ones() -> None:
    problem, T = problem_from("huber:clients=4,dimension=2,seed=1,x0=3"), 30
    metric, ks, seen = METRICS["gradient-norm"], np.array([T]), list[tuple[int, Any, float]]()
    tape = exact_tape("fedbuff", {"M": "2", "count": "2", "eta_l": "0.2"}, 4, T, metric.records(ks), RATES)
    in_digits.along(metric, problem, tape, list, ks, 256, lambda *one: seen.append(one))
    assert [client for client, _, _ in seen] == np.repeat(tape.descend.client, 2).tolist()
    model, exact = problem.in_balls(), list[Any]()
    assert model is not None
    with digits(1000):
        rationals.run(tape, model, [], lambda *_: None, balls=True, moved=lambda x, _y: exact.append(x))
        for (_, x, error), there in zip(seen, exact, strict=True):
            away = sum(((a - b) ** 2 for a, b in zip(there, map(flint().arb, x.tolist()), strict=True)), flint().arb(0))
            assert away <= flint().arb(error) ** 2
            assert error <= 1e-14 * (1.0 + np.linalg.norm(x))


@pytest.mark.parametrize("server_rate", ["0.7", "rate"])
def test_weights_by_average_staleness_are_fractions_that_sum_to_one(server_rate: str) -> None:
    rates = [Fraction(7, 10)] if server_rate == "rate" else []
    given = Recipe(0.7, ("rate", 0)) if rates else server_rate
    chosen = {"eta_l": "0.1", "M": "1", "count": "3", "scale": "0.3", "eta_g": given}
    tape = tape_of("fedstaleweight", chosen, 5, 60, "exponential", seed=4, exact=True)
    own = list(map(rational_number, rates))
    exact = [fraction(one) for one in rationals.exactly(tape, own, balls=False).coefficients]
    start = tape.affine.start.tolist()
    updates = [row for row, dst in enumerate(tape.affine.dst.tolist()) if dst == 0]
    assert len(updates) == 60
    for row in updates:  # x_s, and three updates
        assert sum(exact[start[row] + 1 : start[row + 1]], Fraction(0)) == Fraction(7, 10)
    assert exact == pytest.approx(tape.affine.coef.tolist(), rel=1e-15)
    with digits(300):
        found = rationals.exactly(tape, own, balls=True).coefficients
        assert all(ball.contains(rational_number(one)) for ball, one in zip(found, exact, strict=True))
        assert min(one.rel_accuracy_bits() for one in found) > 200


def test_weights_that_are_known_as_floats_alone_do_not_get_digits() -> None:
    problem, metric, ks = problem_from(PROBLEMS[0]), METRICS["gradient-norm"], np.array([9])
    options = {"eta_l": "0.1", "staleness": "polynomial", "count": "1"}
    tape = tape_of("fedbuff", options, 4, 9, RATES, records=metric.records(ks))
    with pytest.raises(SpecError, match="not known with more digits"):
        in_digits.along(metric, problem, tape, list, ks, 256)


def test_a_long_run_with_stale_gradients_is_shown_with_its_digits() -> None:
    plan = plan_of("fedbuff.rf1", PROBLEMS[1], RATES, 250, count="2", eta_l="0.5")
    found = compare(plan, 3, 0)
    assert found.verdict is Verdict.HOLDS, found.reason
    assert "as floats lose it" in found.band.method
    assert "rounding" not in found.band.method
    assert (found.band.upper - found.band.lower <= 1e-9 * found.band.upper).all()


def test_what_takes_too_long_unasked_keeps_the_ends_of_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boundlab.compare.run.UNASKED", 1.0)
    monkeypatch.setattr("boundlab.compare.run.AFFORDABLE", 1.0)
    found = compare(plan_of("fedbuff.rf1", PROBLEMS[1], RATES, 250, count="2", eta_l="0.5"), 3, 0)
    assert "how far rounding may lead (the option enclose)" in found.band.method
