"""What all algorithms share: options that are declared once, and are those that are read."""

from dataclasses import dataclass
from typing import Any

import pytest

from boundlab.algorithms import Algorithm, Parameters
from boundlab.algorithms import _option as option
from boundlab.errors import SpecError
from boundlab.options import Options
from boundlab.registry import registered

ALGORITHMS: dict[str, Algorithm[Any]] = registered("algorithms")
# Enough to read the options of any algorithm.
REQUIRED = {"alpha": 0.5, "eta": 0.5, "eta_l": 0.5, "beta": 0.5, "K": 9}


def smallest(algorithm: Algorithm[Any]) -> Options:
    """Return the required options."""
    given = {name: value for name, value in REQUIRED.items() if name in algorithm.parameters}
    if algorithm.id in ("gd", "fedcompass"):
        given = {name: value for name, value in given.items() if name in ("alpha", "eta")}
    return Options(algorithm.id, given)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_options_with_help_are_those_that_are_read(name: str) -> None:
    algorithm = ALGORITHMS[name]
    options = smallest(algorithm)
    assert isinstance(algorithm.read(options), algorithm.parameter_type)
    assert options.seen - set(algorithm.parameters) == set()
    assert all(algorithm.parameters.values())
    with pytest.raises(SpecError, match=f"{name} has no option 'nonsense'"):
        algorithm.read(Options(name, {**options.values, "nonsense": 1}))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_what_is_read_without_options_is_the_default_of_the_fields(name: str) -> None:
    algorithm = ALGORITHMS[name]
    read = algorithm.read(smallest(algorithm))
    defaults = {one.name: one.default for one in read.__dataclass_fields__.values()}
    given = smallest(algorithm).values
    for field, default in defaults.items():
        if type(default).__name__ != "_MISSING_TYPE" and field not in given:
            assert getattr(read, field) == default, field


@dataclass(frozen=True, slots=True)
class Inner(Parameters):
    """A part."""

    b: int = option.integer("inner number", 2, maximum=3)


@dataclass(frozen=True, slots=True)
class Outer(Parameters):
    """One option of each sort."""

    a: float = option.number("needed", above=0.0)
    word: str = option.choice("some word", ("one", "two"), "two")
    inner: Inner = option.part(Inner)
    late: int | None = option.integer("may be absent", None, minimum=5)
    sure: bool = option.flag("yes or no")
    pair: tuple[int, int] = option.custom(
        {"left": "first", "right": "second"},
        lambda options, _: (options.integer("left", 0), options.integer("right", 1)),
        (0, 1),
    )

    def check(self, owner: str) -> None:
        """Refuse sure without late."""
        if self.sure and self.late is None:
            raise SpecError(f"{owner}: sure needs late")


def test_options_are_declared_where_their_fields_stand() -> None:
    assert list(option.says(Outer).items()) == [
        ("a", "needed"), ("word", "some word"), ("b", "inner number"), ("late", "may be absent"),
        ("sure", "yes or no"), ("left", "first"), ("right", "second"),
    ]  # fmt: skip
    read = option.read(Outer, Options("it", {"a": "1/2", "b": 3, "right": 7}))
    assert read == Outer(0.5, "two", Inner(3), None, False, (0, 7))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"b": 9}, "it needs the option a"),  # before anything else is read
        ({"a": 0}, "it: a must be > 0, got 0"),
        ({"a": 1, "b": 9}, "it: b must be between 0 and 3, got 9"),
        ({"a": 1, "late": 4}, "it: late must be ≥ 5, got 4"),
        ({"a": 1, "word": "three"}, "it: word must be one of one, two, got 'three'"),
        ({"a": 1, "sure": "yes", "c": 1}, "it: sure needs late"),
        ({"a": 1, "inner": 1}, "it has no option 'inner'"),
    ],
)
def test_refused_options(given: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=f"^{message}"):
        option.read(Outer, Options("it", given))
