"""Sums over windows of consecutive server updates."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def window_sums(rows: Floats, window: int) -> Floats:
    """Return the sums over ``window`` consecutive rows, shape (rows − window + 1, columns).

    By blocks whose lengths are powers of two, so that the work grows like log(window), and without differences of
    running sums: a window of zeros sums to exactly 0.
    """
    count = len(rows) - window + 1
    total = np.zeros((count, rows.shape[1]))
    block, size, begin = np.asarray(rows, dtype=np.float64), 1, 0  # block[t]: sum of rows t … t + size − 1
    while size <= window:
        if window & size:
            total += block[begin : begin + count]
            begin += size
        if 2 * size <= window:
            block = block[:-size] + block[size:]
        size *= 2
    return total
