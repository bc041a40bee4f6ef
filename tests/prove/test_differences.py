"""A polynomial whose sign is visible is what it was, and is ≥ 0 wherever its symbols are in their ranges."""

from fractions import Fraction
from itertools import product as pairs

from hypothesis import given, strategies as st

from boundlab.prove._scalars import Scalar, same, scalar, variable
from boundlab.prove._terms import Context
from boundlab.prove.coq import Visible, never_zero, product, visible
from boundlab.recheck._numbers import Symbol
from boundlab.recheck._terms import Range

x, y, z = variable("x"), variable("y"), variable("z")


def ordered() -> Context:
    """Return z ≥ 1, x between 0 and z, and y ≥ 2."""
    here = Context()
    here.declare("z", Range(low=scalar(1)))
    here.declare("x", Range(low=scalar(0), high=z))
    here.declare("y", Range(low=scalar(2), above=True))
    return here


def meaning(found: Visible) -> Scalar:
    """Return a polynomial in differences, each put back."""

    def back(symbol: Symbol) -> Scalar:
        upper, lower = found.differences[symbol]
        return upper - lower

    return found.sum.mapped(back)


number = st.integers(-3, 3)
polynomial = st.builds(
    lambda *c: c[0] + c[1] * x + c[2] * y + c[3] * z + c[4] * x * y + c[5] * z * z + c[6] * x * x + c[7] * x * z,
    *[number] * 8,
)


@given(polynomial)
def test_a_visible_sum_is_the_polynomial_and_no_coefficient_is_negative(value: Scalar) -> None:
    found = visible(value, ordered())
    if found is not None:
        assert same(meaning(found), value)
        assert all(one > 0 for _, one in found.sum.terms())
        assert ordered().nonnegative(value)


@given(polynomial, polynomial)
def test_a_product_is_the_polynomial(one: Scalar, other: Scalar) -> None:
    value = one * one * other
    found = product(value, ordered())
    if found is not None:
        assert found.number >= 0
        whole = scalar(found.number)
        for part, count in found.squares:
            whole = whole * part ** (2 * count)
        for seen, count in found.others:
            whole = whole * meaning(seen) ** count
        assert same(whole, value)


@given(polynomial)
def test_what_is_visible_is_not_negative_at_any_point_of_the_ranges(value: Scalar) -> None:
    if visible(value, ordered()) is None and product(value, ordered()) is None:
        return
    for high, share, more in pairs((1, 2, 5), (0, Fraction(1, 3), 1), (Fraction(5, 2), 7)):
        at = {"z": scalar(high), "x": scalar(high * share), "y": scalar(more)}
        assert (value.put(at).constant or 0) >= 0


def test_the_end_from_above_counts() -> None:
    assert visible((z**2 - x**2), ordered()) is not None
    assert visible((z - x), ordered()) is not None
    assert visible((x - z), ordered()) is None


def test_squares_need_no_range() -> None:
    here = Context()
    here.declare("x", Range())
    here.declare("y", Range())
    assert product(((x - y) ** 2), here) is not None
    assert product(((x - y) ** 3), here) is None
    assert product((-((x - y) ** 2)), here) is None


def test_never_zero_names_a_term() -> None:
    found = visible((y - 2 + x), ordered())
    assert found is not None
    assert never_zero(found, ordered())
    flat = visible((z - x), ordered())
    assert flat is not None
    assert never_zero(flat, ordered()) is None
