"""A run that draws nothing is run once; its noise leaves an expectation, and a sample only where digits are lost."""

from typing import Any

import numpy as np
import pytest
from run_makers import plan_of

from boundlab.compare import compare, trials
from boundlab.delays import DELAYS
from boundlab.errors import SpecError
from boundlab.execute import enclosed
from boundlab.simulate import simulation
from boundlab.verdict import Verdict

SAME = "quadratic:A=[[[1,0],[0,2]],[[1,0],[0,2]]],b=[[1,1],[1,1]],x0=3"
# Arrivals decide what the first does; the second waits for everybody; the third draws whom it asks.
THEOREMS = ("classics.delayed-sgd", "classics.sgd.distance", "classics.sgd.heterogeneous")
LAWS = [(one.id, words) for one in DELAYS if one.id not in ("iid", "trace", "staleness") for words in one.examples]


@pytest.mark.sweep(20)
@pytest.mark.parametrize("noise", ["", ",sigma=0.5"])
@pytest.mark.parametrize(("kind", "words"), LAWS)
def test_one_trial_if_and_only_if_nothing_is_drawn(kind: str, words: dict[str, Any], noise: str) -> None:
    delays = kind + ":" + ",".join(f"{key}={value}" for key, value in words.items())
    for theorem in THEOREMS:
        plan = plan_of(theorem, SAME + noise, delays, 5, trials=6)
        drawn = theorem == THEOREMS[2] or (theorem == THEOREMS[0] and kind != "deterministic")
        assert trials.certain(plan) is not drawn
        first = compare(plan, 6, 0)
        assert (first.band.trials == 1) is not drawn, first.band.method
        if not drawn:  # neither the seed nor a number of trials changes anything
            for trials_, seed in ((1, 0), (2, 1)):
                other = compare(plan, trials_, seed)
                assert (other.verdict, other.reason) == (first.verdict, first.reason)
                assert np.array_equal(other.band.upper, first.band.upper)


def test_a_certain_run_is_executed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[int] = []
    plain, inner = trials.left_sides, simulation.run_once
    monkeypatch.setattr(trials, "left_sides", lambda *args, **how: (runs.append(1), plain(*args, **how))[1])
    monkeypatch.setattr(simulation, "run_once", lambda *args, **how: (runs.append(1), inner(*args, **how))[1])
    compare(plan_of("classics.gd.strongly-convex", "logistic:clients=2,samples=20,nu=0.1", "exponential", 5), 9, 0)
    assert len(runs) == 1
    # One client answers itself: arrivals are drawn, and all schedules are alike. As a sample it is run once, too.
    plan = plan_of("area.theorem7.explicit", "logistic:clients=1,samples=20,nu=0.1", "exponential:rates=[1]", 1)
    runs.clear()
    found = trials.run_trials(plan, 9, 0)
    assert len(runs) < len(found.low) == 9


# What is certain, and the bound of which the expectation is tight, loose, or equal.
NOISY = (
    ("classics.sgd.distance", f"{SAME},sigma=0.5", "deterministic", 300),
    ("classics.sgd.gap", f"{SAME},sigma=0.5", "exponential", 300),
    ("classics.sgd.nonconvex", f"{SAME},sigma=0.5", "deterministic", 300),
    ("classics.sgd.distance", "quadratic:A=[[[2]]],b=[[1]],x0=3,sigma=0.5", "deterministic", 300),
    ("classics.delayed-sgd", f"{SAME},sigma=0.5", "deterministic:rates=[1,2]", 30),
    ("classics.delayed-sgd", f"{SAME},sigma=0.5", "deterministic:rates=[1,2]", 300),
)


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("theorem", "problem", "delays", "horizon"), NOISY)
def test_an_expectation_is_used_where_it_is_tight_and_no_verdict_is_worse_than_a_sample(
    theorem: str, problem: str, delays: str, horizon: int
) -> None:
    best = [Verdict.INCONCLUSIVE, Verdict.CONSISTENT, Verdict.HOLDS]
    plan = plan_of(theorem, problem, delays, horizon)
    found, sampled = compare(plan, 8, 0), compare(plan, 8, 0, exact=False)
    assert best.index(found.verdict) >= best.index(sampled.verdict)
    assert found.band.trials == 1
    assert found.verdict is compare(plan, 1, 0, exact=True).verdict
    assert compare(plan, 1, 0).verdict is found.verdict


def test_a_sample_is_taken_where_rounding_leaves_no_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enclosed, "_in_steps", lambda _, parts: parts)  # late differences then lose them
    plan = plan_of(*NOISY[-1])
    computed = compare(plan, 1, 0, exact=True)
    assert computed.verdict is Verdict.INCONCLUSIVE
    assert "--enclose decides" in computed.reason
    assert compare(plan, 8, 0).band.trials == 8
    with pytest.raises(SpecError, match="draws noise: at least 2 trials, got 1"):
        compare(plan, 1, 0)


def test_what_does_not_decide_names_what_does() -> None:
    # With mu = L and noise the bound is the expectation, to the last digit: no number of trials tells them apart.
    plan = plan_of(
        "classics.sgd.distance", "quadratic:A=[[[2]]],b=[[1]],x0=3,sigma=0.5", "deterministic", 40, alpha=0.25
    )
    found = compare(plan, 40, 0, exact=False)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.reason.endswith("--exact computes it (about 1 s)")
    assert "more trials" not in found.reason
    assert compare(plan, 40, 0).verdict is not Verdict.INCONCLUSIVE
