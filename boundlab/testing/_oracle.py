"""Checks of stochastic gradients: whose they are, their mean, and how large they are.

Means of what is never negative are held against their claimed upper limit by betting: the capital of a player who bets
that the mean is larger is a martingale at best, and reaches 10⁶ at most once in 10⁶ cases, whatever the law is (Ville).
The mean of the noise itself is held against its variance by Chebyshev's inequality.
"""

from typing import Any

import numpy as np

from boundlab.objective import Oracle
from boundlab.randomness import Streams
from boundlab.testing._agree import equal, expect
from boundlab.testing._sample import Floats, SamplePoints

_DRAWS = 1500
_CAPITAL = 1e6
_STAKES = (0.5, 0.2, 0.1, 0.05, 0.02)
_CHEBYSHEV = 200.0  # one over the rate of false alarms, for each client


def repeats(at: SamplePoints) -> None:
    """Check that an oracle repeats itself for one seed, however it is asked; and that one without noise has none."""
    p = at.problem
    clients, updates = np.arange(p.n), np.arange(p.n, dtype=np.int64) + 2
    together = p.oracle(Streams(3)), p.oracle(Streams(3))
    draws = [oracle.draws(clients, updates, 2) for oracle in together]
    for client in range(p.n):
        ends = [_step(oracle, at, client, draw[client][0], 1.0) for oracle, draw in zip(together, draws, strict=True)]
        equal(f"{at.who}: two steps of client {client} from one point with one seed", ends[0], ends[1])
        single = p.oracle(Streams(3))
        alone = _step(
            single, at, client, single.draws(clients[client : client + 1], updates[client : client + 1], 2)[0][0], 1.0
        )
        what = f"{at.who}: the step of an update of client {client}, drawn among others and alone"
        equal(what, ends[0], alone)
        half = _step(together[0], at, client, draws[0][client][0], 0.5)
        what = f"{at.who}: half a step of client {client} and the half of a step"
        equal(what, half - at.points[-1], 0.5 * (ends[0] - at.points[-1]), scale=at.steepest + at.size)
        if p.sign_noise is not None:
            change = at.points[-1] - at.gradients[client, -1] - ends[0]
            sign = 1.0 if change @ p.sign_noise > 0.0 else -1.0
            what = f"{at.who}: a step of the oracle and x − gradient({client}, x) ± sign_noise"
            equal(what, ends[0], at.points[-1] - at.gradients[client, -1] - sign * p.sign_noise, scale=at.steepest)
        if p.noiseless:
            what = f"{at.who}: a step of the oracle without noise and x − gradient({client}, x)"
            equal(what, ends[0], at.points[-1] - at.gradients[client, -1], scale=at.steepest)


def moments(at: SamplePoints) -> None:
    """Check that stochastic gradients are unbiased, their variance is at most sigma², and their square at most G²."""
    p, known = at.problem, at.problem.constants()
    if p.noiseless or "sigma" not in known:
        return
    sigma = known["sigma"].value
    expect(sigma > 0.0, f"{at.who}: sigma is 0, and its oracle is not that of full gradients")
    oracle = p.oracle(Streams(29))
    for client in range(p.n):
        draws = oracle.draws(np.full(_DRAWS, client), np.arange(_DRAWS), 1)
        steps = np.array([at.points[-1] - _step(oracle, at, client, draws[j][0], 1.0) for j in range(_DRAWS)])
        noise = steps - at.gradients[client, -1]
        off, room = float(np.linalg.norm(noise.mean(axis=0))), sigma * np.sqrt(_CHEBYSHEV / _DRAWS)
        words = f"the mean of {_DRAWS} stochastic gradients of client {client} is {off:.4g} off its gradient"
        expect(off <= room, f"{at.who}: {words}; with sigma = {sigma:.4g} it should be less than {room:.4g}")
        _bet(f"{at.who}: E‖g_{client} − ∇f_{client}‖² ≤ sigma²", (noise**2).sum(axis=1), sigma**2)
        if "G" in known:
            _bet(f"{at.who}: E‖g_{client}‖² ≤ G²", (steps**2).sum(axis=1), known["G"].value ** 2)


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
