"""Who acts next: the sampler, the program and the compiler of each algorithm, and an event queue of the tests' own.

Three clients and six events. Where arrivals forget, the conditional laws of the next event are the same fractions after
every past that is possible; under other laws of delays the events themselves are the same, one by one.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from event_queue import Office, at_the_office, durations_of, one_after_the_other, with_a_server, with_coins
from test_programs import SET

from boundlab.algorithms import Algorithm, Control, EventLaw, EventProgram, undeclared_draws
from boundlab.case.build import build_delays
from boundlab.delays import DELAYS, DelayModel, ServerPolicy
from boundlab.errors import SpecError
from boundlab.events import SERVER, Events
from boundlab.options import Options
from boundlab.randomness import Stream, Streams
from boundlab.registry import lookup, registered
from boundlab.tape import RecordAt

N, EVENTS = 3, 6
P = (Fraction(1, 4), Fraction(1, 8), Fraction(1, 8))
P_S = Fraction(1, 2)
LAW = EventLaw(np.array(P, dtype=object), P_S)
# Of these the options of one algorithm are combined with each other; every word of all others is tried by itself.
WHO_ACTS = frozenset(
    {"count", "reply", "stops", "threshold", "sampling", "sampled", "iteration", "order", "p_c", "start"}
)
WITH_PROGRAM = sorted(
    name for name, one in registered("algorithms").items() if type(one).program is not Algorithm.program
)


@dataclass(frozen=True)
class Setting:
    """An algorithm with its options."""

    algorithm: Any
    parameters: Any
    words: Mapping[str, str]

    def program(self) -> EventProgram:
        found = self.algorithm.program(self.parameters, N)
        assert isinstance(found, EventProgram)
        return found

    def office(self) -> Office | None:
        """Return what the page of the algorithm says of who is answered when; None: it asks clients by itself."""
        one = self.parameters
        match self.algorithm.id:
            case "asfedavg" | "fedbuff" | "fedstaleweight":
                return Office(N, one.count, one.reply)
            case "rennala":
                return Office(N, one.count, one.reply, stalest=0, stops=one.stops)
            case "ringmaster":
                return Office(N, stalest=one.threshold - 1, stops=one.stops)
            case "async_sgd":
                return Office(N, named=one.sampling == "uniform")
            case "fedasync" | "fedfa":
                return Office(N)
            case "area":
                return Office(N)
        return None


def settings(name: str) -> list[Setting]:
    """Return all combinations of what says who acts, and every other word by itself."""
    algorithm = lookup("algorithms", name)
    axes = {key: list(values) for key, values in algorithm.examples(N).items()}
    acts = {key: values[:3] for key, values in axes.items() if key in WHO_ACTS}
    combined = [dict(zip(acts, words, strict=True)) for words in itertools.product(*acts.values())]
    alone = [{key: word} for key, words in axes.items() for word in words]
    found: list[Setting] = []
    for words in [*combined, *(one for one in alone if one not in combined)]:
        given = {**SET.get(name, {}), **{key: word for key, word in words.items() if word}}
        try:
            parameters = algorithm.read(Options(name, given))
            if type(algorithm).program is not Algorithm.program:
                program = algorithm.program(parameters, N)
                program.choices(program.opening()[1], LAW)
        except SpecError:
            continue  # options that do not go together
        if all(parameters != one.parameters for one in found):
            found.append(Setting(algorithm, parameters, words))
    return found


# ---- arrivals that forget ---------------------------------------------------------------------------------------


@dataclass
class Ticking(DelayModel):
    """Client i is done with whatever it does at its own ticks: as much as anybody knows of arrivals that forget."""

    ticks: Sequence[int]
    id: str = "ticking"
    n: int = N

    def sample(self, streams: Any, count: int, server_rate: float) -> Events:
        actor = np.array(list(itertools.islice(itertools.cycle([*self.ticks, 0, 1, 2]), count)), dtype=np.int32)
        actor[: len(self.ticks)] = self.ticks[:count]
        return Events(np.arange(1.0, count + 1.0), actor)

    def rates(self) -> Any:
        return np.array([float(one) for one in P])

    @property
    def how_rates(self) -> str:
        return "given"


@dataclass
class Drawn:
    """Streams whose numbers are known: those of each event, one event after the other."""

    rows: Sequence[Sequence[float]]
    trial: int = 0
    seed: int = 0

    def uniforms(self, stream: Stream, client: Any, update: Any, count: int) -> Any:
        assert stream == Stream.SCHEDULE
        flat = [one for row in self.rows for one in row]
        if np.ndim(update) == 0 and count == N and self.rows and len(self.rows[0]) == N:
            return np.array([self.rows[int(update)]])
        return np.array([(flat + [0.5] * count)[:count]])


Key = tuple[Any, ...]  # what happens next: who arrives, whom it concerns, what was drawn


def cells(setting: Setting) -> list[tuple[tuple[float, ...], Fraction]]:
    """Return what an event draws as middles of cells on which events are the same, with probabilities."""
    name, one = setting.algorithm.id, setting.parameters
    thirds = [((place / 6,), Fraction(1, 3)) for place in (1, 3, 5)]
    p = Fraction(getattr(one, "p_c", 1)).limit_denominator(10)
    coins = [((float(p / 2),), p), *([((float((1 + p) / 2),), 1 - p)] if p < 1 else [])]
    orders = [(ranks, Fraction(1, 6)) for ranks in itertools.permutations((1 / 6, 1 / 2, 5 / 6))]
    if name == "scaffnew":
        return coins
    if name == "lsvrg":
        return [((*who, *coin), a * b) for who, a in thirds for coin, b in coins]
    if getattr(one, "sampling", "") == "uniform":
        return thirds
    if getattr(one, "sampled", None) is not None or getattr(one, "order", "") == "shuffled":
        return orders
    return [((), Fraction(1))]


def sampled_next(setting: Setting, past: list[tuple[Any, tuple[float, ...]]]) -> dict[Key, Fraction]:
    """Return the law of the event after these ticks and draws, as the sampler has it."""
    office, found, weight = setting.office(), {}, {}
    ticks, rows = [tick for tick, _ in past], [row for _, row in past]
    place, named = len(past), setting.algorithm.server == "any" and setting.parameters.count is None
    everybody = [*range(N), SERVER] if named else range(N) if office is not None else [0]
    for tick, (row, share) in itertools.product(everybody, cells(setting)):
        policy = ServerPolicy("given" if named else "own", float(P_S))
        delays, streams = Ticking([*ticks, tick]), Drawn([*rows, row])
        events = setting.algorithm.sample(setting.parameters, delays, policy, streams, N, place + 1)
        one = setting.algorithm.events_as_json(events)[place]
        if office is not None and one[0] != place + 1:
            continue  # nobody waits for this tick
        key = (SERVER if one[1] == "s" else one[1], *one[2:])
        if isinstance(key[0], list):
            key = (tuple(key[0]),)
        chance = P_S if tick == SERVER else P[tick] if office is not None else Fraction(1)
        found[key] = found.get(key, Fraction(0)) + chance * share
        weight[tick] = chance
    total = sum(weight.values())
    return {key: chance / total for key, chance in found.items()}


def as_event(setting: Setting, event: tuple[int, ...]) -> Key:
    """Return an event of the program as the sampler's."""
    if setting.algorithm.id in ("sfedavg", "incremental"):
        return (tuple(event),)
    return event


def queued_next(setting: Setting, office: Office) -> dict[Key, Fraction]:
    """Return the law of the event after a past, as the queue has it."""
    if setting.algorithm.server == "any" and setting.parameters.count is None:
        return {**{(i,): P[i] for i in office.busy()}, (SERVER,): P_S}
    total = sum(P[i] for i in office.busy())
    arrive = {(i,): P[i] / total for i in office.busy()}
    if not office.named:
        return arrive
    return {(*who, target): share / N for who, share in arrive.items() for target in range(N)}


def programmed_next(program: EventProgram, control: Control) -> dict[tuple[int, ...], Fraction]:
    """Return the law of the next event that counts, with those before it that are ignored in the order of clients."""
    found: dict[tuple[int, ...], Fraction] = {}
    for event, share in program.choices(control, LAW):
        found[event] = found.get(event, Fraction(0)) + share
    return found


def counting_next(office: Office) -> dict[tuple[int, ...], Fraction]:
    """Return the law of the next arrival that counts and of those before it, as the queue has it."""
    found: dict[tuple[int, ...], Fraction] = {}
    left: list[tuple[Office, tuple[int, ...], Fraction]] = [(office, (), Fraction(1))]
    while left:
        at, ignored, chance = left.pop()
        total = sum(P[i] for i in at.busy())
        for i in at.busy():
            share = chance * P[i] / total
            if at.late(i):
                after = at.copy()
                after.arrive(i)
                left.append((after, (*ignored, i), share))
            else:
                key = (*sorted(ignored), i)
                found[key] = found.get(key, Fraction(0)) + share
    return found


@dataclass
class Walk:
    """A past: ticks and draws, the queue and the program after it, and who was ignored since the last that counted."""

    past: list[tuple[Any, tuple[float, ...]]]
    office: Office | None
    control: Control
    ignored: tuple[int, ...] = ()
    number: int = 0
    actors: list[Key] = field(default_factory=list)


def compare_laws(setting: Setting, pasts: int) -> int:
    """Compare all laws of the next event after some pasts, and return how many there were."""
    program, compared, rng = setting.program(), 0, np.random.default_rng(46)
    draws, area = cells(setting), setting.algorithm.server == "any"
    grouped = area and setting.parameters.count is not None

    def server_moves(walk: Walk) -> Walk:
        while grouped and program.choices(walk.control, LAW) == [((SERVER,), 1)]:
            walk.control = program.event(walk.control, (SERVER,), walk.number).control
            walk.number += 1
        return walk

    def look(walk: Walk) -> dict[Key, Fraction]:
        found = sampled_next(setting, walk.past)
        assert sum(found.values()) == 1
        law = programmed_next(program, walk.control)
        if walk.office is None:
            assert found == {as_event(setting, event): share for event, share in law.items()}, (setting.words, walk)
            return found
        assert found == queued_next(setting, walk.office), (setting.words, walk)
        if setting.parameters and walk.office.stalest < np.inf and not walk.office.stops:
            if not walk.ignored:  # the program tells those that are ignored together with the next that counts
                assert law == counting_next(walk.office), (setting.words, walk)
        else:
            assert law == found, (setting.words, walk)
        return found

    def step(walk: Walk, key: Key, row: tuple[float, ...]) -> Walk:
        office, ignored, control, number = walk.office, walk.ignored, walk.control, walk.number
        event, tick = (key if not isinstance(key[0], tuple) else key[0]), key[0] if walk.office is not None else 0
        late = False
        if office is not None and tick != SERVER:
            office = office.copy()
            late = office.late(tick)
            office.arrive(tick, key[1] if office.named else None)
        if late:
            ignored = (*ignored, tick)
        else:
            control = program.event(control, (*ignored, *event), number).control
            ignored, number = (), number + 1
        after = Walk([*walk.past, (tick, row)], office, control, ignored, number, [*walk.actors, key])
        return server_moves(after)

    opening = Walk([], setting.office(), program.opening()[1])
    for _ in range(pasts):
        walk = opening
        for _ in range(EVENTS):
            law = look(walk)
            compared += 1
            key = sorted(law)[int(rng.integers(len(law)))]
            rows = [row for row, _ in draws]
            if len(rows) > 1:  # one of the draws that make this event
                rows = [row for row in rows if key in sampled_one(setting, walk, key, row)]
            walk = step(walk, key, rows[int(rng.integers(len(rows)))])
        compared += compiles(setting, walk.actors)
    return compared


def sampled_one(setting: Setting, walk: Walk, key: Key, row: tuple[float, ...]) -> list[Key]:
    """Return what the sampler makes of one draw, with the client of an event at work."""
    tick, ticks = key[0] if walk.office is not None else 0, [one for one, _ in walk.past]
    policy, delays = ServerPolicy("own", 0.0), Ticking([*ticks, tick])
    streams = Drawn([*(one for _, one in walk.past), row])
    events = setting.algorithm.sample(setting.parameters, delays, policy, streams, N, len(walk.past) + 1)
    one = setting.algorithm.events_as_json(events)[-1]
    found = (SERVER if one[1] == "s" else one[1], *one[2:])
    return [(tuple(found[0]),) if isinstance(found[0], list) else found]


def compiles(setting: Setting, actors: list[Key]) -> int:
    """The compiler takes this run, and none in which somebody arrives last who is not at work."""
    office = setting.office()
    if office is None or office.named:
        return 0

    def schedule(who: Sequence[int]) -> None:
        events = Events(np.arange(1.0, len(who) + 1.0), np.array(who, dtype=np.int32))
        setting.algorithm.schedule(setting.parameters, events, N, RecordAt(), 10**6)

    who = [key[0] for key in actors]
    schedule(who)
    for actor in who:
        if actor != SERVER:
            office.arrive(actor)
    for idle in {*range(N)} - {*office.busy()}:
        with pytest.raises(SpecError, match="has nothing to send"):
            schedule([*who, idle])
    return 1


COMPARED: dict[str, int] = {}


@pytest.mark.parametrize("name", WITH_PROGRAM)
def test_sampler_program_and_queue_have_one_law_of_who_acts_next(name: str) -> None:
    compared = sum(compare_laws(setting, pasts=2) for setting in settings(name))
    COMPARED[name] = compared
    assert compared >= 2 * EVENTS * len(settings(name))


# ---- other laws -------------------------------------------------------------------------------------------------

DELAY_WORDS = [(one.id, one.examples[-1]) for one in DELAYS if one.id not in ("iid", "trace")] + [
    ("deterministic", {}),
    ("deterministic", {"rates": [1, 2, 4]}),
]


def expected_events(setting: Setting, delays: DelayModel, policy: ServerPolicy, streams: Streams) -> Iterator[Any]:
    """Yield (time, actor, detail) as the queue has them; what a run draws by itself is read off the streams."""
    duration, office, one = durations_of(delays, streams), setting.office(), setting.parameters
    name = setting.algorithm.id

    def numbers(each: int) -> Iterator[list[float]]:
        flat = streams.uniforms(Stream.SCHEDULE, 0, 0, each * EVENTS)[0].tolist()
        yield from (flat[k : k + each] for k in range(0, len(flat), each))

    def turns(k: int) -> list[float]:
        return list(streams.uniforms(Stream.SCHEDULE, 0, k, N)[0].tolist())

    def ranks(k: int) -> list[int]:
        row = turns(k)
        return sorted(range(N), key=lambda i: row[i])

    if name == "area":
        if policy.kind == "periodic":
            yield from with_a_server(N, duration, (policy.value * k for k in itertools.count(1)))
        elif policy.kind == "poisson":
            steps = streams.uniforms(Stream.SERVER, 0, np.arange(EVENTS), 1)[:, 0]
            yield from with_a_server(N, duration, iter(np.cumsum(-np.log(steps) * (1.0 / policy.value)).tolist()))
        else:
            yield from with_a_server(N, duration, itertools.repeat(float("inf")))
    elif office is not None:
        yield from at_the_office(office, duration, (int(N * u) for (u,) in numbers(1)))
    elif name == "scaffnew":
        heads = [u < one.p_c for (u,) in numbers(1)]
        ends = with_coins(N, iter(heads), duration)
        yield from ((end, SERVER, (int(head),)) for end, head in zip(ends, heads, strict=False))
    elif name == "lsvrg":
        drawn = [(int(N * u), v < one.p_c) for u, v in numbers(2)]
        asked = [[*range(N)] if head or not k else [who] for k, (who, head) in enumerate(drawn)]
        ends = one_after_the_other(iter(asked), duration, together=True)
        yield from ((end, who, (int(head),)) for end, (who, head) in zip(ends, drawn, strict=False))
    elif name == "incremental":
        orders = [ranks(k) if one.order == "shuffled" else [*range(N)] for k in range(EVENTS)]
        ends = one_after_the_other(iter(orders), duration, together=False)
        yield from ((end, SERVER, tuple(order)) for end, order in zip(ends, orders, strict=True))
    elif name == "sfedavg":
        rounds = [sorted(ranks(k)[: one.sampled or N]) for k in range(EVENTS)]
        ends = one_after_the_other(iter(rounds), duration, together=True)
        yield from ((end, SERVER, tuple(who)) for end, who in zip(ends, rounds, strict=True))
    elif getattr(one, "sampling", "all") not in ("all", "mean"):
        asked = [[k % N if one.sampling == "cyclic" else int(N * u)] for k, (u,) in enumerate(numbers(1))]
        ends = one_after_the_other(iter(asked), duration, together=False)
        yield from ((end, who[0], ()) for end, who in zip(ends, asked, strict=True))
    else:
        ends = one_after_the_other(itertools.repeat([*range(N)]), duration, together=True)
        for k, end in enumerate(ends):
            size = getattr(one, "sampled", None)
            drawn_for = size is not None and size < N and (one.iteration == "pass" or (k + 1) % one.M == 0)
            yield end, SERVER, tuple(sorted(ranks(k)[:size])) if drawn_for else ()


BY_THEMSELVES = {"afl_dga", "fedcompass"}  # whose schedulers have twins in tests of their own


@pytest.mark.parametrize("name", sorted({*registered("algorithms")} - BY_THEMSELVES))
def test_the_sampler_draws_the_events_of_the_queue(name: str) -> None:
    # Six events of three clients; rounding may differ by how times are summed up.
    compared = 0
    for setting in settings(name):
        policies: list[str | None] = [None]
        if setting.algorithm.server == "any" and setting.parameters.count is None:
            policies = ["poisson:rate=2", "periodic:every=0.75"]
        for (kind, words), text in itertools.product(DELAY_WORDS, policies):
            delays = build_delays(kind, dict(words), N)
            policy, streams = setting.algorithm.policy(text, delays), Streams(7, 1)
            if setting.algorithm.server == "any" and setting.parameters.count is not None:
                policy = ServerPolicy("count", float(setting.parameters.count))
            try:
                found = setting.algorithm.sample(setting.parameters, delays, policy, streams, N, EVENTS)
            except SpecError:
                continue  # more clients are asked for than there are
            expected = list(itertools.islice(expected_events(setting, delays, policy, streams), EVENTS))
            details = found.detail or ((),) * EVENTS
            assert [(one, *two) for one, two in zip(found.actor.tolist(), details, strict=True)] == [
                (who, *detail) for _, who, detail in expected
            ], (setting.words, kind, words)
            assert np.allclose(found.time, [time for time, _, _ in expected], rtol=1e-14, atol=0)
            compared += 1
    COMPARED[name + " queue"] = compared
    assert compared


@pytest.mark.parametrize("name", sorted(registered("algorithms")))
def test_no_built_in_algorithm_draws_what_it_does_not_declare(name: str) -> None:
    for setting in settings(name):
        one = setting.parameters
        if (getattr(one, "sampled", None) or 0) <= N:  # more clients are asked for than there are
            assert undeclared_draws(setting.algorithm, one, N) == "", setting.words
