"""Constants of the federated theorems: bounds on gradients and on their spread, and the initial gap."""

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from problem_makers import LOSSES, generated, make, point, tiny

from boundlab.errors import AssumptionError
from boundlab.problems import erm, separable

SHARE = 1 if "BOUNDLAB_EXAMPLES" in os.environ else 3  # make test looks at one example in so many
SEEDS = st.integers(0, 10_000)
SEPARABLE = {"features": [[1.0], [2.0], [-1.0], [-1.5]], "targets": [1.0, 1.0, 0.0, 0.0], "owners": [0, 0, 1, 1]}


def numbers(problem: Any) -> dict[str, float]:
    return {name: constant.value for name, constant in problem.constants().items()}


def random_problem(kind: str, seed: int, **more: Any) -> Any:
    """Give a random problem with bounded gradients, its clients of unequal weight."""
    if kind in LOSSES:
        return tiny(kind, seed, **({"nu": 0.0} | more))
    if kind == "max-affine":
        return generated(kind, seed, **more)
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    c, w = rng.normal(scale=float(rng.choice([0.1, 1.0, 10.0])), size=(n, d)), rng.exponential(size=(n, d))
    delta = {} if kind == "lad" else {"delta": float(rng.choice([0.01, 0.5, 3.0]))}
    return make(kind, c=c.tolist(), w=w.tolist(), sigma=0.3, **delta, **more)


def gradients(problem: Any, x: np.ndarray) -> np.ndarray:
    return np.array([problem.gradient(i, x) for i in range(problem.n)])


@given(st.sampled_from(("logistic", "hinge")), SEEDS)
def test_the_wrong_side_of_every_sample_at_once_is_within_the_bounds(kind: str, seed: int) -> None:
    # Far out along a direction each slope is 0 or −y: adversarial for bounds that assume an even mix.
    problem = random_problem(kind, seed)
    known = numbers(problem)
    for i in range(problem.n):
        part = problem.part(i)
        for direction in (part.X.T @ part.y, -(part.X.T @ part.y)):
            rows = gradients(problem, 1e9 * direction)
            away = np.linalg.norm(rows - rows.mean(axis=0), axis=1)
            assert np.linalg.norm(rows, axis=1).max() <= np.sqrt(known["G_sq"]) * (1 + 1e-15)
            assert away.max() <= known["sigma_g"] * (1 + 1e-12)


def test_with_one_feature_the_bound_on_gradients_is_attained() -> None:
    # f'(−∞) = −(3 + 1)/4, f'(∞) = (2 + 0.5)/4 on the single client: the supremum is 1.
    problem = make(
        "logistic", nu=0, features=[[3.0], [1.0], [2.0], [0.5]], targets=[1.0, 1.0, 0.0, 0.0], owners=[0] * 4
    )
    assert numbers(problem)["G_sq"] == pytest.approx(1.0, rel=1e-12)
    assert abs(problem.gradient(0, np.array([-1e6]))[0]) == pytest.approx(1.0, rel=1e-12)


@given(SEEDS)
@settings(max_examples=25 // SHARE)
def test_the_spread_of_pseudo_huber_losses_is_just_above_a_dense_grid(seed: int) -> None:
    problem = random_problem("pseudo-huber", seed)
    spots = np.concatenate([np.linspace(-100, 100, 4001), np.sinh(np.linspace(-12, 12, 4001))])
    largest, mean = np.zeros((problem.n, problem.d)), np.zeros(problem.d)
    for j in range(problem.d):
        x = np.concatenate([spots * problem.delta + centre for centre in problem.c[:, j]])[:, None] - problem.c[:, j]
        slopes = problem.w[:, j] * x / np.hypot(1.0, x / problem.delta)
        away = (slopes - slopes.mean(axis=1, keepdims=True)) ** 2
        largest[:, j], mean[j] = away.max(axis=0), away.mean(axis=1).max()
    known = numbers(problem)
    size = problem.delta * problem.w.max() * np.sqrt(problem.d)
    for found, grid in ((known["sigma_g"], largest.sum(axis=1).max()), (known["sigma_g_mean"], mean.sum())):
        assert np.sqrt(grid) * (1 - 1e-12) <= found <= np.sqrt(grid) * (1 + 1e-3) + 1e-5 * size


@pytest.mark.sweep(4)
@pytest.mark.parametrize("shift", [-2.0, -1.0, 0.0, 1.0, 2.0, 1000.0])
@pytest.mark.parametrize("delta", [0.1, 1.0, 10.0])
def test_the_spread_does_not_depend_on_where_the_functions_stand(delta: float, shift: float) -> None:
    # As above; and of three, at the one in the middle: φ'(0) is 0, and the others pull to either side.
    top = 1.0 / np.hypot(1.0, 1.0 / delta)
    for c in ([[shift - 1.0], [shift + 1.0]], [[shift - 1.0], [shift], [shift + 1.0]]):
        found = numbers(make("pseudo-huber", c=c, delta=delta))["sigma_g"]
        assert top * (1 - 1e-12) <= found
        assert len(c) > 2 or found <= top * (1 + 1e-3) + 1e-5 * delta


STEEP: dict[str, tuple[dict[str, Any], float]] = {
    "quadratic": ({"A": [[[1.0]], [[9.0]]], "b": [[0.0], [1.0]]}, 9.0),
    "huber": ({"c": [[0.0], [0.5]], "w": [[1.0], [9.0]]}, 9.0),
    "pseudo-huber": ({"c": [[0.0], [0.0]], "w": [[1.0], [9.0]]}, 9.0),
    "least-squares": ({"features": [[1.0], [3.0]], "targets": [0.0, 1.0]}, 9.25),
    "logistic": ({"features": [[1.0], [3.0]], "targets": [0, 1]}, 2.5),
    "softmax": ({"features": [[1.0], [3.0]], "targets": [0, 1]}, 4.75),
}


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("kind", STEEP)
def test_the_smoothness_constant_is_that_of_the_steepest_client(kind: str, last: bool) -> None:
    options, most = STEEP[kind]
    options = {name: value if last else value[::-1] for name, value in options.items()}
    if "features" in options:
        options |= {"owners": [0, 1], "nu": 0.25}
    assert numbers(make(kind, **options))["L"] == pytest.approx(most, rel=1e-9)


@pytest.mark.parametrize("kind", ["huber", "pseudo-huber", "lad"])
def test_large_problems_take_a_wider_bound(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tight = numbers(random_problem(kind, 3))
    monkeypatch.setattr(separable, "_PAIRS", dict.fromkeys(separable._PAIRS, 0))
    wide = random_problem(kind, 3).constants()
    assert "large" in wide["sigma_g"].how
    for name in ("sigma_g", "sigma_g_mean"):
        assert wide[name].value >= tight[name] * (1 - 1e-12)


def test_quadratics_say_why_their_gradients_are_not_bounded() -> None:
    problem = make("quadratic")
    assert {"G", "G_sq", "sigma_g", "sigma_g_mean"}.isdisjoint(problem.constants())
    with pytest.raises(AssumptionError, match=r"bounded-gradients .* unbounded; try huber"):
        problem.require("bounded-gradients", "fedcompass.theorem1")
    with pytest.raises(AssumptionError, match=r"bounded-heterogeneity .* the A_i differ.* same A"):
        problem.require("bounded-heterogeneity", "fedcompass.theorem1")


@pytest.mark.parametrize("kind", LOSSES)
def test_a_regulariser_unbounds_gradients_but_cancels_between_clients_of_equal_weight(kind: str) -> None:
    equal, unequal = (tiny(kind, 4, nu=0.3, weights=word) for word in ("equal", "size"))
    known = numbers(equal)
    assert {"B", "G", "G_sq"}.isdisjoint(known)
    assert {"sigma_g", "sigma_g_mean"}.isdisjoint(unequal.constants())
    with pytest.raises(AssumptionError, match=r"bounded-gradients .* set nu=0"):
        equal.require("bounded-gradients", "fedfa.theorem1")
    with pytest.raises(AssumptionError, match=r"bounded-heterogeneity .* weights=equal"):
        unequal.require("bounded-heterogeneity", "fedfa.theorem1")
    for scale in (1.0, 1e3):
        rows = gradients(equal, point(equal, 1, scale))
        assert np.linalg.norm(rows - rows.mean(axis=0), axis=1).max() <= known["sigma_g"] * (1 + 1e-9)


def test_without_a_minimiser_the_initial_gap_is_the_initial_loss_and_r_is_missing() -> None:
    # Separable by the sign of the single feature: inf f = 0 is not attained, and f(0) = log 2.
    problem = make("logistic", nu=0, batch=1, **SEPARABLE)
    constants = problem.constants()
    assert constants["F0"].value == pytest.approx(np.log(2.0), rel=1e-12)
    assert constants["F0"].side == "upper"
    assert "the loss ≥ 0" in constants["F0"].how
    assert {"R", "zeta", "mu"}.isdisjoint(constants)
    assert {"L", "L_sq", "B", "G", "G_sq", "sigma", "sigma_l", "sigma_g", "sigma_g_mean"} <= set(constants)
    assert problem.gradient_norms_at_optimum() is None
    assert not problem.assumptions()["bounded-below"]
    with pytest.raises(
        AssumptionError, match=r"area\.theorem8 assumes minimiser .*separable data have none.*set nu > 0"
    ):
        problem.require("minimiser", "area.theorem8")


@pytest.mark.parametrize("limit", ["_DENSE", "UNREGULARISED_LIMIT"])
def test_a_minimiser_that_would_take_minutes_is_not_looked_for(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erm, limit, 5)
    monkeypatch.setattr(erm, "minimise", None)  # calling it would raise TypeError
    monkeypatch.setattr(erm, "_clarabel_start", None)
    problem = tiny("softmax", 2, nu=0.0)
    assert "the loss ≥ 0" in problem.constants()["F0"].how
    assert "set nu > 0" in problem.assumptions()["minimiser"]


def test_an_unbounded_max_affine_problem_says_so_and_keeps_its_other_constants() -> None:
    problem = make("max-affine", a=[[[1.0], [2.0]]], b=[[0.0, 0.0]])
    assert {"R", "F0"}.isdisjoint(problem.constants())
    assert problem.constants()["G_sq"].value == pytest.approx(4.0)
    for assumption in ("bounded-below", "minimiser"):
        assert problem.assumptions()[assumption].startswith("f is unbounded below")
