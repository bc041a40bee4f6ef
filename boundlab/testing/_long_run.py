"""Long-run behaviour of a delay model: rates, and whether it has a memory.

A mean of m times between updates is held against 1/rate with the standard error of block means, which knows what
successive times have to do with each other, and with what a heavy tail hides: times beyond the largest one of m have a
mean share of about a/(a − 1)·(largest)/m, where a is the tail index that Hill's estimate reads off the largest ones.
Under a tail without variance that is wide, and the law's quantiles say more.
"""

import math

import numpy as np
from numpy.typing import NDArray

from boundlab.delays import DelayModel, Renewal
from boundlab.errors import SpecError
from boundlab.randomness import Streams
from boundlab.testing._agree import expect

Floats = NDArray[np.float64]
_SEED = 6
_START, _LARGEST = 1 << 13, 1 << 18  # events
_BLOCKS = 64
_HEAVIEST = 1.05  # tail index
_ERRORS = 6.0  # standard errors: once in 10⁷ for 64 normal block means
_SEEN = 0.05  # the smallest error of a rate that a run should show
_FALSE_ALARM = 1e-9
_PAIRS = 1 << 15  # events of two and two


def counts(who: str, m: DelayModel) -> None:
    """Check the rates against counts, in a run that is long enough for the law's own variance."""
    rates = m.rates()
    expect(np.shape(rates) == (m.n,), f"{who}: rates() has shape {np.shape(rates)}, not (n,) = ({m.n},)")
    expect(
        bool(np.isfinite(rates).all() and (rates > 0.0).all()), f"{who}: rates() must be finite and > 0, got {rates}"
    )
    expect(len(m.how_rates.split()) > 0, f"{who}: how_rates does not say where the rates come from")
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
        found = 1.0 / means[client]
        expect(
            abs(means[client] * rates[client] - 1.0) <= room,
            f"{who}: rates() says {rates[client]:.6g} updates of client {client} per unit of time; {size} of them come "
            f"at {found:.6g} ± {100.0 * room:.2g} %",
        )


def _sample(m: DelayModel, count: int) -> tuple[Floats, NDArray[np.int32]]:
    """Return so many events, or as many as there are."""
    while True:
        try:
            return m.arrivals_of(Streams(_SEED), count)
        except SpecError:
            expect(count > 1, f"delays {m.id}: no event can be sampled")
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


def quantiles(who: str, m: DelayModel) -> None:
    """Check the rates of a renewal model against the integral of its quantiles, heavy tails and all."""
    if not isinstance(m, Renewal) or m.law.uniforms != 1:
        return
    rates = m.rates()
    for client in range(m.n):
        coarse, fine = (_mean(m, client, nodes) for nodes in (20_001, 40_001))
        room = 1e-6 + 4.0 * abs(fine / coarse - 1.0)
        if room < _SEEN:
            expect(
                abs(fine * rates[client] - 1.0) <= room,
                f"{who}: rates() says {rates[client]:.6g} updates of client {client} per unit of time; the mean of its "
                f"quantiles says {1.0 / fine:.6g}",
            )


def _mean(m: Renewal, client: int, nodes: int) -> float:
    """Integrate the quantiles by the double exponential rule, whose nodes crowd at both ends."""
    t = np.linspace(-6.0, 6.0, nodes)
    u = np.clip(1.0 / (1.0 + np.exp(-math.pi * np.sinh(t))), 1e-300, 1.0 - 2.0**-53)
    weight = math.pi * np.cosh(t) * u * (1.0 - u) * (t[1] - t[0])
    return float(weight @ m.law.durations(u[:, None], np.full(nodes, client)) / weight.sum())


def memory(who: str, m: DelayModel) -> None:
    """Check what is called memoryless: who comes next does not depend on who came, nor the time on anything.

    Hoeffding's inequality for pairs of events, and that of Dvoretzky, Kiefer and Wolfowitz for times; each fails a true
    claim at most once in 10⁹.
    """
    said = m.memoryless
    expect(isinstance(said, str) and (not said or len(said.split()) > 3), f"{who}: memoryless must be '' or a sentence")
    if said:
        return
    time, actor = _sample(m, 2 * _PAIRS)
    rates = m.rates()
    p = rates / rates.sum()
    clients = actor[actor >= 0]
    first, second = clients[: len(clients) // 2 * 2].reshape(-1, 2).T
    room = math.sqrt(math.log(2.0 * m.n**2 / _FALSE_ALARM) / (2.0 * len(first)))
    for i in range(m.n):
        for j in range(m.n):
            share = float(((first == i) & (second == j)).mean())
            due = p[i] * p[j]
            words = f"client {j} follows client {i} in a share of {share:.4g} of pairs, and p_{i}·p_{j} is {due:.4g}"
            expect(abs(share - due) <= room, f"{who}: it is called memoryless, but {words}")
    gaps = np.sort(np.diff(time, prepend=0.0))
    if np.allclose(gaps, gaps[0], rtol=1e-9):
        return  # one event a slot: the theorems' own model
    law = -np.expm1(-gaps * rates.sum())
    off = float(np.abs(law - (np.arange(len(gaps)) + 0.5) / len(gaps)).max())
    room = math.sqrt(math.log(2.0 / _FALSE_ALARM) / (2.0 * len(gaps))) + 1.0 / len(gaps)
    words = f"the times between events are {off:.3g} off the exponential law in distribution"
    expect(off <= room, f"{who}: it is called memoryless, but {words}")
