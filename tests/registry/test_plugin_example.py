"""The example of docs/plugins.md: one of each kind in under 125 lines, and every command takes them as its own."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_makers import tape_of

from boundlab.case import build_delays, build_problem
from boundlab.cli import invoke
from boundlab.compare import compare as compare_plan
from boundlab.errors import AssumptionError, SpecError
from boundlab.expectation import moments
from boundlab.instance import make_plan
from boundlab.metrics import Series, metric
from boundlab.registry import lookup
from boundlab.testing import conform
from boundlab.theorems import load_theorem
from boundlab.verdict import Verdict

FOLDER = Path(__file__).parents[1] / "plugin_example"
EXAMPLE, THEOREM = FOLDER / "example.py", FOLDER / "best.toml"
KINDS = {
    "algorithms": "myrennala",
    "metrics": "best-gap",
    "assumptions": "interpolation",
    "checks": "stale",
    "delays": "triangular",
}
# f_0 = x²/2 and f_1 = x², both least at 0: L = 2, mu = 1, R = 2. With alpha = 1/2 a gradient of client 0 halves x, one
# of client 1 makes it 0, and the mean of both divides it by 4.
SHARED = "quadratic:A=[[[1]],[[2]]],b=[[0],[0]],x0=[2]"
APART = "quadratic:A=[[[1]],[[2]]],b=[[0],[1]],x0=[2]"
NOISY = f"{SHARED},sigma=1"


@pytest.fixture(autouse=True)
def _example(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Name the example in BOUNDLAB_PLUGINS; case files go to a folder of their own."""
    monkeypatch.setenv("BOUNDLAB_PLUGINS", str(EXAMPLE))
    monkeypatch.chdir(tmp_path)


def compare(theorem: Path, problem: str, *more: str, alpha: float = 0.5) -> int:
    arguments = ["compare", str(theorem), "--problem", problem, "--set", f"alpha={alpha}", "--delays", "triangular"]
    return invoke([*arguments, "-k", "4", "-r", "3", *more])


def changed(tmp_path: Path, *changes: tuple[str, str]) -> Path:
    """Return the theorem with parts of its text replaced."""
    text = THEOREM.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file = tmp_path / "changed.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_one_of_each_takes_less_than_125_lines() -> None:
    assert len(EXAMPLE.read_text(encoding="utf-8").splitlines()) < 125


@pytest.mark.parametrize("kind", KINDS)
def test_the_list_shows_each_with_its_origin(
    kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("BOUNDLAB_PLUGINS")
    assert invoke(["--plugin", str(EXAMPLE), "list", kind, "--json"]) == 0
    found = {one["id"]: one for one in json.loads(capsys.readouterr().out)["entries"]}
    assert found[KINDS[kind]]["from"] == str(EXAMPLE)
    assert found[KINDS[kind]]["summary"]
    assert invoke(["--plugin", str(EXAMPLE), "list", kind]) == 0
    assert KINDS[kind] in capsys.readouterr().out


@pytest.mark.parametrize("batch", [1, 2, 5])
def test_its_algorithm_conforms_under_its_delays_and_others(batch: int) -> None:
    algorithm, options = lookup("algorithms", "myrennala"), {"alpha": 0.5, "batch": batch}
    conform.algorithm(algorithm, options)
    conform.algorithm(algorithm, options, delays=[build_delays("triangular", {"spread": 3, "width": 1}, 3)])


def test_stale_gradients_are_ignored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Client 0 sends two gradients at x = 2: x = 1. Client 1's is then stale (event 3); its next two make x = 0.
    file = tmp_path / "case.json"
    case = {
        "algorithm": "myrennala",
        "problem": {"type": "quadratic", "A": [[[1]], [[2]]], "b": [[0], [0]], "x0": [2]},
        "parameters": {"alpha": 0.5, "batch": 2},
        "events": [[1, 0], [2, 0], [3, 1], [4, 1], [5, 1], [6, 0]],
    }
    file.write_text(json.dumps(case))
    assert invoke(["replay", str(file), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    rows = shown if isinstance(shown, list) else shown["trajectory"]
    assert [(row["k"], row["x"][0]) for row in rows] == [(0, 2.0), (1, 1.0), (1, 1.0), (1, 1.0), (2, 0.0), (2, 0.0)]


def test_run_shows_its_algorithm_under_its_delays(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--set", "alpha=0.5", "--delays", "triangular:width=0", "-k", "3", "-r", "1"]
    assert invoke(["run", "myrennala", "--problem", SHARED, *options, "--set", "batch=2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["metrics"]["gap"] == [[0.75 * 4.0 * 16.0**-k for k in range(4)]]  # x is divided by 4


def test_its_theorem_holds_with_the_ratios_worked_out_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    # The bound is 4·4^-k. Each step at least halves x, so that the gap 3x²/4 is at most 3·4^-k: 3/4 of the bound.
    assert compare(THEOREM, SHARED, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "holds"
    assert found["rows"][0]["ratio"] == pytest.approx(0.75, rel=1e-12)
    for k, row in enumerate(found["rows"]):
        assert row["bound"] == pytest.approx(4.0 * 4.0**-k, rel=1e-12)
        assert row["upper"] <= 3.0 * 4.0**-k * (1.0 + 1e-12)
    assert compare(THEOREM, SHARED, "--set", "batch=2", "--delays", "triangular:width=0", "--json") == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["upper"] for row in rows] == pytest.approx([3.0 * 16.0**-k for k in range(5)], rel=1e-12)


def test_a_false_claim_of_its_kind_is_refuted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # On one function ½x² with alpha = 1/2 both sides are 2·4^-k; two thirds of it are too few.
    one = "quadratic:A=[[[1]],[[1]]],b=[[0],[0]],x0=[2]"
    assert compare(THEOREM, one) == 0
    capsys.readouterr()
    assert compare(changed(tmp_path, ("L*R**2/2", "L*R**2/3")), one, "--json") == 1
    assert json.loads(capsys.readouterr().out)["rows"][0]["ratio"] == pytest.approx(1.5, rel=1e-12)


def test_a_best_iterate_does_not_get_worse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # alpha = 3 sends x to −2x, so that the best is the first: min_j 2·4^j = 2.
    far = changed(
        tmp_path, ('conditions = ["alpha*L <= 1", ', "conditions = ["), ("(1 - alpha*mu)**(2*K)", "(1 + alpha*mu)**K")
    )
    one = "quadratic:A=[[[1]],[[1]]],b=[[0],[0]],x0=[2]"
    assert compare(far, one, "--json", alpha=3) == 0
    assert [row["upper"] for row in json.loads(capsys.readouterr().out)["rows"]] == pytest.approx([2.0] * 5, rel=1e-12)


def test_its_assumption_is_asked_of_built_in_problems(capsys: pytest.CaptureFixture[str]) -> None:
    # f is least at 2/3, where f_0 has slope 2/3.
    assert compare(THEOREM, APART) == 4
    said = " ".join(capsys.readouterr().err.split())
    assert "example.best assumes interpolation (all f_i share a minimiser); problem quadratic" in said
    assert "‖∇f_i(x*)‖ is up to 0.667" in said
    assert compare(THEOREM, "lad:c=[[0],[0]],x0=[2]") == 4
    assert compare(THEOREM, APART, "--beyond", "interpolation") in (0, 4)
    assert "outside the theorem: interpolation is not met" in " ".join(capsys.readouterr().out.split())


def test_a_problem_answers_before_the_check_of_an_assumption() -> None:
    from own_problem import FAMILY, MIXED, Bowls, build

    from boundlab.options import Options

    class Frank(Bowls):
        def assumptions(self) -> dict[str, str]:
            return {**super().assumptions(), "interpolation": "it does not care"}

    good: Any = build(Options("problem bowls", {**MIXED, "sigma": 0.0}))
    frank = Frank(**{name: getattr(good, name) for name in good.__dataclass_fields__})
    assert good.why_not("interpolation") == "no bound of ‖∇f_i(x*)‖ is known"
    assert frank.why_not("interpolation") == "it does not care"
    assert good.why_not("nobody-knows") == "it does not say"
    with pytest.raises(AssumptionError, match=r"t assumes interpolation .*: it does not care"):
        frank.require("interpolation", "t")
    conform.problem(frank, FAMILY)


def test_no_engine_takes_the_best_iterate_for_a_mean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    no_mean = "best-gap is not a mean of recorded quantities"
    plain = changed(tmp_path, (', "interpolation"', ""))
    values = [part for name in ("alpha=0.5", "L=2", "mu=1", "R=2", "sigma=0") for part in ("--set", name)]
    assert invoke(["worst-case", str(plain), "-k", "2", "--set", "n=1", *values]) == 2
    assert "a left side that is a mean of recorded quantities, which best-gap is not" in capsys.readouterr().err
    case = tmp_path / "case.json"
    content: dict[str, Any] = {
        "algorithm": "myrennala",
        "problem": {"type": "quadratic", "A": [[[1]], [[2]]], "b": [[0], [0]], "x0": [2]},
        "parameters": {"alpha": 0.5, "batch": 2},
        "theorem": "example.best",
        "events": [[1, 0], [2, 1], [3, 1], [4, 1]],
    }
    case.write_text(json.dumps(content))
    assert invoke(["exact", str(THEOREM), str(case), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["left"] == 0.0
    assert no_mean in found["note"]
    # With noise the least of the expectations is more than the expectation of the least.
    noisy = changed(tmp_path, (', "sigma <= 0"', ""), ('"interpolation"]', '"interpolation", "bounded-variance"]'))
    content["problem"]["sigma"] = 1
    case.write_text(json.dumps(content))
    assert invoke(["exact", str(noisy), str(case)]) == 2
    assert f"no exact engine applies: {no_mean}" in capsys.readouterr().err
    assert compare(noisy, NOISY, "--exact") == 2
    assert "needs a mean of recorded quantities, not best-gap" in capsys.readouterr().err


def test_moments_refuse_a_metric_that_is_no_mean() -> None:
    tape = tape_of("gd", {"alpha": 0.5}, 1, 2, "deterministic")
    with pytest.raises(SpecError, match=r"moments need .* which best-gap is not"):
        moments.left_side(metric("best-gap"), build_problem("quadratic", {"sigma": 1}), tape, np.array([2]))


def test_rounding_is_no_refutation_of_a_best_iterate() -> None:
    # The bound is 1e-120 in the end, and no float comes nearer to the minimiser than 1e-17.
    theorem = load_theorem(str(THEOREM))
    problem = build_problem("quadratic", {"A": [[[1.0]], [[2.0]]], "b": [[0.3], [0.3]], "x0": 2.0})
    delays = build_delays("triangular", {}, 2)
    policy = lookup("algorithms", "myrennala").policy(None, delays)
    plan = make_plan(theorem, problem, delays, policy, 400, {"alpha": "0.3"})
    assert plan.bound[-1] < 1e-100
    assert compare_plan(plan, 2, 0).verdict is Verdict.HOLDS
    series = Series(metric("best-gap"), np.array([0, 2]))
    for value in (3.0, 1.0, 2.0):
        series.add(value)
    assert series.values.tolist() == [3.0, 1.0]


@pytest.mark.nightly
def test_the_search_leaves_out_problems_that_its_assumption_excludes(capsys: pytest.CaptureFixture[str]) -> None:
    # Instances of two centres are no instances: the search must neither stop at them nor count them.
    assert invoke(["falsify", str(THEOREM), "--candidates", "200", "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert not any("two centres" in family for family in found["tried"])
    assert any("assumes interpolation" in reason for reason in found["refused"])
