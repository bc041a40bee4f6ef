"""Least squares with ‖x‖₁, a box or a ball: closed forms, exact numbers and a cone solver have the same F*."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from boundlab.case import build_problem, problem_from
from boundlab.errors import CertificateError
from boundlab.objective import Problem
from boundlab.objective.composite import Composite, interval, polished
from boundlab.objective.simple import L1
from boundlab.problems import smooth_problem

SIMPLE: tuple[dict[str, object], ...] = (
    {"l1": 0.1},
    {"l1": 1e-6},
    {"l1": 20},
    {"box": [-0.25, 0.5]},
    {"box": [0, "1/3"]},
    {"ball": 0.1},
    {"ball": 1},
)


def data(kind: str, seed: int = 0) -> dict[str, object]:
    """Return features and targets: more samples than features, fewer, dependent features, or badly scaled ones."""
    rng = np.random.default_rng(seed)
    S, d = {"tall": (24, 4), "wide": (8, 20), "dependent": (24, 5), "scaled": (30, 5)}[kind]
    X = rng.normal(size=(S, d))
    if kind == "dependent":
        X[:, -1] = X[:, 0] + X[:, 1]
    if kind == "scaled":
        X *= 10.0 ** np.arange(d)
    y = X[:, :3].sum(axis=1) + rng.normal(size=S)
    return {"features": X.tolist(), "targets": y.tolist(), "owners": [j % 3 for j in range(S)], "bias": "no"}


def by_clarabel(problem: Problem, simple: dict[str, object]) -> float:
    """Return F* from a cone solver."""
    import cvxpy as cp

    form = problem.least_squares() or problem.inner.least_squares()  # type: ignore[attr-defined]
    x, n = cp.Variable(problem.d), problem.n
    total = sum(
        w / n * (cp.sum_squares(rows @ x - y) / (2 * len(y)) + form.nu / 2 * cp.sum_squares(x))
        for w, rows, y in zip(form.weights, form.rows, form.targets, strict=True)
    )
    (key, raw), inside = next(iter(simple.items())), []
    if key == "l1":
        total += float(raw) * cp.norm1(x)  # type: ignore[arg-type]
    elif key == "ball":
        inside = [cp.norm(x) <= float(raw)]  # type: ignore[arg-type]
    else:
        low, high = (float(Fraction(str(end))) for end in raw)  # type: ignore[attr-defined]
        inside = [x >= low, x <= high]
    program = cp.Problem(cp.Minimize(total), inside)
    program.solve(solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    return float(program.value)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("simple", SIMPLE, ids=str)
@pytest.mark.parametrize("nu", [0, 0.1])
@pytest.mark.parametrize("kind", ["tall", "wide", "dependent"])
def test_the_interval_is_narrow_and_a_cone_solver_ends_in_it(kind: str, nu: float, simple: dict[str, object]) -> None:
    problem = build_problem("least-squares", {**data(kind), **simple, "nu": nu})
    best = problem.optimum()
    assert best.gap <= 1e-13
    assert abs(best.value - by_clarabel(problem, simple)) <= 1e-7 * (1.0 + best.value)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("simple", SIMPLE, ids=str)
def test_badly_scaled_features_do_not_stop_it(simple: dict[str, object]) -> None:
    problem = build_problem("least-squares", {**data("scaled"), **simple})
    assert problem.optimum().gap <= 1e-12 * problem.value(problem.x0)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([{"l1": "1/2"}, {"box": [-1, "1/3"]}]), st.sampled_from([0, "1/4"]))
def test_rational_numbers_find_the_minimum_within_the_interval_of_any_point(
    seed: int, simple: dict[str, object], nu: object
) -> None:
    rng = np.random.default_rng(seed)
    raw = {
        "features": rng.integers(-3, 4, size=(6, 3)).tolist(),
        "targets": rng.integers(-4, 5, size=6).tolist(),
        "owners": [0, 0, 0, 1, 1, 2],
        "nu": nu,
        **simple,
    }
    problem = build_problem("least-squares", raw)
    model, best = problem.rational({}), problem.optimum()
    assert model is not None
    found = model.minimum()
    if found is None:  # f is flat on the face
        return
    assert Fraction(best.value) - Fraction(best.gap) <= found.value <= Fraction(best.value) + Fraction(best.gap)
    form, h = problem.inner.least_squares(), problem.simple  # type: ignore[attr-defined]
    assert h is not None
    x = rng.normal(size=problem.d)
    x = h.prox(x, 0.0)
    ends = interval(form, h, x)
    assert ends is not None
    assert Fraction(ends[0]) <= found.value <= Fraction(ends[1])
    assert problem.value(polished(form, h, x)) - best.value <= 1e-12


def test_refusals_name_what_is_missing() -> None:
    for spec, words in (
        ("least-squares:data=diabetes,clients=2,l1=0.1,dtype=float32", "float32 .*set dtype=float64"),
        ("hinge:data=breast_cancer,samples=60,clients=2,l1=0.1", "smooth convex f, and here .*(kink|smooth)"),
    ):
        with pytest.raises(CertificateError, match=words):
            problem_from(spec).optimum()


def test_a_family_that_says_nothing_about_its_rounding_has_no_certificate() -> None:
    f = smooth_problem(value=[lambda x: float(x @ x) / 2], gradient=[lambda x: x], x0=[1.0, 2.0], L=1.0, mu=1.0)
    with pytest.raises(CertificateError, match=r"does not say how far rounding .*Problem\.rounding"):
        Composite(f, L1(Fraction(1, 10))).optimum()
