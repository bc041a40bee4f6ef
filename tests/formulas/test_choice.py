"""Formulas by cases: every arithmetic takes the same branch, and asks nothing of the other one."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from hypothesis import given, strategies as st

from boundlab.errors import FormulaError, UndecidedError
from boundlab.formulas.defined import broken, demands
from boundlab.formulas.enclose import BALLS, CERTAIN, RATIONALS, KnownNumber, at_most, walk
from boundlab.formulas.floats import evaluate
from boundlab.formulas.parse import parse
from boundlab.formulas.symbols import SYMBOLS
from boundlab.formulas.units import degrees
from boundlab.formulas.written import written

NAMES = {name: info.symbol for name, info in SYMBOLS.items()}
ORDERS = {"<=": lambda a, b: a <= b, "<": lambda a, b: a < b, ">=": lambda a, b: a >= b, ">": lambda a, b: a > b}


def read(text: str) -> Any:
    return parse(text, NAMES)


def fraction(formula: sympy.Expr, at: Mapping[str, Fraction]) -> Fraction:
    found = walk(formula, RATIONALS, at.__getitem__)
    assert isinstance(found, Fraction)
    return found


@given(
    st.sampled_from(sorted(ORDERS)),
    st.fractions(-4, 4, max_denominator=4),
    st.fractions(-4, 4, max_denominator=4),
    st.fractions(1, 4, max_denominator=8),
)
def test_every_arithmetic_takes_the_branch_that_the_order_of_the_sides_says(
    sign: str, a: Fraction, b: Fraction, scale: Fraction
) -> None:
    formula = read(f"If(L*({a}) {sign} L*({b}), mu/2, 3*mu)")
    at = {"L": scale, "mu": Fraction(2)}
    want = Fraction(1) if ORDERS[sign](a, b) else Fraction(6)
    assert fraction(formula, at) == want
    assert evaluate(formula, {name: np.array(float(value)) for name, value in at.items()}, "it") == want
    for balls in (BALLS, CERTAIN):
        assert walk(formula, balls, lambda name: KnownNumber.of(at[name]).ball()).contains(float(want))
    numbers = {SYMBOLS[name].symbol: sympy.Rational(value.numerator, value.denominator) for name, value in at.items()}
    assert formula.subs(numbers).doit() == want
    assert at_most(formula, sympy.Rational(want.numerator, want.denominator), {}, at) is True


def test_only_the_branch_that_is_taken_must_be_defined() -> None:
    """1/sigma has no value at sigma = 0, and If(sigma > 0, 1/sigma, 1) is 1 there."""
    formula = read("If(sigma > 0, 1/sigma, 1)")
    assert fraction(formula, {"sigma": Fraction(0)}) == 1
    for sigma in (0.0, 2.0):
        assert broken(demands(formula), lambda of, s=sigma: float(of.subs(NAMES["sigma"], s))) is None
    other = demands(read("If(sigma > 1, 1, 1/sigma)"))
    assert broken(other, lambda of: float(of.subs(NAMES["sigma"], 0))) is not None


def test_a_sum_by_cases_is_defined_where_each_of_its_branches_is() -> None:
    """Σ_{k=0}^{3} of 1 at k = 0 and 1/k after it is 1 + 1 + 1/2 + 1/3."""
    formula = read("Sum(If(k <= 0, 1, 1/k), k, 0, K)")
    assert fraction(formula, {"K": Fraction(3)}) == Fraction(17, 6)
    assert broken(demands(formula), lambda of: float(of.subs(NAMES["K"], 3).doit())) is None


def test_a_side_that_divides_by_zero_has_no_order() -> None:
    with pytest.raises(UndecidedError):
        fraction(read("If(1/sigma <= 2, 1, 2)"), {"sigma": Fraction(0)})


def test_an_undecided_order_encloses_both_branches() -> None:
    """A third, rounded to a ball, is not known to be at most 1/3."""
    formula = read("If(3*alpha <= 1, 5, 7)")
    found = walk(formula, BALLS, lambda _: KnownNumber(None, 1 / 3, 1e-15).ball())
    assert found.contains(5)
    assert found.contains(7)


def test_it_is_printed_so_that_it_is_read_back() -> None:
    formula = read("If(K < 10, 1/L, 2/(mu*(K + 1)))")
    assert read(str(formula)) == formula
    assert written(formula) == "(2/(μ·(K + 1)) if 10 ≤ K, else 1/L)"
    assert r"\mathrm{if}" in sympy.latex(formula)


def test_both_sides_of_the_order_and_both_branches_have_the_same_units() -> None:
    assert degrees(read("If(alpha*L <= 1, R, 2*R)")) == (0, 1, 0)
    with pytest.raises(FormulaError, match="units"):
        degrees(read("If(L <= 1, R, 2*R)"))
    with pytest.raises(FormulaError, match="units"):
        degrees(read("If(alpha*L <= 1, R, L)"))


@pytest.mark.parametrize(
    "text",
    ["If(K, 1, 2)", "If(K < 3 < 4, 1, 2)", "If(K == 3, 1, 2)", "If(K < 3, 1)", "If(K < 3, 1, 2, 3)", "If", "1 < 2"],
)
def test_what_is_no_choice_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(FormulaError) as error:
        read(text)
    assert "\n" not in str(error.value)
