"""What really happened: statistics read off a tape, exactly."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import TapeError
from boundlab.tape import Tape

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts, frequencies and staleness of one run.

    Parameters
    ----------
    iterations, versions
        Events, and aggregations among them.
    updates
        Shape (n,): arrivals of each client.
    p, p_s
        Observed fractions of the iterations, shape (n,) and scalar; they sum to 1.
    staleness
        Shape (arrivals,): server versions between the model from which an arriving update was computed
        and its arrival.
    time
        Time of the last event.
    """

    iterations: int
    versions: int
    updates: Ints
    p: NDArray[np.float64]
    p_s: float
    staleness: Ints
    time: float

    @property
    def tau_max(self) -> int:
        """The largest staleness, 0 where nothing arrived."""
        return int(self.staleness.max(initial=0))

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready figures."""
        return {
            "iterations": self.iterations,
            "versions": self.versions,
            "updates": self.updates.tolist(),
            "p": self.p.tolist(),
            "p_s": self.p_s,
            "tau_max": self.tau_max,
            "tau_mean": float(self.staleness.mean()) if len(self.staleness) else 0.0,
            "time": self.time,
        }


def statistics(tape: Tape) -> Statistics:
    """Read the statistics off a tape."""
    actor = tape.events.actor
    updates = np.bincount(actor[actor >= 0], minlength=tape.clients)
    total = max(len(actor), 1)
    versions = int(np.count_nonzero(actor < 0))
    return Statistics(
        iterations=len(actor),
        versions=versions,
        updates=updates,
        p=updates / total,
        p_s=versions / total,
        staleness=staleness(tape),
        time=float(tape.events.time[-1]) if len(actor) else 0.0,
    )


def staleness(tape: Tape) -> Ints:
    """Return, for each arrival, the aggregations since its update's model was read, shape (arrivals,).

    Raises
    ------
    TapeError
        If one is negative.
    """
    actor = tape.events.actor
    version = np.cumsum(actor < 0)
    arrivals = np.flatnonzero(actor >= 0)
    rank = _rank(actor[arrivals])
    # Row j of ``descend`` answers arrival number update[j] of its client; that of number 0 is the broadcast.
    # The next arrival of the client brings it, so arrival r brings the update of rank r.
    key = tape.descend.client * (len(actor) + 1) + tape.descend.update
    order = np.argsort(key)
    want = actor[arrivals].astype(np.int64) * (len(actor) + 1) + rank
    place = np.searchsorted(key[order], want)
    found = np.zeros(len(arrivals), dtype=np.int64)
    if len(order):
        safe = np.minimum(place, len(order) - 1)
        hit = key[order][safe] == want
        found[hit] = tape.descend.version[order][safe[hit]]
    tau = version[arrivals] - found
    if (tau < 0).any():
        raise TapeError("an update is fresher than the model it was computed from")
    return np.asarray(tau, dtype=np.int64)


def _rank(actor: NDArray[np.int32]) -> Ints:
    """Return how often each actor has come before, shape as given."""
    order = np.argsort(actor, kind="stable")
    ordered = actor[order]
    starts = np.concatenate([[True], ordered[1:] != ordered[:-1]]) if len(actor) else np.empty(0, bool)
    index = np.arange(len(actor))
    first = np.maximum.accumulate(np.where(starts, index, 0)) if len(actor) else index
    rank = np.empty(len(actor), dtype=np.int64)
    rank[order] = index - first
    return rank
