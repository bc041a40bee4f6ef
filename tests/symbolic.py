"""A reader of tapes in symbols: registers are SymPy expressions, so that a tape prints as a paper would write it.

Two kinds of gradients: :func:`named_gradients` makes each local step a fresh symbol, and every iterate is a linear
combination of gradients; any callable gives them as expressions, such as ∇f_i of a quadratic with symbolic a and b.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias, final

import sympy

from boundlab.arithmetic.rational import Limits, rational
from boundlab.execute import Combine, Numbers, Show, Update, own_numbers, rows, starts
from boundlab.tape import Tape

PRINTED = Limits(10**6, 12)  # what a paper would print: coefficients of iterates, products of a few rates
Point: TypeAlias = Any  # a SymPy expression


class Vector(sympy.Symbol):  # type: ignore[misc]
    """A letter that stands for a point or a gradient, as opposed to a number such as a step size."""

    __slots__ = ()


@final
@dataclass(frozen=True, slots=True)
class LocalStep:
    """One local step of a run, for those who name or compute its gradient.

    Parameters
    ----------
    client, update
        0-based client, and which of its updates it belongs to (``tape.descend.update``).
    step
        1-based place among the local steps of the run.
    row
        Row of ``tape.descend``.
    """

    client: int
    update: int
    step: int
    row: int


Gradient = Callable[[LocalStep, Point], Point]


@final
@dataclass(frozen=True, slots=True)
class SymbolicRecord:
    """Output of a Record instruction."""

    iteration: int
    version: int
    time: float
    x: Point


@final
@dataclass(frozen=True, slots=True)
class SymbolicRun:
    """The records of a run in their order, and its final registers (None: never written)."""

    records: tuple[SymbolicRecord, ...]
    registers: tuple[Point, ...]


def number(value: float) -> sympy.Rational:
    """Return the rational number that a float stands for, or the binary fraction that it is.

    Examples
    --------
    >>> number(1 / 3), number(0.1), number(1e-9)
    (1/3, 1/10, 1/1000000000)
    """
    meant = rational(value, PRINTED)
    found = Fraction(value) if meant is None else meant
    return sympy.Rational(found.numerator, found.denominator)


def named_gradients(name: Callable[[LocalStep], str] | None = None) -> Gradient:
    """Return gradients that are fresh letters, one a local step, wherever they are taken.

    Parameters
    ----------
    name
        The LaTeX of a step's gradient; by default ``g_{client,step}^{update}``, clients and updates counted from 0
        and steps from 1.
    """
    spell = name or (lambda step: f"g_{{{step.client},{step.step}}}^{{{step.update}}}")
    return lambda step, _point: Vector(spell(step))


def run(
    tape: Tape,
    x0: Point,
    gradient: Gradient,
    step_size: Mapping[float, sympy.Expr] | None = None,
) -> SymbolicRun:
    """Execute a tape on expressions.

    Parameters
    ----------
    tape
        The program, without implicit steps: the gradient of one is that at the new point.
    x0
        What START registers hold: a name (of a :class:`Vector`), or an expression.
    gradient
        gradient(step, point) is the gradient that local step ``step`` takes at ``point``.
    step_size
        Step sizes that stay symbols: ``{0.1: eta}`` prints η where the tape has 0.1. The others become rationals.

    Returns
    -------
    SymbolicRun

    Examples
    --------
    >>> from boundlab.algorithms import StepSize
    >>> from boundlab.tape import RecordAt
    >>> from boundlab.algorithms.area import AREA, AreaParameters
    >>> from boundlab.events import Events
    >>> import numpy as np
    >>> events = Events(np.array([1.0, 2.0]), np.array([0, -1], dtype=np.int32))
    >>> tape = AREA.schedule(AreaParameters(StepSize(0.5)), events, 2, RecordAt(), 2)
    >>> run(tape, "x", named_gradients(), {0.5: sympy.Symbol("alpha")}).records[-1].x
    -alpha*g_{0,1}^{0}/2 + x
    """
    start = Vector(x0) if isinstance(x0, str) else x0
    registers: list[Any] = starts(tape, start, sympy.Integer(0))
    exact = cache(number)
    sizes, given, record = dict(step_size or {}), own_numbers(tape), tape.record
    own = Numbers(
        [exact(value) for value in given.coefficients],
        [sizes[value] if value in sizes else exact(value) for value in given.step_sizes],
        [exact(value) for value in given.local],
    )
    records: list[SymbolicRecord] = []
    for row in rows(tape, own):
        match row:
            case Combine(dst, parts):
                registers[dst] = sympy.expand(sum(weight * registers[source] for weight, source in parts))
            case Update():
                point, update = registers[row.src], int(tape.descend.update[row.row])
                for place, size in enumerate(row.sizes, 1):
                    step = LocalStep(row.client, update, place, row.row)
                    point = sympy.expand(point - size * gradient(step, point))
                registers[row.dst] = point
            case Show(shown, src):
                k, version, time = record.iteration[shown], record.version[shown], record.time[shown]
                records.append(SymbolicRecord(int(k), int(version), float(time), registers[src]))
    return SymbolicRun(tuple(records), tuple(registers))


def terms(iterate: sympy.Expr) -> dict[sympy.Expr, sympy.Expr]:
    """Return a linear combination of letters as letter → coefficient.

    Letters whose coefficients add up to 0 do not appear; what is not a number times one letter stands under 1.

    Examples
    --------
    >>> x, g, eta = Vector("x"), Vector("g_{2,1}^{1}"), sympy.Symbol("eta")
    >>> terms(x - eta * g / 2) == {x: 1, g: -eta / 2}
    True
    """
    found: dict[sympy.Expr, sympy.Expr] = {}
    for term in sympy.Add.make_args(sympy.expand(iterate)):
        letters = term.atoms(Vector)
        letter = letters.pop() if len(letters) == 1 else sympy.Integer(1)
        found[letter] = found.get(letter, sympy.Integer(0)) + term / letter
    return {letter: size for letter, size in found.items() if size != 0}
