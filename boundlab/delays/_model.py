"""Delay models: who arrives when, before any server policy is applied."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gamma, pi
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

from boundlab.delays.recorded import LARGEST_BUFFER, Clock, Durations, Recorded, Ticks, read_csv
from boundlab.errors import SpecError
from boundlab.events import SERVER, Events
from boundlab.options import Options, nearest, parse_spec
from boundlab.randomness import Floats, Ints, Stream, Streams
from boundlab.registry import BuiltFromWords

# Laws of the time between two updates of a client, sampled by inversion, and the rates that options give them.
#
# Every law is a frozen value with per-client parameters of shape (n,). ``durations`` turns uniform
# numbers of shape (B, uniforms) into times of shape (B,); ``means`` are closed forms, unit of time.

RATE_OPTIONS = {
    "rates": "λ_i, one a client: [10,10,2.5] or @file; updates per unit of time unless the model says otherwise",
    "rate": "the same rate for all clients (default 1); the largest one with spread, the mean with draw",
    "spread": "rates fall geometrically from rate to rate/spread",
    "draw": "normal or exponential: rates drawn once from a distribution with mean rate",
    "sd": "standard deviation of draw=normal",
    "negative": "what to do with a drawn rate that is not positive: redraw (default), clip or abs",
    "rate_seed": "seed of the drawn rates (default 0)",
    "active": "clients at work at a time; who is done rests, and of those that rest one is drawn (default: all)",
}
_TRIES = 1000


class DelayLaw(ABC):
    """The distribution of the times between updates, one parameter set a client."""

    uniforms: int = 1

    @abstractmethod
    def durations(self, u: Floats, client: Ints) -> Floats:
        """Return times, shape (B,), from uniforms of shape (B, uniforms) for clients of shape (B,)."""

    @abstractmethod
    def means(self) -> Floats:
        """Return the expected time of each client, shape (n,)."""


@dataclass(frozen=True, slots=True)
class ByMean(DelayLaw):
    """A law whose first parameter is its mean, shape (n,)."""

    mean: Floats

    def means(self) -> Floats:
        """Return the means."""
        return self.mean


@final
@dataclass(frozen=True, slots=True)
class Exponential(ByMean):
    """Exp(1/mean): Poisson arrivals (AREA, Example 3)."""

    def durations(self, u: Floats, client: Ints) -> Floats:
        """Invert the survival function."""
        return -np.log(u[:, 0]) * self.mean[client]


@final
@dataclass(frozen=True, slots=True)
class Deterministic(ByMean):
    """The same time for each update of a client."""

    def durations(self, u: Floats, client: Ints) -> Floats:
        """Return the constant."""
        return np.broadcast_to(self.mean[client], u.shape[:1])


@final
@dataclass(frozen=True, slots=True)
class Uniform(ByMean):
    """Uniform on mean·[1 − width, 1 + width]."""

    width: float

    def durations(self, u: Floats, client: Ints) -> Floats:
        """Invert the distribution function."""
        return self.mean[client] * (1.0 + self.width * (2.0 * u[:, 0] - 1.0))


@final
@dataclass(frozen=True, slots=True)
class Gamma(ByMean):
    """Gamma with the given shape (an integer shape is Erlang); variance mean²/shape."""

    shape: float

    def durations(self, u: Floats, client: Ints) -> Floats:
        """Invert the regularised incomplete gamma function."""
        from scipy.special import gammaincinv

        return np.asarray(gammaincinv(self.shape, u[:, 0]) * (self.mean[client] / self.shape))


@final
@dataclass(frozen=True, slots=True)
class Lognormal(ByMean):
    """exp(N(log mean − spread²/2, spread²))."""

    spread: float

    def durations(self, u: Floats, client: Ints) -> Floats:
        """Invert through the normal quantile."""
        from scipy.special import ndtri

        return np.asarray(self.mean[client] * np.exp(self.spread * ndtri(u[:, 0]) - 0.5 * self.spread**2))


@final
@dataclass(frozen=True, slots=True)
class Weibull(ByMean):
    """Weibull with the given shape; below 1 it is heavy-tailed."""

    shape: float

    def durations(self, u: Floats, client: Ints) -> Floats:
        """Invert the survival function."""
        return self.mean[client] / gamma(1.0 + 1.0 / self.shape) * (-np.log(u[:, 0])) ** (1.0 / self.shape)


@final
@dataclass(frozen=True, slots=True)
class Pareto(ByMean):
    """Pareto on [scale, ∞) with tail index > 1: finite mean; infinite variance for a tail of at most 2."""

    tail: float

    def durations(self, u: Floats, client: Ints) -> Floats:
        """Invert the survival function."""
        return self.mean[client] * (self.tail - 1.0) / self.tail * u[:, 0] ** (-1.0 / self.tail)


@final
@dataclass(frozen=True, slots=True)
class TruncatedNormal(DelayLaw):
    """N(location, (cv·location)²) conditioned on being positive."""

    location: Floats
    cv: float

    def durations(self, u: Floats, client: Ints) -> Floats:
        """Invert the conditional survival function, accurate in the far tail."""
        from scipy.special import ndtr, ndtri

        z = -ndtri(u[:, 0] * ndtr(1.0 / self.cv))
        return np.asarray(self.location[client] * np.maximum(1.0 + self.cv * z, np.finfo(float).tiny))

    def means(self) -> Floats:
        """Return location·(1 + cv·φ(1/cv)/Φ(1/cv))."""
        from scipy.special import ndtr

        density = np.exp(-0.5 / self.cv**2) / np.sqrt(2.0 * pi)
        return np.asarray(self.location * (1.0 + self.cv * density / float(ndtr(1.0 / self.cv))))


@final
@dataclass(frozen=True, slots=True)
class TwoSpeed(ByMean):
    """With probability ``slow`` an update takes ``factor`` times as long as a fast one."""

    slow: float
    factor: float

    def durations(self, u: Floats, client: Ints) -> Floats:
        """Choose the speed."""
        fast = self.mean[client] / (1.0 + self.slow * (self.factor - 1.0))
        return np.where(u[:, 0] < self.slow, fast * self.factor, fast)


@final
@dataclass(frozen=True, slots=True)
class OnOff(DelayLaw):
    """Exponential work that only advances while the client is on (a two-state Markov chain).

    The on and off periods are exponential with means ``on`` and ``off``. On periods have no memory,
    so updates are i.i.d.: work W plus a Poisson(W/on) number of off periods.
    """

    work: Floats
    on: float
    off: float
    uniforms: int = 3

    def durations(self, u: Floats, client: Ints) -> Floats:
        """Sample work, the number of off periods in it, and their sum."""
        from scipy.special import gammaincinv, pdtr, pdtrik

        work = -np.log(u[:, 0]) * self.work[client]
        rate = work / self.on
        guess = np.ceil(np.maximum(pdtrik(u[:, 1], rate), 0.0))
        # pdtrik inverts a continuous extension; the quantile is the guess or its neighbour below.
        stops = np.where((guess > 0) & (pdtr(np.maximum(guess - 1, 0), rate) >= u[:, 1]), guess - 1, guess)
        idle = np.where(stops > 0, gammaincinv(np.maximum(stops, 1.0), u[:, 2]), 0.0) * self.off
        return np.asarray(work + idle)

    def means(self) -> Floats:
        """Return work·(1 + off/on)."""
        return self.work * (1.0 + self.off / self.on)


def read_rates(options: Options, n: int) -> Floats:
    """Return n positive rates.

    Raises
    ------
    SpecError
        If a rate is not positive, their number is not n, or two ways of giving them are mixed.
    """
    given = [key for key in ("rates", "spread", "draw") if options.has(key)]
    if len(given) > 1:
        raise SpecError(f"{options.owner}: give one of rates, spread and draw, not {' and '.join(given)}")
    if "rates" in given:
        rates = np.array(options.numbers("rates"))
        if options.has("rate"):
            raise SpecError(f"{options.owner}: give rates or rate, not both")
        if len(rates) != n:
            raise SpecError(f"{options.owner}: {len(rates)} rates for {n} clients; give one a client")
        if (rates <= 0.0).any():
            raise SpecError(f"{options.owner}: rates must be > 0, got {rates.min():g} for client {np.argmin(rates)}")
        return rates
    rate = options.number("rate", 1.0, above=0.0)
    if "spread" in given:
        spread = options.number("spread", 1.0, minimum=1.0)
        return np.asarray(rate * spread ** (-np.arange(n) / max(n - 1, 1)))
    if "draw" in given:
        return _draw(options, n, rate)
    return np.full(n, rate)


def _draw(options: Options, n: int, rate: float) -> Floats:
    law = options.choice("draw", "normal", ("normal", "exponential"))
    negative = options.choice("negative", "redraw", ("redraw", "clip", "abs"))
    streams = Streams(options.integer("rate_seed", 0))
    if law == "exponential":
        return np.asarray(-rate * np.log(streams.uniforms(Stream.RATE, np.arange(n), 0, 1)[:, 0]))
    sd = options.number("sd", rate / 2.0, above=0.0)
    rates = np.empty(n)
    todo = np.arange(n)
    for attempt in range(_TRIES):
        rates[todo] = rate + sd * streams.normals(Stream.RATE, todo, attempt, 1)[:, 0]
        if negative == "clip":
            return np.maximum(rates, 1e-3 * rate)
        if negative == "abs":
            rates = np.abs(rates)
        todo = np.flatnonzero(rates <= 0.0)
        if not len(todo):
            return rates
    raise SpecError(
        f"{options.owner}: N({rate:g}, {sd:g}²) is hardly ever positive; choose negative=clip or another sd"
    )


Rounds = tuple[tuple[float, tuple[int, ...]], ...]


class DelayModel(BuiltFromWords, ABC):
    """A source of arrivals of n clients.

    Parameters
    ----------
    options
        Those that built it, defaults included.
    says_arrivals
        False if only algorithms that take :meth:`followed` can run under it.
    rounds
        The end of each round and who is in it; None: the model says nothing of rounds.
    """

    id: str
    n: int
    options: Mapping[str, Any] = MappingProxyType({})
    says_arrivals = True
    rounds: Rounds | None = None

    def require(self, clients: int) -> None:
        """Refuse a problem with another number of clients; whatever puts the two together asks this first.

        Raises
        ------
        SpecError
            If it has another one.
        """
        if self.n != clients:
            raise SpecError(
                f"delays {self.id} were built for n = {self.n} and the problem has n = {clients}; build them for this "
                "problem, or give their spec"
            )

    @abstractmethod
    def sample(self, streams: Streams, count: int, server_rate: float) -> Events:
        """Return the first ``count`` events of one trial.

        Parameters
        ----------
        server_rate
            Rate of an independent Poisson process of aggregations; 0 for arrivals only.
        """

    @abstractmethod
    def rates(self) -> Floats:
        """Return the long-run updates of each client per unit of time, shape (n,)."""

    @property
    @abstractmethod
    def how_rates(self) -> str:
        """Say where the rates come from: closed form, or long-run estimate."""

    def spec(self) -> dict[str, Any]:
        """Return the JSON form that rebuilds this model for as many clients: {"type": id, …}, all options included."""
        return {"type": self.id, **self.options}

    def files(self) -> tuple[Path, ...]:
        """Return the files that it was read from."""
        return ()

    def clock(self, streams: Streams) -> Clock:
        """Return what tells a scheduler when an update that it hands out will arrive.

        By default the client's events are given beforehand, and the update arrives with the first of them
        after its start.
        """
        return Ticks(lambda count: self.arrivals_of(streams, count))

    def arrivals_of(self, streams: Streams, count: int) -> tuple[Floats, NDArray[np.int32]]:
        """Return times and actors of the first ``count`` events of a trial, without a server of its own."""
        events = self.sample(streams, count, 0.0)
        return events.time, events.actor

    @property
    def says_staleness(self) -> bool:
        """True if :meth:`followed` says of which model each update is made."""
        return False

    @property
    def ages(self) -> tuple[Fraction, ...]:
        """The probability of each staleness from 0 on, where that is drawn for each update by itself; else none."""
        return ()

    def followed(self, streams: Streams, count: int, per: int) -> Events | None:
        """Return the first ``count`` updates of a trial, each with its staleness in versions; None: nothing says that.

        Parameters
        ----------
        per
            Updates that make a version.
        """
        return None

    @property
    def memoryless(self) -> str:
        """Return '' if arrivals are independent Poisson processes, else why they are not."""
        return f"times between updates are not exponential under {self.id}"

    @property
    def certain(self) -> bool:
        """True if every trial has the same arrivals."""
        return self.seconds is not None

    @property
    def seconds(self) -> Floats | None:
        """The time that every update of each client takes, shape (n,); None where it is not always the same."""
        return None


@final
@dataclass(frozen=True, slots=True)
class Renewal(DelayModel):
    """Each client's updates take i.i.d. times of one law; all clients start at time 0.

    Parameters
    ----------
    options
        Those that built it, defaults included.
    """

    id: str
    n: int
    law: DelayLaw
    options: Mapping[str, Any] = field(default_factory=dict, compare=False)
    how_rates = "closed form 1/mean"

    def rates(self) -> Floats:
        """Return 1/mean (the elementary renewal theorem)."""
        return 1.0 / self.law.means()

    @property
    def seconds(self) -> Floats | None:
        """The means, where no time is drawn at random."""
        return self.law.mean if isinstance(self.law, Deterministic) else None

    @property
    def memoryless(self) -> str:
        """Only exponential times make Poisson arrivals."""
        return "" if isinstance(self.law, Exponential) else f"times between updates are not exponential under {self.id}"

    def clock(self, streams: Streams) -> Clock:
        """Each update takes its own time from when it is handed out, times its units of work."""
        return Durations(lambda client, update, count: self._durations(streams, client, update, count))

    def _durations(self, streams: Streams, client: int, update: int, count: int) -> Floats:
        clients, updates = np.full(count, client), np.arange(update, update + count)
        return self.law.durations(streams.uniforms(Stream.DELAY, clients, updates, self.law.uniforms), clients)

    def sample(self, streams: Streams, count: int, server_rate: float) -> Events:
        """Sample enough updates of everybody to be sure of the first ``count`` events, then merge."""
        rates = self.rates()
        total = float(rates.sum()) + server_rate
        span = (1.1 * count + 8.0) / total
        parts = [_Arrivals(self.law, streams, Stream.DELAY, rates * span, 0)]
        if server_rate > 0.0:
            server = Exponential(np.array([1.0 / server_rate]))
            parts.append(_Arrivals(server, streams, Stream.SERVER, np.array([server_rate * span]), SERVER))
        while True:
            found = [part.all() for part in parts]
            times = np.concatenate([own for own, _ in found])
            # What comes after this time is not among the first events, whatever else there is.
            last = float(np.partition(times, count - 1)[count - 1]) if len(times) >= count else np.inf
            grown = [part.extend(last) for part in parts]
            if not any(grown):
                return _merged(found, count)


def _merged(parts: Sequence[tuple[Floats, NDArray[np.int32]]], count: int | None = None) -> Events:
    """Return the first events of several sources; at equal times those of one source come before those of the next."""
    time, actor = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(time, kind="stable")[:count]
    return Events(time[order], actor[order])


@final
class _Arrivals:
    """Arrival times of clients, of each as many as are asked for.

    Parameters
    ----------
    expected
        How many of each client there are about, shape (n,).
    first
        The actor that the first client is.
    """

    def __init__(self, law: DelayLaw, streams: Streams, stream: Stream, expected: Floats, first: int) -> None:
        self._law, self._streams, self._stream, self._first = law, streams, stream, first
        self._ends = np.zeros(len(expected))
        self._counts = np.zeros(len(expected), dtype=np.int64)
        self._blocks: list[tuple[Floats, Ints]] = []  # times and clients
        self._draw(np.arange(len(expected)), np.ceil(expected + np.sqrt(expected) + 1.0).astype(np.int64))

    def extend(self, last: float) -> bool:
        """Draw more of all clients whose known arrivals end before a time; return whether there are any."""
        short = np.flatnonzero(self._ends < last)
        if len(short):
            known, ends = self._counts[short], np.maximum(self._ends[short], np.finfo(float).tiny)
            missing = np.minimum(known * (last / ends - 1.0), known)
            self._draw(short, np.ceil(missing + np.sqrt(known) + 2.0).astype(np.int64))
        return bool(len(short))

    def all(self) -> tuple[Floats, NDArray[np.int32]]:
        """Return times and actors, client by client and in the order of time."""
        times, clients = (np.concatenate(column) for column in zip(*self._blocks, strict=True))
        if len(self._blocks) > 1:
            order = np.argsort(clients, kind="stable")
            times, clients = times[order], clients[order]
        return times, (clients + self._first).astype(np.int32)

    def _draw(self, who: Ints, counts: Ints) -> None:
        ends = np.cumsum(counts)
        clients, begins = np.repeat(who, counts), ends - counts
        updates = np.arange(len(clients)) - np.repeat(begins - self._counts[who], counts)
        uniforms = self._streams.uniforms(self._stream, clients, updates, self._law.uniforms)
        times = self._law.durations(uniforms, clients).copy()
        for size in np.unique(counts).tolist():
            # One running sum a client: adding up across clients would let rounding depend on the others.
            same = np.flatnonzero(counts == size)
            places = begins[same][:, None] + np.arange(size)
            spans = times[places]
            spans[:, 0] += self._ends[who[same]]
            times[places] = np.cumsum(spans, axis=1)
        self._ends[who] = times[ends - 1]
        self._counts[who] += counts
        self._blocks.append((times, clients))


@final
@dataclass(frozen=True, slots=True)
class IndependentEvents(DelayModel):
    """The theorems' own model: at each iteration, client i with p_i, the server with p_s; one time unit each."""

    p: Floats
    p_s: float
    id: str = "iid"
    options: Mapping[str, Any] = field(default_factory=dict, compare=False)
    how_rates, memoryless = "given", ""

    def spec(self) -> dict[str, Any]:
        """Return the options as they were given, else the probabilities."""
        return {"type": self.id, **(self.options or {"p": self.p.tolist(), "p_s": self.p_s})}

    @property
    def n(self) -> int:  # type: ignore[override]
        """The number of clients."""
        return len(self.p)

    def rates(self) -> Floats:
        """Return p: one event per unit of time."""
        return self.p

    def arrivals_of(self, streams: Streams, count: int) -> tuple[Floats, NDArray[np.int32]]:
        """Return the events of the server too: nobody's update arrives with them."""
        events = self.sample(streams, count, self.p_s)
        return events.time, events.actor

    def sample(self, streams: Streams, count: int, server_rate: float) -> Events:
        """Draw each event by inversion of the cumulative probabilities."""
        if server_rate != self.p_s:
            raise SpecError("delays iid bring their own server events; leave the server policy out")
        u = streams.uniforms(Stream.EVENT, 0, 0, count)[0]
        index = np.searchsorted(np.cumsum(self.p), u, side="right")
        actor = np.where(index < self.n, index, SERVER).astype(np.int32)
        return Events(np.arange(1.0, count + 1.0), actor)


@final
@dataclass(frozen=True, slots=True)
class Trace(DelayModel):
    """Arrivals recorded in a CSV file.

    Parameters
    ----------
    begun
        Shape (N,): the updates that had arrived when each was handed out, or if it says versions these; None: the file
        says neither of every update.
    versions
        Whether it says versions.
    rounds
        Updates of equal times, where these are the rounds of a synchronous server.
    """

    arrivals: Events
    n: int
    source: str
    id: str = "trace"
    begun: Ints | None = field(default=None, compare=False)
    versions: bool = False
    rounds: Rounds | None = None
    how_rates = "long-run estimate from the trace"
    certain = True  # what was recorded is not drawn again

    def spec(self) -> dict[str, Any]:
        """Return the path of the file, and whether it is read as rounds."""
        return {"type": self.id, "file": self.source, **({} if self.rounds is None else {"rounds": True})}

    def files(self) -> tuple[Path, ...]:
        """Return the file."""
        return (Path(self.source),)

    def rates(self) -> Floats:
        """Return observed updates per unit of time."""
        return np.bincount(self.arrivals.actor, minlength=self.n) / float(self.arrivals.time[-1])

    @property
    def says_staleness(self) -> bool:
        """True if it says when each update was handed out, or of which version it is."""
        return self.begun is not None

    def followed(self, streams: Streams, count: int, per: int) -> Events | None:
        """Return the recorded updates, made of the models that their devices had."""
        if self.begun is None:
            return None
        events, begun = self.sample(streams, count, 0.0), self.begun[:count]
        tau = np.arange(count) // per - (begun if self.versions else begun // per)
        if (tau < 0).any():
            k = int(np.argmax(tau < 0))
            raise SpecError(
                f"the trace {self.source}: update {k + 1} is of version {begun[k]}, and there are {k // per} with a "
                f"version every {per} updates"
            )
        return Events(events.time, events.actor, tuple((one,) for one in tau.tolist()))

    def clock(self, streams: Streams) -> Clock:
        """Return recorded arrival times: updates come with the next one of their client."""
        return Ticks(lambda _count: (self.arrivals.time, self.arrivals.actor), self.source)

    def sample(self, streams: Streams, count: int, server_rate: float) -> Events:
        """Return the recorded arrivals, merged with Poisson aggregations if there are any."""
        found = self.arrivals
        if server_rate > 0.0:
            law, last = Exponential(np.array([1.0 / server_rate])), float(found.time[-1])
            drawn = _Arrivals(law, streams, Stream.SERVER, np.array([server_rate * last]), SERVER)
            while drawn.extend(last):
                pass
            extra, who = drawn.all()
            keep = extra <= last
            found = _merged([(found.time, found.actor), (extra[keep], who[keep])])
        if len(found) < count:
            raise SpecError(f"the trace {self.source} ends after {len(found)} events; {count} are asked for")
        return Events(found.time[:count], found.actor[:count])


def read_trace(path: Path, n: int, *, rounds: bool = False) -> Trace:
    """Read a trace: the normal form of :mod:`boundlab.delays.recorded`, or rows of a time and the number of a client.

    Updates that were lost change nothing.

    Parameters
    ----------
    rounds
        Whether updates of one time are a round.

    Raises
    ------
    SpecError
        Naming the file and the line: no update, a time that decreases, a client outside 0…n−1, or twice in a
        round; or if there are not as many devices as clients.
    """
    found, numbered = read_csv(path)
    names, found = found.names, found.arrived
    actors = found.client.astype(np.int64)
    if numbered:
        actors = np.array([int(name) for name in names], dtype=np.int64)[actors]
        if (outside := np.flatnonzero((actors < 0) | (actors >= n))).size:
            row = outside[0]
            raise SpecError(f"trace {path}, line {found.line[row]}: client {actors[row]} is outside 0…{n - 1}")
    elif len(names) != n:
        shown = ", ".join(names[:4]) + (", …" if len(names) > 4 else "")
        raise SpecError(f"the trace {path} has {len(names)} devices ({shown}); the problem has {n} clients")
    if not len(found.time) or found.time[-1] <= 0.0:
        raise SpecError(f"the trace {path} holds no arrivals after time 0")
    if (absent := np.setdiff1d(np.arange(n), actors)).size:
        raise SpecError(f"the trace {path} has no update of client {absent[0]}; the problem has {n} clients")
    if rounds:
        return Trace(Events(found.time, actors.astype(np.int32)), n, str(path), rounds=_rounds(found, actors))
    versions = bool((found.version >= 0).all())
    begun = found.version if versions else None
    if not versions and not np.isnan(found.dispatch).any():
        begun = np.minimum(np.searchsorted(found.time, found.dispatch, side="right"), np.arange(len(found.time)))
    if begun is not None and _answered(begun, actors, n, versions=versions):
        begun = None
    return Trace(Events(found.time, actors.astype(np.int32)), n, str(path), begun=begun, versions=versions)


def _rounds(found: Recorded, actors: Ints) -> Rounds:
    """Return the updates of each time as a round."""
    out = list[tuple[float, list[int]]]()
    for time, who, line in zip(found.time.tolist(), actors.tolist(), found.line.tolist(), strict=True):
        if not out or out[-1][0] < time:
            out.append((time, []))
        if who in out[-1][1]:
            raise SpecError(f"trace {found.source}, line {line}: its client is in the round of this time twice")
        out[-1][1].append(who)
    if len(out) == len(found.time) > 1 < len(found.names):
        raise SpecError(
            f"trace {found.source}: no two updates have one time, so there are no rounds; leave rounds=yes "
            "out, or write the time at which its round ended beside each update"
        )
    return tuple((time, tuple(sorted(members))) for time, members in out)


def _answered(begun: Ints, actors: Ints, n: int, *, versions: bool) -> bool:
    """Return whether every device read when its last update was answered: then a run finds that by itself."""
    answered, last = np.empty(len(actors), dtype=np.int64), [0] * n
    for place, client in enumerate(actors.tolist()):
        answered[place], last[client] = last[client], place + 1
    return any(np.array_equal(begun, answered // per) for per in range(1, 1 + (LARGEST_BUFFER if versions else 1)))


# Server policies: when the server aggregates.

POLICIES = {
    "poisson": "aggregations arrive at rate=λ_s, independent of the clients; rate=optimal is AREA §4.2's λ_s*",
    "count": "aggregate after every=Δ client updates",
    "periodic": "aggregate at the times every, 2·every, …",
}


@dataclass(frozen=True, slots=True)
class ServerPolicy:
    """When the server aggregates.

    Parameters
    ----------
    kind
        ``poisson``, ``count``, ``periodic``, ``given`` when the delay model brings the server's events, or
        ``own`` when the algorithm decides by itself.
    value
        λ_s, Δ or the period; 0 for ``own``.
    """

    kind: Literal["poisson", "count", "periodic", "given", "own"]
    value: float

    @property
    def count(self) -> int | None:
        """Δ of the count policy, which algorithms take as a parameter, else None."""
        return int(self.value) if self.kind == "count" else None

    def rate(self, delays: DelayModel) -> float:
        """Return the long-run aggregations per unit of time."""
        if self.kind == "count":
            return float(delays.rates().sum()) / self.value
        return 1.0 / self.value if self.kind == "periodic" else self.value

    def describe(self) -> str:
        """Return the policy as the user would type it."""
        if self.kind in ("own", "given"):
            return "as the algorithm decides" if self.kind == "own" else "events of the delay model"
        return f"{self.kind}:{'rate' if self.kind == 'poisson' else 'every'}={self.value:g}"

    def spec(self) -> str | None:
        """Return the text that :func:`read_policy` reads as this very policy; None where delays or algorithm decide."""
        if self.kind in ("own", "given"):
            return None
        value = self.count if self.count is not None else float(self.value)
        return f"{self.kind}:{'rate' if self.kind == 'poisson' else 'every'}={value!r}"


def read_policy(
    text: str | None, delays: DelayModel, server: Literal["any", "count", "none"] = "any", who: str = "the algorithm"
) -> ServerPolicy:
    """Read ``poisson:rate=4``, ``count:every=4`` or ``periodic:every=1``; the default is Poisson at λ_s*.

    Parameters
    ----------
    server, who
        What the algorithm of that name leaves to a policy: anything, a count, or nothing.

    Raises
    ------
    SpecError
        If the policy is unknown, its number is not positive, or the delay model or the algorithm brings its own.
    """
    if server != "any" and text is None:
        return ServerPolicy("own", 0.0)
    if server == "none":
        raise SpecError(f"{who} decides by itself when to aggregate; leave the server policy out")
    if server == "any" and isinstance(delays, IndependentEvents):
        if text is not None:
            raise SpecError("delays iid bring their own server events (p_s); leave the server policy out")
        return ServerPolicy("given", delays.p_s)
    kind, raw = parse_spec(text or "poisson", "server")
    if server == "count" and kind != "count":
        raise SpecError(f"{who} aggregates after a number of updates: server count:every=4, or count=4")
    if kind not in POLICIES:
        raise SpecError(f"unknown server policy {kind!r}; {nearest(kind, POLICIES)}")
    options = Options(f"server {kind}", raw)
    if kind == "poisson":
        best = optimal_rate(delays.rates())
        value = best if options.raw("rate", "optimal") == "optimal" else options.number("rate", best, above=0.0)
    elif kind == "count":
        value = float(options.integer("every", 1, minimum=1))
    else:
        value = options.number("every", 1.0, above=0.0)
    options.finish()
    return ServerPolicy(kind, value)  # type: ignore[arg-type]


def optimal_rate(rates: Floats) -> float:
    """Return λ_s* = sqrt(Σλ_i / ((2/n) Σ 1/λ_i)) (AREA, Section 4.2), unit of the rates."""
    return math.sqrt(len(rates) * math.fsum(rates) / (2.0 * math.fsum(1.0 / rates)))


def frequencies(delays: DelayModel, policy: ServerPolicy) -> tuple[Floats, float]:
    """Return the long-run fractions p_i, shape (n,), and p_s of iterations; they sum to 1."""
    rates, server = delays.rates(), policy.rate(delays)
    total = float(rates.sum()) + server
    return rates / total, server / total


def why_not_iid(delays: DelayModel, policy: ServerPolicy) -> str:
    """Return '' if events are i.i.d. (AREA, Section 4), else the reason why they are not."""
    if delays.memoryless:
        return delays.memoryless
    if policy.kind in ("count", "periodic"):
        return f"aggregations under {policy.describe()} depend on the arrivals or on the clock"
    return ""


def sample_events(delays: DelayModel, policy: ServerPolicy, streams: Streams, iterations: int) -> Events:
    """Return the events of one trial: all of them, or under ``count`` the arrivals only.

    Under ``count`` the algorithm's compiler inserts the aggregations, since where they stand between an
    arrival and its answer is the algorithm's affair.
    """
    counted = policy.kind in ("count", "periodic")
    arrivals = delays.sample(streams, iterations, 0.0 if counted else policy.value)
    if policy.kind != "periodic":
        return arrivals
    ticks = policy.value * np.arange(1.0, min(np.ceil(arrivals.time[-1] / policy.value), iterations) + 1.0)
    server = np.full(len(ticks), SERVER, dtype=np.int32)
    return _merged([(arrivals.time, arrivals.actor), (ticks, server)], iterations)
