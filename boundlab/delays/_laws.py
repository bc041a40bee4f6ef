"""Laws of the time between two updates of a client, sampled by inversion.

Every law is a frozen value with per-client parameters of shape (n,). ``durations`` turns uniform
numbers of shape (B, uniforms) into times of shape (B,); ``means`` are closed forms, unit of time.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import gamma, pi
from typing import final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
