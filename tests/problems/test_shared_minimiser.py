"""Clients that differ and share their minimiser have zeta = 0, and not what rounding adds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundlab.build import build_problem

ENTRIES = st.floats(-100, 100).filter(lambda x: x == 0 or abs(x) > 1e-3)


@given(st.lists(ENTRIES, min_size=2, max_size=2), st.lists(st.floats(0.1, 10), min_size=3, max_size=3))
def test_quadratics_with_one_minimiser(b: list[float], curvatures: list[float]) -> None:
    A = [[[curve, 0.05], [0.05, 2 * curve]] for curve in curvatures]
    problem = build_problem("quadratic", {"A": A, "b": [b] * 3})
    best, zeta = problem.optimum(), problem.constants()["zeta"]
    assert best.x.tolist() == b
    assert (best.value, best.gap, best.distance) == (0.0, 0.0, 0.0)
    assert (zeta.value, zeta.side) == (0.0, "exact")


@pytest.mark.parametrize("kind", ["huber", "pseudo-huber"])
@given(st.lists(ENTRIES, min_size=2, max_size=2), st.lists(st.floats(0.1, 10), min_size=3, max_size=3))
def test_losses_around_one_centre(kind: str, c: list[float], weights: list[float]) -> None:
    problem = build_problem(kind, {"c": [c] * 3, "w": [[w, 2 * w] for w in weights]})
    best, zeta = problem.optimum(), problem.constants()["zeta"]
    assert best.x.tolist() == c
    assert best.distance == 0.0
    assert (zeta.value, zeta.side) == (0.0, "exact")


def test_minimisers_that_differ_by_an_ulp_are_not_shared() -> None:
    one = 1.0 + 2.0**-52
    zeta = build_problem("quadratic", {"A": [[[1]], [[3]]], "b": [[1.0], [one]]}).constants()["zeta"]
    assert zeta.value >= 2.0**-54
    assert zeta.side == "upper"
