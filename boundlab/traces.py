"""Traces of your system: logs are read, summarised, tested for independence, and fitted by the laws of delays."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn, cast, final

import numpy as np
from numpy.typing import NDArray

from boundlab import tape as tapes
from boundlab.__about__ import __version__
from boundlab.delays import DELAYS, Renewal
from boundlab.delays.recorded import LARGEST_BUFFER, LONGEST_NAME, Recorded, read_csv, recorded, text_of
from boundlab.errors import SpecError
from boundlab.files import json_value, schema
from boundlab.options import LOG_FORMS, Default, Options, nearest, spec_of
from boundlab.randomness import Floats, Ints, Stream, Streams
from boundlab.result import Result
from boundlab.tape import Op, Tape, arrived

# A recorded trace in figures: rates, durations, staleness, and whether its events may be i.i.d.


# A test of whether the clients of a trace are drawn independently from one law.

_BLOCK = 16  # events a client after which the bettor on drift begins anew
_RANKED = 1000  # clients up to which ranks are counted


@final
@dataclass(frozen=True, slots=True)
class Departure:
    """The outcome of the test.

    Parameters
    ----------
    events, clients
        How long the sequence is, and of how many clients.
    level
        1 − α: a sequence of independent draws is called something else with a probability of at most α.
    wealth
        log10 of the largest wealth, of a stake of 1.
    crossed
        The number of events after which it was first 1/α or more, and they are not i.i.d.; None: it never was.
    on
        The bettor with the largest wealth then.
    """

    events: int
    clients: int
    level: float
    wealth: float
    crossed: int | None
    on: str

    def words(self, source: str) -> str:
        """Return what was found in the events of a file."""
        limit = f"{1.0 / (1.0 - self.level):.4g}"
        if self.crossed is None:
            return (
                f"a trace cannot prove that events are i.i.d.; the {self.events} events of {source} do not refute it "
                f"(wealth of at most {10.0**self.wealth:.3g}, and {limit} would)"
            )
        return (
            f"the events of {source} are not i.i.d.: a bet on {self.on} makes 10^{self.wealth:.3g} of 1, and {limit} "
            f"after {self.crossed} events, which i.i.d. events allow with probability ≤ {1.0 - self.level:.4g}"
        )

    def as_dict(self) -> dict[str, object]:
        """Return JSON-ready fields."""
        return {
            "iid": "not refuted" if self.crossed is None else "refuted",
            "events": self.events,
            "level": self.level,
            "log10_wealth": self.wealth,
            "crossed": self.crossed,
            "on": self.on,
        }


def departure(client: NDArray[np.int32], clients: int, time: Floats, level: float = Default.LEVEL) -> Departure:
    r"""Bet against the hypothesis that the clients x_1, x_2, … of a trace are i.i.d., whatever their law p is.

    Bettors predict the next client from those before: by the client ahead (a Markov chain), by how long ago each client
    was there (round robin, and clients that come in a row), and by the last few events (drift). Each mixes its
    probabilities over Dirichlet(1/2, …) laws (Krichevsky and Trofimov, 1981), and they share the stake equally: q(x_1 …
    x_t) is the product of the mixture's predictions. The wealth is that against the best i.i.d. law in hindsight,

    .. math:: E_t = q(x_1 … x_t) / \max_p \prod_{s ≤ t} p(x_s).

    It is the universal inference of Wasserman, Ramdas and Balakrishnan (PNAS, 2020). Under i.i.d. draws of any p, E_t ≤
    M_t = q(x_1 … x_t) / ∏ p(x_s), and M_t is a non-negative martingale of mean 1; so P(E_t ≥ 1/α for some t) ≤ α by
    Ville's inequality. Laws that are mixtures of i.i.d. ones, which is what exchangeable sequences have, are covered,
    too (Ramdas, Ruf, Larsson, Koolen, 2022).

    Parameters
    ----------
    client
        Shape (N,), N ≥ 1, in 0 … clients−1.
    time
        Shape (N,). The order of events at the same time is not known: they are shuffled, with a fixed seed.
    level
        1 − α.
    """
    count = len(client)
    x = client[np.lexsort((Streams(0).uniforms(Stream.EVENT, 0, 0, count)[0], time))].astype(np.int64)
    place = np.arange(count)
    ahead = np.concatenate([[clients], x[:-1]])
    bettors = {
        "the client ahead": _log_predictions(ahead, x, clients),
        "drift": _log_predictions(place // (_BLOCK * clients), x, clients),
    }
    if clients <= _RANKED:
        bettors["how long ago a client was there"] = _log_predictions(np.zeros_like(x), _ranks(x, clients), clients)
    seen = _before(x)
    gain: Floats = _entropy(seen + 1) - _entropy(seen)
    hindsight: Floats = np.cumsum(gain) - _entropy(place + 1)
    each = np.cumsum(list(bettors.values()), axis=1) - hindsight
    wealth = np.logaddexp.reduce(each, axis=0) - np.log(len(bettors))
    above = wealth >= -np.log(1.0 - level)
    crossed = int(np.argmax(above)) if above.any() else None
    best = int(np.argmax(each[:, np.argmax(wealth) if crossed is None else crossed]))
    return Departure(
        count,
        clients,
        level,
        float(max(wealth.max(), 0.0) / np.log(10.0)),
        None if crossed is None else crossed + 1,
        list(bettors)[best],
    )


def _log_predictions(context: Ints, symbol: Ints, symbols: int) -> Floats:
    """Return log of (times that the symbol followed its context + 1/2) / (times of the context + symbols/2)."""
    return np.log((_before(context * symbols + symbol) + 0.5) / (_before(context) + 0.5 * symbols))


def _before(code: Ints) -> Ints:
    """Return for each entry how many equal ones stand before it, shape (N,)."""
    order = np.argsort(code, kind="stable")
    grouped = code[order]
    first = np.concatenate([[True], grouped[1:] != grouped[:-1]])
    place = np.arange(len(code))
    found = np.empty(len(code), dtype=np.int64)
    found[order] = place - np.maximum.accumulate(np.where(first, place, 0))
    return found


def _ranks(x: Ints, clients: int) -> Ints:
    """Return the place of each client in the list of clients, of which the latest stands first."""
    latest: Final = list(range(clients))
    found = []
    for client in x.tolist():
        rank = latest.index(client)
        latest.insert(0, latest.pop(rank))
        found.append(rank)
    return np.array(found, dtype=np.int64)


def _entropy(count: Ints) -> Floats:
    """Return k·log k, 0 at 0."""
    known = count.astype(np.float64)
    return np.asarray(known * np.log(np.maximum(known, 1.0)))


@final
@dataclass(frozen=True, slots=True)
class Taken:
    """Times that updates took, in the order of arrival, M of them.

    Parameters
    ----------
    client, time, line
        Shape (M,): whose update, how long it took in units of time, and where it stands in the file.
    how
        Between which events.
    """

    client: NDArray[np.int32]
    time: Floats
    line: Ints
    how: str


def durations(record: Recorded) -> Taken:
    """Return dispatch to arrival where the dispatch is known, else the time since the client's update before.

    The first update of a client whose dispatch is unknown has no duration: nobody says when it was begun.
    """
    found = record.arrived
    order = np.lexsort((np.arange(len(found.time)), found.client))
    before = np.full(len(order), np.nan)
    same = found.client[order][1:] == found.client[order][:-1]
    before[order[1:][same]] = found.time[order[:-1][same]]
    given = ~np.isnan(found.dispatch)
    taken = found.time - np.where(given, found.dispatch, before)
    mixed = "dispatch to arrival where that is known, else " if given.any() else ""
    how = "dispatch to arrival" if given.all() else f"{mixed}between the updates of a client"
    known = np.flatnonzero(~np.isnan(taken))
    return Taken(found.client[known], taken[known], found.line[known], how)


def staleness(record: Recorded) -> tuple[Ints, str]:
    """Return the staleness of each arrival, shape (arrivals,), −1 where it is unknown, and how it was found."""
    found = record.arrived
    place = np.arange(len(found.time))
    if (found.staleness >= 0).any():
        return found.staleness, "as recorded"
    known, given = found.version >= 0, ~np.isnan(found.dispatch)
    both = known & given  # of these it is told when which version was handed out
    handed, when = found.version[both], found.dispatch[both]
    least, most = np.searchsorted(found.time, when), np.searchsorted(found.time, when, side="right")  # arrivals by then
    if known.any() and (found.version <= place).all() and (handed >= least).all():
        return (
            np.where(known, place - found.version, -1),
            "earlier arrivals minus the version read; right only if each arrival makes a new version",
        )
    if known.any() and given[known].all():
        for per in range(2, LARGEST_BUFFER + 1) if (np.diff(found.time) > 0.0).all() else ():
            if (least // per <= handed).all() and (handed <= most // per).all():
                return (
                    np.where(known, place // per - found.version, -1),
                    f"versions, of which every {per} arrivals make one",
                )
        order = np.argsort(when, kind="stable")
        latest = np.append(0, np.maximum.accumulate(handed[order]))
        met = latest[np.searchsorted(when[order], found.time)]
        return (
            np.where(known, np.maximum(met - found.version, 0), -1),
            "the latest version handed out before the arrival minus the version read",
        )
    if given.any():
        met = np.searchsorted(found.time, found.dispatch, side="right")
        return np.where(given, np.maximum(place - met, 0), -1), "client updates between dispatch and arrival"
    return np.full(len(place), -1), "not recorded"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class TraceSummary(Result):
    """A trace in figures.

    Parameters
    ----------
    record
        What was read.
    updates, lost
        Shape (n,): arrivals and lost updates of each device.
    durations
        How long updates took.
    tau, how
        Staleness of each arrival, −1 where it is unknown, and how it was found.
    events
        Whether the arriving clients may be i.i.d.
    """

    record: Recorded
    updates: Ints
    lost: Ints
    durations: Taken
    tau: Ints
    how: str
    events: Departure

    @property
    def span(self) -> tuple[float, float]:
        """The first and the last time in it."""
        return float(np.nanmin([self.record.time, self.record.dispatch])), float(np.nanmax(self.record.time))

    @property
    def known(self) -> Ints:
        """Staleness of the arrivals of which it is known."""
        return self.tau[self.tau >= 0]

    @property
    def rounds(self) -> int:
        """The number of times that updates share, where most do and none has two of a device; else 0."""
        found = self.record.arrived
        times, sizes = np.unique(found.time, return_counts=True)
        apart = len(np.unique(np.stack([found.time, found.client]), axis=1).T) == len(found.time)
        return len(times) if apart and 2 * int((sizes > 1).sum()) > len(times) > 1 else 0

    @property
    def rates(self) -> Floats:
        """Arrivals of each device in a unit of time, shape (n,), NaN where no time passes."""
        return self.updates / (self.span[1] or np.nan)

    def means(self) -> Floats:
        """Return the mean duration of each device, shape (n,), NaN where it has none."""
        count = np.bincount(self.durations.client, minlength=len(self.record.names))
        total = np.bincount(self.durations.client, self.durations.time, len(count))
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)

    def line(self) -> str:
        """Return how much there is in it, and how stale it is."""
        known = f", staleness of at most {self.known.max()}" if len(self.known) else ""
        return f"{self.record.source}: {len(self.record.names)} devices, {self.updates.sum()} updates{known}"

    def save(self, path: str | Path) -> None:
        """Write the normal form, which ``trace:file=…`` reads.

        Raises
        ------
        OutputError
            If the file cannot be written.
        """
        self.record.save(Path(path))

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        first, last = self.span
        return {
            "schema": schema("trace"),
            "boundlab": __version__,
            "file": self.record.source,
            "devices": list(self.record.names),
            "updates": self.updates.tolist(),
            "lost": self.lost.tolist(),
            "first": first,
            "last": last,
            "rates": json_value(self.rates) if last > 0.0 else None,
            "durations": {"how": self.durations.how, "means": json_value(self.means())},
            "staleness": {
                "how": self.how,
                "known": len(self.known),
                "mean": float(self.known.mean()) if len(self.known) else None,
                "max": int(self.known.max()) if len(self.known) else None,
            },
            "events": self.events.as_dict(),
            "notes": list(self.record.notes),
        }


def summary(record: Recorded) -> TraceSummary:
    """Return a trace in figures.

    Raises
    ------
    SpecError
        If nothing has arrived in it.
    """
    found = record.arrived
    if not len(found.time):
        raise SpecError(f"the trace {record.source} holds no arrivals")
    n = len(record.names)
    tau, how = staleness(record)
    return TraceSummary(
        record,
        np.bincount(found.client, minlength=n),
        np.bincount(record.client[record.lost], minlength=n),
        durations(record),
        tau,
        how,
        departure(found.client, n, found.time),
    )


# Laws of delays fitted to recorded durations: one shape for all clients, and a rate for each.

_ATOM = 1e-9  # relative distance up to which two durations are the same number
_DRAWS, _SAMPLE = 199, 2000  # of the bootstrap, and durations that it looks at
_SHAPES = (1e-3, 1e4)  # in which the shapes of gamma and Weibull laws are looked for


@final
@dataclass(frozen=True, slots=True)
class _Family:
    """A law of mean 1 with a shape s, times a mean for each client.

    Parameters
    ----------
    option
        What the delay model calls s; '' where there is none.
    shape
        shape(x, client) returns the most likely s for durations x, each of its client; NaN where no law of the family
        fits.
    means
        means(x, client, s) returns the most likely means for that s, shape (n,).
    log_density, distribution
        At z = x/mean, for s, shape (M,) each.
    """

    option: str
    shape: Callable[[Floats, Ints], float]
    means: Callable[[Floats, Ints, float], Floats]
    log_density: Callable[[Floats, float], Floats]
    distribution: Callable[[Floats, float], Floats]


def _averages(x: Floats, client: Ints) -> Floats:
    return np.bincount(client, x) / np.bincount(client)


def _extremes(x: Floats, client: Ints) -> tuple[Floats, Floats]:
    """Return the smallest and the largest duration of each client."""
    low, high = np.full(client.max() + 1, np.inf), np.zeros(client.max() + 1)
    np.minimum.at(low, client, x)
    np.maximum.at(high, client, x)
    return low, high


def _falls_to_zero(excess: Callable[[float], float], least: float) -> float:
    """Return the shape s at whose logarithm an excess falls through 0; NaN where it does not."""
    from scipy.optimize import brentq

    low, high = np.log((least, _SHAPES[1]))
    return float(np.exp(brentq(excess, low, high))) if excess(high) < 0.0 < excess(low) else np.nan


def _gamma_shape(x: Floats, client: Ints) -> float:
    """Solve log s − ψ(s) = the mean of log(mean_i/x)."""
    from scipy.special import digamma

    gap = float(np.mean(np.log(_averages(x, client)[client] / x)))

    return _falls_to_zero(lambda log_s: float(log_s - digamma(np.exp(log_s)) - gap), _SHAPES[0])


def _gamma_log(z: Floats, s: float) -> Floats:
    from scipy.special import gammaln

    return np.asarray(s * np.log(s) - gammaln(s) + (s - 1.0) * np.log(z) - s * z)


def _gamma_distribution(z: Floats, s: float) -> Floats:
    from scipy.special import gammainc

    return np.asarray(gammainc(s, s * z))


def _log_sd(x: Floats, client: Ints) -> float:
    logs = np.log(x)
    return float(np.sqrt(np.mean((logs - _averages(logs, client)[client]) ** 2)))


def _lognormal_distribution(z: Floats, s: float) -> Floats:
    from scipy.special import ndtr

    return np.asarray(ndtr(np.log(z) / s + 0.5 * s))


def _weibull_shape(x: Floats, client: Ints) -> float:
    """Solve 1/s = Σ x^s·log x/Σ x^s − mean of log x, each sum over one client, weighed by its durations."""
    # Relative to the largest duration of the client no power overflows.
    logs = np.log(x / _extremes(x, client)[1][client])
    count, mean = np.bincount(client), float(np.mean(logs))

    def excess(log_s: float) -> float:
        power = np.exp(np.exp(log_s) * logs)
        each = np.bincount(client, power * logs) / np.bincount(client, power)
        return float(np.exp(-log_s) - count @ each / len(x) + mean)

    return _falls_to_zero(excess, 0.1)


def _weibull_scale(s: float) -> float:
    from scipy.special import gamma

    return float(gamma(1.0 + 1.0 / s))


def _weibull_means(x: Floats, client: Ints, s: float) -> Floats:
    high = _extremes(x, client)[1]
    return np.asarray(high * _averages((x / high[client]) ** s, client) ** (1.0 / s) * _weibull_scale(s))


def _weibull_log(z: Floats, s: float) -> Floats:
    y = z * _weibull_scale(s)
    return np.asarray(np.log(s * _weibull_scale(s)) + (s - 1.0) * np.log(y) - y**s)


def _tail(x: Floats, client: Ints) -> float:
    """Return the tail index of Pareto laws that begin at each client's smallest duration; a mean needs one above 1."""
    mean = float(np.mean(np.log(x / _extremes(x, client)[0][client])))
    return 1.0 / mean if 0.0 < mean < 1.0 else np.nan


def _width(x: Floats, client: Ints) -> float:
    """Return the smallest half-width whose interval holds every client's durations."""
    low, high = _extremes(x, client)
    return float(np.max((high - low) / (high + low)))


_FAMILIES: Final[Mapping[str, _Family]] = {
    "exponential": _Family(
        "",
        lambda _x, _client: 1.0,
        lambda x, client, _s: _averages(x, client),
        lambda z, _s: -z,
        lambda z, _s: -np.expm1(-z),
    ),
    "uniform": _Family(
        "width",
        _width,
        lambda x, client, s: _extremes(x, client)[1] / (1.0 + s),
        lambda z, s: np.full(len(z), -np.log(2.0 * s)),
        lambda z, s: np.clip((z - 1.0 + s) / (2.0 * s), 0.0, 1.0),
    ),
    "gamma": _Family(
        "shape", _gamma_shape, lambda x, client, _s: _averages(x, client), _gamma_log, _gamma_distribution
    ),
    "lognormal": _Family(
        "log_sd",
        _log_sd,
        lambda x, client, s: np.exp(_averages(np.log(x), client) + 0.5 * s**2),
        lambda z, s: -0.5 * ((np.log(z) / s + 0.5 * s) ** 2 + np.log(2.0 * np.pi)) - np.log(s * z),
        _lognormal_distribution,
    ),
    "weibull": _Family(
        "shape",
        _weibull_shape,
        _weibull_means,
        _weibull_log,
        lambda z, s: -np.expm1(-((z * _weibull_scale(s)) ** s)),
    ),
    "pareto": _Family(
        "tail",
        _tail,
        lambda x, client, s: _extremes(x, client)[0] * s / (s - 1.0),
        lambda z, s: np.log(s) + s * np.log((s - 1.0) / s) - (s + 1.0) * np.log(z),
        lambda z, s: 1.0 - np.minimum((s - 1.0) / (s * z), 1.0) ** s,
    ),
}


@final
@dataclass(frozen=True, slots=True)
class FittedLaw:
    """One law, most likely.

    Parameters
    ----------
    law
        The id of the delay model.
    options
        Its options: ``rates``, and the shape.
    aic
        2·(number of parameters) − 2·log likelihood; −inf where every duration is a value that the law takes with
        positive probability.
    distance
        The Kolmogorov-Smirnov distance of all durations, each relative to its client's mean, to the law.
    """

    law: str
    options: Mapping[str, Any]
    aic: float
    distance: float

    @property
    def spec(self) -> str:
        """The delay model as it is typed."""
        return spec_of(self.law, self.options)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class DelayFit(Result):
    """Laws that were fitted to the durations of a trace, the best first.

    Parameters
    ----------
    source, names
        The file, and its devices: the i-th is client i.
    durations
        What was fitted.
    laws
        By AIC.
    p_value
        Of the distance of the best one, by the parametric bootstrap; None where durations are exactly
        the values of the law, or the sample is fitted by no law of its family.
    sample, draws
        How many durations, drawn from all, and how many bootstrap samples it rests on.
    """

    source: str
    names: tuple[str, ...]
    durations: Taken
    laws: tuple[FittedLaw, ...]
    p_value: float | None
    sample: int
    draws: int

    @property
    def best(self) -> FittedLaw:
        """The law with the smallest AIC."""
        return self.laws[0]

    def line(self) -> str:
        """Return the best, and whether it fits."""
        return self.best.spec if self.p_value is None else f"{self.best.spec}, p = {self.p_value:.3g}"

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready fields."""
        return {
            "schema": schema("delay-fit"),
            "boundlab": __version__,
            "file": self.source,
            "devices": list(self.names),
            "durations": len(self.durations.time),
            "how": self.durations.how,
            "spec": self.best.spec,
            "p_value": self.p_value,
            "sample": self.sample,
            "draws": self.draws,
            "laws": [
                {"spec": one.spec, "aic": one.aic if np.isfinite(one.aic) else None, "distance": one.distance}
                for one in self.laws
            ],
        }


def fit(record: Recorded) -> DelayFit:
    """Fit the built-in laws to the durations of a trace by maximum likelihood, and test the best.

    Durations count as independent. The test is a parametric bootstrap: the Kolmogorov-Smirnov distance of the fitted
    law, against those of samples from that law to which the same law is fitted in turn. So it allows for the
    parameters, one of which is a rate for each client; the distance of one half of the durations to a law fitted to the
    other would not, and calls true laws wrong.

    Raises
    ------
    SpecError
        If a device has fewer than two durations, or one is 0.
    """
    given = durations(record)
    x, client, n = given.time, given.client.astype(np.int64), len(record.names)
    few = np.bincount(client, minlength=n) < 2
    if few.any():
        raise SpecError(
            f"the trace {record.source} has fewer than two durations of {record.names[int(np.argmax(few))]}"
        )
    if (x <= 0.0).any():
        line = given.line[int(np.argmax(x <= 0.0))]
        raise SpecError(f"trace {record.source}, line {line}: a duration of 0 has no rate; times must be finer")
    if (atoms := _atoms(x, client)) is not None:
        return DelayFit(record.source, record.names, given, (atoms,), None, len(x), 0)
    found = [one for name in _FAMILIES if (one := _fitted(name, x, client)) is not None]
    if not found:
        raise SpecError(
            f"the trace {record.source} has durations that no law of delays takes: choose another unit of time"
        )
    laws = tuple(sorted(found, key=lambda one: one.aic))
    p_value, sample = _p_value(laws[0].law, x, client)
    return DelayFit(record.source, record.names, given, laws, p_value, sample, _DRAWS)


def _fitted(name: str, x: Floats, client: Ints) -> FittedLaw | None:
    """Return the most likely law of a family; None where there is none with a mean."""
    family = _FAMILIES[name]
    s = family.shape(x, client)
    if not 0.0 < s < np.inf:
        return None
    means = family.means(x, client, s)
    z = x / means[client]
    likelihood = float(np.sum(family.log_density(z, s) - np.log(means[client])))
    options = {"rates": (1.0 / means).tolist(), **({family.option: s} if family.option else {})}
    try:
        _model(name, options, len(means))
    except SpecError:  # a shape that the delay model does not take
        return None
    parameters = len(means) + bool(family.option)
    return FittedLaw(name, options, 2.0 * (parameters - likelihood), _distance(family.distribution(z, s)))


def _distance(u: Floats) -> float:
    """Return the Kolmogorov-Smirnov distance to the uniform law."""
    count, ordered = len(u), np.sort(u)
    steps = np.arange(count + 1) / count
    return float(max(np.max(steps[1:] - ordered), np.max(ordered - steps[:-1])))


def _atoms(x: Floats, client: Ints) -> FittedLaw | None:
    """Return the law of durations that take one value, or two with a common quotient; None where they do not."""
    low, _ = _extremes(x, client)
    slow = x > low[client] * (1.0 + _ATOM)
    if not slow.any():
        return FittedLaw("deterministic", {"rates": (1.0 / _averages(x, client)).tolist()}, -np.inf, 0.0)
    factors = (x / low[client])[slow]
    factor, share = float(np.mean(factors)), float(np.mean(slow))
    # A client that is always fast, or always slow, is one of these.
    both = np.bincount(client[slow], minlength=len(low)) > 0
    if not both.all() or np.ptp(factors) > _ATOM * factor:
        return None
    rates = 1.0 / (low * (1.0 + share * (factor - 1.0)))
    return FittedLaw("two-speed", {"rates": rates.tolist(), "slow": share, "factor": factor}, -np.inf, 0.0)


def _model(name: str, options: Mapping[str, Any], clients: int) -> Renewal:
    kind = next(one for one in DELAYS if one.id == name)
    return cast("Renewal", kind.build(Options(f"delays {name}", options), clients))


def _p_value(name: str, x: Floats, client: Ints) -> tuple[float | None, int]:
    """Return the p-value of the distance to the fitted law, None without one, and on how many durations it rests."""
    streams = Streams(0)
    if len(x) > _SAMPLE:
        kept = np.argsort(streams.uniforms(Stream.BOOTSTRAP, 0, 0, len(x))[0], kind="stable")[:_SAMPLE]
        x, client = x[kept], np.unique(client[kept], return_inverse=True)[1].astype(np.int64)
    seen = _fitted(name, x, client)
    if seen is None:
        return None, len(x)
    law = _model(name, seen.options, int(client.max()) + 1).law
    updates = np.arange(len(x))
    as_far = 0
    for draw in range(1, _DRAWS + 1):
        u = Streams(0, draw).uniforms(Stream.DELAY, np.zeros_like(updates), updates, law.uniforms)
        again = _fitted(name, law.durations(u, client), client)
        as_far += again is None or again.distance >= seen.distance
    return (1.0 + as_far) / (1.0 + _DRAWS), len(x)


# Logs of other systems as traces: tables, and APPFL's simulator of virtual time in its two layouts.
#
# The page is docs/data.md#traces-the-delays-of-your-system.


_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
# Before the columns: a clock and a level in files, the logger's name on a console.
_HEAD: Final = re.compile(r"^(?:appfl: .*?)?\[\d\d:\d\d:\d\d vsim\](?: +[A-Z]+ |: )")
_OLD: Final = re.compile(r"\[vt= *(\S+)\] +(START|DONE) +(\S+) +(.*)")
_PAIR: Final = re.compile(r"(epoch|staleness)= *(\S+)")


@final
class _VirtualTimeLog:
    """Updates between their start and their end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[dict[str, Any]] = []
        self.open: dict[str, dict[str, Any]] = {}
        self.version: int | None = None

    def start(self, line: int, time: str, client: str) -> None:
        """Hand the model to a client; what it was working on is lost."""
        row = {"line": line, "client": client, "dispatch": self._number(line, time)}
        if client in self.open:
            self.rows.append({**self.open[client], "lost": True, "time": row["dispatch"]})
        self.open[client] = row

    def done(self, line: int, time: str, client: str, epoch: str, staleness: str) -> None:
        """Take the client's update: it met the version before ``epoch``, or the same where that update made none."""
        if not (epoch.isdecimal() and staleness.isdecimal() and max(len(epoch), len(staleness)) < 16):
            self.refuse(line, f"epoch and staleness must be whole numbers, got {epoch[:30]!r} and {staleness[:30]!r}")
        after, stale = int(epoch), int(staleness)
        before = 0 if self.version is None else self.version
        if after < before or stale > after:
            what = f"epoch {after} after {before}" if after < before else f"staleness {stale} of {after} versions"
            self.refuse(line, f"versions of the server count up from 0, got {what}")
        # Versions that no line shows, as where a log begins in the middle, leave open which one the update met.
        met = before if stale <= before and after <= before + 1 else None
        self.version = after
        row = self.open.pop(client, {"client": client})
        found = {**row, "line": line, "time": self._number(line, time), "staleness": stale}
        if found["time"] < row.get("dispatch", 0.0):
            self.refuse(line, f"client {client[:30]} is done at {time[:30]}, before its start at {row['dispatch']:g}")
        self.rows.append(found if met is None else {**found, "version": met - stale})

    def _number(self, line: int, text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0.0 <= value < float("inf"):
            self.refuse(line, f"the virtual time must be a number ≥ 0, got {text[:30]!r}")
        return value

    def refuse(self, line: int, why: str) -> NoReturn:
        """Raise the error of a line."""
        raise SpecError(f"trace {self.path}, line {line}: {why}")


def read_appfl(path: Path) -> Recorded:
    """Read a log: START is a dispatch, DONE an arrival, and all other lines are passed over.

    Raises
    ------
    SpecError
        Naming the file and the line; or if no update is done in it.
    """
    work = _VirtualTimeLog(path)
    for number, line in enumerate(text_of(path).splitlines(), 1):
        for kind, *words in _events(_COLOUR.sub("", line)):
            if len(words[1]) > LONGEST_NAME:
                work.refuse(number, f"a client has a name of {len(words[1])} letters; at most {LONGEST_NAME} are taken")
            if kind == "START":
                work.start(number, *words[:2])
            elif len(words) < 4:
                work.refuse(number, "DONE needs a time, a client, an epoch and a staleness")
            else:
                work.done(number, *words[:4])
    if not any("time" in row and not row.get("lost") for row in work.rows):
        raise SpecError(f"the trace {path} has no line of the simulator of APPFL with DONE; a table is read as csv")
    left = len(work.open)
    notes = [f"{left} updates were in work at the end and are left out"] if left else []
    return recorded(str(path), work.rows, notes).in_order(clock=False)


def _events(line: str) -> Iterator[list[str]]:
    """Yield START or DONE, time, client, and of DONE also epoch and staleness; nothing for another line."""
    if old := _OLD.search(line):
        time, kind, client, rest = old.groups()
        yield [kind, time, client, *(dict(_PAIR.findall(rest)).get(key, "") for key in ("epoch", "staleness"))]
    elif head := _HEAD.match(line):
        words = line[head.end() :].split()
        if len(words) >= 3 and words[1] in ("START", "DONE"):
            yield [words[1], words[0], *words[2:]]


def read_log(path: Path, form: str = "csv", columns: Mapping[str, str] | None = None) -> Recorded:
    """Read the log of some system.

    Parameters
    ----------
    form
        ``csv``, or ``appfl``: the simulator of virtual time of APPFL.
    columns
        Of ``csv``: key of :data:`boundlab.delays.recorded.COLUMNS` → what the file calls it.

    Raises
    ------
    SpecError
        Naming the file and the line.
    """
    if form not in LOG_FORMS:
        raise SpecError(f"a log is read as one of {', '.join(LOG_FORMS)}, got {form!r}; {nearest(form, LOG_FORMS)}")
    if form == "appfl":
        if columns:
            raise SpecError("names of columns are those of a table, which is read as csv")
        return read_appfl(path)
    return read_csv(path, columns, log=True)[0]


# A run as a trace: what its tape says of arrivals, and of what they had read.


def of_tape(tape: Tape, source: str) -> Recorded:
    """Return the updates that arrive in a run, with what the tape knows of each.

    Raises
    ------
    SpecError
        If nothing arrives: ``source`` then says which run it is.
    """
    descend, rows = tape.descend, arrived(tape)
    if not rows.size:
        raise SpecError(f"{source} has no arrivals of clients that a trace could record")
    begun = np.empty(len(descend.arrival), dtype=np.int64)
    steps = tape.op == Op.DESCEND.value
    begun[tape.row[steps]] = tape.event[steps]
    time = np.append(tape.events.time, 0.0)  # what is begun before all events has the event −1
    columns = {
        "client": [str(one) for one in descend.client[rows].tolist()],
        "time": time[descend.arrival[rows]].tolist(),
        "dispatch": time[begun[rows]].tolist(),
        "version": descend.version[rows].tolist(),
        "steps": descend.steps[rows].tolist(),
        "staleness": tapes.staleness(tape).tolist(),
    }
    return recorded(source, [dict(zip(columns, one, strict=True)) for one in zip(*columns.values(), strict=True)])
