"""AREA: hand calculations, two formulations, and what the memory is for."""

import json

import numpy as np
import pytest
from algorithm_makers import some_problem
from hypothesis import given, strategies as st

from boundlab.algorithms import StepSize
from boundlab.algorithms.area import AREA, AreaParameters
from boundlab.case import load_case, replay
from boundlab.errors import CaseError, SpecError
from boundlab.events import Events
from boundlab.execute.floats import run
from boundlab.tape import RecordAt

QUADRATIC = {"type": "quadratic", "A": [[[1]], [[1]]], "b": [[0], [4]]}
FAR = {"type": "quadratic", "A": [[[1]], [[1]]], "b": [[0], [8]]}
HUBER = {"type": "huber", "c": [[0]], "w": [[1]], "delta": 1}

# Clients 0 and 1 of QUADRATIC map x to x − α(x − b_i); with α = 1/2 that is x/2 and (x + 4)/2.
TWO = [[1, 0], [2, "s"], [3, 1], [4, 0], [5, "s"], [6, 1], [7, 0], [8, "s"]]
ONE = [[1, 0], [2, "s"], [3, 0], [4, "s"], [5, 0], [6, "s"]]

# (problem, x0, parameters, events, server model after each event), each worked out on paper:
# u collects (x_i − y_i)/n at an arrival, then y_i ← x_i and x_i ← Descend(x_s).
HAND = {
    # x = (1, 3), y = (2, 2); u = −1/2; x_s = 3/2; u = 1/2 + 0; x_s = 2; u = −1/8 − 1/8; x_s = 7/4.
    "start=algorithm": (QUADRATIC, 2, {"alpha": 0.5}, TWO, [2, 1.5, 1.5, 1.5, 2, 2, 2, 1.75]),
    # x = y = (2, 2): the first message of each client is 0.
    "start=analysis": (QUADRATIC, 2, {"alpha": 0.5, "start": "analysis"}, TWO, [2, 2, 2, 2, 1.5, 1.5, 1.5, 2]),
    # α_k = 2/(k+2). Broadcast with α_0 = 1: x_0 = 0; iteration 1 answers with α_1 = 2/3, iteration 3 with 2/5.
    "clock=algorithm": (QUADRATIC, 2, {"c": 2, "d": 2}, ONE, [2, 1, 1, 4 / 3, 4 / 3, 1.3]),
    # The same with α_0 at iteration 1 and α_2 = 1/2 at iteration 3.
    "clock=analysis": (QUADRATIC, 2, {"c": 2, "d": 2, "clock": "analysis"}, ONE, [2, 1, 1, 1, 1, 1.25]),
    # b = (0, 8). The client that completes the count of 2 is answered with x_s = 2 …
    "reply=pre": (FAR, 2, {"alpha": 0.5, "count": 2}, [[1, 0], [2, 1], [3, 1], [4, 0]], [2, 2, 3, 3, 3, 3]),
    # … or with x_s = 3, so that its next message is (11/2 − 5)/2 = 1/4.
    "reply=post": (
        FAR,
        2,
        {"alpha": 0.5, "count": 2, "reply": "post"},
        [[1, 0], [2, 1], [3, 1], [4, 0]],
        [2, 2, 3, 3, 3, 3.25],
    ),
    # One client, M = 2, α = 1/2: Descend takes 3 to 2, 2 to 1 (slope 1 beyond δ = 1) and 1 to 1/4.
    "huber, start=algorithm": (
        HUBER,
        3,
        {"alpha": 0.5, "M": 2},
        [*ONE, [7, 0], [8, "s"], [9, 0], [10, "s"]],
        [3, 2, 2, 2, 2, 1, 1, 1, 1, 0.25],
    ),
    "huber, start=analysis": (
        HUBER,
        3,
        {"alpha": 0.5, "M": 2, "start": "analysis"},
        [*ONE, [7, 0], [8, "s"]],
        [3, 3, 3, 2, 2, 2, 2, 1],
    ),
    "huber, clock=algorithm": (HUBER, 3, {"c": 2, "d": 2}, ONE, [3, 2, 2, 7 / 3, 7 / 3, 1.6]),
    "huber, clock=analysis": (HUBER, 3, {"c": 2, "d": 2, "clock": "analysis"}, ONE, [3, 2, 2, 2, 2, 1.5]),
    "huber, reply=pre": (
        HUBER,
        3,
        {"alpha": 0.5, "M": 2, "count": 1},
        [[1, 0], [2, 0], [3, 0]],
        [3, 2, 2, 2, 2, 1],
    ),
    "huber, reply=post": (
        HUBER,
        3,
        {"alpha": 0.5, "M": 2, "count": 1, "reply": "post"},
        [[1, 0], [2, 0], [3, 0]],
        [3, 2, 2, 1, 1, 0.25],
    ),
}


def case_file(tmp_path, **fields):
    file = tmp_path / "case.json"
    file.write_text(json.dumps({"algorithm": "area", **fields}))
    return file


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", HAND)
def test_replay_reproduces_the_hand_calculation(name, tmp_path):
    problem, x0, parameters, events, models = HAND[name]
    file = case_file(tmp_path, problem=problem, x0=[x0], parameters=parameters, events=events)
    trajectory = replay(load_case(file))
    assert [entry["k"] for entry in trajectory] == list(range(1, len(models) + 1))
    assert np.allclose([entry["x"][0] for entry in trajectory], models, rtol=1e-12, atol=0)


def test_an_inserted_aggregation_is_an_iteration_at_the_time_of_its_arrival(tmp_path):
    problem, x0, parameters, events, _ = HAND["reply=pre"]
    trajectory = replay(load_case(case_file(tmp_path, problem=problem, x0=[x0], parameters=parameters, events=events)))
    assert [entry["actor"] for entry in trajectory] == [0, 1, "s", 1, 0, "s"]
    assert [entry["t"] for entry in trajectory] == [1, 2, 2, 3, 4, 4]


class Messages:
    """Algorithms 1 and 2 as they stand: a server and clients that exchange messages."""

    def __init__(self, problem, x0, step, parameters):
        self.problem, self.step, self.p = problem, step, parameters
        self.x_s, self.u, self.k = x0.copy(), np.zeros_like(x0), 0
        n = problem.n
        self.y = [x0.copy() for _ in range(n)]
        first = step.at(np.array(0))
        analysis = parameters.start == "analysis"
        self.outbox = [x0.copy() if analysis else self.descend(i, x0, first) for i in range(n)]
        self.seen, self.trajectory = 0, []

    def descend(self, client, x, alpha):
        x = x.copy()
        for _ in range(self.p.M):
            x = x - alpha * self.problem.gradient(client, x)
        return x

    def alpha(self):
        return self.step.at(np.array(self.k - (self.p.clock == "analysis")))

    def aggregate(self):
        self.k += 1
        self.x_s, self.u = self.x_s + self.u, np.zeros_like(self.u)
        self.trajectory.append(self.x_s)

    def receive(self, client):
        self.k += 1
        self.u = self.u + (self.outbox[client] - self.y[client]) / self.problem.n
        self.y[client] = self.outbox[client]
        self.trajectory.append(self.x_s)
        self.seen += 1
        full = self.p.count is not None and self.seen % self.p.count == 0
        if full and self.p.reply == "post":
            self.aggregate()
        self.outbox[client] = self.descend(client, self.x_s, self.alpha())
        if full and self.p.reply == "pre":
            self.aggregate()


def appendix_a(problem, x0, step, M, actors):
    """Equations (5), (6) and (7)."""
    n = problem.n
    x, y, x_s = [x0.copy() for _ in range(n)], [x0.copy() for _ in range(n)], x0.copy()
    trajectory = []
    for k, actor in enumerate(actors):
        if actor >= 0:
            new = x_s.copy()
            for _ in range(M):
                new = new - step.at(np.array(k)) * problem.gradient(actor, new)
            x[actor], y[actor] = new, x[actor]
        else:
            x_s = np.mean(y, axis=0)
        trajectory.append(x_s)
    return trajectory


def server_models(problem, parameters, events):
    tape = AREA.schedule(parameters, events, problem.n, RecordAt(), 10**6)
    models = []
    run(tape, problem.x0, problem.full_gradients(), lambda _, x: models.append(x.copy()))
    return models[1:]


schedules = st.lists(st.integers(-1, 2), min_size=1, max_size=40)
steps = st.sampled_from([StepSize(0.3), StepSize(0.05), StepSize(2.0, 7.0)])


@given(
    st.one_of(
        st.tuples(schedules, st.none(), st.just("pre")),
        st.tuples(
            st.lists(st.integers(0, 2), min_size=1, max_size=30), st.integers(1, 5), st.sampled_from(["pre", "post"])
        ),
    ),
    steps,
    st.integers(1, 4),
    st.sampled_from(["algorithm", "analysis"]),
    st.sampled_from(["algorithm", "analysis"]),
    st.sampled_from(["huber", "quadratic"]),
)
def test_the_tape_is_the_message_passing_algorithm(who, step, M, start, clock, name):
    # Aggregations are events, or happen after a count of arrivals, before or after the last one is answered.
    (actors, count, reply), problem = who, some_problem(name)
    parameters = AreaParameters(step, M, count, reply, start, clock)
    reference = Messages(problem, problem.x0, step, parameters)
    for actor in actors:
        reference.aggregate() if actor < 0 else reference.receive(actor)
    events = Events(np.arange(1.0, len(actors) + 1), np.array(actors, dtype=np.int32))
    assert np.allclose(server_models(problem, parameters, events), reference.trajectory, rtol=1e-11, atol=1e-11)


@given(schedules, steps, st.integers(1, 4), st.sampled_from(["huber", "quadratic"]))
def test_the_tape_with_analysis_start_and_clock_is_appendix_a(actors, step, M, name):
    problem = some_problem(name)
    parameters = AreaParameters(step, M, None, "pre", "analysis", "analysis")
    events = Events(np.arange(1.0, len(actors) + 1), np.array(actors, dtype=np.int32))
    expected = appendix_a(problem, problem.x0, step, M, actors)
    assert np.allclose(server_models(problem, parameters, events), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"events": [[1, 7]]}, "client 7 does not exist; the problem has 2 clients"),
        ({"events": [[1, "x"]]}, 'actor must be a client index or "s"'),
        ({"events": [[1]]}, r"must be \[time, actor\]"),
        ({"events": "none"}, "non-empty list"),
        ({"problem": {"A": 1}}, "problem: type is missing"),
        ({"problem": "lad"}, 'problem must be an object with a "type"'),
        ({"parameters": [1]}, "parameters must be an object"),
        ({"eventz": 1}, "unknown key 'eventz'; did you mean events"),
        ({"iteration": 1}, "unknown key 'iteration'; did you mean iterations"),
    ],
)
def test_a_malformed_case_names_what_is_wrong(fields, message, tmp_path):
    good = {"problem": QUADRATIC, "x0": [2], "parameters": {"alpha": 0.5}, "events": [[1, 0], [2, "s"]]}
    with pytest.raises(CaseError, match=message):
        load_case(case_file(tmp_path, **{**good, **fields}))


def test_with_a_count_the_events_must_not_name_aggregations():
    with pytest.raises(SpecError, match="must not name aggregations"):
        AREA.schedule(
            AreaParameters(StepSize(1.0), count=2),
            Events(np.ones(1), np.array([-1], np.int32)),
            1,
            RecordAt(),
            5,
        )
