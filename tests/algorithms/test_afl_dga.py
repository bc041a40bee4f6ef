"""AFL-DGA: hand calculations, the printed trajectory, what is read off, and what is refused."""

import math

import numpy as np
import pytest
import sympy
from algorithm_makers import some_problem
from hypothesis import example, given, strategies as st
from symbolic import Vector, named_gradients, run as run_symbols, terms

from boundlab.algorithms.afl_dga import AFL_DGA, AflDgaParameters, _distance
from boundlab.case import build_problem
from boundlab.delays import DELAYS
from boundlab.errors import AssumptionError, CaseError, SpecError
from boundlab.events import Events
from boundlab.execute.floats import run
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.tape import RecordAt, usage

S = "s"
QUADRATIC = {"A": [[[1]], [[1]]], "b": [[0], [4]], "x0": [3]}


def events_of(rows, clients):
    return AFL_DGA.read_events([[k, *row] for k, row in enumerate(rows, 1)], clients, "case")


def parameters(eta=0.5, **options):
    return AFL_DGA.read(Options("afl_dga", {"eta": eta, **options}))


def replayed(problem, rows, **options):
    """The server model after each event, as replay shows it."""
    tape = AFL_DGA.schedule(parameters(**options), events_of(rows, problem.n), problem.n, RecordAt(events=True), 10**6)
    shown = []
    run(tape, problem.x0, problem.full_gradients(), lambda _row, x: shown.append(x.copy()))
    return np.array(shown), tape


# Two clients, b = (0, 4), x0 = 3, η = 1/2; a local step of client i maps x to (x + b_i)/2.
# Round 1: g_0 = 3, w_0 = 3/2; g_1 = −1, w_1 = 7/2; ḡ = 1, w = 5/2. Client 0 receives: 3/2 − 1/2 + 3/2 = 5/2.
# Round 2: client 0 alone, g = 5/2, w_0 = 5/4; client 1 is already in round 3: g = −1/2, w_1 = 15/4.
#   ḡ = (5/2 − 1)/2 = 3/4, w = 17/8. Client 1 receives 1: 15/4 − 1/2 − 1/2 = 11/4, and 2: 11/4 − 3/8 = 19/8.
# Round 3: client 1, second step: g = −13/8, w_1 = 51/16; average −17/16; ḡ = (5/2 − 17/16)/2 = 23/32,
#   w = 17/8 − 23/64 = 113/64. Client 0 receives 2 and 3: 5/4 − 3/8 + 5/4 = 17/8, 17/8 − 23/64 = 113/64.
#   Client 1 receives 3 with Σg = −17/8: 51/16 − 23/32 − 17/16 = 45/32 (sum),
#   51/16 − 23/64 − 17/32 = 147/64 (average), 51/16 − 23/64 − 17/16 = 113/64 (analysis: the server's model).
# Round 4: g_0 = 113/64, g_1 = w_1 − 4; w = 113/64 − (g_0 + g_1)/4.
TWO = [
    (0, "step", 1),
    (0, "send", 1),
    (1, "step", 1),
    (1, "send", 1),
    (S, "aggregate", 1),
    (0, "recv", 1),
    (0, "step", 2),
    (1, "step", 3),
    (0, "send", 2),
    (S, "aggregate", 2),
    (1, "recv", 1),
    (1, "recv", 2),
    (1, "step", 3),
    (1, "send", 3),
    (S, "aggregate", 3),
    (0, "recv", 2),
    (0, "recv", 3),
    (1, "recv", 3),
    (0, "step", 4),
    (1, "step", 4),
    (0, "send", 4),
    (1, "send", 4),
    (S, "aggregate", 4),
]


@pytest.mark.parametrize(("scaling", "own"), [("sum", 45 / 32), ("average", 147 / 64), ("analysis", 113 / 64)])
def test_replay_reproduces_the_hand_calculation(scaling, own):
    shown, _ = replayed(build_problem("quadratic", dict(QUADRATIC)), TWO, scaling=scaling)
    last = 113 / 64 - (113 / 64 + own - 4) / 4
    expected = [3] * 4 + [2.5] * 5 + [2.125] * 5 + [113 / 64] * 8 + [last]
    assert np.allclose(shown[:, 0], expected, rtol=1e-13, atol=0)


# One client, f = x²/2, x0 = 1, η = 1/4, K = 2: gradients 1, 3/4 of round 1; ḡ = 7/8. The client's model after the
# correction is 9/16 = 1 − ηKḡ; the server's is 1 − 7/32 = 25/32 (plain) or 9/16 (k-scaled). Round 2 begins at 9/16
# with gradients 9/16, 27/64; ḡ = 63/128; w = 25/32 − 63/512 = 337/512, or 9/16 − 63/256 = 81/256 (k-scaled).
@pytest.mark.parametrize(("server", "models"), [("plain", [25 / 32, 337 / 512]), ("k-scaled", [9 / 16, 81 / 256])])
def test_for_two_local_steps_the_printed_server_lags_behind_its_only_client(server, models):
    rows = [
        (0, "step", 1),
        (0, "step", 1),
        (0, "send", 1),
        (S, "aggregate", 1),
        (0, "recv", 1),
        (0, "step", 2),
        (0, "step", 2),
        (0, "send", 2),
        (S, "aggregate", 2),
    ]
    problem = build_problem("quadratic", {"A": [[[1]]], "b": [[0]], "x0": [1]})
    shown, _ = replayed(problem, rows, eta=0.25, server=server)
    assert np.allclose(shown[:, 0], [1] * 3 + [models[0]] * 5 + [models[1]], rtol=1e-13, atol=0)


def test_a_client_that_never_sent_counts_as_zero():
    # Huber, slope 1 beyond 1, x0 = 3, η = 1/2. Client 1: g = 1, w_1 = 5/2; ḡ = (0 + 1)/2, w = 11/4. Client 0 receives
    # the round it was absent from: 11/4; g = 1; ḡ = 1, w = 9/4. Client 1 receives 5/2 − 1/4 + 1/2 = 11/4 and 9/4,
    # then takes gradients 1, 1, 1, 3/4 (at 9/4, 7/4, 5/4, 3/4): average 15/16, ḡ = 31/32, w = 9/4 − 31/64 = 113/64.
    rows = [
        (1, "step", 1),
        (1, "send", 1),
        (S, "aggregate", 1),
        (0, "recv", 1),
        (0, "step", 2),
        (0, "send", 2),
        (S, "aggregate", 2),
        (1, "recv", 1),
        (1, "recv", 2),
        *[(1, "step", 3)] * 4,
        (1, "send", 3),
        (S, "aggregate", 3),
    ]
    problem = build_problem("huber", {"c": [[0], [0]], "w": [[1], [1]], "delta": 1, "x0": [3]})
    shown, tape = replayed(problem, rows)
    assert np.allclose(shown[:, 0], [3] * 2 + [2.75] * 4 + [2.25] * 8 + [113 / 64], rtol=1e-13, atol=0)
    assert AFL_DGA.figures(None, tape)["silent_at_first"] == [0]
    with pytest.raises(AssumptionError, match="client 0 has not sent one"):
        AFL_DGA.quantities(None, tape, 3, {})


# Figure 1's schedule of client 3 (index 2): it takes part in rounds 1, 2 and 4, not in 3, and has begun round 5.
CLIENT_3 = [
    (2, "step", 1),
    (2, "send", 1),
    (0, "step", 1),
    (0, "send", 1),
    (1, "step", 1),
    (1, "step", 1),
    (1, "send", 1),
    (S, "aggregate", 1),
    (2, "step", 2),
    (2, "step", 2),
    (2, "recv", 1),
    (2, "send", 2),
    (0, "recv", 1),
    (0, "step", 2),
    (0, "send", 2),
    (S, "aggregate", 2),
    (2, "step", 4),
    (2, "step", 4),
    (2, "recv", 2),
    (2, "step", 4),
    (2, "step", 4),
    (1, "step", 3),
    (1, "send", 3),
    (S, "aggregate", 3),
    (2, "recv", 3),
    (2, "step", 4),
    (2, "send", 4),
    (2, "step", 5),
    (2, "step", 5),
]


def as_printed(tape):
    """Return how the paper writes local gradients: g_{i,j}^{r}, clients counted from 1."""
    number, place = tape.notes["run_round"].tolist(), tape.notes["run_place"].tolist()
    return lambda step: f"g_{{{step.client + 1},{place[step.row]}}}^{{{number[step.row]}}}"


def test_the_trajectory_of_client_3_is_the_printed_one_term_by_term():
    tape = AFL_DGA.schedule(parameters(), events_of(CLIENT_3, 3), 3, RecordAt(), 10**6)
    eta, w0 = sympy.Symbol("eta"), Vector("w_{0}")
    named, points = named_gradients(as_printed(tape)), {}

    def gradient(step, point):
        points[named(step, point)] = point
        return named(step, point)

    found = run_symbols(tape, w0, gradient, {0.5: eta})
    server = [record.x for record in found.records]
    mean = {r: sympy.expand((server[r - 1] - server[r]) / eta) for r in (1, 2, 3)}

    def g(j, r, i=3):
        return Vector(f"g_{{{i},{j}}}^{{{r}}}")

    half, third = sympy.Rational(1, 2), sympy.Rational(1, 3)
    of_client_2 = half * (g(1, 1, 2) + g(2, 1, 2))
    of_client_3 = half * (g(1, 2) + g(2, 2))
    assert mean[1] == sympy.expand(third * (g(1, 1, 1) + of_client_2 + g(1, 1)))
    assert mean[2] == sympy.expand(third * (g(1, 2, 1) + of_client_2 + of_client_3))  # client 2 is absent
    assert mean[3] == sympy.expand(third * (g(1, 2, 1) + g(1, 3, 2) + of_client_3))  # clients 1 and 3 are absent

    # Section 3.2, in the printed order; its last term, a second g_{3,1}^5, is the second step of round 5, g_{3,2}^5.
    printed = [
        g(1, 1),
        g(1, 2),
        g(2, 2),
        mean[1] - g(1, 1),
        g(1, 4),
        g(2, 4),
        2 * mean[2] - g(1, 2) - g(2, 2),
        g(3, 4),
        g(4, 4),
        mean[3],
        g(5, 4),
        g(1, 5),
        g(2, 5),
    ]
    model = w0
    for term in printed:
        if term in points:
            assert terms(points[term]) == terms(model)  # where the step's gradient is taken
        model = model - eta * term
    assert terms(found.registers[tape.notes["client_model"][2]]) == terms(model)


class Messages:
    """The server and the clients as Section 3.2 tells it, with nothing but their messages."""

    def __init__(self, problem, eta, scaling, server):
        self.problem, self.eta, self.scaling, self.server = problem, eta, scaling, server
        n = problem.n
        self.w, self.models = problem.x0.copy(), [problem.x0.copy() for _ in range(n)]
        self.stored = np.zeros((n, problem.d))
        self.own = [{} for _ in range(n)]
        self.mean, self.counts = {}, {}

    def take(self, who, word, r):
        eta = self.eta
        if word == "step":
            gradient = self.problem.gradient(who, self.models[who])
            self.own[who].setdefault(r, []).append(gradient)
            self.models[who] = self.models[who] - eta * gradient
        elif word == "send":
            self.stored[who] = np.mean(self.own[who][r], axis=0)
            self.counts[r] = len(self.own[who][r])
        elif word == "aggregate":
            self.mean[r] = self.stored.mean(axis=0)
            self.w = self.w - eta * self.mean[r] * (self.counts.get(r, 1) if self.server == "k-scaled" else 1)
        else:
            own = self.own[who].get(r, [])
            K = len(own) if own and self.scaling == "sum" else 1
            back = np.sum(own, axis=0) if own else 0.0
            if self.scaling == "average" and own:
                back = back / len(own)
            self.models[who] = self.models[who] - eta * K * self.mean[r] + eta * back


@st.composite
def histories(draw, clients=3, everybody_first=True, size=30):
    """Rows in an order that can happen, averages possibly late, out of their order, or never received."""
    steps = st.integers(1, 3)
    choice = draw(st.lists(st.tuples(st.integers(0, clients - 1), st.integers(0, 9), steps), max_size=size))
    rows, done, last, owed = [], 0, [0] * clients, [[] for _ in range(clients)]
    if everybody_first:
        for i in range(clients):
            rows += [(i, "step", 1)] * draw(steps) + [(i, "send", 1)]
            last[i] = 1
    inside = [None] * clients
    for i, what, count in [(0, 0, 0), *choice, (0, 0, 0)]:
        if what < 3:
            done += 1
            for j in range(clients):
                if inside[j] == done:
                    rows.append((j, "send", done))
                    last[j], inside[j] = done, None
                owed[j].append(done)
            rows.append((S, "aggregate", done))
        elif what < 6 and owed[i]:
            rows.append((i, "recv", owed[i].pop(0 if what < 5 else -1)))
        elif what == 6 and inside[i]:
            rows.append((i, "send", inside[i]))
            last[i], inside[i] = inside[i], None
        else:
            inside[i] = inside[i] or max(done, last[i]) + 1
            rows += [(i, "step", inside[i])] * count
    return rows


@given(
    st.booleans().flatmap(lambda first: histories(everybody_first=first)),
    st.sampled_from(["sum", "average", "analysis"]),
    st.sampled_from([0.1, 0.3]),
    st.sampled_from(["quadratic", "huber"]),
)
def test_the_tape_is_the_message_passing_algorithm(rows, scaling, eta, name):
    problem = some_problem(name)
    reference, expected = Messages(problem, eta, scaling, "plain"), []
    for who, word, r in rows:
        reference.take(who, word, r)
        expected.append(reference.w)
    shown, tape = replayed(problem, rows, eta=eta, scaling=scaling)
    assert np.allclose(shown, expected, rtol=1e-9, atol=1e-9)
    registers = run(tape, problem.x0, problem.full_gradients(), lambda _row, _x: None)
    assert np.allclose(registers[tape.notes["client_model"]], reference.models, rtol=1e-9, atol=1e-9)


def test_k_scaled_refuses_a_round_without_one_number_of_steps():
    rows = [(0, "step", 1), (0, "send", 1), (1, "step", 1), (1, "step", 1), (1, "send", 1), (S, "aggregate", 1)]
    with pytest.raises(CaseError, match="participants of round 1 took 1, 2"):
        replayed(build_problem("quadratic", dict(QUADRATIC)), rows, server="k-scaled")


def test_the_statistics_of_the_hand_calculation():
    # Uses of client 0: τ = 1, 1, 2, 1; of client 1: τ = 1, 2, 1, 1, with τ = 1 before the first round:
    # τ + τ(t − τ) − 1 = 1, 1, 2, 2 and 1, 2, 2, 1: Σ/T = 12/4. Points used with something missing (server, own):
    # (1, 0) for client 1 in round 2 and client 0 in round 3; (2, 1) and (0, 1) for client 1 in round 3:
    # SM2 = (1 + 1 + (9 + 1)/2)/8.
    _, tape = replayed(build_problem("quadratic", dict(QUADRATIC)), TWO, scaling="analysis")
    found = AFL_DGA.quantities(None, tape, 4, {})
    assert found == {
        **usage(tape, 4).symbols(),
        "n": 2,
        "K_m": 2,
        "D_m": 1,
        "tau_max": 2,
        "t_d": 2,
        "Q_age": 1,
        "tau_sum": 3,
        "reuse": 0.25,
        "reuse_n": 0.25,
        "S": 2,
        "M_own": 1,
        "SM2": pytest.approx(7 / 8),
    }
    assert AFL_DGA.figures(None, tape) == {
        "K_m": 2,
        "D_m": 1,
        "rounds": 4,
        "participation": [3, 3],
        "silent_at_first": [],
        "tau_max": 2,
        "S": 2,
        "M": 1,
    }
    # The first two rounds alone know nothing of round 3.
    early = AFL_DGA.quantities(None, tape, 2, {})
    assert (early["K_m"], early["D_m"], early["S"], early["M_own"], early["tau_sum"]) == (1, 1, 1, 0, 2.5)


def missing_and_own(rows, scaling, n):
    """Return (t, i, Σ|s_h|, max|s_h|·age, Σ|m|) of every use of a gradient, written down from the algorithm.

    w^t − w_ij = −η Σ_{h<t} s_h ḡ^h + η Σ m·g: s_h = 1 − c_h, where c_h is the coefficient of −ηḡ^h in w_ij.
    """
    rounds, stored = [{} for _ in range(n)], [[] for _ in range(n)]  # points of each round; of what was sent last
    contained, own = [{} for _ in range(n)], [[] for _ in range(n)]  # round → c_h; what is left of own gradients
    aggregated, uses = [], []
    for who, word, r in rows:
        if word == "step":
            rounds[who].setdefault(r, []).append((dict(contained[who]), sum(map(sum, own[who]))))
            if len(rounds[who][r]) == 1:
                own[who].append([])
            own[who][-1].append(1.0)
        elif word == "send":
            stored[who] = rounds[who][r]
        elif word == "aggregate":
            t = len(aggregated)
            for i, points in enumerate(stored):
                for has, left in points:
                    s = [abs(1.0 - has.get(one, 0.0)) for one in aggregated]
                    span = max(s, default=0.0) * max((t - h for h, size in enumerate(s) if size), default=0)
                    uses.append((t, i, sum(s), span, left))
            aggregated.append(r)
        else:
            count = len(rounds[who].get(r, ()))
            contained[who][r] = float(count) if count and scaling == "sum" else 1.0
            if count:
                place = list(rounds[who]).index(r)
                own[who][place] = [(1 - 1 / count) if scaling == "average" else 0.0] * count
    return uses


# Everybody takes two steps a round; averages are received at once, or two at a time and the later one first.
AT_ONCE = [
    row
    for r in range(1, 5)
    for row in (
        *[(i, word, r) for i in range(3) for word in ("step", "step", "send")],
        (S, "aggregate", r),
        *[(i, "recv", r) for i in range(3)],
    )
]
LATER_FIRST = [
    row
    for r in range(1, 6)
    for row in (
        *[(i, word, r) for i in range(3) for word in ("step", "step", "send")],
        (S, "aggregate", r),
        *[(i, "recv", late) for i in range(3) for late in (r, r - 1) if r % 2 == 0],
    )
]


@example(AT_ONCE, "sum")
@example(LATER_FIRST, "sum")
@given(histories(size=50), st.sampled_from(["sum", "average", "analysis"]))
def test_the_distance_of_gradients_from_the_server_is_that_of_the_definition(rows, scaling):
    tape = AFL_DGA.schedule(parameters(1.0, scaling=scaling), events_of(rows, 3), 3, RecordAt(), 10**6)
    T = int(tape.version[-1])
    found = AFL_DGA.quantities(None, tape, T, {})
    uses = missing_and_own(rows, scaling, 3)
    runs, versions = tape.uses.update, tape.uses.version
    server, local, reach = _distance(tape, runs, versions)
    seen = zip(versions.tolist(), tape.descend.client[runs].tolist(), server, reach, local, strict=True)
    for one, other in zip(sorted(seen), sorted(uses), strict=True):
        assert one == pytest.approx(other, rel=1e-12)
    t, i, missing, span, own = np.array(uses).T
    assert found["S"] == math.ceil(max(missing.max(), span.max()) - 1e-9)
    assert found["M_own"] == math.ceil(own.max() - 1e-9)
    squares = [np.mean(((missing + own) ** 2)[(t == a) & (i == b)]) for a in range(T) for b in range(3)]
    assert found["SM2"] == pytest.approx(np.mean(squares), rel=1e-12)


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(0, "recv", 1)], "event 1: client 0 receives the average of round 1 before it is aggregated"),
        ([(0, "step", 1), (0, "send", 1), (0, "send", 1)], "event 3: client 0 sends round 1 twice"),
        ([(0, "step", 1), (0, "send", 1), (0, "step", 1)], "event 3: client 0 has sent round 1, which ended it"),
        ([(0, "step", 3), (0, "send", 3), (0, "step", 2)], "client 0 has sent round 3; it cannot go back to 2"),
        ([(0, "send", 1)], "client 0 sends round 1 without a local step in it"),
        ([(0, "step", 1), (0, "step", 2)], "client 0 is in round 1; it must send it before round 2"),
        ([(S, "aggregate", 1), (S, "aggregate", 1)], "one after the other: 2, not 1"),
        ([(S, "aggregate", 2)], "one after the other: 0 or 1, not 2"),
        ([(S, "aggregate", 1), (0, "recv", 1), (0, "recv", 1)], "client 0 receives the average of round 1 twice"),
        ([(S, "aggregate", 1), (0, "recv", 1), (0, "step", 1)], "has received the average of round 1, which ended it"),
        ([(0, "step", 1), (S, "aggregate", 1), (0, "recv", 1)], "while it is in that round"),
        ([(0, "stop", 1)], "unknown word 'stop'; did you mean step?"),
        ([(0, 3, 1)], "unknown word '3'; known: step, send, aggregate, recv"),
        ([(S, "step", 1)], 'the server "s" does nothing but aggregate'),
        ([(0, "aggregate", 1)], 'only the server "s" aggregates'),
        ([(2, "step", 1)], "client 2 does not exist"),
        ([(0, "step", 1.5)], "the round must be an integer ≥ 0, got '1.5'"),
        ([(0, "step", -1)], "the round must be an integer ≥ 0"),
        ([(0, "step", True)], "the round must be an integer ≥ 0"),
        ([(0, "step")], r'must be \[time, client, "step"'),
    ],
)
def test_nonsense_is_refused_in_one_line(rows, message):
    with pytest.raises(CaseError, match=message) as caught:
        events_of(rows, 2)
    assert "\n" not in str(caught.value)


def test_events_without_words_are_not_afl_dgas():
    with pytest.raises(CaseError, match="needs events of the form"):
        AFL_DGA.schedule(AflDgaParameters(0.1), Events(np.ones(1), np.zeros(1, np.int32)), 1, RecordAt(), 1)


def sampled(model, streams, clients=4, count=1500, model_options=None, **options):
    chosen = next(kind for kind in DELAYS if kind.id == model).build(Options("delays", model_options or {}), clients)
    return AFL_DGA.sample(parameters(0.1, **options), chosen, None, streams, clients, count)


def test_lists_need_one_entry_a_client():
    with pytest.raises(SpecError, match="3 values of participation for 4 clients"):
        sampled("exponential", Streams(1), participation=[1, 1, 1])


def printed_theorem_1(clients, rounds, rows, L, x0):
    """Left side, and the printed bound with f(w^0) − inf f for Δ: no noise, η = 1/T, f_i = L·huber of slope ≤ G."""
    G, eta = 1.0, 1.0 / rounds
    problem = build_problem("huber", {"c": [[0]] * clients, "w": [[L]] * clients, "delta": G / L, "x0": [x0]})
    shown, tape = replayed(problem, rows, eta=eta)
    models = [problem.x0, *shown[[k for k, row in enumerate(rows) if row[0] == S]][:-1]]
    found = AFL_DGA.quantities(None, tape, rounds, {})
    metric = np.mean([np.sum(problem.gradient(0, x) ** 2) for x in models])
    x = eta * L
    bound = (
        2 * problem.value(problem.x0)
        + x / clients * G**2
        + x**2 * (found["K_m"] + found["D_m"]) ** 2 * G**2
        + x**2 / clients**2 * G**2 * found["tau_sum"]
    )
    return metric, bound


def test_the_printed_theorem_fails_for_one_client_with_two_local_steps():
    # The client moves twice as far as the server in each round, and stops at the minimiser; the server stops half-way,
    # where the slope is still L·x0/2 = 1/2: the left side tends to 1/4, the bound to 2·F0 = L·x0² = 1/L.
    T, L = 1000, 60.0
    rows = []
    for r in range(1, T + 1):
        rows += [(0, "step", r), (0, "step", r), (0, "send", r), (S, "aggregate", r), (0, "recv", r)]
    metric, bound = printed_theorem_1(1, T, rows, L, 1 / L)
    assert metric > 0.25
    assert bound < 0.1


def test_the_printed_theorem_fails_for_one_local_step_and_gradients_used_twenty_times():
    # All 40 clients take part in every 20th round: gradient descent with 20 times the step, L·20η = 4, which jumps
    # from one side to the other. In the bound a stale round counts with 1/N, as if re-used gradients were noise.
    T, tau, n, L = 400, 20, 40, 80.0
    rows = []
    for r in range(1, T + 1):
        if r % tau == 1:
            rows += [row for i in range(n) for row in ((i, "step", r), (i, "send", r))]
        rows.append((S, "aggregate", r))
        rows += [(i, "recv", r) for i in range(n)]
    metric, bound = printed_theorem_1(n, T, rows, L, 0.005)
    assert metric > 0.6
    assert bound < 0.1


def test_an_average_that_never_comes_makes_s_its_age():
    # One client, f = x²/2, η = 1/2. It is absent from round 2, in which its gradient 1 is used again, and never gets
    # that average: its model goes to 0, the server's tends to −1/2. One server step is missing and no own step, but
    # r1 with S = 1, M = 0 would claim that the left side falls like 1/T. S is the age of what is missing: r1 needs
    # ηL ≤ 1/(1 + S) and claims nothing here.
    T = 100
    rows = [(0, "step", 1), (0, "send", 1), (S, "aggregate", 1), (0, "recv", 1), (S, "aggregate", 2)]
    for r in range(3, T + 1):
        rows += [(0, "step", r), (0, "send", r), (S, "aggregate", r), (0, "recv", r)]
    problem = build_problem("quadratic", {"A": [[[1]]], "b": [[0]], "x0": [1]})
    shown, tape = replayed(problem, rows, scaling="analysis")
    models = np.array([1.0, *shown[[k for k, row in enumerate(rows) if row[0] == S], 0]])
    assert np.mean(models[:-1] ** 2) > 0.2 > 2 * (0.5 - models[-1] ** 2 / 2) / (0.5 * T)
    shown_figures, found = AFL_DGA.figures(None, tape), AFL_DGA.quantities(None, tape, T, {})
    assert (shown_figures["S"], shown_figures["M"]) == (1, 0)
    assert (found["S"], found["M_own"]) == (T - 2, 0)
