"""All checks of one delay model."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.delays import DelayModel, DelayType
from boundlab.errors import BoundlabError, SpecError
from boundlab.events import SERVER
from boundlab.instance.example_options import words
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.testing import _long_run
from boundlab.testing._agree import equal, expect
from boundlab.testing._check import Check, refused

Floats = NDArray[np.float64]
_CLIENTS = 3
_SEED = 5
_FEW, _MANY = 30, 300  # events
_SERVER_RATE = 0.7
_OUTLIER = 7.0  # standard deviations of a Poisson count


def checks(m: DelayModel | DelayType, family: DelayType | None = None) -> Iterator[Check]:
    """Return the checks of a model, or those of all examples of a law.

    Parameters
    ----------
    family
        What builds the model from options; None: what is registered under its id.
    """
    if isinstance(m, DelayModel):
        yield from _of_model(f"delays {m.id}", m, lookup("delays", m.id) if family is None else family)
        return
    who = f"delays {m.id}"
    yield Check(f"{who}: options are read as they are declared", lambda: _options(who, m))
    for example in m.examples:
        name = f"{who} with {words(example)}" if example else who
        try:
            model = m.build(Options(who, dict(example)), _CLIENTS)
        except BoundlabError as error:
            yield refused(name, example, error)
            continue
        yield from _of_model(name, model, m)


def _of_model(who: str, m: DelayModel, family: DelayType) -> Iterator[Check]:
    parts: tuple[tuple[str, Callable[..., None], tuple[Any, ...]], ...] = (
        ("its spec rebuilds it", _round_trip, (family,)),
        ("trials repeat themselves, and more events begin with the same ones", _begins, ()),
        ("a server of its own comes at its rate", _served, ()),
        ("a clock hands out the same times", _clock, ()),
        ("rates are long-run counts", _long_run.counts, ()),
        ("rates are those of the law's quantiles", _long_run.quantiles, ()),
        ("what is memoryless is independent of its past", _long_run.memory, ()),
    )
    for name, part, more in parts:
        yield Check(f"{who}: {name}", lambda part=part, more=more: part(who, m, *more))  # type: ignore[misc]


def _options(who: str, family: DelayType) -> None:
    """Check that what is read is declared, and that nothing else is taken."""
    expect(bool(family.id.strip() and family.summary.strip()), f"{who}: it has no id, or no summary")
    for name, line in family.options.items():
        expect(bool(line.strip()), f"{who}: option {name} has no line of help")
    for example in family.examples:
        options = Options(who, dict(example))
        try:
            family.build(options, _CLIENTS)
        except SpecError:
            continue  # which has a check of its own
        for name in sorted(options.seen - set(family.options)):
            expect(False, f"{who}: option {name} is read, but not declared")
        try:
            family.build(Options(who, {**example, "nonsense": 1}), _CLIENTS)
        except SpecError as error:
            expect("nonsense" in str(error), f"{who}: an unknown option is refused without its name: {error}")
        else:
            expect(False, f"{who}: an unknown option is not refused")


def _round_trip(who: str, m: DelayModel, family: DelayType) -> None:
    """Check that spec() is JSON and rebuilds the same model."""
    spec = m.spec()
    expect(json.loads(json.dumps(spec)) == spec, f"{who}: spec() must hold numbers, text and lists only, as JSON does")
    expect(spec.get("type") == m.id, f"{who}: spec() says type {spec.get('type')!r}")
    again = family.build(Options(who, {key: value for key, value in spec.items() if key != "type"}), m.n)
    expect(again.spec() == spec, f"{who}: spec() of the model that spec() rebuilds differs")
    equal(f"{who}: the rates of the model that spec() rebuilds and its own", again.rates(), m.rates(), rounding=0.0)
    found, expected = (one.arrivals_of(Streams(_SEED), _FEW) for one in (again, m))
    _same(f"{who}: the model that spec() rebuilds", found, expected)


def _begins(who: str, m: DelayModel) -> None:
    """Check times, clients and their number; that a trial repeats itself; and that more events begin with the same."""
    time, actor = m.arrivals_of(Streams(_SEED), _MANY)
    expect(len(time) == len(actor) == _MANY, f"{who}: {len(time)} events are sampled where {_MANY} are asked for")
    expect(bool(np.isfinite(time).all() and (time >= 0.0).all()), f"{who}: times must be finite and ≥ 0")
    expect(bool((np.diff(time) >= 0.0).all()), f"{who}: times must not decrease")
    within = (actor >= SERVER) & (actor < m.n)
    expect(bool(within.all()), f"{who}: there is an event of client {actor[~within][:1]} of {m.n}")
    _same(f"{who}: the same trial once more", m.arrivals_of(Streams(_SEED), _MANY), (time, actor))
    _same(f"{who}: a longer trial", (time[:_FEW], actor[:_FEW]), m.arrivals_of(Streams(_SEED), _FEW))


def _same(what: str, found: tuple[Floats, Any], expected: tuple[Floats, Any]) -> None:
    """Check that events are the same, to the last digit."""
    for name, a, b in zip(("time", "actor"), found, expected, strict=True):
        expect(np.array_equal(a, b), f"{what} gives other events: their {name} differs")


def _served(who: str, m: DelayModel) -> None:
    """Check that the server's own aggregations come at their rate, and that more events begin with the same ones."""
    try:
        events, short = (m.sample(Streams(_SEED), count, _SERVER_RATE) for count in (_MANY, _FEW))
    except SpecError:
        return  # it brings the server's events, or ends
    _same(f"{who}: a longer trial with a server", (events.time[:_FEW], events.actor[:_FEW]), (short.time, short.actor))
    count, mean = int((events.actor == SERVER).sum()), _SERVER_RATE * float(events.time[-1])
    near = abs(count - mean) <= _OUTLIER * (np.sqrt(mean) + 1.0)
    words = f"{count} aggregations at rate {_SERVER_RATE} until time {events.time[-1]:.4g}"
    expect(near, f"{who}: {words}; {mean:.4g} are due")


def _clock(who: str, m: DelayModel) -> None:
    """Check that clients that begin anew whenever they arrive do so at the times of a sample."""
    time, actor = m.arrivals_of(Streams(_SEED), _MANY)
    for client in range(m.n):
        due, clock, now, found = time[actor == client], m.clock(Streams(_SEED)), 0.0, []
        for _ in due:
            now = clock.arrival(client, now)
            found.append(now)
        equal(f"{who}: arrivals of client {client} by clock() and in a sample", np.array(found), due)
