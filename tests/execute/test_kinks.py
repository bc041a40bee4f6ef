"""A kink means the same in all arithmetics: floats that rounding may have put on its other side are not believed."""

import numpy as np
import pytest
from exact_makers import exact_of
from hypothesis import given, strategies as st
from problem_makers import EXPLICIT, MODELS, from_text, generated, make, tiny

from boundlab.algorithms.area import AREA
from boundlab.case import build_delays
from boundlab.errors import SpecError, UndecidedError
from boundlab.expectation import left_side
from boundlab.options import Options

SHARP = ("lad", "max-affine", "hinge", "lad-regression", "quantile-regression")


def problem_of(kind, seed):
    return tiny(kind, seed) if kind in MODELS else generated(kind, seed, sigma=0)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("kind", [*EXPLICIT, *MODELS])
def test_only_functions_with_kinks_have_gradients_that_jump(kind):
    problem = problem_of(kind, 1)
    bounds = problem.step_bounds(0)
    assert bounds is None or bounds.kinks is (kind in SHARP)
    if kind not in SHARP:
        points = np.random.default_rng(0).normal(size=(5, problem.d))
        assert not problem.near_kink(0, points, 1e9).any()


@pytest.mark.parametrize("kind", SHARP)
@given(seed=st.integers(0, 40), room=st.sampled_from([1e-9, 1e-3, 0.3]))
def test_away_from_kinks_a_small_move_changes_no_slope(kind, seed, room):
    rng = np.random.default_rng(seed)
    problem = problem_of(kind, seed)
    points = rng.normal(scale=2.0, size=(20, problem.d))
    moves = rng.normal(size=(20, problem.d))
    moves *= room / np.linalg.norm(moves, axis=1, keepdims=True)
    nu = float(getattr(problem, "nu", 0.0)) * float(np.max(getattr(problem, "factors", 1.0)))
    for client in range(problem.n):
        far = ~problem.near_kink(client, points, room)
        moved = problem.gradients(client, points + moves) - problem.gradients(client, points)
        assert (np.abs(moved[far]) <= nu * room + 1e-12).all()


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("lad:c=[0.3,7]", [0.3]),
        ("max-affine:a=[[[1],[-1]]],b=[[0,0]]", [0.0]),
        ("hinge:features=[[2],[1]],targets=[1,-1],owners=[0,0],nu=0,bias=no", [0.5]),
        ("lad-regression:features=[[2],[1]],targets=[3,-1],owners=[0,0],nu=0,bias=no", [1.5]),
    ],
)
def test_a_kink_is_seen_from_its_rounded_sides(text, point):
    problem, x = from_text(text), np.array([point])
    assert problem.near_kink(0, x, 1e-15).all()
    assert problem.near_kink(0, x * (1 + 4e-16) + 1e-16, 1e-15).all()
    assert not problem.near_kink(0, x + 1e-3, 1e-15).any()


def expectation(problem, alpha, M, K, p_s):
    delays = build_delays("iid", {"p_s": p_s}, problem.n)
    parameters = AREA.read(Options("area", {"alpha": alpha, "M": M, "start": "analysis"}))
    return float(left_side("ergodic-gap", "area", problem, parameters, delays, AREA.policy(None, delays), K).value[0])


def test_the_absolute_value_from_three_tenths_by_tenths_is_81_over_320():
    # 0.3 − 0.1 − 0.1 − 0.1 is 0 for whoever writes it down, and 5.6e-17 for floating point.
    problem = make("lad", c=[[0]], x0=0.3)
    assert expectation(problem, 0.1, 4, 6, 0.5) == pytest.approx(81 / 320, rel=1e-14)


@given(
    c=st.lists(st.integers(-3, 3), min_size=1, max_size=2),
    x0=st.integers(-9, 9),
    alpha=st.sampled_from(["0.1", "0.2", "0.3", "0.7"]),
    M=st.integers(1, 5),
    K=st.integers(1, 5),
)
def test_floats_and_fractions_give_one_number_wherever_iterates_meet_kinks(c, x0, alpha, M, K):
    problem = {"type": "lad", "c": [[f"{one}/10"] for one in c]}
    start = f"{x0}/10"
    case = {
        "algorithm": "area",
        "problem": problem,
        "x0": [start],
        "delays": {"type": "iid", "p_s": "1/2"},
        "iterations": K,
        "parameters": {"alpha": alpha, "M": M},
    }
    exact = exact_of("area.theorem8.repaired.fixed-step", case)
    assert exact.kind == "exact"
    floats = make("lad", c=[[one / 10] for one in c], x0=x0 / 10)
    assert expectation(floats, float(alpha), M, K, 0.5) == pytest.approx(exact.left, rel=1e-12, abs=1e-15)


def test_what_has_no_fractions_is_refused_at_a_kink():
    problem = from_text("hinge:features=[[2],[-2]],targets=[1,-1],owners=[0,0],nu=0.1,bias=no,x0=0.5")
    with pytest.raises(UndecidedError, match=r"meets a kink .* not evaluated in rational numbers"):
        expectation(problem, 0.1, 2, 4, 0.5)


@pytest.mark.parametrize("x0", [0.5, 0.1])
def test_an_exact_value_in_floats_is_refused_at_a_kink(x0):
    data = {"features": [[2], [-2]], "targets": [1, -1], "owners": [0, 0], "nu": 0, "bias": "no"}
    case = {
        "algorithm": "gd",
        "iterations": 2,
        "events": [[1, "s"], [2, "s"]],
        "parameters": {"alpha": 0.1},
        "problem": {"type": "hinge", **data},
        "x0": [x0],
    }
    if x0 == 0.1:
        assert exact_of("classics.subgradient.fixed-step", case).kind == "numeric"
        return
    with pytest.raises(SpecError, match="meets a kink too closely"):
        exact_of("classics.subgradient.fixed-step", case)
