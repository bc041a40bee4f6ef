"""What the checks rest on: leading terms, enclosures, certificates of signs, and the known truths themselves."""

import contextlib
import signal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, settings, strategies as st

from boundlab.checks._check import View, time_limit
from boundlab.checks.truths import (
    SMALL,
    UNEQUAL,
    UNEQUAL_SQUARED_GRADIENT,
    reused,
    reused_squared_gradient,
)
from boundlab.errors import UndecidedError
from boundlab.formulas.enclose import enclose
from boundlab.formulas.symbols import SYMBOLS, symbol
from boundlab.formulas.written import leading, substitute
from boundlab.signs import Prover
from boundlab.theorems import load_theorem

e = SMALL
X, Y = symbol("F0"), symbol("L")

# ------------------------------------------------------------------------------------------ leading terms


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("expression", "lead"),
    [
        (3 * e**2 + e**3, (3, 2)),
        ((1 / e + 5) ** 2, (1, -2)),
        (sympy.sqrt(4 * e + e**2), (2, sympy.S.Half)),
        (sympy.Max(e, 2 * e**2, evaluate=False), (1, 1)),
        (sympy.Min(e, 2 * e**2, evaluate=False), (2, 2)),
        (sympy.Max(1 - e, e - 1, evaluate=False), (1, 0)),
        ((1 - 2 * e) ** (3 / e), (sympy.exp(-6), 0)),
        ((1 - e) ** (e**-3), (0, sympy.oo)),
        (sympy.Rational(1, 2) ** (1 / e), (0, sympy.oo)),
        (sympy.Max(-1, 1 - 2 * e, evaluate=False) ** (3 / e), (sympy.exp(-6), 0)),
        ((e - e**2) ** 2 / (1 - 3 * e) ** 3, (1, 2)),
        ((-2 + e) ** 3, (-8, 0)),
        (sympy.exp(-e), (1, 0)),
        (sympy.S.Zero, (0, sympy.oo)),
    ],
)
def test_leading_terms_by_hand(expression: sympy.Expr, lead: tuple[Any, Any]) -> None:
    assert leading(expression, e) == lead


def test_cancelling_terms_are_not_guessed() -> None:
    for expression in (sympy.sqrt(1 + e) - 1, sympy.log(e), (1 + X - Y) + e):
        with pytest.raises(UndecidedError):
            leading(sympy.sympify(expression), e)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(-3, 3)), min_size=1, max_size=4))
@settings(max_examples=30, deadline=None)
def test_leading_terms_of_sums_agree_with_sympy(parts: list[tuple[int, int]]) -> None:
    total = sympy.Add(*(coefficient * e**power for coefficient, power in parts))
    coefficient, power = leading(total, e)
    limit = sympy.S.Zero if power > 0 else coefficient if power == 0 else sympy.oo
    assert limit == sympy.limit(total, e, 0, "+")


# -------------------------------------------------------------------------------------------- enclosures


def test_a_symbol_has_no_enclosure_and_a_minimum_drops_what_is_infinite() -> None:
    with pytest.raises(UndecidedError):
        enclose(X + 1)
    M = symbol("M")
    inside = sympy.Min(3, Y / (M - 1), evaluate=False)
    assert substitute(inside, {M: sympy.S.One}) == 3
    with pytest.raises(UndecidedError, match="infinite"):
        substitute(Y / (M - 1), {M: sympy.S.One})


# ------------------------------------------------------------------------------------------ certificates

PROVER = Prover(SYMBOLS)
NAMES = ("n", "M", "tau_max", "sigma", "p_s", "delta", "speed_ratio", "mu", "L")
DRAWS = {
    "n": st.integers(1, 9),
    "M": st.integers(1, 9),
    "tau_max": st.integers(0, 9),
    "sigma": st.floats(0, 9),
    "p_s": st.floats(0.01, 1),
    "delta": st.floats(0, 1),
    "speed_ratio": st.floats(1, 9),
    "mu": st.floats(0.01, 1),
    "L": st.floats(1, 9),
}


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> sympy.Expr:
    if depth == 0 or draw(st.booleans()):
        return draw(st.sampled_from([symbol(name) for name in NAMES] + [sympy.Integer(number) for number in (1, 2, 3)]))
    left, right = draw(expressions(depth - 1)), draw(expressions(depth - 1))
    kind = draw(st.sampled_from("+-*mM/"))
    if kind == "/":
        return left / (1 + right**2)
    if kind in "mM":
        return (sympy.Min if kind == "m" else sympy.Max)(left, right, evaluate=False)
    return {"+": left + right, "-": left - right, "*": left * right}[kind]


@pytest.mark.nightly
@given(expressions(), st.fixed_dictionaries(DRAWS))  # type: ignore[arg-type]
@settings(max_examples=150, deadline=None)
def test_what_is_proved_to_be_nonnegative_is(expression: sympy.Expr, values: dict[str, float]) -> None:
    if PROVER.certain(expression):
        number = float(expression.subs({symbol(name): value for name, value in values.items()}))
        assert number >= -1e-9 * (1 + abs(number))


@pytest.mark.nightly
@given(expressions(), st.fixed_dictionaries(DRAWS), st.sampled_from(("n", "sigma", "tau_max")), st.integers(1, 3))  # type: ignore[arg-type]
@settings(max_examples=150, deadline=None)
def test_what_is_proved_to_grow_grows(expression: sympy.Expr, values: dict[str, float], name: str, more: int) -> None:
    found = PROVER.direction(expression, symbol(name))
    if found is not None:
        before, after = (
            float(expression.subs({symbol(other): value for other, value in point.items()}))
            for point in (values, {**values, name: values[name] + more})
        )
        slack = 1e-9 * (1 + abs(before) + abs(after))
        assert found * (after - before) >= -slack
        assert found != 0 or abs(after - before) <= slack


def test_covers_prove_what_coefficients_do_not_show() -> None:
    a, b = symbol("sigma"), symbol("zeta")
    assert PROVER.nonnegative(a**2 - 2 * a * b + b**2 + a * b)
    assert not PROVER.nonnegative(a**2 - 3 * a * b + b**2)


def test_conditions_help_and_are_needed() -> None:
    theorem = load_theorem("classics.sgd.distance")
    rate = 1 - symbol("alpha") * symbol("mu")
    assert View(theorem).prover().nonnegative(rate)
    assert not PROVER.nonnegative(rate)


def _forever() -> None:
    while True:
        # What SymPy does in places.
        with contextlib.suppress(Exception):
            sum(range(1000))


@pytest.mark.nightly
def test_time_is_limited() -> None:
    with pytest.raises(UndecidedError, match="not decided in"), time_limit(0.05):
        _forever()


@pytest.mark.sweep(2)
@pytest.mark.parametrize("_", range(20))
def test_a_limit_that_has_passed_leaves_no_timer_behind(_: int) -> None:
    before = signal.getsignal(signal.SIGPROF)
    with pytest.raises(UndecidedError, match="not decided in"), time_limit(0.001):
        _forever()
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGPROF) == before


# ---------------------------------------------------------------------------------------- the known truths


def test_the_noise_floor_is_reached() -> None:
    # E x² of x' = (1 − η)x ± η from 0, averaged over η⁻³ steps, is η/(2 − η)·(1 − O(1/(ηT))); and |x| ≤ 1.
    for eta in (0.1, 0.05):
        steps = round(eta**-3)
        second, total, largest = 0.0, 0.0, 0.0
        for _ in range(steps):
            total += second
            second = (1 - eta) ** 2 * second + eta**2
            largest = (1 - eta) * largest + eta
        assert total / steps == pytest.approx(eta / (2 - eta), rel=5 * eta)
        assert largest <= 1


def test_a_slope_keeps_its_gradient() -> None:
    T, eta = 50, Fraction(1, 7)
    x = eta * (T - 1) + 1
    gap = x - Fraction(1, 2)
    assert gap == eta * (T - 1) + Fraction(1, 2)
    for _ in range(T):
        slope = min(max(x, Fraction(-1)), Fraction(1))
        assert slope == 1
        x -= eta * slope


def test_reused_gradients_go_round_for_ever() -> None:
    times, eta, L = 20, Fraction(1, 50), Fraction(10)
    start = times * eta / 2
    x, total = start, Fraction(0)
    for block in range(4):
        gradient = min(max(L * x, Fraction(-1)), Fraction(1))
        assert gradient == (-1) ** block
        for _ in range(times):
            total += min(max(L * x, Fraction(-1)), Fraction(1)) ** 2
            x -= eta * gradient
    assert x == start
    average = reused_squared_gradient(times)
    assert total / (4 * times) == Fraction(int(average.p), int(average.q))
    values = reused(sympy.Rational(1, 50), times, sympy.Integer(40))
    assert values["L"] == 10
    # f(y) − inf f = |y| − 1/(2L).
    assert values["F0"] == sympy.Rational(1, 5) - sympy.Rational(1, 20)


def test_the_bound_of_afl_dga_on_that_orbit_is_far_below() -> None:
    values = reused(sympy.Rational(1, 1000), 20, sympy.Integer(40))
    theorem = load_theorem("afl_dga.theorem1")
    numbers = {name: float(values[name]) for name in theorem.inputs() if name in values} | {"T": 1000}
    assert float(theorem.evaluate(numbers).total) < 0.12 < float(reused_squared_gradient(20))


def test_the_mixture_has_its_bias() -> None:
    # ω = (5/6, 1/6), minimisers 0 and 1: the mixture's is 1/6, where ∇f = 1/6 − 1/2.
    x = 0.9
    for _ in range(20000):
        x -= 1e-3 * (5 / 6 * x + 1 / 6 * (x - 1))
    assert (x - 0.5) ** 2 == pytest.approx(float(UNEQUAL_SQUARED_GRADIENT), rel=1e-6)
    grid = np.linspace(-3, 3, 601)
    first, second = np.clip(grid, -1, 1), np.clip(grid - 1, -1, 1)
    for values in UNEQUAL.values():
        assert np.abs(first - second).max() / 2 == pytest.approx(float(values["sigma_g"]))
    assert UNEQUAL["fedbuff"]["chi2"] == 2 * 2 * (sympy.Rational(5, 6) - sympy.Rational(1, 2)) ** 2
