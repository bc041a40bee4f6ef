"""AREA's expectation over events and noise, in floats and in rational numbers, against all sequences one by one."""

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from exact_makers import sequences
from hypothesis import given, strategies as st
from moment_makers import Floats, first_and_second, left
from run_makers import tape_of

from boundlab.algorithms import EventLaw, StepSize
from boundlab.algorithms.area import AREA, AreaParameters
from boundlab.arithmetic import numbers
from boundlab.case import build_delays, build_problem
from boundlab.delays import ServerPolicy
from boundlab.execute.floats import run
from boundlab.expectation import exact_arithmetic, left_side
from boundlab.expectation._recursion import Moved, Off, Passes, Recursion, norm
from boundlab.expectation.moments import along, in_exact_numbers as second_moments
from boundlab.metrics import Watch, metric
from boundlab.objective import Problem
from boundlab.tape import RecordAt

P = [Fraction(3, 10), Fraction(1, 5)]
SIGMA = 1.5
PROBLEMS = {
    "one dimension": {"A": [[[2]], [[1]]], "b": [[1], [-3]], "x0": [4]},
    "diagonal": {"A": [[[2, 0], [0, 0.5]], [[1, 0], [0, 3]]], "b": [[1, -2], [3, 0.5]], "x0": [4, -1]},
    "no common basis": {"A": [[[2, 1], [1, 3]], [[1, 0], [0, 4]]], "b": [[1, -2], [3, 0.5]], "x0": [4, -1]},
}
STEPS = {"constant": StepSize(0.125), "diminishing": StepSize(0.5, 3.0)}
SIDES = {"squared-distance": False, "gap": False, "ergodic-gap": True, "gradient-norm-last": False}


def one_by_one(
    problem: Problem, parameters: AreaParameters, side: str, K: int, direction: Floats | None = None
) -> float:
    """Return the expectation as the sum over all (n+1)^K sequences, or over arrivals alone under a count."""
    average, total = SIDES[side], 0.0
    for weight, events in sequences(P, 1 - sum(P), K, parameters.count):
        tape = AREA.schedule(parameters, events, problem.n, RecordAt(np.array([K]), average=average), K)
        mean, cov = first_and_second(tape, problem, SIGMA, direction)
        total += weight * left("gap" if average else side, problem, mean[-1], cov[-1])
    return total


@pytest.mark.sweep(3)
@pytest.mark.parametrize("options", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize("clock", ["analysis", "algorithm"])
@pytest.mark.parametrize("last", [1, 2, 7])
def test_what_comes_after_a_horizon_changes_nothing_at_it(options: dict[str, Any], clock: Any, last: int) -> None:
    problem = build_problem("quadratic", {**options, "sigma": SIGMA})
    parameters = AreaParameters(STEPS["diminishing"], M=3, start="algorithm", clock=clock)
    delays = build_delays("iid", {"p": [float(one) for one in P]}, problem.n)
    run = "squared-distance", AREA, problem, parameters, delays, AREA.policy(None, delays)
    short, long = left_side(*run, last), left_side(*run, 600, [last, 600])
    assert short.value[0] == long.value[0]
    # As many points as are looked at are rounded as one mean of so many.
    assert (short.lower[0], short.upper[0]) == pytest.approx((long.lower[0], long.upper[0]), rel=1e-14)


@pytest.mark.sweep(9)
@pytest.mark.parametrize("options", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize(
    ("step", "start", "clock", "count"),
    [
        ("constant", "analysis", "analysis", None),
        ("constant", "algorithm", "algorithm", 1),
        ("diminishing", "algorithm", "analysis", None),
        ("diminishing", "analysis", "algorithm", None),
    ],
)
def test_noise_in_the_plane_over_all_sequences(
    options: dict[str, Any], step: str, start: Any, clock: Any, count: int | None
) -> None:
    problem = build_problem("quadratic", options)
    parameters = AreaParameters(STEPS[step], 2, count, "pre", start, clock)
    K = 5 if count else 3
    rates = [float(one) for one in P]
    delays = build_delays("exponential", {"rates": rates}, 2) if count else build_delays("iid", {"p": rates}, 2)
    policy = ServerPolicy("count", 1.0) if count else AREA.policy(None, delays)
    noisy = build_problem("quadratic", {**options, "sigma": SIGMA})
    model = noisy.rational({})
    law = EventLaw(np.array(P, dtype=object), 1 - sum(P))
    arithmetic = exact_arithmetic(AREA.program(parameters.known(Fraction), problem.n))
    for side in SIDES:
        expected = one_by_one(problem, parameters, side, K)
        found = left_side(side, "area", noisy, parameters, delays, policy, K).value[0]
        assert found == pytest.approx(expected, rel=1e-11), side
        exact = second_moments(model, arithmetic, law, metric(side), np.array([K]))[0]
        assert float(numbers.fraction(exact)) == pytest.approx(expected, rel=1e-11), side


@pytest.mark.parametrize("name", ["diagonal", "no common basis"])
def test_noise_of_either_sign_over_all_sequences(name: str) -> None:
    direction, sizes = np.array([1.0, -2.0]), STEPS["diminishing"]
    quiet = build_problem("quadratic", PROBLEMS[name])
    options = {**PROBLEMS[name], "sigma": SIGMA, "noise": "sign", "direction": [1, -2]}
    noisy = build_problem("quadratic", options)
    parameters = AreaParameters(sizes, 3, None, "pre", "algorithm", "algorithm")
    delays = build_delays("iid", {"p": [float(one) for one in P]}, 2)
    law = EventLaw(np.array(P, dtype=object), 1 - sum(P))
    for side in ("squared-distance", "ergodic-gap"):
        expected = one_by_one(quiet, parameters, side, 3, direction)
        found = left_side(side, "area", noisy, parameters, delays, AREA.policy(None, delays), 3).value[0]
        assert found == pytest.approx(expected, rel=1e-11), side
        # The unit vector along (1, −2) is not rational; its covariance is.
        assert noisy.rational(options).sign_noise() is None
        arithmetic = exact_arithmetic(AREA.program(parameters.known(Fraction), 2))
        exact = second_moments(noisy.rational(options), arithmetic, law, metric(side), np.array([3]))[0]
        assert float(numbers.fraction(exact)) == pytest.approx(expected, rel=1e-11), side


@pytest.mark.sweep(15)
@pytest.mark.parametrize("options", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize(
    "size", [StepSize(0.125), StepSize(0.5, 3.0), StepSize(1.5)], ids=["0.125", "1/(2(k+3))", "1.5"]
)
@pytest.mark.parametrize("start", ["analysis", "algorithm"])
def test_the_ends_of_a_long_run_hold_its_fraction(options: dict[str, Any], size: StepSize, start: Any) -> None:
    noisy = build_problem("quadratic", {**options, "sigma": SIGMA})
    parameters = AreaParameters(size, 2, None, "pre", start, "algorithm")
    delays = build_delays("iid", {"p": [float(one) for one in P]}, 2)
    # Shares as the floats that they are
    law = EventLaw(
        np.array([Fraction(float(one)) for one in P], dtype=object), 1 - sum(Fraction(float(one)) for one in P)
    )
    arithmetic, K = exact_arithmetic(AREA.program(parameters.known(Fraction), 2)), 40
    for side in SIDES:
        found = left_side(side, "area", noisy, parameters, delays, AREA.policy(None, delays), K)
        exact = numbers.fraction(second_moments(noisy.rational({}), arithmetic, law, metric(side), np.array([K]))[0])
        assert Fraction(found.lower[0]) <= exact <= Fraction(found.upper[0]), side
        width = 1e-4 if size.c == 1.5 else 1e-8  # 1.5 diverges
        assert found.upper[0] - found.lower[0] <= width * found.value[0], side


def exact_pass(A: Floats, g: Floats, sizes: list[float]) -> tuple[Any, Any]:
    """Return H and c of x ← x − size·(A x + g), one step after the other, in fractions."""
    H, c = np.vectorize(Fraction)(np.eye(len(A))), np.vectorize(Fraction)(np.zeros(len(A)))
    A, g = np.vectorize(Fraction)(A), np.vectorize(Fraction)(g)
    for size in map(Fraction, sizes):
        H, c = H - size * (A @ H), c - size * (A @ c + g)
    return H, c


def frobenius(x: Any) -> float:
    return float(sum(entry**2 for entry in x.ravel())) ** 0.5


@pytest.mark.sweep(2)
@pytest.mark.parametrize("e", [1, 2, 4])
@pytest.mark.parametrize("steps", [1, 3])
def test_what_floats_lose_of_local_steps_is_at_most_what_is_said(e: int, steps: int) -> None:
    rng = np.random.default_rng(e)
    for _ in range(60):
        root = rng.normal(size=(e, e))
        A, g = root @ root.T + np.eye(e), rng.normal(size=e)
        # Steps of just above 1/A: what is left of 1 − size·A is rounding, and little else.
        sizes = [(1.0 + 1e-12) / float(A[0, 0])] * steps
        one = Passes(A[None, None], g[None, None], np.zeros((1, e, e)), (), 1.0, [Off()]).of(0, tuple(sizes))
        H, c = exact_pass(A, g, sizes)
        wrong_H, wrong_c = (
            frobenius(H - np.vectorize(Fraction)(one.H[0])),
            frobenius(c - np.vectorize(Fraction)(one.c[0])),
        )
        assert wrong_H <= one.off.H <= 1e4 * np.finfo(float).eps * (1.0 + norm(A[None]) * sizes[0]) ** steps
        assert wrong_c <= one.off.c


@given(st.integers(0, 10**6), st.integers(2, 5), st.sampled_from([1e-12, 1e-9, 1e-6]))
def test_a_map_that_is_off_by_what_is_said_moves_second_moments_by_no_more_than_is_said(
    seed: int, size: int, off: float
) -> None:
    # One coordinate is written; T is off along the second moments of another, which stays as it is.
    rng = np.random.default_rng(seed)
    written, sources = np.array([size - 1]), np.arange(size)
    T = rng.normal(size=(1, 1, size)) * rng.choice([0.0, 1.0])
    root = rng.normal(size=(size, size)) * 10.0 ** rng.uniform(-3.0, 3.0, size=(size, 1))
    S = root @ root.T
    event = Moved(1.0, ("",), written, sources, T, [], np.full((1, size), off))
    toward = rng.integers(size - 1)
    apart = S[toward] * np.array([0.0, *[1.0] * (size - 1)])
    wrong = off * apart / max(float(np.linalg.norm(apart)), 1e-300)

    def after(row: Floats) -> Floats:
        change = np.eye(size)
        change[-1] = row
        return np.asarray(change @ S @ change.T)

    error = after(T[0, 0] + wrong) - after(T[0, 0])
    room = Recursion._lost(SimpleNamespace(size=size), np.stack([S[None], 0.0 * S[None]]), event)[0]  # type: ignore[arg-type]
    scale = 1.0 / np.sqrt(room)
    for sign in (1.0, -1.0):
        lowest = np.linalg.eigvalsh((np.diag(room) + sign * error) * np.outer(scale, scale))[0]
        assert lowest >= -1e-6


def test_the_root_of_a_norm_is_known_where_its_square_leaves_the_floats() -> None:
    for size in (4.0, 1e-200, 1e200):
        assert metric("squared-distance").root_of_norm(size) == 1.0
        assert metric("gap").root_of_norm(size) == pytest.approx(math.sqrt(size / 2.0), rel=1e-15, abs=0.0)
        assert metric("gradient-norm").root_of_norm(size) == pytest.approx(size, rel=1e-15, abs=0.0)


@pytest.mark.parametrize(
    ("name", "options", "server"),
    [("area", {"alpha": 0.1, "M": 2}, "poisson"), ("fedcompass", {"eta": 0.1, "Qmin": 2}, None)],
)
def test_the_moments_of_a_long_schedule_without_noise_are_those_of_its_one_run(
    name: str, options: dict[str, Any], server: str | None
) -> None:
    # Events bring what rounding does to moments together only as long as these are symmetric.
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(5, 3, 3))
    given = {"A": (roots @ roots.swapaxes(1, 2) / 12 + np.eye(3) / 10).tolist(), "b": rng.normal(size=(5, 3)).tolist()}
    problem, ks = build_problem("quadratic", {**given, "x0": [1, -2, 3]}), np.array([400, 1400])
    watch = Watch(metric("squared-distance"), problem, ks)
    tape = tape_of(name, options, 5, 1400, "exponential:rates=[1,2,3,4,5]", server=server, records=watch.records)
    run(tape, problem.x0, problem.full_gradients(), watch)
    found = along(problem, tape, metric("squared-distance"), ks)
    assert found.value == pytest.approx(watch.low, rel=1e-4)
    assert (found.lower <= watch.high * (1 + 1e-9)).all()
    assert (watch.low <= found.upper * (1 + 1e-9)).all()
