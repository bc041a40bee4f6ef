"""Events: who acts when, and how case files give them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import CaseError
from boundlab.options import number
from boundlab.randomness import Floats

SERVER = -1  # the actor of an aggregation


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """A sequence of events in the order in which they happen.

    Parameters
    ----------
    time
        Shape (K,), non-decreasing, unit of time.
    actor
        Shape (K,): a client index, or -1 for the server. Events at the same time happen in the order
        of the client indices, the server last, unless a case file lists them otherwise.
    detail
        Empty, or for each event what else a case file says of it: ``("send", 2)`` for AFL-DGA, the sampled
        clients for S-FedAvg.
    """

    time: Floats
    actor: NDArray[np.int32]
    detail: tuple[tuple[Any, ...], ...] = ()

    def __len__(self) -> int:
        return len(self.time)

    def head(self, count: int) -> "Events":
        """Return the first ``count`` events."""
        return Events(self.time[:count], self.actor[:count], self.detail[:count])


def read_rows(raw: object, where: str, form: str, width: tuple[int, int]) -> list[tuple[float, list[Any]]]:
    """Read a list of rows [time, …] and check times and widths.

    Parameters
    ----------
    form
        A row as an example, for messages.
    width
        Smallest and largest length of a row.

    Returns
    -------
    list
        (time, the rest of the row) for each event.

    Raises
    ------
    CaseError
        Naming the event by its place, counted from 1.
    """
    if not isinstance(raw, list) or not raw:
        raise CaseError(f"{where}: events must be a non-empty list of {form}")
    rows: list[tuple[float, list[Any]]] = []
    for place, event in enumerate(raw, 1):
        name = f"{where}: event {place}"
        if not isinstance(event, list) or not width[0] <= len(event) <= width[1]:
            raise CaseError(f"{name} must be {form}, got {str(event)[:60]}")
        if isinstance(event[0], str):
            raise CaseError(f"{name}: time must be a number, got {event[0]!r}")
        time = number(event[0], f"{name}: time")
        if time < (rows[-1][0] if rows else 0.0):
            raise CaseError(
                f"{name}: time {event[0]} is before the event ahead of it; times start at 0 and must not decrease"
            )
        rows.append((time, event[1:]))
    return rows


def read_client(who: object, clients: int, name: str, *, server: bool = False) -> int:
    """Read a client index, or "s" where the server may act.

    Raises
    ------
    CaseError
        If it is neither.
    """
    if server and who == "s":
        return SERVER
    if isinstance(who, bool) or not isinstance(who, int):
        wanted = 'a client index or "s"' if server else "a client index"
        raise CaseError(f"{name}: actor must be {wanted}, got {who!r}")
    if not 0 <= who < clients:
        raise CaseError(
            f"{name}: client {who} does not exist; the problem has {clients} client{'s' * (clients > 1)}, from 0 on"
        )
    return who


def events_of(time: Floats, drawn: Sequence[tuple[Any, ...]]) -> Events:
    """Return events at some times, each given as (actor, what else is said of it …), as programs have them."""
    detail = tuple(one[1:] for one in drawn) if any(len(one) > 1 for one in drawn) else ()
    return Events(time, np.array([one[0] for one in drawn], dtype=np.int32), detail)


def read_each(
    raw: object, where: str, form: str, width: tuple[int, int], one: Callable[[list[Any], str], tuple[Any, ...]]
) -> Events:
    """Read events one after the other.

    Parameters
    ----------
    form, width
        As :func:`read_rows` takes them.
    one
        one(row without its time, name of the event for messages) returns (actor, what else is said …).

    Raises
    ------
    CaseError
        Naming the event by its place, counted from 1.
    """
    rows = read_rows(raw, where, form, width)
    drawn = [one(row, f"{where}: event {place}") for place, (_, row) in enumerate(rows, 1)]
    return events_of(np.array([time for time, _ in rows]), drawn)


def read_events(raw: object, clients: int, where: str) -> Events:
    """Read [[time, actor], …] with actor a client index or "s".

    Raises
    ------
    CaseError
        Naming the event by its place, counted from 1.
    """
    form = '[time, actor], e.g. [[0.5, 0], [1, "s"]]'
    return read_each(raw, where, form, (2, 2), lambda row, name: (read_client(row[0], clients, name, server=True),))


def aged(raw: object) -> bool:
    """Return whether every row has a third entry, as where updates say how old their models are."""
    return isinstance(raw, list) and all(isinstance(row, list) and len(row) == 3 for row in raw)


def read_aged(raw: object, clients: int, where: str, third: str = "how old its model is, in versions") -> Events:
    """Read [[time, client], …], or [[time, client, a whole number], …]: what that says is the algorithm's affair.

    Raises
    ------
    CaseError
        Naming the event by its place, counted from 1.
    """

    def one(row: list[Any], name: str) -> tuple[int, ...]:
        who, *more = row
        client = read_client(who, clients, name)
        if more and (isinstance(more[0], bool) or not isinstance(more[0], int) or more[0] < 0):
            raise CaseError(f"{name}: {third} must be a whole number, got {more[0]!r}")
        return (client, *more)

    found = read_each(raw, where, f"[time, client], or [time, client, {third}]", (2, 3), one)
    if not all(found.detail):
        raise CaseError(f"{where}: either all events name {third}, or none does")
    return found


def events_as_json(events: Events) -> list[list[Any]]:
    """Return events in the form of case files."""
    details = events.detail or ((),) * len(events)
    return [
        [time, "s" if actor == SERVER else actor, *detail]
        for time, actor, detail in zip(events.time.tolist(), events.actor.tolist(), details, strict=True)
    ]
