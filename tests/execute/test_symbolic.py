"""The symbolic executor: iterates as on paper, and the same ones as with numbers."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given, strategies as st
from symbolic import Vector, named_gradients, number, run, term_by_term, terms

from boundlab.algorithms import StepSize
from boundlab.algorithms.area import AREA, AreaParameters
from boundlab.errors import SpecError
from boundlab.events import Events
from boundlab.tape import RecordAt

alpha, x = sympy.Symbol("alpha"), Vector("x")


def area_tape(actors, clients=2, alpha=0.5, **options):
    events = Events(np.arange(1.0, len(actors) + 1), np.array(actors, dtype=np.int32))
    return AREA.schedule(AreaParameters(StepSize(alpha), **options), events, clients, RecordAt(), 10**6)


def g(client, update, step=1):
    return Vector(f"g_{{{client},{step}}}^{{{update}}}")


def test_the_first_iterates_of_area_are_those_of_a_hand_calculation():
    # Two clients, both send x_i = x − αg_i^0 first. u = −αg_0^0/2 goes into x_s, then u = −αg_1^0/2 from client 1;
    # client 0, answered with x before the first aggregation, brings x_0 = x − αg_0^1, and y_0 = x − αg_0^0.
    shown = run(area_tape([0, -1, 1, 0, -1]), "x", named_gradients(), {0.5: alpha}).records
    first = x - alpha * g(0, 0) / 2
    assert [record.x for record in shown[:5]] == [x, x, first, first, first]
    second = first - alpha * g(1, 0) / 2 + alpha * (g(0, 0) - g(0, 1)) / 2
    assert shown[5].x == sympy.expand(second)
    assert terms(shown[5].x) == {x: 1, g(0, 1): -alpha / 2, g(1, 0): -alpha / 2}
    assert [record.iteration for record in shown] == list(range(6))


def test_local_steps_are_gradients_of_their_own_and_thirds_stay_thirds():
    last = run(area_tape([2, -1], clients=3, M=2, alpha=0.1), "x", named_gradients()).records[-1].x
    assert terms(last) == {x: 1, g(2, 0, 1): -sympy.Rational(1, 30), g(2, 0, 2): -sympy.Rational(1, 30)}
    assert term_by_term(last) == r"x - \frac{1}{30} g_{2,1}^{0} - \frac{1}{30} g_{2,2}^{0}"


def test_terms_print_sums_negative_letters_and_what_is_left_over():
    beta = sympy.Symbol("beta")
    assert term_by_term(-x + (1 - beta) * g(0, 0) + 2) == r"2 - x - \left(\beta - 1\right) g_{0,1}^{0}"
    assert term_by_term(sympy.Integer(0)) == "0"


@given(st.integers(-(10**6), 10**6), st.integers(1, 10**5))
def test_the_float_nearest_a_fraction_comes_back_as_that_fraction(top, bottom):
    assert number(top / bottom) == sympy.Rational(top, bottom)


def test_numbers_that_are_no_short_fraction_stay_what_they_are():
    assert number(1e-7) == sympy.Rational(1, 10**7)
    value = float(np.sqrt(2.0))
    assert number(value) == sympy.Rational(*Fraction(value).as_integer_ratio())
    assert number(2 / 3 * (1 / 7)) == sympy.Rational(2, 21)  # one rounding more than the float nearest 2/21


def test_a_quadratic_with_letters_gives_the_iterates_as_formulas():
    # One client, f = ½a(x − b)²: a local step maps x − b to (1 − αa)(x − b).
    a, b = sympy.symbols("a b")
    last = run(area_tape([0, -1], clients=1, M=3), x, lambda _step, point: a * (point - b), {0.5: alpha}).records[-1].x
    assert sympy.expand(last - b - (1 - alpha * a) ** 3 * (x - b)) == 0


def test_gradients_must_have_the_shape_of_the_point():
    with pytest.raises(SpecError, match="not the shape"):
        run(area_tape([0, -1]), sympy.Matrix([1, 2]), named_gradients())


def test_relative_local_step_sizes_multiply_the_step_size():
    tape = dataclasses.replace(area_tape([0, -1], clients=1, M=3), local=np.array([1.0, 0.5, 1 / 3]))
    last = run(tape, "x", named_gradients(), {0.5: alpha}).records[-1].x
    assert terms(last) == {x: 1, g(0, 0, 1): -alpha, g(0, 0, 2): -alpha / 2, g(0, 0, 3): -alpha / 3}
