"""When an update arrives that a scheduler hands out: the closed loop of delays and algorithm."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import SpecError

Floats = NDArray[np.float64]
_BLOCK = 64


class Clock(ABC):
    """Arrival times of one trial; each call is the client's next update."""

    @abstractmethod
    def arrival(self, client: int, start: float, steps: int = 1) -> float:
        """Return when the client's next update arrives.

        Parameters
        ----------
        start
            When the client begins it.
        steps
            Units of work, each of which takes the time that the delay model draws for this update.
        """


@final
@dataclass(slots=True)
class Durations(Clock):
    """Update number u of client i takes steps · duration(i, u).

    Parameters
    ----------
    draw
        draw(client, first update, count) returns that many durations.
    """

    draw: Callable[[int, int, int], Floats]
    _held: dict[int, Floats] = field(default_factory=dict)
    _count: dict[int, int] = field(default_factory=dict)

    def arrival(self, client: int, start: float, steps: int = 1) -> float:
        """Return start + steps · duration of the client's next update."""
        update = self._count.get(client, 0)
        self._count[client] = update + 1
        if update % _BLOCK == 0:
            self._held[client] = self.draw(client, update, _BLOCK)
        return start + steps * float(self._held[client][update % _BLOCK])


@final
@dataclass(slots=True)
class Ticks(Clock):
    """A client's updates can arrive at its own events only, which are given beforehand.

    Parameters
    ----------
    sample
        sample(count) returns times and actors of the first ``count`` events of all clients, or all there are.
    source
        Where they stand, for messages.
    """

    sample: Callable[[int], tuple[Floats, NDArray[np.int32]]]
    source: str = "the delay model"
    _time: Floats = field(default_factory=lambda: np.empty(0))
    _actor: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    _own: dict[int, Floats] = field(default_factory=dict)

    def arrival(self, client: int, start: float, steps: int = 1) -> float:
        """Return the first event of the client after ``start``.

        Raises
        ------
        SpecError
            If the events end before.
        """
        while True:
            if client not in self._own:
                self._own[client] = self._time[self._actor == client]
            own = self._own[client]
            place = int(np.searchsorted(own, start, side="right"))
            if place < len(own):
                return float(own[place])
            known = len(self._time)
            self._time, self._actor = self.sample(max(256, 2 * known))
            self._own.clear()
            if len(self._time) == known:
                raise SpecError(f"{self.source} has no event of client {client} after time {start:g}")
