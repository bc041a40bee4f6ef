"""Checks of stochastic gradients: whose they are, their mean, and how large they are.

Means of what is never negative are held against their claimed upper limit by betting: the capital of a player who bets
that the mean is larger is a martingale at best, and reaches 10⁶ at most once in 10⁶ cases, whatever the law is (Ville).
The mean of the noise itself is held against its variance by Chebyshev's inequality.
"""

from typing import Any

import numpy as np

from boundlab.objective import Oracle
from boundlab.randomness import Streams
from boundlab.testing._check import equal, expect
from boundlab.testing._sample import Floats, SamplePoints, norms

_DRAWS = 1500
_CAPITAL = 1e6
_STAKES = (0.5, 0.2, 0.1, 0.05, 0.02)
_CHEBYSHEV = 200.0  # one over the rate of false alarms, for each client


def repeats(at: SamplePoints) -> None:
    """Check that an oracle repeats itself for one seed, however it is asked; and that one without noise has none."""
    p, x, room = at.problem, at.points[-1], at.steepest + at.size
    for client in range(p.n):
        end = _drawn(at, client, range(p.n))
        equal(f"two steps of client {client} from one point with one seed", end, _drawn(at, client, range(p.n)))
        what = f"the step of an update of client {client}, drawn among others and alone"
        equal(what, end, _drawn(at, client, range(client, client + 1)))
        half = _drawn(at, client, range(p.n), 0.5)
        equal(f"half a step of client {client} and the half of a step", half - x, 0.5 * (end - x), scale=room)
        known = x - at.gradients[client, -1]
        if p.sign_noise is not None:
            sign = 1.0 if (known - end) @ p.sign_noise > 0.0 else -1.0
            what = f"a step of the oracle and x − gradient({client}, x) ± sign_noise"
            equal(what, end, known - sign * p.sign_noise, scale=at.steepest)
        if p.noiseless:
            equal(f"a step of the oracle without noise and x − gradient({client}, x)", end, known, scale=at.steepest)


def _drawn(at: SamplePoints, client: int, among: range, size: float = 1.0) -> Floats:
    """Return the end of a client's step in a new oracle that is asked for the updates of some clients."""
    oracle, clients = at.problem.oracle(Streams(3)), np.array(among)
    return _step(oracle, at, client, oracle.draws(clients, clients + 2, 2)[among.index(client)][0], size)


def moments(at: SamplePoints) -> None:
    """Check that stochastic gradients are unbiased, their variance is at most sigma², and their square at most G²."""
    p, known = at.problem, at.known
    if p.noiseless or "sigma" not in known:
        return
    sigma = known["sigma"]
    expect(sigma > 0.0, "sigma is 0, and its oracle is not that of full gradients")
    oracle = p.oracle(Streams(29))
    for client in range(p.n):
        draws = oracle.draws(np.full(_DRAWS, client), np.arange(_DRAWS), 1)
        steps = np.array([at.points[-1] - _step(oracle, at, client, draws[j][0], 1.0) for j in range(_DRAWS)])
        noise = steps - at.gradients[client, -1]
        off, room = norms(noise.mean(axis=0)), sigma * np.sqrt(_CHEBYSHEV / _DRAWS)
        words = f"the mean of {_DRAWS} stochastic gradients of client {client} is {off:.4g} off its gradient"
        expect(off <= room, f"{words}; with sigma = {sigma:.4g} it should be less than {room:.4g}")
        _bet(f"E‖g_{client} − ∇f_{client}‖² ≤ sigma²", (noise**2).sum(axis=1), sigma**2)
        if "G" in known:
            _bet(f"E‖g_{client}‖² ≤ G²", (steps**2).sum(axis=1), known["G"] ** 2)


def _step(oracle: Oracle, at: SamplePoints, client: int, draw: Any, size: float) -> Floats:
    """Return where a step from the last point of the sample ends."""
    x = np.array(at.points[-1], dtype=np.float64)
    oracle.step(x, client, draw, size)
    return x


def _bet(what: str, found: Floats, limit: float) -> None:
    """Refute, by a bet against it, that the mean of what is never negative is at most a limit."""
    with np.errstate(over="ignore"):
        capital = np.mean([np.exp(np.log1p(stake * (found / limit - 1.0)).sum()) for stake in _STAKES])
    expect(capital < _CAPITAL, f"{what} fails: the mean of {len(found)} draws is {found.mean():.6g}, above {limit:.6g}")
