"""A search among mini-batches of data: it has instances, calls no true theorem false, and refutes smaller constants."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from run_makers import tape_of
from sympy import Rational

from boundlab.case import load_case
from boundlab.cli import invoke
from boundlab.exact import evaluate
from boundlab.expectation import batches_along, left_side
from boundlab.falsify import Candidate, Falsification, falsify
from boundlab.falsify._candidate import flat, shaped
from boundlab.falsify._families import noisy, quiet
from boundlab.falsify._judge import Judge, evaluate as sides_of, from_vector, plan_of, to_vector
from boundlab.falsify._shrink import _MOVES, fine
from boundlab.metrics import METRICS
from boundlab.theorems import FormulaBound, Theorem, load_theorem

SAMPLED = "classics.sgd.sampled"
NESTED = st.recursive(st.floats(-9, 9), lambda inner: st.lists(inner, min_size=1, max_size=3), max_leaves=9)


def times(**factors: Rational) -> Theorem:
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


def test_given_a_tape_and_over_all_events_mini_batches_have_one_mean() -> None:
    theorem = load_theorem(SAMPLED)
    one = replace(ROWS[1], iterations=5)
    plan = plan_of(theorem, one, 1, 3, 5)
    tape = tape_of("gd", {"alpha": 0.25}, 2, 5, "deterministic", records=plan.metric.records(plan.ks))
    given_tape = batches_along(plan.problem, tape, plan.metric, plan.ks)
    over_events = left_side(*plan.random_run, 5, plan.ks)
    np.testing.assert_allclose(given_tape.value, over_events.value, rtol=1e-12)
    assert (given_tape.lower <= over_events.upper).all()
    assert (over_events.lower <= given_tape.upper).all()


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
    return falsify(times(noise=Rational(1, 2)), budget=60.0, limit=60)


@pytest.mark.nightly
def test_the_true_theorem_has_instances_and_is_called_true() -> None:
    found = falsify(load_theorem(SAMPLED), budget=60.0, limit=300)
    assert not found.violated
    assert found.ratio <= 1.0
    assert sum(found.tried.values()) >= 300
    assert {name.split(";")[0] for name in found.tried} >= {"one row", "rows of two curvatures", "three rows"}
    assert any(name.endswith("two speeds") for name in found.tried)


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
def test_the_case_of_a_counterexample_says_the_same_again(
    halved: Falsification, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert halved.best is not None
    assert halved.case is not None
    path = tmp_path / "case.json"
    path.write_text(json.dumps(halved.case), encoding="utf-8")
    again = evaluate(halved.theorem, load_case(path))
    assert again.violated
    assert again.ratio == pytest.approx(halved.ratio, rel=1e-12)
    assert halved.best.trials == 2  # a comparison computes it, too
    with_step = {**halved.case, "parameters": {**halved.case["parameters"], "alpha": halved.best.values["alpha"]}}
    path.write_text(json.dumps(with_step), encoding="utf-8")
    assert invoke(["replay", str(path)]) == 0
    assert "the noise of this problem is left out" in capsys.readouterr().out


@pytest.mark.nightly
@pytest.mark.parametrize(("initial", "noise"), [("1/2", "1"), ("9/10", "9/10")])
def test_a_smaller_bound_is_refuted(initial: str, noise: str) -> None:
    assert falsify(times(initial=Rational(initial), noise=Rational(noise)), budget=60.0, limit=60).violated


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
    assert all(fine(one) < fine(start) for one in (*seen["_fewer_rows"], *seen["_fewer_dimensions"]))
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
