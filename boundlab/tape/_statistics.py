"""Statistics of what really happened, read off a tape exactly."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import TapeError
from boundlab.tape._tape import Tape

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts, frequencies and staleness of one run.

    Parameters
    ----------
    iterations, versions
        Events, and server updates.
    updates
        Shape (n,): arrivals of each client.
    p, p_s
        Observed fractions of the events that are arrivals of each client, shape (n,), and events of the server.
    staleness
        Shape (arrivals,): server versions between the model from which an arriving update was computed
        and its arrival.
    shares
        Shape (n,): the clients' parts of all aggregated weight; None where the tape does not say.
    time
        Time of the last event.
    """

    iterations: int
    versions: int
    updates: Ints
    p: NDArray[np.float64]
    p_s: float
    staleness: Ints
    shares: NDArray[np.float64] | None
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
            "shares": None if self.shares is None else self.shares.tolist(),
            "time": self.time,
        }


def statistics(tape: Tape) -> Statistics:
    """Read the statistics off a tape."""
    actor = tape.events.actor
    total = max(len(actor), 1)
    updates = _updates(tape)
    return Statistics(
        iterations=len(actor),
        versions=int(tape.version[-1]),
        updates=updates,
        p=updates / total,
        p_s=int(np.count_nonzero(actor < 0)) / total,
        staleness=staleness(tape),
        shares=shares(tape),
        time=float(tape.events.time[-1]) if len(actor) else 0.0,
    )


def _updates(tape: Tape) -> Ints:
    actor = tape.events.actor
    if not tape.events.detail:
        return np.bincount(actor[actor >= 0], minlength=tape.clients)
    # Events with details are not simply arrivals: count who brought something, once an event.
    arrives = tape.descend.arrival >= 0
    pairs = np.unique(np.stack([tape.descend.client[arrives], tape.descend.arrival[arrives]]), axis=1)
    return np.bincount(pairs[0], minlength=tape.clients)


def shares(tape: Tape) -> NDArray[np.float64] | None:
    """Return the clients' parts π_i of all the weight that server updates gave, shape (n,); they sum to 1."""
    weight = np.bincount(
        tape.descend.client[tape.uses.update], weights=np.abs(tape.uses.weight), minlength=tape.clients
    )
    total = float(weight.sum())
    return weight / total if total > 0.0 else None


def arrived(tape: Tape) -> Ints:
    """Return the rows of :class:`boundlab.tape.Descend` that arrive or are stopped, in this order."""
    rows = np.flatnonzero(tape.descend.arrival >= 0)
    out: Ints = rows[np.argsort(tape.descend.arrival[rows], kind="stable")]
    return out


def staleness(tape: Tape) -> Ints:
    """Return, for each update that arrives, the server versions since its model was read, shape (arrivals,).

    In the order of arrival. What is stopped does not count, nor do AREA's first messages under start=analysis, which
    are 0, computed from no model.

    Raises
    ------
    TapeError
        If one is negative.
    """
    rows = arrived(tape)
    rows = rows[~np.isin(rows, np.asarray(tape.notes.get("stopped", ()), dtype=np.int64))]
    tau = tape.version[tape.descend.arrival[rows]] - tape.descend.version[rows]
    if (tau < 0).any():
        raise TapeError("an update is fresher than the model it was computed from")
    return np.asarray(tau, dtype=np.int64)
