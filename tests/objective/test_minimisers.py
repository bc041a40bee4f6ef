"""The minimiser and the constants of F = f + h are certified: no point is below F* by more than the gap says."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from boundlab.arithmetic.numbers import exact_array, fraction
from boundlab.case import build_problem, problem_from
from boundlab.errors import CertificateError, SpecError
from boundlab.metrics import Proved
from boundlab.objective import Problem
from boundlab.objective.simple import ProxFunction
from boundlab.options import parse_spec

SIMPLE: tuple[dict[str, object], ...] = ({"l1": 0.3}, {"l1": 5}, {"box": [-0.25, 0.5]}, {"ball": 0.4}, {"ball": 40})
FAMILIES = (
    "quadratic:clients=3,dimension=4",
    "huber:clients=3,dimension=3,spread=2,delta=0.3,x0=0",
    "pseudo-huber:clients=3,dimension=3,spread=2",
    "logistic:data=breast_cancer,samples=80,clients=2,nu=0.05",
    "logistic:data=breast_cancer,samples=80,clients=2,nu=0",
    "softmax:data=digits,samples=40,clients=2,nu=0.1",
)


def with_simple(spec: str, simple: dict[str, object]) -> Problem:
    kind, options = parse_spec(spec, "problem")
    return build_problem(kind, {**options, **simple})


def attack(problem: Problem, seed: int) -> None:
    """Try to go below F*, from x* and from x0, along proximal maps of random points."""
    best, h, rng = problem.optimum(), problem.simple, np.random.default_rng(seed)
    assert h is not None
    noise = rng.normal(size=(40, problem.d)) * np.logspace(-8, 0, 40)[:, None]
    for x in best.x + noise:
        x = h.prox(x, float(rng.choice([0.0, 1e-6, 1e-2])))
        assert problem.value(x) >= best.value - best.gap
        if best.distance is not None:
            known = problem.constants()
            mu = known["mu"].value if "mu" in known else 0.0  # without it, F grows at a corner
            away = np.linalg.norm(x - best.x) - best.distance
            assert problem.value(x) >= best.value - best.gap + (1 - 1e-15) * mu * max(
                away, 0.0
            ) ** 2 / 2.0 - 1e-12 * abs(best.value)


@pytest.mark.sweep(10)
@pytest.mark.parametrize("simple", SIMPLE, ids=str)
@pytest.mark.parametrize("family", FAMILIES)
def test_no_point_beats_the_certified_minimum(family: str, simple: dict[str, object]) -> None:
    problem = with_simple(family, simple)
    best, known = problem.optimum(), problem.constants()
    assert best.gap <= 1e-9 * (1.0 + abs(best.value))
    attack(problem, 0)
    assert known["F0"].value >= problem.value(problem.x0) - best.value
    assert known["R"].value >= np.linalg.norm(problem.x0 - best.x)
    assert problem.why_not("minimiser") == ""
    assert known["L"] == problem.inner.constants()["L"]  # type: ignore[attr-defined]


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from(SIMPLE), st.integers(1, 3), st.integers(1, 4))
def test_random_quadratics_have_the_minimiser_that_rational_numbers_find(
    seed: int, simple: dict[str, object], n: int, d: int
) -> None:
    rng = np.random.default_rng(seed)
    roots = rng.integers(-3, 4, size=(n, d, d))
    A = (roots @ roots.transpose(0, 2, 1) + np.eye(d, dtype=int)).tolist()
    options = {"A": A, "b": rng.integers(-4, 5, size=(n, d)).tolist(), **simple}
    problem = build_problem("quadratic", options)
    attack(problem, seed)
    model = problem.rational(options)
    assert model is not None
    found, best = model.minimum(), problem.optimum()
    if found is None:
        assert simple == {"ball": 0.4}  # a minimiser on a sphere has roots
        return
    away = np.linalg.norm(np.array([float(entry) for entry in found.x]) - best.x)
    assert best.distance is not None
    assert away <= best.distance
    assert best.value - best.gap <= float(found.value) <= best.value + 1e-12 * (1.0 + abs(best.value))


def test_a_hand_calculation_in_one_dimension() -> None:
    # f = (x − 3)²: with |x| the minimiser is 5/2, with x ≤ 1 it is 1.
    for simple, x, value in (({"l1": 1}, "5/2", "11/4"), ({"box": [-1, 1]}, "1", "4"), ({"l1": 7}, "0", "9")):
        options = {"A": [[[2]]], "b": [[3]], **simple}
        model = build_problem("quadratic", options).rational(options)
        assert model is not None
        found = model.minimum()
        assert found is not None
        assert (found.x, found.value) == ([Fraction(x)], Fraction(value))
        assert model.constants()["R"] == Fraction(x)
        assert fraction(model.value(exact_array([Fraction(x)]))) == Fraction(value)


def test_what_has_no_certificate_says_why() -> None:
    for spec, words in (
        ("lad:c=[0,4],l1=0.1", "smooth convex f"),
        ("logistic:data=breast_cancer,samples=60,clients=2,l1=0.1,dtype=float32", "dtype=float64"),
    ):
        problem = problem_from(spec)
        with pytest.raises(CertificateError, match=words):
            problem.optimum()
        assert words in problem.why_not("minimiser")
        assert "R" not in problem.constants()


def test_a_start_outside_is_refused() -> None:
    with pytest.raises(SpecError, match="x0 lies outside the box"):
        problem_from("quadratic:clients=2,box=[1,2]")


@pytest.mark.parametrize("simple", SIMPLE, ids=str)
def test_the_gap_grows_by_no_more_than_the_steepness_says_to_first_order(simple: dict[str, object]) -> None:
    problem = with_simple("quadratic:clients=3,dimension=4,seed=3", simple)
    best, h, L = problem.optimum(), problem.simple, problem.constants()["L"].value
    assert isinstance(h, ProxFunction)
    rng = np.random.default_rng(1)
    for x in best.x + rng.normal(size=(60, 4)) * np.logspace(-6, 0, 60)[:, None]:
        x = h.prox(x, 0.0)
        away = float(np.linalg.norm(x - best.x)) + (best.distance or 0.0)
        assert problem.value(x) - best.value <= problem.steepness() * away + L * away**2 / 2.0 + 1e-12


@pytest.mark.parametrize("h", ["box=[0.1,0.3]", "l1=0.1", "ball=0.3"])
def test_the_numbers_of_h_are_floats_beside_floats_and_typed_beside_what_is_typed(h: str) -> None:
    """A run of floats projects onto [0.1, 0.3] as floats have them: its exact twin does so, too."""
    problem = problem_from(f"quadratic:x0=0.2,clients=1,dimension=1,{h}")
    typed, own = problem.simple, problem.rational({})
    assert typed is not None
    assert own.h == typed.in_floats() != typed
    assert problem.rational({"x0": "0.2"}).h == typed


@pytest.mark.parametrize("b", [0, 3])
def test_a_gap_is_enclosed_where_the_minimiser_is_certified_exactly(b: int) -> None:
    problem = problem_from(f"quadratic:A=[[[1]]],b=[[{b}]],x0=0.75,box=[0.5,1]")
    assert problem.optimum().distance == 0.0
    value, low, high = Proved(problem).gap((problem.x0, 1e-12))
    assert low <= value <= high < value + 1e-10


def test_a_box_whose_ends_are_one_float_is_refused_where_it_is_built() -> None:
    with pytest.raises(SpecError, match=r"needs low < high, got \[0.1,0.1\]"):
        problem_from({"type": "quadratic", "x0": 0.1, "dimension": 1, "box": "[0.1,0.10000000000000000001]"})
