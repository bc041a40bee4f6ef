"""The numbers of a program without rounding."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from boundlab.algorithms import Algorithm, EventProgram
from boundlab.arithmetic.numbers import Scalar, one_like, read_number
from boundlab.arithmetic.rational import Recipe, evaluated
from boundlab.delays import DelayModel
from boundlab.errors import SpecError
from boundlab.expectation._graph import Arithmetic
from boundlab.options import Options, number


def in_exact_numbers(program: EventProgram, rates: Sequence[Scalar] = ()) -> Arithmetic[Scalar]:
    """Return the arithmetic of a program: rational numbers, or balls where these do not do.

    Parameters
    ----------
    program
        Whose numbers know what they stand for; a float is the fraction that it stands for.
    rates
        In the order of their recipes.
    """
    # What is no rational number, such as (τ + 1)^−a, becomes a ball.
    return Arithmetic(program, lambda value: evaluated([value], rates, balls=None)[0] * one_like(*rates))


def exact_parameters(algorithm: Algorithm[Any], values: Mapping[str, Any], rates: Iterable[str]) -> Any:
    """Return parameters whose numbers know what they stand for.

    Parameters
    ----------
    values
        All options, by name.
    rates
        Those that are known without rounding elsewhere: they are rate 0, 1, … of all recipes.
    """
    own = {name: _at_its_word(value) for name, value in values.items()}
    own |= {name: Recipe(float(values[name]), ("rate", place)) for place, name in enumerate(rates)}
    return algorithm.read(Options(algorithm.id, own)).known()


def _at_its_word(value: Any) -> Any:
    """Return text such as 0.1 or 1/3 as that number; whole numbers may be words."""
    if not isinstance(value, str) or not {".", "/"} & {*value}:
        return value
    try:
        return Recipe(number(value, ""), read_number(value, ""))
    except SpecError:
        return value


def of_algorithm(
    algorithm: Algorithm[Any],
    values: Mapping[str, Any],
    clients: int,
    delays: DelayModel,
    rates: Sequence[str],
    exact: Callable[[str], Scalar],
) -> tuple[Arithmetic[Scalar], Scalar]:
    """Return the arithmetic of an algorithm's program, and 1 in the kind of numbers that it has.

    Parameters
    ----------
    values, rates
        As :func:`exact_parameters` takes them.
    exact
        What rates are without rounding, or as balls.
    """
    program = algorithm.under(exact_parameters(algorithm, values, rates), clients, delays)
    assert program is not None  # noqa: S101  (there is an engine)
    known = [exact(name) for name in rates]
    return in_exact_numbers(program, known), one_like(*known)
