"""With sampling=mean, gd takes x⁺ = prox_{αh}(x − α·(1/n) Σ ∇f_i(x)) whatever the clients are, in every arithmetic.

Here that recursion is written down anew, in fractions and in NumPy, and theorems that are true of it are asked.
"""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from algorithm_makers import make_case, trajectory_of
from hypothesis import given, settings, strategies as st

import boundlab as bl
from boundlab.arithmetic import numbers
from boundlab.arithmetic.rational import Recipe
from boundlab.case import problem_from
from boundlab.cli import invoke
from boundlab.errors import AssumptionError, SpecError
from boundlab.execute import rationals
from boundlab.expectation import moments
from boundlab.falsify import falsify
from boundlab.metrics import METRICS
from boundlab.objective.weighted import minimised
from boundlab.options import Options
from boundlab.registry import lookup
from boundlab.tape import RecordAt
from boundlab.theorems import load_theorem

GD: Any = lookup("algorithms", "gd")
TRUE = "(1 - mu/L)**K*R**2"
THEOREM = """
id = "mine.prox"
algorithm = "gd"
metric = "squared-distance"
assumptions = ["strongly-convex", "smooth", "minimiser", "deterministic", "composite"]
{options}
[step]
alpha = "{alpha}"
[terms]
bound = "{bound}"
"""
# f_0 = x²/2, f_1 = (x − 10)²/2 and h = |x|: F is least where x − 5 + 1 = 0.
FAR = {"type": "quadratic", "A": [[[1]], [[1]]], "b": [[0], [10]], "l1": 1}


def theorem(folder: Path, sampling: str = "mean", bound: str = TRUE, alpha: str = "1/L") -> Path:
    options = f'[options]\nsampling = "{sampling}"' if sampling else ""
    path = folder / "mine.toml"
    path.write_text(THEOREM.format(options=options, alpha=alpha, bound=bound))
    return path


def rounds(count: int) -> list[list[Any]]:
    return [[k, "s"] for k in range(1, count + 1)]


def soft(x: Any, threshold: Any) -> Any:
    return x - min(max(x, -threshold), threshold)


# ---- by hand ---------------------------------------------------------------------------------------------------------


def test_two_clients_by_hand() -> None:
    # α = 1: gradient steps end at 0 and 10, their mean is 5, and |x| takes 1 off that; of each it leaves 0 and 9.
    models = {"mean": 4.0, "all": 4.5}
    for sampling, model in models.items():
        _, x = trajectory_of(make_case("gd", FAR, {"alpha": 1, "sampling": sampling}, rounds(3)))
        assert x.ravel().tolist() == [model] * 3
    # α = 1/2: x ↦ x/2 + 5/2 − 1/2.
    _, x = trajectory_of(make_case("gd", FAR, {"alpha": 0.5, "sampling": "mean"}, rounds(4)))
    assert x.ravel().tolist() == [2.0, 3.0, 3.5, 3.75]


# ---- the same recursion in fractions and in NumPy --------------------------------------------------------------------

HALF = Fraction(1, 2)
CLIENTS = st.lists(
    st.tuples(st.sampled_from([HALF, Fraction(1), Fraction(3)]), st.integers(-4, 4)), min_size=1, max_size=3
)
SIMPLE: dict[str, tuple[Any, Callable[[Any, Any], Any]]] = {
    "l1": ("1/2", lambda x, size: soft(x, size * HALF)),
    "box": ([-1, "3/2"], lambda x, _: min(max(x, -1), 3 * HALF)),
}


@pytest.mark.parametrize("simple", SIMPLE)
@settings(max_examples=8)
@given(clients=CLIENTS, alpha=st.sampled_from([HALF / 2, HALF, Fraction(2, 3)]), K=st.integers(1, 8))
def test_rationals_are_the_recursion_and_floats_enclose_it(
    simple: str, clients: list[tuple[Fraction, int]], alpha: Fraction, K: int
) -> None:
    value, prox = SIMPLE[simple]
    options = {"A": [[[str(w)]] for w, _ in clients], "b": [[c] for _, c in clients], simple: value, "x0": HALF}
    x, models = HALF, []
    for _ in range(K):
        x = prox(x - alpha * sum(w * (x - c) for w, c in clients) / len(clients), alpha)
        models.append(x)

    options["x0"] = "1/2"
    given = make_case("gd", {"type": "quadratic", **options}, {"alpha": float(alpha), "sampling": "mean"}, rounds(K))
    problem = minimised(given.problem, GD, given.parameters)

    shown: list[Fraction] = []
    model = problem.rational(options)
    assert model is not None
    parameters = GD.read(Options("gd", {"sampling": "mean", "alpha": Recipe(float(alpha), ("rate", 0))}))
    tape = GD.schedule(parameters, given.events, len(clients), RecordAt(np.arange(1, K + 1)), K)
    observe = lambda _, at: shown.append(numbers.fraction(at[0]))  # noqa: E731
    rationals.run(tape, model, [numbers.rational(alpha)], observe, balls=False)
    assert shown == models

    assert trajectory_of(given)[1].ravel() == pytest.approx([float(one) for one in models], rel=1e-12, abs=1e-12)
    metric, best = METRICS["squared-distance"], model.minimum()
    assert best is not None
    found = moments.left_side(metric, problem, tape, np.arange(1, K + 1))
    for low, high, one in zip(found.lower, found.upper, models, strict=True):
        assert Fraction(float(low)) <= (one - best.x[0]) ** 2 <= Fraction(float(high))
        assert high - low <= 1e-9


MATRICES = "quadratic:A=[[[2,1],[1,2]],[[1,0],[0,3]],[[2,0],[0,1]]],b=[[0,3],[2,0],[-1,-2]],x0=[0.5,-0.75]"
LOGISTIC = "logistic:data=breast_cancer,samples=60,clients=3,partition=dirichlet,nu=0.1"


@pytest.mark.sweep(5)
@pytest.mark.parametrize("simple", ["l1=0.3", "box=[-1,0.75]", "ball=1"])
@pytest.mark.parametrize("spec", [MATRICES, LOGISTIC])
def test_every_way_to_run_it_is_a_loop_in_numpy(spec: str, simple: str) -> None:
    problem, size, K = problem_from(f"{spec},{simple}"), 0.3, 6
    x, gaps = problem.x0.copy(), []
    for _ in range(K):
        slopes = [problem.gradient_part.gradient(i, x) for i in range(problem.n)]
        x = x - size * sum(slopes) / problem.n
        match simple.partition("=")[0]:
            case "l1":
                x = np.sign(x) * np.maximum(np.abs(x) - 0.3 * size, 0.0)
            case "box":
                x = np.clip(x, -1.0, 0.75)
            case _:
                x = x / max(1.0, float(np.linalg.norm(x)))
        gaps.append(problem.value(x) - problem.optimum().value)
    for backend in ("numpy", "torch"):
        if backend == "torch":
            pytest.importorskip("torch")
        run = bl.run("gd", problem, iterations=K, trials=2, backend=backend, alpha=size, sampling="mean")
        assert run.metrics["gap"][:, 1:] == pytest.approx(np.array([gaps] * 2), rel=1e-9, abs=1e-10)


@pytest.mark.parametrize(
    "spec", ["huber:c=[0,1,3],w=[1,2,0.5],delta=0.7,x0=0.4", "lad:c=[0,1,3],x0=0.4", MATRICES, LOGISTIC]
)
def test_a_step_brings_points_no_further_apart_than_its_bounds_say(spec: str) -> None:
    problem = problem_from(f"{spec},l1=0.3").of_mean  # type: ignore[attr-defined]
    bounds, rng = problem.step_bounds(0), np.random.default_rng(0)
    assert bounds.proximal
    for size in (0.1, 0.5, 2.0):
        for x, y in problem.x0 + rng.normal(size=(20, 2, problem.d)):
            kinked = bounds.kinks and problem.near_kink(0, x[None], float(np.linalg.norm(x - y)))[0]
            ends = [x.copy(), y.copy()]
            for point in ends:
                problem.descend(0, point, size)
            far = float(np.linalg.norm(ends[0] - ends[1]))
            assert kinked or far <= bounds.growth(size) * float(np.linalg.norm(x - y)) * (1 + 1e-9)
    # The mean jumps wherever one of the functions does.
    if spec.startswith("lad"):
        assert [problem.near_kink(0, np.array([[c]]), 1e-9)[0] for c in (0.0, 1.0, 3.0, 2.0)] == [True] * 3 + [False]


# ---- theorems --------------------------------------------------------------------------------------------------------


@pytest.mark.nightly
def test_a_search_refutes_the_statement_about_the_mean_of_steps_and_not_that_about_the_step_of_the_mean(
    tmp_path: Path,
) -> None:
    found = falsify(load_theorem(str(theorem(tmp_path))), limit=80)
    assert not found.violated
    families = [
        name for name, number in found.tried.items() if "penalty" in name and "one client" not in name and number
    ]
    assert families  # clients that differ, with a penalty, were looked at
    other = falsify(load_theorem(str(theorem(tmp_path, sampling="all"))), limit=80)
    assert other.violated
    assert other.best is not None
    assert other.best.words().startswith("gd takes the mean of the clients' proximal steps")


# ---- refusals, and f alone -------------------------------------------------------------------------------------------


def test_without_h_it_is_the_mean_of_all_clients_steps() -> None:
    plain = {key: value for key, value in FAR.items() if key != "l1"}
    runs = [
        trajectory_of(make_case("gd", plain, {"alpha": 0.3, "sampling": one}, rounds(5)))[1] for one in ("all", "mean")
    ]
    assert (runs[0] == runs[1]).all()
    problem = problem_from("quadratic:A=[[[1]],[[1]]],b=[[0],[10]],sigma=1")
    assert minimised(problem, GD, GD.read(Options("gd", {"alpha": 1, "sampling": "mean"}))) is problem


@pytest.mark.nightly
@pytest.mark.parametrize("noise", ["sigma=1", "sigma=1,noise=sign"])
def test_noise_is_refused_in_one_line(noise: str) -> None:
    spec = f"quadratic:A=[[[1]],[[1]]],b=[[0],[10]],l1=1,{noise}"
    with pytest.raises(AssumptionError, match="no proximal step along the mean of noisy gradients; set sigma=0"):
        bl.run("gd", spec, alpha=0.5, sampling="mean")
    # One client's step is that of the mean.
    assert bl.run("gd", spec.replace(",[[1]]]", "]").replace(",[10]]", "]"), alpha=0.5, sampling="mean")


def test_a_run_of_the_other_step_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = theorem(tmp_path, sampling="all")
    assert invoke(["compare", str(other), "--problem", f"{MATRICES},l1=1", "--set", "sampling=mean"]) == 4
    assert "the proof takes sampling=all, the run sampling=mean" in capsys.readouterr().err


@pytest.mark.nightly
def test_a_statement_that_does_not_say_which_of_the_two_steps_it_is_about_is_refused(tmp_path: Path) -> None:
    unsaid = theorem(tmp_path, sampling="")
    with pytest.raises(SpecError, match=r"proximal step of the mean \(sampling=mean does\); say under \[options\]"):
        load_theorem(str(unsaid))
    # Of one function the two are one.
    unsaid.write_text(unsaid.read_text().replace('"composite"', '"composite", "one-function"'))
    assert not falsify(load_theorem(str(unsaid)), limit=60).violated
