"""AFL-DGA's sampled delay model: who takes part in which round, with how many steps, and how late averages come.

Every local step takes the time of one update of the client under the delay model. Round r of the server ends when
the slowest of its participants has sent; rounds end one after the other.

- Participation: with probability p_i, independently, or in every period_i-th round. A client that t_d would be
  violated without takes part. Where nobody takes part, the client with the smallest u/p does. In round 1 everybody
  does, unless first_round=drawn.
- A client begins its next round as soon as it has sent the one before. It sends round r once the server has
  aggregated round r−1 (else its gradient would enter round r−1), and waits until then.
- The average of round r reaches a participant with its D-th local step after it sent r, the absent with their D-th
  local step after the aggregation; if the aggregation comes later, then at the aggregation, and a participant waits
  for it. Averages reach a client in their order.

So D_i^r is what was drawn, or more where an earlier round's average is due later; never above the range.
"""

import heapq
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import _option as option
from boundlab.algorithms._option import Parameters
from boundlab.delays import Clock
from boundlab.errors import SpecError
from boundlab.events import SERVER, Events
from boundlab.options import Options, number
from boundlab.randomness import Stream, Streams

_RARE = 1e-3
_AHEAD = 100_000
_BLOCK = 64


def _read_participation(options: Options, name: str) -> tuple[float, ...]:
    if options.has(name) and options.has("periods"):
        raise SpecError(f"{options.owner}: give {name} or periods, not both")
    probabilities = options.numbers(name, [1.0])
    for p in probabilities:
        if not _RARE <= p <= 1.0:
            raise SpecError(f"{options.owner}: {name} must be between {_RARE:g} and 1, got {p:g}")
    return tuple(probabilities)


def _read_periods(options: Options, name: str) -> tuple[int, ...]:
    periods = options.numbers(name) if options.has(name) else []
    for period in periods:
        if period != int(period) or not 1 <= period <= 1 / _RARE:
            raise SpecError(f"{options.owner}: {name} must be integers between 1 and {1 / _RARE:g}, got {period:g}")
    return tuple(int(period) for period in periods)


def _range(says: str, smallest: int) -> Any:
    """Declare an integer or a range lo..hi of them."""

    def read(options: Options, name: str) -> tuple[int, int]:
        raw = options.raw(name, smallest)
        parts = raw.split("..") if isinstance(raw, str) else [raw]
        what = f"{options.owner}: {name}"
        ends = [number(part, what) for part in parts]
        if len(ends) > 2 or any(end != int(end) or not smallest <= end <= 10**6 for end in ends) or ends[0] > ends[-1]:
            raise SpecError(f"{what} must be an integer ≥ {smallest} or a range lo..hi of them, got {raw}")
        return int(ends[0]), int(ends[-1])

    some = (str(smallest), str(smallest + 1), str(smallest + 2), f"{smallest}..{smallest + 3}")
    return option.custom(says, read, (smallest, smallest), {"": some})


@final
@dataclass(frozen=True, slots=True)
class DelayOptions(Parameters):
    """The options of the sampled delay model; one entry of ``participation`` or ``periods`` stands for all clients."""

    participation: tuple[float, ...] = option.custom(
        "sampled schedules: probability of taking part in a round, one for all or a list (default 1)",
        _read_participation,
        (1.0,),
        {"": ("", "0.5")},
    )
    periods: tuple[int, ...] = option.custom(
        "instead: client i takes part in rounds 1, 1 + period_i, 1 + 2·period_i, …; one number or a list",
        _read_periods,
        (),
        {"": lambda n: ("", "2", "5", "20", f"[{','.join(['1'] * (n - 1) + ['3'])}]")},
    )
    local_steps: tuple[int, int] = _range(
        "sampled schedules: local steps K of a round, a number or lo..hi (uniform; default 1)", 1
    )
    correction_delay: tuple[int, int] = _range(
        "sampled schedules: local steps D from sending to receiving, a number or lo..hi (default 0)", 0
    )
    t_d: int | None = option.integer(
        "sampled schedules: a client takes part at least in every t_d-th round (default: no limit)", None, minimum=1
    )
    first_round: str = option.choice(
        "sampled schedules: all (default: everybody takes part in round 1, as the theorems need) or drawn",
        ("all", "drawn"),
    )


class _Plan:
    """Participants of round r = 1, 2, …, drawn on demand."""

    def __init__(self, schedule: DelayOptions, streams: Streams, clients: int) -> None:
        self.schedule, self.streams, self.n = schedule, streams, clients
        self.p = _per_client(schedule.participation, clients, "participation")
        self.periods = _per_client(schedule.periods, clients, "periods") if schedule.periods else None
        self.rounds: list[tuple[list[bool], list[int], list[int]]] = []
        self.seen = np.zeros(clients, dtype=np.int64)  # the last round in which each took part
        self.held = np.empty((0, clients, 3))  # random numbers of the rounds to come, a block at a time

    def of(self, number: int) -> tuple[list[bool], list[int], list[int]]:
        """Return who takes part in a round, their K and everybody's D."""
        while len(self.rounds) < number:
            self.rounds.append(self._draw(len(self.rounds) + 1))
        return self.rounds[number - 1]

    def next(self, client: int, after: int) -> int:
        """Return the client's first round after ``after``."""
        number = after + 1
        while not self.of(number)[0][client]:
            number += 1
            if number > after + _AHEAD:
                raise SpecError(f"afl_dga: client {client} takes part in no round of {after + 1}…{number}")
        return number

    def _draw(self, number: int) -> tuple[list[bool], list[int], list[int]]:
        place = (number - 1) % _BLOCK
        if place == 0:
            clients, rounds = np.tile(np.arange(self.n), _BLOCK), np.repeat(np.arange(number, number + _BLOCK), self.n)
            self.held = self.streams.uniforms(Stream.SCHEDULE, clients, rounds, 3).reshape(_BLOCK, self.n, 3)
        u = self.held[place]
        chance = u[:, 0] / self.p
        part = chance < 1.0 if self.periods is None else (number - 1) % self.periods == 0
        if self.schedule.t_d is not None:
            part = part | (number - self.seen >= self.schedule.t_d)
        if number == 1 and self.schedule.first_round == "all":
            part = np.ones(self.n, dtype=bool)
        if not part.any():
            part = np.arange(self.n) == (np.argmin(chance) if self.periods is None else np.argmin(self.seen))
        self.seen[part] = number
        return (
            part.tolist(),
            _integers(u[:, 1], self.schedule.local_steps),
            _integers(u[:, 2], self.schedule.correction_delay),
        )


def _per_client(values: tuple[float, ...], clients: int, what: str) -> NDArray[np.float64]:
    if len(values) not in (1, clients):
        raise SpecError(f"afl_dga: {len(values)} values of {what} for {clients} clients; give one, or one a client")
    return np.broadcast_to(np.asarray(values, dtype=np.float64), (clients,))


def _integers(u: NDArray[np.float64], ends: tuple[int, int]) -> list[int]:
    out: list[int] = (ends[0] + np.floor(u * (ends[1] - ends[0] + 1)).astype(np.int64)).tolist()
    return out


@dataclass(slots=True)
class _SampledClient:
    round: int
    left: int  # local steps to go in it
    steps: int = 0  # local steps ever
    waits: bool = False  # for an aggregation
    due: dict[int, int] = field(default_factory=dict)  # round → value of ``steps`` with which its average comes
    mine: set[int] = field(default_factory=set)  # those of ``due`` in which it took part
    received: int = 0


class _Simulation:
    def __init__(self, plan: _Plan, clock: Clock) -> None:
        self.plan, self.clock = plan, clock
        self.time: list[float] = []
        self.actor: list[int] = []
        self.detail: list[tuple[str, int]] = []
        self.queue: list[tuple[float, int]] = []  # ends of local steps; equal times in the order of the clients
        self.done = 0  # rounds aggregated
        self.sent: dict[int, set[int]] = {}
        self.clients = [_SampledClient(number := plan.next(i, 0), plan.of(number)[1][i]) for i in range(plan.n)]
        for i in range(plan.n):
            self._go(i, 0.0)

    def _emit(self, time: float, actor: int, word: str, number: int) -> None:
        self.time.append(time)
        self.actor.append(actor)
        self.detail.append((word, number))

    def _go(self, i: int, now: float) -> None:
        """Begin the client's next local step, or let it wait."""
        client = self.clients[i]
        stuck = any(number > self.done and client.steps >= client.due[number] for number in client.mine)
        client.waits = stuck or not client.left
        if not client.waits:
            heapq.heappush(self.queue, (self.clock.arrival(i, now, 1), i))

    def _deliver(self, i: int, now: float) -> None:
        """Give the client the averages that are due, in their order."""
        client = self.clients[i]
        while client.received < self.done and client.steps >= client.due[client.received + 1]:
            client.received += 1
            del client.due[client.received]
            client.mine.discard(client.received)
            self._emit(now, i, "recv", client.received)

    def _send(self, i: int, now: float) -> None:
        """Let the client send if it is ready and its round is the server's next one."""
        client = self.clients[i]
        if client.left or self.done < client.round - 1:
            return
        number = client.round
        self._emit(now, i, "send", number)
        self.sent.setdefault(number, set()).add(i)
        client.due[number] = client.steps + self.plan.of(number)[2][i]
        client.mine.add(number)
        client.round = self.plan.next(i, number)
        client.left = self.plan.of(client.round)[1][i]

    def _aggregate(self, now: float) -> None:
        """Aggregate if all participants of the next round have sent, and wake those who wait for it."""
        while len(self.sent.get(self.done + 1, ())) == sum(self.plan.of(self.done + 1)[0]):
            self.done += 1
            number = self.done
            self._emit(now, SERVER, "aggregate", number)
            part, _, late = self.plan.of(number)
            del self.sent[number]
            for i, client in enumerate(self.clients):
                if not part[i]:
                    client.due[number] = client.steps + late[i]
                self._deliver(i, now)
                if client.waits:
                    self._send(i, now)
                    self._go(i, now)

    def run(self, count: int) -> Events:
        """Simulate until there are enough events."""
        while len(self.time) < count:
            now, i = heapq.heappop(self.queue)
            client = self.clients[i]
            client.left -= 1
            client.steps += 1
            self._emit(now, i, "step", client.round)
            self._deliver(i, now)
            self._send(i, now)
            self._go(i, now)
            self._aggregate(now)
        time, actor = np.array(self.time[:count]), np.array(self.actor[:count], dtype=np.int32)
        return Events(time, actor, tuple(self.detail[:count]))


def sample(schedule: DelayOptions, clock: Clock, streams: Streams, clients: int, count: int) -> Events:
    """Return the first ``count`` events of one trial.

    Raises
    ------
    SpecError
        If participation or periods are not one number a client, or a trace ends.
    """
    return _Simulation(_Plan(schedule, streams, clients), clock).run(count)
