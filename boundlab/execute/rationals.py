"""A tape over exact numbers: registers are lists of rationals, or of balls where rationals grow too long."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, final

import numpy as np

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import Scalar, ball, digits, exact_array
from boundlab.arithmetic.problem import Functions, Vector
from boundlab.arithmetic.rational import TooLongError as TooLongError, evaluated
from boundlab.errors import SpecError
from boundlab.execute import enclosed
from boundlab.execute._rows import Combine, Numbers, Show, Update, rows, starts
from boundlab.execute.enclosed import TINY, UP, EnclosedVectors, Motion, Point, norm
from boundlab.metrics import Enclosure, Metric, Proved, Series
from boundlab.objective import Array, Problem, StepBounds
from boundlab.randomness import Ints
from boundlab.tape import Initial, Op, Tape

_LONGEST = 16384  # bits of a rational; beyond, products take longer than those of balls by far
_EVERY = 16
_MORE = 1.0 + 1e-9  # constants of floats, for the numbers of a file: they differ by what both round


def exactly(tape: Tape, rates: Sequence[Scalar], *, balls: bool) -> Numbers[Scalar]:
    """Return all numbers of a tape for given rates.

    Parameters
    ----------
    rates
        In the order of their recipes.
    balls
        Whether they are balls of the present precision.

    Raises
    ------
    TooLongError
        If they are not, and one is no rational number.
    """
    return Numbers(*(evaluated(part, rates, balls=balls) for part in tape.recipes()))


Moved = Callable[[Vector, Vector], None]


def run(
    tape: Tape,
    model: Functions,
    rates: Sequence[Scalar],
    observe: Callable[[int, Vector], None],
    *,
    balls: bool,
    longest: int = _LONGEST,
    moved: Moved | None = None,
    bounds: Sequence[StepBounds | None] = (),
) -> None:
    """Execute a tape.

    Parameters
    ----------
    rates
        In the order of their recipes.
    observe
        Called as observe(m, x) for record m.
    balls
        Whether registers are balls of the present precision.
    longest
        Most bits of a rational register.
    moved
        Called as moved(x, y) where the local steps of a run lead from x to y, in the order of the runs.
    bounds
        What local steps of each client do to errors: balls then grow no faster than that.

    Raises
    ------
    TooLongError
        If rational registers grow too long.
    UndecidedError
        If a ball meets a kink.
    """
    each = exactly(tape, rates, balls=balls)
    if balls:
        vectors = Balls(model, bounds or [None] * model.n, moved)
        enclosed.run(tape, each, vectors, lambda row, point: observe(row, _around(point.value, point.error)))
        return
    zero = exact_array([0] * model.d)
    registers: list[Any] = starts(tape, exact_array(model.x0), zero)
    for row in rows(tape, each):
        match row:
            case Combine(dst, terms):
                out = zero
                for weight, source in terms:
                    out = out + weight * registers[source]
                registers[dst] = out
            case Update():
                x, move = registers[row.src], model.prox if row.implicit else model.descend
                for size in row.sizes:
                    x = np.asarray(move(row.client, x, size), dtype=object)
                if moved is not None:
                    moved(registers[row.src], x)
                registers[row.dst] = x
                if row.row % _EVERY == 0:
                    _check_length(x, longest)
            case Show():
                observe(row.row, registers[row.src])


@final
class Balls(EnclosedVectors[Vector]):
    """Vectors of binary numbers of the present precision; their errors are balls, too.

    Parameters
    ----------
    bounds
        What local steps of each client do to errors; where that is None, balls go through the steps.
    moved
        As :func:`run` takes it.
    begins
        Called as begins(row, x, error) before each local step.
    """

    ulp = 0  # coefficients are balls

    def __init__(
        self,
        model: Functions,
        bounds: Sequence[StepBounds | None],
        moved: Moved | None = None,
        begins: Callable[[Update[Scalar], Vector, Scalar], None] | None = None,
    ) -> None:
        self.model, self._bounds, self._moved, self._begins = model, bounds, moved, begins
        self.unit = numbers.ball(numbers.rational(1))

    def origin(self, initial: Initial) -> Point[Vector]:
        """Return x0 or 0."""
        entries = self.model.x0 if initial is Initial.START else [Fraction(0)] * self.model.d
        value, off = _middle(self.unit * exact_array(entries))
        return Point(value, 0, off)  # sizes are what coefficients round, and these do not

    def combined(self, terms: Mapping[Point[Vector], Scalar]) -> tuple[Vector, Scalar, Scalar]:
        """Return Σ coefficient·point."""
        total = np.full(self.model.d, 0 * self.unit)
        for point, weight in terms.items():
            total = total + weight * point.value
        value, off = _middle(total)
        return value, 0, off

    def descend(self, start: Point[Vector], row: Update[Scalar]) -> tuple[Point[Vector], Scalar]:
        """Do the steps.

        Raises
        ------
        UndecidedError
            If an error leaves it open on which side of a kink a step is taken.
        """
        x, error, total = start.value, start.error, 0 * self.unit
        motion: Motion | None = Motion.still()
        move, bounds = self.model.prox if row.implicit else self.model.descend, self._bounds[row.client]
        for size in row.sizes:
            if self._begins is not None:
                self._begins(row, x, error)
            before, old = x, error
            if bounds is None or (bounds.kinks and not error == 0):  # noqa: SIM201  (a ball that may be 0 is neither)
                whole = move(row.client, _around(x, error), size)
            if bounds is None:
                after, error = _middle(whole)
                total = total + error
                motion = None
            else:
                after, off = _middle(move(row.client, x, size))
                growth = moved = 1.0
                if not row.implicit:
                    low, high = float(size.lower()), float(size.upper())
                    growth = max(1.0 - low * bounds.mu / _MORE, high * bounds.L * _MORE - 1.0) * UP
                    moved = bounds.moved(high, growth) * _MORE
                total = total + moved * error + off
                error = growth * error + off
                unknown = row.implicit or bounds.kinks or bounds.proximal
                motion = None if motion is None or unknown else motion.then(growth, moved, off)
            x = after
            if self._moved is not None:
                self._moved(_around(before, old), _around(x, error))
        error = error.upper()
        return Point(x, 0, error, motion), error + start.error if bounds is None else total.upper()


def _middle(x: Vector) -> tuple[Vector, Scalar]:
    """Return the middles of balls, and how far they are at most from what these hold."""
    off = x[0].rad()
    for entry in x[1:]:
        off = off + entry.rad()
    return np.array([entry.mid() for entry in x], dtype=object), off.upper()


def _around(x: Vector, error: Scalar) -> Vector:
    """Return balls that hold all points this near."""
    return np.asarray(x + numbers.flint().arb(0, error))


def _check_length(x: Vector, longest: int) -> None:
    for entry in x:
        parts = (entry.a, entry.b) if isinstance(entry, numbers.Surd) else (entry,)
        if max(part.height_bits() for part in parts) > longest:
            raise TooLongError(f"rational iterates grow beyond {longest} bits")


# A run with as many digits as its errors take.
#
# Errors of runs with delays are known to grow no faster than Π(1 + size·L), which in the long run is more than floats
# have digits for, though the iterates themselves converge. All of it is proportional to the unit of rounding. With as
# many bits more as the growth takes, the calculus of :mod:`boundlab.execute.enclosed` ends below what floats show.

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
    ks: Ints,
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
    model, proved, series = problem.in_balls(), Proved(problem), Series(metric, ks, (3,))
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
