"""AREA's theorems against each other, against goldens, and against exact expectations by a second route."""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from exact_makers import runs
from hypothesis import given, strategies as st
from paper_theorems import AREA as BY_ID

from boundlab.errors import AssumptionError, SymbolError
from boundlab.randomness import Floats
from boundlab.theorems.recursions import local_pass, recursion


def mean_squares(
    a: Floats,
    b: Floats,
    p: Floats,
    *,
    M: int,
    sigma: float,
    x0: float,
    alpha: Callable[[int], float],
    K: int,
    start: str = "analysis",
    clock: str = "analysis",
) -> Floats:
    """Return E(x_s,k − x*)² for k = 0 … K with f_i = a_i(x − b_i)²/2, i.i.d. events and noise of variance σ².

    The second-moment matrix of (x_1..x_n, y_1..y_n, x_s, 1), relative to x*, obeys a linear recursion.
    """
    n = len(a)
    best = float(a @ b / a.sum())
    away = b - best
    size = 2 * n + 2
    server, one = 2 * n, 2 * n + 1
    p_s = 1.0 - p.sum()

    def descend(i: int, step: float) -> tuple[float, float, float]:
        r = 1.0 - step * a[i]
        return r**M, (1.0 - r**M) * away[i], step**2 * sigma**2 * sum(r ** (2 * j) for j in range(M))

    moment = np.full((size, size), (x0 - best) ** 2)
    moment[one, :] = moment[:, one] = x0 - best
    moment[one, one] = 1.0
    if start == "algorithm":
        shift = np.eye(size)
        noise = np.zeros((size, size))
        for i in range(n):
            factor, offset, variance = descend(i, alpha(0))
            shift[i] = 0.0
            shift[i, server], shift[i, one] = factor, offset
            noise[i, i] = variance
        moment = shift @ moment @ shift.T + noise
    found = [moment[server, server]]
    for k in range(K):
        step = alpha(k + 1 if clock == "algorithm" else k)
        following = np.zeros_like(moment)
        for i in range(n):
            factor, offset, variance = descend(i, step)
            move = np.eye(size)
            move[i] = 0.0
            move[i, server], move[i, one] = factor, offset
            move[n + i] = 0.0
            move[n + i, i] = 1.0
            after = move @ moment @ move.T
            after[i, i] += variance
            following += p[i] * after
        gather = np.eye(size)
        gather[server] = 0.0
        gather[server, n : 2 * n] = 1.0 / n
        following += p_s * (gather @ moment @ gather.T)
        moment = following
        found.append(moment[server, server])
    return np.array(found)


def test_the_server_moves_only_after_a_client_was_answered_and_heard() -> None:
    # start=analysis, one client, p = p_s = 1/2: answer, arrival, aggregation need three events.
    found = mean_squares(np.ones(1), np.zeros(1), np.array([0.5]), M=1, sigma=0.0, x0=1.0, alpha=lambda _: 0.5, K=3)
    assert found[:3].tolist() == [1.0, 1.0, 1.0]
    # Of the eight sequences of three events only (i, i, s) moves x_s, from 1 to 1/2.
    assert found[3] == 7 / 8 + 1 / 8 / 4


@pytest.mark.parametrize("start", ["analysis", "algorithm"])
def test_moments_and_enumeration_agree_on_a_quadratic_without_noise(start: str) -> None:
    a, b, p, alpha = np.array([1.0, 0.5]), np.array([1.0, -2.0]), np.array([0.3, 0.4]), lambda _: 0.4
    squares = mean_squares(a, b, p, M=2, sigma=0.0, x0=1.5, alpha=alpha, K=5, start=start)
    each = runs(lambda i, x: a[i] * (x - b[i]), p.tolist(), 1.5, alpha, 2, 5, start=start)
    assert squares == pytest.approx(sum(chance * np.array(models) ** 2 for chance, models in each), rel=1e-13)  # x* = 0


SMOOTH: dict[str, Any] = {
    "p": np.array([0.2, 0.3, 0.35]),
    "mu": 0.1,
    "L": 1,
    "M": 5,
    "sigma": 1,
    "zeta": 1,
    "R": 3,
    "K": 1000,
}


# ------------------------------------------------------------------------------------------------ Theorem 8


LAD = st.fixed_dictionaries(
    {
        "centres": st.tuples(st.floats(-2, 2), st.floats(-2, 2)),
        "p": st.tuples(st.floats(0.1, 0.45), st.floats(0.1, 0.45)),
        "x0": st.floats(-5, 5),
        "M": st.sampled_from([1, 2, 10]),
        "alpha": st.floats(0.01, 1.0),
    }
)


@pytest.mark.parametrize(
    ("name", "start"),
    [("area.theorem8.repaired.fixed-step", "analysis"), ("area.theorem8.algorithm-start", "algorithm")],
)
@given(problem=LAD)
def test_the_repaired_theorem_8_is_above_every_exact_ergodic_gap(
    name: str, start: str, problem: dict[str, Any]
) -> None:
    centres, p = problem["centres"], problem["p"]
    slope = lambda i, x: np.sign(x - centres[i])  # noqa: E731
    every = runs(slope, p, problem["x0"], lambda _: problem["alpha"], problem["M"], 5, start=start)
    best, exact = abs(centres[0] - centres[1]) / 2, np.zeros(5)
    for chance, models in every:
        averages = np.cumsum(models[:5]) / np.arange(1, 6)
        exact += chance * (np.abs(averages[:, None] - centres).mean(axis=1) - best)
    # Every point between the centres is optimal; take the nearest one, which makes R smallest.
    nearest = min(max(problem["x0"], min(centres)), max(centres))
    values = {"p": np.array(p), "R": abs(problem["x0"] - nearest), "B": 1, "sigma": 0}
    values |= {"M": problem["M"], "alpha": problem["alpha"]}
    bound = BY_ID[name].at_iterations(values, np.arange(1, 6)).total
    assert (exact <= bound + 1e-12).all()


# ------------------------------------------------------------------------------------------------ Theorem 7


REGIMES = st.fixed_dictionaries(
    {
        "p": st.lists(st.floats(0.02, 1.0), min_size=1, max_size=4).map(lambda w: np.array(w) / (sum(w) + 0.3)),
        "mu": st.floats(0.01, 1.0),
        "M": st.integers(1, 12),
        "sigma": st.sampled_from([0.0, 0.3, 3.0]),
        "zeta": st.sampled_from([0.0, 0.5, 5.0]),
        "R": st.floats(0.0, 5.0),
    }
)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "forms", [("recursion", "onepass", "explicit"), ("recursion.algorithm-start", "onepass.algorithm-start")]
)
@given(values=REGIMES)
def test_recursion_below_onepass_below_explicit(forms: tuple[str, ...], values: dict[str, Any]) -> None:
    ks = np.array([0, 1, 10, 100, 1000])
    bounds = [BY_ID[f"area.theorem7.{form}"].at_iterations({**values, "L": 1.0}, ks).total for form in forms]
    for tight, wide in pairwise(bounds):
        assert (tight <= wide * (1 + 1e-9) + 1e-12).all()


QUADRATICS = st.fixed_dictionaries(
    {
        "a": st.lists(st.floats(0.1, 1.0), min_size=1, max_size=3),
        "b": st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=3),
        "w": st.lists(st.floats(0.05, 1.0), min_size=3, max_size=3),
        "sigma": st.sampled_from([0.0, 0.5]),
        "x0": st.floats(-3.0, 3.0),
        "boost": st.sampled_from([1.0, 3.0, 30.0]),
    }
)


def _setting(problem: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
    a = np.array(problem["a"])
    b, p = np.array(problem["b"][: len(a)]), np.array(problem["w"][: len(a)])
    p /= p.sum() + 0.3
    best = float(a @ b / a.sum())
    values = {
        "p": p,
        "mu": a.min(),
        "L": a.max(),
        "sigma": problem["sigma"],
        "zeta": abs(b - best).max(),
        "R": abs(problem["x0"] - best),
    }
    return a, b, p, values


@pytest.mark.sweep(3)
@pytest.mark.parametrize("M", [1, 5])
@pytest.mark.parametrize("start", ["analysis", "algorithm"])
@pytest.mark.parametrize("clock", ["analysis", "algorithm"])
@given(problem=QUADRATICS)
def test_the_recursion_is_above_the_exact_mean_square_of_quadratics(
    M: int, start: str, clock: str, problem: dict[str, Any]
) -> None:
    a, b, p, values = _setting(problem)
    step = BY_ID["area.theorem7.recursion"].step_options({**values, "M": M})
    # Larger steps than the printed ones, up to the recursion's own limit.
    d = max(step["d"] / problem["boost"], step["c"] * (values["mu"] + values["L"]) / 2)
    K = 60
    exact = mean_squares(
        a,
        b,
        p,
        M=M,
        sigma=problem["sigma"],
        x0=problem["x0"],
        alpha=lambda k: step["c"] / (k + d),
        K=K,
        start=start,
        clock=clock,
    )
    gradients = a * abs(b - float(a @ b / a.sum()))
    for G in (gradients, values["L"] * values["zeta"]):
        bound = recursion(
            p=p,
            p_s=1 - p.sum(),
            mu=values["mu"],
            L=values["L"],
            M=M,
            sigma=problem["sigma"],
            R=values["R"],
            G=G,
            c=step["c"],
            d=d,
            ks=np.arange(K + 1),
            start=start,
            clock=clock,  # type: ignore[arg-type]
        )
        assert (exact <= bound * (1 + 1e-9) + 1e-12).all()


@pytest.mark.parametrize("M", [1, 5])
@given(problem=QUADRATICS)
def test_the_recursion_is_above_the_exact_mean_square_for_a_constant_step(M: int, problem: dict[str, Any]) -> None:
    a, b, p, values = _setting(problem)
    # The largest float below the condition, which has no tolerance.
    alpha = 2 / (values["mu"] + values["L"]) / problem["boost"] * (1 - 1e-15)
    exact = mean_squares(a, b, p, M=M, sigma=problem["sigma"], x0=problem["x0"], alpha=lambda _: alpha, K=60)
    bound = BY_ID["area.theorem7.recursion"].at_iterations({**values, "M": M, "alpha": alpha}, np.arange(61)).total
    assert (exact <= bound * (1 + 1e-9) + 1e-12).all()


@pytest.mark.parametrize("M", [1, 5])
@given(problem=QUADRATICS)
def test_the_closed_forms_are_above_the_exact_mean_square(M: int, problem: dict[str, Any]) -> None:
    a, b, p, values = _setting(problem)
    values = {**values, "M": M}
    for name in ("area.theorem7.explicit", "area.theorem7.onepass", "area.theorem7.onepass.algorithm-start"):
        theorem = BY_ID[name]
        step = theorem.step_sizes(values, 61)
        exact = mean_squares(
            a,
            b,
            p,
            M=M,
            sigma=problem["sigma"],
            x0=problem["x0"],
            alpha=step.__getitem__,
            K=60,
            start=theorem.options["start"],
            clock=theorem.options["clock"],
        )
        assert (exact <= theorem.at_iterations(values, np.arange(61)).total * (1 + 1e-9) + 1e-12).all()


def test_without_noise_and_heterogeneity_one_client_is_followed_exactly() -> None:
    # One client, M = 1, mu = L: X is the mean square itself, so the recursion is an equality.
    alpha, p = 0.5, np.array([0.4])
    exact = mean_squares(np.array([1.0]), np.array([0.0]), p, M=3, sigma=0.7, x0=2.0, alpha=lambda _: alpha, K=40)
    bound = recursion(p=p, p_s=0.6, mu=1, L=1, M=3, sigma=0.7, R=2, G=0, c=alpha, d=None, ks=np.arange(41))
    assert bound == pytest.approx(exact, rel=1e-12)


@given(st.floats(1e-9, 1.0), st.integers(1, 60))
def test_local_steps_by_doubling_are_the_sums_of_their_definitions(alpha: float, M: int) -> None:
    mu, L, sigma = 0.7, 1.0, 0.3
    r = 1 - alpha * mu
    found = local_pass(np.array([alpha]), mu, L, M, sigma)
    inner = [math.fsum(r**j for j in range(m)) for m in range(M)]
    assert found.contraction[0] == pytest.approx(r**M, rel=1e-12)
    assert found.noise[0] == pytest.approx(alpha**2 * sigma**2 * math.fsum(r ** (2 * j) for j in range(M)), rel=1e-12)
    assert found.drift[0] == pytest.approx(alpha**2 * L * math.fsum(inner), rel=1e-12, abs=1e-300)


@pytest.mark.nightly
def test_the_recursion_gives_the_same_at_one_iteration_and_in_one_pass_over_many() -> None:
    theorem = BY_ID["area.theorem7.recursion"]
    many = theorem.at_iterations(SMOOTH, np.array([3, 33000, 0, 3])).total
    for place, k in enumerate((3, 33000, 0, 3)):
        assert theorem.at_iterations(SMOOTH, np.array([k])).total[0] == many[place]
    grid = theorem.evaluate({**SMOOTH, "sigma": np.array([[0.0], [1.0]]), "K": np.array([[3, 33000]])})
    assert grid.total.shape == (2, 2)
    assert grid.total[1] == pytest.approx(many[:2], rel=0)
    assert (grid.total[0] < grid.total[1]).all()


def test_equal_clients_are_iterated_once() -> None:
    p = np.full(2000, 0.5 / 2000)
    long = recursion(p=p, p_s=0.5, mu=1, L=2, M=2, sigma=1, R=1, G=np.ones(2000), c=0.1, d=None, ks=[50])
    short = recursion(p=p[:1], p_s=0.5, mu=1, L=2, M=2, sigma=1, R=1, G=1, c=0.1, d=None, ks=[50])
    assert long == pytest.approx(short, rel=1e-12)


def test_a_step_above_2_over_mu_plus_l_is_not_covered() -> None:
    message = r"needs c/d ≤ 2/\(M\(μ\+L\)\), got 1 > 0\.36"
    with pytest.raises(AssumptionError, match=message):
        BY_ID["area.theorem7.explicit"].evaluate({**SMOOTH, "D": 1})
    with pytest.raises(AssumptionError, match=r"α_0 ≤ 2/\(μ\+L\), got 2 > 1\.8"):
        BY_ID["area.theorem7.recursion"].evaluate({**SMOOTH, "alpha": 2})
    with pytest.raises(AssumptionError, match=r"c/d ≤ 2/\(μ\+L\), got 4 >"):
        BY_ID["area.theorem7.recursion"].evaluate({**SMOOTH, "c": 4, "d": 1})


def test_a_smaller_d_starts_with_a_smaller_step() -> None:
    small = BY_ID["area.theorem7.explicit"].step_sizes({**SMOOTH, "D": 0.001}, 3)
    assert small[0] == pytest.approx(0.001)
    assert (np.diff(small) < 0).all()


def test_the_recursion_runs_at_most_ten_million_iterations() -> None:
    with pytest.raises(SymbolError, match="K must be between 0 and 1e\\+07"):
        BY_ID["area.theorem7.recursion"].evaluate({**SMOOTH, "K": 10**8})
