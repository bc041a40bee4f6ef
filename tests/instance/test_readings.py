"""Whose number is it: of the problem, the run, the user; what holds at every x; what lies beyond an assumption."""

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from instance_makers import BUILT_IN, fitting, measured
from statements import statement

from boundlab import api
from boundlab.assumptions import ASSUMPTIONS, ERRORS, UNBIASED, assumption
from boundlab.case import problem_from
from boundlab.compare import compare
from boundlab.errors import AssumptionError, BoundlabError, SpecError, SymbolError
from boundlab.formulas.symbols import SYMBOLS
from boundlab.instance.applicability import looked_at
from boundlab.instance.assumed import certificate
from boundlab.instance.from_case import conditional
from boundlab.instance.readings import safe
from boundlab.objective import Problem
from boundlab.objective.facts import facts
from boundlab.registry import registered
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


OWN = {"domain": "nonnegative", "units": [0, 0], "side": "upper"}
LOW = {"domain": "positive", "units": [1, -2], "side": "lower"}


def theorem(folder, assume, **symbols):
    """Return a statement whose bound is large, with an inequality and symbols of its own."""
    own = {name: {"meaning": f"the constant {name}", **info} for name, info in symbols.items()}
    parts = "".join(f" + {name}" for name in own)
    bound = {"initial": f"F0*(1 + K)*(2{parts})"}
    return statement(
        folder, assumptions="smooth bounded-below", assume=assume, symbols=own, step={"alpha": "1/L"}, terms=bound
    )


def plan(one, problem, beyond=(), **settings):
    return CompareOptions(one, problem, settings=settings, iterations=3).plan(beyond=beyond)


def reading(found, name):
    return next(one for one in found.symbols if one.name == name)


@pytest.mark.parametrize(
    ("text", "problem", "value"),
    [
        ("slope >= 2*own*gap", "quadratic:A=[[[3,0],[0,20]]],b=[[1,2]],x0=3", 3),
        ("gap >= own*distance", "quadratic:A=[[[3,0],[0,20]]],b=[[1,2]],x0=3", 1.5),
        ("inner >= own*distance", "quadratic:A=[[[3,0],[0,20]]],b=[[1,2]],x0=3", 3),
        ("slope >= own*distance", "quadratic:A=[[[3,0],[0,20]]],b=[[1,2]],x0=3", 9),
        ("own*inner >= slope", "quadratic:A=[[[3,0],[0,20]]],b=[[1,2]],x0=3", None),
    ],
)
def test_the_largest_lower_limit_is_found(tmp_path, text, problem, value):
    one = theorem(tmp_path, {"bound": text}, own=LOW)
    if value is None:  # any from 20 on would do: there is no largest
        with pytest.raises(
            AssumptionError, match=r"no own .* is known with which problem quadratic certainly meets it"
        ):
            plan(one, problem)
        assert reading(plan(one, problem, own="20"), "bound").certified
        return
    found = plan(one, problem)
    assert found.values["own"] == pytest.approx(value, rel=1e-12)
    assert found.values["own"] <= value
    assert reading(found, "own").certified
    assert reading(found, "bound").how.startswith("certified: ")


@pytest.mark.parametrize(
    ("text", "problem", "value"),
    [
        ("slope <= 2*own*gap", "huber:clients=1,x0=2", 1),
        ("variance <= own", "quadratic:A=[[[1,0],[0,2]]],b=[[0,0]],sigma=0.5,x0=3", 0.25),
        ("second_moment <= slope + own", "quadratic:A=[[[1,0],[0,2]]],b=[[0,0]],sigma=0.5,x0=3", 0.25),
        # ∇f_i − ∇f = ±1/2.
        ("mean_i(slope_i) <= slope + own", "quadratic:A=[[[1]],[[1]]],b=[[0],[1]],x0=3", 0.25),
        # One row of (1, 2), each fitted exactly: sigma_star = 0, and 17/2·x² ≤ 2·L_max·gap = 10·x².
        (
            "second_moment <= 2*own*gap + 1",
            "least-squares:features=[[1],[2]],targets=[0,0],clients=1,batch=1,bias=no,scale=none,x0=1",
            4,
        ),
    ],
)
def test_the_smallest_upper_limit_is_found(tmp_path, text, problem, value):
    one = theorem(tmp_path, {"bound": text}, own=OWN)
    found = plan(one, problem)
    assert found.values["own"] == pytest.approx(value, rel=1e-9)
    assert found.values["own"] >= value


def test_several_numbers_are_found_one_after_the_other_and_certified_together(tmp_path):
    """x²/2 with noise of variance 4: A = 0 goes with B = 1 and C = 4, and with A = 1 set with B = 0 and C = 4."""
    one = theorem(tmp_path, {"abc": "second_moment <= 2*A_es*gap + B_es*slope + C_es"}, A_es=OWN, B_es=OWN, C_es=OWN)
    problem = "quadratic:A=[[[1]]],b=[[0]],sigma=2,x0=3"
    found = plan(one, problem).values
    assert (found["A_es"], found["B_es"], found["C_es"]) == (0, 1, 4)
    found = plan(one, problem, A_es="1").values
    assert (found["A_es"], found["B_es"], found["C_es"]) == (1, 0, 4)
    with pytest.raises(AssumptionError, match="assumes abc"):
        plan(one, problem, A_es="0.5", B_es="0.4", C_es="4")


def test_a_point_refutes(tmp_path):
    """|x| − 1/2 beyond 1: at x0 = 2 the gap is 3/2 and the slope 1, so that 2·(1/2)·gap = 3/2 > 1."""
    one = theorem(tmp_path, {"pl": "slope >= 2*own*gap"}, own=LOW)
    with pytest.raises(AssumptionError) as error:
        plan(one, "huber:c=[[0]],w=[[1]],delta=1,x0=2", own="0.5")
    said = "assumes pl (slope >= 2*own*gap) at every x, and at x = [2.] of problem huber the smaller side is 1.5 and"
    assert said in str(error.value)
    assert "the larger one 1" in str(error.value)
    found = plan(one, "huber:c=[[0]],w=[[1]],delta=1,x0=2", own="0.5", beyond=("pl",))
    assert list(found.outside) == ["pl"]
    assert reading(found, "pl").how == "a point refutes it"
    with pytest.raises(SpecError, match="does not assume 'plo'"):
        plan(one, "huber:c=[[0]],w=[[1]],delta=1,x0=2", own="0.5", beyond=("plo",))


def test_points_far_from_the_start_refute_too(tmp_path):
    one = theorem(tmp_path, {"pl": "slope >= 2*own*gap"}, own=LOW)
    with pytest.raises(AssumptionError, match="at every x, and at x = "):
        plan(one, "huber:c=[[0]],w=[[1]],delta=1,x0=0.5", own="0.01")


def test_what_is_neither_shown_nor_refuted_is_a_word(tmp_path):
    one = theorem(tmp_path, {"pl": "slope >= 2*own*gap"}, own=LOW)
    flat = "least-squares:features=[[1,0],[2,0]],targets=[1,2],clients=1,bias=no,scale=none,x0=[3,1]"
    found = plan(one, flat, own="2.4")
    assert not reading(found, "pl").certified
    assert not reading(found, "own").certified
    with pytest.raises(AssumptionError, match="at every x, and at x = "):
        plan(one, flat, own="2.6")


def test_values_that_nothing_bounds_must_be_set(tmp_path):
    one = theorem(tmp_path, {"steep": "inner >= slope/own"}, own={**OWN, "domain": "positive"})
    with pytest.raises(SymbolError, match="needs own: the constant own"):
        plan(one, "huber:clients=1,x0=2")
    assert reading(plan(one, "huber:clients=1,x0=2", own="1"), "steep").certified
    one = theorem(tmp_path, {"one": "slope >= 2*own*gap", "two": "gap >= own*distance"}, own=LOW)
    assert not one.bounded_by
    assert reading(plan(one, "quadratic:A=[[[3]]],b=[[0]],x0=1", own="1.5"), "own").certified is False


def test_on_a_set_it_is_meant_on_the_set(tmp_path):
    """(x − 3)²/2 on [−1, 1]: there slopes are at most 16, and on all of R they have no limit."""
    one = statement(
        tmp_path,
        assumptions="lipschitz minimiser bounded-domain deterministic one-function",
        assume={"steep": "slope <= own"},
        symbols={"own": {"meaning": "limit", **OWN, "units": [2, -2]}},
        terms={"bound": "R**2*L + own*alpha*K"},
        step={"alpha": "alpha"},
    )
    found = plan(one, "quadratic:A=[[[1]]],b=[[3]],x0=0,box=[-1,1]", alpha="0.1")
    assert found.values["own"] == pytest.approx(16)


def test_penalties_and_weights_are_refused(tmp_path):
    one = statement(
        tmp_path,
        assumptions="smooth minimiser composite one-function",
        assume={"growth": "gap >= own*distance"},
        symbols={"own": {"meaning": "growth", **LOW}},
        terms={"bound": "R**2*L*(1 + own/L)"},
        step={"alpha": "1/L"},
    )
    with pytest.raises(
        AssumptionError, match="assumes growth of f, on R\\^d or on a set; the objective of quadratic has"
    ):
        plan(one, "quadratic:A=[[[1]]],b=[[3]],x0=0,l1=0.5")


def test_a_certificate_needs_all_facts():
    known = facts(problem_from("quadratic:A=[[[1,0],[0,4]]],b=[[0,0]],x0=1"))
    goal = {"slope": (1.0, 1.0), "gap": (-2.0, -2.0)}
    assert certificate(goal, known) is not None
    assert certificate({**goal, "gap": (-2.0000001, -2.0)}, known) is None, "the smaller end counts"
    assert certificate({**goal, "inner": (0.0, 1e-9)}, known) is None, "inner may have either sign"
    assert certificate(goal, [one for one in known if one.says.get("gap") != Fraction(-2)][:7]) is None


# They are about the set on which everything is looked at, and not about a number.
SETS = ("bounded-domain", "bounded-run")


@cache
def by_assumption() -> dict[tuple[str, bool], list[str]]:
    """Return the theorems that assume something of functions: whose bound reads what it defines, or not."""
    found: dict[tuple[str, bool], list[str]] = {}
    for name in registered("theorems"):
        theorem = load_theorem(name)
        if theorem.shape or theorem.left.quantity is None:
            continue
        for one in theorem.core.asked:
            if one.of == "functions" and one.id not in SETS:
                found.setdefault((one.id, bool(defined(theorem, one.id))), []).append(name)
    return found


def defined(theorem: Any, name: str) -> list[str]:
    """Return the symbols that the bound reads and that nothing defines but this assumption."""
    others = {symbol for one in theorem.core.assumed - {name} for symbol in assumption(one).defines}
    return [symbol for symbol in theorem.inputs() if symbol in assumption(name).defines and symbol not in others]


@cache
def instance(name: str) -> CompareOptions | None:
    try:
        return fitting(load_theorem(name))
    except AssumptionError:
        return None


PAIRS = sorted(by_assumption())


def test_all_assumptions_on_functions_are_among_the_pairs() -> None:
    of_functions = {name for name, one in ASSUMPTIONS.items() if one.of == "functions" and not one.along}
    # Of these no registered theorem says anything: see tests/objective/test_inexact.py and test_along_the_run.py.
    assert {name for name, _ in PAIRS} >= of_functions - {*SETS, "deterministic", UNBIASED, *ERRORS}
    assert {reads for _, reads in PAIRS} == {True, False}


@pytest.mark.sweep(11)
@pytest.mark.parametrize(("name", "reads"), PAIRS)
def test_a_word_decides_nothing_and_is_asked_for_where_the_bound_reads_it(
    name: str, reads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = next(found for theorem in by_assumption()[name, reads] if (found := instance(theorem)) is not None)
    theorem = one.theorem
    known = looked_at(theorem, problem_from(one.problem)).constants()
    says = Problem.why_not
    monkeypatch.setattr(Problem, "why_not", lambda self, asked: "it does not" if asked == name else says(self, asked))
    with pytest.raises(AssumptionError, match=f"assumes {name} "):
        one.plan()
    needed = defined(theorem, name)
    if not needed:
        plan = one.plan(beyond=(name,))
        assert list(plan.outside) == [name]
        assert compare(plan, 4, 0).verdict is not Verdict.VIOLATED
        return
    with pytest.raises(SpecError, match=", ".join(f"{symbol}=…" for symbol in needed)):
        one.plan(beyond=(name,))
    for times in (1.0, 1e-9, 1e9):
        word = {symbol: repr(known[symbol].value * times or times) for symbol in needed}
        try:
            plan = one.plan(word, beyond=(name,))
        except BoundlabError:  # a condition of the theorem, such as L ≥ mu
            assert times != 1.0
            continue
        answer = compare(plan, 4, 0)
        assert answer.verdict not in (Verdict.VIOLATED, Verdict.HOLDS)
        assert {reading.name for reading in plan.symbols if reading.how.startswith("your word")} == set(needed)


APART = "quadratic:A=[[[2]],[[1]]],b=[[1],[0]],x0=2"  # the curvatures differ, so that G and sigma_g do not exist


def test_a_value_that_the_bound_does_not_read_is_refused() -> None:
    with pytest.raises(SpecError, match=r"afl_dga\.r0 does not read G .*; leave it out"):
        api.compare("afl_dga.r0", problem=APART, settings={"G": 1}, beyond=["bounded-second-moment"])


def test_no_case_and_no_search_goes_beyond_an_assumption() -> None:
    case = {
        "schema": "boundlab/case/1", "algorithm": "fedstaleweight",
        "problem": {"type": "quadratic", "A": [[[2]], [[1]]], "b": [[1], [0]], "x0": [2]},
        "delays": {"type": "deterministic"}, "iterations": 3, "settings": {"G_sq": 1, "sigma_g_mean": 1},
    }  # fmt: skip
    with pytest.raises(AssumptionError, match="assumes bounded-gradients"):
        api.exact("fedstaleweight.rf1", case)
    # With G = 0 the bound would be wrong wherever G is not 0: a search has only what is certified.
    assert api.falsify("fedstaleweight.rf1", candidates=40, jobs=1).verdict is not Verdict.VIOLATED
