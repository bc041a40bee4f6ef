"""A test of whether the clients of a trace are drawn independently from one law."""

from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from boundlab.options import Default
from boundlab.randomness import Stream, Streams

_BLOCK = 16  # events a client after which the bettor on drift begins anew
_RANKED = 1000  # clients up to which ranks are counted

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


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
        The number of events after which it was first 1/α or more; None: it never was.
    on
        The bettor with the largest wealth then.
    """

    events: int
    clients: int
    level: float
    wealth: float
    crossed: int | None
    on: str

    @property
    def found(self) -> bool:
        """True if the events are not i.i.d."""
        return self.crossed is not None

    def words(self, source: str) -> str:
        """Return what was found in the events of a file."""
        limit = f"{1.0 / (1.0 - self.level):.4g}"
        if self.crossed is None:
            return (
                f"no departure from i.i.d. was found in the {self.events} events of {source} (wealth of at most "
                f"{10.0**self.wealth:.3g}, {limit} would show one), but one trace cannot show that there is none"
            )
        return (
            f"the events of {source} are not i.i.d.: a bet on {self.on} makes 10^{self.wealth:.3g} of 1, and {limit} "
            f"after {self.crossed} events, which i.i.d. events allow with probability ≤ {1.0 - self.level:.4g}"
        )

    def as_dict(self) -> dict[str, object]:
        """Return JSON-ready fields."""
        return {
            "iid": "refuted" if self.found else "not refuted",
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
    largest = float(max(wealth.max(), 0.0) / np.log(10.0))
    return Departure(count, clients, level, largest, None if crossed is None else crossed + 1, list(bettors)[best])


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
