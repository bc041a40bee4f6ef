"""Theorems in the mean along the run: their constants are those of a set that no run leaves, and refusals say why."""

from typing import Any

import numpy as np
import pytest
from problem_makers import tiny
from run_makers import Watched, plan_of, tape_of

from boundlab.case import delays_from, problem_from
from boundlab.compare import compare
from boundlab.errors import AssumptionError
from boundlab.execute.floats import run
from boundlab.falsify import falsify
from boundlab.instance import Plan, make_plan
from boundlab.instance.applicability import reach
from boundlab.objective import Problem
from boundlab.registry import lookup
from boundlab.tape import RecordAt
from boundlab.theorems import load_theorem
from boundlab.verdict import Verdict

ROWS = "logistic:features=[[1,0],[1,1],[0,2],[1,-1]],owners=[0,0,1,1],targets=[1,0,1,0]"
RUNS: list[tuple[str, dict[str, Any]]] = [
    ("fedbuff.rf2.along-run", {"eta_l": 0.5}),
    ("fedbuff.rf2.along-run", {"eta_l": 0.05, "M": 3, "count": 2, "reply": "pre"}),
    ("fedbuff.rf3.along-run", {"eta_l": 0.02, "M": 2, "count": 2, "eta_g": 2}),
    ("fedstaleweight.rf2.along-run", {"eta_l": 0.1, "scale": 0, "count": 2}),
    ("area.theorem8.repaired.fixed-step.along-run", {"alpha": 0.2, "M": 3}),
    ("area.theorem8.algorithm-start.along-run", {"alpha": 0.05, "M": 2}),
]


def planned(name: str, problem: Problem | str, T: int = 30, **settings: Any) -> Plan:
    """Return a plan under exponential delays with unequal rates, of two clients or as many as there are."""
    clients = problem.n if isinstance(problem, Problem) else 2
    rates = [1 + client for client in range(clients)]
    return plan_of(name, problem, f"exponential:rates={rates}".replace(" ", ""), T, **settings)


@pytest.mark.sweep(14)
@pytest.mark.parametrize(("name", "settings"), RUNS, ids=str)
@pytest.mark.parametrize("batch", ["full", 1])
@pytest.mark.parametrize("seed", range(3))
def test_no_run_has_a_larger_gradient_than_the_set(
    name: str, settings: dict[str, Any], batch: str | int, seed: int
) -> None:
    problem = tiny("logistic", seed, **({} if batch == "full" else {"batch": batch}), weights="equal")
    plan = planned(name, problem, 100, **settings)
    region, known = plan.problem.region, plan.problem.constants()  # type: ignore[attr-defined]
    centre, _, radius = region.around()
    server = "poisson:rate=1" if plan.algorithm.server == "any" else None
    delays = f"exponential:rates={[1 + client for client in range(problem.n)]}".replace(" ", "")
    for trial in range(3):
        tape = tape_of(
            plan.algorithm.id,
            dict(plan.parameter_values),
            problem.n,
            100,
            delays,
            server=server,
            records=RecordAt(),
            trial=trial,
        )
        watched, apart = Watched(problem), [0.0]

        def look(_row: int, x: np.ndarray, apart: list[float] = apart) -> None:
            away = [np.linalg.norm(problem.gradient(i, x) - problem.full_gradient(x)) for i in range(problem.n)]
            apart.append(float(np.sqrt(np.mean(np.square(away)))))

        run(tape, np.array(problem.x0), watched, look)
        steep = max(float(np.linalg.norm(problem.gradient(client, x))) for client, x in watched.begun)
        assert watched.far(centre) <= radius * (1 + 1e-12)
        assert steep <= known["B"].value * (1 + 1e-12)
        assert steep**2 <= known["G_sq"].value * (1 + 1e-12)
        assert max(apart) <= known["sigma_g_mean"].value * (1 + 1e-12)


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("name", "settings"), RUNS, ids=str)
def test_theorems_along_the_run_are_never_violated(name: str, settings: dict[str, Any]) -> None:
    for seed in range(3):
        problem = tiny("logistic", seed, weights="equal")
        plan = planned(name, problem, **{**settings, **({"eta_l": 0.02} if "rf3" in name else {})})
        assert compare(plan, 8, seed).verdict is not Verdict.VIOLATED


def test_a_smaller_step_has_a_smaller_set_and_a_smaller_constant() -> None:
    found = [planned("fedbuff.rf2.along-run", f"{ROWS},nu=0.5", eta_l=eta).problem for eta in (0.4, 0.1, 0.025)]
    radii = [one.region.radius for one in found]  # type: ignore[attr-defined]
    steep = [one.constants()["G_sq"].value for one in found]
    assert radii == sorted(radii, reverse=True)
    assert steep == sorted(steep, reverse=True)


def test_the_theorem_sets_its_own_step_and_the_set_is_that_of_this_step() -> None:
    plan = planned("fedbuff.rf2.along-run", f"{ROWS},nu=0.5")
    step = plan.parameter_values["eta_l"]
    assert plan.problem.run_limit == step
    again = planned("fedbuff.rf2.along-run", f"{ROWS},nu=0.5", eta_l=step)
    assert plan.problem.constants()["G_sq"] == again.problem.constants()["G_sq"]


def test_one_client_is_pulled_back_without_delay() -> None:
    """Nothing is on its way: from 0 no model leaves the ball of radius S/ν."""
    fedbuff = lookup("algorithms", "fedbuff")
    plan = plan_of("fedbuff.rf2.along-run", "logistic:features=[[2],[2]],targets=[0,1],owners=[0,0],nu=0.5", eta_l=0.1)
    flight = fedbuff.in_flight(plan.parameters, 1)
    (pull,) = plan.problem.confinement().pulls()  # type: ignore[union-attr]
    assert flight.pending == 0.0
    assert reach(pull, flight, 0.1) == pytest.approx(pull.slope / pull.mu)


@pytest.mark.parametrize(("name", "steps"), [("fedbuff.rf2", {"eta_l": "0.1"}), ("area.theorem8.repaired", {})])
def test_a_plain_theorem_in_the_mean_takes_its_form_where_gradients_have_no_bound(name: str, steps: Any) -> None:
    problem, theorem = problem_from(f"{ROWS},nu=0.5"), load_theorem(name)
    model = delays_from("exponential", problem.n)
    policy = lookup("algorithms", theorem.algorithm).policy(None, model)
    plan = make_plan(theorem, problem, model, policy, 20, steps, forms=True)
    assert (plan.theorem.id, plan.asked) == (f"{name}.along-run", name)


def test_long_steps_have_a_set_that_grows_with_the_horizon() -> None:
    short, long = (planned("fedbuff.rf2.along-run", f"{ROWS},nu=0.5", T, eta_l=1.5).problem for T in (5, 10))
    assert short.words == "the set that no schedule leaves within 5 updates"  # type: ignore[attr-defined]
    assert short.region.radius < long.region.radius  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "problem", "settings", "says"),
    [
        ("fedbuff.rf2", "quadratic:clients=2,sigma=1", {"eta_l": 0.01}, "its noise does not leave; sigma=0 would fit"),
        ("area.theorem8.repaired", "quadratic:clients=2,sigma=1", {}, "its noise does not leave; sigma=0 would fit"),
        ("fedbuff.rf2", f"{ROWS},nu=0.5", {"eta_l": 9}, "its steps do not leave; shorter steps, or full gradients"),
        ("area.theorem8.repaired.fixed-step", f"{ROWS},nu=0.5", {"alpha": 9}, "no step of at most"),
    ],
)
def test_where_no_set_is_known_the_refusal_says_so(name: str, problem: str, settings: Any, says: str) -> None:
    with pytest.raises(AssumptionError, match=says):
        planned(f"{name}.along-run", problem, **settings)


@pytest.mark.parametrize("name", sorted({name for name, _ in RUNS}))
def test_a_theorem_in_the_mean_names_the_points_of_all_its_constants(name: str) -> None:
    theorem = load_theorem(name)
    bounds = {"B", "G_sq", "sigma", "sigma_l", "sigma_g_mean"} & {*theorem.inputs()}
    assert theorem.points.keys() >= bounds


def test_no_search_shares_runs_whose_sets_differ() -> None:
    with pytest.raises(AssumptionError, match="a set of each run's own steps"):
        falsify(load_theorem("fedbuff.rf2.along-run"), limit=1)
