"""Growth along families: closed forms by hand and against the exact engine, right sides by hand, refusals by name."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
import sympy
from growth_makers import shape, small
from hypothesis import given, settings

from boundlab.arithmetic.numbers import fraction
from boundlab.case import Case, read_case
from boundlab.exact import Growth, evaluate
from boundlab.exact._engine import ExactEngine
from boundlab.exact._evaluate import _at_most, closed_left
from boundlab.theorems import Theorem
from boundlab.verdict import Verdict

K = sympy.Symbol("K", positive=True, integer=True)
half, third = sympy.Rational(1, 2), sympy.Rational(1, 3)


def along(theorem: Theorem, case: Case) -> list[Growth]:
    return list(evaluate(theorem, case).growth)


def only(theorem: Theorem, case: Case) -> Growth:
    (found,) = along(theorem, case)
    return found


# ------------------------------------------------------------------------------------------- closed forms by hand


def test_noise_ends_at_a_floor(tmp_path: Path) -> None:
    """x²/2 with α = 1/2, σ = 1: v ← v/4 + 1/4 from 1, so v_K = 1/3 + (2/3)/4^K, and the gap is half of that."""
    found = only(shape(tmp_path, {"bound": "L*R**2/K"}, along=["K"]), small({"alpha": "1/2"}, sigma=1))
    assert sympy.sympify(found.left) == sympy.Rational(1, 6) + third / 4 ** sympy.Symbol("K")
    assert (found.right, found.refutes) == ("1/K", True)
    assert "unbounded, whatever the constants are" in found.why


SMALL = {"alpha": "1/2"}  # x ← x/2 on x²/2 from 1: the gap is (1/4)^K/2 = (1 − αμ)^(2K)/2; with σ = 1 it ends at 1/6
BELOW_EVERY_POWER = (
    "Min(1/K, (1 - alpha*mu)**K)",
    "Max(2**(-K), 3**(-K))",
    "2**(-sqrt(K))",
    "(1 - 1/sqrt(K + 1))**K",
    "(1 - 1/(K + 1))**(K**2)",
)


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    ("parameters", "more", "right", "refuted"),
    [
        # x ← −2x: the gap is 4^K/2; no power of K is above that, but 4^K is, and 5^K.
        ({"alpha": 3}, {}, "K**50", True),
        ({"alpha": 3}, {}, "2**K", True),
        ({"alpha": 3}, {}, "4**K", False),
        ({"alpha": 3}, {}, "5**K", False),
        # Rates below one are told apart.
        (SMALL, {}, "(1 - alpha*mu)**K", False),
        (SMALL, {}, "(1 - alpha*mu)**(2*K)", False),
        (SMALL, {}, "exp(-3*K)", True),
        (SMALL, {}, "(1 - alpha*mu)**(3*K)", True),
        (SMALL, {}, "(1 - alpha*mu)**(2*K)/K", True),
        (SMALL, {}, "exp(-K)", False),
        # A logarithm is below every power.
        (SMALL, {"sigma": 1}, "log(K + 1)/K", True),
        (SMALL, {"sigma": 1}, "log(K + 1)", False),
        (SMALL, {"sigma": 1}, "1/log(K + 1)", False),
        # What is below every power is not 0.
        *((SMALL, {}, right, False) for right in BELOW_EVERY_POWER),
        *((SMALL, {"sigma": 1}, right, True) for right in BELOW_EVERY_POWER),
        # A right side that is 0 bounds nothing positive, and at the minimiser nothing grows.
        (SMALL, {}, "sigma**2", True),
        (SMALL, {"x0": [0]}, "sigma**2", False),
        ({"alpha": 3}, {"x0": [0]}, "1/K", False),
    ],
)
def test_what_grows_faster_than_a_right_side_refutes_it(
    tmp_path: Path, parameters: dict[str, Any], more: dict[str, Any], right: str, refuted: bool
) -> None:
    found = only(shape(tmp_path, {"bound": f"L*R**2*{right}"}, along=["K"]), small(parameters, **more))
    assert found.refutes is refuted
    assert (found.left == "4**K/2") is (parameters != SMALL and not more)
    assert ("less than any power of K" in found.why) is (right in BELOW_EVERY_POWER)


def test_averages_and_means_of_one_contraction(tmp_path: Path) -> None:
    """x_k = 2^-k: Σ_{k<K} x_k = 2 − 2^(1−K), and the gap of the average (1 − 2^-K)²·2/K²; Σ x_k² = (1 − 4^-K)·4/3."""
    case, n = small({"alpha": "1/2"}), sympy.Symbol("K")

    def same(text: str, by_hand: sympy.Expr) -> bool:
        return all(sympy.sympify(text).subs(n, k) == by_hand.subs(n, k) for k in range(1, 9))

    average = only(shape(tmp_path, {"bound": "L*R**2/K**3"}, over="average", along=["K"]), case)
    assert same(average.left, 2 * (1 - half**n) ** 2 / n**2)
    assert average.refutes
    mean = only(shape(tmp_path, {"bound": "L**2*R**2/K"}, over="mean", along=["K"]), case)
    assert same(mean.left, (1 - half ** (2 * n)) * 4 / 3 / n)
    assert not mean.refutes


def test_a_rotation_is_no_decay(tmp_path: Path) -> None:
    """Heavy ball with β = 1: for α < 4 the roots of z² − (2 − α)z + 1 lie on the circle, and x does not tend to 0."""
    theorem = shape(tmp_path, {"bound": "L*R**2/K"}, algorithm="heavy_ball", along=["K"])
    found = only(theorem, small({"alpha": "1/2", "beta": 1}, algorithm="heavy_ball"))
    assert "a linear recursion of order 3, largest rate 1, power 0" in found.left
    assert found.refutes
    flat = shape(tmp_path, {"bound": "L*R**2"}, algorithm="heavy_ball", along=["K"])
    assert not only(flat, small({"alpha": "1/2", "beta": 1}, algorithm="heavy_ball")).refutes


def test_double_roots_are_powers_of_the_horizon(tmp_path: Path) -> None:
    """Heavy ball with α = 1, β = 1/4 on x²/8: z² − (5/4 − 1/4)z + 1/4 = (z − 1/2)², and x_0 = 1, x_1 = 3/4.

    So x_k = (1 + k/2)·2^-k, and the gap is (1 + k/2)²·4^-k/8.
    """
    theorem = shape(tmp_path, {"bound": "L*R**2*4**(-K)*K"}, algorithm="heavy_ball", along=["K"])
    case = small({"alpha": 1, "beta": "1/4"}, algorithm="heavy_ball", A=[[["1/4"]]])
    assert only(theorem, case).refutes
    enough = shape(tmp_path, {"bound": "L*R**2*4**(-K)*K**2"}, algorithm="heavy_ball", along=["K"])
    assert not only(enough, case).refutes


# -------------------------------------------------------------------------- closed forms against the exact engine

JOBS: dict[str, tuple[dict[str, Any], bool]] = {
    "gd": ({}, False),
    "gd, one client at random": ({"sampling": "uniform"}, False),
    "gd, in turns": ({"sampling": "cyclic", "M": 2}, False),
    "heavy_ball": ({"beta": "1/3"}, False),
    "async_sgd": ({}, True),
    "async_sgd, random arrivals": ({}, False),
    "async_sgd, random targets": ({"sampling": "uniform"}, False),
    "fedbuff": ({"eta_g": 1, "count": 2}, True),
}
thirds = st.fractions(-2, 2, max_denominator=3).map(str)


@pytest.mark.sweep(8)
@pytest.mark.parametrize("job", JOBS)
@settings(max_examples=6)
@given(data=st.data())
def test_the_closed_form_is_the_exact_value_at_every_horizon(tmp_path_factory: Any, job: str, data: Any) -> None:
    options, turns = JOBS[job]
    algorithm, n = job.partition(",")[0], data.draw(st.integers(1, 2))
    step = "eta_l" if algorithm == "fedbuff" else "alpha"
    over = data.draw(st.sampled_from(["last", "average", "mean", "distance"] if n == 1 else ["last", "distance"]))
    theorem = shape(
        tmp_path_factory.mktemp("growth"), {"bound": "L*R**2"}, algorithm=algorithm, over=over, step=step,
        along=["sigma"],
    )  # fmt: skip
    curvature = st.fractions(Fraction(1, 3), 3, max_denominator=3).map(str)
    fixed: dict[str, Any] = {
        "A": [[[data.draw(curvature)]] for _ in range(n)],
        "b": [[data.draw(thirds)] for _ in range(n)],
        "x0": [data.draw(thirds)],
        "sigma": data.draw(st.sampled_from([0, 1, "1/2"])),
        "arrivals": data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=3)) if turns else None,
        "algorithm": algorithm,
    }
    parameters = {step: data.draw(st.sampled_from(["1/2", "1/5", "2/3"])), **options}
    case = small(parameters, 6, **fixed)
    left = closed_left(case, ExactEngine.of(theorem, case))
    k = data.draw(st.integers(1, 25))
    want = ExactEngine.of(theorem, small(parameters, k, **fixed)).fractional_left()
    assert fraction(left.sequence.terms(k + 1)[k - left.first]) / k**left.power == want


# --------------------------------------------------------------------------------------------- right sides by hand


@pytest.mark.parametrize(
    ("right", "rate", "power"),
    [
        (3 / K + 5 / sympy.sqrt(K), 1, -half),
        (K * half**K + third**K, half, 1),
        ((1 - half) ** (2 * K + 1) * (K + 1), sympy.Rational(1, 4), 1),
        (sympy.Integer(7), 1, 0),
        (sympy.Integer(0), 0, -sympy.oo),
        (sympy.Min(1 / K, 1 / K**2, evaluate=False), 1, -2),
        (sympy.Max(1 / K, sympy.Rational(1, 9), evaluate=False), 1, 0),
        ((-2) ** K, 2, 0),
        ((1 + 1 / K) ** K, 1, 0),
        (K**3 - K**3 + 1 / K, 1, -1),
        (K / sympy.log(K + 1), 1, 1),
        (sympy.sqrt(sympy.log(K + 1)) / K, 1, sympy.Rational(1, 2000) - 1),
    ],
)
def test_what_a_right_side_is_at_most(right: sympy.Expr, rate: Any, power: Any) -> None:
    assert _at_most(right, K) == (Fraction(rate.p, rate.q) if isinstance(rate, sympy.Rational) else rate, power)


def test_a_rate_that_is_no_fraction_is_rounded_up() -> None:
    rate, power = _at_most(sympy.exp(-K / 3) * K, K)
    assert 0 < sympy.Rational(rate.numerator, rate.denominator) - sympy.exp(-third) < 1e-9
    assert power == 1


# -------------------------------------------------------------------------------------- families of noise and start


def test_noise_that_is_forgotten(tmp_path: Path) -> None:
    """With α = 1/2, σ = s and K = 8 the gap is a + s²·(1 − 4^-8)/6: no constant makes σ a bound of it, σ² does."""
    case = small({"alpha": "1/2"}, sigma=1)
    for right, refuted in (("sigma", True), ("sigma**2", False)):
        theorem = shape(tmp_path, {"start": "L*R**2", "noise": right}, along=["sigma"])
        found = only(theorem, case)
        assert found.along == ("sigma",)
        assert found.refutes is refuted
        assert f"{Fraction(1 - Fraction(1, 4**8)) / 6}*s**2" in found.left


def test_a_start_that_is_forgotten(tmp_path: Path) -> None:
    """Without noise the gap is R²·4^-8/2 for α = 1/2: R alone is too little far out, R³ close to x*."""
    for right, end in (("R", "∞"), ("R**3", "0"), ("R**2", "")):
        found = only(shape(tmp_path, {"start": right}, along=["R"]), small({"alpha": "1/2"}))
        assert found.refutes is bool(end)
        assert not end or found.family.endswith(f"s → {end}")


def test_clients_that_differ_make_the_middle_term(tmp_path: Path) -> None:
    """Of clients in turns the last model is no multiple of the start: its gap is a polynomial with three terms."""
    theorem = shape(tmp_path, {"start": "R"}, along=["R", "F0"])
    case = small({"alpha": "1/3", "sampling": "cyclic"}, 3, A=[[[1]], [[2]]], b=[[0], [3]], x0=[0])
    found = only(theorem, case)
    assert found.left.count("*s**") == 3
    assert found.refutes


def test_symbols_that_are_not_named_do_not_move(tmp_path: Path) -> None:
    """R and F0 grow together: where the constants may depend on one of them, no family moves the other."""
    theorem = shape(tmp_path, {"start": "R*F0/R"}, along=["R"])
    assert along(theorem, small({"alpha": "1/2"})) == []


# ------------------------------------------------------------------------------------------------ refusals by name


_SEVEN = [[2 * (i == j) + (abs(i - j) == 1) for j in range(7)] for i in range(7)]


@pytest.mark.parametrize(
    ("given_", "case", "why"),
    [
        ({"rule": "1/(L*sqrt(K))"}, {}, "the step alpha reads K"),
        ({"more": 'conditions = ["alpha*L <= K"]'}, {}, "alpha*L ≤ K reads K"),
        (
            {},
            {"A": [[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]] * 4, "b": [[0] * 4] * 4, "x0": [1] * 4},
            "",
        ),
    ],
)
def test_what_has_no_closed_form_says_so(tmp_path: Path, given_: Any, case: Any, why: str) -> None:
    theorem = shape(tmp_path, {"bound": "L*R**2/K"}, along=["K"], **given_)
    found = only(theorem, small({} if "rule" in given_ else {"alpha": "1/2"}, **case))
    assert why in found.why
    assert not found.refutes


def test_staleness_is_that_of_all_later_horizons(tmp_path: Path) -> None:
    """Two arrivals of client 0, then one of client 1, whose gradient is two updates late in every round."""
    theorem = shape(
        tmp_path, {"bound": "L**2*R**2*(1 + tau_max)/T"}, algorithm="async_sgd", over="mean", along=["T"],
        options={"schedule": "constant", "sampling": "arrival"},
    )  # fmt: skip

    def case(iterations: int) -> Case:
        two: Any = {"A": [[[1]]] * 2, "b": [[0]] * 2, "arrivals": [0, 0, 1]}
        return small({"alpha": "1/9"}, iterations, algorithm="async_sgd", **two)

    assert only(theorem, case(9)).right == "3/T"
    # Two arrivals of client 0 are a round of their own, in which client 1 is never seen.
    assert only(theorem, case(2)).right == "1/T"
    assert only(theorem, case(2)).left
    early = only(theorem, read_case({**case(9).raw, "iterations": 2}, has_theorem=True))
    assert "tau_max is 0 up to the horizon of the case, 2 up to" in early.why
    assert not early.refutes


def test_an_exact_case_replays_the_verdict(tmp_path: Path) -> None:
    theorem, case = shape(tmp_path, {"bound": "L*R**2/K"}, along=["K"]), small({"alpha": 3})
    found = evaluate(theorem, case)
    assert found.verdict is Verdict.VIOLATED
    assert found.reason.startswith("K → ∞: left like 4^K, right at most like K^(-1)")
    assert found.as_dict()["growth"][0]["along"] == ["K"]
    silent = evaluate(shape(tmp_path, {"bound": "L*R**2/K"}), case)
    assert silent.verdict is Verdict.INCONCLUSIVE
    assert "growth" not in silent.as_dict()
