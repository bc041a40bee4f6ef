"""The check of what an algorithm says of itself where there is one client and no delay."""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from boundlab.case.build import build_delays
from boundlab.formulas.symbols import SYMBOLS
from boundlab.instance import example_options
from boundlab.testing._agree import expect
from boundlab.testing._schedule import CompiledRun
from boundlab.testing._subject import REFUSED, Subject


def alone(subject: Subject) -> None:
    """Check that ``alone`` describes a run: in some setting its symbols are so, and the model does gradient descent."""
    if subject.algorithm.alone is None:
        return
    said = {name: info.alone for name, info in SYMBOLS.items() if info.alone is not None}
    said |= subject.algorithm.alone
    nearest, least = "", np.inf
    model = build_delays("deterministic", {}, 1)
    for setting in example_options.settings(subject.who, subject.algorithm, 1, subject.drawn):
        try:
            at = subject.schedule(setting, model)
        except REFUSED:
            continue
        wrong = _differences(at, said)
        if not wrong:
            return
        if len(wrong) < least:
            nearest, least = f"with {example_options.words(setting)} {wrong[0]}", len(wrong)
    expect(False, f"{subject.who}: no setting of one client without delay is as alone says: {nearest}")


def _differences(at: CompiledRun, said: Mapping[str, int]) -> list[str]:
    """Return in words what is otherwise in a run."""
    tape, found = at.long, []
    until = int(tape.version[-1])
    quantities = at.algorithm.quantities(at.parameters, tape, until, {})
    for name, value in said.items():
        if name in quantities and quantities[name] != value:
            found.append(f"{name} is {quantities[name]:g}, and alone says {value:g}")
    models = at.executed.models(tape)
    size = float(tape.descend.step_size[0])
    for k, (x, y) in enumerate(pairwise(models)):
        step = x - size * at.problem.gradient(0, x)
        if not np.allclose(y, step, rtol=1e-9, atol=1e-12):
            found.append(f"server update {k} is no gradient step")
            break
    return found
