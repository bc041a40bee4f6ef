"""Stochastic delay models and server policies."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from boundlab.delays._model import (
    POLICIES,
    RATE_OPTIONS,
    ByMean,
    DelayLaw,
    DelayModel,
    Deterministic,
    Exponential,
    Gamma,
    IndependentEvents,
    Lognormal,
    OnOff,
    Pareto,
    Renewal,
    ServerPolicy,
    Trace,
    TruncatedNormal,
    TwoSpeed,
    Uniform,
    Weibull,
    frequencies,
    optimal_rate,
    read_policy,
    read_rates,
    read_trace,
    sample_events,
    why_not_iid,
)
from boundlab.delays._staleness import OLDEST, STALENESS_OPTIONS, AtWork, read_staleness
from boundlab.delays.recorded import Clock
from boundlab.errors import SpecError
from boundlab.options import Options, spec_of

__all__ = [
    "DELAYS",
    "OLDEST",
    "POLICIES",
    "RATE_OPTIONS",
    "ByMean",
    "Clock",
    "DelayLaw",
    "DelayModel",
    "DelayType",
    "Deterministic",
    "IndependentEvents",
    "Renewal",
    "ServerPolicy",
    "Trace",
    "frequencies",
    "optimal_rate",
    "read_policy",
    "renewal",
    "sample_events",
    "why_not_iid",
]


@dataclass(frozen=True, slots=True)
class DelayType:
    """A registered delay model: ``build(options, n)`` makes one for n clients.

    ``examples`` are options that differ in kind and that three clients can have.
    """

    id: str
    summary: str
    build: Callable[[Options, int], DelayModel]
    options: Mapping[str, str]
    examples: Sequence[Mapping[str, Any]] = ({},)


def renewal(
    name: str,
    summary: str,
    extra: Mapping[str, str],
    law: Callable[[Options, np.ndarray], DelayLaw],
    examples: Sequence[Mapping[str, Any]] = (),
) -> DelayType:
    """Make the delay model in which each client's updates take i.i.d. times of one law.

    Parameters
    ----------
    name, summary
        Its id, and one line.
    extra
        Options of the law, each with one line; those of the rates, :data:`RATE_OPTIONS`, are added unless they stand
        here, in words of their own.
    law
        Makes the law from the options and the means 1/rate, shape (n,), unit of time.
    examples
        Options of the law that differ in kind, beside its defaults.
    """

    def build(options: Options, n: int) -> DelayModel:
        return _timed(name, n, law(options, 1.0 / read_rates(options, n)), options)

    return DelayType(name, summary, build, {**RATE_OPTIONS, **extra}, ({"spread": 3}, *examples))


def _step_times(options: Options, n: int) -> DelayModel:
    steps = options.integer("steps", 1, minimum=1)
    law = TruncatedNormal(steps / read_rates(options, n), options.number("jitter", 0.05, minimum=1e-6, maximum=1.0))
    return _timed("per-step", n, law, options)


def _timed(name: str, n: int, law: DelayLaw, options: Options) -> DelayModel:
    """Return the model of a law; with fewer clients at work than there are, of these."""
    active = options.integer("active", n, minimum=1, maximum=n) if options.has("active") else n
    options.finish()
    found = Renewal(name, n, law, options.used)
    return found if active == n else AtWork(found, active, name, n, options.used)


def _iid(options: Options, n: int) -> DelayModel:
    p = np.array(options.numbers("p")) if options.has("p") else None
    if p is None:
        p_s = options.number("p_s", 1.0 / (n + 1), above=0.0, maximum=1.0)
        p = np.full(n, (1.0 - p_s) / n)
    elif len(p) != n:
        raise SpecError(f"delays iid: {len(p)} probabilities p for {n} clients; give one a client")
    else:
        p_s = options.number("p_s", 1.0 - float(p.sum()))
    options.finish()
    if (p <= 0.0).any() or p_s <= 0.0:
        hint = (
            f"; without a server, {spec_of('exponential', {'rates': options.raw('p')})} fits" if (p > 0.0).all() else ""
        )
        raise SpecError(f"delays iid: probabilities must be > 0, got p_s = {p_s:g}, smallest p = {p.min():g}{hint}")
    if abs(float(p.sum()) + p_s - 1.0) > 1e-9:
        raise SpecError(f"delays iid: probabilities sum to {p.sum() + p_s:.6g}, they must sum to 1")
    return IndependentEvents(p, p_s, options=options.used)


def _trace(options: Options, n: int) -> DelayModel:
    path, rounds = Path(str(options.require("file"))), options.flag("rounds")
    options.finish()
    return read_trace(path, n, rounds=rounds)


DELAYS: tuple[DelayType, ...] = (
    renewal("exponential", "exponential times: Poisson arrivals", {}, lambda _, m: Exponential(m)),
    renewal("deterministic", "every update of a client takes the same time", {}, lambda _, m: Deterministic(m)),
    renewal(
        "uniform",
        "uniform times",
        {"width": "half-width relative to the mean, 0 to 1 (default 0.5)"},
        lambda o, m: Uniform(m, o.number("width", 0.5, minimum=0.0, maximum=1.0)),
        ({"width": 1},),
    ),
    renewal(
        "gamma",
        "gamma times; an integer shape is Erlang",
        {"shape": "> 0 (default 2)"},
        lambda o, m: Gamma(m, o.number("shape", 2.0, above=0.0)),
        ({"shape": 0.5},),
    ),
    renewal(
        "lognormal",
        "lognormal times",
        {"log_sd": "standard deviation of the logarithm (default 1)"},
        lambda o, m: Lognormal(m, o.number("log_sd", 1.0, above=0.0, maximum=5.0)),
        ({"log_sd": 0.25},),
    ),
    renewal(
        "weibull",
        "Weibull times",
        {"shape": "> 0 (default 0.7: heavy-tailed)"},
        lambda o, m: Weibull(m, o.number("shape", 0.7, minimum=0.1)),
        ({"shape": 2},),
    ),
    renewal(
        "pareto",
        "Pareto times: finite mean, infinite variance for a tail of at most 2",
        {"tail": "tail index > 1 (default 1.5)"},
        lambda o, m: Pareto(m, o.number("tail", 1.5, above=1.0)),
        ({"tail": 3}, {"tail": 1.2}),
    ),
    renewal(
        "truncated-normal",
        "normal times conditioned on being positive",
        {
            "rates": "1/location, one a client; the mean time is longer: location·(1 + cv·φ(1/cv)/Φ(1/cv))",
            "cv": "standard deviation relative to the location (default 0.3)",
        },
        lambda o, m: TruncatedNormal(m, o.number("cv", 0.3, minimum=1e-6, maximum=10.0)),
        ({"cv": 2},),
    ),
    renewal(
        "two-speed",
        "each update is fast or slow",
        {"slow": "probability of a slow update (default 0.1)", "factor": "how much slower (default 10)"},
        lambda o, m: TwoSpeed(
            m, o.number("slow", 0.1, minimum=0.0, maximum=1.0), o.number("factor", 10.0, minimum=1.0)
        ),
        ({"slow": 0.4, "factor": 3},),
    ),
    renewal(
        "markov",
        "exponential work that rests while the client is off",
        {
            "rates": "1/(mean time of work), one a client; it makes λ_i·on/(on + off) updates per unit of time",
            "on": "mean time on (default 1)",
            "off": "mean time off (default 1)",
        },
        lambda o, m: OnOff(m, o.number("on", 1.0, above=0.0), o.number("off", 1.0, above=0.0)),
        ({"on": 0.5, "off": 3},),
    ),
    DelayType(
        "per-step",
        "steps·(time per step), with normal jitter from round to round (FedCompass §5.1)",
        _step_times,
        {
            **RATE_OPTIONS,
            "rates": "local steps per unit of time, one a client; an update takes about steps/λ_i",
            "steps": "local steps of a round (default 1)",
            "jitter": "relative sd (default 0.05)",
        },
        ({"spread": 3}, {"steps": 3, "jitter": 0.5}),
    ),
    DelayType(
        "iid",
        "i.i.d. events with given probabilities, server included: the theorems' own model",
        _iid,
        {"p": "probabilities of the clients (default equal)", "p_s": "probability of the server"},
        ({}, {"p": [0.5, 0.2, 0.1]}),
    ),
    DelayType(
        "staleness",
        "how old each update's model is: x_(k−τ_k), x_(−j) = x0; by a client drawn uniformly",
        read_staleness,
        STALENESS_OPTIONS,
        ({"constant": 2}, {"uniform": "0..3"}),
    ),
    DelayType(
        "trace",
        "arrivals recorded in a CSV file: time, client",
        _trace,
        {"file": "the CSV file", "rounds": "yes: updates of one time are a round of a synchronous server (default no)"},
        (),
    ),
)
