"""Who acts when, told once more, with no line of a sampler: clients with lists of jobs, and a server that answers."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Duration = Callable[[int], float]  # the time of a client's next job
Happened = tuple[float, int, tuple[int, ...]]  # when, who (−1: the server), and what else an event says


@dataclass
class Office:
    """A server whose clients always work, wait for a batch, or begin anew.

    Parameters
    ----------
    count
        Results in a batch.
    reply
        When who completes a batch, or all who wait, are answered: as REPLY of the buffered algorithms.
    stalest
        The largest age of a result that counts.
    stops
        Whether work that would come too late is stopped at once.
    named
        Whether events name who gets the new model.
    """

    clients: int
    count: int = 1
    reply: str = "post"
    stalest: float = float("inf")
    stops: bool = False
    named: bool = False
    version: int = 0
    batch: list[int] = field(default_factory=list)
    jobs: list[list[int]] = field(default_factory=list)  # of each client, the versions that it works on, in order

    def __post_init__(self) -> None:
        self.jobs = [[0] for _ in range(self.clients)]

    def busy(self) -> list[int]:
        return [i for i, own in enumerate(self.jobs) if own]

    def late(self, client: int) -> bool:
        return self.version - self.jobs[client][0] > self.stalest

    def arrive(self, client: int, target: int | None = None) -> list[int]:
        """Take a client's first job, and return who was stopped."""
        if self.late(client):
            self.jobs[client] = [self.version]
            return []
        del self.jobs[client][0]
        answered = client if target is None else target
        self.batch.append(client)
        full = len(self.batch) == self.count
        if self.reply == "pre" or (self.reply == "post" and not full):
            self.jobs[answered].append(self.version)
        if not full:
            return []
        self.version += 1
        if self.reply != "pre":
            for other in self.batch if self.reply == "wait" else [answered]:
                self.jobs[other].append(self.version)
        self.batch = []
        stopped = [i for i in range(self.clients) if self.stops and self.late(i)]
        for i in stopped:
            self.jobs[i] = [self.version]
        return stopped

    def copy(self) -> "Office":
        return copy.deepcopy(self)


def at_the_office(office: Office, duration: Duration, targets: Iterator[int]) -> Iterator[Happened]:
    """Yield arrivals: of all clients at work the one that is done first; of equal ones the first client."""
    ends = {i: duration(i) for i in office.busy()}
    while True:
        now, client = min((end, i) for i, end in ends.items())
        target = next(targets) if office.named else None
        stopped = office.arrive(client, target)
        del ends[client]
        for i in stopped:
            ends.pop(i, None)
        for i in office.busy():
            if i not in ends:
                ends[i] = now + duration(i)
        yield now, client, () if target is None else (target,)


def with_a_server(clients: int, duration: Duration, beats: Iterator[float]) -> Iterator[Happened]:
    """Yield arrivals of clients that never wait, and the server's own times, which come last of equal ones."""
    ends, beat = {i: duration(i) for i in range(clients)}, next(beats)
    while True:
        now, client = min((end, i) for i, end in ends.items())
        if beat < now:
            yield beat, -1, ()
            beat = next(beats)
        else:
            ends[client] = now + duration(client)
            yield now, client, ()


def one_after_the_other(asked: Iterator[list[int]], duration: Duration, *, together: bool) -> Iterator[float]:
    """Yield when iterations end that ask these clients, together or in turns."""
    now = 0.0
    for who in asked:
        if together:
            now = max(now + duration(i) for i in who)
        else:
            for i in who:
                now = now + duration(i)
        yield now


def with_coins(clients: int, heads: Iterator[bool], duration: Duration) -> Iterator[float]:
    """Yield when all have taken their step; on heads they go on together."""
    ready = [0.0] * clients
    for together in heads:
        ready = [ready[i] + duration(i) for i in range(clients)]
        yield max(ready)
        if together:
            ready = [max(ready)] * clients


def durations_of(delays: Any, streams: Any) -> Duration:
    """Return the times of the jobs of each client, in their order, as the law draws them."""
    clock = delays.clock(streams)
    return lambda client: clock.arrival(client, 0.0)
