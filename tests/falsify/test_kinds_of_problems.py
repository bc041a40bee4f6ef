"""Searches on bounded sets, with a penalty, among mini-batches: no true theorem false, smaller constants refuted."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from run_makers import tape_of
from sympy import Rational

from boundlab.checks import check
from boundlab.errors import BoundlabError, SpecError
from boundlab.expectation.moments import along as batches_along
from boundlab.falsify import Candidate, Falsification, falsify
from boundlab.falsify._candidate import Columns, Layout, flat, shaped
from boundlab.falsify._families import noisy, on_composite, quiet
from boundlab.falsify._judge import Judge, evaluate as sides_of, from_vector, to_vector
from boundlab.falsify._shrink import _MOVES
from boundlab.formulas.symbols import symbol
from boundlab.metrics import METRICS
from boundlab.registry import registered
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
    [score] = Judge(load_theorem("classics.sgd.projected.distance"), float("inf"))._group([one], [3], alone=True)
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


ISTA = "classics.proximal-gradient"
R, K, alpha = (symbol(name) for name in ("R", "K", "alpha"))
EVERY = sorted(registered("theorems"))
COMPOSITE = [name for name in EVERY if {"composite"} == {"composite", "constrained"} & load_theorem(name).core.assumed]


def ista(**terms: object) -> Theorem:
    return replace(load_theorem(ISTA), bound=FormulaBound(terms))  # type: ignore[arg-type]


def penalised(theorem: Theorem, clients: int) -> list[dict[str, object]]:
    return [one for _, one in quiet(theorem, clients, [1, 3]) if "l1" in one]


def test_the_constant_without_a_penalty_is_refuted_exactly() -> None:
    # Steps of λ/L along λ|x| from 1 leave λ(1 − λK/L) at K: L/(4K) for λ = L/(2K), and h = 0 leaves L/(4K + 2) at most.
    found = falsify(ista(bound=R**2 / (4 * alpha * K + 2 * alpha)), limit=60)
    assert found.violated
    assert found.best is not None
    assert found.best.kind == "exact"
    assert found.best.candidate.problem["l1"] > 0.0
    assert 1.0 < found.ratio <= 1.5


@pytest.mark.parametrize("last", [1, 2, 7, 100])
def test_the_worst_penalty_of_each_horizon_is_among_them(last: int) -> None:
    theorem = load_theorem(ISTA)
    shapes = [one for _, one in quiet(theorem, 1, [last]) if "l1" in one]
    some = [Candidate("own", shape, "deterministic", {"M": "1"}, {}, last) for shape in shapes]
    lefts = [score.left for one in some for score in Judge(theorem, float("inf")).scores([one], [last])]
    assert len(lefts) == len(shapes) > 1
    assert max(lefts) == pytest.approx(1 / (4 * last), rel=1e-9)
    assert min(lefts) == pytest.approx(1 / (4 * last), rel=1e-5)


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", EVERY)
def test_only_theorems_about_a_penalty_meet_one(name: str) -> None:
    theorem = load_theorem(name)
    found = [one for n in (1, 2) for one in penalised(theorem, n)]
    assert bool(found) == (name in COMPOSITE)
    for shape in found:
        one = Candidate("own", shape, "deterministic", {}, {}, 1)
        problem = one.build()
        assert problem.simple is not None
        assert not problem.why_not("minimiser")
        assert not any(problem.why_not(each) for each in ("convex", "one-function") if each in theorem.core.assumed)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("kind", ["huber", "quadratic"])
def test_many_candidates_on_one_tape_step_as_each_does_alone(kind: str, n: int) -> None:
    random = np.random.default_rng(n)
    theorem = load_theorem("classics.proximal-gradient.local" if kind == "quadratic" else ISTA)
    settings = {"M": "3"} if kind == "quadratic" else {}
    judge, some = Judge(theorem, float("inf")), []
    for _ in range(6):
        w, c, x0 = random.uniform(0.1, 1.0, 2), random.standard_normal(2), random.standard_normal(2) * 3.0
        problem = {"type": kind, "sigma": 0.0, "w": [w.tolist()] * n, "c": [c.tolist()] * n, "x0": x0.tolist()}
        problem |= {"l1": float(random.uniform(0.01, 1.0))} | ({"delta": 0.5} if kind == "huber" else {})
        some.append(Candidate("own", problem, "deterministic", settings, {"alpha": 0.7}, 5))
    plain = [one.with_problem(x0=2.0, w=[1.0] * n, c=[0.0] * n) for one in some[:1]]
    together = judge._group([*some, *plain], [2, 5])
    assert len(together) == 7
    for score in together:
        own = replace(score.candidate, iterations=5)
        [alone] = judge._group([own], [score.candidate.iterations], alone=True)
        assert score.left == pytest.approx(alone.left, rel=1e-9)
        assert score.right == pytest.approx(alone.right, rel=1e-12)


def test_units_and_numbers_of_a_penalty() -> None:
    theorem = load_theorem(ISTA)
    shape = next(shape for shape in penalised(theorem, 1) if shape["type"] == "huber")
    one = Candidate("own", shape, "deterministic", {"M": "1"}, {"alpha": 0.5}, 3)
    judge = Judge(theorem, float("inf"))
    plain, scaled = judge.score(one), judge.score(one.in_units(100.0, 0.1))
    assert plain is not None
    assert scaled is not None
    assert scaled.ratio == pytest.approx(plain.ratio, rel=1e-8)
    again = from_vector(one, to_vector(one))
    assert again.problem["l1"] == pytest.approx(one.problem["l1"], rel=1e-14)
    moved = from_vector(one, to_vector(one) + 1.0)
    assert moved.problem["l1"] == pytest.approx(np.e * one.problem["l1"], rel=1e-12)


def test_there_is_no_proximal_step_of_f_and_a_penalty() -> None:
    one = Candidate("own", penalised(load_theorem(ISTA), 1)[0], "deterministic", {}, {}, 1)
    columns = Columns(Layout.of([one]), np.ones(1))
    with pytest.raises(SpecError, match="no proximal step"):
        columns.implicit_step(np.ones(1), 0, None, 1.0)
    with pytest.raises(BoundlabError):
        one.build().prox(0, np.ones(1), 1.0)


MEAN = "gd takes the mean of the clients' proximal steps, not the proximal step of the mean (sampling=mean does)"
ASKED = [(1, "all", ""), (2, "all", MEAN), (5, "all", MEAN), (2, "uniform", ""), (2, "mean", "")]


@pytest.mark.parametrize(("clients", "sampling", "words"), ASKED)
def test_the_mean_of_proximal_steps_is_told_apart_from_the_proximal_step_of_the_mean(
    clients: int, sampling: str, words: str
) -> None:
    theorem = load_theorem("classics.proximal-gradient")
    assert on_composite(theorem, {"sampling": sampling}, clients) == words


SAMPLED = "classics.sgd.sampled"
NESTED = st.recursive(st.floats(-9, 9), lambda inner: st.lists(inner, min_size=1, max_size=3), max_leaves=9)


def sampled_times(**factors: Rational) -> Theorem:
    theorem = load_theorem(SAMPLED)
    return replace(
        theorem, bound=FormulaBound({name: factors.get(name, 1) * term for name, term in theorem.bound.terms.items()})
    )


def of_rows(a: list[Any], y: list[Any], x0: Any, batch: int = 1, last: int = 1, alpha: float = 0.375) -> Candidate:
    problem = {"type": "least-squares", "a": a, "y": y, "batch": batch, "x0": x0}
    return Candidate("own", problem, "deterministic", {}, {"alpha": alpha}, last)


def by_hand(one: Candidate) -> Fraction:
    """Return E‖x_1 − x*‖² of one step on one number, over all rows that each client may draw."""
    clients = [
        [(Fraction(a), Fraction(y)) for a, y in zip(*both, strict=True)]
        for both in zip(one.problem["a"], one.problem["y"], strict=True)
    ]
    alpha, x0, n = Fraction(one.step["alpha"]), Fraction(one.problem["x0"]), len(clients)
    slope = sum(sum(a * y for a, y in rows) / len(rows) for rows in clients)
    best, draws = slope / sum(sum(a * a for a, _ in rows) / len(rows) for rows in clients), list(product(*clients))
    ends = [x0 - alpha * sum(a * (a * x0 - y) for a, y in draw) / n for draw in draws]
    return sum((end - best) ** 2 for end in ends) / len(ends)


ROWS = (
    of_rows([[1.0, 0.5]], [[-1.0, 2.0]], 0.1),
    of_rows([[1.0, 0.5], [0.25]], [[-1.0, 2.0], [1.0]], 1.0, alpha=0.25),
    of_rows([[1.0, 0.5, 1.0], [1.0, 0.75]], [[0.0, 2.0, 1.0], [-1.0, 0.5]], -0.5, alpha=0.125),
)


@pytest.mark.parametrize("one", ROWS)
def test_the_search_sees_what_all_draws_of_rows_give(one: Candidate) -> None:
    theorem = load_theorem(SAMPLED)
    mean = float(by_hand(one))
    sides = sides_of(theorem, one, [1])
    assert sides.left[0, 0] == pytest.approx(mean, rel=1e-12)
    [score] = Judge(theorem, float("inf")).scores([one])
    assert score.left == pytest.approx(mean, rel=1e-12)
    # sigma_star², R, mu and L_max are those of the definition, and the bound is the printed one.
    rows = [np.stack(both, axis=1) for both in zip(one.problem["a"], one.problem["y"], strict=True)]
    best = sum((part[:, 0] * part[:, 1]).mean() for part in rows) / sum((part[:, 0] ** 2).mean() for part in rows)
    star = np.mean([(part[:, 0] * (part[:, 0] * best - part[:, 1])).var() for part in rows])
    mu, alpha = min((part[:, 0] ** 2).mean() for part in rows), one.step["alpha"]
    bound = (1 - alpha * mu) * (one.problem["x0"] - best) ** 2 + 2 * alpha**2 * star / len(rows)
    assert score.right == pytest.approx(bound, rel=1e-12)


def test_stale_mini_batches_by_hand() -> None:
    # x²/2 and (x − 2)²/2 drawn from 0 with the step ½: client 1 answers with what it drew at 0 after client 0 moved.
    one = of_rows([[1.0, 1.0], [1.0, 1.0]], [[0.0, 2.0], [0.0, 2.0]], 0.0)
    problem, metric = one.build(), METRICS["squared-distance"]
    tape = tape_of("async_sgd", {"alpha": 0.5}, 2, 2, "deterministic", records=metric.records([2]))
    ends = [(p + q) / 2 for p, q in product((0.0, 2.0), (0.0, 2.0))]  # both started at 0
    found = batches_along(problem, tape, metric, np.array([2]))
    assert found.value[0] == pytest.approx(np.mean([(end - 1.0) ** 2 for end in ends]), rel=1e-12)
    assert found.lower[0] <= found.value[0] <= found.upper[0]


@pytest.fixture(scope="module")
def halved() -> Falsification:
    return falsify(sampled_times(noise=Rational(1, 2)), budget=60.0, limit=60)


@pytest.mark.nightly
def test_half_the_noise_is_refuted_by_two_rows_in_one_step(halved: Falsification) -> None:
    assert halved.violated
    assert halved.best is not None
    one = halved.best.candidate
    assert (one.clients, one.iterations, len(one.problem["y"][0]), one.problem["batch"]) == (1, 1, 2, 1)
    assert halved.best.kind == "exact"
    assert halved.best.left == pytest.approx(float(by_hand(replace(one, step={"alpha": halved.best.values["alpha"]}))))
    assert "a_ij" in halved.best.words()


@pytest.mark.nightly
@pytest.mark.parametrize(("initial", "noise"), [("1/2", "1"), ("9/10", "9/10")])
def test_a_smaller_bound_is_refuted(initial: str, noise: str) -> None:
    assert falsify(sampled_times(initial=Rational(initial), noise=Rational(noise)), budget=60.0, limit=60).violated


@pytest.mark.parametrize("clients", [1, 2, 3])
def test_problems_of_drawn_functions_are_rows_of_data_whose_steepest_has_curvature_one(clients: int) -> None:
    theorem = load_theorem(SAMPLED)
    assert not list(quiet(theorem, clients, [3]))
    for _, shape in noisy(theorem, clients):
        assert len(shape["a"]) == len(shape["y"]) == clients
        one = Candidate("own", shape, "deterministic", {}, {}, 3)
        assert one.clients == clients
        known = one.build().constants()
        assert known["L_max"].value == pytest.approx(1.0, rel=1e-12)
        assert {"mu", "sigma_star", "R"} <= set(known)
    elsewhere = noisy(load_theorem("classics.sgd.distance"), clients)
    assert not any("y" in shape for _, shape in elsewhere)


def test_every_move_of_shrinking_gives_data_that_fit_each_other() -> None:
    start = of_rows([[[1.0, 0.0], [0.6, 0.8]], [[0.5, 1.0], [1.0, 0.25]]], [[0.0, 1.0], [2.0, -1.0]], [1.0, 0.5], 2, 4)
    seen = {move.__name__: list(move(start)) for move in _MOVES}
    for name in ("_fewer_clients", "_fewer_rows", "_fewer_dimensions", "_fewer_iterations", "_smaller_settings"):
        assert seen[name]
    assert {one.problem["batch"] for one in seen["_smaller_settings"]} == {1}
    assert all(one.fine < start.fine for one in (*seen["_fewer_rows"], *seen["_fewer_dimensions"]))
    for found in seen.values():
        for one in found[:: max(1, len(found) // 20)]:
            problem = one.build()
            assert (problem.n, problem.d) == (one.clients, one.dimension)


@given(nested=NESTED)
def test_nested_lists_are_taken_apart_and_put_together(nested: Any) -> None:
    assert shaped(nested, flat(nested)) == nested


def test_the_numbers_of_data_are_moved_one_by_one() -> None:
    one = ROWS[2]
    place = to_vector(one)
    assert len(place) == 1 + 5 + 5 + 1  # the step, features, targets, the start
    again = from_vector(one, place)
    assert again.problem == one.problem
    assert again.step == pytest.approx(one.step)


@given(
    value=st.sampled_from([1e-2, 0.25, 4.0, 1e4]), length=st.sampled_from([0.5, 1.0, 8.0]), one=st.sampled_from(ROWS)
)
def test_the_ratio_of_the_sides_does_not_depend_on_units(value: float, length: float, one: Candidate) -> None:
    judge = Judge(load_theorem(SAMPLED), float("inf"))
    [before], [after] = judge.scores([one]), judge.scores([one.in_units(value, length)])
    assert after.ratio == pytest.approx(before.ratio, rel=1e-9)
    assert after.left == pytest.approx(before.left * length**2, rel=1e-9)
