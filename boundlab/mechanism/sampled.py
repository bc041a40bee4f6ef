"""Staleness and shares as they happen: through the compiler of FedStaleWeight, with standard errors."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import NDArray

from boundlab.delays import ServerPolicy
from boundlab.errors import SpecError
from boundlab.mechanism.shares import Values, as_rates, check_buffer, read_scale
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.simulate.work import compile_trial
from boundlab.tape import NOTHING, Tape

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True)
class Sampled:
    """Means over independent trials, and their standard errors; each of shape (n,).

    Parameters
    ----------
    p
        Part of the updates.
    staleness
        Mean staleness of a client's updates.
    completes
        Part of a client's updates that complete the buffer.
    shares
        π_i: part of the aggregated weight.
    trials
        Their number; standard errors are standard deviations over trials divided by its root.
    """

    p: Floats
    p_se: Floats
    staleness: Floats
    staleness_se: Floats
    completes: Floats
    completes_se: Floats
    shares: Floats
    shares_se: Floats
    trials: int


def simulate_mechanism(
    rates: Sequence[float] | Values,
    b: int,
    weights: str | float | Fraction = "bE+1",
    *,
    delays: str = "exponential",
    reply: str = "post",
    aggregations: int = 400,
    trials: int = 8,
    seed: int = 0,
    burn: float = 0.5,
) -> Sampled:
    """Compile independent trials of FedStaleWeight and read the mechanism off their tapes.

    The weights are the algorithm's own, from moving averages over all that was observed, so what is seen after the
    burn-in is close to, not at, their limit.

    Parameters
    ----------
    rates
        Shape (n,): updates per unit of time of a client that never waits.
    weights
        ``equal``, ``E+1``, ``bE+1`` or the scale.
    delays
        A delay model with the option ``rates``; ``exponential`` makes i.i.d. arrivals.
    reply
        ``post``, ``pre`` or ``wait``.
    aggregations, trials, seed
        Server updates a trial, at least 2; trials, at least 2; the seed.
    burn
        Part of each trial that is left out at its start.

    Raises
    ------
    SpecError
        If an option is out of range.
    """
    given = as_rates(rates).astype(np.float64)
    if trials < 2 or aggregations < 2 or not 0.0 <= burn < 1.0:
        raise SpecError(
            f"a simulation needs trials ≥ 2, aggregations ≥ 2 and 0 ≤ burn < 1, got {trials}, {aggregations}, {burn:g}"
        )
    n, size = len(given), check_buffer(b)
    algorithm = lookup("algorithms", "fedstaleweight")
    options = {"eta_l": 1.0, "count": size, "scale": float(read_scale(weights, size)), "reply": reply}
    parameters = algorithm.read(Options("algorithm fedstaleweight", options))
    model = lookup("delays", delays).build(Options(f"delays {delays}", {"rates": given.tolist()}), n)
    rows = []
    for trial in range(trials):
        tape = compile_trial(
            algorithm, parameters, n, model, ServerPolicy("own", 0.0), aggregations, NOTHING, Streams(seed, trial)
        )
        rows.append(_observe(tape, int(burn * aggregations)))
    # Shape (trials, 4, n).
    table = np.array(rows)
    mean, error = table.mean(axis=0), table.std(axis=0, ddof=1) / np.sqrt(trials)
    return Sampled(
        p=mean[0],
        p_se=error[0],
        staleness=mean[1],
        staleness_se=error[1],
        completes=mean[2],
        completes_se=error[2],
        shares=mean[3],
        shares_se=error[3],
        trials=trials,
    )


def _observe(tape: Tape, first: int) -> list[Floats]:
    """Return p, mean staleness, completions and shares after the first server updates."""
    n, descend = tape.clients, tape.descend
    rows = np.flatnonzero(descend.arrival >= 0)
    event = descend.arrival[rows]
    rows, event = rows[tape.version[event] >= first], event[tape.version[event] >= first]
    client = descend.client[rows]
    count = np.bincount(client, minlength=n)
    if (count == 0).any():
        raise SpecError(f"client {int(np.argmin(count))} sent nothing in a trial; make aggregations larger")
    tau = tape.version[event] - descend.version[rows]
    full = tape.version[event + 1] > tape.version[event]
    used = tape.uses.version >= first
    weight = np.bincount(descend.client[tape.uses.update[used]], weights=tape.uses.weight[used], minlength=n)
    return [
        count / count.sum(),
        np.bincount(client, weights=tau, minlength=n) / count,
        np.bincount(client, weights=full, minlength=n) / count,
        weight / weight.sum(),
    ]
