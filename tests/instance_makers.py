"""For every built-in theorem an instance on which its assumptions hold."""

from functools import cache

import numpy as np

from boundlab.instance import Plan
from boundlab.instance.fitting import DELAYS, CompareOptions, fitting as instances
from boundlab.registry import registered
from boundlab.theorems import Theorem, load_theorem

BUILT_IN = {name: load_theorem(name) for name in sorted(registered("theorems"))}
# What no example of an option says: how long the clients' local steps take.
OWN = {"fedcompass.group": {"warmup": "speeds", "speeds": "[1,1,2]", "Qmin": "2", "Qmax": "8"}}


def fitting(theorem: Theorem) -> CompareOptions:
    """Return an instance on which the assumptions of a built-in theorem hold."""
    return _fitting(theorem.id)


@cache
def _fitting(name: str) -> CompareOptions:
    (found,) = instances(
        BUILT_IN[name], settings=OWN.get(name.removesuffix(".along-run")), delays=("deterministic", *DELAYS)
    )
    return found


def measured(plan: Plan) -> dict[str, float]:
    """Return the numbers that problem, delays and tape gave, those of the algorithm's own options apart."""
    return {
        one.name: float(one.value)
        for one in plan.symbols
        if one.origin in ("problem", "tape", "delays")
        and np.ndim(one.value) == 0
        and one.name not in plan.algorithm.parameters
    }
