"""What a proof is: statements, and a computation behind each."""

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, final

import sympy

from boundlab.errors import UndecidedError
from boundlab.signs import vanishes


class Verdict(enum.Enum):
    """What a check found about one statement."""

    VERIFIED = "verified"
    REFUTED = "refuted"
    UNKNOWN = "unknown"


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check.

    Parameters
    ----------
    verdict
        ``verified`` only where SymPy showed the statement for all values; ``refuted`` only with a witness.
    detail
        How it was shown, or the witness.
    """

    verdict: Verdict
    detail: str


@final
@dataclass(frozen=True, slots=True)
class Step:
    """One statement of a proof.

    Parameters
    ----------
    name
        A short name, unique in the proof.
    statement
        The claim, for people.
    check
        Computes the finding; takes no arguments and asserts nothing by itself.
    """

    name: str
    statement: str
    check: Callable[[], Finding]


@final
@dataclass(frozen=True, slots=True)
class StepResult:
    """A statement with what its check found."""

    name: str
    statement: str
    finding: Finding


@final
@dataclass(frozen=True, slots=True)
class Proof:
    """A registered proof.

    Parameters
    ----------
    id
        Its name on the command line.
    summary
        What it shows, in a line.
    source
        Paper and place.
    steps
        In the order of the argument.
    """

    id: str
    summary: str
    source: str
    steps: tuple[Step, ...]

    def run(self) -> tuple[StepResult, ...]:
        """Check every step, whatever the others give."""
        return tuple(StepResult(step.name, step.statement, step.check()) for step in self.steps)


def identity(left: Any, right: Any) -> Finding:
    """Check that two expressions are equal for all positive values of their symbols.

    Both are quotients of polynomials in the symbols and their roots; the numerator of the difference is multiplied out
    in exact arithmetic (:func:`boundlab.signs.vanishes`), and nothing is simplified.

    Parameters
    ----------
    left, right
        SymPy expressions.
    """
    difference = left - right
    try:
        if vanishes(difference):
            return Finding(Verdict.VERIFIED, "the difference is 0, multiplied out")
    except UndecidedError as error:
        return Finding(Verdict.UNKNOWN, f"cannot decide whether {difference} is 0: {error}")
    for point in _points(difference):
        value = difference.subs(point)
        if value.is_number and value.is_finite and not value.equals(0):
            return Finding(Verdict.REFUTED, f"the sides differ by {value} at {_at(point)}")
    return Finding(Verdict.UNKNOWN, f"cannot decide whether {difference} is 0")


def positive(expression: Any) -> Finding:
    """Check that an expression in positive symbols is positive for all their values."""
    top, bottom = sympy.fraction(sympy.together(expression))
    parts = [sympy.expand(part) for part in (top, bottom)]
    if all(part.is_positive for part in parts):
        return Finding(Verdict.VERIFIED, f"{top} and {bottom} are sums of products of positive symbols")
    for point in _points(expression):
        value = expression.subs(point)
        if value.is_number and value.is_real and not value.is_positive:
            return Finding(Verdict.REFUTED, f"the value is {value} at {_at(point)}")
    return Finding(Verdict.UNKNOWN, f"cannot decide the sign of {expression}")


def unique_root(derivative: Any, unknown: Any, root: Any) -> Finding:
    """Check that a function has its only stationary point at ``root``: it is one, and the derivative increases.

    Parameters
    ----------
    derivative
        Of the function, by ``unknown``.
    """
    there = identity(derivative.subs(unknown, root), sympy.Integer(0))
    if there.verdict is not Verdict.VERIFIED:
        return there
    increasing = positive(sympy.diff(derivative, unknown))
    if increasing.verdict is Verdict.VERIFIED:
        return Finding(Verdict.VERIFIED, "it vanishes there and increases strictly")
    return Finding(
        Verdict.UNKNOWN, f"it vanishes there; that it does so nowhere else is not shown: {increasing.detail}"
    )


def _points(expression: Any) -> list[Mapping[Any, Any]]:
    """Return a few rational points of positive coordinates."""
    symbols = sorted(expression.free_symbols, key=str)
    grid = [sympy.Rational(1, 3), sympy.Integer(1), sympy.Integer(7)]
    corners = product(grid, repeat=min(len(symbols), 4))
    return [
        {symbol: corner[place % len(corner)] + place // len(corner) for place, symbol in enumerate(symbols)}
        for corner in corners
    ]


def _at(point: Mapping[Any, Any]) -> str:
    return ", ".join(f"{symbol} = {value}" for symbol, value in point.items())
