"""Whether one formula is at most another at rational numbers: the truth, or no answer."""

from fractions import Fraction

import mpmath
import pytest
import sympy
from hypothesis import given, strategies as st

from boundlab.formulas.enclose import RATIONALS, at_most, walk

a, b, c = sympy.symbols("a b c", positive=True)
FLOATS = st.floats(1e-3, 1e3)
TREES = st.recursive(
    st.sampled_from([a, b, c, sympy.Integer(2), sympy.Rational(1, 3)]),
    lambda part: st.one_of(
        st.tuples(part, part).map(lambda two: two[0] + two[1]),
        st.tuples(part, part).map(lambda two: two[0] * two[1]),
        st.tuples(part, part).map(lambda two: two[0] / two[1]),
        st.tuples(part, part).map(lambda two: sympy.Min(*two, evaluate=False)),
        st.tuples(part, part).map(lambda two: sympy.Max(*two, evaluate=False)),
        part.map(sympy.sqrt),
        part.map(lambda one: one ** sympy.Rational(1, 3)),
    ),
    max_leaves=6,
)


def precisely(expression, values):
    """Return the value to 60 digits, by another library."""
    with mpmath.workdps(60):
        names = {
            symbol: mpmath.mpf(values[symbol.name].numerator) / values[symbol.name].denominator for symbol in (a, b, c)
        }
        return sympy.lambdify((a, b, c), expression, modules=["mpmath", {"Min": min, "Max": max}])(*names.values())


@given(TREES, TREES, FLOATS, FLOATS, FLOATS)
def test_an_answer_is_the_truth(left, right, x, y, z):
    values = {"a": Fraction(x), "b": Fraction(y), "c": Fraction(z)}
    found = at_most(left, right, {}, values)
    with mpmath.workdps(60):
        gap = precisely(right, values) - precisely(left, values)
        if abs(gap) > mpmath.mpf(10) ** -40:
            assert found is (gap > 0)
        else:
            assert found is not False


@given(TREES, FLOATS, FLOATS, FLOATS)
def test_both_sides_of_one_formula_are_equal_and_a_part_more_is_more(tree, x, y, z):
    values = {"a": Fraction(x), "b": Fraction(y), "c": Fraction(z)}
    assert at_most(tree, tree, {}, values) is True
    assert at_most(tree * (1 + sympy.Rational(1, 10**25)), tree, {}, values) is False
    assert at_most(tree, tree * (1 + sympy.Rational(1, 10**25)), {}, values) is True


@given(FLOATS, FLOATS, FLOATS)
def test_fractions_are_what_the_floats_are(x, y, z):
    values = {"a": Fraction(x), "b": Fraction(y), "c": Fraction(z)}
    found = walk((a + b) * c / a - b**3, RATIONALS, values.__getitem__)
    assert found == (values["a"] + values["b"]) * values["c"] / values["a"] - values["b"] ** 3


def test_definitions_are_put_in_and_an_infinite_limit_is_no_limit():
    alpha, D = sympy.symbols("alpha D", positive=True)
    rules = {"alpha": sympy.Min(1 / a, sympy.sqrt(b / (c - 1) ** 3), evaluate=False), "D": alpha * a}
    one = {"a": Fraction(3), "b": Fraction(2), "c": Fraction(1)}  # c − 1 = 0: the root is no limit
    assert at_most(alpha, 1 / a, rules, one) is True
    assert at_most(D, sympy.Integer(1), rules, one) is True
    assert at_most(D, sympy.Integer(1), rules, {**one, "alpha": Fraction(1, 3) + Fraction(1, 10**30)}) is False


def test_what_has_no_value_is_not_decided():
    assert at_most(a, b, {}, {"a": Fraction(1)}) is None
    assert at_most(sympy.log(a), b, {}, {"a": Fraction(0), "b": Fraction(1)}) in (None, True)


@pytest.mark.parametrize("part", [sympy.exp(a) * b, sympy.log(a + 1) + b, sympy.pi * a])
def test_what_no_fraction_has_is_decided_by_intervals(part):
    values = {"a": Fraction(1, 3), "b": Fraction(2), "c": Fraction(1)}
    tiny = sympy.Rational(1, 10**20)
    assert at_most(part, part * (1 + tiny), {}, values) is True
    assert at_most(part * (1 + tiny), part, {}, values) is False
