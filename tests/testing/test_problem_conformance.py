"""Problems at random keep what the interface promises, and each check notices a problem that does not."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from own_problem import FAMILY, MIXED, Bowls, build
from problem_makers import EXPLICIT, MODELS, generated, make, tiny

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import exact_array
from boundlab.errors import SpecError
from boundlab.objective import Constant, FullGradients, Optimum, Problem
from boundlab.options import Options
from boundlab.registry import registered
from boundlab.testing import conform

pytest.importorskip("flint")

OFF_CENTRE = {"clients": 3, "dimension": 2, "x0": [4.0, -1.5]}
TWINS = {"c": [[0.0, 1.0], [1.0, 1.0], [0.0, 1.0]], "w": [[1.0, 2.0], [2.0, 2.0], [1.0, 2.0]], "x0": [4.0, -1.5]}
HUBER = {"c": [[0.0, 1.0], [3.0, -1.0]], "delta": 0.25, "x0": [4.0, -1.5], "sigma": 0.1}
MORE = ({}, {"nu": 0.0}, {"batch": 1, "x0": 3.0}, {"dtype": "float32"})
RATIONAL = ("huber", "lad", "max-affine", "quadratic")


@pytest.mark.sweep(2)
@pytest.mark.parametrize("kind", EXPLICIT)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(1, 12))])
def test_explicit_problems_conform(kind, seed):
    conform.problem(generated(kind, seed))
    conform.problem(make(kind, **OFF_CENTRE, seed=seed, sigma=0.5 * (seed % 2)))


@pytest.mark.sweep(15)
@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("more", MORE, ids=str)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(1, 12))])
def test_problems_from_samples_conform(kind, more, seed):
    conform.problem(tiny(kind, seed, **more))


@pytest.mark.parametrize("kind", ["huber", "lad", "pseudo-huber"])
def test_problems_with_equal_clients_conform(kind):
    problem = make(kind, **TWINS)
    assert problem.client_key(0) == problem.client_key(2) != problem.client_key(1)
    conform.problem(problem)


@pytest.mark.sweep(3)
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
    assert numbers.fraction(twin.gradient(0, exact_array([0, 0]))[1]) == Fraction(-1, 3)
    with pytest.raises(SpecError, match="x0 cannot be read exactly"):
        make("huber", **options).rational({**options, "x0": ["1/2", "0.1"]})


def test_a_problem_of_somebody_else_conforms():
    conform.problem(FAMILY)
    conform.problem(bowls(), FAMILY)


def rebuilt(good: Any, **changes: Any) -> Any:
    """Return a problem some of whose methods are others."""
    kind = type("Broken", (type(good),), changes)
    return kind(**{field.name: getattr(good, field.name) for field in fields(good)})


def bowls(**options: Any) -> Bowls:
    return build(Options("problem bowls", {**MIXED, **options}))


def broken(**changes: Any) -> Any:
    return rebuilt(bowls(), **changes)


def constant(name: str, factor: float) -> Callable[[Any], dict[str, Constant]]:
    """Return constants() with one of them multiplied, or added where there is none; L_sq goes with L."""

    def constants(self: Any) -> dict[str, Constant]:
        known = dict(type(self).__mro__[1].constants(self))
        given = known.get(name, Constant(1.0, "exact", "made up"))
        known[name] = replace(given, value=factor * given.value)
        return {**known, "L_sq": replace(known["L_sq"], value=known["L"].value ** 2)} if name == "L" else known

    return constants


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "mu by 5 %": ({"constants": constant("mu", 1.05)}, "mu"),
    "local step": (
        {"descend": lambda self, client, x, size: x.__isub__(1.01 * size * self.gradient(client, x))},
        r"descend\(0, x, 0.25\) and x − 0.25·gradient\(0, x\) differ",
    ),
    "scaled": (
        {"scaled": lambda self, factors: replace(bowls(), A=self.A * float(factors[0]))},
        r"gradient\(1, x\) of scaled\(\) and 1 times the problem's differ",
    ),
    "distance": (
        {
            "optimum": lambda self: replace(
                Bowls.optimum(self),
                x=Bowls.optimum(self).x + 1e-3,
                value=self.value(Bowls.optimum(self).x + 1e-3),
                gap=1e-3,
            )
        },
        r"‖∇f\(x̂\)‖ ≤ L·distance of optimum\(\) fails|‖∇f_i\(x\*\)‖ ≤ L·zeta",
    ),
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
        "the parabola of curvature mu below f_0 ≤ f_0 fails",
    ),
    "value": (
        {"value": lambda self, x: 1.0 + Bowls.value(self, x)},
        r"value\(x\) and the mean of client_value\(i, x\) differ",
    ),
    "gradient": (
        {"gradient": lambda self, client, x: -Bowls.gradient(self, client, x)},
        "the parabola of curvature mu below f_0 ≤ f_0 fails",
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
        {"oracle": lambda _self, _streams: FullGradients(bowls(b=[[5.0, 5.0]] * 3))},
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
    "optimum": (
        {"optimum": lambda self: replace(Bowls.optimum(self), x=Bowls.optimum(self).x + 1.0)},
        r"value\(x\*\) and the value of optimum\(\) differ",
    ),
    "assumptions": (
        {"assumptions": lambda self: dict(list(Bowls.assumptions(self).items())[1:])},
        r"assumptions\(\) must answer .*; it answers",
    ),
    "constant out of place": (
        {"constants": constant("B", 1.0)},
        "constant B exists though lipschitz is not met: a bowl is steeper and steeper",
    ),
    "spec": ({"spec": lambda self: {**Bowls.spec(self), "x0": [0.0, 0.0]}}, r"spec\(\) rebuilds another x0"),
    "L": ({"constants": constant("L", 0.5)}, r"\|f_0 − tangent\| ≤ L/2·‖x − y‖² fails"),
    "L_sq": ({"constants": constant("L_sq", 2.0)}, "L_sq and L² differ"),
    "mu": ({"constants": constant("mu", 4.0)}, "the parabola of curvature mu below f_0 ≤ f_0 fails"),
    "R": ({"constants": constant("R", 0.5)}, "‖x0 − x\\*‖ ≤ R fails"),
    "F0": ({"constants": constant("F0", 0.5)}, "f\\(x0\\) − f\\* ≤ F0 fails"),
    "zeta": ({"constants": constant("zeta", 0.01)}, "‖∇f_i\\(x\\*\\)‖ ≤ L·zeta fails"),
    "sigma_l": ({"constants": constant("sigma_l", 2.0)}, "sigma_l and sigma differ"),
}


@pytest.mark.sweep(4)
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
    with pytest.raises(AssertionError, match=sentence):
        conform.problem(rebuilt(make("huber", **HUBER), constants=constant(name, 0.5)))


def test_a_family_that_is_not_registered_must_be_given():
    with pytest.raises(SpecError, match="unknown problem 'bowls'"):
        conform.problem(broken())


KINKED = ("hinge", "lad", "lad-regression", "quantile-regression")
SMOOTH = [name for name, one in registered("problems").items() if name not in KINKED]


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", [name for name in SMOOTH if name != "max-affine"])
def test_a_smoothness_constant_that_is_100_times_too_small_is_killed(name: str) -> None:
    for example in registered("problems")[name].examples:
        good = make(name, **example)
        with pytest.raises(AssertionError, match=rf"problem {name}: .*L"):
            conform.problem(rebuilt(good, constants=constant("L", 0.01)))


def test_an_undamped_minimiser_with_gap_20_is_killed() -> None:
    def newton(self: Problem) -> Optimum:
        """Return an undamped Newton step from x0 on √(1 + x²) − 1: x − x(1 + x²) = −x³."""
        x = -(np.asarray(self.x0) ** 3)
        return Optimum(x, self.value(x), 1e-9, 1e-9, "Newton")

    good = make("pseudo-huber", c=[0.0], delta=1.0, x0=22.0 ** (1 / 3))
    bad = rebuilt(good, optimum=newton)
    assert bad.optimum().value - good.optimum().value == pytest.approx(20.0, abs=1.1)
    with pytest.raises(AssertionError, match=r"f\* − gap ≤ f\(x\) fails: 21\.\d+ is above"):
        conform.problem(bad)


def test_a_gap_that_is_too_small_for_the_slope_is_killed() -> None:
    # ½(x − 1)² at 1.1: the gap is 0.005, and the slope 0.1 says that it is at least that.
    good = make("quadratic", A=[[[1.0]]], b=[[1.0]], x0=2.0)

    def near(self: Problem, gap: float) -> Optimum:
        x = np.array([1.1])
        return Optimum(x, self.value(x), gap, 0.1 + 1e-12, "guess")

    def start(self: Problem) -> Mapping[str, Constant]:
        return {**type(good).constants(self), "zeta": Constant(0.2, "upper", "by hand")}

    conform.problem(rebuilt(good, optimum=lambda self: near(self, 0.005 + 1e-12), constants=start))
    with pytest.raises(AssertionError, match=r"‖∇f\(x̂\)‖ ≤ √\(2·L·gap\) of optimum\(\) fails: 0.1 is above 0.09"):
        conform.problem(rebuilt(good, optimum=lambda self: near(self, 0.0045), constants=start))


@dataclass
class Shifted(FullGradients):
    """Noise that is not of mean 0, or larger than is said."""

    by: float
    spread: float
    seed: int

    def draws(self, clients: Any, updates: Any, steps: int) -> Any:
        each = zip(clients, updates, strict=True)
        return [np.random.default_rng([*one, self.seed]).choice([-1.0, 1.0], size=steps) for one in each]

    def step(self, x: Any, client: int, draw: Any, step_size: float) -> None:
        x -= step_size * (self.problem.gradient(client, x) + self.by + self.spread * draw)


@pytest.mark.parametrize(
    ("by", "spread", "sentence"),
    [
        (0.0, 0.4, r"E‖g_0 − ∇f_0‖², from below by 1500 draws, ≤ sigma² fails: 0.3\d+ is above 0.25"),
        (0.3, 0.1, r"the mean of 1500 stochastic gradients of client 0 is 0.42\d* off its gradient; with sigma = 0.5"),
    ],
)
def test_a_bias_and_too_much_noise_are_killed(by: float, spread: float, sentence: str) -> None:
    def oracle(self: Problem, streams: Any) -> Shifted:
        return Shifted(self, by, spread, streams.seed)

    with pytest.raises(AssertionError, match=sentence):
        conform.problem(broken(oracle=oracle, noiseless=False), FAMILY)


def test_a_kink_at_the_minimiser_that_is_not_said_is_named() -> None:
    silent = rebuilt(make("lad", c=[0.5], x0=2.0), near_kink=lambda _self, _client, X, _room: np.zeros(len(X), bool))
    with pytest.raises(AssertionError, match=r"gradient of client 0 jumps by 1 .*, and near_kink\(\) sees none"):
        conform.problem(silent)
