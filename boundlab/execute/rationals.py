"""A tape over exact numbers: registers are lists of rationals, or of balls where rationals grow too long."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, final

import numpy as np

from boundlab.arithmetic import numbers
from boundlab.arithmetic.exactly import exact_array
from boundlab.arithmetic.numbers import Scalar
from boundlab.arithmetic.problem import Functions, Vector
from boundlab.arithmetic.rational import ENGINE, rational, stands_for
from boundlab.errors import SpecError
from boundlab.execute import enclosed
from boundlab.execute._rows import Combine, Numbers, Show, Update, rows, starts
from boundlab.execute.enclosed import UP, EnclosedVectors, Motion, Point
from boundlab.objective import StepBounds
from boundlab.tape import Initial, Tape

Recipe = tuple[Fraction | None, float, tuple[int, ...]]
Longer = Mapping[float, Fraction | None]
_LONGEST = 16384  # bits of a rational; beyond, products take longer than those of balls by far
_EVERY = 16
_ROUNDING = 1e-14  # coefficients of a tape are products of a few floats
_MORE = 1.0 + 1e-9  # constants of floats, for the numbers of a file: they differ by what both round


class TooLongError(SpecError):
    """Rational iterates have grown too long."""


@final
@dataclass(frozen=True, slots=True)
class ExactTape:
    """A tape whose coefficients and step sizes are known as (rational number or float)·Π rate^power.

    Parameters
    ----------
    coefficients, sizes, local
        For every term of an Affine, every row of Descend, every local step.
    irrational
        Returns the balls of those floats among them that are no fraction: see
        :meth:`boundlab.algorithms.Algorithm.irrational`.
    longer
        Fractions that the algorithm knows, whatever their floats look like; see
        :meth:`boundlab.algorithms.Algorithm.fractions`.
    """

    tape: Tape
    coefficients: list[Recipe]
    sizes: list[Recipe]
    local: list[Recipe]
    irrational: Callable[[], Mapping[float, Scalar]] = dict
    longer: Longer = field(default_factory=dict)

    @property
    def rational(self) -> bool:
        """True if all numbers of the tape are understood as rational numbers times rates."""
        return all(recipe[0] is not None for part in (self.coefficients, self.sizes, self.local) for recipe in part)

    def numbers(self, rates: Sequence[Scalar], *, balls: bool) -> Numbers[Scalar]:
        """Return all numbers for given rates.

        Parameters
        ----------
        rates
            In the order of :func:`understand`.
        balls
            Whether they are balls of the present precision.

        Raises
        ------
        TooLongError
            If they are not, and one is no simple fraction.
        """
        kind: Callable[[Scalar], Scalar] = numbers.ball if balls else (lambda x: x)
        known: dict[Recipe, Scalar] = {}
        if balls and not self.rational:
            flat = (0,) * len(rates)
            longer = {about: kind(numbers.rational(one)) for about, one in self.longer.items() if one is not None}
            known |= {(None, about, flat): exact for about, exact in (longer | {**self.irrational()}).items()}

        def value(recipe: Recipe) -> Scalar:
            if recipe not in known:
                known[recipe] = number_of(recipe, rates, kind, balls=balls)
            return known[recipe]

        return Numbers(*([value(recipe) for recipe in part] for part in (self.coefficients, self.sizes, self.local)))


def understand(
    compile_: Callable[[Mapping[str, float]], Tape],
    rates: Mapping[str, float],
    irrational: Callable[[], Mapping[float, Scalar]] = dict,
    fractions: Callable[[Tape], Longer] = lambda _: {},
) -> ExactTape:
    """Compile with the rates as they are and doubled one by one, and see how each number of the tape follows.

    Where a doubled rate makes another program, as a momentum does that becomes 0, it is halved. A number that follows
    from none of the rates, such as α/√(k + 1) or a momentum, is known up to rounding: taken for the fraction that its
    float is, weights such as 1 + β and −β would not sum to 1, and a true bound would be exceeded in the long run.

    Parameters
    ----------
    compile_
        Gives the tape for rates by name, in floating point.
    rates
        What the tape's numbers may be proportional to: step sizes and server rates.
    irrational
        As :class:`ExactTape` takes it.
    fractions
        What the algorithm knows of its weights, by their floats: one that looks like a simple fraction is that
        only if the algorithm does not say that it is another.

    Raises
    ------
    SpecError
        If another rate would make another schedule.
    """
    tape = compile_(rates)
    others = [_scaled(compile_, tape, rates, name) for name in rates]
    values, factors, longer = tuple(rates.values()), [factor for factor, _ in others], fractions(tape)

    def recipes(of: Callable[[Tape], Any]) -> list[Recipe]:
        base, *scaled = (np.asarray(of(one), dtype=np.float64).tolist() for one in (tape, *(one for _, one in others)))
        known: dict[tuple[float, ...], Recipe] = {}
        out = []
        for key in zip(base, *scaled, strict=True):
            if key not in known:
                value = key[0]
                told = value in tape.exact and len({*key}) == 1
                found = (tape.exact[value], value, (0,) * len(values)) if told else recipe(key, values, factors)
                known[key] = found if value not in longer or _is(found, longer[value], values) else (None, *found[1:])
            out.append(known[key])
        return out

    return ExactTape(
        tape,
        recipes(lambda one: one.affine.coef),
        recipes(lambda one: one.descend.step_size),
        recipes(lambda one: one.local),
        irrational,
        longer,
    )


def _is(found: Recipe, exact: Fraction | None, rates: Sequence[float]) -> bool:
    """Return whether a number is what the algorithm says; None: several of its weights have this float."""
    share = found[0] or Fraction(0)
    for rate, power in zip(rates, found[2], strict=True):
        share *= stands_for(rate) ** power
    return share == exact


def _scaled(
    compile_: Callable[[Mapping[str, float]], Tape], tape: Tape, rates: Mapping[str, float], name: str
) -> tuple[float, Tape]:
    """Compile with one rate doubled or halved, and say which; the tape as it is where the algorithm fixes the rate.

    Raises
    ------
    SpecError
        If both make another schedule.
    """
    for factor in (2.0, 0.5):
        try:
            found = compile_({**rates, name: factor * rates[name]})
        except SpecError:
            return factor, tape
        if all(np.array_equal(of(found), of(tape)) for of in _SHAPE):
            return factor, found
    raise SpecError("the schedule depends on the step size; no exact engine applies")


# What two runs share that do the same with other numbers.
_SHAPE: tuple[Callable[[Tape], Any], ...] = (
    lambda tape: tape.op,
    lambda tape: tape.affine.start,
    lambda tape: tape.descend.step_size.shape,
    lambda tape: tape.local.shape,
)


def recipe(key: tuple[float, ...], rates: Sequence[float], factors: Sequence[float]) -> Recipe:
    """Return how a number follows from rates.

    Parameters
    ----------
    key
        The number, and what it becomes when each of the rates is multiplied by its factor.
    rates
        Their values.
    factors
        2 or 1/2, one a rate.
    """
    value, rest, powers = key[0], key[0], []
    for other, rate, factor in zip(key[1:], rates, factors, strict=True):
        ratio = other / value if value else 1.0
        power = int(np.rint(np.log2(ratio) / np.log2(factor))) if ratio > 0 else 0
        if abs(ratio - factor**power) > 1e-12 * factor**power:
            return None, value, (0,) * len(rates)
        powers.append(power)
        rest /= rate**power
    return rational(rest, ENGINE), rest, tuple(powers)


Moved = Callable[[Vector, Vector], None]


def run(
    exact: ExactTape,
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
        In the order of :func:`understand`.
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
    tape, each = exact.tape, exact.numbers(rates, balls=balls)
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


def number_of(found: Recipe, rates: Sequence[Scalar], kind: Callable[[Scalar], Scalar], *, balls: bool) -> Scalar:
    """Return a number for given rates.

    Parameters
    ----------
    kind
        Makes the numbers of one arithmetic.
    balls
        Whether a number that is no simple fraction may be a ball around its float.

    Raises
    ------
    TooLongError
        If it may not.
    """
    share, about, powers = found
    if share is None and not balls:
        raise TooLongError("a weight of the schedule is no rational number")
    out = numbers.near(about, _ROUNDING) if share is None else kind(numbers.rational(share))
    for rate, power in zip(rates, powers, strict=True):
        for _ in range(abs(power)):
            out = out * rate if power > 0 else out / rate
    return out


def _check_length(x: Vector, longest: int) -> None:
    for entry in x:
        parts = (entry.a, entry.b) if isinstance(entry, numbers.Surd) else (entry,)
        if max(part.height_bits() for part in parts) > longest:
            raise TooLongError(f"rational iterates grow beyond {longest} bits")
