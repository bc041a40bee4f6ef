"""The iterates stay within R of the minimiser: a theorem that assumes it says nothing of a run that leaves the ball."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import boundlab as bl
from boundlab.errors import AssumptionError, SpecError
from boundlab.falsify import falsify
from boundlab.theorems import Theorem, load_theorem
from boundlab.verdict import Verdict

# For x ← x − α∇f(x) within R of x*: Σ_k (f(x_k) − f*)/K ≤ R²/(2αK) + αL²R²/2, whatever α is.
THEOREM = """
id = "in-ball"
algorithm = "gd"
assumptions = ["convex", "smooth", "minimiser", "run-in-ball"]
settable = ["alpha"]
[left]
quantity = "gap"
over = "mean"
[step]
alpha = "1/L"
[terms]
start = "R**2/(2*alpha*K)"
square = "alpha*L**2*R**2/2"
"""
PARABOLA = "quadratic:A=[[[1]]],b=[[0]],x0=1"


def theorem(folder: Path, *changes: tuple[str, str]) -> Theorem:
    text = THEOREM
    for old, new in changes:
        text = text.replace(old, new)
    path = folder / "in_ball.toml"
    path.write_text(text)
    return load_theorem(path)


def compared(claim: Theorem, problem: str = PARABOLA, **more: Any) -> Any:
    return bl.compare(claim, problem, **{"iterations": 3, "trials": 2, "alpha": 3, **more})


def test_a_run_that_leaves_the_ball_is_not_judged(tmp_path: Path) -> None:
    """From 1 with α = 3 the models of x²/2 are −2, 4, −8."""
    with pytest.raises(AssumptionError, match="server model 1 is 2 from the minimiser, which is more than R = 1"):
        compared(theorem(tmp_path))
    assert compared(theorem(tmp_path), alpha=1.5).verdict is Verdict.HOLDS


def test_without_the_assumption_the_claim_is_about_that_run_too(tmp_path: Path) -> None:
    assert compared(theorem(tmp_path, (', "run-in-ball"', ""))).verdict is Verdict.VIOLATED


def test_a_larger_ball_is_the_theorems_for_another_r(tmp_path: Path) -> None:
    assert compared(theorem(tmp_path), R=8.5).verdict is Verdict.HOLDS
    with pytest.raises(AssumptionError, match="model 3 may be further from the minimiser, as far as rounding tells"):
        compared(theorem(tmp_path), R=8)


def test_beyond_it_nothing_is_refuted(tmp_path: Path) -> None:
    found = compared(theorem(tmp_path), beyond=["run-in-ball"])
    assert found.verdict is Verdict.NOT_APPLICABLE
    assert "run-in-ball is not looked at" in found.reason


def test_noise_takes_each_run_elsewhere(tmp_path: Path) -> None:
    noisy = theorem(tmp_path, ('"minimiser", ', '"minimiser", "bounded-variance", '))
    with pytest.raises(AssumptionError, match="its gradients are stochastic"):
        compared(noisy, f"{PARABOLA},sigma=1")


def test_a_mean_over_schedules_is_one_over_runs_that_nobody_looks_at(tmp_path: Path) -> None:
    drawn = theorem(tmp_path, ("settable", 'options = {sampling = "uniform"}\nsettable'))
    with pytest.raises(AssumptionError, match="of all runs that it takes the mean of"):
        compared(drawn, "quadratic:A=[[[1]],[[1]]],b=[[0],[0]],x0=1", alpha=1)


def test_a_case_file_of_such_a_run_refutes_nothing(tmp_path: Path) -> None:
    """The smallest counterexample to the claim without the assumption is a run that leaves the ball."""
    anywhere = falsify(theorem(tmp_path, (', "run-in-ball"', "")), limit=60)
    assert anywhere.violated
    assert anywhere.case is not None
    case = tmp_path / "case.json"
    case.write_text(json.dumps(anywhere.case), encoding="utf-8")
    with pytest.raises(AssumptionError, match="assumes run-in-ball"):
        bl.exact(theorem(tmp_path), case)


@pytest.mark.nightly
def test_a_search_finds_nothing_against_the_theorem(tmp_path: Path) -> None:
    found = falsify(theorem(tmp_path), limit=60)
    assert not found.violated
    assert found.best is not None
    assert any("run-in-ball" in why for why in found.refused)


def test_a_search_still_refutes_what_is_false_in_the_ball(tmp_path: Path) -> None:
    assert falsify(theorem(tmp_path, ("square", "# square"), ("2*alpha", "4*alpha")), limit=60).violated


def test_no_shape_is_followed_out_of_the_ball(tmp_path: Path) -> None:
    shape = 'shape = true\n[growth]\nin = ["K"]\n[left]'
    with pytest.raises(SpecError, match="growth looks along families of problems, and run-in-ball at one"):
        theorem(tmp_path, ("[left]", shape))


def test_a_constant_is_read_where_its_points_give_it() -> None:
    """‖∇f_i − ∇f‖ is read at server models; taken for G it had been too small a bound of ‖∇f_i‖."""
    form = load_theorem("fedbuff.rf1.along-run")
    with pytest.raises(SpecError, match="server is where sigma_g, sigma_g_mean are read, and G_sq is none of them"):
        replace(form, points={"G_sq": ("server",)})
    with pytest.raises(SpecError, match="local-steps is where B, G, G_sq are read, and R is none"):
        replace(form, points={"R": ("local-steps",)})
