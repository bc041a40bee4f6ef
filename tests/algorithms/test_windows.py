"""Sums over windows of consecutive rows."""

import numpy as np
from hypothesis import given, strategies as st

from boundlab.algorithms._algorithm import window_sums


@given(st.lists(st.integers(0, 9), min_size=1, max_size=70), st.data())
def test_window_sums_are_the_sums_of_all_windows(values, data):
    window = data.draw(st.integers(1, len(values)))
    rows = np.array(values, dtype=np.float64)[:, None] * [1.0, 2.0]
    expected = [rows[t : t + window].sum(axis=0) for t in range(len(rows) - window + 1)]
    assert np.array_equal(window_sums(rows, window), expected)


def test_a_window_of_zeros_sums_to_zero_whatever_stands_around_it():
    rows = np.array([[0.1], [1e9], [0.0], [0.0], [0.0], [0.3]])
    assert window_sums(rows, 3)[2] == 0.0
