"""Values of an algorithm's symbols in the simplest runs: the instances on which known truths are stated.

Symbols that a theorem does not read are ignored; one that it reads and no instance gives makes the truth not
applicable.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import sympy

from boundlab.algorithms import Algorithm
from boundlab.assumptions import assumption
from boundlab.formulas.assignments import of_arrivals
from boundlab.formulas.symbols import SYMBOLS, ZERO_WITHOUT_NOISE, apart, having
from boundlab.registry import find

Values = Mapping[str, Any]

SMALL = apart("ε", positive=True)
# What the size of local steps is called.
STEPS = frozenset(name for name in having("step") if SYMBOLS[name].is_step_size)
_HALF = sympy.Rational(1, 2)
# Full gradients of functions whose slope and curvature are at most 1.
_FUNCTIONS: Values = {
    **dict.fromkeys(ZERO_WITHOUT_NOISE, 0),
    **dict.fromkeys((*assumption("smooth").defines, *assumption("bounded-gradients").defines), 1),
}
# One client, one local step, no delay and no noise, where the server's model does gradient descent on x²/2 in [−1, 1],
# whose constants are 1; what else an algorithm counts there it says.
ALONE: Values = {
    **{name: info.alone for name, info in SYMBOLS.items() if info.alone is not None and not info.vector},
    **_FUNCTIONS,
    "mu": 1,
}
# One client whose updates never wait for long: enough for what is said of the first iterate.
START: Values = {**ALONE, **of_arrivals([_HALF], _HALF), "R": 1, "beta": _HALF}

# Two clients, huber at 0 and at 1 with slope at most 1; client 1 has five times the weight of client 2.
_UNEQUAL: Values = {
    **_FUNCTIONS,
    **dict.fromkeys(assumption("bounded-heterogeneity").defines, _HALF),
    "n": 2,
    "Q": 1,
    "eta_g": 1,
    "F0": 1,
    "tau_max": 12,
    "tau_a": 12,
    "share_bias": sympy.Rational(2, 3),
}
UNEQUAL: Mapping[str, Values] = MappingProxyType(
    {
        # One arrival group: client 1 does five local steps while client 2 does one; W = ½(5 + 1).
        "fedcompass": {
            **_UNEQUAL,
            "Qmin": 1,
            "Qmax": 5,
            "speed_ratio": 5,
            "mu_step": 5,
            "N": 1,
            "A_max": 3,
            "W_min": 3,
            "W_max": 3,
            "V_max": sympy.Rational(3, 2),
            "Q_mean": 3,
            "Q_bias": sympy.Rational(2, 3),
        },
        # Arrivals 1,1,1,1,1,2 again and again.
        "fedfa": {**_UNEQUAL, "window": 2, "N": 6},
        # Each update aggregates one arrival, which is client 1's with probability 5/6.
        **{
            name: {
                **_UNEQUAL,
                "b": 1,
                "scale": 1,
                "chi2": sympy.Rational(4, 9),
                "chi2_path": 1,
                "alpha2": 1,
                "pi_max": sympy.Rational(5, 6),
            }
            for name in ("fedbuff", "fedstaleweight")
        },
    }
)
UNEQUAL_SQUARED_GRADIENT = sympy.Rational(1, 9)


@cache
def _algorithm(name: str) -> Algorithm[Any] | None:
    found: Algorithm[Any] | None = find("algorithms", name)
    return found


def alone(name: str) -> Values | None:
    """Return an algorithm's symbols for one client, one local step and no delay; None where they are not known."""
    algorithm = _algorithm(name)
    own = None if algorithm is None else algorithm.single_client_values
    return None if own is None else {**ALONE, **own}


def step_name(name: str) -> str:
    """Return the option that is the size of an algorithm's local steps."""
    algorithm = _algorithm(name)
    return "alpha" if algorithm is None else algorithm.step_size_symbols[0]


def reused(step: sympy.Expr, times: int, clients: sympy.Expr) -> dict[str, Any]:
    """Return afl_dga's symbols when each of identical clients' gradients is used that often, L·step = 1/5, G = 1."""
    age = sympy.Rational(times - 1, 2)
    smooth = sympy.Rational(1, 5) / step
    return {
        "n": clients,
        "L": smooth,
        "G": 1,
        "sigma": 0,
        "eta": step,
        "K_m": 1,
        "D_m": 0,
        "t_d": times,
        "M_own": 0,
        "S": times - 1,
        "Q_age": times - 1,
        "SM2": sympy.Rational((times - 1) * (2 * times - 1), 6),
        "reuse": age,
        "reuse_n": age / sympy.sqrt(clients),
        "tau_sum": clients * sympy.Rational(3 * times - 1, 2),
        # Huber of slope 1 and curvature L at y = times·step/2: the orbit goes from y to −y in one block.
        "F0": times * step / 2 - 1 / (2 * smooth),
    }


def reused_squared_gradient(times: int) -> sympy.Expr:
    """Return the average squared gradient over that orbit, for L·step = 1/5 and G = 1."""
    parts = (min(sympy.S.One, abs(sympy.Rational(times, 2) - used) / 5) ** 2 for used in range(times))
    return sympy.Add(*parts) / times
