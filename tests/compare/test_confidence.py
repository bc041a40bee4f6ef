"""Confidence limits: coverage where it can be had, honesty where it cannot."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundlab.compare.confidence import band, lower_limits
from boundlab.errors import SpecError
from boundlab.randomness import Stream, Streams


def exponentials(seed, trials, points):
    return -np.log(Streams(seed).uniforms(Stream.START, 0, np.arange(trials), points))


@given(st.lists(st.floats(0.0, 1e6), min_size=2, max_size=30))
def test_a_lower_limit_never_exceeds_the_sample_mean(values):
    column = np.array(values)[:, None]
    assert lower_limits(column, 0.01)[0] <= column.mean() * (1 + 1e-12)


@given(st.floats(1e-6, 1e6), st.integers(0, 20))
def test_limits_scale_with_the_values(scale, seed):
    values = exponentials(seed, 30, 3)
    assert np.allclose(lower_limits(scale * values, 0.01), scale * lower_limits(values, 0.01), rtol=1e-6)


def test_lower_limits_err_less_often_than_promised_on_a_skewed_law():
    # 400 experiments at error 0.05; a promise kept has more than 33 misses with probability below 0.002.
    misses = sum(lower_limits(exponentials(seed, 15, 1), 0.05)[0] > 1.0 for seed in range(400))
    assert misses <= 33


def test_the_bootstrap_band_covers_on_a_skewed_law_where_student_does_not():
    # 120 experiments, 95 % joint, 5 points, 20 trials of an exponential law: 6 misses expected.
    misses = {"student": 0, "bootstrap": 0}
    for seed in range(120):
        values = exponentials(seed, 20, 5)
        for kind in misses:
            limits = band(values, values, 0.95, kind, seed)
            misses[kind] += bool((limits.upper < 1.0).any() or (limits.lower > 1.0).any())
    assert misses["bootstrap"] <= 14  # P(more | a 5 % miss rate) < 0.002
    assert misses["student"] > misses["bootstrap"]


def test_a_constant_has_a_band_of_no_width_above_and_a_lower_limit_below():
    values = np.full((50, 2), 3.0)
    limits = band(values, values, 0.99, "bootstrap", 0)
    assert np.allclose(limits.upper, 3.0)
    assert (limits.lower < 3.0).all()
    assert (limits.lower > 2.5).all()


def test_the_certificate_widens_the_band_on_both_sides():
    values = exponentials(1, 40, 2)
    tight, wide = (
        band(values, values, 0.9, "student", 0),
        band(values - np.minimum(values, 0.1), values + 0.1, 0.9, "student", 0),
    )
    assert (wide.lower < tight.lower).all()
    assert (wide.upper > tight.upper).all()


@pytest.mark.parametrize(
    ("trials", "level", "message"),
    [(1, 0.9, "at least 2 trials"), (5, 1.0, "between 0.5 and 1"), (5, 0.2, "between 0.5 and 1")],
)
def test_impossible_bands_are_refused(trials, level, message):
    with pytest.raises(SpecError, match=message):
        band(np.ones((trials, 1)), np.ones((trials, 1)), level, "student", 0)
