"""The window N of theorems that read shares over windows of updates, and the steps that a bound takes as numbers."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from boundlab.errors import AssumptionError, SymbolError
from boundlab.instance.schedules import Schedules
from boundlab.options import Options, number
from boundlab.tape import Tape
from boundlab.theorems import Theorem


def taken(theorem: Theorem, step: Mapping[str, float]) -> dict[str, float]:
    """Return the step sizes that the bound takes as numbers; it computes the others itself."""
    return {name: value for name, value in step.items() if name in (*theorem.settable, *theorem.inputs())}


def chosen_window(schedules: Schedules, tape: Tape, rest: dict[str, str], values: Mapping[str, Any]) -> int:
    """Return the window N: the user's, or the power of 2 with the smallest bound, which any N gives."""
    theorem = schedules.theorem
    if "N" in rest:
        return Options(theorem.id, {"N": rest.pop("N")}).integer("N", 1, minimum=1, maximum=tape.iterations)
    best, least = 1, np.inf
    given = {name: number(text, f"{theorem.id}: {name}") for name, text in rest.items() if name in theorem.step}
    for power in range(int(np.log2(tape.iterations))):
        tried = {**values, **given, "N": 2**power}
        try:
            horizon = schedules.horizon(tried)
            worst = schedules.worst(tried, schedules.read(tape, horizon, tried), 1)
            step, ks = taken(theorem, theorem.step_options(worst)), np.array([horizon])
            seen = schedules.read_at(tape, ks, tried)
            total = schedules.with_step_of(worst, tried).evaluate(seen, ks, {**tried, **step}).total[0]
        except (SymbolError, AssumptionError):
            continue  # a window without any update, or one that is too long for the step size
        if total < least:
            best, least = 2**power, total
    return best
