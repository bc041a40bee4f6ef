"""All checks of one algorithm; of its options: they are the documented ones, each has an effect, staleness damps."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import partial
from itertools import pairwise, product
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import Algorithm, Staleness
from boundlab.algorithms.example_options import Setting, surroundings
from boundlab.case import build_delays
from boundlab.delays import DelayModel
from boundlab.errors import SpecError
from boundlab.formulas.symbols import SYMBOLS
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.tape import NOTHING, Tape
from boundlab.testing import _schedule
from boundlab.testing._check import Check, about, at_each, expect, named, reads_declared, spoken
from boundlab.testing._schedule import ITERATIONS, NEGLIGIBLE, REFUSED, CompiledRun, Subject

_FEW, _MANY = 9, 80  # events
_LONG = 40  # iterations, until clients have arrived several times
# "model (default): …", "local steps (default 1)", "…; default constant": the word is what stands for an absent option.
_DEFAULTS = (r"(\S+) \(default\b", r"\(default:? ([^\s,;)]+)[^()]*\)", r"default:? ([^\s,;)]+)\)?$")
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_CLOSE = 1e-9
_close = partial(np.allclose, rtol=0.0, atol=_CLOSE)
_TRIALS = (1, 2, 3)
_COMBINATIONS = 24


def checks(subject: Subject) -> Iterator[Check]:
    """Return the checks, those first whose failure explains others."""
    left_out = () if subject.options is None else _OF_ALL_OPTIONS
    return named(subject.who, {name: part for name, part in _CHECKS.items() if part not in left_out}, subject)


def _named(subject: Subject) -> None:
    spoken(subject.algorithm, "id", "summary")


def _declared(subject: Subject) -> None:
    """Check every setting against the help of the options and the fields of the parameters."""
    for setting in subject.settings:
        _declared_in(subject.algorithm, setting)


def _declared_in(algorithm: Algorithm[Any], given: Mapping[str, Any]) -> None:
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


def _documented(says: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the options whose help says a default, with it."""
    for name, line in says.items():
        found = next((match for match in (re.search(pattern, line) for pattern in _DEFAULTS) if match), None)
        if found is not None:
            yield name, found.group(1)


def _effects(subject: Subject) -> None:
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
                runs.append(_fingerprint(subject.schedule(given, model, iterations, trial).long))
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


def _fingerprint(tape: Tape) -> bytes:
    """Return what only equal runs share: the events, and the program."""
    parts: list[NDArray[Any]] = [tape.events.time, tape.events.actor, tape.op, tape.row, tape.local, tape.implicit]
    for table in (tape.affine, tape.descend, tape.record, tape.uses):
        parts += [getattr(table, one.name) for one in fields(table)]
    return repr(tape.events.detail).encode() + b"".join(part.tobytes() for part in parts)


def _damping(subject: Subject) -> None:
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


def _answers(subject: Subject) -> None:
    """Check that the algorithm answers for every assumption on runs: '' or a sentence."""
    for setting in subject.settings:
        parameters = subject.algorithm.read(Options(subject.algorithm.id, setting))
        for model in subject.models:
            for name in _schedule.run_assumptions():
                said = subject.algorithm.why_not(name, parameters, model)
                sentence = isinstance(said, str) and (said == "" or len(said.split()) > 3)
                who = f"{subject.who} under {model.id} delays"
                expect(sentence, f"{who}: why_not({name}) must be '' or a sentence, got {said!r}")


def _begins(subject: Subject) -> None:
    """Check that more events of a trial begin with the same ones."""
    for setting, model in product(subject.settings, subject.models):
        with about(subject.words(setting, model)):
            try:
                short, long = (subject.sample(setting, model, count) for count in (_FEW, _MANY))
            except REFUSED:
                if setting is subject.settings[0]:
                    raise
                continue
            size = len(short)
            expect(size >= _FEW, f"{size} events are sampled where {_FEW} are asked for")
            expect(len(long) >= size, f"{len(long)} events are sampled where {_MANY} are asked for")
            _schedule.same_events(f"sample({_MANY})", long.head(size), short)


def _in_one_pass(subject: Subject) -> None:
    """Check that a tape that is made while events are drawn is that of these events."""
    a = subject.algorithm
    for at in subject.runs(product(subject.settings, subject.models)):
        assert at.delays is not None  # noqa: S101  (for the type checker: they are what runs are drawn from)
        words = at.problem.n, at.delays, at.most, NOTHING, Streams(7, 0)
        made = a.in_one_pass(at.parameters, *words)
        if made is not None:
            other = a.schedule(at.parameters, at.events, at.problem.n, NOTHING, at.most)
            expect(_fingerprint(made) == _fingerprint(other), f"{at.who}: in_one_pass makes another tape")


def _forgotten(subject: Subject) -> None:
    """Check that a use table is empty only where some run shows that it cannot be filled."""
    for setting in subject.settings:
        places = [(setting, model) for model in subject.models]
        if any(len(at.long.uses.update) for at in subject.runs(places)):
            continue
        told = {_schedule.plain(at) for at in subject.runs(places, _LONG)} - {None}
        words = "every server update is a sum of weight·(end − start) of updates that arrived"
        who = subject.words(setting)
        expect(told != {True}, f"{who}: {words}, and the use table is empty: say `uses` of its event")


def _alone(subject: Subject) -> None:
    """Check that ``single_client_values`` describe a run of some setting, in which the model does gradient descent."""
    if subject.algorithm.single_client_values is None:
        return
    said = {name: info.alone for name, info in SYMBOLS.items() if info.alone is not None}
    said |= subject.algorithm.single_client_values
    model = build_delays("deterministic", {}, 1)
    settings = ((setting, model) for setting in subject.options_for(1))
    nearest = []
    for at in subject.runs(settings):
        wrong = list(_not_alone(at, said))
        if not wrong:
            return
        nearest.append((len(wrong), f"{at.who} {wrong[0]}"))
    words = "no setting of one client without delay has single_client_values"
    expect(False, f"{words}: {min(nearest)[1] if nearest else 'none is accepted'}")


def _not_alone(at: CompiledRun, said: Mapping[str, int]) -> Iterator[str]:
    """Yield in words what is otherwise in a run."""
    tape = at.long
    quantities = at.quantities(int(tape.version[-1]))
    for name, value in said.items():
        if name in quantities and quantities[name] != value:
            yield f"{name} is {quantities[name]:g}, and single_client_values say {value:g}"
    size = float(tape.descend.step_size[0])
    for k, (x, y) in enumerate(pairwise(at.executed.models(tape))):
        if not np.allclose(y, x - size * at.problem.gradient(0, x), rtol=1e-9, atol=1e-12):
            yield f"server update {k} is no gradient step"
            break


_each = partial(at_each, attrgetter("schedules"))
_CHECKS: Mapping[str, Callable[[Subject], None]] = {
    "it has an id and a summary": _named,
    "options are read as they are declared, and again from JSON": _declared,
    "every assumption on runs is answered": _answers,
    "more events begin with the same ones": _begins,
    "events and tape in one pass are those in two": _in_one_pass,
    "events survive a case file": _each(_schedule.round_trip),
    "a second interpreter executes the tape": _each(_schedule.readers),
    "a shorter run is the beginning of a longer one": _each(_schedule.beginnings),
    "all records show one run": _each(_schedule.records),
    "the use table is what moves the server's model": _each(_schedule.uses),
    "no use is forgotten": _forgotten,
    "every arrival is used, kept or dropped explicitly": _each(_schedule.arrivals),
    "quantities are what a count finds": _each(_schedule.quantities),
    "server models are the averages that it says": _each(_schedule.averages),
    "no more is on its way than it says": _each(_schedule.in_flight),
    "what trials draw is declared": _each(_schedule.draws),
    "the objective has the weights of the updates": _each(_schedule.weights),
    "assumptions that are met show in every run": at_each(
        lambda subject: subject.runs(product(subject.settings, subject.models)), _schedule.promises
    ),
    "every option has an effect": _effects,
    "staleness functions damp by the staleness": _damping,
    "alone and without delay it is gradient descent": _alone,
    "its program of one event makes the iterates of the tape": _each(_schedule.program),
}
_OF_ALL_OPTIONS = (_effects, _damping, _alone)  # where no setting is given
