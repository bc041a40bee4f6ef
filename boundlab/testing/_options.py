"""Checks that the options of an algorithm are the ones that it documents."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from typing import Any

from boundlab.algorithms import Algorithm
from boundlab.errors import BoundlabError, SpecError
from boundlab.options import Options
from boundlab.testing._agree import expect

# "model (default): …", "local steps (default 1)", "…; default constant": the word is what stands for an absent option.
_DEFAULTS = (r"(\S+) \(default\b", r"\(default:? ([^\s,;)]+)[^()]*\)", r"default:? ([^\s,;)]+)\)?$")


def parameters(who: str, algorithm: Algorithm[Any], given: Mapping[str, Any]) -> Any:
    """Check the options against their help and their fields; return what is read of the given ones."""
    options = Options(algorithm.id, given)
    try:
        found = algorithm.read(options)
    except BoundlabError as error:
        raise AssertionError(f"{who}: the options {dict(given)} are refused: {error}") from error
    again = algorithm.read(Options(algorithm.id, json.loads(json.dumps(dict(given)))))
    expect(again == found, f"{who}: the options {dict(given)} are read as other ones once they have been JSON")
    kind = algorithm.parameter_type
    expect(isinstance(found, kind), f"{who}: read() gives a {type(found).__name__}, not a {kind.__name__}")
    declared = algorithm.parameters
    for name in sorted(options.seen ^ set(declared)):
        words = "is declared, but never read" if name in declared else "is read, but not declared"
        expect(False, f"{who}: option {name} {words}")
    for name, line in declared.items():
        expect(bool(line.strip()), f"{who}: option {name} has no line of help")
    for name in algorithm.local_rates:
        expect(name in declared, f"{who}: local_rates names {name}, which is no option")
    expect(
        algorithm.server != "count" or "count" in declared, f"{who}: server is 'count', but there is no option count"
    )
    _unknown(who, algorithm, given)
    for field in fields(kind):
        usual = field.default_factory() if field.default_factory is not MISSING else field.default
        if usual is not MISSING and field.name not in given and not _spelt(declared, field.name, given):
            value = getattr(found, field.name)
            expect(value == usual, f"{who}: without the option {field.name} it is {value!r}; its default is {usual!r}")
    for name, word in _documented(declared):
        if name in given:
            continue
        try:
            explicit = algorithm.read(Options(algorithm.id, {**given, name: word}))
        except SpecError:
            continue  # words for people, such as "all", or a default that depends on another option
        expect(
            explicit == found, f"{who}: the help of {name} says that {word} is the default, but {name}={word} differs"
        )
    return found


def _unknown(who: str, algorithm: Algorithm[Any], given: Mapping[str, Any]) -> None:
    """Check that an option that nobody declared is refused."""
    name = next(name for name in ("nonsense", "nonsense_") if name not in algorithm.parameters)
    try:
        algorithm.read(Options(algorithm.id, {**given, name: 1}))
    except SpecError as error:
        expect(name in str(error), f"{who}: an unknown option is refused without its name: {error}")
    else:
        expect(False, f"{who}: an unknown option is not refused")


def _spelt(declared: Mapping[str, str], field: str, given: Mapping[str, Any]) -> bool:
    """Return whether a field may come from given options of other names."""
    return field not in declared and bool(given)


def _documented(declared: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, line in declared.items():
        found = next((match for match in (re.search(pattern, line) for pattern in _DEFAULTS) if match), None)
        if found is not None:
            yield name, found.group(1)
