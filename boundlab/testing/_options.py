"""Checks of an algorithm's options: they are the documented ones, each has an effect, and staleness functions damp."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import Algorithm, Staleness
from boundlab.delays import DelayModel
from boundlab.errors import SpecError
from boundlab.instance.example_options import Setting, surroundings
from boundlab.options import Options
from boundlab.testing._check import about, expect
from boundlab.testing._interpret import NEGLIGIBLE
from boundlab.testing._subject import ITERATIONS, REFUSED, CompiledRun, Subject

# "model (default): …", "local steps (default 1)", "…; default constant": the word is what stands for an absent option.
_DEFAULTS = (r"(\S+) \(default\b", r"\(default:? ([^\s,;)]+)[^()]*\)", r"default:? ([^\s,;)]+)\)?$")
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_CLOSE = 1e-9
_close = partial(np.allclose, rtol=0.0, atol=_CLOSE)
_TRIALS = (1, 2, 3)
_COMBINATIONS = 24


def declared(subject: Subject) -> None:
    """Check every setting against the help of the options and the fields of the parameters."""
    for setting in subject.settings:
        _declared(subject.algorithm, setting)


def _declared(algorithm: Algorithm[Any], given: Mapping[str, Any]) -> None:
    says, kind = algorithm.parameters, algorithm.parameter_type
    with about(f"the options {dict(given)} are refused"):
        found = algorithm.read(Options(algorithm.id, given))
    again = algorithm.read(Options(algorithm.id, json.loads(json.dumps(dict(given)))))
    expect(again == found, f"the options {dict(given)} are read as other ones once they have been JSON")
    expect(isinstance(found, kind), f"read() gives a {type(found).__name__}, not a {kind.__name__}")
    for name in sorted(says.keys() - reads_declared(algorithm.id, algorithm.read, given, says)):
        expect(False, f"option {name} is declared, but never read")
    for name in algorithm.step_size_symbols:
        expect(name in says, f"step_size_symbols names {name}, which is not an option")
    expect(algorithm.server != "count" or "count" in says, "server is 'count', but there is no option count")
    for field in fields(kind):
        usual = field.default_factory() if field.default_factory is not MISSING else field.default
        spelt = field.name not in says and bool(given)  # perhaps by given options of other names
        if usual is not MISSING and field.name not in given and not spelt:
            value = getattr(found, field.name)
            expect(value == usual, f"without the option {field.name} it is {value!r}; its default is {usual!r}")
    for name, word in _documented(says):
        try:
            explicit = found if name in given else algorithm.read(Options(algorithm.id, {**given, name: word}))
        except SpecError:
            continue  # words for people, such as "all", or a default that depends on another option
        expect(explicit == found, f"the help of {name} says that {word} is the default, but {name}={word} differs")


def reads_declared(
    owner: str, read: Callable[[Options], object], given: Mapping[str, Any], says: Mapping[str, str]
) -> set[str]:
    """Return the options that are read, once each has a line of help, and one that has none is refused."""
    options = Options(owner, given)
    read(options)
    for name in sorted(options.seen - says.keys()):
        expect(False, f"option {name} is read, but not declared")
    for name, line in says.items():
        expect(line.strip(), f"option {name} has no line of help")
    name = next(name for name in ("nonsense", "nonsense_") if name not in says)
    try:
        read(Options(owner, {**given, name: 1}))
    except SpecError as error:
        expect(name in str(error), f"an unknown option is refused without its name: {error}")
    else:
        expect(False, "an unknown option is not refused")
    return options.seen


def _documented(says: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the options whose help says a default, with it."""
    for name, line in says.items():
        found = next((match for match in (re.search(pattern, line) for pattern in _DEFAULTS) if match), None)
        if found is not None:
            yield name, found.group(1)


def effects(subject: Subject) -> None:
    """Check that some values of every option make different runs."""
    a = subject.algorithm
    for name, some in a.examples(subject.n).items():
        if name not in a.step_size_symbols and len(some) > 1:
            shown = ", ".join(value or "none" for value in some)
            expect(_differ(subject, name, some), f"option {name} has no effect: {shown} make the same runs")


def _differ(subject: Subject, name: str, some: Sequence[str]) -> bool:
    """Return whether some values differ in some surroundings, or hardly any can be run."""
    most = 0
    for setting, model, iterations, trial in _places(subject):
        runs: list[bytes] = []
        for value in some:
            given = {key: word for key, word in {**setting, name: value}.items() if word}
            try:
                runs.append(_fingerprint(subject.schedule(given, model, iterations, trial)))
            except REFUSED:
                continue
        most = max(most, len(runs))
        if len(set(runs)) > 1:
            return True
    return most < 2


def _places(subject: Subject) -> Iterator[tuple[Setting, DelayModel, int, int]]:
    """Yield where values may differ: in which setting, under which delays, in how many iterations, in which trial.

    Horizons are short, too, for methods that are told one; there are several trials, since two draws may happen to be
    equal; and in the end there are many combinations of options, since one may need two others.
    """
    first, *others = subject.models
    runs = [(first, ITERATIONS, 0), (first, 2, 0), *((first, ITERATIONS, trial) for trial in _TRIALS)]
    runs += [(model, ITERATIONS, 0) for model in others]
    for run in runs:
        for setting in surroundings(subject.who, subject.algorithm, subject.n, subject.drawn):
            yield setting, *run
    for setting in surroundings(subject.who, subject.algorithm, subject.n, _COMBINATIONS):
        yield setting, first, ITERATIONS, 0


def _fingerprint(at: CompiledRun) -> bytes:
    """Return what only equal runs share: the events, and the program."""
    tape = at.long
    parts: list[NDArray[Any]] = [tape.events.time, tape.events.actor, tape.op, tape.row, tape.local, tape.implicit]
    for table in (tape.affine, tape.descend, tape.record, tape.uses):
        parts += [getattr(table, one.name) for one in fields(table)]
    return repr(tape.events.detail).encode() + b"".join(part.tobytes() for part in parts)


def damping(subject: Subject) -> None:
    """Check every option that is a staleness function in every setting, against the constant one."""
    a, model = subject.algorithm, subject.models[0]
    parameters = a.read(Options(a.id, subject.settings[0]))
    names = [one.name for one in fields(parameters) if isinstance(getattr(parameters, one.name), Staleness)]
    for name, typed in ((one, typed) for one in names for typed in a.examples(subject.n).get(one, ())):
        told = []
        for setting in subject.settings:
            both = [({**setting, name: word}, model) for word in (typed, "constant")]
            found = list(subject.runs(both))
            if len(found) == len(both):
                told.append(_damps(found[0], found[1], name, typed))
        words = f"option {name}={typed} is ignored: it damps no update that arrives late"
        expect(set(told) <= {None} or True in told, words)


def _damps(at: CompiledRun, plain: CompiledRun, name: str, typed: str) -> bool | None:
    """Check that a staleness function multiplies the weights with which stale updates enter the server's model.

    The staleness may be counted at the arrival or at the use, from 0, from 1 on as some papers do, or from what another
    option says; where weights are normalised, they are multiplied up to a factor of each server update.

    Parameters
    ----------
    at, plain
        The same events with the function and with a constant one.
    name, typed
        The option, and its value in words.

    Returns
    -------
    bool or None
        Whether updates are damped: not where weights of single updates are normalised, whatever the function is. None
        where no update is so stale.
    """
    tape, s = at.long, getattr(at.parameters, name)
    (used, weight), (constant, usual) = _entering(at), _entering(plain)
    arrival, start = tape.version[tape.descend.arrival], tape.descend.version
    late = np.flatnonzero((used >= 0) & (constant >= 0) & (np.maximum(arrival, used) > start))
    if s.kind == "constant" or not len(late):
        return None
    ratio, since = weight[late] / usual[late], start[late]
    numbers = (getattr(at.parameters, one.name) for one in fields(at.parameters))
    offsets = {0, 1, *(one for one in numbers if isinstance(one, int))}
    for tau, offset in product((arrival[late] - since, used[late] - since), sorted(offsets)):
        expected = np.array([s(int(one) + offset) for one in tau])
        told = _proportional(used[late], ratio, expected)
        if told or _close(ratio, expected):
            return None if _close(expected, 1.0) else True
    if told is None and _close(ratio, 1.0):
        return False
    tau = arrival[late] - since
    expected = np.array([s(int(one)) for one in tau])
    row = int(np.argmax(np.abs(ratio - expected)))
    raise AssertionError(
        f"{at.who}: option {name}={typed} is not the function of staleness that it says: update {late[row]} arrives "
        f"{tau[row]} versions late and enters with {ratio[row]:.10g} times its constant weight, where "
        f"s({tau[row]}) = {expected[row]:.10g}"
    )


def _entering(at: CompiledRun) -> tuple[Ints, Floats]:
    """Return the server update with which each update that arrives enters first, else -1, and its weight there."""
    weights = at.linear.entering
    enters = (np.abs(weights) > NEGLIGIBLE) & (at.long.descend.arrival >= 0)
    first = enters.argmax(axis=0)
    return np.where(enters.any(axis=0), first, -1), weights[first, np.arange(len(first))]


def _proportional(used: Ints, ratio: Floats, expected: Floats) -> bool | None:
    """Return whether ratios are what is expected up to a factor of each server update; None: that says nothing."""
    together = [used == one for one in np.unique(used)]
    if not any(np.ptp(expected[rows]) for rows in together):
        return None
    factors = [ratio[rows] / expected[rows] for rows in together]
    return all(np.ptp(one) <= _CLOSE * one.max() for one in factors)
