"""Compass, the computing power-aware scheduler of FedCompass (Li et al. 2024), Algorithm 2 and Appendix A.

Who trains when, for how many local steps, and which updates are aggregated together: no models in here.
Time is exact: a float stands for its shortest decimal, so that ⌊(12 − 0.9)/0.1⌋ is 111. Instants of the clock are
floats, and whole numbers of ticks of 10⁻ᵉ, with e as large as any of them needs; the time of a local step is a number
of ticks over one of steps, and so is T_a, which no clock shows.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import Literal, NamedTuple, final

from boundlab.errors import SpecError
from boundlab.events import SERVER


@final
@dataclass(frozen=True, slots=True)
class CompassRules:
    """Rules given to the scheduler.

    Parameters
    ----------
    Qmin, Qmax
        Range of the numbers of local steps.
    latest_time_factor
        λ ≥ 1: a group waits at most λ times as long as it is expected to take.
    prose_max
        Whether a new group takes the largest candidate INSIDE [Qmin, Qmax], as the text of Appendix A says,
        and not the largest candidate, clipped, as Algorithm 2 says.
    """

    Qmin: int
    Qmax: int
    latest_time_factor: Fraction
    prose_max: bool = False


class Assignment(NamedTuple):
    """A client is sent off with so many local steps to arrive with a group; −1: the warm-up, no group."""

    client: int
    group: int
    steps: int


@final
@dataclass(slots=True)
class Group:
    """An arrival group, numbered from 1 in the order of creation.

    Parameters
    ----------
    ticks, steps
        T_a in ticks, a quotient.
    latest
        T_max: the nearest float, so that a case file can name it, and denominators do not grow from round to round.
    waiting, arrived
        CL and ACL: who is still awaited, and whose update is held, in the order of arrival.
    assignments
        Everybody who was ever sent off with this group.
    late
        Who arrived after T_max.
    aggregated
        When the group was aggregated, None before.
    by_timer
        Whether T_max caused it.
    fastest
        Who of its clients takes the least time for a step; None where that has to be found out.
    """

    id: int
    created: float
    ticks: int
    steps: int
    latest: float
    waiting: list[int] = field(default_factory=list)
    arrived: list[int] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    late: list[int] = field(default_factory=list)
    aggregated: float | None = None
    by_timer: bool = False
    fastest: int | None = None


Kind = Literal["first", "held", "complete", "late", "timer", "void"]


class Answer(NamedTuple):
    """Response of the server to an arrival or a timer.

    Parameters
    ----------
    kind
        ``first``: a client without a group; its update enters the model at once. ``held``: in time, waits for
        its group. ``complete``: the last of its group, which is aggregated. ``late``: after T_max; its update
        goes to the general buffer. ``timer``: T_max, the group is aggregated. ``void``: T_max of a group that
        is gone.
    group
        The group of the arrival or the timer, −1 for ``first``.
    aggregated
        Clients whose held updates enter the model now, in the order of arrival.
    assigned
        Who is sent off again, in this order.
    """

    kind: Kind
    group: int
    aggregated: tuple[int, ...] = ()
    assigned: tuple[Assignment, ...] = ()

    @property
    def updates(self) -> bool:
        """True if the server makes a new version of its model."""
        return self.kind in ("first", "complete", "timer")


class Moment(NamedTuple):
    """An arrival (actor: the client) or a timer (actor: SERVER), and what the server did."""

    time: float
    actor: int
    answer: Answer


class Compass:
    """The scheduler's state.

    Parameters
    ----------
    speeds
        Times of one local step, one a client, if the server knows them beforehand: the first groups are then
        formed at time 0. Without them everybody begins with Qmin steps and no group.
    """

    def __init__(self, rules: CompassRules, clients: int, speeds: Sequence[float] | None = None) -> None:
        self.rules = rules
        self.groups: dict[int, Group] = {}
        self.history: list[Group] = []
        self._open: dict[int, Group] = {}  # those that have not been aggregated, in the order of creation
        self._timers: list[tuple[float, int]] = []
        self._places, self._unit = 0, 1  # ticks of a unit of time: ten to the power of the places
        # Of each client: ticks over steps of its last run, group and steps of the one under way, when that began.
        self._ticks, self._per = [0] * clients, [1] * clients
        self._group, self._steps, self._running = [-1] * clients, [0] * clients, [False] * clients
        self._start, self._began = [0] * clients, [0.0] * clients
        everyone = range(clients)
        if speeds is None:
            self.started = tuple(self._send(i, -1, rules.Qmin, 0.0, 0) for i in everyone)
        else:
            for i, speed in enumerate(speeds):
                self._ticks[i] = self._in_ticks(speed)  # makes ticks finer, too: of those that stand there already
            self.started = tuple(self._assign(i, 0.0, 0) for i in self._by_speed(everyone))

    def expected(self, group: Group) -> Fraction:
        """Return T_a."""
        return Fraction(group.ticks, group.steps * self._unit)

    def arrive(self, client: int, now: float) -> Answer:
        """Take a client's update (Algorithm 1, lines 9 to 30).

        Raises
        ------
        SpecError
            If the client has no run under way, or its run took no time.
        """
        number = self._group[client]
        if not self._running[client]:
            raise SpecError(
                f"fedcompass: client {client} cannot arrive at {now:.12g}: its last update waits for arrival "
                f"group {number}, due by {self.groups[number].latest:.12g}"
            )
        if now <= self._began[client]:
            raise SpecError(
                f"fedcompass: client {client} cannot arrive at {now:.12g}: its {self._steps[client]} local steps begin "
                f"at {self._began[client]:.12g} and must take some time"
            )
        tick = self._in_ticks(now)
        self._ticks[client], self._per[client] = tick - self._start[client], self._steps[client]
        self._running[client] = False
        if number < 0:
            return Answer("first", -1, (client,), (self._assign(client, now, tick),))
        group = self.groups[number]
        group.waiting.remove(client)
        if now > group.latest:
            group.late.append(client)
            if not group.waiting:
                del self.groups[number]
                self._open.pop(number, None)
            return Answer("late", number, (), (self._assign(client, now, tick),))
        group.arrived.append(client)
        if group.waiting:
            self._noticed(group, client)
            return Answer("held", number)
        return self._aggregate(group, now, tick, by_timer=False)

    def next_timer(self) -> float | None:
        """Return the earliest T_max that has not passed, of groups that are gone too."""
        return self._timers[0][0] if self._timers else None

    def fire(self) -> Moment:
        """Let the next timer pass; it does nothing where its group is gone."""
        now, number = heapq.heappop(self._timers)
        group = self.groups.get(number)
        if group is None:
            return Moment(now, SERVER, Answer("void", number))
        return Moment(now, SERVER, self._aggregate(group, now, self._in_ticks(now), by_timer=True))

    def _in_ticks(self, time: float) -> int:
        """Return an instant in ticks, which become finer where it needs that."""
        text = repr(time)
        whole, _, part = (f"{Decimal(text):f}" if "e" in text else text).partition(".")
        if part == "0":
            return int(whole) * self._unit
        if len(part) > self._places:
            self._finer(len(part))
        number: int = int(whole + part) * 10 ** (self._places - len(part))
        return number

    def _finer(self, places: int) -> None:
        """Make ticks of which more fit into a unit of time."""
        times = 10 ** (places - self._places)
        self._places, self._unit = places, self._unit * times
        self._ticks = [one * times for one in self._ticks]
        self._start = [one * times for one in self._start]
        for group in self.history:
            group.ticks *= times

    def _aggregate(self, group: Group, now: float, tick: int, *, by_timer: bool) -> Answer:
        """Aggregate a group and send its clients off again, the fastest first (Algorithm 3)."""
        group.aggregated, group.by_timer = now, by_timer
        self._open.pop(group.id, None)
        arrived, group.arrived = tuple(group.arrived), []
        if not group.waiting:
            # Before anybody is assigned: nobody can join the group that is being aggregated.
            del self.groups[group.id]
        assigned = tuple([self._assign(i, now, tick) for i in self._by_speed(arrived)])
        return Answer("timer" if by_timer else "complete", group.id, arrived, assigned)

    def _by_speed(self, clients: Sequence[int]) -> list[int]:
        """Return clients by the time of a step; equal ones in the order given."""
        common = lcm(*(self._per[i] for i in clients))
        return sorted(clients, key=lambda i: self._ticks[i] * (common // self._per[i]))

    def _faster(self, one: int, other: int) -> bool:
        """Return whether a client takes less time for a step than another."""
        return self._ticks[one] * self._per[other] < self._ticks[other] * self._per[one]

    def _noticed(self, group: Group, client: int) -> None:
        """Keep who is the fastest of a group right where the speed of one of its clients is new."""
        if group.fastest == client:
            group.fastest = None  # it may have become slower
        elif group.fastest is not None and self._faster(client, group.fastest):
            group.fastest = client

    def _fastest(self, group: Group) -> int:
        if group.fastest is None:
            first, *others = (*group.waiting, *group.arrived)
            for other in others:
                first = other if self._faster(other, first) else first
            group.fastest = first
        return group.fastest

    def _assign(self, client: int, now: float, tick: int) -> Assignment:
        return self._join(client, now, tick) or self._create(client, now, tick)

    def _join(self, client: int, now: float, tick: int) -> Assignment | None:
        """Join the group with the most local steps in range; of equal ones the latest (JoinGroup)."""
        own, per, Qmax = self._ticks[client], self._per[client], self.rules.Qmax
        best, steps = -1, self.rules.Qmin
        for group in self._open.values():
            q = (group.ticks - tick * group.steps) * per // (own * group.steps)
            if steps <= q <= Qmax:
                best, steps = group.id, q
        return None if best < 0 else self._send(client, best, steps, now, tick)

    def _create(self, client: int, now: float, tick: int) -> Assignment:
        """Make a group that an existing one can join after its next arrival (CreateGroup)."""
        rules, own, per = self.rules, self._ticks[client], self._per[client]
        candidates = []
        for group in self._open.values():
            left = group.ticks - tick * group.steps
            if left > 0:
                fastest = self._fastest(group)
                others, each = self._ticks[fastest] * rules.Qmax, self._per[fastest]
                candidates.append((left * each + others * group.steps) * per // (group.steps * each * own))
        if rules.prose_max:
            candidates = [q for q in candidates if rules.Qmin <= q <= rules.Qmax]
        steps = max(rules.Qmin, min(rules.Qmax, max(candidates, default=rules.Qmax)))
        factor = rules.latest_time_factor
        wait = steps * own * factor.numerator
        # A quotient of whole numbers is rounded once.
        latest = (tick * per * factor.denominator + wait) / (per * factor.denominator * self._unit)
        made = Group(len(self.history) + 1, now, tick * per + steps * own, per, latest)
        self.groups[made.id] = self._open[made.id] = made
        self.history.append(made)
        heapq.heappush(self._timers, (latest, made.id))
        return self._send(client, made.id, steps, now, tick)

    def _send(self, client: int, group: int, steps: int, now: float, tick: int) -> Assignment:
        self._group[client], self._steps[client], self._running[client] = group, steps, True
        self._start[client], self._began[client] = tick, now
        assignment = Assignment(client, group, steps)
        if group >= 0:
            joined = self.groups[group]
            joined.waiting.append(client)
            joined.assignments.append(assignment)
            self._noticed(joined, client)
        return assignment


def follow(compass: Compass, arrivals: Sequence[tuple[float, int]], named: Sequence[float] = ()) -> Iterator[Moment]:
    """Schedule given arrivals; timers come by themselves.

    Timers follow arrivals of the same time. After the last arrival only those pass that are named, or come
    before a named one: then fewer events of a run are always the beginning of more of them.

    Parameters
    ----------
    named
        Times of timers that the event list names; of a group that is gone such a timer does nothing.

    Raises
    ------
    SpecError
        If a named timer does not exist, or an arrival is impossible.
    """
    left = Counter(named)

    def pass_timers(until: float, *, inclusive: bool) -> Iterator[Moment]:
        while (due := compass.next_timer()) is not None and (due < until or (inclusive and due == until)):
            void = []
            while compass.next_timer() == due:
                moment = compass.fire()
                if moment.answer.kind == "void":
                    void.append(moment)
                else:
                    left[due] -= left[due] > 0
                    yield moment
            # What the list names beyond the timers that do something are timers that do nothing.
            yield from void[: left[due]]
            left[due] -= min(left[due], len(void))

    for time, client in arrivals:
        yield from pass_timers(time, inclusive=False)
        yield Moment(time, client, compass.arrive(client, time))
    if named:
        yield from pass_timers(max(named), inclusive=True)
    wrong = min((time for time, count in left.items() if count > 0), default=None)
    if wrong is not None:
        raise SpecError(
            f'fedcompass: no arrival group\'s latest time is {wrong:.12g}, but the events name "s" there; '
            "timers need not be named"
        )


def closed_loop(compass: Compass, arrival: Callable[[int, float, int], float]) -> Iterator[Moment]:
    """Schedule without end: arrival(client, start, steps) says when the client's next update comes.

    Events of the same time happen in the order of the client indices, timers last.
    """
    coming = [(arrival(sent.client, 0.0, sent.steps), sent.client) for sent in compass.started]
    heapq.heapify(coming)
    while True:
        due = compass.next_timer()
        if due is not None and due < coming[0][0]:
            moment = compass.fire()
        else:
            time, client = heapq.heappop(coming)
            moment = Moment(time, client, compass.arrive(client, time))
        for sent in moment.answer.assigned:
            heapq.heappush(coming, (arrival(sent.client, moment.time, sent.steps), sent.client))
        if moment.answer.kind != "void":
            yield moment
