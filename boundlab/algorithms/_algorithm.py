"""What every algorithm gives: its parameters, and a compiler."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from boundlab.delays import DelayModel, ServerPolicy, read_policy, sample_events
from boundlab.errors import CaseError, SpecError
from boundlab.events import SERVER, Events, events_as_json, read_events
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.tape import RecordAt, Tape


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


class Algorithm(ABC):
    """An algorithm is its compiler; parameters are a frozen value of its own type.

    Parameters
    ----------
    parameters
        Option → one line on what it is.
    server
        Who decides on aggregations: ``any`` (a server policy), ``count`` (the parameter ``count``, which a
        policy may set), ``none`` (the algorithm itself: no policy applies).
    """

    id: str
    summary: str
    parameters: Mapping[str, str]
    server: Literal["any", "count", "none"] = "none"

    @abstractmethod
    def read(self, options: Options) -> Any:
        """Return the parameters.

        Raises
        ------
        SpecError
            If one is missing, unknown or outside its range.
        """

    @abstractmethod
    def schedule(self, parameters: Any, events: Events, clients: int, records: RecordAt, iterations: int) -> Tape:
        """Compile the first ``iterations`` iterations, or as many as the events hold.

        Parameters
        ----------
        events
            As :meth:`sample` or :meth:`read_events` give them.
        clients
            n.

        Raises
        ------
        SpecError, CaseError
            If the events or parameters do not fit each other or the number of clients.
        """

    def events_for(self, parameters: Any, clients: int, iterations: int) -> int:
        """Return a first guess of how many events hold so many iterations."""
        return iterations

    def sample(
        self, parameters: Any, delays: DelayModel, policy: ServerPolicy, streams: Streams, clients: int, count: int
    ) -> Events:
        """Return the first ``count`` events of a trial; by default arrivals whose times nothing influences.

        More events of the same trial begin with the same ones.
        """
        if self.server == "any":
            return sample_events(delays, policy, streams, count)
        return arrivals(delays, streams, count)

    def policy(self, text: str | None, delays: DelayModel) -> ServerPolicy:
        """Read the server policy that goes with this algorithm; see :func:`boundlab.delays.read_policy`."""
        return read_policy(text, delays, self.server, self.id)

    def read_events(self, raw: object, clients: int, where: str) -> Events:
        """Read the events of a case file; by default [time, actor].

        Raises
        ------
        CaseError
            Naming the event by its place, counted from 1.
        """
        events = read_events(raw, clients, where)
        if self.server != "any" and (events.actor == SERVER).any():
            place = int(np.argmax(events.actor == SERVER)) + 1
            raise CaseError(f'{where}: event {place}: {self.id} aggregates by itself; leave the "s" events out')
        return events

    def events_as_json(self, events: Events) -> list[list[Any]]:
        """Return events as :meth:`read_events` reads them."""
        return events_as_json(events)

    def quantities(self, parameters: Any, tape: Tape, until: int, settings: Mapping[str, float]) -> dict[str, float]:
        """Return what theorems read off a tape, by symbol, over its first ``until`` server updates.

        Parameters
        ----------
        settings
            Symbols that the user chose and that say how to look, such as the window N.
        """
        return {}

    def figures(self, parameters: Any, tape: Tape) -> dict[str, Any]:
        """Return statistics of the algorithm's own, JSON-ready, for people."""
        return {}


def arrivals(delays: DelayModel, streams: Streams, count: int) -> Events:
    """Return the first ``count`` arrivals of clients; a server that the delay model brings is left out."""
    size = count
    while True:
        time, actor = delays.arrivals_of(streams, size)
        keep = np.flatnonzero(actor >= 0)[:count]
        if len(keep) == count:
            return Events(time[keep], actor[keep])
        size *= 2
