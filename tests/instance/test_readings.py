"""Whose number is it? What a user sets is held against what problem, delays and tape say of the same symbol."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from instance_makers import BUILT_IN, fitting, measured

from boundlab.compare import compare
from boundlab.errors import AssumptionError
from boundlab.formulas.symbols import SYMBOLS
from boundlab.instance.from_case import conditional
from boundlab.instance.readings import safe
from boundlab.testing import CompareOptions
from boundlab.theorems import load_theorem
from boundlab.verdict import Verdict

EVERY = sorted(BUILT_IN)
OTHER_SIDE = {"upper": 0.5, "lower": 2.0, "exact": 2.0}
SAFE_SIDE = {"upper": 2.0, "lower": 0.5}


@pytest.mark.sweep(18)
@pytest.mark.parametrize("name", EVERY)
def test_the_table_holds_every_symbol_that_the_bound_reads(name: str) -> None:
    theorem = BUILT_IN[name]
    plan = fitting(theorem).plan()
    shown = {one.name for one in plan.symbols}
    of_arrivals = {"p_min", "qbar"} if "p" in shown else set()
    assert {*theorem.inputs(plan.values), *theorem.step} - of_arrivals <= shown
    assert all(one.origin != "yours" or one.name in theorem.step for one in plan.symbols)
    assert json.loads(json.dumps([one.as_dict() for one in plan.symbols]))


@pytest.mark.sweep(66)
@pytest.mark.parametrize("name", EVERY)
def test_a_value_on_the_wrong_side_of_the_runs_own_is_refused_with_both_numbers(name: str) -> None:
    theorem = BUILT_IN[name]
    fit = fitting(theorem)
    for symbol, value in measured(fit.plan()).items():
        side = SYMBOLS[symbol].side
        wrong = OTHER_SIDE[side] * value if side != "any" else value
        words = str(int(wrong)) if SYMBOLS[symbol].domain.integer else repr(wrong)
        if symbol in theorem.step or side == "any" or float(words) == value:
            continue
        if not SYMBOLS[symbol].domain.contains(np.array(float(words))):
            continue
        with pytest.raises(AssumptionError) as refused:
            fit.plan({symbol: words})
        assert f"{float(words):.12g}" in str(refused.value)
        assert f"{value:.12g}" in str(refused.value)


@pytest.mark.sweep(45)
@pytest.mark.parametrize("name", EVERY)
def test_a_value_on_the_safe_side_is_used_and_shown_as_checked(name: str) -> None:
    theorem = BUILT_IN[name]
    fit = fitting(theorem)
    own = fit.plan()
    sampled = {one.name for one in own.symbols if not one.certified}
    for symbol, value in measured(own).items():
        factor = SAFE_SIDE.get(SYMBOLS[symbol].side)
        if factor is None or symbol in theorem.step:
            continue
        wide = factor * value if value else 1.0
        if SYMBOLS[symbol].domain.integer:
            wide = float(int(wide))
        if symbol in {"sigma", "sigma_l", "tau_max", "A_max", "Q_age", "K_m", "S", "M_own"} and theorem.conditions:
            continue  # conditions such as sigma ≤ 0 leave no room
        try:
            plan = fit.plan({symbol: repr(wide) if wide != int(wide) else str(int(wide))})
        except AssumptionError as refused:
            if "this run has one of" in str(refused):  # steps follow the value, and longer ones leave the set
                continue
            raise
        reading = next(one for one in plan.symbols if one.name == symbol)
        assert (reading.value, reading.origin) == (wide, "yours")
        assert reading.certified == (symbol not in sampled)


def test_what_may_stand_in_place_of_the_true_value() -> None:
    assert safe(SYMBOLS["L"], 2.0, 1.0)
    assert not safe(SYMBOLS["L"], 0.5, 1.0)
    assert safe(SYMBOLS["mu"], 0.5, 1.0)
    assert not safe(SYMBOLS["mu"], 2.0, 1.0)
    assert safe(SYMBOLS["p_s"], 0.5, 0.5)
    assert not safe(SYMBOLS["p_s"], 0.6, 0.5)
    assert safe(SYMBOLS["N"], 7.0, 1.0)


def test_every_symbol_has_a_side_that_its_meaning_says() -> None:
    for name, info in SYMBOLS.items():
        if info.meaning.startswith(("largest", "most", "bound on")) and name not in ("mu_step", "Qmax"):
            assert info.side == "upper", name
        if info.meaning.startswith(("smallest weighted", "smallest weight", "strong convexity")):
            assert info.side == "lower", name


@pytest.mark.parametrize("verdict", list(Verdict))
def test_a_verdict_that_leans_on_a_value_is_conditional(verdict: Verdict) -> None:
    found, reason = conditional(["B = 0.01 (your word)"], verdict, "so it is")
    expected = {Verdict.VIOLATED: Verdict.INCONCLUSIVE, Verdict.HOLDS: Verdict.CONSISTENT}
    assert found is expected.get(verdict, verdict)
    upheld = verdict in (*expected, Verdict.CONSISTENT)
    assert reason == (f"{verdict}, if B = 0.01 (your word): so it is" if upheld else "so it is")
    assert conditional([], verdict, "so it is") == (verdict, "so it is")


FORGETFUL = """
id = "forgetful"
title = "a theorem that forgot to assume Lipschitz functions"
metric = "ergodic-gap"
algorithm = "gd"
assumptions = ["convex", "smooth", "minimiser"]
horizon = "every"
[options]
sampling = "all"
M = "1"
[step]
alpha = "1/L"
[terms]
all = "B*R/sqrt(K + 1)"
"""


def test_a_symbol_that_nothing_determines_makes_the_verdict_conditional(tmp_path: Path) -> None:
    (tmp_path / "forgetful.toml").write_text(FORGETFUL)
    theorem = load_theorem(str(tmp_path / "forgetful.toml"))
    fit = CompareOptions(theorem, "quadratic:A=[[[1]]],b=[[0]],x0=1", "deterministic")
    plan = fit.plan({"B": "0.01"})
    found = compare(plan, trials=2, seed=0)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.reason.startswith("violated, if B = 0.01 (your word)")
    loose = compare(fit.plan({"B": "100"}), trials=2, seed=0)
    assert loose.verdict is Verdict.CONSISTENT


ASYNC = """
id = "async"
title = "asynchronous SGD, with the staleness in the bound"
metric = "gradient-norm"
algorithm = "async_sgd"
assumptions = ["smooth", "bounded-below", "fixed-schedule"]
horizon = "every"
[step]
alpha = "1/(2*L*(1 + tau_max))"
[terms]
all = "2*F0*L*(1 + tau_max)/T"
"""


@pytest.mark.parametrize("trials", [1, 3])
def test_a_staleness_below_that_of_a_run_is_refused_whichever_trial_has_it(tmp_path: Path, trials: int) -> None:
    (tmp_path / "async.toml").write_text(ASYNC)
    theorem = load_theorem(str(tmp_path / "async.toml"))
    fit = CompareOptions(theorem, "huber:c=[0,1,2,9]", "exponential:spread=5", iterations=60)
    own = compare(fit.plan(), trials=max(trials, 2), seed=0)
    most = max(int(np.asarray(one.tau_max)) for one in [own.statistics])
    with pytest.raises(AssumptionError, match=r"tau_max = 0 is set, but the schedule has tau_max = \d+"):
        fit.plan({"tau_max": "0"})
    assert most > 0


def test_of_sampled_schedules_a_theorem_about_their_mean_is_never_refuted() -> None:
    for name in ("fedbuff.rf2", "fedstaleweight.rf3", "fedstaleweight.theorem1"):
        theorem = BUILT_IN[name]
        plan = fitting(theorem).plan()
        assert "tau_max" in {one.name for one in plan.symbols if not one.certified}
    # With one client every schedule is the same.
    alone = "huber:sigma=1,delta=0.1,x0=0"
    fit = CompareOptions(BUILT_IN["fedstaleweight.theorem1"], alone, "exponential", settings={"eta_l": "0.001"})
    assert all(one.certified for one in fit.plan().symbols)


def test_the_case_of_a_comparison_keeps_what_was_set() -> None:
    theorem = BUILT_IN["fedbuff.rf1"]
    plan = fitting(theorem).plan({"L": "5", "tau_max": "100"})
    case = compare(plan, trials=2, seed=0).case
    assert case["settings"] == {"L": 5.0, "tau_max": 100.0}
    assert {one["name"]: one["origin"] for one in case["symbols"]}["tau_max"] == "yours"


@pytest.mark.parametrize(
    ("side", "below", "above"),
    [("upper", False, True), ("lower", True, False), ("exact", False, False), ("any", True, True)],
)
def test_a_value_may_err_to_its_own_side_and_by_rounding_to_the_other(side: str, below: bool, above: bool) -> None:
    info = replace(SYMBOLS["L"], side=side)
    for true in (3.0, 1e-9, 1e9):
        assert safe(info, true, true)
        for factor in (1.0 - 1e-13, 1.0 + 1e-13):
            assert safe(info, true * factor, true)
        assert safe(info, true * (1.0 - 1e-6), true) == below
        assert safe(info, true * (1.0 + 1e-6), true) == above
