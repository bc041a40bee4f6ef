"""One step for all trials: a bound is about the step that was taken, whoever's schedule it was chosen for.

A theorem whose step depends on the schedule takes the step of the worst trial, at the last horizon. Where the theorem
takes the step as a number, the bound reads that number; where it does not, the bound has to be that of the same step.
"""

from dataclasses import replace

import numpy as np
import pytest

from boundlab.case import delays_from, problem_from
from boundlab.compare import compare
from boundlab.delays import ServerPolicy
from boundlab.errors import AssumptionError
from boundlab.formulas.symbols import SYMBOLS, symbol
from boundlab.instance import make_plan
from boundlab.registry import lookup, registered
from boundlab.theorems import ALONG_RUN, Theorem, load_theorem, over
from boundlab.verdict import Verdict

DELAYS = ("exponential:spread=4", "two-speed")
EQUAL = "huber:c=[0,0,0],w=[1,1,1],x0=2"
LONG = 24  # updates until which eight trials differ in their largest staleness
SCHEDULED = {"tau_max", "S", "M_own", "W_max", "Q_mean", "Qmax", "lag", "kappa_lag"}


def with_a_scheduled_step() -> list[Theorem]:
    """Return the true theorems whose step reads a schedule."""
    return [
        theorem
        for theorem in registered("theorems").values()
        if theorem.read_by(theorem.step) & SCHEDULED
        and not theorem.of_paper
        and lookup("algorithms", theorem.algorithm).server != "any"
    ]


def setting_its_step(theorem: Theorem) -> Theorem:
    """Return the theorem in words that do not take the step as a number."""
    return replace(theorem, settable=tuple(name for name in theorem.settable if name not in theorem.step))


def verdict_of(theorem: Theorem, delays: str, iterations: int = 40):
    problem = problem_from(EQUAL)
    model = delays_from(delays, problem.n)
    policy = lookup("algorithms", theorem.algorithm).policy(None, model)
    return compare(make_plan(theorem, problem, model, policy, iterations, {}, trials=8), 8, 0)


def test_there_are_such_theorems() -> None:
    assert len(with_a_scheduled_step()) > 15


@pytest.mark.sweep(62)
@pytest.mark.parametrize("delays", DELAYS)
@pytest.mark.parametrize("theorem", with_a_scheduled_step(), ids=lambda one: one.id)
def test_a_true_theorem_is_not_violated_by_the_step_of_another_trial(theorem: Theorem, delays: str) -> None:
    try:
        found = verdict_of(setting_its_step(theorem), delays)
    except AssumptionError:
        return  # what a schedule does not fit, or a step that no single run has
    assert found.verdict in (Verdict.HOLDS, Verdict.CONSISTENT), found.reason
    # Not below the bound of the very same runs by the theorem that takes the step as a number.
    assert (found.bound >= verdict_of(theorem, delays).bound * (1 - 1e-12)).all()


def test_the_bound_is_that_of_the_largest_staleness_of_all_trials() -> None:
    theorem = setting_its_step(load_theorem("classics.delayed-sgd"))
    found = verdict_of(theorem, DELAYS[0])
    plan = found.plan
    largest = (1.0 / plan.parameter_values["alpha"] / plan.values["L"] - 1.0) / 2.0
    assert largest == pytest.approx(round(largest), rel=1e-12)
    expected = 2 * plan.values["F0"] * plan.values["L"] * (1 + 2 * largest) / plan.ks
    assert np.allclose(found.bound, expected, rtol=1e-12)


def about_a_mean() -> list[Theorem]:
    """Return the true theorems about the mean over schedules that read something off these."""
    return [
        theorem
        for theorem in registered("theorems").values()
        if {*theorem.inputs(), *theorem.settable} & SCHEDULED
        and not theorem.of_paper
        and (over(theorem).lawful or over(theorem)["events"] == "averaged")
        and lookup("algorithms", theorem.algorithm).server != "any"
    ]


def test_theorems_about_a_mean_read_schedules() -> None:
    assert len(about_a_mean()) >= 8


@pytest.mark.parametrize(("exact", "iterations"), [(False, LONG), (True, 4)])
@pytest.mark.parametrize("theorem", about_a_mean(), ids=lambda one: one.id)
def test_what_is_shown_of_several_schedules_gives_bound_and_step(
    theorem: Theorem, exact: bool, iterations: int
) -> None:
    problem = problem_from("logistic:clients=3" if theorem.id.endswith(ALONG_RUN) else EQUAL)
    model = delays_from("exponential", problem.n)
    given = {"scale": "0"} if theorem.algorithm == "fedstaleweight" else {}
    plan = make_plan(theorem, problem, model, ServerPolicy("own", 0.0), iterations, given, trials=8)
    found = compare(plan, 8, 0, exact=exact)
    shown = {one["name"]: one["value"] for one in found.as_dict()["symbols"]}
    assert theorem.at_iterations(shown, found.plan.ks[-1:]).total == pytest.approx(found.bound[-1:], rel=1e-12)
    assert theorem.step_options(shown).items() <= found.plan.parameter_values.items()
    assert found.plan.schedules is not None
    first = found.plan.schedules.read(found.plan.schedules.tape(0), iterations, plan.fixed)
    if iterations == LONG:
        assert shown["tau_max"] > first["tau_max"]
    assert f"tau_max = {shown['tau_max']}" in found.reason
    assert found.as_dict()["values"]["tau_max"] == shown["tau_max"]


def test_a_staleness_of_ones_own_is_held_against_that_of_all_schedules() -> None:
    problem = problem_from(EQUAL)
    model, theorem = delays_from("exponential", problem.n), load_theorem("fedbuff.rf3")
    plan = make_plan(theorem, problem, model, ServerPolicy("own", 0.0), LONG, {"tau_max": "40"}, trials=8)
    how = next(one.how for one in plan.symbols if one.name == "tau_max")
    most = max(plan.schedules.read(plan.schedules.tape(trial), LONG, {})["tau_max"] for trial in range(8))
    assert f"sampled schedules have {most:g};" in how


def test_the_step_of_all_trials_says_whose_staleness_it_is() -> None:
    plan = verdict_of(load_theorem("classics.delayed-sgd"), "exponential", LONG).plan
    shown = {one.name: one for one in plan.symbols}
    largest = (1.0 / plan.parameter_values["alpha"] / plan.values["L"] - 1.0) / 2.0
    assert shown["tau_max"].value < round(largest)  # that of trial 1
    assert shown["alpha"].how.endswith(f"tau_max = {largest:.6g} there, the largest of all trials")


def test_a_step_by_a_mean_is_no_step_of_two_schedules(monkeypatch: pytest.MonkeyPatch) -> None:
    delayed = load_theorem("classics.delayed-sgd")
    exact = {"tau_mean": replace(delayed.symbols["tau_mean"], side="exact")}
    monkeypatch.setattr("boundlab.theorems._statement.SYMBOLS", {**SYMBOLS, **exact})
    step = {"alpha": delayed.step["alpha"].subs(symbol("tau_max"), symbol("tau_mean"))}
    theorem = replace(delayed, settable=(), conditions=(), step=step, symbols={**delayed.symbols, **exact})
    with pytest.raises(AssumptionError, match=r"the step size of classics\.delayed-sgd depends on"):
        verdict_of(theorem, DELAYS[0])
