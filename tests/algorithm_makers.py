"""Cases of arrival-driven algorithms for tests: by hand, and at random."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from boundlab.case import Case, build_problem, replay
from boundlab.objective import Problem
from boundlab.objective.composite import Composite
from boundlab.objective.simple import L1, BallIndicator, BoxIndicator, ProxFunction
from boundlab.options import Options
from boundlab.registry import lookup
from boundlab.tape import RecordAt, Tape
from boundlab.testing.strategies import arrivals

BUFFERED = ("asfedavg", "fedbuff", "fedstaleweight")
ALGORITHMS = ("async_sgd", "fedasync", "fedfa", "rennala", "ringmaster", "sfedavg", *BUFFERED)
COINS = ("lsvrg", "scaffnew")

# With a step size 1/2, client 0 maps x to x/2 and client 1 maps it to (x + 8)/2.
HALVES = {"type": "quadratic", "A": [[[1]], [[1]]], "b": [[0], [8]], "x0": 2}
# Beyond distance 1 of its centre a client's gradient is ±1, within it x − c.
HUBERS = {"type": "huber", "c": [[0], [4]], "w": [[1], [1]], "delta": 1, "x0": 2}
THREE = {"type": "quadratic", "A": [[[1]], [[1]], [[1]]], "b": [[0], [8], [16]], "x0": 4}


def read(algorithm: str, options: dict[str, Any]) -> Any:
    return lookup("algorithms", algorithm).read(Options(algorithm, options))


def make_case(algorithm: str, problem: dict[str, Any], options: dict[str, Any], events: list[list[Any]]) -> Case:
    kind = problem["type"]
    built = build_problem(kind, {key: value for key, value in problem.items() if key != "type"})
    compiler = lookup("algorithms", algorithm)
    return Case(compiler, built, read(algorithm, options), compiler.read_events(events, built.n, "here"))


def tape_of(case: Case) -> Tape:
    """Return the tape of all events of a case."""
    tape: Tape = case.algorithm.schedule(case.parameters, case.events, case.problem.n, RecordAt(), 10**6)
    return tape


def some_problem(name: str = "quadratic") -> Problem:
    """Return three clients in the plane that disagree."""
    if name == "huber":
        options = {"c": [[0, 1], [2, -1], [5, 0]], "w": [[1, 2], [1, 1], [3, 1]], "delta": 0.7, "x0": [3, -2]}
        return build_problem("huber", options)
    A = [[[2, 0.5], [0.5, 1]], [[1, 0], [0, 3]], [[1.5, -0.2], [-0.2, 0.7]]]
    return build_problem("quadratic", {"A": A, "b": [[1, 0], [-2, 3], [0, 4]], "x0": [3, -2]})


def in_order(actors: Sequence[int]) -> list[list[Any]]:
    """Return events of these actors at times 1, 2, …."""
    return [[place, actor] for place, actor in enumerate(actors, 1)]


def assert_replays(case: Case, ks: list[int], models: list[float]) -> None:
    """Compare a one-dimensional trajectory with what was worked out by hand, to 12 digits."""
    trajectory = replay(case)
    assert [entry["k"] for entry in trajectory] == ks
    assert np.allclose([entry["x"][0] for entry in trajectory], models, rtol=1e-12, atol=1e-12)
    assert [set(entry) for entry in trajectory] == [{"k", "t", "actor", "x"}] * len(models)


def trajectory_of(case: Case) -> tuple[list[int], np.ndarray]:
    """Return k and x after each event; shapes (K,), (K, d)."""
    entries = replay(case)
    return [entry["k"] for entry in entries], np.array([entry["x"] for entry in entries])


def assert_close(one: np.ndarray, other: np.ndarray) -> None:
    """Compare trajectories, up to rounding errors of the size of the largest iterate."""
    assert one.shape == other.shape
    scale = max(float(np.abs(one).max(initial=0.0)), 1.0)
    assert np.allclose(one, other, rtol=0.0, atol=1e-10 * scale)


def descend(problem: Any, client: int, x: np.ndarray, rates: Sequence[float]) -> np.ndarray:
    """Take one local step for each rate."""
    f, h = (problem.inner, problem.h) if isinstance(problem, Composite) else (problem, None)
    for rate in rates:
        x = x - rate * f.gradient(client, x)
        x = x if h is None else proximal(h, x, rate)
    return x


def proximal(h: ProxFunction, x: np.ndarray, rate: float) -> np.ndarray:
    """Return argmin_z h(z) + ‖z − x‖²/(2·rate), by the formulas of textbooks."""
    match h:
        case L1(weight):
            return np.sign(x) * np.maximum(np.abs(x) - rate * float(weight), 0.0)
        case BoxIndicator(low, high):
            return np.minimum(np.maximum(x, float(low)), float(high))
        case BallIndicator(radius):
            return x / max(1.0, float(np.linalg.norm(x)) / float(radius))
    raise AssertionError(h)


# ---- at random --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scenario:
    """A case in the words of case files."""

    algorithm: str
    problem: dict[str, Any]
    options: dict[str, Any]
    events: list[list[Any]]

    @property
    def clients(self) -> int:
        return len(self.problem["b" if self.problem["type"] == "quadratic" else "c"])

    def case(self) -> Case:
        return make_case(self.algorithm, self.problem, self.options, self.events)


@st.composite
def problems(draw: Any, clients: int) -> dict[str, Any]:
    """Draw quadratics or Huber losses with smoothness constants of at most 2, in 1–3 dimensions."""
    d, rng = draw(st.integers(1, 3)), np.random.default_rng(draw(st.integers(0, 10**6)))
    centres, x0 = rng.normal(scale=3.0, size=(clients, d)).tolist(), rng.normal(scale=3.0, size=d).tolist()
    if draw(st.booleans()):
        root = rng.normal(size=(clients, d, d))
        A = root @ root.transpose(0, 2, 1)
        A = 2.0 * A / np.linalg.norm(A, axis=(1, 2), keepdims=True) + 0.01 * np.eye(d)
        return {"type": "quadratic", "A": ((A + A.transpose(0, 2, 1)) / 2.0).tolist(), "b": centres, "x0": x0}
    w = rng.uniform(0.2, 2.0, size=(clients, d)).tolist()
    return {"type": "huber", "c": centres, "w": w, "delta": 1.0, "x0": x0}


RATE = st.floats(0.01, 0.4)
YES_OR_NO = st.sampled_from(["no", "yes"])
# Options of which each may be drawn by itself.
INDEPENDENT = {
    "async_sgd": {
        "alpha": RATE,
        "schedule": st.sampled_from(["constant", "delay_adaptive"]),
        "sampling": st.sampled_from(["arrival", "uniform"]),
    },
    "ringmaster": {"threshold": st.integers(1, 4), "alpha": RATE, "stops": YES_OR_NO},
    **{one: {"alpha": RATE, "p_c": st.sampled_from([1.0, 0.5, 0.1])} for one in COINS},
}
STALENESS = st.sampled_from(["constant", "inverse", "polynomial:a=0.7", "hinge:a=2,b=1"])


@st.composite
def local_steps(draw: Any, rate: str, steps: str) -> dict[str, Any]:
    """Draw one rate, or one a local step."""
    count = draw(st.integers(1, 3))
    if draw(st.booleans()):
        return {rate: draw(RATE), steps: count}
    return {rate: draw(st.lists(RATE, min_size=count, max_size=count))}


@st.composite
def options_of(draw: Any, algorithm: str, clients: int) -> dict[str, Any]:
    if algorithm in INDEPENDENT:
        return draw(st.fixed_dictionaries(INDEPENDENT[algorithm]))
    if algorithm == "rennala":
        reply = draw(st.sampled_from(["post", "pre"]))
        stops = draw(YES_OR_NO) if reply == "post" else "no"
        return {"count": draw(st.integers(1, 4)), "reply": reply, "alpha": draw(RATE), "stops": stops}
    if algorithm == "sfedavg":
        weights = st.lists(st.floats(0.1, 5.0), min_size=clients, max_size=clients)
        return draw(local_steps("alpha", "M")) | ({"weights": draw(weights)} if draw(st.booleans()) else {})
    if algorithm == "fedasync":
        return draw(local_steps("eta_l", "Q")) | {
            "beta": draw(st.floats(0.05, 1.0)),
            "s": draw(STALENESS),
            "offset": draw(st.integers(0, 1)),
            "mode": draw(st.sampled_from(["model", "delta"])),
        }
    if algorithm == "fedfa":
        mode = draw(st.sampled_from(["param", "delta"]))
        return (
            draw(local_steps("eta_l", "Q"))
            | {
                "K": draw(st.integers(1, 4)),
                "mode": mode,
                "start": draw(st.sampled_from(["after_full", "when_full"])),
            }
            | ({"eta_g": draw(st.floats(0.1, 1.5))} if mode == "delta" else {})
        )
    reply = draw(st.sampled_from(["post", "pre", "wait"]))
    count = draw(st.integers(1, clients if reply == "wait" else 4))
    options = draw(local_steps("alpha" if algorithm == "asfedavg" else "eta_l", "M")) | {"count": count, "reply": reply}
    if algorithm != "asfedavg":
        options["eta_g"] = draw(st.floats(0.1, 1.5))
    if algorithm == "fedbuff":
        options["staleness"] = draw(STALENESS)
    if algorithm == "fedstaleweight":
        options |= {
            "scale": draw(st.sampled_from([0, 0.5, 1, 4])),
            "include": draw(st.sampled_from(["current", "previous"])),
        }
        if draw(st.booleans()):
            options["window"] = draw(st.integers(1, 3))
    return options


@st.composite
def events_of(draw: Any, algorithm: str, options: dict[str, Any], clients: int) -> list[list[Any]]:
    if algorithm == "sfedavg":
        chosen = st.lists(st.integers(0, clients - 1), min_size=1, max_size=clients, unique=True)
        rows: list[list[Any]] = [[who] for who in draw(st.lists(chosen, min_size=1, max_size=12))]
    elif algorithm in COINS:
        who = st.integers(0, clients - 1) if algorithm == "lsvrg" else st.just("s")
        rows = [list(one) for one in draw(st.lists(st.tuples(who, st.integers(0, 1)), min_size=1, max_size=12))]
    elif options.get("sampling") == "uniform":
        jobs, rows = [1] * clients, []
        for choice, target in draw(st.lists(st.tuples(st.integers(0, 59), st.integers(0, clients - 1)), min_size=1)):
            busy = [client for client in range(clients) if jobs[client]]
            actor = busy[choice % len(busy)]
            jobs[actor] -= 1
            jobs[target] += 1
            rows.append([actor, target])
    else:
        wait = options["count"] if options.get("reply") == "wait" else 0
        rows = [[actor] for actor in draw(arrivals(clients, wait))]
    now, events = 0.0, []
    for row in rows:
        now += draw(st.sampled_from([0.0, 0.25, 1.0]))  # ties happen
        events.append([now, *row])
    return events


@st.composite
def scenarios(draw: Any, algorithm: str) -> Scenario:
    clients = draw(st.integers(1, 4))
    problem = draw(problems(clients))
    options = draw(options_of(algorithm, clients))
    return Scenario(algorithm, problem, options, draw(events_of(algorithm, options, clients)))


def rates_of(options: dict[str, Any], rate: str, steps: str) -> list[float]:
    """Return one step size a local step, from the words of a case file."""
    raw = options[rate]
    return list(raw) if isinstance(raw, list) else [raw] * options.get(steps, 1)


def damping(text: str, tau: int) -> float:
    """Return s(τ) of Xie et al., Section 5.2, for the functions that :data:`STALENESS` draws."""
    if text == "inverse":
        return 1.0 / (tau + 1)
    if text.startswith("polynomial"):
        return float((tau + 1) ** -float(text.split("=")[1]))
    if text.startswith("hinge"):
        a, b = (float(part.split("=")[1]) for part in text.removeprefix("hinge:").split(","))
        return 1.0 if tau <= b else 1.0 / (a * (tau - b) + 1.0)
    return 1.0
