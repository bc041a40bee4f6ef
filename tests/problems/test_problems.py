"""Quadratics, Huber, pseudo-Huber, least absolute deviations, maxima of affine functions."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from problem_makers import EXPLICIT, MODELS, from_text, generated, make

from boundlab.errors import SpecError
from boundlab.registry import registered

KINDS = st.sampled_from(EXPLICIT)
SEEDS = st.integers(0, 10_000)


def test_the_registry_lists_every_family_once_with_its_options() -> None:
    named = (*EXPLICIT, *MODELS, "smoothed-max-affine")
    assert sorted(kind.id for kind in registered("problems").values()) == sorted(named)
    for kind in registered("problems").values():
        assert kind.summary
        assert "x0" in kind.options


@pytest.mark.parametrize("kind", ["huber", "pseudo-huber", "lad"])
def test_many_coordinates_descend_bit_by_bit_as_few_do(kind: str) -> None:
    # Separable functions go through wide vectors in parts, of which the last one is not full.
    problem = make(kind, clients=2, dimension=100_001, seed=3)
    x = np.random.default_rng(0).normal(size=problem.d)
    expected = x - 0.3 * problem.gradient(1, x)
    problem.descend(1, x, 0.3)
    np.testing.assert_array_equal(x, expected)


@given(st.floats(0.01, 10), st.floats(1, 100), SEEDS)
def test_a_generated_quadratic_has_the_eigenvalues_it_was_asked_for(mu: float, ratio: float, seed: int) -> None:
    constants = make("quadratic", clients=3, dimension=4, mu=mu, L=mu * ratio, seed=seed).constants()
    assert constants["mu"].value == pytest.approx(mu, rel=1e-9)
    assert constants["L"].value == pytest.approx(mu * ratio, rel=1e-9)
    assert constants["mu"].side == "lower"
    assert constants["L"].side == "upper"


@given(KINDS, SEEDS)
@settings(max_examples=40)
def test_the_distance_is_exact_where_the_minimiser_is(kind: str, seed: int) -> None:
    problem: Any = generated(kind, seed)
    best, found = problem.optimum(), problem.constants().get("R")
    assert found is None or (found.side == "upper") is bool(best.distance)


def test_among_the_minimisers_the_one_closest_to_the_start_is_taken() -> None:
    for start, nearest in ((-5.0, 0.0), (0.25, 0.25), (5.0, 1.0)):
        problem = make("lad", c=[[0.0], [1.0]], x0=start)
        assert problem.optimum().x == [nearest]
        assert problem.constants()["R"].value == pytest.approx(abs(start - nearest), rel=1e-12)
    # Ten equal weights 0.1: the tie in the middle is met in exact arithmetic only.
    even = make("lad", c=[[float(k)] for k in range(10)], w=0.1, x0=4.3)
    assert even.optimum().x == [4.3]
    flat = make("huber", c=[[-10.0], [10.0]], delta=1.0, x0=3.0)
    assert flat.optimum().x == [3.0]
    assert make("huber", c=[[-10.0], [10.0]], delta=1.0, x0=30.0).optimum().x == [9.0]


def test_zeta_exists_only_where_every_local_minimiser_is_unique() -> None:
    assert "zeta" in make("huber", c=[[0.0, 0.0], [1.0, 1.0]]).constants()
    assert "zeta" not in make("huber", c=[[0.0, 0.0], [1.0, 1.0]], w=[[1.0, 0.0], [1.0, 1.0]]).constants()


def test_an_unbounded_max_affine_problem_is_refused() -> None:
    with pytest.raises(SpecError, match="unbounded below"):
        make("max-affine", a=[[[1.0], [2.0]]], b=[[0.0, 0.0]]).optimum()


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("quadratic:A=[1]", "A must be nested lists with 3 levels"),
        ("quadratic:clients=0", "clients must be ≥ 1, got 0"),
        ("quadratic:mu=0", "mu must be > 0, got 0"),
        ("quadratic:mu=2,L=1", "L must be ≥ 2, got 1"),
        ("quadratic:sigma=-1", "sigma must be ≥ 0, got -1"),
        ("quadratic:dimension=100000", "A would have"),
        ("quadratic:x0=[1,2]", "x0 has 2 entries, the problem has dimension 10"),
        ("quadratic:colour=3", "has no option 'colour'"),
        ("huber:delta=0", "delta must be > 0, got 0"),
        ("lad:delta=1", "has no option 'delta'"),
        ("lad:c=[1,2],w=[1,2,3]", "w must be n×d = 2×1 to fit c, got 3×1"),
        ("lad:c=[1,2],w=[1,-1]", "must not be negative"),
        ("lad:c=[1,x]", "entry 2 must be a number, got 'x'"),
        ("max-affine:pieces=1", "pieces must be ≥ 2"),
    ],
)
def test_bad_options_are_answered_in_one_line(text: str, message: str) -> None:
    with pytest.raises(SpecError, match=r"problem ") as caught:
        from_text(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"A": [[[1.0, 2.0], [0.0, 1.0]]], "b": [[0.0, 0.0]]}, r"A\[0\] is not symmetric"),
        ({"A": [[[1.0, 0.0], [0.0, -1.0]]], "b": [[0.0, 0.0]]}, r"A\[0\] is indefinite"),
        ({"A": [[[0.0]]], "b": [[0.0]]}, "mean of the A_i is singular"),
        ({"A": [[[1.0, 2.0]]], "b": [[0.0]]}, "A must be n×d×d"),
        ({"A": [[[1.0]]], "b": [[0.0], [1.0]]}, "b must be n×d = 1×1"),
        ({"A": [[[1.0], [2.0, 3.0]]], "b": [[0.0]]}, "ragged"),
        ({"A": [[["one"]]], "b": [[0.0]]}, "must be a number, got 'one'"),
        ({"A": [], "b": [[0.0]]}, "A must have 3 axes"),
        ({"A": [[[1.0]]]}, "needs the option b"),
        ({"A": [[[float("nan")]]], "b": [[0.0]]}, "must be a finite number"),
    ],
)
def test_bad_matrices_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        make("quadratic", **options)


def test_a_singular_client_costs_mu_and_zeta_but_not_the_optimum() -> None:
    problem = make("quadratic", A=[[[1.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]]], b=[[1.0, 5.0], [5.0, 2.0]])
    assert problem.optimum().x == pytest.approx([1.0, 2.0], abs=1e-14)
    assert {"mu", "zeta"}.isdisjoint(problem.constants())
    assert problem.assumptions()["strongly-convex"]


@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_a_flat_direction_is_no_negative_eigenvalue(turn):
    basis = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])

    def matrix(smallest):
        A = basis @ np.diag([3.0, smallest]) @ basis.T
        return ((A + A.T) / 2).tolist()

    flat = make("quadratic", A=[matrix(0.0), matrix(1.0)], b=[[1, 2], [0, 0]], x0=[0, 0])
    assert "mu" not in flat.constants()
    assert flat.assumptions()["strongly-convex"] == "some A_i has the eigenvalue 0"
    with pytest.raises(SpecError, match="positive semidefinite"):
        make("quadratic", A=[matrix(-1e-9), matrix(1.0)], b=[[1, 2], [0, 0]], x0=[0, 0])
