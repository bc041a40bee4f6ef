"""Server policies: when the server aggregates."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from boundlab.delays._model import DelayModel, IndependentEvents
from boundlab.errors import SpecError
from boundlab.events import SERVER, Events
from boundlab.options import Options, nearest, parse_spec
from boundlab.randomness import Streams

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
        word = {"poisson": "rate", "count": "every", "periodic": "every"}.get(self.kind)
        if word is None:
            return "as the algorithm decides" if self.kind == "own" else "events of the delay model"
        return f"{self.kind}:{word}={self.value:g}"

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
    if server != "any":
        if text is None:
            return ServerPolicy("own", 0.0)
        if server == "none":
            raise SpecError(f"{who} decides by itself when to aggregate; leave the server policy out")
        if parse_spec(text, "server")[0] != "count":
            raise SpecError(f"{who} aggregates after a number of updates: --server count:every=4, or --set count=4")
    if server == "count":
        options = Options("server count", parse_spec(str(text), "server")[1])
        every = options.integer("every", 1, minimum=1)
        options.finish()
        return ServerPolicy("count", float(every))
    if isinstance(delays, IndependentEvents):
        if text is not None:
            raise SpecError("delays iid bring their own server events (p_s); leave the server policy out")
        return ServerPolicy("given", delays.p_s)
    kind, raw = parse_spec(text or "poisson", "server")
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


def optimal_rate(rates: NDArray[np.float64]) -> float:
    """Return λ_s* = sqrt(Σλ_i / ((2/n) Σ 1/λ_i)) (AREA, Section 4.2), unit of the rates."""
    return math.sqrt(len(rates) * math.fsum(rates) / (2.0 * math.fsum(1.0 / rates)))


def frequencies(delays: DelayModel, policy: ServerPolicy) -> tuple[NDArray[np.float64], float]:
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
    if policy.kind == "count":
        return delays.sample(streams, iterations, 0.0)
    if policy.kind != "periodic":
        return delays.sample(streams, iterations, policy.value)
    arrivals = delays.sample(streams, iterations, 0.0)
    ticks = policy.value * np.arange(1.0, min(np.ceil(arrivals.time[-1] / policy.value), iterations) + 1.0)
    time = np.concatenate([arrivals.time, ticks])
    actor = np.concatenate([arrivals.actor, np.full(len(ticks), SERVER, dtype=np.int32)])
    order = np.argsort(time, kind="stable")[:iterations]
    return Events(time[order], actor[order])
