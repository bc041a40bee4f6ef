"""Checks of the suite, each with a name; and comparisons up to rounding that say in a sentence what disagrees."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from boundlab.errors import BoundlabError, SpecError
from boundlab.options import Options
from boundlab.randomness import Floats

ROUNDING = 1e-9  # of the largest number in sight: sums of a few thousand terms, and a solver's last digits


@final
@dataclass(frozen=True)
class Check:
    """A check that pytest shows on a line of its own: ``parametrize("check", conform.checks(MINE))``.

    Parameters
    ----------
    name
        The object and the fact, in words.
    run
        Raises AssertionError, with one sentence, where the fact does not hold.
    """

    name: str
    run: Callable[[], None]

    def __post_init__(self) -> None:
        object.__setattr__(self, "__name__", self.name)  # what pytest takes for the id of a parameter

    def __call__(self) -> None:
        """Run the check."""
        self.run()


def named(who: str, parts: Mapping[str, Callable[..., None]], *given: Any) -> Iterator[Check]:
    """Yield the checks of an object: name → function of ``given``, whose sentences are about the object."""
    for name, part in parts.items():
        yield Check(f"{who}: {name}", about(who)(partial(part, *given)))


def of_examples(
    who: str, family: Any, checks: Callable[[str, Any, Any], Iterator[Check]], *more: Any
) -> Iterator[Check]:
    """Yield the checks of what a family makes of each of its examples, or one that fails where it takes it not."""
    for place, example in enumerate(family.examples, 1):
        name, given = f"{who}, example {place}", dict(example)
        try:
            made = family.build(Options(who, given), *more)
        except BoundlabError as error:
            words = f"{given} is refused: {error}; declare examples that are taken"
            yield from named(name, {"it is taken": partial(expect, False, words)})
        else:
            yield from checks(name, made, family)


def rebuilt(who: str, given: Any, build: Callable[[Options], Any]) -> Any:
    """Return what a family builds of the spec() of an object, once its spec() is that JSON, too."""
    spec = given.spec()
    expect(json.loads(json.dumps(spec)) == spec, "spec() must hold numbers, text and lists only, as JSON does")
    expect(spec.get("type") == given.id, f"spec() says type {spec.get('type')!r}")
    again = build(Options(who, {key: value for key, value in spec.items() if key != "type"}))
    expect(again.spec() == spec, "spec() of what spec() rebuilds differs")
    return again


def at_each(places: Callable[[Any], Iterable[Any]], *checks: Callable[[Any], None]) -> Callable[..., None]:
    """Return what asks every place of what is looked at; each says ``who`` it is."""

    def ask(given: Any, *_: Any) -> None:
        for at in places(given):
            with about(at.who):
                for check in checks:
                    check(at)

    return ask


def reads_declared(
    owner: str, read: Callable[[Options], object], given: Mapping[str, Any], says: Mapping[str, str]
) -> set[str]:
    """Return the options that are read, once each has a line of help, and one that has none is refused."""
    options = Options(owner, given)
    read(options)
    unsaid = sorted(options.seen - says.keys())
    expect(not unsaid, f"option {', '.join(unsaid)} is read, but not declared")
    silent = [name for name, line in says.items() if not line.strip()]
    expect(not silent, f"option {', '.join(silent)} has no line of help")
    name = next(name for name in ("nonsense", "nonsense_") if name not in says)
    try:
        read(Options(owner, {**given, name: 1}))
    except SpecError as error:
        expect(name in str(error), f"an unknown option is refused without its name: {error}")
    else:
        expect(False, "an unknown option is not refused")
    return options.seen


@contextmanager
def about(who: str) -> Iterator[None]:
    """Have sentences begin with what they are about; what is refused meanwhile is a fact that does not hold."""
    try:
        yield
    except AssertionError as error:
        if not str(error).startswith(who):
            error.args = (f"{who}: {error}",)
        raise
    except BoundlabError as error:
        raise AssertionError(f"{who}: {error}") from error


def expect(condition: object, sentence: str) -> None:
    """Raise AssertionError with this sentence unless the condition holds."""
    if not condition:
        raise AssertionError(sentence)


def spoken(given: object, *names: str) -> None:
    """Raise AssertionError unless an object has words for people under each name."""
    for name in names:
        expect(str(getattr(given, name, "")).strip(), f"it has no {name}")


def reasoned(what: str, said: object) -> None:
    """Raise AssertionError unless an answer is '', for what is so, or a sentence that says why it is not."""
    sentence = isinstance(said, str) and (said == "" or len(said.split()) > 3)
    expect(sentence, f"{what} must be '' or a sentence, got {said!r}")


def equal(
    what: str,
    found: ArrayLike,
    expected: ArrayLike,
    *,
    scale: float = 0.0,
    rounding: float = ROUNDING,
    axes: Sequence[str] = (),
) -> None:
    """Raise AssertionError unless two arrays have the same shape and are equal up to rounding.

    Parameters
    ----------
    what
        What is compared, in words: "values(X) and value(x) row by row".
    scale
        Rounding is relative to the largest entry of both, or to this where it is larger.
    rounding
        How much of that is allowed.
    axes
        What a place of each axis is called: "server update", "update".
    """
    a, b = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    expect(a.shape == b.shape, f"{what} differ in shape: {a.shape} and {b.shape}")
    allowed = rounding * max(scale, np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0))
    for one, other, place in _worst(np.abs(a - b) - allowed, a, b, axes):
        expect(False, f"{what} differ: {one} and {other}{place}")


def at_most(what: str, found: ArrayLike, limit: ArrayLike, *, scale: ArrayLike = 0.0, axes: Sequence[str] = ()) -> None:
    """Raise AssertionError unless found ≤ limit entry by entry, up to rounding.

    Parameters
    ----------
    what
        What is bounded by what, in words: "‖∇f_i‖ ≤ B".
    scale
        Rounding is relative to each limit, or to this where it is larger.
    axes
        As :func:`equal` takes them.
    """
    a, b = np.broadcast_arrays(np.asarray(found, dtype=np.float64), np.asarray(limit, dtype=np.float64))
    above = a - b - ROUNDING * np.maximum(np.abs(b), scale)
    for one, other, place in _worst(above, a, b, axes):
        expect(False, f"{what} fails: {one} is above {other}{place}")


def _worst(above: Any, a: Floats, b: Floats, axes: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield both sides where the largest number is, and this place, unless all are at most 0; a NaN is not."""
    if not (above <= 0.0).all():
        at = tuple(int(one) for one in np.unravel_index(int(np.argmax(above)), above.shape))
        place = ", ".join(f"{axis} {index}" for axis, index in zip(axes, at, strict=True)) if axes else f"entry {at}"
        yield f"{a[at]:.10g}", f"{b[at]:.10g}", f", at {place}" if at else ""
