"""An algorithm whose clients weigh differently minimises Σ p_i f_i, and everything that is about f is about that."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import boundlab as bl
from boundlab.case import build_delays, problem_from
from boundlab.cli import invoke
from boundlab.errors import AssumptionError, SpecError
from boundlab.objective import Problem, Wrapped
from boundlab.objective.weighted import Weighted, minimised, spread_factor
from boundlab.options import Options
from boundlab.registry import lookup
from boundlab.simulate import simulate

FAMILIES = {
    "huber": "huber:c=[0,1,3],w=[1,2,0.5],delta=0.7,x0=2",
    "pseudo-huber": "pseudo-huber:c=[[0,1],[2,0],[1,1]],delta=0.5,x0=[1,2]",
    "lad": "lad:c=[0,1,3],x0=2",
    "quadratic": "quadratic:clients=3,dimension=2,seed=1",
    "max-affine": "max-affine:clients=3,dimension=1,pieces=3,seed=2",
    "logistic": "logistic:data=breast_cancer,samples=60,clients=3,nu=0.1",
    "softmax": "softmax:data=digits,samples=60,clients=3,nu=0.1",
}
P = (Fraction(1, 5), Fraction(1, 2), Fraction(3, 10))


def weighted(name: str) -> tuple[Problem, Weighted]:
    problem = problem_from(FAMILIES[name])
    scaled = problem.scaled([problem.n * one for one in P])
    assert scaled is not None
    return problem, Weighted(problem, scaled, P)


@pytest.mark.parametrize("name", FAMILIES)
def test_values_and_gradients_are_weighted_sums_over_the_clients(name: str) -> None:
    problem, objective = weighted(name)
    rng = np.random.default_rng(0)
    for x in problem.x0 + rng.normal(size=(5, problem.d)):
        value = sum(float(p) * problem.client_value(i, x) for i, p in enumerate(P))
        assert objective.value(x) == pytest.approx(value, rel=1e-12)
        slope = sum(float(p) * problem.gradient(i, x) for i, p in enumerate(P))
        assert objective.full_gradient(x) == pytest.approx(slope, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("name", ["huber", "pseudo-huber", "lad", "max-affine", "logistic"])
def test_heterogeneity_is_about_the_weighted_mean(name: str) -> None:
    problem, objective = weighted(name)
    if "sigma_g" not in problem.constants():
        pytest.skip(f"{name} has no bounded heterogeneity")
    most = objective.constants()["sigma_g"].value
    rng = np.random.default_rng(2)
    for x in rng.normal(scale=5.0, size=(200, problem.d)):
        each = np.array([problem.gradient(i, x) for i in range(problem.n)])
        away = np.linalg.norm(each - np.array([float(p) for p in P]) @ each, axis=1)
        assert away.max() <= most * (1.0 + 1e-12)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=5), st.integers(0, 2**32 - 1))
def test_the_spread_about_a_weighted_mean_is_bounded_by_that_about_the_plain_one(raw: list[int], seed: int) -> None:
    p = [Fraction(one, sum(raw)) for one in raw]
    vectors = np.random.default_rng(seed).normal(size=(len(p), 2)) ** 3
    plain = np.linalg.norm(vectors - vectors.mean(axis=0), axis=1).max()
    own = np.linalg.norm(vectors - np.array([float(one) for one in p]) @ vectors, axis=1).max()
    assert own <= float(spread_factor(p)) * plain * (1.0 + 1e-9) + 1e-12


def test_equal_weights_change_nothing() -> None:
    assert spread_factor([Fraction(1, 4)] * 4) == 1
    problem, algorithm = problem_from("huber:c=[0,1]"), lookup("algorithms", "fedcompass")
    same = algorithm.read(Options("fedcompass", {"eta": 0.1, "p": "[0.5,0.5]"}))
    assert minimised(problem, algorithm, same) is problem


def test_a_family_without_other_weights_is_refused() -> None:
    problem = problem_from("smoothed-max-affine:clients=2,dimension=1")
    algorithm = lookup("algorithms", "fedcompass")
    parameters = algorithm.read(Options("fedcompass", {"eta": 0.1, "p": "[0.9,0.1]"}))
    with pytest.raises(AssumptionError, match="minimises Σ p_i f_i"):
        minimised(problem, algorithm, parameters)


@pytest.mark.parametrize(
    ("algorithm", "settings"),
    [
        ("fedcompass", {"eta": "0.02", "p": "[0.2,0.5,0.3]", "Qmin": "1", "Qmax": "1"}),
        ("sfedavg", {"alpha": "0.02", "weights": "[2,5,3]", "M": "1"}),
    ],
)
def test_runs_with_weights_come_to_rest_where_the_weighted_objective_does(
    algorithm: str, settings: dict[str, str]
) -> None:
    problem = problem_from(FAMILIES["huber"])
    delays = build_delays("deterministic", {}, problem.n)
    found = simulate(algorithm, problem, delays, None, settings, iterations=3000, trials=1, seed=0)
    assert found.metrics["gradient-norm"][0, -1] < 1e-9


# What follows from the others, or says that a family has no such thing; without a confinement nothing is sure.
INHERITED = {
    "confinement",
    "full_gradients",
    "in_balls",
    "least_squares",
    "noiseless",
    "plot",
    "quadratic",
    "require",
    "require_quadratic",
    "run_limit",
    "scaled",
    "why_not",
}


def test_nothing_that_a_problem_can_do_is_lost_behind_its_weights() -> None:
    public = {name for name in vars(Problem) if not name.startswith("_")}
    assert public - {*vars(Weighted), *vars(Wrapped)} <= INHERITED


WEIGHED = {"sfedavg": {"weights": "[3,1]"}, "fedcompass": {"p": "[3,1]", "Qmin": "1"}}


@pytest.mark.parametrize("algorithm", WEIGHED)
def test_every_result_names_the_objective_that_it_measures(
    algorithm: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rate = "eta" if algorithm == "fedcompass" else "alpha"
    path = tmp_path / "mine.toml"
    path.write_text(
        f'id = "mine.weights"\nalgorithm = "{algorithm}"\nmetric = "gap"\nassumptions = ["convex", "smooth"]\n'
        f'[options]\n"*" = "any"\n[parameters]\n[terms]\nbound = "10**6*L*(R+zeta+1)**2"\n[step]\n{rate} = "1/(9*L)"\n'
    )
    spec = "quadratic:A=[[[1]],[[1]]],b=[[0],[4]],x0=[2]"
    words = "Σ p_i f_i with p = (3/4, 1/4)"
    found = bl.compare(str(path), spec, "deterministic", iterations=3, settings=WEIGHED[algorithm])
    assert found.as_dict()["objective"] == words
    options = [part for name, value in WEIGHED[algorithm].items() for part in ("--set", f"{name}={value}")]
    assert invoke(["compare", str(path), "-p", spec, "-d", "deterministic", "-k", "3", *options]) == 0
    assert f"f = {words}" in " ".join(capsys.readouterr().out.split())
    plain = bl.compare("classics.gd.convex", "quadratic:sigma=0", iterations=3)
    assert plain.as_dict()["objective"] == "f, the mean of all f_i"
    with pytest.raises(SpecError, match="the mean of all f_i; with these weights"):
        bl.worst_case(str(path), iterations=1, n=2, **WEIGHED[algorithm])


@pytest.mark.parametrize("weights", ["[3,1]", "[2,2]"])
def test_weights_go_with_all_clients_in_every_round(weights: str) -> None:
    algorithm = lookup("algorithms", "sfedavg")
    some = algorithm.read(Options("sfedavg", {"alpha": "0.1", "weights": weights, "sampled": "1"}))
    if weights == "[2,2]":
        assert len(set(algorithm.objective_weights(some, 2))) == 1
        return
    for ask in (algorithm.objective_weights, algorithm.program):
        with pytest.raises(SpecError, match="sampled=1 of 2 clients minimise no"):
            ask(some, 2)
    everybody = algorithm.read(Options("sfedavg", {"alpha": "0.1", "weights": weights, "sampled": "2"}))
    assert algorithm.objective_weights(everybody, 2) == (Fraction(3, 4), Fraction(1, 4))
