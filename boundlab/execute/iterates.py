"""Left sides of a run without noise, or of one run with it, as floats give them and as far as they are proved."""

from collections.abc import Mapping
from typing import final

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import UndecidedError
from boundlab.execute import enclosed
from boundlab.execute._rows import Update, own_numbers
from boundlab.execute.enclosed import TINY, UNKNOWN, UP, EnclosedVectors, Motion, Point, norm, summed
from boundlab.execute.floats import draws
from boundlab.metrics import Enclosure, Metric, Proved, Quantity, Series
from boundlab.objective import Array, Oracle, Problem, step_rounding
from boundlab.tape import Initial, Tape

FEW = 200_000  # instructions that run a second time in seconds
_WIDE = 1e-3
CLOSE = "an iterate meets a kink too closely for floating point to tell its side"


def along(
    metric: Metric, problem: Problem, tape: Tape, oracle: Oracle, ks: NDArray[np.int64], *, compiled: bool = False
) -> Enclosure:
    """Return the left sides of a run at ``ks``.

    Parameters
    ----------
    tape
        With the records that :class:`boundlab.metrics.Watch` asks for at ``ks``.
    oracle
        Its (sub)gradients.
    compiled
        Whether machine code is to run it, where that proves anything.

    Raises
    ------
    UndecidedError
        If rounding could decide on which side of a kink a local step is taken.
    """
    proved = Proved(problem)
    if compiled and metric.quantity is not Quantity.CONTROL:
        found = _compiled(metric, proved, tape, oracle, Series(metric, ks, (3,)))
        # What is wide is looked at once more by what knows how errors of models differ, where that takes seconds.
        few = len(tape) <= FEW and found is not None and (found.upper - found.lower > _WIDE * found.upper).any()
        if found is not None and np.isfinite(found.upper).all() and not few:
            return found
    series = Series(metric, ks, (3,))

    def observe(_row: int, point: Point[Array]) -> None:
        series.add(np.array(metric.at(proved, (point.value, point.error))))

    with np.errstate(over="ignore", invalid="ignore"):  # a run may leave floats: nothing is proved then
        enclosed.run(tape, own_numbers(tape), Iterates(tape, problem, oracle), observe)
    return series.enclosure()


def _compiled(metric: Metric, proved: Proved, tape: Tape, oracle: Oracle, series: Series) -> Enclosure | None:
    """Return the left sides as the compiled loop proves them, or None where it does not."""
    from boundlab.execute.compiled import clients_of, run_proved

    clients = clients_of(proved.problem, tape)

    def observe(_: NDArray[np.int64], X: Array, off: NDArray[np.float64]) -> None:
        series.extend(np.stack(metric.at(proved, (X, off)), axis=1))

    with np.errstate(over="ignore", invalid="ignore"):
        known = clients is not None and run_proved(tape, proved.problem, clients, oracle, observe)
    return series.enclosure() if known else None


@final
class Iterates(EnclosedVectors[Array]):
    """Vectors of floats, and the local steps of an oracle.

    Parameters
    ----------
    tape
        What is run: the random numbers of its updates are drawn in its order.
    steep
        Shape (2, rows of local steps), zeros, for the largest ‖g‖ of each as floats give it, and a number that is no
        less than the one without rounding; None: nobody asks.
    """

    unit = 1.0

    def __init__(self, tape: Tape, problem: Problem, oracle: Oracle, steep: NDArray[np.float64] | None = None) -> None:
        self.problem, self._oracle, self._draws, self._steep = problem, oracle, draws(tape, oracle), steep
        self.ulp = float(np.finfo(problem.dtype).eps)
        self._bounds = [problem.step_bounds(client) for client in range(problem.n)]

    def origin(self, initial: Initial) -> Point[Array]:
        """Return x0 or 0."""
        value = self.problem.x0 if initial is Initial.START else np.zeros_like(self.problem.x0)
        return Point(value, norm(value), 0.0)

    def combined(self, terms: Mapping[Point[Array], float]) -> tuple[Array, float, float]:
        """Return Σ coefficient·point."""
        return summed(terms, np.zeros_like(self.problem.x0), self.ulp)

    def descend(self, start: Point[Array], row: Update[float]) -> tuple[Point[Array], float]:
        """Do the steps, and follow the error from one to the next.

        Raises
        ------
        UndecidedError
            If x lies at a kink, or so near to it that its error decides.
        """
        x, error, moved, client = start.value.copy(), start.error, 0.0, row.client
        motion: Motion | None = Motion.still()
        bounds, before = self._bounds[client], norm(start.value)
        step = self._oracle.implicit_step if row.implicit else self._oracle.step
        for size, draw in zip(row.sizes, next(self._draws), strict=True):
            if bounds is not None and bounds.kinks and not row.implicit:
                self._require_apart(client, x, error + (len(x) + 8) * self.ulp * before)
            old = x.copy()
            step(x, client, draw, size)
            after = norm(x)
            slope = norm(x - old) / size if self._steep is not None and size else 0.0
            if bounds is None or (bounds.kinks and row.implicit):
                error = moved = steep = UNKNOWN
                motion = None
            else:
                lost = size * bounds.error(x if row.implicit else old, before + after)
                rounding = step_rounding(before, after, lost, len(x), self.ulp, bounds.proximal)
                if row.implicit:
                    # z + size·∇f(z) is strongly monotone: its distance from x is no less than the error of z.
                    rounding += norm(x + size * self.problem.gradient(client, x) - old)
                rounding += TINY
                # The step is −size·g up to rounding, and g grows by no more than L times how far x is off.
                hidden = bounds.proximal or not size
                steep = UNKNOWN if hidden else (slope + rounding / size + bounds.L * error) * UP
                growth = 1.0 if row.implicit else bounds.growth(size)
                lipschitz = 1.0 if row.implicit else bounds.moved(size, growth)
                moved += lipschitz * error + rounding
                unknown = row.implicit or bounds.kinks or bounds.proximal
                motion = None if motion is None or unknown else motion.then(growth, lipschitz, rounding)
                error = (growth * error + rounding) * UP
            if self._steep is not None:
                self._steep[:, row.row] = np.maximum(self._steep[:, row.row], (slope, steep))
            before = after
        return Point(x, before, error, motion), moved * (UP + 1e-15 * len(row.sizes))

    def _require_apart(self, client: int, x: Array, room: float) -> None:
        if not room < UNKNOWN or self.problem.near_kink(client, x[None], room).any():
            raise UndecidedError(CLOSE)
