"""Beyond an assumption on functions: what it defines is the user's word, and no verdict stands on that."""

from functools import cache
from typing import Any

import pytest

from boundlab import api
from boundlab.assumptions import ASSUMPTIONS, ERRORS, RUN_IN_BALL, UNBIASED, assumption
from boundlab.case import problem_from
from boundlab.compare import compare
from boundlab.errors import AssumptionError, BoundlabError, SpecError
from boundlab.instance.applicability import looked_at
from boundlab.instance.fitting import CompareOptions, fitting
from boundlab.objective import Problem
from boundlab.registry import registered
from boundlab.theorems import load_theorem
from boundlab.verdict import Verdict

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
            if assumption(one).of == "functions" and one not in SETS:
                found.setdefault((one, bool(defined(theorem, one))), []).append(name)
    return found


def defined(theorem: Any, name: str) -> list[str]:
    """Return the symbols that the bound reads and that nothing defines but this assumption."""
    others = {symbol for one in theorem.core.assumed - {name} for symbol in assumption(one).defines}
    return [symbol for symbol in theorem.inputs() if symbol in assumption(name).defines and symbol not in others]


@cache
def instance(name: str) -> CompareOptions | None:
    try:
        return fitting(load_theorem(name))[0]
    except AssumptionError:
        return None


PAIRS = sorted(by_assumption())


def test_all_assumptions_on_functions_are_among_the_pairs() -> None:
    of_functions = {name for name, one in ASSUMPTIONS.items() if one.of == "functions"}
    # Of these no registered theorem says anything: see tests/objective/test_inexact.py and test_run_in_ball.py.
    assert {name for name, _ in PAIRS} >= of_functions - {*SETS, "deterministic", UNBIASED, *ERRORS, RUN_IN_BALL}
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
    with pytest.raises(SpecError, match=" ".join(f"--set {symbol}=…" for symbol in needed)):
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


PAPERS = "fedcompass.window.b", "fedstaleweight.rf1", "fedfa.delta.a", "afl_dga.r1", "afl_dga.r0"
APART = "quadratic:A=[[[2]],[[1]]],b=[[1],[0]],x0=2"  # the curvatures differ, so that G and sigma_g do not exist


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", PAPERS)
def test_the_papers_are_compared_where_gradients_are_unbounded(name: str) -> None:
    theorem = load_theorem(name)
    fails = [
        one for one in theorem.core.asked if assumption(one).of == "functions" and problem_from(APART).why_not(one)
    ]
    needed = [symbol for one in fails for symbol in defined(theorem, one)]
    asked: Any = {"problem": APART, "delays": "deterministic", "iterations": 30, "trials": 2, "beyond": fails}
    for value in (1e-6, 10.0):
        answer = api.compare(theorem, **asked, settings=dict.fromkeys(needed, value))
        assert answer.verdict is (Verdict.CONSISTENT if needed else Verdict.HOLDS) or value < 1.0
        assert answer.verdict is not Verdict.VIOLATED
        assert ("your word" in answer.reason) == bool(needed) or answer.verdict is Verdict.NOT_APPLICABLE
        assert set(answer.plan.outside) == set(fails)


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


@pytest.mark.parametrize("name", ["classics.gd.convex", "afl_dga.r0", "area.theorem7.explicit"])
@pytest.mark.parametrize("h", ["ball=3", "box=[-3,3]", "l1=1"])
def test_a_set_that_a_theorem_does_not_cover_is_told_with_what_would_fit(name: str, h: str) -> None:
    with pytest.raises(
        AssumptionError, match=r"unconstrained .*; f alone would fit, or a theorem about f with .*--for"
    ):
        api.compare(name, problem=f"{APART},{h}", iterations=3)
