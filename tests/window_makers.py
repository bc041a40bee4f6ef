"""Models that stochastic gradients of old models move, for tests of the window lemma and of what uses it.

Each is a tape of FedCompass or FedFa, executed with every pattern of noise signs (``every_noise``).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, final

import numpy as np
from every_noise import Clients, Draw, Floats, LocalSteps, Played, all_draws, norm2, play, second, some

from boundlab.algorithms.fedcompass import FEDCOMPASS
from boundlab.delays import ServerPolicy
from boundlab.events import Events
from boundlab.options import Options
from boundlab.randomness import Streams
from boundlab.registry import lookup
from boundlab.tape import RecordAt, Tape, arrived

NO_POLICY = ServerPolicy("given", 0.0)
FEDFA = lookup("algorithms", "fedfa")
VERSIONS = 6  # server updates of every tape
MOST = 9  # draws with noise: 512 patterns


@final
@dataclass(frozen=True)
class Gradient:
    """One stochastic gradient of a run: its draw, its coefficient b, its client, where it is taken, its two parts."""

    draw: Draw
    b: float
    client: int
    point: Floats
    slope: Floats
    noise: Floats


@final
@dataclass(frozen=True, eq=False)
class Moving:
    """v^0, v^1, … and the gradients that move it: v^{t+1} = v^t − Σ b·g over ``steps[t]``.

    Parameters
    ----------
    v
        Shape (versions, patterns, d).
    """

    clients: Clients
    p: Floats
    v: Floats
    steps: Sequence[Sequence[Gradient]]
    played: Played
    N: int

    @property
    def T(self) -> int:  # noqa: N802
        """The largest horizon whose windows lie within the run."""
        return len(self.steps) - self.N + 1

    def window(self, t: int) -> list[Gradient]:
        return [one for held in self.steps[t : t + self.N] for one in held]

    def W(self, t: int) -> float:  # noqa: N802
        return sum(one.b for one in self.window(t))

    def V(self, t: int) -> float:  # noqa: N802
        return sum(one.b**2 for one in self.window(t))

    def shares(self, t: int) -> Floats:
        each = np.zeros(self.clients.n)
        for one in self.window(t):
            each[one.client] += one.b
        return each / self.W(t)

    def h(self, t: int) -> Floats:
        """The mean gradient of the window at t."""
        return sum((one.b * one.slope for one in self.window(t)), np.zeros_like(self.v[0])) / self.W(t)

    def nu(self, t: int) -> Floats:
        """The noise of the window at t."""
        return sum((one.b * one.noise for one in self.window(t)), np.zeros_like(self.v[0]))

    def F(self, t: int) -> float:  # noqa: N802
        """E F(v^t)."""
        return float(self.clients.mean_value(self.p, self.v[t]).mean())

    def slope(self, t: int) -> Floats:
        """∇F(v^t)."""
        return self.clients.mean_gradient(self.p, self.v[t])

    @cached_property
    def weights(self) -> Floats:
        """W_t for t < T."""
        return np.array([self.W(t) for t in range(self.T)])

    @cached_property
    def noise_weights(self) -> Floats:
        """V_t for t < T."""
        return np.array([self.V(t) for t in range(self.T)])

    @cached_property
    def B(self) -> float:  # noqa: N802
        far = max(float(np.abs(self.shares(t) - self.p).sum()) for t in range(self.T))
        return float(self.clients.spreads(self.p).max()) * far

    def away(self, t: int) -> float:
        """L times the mean distance of the points of a window from v^t."""
        apart = sum(one.b * norm2(one.point - self.v[t]) for one in self.window(t))
        return self.clients.L * apart / self.W(t)

    @cached_property
    def e(self) -> float:
        """The smallest that the lemma allows."""
        return max(self.away(t) for t in range(self.T))

    @cached_property
    def D(self) -> float:  # noqa: N802
        """The same."""
        return max(norm2(self.v[s + 1] - self.v[s]) for s in range(self.N))

    @cached_property
    def start(self) -> float:
        """E_0, with the lower bound 0 of F in place of inf F."""
        rise = self.clients.G_sq**0.5 * self.D * self.N * (self.N - 1) / 2
        return (self.N * self.F(0) + rise) / (self.weights.min() * self.T)

    @cached_property
    def X_sq(self) -> float:  # noqa: N802
        return float(np.mean([second(self.slope(t)) for t in range(self.T)]))


def moving(played: Played, p: Floats, v: Floats, held: Sequence[Sequence[tuple[int, float]]], size: int) -> Moving:
    """Return v and its gradients; ``held[t]`` are the rows of update t with their weights."""
    steps = [
        [
            Gradient(draw, weight * step, draw[0], played.points[row][q], played.slopes[row][q], played.noises[row][q])
            for row, weight in rows
            for q, (draw, step) in enumerate(zip(all_draws(played.tape, [row]), played.sizes(row), strict=True))
        ]
        for rows in held
    ]
    return Moving(played.clients, p, v, steps, played, size)


# ------------------------------------------------------------------------------------------------- FedCompass

HUBERS = np.array([[0.0], [1.5], [-0.7]])
PLANE = np.array([[0.0, 0.3], [1.5, -1.0], [-0.7, 2.0]])
# Options, clients, step size.
COMPASS: Mapping[str, tuple[Mapping[str, Any], Clients, float]] = {
    "groups": (
        {"Qmin": 1, "Qmax": 3, "speeds": [0.3, 0.5, 0.9]},
        Clients("huber", HUBERS, noise=0.7),
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
        Clients("huber", HUBERS[:2], noise=0.6),
        0.25,
    ),
    "one group without noise": (
        {"Qmin": 1, "Qmax": 3, "speeds": [0.3, 0.9], "warmup": "speeds"},
        Clients("wave", HUBERS[:2]),
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
        Clients("huber", HUBERS[:1], noise=1.0, steady=True),
        0.25,
    ),
}


@cache
def compass(name: str, scale: float = 1.0) -> tuple[Any, Tape, Clients]:
    """Return parameters, tape and clients of an example; its step size is multiplied with ``scale``."""
    options, clients, eta = COMPASS[name]
    parameters = FEDCOMPASS.read(Options("fedcompass", {"eta": scale * eta, **options}))
    events = FEDCOMPASS.sample(parameters, None, NO_POLICY, Streams(0, 0), clients.n, 60)  # type: ignore[arg-type]
    return parameters, FEDCOMPASS.schedule(parameters, events, clients.n, RecordAt(), VERSIONS), clients


@cache
def compass_moving(name: str, N: int, scale: float = 1.0) -> Moving:
    """Return w^0, w^1, … of FedCompass."""
    parameters, tape, clients = compass(name, scale)
    used = sorted(set(tape.uses.update.tolist()))
    draws = some(all_draws(tape, used), MOST, len(name)) if clients.noise else []
    played = play(tape, clients, np.full(clients.d, 0.9).tolist(), draws)
    p = np.array([float(one) for one in parameters.objective(clients.n)])
    held = [played.entries(t) for t in range(VERSIONS)]
    return moving(played, p, played.models, held, N)


# ------------------------------------------------------------------------------------------------------ FedFa

# Options, who arrives, clients.
FA: Mapping[str, tuple[Mapping[str, Any], Sequence[int], Clients]] = {
    "differences": (
        {"mode": "delta", "K": 3, "eta_g": 1.5, "eta_l": [0.3, 0.1]},
        [0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0],
        Clients("huber", HUBERS[:2], noise=0.8),
    ),
    "differences in the plane": (
        {"mode": "delta", "K": 2, "eta_g": 0.8, "eta_l": 0.2, "Q": 2, "start": "when_full"},
        [0, 1, 1, 2, 0, 1, 1, 2, 0, 1],
        Clients("wave", PLANE, noise=0.7, height=1.5),
    ),
    "a window of one": (
        {"mode": "delta", "K": 1, "eta_l": [0.2, 0.3]},
        [1, 0, 1, 1, 0, 1, 1, 0],
        Clients("wave", HUBERS[:2], noise=0.5, steady=True),
    ),
    "differences without noise": (
        {"mode": "delta", "K": 3, "eta_g": 1.0, "eta_l": 0.25, "Q": 3},
        [0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0],
        Clients("huber", PLANE[:2]),
    ),
    "gradient descent": ({"mode": "delta", "K": 1, "eta_l": 0.5}, [0] * 8, Clients("huber", HUBERS[:1])),
    "models of one client": (
        {"mode": "param", "K": 3, "eta_l": [0.4, 0.2]},
        [0] * 12,
        Clients("huber", HUBERS[:1], noise=0.9),
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
        Clients("huber", HUBERS[:1], noise=1.0, steady=True),
    ),
}


@final
@dataclass(frozen=True, eq=False)
class Fa(LocalSteps):
    """A run of FedFa, and its virtual iterate by the page's words: Δ^(s) summed with coefficients.

    Parameters
    ----------
    moves
        Δ^(s) for s = −K+1, …, shape (patterns, d) each.
    rate
        r: η_g or κ.
    far
        a: ‖w^t − v^t‖_2 ≤ a·A·c.
    """

    parameters: Any
    played: Played
    K: int
    moves: Mapping[int, Floats]
    rows: Mapping[int, int]
    rate: float
    far: float
    age: int
    moving: Moving

    @property
    def c(self) -> float:
        return self.played.clients.s2**0.5

    def starts(self) -> Iterator[tuple[int, int]]:
        """Yield t and s_t for t ≥ 0."""
        for t in range(VERSIONS):
            yield t, int(self.played.tape.descend.version[self.rows[t]])


def responses(K: int, lag: int, until: int) -> Floats:
    """Return r_{t,s} for 0 ≤ t ≤ until, −K < s < until as row t, column s + K − 1, by the recursion of the models."""
    r = np.zeros((until + 1, until + K - 1))
    for t in range(until):
        for j in range(K):
            if t - j - lag >= 0:
                r[t + 1] += r[t - j - lag] / K
            r[t + 1, t - j + K - 1] += 1 / K
    return r


@cache
def fa(name: str, N: int, scale: float = 1.0) -> Fa:
    """Return an example of FedFa with its virtual iterate; its local step sizes are multiplied with ``scale``."""
    options, actors, clients = FA[name]
    local = {"eta_l": (scale * np.array(options["eta_l"])).tolist()}
    parameters = FEDFA.read(Options("fedfa", {**options, **local}))
    K, first = parameters.K, parameters.first
    order = list(actors)[: VERSIONS + first - 1]
    events = Events(np.arange(1.0, len(order) + 1), np.array(order, dtype=np.int32))
    tape = FEDFA.schedule(parameters, events, clients.n, RecordAt(), VERSIONS)
    rows = {place - first + 1: int(row) for place, row in enumerate(arrived(tape))}
    rows = {s: row for s, row in rows.items() if s > -K}
    draws = some(all_draws(tape, rows.values()), MOST, len(name)) if clients.noise else []
    played = play(tape, clients, [1.1] * clients.d, draws)
    moves = {s: played.moves[row] for s, row in rows.items()}
    ages = [t - int(tape.descend.version[rows[t]]) for t in range(VERSIONS)]
    if parameters.mode == "delta":
        rate = parameters.eta_g
        far = rate * (K - 1) / 2
    else:
        rate = 1 / (1 + max(ages) + (K - 1) / 2)
        r, past = responses(K, max(ages), VERSIONS), range(-K + 1, VERSIONS)
        limits = [rate * min(1.0, (K + s) / K) for s in past]
        far = max(sum(abs(r[t, j] - limits[j]) for j, s in enumerate(past) if s < t) for t in range(VERSIONS))
    v = [played.models[0] + sum((rate * (K + s) / K * moves[s] for s in range(-K + 1, 0)), 0.0)]
    for t in range(VERSIONS):
        v.append(v[t] + rate * moves[t])
    held = [[(rows[t], rate)] for t in range(VERSIONS)]
    whole = moving(played, clients.equal, np.array(v), held, N)
    return Fa(parameters, played, K, moves, rows, rate, far, max(ages), whole)


def examples(N: int, limit: float | None = None, *, noise: bool = True) -> Iterator[tuple[str, Moving]]:
    """Yield every example, of both algorithms; with a limit, with the steps that make L·W_+ that.

    Parameters
    ----------
    noise
        False: those without noise alone.
    """
    for name, make in [*((name, compass_moving) for name in COMPASS), *((name, fa_moving) for name in FA)]:
        one = make(name, N)
        if one.weights.min() > 0 and (noise or one.clients.noise == 0):
            scale = 1.0 if limit is None else limit / (one.clients.L * float(one.weights.max()))
            yield name, one if limit is None else make(name, N, scale)


def fa_moving(name: str, N: int, scale: float = 1.0) -> Moving:
    """Return v^0, v^1, … of FedFa."""
    return fa(name, N, scale).moving
