"""What is worked out in floats that carry their error encloses the result without rounding."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, strategies as st

from boundlab.arithmetic.near import NEAR, Near, curvatures, eigenvalues, exp, given as meant, norm, singular, sqrt
from boundlab.arithmetic.numbers import InexactError

mpmath.mp.dps = 60
SIZES = st.floats(-1e6, 1e6).filter(lambda x: x == 0.0 or abs(x) > 1e-6)
LISTS = st.lists(SIZES, min_size=1, max_size=6)


def holds(found: Near, truth: Any) -> bool:
    """Return whether a single number lies between the ends, in fractions or in many digits."""
    low, high = float(found.lower), float(found.upper)
    if isinstance(truth, Fraction):
        return Fraction(low) <= truth <= Fraction(high)
    return bool(mpmath.mpf(low) <= truth <= mpmath.mpf(high))


@given(LISTS, st.data())
def test_sums_products_and_ratios_hold_those_of_fractions(x: list[float], data: st.DataObject) -> None:
    y = data.draw(st.lists(SIZES.filter(bool), min_size=len(x), max_size=len(x)))
    a, b = [Fraction(one) for one in x], [Fraction(one) for one in y]
    mean = sum((one * other / 3 for one, other in zip(a, b, strict=True)), Fraction(0)) / len(a)
    assert holds((Near(x) * y / 3.0).mean(), mean)
    assert holds(Near(x) @ Near(y) - 0.1, sum((p * q for p, q in zip(a, b, strict=True)), -Fraction(0.1)))
    assert holds(1.0 - (Near(x) / y).sum() ** 2, 1 - sum((p / q for p, q in zip(a, b, strict=True)), Fraction(0)) ** 2)
    assert holds(norm(x) ** 2, sum((p * p for p in a), Fraction(0)))


@given(LISTS, st.floats(1e-12, 1e-2))
def test_an_error_of_what_enters_is_carried_along(x: list[float], off: float) -> None:
    """Any point at most ``off`` from x gives a value between the ends."""
    moved = [one + sign * off / 2.0 for one, sign in zip(x, (1, -1) * len(x), strict=False)]
    found = (Near(x, off) * Near(x, off)).sum() + NEAR.absolute(Near(x, off)).sum()
    assert holds(found, sum((Fraction(one) ** 2 + abs(Fraction(one)) for one in moved), Fraction(0)))


@pytest.mark.parametrize(
    ("near", "true"),
    [
        (exp, mpmath.exp),
        (NEAR.log_exp, lambda r: mpmath.log1p(mpmath.exp(r))),
        (NEAR.falling, lambda r: -1 / (1 + mpmath.exp(r))),
        (NEAR.slant, lambda t: mpmath.sqrt(1 + t * t)),
        (lambda x: sqrt(NEAR.absolute(x)), lambda x: mpmath.sqrt(abs(x))),
        (lambda x: NEAR.log(NEAR.absolute(x) + 1.0), lambda x: mpmath.log(abs(x) + 1)),
    ],
)
@given(st.floats(-300.0, 300.0), st.floats(0.0, 1e-3), st.floats(-1.0, 1.0))
def test_functions_of_a_library_are_right_but_for_a_few_last_places(
    near: Callable[[Near], Near], true: Callable[[Any], Any], x: float, off: float, place: float
) -> None:
    assert holds(near(Near(x)), true(mpmath.mpf(x)))
    assert holds(near(Near(x, off)), true(mpmath.mpf(x) + mpmath.mpf(off) * mpmath.mpf(place)))


def test_a_kink_is_the_whole_interval_of_slopes() -> None:
    for r, ends in ((Near(0.0), (0.0, 0.0)), (Near(1e-9, 1e-8), (-1.0, 1.0)), (Near(1.0, 0.5), (1.0, 1.0))):
        found = NEAR.sign(r)
        assert (found.lower, found.upper) == pytest.approx(ends, rel=1e-15)
    unsure = NEAR.below(Near(1.0, 1e-9), 1)
    assert unsure.lower <= 0.0 <= 1.0 <= unsure.upper


def test_what_is_not_rounded_has_no_error() -> None:
    assert meant([Fraction(1, 2), Fraction(3)]).upper.tolist() == [0.5, 3.0]
    third = meant(Fraction(1, 3))
    assert Fraction(float(third.lower)) < Fraction(1, 3) < Fraction(float(third.upper))
    assert eigenvalues(Near(np.diag([3.0, 1.0]))).lower.tolist() == [1.0, 3.0]
    assert norm(np.zeros(3)).upper == 0.0


@pytest.mark.parametrize("seed", range(6))
def test_spectra_hold_those_in_many_digits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, by = rng.normal(size=(5, 3)) * 10.0 ** rng.uniform(-3, 3, size=3), rng.uniform(0.1, 1.0, size=5)
    gram = mpmath.zeros(3)
    for row, weight in zip(X.tolist(), by.tolist(), strict=True):
        a = mpmath.matrix(row)
        gram += mpmath.mpf(weight) * (a * a.T)
    truth = sorted(mpmath.eigsy(gram, eigvals_only=True))
    found = curvatures(X, Near(by))
    assert all(holds(found[place], one) for place, one in enumerate(truth))
    rows = Near(np.sqrt(by)[:, None] * X)
    lengths = sorted(mpmath.svd_r(mpmath.matrix(rows.value.tolist()), compute_uv=False), reverse=True)
    assert all(holds(singular(rows)[place], one) for place, one in enumerate(lengths))


def test_numbers_that_left_the_floats_have_no_end() -> None:
    assert math.isinf(float((Near(1e200) * 1e200).upper))
    assert math.isinf(float((Near(1.0) / Near(0.0, 1e-9)).upper))
    assert norm([math.inf, 1.0]).upper == math.inf


def test_what_no_loss_needs_is_refused_in_words() -> None:
    with pytest.raises(InexactError, match="no such operation"):
        NEAR.project(Near([1.0]), 1.0)
