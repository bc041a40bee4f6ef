"""Sums in theorems and left sides that a file puts together: one meaning, the same number everywhere."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from core_files import as_toml
from hypothesis import given, settings, strategies as st
from sympy import Rational, S

import boundlab as bl
from boundlab.arithmetic import numbers
from boundlab.case import read_case
from boundlab.checks import check
from boundlab.compare import compare
from boundlab.errors import AssumptionError, BoundlabError, SpecError, SymbolError, TapeError
from boundlab.exact import evaluate
from boundlab.expectation import engine, left_side
from boundlab.falsify import falsify
from boundlab.formulas.symbols import symbol
from boundlab.instance import Plan
from boundlab.instance.fitting import CompareOptions
from boundlab.metrics import (
    INDEX,
    METRICS,
    QUANTITIES,
    Quantity,
    Term,
    compose,
    compose_sum,
    metric,
    summands,
    terms_of,
    valued,
)
from boundlab.options import Options
from boundlab.registry import lookup
from boundlab.tape import RecordAt
from boundlab.theorems import FormulaBound, Theorem, at_steps, core, load_theorem
from boundlab.verdict import Verdict
from boundlab.worst_case import worst_case
from boundlab.worst_case.specification import ask as question

HEAD = 'id = "mine"\nalgorithm = "gd"\nassumptions = ["convex", "smooth", "minimiser"]\n'
BOWL = "quadratic:A=[[[1]]],b=[[0]],x0=1"  # x²/2 from 1: with α the models are (1 − α)^k


def theorem_of(tmp_path: Path, left: str, *, step: str = "1/(2*L)", bound: str = "L*R**2", more: str = "") -> Theorem:
    path = tmp_path / "mine.toml"
    path.write_text(f'{HEAD}{left}\n{more}[step]\nalpha = "{step}"\n[terms]\nbound = "{bound}"\n', encoding="utf-8")
    return load_theorem(str(path))


def left(**fields: str) -> str:
    return "[left]\n" + "\n".join(f'{name} = "{value}"' for name, value in fields.items())


COMPOSED: dict[str, tuple[str, Callable[[list[Fraction]], Fraction]]] = {
    "weights": (left(quantity="gap", over="average", weights="k + 1"), lambda x: gap(average(x[:6], lambda k: k + 1))),
    "suffix": (
        left(quantity="distance", over="average", **{"from": "floor(K/2)", "to": "K"}),
        lambda x: average(x[3:7], lambda _: 1) ** 2,
    ),
    "mean": (
        left(quantity="slope", over="mean", weights="(1 - alpha*L)**(-k)"),
        lambda x: average([one**2 for one in x[:6]], lambda k: Fraction(2) ** k),
    ),
    "closed": (
        left(quantity="gap", over="mean", index="update", weights="1/(t + 1)", to="T"),
        lambda x: average([gap(one) for one in x[:7]], lambda k: Fraction(1, k + 1)),
    ),
    "best": (left(quantity="gap", over="best", **{"from": "1"}), lambda x: min(map(gap, x[1:6]))),
    "best-expected": (left(quantity="slope", over="best-expected"), lambda x: min(one**2 for one in x[:6])),
    "best-mean": (
        left(quantity="gap", over="best-mean", weights="k"),
        lambda x: min(average([gap(one) for one in x[:j]], lambda k: k) for j in range(2, 7)),
    ),
}


def gap(x: Fraction) -> Fraction:
    return x * x / 2


def average(values: list[Fraction], weight: Callable[[int], Any]) -> Fraction:
    each = [Fraction(weight(k)) for k in range(len(values))]
    return sum((w * x for w, x in zip(each, values, strict=True)), Fraction(0)) / sum(each)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", COMPOSED)
def test_a_left_side_is_what_its_words_say_in_floats_and_in_fractions(tmp_path: Path, name: str) -> None:
    words, by_hand = COMPOSED[name]
    theorem = theorem_of(tmp_path, words)
    expected = by_hand([Fraction(1, 2) ** k for k in range(7)])
    found = bl.compare(theorem, BOWL, iterations=6, trials=2)
    assert float(found.band.mean[-1]) == pytest.approx(float(expected), rel=1e-12)
    case = {"algorithm": "gd", "problem": {"type": "quadratic", "A": [[[1]]], "b": [[0]]}, "x0": [1]}
    case |= {"events": [[k, "s"] for k in range(1, 7)]}
    exact = bl.exact(theorem, case)
    assert exact.left == pytest.approx(float(expected), rel=1e-12)
    assert exact.kind == "exact"
    if name.startswith("best"):
        with pytest.raises(SpecError, match="a mean of recorded quantities"):
            bl.worst_case(theorem, iterations=6)
    else:
        # f = x²/2 from 1 is a function of the class.
        worst = bl.worst_case(theorem, iterations=6).certified_upper
        assert worst is not None
        assert worst >= expected


@pytest.mark.parametrize("name", COMPOSED)
def test_a_core_with_a_left_side_of_its_own_is_written_and_read_again(tmp_path: Path, name: str) -> None:
    theorem, path = theorem_of(tmp_path, COMPOSED[name][0]), tmp_path / "again.toml"
    path.write_text(as_toml(core(theorem)), encoding="utf-8")
    assert core(load_theorem(str(path))).sha256 == core(theorem).sha256
    others = {core(theorem_of(tmp_path, words)).sha256 for words, _ in COMPOSED.values()}
    assert len(others) == len(COMPOSED)


@pytest.mark.parametrize("name", [name for name, one in METRICS.items() if not one.over.at_mean])  # no file composes it
def test_a_metric_is_the_left_side_that_its_factors_make(tmp_path: Path, name: str) -> None:
    metric = METRICS[name]
    quantity = next(word for word, one in QUANTITIES.items() if one is metric.quantity)
    assert compose(quantity, metric.over.id, counter=metric.counter) is metric  # type: ignore[arg-type]
    index = {"K": "iteration", "T": "update"}[metric.counter]
    put_together = theorem_of(tmp_path, left(quantity=quantity, over=metric.over.id, index=index))
    named = theorem_of(tmp_path, f'metric = "{name}"')
    assert core(put_together).sha256 == core(named).sha256


@pytest.mark.nightly
@given(numbers=st.lists(st.fractions(0, 50, max_denominator=40), min_size=5, max_size=5).filter(any))
@settings(max_examples=30, deadline=None)
def test_the_shares_of_a_mean_are_its_weights_divided_by_their_sum(numbers: list[Fraction]) -> None:
    k = INDEX["K"]
    weights = sum((value * _at(k, j) for j, value in enumerate(numbers)), start=0 * k)
    metric = valued(compose("gap", "mean", weights=weights), lambda _: None, 5, "mine")
    shares = metric.over.shares(5)
    assert shares is not None
    assert list(shares) == [one / sum(numbers) for one in numbers]


def _at(k: Any, j: int) -> Any:
    """Return a formula that is 1 at j and 0 at the other whole numbers."""
    from sympy import Abs, Max

    return Max(0, 1 - Abs(k - j))


LATER = {  # the first K at which a model counts, for two clients
    "weights = k": (left(quantity="gap", over="average", weights="k"), 2),
    "weights from 3 on": (left(quantity="gap", over="mean", weights="Max(k - 2, 0)"), 4),
    "up to K": (left(quantity="gap", over="mean", weights="k", to="K"), 1),
    "from n on": (left(quantity="gap", over="best", **{"from": "n"}), 3),
    "from n + 1 on": (left(quantity="gap", over="average", **{"from": "n + 1", "to": "K"}), 3),
}


@pytest.mark.sweep(8)
@pytest.mark.parametrize("algorithm", ["gd", "area"])
@pytest.mark.parametrize("name", LATER)
def test_a_left_side_begins_where_a_model_counts(tmp_path: Path, name: str, algorithm: str) -> None:
    words, first = LATER[name]
    theorem = theorem_of(tmp_path, words)
    theorem = replace(theorem, algorithm=algorithm, parameters={})
    problem = "quadratic:A=[[[1]],[[3]]],b=[[0],[1]],x0=1"
    found = bl.compare(theorem, problem, iterations=8, trials=3, exact=False)
    assert found.plan.ks[0] == first
    assert np.isfinite(found.band.mean).all()
    alone = bl.compare(theorem, problem, iterations=int(found.plan.ks[1]), trials=3, exact=False)
    if algorithm == "gd":
        assert alone.band.mean[-1] == pytest.approx(found.band.mean[1], rel=1e-12)
    if first > 1:
        with pytest.raises(SpecError, match=r"the left side|all weights are 0"):
            bl.compare(theorem, problem, iterations=first - 1, trials=3)


@pytest.mark.nightly
def test_a_true_theorem_whose_first_weight_is_0_is_not_called_false(tmp_path: Path) -> None:
    # ‖x − (3/L)∇f(x) − x*‖ ≤ 2‖x − x*‖ for convex L-smooth f, and no model counts before the second.
    words = left(quantity="gap", over="average", weights="k")
    theorem = theorem_of(tmp_path, words, step="3/L", bound="L*R**2*4**(K - 1)/2")
    for sampled in (False, None):
        found = bl.compare(theorem, "quadratic:A=[[[1]],[[1]]],b=[[0],[0]],x0=1", iterations=6, trials=4, exact=sampled)
        assert found.verdict in ("holds", "consistent")
    assert not bl.falsify(theorem, candidates=60, budget=30).violated


@pytest.mark.parametrize("weights", ["2**(-k - 1100)", "2**(k + 1100)"])
def test_a_common_factor_of_the_weights_is_nothing(tmp_path: Path, weights: str) -> None:
    plain = weights.replace("1100", "1")
    found = [
        bl.compare(
            theorem_of(tmp_path, left(quantity="gap", over="average", weights=one)), BOWL, iterations=8, trials=2
        )
        for one in (weights, plain)
    ]
    assert found[0].band.mean == pytest.approx(found[1].band.mean, rel=1e-12)


REFUSED = {
    "weights that are negative": (left(quantity="gap", over="average", weights="k - 1"), "none is negative"),
    "weights that are 0": (left(quantity="gap", over="mean", weights="floor(k/100)"), "all weights are 0"),
    "roots": (left(quantity="gap", over="average", weights="sqrt(k + 1)"), "is no fraction"),
    "a pole": (left(quantity="gap", over="average", weights="1/(k - 3)"), "at k = 3"),
    "an empty range": (left(quantity="gap", over="best", **{"from": "K + 1", "to": "K"}), "it needs 0 ≤ from ≤ to ≤ K"),
    "half a model": (left(quantity="gap", over="average", to="K/4"), "must be a whole number"),
    "both": ('metric = "gap"\n' + left(quantity="gap"), "give one of them"),
    "no such word": (left(quantity="gap", over="median"), "did you mean mean"),
    "weights of one model": (left(quantity="gap", weights="k"), "it has no from, to or weights"),
    "weights of the best": (left(quantity="gap", over="best", weights="k"), "has no weights"),
    "the other counter": (left(quantity="gap", over="mean", weights="T + k"), "T is read, but the index counts K"),
    "an end that counts": (left(quantity="gap", over="mean", **{"from": "k"}), "it cannot depend on k"),
    "no quantity": (left(over="mean"), "quantity is missing"),
    "too many": (left(quantity="gap", over="average", weights="2**k"), "floats hold at most"),
}


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", REFUSED)
def test_a_left_side_without_a_meaning_is_one_line(tmp_path: Path, name: str) -> None:
    words, message = REFUSED[name]
    with pytest.raises(BoundlabError, match=message) as error:
        bl.compare(theorem_of(tmp_path, words), BOWL, iterations=2000 if name == "too many" else 6, trials=2)
    assert "\n" not in str(error.value)


def test_units_move_no_weight(tmp_path: Path) -> None:
    for weights, verdict in (("(1 - alpha*L)**(-k)", "passed"), ("1 + k*L", "failed"), ("L*R", "passed")):
        found = bl.check(theorem_of(tmp_path, left(quantity="gap", over="average", weights=weights)))
        assert {one.id: one.verdict for one in found.checks}["units.left"] == verdict, weights


# ---- steps ------------------------------------------------------------------------------------------------------

LAST = 'metric = "gap"'


def test_a_step_that_is_a_formula_of_k_has_the_core_of_the_options_that_say_it(tmp_path: Path) -> None:
    falling = theorem_of(tmp_path, LAST, step="2/(L*(k + 3))")
    assert {name: str(rule) for name, rule in falling.step.items()} == {"c": "2/L", "d": "3"}
    root = theorem_of(tmp_path, LAST, step="R/(sqrt(k + 1)*L*R)")
    said = theorem_of(tmp_path, LAST, step="1/L", more='[options]\ndecay = "1/sqrt(k + 1)"\n')
    assert core(root).sha256 == core(said).sha256


@pytest.mark.parametrize(("formula", "word"), [("1/sqrt(k + 1)", "sqrt"), ("(K - k)/(K + 1)", "linear")])
def test_a_decay_by_its_formula_is_the_one_by_its_name(tmp_path: Path, formula: str, word: str) -> None:
    horizon = 'horizon = "fixed"\n' if word == "linear" else ""
    path = tmp_path / "named.toml"
    told = 'K = "K"\n' if word == "linear" else ""
    path.write_text(
        f'{HEAD}{LAST}\n{horizon}[options]\ndecay = "{word}"\n[step]\nalpha = "1/L"\n{told}[terms]\nbound = "L*R**2"\n'
    )
    by_name, by_formula = (
        bl.compare(one, BOWL, iterations=7, trials=2).band.mean
        for one in (load_theorem(str(path)), theorem_of(tmp_path, LAST, step=f"{formula}/L"))
    )
    assert np.array_equal(by_name[-1:], by_formula[-1:])


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("Min(1/L, 2/(L*(k - 3)))", "step.alpha must be > 0, got Min"),
        ("1/(L*(tau + 1))", "steps of gd do not depend on tau"),
        ("Min(k/L, R/B)", "at k = 0; there a step has the size alpha"),
        ("1/(L*(k - 2)**2)", "no step is negative or infinite"),
        ("(log(k + 2))/L", "neither a fraction nor the root of one"),
        ("(2 - k)/L", "no step is negative or infinite"),
        ("k/(k*L)", "is 0 at k = 0, and the step has no value there"),
        ("(T - k)/(L*(T + 1))", "the horizon in it is K"),
    ],
)
def test_a_step_that_no_algorithm_takes_is_one_line(tmp_path: Path, step: str, message: str) -> None:
    with pytest.raises(BoundlabError, match=message):
        bl.compare(theorem_of(tmp_path, LAST, step=step), BOWL, iterations=6, trials=2)


def test_a_decay_of_the_horizon_alone_multiplies_every_step() -> None:
    read = lookup("algorithms", "gd").read
    told = read(Options("gd", {"alpha": "1", "decay": "1/K", "K": "4"}))
    assert [told.at(k) for k in range(5)] == [0.25, 0.25, 0.25, 0.25, 0.0]


def test_nothing_else_reads_a_step_that_depends_on_k(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="another one at each k"):
        theorem_of(tmp_path, LAST, step="1/(L*(k + 1)**2)", bound="R**2/alpha")


def test_the_index_is_no_symbol(tmp_path: Path) -> None:
    assert "k" not in theorem_of(tmp_path, left(quantity="gap", over="average", weights="k + 1")).inputs()
    assert symbol("K") not in INDEX.values()


@pytest.mark.nightly
@pytest.mark.parametrize("over", ["best-expected", "best-mean"])
def test_the_smallest_expectation_is_that_of_one_model(tmp_path: Path, over: str) -> None:
    """x²/2 from 1/4, α = 1/2, noise of variance 1: E x² is 1/16, then a quarter of the one before and 1/4 more.

    So expectations grow from the first one on, and with them their means.
    """
    words = left(quantity="gap", over=over, **{"from": "1", "to": "K"})
    theorem = replace(theorem_of(tmp_path, words), assumptions=("convex", "smooth", "minimiser", "bounded-variance"))
    smallest = (Fraction(1, 4) * Fraction(1, 16) + Fraction(1, 4)) / 2
    found = bl.compare(theorem, "quadratic:A=[[[1]]],b=[[0]],x0=0.25,sigma=1", iterations=5)
    assert float(found.band.mean[-1]) == pytest.approx(float(smallest), rel=1e-12)
    sampled = bl.compare(
        theorem, "quadratic:A=[[[1]]],b=[[0]],x0=0.25,sigma=1", iterations=[5], exact=False, trials=400
    )
    (one,) = sampled.comparisons
    assert one.band.lower[0] < float(smallest) < one.band.upper[0] < 1.5 * float(smallest)
    assert one.verdict is Verdict.VIOLATED  # its bound knows no noise
    case = {"algorithm": "gd", "problem": {"type": "quadratic", "A": [[[1]]], "b": [[0]], "sigma": 1}, "x0": ["1/4"]}
    case |= {"delays": "deterministic", "iterations": 5}
    exact = bl.exact(theorem, case)
    assert exact.kind == "exact"
    assert exact.left == pytest.approx(float(smallest), rel=1e-12)


def test_the_smaller_of_two_balls_that_overlap_may_be_either() -> None:
    over = valued(compose("gap", "best-expected"), lambda _: None, 2, "mine").over
    one, other = numbers.flint().arb("1 +/- 0.125"), numbers.flint().arb("1.0625 +/- 0.25")
    for found in (over.fold(one, other), over.fold(other, one)):
        assert found.contains(numbers.flint().arb("0.8125"))
        assert not found.contains(numbers.flint().arb("1.25"))


def test_no_run_shows_a_smallest_expectation(tmp_path: Path) -> None:
    theorem = theorem_of(tmp_path, left(quantity="gap", over="best-expected"))
    noise = replace(theorem, assumptions=("convex", "smooth", "minimiser", "bounded-variance"))
    with pytest.raises(SpecError, match="a smallest expectation, which no run shows"):
        bl.compare(noise, "huber:clients=2,sigma=1", iterations=5)


RESHUFFLING = """
id = "reshuffling"
algorithm = "incremental"
metric = "squared-distance"
assumptions = ["strongly-convex", "smooth", "minimiser", "deterministic"]
conditions = ["alpha*L <= 1"]
[options]
order = "shuffled"
[step]
alpha = "alpha"
[terms]
initial = "(1 - alpha*mu)**(n*K)*R**2"
shuffle = "alpha**2*L*n*mean_i(G_star[i]**2)/(2*mu)"
"""
ANY_STEPS = """
id = "any-steps"
algorithm = "gd"
assumptions = ["lipschitz", "minimiser", "deterministic", "one-function"]
[left]
quantity = "gap"
over = "average"
weights = "alpha_at(k)"
[options]
decay = "any"
[step]
alpha = "alpha"
[terms]
bound = "(R**2 + B**2*Sum(alpha_at(k)**2, k, 0, K - 1))/(2*Sum(alpha_at(k), k, 0, K - 1))"
"""
TWO = "quadratic:A=[[[1]],[[1]]],b=[[0],[1]],x0=0"


def theorem_from(tmp_path: Path, text: str) -> Theorem:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return load_theorem(str(path))


def test_reshuffling_is_attained_by_two_parabolas(tmp_path: Path) -> None:
    """x²/2 and (x − 1)²/2, α = 1: a pass from 0 ends at one of the minimisers, 1/4 from the middle one, squared."""
    theorem = theorem_from(tmp_path, RESHUFFLING)
    case = {
        "problem": {"type": "quadratic", "A": [[[1]], [[1]]], "b": [[0], [1]], "x0": [0]},
        "algorithm": "incremental",
        "settings": {"alpha": 1, "order": "shuffled"},
        "delays": "deterministic",
        "iterations": 1,
    }
    exact = bl.exact(theorem, case)
    assert (exact.left_text, exact.right_text, exact.kind) == ("1/4 = 0.25", "1/4 = 0.25", "exact")
    compared = bl.compare(theorem, TWO, iterations=1, alpha=1)
    assert compared.ratio[-1] * compared.bound[-1] == pytest.approx(0.25)
    assert compared.bound[-1] == pytest.approx(0.25)


@pytest.mark.nightly
def test_a_smaller_sum_is_refuted_and_the_printed_one_is_not(tmp_path: Path) -> None:
    false = RESHUFFLING.replace("mean_i(G_star[i]**2)", "min_i(G_star[i]**2)/2")
    assert bl.falsify(theorem_from(tmp_path, false), candidates=200).verdict == "violated"
    assert bl.falsify(theorem_from(tmp_path, RESHUFFLING), candidates=200).verdict == "inconclusive"


@settings(deadline=None)
@given(
    K=st.integers(1, 6), alpha=st.fractions(Fraction(1, 8), 2), decay=st.sampled_from(["1/(k + 2)", "2**(-k)", "none"])
)
def test_any_steps_are_those_of_the_run(
    tmp_path_factory: pytest.TempPathFactory, K: int, alpha: Fraction, decay: str
) -> None:
    theorem = theorem_from(tmp_path_factory.mktemp("steps"), ANY_STEPS)
    assert theorem.reads_steps
    factor = sympy.S.One if decay == "none" else sympy.sympify(decay, {"k": next(iter(_index()))})
    at = at_steps(theorem, theorem.symbols["alpha"].symbol * factor)
    steps = [
        alpha * Fraction({"none": 1, "1/(k + 2)": Fraction(1, k + 2), "2**(-k)": Fraction(1, 2**k)}[decay])
        for k in range(K)
    ]
    right = (9 + 4 * sum(one**2 for one in steps)) / (2 * sum(steps))
    found = at.evaluate(R=3, B=2, K=K, alpha=float(alpha)).total
    assert float(found) == pytest.approx(float(right), rel=1e-12)


def _index() -> set[sympy.Symbol]:
    from boundlab.metrics import INDEX

    return {INDEX["K"]}


@pytest.mark.parametrize("decay", ["none", "sqrt", "1/(k + 2)", "1/(k + 1)**2"])
def test_a_run_with_a_decay_is_compared_with_its_own_steps(tmp_path: Path, decay: str) -> None:
    theorem = theorem_from(
        tmp_path,
        ANY_STEPS.replace('over = "average"\nweights = "alpha_at(k)"', 'over = "mean"\nweights = "alpha_at(k)"'),
    )
    if decay == "sqrt":
        with pytest.raises(SpecError, match="weights and ranges are exact"):
            bl.compare(theorem, "lad:x0=3", iterations=4, alpha=1, settings={"decay": decay})
        return
    found = bl.compare(theorem, "lad:x0=3", iterations=4, alpha=1, settings={"decay": decay})
    factor = {"none": lambda _: 1.0, "1/(k + 2)": lambda k: 1 / (k + 2), "1/(k + 1)**2": lambda k: 1 / (k + 1) ** 2}[
        decay
    ]
    steps = [factor(k) for k in range(4)]
    x, left = 3.0, 0.0
    for step in steps:
        left += step * abs(x)
        x -= step * np.sign(x)
    assert found.ratio[-1] * found.bound[-1] == pytest.approx(left / sum(steps))
    assert found.bound[-1] == pytest.approx((9 + sum(one**2 for one in steps)) / (2 * sum(steps)))
    assert found.verdict.startswith("holds")


def test_steps_that_a_file_writes_as_a_formula_are_put_in(tmp_path: Path) -> None:
    own = ANY_STEPS.replace('[options]\ndecay = "any"\n', "").replace('alpha = "alpha"', 'alpha = "R/(B*(k + 1))"')
    out = own.replace("alpha_at(k)**2", "(R/(B*(k + 1)))**2").replace('"alpha_at(k)"', '"1/(k + 1)"')
    out = out.replace("alpha_at(k)", "R/(B*(k + 1))")
    one, other = (theorem_from(tmp_path, text) for text in (own, out))
    assert not one.reads_steps
    values = {"R": 3.0, "B": 2.0, "K": 7}
    assert float(one.evaluate(values).total) == pytest.approx(float(other.evaluate(values).total), rel=1e-14)
    assert one.bound == other.bound


@pytest.mark.parametrize("text", [RESHUFFLING, ANY_STEPS])
def test_the_core_written_out_is_read_back(tmp_path: Path, text: str) -> None:
    theorem = theorem_from(tmp_path, text)
    again = theorem_from(tmp_path, as_toml(core(theorem)))
    assert core(again).sha256 == core(theorem).sha256


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("mean_i(G_star[i]**2)", "G_star"), "G_star is one number per client"),
        (("mean_i(G_star[i]**2)", "mean_i(R[i])"), "R is not one number per client"),
        (("mean_i(G_star[i]**2)", "Sum(K, K, 0, 1)"), "the index K of Sum has another meaning here"),
        (("[step]", '[parameters]\norder = "G_star"\n[step]'), "parameters.order must name a symbol"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    with pytest.raises(BoundlabError) as error:
        theorem_from(tmp_path, RESHUFFLING.replace(*change))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_no_weight_reads_one_number_per_client(tmp_path: Path) -> None:
    text = ANY_STEPS.replace('"alpha_at(k)"', '"mean_i(G_star[i])*k"')
    with pytest.raises(SpecError, match="one number per client"):
        theorem_from(tmp_path, text)


def test_the_steps_of_a_run_are_not_caught_by_an_index(tmp_path: Path) -> None:
    """α_k = α·Sum(k·j, j, 1, k + 1) is 0, 3α, 12α, …, whatever the index of the sum in the bound is called."""
    bounds = []
    for index in "km":
        text = ANY_STEPS.replace('over = "average"\nweights = "alpha_at(k)"', 'over = "best"')
        text = text.replace("alpha_at(k)", f"alpha_at({index})").replace(", k, 0", f", {index}, 0")
        theorem = theorem_from(tmp_path, text.replace("id = ", "id = "))
        for decay in ("Sum(k*j, j, 1, k + 1)", "Sum(k*m, m, 1, k + 1)"):
            found = bl.compare(theorem, "lad:x0=3", iterations=3, alpha=0.25, settings={"decay": decay})
            bounds.append(found.bound[-1])
    assert bounds == pytest.approx([(9 + 0.75**2 + 3**2) / (2 * 3.75)] * 4)


@pytest.mark.nightly
def test_a_counterexample_about_any_steps_is_replayed(tmp_path: Path) -> None:
    false = theorem_from(tmp_path, ANY_STEPS.replace("(2*Sum", "(4*Sum"))
    found = bl.falsify(false, candidates=40)
    assert found.verdict == "violated"
    assert bl.exact(false, found.case).violated


def test_constants_of_single_clients_are_no_class_of_functions(tmp_path: Path) -> None:
    text = RESHUFFLING.replace("2*mu)", "2*mu[1])").replace("alpha*L <= 1", "alpha*mean_i(L[i]) <= 1")
    with pytest.raises(AssumptionError, match="one number per client, which worst-case has no inequalities for"):
        bl.worst_case(theorem_from(tmp_path, text), iterations=1, alpha=0.5, mu=0.5, L_i=1, mu_i=0.5)


def test_vectors_have_one_number_for_each_client(tmp_path: Path) -> None:
    theorem = theorem_from(tmp_path, RESHUFFLING)
    with pytest.raises(SymbolError, match="G_star has 2 numbers, and there are n = 3 clients"):
        theorem.evaluate(mu=1, L=1, R=1, alpha=0.5, n=3, K=1, G_star=[1, 2])


def test_what_the_problem_does_not_know_makes_a_theorem_silent(tmp_path: Path) -> None:
    text = ANY_STEPS.replace("R**2 +", "R**2 + mean_i(G_star[i])*0 + mean_i(L[i])*R**3/B +")
    with pytest.raises(AssumptionError, match="which nobody has found of problem lad"):
        bl.compare(theorem_from(tmp_path, text), "lad:x0=3", iterations=3, alpha=0.25)


@pytest.mark.sweep(12, also=("karimi-2016.1", "kovalev-2020.lyapunov"))
@pytest.mark.parametrize(
    "path",
    sorted((Path(__file__).parents[2] / "benchmarks/literature/theorems").glob("*.toml")),
    ids=lambda path: path.stem,
)
def test_every_file_of_the_literature_is_its_core_written_out(tmp_path: Path, path: Path) -> None:
    theorem = load_theorem(str(path))
    assert core(theorem_from(tmp_path, as_toml(core(theorem)))).sha256 == core(theorem).sha256


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
    ('[[left]]\nquantity = "gap"\npoint = 3\n', "left 1: point must be text, such as 'model', got 3"),
    ('[[left]]\nquantity = "gap"\nover = "mean"\n', "left 1: unknown key 'over'"),
    ('[[left]]\nquantity = "gap"\ntimes = "alpha"\n', "left 1: times must be a number above 0"),
    ('[[left]]\nquantity = "gap"\n[[left]]\nquantity = "gap"\ntimes = "K"\n', "left 2: times = K reads the horizon"),
    ("left = [1]\n", r"left must be a table \[left\], or several \[\[left\]\], got \[1\]"),
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
    terms = {key: one / 2 for key, one in true.bound.terms.items()}
    assert falsify(replace(true, id="half", bound=FormulaBound(terms)), limit=40, jobs=1).violated


def test_control_variates_under_noise_are_sampled_and_nothing_else() -> None:
    noisy = replace(theorem(LYAPUNOV[1]), assumptions=("strongly-convex", "smooth", "minimiser", "bounded-variance"))
    plan = plan_of(noisy, "1/2", 3, BOWLS + ",sigma=1")
    why = "the mean of control at controls over noise has no exact engine: it is no quantity of the server model alone"
    assert engine(*plan.random_run) == ("", why)
    assert compare(plan, 60, seed=0).band.trials == 60


def plan_of(of: str | Theorem, p: str, iterations: int, problem: str = BOWLS) -> Plan:
    told = theorem(of) if isinstance(of, str) else of
    return CompareOptions(told, problem, iterations=iterations, settings={"p_c": p}).plan()


TEXT = """
id = "mine"
algorithm = "gd"
assumptions = ["smooth", "bounded-below", "deterministic"]
{conditions}
[left]
quantity = "slope"
over = "best"
index = "{index}"
{reach}
[step]
alpha = "1/L"
[terms]
time = "{time}"
[symbols.eps]
meaning = "squared accuracy of the gradient"
domain = "positive"
units = [2, -2]
side = "any"
"""


def written(folder: Path, time: str, index: str = "iteration", reach: str = 'reach = "eps"', more: str = "") -> Theorem:
    path = folder / "mine.toml"
    text = TEXT.format(time=time, index=index, reach=reach, conditions=more)
    path.write_text(text if reach else text.replace("time =", "eps ="))
    return load_theorem(str(path))


@pytest.mark.parametrize(("index", "counter"), [("iteration", "K"), ("update", "T")])
def test_it_is_the_bound_eps_from_that_many_iterations_on(tmp_path: Path, index: str, counter: str) -> None:
    said = written(tmp_path, "2*L*F0/eps", index)
    assert [one.statement for one in said.conditions] == [f"2*L*F0/eps ≤ {counter}"]
    spelt = written(tmp_path, "eps", index, reach="", more=f'conditions = ["2*L*F0/eps <= {counter}"]')
    assert said.core.sha256 == spelt.core.sha256
    again = tmp_path / "again.toml"
    again.write_text(as_toml(said.core))
    assert load_theorem(str(again)).core.sha256 == said.core.sha256


def test_one_iteration_fewer_than_it_takes_is_no_claim(tmp_path: Path) -> None:
    said = written(tmp_path, "ceil(2*L*F0/eps)")
    values = {"L": 1.0, "F0": 1.0, "eps": 0.25}
    assert said.evaluate({**values, "K": 8}).total == 0.25
    with pytest.raises(AssumptionError, match=r"needs ceil\(2\*L\*F0/eps\) ≤ K, got 8 > 7"):
        said.evaluate({**values, "K": 7})


@pytest.mark.nightly
def test_a_search_finds_that_fewer_are_too_few_and_that_enough_are_enough(tmp_path: Path) -> None:
    # x0 = 1 of x²/2 has the gradient 1, and min over k < 1 is there: one step is too few for eps = 1/2.
    assert falsify(written(tmp_path, "ceil(L*F0/(8*eps))"), limit=30).violated
    assert not falsify(written(tmp_path, "ceil(2*L*F0/eps)"), limit=60).violated
