"""Laws of the time between two updates of a client, sampled by inversion, and the rates that options give them.

Every law is a frozen value with per-client parameters of shape (n,). ``durations`` turns uniform
numbers of shape (B, uniforms) into times of shape (B,); ``means`` are closed forms, unit of time.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import gamma, pi
from typing import final

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import SpecError
from boundlab.options import Options
from boundlab.randomness import Stream, Streams

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
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


class ByMean(DelayLaw):
    """A law whose parameter is its mean, shape (n,)."""

    mean: Floats

    def means(self) -> Floats:
        """Return the means."""
        return self.mean


@final
@dataclass(frozen=True, slots=True)
class Exponential(ByMean):
    """Exp(1/mean): Poisson arrivals (AREA, Example 3)."""

    mean: Floats

    def durations(self, u: Floats, client: Ints) -> Floats:
        """Invert the survival function."""
        return -np.log(u[:, 0]) * self.mean[client]


@final
@dataclass(frozen=True, slots=True)
class Deterministic(ByMean):
    """The same time for each update of a client."""

    mean: Floats

    def durations(self, u: Floats, client: Ints) -> Floats:
        """Return the constant."""
        return np.broadcast_to(self.mean[client], u.shape[:1])


@final
@dataclass(frozen=True, slots=True)
class Uniform(ByMean):
    """Uniform on mean·[1 − width, 1 + width]."""

    mean: Floats
    width: float

    def durations(self, u: Floats, client: Ints) -> Floats:
        """Invert the distribution function."""
        return self.mean[client] * (1.0 + self.width * (2.0 * u[:, 0] - 1.0))


@final
@dataclass(frozen=True, slots=True)
class Gamma(ByMean):
    """Gamma with the given shape (an integer shape is Erlang); variance mean²/shape."""

    mean: Floats
    shape: float

    def durations(self, u: Floats, client: Ints) -> Floats:
        """Invert the regularised incomplete gamma function."""
        from scipy.special import gammaincinv

        out: Floats = gammaincinv(self.shape, u[:, 0]) * (self.mean[client] / self.shape)
        return out


@final
@dataclass(frozen=True, slots=True)
class Lognormal(ByMean):
    """exp(N(log mean − spread²/2, spread²))."""

    mean: Floats
    spread: float

    def durations(self, u: Floats, client: Ints) -> Floats:
        """Invert through the normal quantile."""
        from scipy.special import ndtri

        out: Floats = self.mean[client] * np.exp(self.spread * ndtri(u[:, 0]) - 0.5 * self.spread**2)
        return out


@final
@dataclass(frozen=True, slots=True)
class Weibull(ByMean):
    """Weibull with the given shape; below 1 it is heavy-tailed."""

    mean: Floats
    shape: float

    def durations(self, u: Floats, client: Ints) -> Floats:
        """Invert the survival function."""
        return self.mean[client] / gamma(1.0 + 1.0 / self.shape) * (-np.log(u[:, 0])) ** (1.0 / self.shape)


@final
@dataclass(frozen=True, slots=True)
class Pareto(ByMean):
    """Pareto on [scale, ∞) with tail index > 1: finite mean; infinite variance for a tail of at most 2."""

    mean: Floats
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
        out: Floats = self.location[client] * np.maximum(1.0 + self.cv * z, np.finfo(float).tiny)
        return out

    def means(self) -> Floats:
        """Return location·(1 + cv·φ(1/cv)/Φ(1/cv))."""
        from scipy.special import ndtr

        density = np.exp(-0.5 / self.cv**2) / np.sqrt(2.0 * pi)
        return np.asarray(self.location * (1.0 + self.cv * density / float(ndtr(1.0 / self.cv))))


@final
@dataclass(frozen=True, slots=True)
class TwoSpeed(ByMean):
    """With probability ``slow`` an update takes ``factor`` times as long as a fast one."""

    mean: Floats
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
            worst = int(np.argmin(rates))
            raise SpecError(f"{options.owner}: rates must be > 0, got {rates[worst]:g} for client {worst}")
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
