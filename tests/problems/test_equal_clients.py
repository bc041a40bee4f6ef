"""Clients with the same function have no heterogeneity: exactly none, whatever rounding says."""

import pytest
from hypothesis import given, strategies as st
from problem_makers import TYPES, make

from boundlab.problems.common import of_alike

NUMBER = st.floats(-3, 3).map(lambda x: round(x, 3))
POSITIVE = st.floats(0.1, 3).map(lambda x: round(x, 3))


def equal(kind, n, x, y, a, b):
    """Return a problem of n clients with one function, made of four numbers."""
    if kind in ("huber", "lad", "pseudo-huber"):
        return make(kind, c=[[x, y]] * n, w=[[a, b]] * n, x0=1.5, **({} if kind == "lad" else {"delta": a}))
    if kind == "quadratic":
        return make(kind, A=[[[a + b, 0.1], [0.1, b]]] * n, b=[[x, y]] * n, x0=1.5)
    if kind == "max-affine":
        return make(kind, a=[[[a], [-b]]] * n, b=[[x, y]] * n)
    if kind == "smoothed-max-affine":
        return make(kind, a=[[[a], [-b]]] * n, c=[[x, y]] * n, L=2.0)
    targets = {"softmax": [0, 1], "lad-regression": [x, y], "poisson": [1, 2]}.get(kind, [1, -1])
    rows = [[a, x], [-b, y]]
    owners = [client for client in range(n) for _ in range(2)]
    region = {"box": [-1, 1]} if kind == "poisson" else {}
    return make(kind, features=rows * n, targets=targets * n, owners=owners, nu=0.1, bias="no", x0=0.5, **region)


@pytest.mark.sweep(11)
@pytest.mark.parametrize("kind", sorted(TYPES))
@given(n=st.integers(1, 4), x=NUMBER, y=NUMBER, a=POSITIVE, b=POSITIVE)
def test_equal_clients_differ_by_exactly_nothing(kind, n, x, y, a, b):
    problem = equal(kind, n, x, y, a, b)
    assert len({problem.client_key(client) for client in range(n)}) == 1
    found = problem.constants()
    for name in ("sigma_g", "sigma_g_mean", "zeta"):
        assert name not in found or found[name].value == 0.0


def test_clients_that_differ_by_the_last_digit_differ():
    problem = make("huber", c=[[0.3], [0.1 + 0.2]], w=[[2.0], [2.0]], x0=1.5)
    assert problem.constants()["sigma_g"].value > 0.0


def test_clients_of_which_nobody_knows_what_they_are_may_differ(monkeypatch):
    problem = make("huber", c=[[0.0], [3.0]], w=[[1.0], [1.0]], x0=1.5)
    known = dict(problem.constants())
    monkeypatch.setattr(type(problem), "client_key", lambda *_: None)
    assert of_alike(problem, known) == known
    assert known["sigma_g"].value > 0.0
