"""Problems of a user's own functions: checked at points, certified from L and mu, and never leaned on in silence."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from problem_makers import make

from boundlab.case import build_delays
from boundlab.compare import compare
from boundlab.errors import AssumptionError, CertificateError, SpecError
from boundlab.instance import make_plan
from boundlab.objective import Problem, ProblemType
from boundlab.problems import smooth_problem
from boundlab.registry import lookup
from boundlab.testing import conform
from boundlab.theorems import load_theorem
from boundlab.verdict import Verdict

A = np.array([[[2.0, 0.5], [0.5, 1.0]], [[1.0, 0.0], [0.0, 3.0]]])
B = np.array([[0.0, 1.0], [2.0, -1.0]])
LOW = float(np.linalg.eigvalsh(A).min())


def value(i: int, x: np.ndarray) -> float:
    return float((x - B[i]) @ A[i] @ (x - B[i])) / 2.0


def slope(i: int, x: np.ndarray) -> np.ndarray:
    return A[i] @ (x - B[i])


def bowls(**more: Any) -> Any:
    given = {"value": value, "gradient": slope, "x0": [3.0, 1.0], "L": 3.0, "mu": 0.7, "n": 2}
    return smooth_problem(**(given | more))


def test_the_minimiser_is_certified_from_mu_and_gradients() -> None:
    best = bowls().optimum()
    expected = np.linalg.solve(A.sum(axis=0), np.einsum("nde,ne->d", A, B))
    assert np.linalg.norm(best.x - expected) <= best.distance <= 1e-12
    assert best.gap <= 1e-12
    built_in = make("quadratic", A=A.tolist(), b=B.tolist(), x0=[3, 1]).constants()
    found = bowls().constants()
    for name in ("L", "R", "F0", "zeta"):
        assert found[name].value >= built_in[name].value * (1 - 1e-12)
    assert found["R"].value == pytest.approx(built_in["R"].value, rel=1e-9)
    assert found["F0"].value == pytest.approx(built_in["F0"].value, rel=1e-9)
    assert found["mu"].value <= built_in["mu"].value


@pytest.mark.parametrize("more", [{}, {"sigma": 0.5}, {"mu": 0.0, "lower": 0.0}], ids=str)
def test_it_keeps_what_the_interface_promises(more: dict[str, Any]) -> None:
    problem = bowls(**more)
    family = ProblemType(problem.id, "two bowls", lambda _options: replace(problem))
    conform.problem(problem, family)


def test_one_function_for_each_client_does_as_well() -> None:
    problem = bowls(
        value=[lambda x, i=i: value(i, x) for i in (0, 1)],
        gradient=[lambda x, i=i: slope(i, x) for i in (0, 1)],
        n=None,
    )
    x = np.array([0.3, -0.2])
    assert problem.value(x) == bowls().value(x)
    assert np.array_equal(problem.full_gradient(x), bowls().full_gradient(x))


def moved(i: int, x: np.ndarray) -> np.ndarray:
    x += 1.0
    return slope(i, x)


REFUTED: dict[str, tuple[dict[str, Any], str]] = {
    "L": ({"L": 2.9, "mu": 0.1}, r"client 1: L = 2.9, but the gradient changes by 2\.\d+·.* between x = \[.*y = \["),
    "mu": ({"mu": LOW + 0.1}, r"client 0: mu = 0.89\d*, but ⟨∇f\(x\) − ∇f\(y\), x − y⟩ is 0\.\d+·‖x − y‖² between"),
    "a gradient off by a thousandth": (
        {"gradient": lambda i, x: slope(i, x) + 1e-3},
        "client 0: gradient, L and mu do not fit the values",
    ),
    "a sign": ({"gradient": lambda i, x: -slope(i, x)}, "client 0: mu = 0.7, but"),
    "values of other functions": ({"value": lambda i, x: value(1 - i, x)}, "do not fit the values"),
    "a gradient of another shape": ({"gradient": lambda i, x: slope(i, x)[:1]}, r"has shape \(1,\), not .* \(2,\)"),
    "a gradient that is no number": ({"gradient": lambda i, x: slope(i, x) * np.nan}, r"not finite at x = \["),
    "a gradient that changes x": ({"gradient": moved}, "changes x; it must return a new array"),
    "a value that is no number": ({"value": lambda _i, _x: np.inf}, "value.x. is inf at x"),
    "L below mu": ({"L": 0.5}, "mu between 0 and L, got L=0.5, mu=0.7"),
    "no clients": ({"n": None}, "n must be the number of clients"),
    "other clients": ({"gradient": [lambda x: x]}, "1 gradients, but 2 clients"),
    "a start in a matrix": ({"x0": [[1.0]]}, "x0 must be a list of d finite numbers"),
    "less than no noise": ({"sigma": -1.0}, "sigma must be finite and not negative"),
}


@pytest.mark.sweep(2)
@pytest.mark.parametrize(("more", "message"), REFUTED.values(), ids=REFUTED)
def test_points_refute_what_is_not_so(more: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        bowls(**more)


def test_a_number_that_f_is_below_is_refuted() -> None:
    with pytest.raises(SpecError, match=r"lower = 100, but f is"):
        smooth_problem(
            value=[lambda x: value(0, x)], gradient=[lambda x: slope(0, x)], x0=[0.0, 0.0], L=3.0, lower=100.0
        )


def test_without_mu_nothing_is_certified_of_the_minimiser() -> None:
    problem = bowls(mu=0.0)
    with pytest.raises(CertificateError, match="with mu = 0 a small gradient does not bound the distance"):
        problem.optimum()
    assert {"R", "F0", "zeta", "mu"}.isdisjoint(problem.constants())
    assert problem.gradient_norms_at_optimum() is None
    for name in ("minimiser", "bounded-below", "strongly-convex"):
        with pytest.raises(AssumptionError, match="give mu > 0"):
            problem.require(name, "a theorem")
    floor = bowls(mu=0.0, lower=0.0)
    assert floor.constants()["F0"].value == pytest.approx(floor.value(floor.x0))
    assert floor.assumptions()["bounded-below"] == ""
    assert set(floor.claims()) == {"L", "mu", "F0"}


@pytest.mark.parametrize("maker", [bowls, lambda: make("quadratic", A=A.tolist(), b=B.tolist(), x0=[3, 1])])
def test_a_verdict_says_that_it_leans_on_what_the_user_says(maker: Callable[[], Problem]) -> None:
    problem = maker()
    theorem, delays = load_theorem("classics.gd.strongly-convex"), build_delays("deterministic", {}, problem.n)
    policy = lookup("algorithms", theorem.algorithm).policy(None, delays)
    comparison = compare(make_plan(theorem, problem, delays, policy, 20, {}), trials=1, seed=0)
    if problem.claims():
        assert comparison.verdict is Verdict.CONSISTENT
        assert ", if mu = 0.7 (your word) and L = 3 (your word)" in comparison.reason
    else:
        assert comparison.verdict is Verdict.HOLDS
