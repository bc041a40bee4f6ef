"""The left side given a tape, without sampling: of the one run without noise, or its expectation over the noise."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import SpecError
from boundlab.execute import iterates, moments
from boundlab.metrics import Enclosure, Metric, Quantity, measures
from boundlab.objective import Problem
from boundlab.tape import Tape

_NOISY_CONTROL: Final = "control variates of gradients with noise are not averaged over it"


def why_not(metric: Metric, problem: Problem, tape: Tape) -> str:
    """Return '' if :func:`left_side` can be computed, else why not."""
    if problem.noiseless:
        return ""
    if measures(metric, Quantity.CONTROL):
        return _NOISY_CONTROL
    if not metric.from_expectations:
        return f"{metric.id} is not a mean of recorded quantities"
    if problem.quadratic() is None:
        return f"problem {problem.id} with noise: the expectation given a schedule needs a quadratic"
    if moments.entries(tape.registers, problem) > moments.LARGEST:
        return f"the noise in {tape.registers} registers and {problem.d} dimensions has too many coefficients"
    return ""


def left_side(
    metric: Metric, problem: Problem, tape: Tape, ks: NDArray[np.int64], *, compiled: bool = False
) -> Enclosure:
    """Return the left side at ``ks``, shape (points,), and between which ends it is proved to lie.

    Parameters
    ----------
    tape
        With the records that :class:`boundlab.metrics.Watch` asks for at ``ks``.
    compiled
        Whether machine code is to run it.

    Raises
    ------
    UndecidedError
        If rounding could decide at a kink.
    SpecError
        If the noise is not on quadratics, or the metric is not a mean of recorded quantities.
    """
    if problem.noiseless:
        return iterates.along(metric, problem, tape, problem.full_gradients(), ks, compiled=compiled)
    if measures(metric, Quantity.CONTROL):
        raise SpecError(_NOISY_CONTROL)
    return moments.conditional(metric, problem, tape, problem.require_quadratic("the moments").sigma, ks)
