"""Records that a run shows to the metrics."""

from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.weights import EQUAL, Weights


@final
@dataclass(frozen=True, slots=True)
class RecordAt:
    """Records that a run shows to the metrics.

    Parameters
    ----------
    iterations
        Sorted iterations in 0 … K, or None for all of them.
    average
        Whether to record x̄_k = Σ_{j<k} w_j·x_s,j / Σ_{j<k} w_j instead of x_s,k (k ≥ 1).
    events
        Show x_s after each event instead, labelled with the iteration that it belongs to: what replay shows.
    weights
        The weights w of an average, and whether j = k counts, too (then k ≥ 0).
    point
        Which of the algorithm's points to show in place of x_s, and of which client; None: x_s.
    """

    iterations: NDArray[np.int64] | None = None
    average: bool = False
    events: bool = False
    weights: Weights = EQUAL
    point: tuple[str, int] | None = None

    @property
    def first(self) -> int:
        """The first iteration that can be recorded."""
        return int(self.average and not self.weights.closed)

    def at(self, total: int) -> NDArray[np.int64]:
        """Return the iterations of a run of ``total`` of them, where each event is an iteration."""
        if self.events:
            return np.arange(1, total + 1)
        if self.iterations is None:
            return np.arange(self.first, total + 1)
        keep = self.iterations[(self.iterations >= self.first) & (self.iterations <= total)]
        return np.unique(keep).astype(np.int64)


NOTHING: Final = RecordAt(np.empty(0, dtype=np.int64))
"""No record: what is asked of a run is in its tape."""
