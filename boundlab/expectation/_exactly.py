"""The numbers of a program without rounding: a float is read as a fraction times powers of the rates."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from boundlab.algorithms import Algorithm, EventProgram
from boundlab.arithmetic.numbers import Scalar, one_like, rational
from boundlab.errors import SpecError
from boundlab.execute.rationals import number_of, recipe
from boundlab.expectation._graph import Arithmetic
from boundlab.options import Options


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
        return number_of(recipe(key, values, (2.0,) * len(values)), exact, lambda one: one, balls=True)

    return Arithmetic(programs, number, step, lambda one: rational(one) * one_like(*exact))


def of_algorithm(
    algorithm: Algorithm[Any],
    values: Mapping[str, Any],
    clients: int,
    rates: Iterable[str],
    number: Callable[[str], Scalar],
) -> tuple[Arithmetic[Scalar], Scalar]:
    """Return the arithmetic of an algorithm's program, and 1 in the kind of numbers that it has.

    Parameters
    ----------
    values
        All options, by name.
    rates, number
        Those that are rates, and what they are without rounding, or as balls.
    """
    names, step = list(rates), None
    if {"c", "d"} <= set(values):
        names = ["c", "d"]
        c, d = (number(name) for name in names)
        exact, step = [c, d], lambda k: c / (k + d)
    else:
        exact = [number(name) for name in names]

    def program(given: Mapping[str, float]) -> EventProgram:
        found = algorithm.program(algorithm.read(Options(algorithm.id, {**values, **given})), clients)
        assert found is not None  # noqa: S101  (there is an engine)
        return found

    floats = {name: float(values[name]) for name in names}
    return in_exact_numbers(program, floats, exact, step), one_like(*exact)


def _doubled(
    program: Callable[[Mapping[str, float]], EventProgram], rates: Mapping[str, float], name: str
) -> EventProgram | None:
    """Return the program with one rate doubled; None where the algorithm fixes it."""
    try:
        return program({**rates, name: 2.0 * rates[name]})
    except SpecError:
        return None
