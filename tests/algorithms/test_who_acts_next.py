"""Who acts next: the sampler, the program and the compiler of each algorithm, and an event queue of the tests' own.

Three clients and six events. Where arrivals forget, the conditional laws of the next event that programs have are the
queue's, along two random pasts of each setting; under any law of delays samplers draw its very events, one by one.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from algorithm_makers import some_problem
from event_queue import (
    Anarchy,
    Office,
    at_the_office,
    durations_of,
    in_rounds,
    one_after_the_other,
    with_a_server,
    with_coins,
)
from test_afl_dga import Messages
from test_compass_in_fractions import Fractions

from boundlab.algorithms import Algorithm, Control, EventLaw, EventProgram, undeclared_draws
from boundlab.arithmetic.rational import shortest_decimal
from boundlab.case import build_delays
from boundlab.delays import DELAYS, DelayModel, ServerPolicy
from boundlab.errors import CaseError, SpecError
from boundlab.events import SERVER, Events
from boundlab.execute.floats import run
from boundlab.options import Options
from boundlab.randomness import Stream, Streams
from boundlab.registry import lookup, registered
from boundlab.tape import RecordAt

N, EVENTS = 3, 6
P = (Fraction(1, 4), Fraction(1, 8), Fraction(1, 8))
P_S = Fraction(1, 2)
NO_POLICY = ServerPolicy("own", 0.0)
LAW = EventLaw(np.array(P, dtype=object), P_S)
STEP = {name: one.step_size_symbols[0] for name, one in sorted(registered("algorithms").items())}
SET = {
    **{name: {step: "0.5"} for name, step in STEP.items()},
    "fedasync": {"eta_l": "0.5", "beta": "0.75"},
    **{name: {"alpha": "0.5", "p_c": "0.5"} for name in ("lsvrg", "scaffnew")},
    "heavy_ball": {"alpha": "0.5", "beta": "0.5"},
    "ogm": {"alpha": "0.5", "K": "40"},
    "ringmaster": {"alpha": "0.5", "threshold": "2"},
    "fedcompass": {"eta": "0.5", "Qmin": "1", "Qmax": "4"},
}
# Of these the options of one algorithm are combined with each other; every word of all others is tried by itself.
WHO_ACTS = frozenset(
    {"count", "reply", "stops", "threshold", "sampling", "sampled", "iteration", "order", "p_c", "start"}
    | {"participation", "local_steps", "correction_delay", "t_d", "first_round"}
    | {"Qmin", "Qmax", "speeds", "warmup"}
)
BESIDE = {  # what a word needs beside it
    ("fedcompass", "Qmin"): {"Qmax": "20"},
    ("fedfa", "eta_g"): {"mode": "delta"},
    ("gd", "K"): {"decay": "linear"},
    ("gd", "decay"): {"K": "20"},
}
WITH_PROGRAM = sorted(
    name for name, one in registered("algorithms").items() if type(one).program is not Algorithm.program
)


@dataclass(frozen=True)
class Setting:
    """An algorithm with its options."""

    algorithm: Any
    parameters: Any
    words: Mapping[str, str]
    said: set[tuple[str, str]] = field(default_factory=set)  # options and words, of those that mean the same, too

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
    beside = [{**BESIDE[name, key], **one} for one in alone for key in one if (name, key) in BESIDE]
    found: list[Setting] = []
    for words in [*combined, *(one for one in alone + beside if one not in combined)]:
        given = {**SET.get(name, {}), **{key: word for key, word in words.items() if word}}
        try:
            parameters = algorithm.read(Options(name, given))
            if type(algorithm).program is not Algorithm.program:
                program = algorithm.program(parameters, N)
                program.choices(program.opening()[1], LAW)
        except SpecError:
            continue  # options that do not go together
        same = next((one for one in found if one.parameters == parameters), None)
        if same is None:
            found.append(same := Setting(algorithm, parameters, words))
        same.said.update(words.items())
    return found


# ---- arrivals that forget ---------------------------------------------------------------------------------------


Key = tuple[Any, ...]  # what happens next: who arrives, whom it concerns, what was drawn


def drawn_next(setting: Setting, k: int) -> dict[Key, Fraction]:
    """Return the law of iteration k = 0, 1, … of an algorithm that asks clients by itself, as its page has it."""
    name, one = setting.algorithm.id, setting.parameters
    if name in ("scaffnew", "lsvrg"):
        p = Fraction(one.p_c).limit_denominator(10)
        coins = {1: p, 0: 1 - p}
        asked = range(N) if name == "lsvrg" else [SERVER]
        return {(i, coin): share / len(asked) for i in asked for coin, share in coins.items() if share}
    events: list[Key] = [(SERVER,)]
    sampled = getattr(one, "sampled", None)
    if name == "sfedavg":
        events = [*itertools.combinations(range(N), sampled or N)]
    elif name == "incremental":
        events = [*itertools.permutations(range(N))] if one.order == "shuffled" else [tuple(range(N))]
    elif getattr(one, "sampling", "") in ("cyclic", "uniform"):
        events = [(k % N,)] if one.sampling == "cyclic" else [(i,) for i in range(N)]
    elif sampled is not None and sampled < N and (one.iteration == "pass" or (k + 1) % one.M == 0):
        events = [(SERVER, *who) for who in itertools.combinations(range(N), sampled)]
    return {event: Fraction(1, len(events)) for event in events}


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


def compare_laws(setting: Setting, pasts: int) -> None:
    """Compare all laws of the next event after some pasts."""
    program, rng = setting.program(), np.random.default_rng(46)
    grouped = setting.algorithm.server == "any" and setting.parameters.count is not None
    for _ in range(pasts):
        office, control = setting.office(), program.opening()[1]
        actors: list[int] = []
        ignored: tuple[int, ...] = ()
        number = 0
        # The program tells those that are ignored together with the next that counts.
        skips = office is not None and office.stalest < np.inf and not office.stops
        for k in range(EVENTS):
            expected = drawn_next(setting, k) if office is None else queued_next(setting, office)
            if not ignored:
                law = counting_next(office) if skips else expected
                assert programmed_next(program, control) == law, (setting.words, actors)
            event = sorted(expected)[int(rng.integers(len(expected)))]
            late = False
            if office is not None and event[0] != SERVER:
                late = office.late(event[0])
                office.arrive(event[0], event[1] if office.named else None)
            if late:
                ignored = (*ignored, event[0])
            else:
                control = program.event(control, (*ignored, *event), number).control
                ignored = ()
                number += 1
            while grouped and program.choices(control, LAW) == [((SERVER,), 1)]:
                control = program.event(control, (SERVER,), number).control
                number += 1
            actors.append(event[0])
        compiles(setting, actors)


def compiles(setting: Setting, actors: list[int]) -> None:
    """The compiler takes this run, and none in which somebody arrives last who is not at work."""
    office = setting.office()
    if office is None or office.named:
        return

    def schedule(who: Sequence[int]) -> None:
        events = Events(np.arange(1.0, len(who) + 1.0), np.array(who, dtype=np.int32))
        setting.algorithm.schedule(setting.parameters, events, N, RecordAt(), 10**6)

    schedule(actors)
    for actor in actors:
        if actor != SERVER:
            office.arrive(actor)
    for idle in {*range(N)} - {*office.busy()}:
        with pytest.raises(SpecError, match="has nothing to send"):
            schedule([*actors, idle])


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", WITH_PROGRAM)
def test_program_and_queue_have_one_law_of_who_acts_next(name: str) -> None:
    for setting in settings(name):
        compare_laws(setting, pasts=2)


# ---- other laws -------------------------------------------------------------------------------------------------

DELAY_WORDS = [(one.id, one.examples[-1]) for one in DELAYS if one.id not in ("iid", "trace", "staleness")] + [
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


BY_THEMSELVES = {"afl_dga", "fedcompass"}  # whose schedulers have twins further below


@pytest.mark.sweep(13, also=("async_sgd", "gd", "incremental"))
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
    assert compared


def with_laws(found: Sequence[Setting]) -> Iterator[tuple[Setting, tuple[str, Any]]]:
    """Yield settings with laws of delays: every fourth law for a word by itself, one for several of them together."""
    for place, setting in enumerate(found):
        some = DELAY_WORDS[place % 4 :: 4]
        for law in some if len(setting.words) == 1 else [some[place % len(some)]]:
            yield setting, law


# ---- AFL-DGA: who takes part, and what a local step sets off ----------------------------------------------------

LONG = 40  # events: a step, a message or an average each
Decides = Callable[[int, int], Sequence[float]]  # client, round → the three numbers that decide of it


def anarchy(setting: Setting, decides: Decides) -> Anarchy:
    """Return the clients and the server of a run."""
    one, joined = setting.parameters.schedule, list[set[int]]()

    def of(i: int, values: Sequence[float]) -> float:
        return values[i % len(values)]

    def joins(r: int) -> set[int]:
        while len(joined) < r:
            now = len(joined) + 1
            away = [now - max((q for q, who in enumerate(joined, 1) if i in who), default=0) for i in range(N)]
            u = [decides(i, now)[0] for i in range(N)]
            who = {
                i
                for i in range(N)
                if (one.first_round == "all" and now == 1)
                or (one.t_d is not None and away[i] >= one.t_d)
                or ((now - 1) % of(i, one.periods) == 0 if one.periods else u[i] < of(i, one.participation))
            }
            first = [-away[i] if one.periods else u[i] / of(i, one.participation) for i in range(N)]
            joined.append(who or {first.index(min(first))})
        return joined[r - 1]

    def between(ends: tuple[int, int], u: float) -> int:
        return [*range(ends[0], ends[1] + 1)][int(u * (ends[1] + 1 - ends[0]))]

    def steps(i: int, r: int) -> int:
        return between(one.local_steps, decides(i, r)[1])

    return Anarchy(N, joins, steps, lambda i, r: between(one.correction_delay, decides(i, r)[2]))


def compiles_as_messages(setting: Setting, happened: Sequence[Any]) -> None:
    """The tape of a run has the models of the messages, and averages the newest gradients of all clients."""
    one, problem = setting.parameters, some_problem()
    rows = [[time, "s" if who == SERVER else who, *said] for time, who, said in happened]
    tape = setting.algorithm.schedule(
        one, setting.algorithm.read_events(rows, N, "queue"), N, RecordAt(events=True), 10**6
    )
    messages, expected, shown = Messages(problem, one.eta, one.scaling, one.server), [], []
    newest: dict[int, int] = {}
    uses: list[tuple[float, ...]] = []
    for _, who, word, r in rows:
        messages.take(who, word, r)
        expected.append(messages.w)
        if word == "send":
            newest[who] = r
        if word == "aggregate":
            scale = messages.counts[r] if one.server == "k-scaled" else 1
            for i, q in newest.items():
                K = len(messages.own[i][q])
                uses += [(r - 1, i, q, scale / N / K)] * K
    ends = run(tape, problem.x0, problem.full_gradients(), lambda _row, x: shown.append(x.copy()))
    runs = tape.uses.update
    found = zip(
        tape.uses.version, tape.descend.client[runs], tape.notes["run_round"][runs], tape.uses.weight, strict=True
    )
    assert np.allclose(sorted(found), sorted(uses), rtol=1e-12, atol=0)
    for models, others in ((shown, expected), (ends[tape.notes["client_model"]], messages.models)):
        assert np.allclose(models, others, rtol=1e-9, atol=1e-9 * np.abs(others).max()), setting.words


def test_afl_dga_samples_and_compiles_the_rounds_of_the_queue() -> None:
    for trial, (setting, (kind, words)) in enumerate(with_laws(settings("afl_dga"))):
        delays, streams = build_delays(kind, dict(words), N), Streams(7, trial)
        duration = durations_of(delays, streams)

        def decides(i: int, r: int, streams: Streams = streams) -> Sequence[float]:
            return list(streams.uniforms(Stream.SCHEDULE, i, r, 3)[0].tolist())

        def arrival(i: int, now: float, duration: Any = duration) -> float:
            return now + float(duration(i))

        expected = [*itertools.islice(in_rounds(anarchy(setting, decides), arrival), LONG)]
        events = setting.algorithm.sample(setting.parameters, delays, NO_POLICY, streams, N, LONG)
        sampled = [*zip(events.time.tolist(), events.actor.tolist(), events.detail, strict=True)]
        assert sampled == expected, (setting.words, kind, words)
        compiles_as_messages(setting, expected)


def may_be_next(rows: Sequence[Any], who: int, word: str, r: int) -> bool:
    """Whether an event can follow these, by Section 3.2; rows are (client or −1, word, round)."""
    own = [(said, q) for i, said, q in rows if i == who]
    averaged = [q for i, _, q in rows if i == SERVER]
    sent, heard = [q for said, q in own if said == "send"], [q for said, q in own if said == "recv"]
    begun = [q for said, q in own if said == "step" and q not in sent]
    if who == SERVER or word == "aggregate":
        return who == SERVER and word == "aggregate" and (r == averaged[-1] + 1 if averaged else r <= 1)
    if word == "step":
        return r not in heard and all(q == r for q in begun) and all(q < r for q in sent)
    if word == "send":
        return r in begun
    return r in averaged and r not in heard and r not in begun


def test_afl_dga_compiles_what_may_happen_next_and_nothing_else() -> None:
    # All 4 actors × 4 words × rounds 0 … 5 after each of the first 24 events.
    setting = next(one for one in settings("afl_dga") if one.words.get("correction_delay") == "2")
    streams = Streams(7, 1)
    delays = build_delays("exponential", {}, N)
    events = setting.algorithm.sample(setting.parameters, delays, NO_POLICY, streams, N, 24)
    rows = [(who, *said) for who, said in zip(events.actor.tolist(), events.detail, strict=True)]
    for past in (rows[:size] for size in range(0, 25, 2)):
        for who, word, r in itertools.product((*range(N), SERVER), ("step", "send", "aggregate", "recv"), range(6)):
            both = [*past, (who, word, r)]
            after = Events(
                np.arange(1.0, len(both) + 1.0),
                np.array([one[0] for one in both], dtype=np.int32),
                tuple(one[1:] for one in both),
            )
            try:
                setting.algorithm.schedule(setting.parameters, after, N, RecordAt(), 10**6)
                taken = True
            except CaseError:
                taken = False
            assert taken == may_be_next(past, who, word, r), (past, who, word, r)


# ---- FedCompass: groups, steps and timers ----------------------------------------------------------------------


def own_speeds(speeds: Sequence[Sequence[Fraction]]) -> Callable[[int, float, int], float]:
    """Return when a client is done whose runs have these times of a step, the last one over and over."""
    runs = [itertools.chain(own, itertools.repeat(own[-1])) for own in speeds]
    return lambda i, start, steps: float(shortest_decimal(start) + steps * next(runs[i]))


def in_fourteen_digits(duration: Callable[[int], float]) -> Callable[[int, float, int], float]:
    """Return when a client is done by a law of delays, on a clock that shows fourteen digits."""

    def arrival(i: int, start: float, steps: int) -> float:
        end = start + steps * duration(i)
        return float(f"{end:.14g}") if float(f"{end:.14g}") > start else end

    return arrival


def test_fedcompass_samples_and_compiles_the_groups_of_the_queue() -> None:
    for setting, (kind, words) in with_laws(settings("fedcompass")):
        one, delays, streams = setting.parameters, build_delays(kind, dict(words), N), Streams(7, 1)
        arrival = own_speeds(one.speeds) if one.speeds else in_fourteen_digits(durations_of(delays, streams))
        known = one.speeds is not None and one.warmup == "speeds"
        queue = Fractions(one, [float(one.speeds[i][0]) if known else 1.0 for i in range(N)], known)
        expected = [*itertools.islice(queue.moments(arrival), 4 * EVENTS)]
        events = setting.algorithm.sample(one, delays, NO_POLICY, streams, N, 4 * EVENTS)
        assert [*zip(events.time.tolist(), events.actor.tolist(), strict=True)] == [own[:2] for own in expected]
        tape = setting.algorithm.schedule(one, events, N, RecordAt(), 10**6)
        last, sent = dict.fromkeys(range(N), -1), [(-1, -1)] * len(expected)
        for place, (_, who, _, _, _, answered) in enumerate(expected):
            last[who] = place
            for i, group, steps in answered:
                if last[i] >= 0:
                    sent[last[i]] = group, steps
        told = [*zip(tape.notes["event_group"].tolist(), tape.notes["event_Q"].tolist(), strict=True)]
        assert told == sent, (setting.words, kind, words)
        assert int(tape.version[-1]) == sum(kind in ("first", "complete", "timer") for _, _, kind, *_ in expected)


TOO_MANY = {(name, "sampled", word) for name in ("gd", "sfedavg") for word in ("5", "20")}  # for three clients


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", sorted(registered("algorithms")))
def test_every_word_of_every_option_is_among_what_is_compared(name: str) -> None:
    said = {(name, *pair) for setting in settings(name) for pair in setting.said}
    words = {(name, key, word) for key, some in lookup("algorithms", name).examples(N).items() for word in some}
    assert words - said <= TOO_MANY


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", sorted(registered("algorithms")))
def test_no_built_in_algorithm_draws_what_it_does_not_declare(name: str) -> None:
    for setting in settings(name):
        one = setting.parameters
        if (getattr(one, "sampled", None) or 0) <= N:  # more clients are asked for than there are
            assert undeclared_draws(setting.algorithm, one, N) == "", setting.words
