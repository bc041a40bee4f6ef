"""Client rates from options: given, equal, spread, or drawn from a distribution."""

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import SpecError
from boundlab.options import Options
from boundlab.randomness import Stream, Streams

RATE_OPTIONS = {
    "rates": "λ_i, one a client: [10,10,2.5] or @file; updates per unit of time unless the model says otherwise",
    "rate": "the same rate for all clients (default 1); the largest one with spread, the mean with draw",
    "spread": "rates fall geometrically from rate to rate/spread",
    "draw": "normal or exponential: rates drawn once from a distribution with mean rate",
    "sd": "standard deviation of draw=normal",
    "negative": "what to do with a drawn rate that is not positive: redraw (default), clip or abs",
    "rate_seed": "seed of the drawn rates (default 0)",
}
_TRIES = 1000


def read_rates(options: Options, n: int) -> NDArray[np.float64]:
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


def _draw(options: Options, n: int, rate: float) -> NDArray[np.float64]:
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
