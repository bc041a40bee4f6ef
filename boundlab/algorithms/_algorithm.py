"""What every algorithm gives: its parameters, and a compiler."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.delays import Events
from boundlab.errors import SpecError
from boundlab.specs import Options
from boundlab.tape import Tape


@final
@dataclass(frozen=True, slots=True)
class StepSize:
    """α_k = c/(k + d), or the constant α when ``d`` is None; unit (−1, 2)."""

    c: float
    d: float | None = None

    def at(self, k: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return α_k for an array of iterations."""
        if self.d is None:
            return np.full(np.shape(k), self.c)
        return np.asarray(self.c / (k + self.d), dtype=np.float64)

    @classmethod
    def read(cls, options: Options) -> "StepSize":
        """Read ``alpha``, or ``c`` and ``d``.

        Raises
        ------
        SpecError
            If neither or both are given, or a number is not positive.
        """
        constant, schedule = options.has("alpha"), options.has("c") or options.has("d")
        if constant == schedule:
            raise SpecError(f"{options.owner}: give either alpha, or c and d (alpha_k = c/(k+d))")
        if constant:
            return cls(options.number("alpha", 0.0, above=0.0))
        options.require("c"), options.require("d")
        return cls(options.number("c", 0.0, above=0.0), options.number("d", 0.0, above=0.0))


@final
@dataclass(frozen=True, slots=True)
class Records:
    """What a run shows to the metrics.

    Parameters
    ----------
    iterations
        Sorted iterations in 0 … K, or None for all of them.
    average
        Whether to record x̄_k = (1/k) Σ_{j<k} x_s,j instead of x_s,k (k ≥ 1).
    """

    iterations: NDArray[np.int64] | None = None
    average: bool = False

    def at(self, total: int) -> NDArray[np.int64]:
        """Return the iterations of a run of ``total`` of them."""
        first = 1 if self.average else 0
        if self.iterations is None:
            return np.arange(first, total + 1)
        keep = self.iterations[(self.iterations >= first) & (self.iterations <= total)]
        return np.unique(keep).astype(np.int64)


class Algorithm(ABC):
    """An algorithm is its compiler; parameters are a frozen value of its own type."""

    id: str
    summary: str
    parameters: Mapping[str, str]

    @abstractmethod
    def read(self, options: Options) -> Any:
        """Return the parameters.

        Raises
        ------
        SpecError
            If one is missing, unknown or outside its range.
        """

    @abstractmethod
    def schedule(self, parameters: Any, events: Events, clients: int, records: Records, iterations: int) -> Tape:
        """Compile the first ``iterations`` iterations.

        Parameters
        ----------
        events
            Arrivals, and aggregations unless the parameters decide on them.
        clients
            n.
        """
