"""Compass, the computing power-aware scheduler of FedCompass (Li et al. 2024), Algorithm 2 and Appendix A.

Who trains when, for how many local steps, and which updates are aggregated together: no models in here.
Time is exact: a float stands for its shortest decimal, so that ⌊(12 − 0.9)/0.1⌋ is 111. Speeds are times
per local step.
"""

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, final

from boundlab.arithmetic.rational import shortest_decimal
from boundlab.errors import SpecError
from boundlab.events import SERVER


def clock_time(time: Fraction) -> Fraction:
    """Return the nearest time that an event can have: that of the nearest float.

    A case file can then name every instant, and denominators do not grow from round to round.
    """
    return shortest_decimal(float(time))


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


@final
@dataclass(frozen=True, slots=True)
class Assignment:
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
    expected, latest
        T_a and T_max.
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
    """

    id: int
    created: Fraction
    expected: Fraction
    latest: Fraction
    waiting: list[int] = field(default_factory=list)
    arrived: list[int] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    late: list[int] = field(default_factory=list)
    aggregated: Fraction | None = None
    by_timer: bool = False


Kind = Literal["first", "held", "complete", "late", "timer", "void"]


@final
@dataclass(frozen=True, slots=True)
class Answer:
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


@final
@dataclass(frozen=True, slots=True)
class Moment:
    """An arrival (actor: the client) or a timer (actor: SERVER), and what the server did."""

    time: Fraction
    actor: int
    answer: Answer


@final
@dataclass(slots=True)
class _ScheduledClient:
    speed: Fraction
    group: int = -1
    steps: int = 0
    start: Fraction = Fraction(0)
    running: bool = False


class Compass:
    """The scheduler's state.

    Parameters
    ----------
    speeds
        Times of one local step, one a client, if the server knows them beforehand: the first groups are then
        formed at time 0. Without them everybody begins with Qmin steps and no group.
    """

    def __init__(self, rules: CompassRules, clients: int, speeds: Sequence[Fraction] | None = None) -> None:
        self.rules = rules
        self.groups: dict[int, Group] = {}
        self.history: list[Group] = []
        self._timers: list[tuple[Fraction, int]] = []
        self._clients = [_ScheduledClient(speed) for speed in speeds or [Fraction(0)] * clients]
        self._start = Fraction(0)
        everyone = range(clients)
        if speeds is None:
            self.started = tuple(self._send(i, -1, rules.Qmin, self._start) for i in everyone)
        else:
            by_speed = sorted(everyone, key=lambda i: speeds[i])
            self.started = tuple(self._assign(i, self._start) for i in by_speed)

    def arrive(self, client: int, now: Fraction) -> Answer:
        """Take a client's update (Algorithm 1, lines 9 to 30).

        Raises
        ------
        SpecError
            If the client has no run under way, or its run took no time.
        """
        state = self._clients[client]
        if not state.running:
            raise SpecError(
                f"fedcompass: client {client} cannot arrive at {float(now):.12g}: its last update waits for arrival "
                f"group {state.group}, due by {float(self.groups[state.group].latest):.12g}"
            )
        if now <= state.start:
            raise SpecError(
                f"fedcompass: client {client} cannot arrive at {float(now):.12g}: its {state.steps} local steps begin "
                f"at {float(state.start):.12g} and must take some time"
            )
        state.speed, state.running = (now - state.start) / state.steps, False
        if state.group < 0:
            return Answer("first", -1, (client,), (self._assign(client, now),))
        group = self.groups[state.group]
        group.waiting.remove(client)
        if now > group.latest:
            group.late.append(client)
            if not group.waiting:
                del self.groups[group.id]
            return Answer("late", group.id, (), (self._assign(client, now),))
        group.arrived.append(client)
        if group.waiting:
            return Answer("held", group.id)
        return self._aggregate(group, now, by_timer=False)

    def next_timer(self) -> Fraction | None:
        """Return the earliest T_max that has not passed, of groups that are gone too."""
        return self._timers[0][0] if self._timers else None

    def fire(self) -> Moment:
        """Let the next timer pass; it does nothing where its group is gone."""
        now, number = heapq.heappop(self._timers)
        group = self.groups.get(number)
        answer = Answer("void", number) if group is None else self._aggregate(group, now, by_timer=True)
        return Moment(now, SERVER, answer)

    def _aggregate(self, group: Group, now: Fraction, *, by_timer: bool) -> Answer:
        """Aggregate a group and send its clients off again, the fastest first (Algorithm 3)."""
        group.aggregated, group.by_timer = now, by_timer
        arrived, group.arrived = tuple(group.arrived), []
        if not group.waiting:
            # Before anybody is assigned: nobody can join the group that is being aggregated.
            del self.groups[group.id]
        by_speed = sorted(arrived, key=lambda i: self._clients[i].speed)
        assigned = tuple(self._assign(i, now) for i in by_speed)
        return Answer("timer" if by_timer else "complete", group.id, arrived, assigned)

    def _assign(self, client: int, now: Fraction) -> Assignment:
        return self._join(client, now) or self._create(client, now)

    def _open(self) -> Iterator[Group]:
        """Yield the groups that have not been aggregated, in the order of creation."""
        return (group for group in self.groups.values() if group.aggregated is None)

    def _join(self, client: int, now: Fraction) -> Assignment | None:
        """Join the group with the most local steps in range; of equal ones the latest (JoinGroup)."""
        speed, best, steps = self._clients[client].speed, -1, -1
        for group in self._open():
            q = (group.expected - now) // speed
            if self.rules.Qmin <= q <= self.rules.Qmax and q >= steps:
                best, steps = group.id, q
        return None if best < 0 else self._send(client, best, steps, now)

    def _create(self, client: int, now: Fraction) -> Assignment:
        """Make a group that an existing one can join after its next arrival (CreateGroup)."""
        rules, speed = self.rules, self._clients[client].speed
        candidates = []
        for group in self._open():
            if now < group.expected:
                fastest = min(self._clients[i].speed for i in (*group.waiting, *group.arrived))
                candidates.append((group.expected + fastest * rules.Qmax - now) // speed)
        if rules.prose_max:
            candidates = [q for q in candidates if rules.Qmin <= q <= rules.Qmax]
        steps = max(rules.Qmin, min(rules.Qmax, max(candidates, default=rules.Qmax)))
        expected = now + steps * speed
        latest = clock_time(now + steps * speed * rules.latest_time_factor)
        made = Group(len(self.history) + 1, now, expected, latest)
        self.groups[made.id] = made
        self.history.append(made)
        heapq.heappush(self._timers, (made.latest, made.id))
        return self._send(client, made.id, steps, now)

    def _send(self, client: int, group: int, steps: int, now: Fraction) -> Assignment:
        state = self._clients[client]
        state.group, state.steps, state.start, state.running = group, steps, now, True
        assignment = Assignment(client, group, steps)
        if group >= 0:
            self.groups[group].waiting.append(client)
            self.groups[group].assignments.append(assignment)
        return assignment


def follow(
    compass: Compass, arrivals: Sequence[tuple[Fraction, int]], named: Sequence[Fraction] = ()
) -> Iterator[Moment]:
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

    def pass_timers(until: Fraction, *, inclusive: bool) -> Iterator[Moment]:
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
            f'fedcompass: no arrival group\'s latest time is {float(wrong):.12g}, but the events name "s" there; '
            "timers need not be named"
        )


def closed_loop(compass: Compass, arrival: Callable[[int, Fraction, int], Fraction]) -> Iterator[Moment]:
    """Schedule without end: arrival(client, start, steps) says when the client's next update comes.

    Events of the same time happen in the order of the client indices, timers last.
    """
    coming = [(arrival(sent.client, Fraction(0), sent.steps), sent.client) for sent in compass.started]
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
