"""The numbers of a program without rounding: a float is read as a fraction times powers of the rates."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from boundlab.algorithms import EventProgram
from boundlab.arithmetic.numbers import Scalar
from boundlab.errors import SpecError
from boundlab.execute.rationals import number_of, recipe
from boundlab.expectation._graph import Arithmetic


def in_exact_numbers(
    program: Callable[[Mapping[str, float]], EventProgram],
    rates: Mapping[str, float],
    exact: Sequence[Scalar],
    step: Callable[[int], Scalar] | None,
) -> Arithmetic[Scalar]:
    """Return the arithmetic of a program whose rates are known exactly, or as balls.

    Parameters
    ----------
    program
        Gives the program for rates by name, in floating point.
    rates, exact
        Their floats, and in the same order what these stand for.
    step
        α_k where the step size is c/(k + d).
    """
    base = program(rates)
    programs = [base, *(_doubled(program, rates, name) or base for name in rates)]
    values = tuple(rates.values())

    def number(key: tuple[float, ...]) -> Any:
        # What is no simple fraction, such as (τ + 1)^−a, becomes a ball.
        return number_of(recipe(key, values), exact, lambda one: one, balls=True)

    return Arithmetic(programs, number, step)


def _doubled(
    program: Callable[[Mapping[str, float]], EventProgram], rates: Mapping[str, float], name: str
) -> EventProgram | None:
    """Return the program with one rate doubled; None where the algorithm fixes it."""
    try:
        return program({**rates, name: 2.0 * rates[name]})
    except SpecError:
        return None
