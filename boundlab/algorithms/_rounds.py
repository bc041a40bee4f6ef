"""Synchronous rounds: what the textbook methods share. Nothing is stale, and delays only say how long a round takes."""

from abc import abstractmethod
from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Any, Final

import numpy as np

from boundlab.algorithms._algorithm import Algorithm, Draw, P
from boundlab.algorithms._program import Event
from boundlab.delays import Clock, DelayModel, ServerPolicy
from boundlab.errors import CaseError, SpecError
from boundlab.events import SERVER, Events, members_as_json, members_events, read_rows
from boundlab.randomness import Stream, Streams

_SUBSETS: Final = 100_000  # of clients, that one event of a program may choose from


def drawn_subset(name: str) -> Draw:
    """Return what is drawn where an option says how many of the clients count."""

    def when(parameters: Any, clients: int | None) -> bool:
        size = getattr(parameters, name)
        return size is not None and (clients is None or size < clients)

    return Draw("members", "which clients each round asks", (name,), when)


def uniform_subset(streams: Streams, turn: int, clients: int, size: int) -> tuple[int, ...]:
    """Draw clients without replacement: those with the smallest of n uniform numbers."""
    return tuple(sorted(np.argsort(streams.uniforms(Stream.SCHEDULE, 0, turn, clients)[0])[:size].tolist()))


def uniform_subsets(owner: str, clients: int, size: int) -> list[tuple[int, ...]]:
    """Return all subsets of that size.

    Raises
    ------
    SpecError
        If there are too many.
    """
    count = comb(clients, size)
    if count > _SUBSETS:
        raise SpecError(f"{owner}: a round is one of {count} subsets of clients, more than {_SUBSETS}")
    return list(combinations(range(clients), size))


class Rounds(Algorithm[P]):
    """An algorithm whose every iteration asks all clients at once; its event is the end of the round."""

    arrivals = False

    def sample(
        self, parameters: P, delays: DelayModel, policy: ServerPolicy, streams: Streams, clients: int, count: int
    ) -> Events:
        """Return rounds that last as long as their slowest client."""
        clock = delays.clock(streams)
        now, times = 0.0, np.empty(count)
        for place in range(count):
            now = max(clock.arrival(i, now) for i in range(clients))
            times[place] = now
        return Events(times, np.full(count, SERVER, dtype=np.int32))

    def read_events(self, raw: object, clients: int, where: str) -> Events:
        """Read [[round end, "s"], …].

        Raises
        ------
        CaseError
            Naming the event by its place, counted from 1.
        """
        rows = read_rows(raw, where, '[round end, "s"], e.g. [[1, "s"], [2, "s"]]', (2, 2))
        for place, (_, (who,)) in enumerate(rows, 1):
            if who != "s":
                raise CaseError(
                    f'{where}: event {place}: {self.id} asks all clients in every round; write "s", not {who!r}'
                )
        return Events(np.array([time for time, _ in rows]), np.full(len(rows), SERVER, dtype=np.int32))


class MemberRounds(Algorithm[P]):
    """An algorithm whose iterations name the clients that they ask; its event is the end of one."""

    arrivals = False

    @abstractmethod
    def members(self, parameters: P, streams: Streams, clients: int, turn: int) -> tuple[int, ...]:
        """Return which clients iteration ``turn``, counted from 0, asks, in their order."""

    @abstractmethod
    def end(self, clock: Clock, members: tuple[int, ...], start: float) -> float:
        """Return when the last of these clients is done."""

    def sample(
        self, parameters: P, delays: DelayModel, policy: ServerPolicy, streams: Streams, clients: int, count: int
    ) -> Events:
        """Return who is asked in each iteration, and when the last of them is done."""
        clock = delays.clock(streams)
        now, rounds = 0.0, []
        for turn in range(count):
            members = self.members(parameters, streams, clients, turn)
            now = self.end(clock, members, now)
            rounds.append((now, members))
        return members_events(rounds)

    def drawn_events(self, parameters: P, drawn: Sequence[Event]) -> Events:
        """Return the iterations with the clients that they ask."""
        return members_events([(float(place), who) for place, who in enumerate(drawn, 1)])

    def as_drawn(self, events: Events) -> Sequence[Event]:
        """Return the clients of each iteration."""
        return events.detail

    def events_as_json(self, events: Events) -> list[list[Any]]:
        """Return [end, [clients]] for each iteration."""
        return members_as_json(events)
