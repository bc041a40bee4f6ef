"""A search on bounded sets: it has instances, calls no true theorem false, and refutes smaller constants."""

from dataclasses import replace

import numpy as np
import pytest
from sympy import Rational

from boundlab.checks import check
from boundlab.falsify import Candidate, falsify
from boundlab.falsify._families import noisy, quiet
from boundlab.falsify._judge import Judge
from boundlab.formulas.symbols import symbol
from boundlab.theorems import FormulaBound, Theorem, load_theorem

NAMES = (
    "classics.sgd.projected.any-horizon",
    "classics.sgd.projected.distance",
    "classics.sgd.projected.distance.longer-steps",
    "classics.sgd.projected.strongly-convex",
    "classics.subgradient.projected.strongly-convex",
)


def times(theorem: Theorem, factor: Rational) -> Theorem:
    terms = {name: factor * term for name, term in theorem.bound.terms.items()}
    return replace(theorem, bound=FormulaBound(terms))


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_there_are_instances_and_none_is_called_a_counterexample(name: str) -> None:
    found = falsify(load_theorem(name), budget=30.0, limit=120)
    assert sum(found.tried.values()) >= 100
    assert not found.violated


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "factor"),
    [
        ("classics.sgd.projected.strongly-convex", Rational(49, 50)),
        ("classics.subgradient.projected.strongly-convex", Rational(49, 50)),
        ("classics.sgd.projected.distance", Rational(1, 16)),
        ("classics.sgd.projected.distance.longer-steps", Rational(1, 16)),
    ],
)
def test_a_smaller_constant_is_refuted(name: str, factor: Rational) -> None:
    assert falsify(times(load_theorem(name), factor), budget=30.0, limit=120).violated


@pytest.mark.nightly
def test_a_bound_that_forgets_the_noise_is_refuted_by_noise_alone() -> None:
    # 3B²/(2μ²(K + 1)) where G² = B² + σ² belongs: x²/2 on [−1, 1] with ±1 is at ±1 after one step, and B = 1.
    theorem = times(load_theorem("classics.sgd.projected.distance"), Rational(3, 8))
    named = {"bounded-second-moment": "lipschitz"}
    forgetful = replace(
        theorem,
        assumptions=(*(named.get(one, one) for one in theorem.assumptions), "bounded-variance"),
        bound=FormulaBound({name: term.subs(symbol("G"), symbol("B")) for name, term in theorem.bound.terms.items()}),
    )
    found = falsify(forgetful, budget=60.0, limit=300)
    assert found.violated
    assert found.best is not None
    problem = found.best.candidate.problem
    assert (problem["noise"], found.best.candidate.clients, found.best.iterations) == ("sign", 1, 1)
    assert found.best.kind == "exact"
    assert found.ratio == pytest.approx(4 / 3, rel=1e-9)


@pytest.mark.parametrize("clients", [1, 2])
def test_noise_on_balls_has_two_signs_and_certified_constants(clients: int) -> None:
    for name in NAMES[:4]:
        for family, shape in noisy(load_theorem(name), clients):
            assert family.startswith("noise")
            assert (shape["noise"], shape["sigma"] > 0.0) == ("sign", True)
            one = Candidate("own", shape, "deterministic", {}, {}, 1)
            known = one.build().on_domain().constants()
            assert known["G"].value ** 2 == pytest.approx(known["B"].value ** 2 + shape["sigma"] ** 2, rel=1e-12)


@pytest.mark.parametrize("n", [1, 2])
def test_noise_on_a_ball_is_what_all_signs_and_draws_give(n: int) -> None:
    # Steps 1/(k + 1) on (x − c_i)²/2 with ±½ and the projection onto [−1, 1], from 1.
    centres = [-1.0, 0.5][:n]
    problem = {
        "type": "quadratic", "c": centres, "w": [1.0] * n, "sigma": 0.5, "noise": "sign", "x0": 1.0, "ball": 1.0,
    }  # fmt: skip
    one = Candidate("own", problem, "deterministic", {"M": "1", "sampling": "uniform", "decay": "none"}, {}, 3)
    ends = [1.0]
    for k in range(3):
        moved = [x - (x - c + s) / (k + 1) for x in ends for c in centres for s in (0.5, -0.5)]
        ends = np.clip(moved, -1.0, 1.0).tolist()
    [score] = Judge(load_theorem("classics.sgd.projected.distance"), float("inf"))._one(one, [3])
    assert score.left == pytest.approx(np.mean([(x - np.mean(centres)) ** 2 for x in ends]), rel=1e-9)


def test_the_start_alone_contradicts_less_than_half_of_g_squared_over_mu() -> None:
    # x²/2 on [−1, 1] from 1, where μ = G = 1 and f(x_0) − f* = 1/2.
    theorem = load_theorem("classics.sgd.projected.strongly-convex")
    said = {one.id: one.verdict for one in check(times(theorem, Rational(49, 50)))}
    assert said["truths.start"] == "failed"
    said = {one.id: one.verdict for one in check(theorem)}
    assert said["truths.start"] == "passed"


def test_problems_lie_in_balls_that_hold_their_starts() -> None:
    for name in NAMES:
        shapes = list(quiet(load_theorem(name), 2, [3]))
        assert {one["type"] for _, one in shapes} >= {"quadratic"}
        assert all(np.linalg.norm(one["x0"]) <= one["ball"] for _, one in shapes)
    elsewhere = quiet(load_theorem("classics.sgd.projected"), 2, [3])
    assert not any("ball" in one for _, one in elsewhere)


@pytest.mark.parametrize("n", [1, 2])
def test_many_candidates_on_one_tape_are_projected_as_each_is_alone(n: int) -> None:
    # Two coordinates, a step that overshoots: without the projection runs would leave the ball.
    judge = Judge(load_theorem("classics.sgd.projected.distance"), float("inf"))
    problem = {
        "type": "quadratic",
        "c": [[0.25, -0.5], [2.0, 1.0]][:n],
        "w": [[1.0, 5.0], [0.5, 4.0]][:n],
        "sigma": 0.0,
        "x0": [0.6, 0.8],
        "ball": 1.25,
    }
    settings = {"M": "1", "sampling": "uniform", "decay": "none"}
    one = Candidate("own", problem, "deterministic", settings, {}, 4)
    together, alone = judge._group([one], [4])[0], judge._one(one, [4])[0]
    assert together.left == pytest.approx(alone.left, rel=1e-9)
    assert together.right == pytest.approx(alone.right, rel=1e-12)
