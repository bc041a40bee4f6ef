"""Problems at random keep what the interface promises, and each check notices a problem that does not."""

from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from own_problem import FAMILY, MIXED, Bowls, build
from problem_makers import EXPLICIT, MODELS, generated, make, tiny

from boundlab.arithmetic import numbers
from boundlab.errors import SpecError
from boundlab.objective import Constant, FullGradients, Optimum, Problem
from boundlab.options import Options
from boundlab.problems.separable import Separable
from boundlab.randomness import Streams
from boundlab.testing import conform

pytest.importorskip("flint")

OFF_CENTRE = {"clients": 3, "dimension": 2, "x0": [4.0, -1.5]}
TWINS = {"c": [[0.0, 1.0], [1.0, 1.0], [0.0, 1.0]], "w": [[1.0, 2.0], [2.0, 2.0], [1.0, 2.0]], "x0": [4.0, -1.5]}
HUBER = {"c": [[0.0, 1.0], [3.0, -1.0]], "delta": 0.25, "x0": [4.0, -1.5], "sigma": 0.1}
MORE = ({}, {"nu": 0.0}, {"batch": 1, "x0": 3.0}, {"dtype": "float32"})
RATIONAL = ("huber", "lad", "max-affine", "quadratic")


@pytest.mark.parametrize("kind", EXPLICIT)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(1, 12))])
def test_explicit_problems_conform(kind, seed):
    conform.problem(generated(kind, seed))
    conform.problem(make(kind, **OFF_CENTRE, seed=seed, sigma=0.5 * (seed % 2)))


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("more", MORE, ids=str)
def test_problems_from_samples_conform(kind, more):
    conform.problem(tiny(kind, 0, **more))


@pytest.mark.nightly
@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("more", MORE, ids=str)
@pytest.mark.parametrize("seed", range(1, 12))
def test_many_problems_from_samples_conform(kind, more, seed):
    conform.problem(tiny(kind, seed, **more))


@pytest.mark.parametrize("kind", ["huber", "lad", "pseudo-huber"])
def test_problems_with_equal_clients_conform(kind):
    problem = make(kind, **TWINS)
    assert problem.client_key(0) == problem.client_key(2) != problem.client_key(1)
    conform.problem(problem)


@pytest.mark.parametrize("kind", RATIONAL)
@pytest.mark.parametrize("seed", range(6))
def test_constants_in_rational_numbers_are_the_floats_up_to_rounding(kind, seed):
    # Closed forms on both sides: not only one above the other. R is by the minimiser nearest to x0, which a solver
    # need not find, and eigenvalues have no rational form.
    for problem in (generated(kind, seed), make(kind, **OFF_CENTRE, seed=seed)):
        known = problem.constants()
        found = problem.rational({}).constants()
        assert {"sigma"} <= set(found) <= set(known)
        for name, value in found.items():
            if name not in ("R", "F0", "zeta") or problem.optimum().distance is not None:
                assert float(value) == pytest.approx(known[name].value, rel=1e-9, abs=1e-12), name


def test_options_are_taken_at_their_word():
    options = {"c": [["0", "1/3"], ["0.1", "3"]], "w": [["1/7", 1], [2, "0.7"]], "x0": ["1/3", "0.1"], "sigma": "1/3"}
    twin = make("huber", **options).rational(options)
    assert twin.x0 == [Fraction(1, 3), Fraction(1, 10)]
    assert numbers.fraction(twin.gradient(0, [numbers.rational(0), numbers.rational(0)])[1]) == Fraction(-1, 3)
    with pytest.raises(SpecError, match="x0 cannot be read exactly"):
        make("huber", **options).rational({**options, "x0": ["1/2", "0.1"]})


def test_a_problem_of_somebody_else_conforms():
    conform.problem(FAMILY)
    conform.problem(build(Options("problem bowls", MIXED)), FAMILY)


def broken(options: dict[str, Any] | None = None, /, **changes: Any) -> Bowls:
    """Return bowls some of whose methods are others."""
    good = build(Options("problem bowls", {**MIXED, **(options or {})}))
    kind = type("Broken", (Bowls,), changes)
    return kind(**{field.name: getattr(good, field.name) for field in fields(good)})


def constant(name: str, factor: float, of: type[Problem] = Bowls) -> Callable[[Any], dict[str, Constant]]:
    """Return constants() with one of them multiplied, or added where there is none."""

    def constants(self: Any) -> dict[str, Constant]:
        known = dict(of.constants(self))
        given = known.get(name, Constant(1.0, "exact", "made up"))
        return {**known, name: replace(given, value=factor * given.value)}

    return constants


def moved_optimum(self: Bowls) -> Optimum:
    best = Bowls.optimum(self)
    return replace(best, x=best.x + 1.0)


def forgetful(self: Bowls) -> dict[str, str]:
    return {key: text for key, text in Bowls.assumptions(self).items() if key != "convex"}


def elsewhere(self: Bowls) -> dict[str, Any]:
    return {**Bowls.spec(self), "x0": [0.0, 0.0]}


def other_noise(self: Bowls, streams: Streams) -> FullGradients:
    return FullGradients(build(Options("problem bowls", {**MIXED, "b": [[5.0, 5.0]] * 3})))


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "batch of gradients": (
        {"gradients": lambda self, client, X: 2.0 * Bowls.gradients(self, client, X)},
        r"problem bowls: gradients\(0, X\) and gradient\(0, x\) row by row differ",
    ),
    "batch of values": (
        {"values": lambda self, X: Bowls.values(self, X)[:, None]},
        r"values\(X\) and value\(x\) row by row differ in shape: \(7, 1\) and \(7,\)",
    ),
    "not a number": (
        {"values": lambda self, X: np.nan * Bowls.values(self, X)},
        r"values\(X\) and value\(x\) row by row differ: nan and",
    ),
    "full gradient": (
        {"full_gradient": lambda _self, _x: np.zeros(2)},
        r"full_gradient\(x\) and the mean of gradient\(i, x\) differ",
    ),
    "value of a client": (
        {"client_value": lambda _self, _client, _x: 7.0},
        "a tangent of convex f_0 ≤ f_0 fails",
    ),
    "value": (
        {"value": lambda self, x: 1.0 + Bowls.value(self, x)},
        r"value\(x\) and the mean of client_value\(i, x\) differ",
    ),
    "gradient": (
        {"gradient": lambda self, client, x: -Bowls.gradient(self, client, x)},
        "a tangent of convex f_0 ≤ f_0 fails",
    ),
    "shape of a gradient": (
        {"gradient": lambda self, client, x: Bowls.gradient(self, client, x)[None]},
        r"gradient\(0, x\) has shape \(1, 2\), not \(d,\) = \(2,\)",
    ),
    "key": (
        {"client_key": lambda _self, _client: b"same"},
        "clients 0 and 1 have one client_key; their gradients differ",
    ),
    "oracle": (
        {"oracle": other_noise},
        r"a step of the oracle without noise and x − gradient\(0, x\) differ",
    ),
    "proximal step": (
        {"prox": lambda _self, _client, x, _step_size: x + 1.0},
        r"the objective at prox\(0, x, 0.7\) of point 0 ≤ that at the points fails",
    ),
    "centres of the form": (
        {"quadratic": lambda self: replace(Bowls.quadratic(self), b=self.b + 1.0)},
        r"A_i\(x − b_i\) of quadratic\(\) and gradient\(i, x\) differ",
    ),
    "noise of the form": (
        {"quadratic": lambda self: replace(Bowls.quadratic(self), sigma=0.7)},
        r"sigma of quadratic\(\) ≤ sigma of constants\(\) fails: 0.7 is above 0.5",
    ),
    "noise that is none": (
        {"oracle": lambda self, _streams: FullGradients(self)},
        r"sigma of quadratic\(\) is 0.5, but the oracle gives full gradients",
    ),
    "twin that is no quadratic": (
        {
            "rational": lambda self, _options: make(
                "huber", c=self.b.tolist(), x0=self.x0.tolist(), delta=9.0
            ).rational({})
        },
        r"in rational numbers: value\(x\) differ",
    ),
    "twin": (
        {"rational": lambda self, _options: Bowls.rational(replace(self, b=self.b + 1.0), {})},
        r"in rational numbers: value\(x\) differ",
    ),
    "constant of the twin": (
        {"rational": lambda self, _options: Bowls.rational(replace(self, sigma=0.75), {})},
        "in rational numbers: constant sigma differ: 0.75 and 0.5",
    ),
    "optimum": ({"optimum": moved_optimum}, r"value\(x\*\) and the value of optimum\(\) differ"),
    "assumptions": ({"assumptions": forgetful}, r"assumptions\(\) must answer bounded-below, .*; it answers"),
    "constant out of place": (
        {"constants": constant("B", 1.0)},
        "constant B exists though lipschitz is not met: a bowl is steeper and steeper",
    ),
    "spec": ({"spec": elsewhere}, r"spec\(\) rebuilds another x0"),
    "L": ({"constants": constant("L", 0.5)}, r"\|f_0 − tangent\| ≤ L/2·‖x − y‖² fails"),
    "L_sq": ({"constants": constant("L_sq", 2.0)}, "L_sq and L² differ"),
    "mu": ({"constants": constant("mu", 4.0)}, "the parabola of curvature mu below f_0 ≤ f_0 fails"),
    "R": ({"constants": constant("R", 0.5)}, "‖x0 − x\\*‖ ≤ R fails"),
    "F0": ({"constants": constant("F0", 0.5)}, "f\\(x0\\) − f\\* ≤ F0 fails"),
    "zeta": ({"constants": constant("zeta", 0.01)}, "‖∇f_i\\(x\\*\\)‖ ≤ L·zeta fails"),
    "sigma_l": ({"constants": constant("sigma_l", 2.0)}, "sigma_l and sigma differ"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(name):
    changes, sentence = WRONG[name]
    with pytest.raises(AssertionError, match=sentence):
        conform.problem(broken(**changes), FAMILY)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("B", "‖∇f_i\\(x\\)‖ ≤ B fails"),
        ("G_sq", "‖∇f_i\\(x\\)‖ ≤ √G_sq fails"),
        ("G", "‖∇f_i\\(x\\)‖ ≤ G fails"),
        ("sigma_g", "‖∇f_i\\(x\\) − ∇f\\(x\\)‖ ≤ sigma_g fails"),
        ("sigma_g_mean", "√mean_i ‖∇f_i\\(x\\) − ∇f\\(x\\)‖² ≤ sigma_g_mean fails"),
    ],
)
def test_a_bound_of_gradients_that_is_too_small_is_named(name, sentence):
    good = make("huber", **HUBER)
    kind = type("Broken", (Separable,), {"constants": constant(name, 0.5, Separable)})
    with pytest.raises(AssertionError, match=sentence):
        conform.problem(kind(**{field.name: getattr(good, field.name) for field in fields(good)}))


def test_a_family_that_is_not_registered_must_be_given():
    with pytest.raises(SpecError, match="unknown problem 'bowls'"):
        conform.problem(broken())
