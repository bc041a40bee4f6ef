"""FedBuff and FedStaleWeight with every pattern of noise signs, and with every sequence of arrivals."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from typing import Any, final

import numpy as np
from every_noise import Clients, Draw, Floats, LocalSteps, Played, all_draws, play, some
from gradient_theorems import BY_ID

from boundlab.events import Events
from boundlab.options import Options
from boundlab.registry import lookup
from boundlab.tape import RecordAt, Tape

Past = tuple[int, ...]
MOST = 8  # draws with noise: 256 patterns
LINE = np.array([[0.0], [1.5], [-0.7]])
PLANE = np.array([[0.0, 0.3], [1.5, -1.0], [-0.7, 2.0]])


@final
@dataclass(frozen=True, eq=False)
class Buffers(LocalSteps):
    """One schedule: what the page says of each buffer.

    Parameters
    ----------
    T
        Server updates.
    """

    algorithm: Any
    parameters: Any
    played: Played
    T: int

    @property
    def tape(self) -> Tape:
        return self.played.tape

    @property
    def clients(self) -> Clients:
        return self.played.clients

    @property
    def eta_g(self) -> float:
        return float(self.parameters.eta_g)

    @property
    def heads(self) -> Floats:
        """A_0, …, A_{Q−1}."""
        return np.concatenate([[0.0], np.cumsum(self.eta)[:-1]])

    @property
    def w(self) -> Floats:
        """w^0, …, w^T, shape (T + 1, patterns, d)."""
        return self.played.models

    def entries(self, t: int) -> list[tuple[int, float, int, int]]:
        """Return row, α, client and staleness of each entry of buffer t."""
        d = self.tape.descend
        return [
            (row, weight / self.eta_g, int(d.client[row]), t - int(d.version[row]))
            for row, weight in self.played.entries(t)
        ]

    @cached_property
    def tau(self) -> int:
        return max(age for t in range(self.T) for _, _, _, age in self.entries(t))

    def drift(self, tau: int) -> float:
        return float((self.eta * (self.eta_g * self.A * tau + self.heads) ** 2).sum()) / self.A

    def slope(self, t: int) -> Floats:
        """∇f(w^t), shape (patterns, d)."""
        return self.clients.mean_gradient(self.clients.equal, self.w[t])

    def f(self, t: int) -> Floats:
        """f(w^t), shape (patterns,)."""
        return self.clients.mean_value(self.clients.equal, self.w[t])

    def h(self, t: int) -> Floats:
        """h_q of buffer t, shape (Q, patterns, d)."""
        return sum((alpha * self.played.slopes[row] for row, alpha, _, _ in self.entries(t)), np.float64(0))

    def noise(self, t: int) -> Floats:
        """Σ_k α_k ξ_{k,q}, shape (Q, patterns, d)."""
        return sum((alpha * self.played.noises[row] for row, alpha, _, _ in self.entries(t)), np.float64(0))

    def spread(self) -> float:
        """An upper bound of the mean heterogeneity."""
        return float((self.clients.spreads(self.clients.equal) ** 2).mean() ** 0.5)


def run(
    name: str, options: Mapping[str, Any], actors: Sequence[int], clients: Clients, draws: Sequence[Draw] | None = None
) -> Buffers:
    """Execute an algorithm on arrivals in that order, with noise in at most MOST draws."""
    algorithm = lookup("algorithms", name)
    parameters = algorithm.read(Options(name, options))
    T = len(actors) // parameters.count
    events = Events(np.arange(1.0, len(actors) + 1), np.array(actors, dtype=np.int32))
    tape = algorithm.schedule(parameters, events, clients.n, RecordAt(), T)
    if draws is None:
        draws = some(all_draws(tape, sorted(set(tape.uses.update.tolist()))), MOST, len(actors))
    played = play(tape, clients, [0.8] * clients.d, draws if clients.noise else [])
    return Buffers(algorithm, parameters, played, T)


def steps(run: Buffers, each: Floats) -> Floats:
    """Return Σ_q η_q·(entry q)."""
    return np.tensordot(run.eta, each, 1)


def values(run: Buffers, tau: int) -> dict[str, Any]:
    """Return what the registered theorems read, tapes apart."""
    return {
        "L": run.clients.L,
        "G_sq": run.clients.G_sq,
        "sigma_l": run.clients.noise,
        "sigma_g_mean": run.spread(),
        "F0": float(run.f(0).mean()),
        "T": run.T,
        "n": run.clients.n,
        "Q": len(run.eta),
        "tau_max": tau,
        "eta_g": run.eta_g,
        "eta_l": run.A / len(run.eta),
        "eta_sum": run.A,
        "eta_sq": run.beta,
        "drift": run.drift(tau),
        "eta_head": float(run.heads[-1]),
    }


def registered(kind: str, known: dict[str, Any]) -> list[float]:
    """Return the bounds of both algorithms."""
    found = []
    for algorithm in ("fedstaleweight", "fedbuff"):
        theorem = BY_ID[f"{algorithm}.{kind}"]
        wanted = {*theorem.inputs(), *theorem.settable}
        found.append(float(theorem.evaluate({name: value for name, value in known.items() if name in wanted}).total))
    return found


# ------------------------------------------------------------------------------------------------- one schedule

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


@cache
def one(name: str, scale: float = 1.0) -> Buffers:
    """Return an example; its local step sizes are multiplied with ``scale``."""
    algorithm, options, actors, clients = ONE[name]
    return run(algorithm, {**options, "eta_l": (scale * np.array(options["eta_l"])).tolist()}, actors, clients)


# ------------------------------------------------------------------------------------------- random participation


@final
@dataclass(frozen=True, eq=False)
class Random:
    """Independent arrivals: every sequence of them, the same draws in all.

    Parameters
    ----------
    p
        Shape (n,): who arrives.
    runs
        By sequence of arrivals.
    """

    p: Floats
    T: int
    b: int
    runs: Mapping[Past, Buffers]

    @property
    def any(self) -> Buffers:
        """One of the schedules: for what all have in common."""
        return next(iter(self.runs.values()))

    @property
    def chi2(self) -> float:
        n = len(self.p)
        return n * float(((self.p - 1 / n) ** 2).sum())

    @cached_property
    def tau(self) -> int:
        return max(run.tau for run in self.runs.values())

    def probability(self, arrivals: Past) -> float:
        return float(np.prod(self.p[list(arrivals)])) if arrivals else 1.0

    def sequences(self, length: int) -> Iterator[Past]:
        return product(range(len(self.p)), repeat=length)

    def after(self, arrivals: Past) -> Buffers:
        """Return a schedule that begins with these arrivals."""
        return self.runs[arrivals + (0,) * (self.T * self.b - len(arrivals))]

    def pasts(self, t: int) -> Iterator[tuple[float, Buffers, list[tuple[float, Buffers]]]]:
        """Yield each past of buffer t: its probability, a schedule with it, and all buffers with theirs."""
        for past in self.sequences(t * self.b):
            buffers = [(self.probability(new), self.after(past + new)) for new in self.sequences(self.b)]
            yield self.probability(past), self.after(past), buffers

    def H(self, t: int, buffers: list[tuple[float, Buffers]]) -> Floats:  # noqa: N802
        """E[h_q | the past and all draws], shape (Q, patterns, d)."""
        return sum((p * run.h(t) for p, run in buffers), np.float64(0))


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


@cache
def random(name: str, scale: float = 1.0) -> Random:
    """Return an example; its local step sizes are multiplied with ``scale``."""
    algorithm, options, p, T, clients = RANDOM[name]
    own = {**options, "eta_l": (scale * np.array(options["eta_l"])).tolist()}
    b, n = int(options["count"]), len(p)
    # The noise of later runs would not change what is tested.
    Q = int(options.get("M", np.size(options["eta_l"])))
    draws = [(client, number, q) for client in range(n) for number in range(3) for q in range(Q)]
    chosen = some(draws, MOST, n)
    runs = {actors: run(algorithm, own, actors, clients, chosen) for actors in product(range(n), repeat=T * b)}
    return Random(np.array(p), T, b, runs)
