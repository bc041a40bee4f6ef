"""Assumptions that are inequalities at every x: what files say, what is refused, and what each engine makes of them."""

from fractions import Fraction
from pathlib import Path

import pytest
from statements import statement

from boundlab.case import read_case
from boundlab.checks import check
from boundlab.compare import compare
from boundlab.errors import AssumptionError, BoundlabError, SpecError
from boundlab.exact import evaluate
from boundlab.falsify import falsify
from boundlab.formulas.symbols import SYMBOLS
from boundlab.instance.fitting import CompareOptions, fitting
from boundlab.prove.settings import setting_of
from boundlab.theorems import core, inequality, load_theorem
from boundlab.verdict import Verdict
from boundlab.worst_case import worst_case

FILES = Path(__file__).parents[2] / "benchmarks" / "literature" / "theorems"
NAMES = ("karimi-2016.1", "karimi-2016.4", "khaled-2023.2", "khaled-2023.abc-pl", "nedic-2001.2.4", "zhang-2013.rsi")
MU = {"mu_pl": {"meaning": "PL constant", "domain": "positive", "units": [1, -2], "side": "lower"}}
PL = {
    "assumptions": "smooth bounded-below",
    "conditions": ["mu_pl <= L"],
    "step": {"alpha": "1/L"},
    "terms": {"bound": "(1 - mu_pl/L)**K*F0"},
    "symbols": MU,
}
# x₁²/6 + 3x₂²: flat in x₃, with more rows than its rank, so that nothing certifies the PL constant 1/3.
FLAT = "least-squares:features=[[1,0,0],[0,3,0],[0,3,0]],targets=[0,0,0],clients=1,bias=no,scale=none,x0=[3,0,1]"


def of_literature(name):
    return load_theorem(str(FILES / f"{name}.toml"))


def pl(folder, text="slope >= 2*mu_pl*gap", **more):
    return statement(folder, **{**PL, "assume": {"pl": text}, **more})


def test_the_core_does_not_depend_on_how_an_inequality_is_put(tmp_path):
    one = core(pl(tmp_path)).sha256
    assert core(pl(tmp_path, "2*gap*mu_pl <= slope")).sha256 == one
    assert core(pl(tmp_path, "slope - 2*mu_pl*gap >= 0")).sha256 == one
    assert core(pl(tmp_path, "slope >= mu_pl*gap")).sha256 != one
    assert core(pl(tmp_path, "mean_i(slope_i) >= 2*mu_pl*gap")).sha256 != one


def test_statements_without_such_assumptions_keep_their_hash():
    assert "assume" not in core(load_theorem("classics.gd.convex")).fields


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("slope >= 2*mu_pl*gapp", "unknown symbol 'gapp'"),
        ("slope*gap >= 1", "not linear in"),
        ("gap**2 >= mu_pl", "not linear in gap"),
        ("sqrt(slope) >= mu_pl", "not linear in slope"),
        ("Min(gap, slope) >= 0", "not linear in"),
        ("If(gap <= 1, slope, 0) >= 0", "not linear in"),
        ("1 >= mu_pl", "compares no quantity of a point"),
        ("gap >= gap", "compares no quantity of a point"),
        ("slope", "must be one inequality"),
        ("slope >= gap >= mu_pl", "must be one inequality"),
        ("slope_i >= gap", "stands in mean_i(slope_i) alone"),
        ("slope >= tau_max*gap", "reads tau_max, which is not one number of the problem"),
        ("slope >= K*gap", "reads K, which is not one number"),
        ("slope >= alpha*gap", "reads alpha, which is not one number"),
        ("slope >= mean_i(G_star[i])*gap", "reads G_star, which is not one number"),
        ("slope >= alpha_at(0)*gap", "reads alpha"),
        ("slope >= (mu_pl - 1)/(mu_pl - 1)*gap", "mu_pl cancels"),
    ],
)
def test_what_no_inequality_is_is_refused_in_one_line(tmp_path, text, said):
    with pytest.raises(BoundlabError) as error:
        pl(tmp_path, text)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_tables_that_are_none_are_refused_in_one_line(tmp_path):
    for assume, said in (
        ({"pl": 3}, "assume.pl must be text"),
        ("slope >= gap", "assume must be a table"),
        ({"smooth": "slope >= gap"}, "choose a name"),
        ({"mu_pl": "slope >= gap"}, "choose a name"),
        ({"p l": "slope >= gap"}, "choose a name"),
    ):
        with pytest.raises(SpecError, match="assume") as error:
            statement(tmp_path, **{**PL, "assume": assume})
        assert said in str(error.value)
    own = {"gap": {"meaning": "mine", "units": [0, 0]}, **MU}
    with pytest.raises(SpecError, match="gap is a quantity of a point; choose another name"):
        pl(tmp_path, symbols=own)


def test_growth_is_refused_beside_it(tmp_path):
    with pytest.raises(SpecError, match="growth looks along families of problems, and assume at one"):
        pl(tmp_path, shape=True, growth={"in": ["K"]})


def test_units_of_both_sides_fit_or_the_check_says_so(tmp_path):
    (one,) = (one for one in check(pl(tmp_path)) if one.id == "units.assume")
    assert one.verdict == "passed"
    (one,) = (one for one in check(pl(tmp_path, "slope >= mu_pl**2*gap")) if one.id == "units.assume")
    assert one.verdict == "failed"
    assert "pl:" in one.witness


def test_it_is_about_noise_where_it_reads_noise(tmp_path):
    assert core(pl(tmp_path)).noiseless
    assert not core(of_literature("khaled-2023.abc-pl")).noiseless


def test_inequalities_are_made_in_python_too(tmp_path):
    found = inequality("second_moment <= G**2 + 2*slope")
    assert {name: str(one) for name, one in found.coefficients.items()} == {
        "second_moment": "-1",
        "": "G**2",
        "slope": "2",
    }
    assert found.reads == {"G"}
    assert inequality("slope >= 2*mu*gap", SYMBOLS) == inequality("slope >= 2*mu*gap")


def test_pages_and_latex_say_it(tmp_path):
    theorem = of_literature("khaled-2023.abc-pl")
    assert r"\mathbb{E}\|g(x)\|^2 \le" in theorem.latex()
    assert theorem.as_dict()["assume"]["pl"] == "slope >= 2*mu_pl*gap"
    assert "the inequality pl" in core(theorem).symbols.values()


def test_a_condition_that_an_inequality_implies_is_no_suspicion():
    """alpha·mu_pl ≤ mu_pl/L ≤ 1 follows from the inequality and smoothness, which no draw of numbers knows."""
    (found,) = (
        one for one in check(of_literature("khaled-2023.abc-pl"), ["admissible"]) if one.id == "admissible.step"
    )
    assert found.verdict == "unknown"


def test_worst_case_and_proofs_refuse_by_its_name(tmp_path):
    theorem = pl(tmp_path)
    with pytest.raises(AssumptionError, match=r"assumes pl at every x \(assume\), of which worst-case knows no"):
        worst_case(theorem, iterations=1)
    with pytest.raises(SpecError, match=r"know no inequalities that hold at every x: pl \(assume\)"):
        setting_of(theorem)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", NAMES)
def test_true_ones_hold_where_they_are_certified(name):
    theorem = of_literature(name)
    one = next(each for each in fitting(theorem, 6) if each.problem.startswith("quadratic"))
    found = compare(one.plan(trials=2), trials=10, seed=0)
    assert found.verdict in (Verdict.HOLDS, Verdict.CONSISTENT)
    assert all(reading.certified for reading in found.plan.symbols)


@pytest.mark.parametrize(
    "problem",
    [
        "quadratic:A=[[[1,0],[0,20]]],b=[[0,0]],x0=[0,0]",
        "quadratic:A=[[[1,0],[0,20]]],b=[[0,0]],sigma=1,x0=[0,0]",
        "quadratic:A=[[[2,0],[0,1]],[[1,0],[0,3]]],b=[[0,1],[1,0]],x0=[2,1],sigma=0.5",
        "quadratic:A=[[[1,0],[0,0]],[[0.5,0],[0,1]]],b=[[0,0],[1,1]],x0=[3,3],sigma=0.5",
    ],
)
def test_noise_flat_clients_and_starts_at_the_minimiser(problem):
    theorem = of_literature("khaled-2023.abc-pl")
    found = compare(CompareOptions(theorem, problem, iterations=10).plan(trials=2), trials=10, seed=0)
    assert found.verdict in (Verdict.HOLDS, Verdict.CONSISTENT)


def test_a_word_never_refutes_and_never_holds(tmp_path):
    true = CompareOptions(pl(tmp_path), FLAT, settings={"mu_pl": "0.3"}, iterations=5)
    found = compare(true.plan(), trials=2, seed=0)
    assert found.verdict is Verdict.CONSISTENT
    assert "pl holds at every x (nobody has shown that it holds everywhere: on your word)" in found.reason
    false = pl(tmp_path, terms={"bound": "(1 - mu_pl/L)**(9*K)*F0"})
    found = compare(CompareOptions(false, FLAT, settings={"mu_pl": "0.3"}, iterations=5).plan(), trials=2, seed=0)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.reason.startswith("violated, if ")


@pytest.mark.nightly
def test_a_search_refutes_what_is_false_on_certified_instances_alone(tmp_path):
    found = falsify(pl(tmp_path, terms={"bound": "(1 - mu_pl/L)**(3*K)*F0"}), limit=40)
    assert found.violated
    assert found.best is not None
    assert not falsify(pl(tmp_path), limit=40).violated


def test_the_exact_engine_takes_the_certified_value(tmp_path):
    """x₁²/2 + 5x₂² from (1, 0): the step 1/10 leaves (9/10)² of the gap 1/2, and the bound is 9/10 of it."""
    case = {
        "schema": "boundlab/case/1",
        "algorithm": "gd",
        "problem": {"type": "quadratic", "A": [[[1, 0], [0, 10]]], "b": [[0, 0]]},
        "x0": [1, 0],
        "iterations": 1,
        "delays": "deterministic",
    }
    found = evaluate(pl(tmp_path), read_case(case))
    sides = [Fraction(one.split()[0]) for one in (found.left_text, found.right_text)]
    assert sides == [Fraction(81, 200), Fraction(9, 20)]
    assert found.verdict is Verdict.HOLDS
    word = evaluate(pl(tmp_path, "slope >= 2*mu_pl*gap + 0*distance"), read_case(case))
    assert word.verdict is Verdict.HOLDS
