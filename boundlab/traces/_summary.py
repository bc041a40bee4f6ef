"""A recorded trace in figures: rates, durations, staleness, and whether its events may be i.i.d."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.__about__ import __version__
from boundlab.delays.recorded import Recorded
from boundlab.errors import SpecError
from boundlab.files import json_value, schema
from boundlab.traces._independence import Departure, departure

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@final
@dataclass(frozen=True, slots=True)
class Taken:
    """Times that updates took, in the order of arrival, M of them.

    Parameters
    ----------
    client, time, line
        Shape (M,): whose update, how long it took in units of time, and where it stands in the file.
    how
        Between which events.
    """

    client: NDArray[np.int32]
    time: Floats
    line: Ints
    how: str


def durations(record: Recorded) -> Taken:
    """Return dispatch to arrival where the dispatch is known, else the time since the client's update before.

    The first update of a client whose dispatch is unknown has no duration: nobody says when it was begun.
    """
    found = record.arrived
    order = np.lexsort((np.arange(len(found.time)), found.client))
    before = np.full(len(order), np.nan)
    same = found.client[order][1:] == found.client[order][:-1]
    before[order[1:][same]] = found.time[order[:-1][same]]
    given = ~np.isnan(found.dispatch)
    taken = found.time - np.where(given, found.dispatch, before)
    how = "dispatch to arrival" if given.all() else "between the updates of a client"
    if given.any() and not given.all():
        how = "dispatch to arrival where that is known, else between the updates of a client"
    known = np.flatnonzero(~np.isnan(taken))
    return Taken(found.client[known], taken[known], found.line[known], how)


def staleness(record: Recorded) -> tuple[Ints, str]:
    """Return the staleness of each arrival, shape (arrivals,), −1 where it is unknown, and how it was found."""
    found = record.arrived
    place = np.arange(len(found.time))
    if (found.staleness >= 0).any():
        return found.staleness, "as recorded"
    known = found.version >= 0
    if known.any() and (found.version <= place).all():
        how = "arrivals before it less the version that it read: each arrival makes a version"
        return np.where(known, place - found.version, -1), how
    given = ~np.isnan(found.dispatch)
    if given.any():
        met = np.searchsorted(found.time, found.dispatch, side="right")
        return np.where(given, np.maximum(place - met, 0), -1), "client updates between dispatch and arrival"
    return np.full(len(place), -1), "not recorded"


@dataclass(frozen=True, slots=True)
class TraceSummary:
    """A trace in figures.

    Parameters
    ----------
    record
        What was read.
    updates, lost
        Shape (n,): arrivals and lost updates of each device.
    durations
        How long updates took.
    tau, how
        Staleness of each arrival, −1 where it is unknown, and how it was found.
    events
        Whether the arriving clients may be i.i.d.
    """

    record: Recorded
    updates: Ints
    lost: Ints
    durations: Taken
    tau: Ints
    how: str
    events: Departure

    @property
    def span(self) -> tuple[float, float]:
        """The first and the last time in it."""
        return float(np.nanmin([self.record.time, self.record.dispatch])), float(np.nanmax(self.record.time))

    @property
    def known(self) -> Ints:
        """Staleness of the arrivals of which it is known."""
        return self.tau[self.tau >= 0]

    @property
    def rounds(self) -> int:
        """The number of times that updates share, where most do and none has two of a device; else 0."""
        found = self.record.arrived
        times, sizes = np.unique(found.time, return_counts=True)
        apart = len(np.unique(np.stack([found.time, found.client]), axis=1).T) == len(found.time)
        return len(times) if apart and 2 * int((sizes > 1).sum()) > len(times) > 1 else 0

    def means(self) -> Floats:
        """Return the mean duration of each device, shape (n,), NaN where it has none."""
        count = np.bincount(self.durations.client, minlength=len(self.record.names))
        total = np.bincount(self.durations.client, self.durations.time, len(count))
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        first, last = self.span
        return {
            "schema": schema("trace"),
            "boundlab": __version__,
            "file": self.record.source,
            "devices": list(self.record.names),
            "updates": self.updates.tolist(),
            "lost": self.lost.tolist(),
            "first": first,
            "last": last,
            "rates": json_value(self.updates / last) if last > 0.0 else None,
            "durations": {"how": self.durations.how, "means": json_value(self.means())},
            "staleness": {
                "how": self.how,
                "known": len(self.known),
                "mean": float(self.known.mean()) if len(self.known) else None,
                "max": int(self.known.max()) if len(self.known) else None,
            },
            "events": self.events.as_dict(),
            "notes": list(self.record.notes),
        }


def summary(record: Recorded) -> TraceSummary:
    """Return a trace in figures.

    Raises
    ------
    SpecError
        If nothing has arrived in it.
    """
    found = record.arrived
    if not len(found.time):
        raise SpecError(f"the trace {record.source} holds no arrivals")
    n = len(record.names)
    tau, how = staleness(record)
    return TraceSummary(
        record,
        np.bincount(found.client, minlength=n),
        np.bincount(record.client[record.lost], minlength=n),
        durations(record),
        tau,
        how,
        departure(found.client, n, found.time),
    )
