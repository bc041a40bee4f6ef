"""A run with as many digits as its errors take.

Errors of runs with delays are known to grow no faster than Π(1 + size·L), which in the long run is more than floats
have digits for, though the iterates themselves converge. All of it is proportional to the unit of rounding. With as
many bits more as the growth takes, the calculus of :mod:`boundlab.execute.enclosed` ends below what floats show.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from boundlab.arithmetic.numbers import Scalar, ball, digits
from boundlab.arithmetic.problem import Functions
from boundlab.errors import SpecError
from boundlab.execute import enclosed
from boundlab.execute._rows import Update
from boundlab.execute.enclosed import TINY, UP, Point, norm
from boundlab.execute.rationals import Balls, exactly
from boundlab.metrics import Enclosure, Metric, Proved, Series
from boundlab.objective import Array, Problem
from boundlab.tape import Op, Tape

NARROW: Final = 60  # bits that iterates shall have: more than floats show
_ROUND: Final = 64
_ROW, _STEP = 2 * 10**4, 10**4  # operations that a row and a local step cost the interpreter
# Called as seen(client, x, error) where a local step of a client begins: x is this near to the exact point.
Seen = Callable[[int, Array, float], None]


class TooFewDigitsError(SpecError):
    """Errors have grown beyond use.

    Parameters
    ----------
    bits
        About how many would do.
    """

    def __init__(self, bits: int) -> None:
        super().__init__(f"errors of the run grow: it takes about {bits} bits")
        self.bits = bits


def along(
    metric: Metric,
    problem: Problem,
    tape: Tape,
    rates: Callable[[], Sequence[Scalar]],
    ks: NDArray[np.int64],
    bits: int,
    seen: Seen | None = None,
) -> Enclosure:
    """Return the left sides of a run without noise at ``ks``, as :func:`boundlab.execute.iterates.along` does.

    Parameters
    ----------
    tape
        Its tape, with the records that :class:`boundlab.metrics.Watch` asks for at ``ks``.
    rates
        Gives the rates of the tape as balls of the present precision.
    bits
        The precision.
    seen
        Is shown where local steps begin.

    Raises
    ------
    TooFewDigitsError
        If errors grow beyond use.
    SpecError
        If the problem is not known with more digits than floats have.
    UndecidedError
        If a ball meets a kink.
    """
    model, proved, series, tape = problem.in_balls(), Proved(problem), Series(metric, ks, (3,)), tape
    if model is None:
        raise SpecError(f"problem {problem.id} is not known with more digits than floats have")
    rows = np.flatnonzero(tape.op == Op.RECORD).tolist()
    largest = 0.0

    def observe(row: int, point: Point[Any]) -> None:
        nonlocal largest
        x, error = in_floats(point.value, point.error, problem)
        largest = max(largest, norm(x))
        lost = bits + _log2(point.error) - np.log2(largest or 1.0)
        if not lost <= bits - NARROW:
            raise TooFewDigitsError(enough(lost * len(tape) / (1 + rows[row])))
        series.add(np.array(metric.at(proved, (x, error))))

    def begins(row: Update[Scalar], x: Any, error: Scalar) -> None:
        assert seen is not None  # noqa: S101  (for the type checker)
        seen(row.client, *in_floats(x, error, problem))

    bounds = [problem.step_bounds(client) for client in range(problem.n)]
    with digits(bits), np.errstate(over="ignore", invalid="ignore"):
        numbers = exactly(tape, rates(), balls=True)
        parts = numbers.coefficients, numbers.step_sizes, numbers.local
        if min(ball(one).rel_accuracy_bits() for part in parts for one in part) < bits // 2:
            raise SpecError("a weight or step of the run is not known with more digits than floats have")
        enclosed.run(tape, numbers, Balls(model, bounds, begins=None if seen is None else begins), observe)
    return series.enclosure()


def operations(tape: Tape, model: Functions, bits: int) -> float:
    """Return about how many operations a run with so many bits takes; 10⁹ are two seconds."""
    each = model.products * (40.0 + (bits / 64.0) ** 1.6)
    return float(len(tape) * (_ROW + 40.0 * model.d) + tape.descend.steps.sum() * (_STEP + each))


def _log2(error: Scalar) -> float:
    """Return about log2 of an error, which may be smaller or larger than floats are."""
    mantissa, exponent = ball(error).upper().mid().man_exp()
    return float(exponent) + int(mantissa).bit_length() if mantissa else -np.inf


def enough(lost: float) -> int:
    """Return a precision that loses so many bits and keeps those that iterates shall have."""
    return _ROUND * int(np.ceil((1.05 * max(lost, 0.0) + NARROW + 16.0) / _ROUND))


def in_floats(x: Sequence[Scalar], error: Scalar, problem: Problem) -> tuple[Array, float]:
    """Return a point of balls in the floats of a problem, and how far it is at most from what is meant."""
    value = np.array([float(entry) for entry in x]).astype(problem.dtype)
    rounded = 2.0 * float(np.finfo(problem.dtype).eps) * norm(value) + TINY
    return value, (float(ball(error).upper()) * UP + rounded) * UP
