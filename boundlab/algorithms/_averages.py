"""Algorithms whose server models are averages of results of local passes, each begun at such a model."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@final
@dataclass(frozen=True, slots=True)
class Averages:
    """Every server model is a convex combination of x0 and of results of local passes from earlier server models.

    So a convex set with x0 that no local step leaves holds all of them, whatever the events are. Behind the model
    after k iterations lie at most max(0, ⌊(k + ahead)/every⌋) passes one after the other.

    Parameters
    ----------
    steps, step_size
        Of a pass: how many steps, and the largest size that any step of the run has.
    every, ahead
        How fast passes can follow each other.
    """

    steps: int
    step_size: float
    every: int
    ahead: int

    def depth(self, ks: Ints) -> Ints:
        """Return the most passes behind the model after each of ``ks`` iterations, shape (points,)."""
        return np.maximum(0, (ks + self.ahead) // self.every)

    def mean_depth(self, ks: Ints) -> NDArray[np.float64]:
        """Return the mean of :meth:`depth` over 0 … k−1 for each k ≥ 1, shape (points,)."""
        # Σ_{j<m} ⌊j/e⌋ with m = q·e + r is e·q(q−1)/2 + r·q; terms below 0 count as 0.
        q, r = np.divmod(np.maximum(ks + self.ahead, 0), self.every)
        before = self.every * (q * (q - 1) // 2) + r * q
        # ahead < every, so that the terms from 0 to ahead − 1, which no k ≥ 0 has, are 0.
        return np.asarray(before / np.maximum(ks, 1), dtype=np.float64)
