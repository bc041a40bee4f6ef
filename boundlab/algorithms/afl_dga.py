"""AFL-DGA: its events, its compiler, and what theorems read off a schedule."""

import heapq
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, final

import numpy as np

from boundlab.algorithms import _option as option
from boundlab.algorithms._algorithm import Algorithm, Draw
from boundlab.algorithms._option import Parameters
from boundlab.delays import Clock, DelayModel, ServerPolicy
from boundlab.errors import AssumptionError, CaseError, SpecError
from boundlab.events import SERVER, Events, read_client, read_each
from boundlab.options import Options, nearest, number as read_number
from boundlab.randomness import Floats, Ints, Stream, Streams
from boundlab.tape import NOTHING, Initial, Op, RecordAt, Tape, Writer

# AFL-DGA's events: their form in case files, and the order in which they can happen.
#
# [t, i, "step", r]          one local iteration of client i in round r
# [t, i, "send", r]          round r of client i ends: its average local gradient is the server's most recent one of i
# [t, "s", "aggregate", r]   the server averages what it has, and moves
# [t, i, "recv", r]          the average of round r reaches client i, which corrects its model

WORDS = ("step", "send", "aggregate", "recv")
_FORM = '[time, client, "step" | "send" | "recv", round] or [time, "s", "aggregate", round]'


# AFL-DGA's sampled delay model: who takes part in which round, with how many steps, and how late averages come.
#
# Every local step takes the time of one update of the client under the delay model. Round r of the server ends when
# the slowest of its participants has sent; rounds end one after the other.
#
# - Participation: with probability p_i, independently, or in every period_i-th round. A client that t_d would be
#   violated without takes part. Where nobody takes part, the client with the smallest u/p does. In round 1 everybody
#   does, unless first_round=drawn.
# - A client begins its next round as soon as it has sent the one before. It sends round r once the server has
#   aggregated round r−1 (else its gradient would enter round r−1), and waits until then.
# - The average of round r reaches a participant with its D-th local step after it sent r, the absent with their D-th
#   local step after the aggregation; if the aggregation comes later, then at the aggregation, and a participant waits
#   for it. Averages reach a client in their order.
#
# So D_i^r is what was drawn, or more where an earlier round's average is due later; never above the range.

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
        ends = [read_number(part, what) for part in parts]
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


def _per_client(values: tuple[float, ...], clients: int, what: str) -> Floats:
    if len(values) not in (1, clients):
        raise SpecError(f"afl_dga: {len(values)} values of {what} for {clients} clients; give one, or one a client")
    return np.broadcast_to(np.asarray(values, dtype=np.float64), (clients,))


def _integers(u: Floats, ends: tuple[int, int]) -> list[int]:
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


# Statistics that AFL-DGA's theorems read off a tape, exactly.
#
# Everything is read over the first T server updates t = 0 … T−1 and the events up to the last of them: a theorem
# about T rounds is about the run that stops there.

_DISTANCE = ("held", "wrong", "own", "kept", "oldest", "largest")


def quantities(tape: Tape, until: int) -> dict[str, float]:
    """Return the statistics by symbol.

    ``n`` clients. ``K_m`` most local steps of a round that was sent. ``D_m`` most local steps that a client took
    after it sent a round and before that round's average reached it. ``tau_max`` = ``t_d`` = max τ, where τ_i^t is
    1 in the round in which client i's update is first used and 1 more in each round after; ``Q_age`` = max τ − 1;
    ``tau_sum`` = (1/T) Σ_t Σ_i (τ_i^t + τ_i^{t−τ_i^t} − 1), with τ = 1 before the first round. ``reuse`` =
    mean of τ − 1 over t and i; ``reuse_n`` = mean over t of Σ_a a·sqrt(#{i: τ_i^t − 1 = a})/n.

    ``S``, ``M_own``, ``SM2``: with w^t − w_ij = −η Σ_h s_h ḡ^h + η Σ m·g, the sums over the server steps h < t and
    over the own local gradients, for the point w_ij at which a gradient used in round t was taken: ``M_own`` is the
    largest Σ|m|; ``S`` the largest of Σ|s_h| and of max|s_h| times the age of the oldest h with s_h ≠ 0 (both
    rounded up to an integer); ``SM2`` the mean over t, i and local steps of (Σ|s_h| + Σ|m|)². Where own steps are
    undone and ηḡ applied (scaling=analysis, or K = 1), all s and m are 0 or 1: S is the number of missing server
    steps (if a client receives averages out of order, the age of the oldest missing one), and M_own the number of
    own gradients not yet undone, M_own ≤ K_m + D_m − 1. Otherwise they grow without bound, as the distance does.

    Parameters
    ----------
    tape
        Compiled from AFL-DGA.
    until
        T, 1 ≤ T ≤ the server updates of the tape.

    Raises
    ------
    AssumptionError
        If a client has not sent before the first aggregation: the server then averages in a 0 that is nobody's
        gradient, and τ is undefined.
    """
    n, use, at = tape.clients, tape.uses, tape.uses.version < until
    run, version = use.update[at], use.version[at]
    client = tape.descend.client[run]
    newest = _newest(tape, until)
    silent = np.flatnonzero(newest[0] < 0)
    if len(silent):
        raise AssumptionError(
            f"the theorems of afl_dga need a gradient of every client before the first aggregation; client "
            f"{silent[0]} has not sent one, so that the server averages in a 0 and tau is undefined "
            f"(sampled schedules: first_round=all)"
        )
    age = _age(newest)
    before = np.arange(until)[:, None] - age  # the round before the one of first use
    previous = np.where(before < 0, 1, np.take_along_axis(age, np.maximum(before, 0), axis=0))
    server, own, span = _distance(tape, run, version)
    key = version * n + client
    share = 1.0 / np.bincount(key, minlength=until * n)[key] / (until * n)
    last = int(np.searchsorted(tape.version, until))  # the events 0 … last−1 hold the first T updates
    steps, late = _before(tape, last)
    tau_max = float(age.max())
    return {
        "n": float(n),
        "K_m": float(steps.max(initial=0)),
        "D_m": float(late.max(initial=0)),
        "tau_max": tau_max,
        "t_d": tau_max,
        "Q_age": tau_max - 1.0,
        "tau_sum": float((age + previous - 1).sum()) / until,
        "reuse": float((age - 1).mean()),
        "reuse_n": _reuse_n(age - 1),
        "S": _up(max(float(server.max()), float(span.max()))),
        "M_own": _up(float(own.max())),
        "SM2": float(share @ (server + own) ** 2),
    }


def _newest(tape: Tape, until: int) -> Ints:
    """Return the first run of client i's update that enters server update t, shape (until, n); −1 if none does."""
    at = tape.uses.version < until
    run, version = tape.uses.update[at], tape.uses.version[at]
    out = np.full((until, tape.clients), -1, dtype=np.int64)
    out[version[::-1], tape.descend.client[run[::-1]]] = run[::-1]
    return out


def _age(newest: Ints) -> Ints:
    """Return τ_i^t, shape (T, n): 1 where an update is first used, 1 more in each round after."""
    rounds = np.arange(len(newest))[:, None]
    fresh = np.ones(newest.shape, dtype=bool)
    fresh[1:] = newest[1:] != newest[:-1]
    return np.asarray(rounds - np.maximum.accumulate(np.where(fresh, rounds, 0), axis=0) + 1, dtype=np.int64)


def _reuse_n(age: Ints) -> float:
    until, n = age.shape
    width = int(age.max()) + 1
    counts = np.bincount((np.arange(until)[:, None] * width + age).ravel(), minlength=until * width)
    mean = float((np.sqrt(counts.reshape(until, width)) @ np.arange(width)).mean())
    return mean / float(n)


def _distance(tape: Tape, run: Ints, version: Ints) -> tuple[Floats, Floats, Floats]:
    """Return Σ|s_h|, Σ|m| and max|s_h| · (age of the oldest h with s_h ≠ 0) for each use of a run."""
    note = {name: np.asarray(tape.notes[f"run_{name}"], dtype=np.float64)[run] for name in _DISTANCE}
    span = (version - note["oldest"]) * note["largest"]
    return version - note["held"] + note["wrong"], note["own"] + note["kept"], span


def _before(tape: Tape, last: int) -> tuple[Ints, Ints]:
    """Return the lengths of the rounds sent, and how late averages are at each local step, before event ``last``."""
    if not len(tape.descend.dst):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    at = tape.event[tape.op == Op.DESCEND]
    late = np.asarray(tape.notes["run_late"], dtype=np.int64)[at < last]
    if "send_event" not in tape.notes:
        return np.empty(0, np.int64), late
    return np.asarray(tape.notes["send_steps"], dtype=np.int64)[tape.notes["send_event"] < last], late


def _up(value: float) -> float:
    """Return the next integer, forgiving the rounding of a sum."""
    return float(math.ceil(value - 1e-9 * max(1.0, abs(value))))


# AFL-DGA: anarchic federated learning with delayed gradient averaging (Li and Gong), Section 3.2 and Algorithm 1.

Scaling = Literal["sum", "average", "analysis"]


@final
@dataclass(frozen=True, slots=True)
class AflDgaParameters(Parameters):
    """The parameters of AFL-DGA.

    ``eta``, unit (−1, 2), is the step size of clients and server. ``scaling`` is how a client corrects its model when
    ḡ^r arrives and it took K local steps in round r; only ``analysis`` follows Lemma 1's trajectory, and for K = 1 all
    are the same. With ``k-scaled`` all participants of round r must share K. ``schedule`` is what the sampled delay
    model draws.
    """

    eta: float = option.number("step size", above=0.0)
    scaling: Scaling = option.choice(
        "sum (default, Section 3.2: −ηKḡ + ηΣg), average (line 16: −ηḡ + ηΣg/K) or analysis (−ηḡ + ηΣg)",
        ("sum", "average", "analysis"),
    )
    server: Literal["plain", "k-scaled"] = option.choice(
        "plain (default: w − ηḡ) or k-scaled (w − ηKḡ, K the participants' number of local steps)",
        ("plain", "k-scaled"),
    )
    schedule: DelayOptions = option.part(DelayOptions)


@final
class AflDga(Algorithm[AflDgaParameters]):
    """The compiler of AFL-DGA; its iterations are the server's rounds."""

    id = "afl_dga"
    summary = "anarchic participation; clients replace their own steps by the delayed average of all gradients"
    parameter_type = AflDgaParameters
    step_size_symbols = ("eta",)
    single_client_values = MappingProxyType({"tau_max": 1})  # a gradient that is used at once has τ = 1
    redefines = frozenset({"tau_max"})
    draws = (
        Draw(
            "participation",
            "who takes part in each round",
            ("participation", "periods"),
            lambda parameters, _: not parameters.schedule.periods and min(parameters.schedule.participation) < 1.0,
        ),
        Draw(
            "local_steps",
            "how many local steps each client takes in a round",
            ("local_steps",),
            lambda parameters, _: len(set(parameters.schedule.local_steps)) > 1,
        ),
        Draw(
            "correction_delay",
            "how late averages reach each client",
            ("correction_delay",),
            lambda parameters, _: len(set(parameters.schedule.correction_delay)) > 1,
        ),
    )

    def schedule(
        self, parameters: AflDgaParameters, events: Events, clients: int, records: RecordAt, iterations: int
    ) -> Tape:
        """Compile the first ``iterations`` rounds of the server, or as many as the events hold.

        Raises
        ------
        CaseError
            If the events cannot happen in this order, or server=k-scaled finds participants of one round with
            different numbers of local steps.
        """
        compiler = _Compiler(parameters, events, clients, Writer(events, clients, records, iterations), self.id)
        compiler.run()
        return compiler.writer.tape()

    def events_for(self, parameters: AflDgaParameters, clients: int, iterations: int) -> int:
        """Return a first guess: in a round everybody steps, sends and receives."""
        steps = parameters.schedule.local_steps
        return int(iterations * (1 + clients * (2 + (steps[0] + steps[1]) / 2))) + 8

    def sample(
        self,
        parameters: AflDgaParameters,
        delays: DelayModel,
        policy: ServerPolicy,
        streams: Streams,
        clients: int,
        count: int,
    ) -> Events:
        """Return the first ``count`` events of a trial of the sampled delay model.

        Raises
        ------
        SpecError
            If participation or periods are not one number a client, or a trace ends.
        """
        return _Simulation(_Plan(parameters.schedule, streams, clients), delays.clock(streams)).run(count)

    def read_events(self, raw: object, clients: int, where: str) -> Events:
        """Read the events of a case file.

        Raises
        ------
        CaseError
            Naming the event by its place, counted from 1: a wrong form, an unknown word, or an impossible order.
        """

        def one(row: list[Any], name: str) -> tuple[int, str, int]:
            who, word, number = row
            actor = read_client(who, clients, name, server=True)
            if not isinstance(word, str) or word not in WORDS:
                hint = nearest(word, WORDS) if isinstance(word, str) else f"known: {', '.join(WORDS)}"
                raise CaseError(f"{name}: unknown word {str(word)[:20]!r}; {hint}")
            if isinstance(number, bool) or not isinstance(number, int) or number < 0:
                raise CaseError(f"{name}: the round must be an integer ≥ 0, got {str(number)[:20]!r}")
            return actor, word, number

        events = read_each(raw, where, _FORM, (4, 4), one)
        check_order(events, clients, where)
        return events

    def quantities(
        self, parameters: AflDgaParameters, tape: Tape, until: int, settings: Mapping[str, float]
    ) -> dict[str, float]:
        """Return also what the theorems read off a tape; see :func:`quantities`."""
        return {**super().quantities(parameters, tape, until, settings), **quantities(tape, until)}

    def figures(self, parameters: AflDgaParameters, tape: Tape) -> dict[str, Any]:
        """Return K_m, D_m, rounds sent by each client, and where they are defined tau_max, S and M.

        Here S counts the server steps that have not reached the client, and M its own gradients of rounds whose average
        has not, whatever ``scaling`` makes of the others.
        """
        until = int(tape.version[-1])
        steps, late = _before(tape, len(tape.events))
        sent = np.asarray(tape.notes.get("send_client", np.empty(0)), dtype=np.int64)
        newest = _newest(tape, until)
        heard = newest >= 0
        shown: dict[str, Any] = {
            "K_m": int(steps.max(initial=0)),
            "D_m": int(late.max(initial=0)),
            "rounds": until,
            "participation": np.bincount(sent, minlength=tape.clients).tolist(),
            "silent_at_first": np.flatnonzero(~heard[0]).tolist() if until else [],
            "tau_max": None,
            "S": None,
            "M": None,
        }
        if heard.any():
            run = tape.uses.update
            shown["tau_max"] = int(_age(newest)[heard].max())
            shown["S"] = int((tape.uses.version - tape.notes["run_held"][run]).max())
            shown["M"] = int(tape.notes["run_own"][run].max())
        return shown


@dataclass(slots=True)
class _ClientRound:
    """One round of one client: its local steps, and the register of their sum −ηΣ_j g_j."""

    total: int
    runs: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _ClientState:
    """Registers and memory of a client.

    Parameters
    ----------
    model, spare
        Two registers that take turns holding w_i.
    round, sent, received
        The round it is in, begun and not sent; those that it has sent, and those whose average has come.
    stored
        Register of −η times the average gradient that it sent last.
    used
        The runs behind ``stored``.
    rounds
        Begun, and the average not yet received.
    sent_at
        Round → own local steps before it was sent; the average not yet received.
    held
        Server steps that w_i contains, and their numbers from the first missing one on.
    wrong, largest, oldest
        Of those that it contains with a coefficient c ≠ 1: Σ|1 − c|, max|1 − c|, and the first one's number.
    steps, over, kept
        Own local gradients taken; those of rounds whose average has come; what w_i still contains of them.
    """

    model: int
    spare: int
    stored: int
    round: int | None = None
    sent: set[int] = field(default_factory=set)
    received: set[int] = field(default_factory=set)
    used: list[int] = field(default_factory=list)
    rounds: dict[int, _ClientRound] = field(default_factory=dict)
    sent_at: dict[int, int] = field(default_factory=dict)
    held: int = 0
    ahead: set[int] = field(default_factory=set)
    missing: int = 0
    wrong: float = 0.0
    largest: float = 1.0
    oldest: int | None = None
    steps: int = 0
    over: int = 0
    kept: float = 0.0


class _Compiler:
    """Turns events into instructions, one after the other, and refuses in one line what cannot happen.

    Parameters
    ----------
    where
        Where the events stand, for messages.
    """

    def __init__(self, parameters: AflDgaParameters, events: Events, clients: int, writer: Writer, where: str) -> None:
        if len(events.detail) != len(events):
            raise CaseError(f"{where}: afl_dga needs events of the form {_FORM}")
        self.parameters, self.events, self.n, self.writer, self.where = parameters, events, clients, writer, where
        first = writer.register(Initial.START, clients)
        spare = writer.register(count=clients)
        stored = writer.register(Initial.ZERO, clients)
        self.clients = [_ClientState(first + i, spare + i, stored + i) for i in range(clients)]
        self.free: list[int] = []
        self.average: dict[int, tuple[int, int]] = {}  # round → register of −ηḡ, number of the server step
        self.coming = range(2)  # the rounds that the server may aggregate next
        self.done: set[int] = set()  # those that it has aggregated
        self.sent: dict[int, set[int]] = {}  # round → the numbers of local steps of its participants
        # A sum or an average is kept for as long as somebody will ask for it.
        self.asked: dict[int, int] = {}
        self.receives: set[tuple[int, int]] = set()
        for actor, (word, number) in zip(events.actor.tolist(), events.detail, strict=True):
            if word == "recv":
                self.asked[number] = self.asked.get(number, 0) + 1
                self.receives.add((actor, number))

    def run(self) -> None:
        """Write all events up to the one that completes the iterations.

        Raises
        ------
        CaseError
            Naming the first event that cannot happen, by its place, counted from 1.
        """
        writer = self.writer
        act = {"step": self._step, "send": self._send, "recv": self._receive, "aggregate": self._aggregate}
        for event, (actor, (word, number)) in enumerate(
            zip(self.events.actor.tolist(), self.events.detail, strict=True)
        ):
            if writer.done:
                break
            writer.begin(event)
            only = 'the server "s" does nothing but aggregate' if actor < 0 else 'only the server "s" aggregates'
            self._never((actor == SERVER) != (word == "aggregate"), f"{only}, got {word!r}")
            act[word](actor, number)
            writer.note("event_event", word)
            writer.note("event_round", number)
            writer.end()
        for client in self.clients:
            writer.note("client_model", client.model)

    def _never(self, wrong: bool, why: str) -> None:
        if wrong:
            raise CaseError(f"{self.where}: event {self.writer.event + 1}: {why}")

    def _take(self) -> int:
        return self.free.pop() if self.free else self.writer.register()

    def _step(self, who: int, number: int) -> None:
        writer, client = self.writer, self.clients[who]
        begun = client.round is not None
        if not begun:
            self._never(number in client.sent, f"client {who} has sent round {number}, which ended it")
            ended = f"client {who} has received the average of round {number}, which ended it"
            self._never(number in client.received, ended)
            last = max(client.sent, default=number)
            self._never(number < last, f"client {who} has sent round {last}; it cannot go back to {number}")
            client.round = number
        must = f"client {who} is in round {client.round}; it must send it before round {number}"
        self._never(client.round != number, must)
        here = client.rounds.setdefault(number, _ClientRound(-1))
        for name, value in (
            ("run_round", number),
            ("run_place", len(here.runs) + 1),
            ("run_held", client.held),
            ("run_wrong", client.wrong),
            ("run_oldest", client.missing if client.oldest is None else min(client.oldest, client.missing)),
            ("run_largest", client.largest),
            ("run_own", client.steps - client.over),
            ("run_kept", client.kept),
        ):
            writer.note(name, value)
        row = writer.descend(client.spare, client.model, who, 1, self.parameters.eta, version=client.held)
        if not begun:
            here.total = self._take()
        old = ((1.0, here.total),) if begun else ()
        writer.affine(here.total, *old, (1.0, client.spare), (-1.0, client.model))
        client.model, client.spare = client.spare, client.model
        here.runs.append(row)
        client.steps += 1
        writer.note("run_late", client.steps - min(client.sent_at.values(), default=client.steps))

    def _send(self, who: int, number: int) -> None:
        writer, client = self.writer, self.clients[who]
        self._never(number in client.sent, f"client {who} sends round {number} twice")
        self._never(client.round != number, f"client {who} sends round {number} without a local step in it")
        client.round = None
        client.sent.add(number)
        here = client.rounds[number]
        count = len(here.runs)
        writer.affine(client.stored, (1.0 / count, here.total))
        for run in here.runs:
            writer.arrive(run)
        client.used = here.runs
        client.sent_at[number] = client.steps
        self.sent.setdefault(number, set()).add(count)
        writer.note("send_event", writer.event)
        writer.note("send_client", who)
        writer.note("send_steps", count)
        if (who, number) not in self.receives:
            self.free.append(here.total)

    def _aggregate(self, _who: int, number: int) -> None:
        writer, wanted = self.writer, " or ".join(map(str, self.coming))
        order = f"the server aggregates its rounds one after the other: {wanted}, not {number}"
        self._never(number not in self.coming, order)
        self.coming = range(number + 1, number + 2)
        self.done.add(number)
        scale = self._scale(number)
        for client in self.clients:
            for run in client.used:
                writer.use(run, scale / (self.n * len(client.used)))
        stored = [client.stored for client in self.clients if client.used]
        if self.asked.get(number, 0):
            average = self._take()
            writer.affine(average, *((1.0 / self.n, register) for register in stored))
            self.average[number] = (average, writer.version)
            writer.server_update((scale, average))
        else:
            writer.server_update(*((scale / self.n, register) for register in stored))

    def _scale(self, number: int) -> float:
        if self.parameters.server == "plain":
            return 1.0
        counts = sorted(self.sent.get(number, {1}))
        if len(counts) > 1:
            raise CaseError(
                f"afl_dga: server=k-scaled needs one number of local steps a round; the participants of round "
                f"{number} took {', '.join(map(str, counts))}"
            )
        return float(counts[0])

    def _receive(self, who: int, number: int) -> None:
        writer, client = self.writer, self.clients[who]
        comes = f"client {who} receives the average of round {number}"
        self._never(number not in self.done, f"{comes} before it is aggregated")
        self._never(number in client.received, f"{comes} twice")
        label = "while it is in that round; label its steps with the round in which they are sent"
        self._never(client.round == number, f"{comes} {label}")
        client.received.add(number)
        average, version = self.average[number]
        scaling = self.parameters.scaling
        here = client.rounds.pop(number, None)
        weight = 1.0
        if here is None:
            writer.affine(client.model, (1.0, client.model), (1.0, average))
        else:
            count = len(here.runs)
            weight = float(count) if scaling == "sum" else 1.0
            back = 1.0 / count if scaling == "average" else 1.0
            writer.affine(client.model, (1.0, client.model), (weight, average), (-back, here.total))
            client.over += count
            client.kept += (1.0 - back) * count
            del client.sent_at[number]
            self.free.append(here.total)
        self._hold(client, version, weight)
        self.asked[number] -= 1
        if not self.asked[number]:
            self.free.append(average)

    @staticmethod
    def _hold(client: _ClientState, version: int, weight: float) -> None:
        """Remember that w_i now contains this server step with this coefficient."""
        client.held += 1
        client.ahead.add(version)
        while client.missing in client.ahead:
            client.ahead.remove(client.missing)
            client.missing += 1
        if weight != 1.0:
            client.wrong += abs(1.0 - weight)
            client.largest = max(client.largest, abs(1.0 - weight))
            client.oldest = version if client.oldest is None else min(client.oldest, version)


def check_order(events: Events, clients: int, where: str) -> None:
    """Make sure that events are AFL-DGA's and can happen in this order.

    Raises
    ------
    CaseError
        Naming the first event that cannot, by its place, counted from 1.
    """
    writer = Writer(events, clients, NOTHING, len(events))
    _Compiler(AflDgaParameters(1.0), events, clients, writer, where).run()


AFL_DGA = AflDga()
