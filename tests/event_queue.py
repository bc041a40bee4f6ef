"""Who acts when, told once more, with no line of a sampler: clients with lists of jobs, and a server that answers."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Duration = Callable[[int], float]  # the time of a client's next job
Happened = tuple[float, int, tuple[Any, ...]]  # when, who (−1: the server), and what else an event says


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


@dataclass
class Anarchy:
    """AFL-DGA's clients, who join rounds as they like: all that is kept is who has said what, after how many own steps.

    Parameters
    ----------
    joins
        joins(r) are the clients that take part in round r = 1, 2, …
    steps, late
        steps(i, r) is K_i^r; late(i, r) is D_i^r.
    """

    clients: int
    joins: Callable[[int], set[int]]
    steps: Callable[[int, int], int]
    late: Callable[[int, int], int]
    averaged: list[list[int]] = field(default_factory=list)  # everybody's own steps when round 1, 2, … was averaged
    sent: list[dict[int, int]] = field(default_factory=list)  # of each client, round → own steps when it sent that

    def __post_init__(self) -> None:
        self.sent = [{} for _ in range(self.clients)]
        self.taken = [0] * self.clients
        self.told = [0] * self.clients
        self.left = [self.steps(i, self.inside(i)) for i in range(self.clients)]

    def inside(self, i: int) -> int:
        """Return the round that the client works for."""
        r = max(self.sent[i], default=0) + 1
        while i not in self.joins(r):
            r += 1
        return r

    def idle(self, i: int) -> bool:
        """Whether the client has nothing to do: it may not send yet, or an average is due that is not there."""
        missing = (r for r in self.sent[i] if r > len(self.averaged))
        return not self.left[i] or any(self.taken[i] >= self.sent[i][r] + self.late(i, r) for r in missing)

    def talk(self, i: int) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Let the client hear the averages that are due, in their order, and send what is ready if it is its turn."""
        for r in range(self.told[i] + 1, len(self.averaged) + 1):
            since = self.sent[i][r] if r in self.sent[i] else self.averaged[r - 1][i]
            if self.taken[i] < since + self.late(i, r):
                break
            self.told[i] = r
            yield i, ("recv", r)
        r = self.inside(i)
        if not self.left[i] and len(self.averaged) >= r - 1:
            yield i, ("send", r)
            self.sent[i][r] = self.taken[i]
            self.left[i] = self.steps(i, self.inside(i))


def in_rounds(office: Anarchy, arrival: Callable[[int, float], float]) -> Iterator[Happened]:
    """Yield local steps, and what they set off: a round is averaged as soon as all who take part have sent it.

    ``arrival(i, now)`` is when a step of client i ends that begins now.
    """
    everybody = range(office.clients)
    ends = {i: arrival(i, 0.0) for i in everybody}
    while True:
        now, who = min((end, i) for i, end in ends.items())
        del ends[who]
        office.taken[who] += 1
        office.left[who] -= 1
        yield now, who, ("step", office.inside(who))
        asked = [who]
        while True:
            for i in asked:
                for actor, said in office.talk(i):
                    yield now, actor, said
                if i not in ends and not office.idle(i):
                    ends[i] = arrival(i, now)
            r = len(office.averaged) + 1
            if any(r not in office.sent[i] for i in office.joins(r)):
                break
            office.averaged.append(list(office.taken))
            yield now, -1, ("aggregate", r)
            asked = [*everybody]


def durations_of(delays: Any, streams: Any) -> Duration:
    """Return the times of the jobs of each client, in their order, as the law draws them."""
    clock = delays.clock(streams)
    return lambda client: clock.arrival(client, 0.0)
