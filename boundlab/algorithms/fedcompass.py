"""FedCompass: its scheduler, its compiler, and what theorems read off a schedule."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from math import lcm
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, final

import numpy as np

from boundlab.algorithms import _option as option
from boundlab.algorithms._algorithm import Algorithm, window_sums
from boundlab.algorithms._option import FORMS, Parameters, Staleness, positive, positive_if_given, read_staleness
from boundlab.arithmetic.rational import shortest_decimal
from boundlab.delays import DelayModel, ServerPolicy
from boundlab.errors import CaseError, SpecError
from boundlab.events import SERVER, Events, read_events
from boundlab.options import Options, number, numbers
from boundlab.randomness import Floats, Streams
from boundlab.tape import SERVER_MODEL, Initial, Op, RecordAt, Tape, Writer

# Quantities that the theorems on FedCompass read off a tape: Σ over windows of server updates.
#
# Theorem ``fedcompass.window``: S_t are the runs x that enter update t, of client i_x, with weight a_x and Q_x
# local steps from server version s_x; A_t = Σ a_x·Q_x; over windows of N updates W = Σ A_t, V = Σ a_x²·Q_x, and
# the shares are ω_i = (1/W)·Σ a_x·Q_x over the client's own runs.


def read_off(tape: Tape, p: Floats, until: int, window: int) -> dict[str, float]:
    """Return the symbols by name.

    Parameters
    ----------
    p
        Shape (n,): weights of the clients in the objective.
    until
        How many server updates count, from the first on.
    window
        N: windows are N consecutive ones of these updates.

    Raises
    ------
    CaseError
        If there are fewer updates than a window holds.
    """
    if not 1 <= window <= until:
        raise CaseError(f"fedcompass: a window of N = {window} updates needs 1 ≤ N ≤ {until}, the number of updates")
    n, descend = tape.clients, tape.descend
    used = tape.uses.version < until
    run, version, weight = tape.uses.update[used], tape.uses.version[used], tape.uses.weight[used]
    client, steps = descend.client[run], descend.steps[run].astype(np.float64)
    # work[t, i] = Σ a_x·Q_x over client i's runs in update t; the noise of update t adds up like Σ a_x²·Q_x.
    work = np.zeros((until, n))
    np.add.at(work, (version, client), weight * steps)
    noise = np.zeros((until, 1))
    np.add.at(noise, version, (weight**2 * steps)[:, None])
    windows = window_sums(work, window)
    total = windows.sum(axis=1)
    shares = np.divide(windows, total[:, None], out=np.zeros_like(windows), where=total[:, None] > 0.0)
    began = tape.event[tape.op == Op.DESCEND][run]
    start = np.where(began < 0, 0.0, tape.events.time[np.maximum(began, 0)])
    step_time = (tape.events.time[descend.arrival[run]] - start) / steps
    # One group at equilibrium: every update holds one run of every client, with the same Q_i each time.
    plain = np.zeros((until, n))
    np.add.at(plain, (version, client), steps)
    each = plain.sum(axis=1, keepdims=True)
    parts = np.divide(plain, each, out=np.zeros_like(plain), where=each > 0.0)
    a_max, q_mean = float(work.sum(axis=1).max()), float(each.mean() / n)
    if np.isclose(a_max, q_mean, rtol=1e-12, atol=0.0):
        q_mean = a_max  # equal but for rounding: fedcompass.group asks for A_max ≤ Q_mean
    return {
        "n": float(n),
        "tau_max": float((version - descend.version[run]).max(initial=0)),
        "speed_ratio": float(step_time.max() / step_time.min()) if len(run) else 1.0,
        "A_max": a_max,
        "W_min": float(total.min()),
        "W_max": float(total.max()),
        "V_max": float(window_sums(noise, window).max()),
        "share_bias": float(np.abs(shares - p).sum(axis=1).max()),
        "Q_mean": q_mean,
        "Q_bias": float(np.abs(parts - 1.0 / n).sum(axis=1).max()),
    }


# Compass, the computing power-aware scheduler of FedCompass (Li et al. 2024), Algorithm 2 and Appendix A.
#
# Who trains when, for how many local steps, and which updates are aggregated together: no models in here.
# Time is exact: a float stands for its shortest decimal, so that ⌊(12 − 0.9)/0.1⌋ is 111. Instants of the clock are
# floats, and whole numbers of ticks of 10⁻ᵉ, with e as large as any of them needs; the time of a local step is a number
# of ticks over one of steps, and so is T_a, which no clock shows.


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
    rules
        Of them the range of the numbers of local steps, λ, and which candidate a new group takes.
    speeds
        Times of one local step, one a client, if the server knows them beforehand: the first groups are then
        formed at time 0. Without them everybody begins with Qmin steps and no group.
    """

    def __init__(self, rules: "FedCompassParameters", clients: int, speeds: Sequence[float] | None = None) -> None:
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


# The options of FedCompass.


def _read_st(options: Options, _: str) -> Staleness:
    """Read ``st``, whose numbers may also stand in options a and b of their own."""
    text = str(options.raw("st", "constant")).strip()
    text = "inverse" if text.replace(" ", "") == "1/(tau+1)" else text
    for key in ("a", "b"):
        if options.has(key):
            text += f"{',' if ':' in text else ':'}{key}={options.raw(key)}"
    return read_staleness(Options(options.owner, {"st": text}), "st")


def _read_speeds(options: Options, _: str) -> tuple[tuple[Fraction, ...], ...] | None:
    """Read [0.1, 0.2], or a list of rounds for each client: [[0.1], [0.25, 0.2]]."""
    if not options.has("speeds"):
        return None
    raw, what = options.raw("speeds"), f"{options.owner}: speeds"
    rows = raw if isinstance(raw, (list, tuple)) and raw else numbers(raw, what)
    speeds = []
    for row in rows:
        rounds = numbers(row, what) if isinstance(row, (list, tuple)) else [number(row, what)]
        speeds.append(tuple(shortest_decimal(speed) for speed in positive(rounds, what)))
    return tuple(speeds)


def _read_largest(options: Options, name: str) -> int:
    low = options.integer("Qmin", 20)
    high = options.integer(name, max(100, low), minimum=1, maximum=10**6)
    if high < low:
        raise SpecError(f"{options.owner}: {name} must be at least Qmin = {low}, got {high}")
    return high


def _example_weights(clients: int) -> tuple[str, ...]:
    """Return equal weights, and one that is larger than the others together."""
    rest = round(0.25 / max(clients - 1, 1), 6)
    return "", f"[{','.join([repr(round(1.0 - rest * (clients - 1), 6)), *[repr(rest)] * (clients - 1)])}]"


def _example_speeds(clients: int) -> tuple[str, ...]:
    """Return equal speeds, and a client that takes twice the time of the others."""
    return "", *(f"[{','.join(['1'] * (clients - 1) + [last])}]" for last in ("1", "2"))


@final
@dataclass(frozen=True, slots=True)
class FedCompassParameters(Parameters):
    """The parameters of FedCompass: eta has unit (−1, 2).

    ``p`` None stands for 1/n each. ``speeds`` are, for each client, the times of one local step in its rounds, the last
    of which repeats. ``normalise`` makes shares independent of speeds. With ``warmup=qmin``, as printed, everybody
    begins with Qmin steps and no group; with ``speeds`` the server forms groups at time 0.
    """

    eta: float = option.number("local step size", above=0.0)
    Qmin: int = option.integer(
        "smallest number of local steps, and that of the warm-up (default 20)", 20, minimum=1, maximum=10**6
    )
    Qmax: int = option.custom(
        "largest number of local steps (default 100)", _read_largest, 100, {"": ("1", "2", "5", "6", "20")}
    )
    latest_time_factor: Fraction = option.custom(
        "lambda >= 1: a group waits lambda times as long as expected (default 1.2)",
        lambda options, name: shortest_decimal(options.number(name, 1.2, minimum=1.0, maximum=1e6)),
        Fraction(6, 5),
        {"": ("1.2", "1", "3")},
    )
    p: tuple[float, ...] | None = option.custom(
        "weights p_i of the clients (default 1/n each)", positive_if_given, None, {"": _example_weights}
    )
    st: Staleness = option.custom(
        {
            "st": f"staleness function: {FORMS}; default constant",
            "a": "exponent of st=polynomial, or slope of st=hinge",
            "b": "knee of st=hinge",
        },
        _read_st,
        Staleness(),
        {"st": ("constant", "inverse", "polynomial", "hinge")},
    )
    alpha: float = option.number("factor of the staleness function (default 1; Appendix E.2 has 0.9)", 1.0, above=0.0)
    normalise: bool = option.flag("yes: weight an update of Q local steps with Qmax/Q (default no)")
    prose_max: bool = option.flag(
        "yes: a new group takes the largest candidate inside [Qmin, Qmax] (default: largest, clipped)"
    )
    speeds: tuple[tuple[Fraction, ...], ...] | None = option.custom(
        "time of one local step, one a client: arrivals follow it and not the delay model",
        _read_speeds,
        None,
        {"": _example_speeds},
    )
    warmup: Literal["qmin", "speeds"] = option.choice(
        "qmin (default: Qmin steps without a group first) or speeds (the server knows them beforehand)",
        ("qmin", "speeds"),
    )

    def check(self, owner: str) -> None:
        """Refuse groups at time 0 without speeds."""
        if self.warmup == "speeds" and self.speeds is None:
            raise SpecError(f"{owner}: warmup=speeds needs the option speeds")

    def weights(self, clients: int) -> Floats:
        """Return p, shape (n,)."""
        return np.full(clients, 1.0 / clients) if self.p is None else np.array(self.p)

    @property
    def own_weights(self) -> tuple[Fraction, ...]:
        """The numbers of p as they are written; empty where it is not given."""
        return tuple(shortest_decimal(one) for one in self.p or ())

    def objective(self, clients: int) -> tuple[Fraction, ...]:
        """Return the shares p_i/Σp_k of the clients in the objective, one a client.

        Raises
        ------
        SpecError
            If p is not one a client.
        """
        self._one_each("p", self.p, clients)
        p = self.own_weights or (Fraction(1),) * clients
        total = sum(p, Fraction(0))
        return tuple(one / total for one in p)

    def compass(self, clients: int) -> Compass:
        """Return a scheduler at time 0.

        Raises
        ------
        SpecError
            If p or speeds are not one a client.
        """
        self._one_each("p", self.p, clients)
        self._one_each("speeds", self.speeds, clients)
        known = [float(rounds[0]) for rounds in self.speeds] if self.speeds and self.warmup == "speeds" else None
        return Compass(self, clients, known)

    def _one_each(self, name: str, given: Sequence[object] | None, clients: int) -> None:
        if given is not None and len(given) != clients:
            raise SpecError(f"fedcompass: {name} has {len(given)} entries for {clients} clients; give one a client")


# FedCompass: semi-asynchronous aggregation by arrival groups (Li et al. 2024), Algorithms 1 to 3.

_GROUPS_SHOWN = 50


@final
class FedCompass(Algorithm[FedCompassParameters]):
    """The compiler of FedCompass."""

    id = "fedcompass"
    summary = "clients get as many local steps as make groups of them arrive together, to be aggregated together"
    parameter_type = FedCompassParameters
    step_size_symbols = ("eta",)
    weighs = "p"
    single_client_values = MappingProxyType({})

    def read_events(self, raw: object, clients: int, where: str) -> Events:
        """Read [[time, actor], …]; timers may be named as "s", and need not be."""
        return read_events(raw, clients, where)

    def events_for(self, parameters: FedCompassParameters, clients: int, iterations: int) -> int:
        """Guess two events a version."""
        return 2 * iterations + 16

    def sample(
        self,
        parameters: FedCompassParameters,
        delays: DelayModel,
        policy: ServerPolicy,
        streams: Streams,
        clients: int,
        count: int,
    ) -> Events:
        """Return the first ``count`` events, timers included: the delay model gives the time of ONE local step."""
        arrival = _arrival(parameters, delays, streams)
        return _events(list(islice(closed_loop(parameters.compass(clients), arrival), count)))

    def in_one_pass(
        self,
        parameters: FedCompassParameters,
        clients: int,
        delays: DelayModel,
        iterations: int,
        records: RecordAt,
        streams: Streams,
    ) -> Tape:
        """Return the tape of a trial: what the scheduler answers is known when events are drawn."""
        compass = parameters.compass(clients)
        moments = _until(closed_loop(compass, _arrival(parameters, delays, streams)), iterations)
        return _ArrivalCompiler(parameters, compass, moments, clients, records, iterations).tape()

    def schedule(
        self, parameters: FedCompassParameters, events: Events, clients: int, records: RecordAt, iterations: int
    ) -> Tape:
        """Compile; k counts server versions.

        Raises
        ------
        SpecError
            If an arrival is impossible, or a named timer does not exist.
        """
        compass, moments = _followed(parameters, clients, events)
        begun = _until(iter(moments), iterations)
        return _ArrivalCompiler(parameters, compass, begun, clients, records, iterations).tape()

    def quantities(
        self, parameters: FedCompassParameters, tape: Tape, until: int, settings: Mapping[str, float]
    ) -> dict[str, float]:
        """Return the symbols of ``fedcompass.*`` over the first ``until`` server updates.

        Raises
        ------
        CaseError
            If there are fewer updates than a window holds.
        """
        p = np.array([float(one) for one in parameters.objective(tape.clients)])
        symbols = read_off(tape, p, until, int(settings.get("N", 1)))
        used = super().quantities(parameters, tape, until, settings)
        return {**used, "Qmin": float(parameters.Qmin), "Qmax": float(parameters.Qmax), **symbols}

    def why_not(self, assumption: str, parameters: FedCompassParameters, delays: DelayModel) -> str:
        """Answer for equal weights."""
        if assumption != "equal-weights":
            return super().why_not(assumption, parameters, delays)
        differ = parameters.p is not None and any(one != Fraction(1, delays.n) for one in parameters.own_weights)
        return (
            "the weights p are not 1/n each"
            if differ
            else f"alpha = {parameters.alpha:g} scales all weights"
            if parameters.alpha != 1.0
            else "normalise=yes weighs updates by their local steps"
            if parameters.normalise
            else "st makes weights fall with the staleness"
            if parameters.st.kind != "constant"
            else ""
        )

    def objective_weights(self, parameters: FedCompassParameters, clients: int) -> tuple[Fraction, ...]:
        """Return p: the theorems are about F = Σ p_i f_i."""
        return parameters.objective(clients)

    def figures(self, parameters: FedCompassParameters, tape: Tape) -> dict[str, Any]:
        """Return the history of the arrival groups and what it did to the clients."""
        compass, moments = _followed(parameters, tape.clients, tape.events)
        kinds = [moment.answer.kind for moment in moments]
        uses, descend = tape.uses, tape.descend
        runs = np.bincount(descend.client[uses.update], minlength=tape.clients)
        steps = np.bincount(descend.client[uses.update], weights=descend.steps[uses.update], minlength=tape.clients)
        tau = uses.version - descend.version[uses.update]
        return {
            "aggregations": kinds.count("complete") + kinds.count("timer"),
            "aggregations_by_timer": kinds.count("timer"),
            "first_updates": kinds.count("first"),
            "late_arrivals": kinds.count("late"),
            "tau_max": int(tau.max(initial=0)),
            "mean_Q": [float(s / r) if r else None for s, r in zip(steps, runs, strict=True)],
            "groups": len(compass.history),
            "group_history": [_group_as_dict(compass, group) for group in compass.history[:_GROUPS_SHOWN]],
        }


@final
class _ArrivalCompiler:
    """Turns what the scheduler did into instructions.

    Registers beside x_s: of each client the result of its last run and the model from which that began,
    which stay until it is answered; and the general buffer, for late updates outlive their client's wait.
    """

    def __init__(
        self,
        parameters: FedCompassParameters,
        compass: Compass,
        moments: Sequence[Moment],
        clients: int,
        records: RecordAt,
        iterations: int,
    ) -> None:
        self.parameters, self.moments = parameters, moments
        self.p = parameters.weights(clients).tolist()
        self.writer = Writer(_events(moments), clients, records, iterations)
        self.result = self.writer.register(count=clients)
        self.start = self.writer.register(count=clients)
        self.late = self.writer.register(Initial.ZERO)
        self.late_uses: list[tuple[int, float]] = []
        self.run, self.version, self.steps = [-1] * clients, [0] * clients, [0] * clients
        self.weight, self.arrived = [0.0] * clients, [-1] * clients
        self.group, self.next_steps = [-1] * len(moments), [-1] * len(moments)
        self._send(compass.started)

    def tape(self) -> Tape:
        """Compile every moment."""
        writer = self.writer
        for event, moment in enumerate(self.moments):
            writer.begin(event)
            answer, client = moment.answer, moment.actor
            if client != SERVER:
                self._arrive(client, event)
            if answer.kind == "late":
                weight = self.weight[client]
                self.late_uses.append((self.run[client], weight))
                writer.affine(self.late, (1.0, self.late), *self._change(client))
            if answer.updates:
                self._update(answer.aggregated, flush=answer.kind != "first")
            self._send(answer.assigned)
            writer.end()
        for group, steps in zip(self.group, self.next_steps, strict=True):
            writer.note("event_group", group)
            writer.note("event_Q", steps)
        return writer.tape()

    def _arrive(self, client: int, event: int) -> None:
        """Weigh an update with its staleness at its own arrival."""
        parameters = self.parameters
        weight = parameters.alpha * self.p[client] * parameters.st(self.writer.version - self.version[client])
        if parameters.normalise:
            weight *= parameters.Qmax / self.steps[client]
        self.weight[client], self.arrived[client] = weight, event
        self.writer.arrive(self.run[client])

    def _change(self, client: int) -> tuple[tuple[float, int], tuple[float, int]]:
        """Return −weight·Δ_i as terms: weight·(result − start)."""
        weight = self.weight[client]
        return (weight, self.result + client), (-weight, self.start + client)

    def _update(self, clients: Iterable[int], *, flush: bool) -> None:
        terms: list[tuple[float, int]] = []
        for client in clients:
            self.writer.use(self.run[client], self.weight[client])
            terms += self._change(client)
        if not (flush and self.late_uses):
            self.writer.server_update(*terms)
            return
        for run, weight in self.late_uses:
            self.writer.use(run, weight)
        self.writer.server_update(*terms, (1.0, self.late))
        self.writer.affine(self.late)
        self.late_uses.clear()

    def _send(self, assigned: Iterable[Assignment]) -> None:
        writer = self.writer
        for sent in assigned:
            i = sent.client
            writer.affine(self.start + i, (1.0, SERVER_MODEL))
            self.run[i] = writer.descend(self.result + i, SERVER_MODEL, i, sent.steps, self.parameters.eta)
            self.version[i], self.steps[i] = writer.version, sent.steps
            if self.arrived[i] >= 0:
                self.group[self.arrived[i]], self.next_steps[self.arrived[i]] = sent.group, sent.steps


_KEPT = 100_000  # events: what the scheduler did at more of them takes too much memory


def _followed(parameters: FedCompassParameters, clients: int, events: Events) -> tuple[Compass, list[Moment]]:
    """Return what the scheduler does at all events; nobody may change it."""
    ask = _follow if len(events) <= _KEPT else _follow.__wrapped__
    return ask(replace(parameters, eta=1.0), clients, events)  # the scheduler knows no models: all steps are one


@lru_cache(maxsize=2)  # one run is compiled for who reads its symbols, its points, and its model in two arithmetics
def _follow(parameters: FedCompassParameters, clients: int, events: Events) -> tuple[Compass, list[Moment]]:
    compass = parameters.compass(clients)
    both = list(zip(events.time.tolist(), events.actor.tolist(), strict=True))
    named = [time for time, actor in both if actor == SERVER]
    return compass, list(follow(compass, [pair for pair in both if pair[1] != SERVER], named))


def _until(moments: Iterator[Moment], iterations: int) -> list[Moment]:
    """Return moments up to the one that completes the last iteration, or all there are."""
    found: list[Moment] = []
    versions = 0
    while versions < iterations and (moment := next(moments, None)) is not None:
        found.append(moment)
        versions += moment.answer.updates
    return found


def _events(moments: Sequence[Moment]) -> Events:
    return Events(
        np.array([moment.time for moment in moments], dtype=np.float64),
        np.array([moment.actor for moment in moments], dtype=np.int32),
    )


def _arrival(
    parameters: FedCompassParameters, delays: DelayModel, streams: Streams
) -> Callable[[int, float, int], float]:
    """Return when a client's next update comes, by its own speeds or by the delay model."""
    if parameters.speeds is not None:
        return _own_clock(parameters.speeds)
    clock = delays.clock(streams)

    def arrival(client: int, start: float, steps: int) -> float:
        time = float(clock.arrival(client, start, steps=steps))
        # 0.1 + 0.2 is 0.3 on a clock: fourteen digits drop the rounding of the sum, which floors would feel.
        rounded = float(f"{time:.14g}")
        return rounded if rounded > start else time

    return arrival


def _own_clock(speeds: tuple[tuple[Fraction, ...], ...]) -> Callable[[int, float, int], float]:
    done = [0] * len(speeds)

    def arrival(client: int, start: float, steps: int) -> float:
        rounds = speeds[client]
        speed = rounds[min(done[client], len(rounds) - 1)]
        done[client] += 1
        return float(shortest_decimal(start) + steps * speed)

    return arrival


def _group_as_dict(compass: Compass, group: Group) -> dict[str, Any]:
    return {
        "group": group.id,
        "created": group.created,
        "expected": float(compass.expected(group)),
        "latest": group.latest,
        "clients": [{"client": sent.client, "Q": sent.steps} for sent in group.assignments],
        "late": list(group.late),
        "aggregated": group.aggregated,
        "by_timer": group.by_timer,
    }


FEDCOMPASS = FedCompass()
