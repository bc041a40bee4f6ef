"""Conditions, steps by cases, what has no value, and what a mean is over: no tolerance, one number, one reading."""

import math
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from core_files import as_toml
from exact_makers import exact_of
from hypothesis import given, strategies as st
from run_makers import plan_of
from statements import statement, statement_file

import boundlab as bl
from boundlab.algorithms import VARIABLES, StepRule
from boundlab.checks import check
from boundlab.errors import AssumptionError, BoundlabError, SilentError, SpecError, SymbolError
from boundlab.formulas.defined import broken, demands, looked_at
from boundlab.formulas.parse import parse
from boundlab.formulas.symbols import SYMBOLS, names_of, symbol
from boundlab.options import Options
from boundlab.registry import lookup, registered
from boundlab.theorems import Theorem, core, load_theorem, over, words_of_core
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
    for chosen in ({}, {"alpha": f"1/{L}"}, {"alpha": repr(1 / L)}):
        plan = plan_of("classics.gd.ergodic", f"huber:c=[0],w=[{L}],x0=1", iterations=4, **chosen)
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
    assert not theorem.conditions[0].meets(2.0, 2.0)
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


_NAMES = {name: info.symbol for name, info in SYMBOLS.items() if not info.vector}
_AT: dict[str, Any] = {"L": 2, "F0": 1, "alpha": 0.5, "T": 10, "tau_max": 0, "sigma": 0, "concurrency": 1, "S": 0}


def _theorem(folder: Path, *conditions: str, step: str = "alpha", term: str = "F0", **definitions: str) -> Theorem:
    return statement(
        folder,
        algorithm="async_sgd",
        metric="gradient-norm",
        assumptions="smooth bounded-below",
        conditions=conditions,
        step={"alpha": step},
        definitions=definitions,
        terms={"all": term},
    )


UNDEFINED = [
    "1/(4*L*sqrt(concurrency*tau_max))",
    "1/tau_max",
    "tau_max/tau_max",
    "tau_max**2/tau_max",
    "5*tau_max**0/tau_max",
    "1/(1/tau_max)",
    "1/(1 + 1/tau_max)",
    "max(1, 1/tau_max)",
    "1/(alpha*L - 1)",
    "tau_max**(-2)",
    "L**(1/tau_max)",
    "log(tau_max)/log(tau_max)",
    "log(1 + S)*0/S",
    "sqrt(tau_max - 1)**2",
    "min(tau_max/tau_max, 1)",
    "exp(1/sigma)",
    "min(1/tau_max, 1/sigma)",
    "min(1, 1/(1 + 1/tau_max))",
    "0/tau_max",
]
DEFINED = [
    "1/(1 + tau_max)",
    "sqrt(tau_max)",
    "min(1/L, 1/tau_max)",
    "sqrt(alpha*L - 1)",
    "tau_max**0.5",
    "1/exp(tau_max)",
    "exp(600)/L",
    "1/(10**(-60)*L)",
    "log(1 + tau_max)",
    "max(tau_max, 1)/L",
    "1/(L - 1)",
]


@pytest.mark.sweep(2)
@pytest.mark.parametrize("formula", UNDEFINED)
def test_what_divides_by_0_as_it_is_written_makes_a_theorem_not_applicable(formula: str, tmp_path: Path) -> None:
    """Also where SymPy has made 1 of tau_max/tau_max before anybody sees it."""
    for conditions, place in (
        ((f"alpha <= {formula}",), {}),
        ((f"{formula} <= alpha",), {}),
        ((), {"step": f"1/L + {formula}"}),
        ((), {"term": formula}),
        ((), {"A": formula, "term": "A*F0"}),
    ):
        if "step" in place and "alpha" in formula:
            continue
        theorem = _theorem(tmp_path, *conditions, **place)
        at = {name: value for name, value in _AT.items() if name != "alpha" or "step" not in place}
        for exactly in (True, False):
            with pytest.raises(AssumptionError, match=r"divides by 0|takes the logarithm|takes a root"):
                theorem.evaluate(at, exactly=exactly)


@pytest.mark.parametrize("formula", DEFINED)
def test_what_has_a_value_is_not_refused(formula: str, tmp_path: Path) -> None:
    assert np.isfinite(_theorem(tmp_path, term=formula).evaluate(_AT, exactly=True).total)


def test_the_words_say_where_and_what_to_do(tmp_path: Path) -> None:
    condition = "alpha <= 1/(4*L*sqrt(concurrency*tau_max))"
    theorem = _theorem(tmp_path, condition)
    with pytest.raises(AssumptionError, match=r"divides by 0, .* at tau_max = 0; say 1 <= tau_max or multiply it out$"):
        theorem.evaluate(_AT)
    assert theorem.evaluate(_AT | {"tau_max": 1, "alpha": 0.1}).total == 1.0
    guarded = _theorem(tmp_path, "1 <= tau_max", condition)
    with pytest.raises(AssumptionError):
        guarded.evaluate(_AT)


def test_what_overflows_is_not_undefined(tmp_path: Path) -> None:
    """3 ≤ e^1000 is true, e^1000 ≤ 3 is not, and neither divides by anything."""
    assert _theorem(tmp_path, "3 <= exp(50*L*T)").evaluate(_AT, exactly=True)
    with pytest.raises(AssumptionError, match="needs"):
        _theorem(tmp_path, "exp(50*L*T) <= 3").evaluate(_AT, exactly=True)
    with pytest.raises(AssumptionError, match="needs"):
        _theorem(tmp_path, "exp(60*L*T) <= exp(50*L*T)").evaluate(_AT, exactly=True)


def test_where_only_the_horizon_divides_by_0_other_horizons_have_a_value(tmp_path: Path) -> None:
    with pytest.raises(SilentError, match="divides by 0"):
        _theorem(tmp_path, term="F0/log(T)").evaluate(_AT | {"T": 1}, exactly=True)
    assert _theorem(tmp_path, term="F0/log(T)").evaluate(_AT | {"T": 2}, exactly=True).total > 1


def test_some_places_of_a_grid_have_no_value(tmp_path: Path) -> None:
    theorem = _theorem(tmp_path, term="F0/(1 - alpha*L)")
    assert theorem.evaluate(_AT | {"alpha": np.array([0.1, 0.2, 3.0])}).total.shape == (3,)
    with pytest.raises(AssumptionError, match=r"at L = 2, alpha = 0\.5; multiply it out"):
        theorem.evaluate(_AT | {"alpha": np.array([0.1, 0.5])})


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", sorted(registered("theorems")))
def test_a_registered_theorem_demands_no_more_than_its_formulas_hold(name: str) -> None:
    """In numbers, too: where a demand is broken the formula has no finite value in floating point, but for a Min."""
    theorem = registered("theorems")[name]
    for _, formula in theorem.formulas():
        assert {symbol for one in looked_at(demands(formula)) for symbol in one.of.free_symbols} <= formula.free_symbols


def test_a_formula_that_is_typed_demands_what_its_tree_does() -> None:
    for text in UNDEFINED:
        written: dict[sympy.Expr, Any] = {}
        formula = parse(text, _NAMES, "formula", written)

        def value(of: sympy.Expr) -> float:
            found = of.subs({one: _AT.get(one.name, 1) for one in of.free_symbols})
            return math.inf if found is sympy.zoo or found is sympy.oo else float(found)

        assert broken(written[formula], value)


BOWL = "quadratic:A=[[[1]]],b=[[0]],x0=1"  # x²/2 from 1
PAIR = "quadratic:A=[[[1]],[[1]]],b=[[0],[0]],x0=1"  # two clients, both x²/2
FLAT = "quadratic:A=[[[1,0],[0,4]]],b=[[0,0]],x0=[1,1]"  # mu = 1, L = 4
SLOW = "deterministic:rates=[3,1]"  # client 1 arrives at 1/3, 2/3, 1, …, client 2 at 1, 2, …
GD = 'algorithm = "gd"\nassumptions = ["strongly-convex", "smooth", "minimiser", "deterministic"]\n'
ASYNC = 'algorithm = "async_sgd"\nassumptions = ["smooth", "minimiser", "one-function", "deterministic"]\n'
OWN = '[symbols.h]\nmeaning = "largest step"\ndomain = "positive"\nunits = [-1, 2]\nside = "any"\n'


def theorem(tmp_path: Path, head: str, step: str, bound: str = "L*R**2", more: str = "") -> Theorem:
    path = tmp_path / "mine.toml"
    text = f'id = "mine"\n{head}{more}[step]\nalpha = "{step}"\n[terms]\nbound = "{bound}"\n{OWN}'
    path.write_text(text if "h*" in step else text.removesuffix(OWN), encoding="utf-8")
    return load_theorem(str(path))


LEFT = '[left]\nquantity = "slope"\nover = "last"\nindex = "update"\n'


def left_and_right(one: Theorem, problem: str, ks: int, delays: str = "deterministic", **more: Any) -> Any:
    found = bl.compare(one, problem, delays, iterations=ks, trials=2, exact=True, **more)
    return found.band.mean[-1], found.bound[-1]


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("step", "steps"),
    [
        # With mu = 1 and L = 4 the steps 2/(k + 1) are 2, 1, 2/3, 1/2, 2/5, …: the first below 1/4 is 2/9, at k = 8.
        ("Min(1/L, 2/(mu*(k + 1)))", lambda k: min(Fraction(1, 4), Fraction(2, k + 1))),
        ("If(k < L/mu, 1/L, 1/(mu*(k + 1)))", lambda k: Fraction(1, 4) if k < 4 else Fraction(1, k + 1)),
        ("If(k >= 3, 1/(8*L), 1/(2*L))", lambda k: Fraction(1, 32) if k >= 3 else Fraction(1, 8)),
        ("1/(L*If(k <= 0, 1, k))", lambda k: Fraction(1, 4 * max(k, 1))),
    ],
)
def test_a_step_by_cases_is_taken_as_it_is_written(tmp_path: Path, step: str, steps: Any) -> None:
    """The distance after K steps on diag(1, 4) is Π(1 − α_k)² + Π(1 − 4α_k)², and Σα_k on the right is the run's."""
    one = theorem(tmp_path, GD + 'metric = "squared-distance"\n', step, "R**2*L*Sum(alpha_at(k), k, 0, K - 1)")
    for last in (1, 4, 12):
        each = [steps(k) for k in range(last)]
        slow, fast = (np.prod([float(1 - curvature * alpha) for alpha in each]) for curvature in (1, 4))
        found, bound = left_and_right(one, FLAT, last)
        assert found == pytest.approx(slow**2 + fast**2, rel=1e-12)
        assert bound == pytest.approx(8 * float(sum(each)), rel=1e-12)


def test_a_step_by_cases_of_the_horizon_may_read_symbols(tmp_path: Path) -> None:
    """On x²/2 with K = 4 the steps are 1/2 for k ≤ 2 and 1 for k = 3, of which the last one ends at 0."""
    head = GD + '[left]\nquantity = "distance"\nover = "last"\n'
    for step, end in (("If(k <= K/2, 1/(2*L), 1/L)", 0.0), ("If(k <= K/2, 1/(2*L), 3/(4*L))", 1 / 4**5)):
        one = theorem(tmp_path, head, step, "R**2")
        assert one.horizon == "fixed"
        assert left_and_right(one, BOWL, 4) == (end, 1.0)


def test_a_step_by_the_staleness_is_that_of_the_update_in_hand(tmp_path: Path) -> None:
    """Client 1 arrives at times 1/3, 2/3 and 1, client 2 at 1, with α = 1/2 where τ ≤ 1 and α/τ beyond.

    x_1 = 1/2 and x_2 = 1/4 use fresh gradients. At time 1 client 1 is first: x_3 = 1/8. Then client 2 brings the
    gradient of x_0, three updates old: x_4 = 1/8 − 1/6 = −1/24.
    """
    one = theorem(tmp_path, ASYNC + LEFT, "h*If(tau <= 1, 1, 1/tau)", "R**2*L*L")
    for last, x in ((1, Fraction(1, 2)), (3, Fraction(1, 8)), (4, Fraction(-1, 24))):
        assert left_and_right(one, PAIR, last, SLOW, h="1/2")[0] == pytest.approx(float(x * x), rel=1e-12)


def test_alpha_at_is_the_step_that_the_run_took(tmp_path: Path) -> None:
    """In the run above Σ α_t over four updates is 1/2 + 1/2 + 1/2 + 1/6 = 5/3."""
    head = ASYNC + '[left]\nquantity = "slope"\nover = "mean"\nindex = "update"\nweights = "alpha_at(t)"\n'
    one = theorem(tmp_path, head, "h*If(tau <= 1, 1, 1/tau)", "R**2*L**3*Sum(alpha_at(k), k, 0, T - 1)")
    found, bound = left_and_right(one, PAIR, 4, SLOW, h="1/2")
    squares = [Fraction(1), Fraction(1, 4), Fraction(1, 16), Fraction(1, 64)]
    weights = [Fraction(1, 2)] * 3 + [Fraction(1, 6)]
    assert bound == pytest.approx(5 / 3, rel=1e-12)
    assert found == pytest.approx(float(sum(w * s for w, s in zip(weights, squares, strict=True)) / sum(weights)))


def test_a_word_of_the_algorithm_and_its_formula_are_one_step(tmp_path: Path) -> None:
    words = theorem(tmp_path, ASYNC + LEFT, "alpha", more='[options]\nschedule = "delay_adaptive"\n')
    written = theorem(tmp_path, ASYNC + LEFT, "h*Min(1, n/tau)")
    found = [left_and_right(words, PAIR, 9, SLOW, alpha="1/8"), left_and_right(written, PAIR, 9, SLOW, h="1/8")]
    assert found[0] == found[1]


@pytest.mark.parametrize("options", ['schedule = "delay_adaptive"', 'schedule = "any"', '"*" = "any"'])
def test_steps_that_an_option_changes_are_not_taken_for_constant_ones(tmp_path: Path, options: str) -> None:
    more = f"[options]\n{options}\n"
    assert theorem(tmp_path, ASYNC + LEFT, "alpha", "R**2*L**3*alpha_at(0)", more).reads_steps


def test_what_the_step_reads_of_the_schedule_is_the_same_at_every_horizon(tmp_path: Path) -> None:
    """τ_max is 3 in a run of four updates and 0 after one: the step was computed from 3, and so is the bound."""
    one = theorem(tmp_path, ASYNC + LEFT, "h*If(tau <= tau_max - 1, 1, 1/2)", "R**2*L**2*(1 + tau_max)")
    found = bl.compare(one, PAIR, SLOW, iterations=4, trials=2, exact=True, h="1/2")
    assert {*found.bound.tolist()} == {4}
    # x_4 = 1/8 − 1/4 = −1/8: the old gradient has half a step.
    assert found.band.mean[-1] == pytest.approx(1 / 64)


def test_steps_that_depend_on_chance_are_refused_where_they_are_read(tmp_path: Path) -> None:
    one = theorem(tmp_path, ASYNC + LEFT, "h*Min(1, n/tau)", "R**2*L**3*alpha_at(0)")
    with pytest.raises(SpecError, match="depend on who arrives when; delays that are certain"):
        bl.compare(one, PAIR, "exponential", iterations=4, trials=2, h="1/8")
    quiet = theorem(tmp_path, ASYNC + LEFT, "h*Min(1, n/tau)", "R**2*L**2")
    assert bl.compare(quiet, PAIR, "exponential", iterations=4, trials=2, h="1/8").verdict == "holds"


@pytest.mark.parametrize(
    ("head", "step", "message"),
    [
        (GD + 'metric = "gap"\n', "1/(L*(tau + 1))", "steps of gd do not depend on tau"),
        (ASYNC + LEFT, "h*1/(t + 1)**2", "steps of async_sgd do not depend on k"),
        (ASYNC + LEFT, "h*1/(t + tau + 1)", "depends on t and tau; write it with one of them"),
        (ASYNC + LEFT, "h*(tau - 1)", "no step is negative or infinite"),
        (GD + 'metric = "gap"\n', "Min(1/L, R/(G*(k + 1)))", "step reads G, which has no number"),
        (GD + 'metric = "gap"\n', "If(k < R, 1/L, 1/(2*L))", "units"),
    ],
)
def test_a_rule_that_no_algorithm_has_is_one_line(tmp_path: Path, head: str, step: str, message: str) -> None:
    def ask() -> None:
        one = theorem(tmp_path, head, step)
        bl.compare(one, PAIR, SLOW, iterations=4, trials=2, **({"h": "1/8"} if "h*" in step else {}))

    with pytest.raises(BoundlabError, match=message) as error:
        ask()
    assert "\n" not in str(error.value)


RULES = [
    (GD + 'metric = "gap"\n', "Min(1/L, 2/(mu*(k + 1)))"),
    (GD + 'metric = "gap"\n', "If(k < L/mu, 1/L, 1/(mu*(k + 1)))"),
    (ASYNC + LEFT, "h*If(tau <= concurrency, 1, Min(1, 1/(4*L*h*tau)))"),
    (ASYNC + LEFT, "h*Min(1, n/tau)"),
]


@pytest.mark.parametrize(("head", "step"), RULES)
def test_a_core_that_is_written_down_is_read_as_the_same(tmp_path: Path, head: str, step: str) -> None:
    one = theorem(tmp_path, head, step)
    again = tmp_path / "again.toml"
    again.write_text(as_toml(core(one), "mine"), encoding="utf-8")
    assert core(load_theorem(str(again))).sha256 == core(one).sha256


def test_a_rule_without_its_numbers_takes_no_step() -> None:
    rule = StepRule(1 / (VARIABLES["k"] + symbol("mu")))
    parameters = lookup("algorithms", "gd").read(Options("gd", {"alpha": "1", "decay": rule}))
    with pytest.raises(SpecError, match="reads mu, of which this run has no number"):
        parameters.at(0)


def test_a_symbol_of_ones_own_does_not_hide_the_staleness(tmp_path: Path) -> None:
    own = '[symbols.tau]\nmeaning = "mine"\ndomain = "positive"\nunits = [0, 0]\nside = "any"\n'
    with pytest.raises(SpecError, match="tau is the staleness of the update in hand"):
        theorem(tmp_path, ASYNC + LEFT, "alpha/(1 + tau)", more=own)


def test_a_condition_may_hold_a_choice(tmp_path: Path) -> None:
    """If(mu <= 0, 1/L, 2/(mu + L)) is 2/5 on diag(1, 4), which 1/4 keeps and 1/2 does not."""
    more = 'conditions = ["alpha <= If(mu <= 0, 1/L, 2/(mu + L))"]\nsettable = ["alpha"]\nmetric = "gap"\n'
    one = theorem(tmp_path, GD + more, "1/L")
    assert bl.compare(one, FLAT, iterations=3, trials=2, alpha="1/4").verdict == "holds"
    with pytest.raises(AssumptionError):
        bl.compare(one, FLAT, iterations=3, trials=2, alpha="1/2")


@pytest.mark.parametrize(("index", "k"), [("iteration", "k"), ("update", "t")])
def test_weights_by_the_steps_count_alike_whatever_the_models_are_called(tmp_path: Path, index: str, k: str) -> None:
    """x²/2 with the steps 1/2 and 1/4 goes 1, 1/2: the mean of its squared slopes is (1/2 + 1/16)/(3/4) = 3/4."""
    left = f'[left]\nquantity = "slope"\nover = "mean"\nindex = "{index}"\nweights = "alpha_at({k})"\n'
    one = theorem(tmp_path, GD + left, f"1/(2*L*({k} + 1))", "L**2*R**2")
    assert left_and_right(one, BOWL, 2)[0] == pytest.approx(3 / 4, rel=1e-14)


# Clients x²/2 and 3(x − 4)²/2 from x0 = 2: the minimiser is 3, and their steps do not commute.
CLIENTS = "quadratic:A=[[[1]],[[3]]],b=[[0],[4]],x0=[2]"
DRAWING = {"incremental": {"order": "shuffled"}, "sfedavg": {"sampled": 1}, "gd": {"sampling": "uniform"}}


def write(
    folder: Path, algorithm: str, bound: str, options: dict[str, str] | None = None, step: str = "1/10", **more: Any
) -> Path:
    rate = {"afl_dga": "eta", "fedbuff": "eta_l", "fedcompass": "eta"}.get(algorithm, "alpha")
    return statement_file(
        folder,
        **{
            "id": f"mine.{algorithm}",
            "algorithm": algorithm,
            "metric": "squared-distance",
            "step": {rate: step},
            "assumptions": "convex smooth minimiser",
            "options": options or {},
            "terms": {"bound": bound},
            **more,
        },
    )


def pass_of(x: Fraction, order: tuple[int, ...]) -> Fraction:
    for client in order:
        x -= Fraction(1, 10) * (x if client == 0 else 3 * (x - 4))
    return x


def expected(algorithm: str, outcomes: int) -> Fraction:
    """Return E (x − 3)² after so many iterations, by hand."""
    orders = [(0, 1), (1, 0)] if algorithm == "incremental" else [(0,), (1,)]
    ends = []
    for sequence in product(orders, repeat=outcomes):
        x = Fraction(2)
        for order in sequence:
            x = pass_of(x, order)
        ends.append((x - 3) ** 2)
    return sum(ends, start=Fraction(0)) / len(ends)


def test_what_is_drawn_by_an_option_that_nobody_has_set_is_averaged_over(tmp_path: Path) -> None:
    # p_c has no default, so that whoever runs the algorithm chooses it; who is asked is drawn whatever the options are.
    draws = {}
    for number, options in enumerate(({}, {"p_c": "any"}, {"p_c": "1/2"}, {"p_c": "1"})):
        (folder := tmp_path / str(number)).mkdir()
        found = over(load_theorem(str(write(folder, "lsvrg", "1", options))))
        draws[options.get("p_c")] = found["asked"], found["coins"]
    assert draws == {
        None: ("averaged",) * 2,
        "any": ("averaged",) * 2,
        "1/2": ("averaged",) * 2,
        "1": ("averaged", "absent"),
    }


def test_what_decides_a_draw_is_no_step(tmp_path: Path) -> None:
    # Steps are 1 where nobody knows them yet: coins that always show heads would make each schedule a case of its own.
    path = statement_file(tmp_path, algorithm="scaffnew", step={"alpha": "1/10", "p_c": "p_c"}, terms={"bound": "R**2"})
    with pytest.raises(SpecError, match=r"p_c decides in which iterations the clients communicate, and is no step; "):
        load_theorem(str(path))


@pytest.mark.sweep(2)
@pytest.mark.parametrize("algorithm", DRAWING)
@pytest.mark.parametrize("iterations", [1, 3])
def test_an_expectation_is_over_what_the_algorithm_draws(tmp_path: Path, algorithm: str, iterations: int) -> None:
    options = DRAWING[algorithm]
    mean = expected(algorithm, iterations)
    for factor, verdict in ((1.05, "holds"), (0.95, "violated")):
        theorem = load_theorem(str(write(tmp_path, algorithm, repr(factor * float(mean)), options)))
        case = {
            "algorithm": algorithm,
            "problem": {"type": "quadratic", "A": [[[1]], [[3]]], "b": [[0], [4]]},
            "x0": [2],
            "delays": "deterministic",
            "iterations": iterations,
            "parameters": options,
        }
        exact = bl.exact(theorem, case)
        assert (Fraction(exact.left_text.split()[0]), exact.verdict) == (mean, verdict)
        if iterations == 1:
            assert bl.compare(theorem, CLIENTS, "deterministic", iterations=1).verdict == verdict


def test_one_outcome_is_no_case_of_a_mean_over_draws(tmp_path: Path) -> None:
    theorem = load_theorem(str(write(tmp_path, "incremental", "0.42", DRAWING["incremental"])))
    case = {
        "algorithm": "incremental",
        "problem": {"type": "quadratic", "A": [[[1]], [[3]]], "b": [[0], [4]]},
        "x0": [2],
        "parameters": {"order": "shuffled"},
        "events": [[2, [1, 0]]],
    }
    with pytest.raises(AssumptionError, match="the mean over the order of the clients in each pass; this case has one"):
        bl.exact(theorem, case)


DRAWN_AND_READ = {
    "afl_dga": ({"participation": "any"}, "S"),
    "async_sgd": ({"sampling": "uniform"}, "tau_max"),
    "incremental": ({"order": "any"}, "tau_max"),
    "sfedavg": ({"sampled": "any"}, "chi2_path"),
    "gd": ({"*": "any"}, "concurrency"),
}


@pytest.mark.parametrize("algorithm", DRAWN_AND_READ)
def test_a_file_with_two_readings_is_refused_with_both(tmp_path: Path, algorithm: str) -> None:
    options, symbol = DRAWN_AND_READ[algorithm]
    bound = f"R**2*(1+{symbol})"
    with pytest.raises(SpecError, match=r"'each schedule' if .* 'the mean' if") as refused:
        load_theorem(str(write(tmp_path, algorithm, bound, options)))
    assert symbol in str(refused.value)
    for about, how in (("each schedule", "given"), ("the mean", "averaged")):
        found = over(load_theorem(str(write(tmp_path, algorithm, bound, options, about=about))))
        assert {one.how for one in found.draws} <= {how, "absent"}
        assert any(one.how == how for one in found.draws)


@pytest.mark.parametrize(
    ("bound", "more", "how"),
    [
        ("R**2", {}, "averaged"),
        ("R**2*(1+tau_max)", {}, "given"),
        ("R**2", {"about": "each schedule"}, "given"),
        ("R**2*(1+tau_max)", {"about": "the mean"}, "averaged"),
    ],
)
def test_arrivals_are_averaged_unless_the_statement_reads_their_schedule_or_says_otherwise(
    tmp_path: Path, bound: str, more: dict[str, str], how: str
) -> None:
    theorem = load_theorem(str(write(tmp_path, "async_sgd", bound, {"sampling": "arrival"}, **more)))
    assert over(theorem)["events"] == how


@pytest.mark.parametrize(
    ("algorithm", "assumption"),
    [("area", "iid-events"), ("fedbuff", "stationary-participation"), ("gd", "uniform-sampling")],
)
def test_what_assumes_a_law_of_events_is_not_about_each_schedule(
    tmp_path: Path, algorithm: str, assumption: str
) -> None:
    path = write(tmp_path, algorithm, "R**2", about="each schedule", assumptions=f"convex smooth {assumption}")
    with pytest.raises(SpecError, match=f"contradicts {assumption}"):
        load_theorem(str(path))


def test_means_over_events_are_all_that_area_has(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="not possible for area"):
        load_theorem(str(write(tmp_path, "area", "R**2", about="each schedule")))


def test_only_two_words_say_what_a_statement_is_about(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="about must be one of each schedule, the mean, got 'any'"):
        load_theorem(str(write(tmp_path, "gd", "R**2", about="any")))
