"""Steps that are another one in each iteration: by cases of k, and by the staleness of the update in hand."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from core_files import as_toml
from hypothesis import given, settings, strategies as st

import boundlab as bl
from boundlab.algorithms import VARIABLES, StepRule
from boundlab.errors import AssumptionError, BoundlabError, SpecError
from boundlab.falsify import falsify
from boundlab.formulas.symbols import symbol
from boundlab.options import Options
from boundlab.registry import lookup
from boundlab.theorems import Theorem, core, load_theorem, reads_steps

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
    assert reads_steps(theorem(tmp_path, ASYNC + LEFT, "alpha", "R**2*L**3*alpha_at(0)", more))


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
        (ASYNC + LEFT, "h*1/(t + tau + 1)", "one of k .or t. and tau"),
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


def test_another_rule_is_another_statement(tmp_path: Path) -> None:
    hashes = {core(theorem(tmp_path, GD + 'metric = "gap"\n', f"Min(1/L, {c}/(mu*(k + 1)))")).sha256 for c in (1, 2)}
    assert len(hashes) == 2


@pytest.mark.nightly
def test_an_instance_of_a_search_is_repeated_with_the_rule_of_its_numbers(tmp_path: Path) -> None:
    """The bound R²·mu²/1000 is too small on every quadratic; the case file holds no numbers of the step's rule."""
    one = theorem(tmp_path, GD + 'metric = "squared-distance"\n', "Min(1/L, 2/(mu*(k + 1)))", "R**2*mu/(1000*L)")
    found = falsify(one, limit=60, seed=0)
    assert found.violated
    assert found.case is not None
    assert "decay" not in found.case["parameters"]


@given(st.integers(0, 40), st.integers(1, 6))
@settings(max_examples=60)
def test_the_delay_adaptive_step_is_the_smaller_of_one_and_n_over_the_staleness(tau: int, n: int) -> None:
    read = lookup("algorithms", "async_sgd").read
    parameters = read(Options("async_sgd", {"alpha": "1", "schedule": "delay_adaptive"}))
    assert parameters.weight(tau, n) == (n / tau if tau > n else 1.0)
    assert parameters.schedule.exactly(tau=tau, n=n) == (Fraction(n, tau) if tau > n else 1)


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
