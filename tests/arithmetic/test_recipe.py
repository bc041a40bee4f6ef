"""A number with its recipe is its float to the last bit, and in every arithmetic what the same text makes there."""

import math
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from boundlab.algorithms import StepSize
from boundlab.arithmetic.numbers import ball, digits, fraction, rational, square_root
from boundlab.arithmetic.rational import Recipe, TooLongError, as_fraction, column, evaluated, known_fraction
from boundlab.expectation import exact_parameters
from boundlab.registry import lookup

# Texts with floats, and what they are in fractions.
TEXTS = (
    (lambda a, b: a + b, lambda a, b: a + b),
    (lambda a, b: a - b / 3, lambda a, b: a - b / 3),
    (lambda a, b: 1.0 - a * b, lambda a, b: 1 - a * b),
    (lambda a, b: 0.5 / a + 2.0 * b, lambda a, b: Fraction(1, 2) / a + 2 * b),
    (lambda a, b: (2 * a - b) / (a + 4.0 * b), lambda a, b: (2 * a - b) / (a + 4 * b)),
    (lambda a, b: -a + Fraction(1, 3) * b, lambda a, b: -a + b / 3),
    (lambda a, b: sum([a, b, a * a], start=0.5), lambda a, b: Fraction(1, 2) + a + b + a * a),
)
VALUES = st.fractions(Fraction(1, 9), 9, max_denominator=9)


def recipes(*values: Fraction) -> list[Recipe]:
    return [Recipe(float(value), ("rate", place)) for place, value in enumerate(values)]


@pytest.mark.parametrize(("text", "in_fractions"), TEXTS)
@given(a=VALUES, b=VALUES)
def test_one_text_makes_the_float_and_the_fraction(text: Any, in_fractions: Any, a: Fraction, b: Fraction) -> None:
    found, exact = text(*recipes(a, b)), in_fractions(a, b)
    assert float(found) == text(float(a), float(b))
    assert known_fraction(text(*(Recipe(float(one), one) for one in (a, b)))) == exact
    assert fraction(evaluated([found], [rational(a), rational(b)], balls=False)[0]) == exact
    with digits(200):
        (seen,) = evaluated([found], [rational(a), rational(b)], balls=True)
        assert seen.overlaps(ball(rational(exact)))
        assert seen.rel_accuracy_bits() > 150 or seen.contains(0)


@given(a=VALUES)
def test_roots_and_powers_are_known_to_every_digit(a: Fraction) -> None:
    (rate,) = recipes(a)
    found = [square_root(rate), square_root(rate * rate), 3.0**-rate]
    assert [float(one) for one in found] == [math.sqrt(a), math.sqrt(float(rate * rate)), 3.0 ** -float(a)]
    with digits(200):
        exact = ball(rational(a))
        for one, right in zip(
            evaluated(found, [exact], balls=True), [exact.sqrt(), exact, ball(rational(3)) ** -exact], strict=True
        ):
            assert one.overlaps(right)
            assert one.rel_accuracy_bits() > 150
    with pytest.raises(TooLongError):
        evaluated(found[:1], [rational(a)], balls=False)


def test_roots_of_squares_are_fractions() -> None:
    assert known_fraction(square_root(Recipe(0.25))) == Fraction(1, 2)
    assert known_fraction(4.0 ** -Recipe(1.5)) == Fraction(1, 8)
    assert known_fraction(2.0 ** -Recipe(1.0)) == Fraction(1, 2)
    assert known_fraction(2.0 ** -Recipe(0.5)) is None


def test_a_float_that_stands_for_no_fraction_is_known_up_to_rounding() -> None:
    (found,) = evaluated([Recipe(1.0) * math.pi], [], balls=None)
    assert found.contains(math.pi)
    assert 40 < found.rel_accuracy_bits() < 50
    assert as_fraction(math.pi) == Fraction(math.pi)
    assert known_fraction(1 / 3) is None
    assert as_fraction(1 / 3) == Fraction(1, 3)


def test_numbers_that_round_to_one_float_are_two() -> None:
    near = Recipe(0.5, Fraction(1, 2) + Fraction(1, 10**30))
    assert near == 0.5
    assert near != Recipe(0.5)
    assert len({near, Recipe(0.5)}) == 2
    assert known_fraction(near - Recipe(0.5)) == Fraction(1, 10**30)


def test_sums_of_many_terms_are_evaluated() -> None:
    (rate,) = recipes(Fraction(1, 7))
    total = list(accumulate([rate] * 5000))[-1]
    assert fraction(evaluated([total], [rational(Fraction(1, 7))], balls=False)[0]) == Fraction(5000, 7)


def test_steps_that_fall_are_numbers_of_their_own_kind() -> None:
    plain, known = StepSize(0.3, 7.0), StepSize(*recipes(Fraction(3, 10), Fraction(7)))
    ks = np.arange(5)
    assert known.at(ks).astype(float).tolist() == plain.at(ks).tolist()
    assert evaluated(known.at(ks).tolist(), [rational(Fraction(3, 10)), rational(7)], balls=False) == [
        rational(Fraction(3, 10) / (k + 7)) for k in range(5)
    ]
    assert column([0.5, 1.0]).dtype == np.float64
    assert column([0.5, Recipe(1.0)]).dtype == object


def test_zero_times_a_root_is_zero() -> None:
    root = square_root(Recipe(5.0))
    assert [known_fraction(one) for one in (0.0 * root, Recipe(0.0) / root, root * 0)] == [Fraction(0)] * 3
    with pytest.raises(ZeroDivisionError):
        root / Recipe(0.0)


def test_an_option_that_is_a_rate_stays_one_and_text_is_taken_at_its_word() -> None:
    algorithm = lookup("algorithms", "heavy_ball")
    parameters = exact_parameters(algorithm, {"alpha": "0.1", "beta": "1/30011"}, ["alpha"])
    assert known_fraction(parameters.beta) == Fraction(1, 30011)  # of which a float stands for no fraction
    assert known_fraction(parameters.alpha) is None
    assert evaluated([parameters.alpha], [rational(Fraction(1, 7))], balls=False) == [rational(Fraction(1, 7))]
    assert known_fraction(exact_parameters(algorithm, {"alpha": 0.1, "beta": 0.25}, []).alpha) == Fraction(1, 10)
