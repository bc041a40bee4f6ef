"""The mechanism of FedStaleWeight: staleness, fair weights, long-run shares, and whether to report the truth.

Clients send updates at rates r_i; the server aggregates every b of them with weights that make up for rare
updates and sum to 1 over the buffer. ``docs/theory/fedstaleweight.md`` has the mathematics.
"""

from boundlab.mechanism.shares import (
    METHODS,
    Periodic,
    Sampled,
    arrival_pattern,
    expected_staleness,
    fair_weights,
    frequencies,
    long_run_shares,
    normalised_weights,
    periodic,
    read_scale,
    share_slope,
    simulate_mechanism,
    staleness_formula,
    staleness_weights,
)
from boundlab.mechanism.utility import MODELS, truthful_limit, utility, utility_derivative

__all__ = [
    "METHODS",
    "MODELS",
    "Periodic",
    "Sampled",
    "arrival_pattern",
    "expected_staleness",
    "fair_weights",
    "frequencies",
    "long_run_shares",
    "normalised_weights",
    "periodic",
    "read_scale",
    "share_slope",
    "simulate_mechanism",
    "staleness_formula",
    "staleness_weights",
    "truthful_limit",
    "utility",
    "utility_derivative",
]
