"""Constants on a bounded set: never below what is found there, attained where the closed form is exact."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, strategies as st
from problem_makers import generated, make
from run_makers import Watched, plan_of, tape_of

from boundlab.algorithms import Algorithm
from boundlab.case import build_problem, problem_from
from boundlab.errors import AssumptionError
from boundlab.execute.floats import run
from boundlab.instance.applicability import along_run
from boundlab.objective import Problem
from boundlab.objective.composite import Composite
from boundlab.objective.weighted import Weighted
from boundlab.options import Options
from boundlab.registry import lookup
from boundlab.theorems import Theorem, load_theorem

ROWS = "features=[[1,0],[1,1],[0,2],[1,-1]],owners=[0,0,1,1]"
SETS = ("ball=1.5", "box=[-1,0.5]")
PROBLEMS = (
    "quadratic:clients=3,dimension=2,spread=2,sigma=0.5",
    "quadratic:A=[[[2,1],[1,3]],[[2,1],[1,3]]],b=[[1,0],[-1,3]]",
    f"least-squares:{ROWS},targets=[1,3,-1,0],batch=1,nu=0.5",
    f"least-squares:{ROWS},targets=[1,3,-1,0]",
    f"logistic:{ROWS},targets=[1,0,1,0],nu=1",
    f"hinge:{ROWS},targets=[1,0,1,0],nu=1",
    f"squared-hinge:{ROWS},targets=[1,0,1,0],batch=1,nu=0.5,sample_weight=[1,2,0,3]",
    f"modified-huber:{ROWS},targets=[1,0,1,0],batch=1,nu=0,sample_weight=[1,2,0,3]",
    f"quantile-regression:{ROWS},targets=[1,3,-1,0],nu=0.5,quantile=0.9",
    f"lad-regression:{ROWS},targets=[1,3,-1,0],nu=0.5,weights=size",
    f"poisson:{ROWS},targets=[1,3,0,0],nu=0.5",
    "huber:c=[[0,1],[2,0]],delta=0.7",
    "pseudo-huber:c=[[0,1],[2,0]],delta=0.7",
    "max-affine:a=[[[1,0],[-1,0.5],[0,-1]]],b=[[0,0.1,0.2]]",
)
LAST: Theorem = load_theorem("classics.sgd.projected.distance")


def there(problem: Problem) -> tuple[Composite, dict[str, float]]:
    found = problem.on_domain()
    assert isinstance(found, Composite)
    return found, {name: one.value for name, one in found.constants().items()}


def points_of(text: str, d: int, count: int) -> np.ndarray:
    """Return random points of the set, and its corners or points of its sphere."""
    drawn = np.random.default_rng(3)
    if text.startswith("ball"):
        radius = float(text.split("=")[1])
        away = drawn.normal(size=(count, d))
        away *= radius / np.linalg.norm(away, axis=1)[:, None]
        return np.concatenate([away, away * drawn.uniform(size=(count, 1))])
    low, high = (float(one) for one in text.split("=")[1].strip("[]").split(","))
    return np.concatenate([np.array(list(product((low, high), repeat=d))), drawn.uniform(low, high, size=(count, d))])


@pytest.mark.sweep(3)
@pytest.mark.parametrize("simple", SETS)
@pytest.mark.parametrize("text", PROBLEMS)
def test_no_gradient_on_the_set_is_longer_nor_further_from_the_mean_than_is_said(text: str, simple: str) -> None:
    problem, known = there(problem_from(f"{text},{simple}"))
    X = points_of(simple, problem.d, 300)
    each = np.array([[problem.inner.gradient(i, x) for x in X] for i in range(problem.n)])
    norms = np.linalg.norm(each, axis=2)
    apart = np.linalg.norm(each - each.mean(axis=0), axis=2)
    room = 1.0 + 1e-12
    assert norms.max() <= known["B"] * room
    assert norms.max() ** 2 <= known["G_sq"] * room
    assert apart.max() <= known["sigma_g"] * room + 1e-12
    assert np.sqrt((apart**2).mean(axis=0)).max() <= known["sigma_g_mean"] * room + 1e-12
    assert known["sigma_g_mean"] <= known["sigma_g"]
    # E‖g‖² = ‖∇f_i‖² + the variance, which a limit of the variance limits.
    assert sqrt(known["B"] ** 2 + known["sigma"] ** 2) >= known["G"] * (1.0 - 1e-12) >= norms.max() * (1.0 - 1e-11)
    met = problem.assumptions()
    bounded = ("bounded-gradients", "bounded-second-moment", "bounded-variance", "bounded-heterogeneity", "lipschitz")
    assert not any(met[name] for name in bounded)
    away = np.linalg.norm(X[:, None] - X, axis=2).max()
    assert away <= known["diameter"] * room


@pytest.mark.parametrize("simple", SETS)
def test_the_variance_of_mini_batches_has_a_limit_on_the_set(simple: str) -> None:
    text = f"least-squares:{ROWS},targets=[1,3,-1,0],batch=1,nu=0.5,{simple}"
    _, known = there(problem_from(text))
    rows = np.array([[1, 0], [1, 1], [0, 2], [1, -1]], dtype=float)
    targets = np.array([1.0, 3.0, -1.0, 0.0])
    for x in points_of(simple, 2, 200):
        drawn = rows * (rows @ x - targets)[:, None] + 0.5 * x
        for own in (drawn[:2], drawn[2:]):
            assert ((own - own.mean(axis=0)) ** 2).sum(axis=1).mean() <= known["sigma"] ** 2
            assert (own**2).sum(axis=1).mean() <= known["G"] ** 2


NUMBERS = st.floats(-10, 10).map(lambda one: round(one, 6))
POSITIVE = st.floats(0.01, 10).map(lambda one: float(f"{one:.6g}"))


@given(
    w=st.lists(POSITIVE, min_size=3, max_size=3),
    c=st.lists(NUMBERS, min_size=3, max_size=3),
    ends=st.tuples(NUMBERS, POSITIVE),
)
def test_of_a_diagonal_quadratic_on_a_box_b_is_attained_at_a_corner(
    w: list[float], c: list[float], ends: tuple[float, float]
) -> None:
    low, high = ends[0], ends[0] + ends[1]
    options = {"A": [np.diag(w).tolist()], "b": [c], "x0": (low + high) / 2, "box": [low, high]}
    _, known = there(build_problem("quadratic", options))
    corners = np.array(list(product((low, high), repeat=3)))
    attained = np.linalg.norm((corners - c) * w, axis=1).max()
    assert attained * (1.0 - 1e-12) <= known["B"] <= attained * (1.0 + 1e-9)


def test_a_start_that_rounding_has_put_outside_is_part_of_the_set() -> None:
    # ‖x0‖ = 1 + 10⁻⁹ lies in the ball up to what means of floats may do, and its gradient counts.
    problem = build_problem("quadratic", {"A": [[[2.0]]], "b": [[0.0]], "x0": 1.0 + 1e-9, "ball": 1})
    assert there(problem)[1]["B"] >= 2.0 * (1.0 + 1e-9)


# ------------------------------------------------------------------------------------ who is told, and who is refused


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("quadratic:clients=2,dimension=1", "it is minimised over all of R.d; box or ball would fit"),
        ("quadratic:clients=2,dimension=1,l1=0.5", "its h is the penalty 0.5·‖x‖₁; box or ball would fit"),
    ],
)
def test_where_there_is_no_bounded_set_one_line_says_so(text: str, why: str) -> None:
    with pytest.raises(AssumptionError, match=f"assumes bounded-domain .*{why}") as refused:
        plan_of(LAST, text)
    assert "\n" not in str(refused.value)


def test_a_theorem_about_all_of_r_d_is_not_told_what_holds_on_the_set_alone() -> None:
    # f is linear with slope 1 far out: B = 1 on R^d, and 1/4 on the set.
    text = "huber:c=[0],x0=0.25,ball=0.25,w=1"
    elsewhere = load_theorem("classics.sgd.projected")
    assert plan_of(elsewhere, text).values["B"] == 1.0
    told = replace(elsewhere, assumptions=(*elsewhere.assumptions, "bounded-domain"))
    assert plan_of(told, text).values["B"] == pytest.approx(0.25, rel=1e-12)
    with pytest.raises(AssumptionError, match=r"assumes lipschitz .*the gradient of a quadratic is unbounded"):
        plan_of(elsewhere, "quadratic:clients=2,dimension=1,ball=4")
    assert plan_of(told, "quadratic:clients=2,dimension=1,ball=4").bound[-1] > 0


def test_an_algorithm_that_takes_gradients_outside_is_refused() -> None:
    theorem = replace(
        load_theorem("classics.fista"), assumptions=("convex", "smooth", "minimiser", "bounded-domain", "one-function")
    )
    with pytest.raises(AssumptionError, match=r"nothing shows that nesterov takes its gradients in the ball .* alone"):
        plan_of(theorem, "quadratic:clients=1,dimension=1,ball=4")


STEPS = {"fedbuff": "eta_l", "fedasync": "eta_l"}
INSIDE = {
    "gd": [{"sampling": one, "M": 3} for one in ("all", "uniform", "cyclic")],
    "incremental": [{"order": "shuffled"}],
    "asfedavg": [{"M": 2, "count": 2}],
    "fedasync": [{"beta": 0.7, "mode": "model"}],
    "area": [{"M": 2}],
    "nesterov": [{}],
    "heavy_ball": [{"beta": 0.5}],
    "fedbuff": [{"count": 2, "eta_g": 3}],
}


@pytest.mark.parametrize(("name", "options"), [(name, one) for name, some in INSIDE.items() for one in some])
def test_who_is_said_to_take_gradients_on_the_set_alone_does_so(name: str, options: dict[str, object]) -> None:
    algorithm: Algorithm = lookup("algorithms", name)
    problem = build_problem("quadratic", {"A": [[[1]], [[3]]], "b": [[-4], [7]], "x0": 1, "ball": 1, "sigma": 2})
    settings = {STEPS.get(name, "alpha"): 0.7, **options}
    server = "poisson:rate=1" if algorithm.server == "any" else None
    tape = tape_of(name, settings, 2, 30, "exponential", server=server)
    watched = Watched(problem)
    run(tape, np.array([1.0]), watched, lambda _row, _x: None)
    said = algorithm.stays_on_set(algorithm.read(Options(name, settings)), 2)
    assert said is (name not in ("nesterov", "heavy_ball", "fedbuff"))
    assert (watched.far(0.0) <= 1.0 + 1e-12) or not said


# -------------------------------------------------------------------------------------------------- what it gives


@given(seed=st.integers(0, 40), part=st.sampled_from((0.1, 0.5, 1.0)), M=st.integers(1, 4))
def test_no_run_leaves_the_set_on_which_its_constants_hold(seed, part, M):
    """Quadratics that differ, local steps up to 1/L: every gradient is taken in the set, and none is above G."""
    problem = generated("quadratic", seed, sigma=0.0)
    found = along_run(problem)
    known = found.constants()
    centre, half, radius = found.region.around()
    case = {"alpha": part * found.run_limit, "M": M, "iteration": "step"}
    algorithm = lookup("algorithms", "gd")
    parameters = algorithm.read(Options("gd", case))
    assert algorithm.largest_step(parameters, problem.n) <= found.run_limit
    models = [problem.x0.copy() for _ in range(problem.n)]
    for k in range(12):
        if k % M == 0:
            models = [np.mean(models, axis=0) for _ in models]
        for client, x in enumerate(models):
            assert np.linalg.norm(x - centre) <= radius * (1 + 1e-12)
            assert (np.abs(x - centre) <= half * (1 + 1e-12)).all()
            gradient = problem.gradient(client, x)
            assert np.linalg.norm(gradient) <= known["G"].value * (1 + 1e-12)
            models[client] = x - case["alpha"] * gradient


def test_a_run_that_may_leave_every_set_has_no_constants_along_it():
    assert along_run(make("quadratic", clients=2, sigma=1)).run_limit is None
    assert along_run(make("lad", clients=2)).run_limit is None


def test_a_weighted_objective_has_no_constants_along_its_runs():
    """Clients x²/2 and 3(x − 4)²/2, weights 1/4 and 3/4: differences to their mean are not those to the objective."""
    clients = make("quadratic", A=[[[1]], [[3]]], b=[[0], [4]], x0=0)
    p = Fraction(1, 4), Fraction(3, 4)
    weighted = Weighted(clients, clients.scaled([2 * one for one in p]), p)
    assert along_run(weighted).run_limit is None
    assert along_run(clients).run_limit is not None
