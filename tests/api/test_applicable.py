"""Which theorems apply to a problem: those of which a comparison has a bound, and no others."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

import boundlab as bl
from boundlab.cli import invoke
from boundlab.errors import AssumptionError, SpecError
from boundlab.instance.fitting import CompareOptions, applies, fitting
from boundlab.theorems import load_theorem

HUBER = "huber:c=[[0],[2]],x0=3"


@pytest.mark.sweep(6)
@pytest.mark.parametrize(
    "problem", [HUBER, "quadratic:A=[[[2]],[[1]]],b=[[1],[0]],x0=2,sigma=0.1", "lad:x0=3,box=[-4,4]"]
)
@pytest.mark.parametrize("delays", [None, "deterministic"])
def test_each_theorem_applies_with_what_is_said_or_has_one_reason(problem: str, delays: str | None) -> None:
    some = [f"classics.{name}" for name in ("gd.convex", "gd.strongly-convex", "subgradient.projected", "fista")]
    some += ["area.theorem7.explicit", "afl_dga.r1", "fedcompass.group", "fedbuff.rf2", "fedfa.delta.b"]
    found = bl.applicable(problem, delays, theorems=some)
    assert [one.theorem.id for one in found.found] == some
    for one, entry in zip(found.found, found.entries(), strict=True):
        if one.options is None:
            assert entry["reason"]
            assert "\n" not in entry["reason"]
            assert not entry["reason"].startswith(one.theorem.id)
            with pytest.raises(bl.BoundlabError):
                bl.compare(one.theorem, problem, delays or "exponential", iterations=40, trials=2)
        else:
            assert delays in (None, one.options.delays)
            own = CompareOptions(one.theorem, problem, one.options.delays, None, 6, one.options.settings)
            assert own.plan(trials=2).bound.size
            assert bl.problem(one.options.problem) == bl.problem(problem)
    assert found.line() == f"{sum(found.columns()['applies'])} of {len(some)} apply to {problem.partition(':')[0]}"


@pytest.mark.parametrize("name", ["area.theorem8.repaired", "classics.delayed-sgd", "afl_dga.r3"])
def test_what_fits_a_theorem_is_a_problem_that_it_applies_to(name: str) -> None:
    theorem = load_theorem(name)
    one = fitting(theorem)[0]
    assert applies(theorem, bl.problem(one.problem), one.delays).options is not None


@pytest.mark.parametrize(
    "problem",
    [{"type": "huber", "c": [0, 1.5], "x0": 3}, replace(bl.problem("huber:c=[0,1.5],x0=3"))],
    ids=["words", "copy"],
)
def test_what_applies_names_the_very_problem(problem: Any) -> None:
    options = bl.applicable(problem, "deterministic", theorems=["classics.gd.convex"]).found[0].options
    assert options is not None
    spec = problem if isinstance(problem, Mapping) else problem.spec()
    assert bl.problem(options.problem).spec() == bl.problem(spec).spec()
    assert bl.compare(options.theorem, **options.asked()).plan.problem.n == 2


def test_a_set_is_listed_with_the_theorems_that_cover_it() -> None:
    ball = "quadratic:A=[[[1]]],b=[[0]],x0=1,ball=3"
    with pytest.raises(AssumptionError, match="list theorems --for"):
        bl.compare("classics.gd.convex", ball, iterations=3)
    found = bl.applicable(ball, theorems=["classics.gd.convex", "classics.sgd.projected.any-horizon"])
    assert found.columns()["applies"] == [False, True]


def test_a_theorem_that_is_none_is_refused() -> None:
    with pytest.raises(SpecError, match="unknown theorem"):
        bl.applicable(HUBER, theorems=["area.theorem9"])


def test_the_command_lists_both(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["list", "theorems", "fedbuff", "--for", HUBER, "--delays", "deterministic"]
    assert invoke(asked) == 0
    shown = capsys.readouterr().out
    assert "fedbuff.rf1" in shown.partition("does not apply")[0]
    assert "fedbuff.rf2" in shown.partition("does not apply")[2]
    assert invoke([*asked, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "boundlab/list/1"
    assert {entry["id"]: entry["applies"] for entry in document["entries"]} == {
        "fedbuff.rf1": True, "fedbuff.rf2": False, "fedbuff.rf3": False,
        "fedbuff.rf1.along-run": True, "fedbuff.rf2.along-run": False, "fedbuff.rf3.along-run": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["list", "theorems", "--delays", "iid"], "list theorems --for PROBLEM"),
        (["list", "problems", "--for", HUBER], "list theorems --for PROBLEM"),
        (["list", "theorems", "--for", "hubert"], "hubert"),
        (["list", "theorems", "--for", HUBER, "--delays", "nonsense"], "nonsense"),
    ],
)
def test_bad_words_are_one_line(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(words) == 2
    assert said in " ".join(capsys.readouterr().err.split())
