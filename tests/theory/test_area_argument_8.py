"""The displays of AREA's Theorem 8, repaired: both sides, over every event and every sign of the noise."""

from itertools import pairwise

import area_makers as area
import numpy as np
import pytest
from area_makers import Clients, Floats, squares
from paper_theorems import AREA as BY_ID
from theory_pages import below, shows

CASES = [(seed, n, M) for seed, (n, M) in enumerate([(1, 1), (1, 4), (2, 1), (2, 3), (3, 2)])]


def functions(seed: int, n: int) -> Clients:
    rng = np.random.default_rng(seed)
    return area.lipschitz(rng, n, sigma=float(rng.choice([0.0, 0.4, 2.0])), kinks=bool(seed % 2))


def points(seed: int) -> Floats:
    scales = np.array([0, 0.01, 0.1, 0.5, 1, 3, 9])[:, None]
    return np.asarray(scales * np.random.default_rng(100 + seed).normal(size=(7, 2)))


@shows("area", "T8.1")
@pytest.mark.parametrize(("seed", "n", "M"), CASES)
@pytest.mark.parametrize("alpha", [0.03, 1.0])
def test_one_local_step(seed: int, n: int, M: int, alpha: float) -> None:
    f, away = functions(seed, n), np.zeros(2)
    for i in range(n):
        path = area.passes(f, i, points(seed), alpha, M)
        for before, after in pairwise(path):
            gain = f.value(i, before) - f.value(i, away)
            right = squares(before) - 2 * alpha * gain
            assert below(squares(after).mean(1), right.mean(1) + alpha**2 * (f.sigma**2 + f.B**2))


@shows("area", "T8.2", "T8.3")
@pytest.mark.parametrize(("seed", "n", "M"), CASES)
@pytest.mark.parametrize("alpha", [0.03, 1.0])
def test_lemma_21_and_one_pass(seed: int, n: int, M: int, alpha: float) -> None:
    f, x = functions(seed, n), points(seed)
    for i in range(n):
        path = area.passes(f, i, x, alpha, M)
        for m, z in enumerate(path):
            assert below(f.value(i, x) - alpha * m * f.B**2, f.value(i, z).mean(1))
        gain = f.value(i, x) - f.value(i, np.zeros(2))
        right = squares(x) - 2 * alpha * M * gain + alpha**2 * M * (f.sigma**2 + M * f.B**2)
        assert below(squares(path[-1]).mean(1), right)


@shows("area", "T8.1", "T8.2", "T8.3")
@pytest.mark.parametrize("M", [1, 2, 5])
def test_a_linear_function_makes_equalities_of_a_step_of_lemma_21_and_of_a_pass(M: int) -> None:
    f, alpha = area.linear(np.random.default_rng(M), sigma=0.7), 0.3
    x = np.zeros((1, 2))
    path = area.passes(f, 0, x, alpha, M)
    for m, z in enumerate(path):
        assert f.value(0, z).mean() == pytest.approx(-alpha * m * f.B**2)
    assert squares(path[-1]).mean() == pytest.approx(alpha**2 * M * (f.sigma**2 + M * f.B**2))
    assert squares(path[1]).mean() == pytest.approx(alpha**2 * (f.sigma**2 + f.B**2))


def potential(state: area.States, p: Floats) -> Floats:
    """V_k in every state."""
    clients = ((squares(state.x) + squares(state.y)) / p).mean(axis=1)
    return np.asarray(clients + squares(state.server) / (1 - p.sum()))


def shares(seed: int, n: int) -> Floats:
    w = np.random.default_rng(200 + seed).uniform(0.1, 1.0, size=n + 1)
    return np.asarray(w[:n] / w.sum())


def random_states(seed: int, n: int) -> area.States:
    """Any state at all: (T8.5) and (T8.6) are about each."""
    rng = np.random.default_rng(300 + seed)
    scale = float(rng.choice([0.1, 1.0, 5.0]))
    server, x, y = (scale * rng.normal(size=size) for size in ((1, 2), (1, n, 2), (1, n, 2)))
    return area.States(server, x, y, np.ones(1), np.zeros((1, 2)))


@pytest.mark.sweep(2)
@shows("area", "T8.4", "T8.5", "T8.6")
@pytest.mark.parametrize(("seed", "n", "M"), CASES)
@pytest.mark.parametrize("more", range(4))
def test_one_iteration(seed: int, n: int, M: int, more: int) -> None:
    f, alpha, p = functions(seed, n), 0.2, shares(seed + 10 * more, n)
    now = random_states(seed + 10 * more, n)
    after = area.advance(f, now, p.tolist(), alpha, M)
    left, here = after.mean(potential(after, p)), potential(now, p)[0]
    passed = np.mean([squares(area.passes(f, i, now.server, alpha, M)[-1]).mean() for i in range(n)])
    middle = here - squares(now.server)[0] + passed
    assert below(left, middle)
    if n == 1:  # the mean of one y is that y: nothing is lost
        assert left == pytest.approx(middle)
    gap = f.mean_value(now.server)[0] - f.mean_value(np.zeros(2))
    assert below(left, here - 2 * alpha * M * gap + alpha**2 * M * (f.sigma**2 + M * f.B**2))


@pytest.mark.sweep(2)
@shows("area", "T8.7", "T8.8")
@pytest.mark.parametrize("start", ["analysis", "algorithm"])
@pytest.mark.parametrize(("seed", "n", "M"), CASES)
@pytest.mark.parametrize("alpha", [0.05, 0.6])
def test_all_iterations_from_both_starts_and_the_registered_bounds(
    start: str, seed: int, n: int, M: int, alpha: float
) -> None:
    f, p = functions(seed, n), shares(seed, n)
    x0 = points(seed)[5]
    R, C = float(np.sqrt(squares(x0))), f.sigma**2 + M * f.B**2
    p_s, qbar = 1 - float(p.sum()), float((1 / p).mean())
    state = area.begin(f, x0, alpha if start == "algorithm" else None, M)
    initial = float(state.mean(potential(state, p)))
    A = (1 / p_s + 2 * qbar) * R**2
    if start == "analysis":
        assert initial == pytest.approx(A)
    else:
        A += qbar * (2 * alpha * M * f.B * R + alpha**2 * M * C)
        assert below(initial, A)
    best, gaps = float(f.mean_value(np.zeros(2))), []
    name = "area.theorem8.repaired.fixed-step" if start == "analysis" else "area.theorem8.algorithm-start"
    values = {"p": p, "R": R, "B": f.B, "sigma": f.sigma, "M": M, "alpha": alpha}
    for K in range(1, 4 if M > 1 else 5):
        gaps.append(float(state.mean(f.mean_value(state.server))) - best)
        state = area.advance(f, state, p.tolist(), alpha, M)
        ergodic = float(state.mean(f.mean_value(state.total / K))) - best
        assert below(ergodic, np.mean(gaps))
        assert below(np.mean(gaps), initial / (2 * alpha * M * K) + alpha * C / 2)
        assert BY_ID[name].evaluate({**values, "K": K}).total == pytest.approx(A / (2 * alpha * M * K) + alpha * C / 2)


@pytest.mark.sweep(2)
@shows("area", "T8.9")
@pytest.mark.parametrize("seed", range(20))
def test_the_step_for_the_horizon_makes_the_two_parts_equal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, C = rng.uniform(0.01, 9, size=2)
    M, K = (int(number) for number in rng.integers(1, 50, size=2))
    alpha = (A / (C * M * K)) ** 0.5
    assert A / (2 * alpha * M * K) + alpha * C / 2 == pytest.approx((A * C / (M * K)) ** 0.5)
    p, B, R = np.array([0.2, 0.3]), float(rng.uniform(0, 2)), float(rng.uniform(0.1, 2))
    found = BY_ID["area.theorem8.repaired"].evaluate({"p": p, "R": R, "B": B, "sigma": 0.3, "M": M, "K": K})
    A, C = (2 + (1 / p).sum()) * R**2, 0.3**2 + M * B**2
    assert found.derived["alpha"] == pytest.approx((A / (C * M * K)) ** 0.5)
    assert found.total == pytest.approx((A * C / (M * K)) ** 0.5)


def test_half_of_the_drops_of_lemma_21_is_not_enough() -> None:
    # The printed (M + 1)·B²/2 in the place of M·B²: the linear function is above it.
    f, alpha, M = area.linear(np.random.default_rng(0), sigma=0.0), 0.3, 4
    end = squares(area.passes(f, 0, np.zeros((1, 2)), alpha, M)[-1]).mean()
    assert end > 1.5 * alpha**2 * M * (M + 1) * f.B**2 / 2
