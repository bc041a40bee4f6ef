"""All checks of one algorithm."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from operator import attrgetter

import numpy as np

from boundlab.case.build import build_delays
from boundlab.formulas.symbols import SYMBOLS
from boundlab.options import Options
from boundlab.testing import _options, _schedule
from boundlab.testing._check import Check, about, at_each, expect, named, spoken
from boundlab.testing._subject import REFUSED, CompiledRun, Subject

_FEW, _MANY = 9, 80  # events
_LONG = 40  # iterations, until clients have arrived several times


def checks(subject: Subject) -> Iterator[Check]:
    """Return the checks, those first whose failure explains others."""
    left_out = () if subject.options is None else _OF_ALL_OPTIONS
    return named(subject.who, {name: part for name, part in _CHECKS.items() if part not in left_out}, subject)


def _named(subject: Subject) -> None:
    spoken(subject.algorithm, "id", "summary")


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
    for setting, model in ((setting, model) for setting in subject.settings for model in subject.models):
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


def _promises(subject: Subject) -> None:
    for setting in subject.settings:
        for at in subject.under_all(setting):
            with about(at.who):
                _schedule.promises(at)


def _forgotten(subject: Subject) -> None:
    """Check that a use table is empty only where some run shows that it cannot be filled."""
    for setting in subject.settings:
        if any(len(at.long.uses.update) for at in subject.under_all(setting)):
            continue
        told = {_schedule.plain(at) for at in subject.under_all(setting, _LONG)} - {None}
        words = "every server update is a sum of weight·(end − start) of updates that arrived"
        who = subject.words(setting)
        expect(told != {True}, f"{who}: {words}, and the use table is empty: call writer.use for each")


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
    "options are read as they are declared, and again from JSON": _options.declared,
    "every assumption on runs is answered": _answers,
    "more events begin with the same ones": _begins,
    "events survive a case file": _each(_schedule.round_trip),
    "a second interpreter executes the tape": _each(_schedule.readers),
    "a shorter run is the beginning of a longer one": _each(_schedule.beginnings),
    "all records show one run": _each(_schedule.records),
    "the use table is what moves the server's model": _each(_schedule.uses),
    "no use is forgotten": _forgotten,
    "every arrival is used, kept or dropped explicitly": _each(_schedule.arrivals),
    "quantities are what a count finds": _each(_schedule.quantities),
    "server models are the averages that it says": _each(_schedule.averages),
    "what trials draw is declared": _each(_schedule.draws),
    "the objective has the weights of the updates": _each(_schedule.weights),
    "assumptions that are met show in every run": _promises,
    "every option has an effect": _options.effects,
    "staleness functions damp by the staleness": _options.damping,
    "alone and without delay it is gradient descent": _alone,
    "its program of one event makes the iterates of the tape": _each(_schedule.program),
}
_OF_ALL_OPTIONS = (_options.effects, _options.damping, _alone)  # where no setting is given
