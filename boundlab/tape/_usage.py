"""Statistics of the use table: how stale the used updates are, whose they are, and how many are in work meanwhile."""

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from boundlab.tape._tape import Op, Tape

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_BLOCK = 1 << 24  # weights of server updates by clients that are held at a time: 128 MB


@final
@dataclass(frozen=True, slots=True)
class Usage:
    """The updates that enter the first server updates t = 0, …, T−1.

    The weights a_i^t are the sums of client i's weights in server update t, divided by the server's rate.

    Parameters
    ----------
    versions
        T.
    staleness
        Shape (uses,): server versions between the model that an update started from and its use.
    shares
        Shape (n,): π_i, the mean over t of a_i^t.
    chi2_path
        Mean over t of n·Σ_i (a_i^t − 1/n)².
    alpha2
        Mean over t of the sum of the squared weights of single updates.
    working
        Shape (events,): client updates that have begun and not arrived, before each event up to server update T−1.
    """

    versions: int
    staleness: Ints
    shares: Floats
    chi2_path: float
    alpha2: float
    working: Ints

    def symbols(self) -> dict[str, float]:
        """Return what theorems read, by symbol."""
        n = len(self.shares)
        return {
            "n": n,
            **_delays(self.staleness, self.working),
            "chi2": n * float(((self.shares - 1.0 / n) ** 2).sum()),
            "chi2_path": self.chi2_path,
            "alpha2": self.alpha2,
            "pi_max": float(self.shares.max()),
        }


def usage(tape: Tape, until: int, rate: float | None = None) -> Usage | None:
    """Read the use table over the first ``until`` server updates; None where it says nothing about them.

    Parameters
    ----------
    rate
        What all weights are divided by; None: the mean over server updates of their sum, so that the shares sum to 1.
    """
    used = tape.uses.version < until
    run, version = tape.uses.update[used], tape.uses.version[used]
    if not len(run):
        return None
    weight = tape.uses.weight[used]
    scale = float(weight.sum()) / until if rate is None else rate
    alpha = weight / (scale or np.nan)  # what weighs nothing has no shares
    shares, chi2_path = _shares(tape.descend.client[run], version, alpha, tape.clients, until)
    return Usage(
        versions=until,
        staleness=version - tape.descend.version[run],
        shares=shares,
        chi2_path=chi2_path,
        alpha2=float((alpha**2).sum()) / until,
        working=_working(tape, until),
    )


def arrivals(tape: Tape, until: int) -> dict[str, float]:
    """Return what theorems read where each arrival is a server update, whatever it does with the model, by symbol.

    Nothing before the first one.

    Staleness counts as in :class:`Usage`: server versions between the model that a run started from and its arrival.
    """
    arrived = tape.descend.arrival >= 0
    version = tape.version[tape.descend.arrival[arrived]]
    staleness = (version - tape.descend.version[arrived])[version < until]
    return {"n": tape.clients, **_delays(staleness, _working(tape, until))} if len(staleness) else {}


def _delays(staleness: Ints, working: Ints) -> dict[str, float]:
    return {
        "tau_max": int(staleness.max(initial=0)),
        "tau_mean": float(staleness.mean()),
        "concurrency": int(working.max(initial=0)),
        "concurrency_mean": float(working.mean()),
    }


def _shares(client: Ints, version: Ints, alpha: Floats, n: int, until: int) -> tuple[Floats, float]:
    """Return π, shape (n,), and the mean of n·Σ_i (a_i − 1/n)², a block of server updates at a time."""
    total, path = np.zeros(n), 0.0
    rows = max(_BLOCK // n, 1)
    for low in range(0, until, rows):
        size = min(rows, until - low)
        mine = (version >= low) & (version < low + size)
        each = np.zeros((size, n))
        np.add.at(each, (version[mine] - low, client[mine]), alpha[mine])
        total += each.sum(axis=0)
        path += float(((each - 1.0 / n) ** 2).sum(axis=1).sum())
    return total / until, n * (path / until)


def _working(tape: Tape, until: int) -> Ints:
    events = int(np.searchsorted(tape.version, until))  # the events 0 … events−1 hold the first T server updates
    began, arrival = tape.event[tape.op == Op.DESCEND], tape.descend.arrival
    change = np.zeros(len(tape.events) + 2, dtype=np.int64)
    np.add.at(change, began + 1, 1)
    np.add.at(change, arrival[arrival >= 0] + 1, -1)
    return np.asarray(np.cumsum(change)[:events], dtype=np.int64)
