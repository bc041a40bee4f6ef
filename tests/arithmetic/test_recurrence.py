"""Linear recursions over Q: found from their first terms, closed forms, and how fast they grow."""

from collections.abc import Callable
from fractions import Fraction

import hypothesis.strategies as st
import pytest
import sympy
from hypothesis import given

from boundlab.arithmetic.numbers import fraction, rational
from boundlab.arithmetic.recurrence import Recurrence

half, third = Fraction(1, 2), Fraction(1, 3)
Term = Callable[[int], Fraction]


def found(term: Term, order: int) -> Recurrence:
    return Recurrence.of([rational(Fraction(term(k))) for k in range(2 * order)])


@pytest.mark.parametrize(
    ("term", "order", "closed"),
    [
        # u = 3 + 2^-k obeys u_{k+2} = 3/2·u_{k+1} − 1/2·u_k.
        (lambda k: half**k + 3, 3, (0, {Fraction(1): [Fraction(3)], half: [Fraction(1)]})),
        # λ = 1 thrice: (k + 1)², Σ (k + 1)² z^k = (1 + z)/(1 − z)³.
        (lambda k: Fraction((k + 1) ** 2), 5, (0, {Fraction(1): [Fraction(1), Fraction(2), Fraction(1)]})),
        # What is gone after two terms is no part of the closed form: it holds from k = 2 on.
        (lambda k: third**k + (k == 1), 4, (2, {third: [Fraction(1)]})),
        (lambda _: Fraction(0), 2, (0, {})),
        # A leading coefficient of 0: k·3^-k has no part without k.
        (lambda k: k * third**k, 2, (0, {third: [Fraction(0), Fraction(1)]})),
    ],
)
def test_closed_forms_by_hand(term: Term, order: int, closed: object) -> None:
    own = found(term, order)
    assert own.closed() == closed
    assert [fraction(one) for one in own.terms(12)] == [term(k) for k in range(12)]


def test_more_terms_than_needed_find_the_same_recursion() -> None:
    assert all(
        found(lambda k: half**k + k, order).denominator == found(lambda k: half**k + k, 3).denominator
        for order in (4, 9)
    )


def test_a_rotation_has_the_absolute_value_one_exactly() -> None:
    """λ = (3 ± 4i)/5: u = 2·Re λ^k neither grows nor tends to 0."""
    own = [Fraction(2), Fraction(6, 5)]
    while len(own) < 4:
        own.append(Fraction(6, 5) * own[-1] - own[-2])
    circle = Recurrence.of([rational(one) for one in own])
    assert circle.closed() is None
    assert circle.largest() == pytest.approx((1.0, 0))
    assert circle.exceeds(Fraction(1), sympy.Rational(-1, 2))
    assert not circle.exceeds(Fraction(1), 0)


@pytest.mark.parametrize(
    ("term", "order", "rate", "power", "more"),
    [
        (lambda k: Fraction(2**k), 1, 1, 100, True),
        (lambda k: Fraction(2**k), 1, 2, 0, False),
        (lambda k: Fraction(2**k * k), 2, 2, 0, True),
        (lambda k: Fraction((-2) ** k * k), 2, 2, sympy.Rational(1, 2), True),
        (lambda k: half**k, 1, half, -1, True),
        (lambda k: half**k, 1, 1, -sympy.oo, False),
        (lambda k: half**k + 1, 2, 1, -1, True),
        (lambda k: Fraction(k == 3), 8, third, -5, False),  # 0 in the end
        # Fibonacci numbers grow like ((1 + √5)/2)^k = 1.618…^k.
        (lambda k: [0, 1, 1, 2, 3, 5][k], 3, Fraction(1618, 1000), 9, True),
        (lambda k: [0, 1, 1, 2, 3, 5][k], 3, Fraction(1619, 1000), -9, False),
    ],
)
def test_growth_by_hand(term: Term, order: int, rate: Fraction | int, power: object, more: bool) -> None:
    assert found(term, order).exceeds(Fraction(rate), power) is more


rationals = st.fractions(-2, 2, max_denominator=6)


@given(st.dictionaries(rationals.filter(bool), st.lists(rationals, min_size=1, max_size=2), max_size=3))
def test_sums_of_powers_times_polynomials_are_found_again(parts: dict[Fraction, list[Fraction]]) -> None:
    def term(k: int) -> Fraction:
        sums = (one * k**i * rate**k for rate, own in parts.items() for i, one in enumerate(own))
        return sum(sums, start=Fraction(0))

    own = found(term, 6)
    closed = own.closed()
    assert closed is not None
    want = {rate: [*each] for rate, each in parts.items() if any(each)}
    for each in want.values():
        while not each[-1]:
            each.pop()
    assert closed == (0, want)
    assert [fraction(one) for one in own.terms(30)] == [term(k) for k in range(30)]
