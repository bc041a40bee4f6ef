"""True theorems as a reader of textbooks would write them down: none is called false by what it leaves unsaid."""

from pathlib import Path

import numpy as np
import pytest
from run_makers import plan_of

from boundlab.compare import compare
from boundlab.errors import AssumptionError, SpecError, SymbolError
from boundlab.falsify import falsify
from boundlab.theorems import load_theorem
from boundlab.verdict import Verdict

FOLDER = Path(__file__).parent / "textbook"
NAMES = sorted(path.stem for path in FOLDER.glob("*.toml"))
FREE = {
    "sgd_uniform": {"alpha": "0.1"},
    "free_local_rate": {"eta_l": "0.5"},
    "free_decreasing": {"c": "2", "d": "5"},
    "local_steps": {"M": "3"},
}


def textbook(name):
    return load_theorem(str(FOLDER / f"{name}.toml"))


def fitting(theorem):
    clients = "c=[0]" if any("n" in one.statement.split() for one in theorem.conditions) else "c=[0,1]"
    if "strongly-convex" in theorem.assumptions:
        return "quadratic:clients=2,dimension=2,x0=2,sigma={sigma}"
    return f"{'huber' if 'smooth' in theorem.assumptions or 'L' in theorem.inputs() else 'lad'}:{clients},x0=3," + (
        "sigma={sigma}"
    )


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", NAMES)
def test_it_holds_where_it_speaks(name):
    theorem = textbook(name)
    plan = plan_of(theorem, fitting(theorem).format(sigma=0), iterations=40, **FREE.get(name, {}))
    result = compare(plan, 30, 0)
    assert result.verdict is not Verdict.VIOLATED
    assert float(result.ratio.max()) <= 1 + 1e-12


@pytest.mark.parametrize("name", NAMES)
def test_noise_is_no_counterexample_to_what_says_nothing_of_it(name):
    theorem = textbook(name)
    problem = fitting(theorem).format(sigma=1)
    if "bounded-variance" in theorem.assumptions:
        assert compare(plan_of(theorem, problem, iterations=40), 30, 0).verdict is not Verdict.VIOLATED
        return
    assert "deterministic" in theorem.assumptions
    with pytest.raises(AssumptionError, match=r"assumes deterministic .* its gradients are stochastic"):
        plan_of(theorem, problem, iterations=40, **FREE.get(name, {}))


# How the searches treat each kind of step is the business of their own tests.
@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", ["burn_in", "gd_average", "gd_last", "local_steps", "strongly_convex", "subgradient"])
def test_no_search_refutes_it(name):
    assert not falsify(textbook(name), limit=120, seed=1).violated


def test_a_bound_that_is_infinite_at_the_start_is_compared_from_where_it_is_finite(tmp_path):
    text = (FOLDER / "gd_last.toml").read_text(encoding="utf-8")
    for bound, first in (("R**2/(2*alpha*K)", 1), ("R**2/(alpha*K*(K-1))", 2), ("R**2/(alpha*max(0, K-7))", 8)):
        path = tmp_path / "mine.toml"
        path.write_text(text.replace("R**2/(2*alpha*K)", bound).replace('"gap"', '"gap"\nfirst = 0'), encoding="utf-8")
        ks = plan_of(str(path), "huber:c=[0],x0=3", iterations=40).ks
        assert ks[0] == first


@pytest.mark.parametrize(("condition", "first"), [("10 <= K", 10), ("37 <= K**2", 7), ("K**2 <= 40000", 1)])
def test_a_burn_in_restricts_the_points(tmp_path, condition, first):
    path = tmp_path / "mine.toml"
    text = (FOLDER / "burn_in.toml").read_text(encoding="utf-8").replace("10 <= K", condition)
    path.write_text(text.replace("L*R**2/(4*(K-9)) + ", ""), encoding="utf-8")
    theorem = load_theorem(str(path))
    problem = "huber:c=[0],x0=3"
    ks = plan_of(theorem, problem, iterations=300).ks
    assert ks[0] == first
    assert ks[-1] == 300 if first > 1 else ks[-1] <= 200
    assert len(ks) > 5
    if first == 1:
        return
    with pytest.raises(AssumptionError, match=r"needs .* got"):
        plan_of(theorem, problem, iterations=first - 1)
    with pytest.raises(AssumptionError, match=r"needs .* got"):
        theorem.value_at({"L": 1.0, "R": 3.0}, np.array([first - 1]))


def test_what_is_said_of_the_start_is_compared_there_and_nothing_else_is():
    problem = "quadratic:clients=2,dimension=2,x0=2,sigma=0"
    assert plan_of(textbook("strongly_convex"), problem).ks[0] == 0
    assert plan_of(textbook("gd_last"), problem).ks[0] == 1
    with pytest.raises(SymbolError, match="K must be an integer ≥ 1"):
        textbook("gd_last").value_at({"L": 1.0, "R": 1.0}, np.array([0]))


def test_the_horizon_of_the_subgradient_method_is_the_one_of_its_step(tmp_path):
    theorem = textbook("subgradient")
    assert theorem.horizon == "fixed"
    assert plan_of(theorem, "lad:c=[0],x0=3", iterations=40).ks.tolist() == [40]
    path = tmp_path / "mine.toml"
    text = (FOLDER / "subgradient.toml").read_text(encoding="utf-8")
    path.write_text(text.replace('"ergodic-gap"', '"ergodic-gap"\nhorizon = "every"'), encoding="utf-8")
    with pytest.raises(SpecError, match="horizon cannot be every: alpha depends on K"):
        load_theorem(str(path))
