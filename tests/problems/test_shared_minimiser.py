"""Clients that differ and share their minimiser have zeta = 0, and not what rounding adds."""

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from problem_makers import MODELS, OF_VALUES, TYPES, make

from boundlab.case import build_problem


def test_minimisers_that_differ_by_an_ulp_are_not_shared() -> None:
    one = 1.0 + 2.0**-52
    zeta = build_problem("quadratic", {"A": [[[1]], [[3]]], "b": [[1.0], [one]]}).constants()["zeta"]
    assert zeta.value >= 2.0**-54
    assert zeta.side == "upper"


def sharing(kind, x, y, a, b):
    """Return a problem of clients that differ and share a minimiser, made of four numbers."""
    if kind in ("huber", "lad", "pseudo-huber"):
        return make(kind, c=[[x, y]] * 3, w=[[a, b], [b, a], [2 * a, 3 * b]])
    if kind == "quadratic":
        return make(kind, A=[[[a, 0], [0, b]], [[b, 0.05], [0.05, a]]], b=[[x, y]] * 2)
    if kind == "max-affine":
        return make(kind, a=[[[a], [-b]], [[2 * a], [-2 * b]]], b=[[x, x], [y, y]])
    if kind == "smoothed-max-affine":
        return make(
            kind, a=[[[a, x], [-a, -x]], [[b, y], [-b, -y]]], c=[[x, x], [y, y]], L=3.0, mu=0.5, minimiser=[0, 0]
        )
    targets = {"softmax": [0, 1, 2], "poisson": [1, 2, 0], **{one: [x, y, 1] for one in OF_VALUES}}
    rows, values = [[a, x], [-b, y], [x, 1]], targets.get(kind, [1, -1, 1])
    more = {"box": [-1, 1]} if kind == "poisson" else {}
    # The second client has the samples of the first backwards, the third has each of them twice.
    return make(
        kind,
        features=rows + rows[::-1] + rows + rows,
        targets=values + values[::-1] + values + values,
        owners=[0] * 3 + [1] * 3 + [2] * 6,
        weights="size",
        nu=0.25,
        bias="no",
        **more,
    )


KINKED = ("hinge", "lad", "lad-regression", "max-affine", "poisson", "quantile-regression")


@pytest.mark.sweep(14)
@pytest.mark.parametrize("kind", sorted(TYPES))
@given(
    x=st.floats(-3, 3).map(lambda x: round(x, 3)),
    y=st.floats(-3, 3).map(lambda x: round(x, 3)),
    a=st.floats(0.1, 3).map(lambda x: round(x, 3)),
    b=st.floats(0.1, 3).map(lambda x: round(x, 3)),
)
@example(x=0.2, y=-1.1, a=1.3, b=0.7)
def test_every_family_of_clients_that_share_a_minimiser(kind: str, x: float, y: float, a: float, b: float) -> None:
    problem = sharing(kind, x, y, a, b)
    zeta = problem.constants().get("zeta")
    assert zeta is None or (zeta.value, zeta.side) == (0.0, "exact")
    if (x, y, a, b) == (0.2, -1.1, 1.3, 0.7):
        assert len({problem.client_key(client) for client in range(problem.n)}) == problem.n
        assert (zeta is None) == (kind in KINKED)


QUARTERS = st.integers(-12, 12).map(lambda k: k / 4)


@st.composite
def consistent(draw):
    """Give the data of clients with one x*, nu = 0; every product and sum of the targets is a float."""
    n, d = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    owners = sorted(range(n)) * d + draw(st.lists(st.integers(0, n - 1), max_size=4))
    X = np.array([[draw(QUARTERS) for _ in range(d)] for _ in owners])
    w = np.array([draw(st.integers(-200, 200)) / 64 for _ in range(d)])
    weights = draw(st.sampled_from(["equal", "size", "paper"]))
    return {"features": X.tolist(), "targets": (X @ w).tolist(), "owners": owners, "bias": "no", "weights": weights}


@given(consistent())
@example(
    {"features": [[1, 2], [3, 1], [2, 1], [1, 1]], "targets": [3.5, 3, 2.5, 2], "owners": [0, 0, 1, 1], "bias": "no"}
)
def test_least_squares_with_one_solution_of_all_equations(data) -> None:
    problem = make("least-squares", **data)
    zeta = problem.constants().get("zeta")
    assert zeta is None or (zeta.value, zeta.side) == (0.0, "exact")
    last = data["targets"][-1]
    moved = [*data["targets"][:-1], float(np.nextafter(last, np.inf)) if last else 1e-30]
    zeta = make("least-squares", **data | {"targets": moved}).constants().get("zeta")
    if zeta is not None and any(data["features"][-1]):
        assert zeta.value > 0.0
        assert zeta.side == "upper"


@pytest.mark.sweep(2)
@pytest.mark.parametrize("kind", [kind for kind in MODELS if kind != "poisson"])
@pytest.mark.parametrize("change", ["a target", "a row more"])
def test_samples_that_differ_in_one_are_not_the_same(kind: str, change: str) -> None:
    rows, targets = [[1.0, 0.5], [-1.0, 2.0], [0.5, -1.0]], [1.0, -1.0, 1.0]
    more, last = (rows, [1.0, -1.0, -1.0]) if change == "a target" else ([*rows, rows[0]], [*targets, 1.0])
    zero = {"softmax": lambda y: int(y > 0)}.get(kind, lambda y: y)
    problem = make(
        kind,
        features=rows + more,
        targets=[zero(y) for y in targets + last],
        nu=0.25,
        bias="no",
        owners=[0] * 3 + [1] * len(more),
        weights="size",
    )
    zeta = problem.constants().get("zeta")
    assert zeta is None or zeta.value > 1e-3


def test_digits_beyond_floats_count_in_rational_numbers() -> None:
    data = {
        "features": [[1, 1], [1, 2], [2, 1], [1, 1]],
        "owners": [0, 0, 1, 1],
        "bias": "no",
        "targets": ["3", "5", "4", "3.00000000000000000001"],
    }
    problem = make("least-squares", **data | {"targets": [3, 5, 4, 3]})
    assert problem.constants()["zeta"].value == 0.0
    assert problem.rational(data).constants()["zeta"] > 0
