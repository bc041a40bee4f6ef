"""Conditions have no tolerance where sides are compared, and a step is one number that meets them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from core_files import as_toml
from exact_makers import exact_of
from hypothesis import given, strategies as st
from run_makers import plan_of

from boundlab.checks import check
from boundlab.errors import AssumptionError, SymbolError
from boundlab.formulas.symbols import names_of
from boundlab.registry import registered
from boundlab.theorems import load_theorem, words_of_core
from boundlab.verdict import Verdict

THEOREMS = {name: one for name, one in registered("theorems").items() if not one.shape}


def about_its_step(theorem):
    """Return the conditions on a step that may be set, or that the theorem chooses."""
    return [
        one
        for one in theorem.conditions
        if theorem.read_by(names_of(one.quantity) | names_of(one.limit)) & set(theorem.step)
    ]


STEPPING = sorted(name for name, one in THEOREMS.items() if about_its_step(one))
NUMBERS = st.floats(1e-2, 1e2)


def constants(theorem, number):
    """Return values of all inputs that meet the conditions on them, with mu ≤ L."""
    values = {}
    for name in theorem.inputs():
        info = theorem.symbols[name]
        if name == "p":
            values |= {"p": np.array([0.2, 0.3]), "p_s": 0.5}
        elif info.vector:
            values[name] = np.array([number(name), number(name)])
        elif info.domain.integer:
            values[name] = max(info.domain.low, math.ceil(number(name) / 20))
        elif info.domain.high == 1.0:
            values[name] = 0.5
        elif info.domain.low == 1.0:
            values[name] = 1.0
        else:
            values[name] = number(name)
    values |= dict.fromkeys({"sigma", "sigma_l", "Q_age", "tau_max", "M_own", "lag", "S"} & set(values), 0.0)
    values |= {"K_m": 1.0} if "K_m" in values else {}
    for small, large in (("mu", "L"), ("Qmin", "Qmax"), ("A_max", "Q_mean")):
        if small in values and large in values:
            values[small], values[large] = sorted((values[small], values[large]))
    return values


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", STEPPING)
@given(numbers=st.lists(NUMBERS, min_size=30, max_size=30))
def test_the_step_that_a_theorem_chooses_meets_its_conditions_to_the_last_digit(name, numbers):
    theorem = THEOREMS[name]
    drawn = iter(numbers)
    values = constants(theorem, lambda _: next(drawn))
    try:
        theorem.evaluate(values)
    except AssumptionError:
        return  # the constants themselves do not meet what the theorem asks of them
    step = theorem.step_options(values)
    given_ = {key: value for key, value in step.items() if key in theorem.settable or key not in theorem.defining()}
    theorem.evaluate({**values, **given_}, exactly=True)


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", [name for name in STEPPING if set(THEOREMS[name].step) & set(THEOREMS[name].settable)])
def test_the_largest_step_that_is_let_pass_is_the_last_float_below_the_condition(name):
    theorem = THEOREMS[name]
    values = constants(theorem, lambda _: 1.0)
    own = theorem.step_options(values)
    values |= {step: value for step, value in own.items() if step in theorem.settable}

    def passes(step, size, *, exactly=True):
        try:
            theorem.evaluate({**values, step: size}, exactly=exactly)
        except (AssumptionError, SymbolError):  # beyond a condition, or beyond what the symbol may be
            return False
        return True

    for step in set(own) & set(theorem.settable):
        low, high = own[step], 1e4 * own[step]
        if not passes(step, low) or passes(step, high):
            continue  # no condition limits it from above
        while (middle := (low + high) / 2.0) not in (low, high):
            low, high = (middle, high) if passes(step, middle) else (low, middle)
        assert high == math.nextafter(low, math.inf)
        assert passes(step, high, exactly=False), "who compares nothing may be a little off"
        numbers = theorem.evaluate({**values, step: low}).derived
        known = {
            theorem.symbols[one].symbol: float(np.asarray(value).reshape(-1)[0])
            for one, value in {**numbers, **values, step: low}.items()
            if np.ndim(value) == 0
        }
        tightest = max(
            float(one.quantity.xreplace(known) / one.limit.xreplace(known))
            for one in about_its_step(theorem)
            if one.limit.xreplace(known) != 0
        )
        assert tightest == pytest.approx(1.0, abs=1e-14)


CASE = {
    "algorithm": "gd",
    "problem": {"type": "huber", "c": [[0]], "w": [[49]], "delta": "1/4"},
    "x0": [1],
    "events": [[1, "s"], [2, "s"], [3, "s"], [4, "s"]],
    "iterations": 4,
}


def decided(alpha):
    return exact_of("classics.gd.ergodic", {**CASE, "parameters": {"alpha": alpha}})


@pytest.mark.parametrize("alpha", ["1.0000000000009/49", "1.00000000000000000001/49", 0.020408163265306124])
def test_an_exact_comparison_takes_words_at_their_word(alpha):
    found = decided("1/49")
    assert (found.left_text, found.right_text) == ("49/8 = 6.125", "49/8 = 6.125")
    assert found.verdict is Verdict.HOLDS
    with pytest.raises(AssumptionError, match="needs α ≤ 1/L, got"):
        decided(alpha)


@given(st.integers(1, 300))
def test_one_over_the_smoothness_is_a_step_however_it_is_rounded(L):
    for settings in ({}, {"alpha": f"1/{L}"}, {"alpha": repr(1 / L)}):
        plan = plan_of("classics.gd.ergodic", f"huber:c=[0],w=[{L}],x0=1", iterations=4, **settings)
        alpha = Fraction(plan.parameter_values["alpha"])
        assert alpha * L <= 1
        assert alpha == Fraction(plan.values["alpha"]), "the run and the bound have one step"
        assert 1 - alpha * L < Fraction(1, 10**15)


STRICT = """
id = "strict"
algorithm = "gd"
metric = "squared-distance"
assumptions = ["convex", "smooth", "minimiser", "deterministic"]
conditions = ["alpha*L < 2"]
settable = ["alpha"]
[step]
alpha = "1/L"
[terms]
bound = "R**2"
"""
LINE = "quadratic:A=[[[1]]],b=[[0]],x0=2"


def strict(tmp_path, text=STRICT):
    path = tmp_path / "strict.toml"
    path.write_text(text)
    return load_theorem(str(path))


@pytest.mark.parametrize("alpha", ["2", "2.5", "2.0000000000000001"])
def test_equality_does_not_meet_a_strict_condition(tmp_path, alpha):
    theorem = strict(tmp_path)
    with pytest.raises(AssumptionError, match=r"needs alpha\*L < 2, got"):
        plan_of(theorem, LINE, iterations=3, alpha=alpha).at(range(1, 4))
    with pytest.raises(AssumptionError, match=r"needs alpha\*L < 2, got"):
        theorem.evaluate({"L": 1.0, "R": 1.0, "alpha": float(alpha)})


def test_the_last_float_below_a_strict_limit_meets_it(tmp_path):
    below = math.nextafter(2.0, 0.0)
    assert strict(tmp_path).evaluate({"L": 1.0, "R": 1.0, "alpha": below}).total == 1.0
    assert plan_of(strict(tmp_path), LINE, iterations=3, alpha=below).parameter_values["alpha"] == below


def test_fractions_at_the_end_of_a_strict_condition_are_refused(tmp_path):
    case = {
        "algorithm": "gd",
        "problem": {"type": "quadratic", "A": [[[1]]], "b": [[0]]},
        "x0": [2],
        "events": [[1, "s"]],
        "iterations": 1,
    }
    with pytest.raises(AssumptionError, match=r"needs alpha\*L < 2, got 2 on both sides"):
        exact_of(strict(tmp_path), {**case, "parameters": {"alpha": "2"}})
    assert exact_of(strict(tmp_path), {**case, "parameters": {"alpha": "1999999/1000000"}}).verdict is Verdict.HOLDS


def test_a_strict_condition_makes_another_statement_which_is_written_down_as_such(tmp_path):
    closed = strict(tmp_path, STRICT.replace("<", "<=")).core
    core = strict(tmp_path).core
    assert core.sha256 != closed.sha256
    assert "strict" not in closed.fields, "a statement of before keeps its hash"
    assert "if L*alpha < 2" in words_of_core(core)
    assert "if L*alpha ≤ 2" in words_of_core(closed)
    assert strict(tmp_path, as_toml(core)).core.sha256 == core.sha256


def test_a_step_at_the_end_of_its_own_strict_condition_is_named_by_the_checks(tmp_path):
    (found,) = (one for one in check(strict(tmp_path, STRICT.replace("< 2", "< 1"))) if one.id == "admissible.step")
    assert (found.verdict, found.witness) == ("failed", "alpha*L < 1: both are equal")
