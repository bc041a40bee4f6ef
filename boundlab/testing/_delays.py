"""All checks of one delay model.

A mean of m times between updates is held against 1/rate with the standard error of block means, which knows what
successive times have to do with each other, and with what a heavy tail hides: times beyond the largest one of m have a
mean share of about a/(a − 1)·(largest)/m, where a is the tail index that Hill's estimate reads off the largest ones.
Under a tail without variance that is wide, and the law's quantiles say more.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms.example_options import words
from boundlab.delays import DelayModel, DelayType, Renewal
from boundlab.errors import SpecError
from boundlab.events import SERVER, Events
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.testing._check import Check, equal, expect, named, of_example, reads_declared, rebuilt, spoken
from boundlab.testing._schedule import same_events

Floats = NDArray[np.float64]
_CLIENTS = 3
_SEED = 5
_FEW, _MANY = 30, 300  # events
_SERVER_RATE = 0.7
_OUTLIER = 7.0  # standard deviations of a Poisson count
_LONG_SEED = 6
_START, _LARGEST = 1 << 13, 1 << 18  # events
_BLOCKS = 64
_HEAVIEST = 1.05  # tail index
_ERRORS = 6.0  # standard errors: once in 10⁷ for 64 normal block means
_SEEN = 0.05  # the smallest error of a rate that a run should show
_FALSE_ALARM = 1e-9
_PAIRS = 1 << 15  # events of two and two


def checks(m: DelayModel | DelayType, family: DelayType | None = None) -> Iterator[Check]:
    """Return the checks of a model, or those of all examples of a law.

    Parameters
    ----------
    family
        What builds the model from options; None: what is registered under its id.
    """
    who = f"delays {m.id}"
    if isinstance(m, DelayModel):
        yield from _of_model(who, m, lookup("delays", m.id) if family is None else family)
        return
    yield from named(who, {"options are read as they are declared": _options}, m)
    for example in m.examples:
        name = f"{who} with {words(example)}" if example else who
        yield from of_example(name, Options(who, dict(example)), m, _of_model, _CLIENTS)


def _of_model(who: str, m: DelayModel, family: DelayType) -> Iterator[Check]:
    yield from named(who, {"its spec rebuilds it": _round_trip}, m, family)
    yield from named(who, _CHECKS, m)


def _options(family: DelayType) -> None:
    """Check that what is read is declared, and that nothing else is taken."""
    spoken(family, "id", "summary")
    for example in family.examples:
        with suppress(SpecError):  # which has a check of its own
            reads_declared(f"delays {family.id}", lambda given: family.build(given, _CLIENTS), example, family.options)


def _round_trip(m: DelayModel, family: DelayType) -> None:
    """Check that spec() is JSON and rebuilds the same model."""
    _, again = rebuilt(f"delays {m.id}", m, lambda options: family.build(options, m.n))
    equal("the rates of the model that spec() rebuilds and its own", again.rates(), m.rates(), rounding=0.0)
    same_events("the model that spec() rebuilds", _events(again, _FEW), _events(m, _FEW))


def _begins(m: DelayModel) -> None:
    """Check times, clients and their number; that a trial repeats itself; and that more events begin with the same."""
    time, actor = m.arrivals_of(Streams(_SEED), _MANY)
    expect(len(time) == len(actor) == _MANY, f"{len(time)} events are sampled where {_MANY} are asked for")
    expect(np.isfinite(time).all() and (time >= 0.0).all(), "times must be finite and ≥ 0")
    expect((np.diff(time) >= 0.0).all(), "times must not decrease")
    within = (actor >= SERVER) & (actor < m.n)
    expect(within.all(), f"there is an event of client {actor[~within][:1]} of {m.n}")
    same_events("the same trial once more", _events(m, _MANY), Events(time, actor))
    same_events("a longer trial", Events(time, actor).head(_FEW), _events(m, _FEW))


def _events(m: DelayModel, count: int) -> Events:
    """Return the first events of the trial that is looked at."""
    return Events(*m.arrivals_of(Streams(_SEED), count))


def _served(m: DelayModel) -> None:
    """Check that the server's own aggregations come at their rate, and that more events begin with the same ones."""
    try:
        events, short = (m.sample(Streams(_SEED), count, _SERVER_RATE) for count in (_MANY, _FEW))
    except SpecError:
        return  # it brings the server's events, or ends
    same_events("a longer trial with a server", events.head(_FEW), short)
    count, mean = int((events.actor == SERVER).sum()), _SERVER_RATE * float(events.time[-1])
    near = abs(count - mean) <= _OUTLIER * (np.sqrt(mean) + 1.0)
    said = f"{count} aggregations at rate {_SERVER_RATE} until time {events.time[-1]:.4g}"
    expect(near, f"{said}; {mean:.4g} are due")


def _clock(m: DelayModel) -> None:
    """Check that clients that begin anew whenever they arrive do so at the times of a sample."""
    time, actor = m.arrivals_of(Streams(_SEED), _MANY)
    for client in range(m.n):
        due, clock, now, found = time[actor == client], m.clock(Streams(_SEED)), 0.0, []
        for _ in due:
            now = clock.arrival(client, now)
            found.append(now)
        equal(f"arrivals of client {client} by clock() and in a sample", np.array(found), due)


def _counts(m: DelayModel) -> None:
    """Check the rates against counts, in a run that is long enough for the law's own variance."""
    rates = m.rates()
    expect(np.shape(rates) == (m.n,), f"rates() has shape {np.shape(rates)}, not (n,) = ({m.n},)")
    expect(np.isfinite(rates).all() and (rates > 0.0).all(), f"rates() must be finite and > 0, got {rates}")
    expect(len(m.how_rates.split()) > 0, "how_rates does not say where the rates come from")
    count = _START
    while True:
        time, actor = _sample(m, count)
        means, errors = _gaps(time, actor, m.n)
        if (_ERRORS * errors <= _SEEN).all() or len(time) < count or count >= _LARGEST:
            break
        count *= 4
    for client in range(m.n):
        size = int((actor == client).sum())
        # The ends of a finite trace cut two times short.
        room = _ERRORS * errors[client] + 2.0 / size + 1e-9
        expect(
            abs(means[client] * rates[client] - 1.0) <= room,
            f"rates() says {rates[client]:.6g} updates of client {client} per unit of time; {size} of them come "
            f"at {1.0 / means[client]:.6g} ± {100.0 * room:.2g} %",
        )


def _sample(m: DelayModel, count: int) -> tuple[Floats, NDArray[np.int32]]:
    """Return so many events, or as many as there are."""
    while True:
        try:
            return m.arrivals_of(Streams(_LONG_SEED), count)
        except SpecError:
            expect(count > 1, "no event can be sampled")
            count = count * 3 // 4


def _gaps(time: Floats, actor: NDArray[np.int32], n: int) -> tuple[Floats, Floats]:
    """Return the mean time between updates of each client, and its relative error; shape (n,) each."""
    means, errors = np.empty(n), np.full(n, np.inf)
    for client in range(n):
        gaps = np.diff(time[actor == client])
        means[client] = gaps.mean() if len(gaps) else np.inf
        if len(gaps) >= 4 * _BLOCKS:
            blocks = np.array([block.mean() for block in np.array_split(gaps, _BLOCKS)])
            errors[client] = (blocks.std(ddof=1) / math.sqrt(_BLOCKS) + _hidden(gaps)) / means[client]
    return means, errors


def _hidden(gaps: Floats) -> float:
    """Return the part of the mean that lies beyond the largest of these times, by Hill's estimate of their tail."""
    large = np.sort(gaps)[-math.isqrt(len(gaps)) :]
    spread = float(np.log(large / large[0]).mean()) if large[0] > 0.0 else 0.0
    index = max(1.0 / spread, _HEAVIEST) if spread > 0.0 else math.inf
    return float(large[-1]) / len(gaps) / (1.0 - 1.0 / index) if spread > 0.0 else 0.0


def _quantiles(m: DelayModel) -> None:
    """Check the rates of a renewal model against the integral of its quantiles, heavy tails and all."""
    if not isinstance(m, Renewal) or m.law.uniforms != 1:
        return
    for client, rate in enumerate(m.rates().tolist()):
        coarse, fine = (_mean(m, client, nodes) for nodes in (20_001, 40_001))
        room = 1e-6 + 4.0 * abs(fine / coarse - 1.0)
        said = f"rates() says {rate:.6g} updates of client {client} per unit of time; the mean of its quantiles says"
        expect(room >= _SEEN or abs(fine * rate - 1.0) <= room, f"{said} {1.0 / fine:.6g}")


def _mean(m: Renewal, client: int, nodes: int) -> float:
    """Integrate the quantiles by the double exponential rule, whose nodes crowd at both ends."""
    t = np.linspace(-6.0, 6.0, nodes)
    u = np.clip(1.0 / (1.0 + np.exp(-math.pi * np.sinh(t))), 1e-300, 1.0 - 2.0**-53)
    weight = math.pi * np.cosh(t) * u * (1.0 - u) * (t[1] - t[0])
    return float(weight @ m.law.durations(u[:, None], np.full(nodes, client)) / weight.sum())


def _memory(m: DelayModel) -> None:
    """Check what is called memoryless: who comes next does not depend on who came, nor the time on anything.

    Hoeffding's inequality for pairs of events, and that of Dvoretzky, Kiefer and Wolfowitz for times; each fails a true
    claim at most once in 10⁹.
    """
    said = m.memoryless
    expect(isinstance(said, str) and (not said or len(said.split()) > 3), "memoryless must be '' or a sentence")
    if said:
        return
    time, actor = _sample(m, 2 * _PAIRS)
    rates = m.rates()
    p = rates / rates.sum()
    clients = actor[actor >= 0]
    first, second = clients[: len(clients) // 2 * 2].reshape(-1, 2).T
    room = math.sqrt(math.log(2.0 * m.n**2 / _FALSE_ALARM) / (2.0 * len(first)))
    for i, j in np.ndindex(m.n, m.n):
        share, due = float(((first == i) & (second == j)).mean()), p[i] * p[j]
        found = f"client {j} follows client {i} in a share of {share:.4g} of pairs, and p_{i}·p_{j} is {due:.4g}"
        expect(abs(share - due) <= room, f"it is called memoryless, but {found}")
    gaps = np.sort(np.diff(time, prepend=0.0))
    if np.allclose(gaps, gaps[0], rtol=1e-9):
        return  # one event a slot: the theorems' own model
    law = -np.expm1(-gaps * rates.sum())
    off = float(np.abs(law - (np.arange(len(gaps)) + 0.5) / len(gaps)).max())
    room = math.sqrt(math.log(2.0 / _FALSE_ALARM) / (2.0 * len(gaps))) + 1.0 / len(gaps)
    found = f"the times between events are {off:.3g} off the exponential law in distribution"
    expect(off <= room, f"it is called memoryless, but {found}")


_CHECKS: Mapping[str, Callable[[DelayModel], None]] = {
    "trials repeat themselves, and more events begin with the same ones": _begins,
    "a server of its own comes at its rate": _served,
    "a clock hands out the same times": _clock,
    "rates are long-run counts": _counts,
    "rates are those of the law's quantiles": _quantiles,
    "what is memoryless is independent of its past": _memory,
}
