"""Theorems with sums over clients or iterations: one meaning, the same number everywhere."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy
from core_files import as_toml
from hypothesis import given, settings, strategies as st

import boundlab as bl
from boundlab.errors import AssumptionError, BoundlabError, SpecError, SymbolError
from boundlab.theorems import Theorem, at_steps, core, load_theorem, reads_steps

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


def theorem_of(tmp_path: Path, text: str) -> Theorem:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return load_theorem(str(path))


def test_reshuffling_is_attained_by_two_parabolas(tmp_path: Path) -> None:
    """x²/2 and (x − 1)²/2, α = 1: a pass from 0 ends at one of the minimisers, 1/4 from the middle one, squared."""
    theorem = theorem_of(tmp_path, RESHUFFLING)
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
    assert bl.falsify(theorem_of(tmp_path, false), candidates=200).verdict == "violated"
    assert bl.falsify(theorem_of(tmp_path, RESHUFFLING), candidates=200).verdict == "inconclusive"


@settings(deadline=None)
@given(
    K=st.integers(1, 6), alpha=st.fractions(Fraction(1, 8), 2), decay=st.sampled_from(["1/(k + 2)", "2**(-k)", "none"])
)
def test_any_steps_are_those_of_the_run(
    tmp_path_factory: pytest.TempPathFactory, K: int, alpha: Fraction, decay: str
) -> None:
    theorem = theorem_of(tmp_path_factory.mktemp("steps"), ANY_STEPS)
    assert reads_steps(theorem)
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
    theorem = theorem_of(
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
    one, other = (theorem_of(tmp_path, text) for text in (own, out))
    assert not reads_steps(one)
    values = {"R": 3.0, "B": 2.0, "K": 7}
    assert float(one.evaluate(values).total) == pytest.approx(float(other.evaluate(values).total), rel=1e-14)
    assert one.bound == other.bound


@pytest.mark.parametrize("text", [RESHUFFLING, ANY_STEPS])
def test_the_core_written_out_is_read_back(tmp_path: Path, text: str) -> None:
    theorem = theorem_of(tmp_path, text)
    again = theorem_of(tmp_path, as_toml(core(theorem)))
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
        theorem_of(tmp_path, RESHUFFLING.replace(*change))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_no_weight_reads_one_number_per_client(tmp_path: Path) -> None:
    text = ANY_STEPS.replace('"alpha_at(k)"', '"mean_i(G_star[i])*k"')
    with pytest.raises(SpecError, match="one number per client"):
        theorem_of(tmp_path, text)


def test_the_steps_of_a_run_are_not_caught_by_an_index(tmp_path: Path) -> None:
    """α_k = α·Sum(k·j, j, 1, k + 1) is 0, 3α, 12α, …, whatever the index of the sum in the bound is called."""
    bounds = []
    for index in "km":
        text = ANY_STEPS.replace('over = "average"\nweights = "alpha_at(k)"', 'over = "best"')
        text = text.replace("alpha_at(k)", f"alpha_at({index})").replace(", k, 0", f", {index}, 0")
        theorem = theorem_of(tmp_path, text.replace("id = ", "id = "))
        for decay in ("Sum(k*j, j, 1, k + 1)", "Sum(k*m, m, 1, k + 1)"):
            found = bl.compare(theorem, "lad:x0=3", iterations=3, alpha=0.25, settings={"decay": decay})
            bounds.append(found.bound[-1])
    assert bounds == pytest.approx([(9 + 0.75**2 + 3**2) / (2 * 3.75)] * 4)


@pytest.mark.nightly
def test_a_counterexample_about_any_steps_is_replayed(tmp_path: Path) -> None:
    false = theorem_of(tmp_path, ANY_STEPS.replace("(2*Sum", "(4*Sum"))
    found = bl.falsify(false, candidates=40)
    assert found.verdict == "violated"
    assert bl.exact(false, found.case).violated


def test_constants_of_single_clients_are_no_class_of_functions(tmp_path: Path) -> None:
    text = RESHUFFLING.replace("2*mu)", "2*mu[1])").replace("alpha*L <= 1", "alpha*mean_i(L[i]) <= 1")
    with pytest.raises(AssumptionError, match="one number per client, which worst-case has no inequalities for"):
        bl.worst_case(theorem_of(tmp_path, text), iterations=1, alpha=0.5, mu=0.5, L_i=1, mu_i=0.5)


def test_vectors_have_one_number_for_each_client(tmp_path: Path) -> None:
    theorem = theorem_of(tmp_path, RESHUFFLING)
    with pytest.raises(SymbolError, match="G_star has 2 numbers, and there are n = 3 clients"):
        theorem.evaluate(mu=1, L=1, R=1, alpha=0.5, n=3, K=1, G_star=[1, 2])


def test_what_the_problem_does_not_know_makes_a_theorem_silent(tmp_path: Path) -> None:
    text = ANY_STEPS.replace("R**2 +", "R**2 + mean_i(G_star[i])*0 + mean_i(L[i])*R**3/B +")
    with pytest.raises(AssumptionError, match="which nobody has found of problem lad"):
        bl.compare(theorem_of(tmp_path, text), "lad:x0=3", iterations=3, alpha=0.25)


@pytest.mark.sweep(12)
@pytest.mark.parametrize(
    "path",
    sorted((Path(__file__).parents[2] / "benchmarks/literature/theorems").glob("*.toml")),
    ids=lambda path: path.stem,
)
def test_every_file_of_the_literature_is_its_core_written_out(tmp_path: Path, path: Path) -> None:
    theorem = load_theorem(str(path))
    assert core(theorem_of(tmp_path, as_toml(core(theorem)))).sha256 == core(theorem).sha256
