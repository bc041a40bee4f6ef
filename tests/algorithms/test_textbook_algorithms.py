"""The algorithms of the textbook theorems: trajectories by hand, identities, and what they refuse."""

import dataclasses

import numpy as np
import pytest
from algorithm_makers import HALVES, THREE, assert_close, assert_replays, make_case, trajectory_of
from hypothesis import given, strategies as st
from problem_makers import generated, make

from boundlab.case import replay
from boundlab.errors import AssumptionError, CaseError, SpecError, TapeError
from boundlab.execute.floats import run
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.tape import RecordAt, verify

BOWL = {"type": "quadratic", "A": [[[1]]], "b": [[0]], "x0": 8}


def rounds(count):
    return [[place, "s"] for place in range(1, count + 1)]


def test_gradient_descent_by_hand():
    # The mean of x/2 and (x+8)/2 is x/2 + 2: 2, 3, 3.5.
    assert_replays(make_case("gd", HALVES, {"alpha": 0.5}, rounds(2)), [1, 2], [3.0, 3.5])


def test_single_clients_by_hand():
    case = make_case("gd", HALVES, {"alpha": 0.5, "sampling": "cyclic"}, [[1, 0], [2, 1], [3, 0]])
    assert_replays(case, [1, 2, 3], [1.0, 4.5, 2.25])


def test_step_sizes_that_decrease_by_hand():
    # x²/2: each step multiplies by 1 − α_k. c/(k+d) = 1/(k+2): 1/2, 2/3.
    assert_replays(make_case("gd", BOWL, {"c": 1, "d": 2}, rounds(2)), [1, 2], [4.0, 8 / 3])
    # α/√(k+1) = 1/2, 1/(2√2).
    case = make_case("gd", BOWL, {"alpha": 0.5, "decay": "sqrt"}, rounds(2))
    assert_replays(case, [1, 2], [4.0, 4.0 - 4.0 / (2 * 2**0.5)])
    # α·(K−k)/(K+1) with K = 2: 2/3, 1/3, then nothing.
    case = make_case("gd", BOWL, {"alpha": 1, "decay": "linear", "K": 2}, rounds(3))
    assert_replays(case, [1, 2, 3], [8 / 3, 16 / 9, 16 / 9])


def test_local_steps_as_iterations_by_hand():
    # α = 1/4: x ↦ 3x/4 and x ↦ x/4 + 3. From 2: 3/2 and 7/2; each from its own: 9/8 and 31/8; then from their mean.
    slopes = {"type": "quadratic", "A": [[[1]], [[3]]], "b": [[0], [4]], "x0": 2}
    case = make_case("gd", slopes, {"alpha": 0.25, "M": 2, "iteration": "step"}, rounds(4))
    assert_replays(case, [1, 2, 3, 4], [2.5, 2.5, 2.75, 2.65625])


@given(M=st.integers(1, 4), n=st.sampled_from([1, 3]), K=st.integers(1, 6))
def test_passes_are_local_steps_counted_several_at_a_time(M, n, K):
    problem = THREE if n == 3 else BOWL
    steps = make_case("gd", problem, {"alpha": 0.25, "M": M, "iteration": "step"}, rounds(K * M))
    passes = make_case("gd", problem, {"alpha": 0.25, "M": M}, rounds(K))
    assert_close(trajectory_of(steps)[1][M - 1 :: M], trajectory_of(passes)[1])


@given(M=st.integers(1, 4), n=st.sampled_from([1, 3]), K=st.integers(1, 6))
def test_gradient_descent_of_all_clients_is_synchronous_fedavg(M, n, K):
    problem = THREE if n == 3 else BOWL
    ours = make_case("gd", problem, {"alpha": 0.25, "M": M}, rounds(K))
    theirs = make_case("sfedavg", problem, {"alpha": 0.25, "M": M}, [[k, list(range(n))] for k in range(1, K + 1)])
    assert_close(trajectory_of(ours)[1], trajectory_of(theirs)[1])


def test_the_heavy_ball_by_hand():
    # x²/2, α = β = 1/2: 8, 4, 4 − 2 − 2 = 0, 0 − 0 − 2.
    assert_replays(make_case("heavy_ball", BOWL, {"alpha": 0.5, "beta": 0.5}, rounds(3)), [1, 2, 3], [4.0, 0.0, -2.0])


def test_nesterovs_method_by_hand():
    # q = 1/4 makes β = 1/3. x = 8, 4; y = 4 − 4/3 = 8/3; x = 4/3; y = 4/3 − 8/9 = 4/9; x = 2/9.
    case = make_case("nesterov", BOWL, {"alpha": 0.5, "q": 0.25}, rounds(3))
    assert_replays(case, [1, 2, 3], [4.0, 4 / 3, 2 / 9])
    # t = 1, φ = (1+√5)/2, …: β_0 = 0, β_1 = (φ−1)/t_2. x = 8, 4, 2; y = 2 − 2β_1; x = 1 − β_1.
    phi = (1 + 5**0.5) / 2
    beta = (phi - 1) / ((1 + (1 + 4 * phi**2) ** 0.5) / 2)
    assert_replays(make_case("nesterov", BOWL, {"alpha": 0.5}, rounds(3)), [1, 2, 3], [4.0, 2.0, 1.0 - beta])


def test_the_optimized_gradient_method_by_hand():
    # K = 1: θ_1 = 2 and x_1 = x_0 − (3/2)α∇f; beyond K nothing moves.
    assert_replays(make_case("ogm", BOWL, {"alpha": 1, "K": 1}, rounds(2)), [1, 2], [-4.0, -4.0])


@given(st.integers(1, 8))
def test_the_optimized_gradient_method_follows_its_recursion(K):
    problem = generated("huber", 3, sigma=0.0, x0=4.0)
    case = make_case("ogm", problem.spec(), {"alpha": 0.2, "K": K}, rounds(K))
    theta = [1.0]
    for k in range(K):
        theta.append((1 + (1 + (8 if k == K - 1 else 4) * theta[k] ** 2) ** 0.5) / 2)
    x = y = problem.x0
    for k, entry in enumerate(replay(case)):
        old, y = y, x - 0.2 * problem.full_gradient(x)
        x = y + (theta[k] - 1) / theta[k + 1] * (y - old) + theta[k] / theta[k + 1] * (y - x)
        assert np.allclose(entry["x"], x, rtol=1e-10, atol=1e-10)


def test_the_incremental_method_by_hand():
    # 2 → 1 → 4.5, then in the other order 4.5 → 6.25 → 3.125.
    case = make_case("incremental", HALVES, {"alpha": 0.5}, [[1, [0, 1]], [2, [1, 0]]])
    assert_replays(case, [1, 2], [4.5, 3.125])


# -------------------------------------------------------------------------------------------- proximal steps


def test_proximal_points_by_hand():
    # x²/2 with α = 1 halves; |x| with α = 3 moves by 3 and stops at 0.
    assert_replays(make_case("proximal_point", BOWL, {"alpha": 1}, rounds(2)), [1, 2], [4.0, 2.0])
    lad = {"type": "lad", "c": [[0]], "w": [[1]], "x0": 8}
    assert_replays(make_case("proximal_point", lad, {"alpha": 3}, rounds(3)), [1, 2, 3], [5.0, 2.0, 0.0])
    # Huber with threshold 1, α = 2: 8 → 6 → 4 → 2 ≤ 1 + 2·1, so → 2/3.
    huber = {"type": "huber", "c": [[0]], "w": [[1]], "delta": 1, "x0": 8}
    assert_replays(make_case("proximal_point", huber, {"alpha": 2}, rounds(4)), [1, 2, 3, 4], [6.0, 4.0, 2.0, 2 / 3])


def test_what_has_no_proximal_step_says_so():
    tape = make_case("proximal_point", BOWL, {"alpha": 1}, rounds(1))
    compiled = lookup("algorithms", "proximal_point").schedule(tape.parameters, tape.events, 1, RecordAt(), 1)
    smooth = make("pseudo-huber", c=[[0.0]], x0=3.0)
    with pytest.raises(AssumptionError, match="pseudo-huber has no proximal step in closed form; huber, lad and"):
        run(compiled, smooth.x0, smooth.full_gradients(), lambda *_: None)
    noisy = make("huber", c=[[0.0]], x0=3.0, sigma=0.5)
    with pytest.raises(AssumptionError, match="needs the function itself, not noisy gradients; set sigma=0"):
        run(compiled, noisy.x0, noisy.oracle(Streams(0)), lambda *_: None)
    with pytest.raises(TapeError, match="implicit must say for every update"):
        verify(dataclasses.replace(compiled, implicit=np.array([True, False])))


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("algorithm", "problem", "options", "events", "error", "message"),
    [
        ("proximal_point", HALVES, {"alpha": 1}, rounds(1), SpecError, "of one function, and there are 2 clients"),
        ("gd", HALVES, {"alpha": 1}, [[1, 0]], SpecError, "event 1: sampling=all asks all clients .*, got client 0"),
        (
            "gd",
            HALVES,
            {"alpha": 1, "sampling": "uniform"},
            rounds(1),
            SpecError,
            'event 1: sampling=uniform asks one client, got "s"',
        ),
        (
            "gd",
            HALVES,
            {"alpha": 1, "sampling": "cyclic", "iteration": "step"},
            rounds(1),
            SpecError,
            "iteration=step counts",
        ),
        ("gd", HALVES, {"alpha": 1, "sampling": "mean", "M": 2}, rounds(1), SpecError, "mean is one step along .* M=2"),
        ("gd", HALVES, {"alpha": 1, "sampling": "mean"}, [[1, 0]], SpecError, "sampling=mean asks all clients"),
        ("gd", HALVES, {"alpha": 1, "decay": "linear"}, rounds(1), SpecError, "its horizon K go together"),
        ("gd", HALVES, {"c": 1, "d": 1, "decay": "sqrt"}, rounds(1), SpecError, "goes with alpha, not with c and d"),
        ("ogm", HALVES, {"alpha": 1, "K": 1}, [[1, 0]], CaseError, 'event 1: ogm asks all .* write "s"'),
        ("incremental", HALVES, {"alpha": 1}, [[1, [0]]], CaseError, "event 1: a pass asks each of the 2 clients once"),
        ("incremental", HALVES, {"alpha": 1}, [[1, 0]], CaseError, "event 1 must be .pass end"),
        ("heavy_ball", HALVES, {"alpha": 1, "beta": 1.5}, rounds(1), SpecError, "beta"),
        ("nesterov", HALVES, {"alpha": 1, "q": 2}, rounds(1), SpecError, "q"),
    ],
)
def test_what_does_not_fit_is_refused(algorithm, problem, options, events, error, message):
    with pytest.raises(error, match=message):
        replay(make_case(algorithm, problem, options, events))
