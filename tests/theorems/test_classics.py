"""Textbook theorems: their numbers by hand, that they hold and are attained, and as readers write them down."""

from fractions import Fraction
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
import symbolic
import sympy
from hypothesis import given, strategies as st
from problem_makers import make
from run_makers import plan_of
from theorem_points import BY_HAND, TEXTBOOK as BY_ID, needed

from boundlab.case import build_problem
from boundlab.compare import compare
from boundlab.errors import AssumptionError, SpecError, SymbolError
from boundlab.events import Events
from boundlab.metrics import Certified, Watch, metric
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.simulate.work import run_once
from boundlab.tape import RecordAt
from boundlab.theorems import load_theorem
from boundlab.verdict import Verdict


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", sorted(BY_ID))
def test_each_bound_is_the_number_worked_out_by_hand(name):
    theorem, (values, bound) = BY_ID[name], BY_HAND[name]
    assert theorem.evaluate(needed(theorem, values)).total == pytest.approx(bound, rel=1e-12)


# ------------------------------------------------------------------------------------------------ they hold

# ---------------------------------------------------------------------------------------- they are attained


def shown(theorem, problem, values, K):
    """Run the theorem's algorithm with its own step; return what its metric looks at, and the tape."""
    algorithm = lookup("algorithms", theorem.algorithm)
    step = theorem.step_options(needed(theorem, {**values, "K": K}))
    parameters = algorithm.read(Options(algorithm.id, {**theorem.core.fixed, **step}))
    detail = (tuple(range(problem.n)),) * K if algorithm.id == "incremental" else ()
    events = Events(np.arange(1.0, K + 1), np.full(K, -1, dtype=np.int32), detail)
    records = RecordAt(np.array([K]), theorem.left.over.averages_iterates)
    tape = algorithm.schedule(parameters, events, problem.n, records, K)
    points = []
    run_once(tape, problem, Streams(0), lambda _row, x: points.append(x.copy()))
    (point,) = points
    return point


def left_side(theorem, problem, values, K):
    low, high = metric(theorem.metric).at(Certified(problem), shown(theorem, problem, values, K))
    return (low + high) / 2


def right_side(theorem, values, K):
    return float(theorem.evaluate(needed(theorem, {**values, "K": K})).total)


def one_huber(L, threshold, x0):
    return make("huber", c=[[0.0]], w=[[L]], delta=threshold, x0=x0)


def one_quadratic(curvature, x0):
    return make("quadratic", A=[[[curvature]]], b=[[0.0]], x0=x0)


STEPS = st.floats(0.05, 1.0)
HORIZONS = st.integers(1, 30)


@given(L=st.floats(0.1, 20), R=st.floats(0.1, 20), h=STEPS, K=HORIZONS)
def test_huber_attains_the_gap_and_the_gradient_of_gradient_descent(L, R, h, K):
    # All gradients are L·threshold: x_K = R − Kh·threshold still lies on the slope.
    for name, threshold in (("gd.convex", R / (2 * K * h + 1)), ("gd.gradient", R / (K * h + 1))):
        values = {"L": L, "R": R, "sigma": 0.0, "alpha": h / L}
        found = left_side(BY_ID[name], one_huber(L, threshold, R), values, K)
        assert found == pytest.approx(right_side(BY_ID[name], values, K), rel=1e-12)


@given(L=st.floats(0.1, 20), threshold=st.floats(0.1, 20), h=STEPS, K=HORIZONS)
def test_huber_attains_the_gradient_from_the_initial_gap(L, threshold, h, K):
    start = threshold * (K * h + 1)
    values = {"L": L, "F0": L * threshold * (start - threshold / 2), "sigma": 0.0, "alpha": h / L}
    found = left_side(BY_ID["gd.gradient-gap"], one_huber(L, threshold, start), values, K)
    assert found == pytest.approx(right_side(BY_ID["gd.gradient-gap"], values, K), rel=1e-12)


@given(L=st.floats(1, 20), R=st.floats(0.1, 20), h=st.floats(0.05, 1.95), K=st.integers(0, 12))
def test_quadratics_attain_the_contraction_of_gradient_descent(L, R, h, K):
    mu = 0.75
    steep = h - 1 > 1 - h * mu / L
    curvature = L if steep else mu
    values = {"L": L, "mu": mu, "R": R, "F0": curvature * R**2 / 2, "sigma": 0.0, "alpha": h / L}
    for name in ("gd.strongly-convex", "gd.strongly-convex.gap", "proximal-gradient.strongly-convex"):
        theorem = BY_ID[name]
        at = theorem.at_iterations(needed(theorem, values), [K]).total[0]
        if K == 0:
            assert at == pytest.approx(values["F0"] if name.endswith(".gap") else R**2)
        else:
            assert left_side(theorem, one_quadratic(curvature, R), values, K) == pytest.approx(at, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("K", [1, 2, 3, 7, 20])
def test_a_quadratic_and_huber_attain_the_bound_of_the_optimized_gradient_method(K):
    L, R, theorem = 3.0, 2.0, BY_ID["ogm"]
    values = {"L": L, "R": R, "sigma": 0.0}
    bound = right_side(theorem, values, K)
    assert left_side(theorem, one_quadratic(L, R), values, K) == pytest.approx(bound, rel=1e-12)
    theta_squared = L * R**2 / (2 * bound)
    assert left_side(theorem, one_huber(L, R / theta_squared, R), values, K) == pytest.approx(bound, rel=1e-12)


@given(mu=st.floats(0.1, 20), R=st.floats(0.1, 20))
def test_a_quadratic_on_an_interval_attains_the_bounds_of_the_first_average_on_it(mu, R):
    # From the end of [−R, R] with G = B = μR: f(x_0) − f* = μR²/2.
    values = {"mu": mu, "G": mu * R, "B": mu * R, "sigma": 0.0}
    for name in ("sgd.projected.strongly-convex", "subgradient.projected.strongly-convex"):
        assert right_side(BY_ID[name], values, 1) == pytest.approx(mu * R**2 / 2, rel=1e-12)
        one = build_problem("quadratic", {"A": [[[mu]]], "b": [[0.0]], "x0": R, "ball": R})
        assert plan_of(BY_ID[name], one, "exponential", 1).bound[-1] == pytest.approx(mu * R**2 / 2, rel=1e-9)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("K", [1, 2, 4, 9])
@pytest.mark.parametrize("name", ["subgradient", "incremental", "subgradient.last-iterate"])
def test_the_maximum_of_coordinates_attains_the_subgradient_bounds(name, K):
    # f = B·max(x_1, …, x_m, −R/√m) from x_0 = 0: each step lowers one coordinate, one stays 0, and so does f.
    # f* = −B·R/√m at distance R, with m = K points of which the last is not left, or m = K + 1 after K steps.
    B, R, theorem = 2.0, 3.0, BY_ID[name]
    m = K + 1 if name == "subgradient.last-iterate" else K
    floor = -B * R / sqrt(m)
    pieces = [*(B * np.eye(m)).tolist(), [0.0] * m]
    problem = make("max-affine", a=[pieces], b=[[*([0.0] * m), floor]], x0=0.0)
    point = shown(theorem, problem, {"B": B, "R": R, "sigma": 0.0, "n": 1}, K)
    bound = right_side(theorem, {"B": B, "R": R, "sigma": 0.0, "n": 1}, K)
    assert problem.value(point) - floor == pytest.approx(bound, rel=1e-12)


@given(R=st.floats(0.1, 20), alpha=st.floats(0.05, 5), K=HORIZONS)
def test_the_absolute_value_attains_the_bound_of_the_proximal_point_algorithm(R, alpha, K):
    # Slope s = R/(2Kα): x_K = R − Kαs = R/2.
    theorem, values = BY_ID["proximal-point"], {"R": R, "alpha": alpha, "sigma": 0.0}
    problem = make("lad", c=[[0.0]], w=[[R / (2 * K * alpha)]], x0=R)
    assert left_side(theorem, problem, values, K) == pytest.approx(right_side(theorem, values, K), rel=1e-12)


@given(mu=st.floats(0.1, 5), R=st.floats(0.1, 20), alpha=st.floats(0.05, 5), K=HORIZONS)
def test_a_quadratic_attains_the_contraction_of_the_proximal_point_algorithm(mu, R, alpha, K):
    theorem, values = BY_ID["proximal-point.strongly-convex"], {"mu": mu, "R": R, "alpha": alpha, "sigma": 0.0}
    found = left_side(theorem, one_quadratic(mu, R), values, K)
    assert found == pytest.approx(right_side(theorem, values, K), rel=1e-10)


@pytest.mark.parametrize("n", [1, 3])
def test_noise_on_a_quadratic_attains_the_mini_batch_bound(n):
    # x_K is R·(1 − αμ)^K plus α·(…)·noise: its mean square by the symbolic executor, exactly.
    theorem, K, mu, R, sigma = BY_ID["sgd.distance"], 4, Fraction(1, 2), 3, 2
    values = {"mu": 0.5, "L": 2.0, "R": 3.0, "sigma": 2.0, "n": n, "alpha": 0.25}
    algorithm = lookup("algorithms", "gd")
    parameters = algorithm.read(Options("gd", {**theorem.core.fixed, "alpha": 0.25}))
    events = Events(np.arange(1.0, K + 1), np.full(K, -1, dtype=np.int32))
    tape = algorithm.schedule(parameters, events, n, RecordAt(), K)

    def noisy(step, point):
        return sympy.Rational(mu.numerator, mu.denominator) * point + symbolic.Vector(f"g{step.client}_{step.update}")

    x = symbolic.run(tape, sympy.Integer(R), noisy).records[-1].x
    parts = symbolic.terms(x)
    square = sum((part**2 * (1 if letter == 1 else sigma**2) for letter, part in parts.items()), sympy.Integer(0))
    assert float(square) == pytest.approx(right_side(theorem, values, K), rel=1e-12)


@given(L=st.floats(0.1, 20), R=st.floats(0.1, 20), K=HORIZONS)
def test_huber_attains_the_gap_of_the_average_of_gradient_descent(L, R, K):
    # Threshold δ = R/K: x_k = R − kδ, the average is δ(K + 1)/2, and f there Lδ²(K + 1)/2 − Lδ²/2 = LR²/(2K).
    theorem, values = BY_ID["gd.ergodic"], {"L": L, "R": R, "sigma": 0.0}
    found = left_side(theorem, one_huber(L, R / K, R), values, K)
    assert found == pytest.approx(right_side(theorem, values, K), rel=1e-12)


@pytest.mark.parametrize("T", [1, 2, 7])
def test_a_quadratic_attains_the_average_squared_gradient(T):
    # With α = 1/L the first step ends in the minimum: Σ‖g_t‖² = ‖g_0‖² = 12² = 2·L·F0.
    theorem = BY_ID["gd.nonconvex"]
    watch = Watch(metric("gradient-norm"), one_quadratic(4.0, 3.0), np.array([T]))
    for t in range(T):
        watch(t, np.array([3.0 if t == 0 else 0.0]))
    values = {"L": 4.0, "F0": 18.0, "sigma": 0.0, "T": T}
    assert watch.low[0] == pytest.approx(144 / T)
    assert watch.low[0] == pytest.approx(float(theorem.evaluate(values).total))


def test_a_bound_below_the_rounding_of_the_iterates_is_no_reason_for_an_alarm():
    problem = make("quadratic", A=[[[1.0]], [[1.5]]], b=[[0.3], [0.7]], x0=2.0)
    found = compare(plan_of(BY_ID["gd.strongly-convex"], problem, "exponential", 60), 1, 0)
    assert found.bound[-1] < 1e-60
    assert found.verdict is Verdict.HOLDS


FOLDER = Path(__file__).parent / "textbook"


def textbook(name):
    return load_theorem(str(FOLDER / f"{name}.toml"))


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
        theorem.at_iterations({"L": 1.0, "R": 3.0}, np.array([first - 1]))


def test_what_is_said_of_the_start_is_compared_there_and_nothing_else_is():
    problem = "quadratic:clients=2,dimension=2,x0=2,sigma=0"
    assert plan_of(textbook("strongly_convex"), problem).ks[0] == 0
    assert plan_of(textbook("gd_last"), problem).ks[0] == 1
    with pytest.raises(SymbolError, match="K must be an integer ≥ 1"):
        textbook("gd_last").at_iterations({"L": 1.0, "R": 1.0}, np.array([0]))


def test_the_horizon_of_the_subgradient_method_is_the_one_of_its_step(tmp_path):
    theorem = textbook("subgradient")
    assert theorem.horizon == "fixed"
    assert plan_of(theorem, "lad:c=[0],x0=3", iterations=40).ks.tolist() == [40]
    path = tmp_path / "mine.toml"
    text = (FOLDER / "subgradient.toml").read_text(encoding="utf-8")
    path.write_text(text.replace('"ergodic-gap"', '"ergodic-gap"\nhorizon = "every"'), encoding="utf-8")
    with pytest.raises(SpecError, match="horizon cannot be every: alpha depends on K"):
        load_theorem(str(path))
