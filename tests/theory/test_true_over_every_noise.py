"""The derived theorems about FedCompass, FedFa and buffers are true on small runs, over every pattern of noise signs.

Their displays are decided line by line by the machine proofs, and the axioms of these by ``tests/prove``. Here the
outcome meets runs of an interpreter that shares no code with the engine (``every_noise``).
"""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from every_noise import Clients, Draw, Floats, all_draws, at_most, play, second, some
from gradient_theorems import BY_ID, bound_at
from theory_pages import shows

from boundlab.algorithms.fedcompass import FEDCOMPASS
from boundlab.delays import ServerPolicy
from boundlab.events import Events
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.tape import RecordAt, Tape, arrived

NO_POLICY = ServerPolicy("given", 0.0)
FEDFA = lookup("algorithms", "fedfa")
VERSIONS = 6  # server updates of every tape of FedCompass and FedFa
HAIR = 1 - 1e-12  # below the edge of a condition, which rounding would cross

LINE = np.array([[0.0], [1.5], [-0.7]])
PLANE = np.array([[0.0, 0.3], [1.5, -1.0], [-0.7, 2.0]])


def slopes(clients: Clients, p: Floats, models: Floats) -> float:
    """Return the mean of E‖∇F(w)‖² over models."""
    return float(np.mean([second(clients.mean_gradient(p, w)) for w in models]))


def constants(clients: Clients, p: Floats, models: Floats) -> dict[str, float]:
    """Return what theorems read of the functions, with the lower bound 0 of F."""
    start = float(clients.mean_value(p, models[0]).mean())
    return {"L": clients.L, "G_sq": clients.G_sq, "sigma_l": clients.noise, "F0": start}


# ------------------------------------------------------------------------------------------------- FedCompass

# Options, clients, step size.
COMPASS: Mapping[str, tuple[Mapping[str, Any], Clients, float]] = {
    "groups": (
        {"Qmin": 1, "Qmax": 3, "speeds": [0.3, 0.5, 0.9]},
        Clients("huber", LINE, noise=0.7),
        0.35,
    ),
    "late arrivals and timers": (
        {"Qmin": 1, "Qmax": 3, "speeds": [[0.3], [0.5, 1.5, 0.2], [0.5, 0.3, 0.9, 0.3]], "latest_time_factor": 1},
        Clients("wave", PLANE, noise=1.0, height=2.0),
        0.2,
    ),
    "weights that fall with the staleness": (
        {"Qmin": 1, "Qmax": 3, "speeds": [0.3, 1.0], "st": "polynomial", "alpha": 0.9, "p": [0.2, 0.8]},
        Clients("wave", PLANE[:2], noise=0.5, steady=True),
        0.3,
    ),
    "normalised": (
        {"Qmin": 1, "Qmax": 3, "speeds": [0.25, 1.0], "warmup": "speeds", "normalise": True},
        Clients("huber", PLANE[:2], noise=0.4),
        0.15,
    ),
    "one group": (
        {"Qmin": 1, "Qmax": 3, "speeds": [0.3, 0.9], "warmup": "speeds"},
        Clients("huber", LINE[:2], noise=0.6),
        0.25,
    ),
    "one group without noise": (
        {"Qmin": 1, "Qmax": 3, "speeds": [0.3, 0.9], "warmup": "speeds"},
        Clients("wave", LINE[:2]),
        0.4,
    ),
    "slopes that never change": (
        {"Qmin": 1, "Qmax": 3, "speeds": [0.3, 0.5]},
        Clients("huber", np.array([[-50.0], [50.0]]), noise=0.7, steady=True),
        0.2,
    ),
    "downhill": (
        {"Qmin": 2, "Qmax": 2, "speeds": [0.3]},
        Clients("huber", np.array([[-50.0]])),
        0.2,
    ),
    "one client": (
        {"Qmin": 2, "Qmax": 2, "speeds": [0.3]},
        Clients("huber", LINE[:1], noise=1.0, steady=True),
        0.25,
    ),
}
ONE_GROUP = ("one group", "one group without noise", "downhill", "one client")


@cache
def compass(name: str, scale: float = 1.0) -> tuple[Any, Tape, Clients, Floats]:
    """Return parameters, tape, clients and all server models; the step size is multiplied with ``scale``."""
    options, clients, eta = COMPASS[name]
    parameters = FEDCOMPASS.read(Options("fedcompass", {"eta": scale * eta, **options}))
    events = FEDCOMPASS.sample(parameters, None, NO_POLICY, Streams(0, 0), clients.n, 60)  # type: ignore[arg-type]
    tape = FEDCOMPASS.schedule(parameters, events, clients.n, RecordAt(), VERSIONS)
    draws = some(all_draws(tape, sorted(set(tape.uses.update.tolist()))), 9, len(name)) if clients.noise else []
    return parameters, tape, clients, play(tape, clients, np.full(clients.d, 0.9).tolist(), draws)


def compass_sides(theorem: str, name: str, N: int, limit: float | None = None, scale: float = 1.0) -> None:
    """Assert a theorem about windows of N updates, with the step that makes L·η·W_max the limit."""
    parameters, tape, clients, models = compass(name, scale)
    read = FEDCOMPASS.quantities(parameters, tape, VERSIONS, {"N": N})
    eta, T = float(parameters.eta), VERSIONS - N + 1
    if read["W_min"] == 0:
        return
    if limit is not None:
        compass_sides(theorem, name, N, scale=limit / (clients.L * eta * read["W_max"]) * HAIR)
        return
    p = np.array([float(one) for one in parameters.objective(clients.n)])
    known = {"sigma_g": float(clients.spreads(p).max()), "T": T, "N": N, "eta": eta}
    right = bound_at(BY_ID[theorem], {**read, **constants(clients, p, models), **known})
    assert at_most(slopes(clients, p, models[:T]), right)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("N", [1, 2, 3])
@pytest.mark.parametrize("name", COMPASS)
@shows("fedcompass", "C6", "C7", "C8", "C10")
def test_fedcompass(name: str, N: int) -> None:
    for scale in (1.0, 8.0):
        compass_sides("fedcompass.window.a", name, N, scale=scale)
    compass_sides("fedcompass.window.b", name, N, 0.5)
    if COMPASS[name][1].noise == 0:
        compass_sides("fedcompass.window.b.noiseless", name, N, 1.0)
    if N == 1 and name in ONE_GROUP:
        compass_sides("fedcompass.group", name, N, 0.5)


def test_examples_cover_what_the_scheduler_can_do() -> None:
    parameters, tape, *_ = compass("late arrivals and timers")
    figures = FEDCOMPASS.figures(parameters, tape)
    assert figures["late_arrivals"] > 0
    assert figures["aggregations_by_timer"] > 0
    parameters, tape, *_ = compass("groups")
    assert FEDCOMPASS.quantities(parameters, tape, VERSIONS, {"N": 1})["tau_max"] > 0


# ------------------------------------------------------------------------------------------------------ FedFa

# Options, who arrives, clients.
FA: Mapping[str, tuple[Mapping[str, Any], Sequence[int], Clients]] = {
    "differences": (
        {"mode": "delta", "K": 3, "eta_g": 1.5, "eta_l": [0.3, 0.1]},
        [0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0],
        Clients("huber", LINE[:2], noise=0.8),
    ),
    "differences in the plane": (
        {"mode": "delta", "K": 2, "eta_g": 0.8, "eta_l": 0.2, "Q": 2, "start": "when_full"},
        [0, 1, 1, 2, 0, 1, 1, 2, 0, 1],
        Clients("wave", PLANE, noise=0.7, height=1.5),
    ),
    "a window of one": (
        {"mode": "delta", "K": 1, "eta_l": [0.2, 0.3]},
        [1, 0, 1, 1, 0, 1, 1, 0],
        Clients("wave", LINE[:2], noise=0.5, steady=True),
    ),
    "differences without noise": (
        {"mode": "delta", "K": 3, "eta_g": 1.0, "eta_l": 0.25, "Q": 3},
        [0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0],
        Clients("huber", PLANE[:2]),
    ),
    "gradient descent": ({"mode": "delta", "K": 1, "eta_l": 0.5}, [0] * 8, Clients("huber", LINE[:1])),
    "models of one client": (
        {"mode": "param", "K": 3, "eta_l": [0.4, 0.2]},
        [0] * 12,
        Clients("huber", LINE[:1], noise=0.9),
    ),
    "models of three in turn": (
        {"mode": "param", "K": 2, "eta_l": 0.3, "Q": 2},
        [0, 1, 2] * 4,
        Clients("wave", PLANE, noise=0.8),
    ),
    "models without noise": (
        {"mode": "param", "K": 4, "eta_l": 0.3, "Q": 2, "start": "when_full"},
        [0, 1] * 6,
        Clients("huber", PLANE[:2]),
    ),
    "models in a window of one": (
        {"mode": "param", "K": 1, "eta_l": 0.5},
        [0, 0, 0, 0, 0, 0, 0, 0],
        Clients("huber", LINE[:1], noise=1.0, steady=True),
    ),
}


@cache
def fa(name: str, scale: float = 1.0) -> tuple[Any, Tape, Floats]:
    """Return parameters, tape and all server models; local step sizes are multiplied with ``scale``."""
    options, actors, clients = FA[name]
    local = {"eta_l": (scale * np.array(options["eta_l"])).tolist()}
    parameters = FEDFA.read(Options("fedfa", {**options, **local}))
    order = list(actors)[: VERSIONS + parameters.first - 1]
    events = Events(np.arange(1.0, len(order) + 1), np.array(order, dtype=np.int32))
    tape = FEDFA.schedule(parameters, events, clients.n, RecordAt(), VERSIONS)
    rows = [int(row) for row in arrived(tape)][max(parameters.first - parameters.K, 0) :]
    draws = some(all_draws(tape, rows), 9, len(name)) if clients.noise else []
    return parameters, tape, play(tape, clients, [1.1] * clients.d, draws)


def fa_sides(form: str, name: str, N: int, limit: float | None = None, scale: float = 1.0) -> None:
    """Assert a theorem about windows of N updates, with the step that makes L·r·A·N the limit."""
    clients = FA[name][2]
    parameters, tape, models = fa(name, scale)
    mode, eta, T = str(parameters.mode), np.array(parameters.local.eta), VERSIONS - N + 1
    read = dict(FEDFA.quantities(parameters, tape, VERSIONS, {"N": N}))
    if mode == "delta":
        read["eta_g"] = parameters.eta_g
    if limit is not None:
        rate = read["eta_g"] if mode == "delta" else read["kappa_lag"]
        fa_sides(form, name, N, scale=limit / (clients.L * rate * float(eta.sum()) * N) * HAIR)
        return
    local = {"eta_sum": float(eta.sum()), "eta_sq": float((eta**2).sum()), "eta_l": float(eta.mean())}
    known = {"sigma_g": float(clients.spreads(clients.equal).max()), "T": T, "N": N}
    values = {**read, **constants(clients, clients.equal, models), **local, **known}
    right = bound_at(BY_ID[f"fedfa.{mode}.{form}"], values)
    assert at_most(slopes(clients, clients.equal, models[:T]), right)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("N", [1, 2, 4])
@pytest.mark.parametrize("name", FA)
@shows("fedfa", "V4", "V7")
def test_fedfa(name: str, N: int) -> None:
    for scale in (0.1, 1.0, 10.0):
        fa_sides("a", name, N, scale=scale)
    fa_sides("b", name, N, 0.5)
    if FA[name][2].noise == 0:
        fa_sides("b.noiseless", name, N, 1.0)


# ---------------------------------------------------------------------------------------------------- buffers

# Algorithm, options, who arrives, clients.
ONE: Mapping[str, tuple[str, Mapping[str, Any], Sequence[int], Clients]] = {
    "fedbuff": (
        "fedbuff",
        {"eta_l": [0.3, 0.1], "eta_g": 1.3, "count": 2},
        [0, 0, 1, 0, 0, 0, 1, 0],
        Clients("huber", LINE[:2], noise=0.8),
    ),
    "an old model for whoever fills the buffer": (
        "fedbuff",
        {"eta_l": 0.25, "M": 2, "count": 3, "reply": "pre"},
        [0, 1, 0, 0, 2, 0, 1, 1, 0],
        Clients("wave", PLANE, noise=0.7, height=1.5),
    ),
    "clients that wait": (
        "fedstaleweight",
        {"eta_l": 0.4, "M": 2, "count": 2, "reply": "wait", "scale": 1},
        [0, 1, 0, 2, 1, 0, 2, 1],
        Clients("huber", PLANE, noise=0.5, steady=True),
    ),
    "weights that make up for rare updates": (
        "fedstaleweight",
        {"eta_l": [0.2, 0.2, 0.3], "eta_g": 0.8, "count": 2, "scale": 2},
        [0, 0, 0, 1, 0, 0, 0, 1, 2, 0],
        Clients("wave", LINE, noise=0.9),
    ),
    "no noise": (
        "fedstaleweight",
        {"eta_l": 0.3, "M": 3, "count": 2, "scale": 1},
        [0, 0, 1, 0, 0, 1, 0, 0],
        Clients("huber", PLANE[:2]),
    ),
    "one client": (
        "fedbuff",
        {"eta_l": 0.6, "count": 1},
        [0] * 6,
        Clients("huber", LINE[:1], noise=1.0, steady=True),
    ),
    "gradient descent": (
        "fedbuff",
        {"eta_l": 0.5, "count": 1},
        [0] * 4,
        Clients("huber", LINE[:1]),
    ),
    "opposite slopes": (
        "fedbuff",
        {"eta_l": [0.1, 0.2], "count": 1},
        [0, 0, 0, 1],
        Clients("huber", np.array([[-50.0], [50.0]])),
    ),
}
# Algorithm, options, probabilities, server updates, clients.
RANDOM: Mapping[str, tuple[str, Mapping[str, Any], Sequence[float], int, Clients]] = {
    "fedbuff": (
        "fedbuff",
        {"eta_l": [0.3, 0.2], "eta_g": 1.2, "count": 2},
        [0.75, 0.25],
        3,
        Clients("huber", LINE[:2], noise=0.8),
    ),
    "an old model for whoever fills the buffer": (
        "fedbuff",
        {"eta_l": 0.3, "M": 2, "count": 2, "reply": "pre"},
        [0.6, 0.4],
        3,
        Clients("wave", PLANE[:2], noise=0.7, height=1.5),
    ),
    "buffers of one": (
        "fedbuff",
        {"eta_l": 0.5, "M": 2, "count": 1},
        [0.5, 0.3, 0.2],
        3,
        Clients("wave", PLANE, noise=1.0, steady=True),
    ),
    "buffers of three": (
        "fedbuff",
        {"eta_l": 0.4, "count": 3},
        [0.5, 0.5],
        2,
        Clients("huber", PLANE[:2], noise=0.9),
    ),
    "one client": (
        "fedstaleweight",
        {"eta_l": [0.2, 0.3], "count": 2, "scale": 2, "reply": "pre"},
        [1.0],
        3,
        Clients("huber", LINE[:1], noise=0.8),
    ),
}


def buffers(
    algorithm: str,
    options: Mapping[str, Any],
    actors: Sequence[int],
    clients: Clients,
    scale: float,
    draws: Sequence[Draw] | None = None,
) -> tuple[float, dict[str, Any]]:
    """Return the mean of E‖∇f(w)‖² on one schedule, and what the theorems read; local step sizes times ``scale``."""
    found = lookup("algorithms", algorithm)
    local = {"eta_l": (scale * np.array(options["eta_l"])).tolist()}
    parameters = found.read(Options(algorithm, {**options, **local}))
    T = len(actors) // parameters.count
    events = Events(np.arange(1.0, len(actors) + 1), np.array(actors, dtype=np.int32))
    tape = found.schedule(parameters, events, clients.n, RecordAt(), T)
    if draws is None:
        draws = some(all_draws(tape, sorted(set(tape.uses.update.tolist()))), 8, len(actors))
    models = play(tape, clients, [0.8] * clients.d, draws if clients.noise else [])
    eta, eta_g = np.array(parameters.local.eta), float(parameters.eta_g)
    heads, read = np.cumsum(eta) - eta, found.quantities(parameters, tape, T, {})
    A = float(eta.sum())
    known = {
        "sigma_g_mean": float((clients.spreads(clients.equal) ** 2).mean() ** 0.5),
        "T": T,
        "n": clients.n,
        "Q": len(eta),
        "eta_g": eta_g,
        "eta_l": A / len(eta),
        "eta_sum": A,
        "eta_sq": float((eta**2).sum()),
        "drift": float((eta * (eta_g * A * read["tau_max"] + heads) ** 2).sum()) / A,
        "eta_head": float(heads[-1]),
    }
    values = {**read, **constants(clients, clients.equal, models), **known}
    return slopes(clients, clients.equal, models[:T]), values


@pytest.mark.parametrize("name", ONE)
@shows("fedstaleweight", "R14")
def test_buffers_on_one_schedule(name: str) -> None:
    for scale in (1.0, 5.0):
        left, values = buffers(*ONE[name], scale)
        for algorithm in ("fedstaleweight", "fedbuff"):
            assert at_most(left, bound_at(BY_ID[f"{algorithm}.rf1"], values))


@cache
def random(name: str, scale: float) -> tuple[float, dict[str, Any]]:
    """Return the mean over every sequence of independent arrivals, the same draws in all, and what theorems read."""
    algorithm, options, p, T, clients = RANDOM[name]
    b, n = int(options["count"]), len(p)
    # The noise of later runs would not change what is tested.
    Q = int(options.get("M", np.size(options["eta_l"])))
    draws = some([(client, number, q) for client in range(n) for number in range(3) for q in range(Q)], 8, n)
    left, oldest, values = 0.0, 0.0, {}
    for actors in product(range(n), repeat=T * b):
        own, values = buffers(algorithm, options, actors, clients, scale, draws)
        left += float(np.prod([p[actor] for actor in actors])) * own
        if values["tau_max"] >= oldest:
            oldest, drift = values["tau_max"], values["drift"]
    shares = {"chi2": n * float(((np.array(p) - 1 / n) ** 2).sum()), "pi_max": max(p)}
    return left, {**values, **shares, "tau_max": oldest, "drift": drift}


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", RANDOM)
def test_buffers_with_random_arrivals(name: str) -> None:
    _, own = random(name, 1.0)
    edge = 0.5 / (own["L"] * own["eta_g"] * own["eta_sum"]) * HAIR
    for kind, scales in (("rf2", (0.2, 1.0, 5.0)), ("rf3", (edge, edge / 5))):
        for scale in scales:
            left, values = random(name, scale)
            for algorithm in ("fedstaleweight", "fedbuff"):
                assert at_most(left, bound_at(BY_ID[f"{algorithm}.{kind}"], values))
