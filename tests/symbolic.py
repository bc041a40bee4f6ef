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
from boundlab.errors import SpecError
from boundlab.execute import Combine, Numbers, Show, Update, own_numbers, rows, starts
from boundlab.tape import Tape

PRINTED = Limits(10**6, 12)  # what a paper would print: coefficients of iterates, products of a few rates
Point: TypeAlias = Any  # a SymPy expression, or a SymPy column vector of them


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


def number(value: float, limits: Limits | None = PRINTED) -> sympy.Rational:
    """Return the rational number that a float stands for, or the binary fraction that it is.

    Parameters
    ----------
    limits
        How simple the number must be to be meant; None takes every float for the binary fraction that it is.

    Examples
    --------
    >>> number(1 / 3), number(0.1), number(1e-9)
    (1/3, 1/10, 1/1000000000)
    >>> number(1 / 3, None)
    6004799503160661/18014398509481984
    """
    meant = None if limits is None else rational(value, limits)
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
    simplify: Callable[[Point], Point] = sympy.expand,
    limits: Limits | None = PRINTED,
) -> SymbolicRun:
    """Execute a tape on expressions.

    Parameters
    ----------
    tape
        The program.
    x0
        What START registers hold: a name (of a :class:`Vector`), an expression, or a SymPy matrix with one column.
    gradient
        gradient(step, point) is the gradient that local step ``step`` takes at ``point``.
    step_size
        Step sizes that stay symbols: ``{0.1: eta}`` prints η where the tape has 0.1. The others become rationals.
    simplify
        What is done to each new register; by default products are multiplied out.
    limits
        How simple a coefficient or step size must be to be read as a fraction or decimal; see :func:`number`.

    Returns
    -------
    SymbolicRun

    Raises
    ------
    SpecError
        If a gradient does not have the shape of the point it is taken at, or a step is implicit: its gradient
        is that at the new point, which a formula of the old one does not give.

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
    if tape.implicit.any():
        raise SpecError("the symbolic executor has no implicit (proximal) steps; run the tape with numbers")
    start = Vector(x0) if isinstance(x0, str) else x0
    vector = isinstance(start, sympy.MatrixBase)
    zero = sympy.zeros(*start.shape) if vector else sympy.Integer(0)
    registers: list[Any] = starts(tape, start, zero)
    exact = cache(lambda value: number(value, limits))
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
                registers[dst] = simplify(sum((weight * registers[source] for weight, source in parts), start=zero))
            case Update():
                point, update = registers[row.src], int(tape.descend.update[row.row])
                for place, size in enumerate(row.sizes, 1):
                    step = LocalStep(row.client, update, place, row.row)
                    slope = gradient(step, point)
                    if getattr(slope, "shape", ()) != getattr(point, "shape", ()):
                        raise SpecError(f"the gradient of {step} has not the shape of the point {point}")
                    point = simplify(point - size * slope)
                registers[row.dst] = point
            case Show(shown, src):
                k, version, time = record.iteration[shown], record.version[shown], record.time[shown]
                records.append(SymbolicRecord(int(k), int(version), float(time), registers[src]))
    return SymbolicRun(tuple(records), tuple(registers))


def terms(iterate: sympy.Expr) -> dict[sympy.Expr, sympy.Expr]:
    """Return a linear combination of letters as letter → coefficient, x0 first, then the gradients by name.

    Letters whose coefficients add up to 0 do not appear; what is not a number times one letter stands under 1.

    Examples
    --------
    >>> x, g, eta = Vector("x"), Vector("g_{2,1}^{1}"), sympy.Symbol("eta")
    >>> terms(x - eta * g / 2)
    {x: 1, g_{2,1}^{1}: -eta/2}
    """
    found: dict[sympy.Expr, sympy.Expr] = {}
    for term in sympy.Add.make_args(sympy.expand(iterate)):
        letters = term.atoms(Vector)
        letter = letters.pop() if len(letters) == 1 else sympy.Integer(1)
        found[letter] = found.get(letter, sympy.Integer(0)) + term / letter
    order = sorted(found, key=lambda letter: (letter != 1, _is_gradient(letter), str(letter)))
    return {letter: found[letter] for letter in order if found[letter] != 0}


def term_by_term(iterate: sympy.Expr) -> str:
    r"""Return a linear combination of letters in LaTeX, in the order of :func:`terms`.

    Examples
    --------
    >>> x, g, eta = Vector("x"), Vector("g_{2,1}^{1}"), sympy.Symbol("eta")
    >>> print(term_by_term(x - eta * g / 2))
    x - \frac{\eta}{2} g_{2,1}^{1}
    """
    out = ""
    for letter, coefficient in terms(iterate).items():
        minus = coefficient.could_extract_minus_sign()
        size = -coefficient if minus else coefficient
        parts = [] if size == 1 and letter != 1 else [_bracket(size)]
        parts += [] if letter == 1 else [letter.name]
        out += (" - " if minus else " + ") if out else ("-" if minus else "")
        out += " ".join(parts)
    return out or "0"


def _bracket(size: sympy.Expr) -> str:
    text: str = sympy.latex(size)
    return rf"\left({text}\right)" if size.is_Add else text


def _is_gradient(letter: sympy.Expr) -> bool:
    return "g" in str(letter).split("_")[0]
