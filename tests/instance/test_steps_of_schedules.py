"""One step for all trials: a bound is about the step that was taken, whoever's schedule it was chosen for.

A theorem whose step depends on the schedule takes the step of the worst trial, at the last horizon. Where the theorem
takes the step as a number, the bound reads that number; where it does not, the bound has to be that of the same step.
"""

from dataclasses import replace

import numpy as np
import pytest

from boundlab.case import delays_from, problem_from
from boundlab.compare import compare
from boundlab.errors import AssumptionError
from boundlab.formulas.symbols import SYMBOLS, symbol
from boundlab.instance import make_plan
from boundlab.registry import lookup, registered
from boundlab.theorems import Theorem, load_theorem
from boundlab.verdict import Verdict

DELAYS = ("exponential:spread=4", "two-speed")
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
    problem = problem_from("huber:c=[0,0,0],w=[1,1,1],x0=2")
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


def test_a_step_by_a_mean_is_no_step_of_two_schedules(monkeypatch: pytest.MonkeyPatch) -> None:
    delayed = load_theorem("classics.delayed-sgd")
    exact = {"tau_mean": replace(delayed.symbols["tau_mean"], side="exact")}
    monkeypatch.setattr("boundlab.theorems._statement.SYMBOLS", {**SYMBOLS, **exact})
    step = {"alpha": delayed.step["alpha"].subs(symbol("tau_max"), symbol("tau_mean"))}
    theorem = replace(delayed, settable=(), conditions=(), step=step, symbols={**delayed.symbols, **exact})
    with pytest.raises(AssumptionError, match=r"the step size of classics\.delayed-sgd depends on"):
        verdict_of(theorem, DELAYS[0])
