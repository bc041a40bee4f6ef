"""A tape over exact numbers: registers are lists of rationals, or of balls where rationals grow too long."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, final

import numpy as np

from boundlab.arithmetic import numbers
from boundlab.arithmetic.exactly import exact_array
from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.problem import Functions, Vector
from boundlab.arithmetic.rational import TooLongError as TooLongError
from boundlab.arithmetic.rational import evaluated
from boundlab.execute import enclosed
from boundlab.execute._rows import Combine, Numbers, Show, Update, rows, starts
from boundlab.execute.enclosed import UP, EnclosedVectors, Motion, Point
from boundlab.objective import StepBounds
from boundlab.tape import Initial, Tape

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
