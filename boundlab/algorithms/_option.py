"""Options of algorithms, each declared once: where its field stands, with its line of help and its limits.

    @dataclass(frozen=True, slots=True)
    class MyParameters(Parameters):
        alpha: float = option.number("step size", above=0.0)
        M: int = option.integer("local steps (default 1)", 1, minimum=1)

An option without a default is required. :func:`read` reads them in the order of the fields, :func:`says` gives the
help. Options that make one value together have one field: :func:`custom` or :func:`part`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Self, TypeVar, final

import numpy as np

from boundlab.arithmetic.rational import Recipe, stands_for
from boundlab.options import Options

_KEY = "option"
_Read = Callable[[Options, str], Any]
_SMALL = 20.0  # examples of numbers are no larger: searches begin with short runs
Examples = Callable[[int], Sequence[str]] | Sequence[str]
"""Some values of an option as they are typed, the simplest first, '' for none: a list, or one for n clients."""


class Parameters:
    """Values of an algorithm's options; subclasses are frozen dataclasses."""

    __slots__ = ()

    @property
    def exact(self) -> bool:
        """True if their numbers know what they stand for."""
        return _exact(self)

    def known(self, of: Callable[[float], Fraction] = stands_for) -> Self:
        """Return them with numbers that know what they stand for; programs and tapes have such numbers then, too.

        Parameters
        ----------
        of
            What a float stands for that does not know it yet.
        """
        found: Self = _known(self, of)
        return found

    def check(self, owner: str) -> None:
        """Refuse options that do not go together.

        Parameters
        ----------
        owner
            Whose options they are, for messages.

        Raises
        ------
        SpecError
            Which begins with the owner.
        """


@final
@dataclass(frozen=True, slots=True)
class _Option:
    """The options behind a field: option → one line on what it is ('' for the field's own name), and the reader.

    ``examples`` has values to try, for the options that say some.
    """

    says: Mapping[str, str]
    read: _Read
    required: bool
    examples: Callable[[int], Mapping[str, Sequence[str]]]


def custom(
    says: str | Mapping[str, str], read: _Read, default: Any = MISSING, examples: Mapping[str, Examples] | None = None
) -> Any:
    """Declare a field with a reader of its own, read(options, name of the field).

    Parameters
    ----------
    says
        The help of the option with the field's name, or of all options that the reader reads.
    default
        The field's value where nothing is read; the reader decides what happens where an option is missing.
    examples
        Option ('' for the field's own name) → values that differ in what they do, for searches.
    """
    some = examples or {}
    option = _Option(
        {"": says} if isinstance(says, str) else says,
        read,
        False,
        lambda clients: {name: one(clients) if callable(one) else one for name, one in some.items()},
    )
    return field(default=default, metadata={_KEY: option})


def part(kind: type[Parameters]) -> Any:
    """Declare a field whose value is made of options of its own; all of them have defaults."""
    option = _Option(
        says(kind), lambda options, _: _fill(kind, options), False, lambda clients: examples(kind, clients)
    )
    return field(default_factory=kind, metadata={_KEY: option})


def number(says: str, default: Any = MISSING, **limits: float) -> Any:
    """Declare a number; limits as in :meth:`Options.number`. The default None stands for an absent option."""
    some = _within([1.0, 0.5, 2.0, 0.1, 10.0], default, limits)
    return _simple(says, default, lambda options, name: options.number(name, _or(default, 1.0), **limits), some)


def integer(says: str, default: Any = MISSING, **limits: int) -> Any:
    """Declare an integer; limits as in :meth:`Options.integer`. The default None stands for an absent option."""
    some = _within([1, 2, 5, 20], default, limits)
    return _simple(says, default, lambda options, name: options.integer(name, _or(default, 1), **limits), some)


def choice(says: str, words: Sequence[str], default: str | None = None) -> Any:
    """Declare one of several words, the first by default."""
    usual = words[0] if default is None else default
    order = dict.fromkeys((usual, *words))
    return _simple(says, usual, lambda options, name: options.choice(name, usual, words), tuple(order))


def flag(says: str) -> Any:
    """Declare a yes/no option, no by default."""
    return _simple(says, False, lambda options, name: options.flag(name), ("no", "yes"))


def _exact(value: Any) -> bool:
    parts = [getattr(value, one.name) for one in fields(value)] if is_dataclass(value) else value
    return any(map(_exact, parts)) if isinstance(parts, (list, tuple)) else isinstance(value, Recipe)


def _known(value: Any, of: Callable[[float], Fraction]) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: _known(getattr(value, one.name), of) for one in fields(value) if one.init})
    if isinstance(value, tuple):
        return tuple(_known(one, of) for one in value)
    return Recipe(value, of(value)) if isinstance(value, float) and not isinstance(value, Recipe) else value


def _within(values: Sequence[float], default: Any, limits: Mapping[str, float]) -> tuple[str, ...]:
    """Return numbers within the limits as they are typed, a default up to 2 first; '' is no value."""
    low, above, high = limits.get("minimum", -np.inf), limits.get("above", -np.inf), limits.get("maximum", np.inf)
    usual = [] if default is MISSING or default is None or default > 2 else [default]
    inside = [one for one in (*usual, low, *values, high) if low <= one <= high and above < one and abs(one) <= _SMALL]
    return (*([""] if default is None else []), *(f"{one:g}" for one in dict.fromkeys(inside)))


def _simple(says: str, default: Any, read: _Read, some: Sequence[str]) -> Any:
    def read_if_given(options: Options, name: str) -> Any:
        return read(options, name) if options.has(name) else None

    option = _Option({"": says}, read_if_given if default is None else read, default is MISSING, lambda _: {"": some})
    return field(default=default, metadata={_KEY: option})


def _or(default: Any, other: Any) -> Any:
    """Return the default; where there is none it is never used."""
    return other if default is MISSING or default is None else default


def says(kind: type[Parameters]) -> Mapping[str, str]:
    """Return option → one line on what it is, in the order of the fields."""
    return MappingProxyType({key or name: line for name, option in _options(kind) for key, line in option.says.items()})


def defaults(kind: type[Parameters]) -> Mapping[str, str]:
    """Return option → its default as it is typed, where its field says one; "none" where it is left out."""
    found: dict[str, str] = {}
    for one in fields(kind):  # type: ignore[arg-type]
        made: Any = one.default_factory
        if isinstance(made, type) and issubclass(made, Parameters):
            found |= defaults(made)
        elif _KEY in one.metadata and "" in one.metadata[_KEY].says and one.default is not MISSING:
            found[one.name] = "none" if one.default in (None, ()) else str(one.default)
    return MappingProxyType(found)


def examples(kind: type[Parameters], clients: int) -> Mapping[str, Sequence[str]]:
    """Return option → some of its values as they are typed, the simplest first, '' for none, where an option says some.

    Parameters
    ----------
    clients
        n, for options with one entry a client.
    """
    return MappingProxyType(
        {key or name: tuple(some) for name, option in _options(kind) for key, some in option.examples(clients).items()}
    )


P = TypeVar("P", bound=Parameters)


def read(kind: type[P], options: Options) -> P:
    """Read all options.

    Raises
    ------
    SpecError
        If one is missing, unknown or outside its range, or some do not go together.
    """
    found = _fill(kind, options)
    found.check(options.owner)
    options.finish()
    return found


def _fill(kind: type[P], options: Options) -> P:
    declared = _options(kind)
    for name, option in declared:
        if option.required:
            options.require(name)
    return kind(**{name: option.read(options, name) for name, option in declared})


def _options(kind: type[Parameters]) -> list[tuple[str, _Option]]:
    return [(one.name, one.metadata[_KEY]) for one in fields(kind) if _KEY in one.metadata]  # type: ignore[arg-type]
