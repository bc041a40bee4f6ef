"""A problem of somebody else is judged by what it can do, not by its id."""

import json
from dataclasses import replace

import numpy as np
import pytest
from own_problem import MIXED, build

from boundlab.algorithms import StepSize
from boundlab.algorithms.area import AreaParameters
from boundlab.case import build_delays, build_problem, load_case
from boundlab.compare import compare
from boundlab.delays import read_policy
from boundlab.errors import AssumptionError
from boundlab.exact import evaluate
from boundlab.expectation import engine, left_side, moments, twins
from boundlab.instance import make_plan
from boundlab.options import Options
from boundlab.theorems import load_theorem


def both(**more):
    """Return the built-in quadratic and one of somebody else with the same functions."""
    options = {**MIXED, **more}
    return build_problem("quadratic", options), build(Options("problem bowls", options))


def left_sides(parameters, policy, delays, side, sigma, iterations):
    return [
        left_side(side, "area", problem, parameters, delays, policy, iterations, np.arange(1, iterations + 1)).value
        for problem in both(sigma=sigma)
    ]


@pytest.mark.parametrize("side", ["squared-distance", "gap", "ergodic-gap", "gradient-norm-last"])
def test_moments_over_random_events_need_no_built_in_problem(side):
    delays = build_delays("iid", {"p": [0.3, 0.2, 0.1]}, 3)
    parameters, policy = AreaParameters(StepSize(1.0, 6.0), 2, start="analysis"), read_policy(None, delays)
    built_in, own = left_sides(parameters, policy, delays, side, 0.5, 12)
    assert np.allclose(own, built_in, rtol=1e-12)
    assert "moments" in engine(side, "area", both()[1], parameters, delays, policy)[0]


def test_equal_clients_of_any_problem_are_twins():
    for problem in both():
        assert twins(problem, np.full(3, 0.2)) == [[0, 2]]
        assert twins(problem, np.array([0.2, 0.2, 0.1])) == []
    with_keys = build_problem("smoothed-max-affine", {"a": [[[1], [-1]]] * 2, "c": [[0, 0]] * 2})
    assert twins(with_keys, np.full(2, 0.2)) == [[0, 1]]


def test_exact_comparison_needs_no_built_in_problem():
    statement, delays = load_theorem("area.theorem7.recursion"), build_delays("gamma", {}, 3)
    policy, settings = read_policy(None, delays), {"M": "2", "alpha": "0.05"}
    found = [
        compare(make_plan(statement, problem, delays, policy, 10, settings, ("iid-events",)), 3, 0, exact=True)
        for problem in both()
    ]
    assert [one.exact for one in found] == ["given schedules"] * 2
    assert np.allclose(found[0].band.mean, found[1].band.mean, rtol=1e-12)


def test_exact_moments_need_no_built_in_problem(tmp_path):
    pytest.importorskip("flint")
    options = {"A": [[[1, 0], [0, 2]]] * 2, "b": [[0, "1/4"], [1, 0]], "sigma": "1/3"}
    own = build(Options("problem bowls", {**options, "x0": 2}))
    file = tmp_path / "case.json"
    fields = {"delays": "iid:p_s=1/2", "iterations": 3, "parameters": {"M": 2}, "settings": {"D": "1/4"}, "x0": 2}
    file.write_text(json.dumps({**fields, "algorithm": "area", "problem": {"type": "quadratic", **options}}))
    case, theorem = load_case(file), load_theorem("area.theorem7.explicit")
    built_in, found = evaluate(theorem, case), evaluate(theorem, replace(case, problem=own))
    assert (found.kind, found.method) == ("exact", "first and second moments by linear recursion")
    assert (found.left_text, found.right_text) == (built_in.left_text, built_in.right_text)


def test_a_problem_without_the_capability_is_refused_by_its_name():
    with pytest.raises(AssumptionError, match="the moments need `quadratic\\(\\)`, which problem huber does not give"):
        moments.blocks_of(build_problem("huber", {}))
