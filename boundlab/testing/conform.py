"""Conformance of an object to its interface: the checks that all built-in objects pass.

``conform.algorithm(MINE)`` and its like raise AssertionError with one sentence that names the object, the setting and
both numbers. :func:`checks` gives the same checks one by one, so that pytest shows each on a line of its own::

    @pytest.mark.parametrize("check", conform.checks(MINE))
    def test_mine_conforms(check):
        check()

All draws have fixed seeds.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundlab.algorithms import Algorithm
from boundlab.assumptions import definers
from boundlab.case import build_problem
from boundlab.checks import View, check as checked
from boundlab.delays import DelayModel, DelayType, Renewal
from boundlab.errors import AssumptionError, InfiniteError, SpecError
from boundlab.events import SERVER, Events
from boundlab.execute.floats import run
from boundlab.formulas.parse import parse
from boundlab.formulas.symbols import SYMBOLS
from boundlab.metrics import Certified, Metric, Series, Watch
from boundlab.objective import Problem, ProblemType
from boundlab.options import Options
from boundlab.randomness import Floats, Streams
from boundlab.registry import lookup
from boundlab.testing._algorithm import Subject, algorithm_checks, same_events
from boundlab.testing._check import (
    Check,
    about,
    at_most,
    equal,
    expect,
    named,
    of_examples,
    reads_declared,
    reasoned,
    rebuilt,
    spoken,
)
from boundlab.testing._problem import problem_checks
from boundlab.theorems import Theorem, load_theorem
from boundlab.traces import departure

# All checks of one delay model.
#
# A mean of m times between updates is held against 1/rate with the standard error of block means, which knows what
# successive times have to do with each other, and with what a heavy tail hides: times beyond the largest one of m have
# a
# mean share of about a/(a − 1)·(largest)/m, where a is the tail index that Hill's estimate reads off the largest ones.
# Under a tail without variance that is wide, and the law's quantiles say more.

_CLIENTS = 3
_SEED = 5
_FEW, _MANY = 30, 300  # events
_SERVER_RATE = 0.7
_OUTLIER = 7.0  # standard deviations of a Poisson count
_LONG_SEED = 6
_LENGTHS = (1 << 13, 1 << 15, 1 << 17, 1 << 18)  # events
_BLOCKS = 64
_HEAVIEST = 1.05  # tail index
_ERRORS = 6.0  # standard errors: once in 10⁷ for 64 normal block means
_SEEN = 0.05  # the smallest error of a rate that a run should show
_FALSE_ALARM = 1e-9
_EVENTS_OF_MEMORY = 1 << 16


def delay_checks(m: DelayModel | DelayType, family: DelayType | None = None) -> Iterator[Check]:
    """Return the checks of a model, or those of all examples of a law.

    Parameters
    ----------
    family
        What builds the model from options; None: what is registered under its id.
    """
    who = f"delays {m.id}"
    if isinstance(m, DelayType):
        yield from named(who, {"options are read as they are declared": _delay_options}, m)
        yield from of_examples(who, m, _of_model, _CLIENTS)
    else:
        yield from _of_model(who, m, lookup("delays", m.id) if family is None else family)


def _of_model(who: str, m: DelayModel, family: DelayType) -> Iterator[Check]:
    yield from named(who, {"its spec rebuilds it": _round_trip}, m, family)
    yield from named(who, _OF_DELAYS, m)


def _delay_options(family: DelayType) -> None:
    """Check that what is read is declared, and that nothing else is taken."""
    spoken(family, "id", "summary")
    for example in family.examples:
        with suppress(SpecError):  # which has a check of its own
            reads_declared(f"delays {family.id}", lambda given: family.build(given, _CLIENTS), example, family.options)


def _round_trip(m: DelayModel, family: DelayType) -> None:
    """Check that spec() is JSON and rebuilds the same model."""
    again = rebuilt(f"delays {m.id}", m, lambda options: family.build(options, m.n))
    equal("the rates of the model that spec() rebuilds and its own", again.rates(), m.rates(), rounding=0.0)
    same_events("the model that spec() rebuilds", _events(again, _FEW), _events(m, _FEW))


def _begins(m: DelayModel) -> None:
    """Check times, clients and their number; that a trial repeats itself; and that more events begin with the same."""
    time, actor = m.arrivals_of(Streams(_SEED), _MANY)
    expect(len(time) == len(actor) == _MANY, f"{len(time)} events are sampled where {_MANY} are asked for")
    expect(np.isfinite(time).all() and (time >= 0.0).all(), "times must be finite and ≥ 0")
    expect((np.diff(time) >= 0.0).all(), "times must not decrease")
    within = (actor >= SERVER) & (actor < m.n)
    expect(within.all(), f"there is an event of client {actor[~within][:1]} of {m.n}")
    same_events("the same trial once more", _events(m, _MANY), Events(time, actor))
    same_events("a longer trial", Events(time, actor).head(_FEW), _events(m, _FEW))


def _events(m: DelayModel, count: int) -> Events:
    """Return the first events of the trial that is looked at."""
    return Events(*m.arrivals_of(Streams(_SEED), count))


def _served(m: DelayModel) -> None:
    """Check that the server's own aggregations come at their rate, and that more events begin with the same ones."""
    with suppress(SpecError):  # it brings the server's events, or ends
        events, short = (m.sample(Streams(_SEED), count, _SERVER_RATE) for count in (_MANY, _FEW))
        same_events("a longer trial with a server", events.head(_FEW), short)
        count, mean = int((events.actor == SERVER).sum()), _SERVER_RATE * float(events.time[-1])
        said = f"{count} aggregations at rate {_SERVER_RATE} until time {events.time[-1]:.4g}"
        expect(abs(count - mean) <= _OUTLIER * (np.sqrt(mean) + 1.0), f"{said}; {mean:.4g} are due")


def _clock(m: DelayModel) -> None:
    """Check that clients that begin anew whenever they arrive do so at the times of a sample."""
    time, actor = m.arrivals_of(Streams(_SEED), _MANY)
    for client in range(m.n):
        due, clock, found = time[actor == client], m.clock(Streams(_SEED)), [0.0]
        for _ in due:
            found.append(clock.arrival(client, found[-1]))
        equal(f"arrivals of client {client} by clock() and in a sample", found[1:], due)


def _counts(m: DelayModel) -> None:
    """Check the rates against counts, in a run that is long enough for the law's own variance."""
    rates = m.rates()
    expect(np.shape(rates) == (m.n,), f"rates() has shape {np.shape(rates)}, not (n,) = ({m.n},)")
    expect(np.isfinite(rates).all() and (rates > 0.0).all(), f"rates() must be finite and > 0, got {rates}")
    expect(len(m.how_rates.split()) > 0, "how_rates does not say where the rates come from")
    for count in _LENGTHS:
        time, actor = _sample(m, count)
        means, errors = _gaps(time, actor, m.n)
        if (_ERRORS * errors <= _SEEN).all() or len(time) < count:
            break
    for client in range(m.n):
        size = int((actor == client).sum())
        # The ends of a finite trace cut two times short.
        room = _ERRORS * errors[client] + 2.0 / size + 1e-9
        expect(
            abs(means[client] * rates[client] - 1.0) <= room,
            f"rates() says {rates[client]:.6g} updates of client {client} per unit of time; {size} of them come "
            f"at {1.0 / means[client]:.6g} ± {100.0 * room:.2g} %",
        )


def _sample(m: DelayModel, count: int) -> tuple[Floats, NDArray[np.int32]]:
    """Return so many events, or as many as there are."""
    while True:
        try:
            return m.arrivals_of(Streams(_LONG_SEED), count)
        except SpecError:
            expect(count > 1, "no event can be sampled")
            count = count * 3 // 4


def _gaps(time: Floats, actor: NDArray[np.int32], n: int) -> tuple[Floats, Floats]:
    """Return the mean time between updates of each client, and its relative error; shape (n,) each."""
    means, errors = np.empty(n), np.full(n, np.inf)
    for client in range(n):
        gaps = np.diff(time[actor == client])
        means[client] = gaps.mean() if len(gaps) else np.inf
        if len(gaps) >= 4 * _BLOCKS:
            blocks = np.array([block.mean() for block in np.array_split(gaps, _BLOCKS)])
            errors[client] = (blocks.std(ddof=1) / np.sqrt(_BLOCKS) + _hidden(gaps)) / means[client]
    return means, errors


def _hidden(gaps: Floats) -> float:
    """Return the part of the mean that lies beyond the largest of these times, by Hill's estimate of their tail."""
    large = np.sort(gaps)[-int(np.sqrt(len(gaps))) :]
    spread = float(np.log(large / large[0]).mean()) if large[0] > 0.0 else 0.0
    index = max(1.0 / spread, _HEAVIEST) if spread > 0.0 else np.inf
    return float(large[-1]) / len(gaps) / (1.0 - 1.0 / index) if spread > 0.0 else 0.0


def _quantiles(m: DelayModel) -> None:
    """Check the rates of a renewal model against the integral of its quantiles, heavy tails and all."""
    if not isinstance(m, Renewal) or m.law.uniforms != 1:
        return
    for client, rate in enumerate(m.rates().tolist()):
        coarse, fine = (_mean(m, client, nodes) for nodes in (20_001, 40_001))
        room = 1e-6 + 4.0 * abs(fine / coarse - 1.0)
        said = f"rates() says {rate:.6g} updates of client {client} per unit of time; the mean of its quantiles says"
        expect(room >= _SEEN or abs(fine * rate - 1.0) <= room, f"{said} {1.0 / fine:.6g}")


def _mean(m: Renewal, client: int, nodes: int) -> float:
    """Integrate the quantiles by the double exponential rule, whose nodes crowd at both ends."""
    t = np.linspace(-6.0, 6.0, nodes)
    u = np.clip(1.0 / (1.0 + np.exp(-np.pi * np.sinh(t))), 1e-300, 1.0 - 2.0**-53)
    weight = np.pi * np.cosh(t) * u * (1.0 - u) * (t[1] - t[0])
    return float(weight @ m.law.durations(u[:, None], np.full(nodes, client)) / weight.sum())


def _memory(m: DelayModel) -> None:
    """Check what is called memoryless: clients are drawn independently from one law, and times are exponential.

    A bet against the first (:func:`boundlab.traces.departure`), and the inequality of Dvoretzky, Kiefer and Wolfowitz
    for times; each fails a true claim at most once in 10⁹.
    """
    reasoned("memoryless", m.memoryless)
    if m.memoryless:
        return
    time, actor = _sample(m, _EVENTS_OF_MEMORY)
    arrives = actor >= 0
    found = departure(actor[arrives], m.n, time[arrives], 1.0 - _FALSE_ALARM)
    expect(found.crossed is None, f"it is called memoryless, but {found.words('a trial')}")
    gaps = np.sort(np.diff(time, prepend=0.0))
    if np.allclose(gaps, gaps[0], rtol=1e-9):
        return  # one event a slot: the theorems' own model
    law = -np.expm1(-gaps * m.rates().sum())
    off = float(np.abs(law - (np.arange(len(gaps)) + 0.5) / len(gaps)).max())
    room = np.sqrt(np.log(2.0 / _FALSE_ALARM) / (2.0 * len(gaps))) + 1.0 / len(gaps)
    words = f"the times between events are {off:.3g} off the exponential law in distribution"
    expect(off <= room, f"it is called memoryless, but {words}")


_OF_DELAYS: Mapping[str, Callable[[DelayModel], None]] = {
    "trials repeat themselves, and more events begin with the same ones": _begins,
    "a server of its own comes at its rate": _served,
    "a clock hands out the same times": _clock,
    "rates are long-run counts": _counts,
    "rates are those of the law's quantiles": _quantiles,
    "what is memoryless is independent of its past": _memory,
}


# All checks of one metric.

_EVENTS = 9
_BOWLS: dict[str, Any] = {"A": [[[2, 0], [0, 1]], [[1, 0], [0, 3]]], "b": [[0, 1], [3, -1]], "x0": [1, 2]}
_POINTS = ([1.0, 2.0], [-3.0, 0.5], [0.0, 0.0], [4.0, -5.0])


def _words(m: Metric) -> None:
    spoken(m, "id", "label", "symbol", "expectation", "latex")
    expect(m.counter in ("K", "T") and m.counter in SYMBOLS, f"counter must be K or T, got {m.counter!r}")
    expect(isinstance(m.first, int) and m.first >= 0, f"first must be an integer ≥ 0, got {m.first!r}")


def _problem(c: float = 1.0, s: float = 1.0) -> Problem:
    """Return c·f(x/s) from s·x0, of two bowls."""
    by = {"A": c / s**2, "b": s, "x0": s}
    return build_problem("quadratic", {name: (by[name] * np.array(value)).tolist() for name, value in _BOWLS.items()})


def _left(m: Metric, ks: list[int], problem: Problem, step: float = 0.1) -> Floats:
    """Return the left sides at ks of a run of asynchronous SGD that shows what they need, shape (len(ks),)."""
    a = lookup("algorithms", "async_sgd")
    events = a.read_events([[time, (time * time) % 3 % 2] for time in range(1, _EVENTS + 1)], 2, m.id)
    watch = Watch(m, problem, np.array(ks))
    tape = a.schedule(a.parameter_type(step), events, 2, m.records(ks), max(ks))
    run(tape, problem.x0, problem.oracle(Streams(0)), watch)
    expect(np.isfinite(watch.low).all(), f"a run of {max(ks)} iterations has no left side at {ks}")
    at_most("the lower end of the left side ≤ the upper end", watch.low, watch.high)
    return (watch.low + watch.high) / 2.0


def _horizon(m: Metric) -> list[int]:
    return sorted({m.first, m.first + 1, 4, _EVENTS})


def _records(m: Metric) -> None:
    """Check that a run shows as many records as left sides take, none of them after its horizon."""
    ks = _horizon(m)
    asked, complete = m.records(ks), m.over.complete(np.array(ks))
    expect(asked.average == m.over.averages_iterates, "averages_iterates is not what its records ask for")
    expect(np.shape(complete) == (len(ks),), f"complete() has shape {np.shape(complete)}, not (points,)")
    if m.over.one_record:
        places = list(range(1, len(ks) + 1))
        expect(complete.tolist() == places, f"one_record, but left sides take {complete.tolist()} records")


def _horizons(m: Metric) -> None:
    """Check that each horizon among others has the left side of a run of its own."""
    ks, problem = _horizon(m), _problem()
    alone = np.concatenate([_left(m, [k], problem) for k in ks])
    what = "the left sides at some horizons and those of runs of their own"
    equal(what, _left(m, ks, problem), alone, scale=1e-3, axes=("place",))


def _shares(m: Metric) -> None:
    """Check left sides against weighted sums of numbers that records might show."""
    expect(m.is_mean == (m.over.share(max(m.first, 1)) is not None), "is_mean does not say whether share() does")
    for k in _horizon(m):
        at, made = np.array([k]), []
        shown = np.random.Generator(np.random.Philox(k)).uniform(1.0, 2.0, size=int(m.over.complete(at)[0]))
        for by in (1.0, 2.0):
            series = Series(m, at)
            for value in shown:
                series.add(by * value)
            made.append(series.values)
        equal(f"the left side at {k} of doubled records and twice that of the records", made[1], 2.0 * made[0])
        share = m.over.share(k) if m.is_mean else None
        if share is not None:
            what = f"the left side at {k} and share({k}) = {share} times the sum of its {len(shown)} records"
            equal(what, made[0][0], float(share) * shown.sum())


def _quantity(m: Metric) -> None:
    """Compare the quantity at points and by second moments."""
    problem = _problem()
    center, hessian = problem.optimum().x, np.mean(_BOWLS["A"], axis=0)
    floats = Certified(problem)
    for x in map(np.array, _POINTS):
        low, high = m.at(floats, x)
        away = x - center
        moment = float(m.of_second_moment(hessian[None], np.outer(away, away)[None]))
        at_most(f"the quantity at {x.tolist()} from below ≤ by second moments", low, moment, scale=1.0)
        at_most(f"the quantity at {x.tolist()} by second moments ≤ from above", moment, high, scale=1.0)


def _units_of_metrics(m: Metric) -> None:
    """Check left sides under f → c·f and x → s·x, with steps that make the same run."""
    a, b = m.units
    ks = _horizon(m)
    plain = _left(m, ks, _problem())
    for c, s in ((3.0, 1.0), (1.0, 2.0), (0.25, 4.0)):
        found = _left(m, ks, _problem(c, s), 0.1 * s**2 / c)
        what = f"left sides for c·f(x/s), c = {c:g}, s = {s:g}, and c^{a}·s^{b} times those for f"
        equal(what, found, c**a * s**b * plain, rounding=1e-6)


_OF_METRICS: Mapping[str, Callable[[Metric], None]] = {
    "its words are there": _words,
    "a run shows the records that it asks for": _records,
    "each horizon has the left side of a run of its own": _horizons,
    "share gives the weights of the records": _shares,
    "points and second moments give one quantity": _quantity,
    "left sides change with the units of f and x": _units_of_metrics,
}


# All checks of one theorem.

_COUNTERS = {"K": "iterations", "T": "server updates"}
_HORIZON = 100


def _named(t: Theorem) -> None:
    """Check that its algorithm takes what it fixes and sets; its core looks up everything that it names."""
    spoken(t, "id", "title")
    fixed, a = t.core.fixed, lookup("algorithms", t.algorithm)
    words = f"it sets {', '.join(t.step)}, and the local steps of {a.id} are {', '.join(a.step_size_symbols)}"
    expect(set(a.step_size_symbols) & set(t.step), words)
    with about(f"{a.id} does not take its options {fixed}"):
        a.read(Options(a.id, {**dict.fromkeys(t.step, 1), **fixed}))


def _counter(t: Theorem) -> None:
    """Check that no formula reads the other counter, and that T counts what the algorithm counts."""
    other = "T" if t.horizon_symbol == "K" else "K"
    shown = f"its metric {t.metric} counts {t.horizon_symbol} ({_COUNTERS[t.horizon_symbol]})"
    read = other in {*t.inputs(), *t.read_by(t.step)} and other not in t.core.read_as.values()
    expect(not read, f"it reads {other} ({_COUNTERS[other]}), and {shown}")
    if t.horizon_symbol == "T":
        subject = Subject(lookup("algorithms", t.algorithm))
        record = subject.schedule(subject.settings[0], subject.models[0]).long.record
        same = np.array_equal(record.iteration, record.version)
        expect(same, f"{shown}, and the iterations of {t.algorithm} are no server updates")


def _sources(t: Theorem) -> None:
    """Check that problem, delays, options or the algorithm's quantities give every built-in symbol that is read."""
    known = {*t.step, *t.core.read_as.values(), *t.settable, t.horizon_symbol, "n", "N"}
    known |= SYMBOLS.keys() ^ t.symbols.keys()
    missing = {name for name in t.inputs() if not definers(name)} - known
    subject, given = Subject(lookup("algorithms", t.algorithm)), set[str]()
    settings = [{**subject.settings[0], **t.core.fixed}, *subject.settings] if missing else []
    for at in subject.runs(product(settings, subject.models[:2] if missing else ())):
        given |= at.quantities(int(at.long.version[-1])).keys()
        if missing <= given:
            return
    words = "which neither problems, delays and options give nor the quantities"
    found = f"{', '.join(sorted(missing - given))}, {words} of {t.algorithm}: {', '.join(sorted(given)) or 'none'}"
    expect(not missing, f"it reads {found}")


def _units(t: Theorem) -> None:
    """Check that no group of checks finds fault with units and scope; what a paper printed is as it is."""
    if t.of_paper:
        return
    for one in checked(t, ["units", "scope"]):
        expect(one.verdict != "failed", f"not so: {one.statement}; {one.witness}")


def _text(t: Theorem) -> None:
    """Check that what as_dict() shows is read back as the same formulas."""
    fields = t.as_dict()
    table = {name: info.symbol for name, info in t.symbols.items()}
    texts = {**fields["terms"], **fields["definitions"]}
    for name, expression in {**t.bound.terms, **t.rules()}.items():
        with about(f"{name} = {texts[name]} is not read back"):
            again = parse(texts[name], table, name)
        same = again == expression or (again - expression).equals(0) is not False
        expect(same, f"{name} = {texts[name]} is read back as {again}")


def _file(t: Theorem) -> None:
    """Check that the text of a theorem from a file is that theorem."""
    if not t.source:
        return
    with TemporaryDirectory() as folder:
        path = Path(folder) / "theorem.toml"
        path.write_text(t.source, encoding="utf-8")
        again = replace(load_theorem(str(path)), place=t.place)
    for name, value in t.as_dict().items():
        found = again.as_dict()[name]
        expect(found == value, f"{name} is {found!r} when its source is read, and {value!r}")


def _evaluates(t: Theorem) -> None:
    """Check that bound and steps are numbers where its conditions hold, among a few values, and steps can be taken."""
    a: Algorithm[Any] = lookup("algorithms", t.algorithm)
    for drawn in View(t).draws:
        values = drawn | ({"p_s": 1.0 - sum(drawn["p"])} if "p" in drawn else {})
        # A condition does not hold there, or nothing is claimed: then at the next ones.
        with about(f"it has no value, or no steps, at {values}"), suppress(AssumptionError, InfiniteError):
            t.evaluate(values)
            steps = t.step_options({**values, t.horizon_symbol: _HORIZON})
            a.read(Options(a.id, {**t.core.fixed, **steps}))
            return


_OF_THEOREMS: Mapping[str, Callable[[Theorem], None]] = {
    "what it names exists, and its algorithm takes its options and steps": _named,
    "it counts what its metric counts": _counter,
    "every symbol has a source": _sources,
    "both sides have the same units": _units,
    "its formulas as text are read back": _text,
    "its file is read again": _file,
    "it is evaluated, and its steps are ones that the algorithm takes": _evaluates,
}


__all__ = ["Check", "algorithm", "checks", "delays", "metric", "problem", "theorem"]


def algorithm(
    a: Algorithm[Any],
    options: Mapping[str, Any] | None = None,
    *,
    clients: int | None = None,
    delays: Sequence[DelayModel] = (),
    server: str | None = None,
    drawn: int = 4,
) -> None:
    """Check that an algorithm keeps what :class:`boundlab.algorithms.Algorithm` promises.

    Its options are read as they are declared. More events begin with the same ones, and survive a case file. The tape
    is verified; a shorter one is the beginning of a longer one, and all records show one run. The use table is what
    moves the server's model, and quantities are those of the table; averages, weights of the objective and assumptions
    that are met show in the runs, and what ``alone`` says is so.

    Parameters
    ----------
    options
        One setting to look at; None: the simplest of the algorithm's own examples, each of its examples in it, and
        ``drawn`` combinations of them.
    clients
        n; None: 3, or 1 where the algorithm refuses more.
    delays
        Delay models for so many clients; by default exponential, deterministic, Pareto and i.i.d. ones.
    server
        The server policy, as ``--server`` takes it; by default what goes with the algorithm and the delays.

    Raises
    ------
    AssertionError
        Naming the first thing that disagrees.

    Examples
    --------
    >>> from boundlab.registry import lookup
    >>> algorithm(lookup("algorithms", "async_sgd"))
    >>> algorithm(lookup("algorithms", "fedbuff"), {"eta_l": 0.1, "count": 2})
    """
    _run(a, options=options, clients=clients, delays=delays, server=server, drawn=drawn)


def problem(p: Problem | ProblemType, family: ProblemType | None = None) -> None:
    """Check that a problem keeps what :class:`boundlab.objective.Problem` promises; a family, that its examples do.

    At random points around x0 and x*, at three scales: gradients are those of the values (tangents, parabolas, finite
    differences), batches, proximal and local steps are those of single points, equal keys mean equal functions;
    constants are on their sides, L along the steepest curvature that power iteration finds; no descent falls below the
    certified f*; the oracle repeats itself, is unbiased, and its noise is at most sigma; the quadratic form and the
    scaled problem are the problem itself, and ``spec`` rebuilds it. Random points can refute a constant, they cannot
    prove it.

    Parameters
    ----------
    p
        A problem, a small one, since its gradients are computed one by one; or a family.
    family
        What builds it from options; None: what is registered under its id.

    Raises
    ------
    AssertionError
        Naming the first thing that disagrees.
    SpecError
        If no family is given and none is registered under the id.

    Examples
    --------
    >>> from boundlab.case import build_problem
    >>> problem(build_problem("pseudo-huber", {"c": [0.0, 1.0], "x0": 2.0}))
    """
    _run(p, family=family)


def delays(m: DelayModel | DelayType, family: DelayType | None = None) -> None:
    """Check that a delay model keeps what :class:`boundlab.delays.DelayModel` promises; a law, that its examples do.

    Trials repeat themselves, more events begin with the same ones, times do not decrease, and ``spec`` rebuilds the
    model. ``rates`` are the long-run counts: a run is as long as the law's own variance asks, so that 5 % are seen at
    six standard errors; where the variance is infinite this says less, and the law's quantiles are integrated as well.
    What is called memoryless is independent of its past. A clock hands out the same times.

    Raises
    ------
    AssertionError
        Naming the first thing that disagrees. With true rates at most once in 10⁶ models, by the normal approximation.

    Examples
    --------
    >>> from boundlab.case import build_delays
    >>> delays(build_delays("gamma", {"spread": 3}, 2))
    """
    _run(m, family=family)


def theorem(t: Theorem) -> None:
    """Check that a theorem fits its algorithm and its metric, and can be evaluated.

    Algorithm, metric, assumptions, options and steps exist; the counter is what the metric counts and no formula reads
    the other one; every symbol that the bound reads is given by problem, delays, options or the algorithm's quantities;
    both sides have the same units, unless a paper printed it otherwise; formulas and files are read back; and it is
    evaluated, at values where its conditions hold, with steps that the algorithm takes.

    Raises
    ------
    AssertionError
        Naming the first thing that disagrees.

    Examples
    --------
    >>> from boundlab.theorems import load_theorem
    >>> theorem(load_theorem("classics.gd.convex"))
    """
    _run(t)


def metric(m: Metric) -> None:
    """Check that a metric keeps what :class:`boundlab.metrics.Metric` promises.

    A run shows the records that it asks for, and the left side at each horizon is the one that a run of this horizon
    alone has. Where records have weights, ``share`` gives them, and second moments give the same quantity as points. In
    other units of f and x left sides change as the units of the quantity say.

    Raises
    ------
    AssertionError
        Naming the first thing that disagrees.

    Examples
    --------
    >>> from boundlab.metrics import METRICS
    >>> metric(METRICS["gap"])
    """
    _run(m)


def checks(obj: object, **given: Any) -> tuple[Check, ...]:
    """Return the checks of an object one by one, each with its name.

    Parameters
    ----------
    obj
        What one of the five functions takes.
    given
        Further arguments of that function by name.

    Raises
    ------
    SpecError
        If the object is none of them.

    Examples
    --------
    >>> from boundlab.metrics import METRICS
    >>> for check in checks(METRICS["gap"]):
    ...     check()
    """
    for kinds, suite in _SUITES.items():
        if isinstance(obj, kinds):
            return tuple(suite(obj, **given))
    words = "an algorithm, a problem, a delay model, a theorem or a metric"
    raise SpecError(f"conform.checks takes {words}, or the family of one, not {type(obj).__name__}")


def _run(obj: object, **given: Any) -> None:
    for check in checks(obj, **given):
        check()


def _metric_checks(m: Metric) -> Iterator[Check]:
    return named(f"metric {m.id}", _OF_METRICS, m)


def _theorem_checks(t: Theorem) -> Iterator[Check]:
    return named(f"theorem {t.id}", _OF_THEOREMS, t)


_SUITES: Mapping[Any, Callable[..., Iterator[Check]]] = {
    Algorithm: algorithm_checks,
    (Problem, ProblemType): problem_checks,
    (DelayModel, DelayType): delay_checks,
    Theorem: _theorem_checks,
    Metric: _metric_checks,
}
