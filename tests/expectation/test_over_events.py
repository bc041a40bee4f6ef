"""Expectations over random events of every algorithm, against all sequences one by one, in fractions, and trials."""

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy
from sympy import Rational

from boundlab.algorithms import X_S, AffineRow, Control, EventLaw, EventProgram, Step
from boundlab.arithmetic import numbers
from boundlab.arithmetic.problem import Minimum
from boundlab.case import build_delays, build_problem
from boundlab.events import SERVER, Events, events_of
from boundlab.execute.enclosed import norm
from boundlab.expectation import _recursion, _walk, enumerated, exact_arithmetic, left_side, looked_at, twins
from boundlab.expectation._graph import Lowering, in_floats, lasting
from boundlab.expectation.moments import in_exact_numbers as second_moments
from boundlab.formulas.symbols import symbol
from boundlab.metrics import INDEX, Metric, compose, metric, valued
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.simulate.work import compile_trial, run_once
from boundlab.tape import Initial, Op, RecordAt

P = [Fraction(1, 4), Fraction(1, 8), Fraction(1, 8)]
P_S = Fraction(1, 2)
# Option sets: every algorithm with a program, every option that changes what an event does.
CASES: list[tuple[str, dict[str, str], int]] = [
    ("area", {"alpha": "0.25", "M": "2"}, 4),
    ("area", {"alpha": "0.25", "start": "analysis", "clock": "analysis"}, 4),
    ("area", {"c": "1", "d": "4"}, 4),
    ("area", {"alpha": "0.25", "count": "2"}, 6),
    ("area", {"alpha": "0.25", "count": "2", "reply": "post"}, 6),
    ("gd", {"alpha": "0.25", "sampling": "uniform", "M": "2"}, 4),
    ("gd", {"alpha": "0.25", "sampling": "cyclic"}, 4),
    ("gd", {"alpha": "0.25", "sampling": "mean"}, 3),
    ("gd", {"c": "1", "d": "4"}, 3),
    ("async_sgd", {"alpha": "0.25"}, 5),
    ("async_sgd", {"alpha": "0.25", "schedule": "delay_adaptive"}, 5),
    ("async_sgd", {"alpha": "0.25", "sampling": "uniform"}, 3),
    ("async_sgd", {"alpha": "0.25", "sampling": "uniform", "schedule": "1/(1 + tau)"}, 3),
    ("fedasync", {"beta": "0.5", "eta_l": "0.25", "s": "inverse"}, 4),
    ("fedasync", {"beta": "0.5", "eta_l": "0.25", "mode": "delta", "s": "hinge:a=1,b=1"}, 4),
    ("fedbuff", {"eta_l": "0.25", "count": "2"}, 2),
    ("fedbuff", {"eta_l": "0.25", "count": "2", "reply": "pre", "staleness": "inverse", "eta_g": "0.5"}, 2),
    ("fedbuff", {"eta_l": "0.25", "count": "2", "reply": "wait", "staleness": "inverse"}, 2),
    ("asfedavg", {"alpha": "0.25", "count": "2", "M": "2"}, 2),
    ("rennala", {"alpha": "0.25", "count": "2"}, 2),
    ("rennala", {"alpha": "0.25", "reply": "pre"}, 2),
    ("rennala", {"alpha": "0.25", "count": "2", "stops": "yes"}, 2),
    ("ringmaster", {"alpha": "0.25", "threshold": "2"}, 3),
    ("ringmaster", {"alpha": "0.25", "threshold": "1", "stops": "yes"}, 3),
    ("fedfa", {"eta_l": "0.25", "K": "2"}, 3),
    ("fedfa", {"eta_l": "0.25", "K": "2", "mode": "delta", "start": "when_full"}, 3),
    ("lsvrg", {"alpha": "0.25", "p_c": "1/3"}, 2),
    ("scaffnew", {"alpha": "0.25", "p_c": "1/3"}, 4),
    ("sfedavg", {"alpha": "0.25", "sampled": "2"}, 3),
    ("fedstaleweight", {"eta_l": "0.25", "count": "2", "window": "1"}, 2),
    ("fedstaleweight", {"eta_l": "0.25", "count": "2", "window": "2", "include": "previous"}, 3),
    ("fedstaleweight", {"eta_l": "0.25", "count": "2", "reply": "wait", "scale": "2"}, 2),
]
IDS = [f"{name}-{'-'.join(f'{k}={v}' for k, v in options.items())}" for name, options, _ in CASES]
k, HORIZON = INDEX["K"], symbol("K")
COMPOSED = {  # of every aggregation: weights, models from the middle on, and the model at K itself
    "weighted gap": compose("gap", "average", weights=(k + 1) ** 2),
    "gap of a suffix": compose("gap", "average", begin=sympy.floor(HORIZON / 2)),
    "distance of all": compose("distance", "average", end=HORIZON, weights=Rational(3, 2) ** k),
    "late slopes": compose("slope", "mean", begin=sympy.floor(HORIZON / 2), end=HORIZON, weights=1 / (k + 1)),
}
SIDES = ["squared-distance", "ergodic-gap", "gap", "gradient-norm", "gradient-norm-last", *COMPOSED]

CENTRES, WEIGHTS, DELTA, X0 = [0, 1, 3], [1, 2, 1], 1, 2
HUBERS = {"c": [[c] for c in CENTRES], "w": [[w] for w in WEIGHTS], "delta": DELTA, "x0": X0}
BOWLS = {"A": [[[w]] for w in WEIGHTS], "b": [[c] for c in CENTRES], "x0": [X0]}


def read(name: str, options: dict[str, str]) -> Any:
    return lookup("algorithms", name).read(Options(name, options))


# ---- all sequences, one by one ----------------------------------------------------------------------------------


def sequences(name: str, parameters: Any, length: int) -> Iterator[tuple[Fraction, Events]]:
    """Yield all event lists with their probabilities, reasoned out for each algorithm by itself."""
    n, times = len(P), np.arange(1.0, length + 1)
    if name == "sfedavg":
        subsets = list(itertools.combinations(range(n), parameters.sampled or n))
        for rounds in itertools.product(subsets, repeat=length):
            yield Fraction(1, len(subsets)) ** length, events_of(times, [(SERVER, *who) for who in rounds])
        return
    if name in ("lsvrg", "scaffnew"):
        who = [SERVER] if name == "scaffnew" else [*range(n)]
        sides = [(i, coin) for i in who for coin in (0, 1)]
        for events in itertools.product(sides, repeat=length):
            weight = math.prod(Fraction(1 + (1 - coin), 3 * len(who)) for _, coin in events)
            actors, coins = zip(*events, strict=True)
            yield weight, Events(times, np.array(actors, dtype=np.int32), tuple((coin,) for coin in coins))
        return
    if name == "gd":
        each = {"cyclic": [(0,)], "uniform": [(i,) for i in range(n)]}
        who = each.get(parameters.sampling, [(SERVER,)])
        for actors in itertools.product(who, repeat=length):
            flat = [one[0] for one in actors]
            if parameters.sampling == "cyclic":
                flat = [k % n for k in range(length)]
            yield Fraction(1, len(who)) ** length, Events(times, np.array(flat, dtype=np.int32))
        return
    if name == "async_sgd" and parameters.sampling == "uniform":
        yield from _handed_out([1] * n, Fraction(1), [], length)
        return
    actors = [*range(n), SERVER] if name == "area" and parameters.count is None else list(range(n))
    for sequence in itertools.product(actors, repeat=length):
        weight, waiting = Fraction(1), []
        for actor in sequence:
            if len(actors) > n:
                weight *= P_S if actor == SERVER else P[actor]
                continue
            busy = [i for i in range(n) if i not in waiting]
            if actor not in busy:
                weight = Fraction(0)
                break
            weight *= P[actor] / sum(P[i] for i in busy)
            if getattr(parameters, "reply", "") == "wait":
                waiting = [] if len(waiting) + 1 == parameters.count else [*waiting, actor]
        if weight:
            yield weight, Events(times, np.array(sequence, dtype=np.int32))


def _handed_out(
    work: list[int], weight: Fraction, so_far: list[tuple[int, int]], length: int
) -> Iterator[tuple[Fraction, Events]]:
    """Go through who arrives and who is drawn; ``work`` says how many models each client has."""
    if len(so_far) == length:
        actor = np.array([one for one, _ in so_far], dtype=np.int32)
        yield weight, Events(np.arange(1.0, length + 1), actor, tuple((to,) for _, to in so_far))
        return
    busy = [i for i, models in enumerate(work) if models]
    for arrives in busy:
        for drawn in range(len(P)):
            after = [models - (i == arrives) + (i == drawn) for i, models in enumerate(work)]
            share = P[arrives] / sum(P[i] for i in busy) / len(P)
            yield from _handed_out(after, weight * share, [*so_far, (arrives, drawn)], length)


def bowl(client: int, x: Fraction) -> Fraction:
    return WEIGHTS[client] * (x - CENTRES[client])


def huber(client: int, x: Fraction) -> Fraction:
    away = x - CENTRES[client]
    return WEIGHTS[client] * max(min(away, Fraction(DELTA)), -Fraction(DELTA))


@functools.cache
def fraction(value: float) -> Fraction:
    return Fraction(value).limit_denominator(5000)


def models_of(tape: Any, gradient: Any, signs: Iterator[int] | None = None, sigma: int = 0) -> list[Fraction]:
    """Execute a tape in fractions and return what it shows."""
    first = {Initial.START: Fraction(X0), Initial.ZERO: Fraction(0)}
    held = [first.get(Initial(int(one))) for one in tape.initial]
    shown = []
    for op, row in zip(tape.op.tolist(), tape.row.tolist(), strict=True):
        if op == Op.AFFINE:
            terms = range(tape.affine.start[row], tape.affine.start[row + 1])
            held[tape.affine.dst[row]] = sum(
                (fraction(tape.affine.coef[t]) * held[tape.affine.src[t]] for t in terms), Fraction(0)
            )
        elif op == Op.DESCEND:
            x, size = held[tape.descend.src[row]], fraction(tape.descend.step_size[row])
            assert x is not None
            for _ in range(tape.descend.steps[row]):
                noise = sigma * next(signs) if signs is not None else 0
                x -= size * (gradient(int(tape.descend.client[row]), x) + noise)
            held[tape.descend.dst[row]] = x
        else:
            shown.append(held[tape.record.src[row]])
    return shown


def quantity(side: str, curve: str, x: Fraction) -> Fraction:
    """Return ‖x − x*‖², f(x) − f*, or ‖∇f(x)‖², worked out by hand."""
    gradient, star = (bowl, Fraction(5, 4)) if curve == "bowl" else (huber, Fraction(1))
    if side == "squared-distance":
        return (x - star) ** 2
    if "gradient" in side:
        return (sum(gradient(i, x) for i in range(3)) / 3) ** 2

    def value(at: Fraction) -> Fraction:
        total = Fraction(0)
        for c, w in zip(CENTRES, WEIGHTS, strict=True):
            away = abs(at - c)
            total += w * (away**2 / 2 if curve == "bowl" or away <= DELTA else DELTA * away - Fraction(DELTA**2, 2))
        return total / 3

    return value(x) - value(star)


def sides_of(models: list[Fraction], curve: str) -> dict[str, Fraction]:
    """Return the left sides at K of the server models after 0 … K iterations."""
    K, last = len(models) - 1, models[-1]
    found = {side: quantity(side, curve, last) for side in ("squared-distance", "gap", "gradient-norm-last")}
    found["ergodic-gap"] = quantity("gap", curve, sum(models[:-1], Fraction(0)) / K)
    found["gradient-norm"] = sum((quantity("gradient-norm", curve, x) for x in models[:-1]), Fraction(0)) / K
    half, one = K // 2, lambda _: Fraction(1)
    found["weighted gap"] = quantity("gap", curve, averaged(models, 0, K - 1, lambda j: Fraction((j + 1) ** 2)))
    found["gap of a suffix"] = quantity("gap", curve, averaged(models, half, K - 1, one))
    growing = averaged(models, 0, K, lambda j: Fraction(3, 2) ** j)
    found["distance of all"] = quantity("squared-distance", curve, growing)
    slopes = [quantity("gradient-norm", curve, x) for x in models]
    found["late slopes"] = averaged(slopes, half, K, lambda j: Fraction(1, j + 1))
    return found


def averaged(models: list[Fraction], begin: int, end: int, weight: Callable[[int], Fraction]) -> Fraction:
    """Return Σ w_j·(number j)/Σ w_j over the models, or quantities, from ``begin`` to ``end``."""
    each = [weight(j) for j in range(begin, end + 1)]
    return sum((w * x for w, x in zip(each, models[begin : end + 1], strict=True)), Fraction(0)) / sum(each)


def metric_at(side: str | Metric, K: int) -> Metric:
    """Return the left side with the weights that it has at K."""
    if isinstance(side, Metric):
        return side
    return valued(COMPOSED[side], lambda _: None, K, side) if side in COMPOSED else metric(side)


def brute_force(name: str, parameters: Any, curve: str, K: int) -> dict[str, Fraction]:
    compiler, gradient = lookup("algorithms", name), bowl if curve == "bowl" else huber
    length = compiler.events_for(parameters, len(P), K)
    if name == "area" and parameters.count is not None:
        length = K - K // (parameters.count + 1)
    if name in ("rennala", "ringmaster"):  # everybody may be ignored once, but for who is fresh
        fresh, waits = 2 if name == "ringmaster" else 1, parameters.reply == "pre"
        length += 0 if parameters.stops else (K - fresh) * (len(P) - 1 + waits)
    total = dict.fromkeys(SIDES, Fraction(0))
    for weight, events in sequences(name, parameters, length):
        models = models_of(compiler.schedule(parameters, events, len(P), RecordAt(), K), gradient)
        assert len(models) == K + 1
        for side, value in sides_of(models, curve).items():
            total[side] += weight * value
    return total


LAW = EventLaw(np.array(P, dtype=object), P_S)


def exactly(
    name: str, options: dict[str, str], parameters: Any, problem: Any, side: str | Metric, K: int, how: str
) -> Fraction:
    compiler, model = lookup("algorithms", name), problem.rational({})
    arithmetic = exact_arithmetic(compiler.program(parameters.known(), len(P)))
    ks = np.array([K])
    if how == "moments":
        return numbers.fraction(second_moments(model, arithmetic, LAW, metric_at(side, K), ks)[0])
    best = model.minimum() or Minimum([], Fraction(0))
    alike = twins(problem, LAW.p.astype(np.float64))
    one = numbers.rational(1)
    left = metric_at(side, K)
    return numbers.fraction(enumerated(model, best, one, looked_at(arithmetic, LAW, alike, left, ks), left, ks)[0])


@pytest.mark.sweep(29, also=("async_sgd-alpha=0.25-sampling=uniform-schedule=1/(1 + tau)",))
@pytest.mark.parametrize(
    ("name", "options", "K"),
    [pytest.param(*case, marks=[pytest.mark.nightly] if "window" in case[1] else []) for case in CASES],
    ids=IDS,
)
def test_all_sequences_one_by_one_in_fractions(name: str, options: dict[str, str], K: int) -> None:
    parameters = read(name, options)
    smooth, kinked = build_problem("quadratic", BOWLS), build_problem("huber", HUBERS)
    delays = build_delays("iid", {"p": [float(one) for one in P], "p_s": float(P_S)}, len(P))
    if options.get("count") and name == "area":
        delays = build_delays("exponential", {"rates": [2, 1, 1]}, len(P))
        policy = lookup("algorithms", name).policy(f"count:every={options['count']}", delays)
    else:
        policy = lookup("algorithms", name).policy(None, delays)
    for curve, problem in (("huber", kinked), ("bowl", smooth)):
        ways = ["enumeration", "moments"] if curve == "bowl" else ["enumeration"]
        for side, expected in brute_force(name, parameters, curve, K).items():
            for how in ways:
                assert exactly(name, options, parameters, problem, side, K, how) == expected, (side, curve, how)
            found = left_side(metric_at(side, K), name, problem, parameters, delays, policy, K).value[0]
            assert found == pytest.approx(float(expected), rel=1e-12), (side, curve)


# ---- a point of which the program alone knows ---------------------------------------------------------------------


class Remembering(EventProgram):
    """A program beside which two registers keep the server's model, and that of one iteration before."""

    def __init__(self, program: EventProgram) -> None:
        vars(self).update({name: getattr(program, name) for name in EventProgram.__annotations__})
        self.inner, now = program, len(program.initial)
        self.initial = (*program.initial, Initial.START, Initial.START)
        self.points = {"before": (now + 1,)}
        self.kept = AffineRow(now + 1, ((1.0, now),)), AffineRow(now, ((1.0, X_S),))

    def opening(self) -> Any:
        return self.inner.opening()

    def choices(self, control: Control, law: EventLaw[Any]) -> Any:
        return self.inner.choices(control, law)

    def clock(self, number: int) -> Any:
        return self.inner.clock(number)

    def ignored(self, client: int) -> Step:
        return self.inner.ignored(client)

    def event(self, control: Control, event: Any, number: int) -> Step:
        step = self.inner.event(control, event, number)
        return step._replace(rows=(*step.rows, *self.kept)) if step.iteration else step


@pytest.mark.sweep(9)
@pytest.mark.parametrize(("name", "options", "K"), CASES, ids=IDS)
def test_a_point_that_a_program_adds_is_shown_by_runs_and_by_every_average(
    monkeypatch: pytest.MonkeyPatch, name: str, options: dict[str, str], K: int
) -> None:
    # What is measured at the model before, at K, is what is measured at the model itself, at K − 1.
    point, parameters = ("before", 0), read(name, options)
    compiler, problems = lookup("algorithms", name), {"bowl": BOWLS, "huber": HUBERS}
    delays = build_delays("exponential", {"rates": [2, 1, 1]}, len(P))
    count = options.get("count") if name == "area" else None
    policy = compiler.policy(f"count:every={count}" if count else None, delays)
    known = {curve: build_problem("huber" if curve == "huber" else "quadratic", problems[curve]) for curve in problems}
    sides = ("squared-distance", "gap", "gradient-norm-last")
    asked = [
        (curve, side, how)
        for curve, side in itertools.product(known, sides)
        for how in (("enumeration", "moments") if curve == "bowl" else ("enumeration",))
    ]
    exact = [exactly(name, options, parameters, known[curve], side, K - 1, how) for curve, side, how in asked]
    floats = [left_side(side, name, known[curve], parameters, delays, policy, K - 1) for curve, side, _ in asked]

    def showing(program: EventProgram, wanted: tuple[str, int] | None) -> EventProgram:
        return program if wanted is None else Remembering(program)

    monkeypatch.setattr(EventProgram, "showing", showing)
    moved = {side: replace(metric(side), shows=point) for side in sides}
    for (curve, side, how), expected, enclosed in zip(asked, exact, floats, strict=True):
        assert exactly(name, options, parameters, known[curve], moved[side], K, how) == expected, (curve, side, how)
        found = left_side(moved[side], name, known[curve], parameters, delays, policy, K)
        assert found.value == pytest.approx(enclosed.value, rel=1e-12), (curve, side)
        assert (found.lower <= enclosed.upper).all()
        assert (enclosed.lower <= found.upper).all()
    models, before = (
        compile_trial(compiler, parameters, len(P), delays, policy, K, RecordAt(point=one), Streams(3))
        for one in (None, point)
    )
    assert models_of(before, huber) == [Fraction(X0), *models_of(models, huber)[:-1]]


def test_where_many_points_are_only_summed_up_the_number_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    parameters, problem = read("async_sgd", {"alpha": "0.25"}), build_problem("huber", HUBERS)
    delays = build_delays("exponential", {"rates": [2, 1, 1]}, len(P))
    for side in ("squared-distance", "gap", "gradient-norm"):
        proved = left_side(
            side, "async_sgd", problem, parameters, delays, lookup("algorithms", "async_sgd").policy(None, delays), 4
        )
        monkeypatch.setattr(_walk, "_TOLD", 0)
        summed = left_side(
            side, "async_sgd", problem, parameters, delays, lookup("algorithms", "async_sgd").policy(None, delays), 4
        )
        monkeypatch.undo()
        assert summed.value == pytest.approx(proved.value, rel=1e-12)
        assert (summed.lower[0], summed.upper[0]) == (0.0, math.inf)
        assert proved.lower <= summed.value <= proved.upper


# ---- clients that may change places -----------------------------------------------------------------------------

EQUAL = {**HUBERS, "c": [[0], [3], [3]], "w": [[1], [2], [2]]}


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("name", "options", "K"), CASES, ids=IDS)
def test_merging_states_of_equal_clients_changes_nothing(name: str, options: dict[str, str], K: int) -> None:
    # Clients 1 and 2 have one function and one probability; without that knowledge no two of their states are merged.
    parameters, problem = read(name, options), build_problem("huber", EQUAL)
    assert twins(problem, LAW.p.astype(np.float64)) == [[1, 2]]
    compiler, model, merged = lookup("algorithms", name), problem.rational({}), []
    arithmetic = exact_arithmetic(compiler.program(parameters.known(), len(P)))
    best, one = model.minimum(), numbers.rational(1)
    for side in ("ergodic-gap", "gradient-norm"):
        found, ks = [], np.array([K])
        for alike in ((), ([1, 2],)):
            graph = looked_at(arithmetic, LAW, alike, metric(side), ks)
            found.append(enumerated(model, best, one, graph, metric(side), ks)[0])
            walk = _walk.Walk(graph, _walk.ExactValues(model, best, one), exact=True)
            walk.run(lambda *_: None)
            merged.append(walk.merged)
        assert found[0] == found[1], side
        assert merged[-1] <= merged[-2]


# ---- noise of either sign ---------------------------------------------------------------------------------------

SHORT = {"area": 3, "gd": 2, "async_sgd": 2, "fedasync": 2, "fedfa": 1, "sfedavg": 1}


@pytest.mark.sweep(11)
@pytest.mark.parametrize(("name", "options", "K"), CASES, ids=IDS)
def test_moments_and_all_signs_agree_exactly(name: str, options: dict[str, str], K: int) -> None:
    noisy = build_problem("quadratic", {**BOWLS, "sigma": 1, "noise": "sign"})
    parameters, last = read(name, options), min(K, SHORT.get(name, 1))
    for side in ("squared-distance", "ergodic-gap", "gradient-norm", *COMPOSED):
        found = {how: exactly(name, options, parameters, noisy, side, last, how) for how in ("enumeration", "moments")}
        assert found["enumeration"] == found["moments"], side


def test_signs_on_a_kinked_function_one_by_one() -> None:
    parameters = read("fedbuff", {"eta_l": "0.25", "count": "1"})
    problem = build_problem("huber", {**HUBERS, "sigma": 1, "noise": "sign"})
    compiler, total = lookup("algorithms", "fedbuff"), Fraction(0)
    for weight, events in sequences("fedbuff", parameters, 2):
        tape = compiler.schedule(parameters, events, 3, RecordAt(np.array([2])), 2)
        for signs in itertools.product((1, -1), repeat=5):
            shown = models_of(tape, huber, iter(signs), 1)
            total += weight * Fraction(1, 32) * quantity("gap", "huber", shown[0])
    assert exactly("fedbuff", {}, parameters, problem, "gap", 2, "enumeration") == total


# ---- trials -----------------------------------------------------------------------------------------------------


@pytest.mark.sweep(30)
@pytest.mark.parametrize(("name", "options", "K"), CASES, ids=IDS)
def test_trials_scatter_about_the_expectation(name: str, options: dict[str, str], K: int) -> None:
    # 23 tests at 4.5 standard errors: one false alarm in 6,000 choices of the seed.
    compiler, parameters = lookup("algorithms", name), read(name, options)
    problem = build_problem("quadratic", {**BOWLS, "sigma": 1})
    delays = build_delays("exponential", {"rates": [2, 1, 1]}, len(P))
    text = f"count:every={options['count']}" if name == "area" and "count" in options else None
    policy = compiler.policy(text, delays)
    expected = left_side("gap", name, problem, parameters, delays, policy, K).value[0]
    nothing, values = RecordAt(np.array([K])), []
    for trial in range(500):
        streams, shown = Streams(11, trial), []
        tape = compile_trial(compiler, parameters, 3, delays, policy, K, nothing, streams)
        run_once(tape, problem, streams, lambda _, x, shown=shown: shown.append(problem.value(x)))
        values.append(shown[-1] - problem.optimum().value)
    assert abs(np.mean(values) - expected) < 4.5 * np.std(values) / np.sqrt(len(values))


def test_registers_that_are_written_anew_in_each_event_are_not_followed():
    def kept(name: str, options: dict[str, str], clients: int) -> int:
        program = lookup("algorithms", name).program(read(name, options), clients)
        law = EventLaw(np.full(clients, 1.0 / clients), 0.0)
        lowering = Lowering(in_floats(program), law, (), average=False)
        return len(lasting(lowering, frozenset((X_S,)), len(program.initial)))

    assert kept("gd", {"alpha": "0.25"}, 20) == 1  # x_s of 21
    assert kept("sfedavg", {"alpha": "0.25", "sampled": "2"}, 5) == 1
    assert kept("fedasync", {"beta": "0.5", "eta_l": "0.25"}, 3) == 4  # and what each client works on
    assert kept("gd", {"c": "1", "d": "4"}, 3) == 4  # steps diminish: every event is another, and nobody looks so far


def test_points_that_no_register_holds_are_forgotten_and_the_others_kept() -> None:
    # 729 sequences of 12 local steps each: 8748 points in the last event alone.
    options, problem = {"alpha": "0.25", "sampling": "uniform", "M": "12"}, build_problem("quadratic", BOWLS)
    parameters = read("gd", options)
    found = {how: exactly("gd", options, parameters, problem, "gap", 6, how) for how in ("enumeration", "moments")}
    assert found["enumeration"] == found["moments"]


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (7, 30)])
@pytest.mark.parametrize("of_rows", [_walk._norms, lambda x: [norm(row) for row in x], lambda x: [_recursion.norm(x)]])
def test_norms_are_from_above_and_only_just(of_rows: Any, shape: tuple[int, int]) -> None:
    points = np.random.default_rng(3).normal(size=shape)
    squares = [sum((Fraction(entry) ** 2 for entry in row), Fraction(0)) for row in points.tolist()]
    found = of_rows(points)
    for size, square in zip(found, squares if len(found) == len(squares) else [max(squares)], strict=True):
        assert square <= Fraction(float(size)) ** 2 <= square * (1 + Fraction(1, 10**11))
