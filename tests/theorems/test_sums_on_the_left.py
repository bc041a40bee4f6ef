"""Left sides that are sums: engines agree on the number, those that have none say so, and files say them."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from core_files import as_toml
from sympy import Rational, S

from boundlab.case import read_case
from boundlab.checks import check
from boundlab.compare import compare
from boundlab.errors import SpecError, TapeError
from boundlab.exact import evaluate
from boundlab.expectation import engine, left_side
from boundlab.falsify import falsify
from boundlab.formulas.symbols import symbol
from boundlab.instance import Plan
from boundlab.instance.fitting import CompareOptions
from boundlab.metrics import Quantity, Term, compose_sum, metric, summands, terms_of
from boundlab.options import Options
from boundlab.registry import lookup
from boundlab.tape import RecordAt
from boundlab.theorems import FormulaBound, Theorem, core, load_theorem
from boundlab.worst_case import worst_case
from boundlab.worst_case.specification import ask as question

FILES = Path(__file__).parents[2] / "benchmarks" / "literature" / "theorems"
LYAPUNOV = ("kovalev-2020.lyapunov", "mishchenko-2022.lyapunov")
# x²/2 and 3(x − 4)²/2 from 4: the minimiser is 3, where the gradients are 3 and −3; L = 3.
BOWLS = "quadratic:A=[[[1]],[[3]]],b=[[0],[4]],x0=4"
CURVATURE, CENTRE, STAR, GOAL = (1, 3), (0, 4), Fraction(3), (Fraction(3), Fraction(-3))


def theorem(name: str) -> Theorem:
    return load_theorem(str(FILES / f"{name}.toml"))


def slope(client: int, x: Fraction) -> Fraction:
    return CURVATURE[client] * (x - CENTRE[client])


def lyapunov_of_lsvrg(alpha: Fraction, p: Fraction, iterations: int) -> Fraction:
    """Return E[(x − 3)² + (4α²/p)·mean (∇f_i(w) − ∇f_i(3))²] over all clients and coins, by the printed method."""
    total = Fraction(0)
    for events in product(product((0, 1), (0, 1)), repeat=iterations):
        x = w = Fraction(4)
        weight = Fraction(1)
        for client, coin in events:
            g = slope(client, x) - slope(client, w) + (slope(0, w) + slope(1, w)) / 2
            x, w = x - alpha * g, x if coin else w
            weight *= (p if coin else 1 - p) / 2
        spread = sum((slope(i, w) - GOAL[i]) ** 2 for i in (0, 1)) / 2
        total += weight * ((x - STAR) ** 2 + 4 * alpha**2 / p * spread)
    return total


def lyapunov_of_scaffnew(gamma: Fraction, p: Fraction, iterations: int) -> Fraction:
    """Return E[mean (x_i − 3)² + (γ/p)²·mean (h_i − ∇f_i(3))²] over all coins."""
    total = Fraction(0)
    for coins in product((0, 1), repeat=iterations):
        x, h, weight = [Fraction(4)] * 2, [Fraction(0)] * 2, Fraction(1)
        for coin in coins:
            hat = [x[i] - gamma * (slope(i, x[i]) - h[i]) for i in (0, 1)]
            x = [sum(hat[i] - gamma / p * h[i] for i in (0, 1)) / 2] * 2 if coin else hat
            h = [h[i] + p / gamma * (x[i] - hat[i]) for i in (0, 1)]
            weight *= p if coin else 1 - p
        parts = sum((x[i] - STAR) ** 2 + (gamma / p) ** 2 * (h[i] - GOAL[i]) ** 2 for i in (0, 1))
        total += weight * parts / 2
    return total


BY_HAND = {LYAPUNOV[0]: (Fraction(1, 18), lyapunov_of_lsvrg), LYAPUNOV[1]: (Fraction(1, 3), lyapunov_of_scaffnew)}


def case_of(name: str, p: str, iterations: int) -> dict[str, Any]:
    return {
        "algorithm": theorem(name).algorithm,
        "problem": {"type": "quadratic", "A": [[[1]], [[3]]], "b": [[0], [4]], "x0": 4},
        "delays": {"type": "exponential"},
        "parameters": {"p_c": p},
        "iterations": iterations,
    }


@pytest.mark.nightly
@pytest.mark.parametrize("p", ["1/3", "1/2", "1"])
@pytest.mark.parametrize("name", LYAPUNOV)
@pytest.mark.parametrize("iterations", [1, 3])
def test_a_lyapunov_function_has_one_value_however_it_is_found(name: str, p: str, iterations: int) -> None:
    step, by_hand = BY_HAND[name]
    expected = by_hand(step, Fraction(p), iterations)
    exact = evaluate(theorem(name), read_case(case_of(name, p, iterations)))
    assert (exact.kind, Fraction(exact.left_text.split()[0]), exact.violated) == ("exact", expected, False)
    plan = plan_of(name, p, iterations)
    floats = left_side(*plan.random_run, iterations, [iterations])
    assert floats.lower[0] <= float(expected) <= floats.upper[0]
    assert floats.value[0] == pytest.approx(float(expected), rel=1e-12)
    sampled = compare(plan, 300, seed=1, level=0.9999, exact=False).band
    assert sampled.lower[-1] - 1e-12 <= float(expected) <= sampled.upper[-1] + 1e-12
    if p == "1" and name == LYAPUNOV[1]:  # one schedule: every run has the very number
        assert sampled.mean[-1] == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize("name", LYAPUNOV)
def test_at_the_start_a_lyapunov_function_is_that_of_the_paper(name: str) -> None:
    step, by_hand = BY_HAND[name]
    plan = plan_of(name, "1/4", 2)
    start = left_side(*plan.random_run, 2, [0]).value[0]
    assert start == pytest.approx(float(by_hand(step, Fraction(1, 4), 0)), rel=1e-14)
    # (4 − 3)² and the squared distances of (∇f_i(4)) = (4, 0), or of h = 0, from (3, −3).
    spread = {LYAPUNOV[0]: 4 * step**2 * 4 * 5, LYAPUNOV[1]: step**2 * 16 * 9}[name]
    assert start == pytest.approx(1 + float(spread), rel=1e-14)


@pytest.mark.parametrize("name", LYAPUNOV)
def test_each_schedule_has_its_own_number_in_fractions_and_in_floats(name: str) -> None:
    events = {"kovalev-2020.lyapunov": [[1, 0, 1], [2, 1, 0]], "mishchenko-2022.lyapunov": [[1, "s", 0], [2, "s", 1]]}
    told = replace(theorem(name), about="each schedule")
    case = case_of(name, "1/2", 2) | {"events": events[name]}
    del case["delays"]
    case["parameters"] = {"p_c": "1/2", "alpha": str(BY_HAND[name][0])}
    found = evaluate(told, read_case(case))
    step, _ = BY_HAND[name]
    if name == LYAPUNOV[0]:  # from 4 by ∇f(4) = 2 to 35/9 + …, where w stays 4 until the end of the first iteration
        x = 4 - 2 * step
        w, x = Fraction(4), x - step * (slope(1, x) - slope(1, Fraction(4)) + 2)
        expected = (x - 3) ** 2 + 8 * step**2 * sum((slope(i, w) - GOAL[i]) ** 2 for i in (0, 1)) / 2
    else:  # x̂ = (8/3, 4), then (16/9, 4) and the mean 26/9: h = (3/2)(10/9, −10/9)
        expected = Fraction(1, 81) + Fraction(4, 9) * ((Fraction(5, 3) - 3) ** 2 + (3 - Fraction(5, 3)) ** 2) / 2
    assert (found.kind, Fraction(found.left_text.split()[0])) == ("exact", expected)


def test_a_quantity_of_clients_is_the_mean_over_them_and_shares_add_up() -> None:
    left = compose_sum([Term(S.One, Quantity.DISTANCE, "model"), Term(Rational(3, 2), Quantity.CONTROL, "controls")])
    assert left.id == "distance + (3/2)*control at controls"
    assert left.expectation == "E[‖x_s,K − x*‖² + (3/2)·(1/n)·Σ_i ‖h_i,K − ∇f_i(x*)‖²]"
    found = summands(left, 3)
    assert [(share, one.quantity, one.shows) for share, one in found] == [
        (1, Quantity.DISTANCE, None),
        *((Fraction(1, 2), Quantity.CONTROL, ("controls", i)) for i in range(3)),
    ]
    assert summands(metric("gap"), 3) == [(1, metric("gap"))]


def test_who_looks_at_a_sum_as_at_one_quantity_is_told_so() -> None:
    left = theorem(LYAPUNOV[0]).left
    for ask in (lambda: left.at(None, None), lambda: left.of_matrix(1, 1), lambda: left.of_second_moment(1, 1)):
        with pytest.raises(SpecError, match="is a sum of several quantities, and here one is taken at a time"):
            ask()
    with pytest.raises(SpecError, match="worst-case takes one quantity on the left side, and this is a sum of several"):
        worst_case(theorem(LYAPUNOV[0]), 2, {"n": 1, "mu": 0.5, "p_c": 0.5})
    # Nor has a certificate such a question: its program would be that of one summand.
    with pytest.raises(SpecError, match="worst-case takes one quantity on the left side, and this is a sum of several"):
        question(theorem(LYAPUNOV[0]), 2, {"n": 1, "mu": 0.5, "p_c": 0.5})


def test_a_point_that_an_algorithm_does_not_have_is_refused() -> None:
    gd = lookup("algorithms", "gd")
    events = gd.read_events([[1, "s"]], 2, "here")
    with pytest.raises(TapeError, match=r"ask for the point \('controls', 0\), which this algorithm does not have"):
        gd.schedule(gd.read(Options("gd", {"alpha": 1})), events, 2, RecordAt(point=("controls", 0)), 1)
    left = compose_sum([Term(S.One, Quantity.DISTANCE, "reference")])
    with pytest.raises(SpecError, match="scaffnew has no point 'reference' for the left side; "):
        core(replace(theorem(LYAPUNOV[1]), left_side=left))


WRONG = [
    ('[[left]]\nquantity = "speed"\n', "left 1: quantity must be one of distance, gap, slope, control, got 'speed'"),
    ('[[left]]\nquantity = "control"\n', "left: control is measured at points of the clients, such as controls"),
    ('[[left]]\nquantity = "gap"\npoint = 3\n', "left 1: point must be text, such as 'model'; got 3"),
    ('[[left]]\nquantity = "gap"\nover = "mean"\n', "left 1: unknown key 'over'"),
    ('[[left]]\nquantity = "gap"\ntimes = "alpha"\n', "left 1: times must be a number above 0"),
    ('[[left]]\nquantity = "gap"\n[[left]]\nquantity = "gap"\ntimes = "K"\n', "left 2: times = K reads the horizon"),
    ("left = [1]\n", r"left must be a table \[left\], or several \[\[left\]\]; got \[1\]"),
    ('metric = "gap"\n[[left]]\nquantity = "gap"\n', r"metric and \[left\] both say what the left side is"),
]


@pytest.mark.parametrize(("said", "message"), WRONG, ids=range(len(WRONG)))
def test_what_a_file_cannot_say_of_a_sum_gets_one_line(tmp_path: Path, said: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    rest = 'id = "mine"\nalgorithm = "scaffnew"\n' + said
    path.write_text(rest + '[step]\nalpha = "alpha"\n[terms]\nbound = "R**2"\n', encoding="utf-8")
    with pytest.raises(SpecError, match=message) as told:
        load_theorem(str(path))
    assert len(str(told.value).splitlines()) == 1


def test_a_coefficient_that_is_negative_here_is_refused() -> None:
    left = compose_sum([Term(S.One, Quantity.DISTANCE, "model"), Term(symbol("p_c") - 1, Quantity.DISTANCE, "clients")])
    with pytest.raises(SpecError, match=r"times = p_c - 1 is -1/2 here; the terms of a left side are not negative"):
        plan_of(replace(theorem(LYAPUNOV[1]), left_side=left), "1/2", 3)


@pytest.mark.parametrize("name", LYAPUNOV)
def test_a_core_statement_is_written_as_a_file_that_has_the_same_core(name: str, tmp_path: Path) -> None:
    one = core(theorem(name))
    path = tmp_path / "again.toml"
    path.write_text(as_toml(one, "again"), encoding="utf-8")
    again = core(load_theorem(str(path)))
    assert again.sha256 == one.sha256
    assert [quantity for _, quantity, _ in one.terms] == ["distance", "control"]
    assert "terms" not in core(load_theorem("classics.gd.convex")).fields


def test_terms_of_other_units_fail_a_check() -> None:
    good = theorem(LYAPUNOV[1])
    first, second = terms_of(good.left)
    assert not [one for one in check(good) if one.id == "units.left" and one.verdict == "failed"]
    wrong = replace(good, left_side=compose_sum([first, replace(second, times=1 / symbol("p_c") ** 2)]))
    (found,) = (one for one in check(wrong) if one.id == "units.left")
    assert (found.verdict, found.witness) == ("failed", "(p_c**(-2))·control has units (2, −2), not (0, 2)")


@pytest.mark.nightly
@pytest.mark.parametrize("name", LYAPUNOV)
def test_true_sums_survive_a_search_and_one_half_of_them_does_not(name: str) -> None:
    true = theorem(name)
    assert not falsify(true, limit=40, jobs=1).violated
    terms = {key: one / 2 for key, one in true.bound.expressions().items()}
    assert falsify(replace(true, id="half", bound=FormulaBound(terms)), limit=40, jobs=1).violated


def test_control_variates_under_noise_are_sampled_and_nothing_else() -> None:
    noisy = replace(theorem(LYAPUNOV[1]), assumptions=("strongly-convex", "smooth", "minimiser", "bounded-variance"))
    plan = plan_of(noisy, "1/2", 3, BOWLS + ",sigma=1")
    assert engine(*plan.random_run) == ("", "control variates of gradients with noise have no exact engine")
    assert compare(plan, 60, seed=0).band.trials == 60


def plan_of(of: str | Theorem, p: str, iterations: int, problem: str = BOWLS) -> Plan:
    told = theorem(of) if isinstance(of, str) else of
    return CompareOptions(told, problem, iterations=iterations, settings={"p_c": p}).plan()
