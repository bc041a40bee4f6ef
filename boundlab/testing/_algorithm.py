"""All checks of one algorithm."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from boundlab.assumptions import Assumption
from boundlab.delays import DelayModel
from boundlab.instance import example_options
from boundlab.options import Options
from boundlab.registry import registered
from boundlab.testing import _arrivals, _option_effects, _options, _schedule
from boundlab.testing._agree import expect
from boundlab.testing._check import Check
from boundlab.testing._program import program
from boundlab.testing._schedule import CompiledRun
from boundlab.testing._single_client import alone
from boundlab.testing._subject import ITERATIONS, REFUSED, Subject

_FEW, _MANY = 9, 80  # events
_LONG = 40  # iterations, until clients have arrived several times
_CHOSEN = np.array([0, 2, 3, ITERATIONS])


def checks(subject: Subject) -> Iterator[Check]:
    """Return the checks, those first whose failure explains others."""
    for name, run in _parts(subject):
        yield Check(f"{subject.who}: {name}", run)


def _parts(subject: Subject) -> Iterator[tuple[str, Callable[[], None]]]:
    yield "it has an id and a summary", lambda: _named(subject)
    yield "options are read as they are declared, and again from JSON", lambda: _read(subject)
    yield "every assumption on runs is answered", lambda: _answers(subject)
    yield "more events begin with the same ones", lambda: _begins(subject)
    yield "events survive a case file", subject.each(_schedule.round_trip)
    yield "a second interpreter executes the tape", subject.each(_schedule.readers)
    yield "a shorter run is the beginning of a longer one", subject.each(_beginnings)
    yield "all records show one run", subject.each(lambda at: _schedule.records(at, _CHOSEN))
    yield "the use table is what moves the server's model", subject.each(_used)
    yield "no use is forgotten", lambda: _forgotten(subject)
    yield "every arrival is used, kept or dropped explicitly", subject.each(_arrivals.arrivals)
    yield "quantities are what a count finds", subject.each(_schedule.quantities)
    yield "server models are the averages that it says", subject.each(_arrivals.averages)
    yield "what trials draw is declared", subject.each(_arrivals.draws)
    yield "the objective has the weights of the updates", subject.each(_arrivals.weights)
    yield "assumptions that are met show in every run", lambda: _promises(subject)
    if subject.options is None:
        yield "every option has an effect", lambda: _option_effects.effects(subject)
        yield "staleness functions damp by the staleness", lambda: _option_effects.damping(subject)
        yield "alone and without delay it is gradient descent", lambda: alone(subject)
    yield "its program of one event makes the iterates of the tape", subject.each(program)


def _named(subject: Subject) -> None:
    for name in ("id", "summary"):
        expect(bool(str(getattr(subject.algorithm, name, "")).strip()), f"{subject.who}: it has no {name}")


def _read(subject: Subject) -> None:
    for setting in subject.settings:
        _options.parameters(subject.who, subject.algorithm, setting)


def _used(at: CompiledRun) -> None:
    _schedule.moves(at)
    _arrivals.uses(at)


def _beginnings(at: CompiledRun) -> None:
    for asked in (0, 1, ITERATIONS // 2, ITERATIONS):
        _schedule.beginnings(at, asked)


def _begins(subject: Subject) -> None:
    """Check that more events of a trial begin with the same ones."""
    for setting in subject.settings:
        for model in subject.models:
            who = f"{subject.who} with {example_options.words(setting)} under {model.id} delays"
            try:
                short, long = (subject.sample(setting, model, count) for count in (_FEW, _MANY))
            except REFUSED as error:
                expect(setting is not subject.settings[0], f"{who}: {error}")
                continue
            size = len(short)
            expect(size >= _FEW, f"{who}: {size} events are sampled where {_FEW} are asked for")
            expect(len(long) >= size, f"{who}: {len(long)} events are sampled where {_MANY} are asked for")
            _schedule.same_events(f"{who}: sample({_MANY})", long.head(size), short)


def _run_assumptions() -> Mapping[str, Assumption]:
    return {name: one for name, one in registered("assumptions").items() if one.of == "run"}


def _answers(subject: Subject) -> None:
    """Check that the algorithm answers for every assumption on runs: '' or a sentence."""
    for setting in subject.settings:
        parameters = subject.algorithm.read(Options(subject.algorithm.id, setting))
        for model in subject.models:
            for name in _run_assumptions():
                said = subject.algorithm.why_not(name, parameters, model)
                sentence = isinstance(said, str) and (said == "" or len(said.split()) > 3)
                who = f"{subject.who} under {model.id} delays"
                expect(sentence, f"{who}: why_not({name}) must be '' or a sentence, got {said!r}")


def _promises(subject: Subject) -> None:
    def met(at: CompiledRun, model: DelayModel) -> dict[str, bool]:
        return {one: not at.algorithm.why_not(one, at.parameters, model) for one in _run_assumptions()}

    for setting in subject.settings:
        for model, at in subject.under_all(setting):
            _arrivals.promises(at, met(at, model))


def _forgotten(subject: Subject) -> None:
    """Check that a use table is empty only where some run shows that it cannot be filled."""
    for setting in subject.settings:
        if any(len(at.long.uses.update) for _, at in subject.under_all(setting)):
            continue
        told = [_arrivals.plain(at) for _, at in subject.under_all(setting, _LONG)]
        told = [answer for answer in told if answer is not None]
        who = f"{subject.who} with {example_options.words(setting)}"
        words = "every server update is a sum of weight·(end − start) of updates that arrived"
        expect(not told or not all(told), f"{who}: {words}, and the use table is empty: call writer.use for each")
