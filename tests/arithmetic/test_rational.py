"""Which rational number a float stands for, whoever reads it."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from symbolic import PRINTED, number

from boundlab.arithmetic import numbers
from boundlab.arithmetic.rational import ENGINE, PROGRAM, meant, rational

READERS = [PRINTED, ENGINE, PROGRAM]


@pytest.mark.parametrize("limits", READERS)
@given(st.integers(-(10**6), 10**6), st.integers(1, 10**4))
def test_every_reader_takes_the_float_nearest_a_simple_fraction_for_that_fraction(limits, top, bottom):
    assert rational(top / bottom, limits) == Fraction(top, bottom)


@given(st.floats(-1e6, 1e6, allow_subnormal=False))
def test_readers_who_find_a_fraction_within_the_same_limits_find_the_same_one(value):
    found = {rational(value, limits) for limits in READERS} - {None}
    assert all(abs(one - Fraction(value)) <= Fraction(1, 10**9) * max(abs(Fraction(value)), 1) for one in found)
    simple = {one for one in found if one.denominator <= 10**4}
    assert len(simple) <= 1


def test_the_three_limits_differ_where_they_say():
    # 1/12347: simple for people, not for engines, and a binary fraction in a semidefinite program.
    value = 1 / 12347
    assert rational(value, PRINTED) == Fraction(1, 12347)
    assert rational(value, ENGINE) is None
    assert rational(value, PROGRAM) is None
    assert number(value) == Fraction(1, 12347)
    assert meant(value) == Fraction(value)
    assert rational(0.123456789, ENGINE) == Fraction(123456789, 10**9)
    assert rational(0.123456789, PROGRAM) is None


def test_a_root_meets_an_array_entry_by_entry() -> None:
    flint = pytest.importorskip("flint")
    root = numbers.Surd(flint.fmpq(0), flint.fmpq(1), flint.fmpq(2))
    entries = np.array([flint.fmpq(1), root], dtype=object)
    for one, other in ((root + entries, entries + root), (root * entries, entries * root)):
        assert type(one) is type(other) is np.ndarray
        assert all(numbers.sign(a - b) == 0 for a, b in zip(one, other, strict=True))
    assert numbers.sign((root * entries)[1] - flint.fmpq(2)) == 0
    assert numbers.sign((root - entries)[1]) == 0
    assert numbers.sign((entries / root)[1] - flint.fmpq(1)) == 0


def test_roots_are_equal_where_both_parts_are() -> None:
    flint = pytest.importorskip("flint")
    one, two = flint.fmpq(1), flint.fmpq(2)
    root = numbers.Surd(one, two, two)
    assert root == numbers.Surd(one, two, two)
    assert root != numbers.Surd(two, two, two)
    assert root != numbers.Surd(one, one, two)
    assert numbers.Surd(one, two - two, two) != one
