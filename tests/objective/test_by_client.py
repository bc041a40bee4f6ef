"""Constants of each client: certified, and never worse than those of all clients."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from problem_makers import LOSSES, generated, make, point, tiny

from boundlab.objective import by_client

NAMES = ("L_i", "mu_i", "sigma_i", "G_star", "gap_i")
SMOOTH = ("huber", "pseudo-huber", "quadratic", "logistic", "softmax", "least-squares")


def problem_of(kind, seed):
    return tiny(kind, seed) if kind in (*LOSSES, "least-squares") else generated(kind, seed)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("kind", SMOOTH)
@given(seed=st.integers(0, 40))
def test_they_bound_what_each_client_does(kind, seed):
    problem = problem_of(kind, seed)
    known = problem.constants()
    found = by_client(problem, NAMES)
    assert set(found) >= {"L_i", "sigma_i"}
    assert all(value.shape == (problem.n,) for value in found.values())
    assert (found["L_i"] <= known["L"].value * (1 + 1e-12)).all()
    x, y = point(problem, seed), point(problem, seed + 1)
    best = problem.optimum()
    for client in range(problem.n):
        turn = np.linalg.norm(problem.gradient(client, x) - problem.gradient(client, y))
        apart = np.linalg.norm(x - y)
        assert turn <= found["L_i"][client] * apart * (1 + 1e-9)
        if "mu_i" in found:
            assert found["mu_i"][client] >= known["mu"].value * (1 - 1e-12)
            assert turn >= found["mu_i"][client] * apart * (1 - 1e-9)
        if "gap_i" in found and best.distance is not None:
            lower = min(problem.client_value(client, z) for z in (x, y, best.x - problem.gradient(client, best.x)))
            assert problem.client_value(client, best.x) - lower <= found["gap_i"][client] + 1e-9


def test_a_client_is_as_steep_as_it_is():
    """x²/2 and 3(x − 4)²/2: x* = 3, gradients 3 and −3 there, gaps 9/2 and 3/2."""
    problem = make("quadratic", A=[[[1]], [[3]]], b=[[0], [4]], x0=0)
    found = by_client(problem, NAMES)
    assert found["L_i"].tolist() == found["mu_i"].tolist() == [1, 3]
    assert found["G_star"] == pytest.approx([3, 3])
    assert found["gap_i"] == pytest.approx([4.5, 1.5])
    assert (found["gap_i"] >= [4.5, 1.5]).all(), "from above"


@pytest.mark.parametrize("kind", ["quadratic", "logistic", "least-squares"])
def test_one_client_has_no_gradient_at_its_minimiser(kind):
    """∇f_1(x*) = ∇f(x*) = 0, also where x* is known up to rounding: a theorem that needs ∇f_i(x*) = 0 is about it."""
    options = {"features": [[1.0, 0.3], [0.2, -1.0], [-0.7, 0.4]], "targets": [1, 0, 1], "owners": [0, 0, 0], "nu": 0.1}
    problem = make(kind, clients=1) if kind == "quadratic" else make(kind, **options)
    found = by_client(problem, NAMES)
    assert (problem.gradient_norms_at_optimum()[0] > 0.0) == (kind != "quadratic")  # of which x* = b is exact
    assert found["G_star"].tolist() == found["gap_i"].tolist() == [0.0]


def test_kinks_have_no_curvature():
    problem = make("lad", clients=3)
    assert by_client(problem, NAMES).keys() <= {"sigma_i"}
