"""Left sides that a file puts together, and steps that are formulas of k: one meaning, the same number everywhere."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from core_files import as_toml
from hypothesis import given, settings, strategies as st

import boundlab as bl
from boundlab.arithmetic import numbers
from boundlab.errors import BoundlabError, SpecError
from boundlab.formulas.symbols import symbol
from boundlab.metrics import INDEX, METRICS, QUANTITIES, compose, valued
from boundlab.options import Options
from boundlab.registry import lookup
from boundlab.theorems import Theorem, core, load_theorem
from boundlab.verdict import Verdict

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
        ("Min(1/L, 2/(L*(k - 3)))", "no step is negative or infinite"),
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
