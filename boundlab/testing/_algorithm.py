"""All checks of one algorithm."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from boundlab.algorithms import Algorithm
from boundlab.build import build_delays, build_problem
from boundlab.delays import DelayModel
from boundlab.errors import BoundlabError
from boundlab.events import Events
from boundlab.randomness import Streams
from boundlab.registry import registered
from boundlab.testing import _options, _schedule
from boundlab.testing._agree import hold

_DELAYS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("exponential", {"spread": 5}),
    ("deterministic", {}),
    ("pareto", {"spread": 3}),
    ("iid", {}),
)
_ITERATIONS = 8
_FEW, _MANY = 9, 80  # events
_LONGEST = 64  # times as many events as the algorithm thinks that the iterations take


def algorithm(
    a: Algorithm[Any],
    options: Mapping[str, Any] | None = None,
    *,
    clients: int = 3,
    delays: Sequence[DelayModel] = (),
    server: str | None = None,
    own: Collection[str] = (),
) -> None:
    """Check that an algorithm keeps what :class:`boundlab.algorithms.Algorithm` promises.

    Its options are the documented ones. Under each delay model: more events begin with the same ones, events survive
    a case file, the tape is one that :func:`boundlab.tape.verify` accepts, a shorter tape is the beginning of a longer
    one, all records show one run, the use table is what moves the server's model, quantities are what a count finds,
    and the executors read the same program.

    Parameters
    ----------
    options
        Those that it needs, and others that are to be looked at: call this once for each way to run.
    clients
        n.
    delays
        Delay models for so many clients; by default exponential, deterministic, Pareto and i.i.d. ones.
    server
        The server policy, as ``--server`` takes it; by default what goes with the algorithm and the delays.
    own
        Symbols of :class:`boundlab.tape.Usage` that its ``quantities`` count in their own way.

    Raises
    ------
    AssertionError
        Naming the first thing that disagrees.

    Examples
    --------
    >>> from boundlab.registry import lookup
    >>> algorithm(lookup("algorithms", "fedbuff"), {"eta_l": 0.1, "count": 2})
    """
    who = f"algorithm {getattr(a, 'id', type(a).__name__)}"
    for name in ("id", "summary"):
        hold(bool(str(getattr(a, name, "")).strip()), f"{who}: it has no {name}")
    parameters = _options.parameters(who, a, {} if options is None else options)
    problem = build_problem("quadratic", {"clients": clients, "dimension": 2, "mu": 0.25, "L": 1})
    for model in delays or [build_delays(kind, dict(more), clients) for kind, more in _DELAYS]:
        under = f"{who} under {model.id} delays"
        _assumptions(under, a, parameters, model)
        try:
            events = _events(under, a, parameters, model, server)
        except BoundlabError as error:
            raise AssertionError(f"{under}: {error}") from error
        at = _schedule.Schedule(under, a, parameters, events, problem, _ITERATIONS)
        _schedule.round_trip(at)
        _schedule.readers(at)
        for asked in (0, 1, _ITERATIONS // 2, _ITERATIONS):
            _schedule.beginnings(at, asked)
        _schedule.records(at, np.array([0, 2, 3, _ITERATIONS]))
        _schedule.moves(at)
        _schedule.quantities(at, frozenset(own))


def _events(who: str, a: Algorithm[Any], parameters: Any, model: DelayModel, server: str | None) -> Events:
    """Check that more events begin with the same ones; return enough for all iterations."""
    policy, n = a.policy(server, model), model.n

    def sample(count: int) -> Events:
        return a.sample(parameters, model, policy, Streams(7), n, count)

    short, long = sample(_FEW), sample(_MANY)
    size = len(short)
    hold(size >= _FEW, f"{who}: {size} events are sampled where {_FEW} are asked for")
    hold(len(long) >= size, f"{who}: {len(long)} events are sampled where {_MANY} are asked for")
    _schedule.same_events(f"{who}: sample({_MANY})", long.head(size), short)
    count = first = max(a.events_for(parameters, n, _ITERATIONS), 1)
    problem = build_problem("quadratic", {"clients": n, "dimension": 1})
    while True:
        events = sample(count)
        at = _schedule.Schedule(who, a, parameters, events, problem, _ITERATIONS)
        made = at.tape().iterations
        if made >= _ITERATIONS:
            return events
        hold(count < _LONGEST * first, f"{who}: {count} events make {made} of {_ITERATIONS} iterations")
        count *= 2


def _assumptions(who: str, a: Algorithm[Any], parameters: Any, model: DelayModel) -> None:
    """Check that the algorithm answers for every assumption on runs: '' or a sentence."""
    for name, one in registered("assumptions").items():
        if one.of == "run":
            said = a.why_not(name, parameters, model)
            sentence = isinstance(said, str) and (said == "" or len(said.split()) > 3)
            hold(sentence, f"{who}: why_not({name}) must be '' or a sentence, got {said!r}")
