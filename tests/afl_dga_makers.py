"""AFL-DGA in a few lines of NumPy, for every sign of the noise at once: no engine, no sampling.

The analysis' own correction (scaling=analysis). Rows are (client or "s", word, round), as in case files. Arrays
have one row for each of the 2^E ways in which the noises of E local steps can fall.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from boundlab.randomness import Floats

Row = tuple[Any, str, int]


@dataclass(frozen=True)
class Waves:
    """f_i(z) = curve/2·‖z‖² + Σ_j a_ij·cos(k_ij·z + o_ij): neither convex nor quadratic; a parabola where a is 0.

    ``a`` and ``o`` have shape (N, j), ``k`` (N, j, 2). The noise of a gradient at z is ±sigma times a unit vector that
    turns with z.
    """

    a: Floats
    k: Floats
    o: Floats
    curve: float
    sigma: float

    @property
    def clients(self) -> int:
        return len(self.a)

    @property
    def smoothness(self) -> float:
        """L."""
        return self.curve + float((self.a * (self.k**2).sum(-1)).sum(1).max())

    def value(self, z: Floats) -> Floats:
        """Return the mean f, shape (R,)."""
        waves = (np.cos(np.einsum("ijd,rd->rij", self.k, z) + self.o) * self.a).sum(-1).mean(-1)
        return np.asarray(self.curve / 2 * (z * z).sum(-1) + waves)

    def slope(self, i: int, z: Floats) -> Floats:
        return np.asarray(self.curve * z - (np.sin(z @ self.k[i].T + self.o[i]) * self.a[i]) @ self.k[i])

    def mean_slope(self, z: Floats) -> Floats:
        return np.mean([self.slope(i, z) for i in range(self.clients)], axis=0)

    def noise(self, z: Floats) -> Floats:
        """Return the noise of sign +."""
        angle = 1.7 * z[:, 0] - 0.9 * z[:, 1]
        return self.sigma * np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def waves(rng: np.random.Generator, clients: int, sigma: float) -> Waves:
    """Return random functions, each with its own waves."""
    size = (clients, 3)
    return Waves(
        rng.uniform(0.2, 1.0, size),
        rng.normal(size=(*size, 2)),
        rng.uniform(0, 6, size),
        float(rng.choice([0.0, 0.5])),
        sigma,
    )


def parabola(clients: int, sigma: float) -> Waves:
    nothing = np.zeros((clients, 1))
    return Waves(nothing, np.zeros((clients, 1, 2)), nothing, 1.0, sigma)


def size(x: Floats) -> float:
    """|x| = √E‖x‖², for x of shape (R, 2)."""
    return float(np.sqrt((x * x).sum(-1).mean()))


def random_rows(rng: np.random.Generator, clients: int, rounds: int, steps: int) -> list[Row]:
    """Return rows that can happen: averages late, out of order or never, rounds of several steps, absent clients."""
    rows: list[Row] = []
    for i in range(clients):
        rows += [(i, "step", 1)] * int(rng.integers(1, 3)) + [(i, "send", 1)]
    left = steps - sum(word == "step" for _, word, _ in rows)
    rows.append(("s", "aggregate", 1))
    done, last = 1, [1] * clients
    inside: list[int | None] = [None] * clients
    owed = [[1] for _ in range(clients)]
    while done < rounds:
        i, what = int(rng.integers(clients)), rng.random()
        current = inside[i]
        if what < 0.2:
            done += 1
            rows.append(("s", "aggregate", done))
            for one in owed:
                one.append(done)
        elif what < 0.45:
            ready = [r for r in owed[i] if r != current]
            if ready:
                r = ready[0 if rng.random() < 0.7 else -1]
                owed[i].remove(r)
                rows.append((i, "recv", r))
        elif what < 0.7 and current is not None:
            rows.append((i, "send", current))
            last[i], inside[i] = current, None
        elif left > 0:
            inside[i] = current if current is not None else max(done, last[i]) + 1
            rows.append((i, "step", inside[i]))
            left -= 1
    return rows


def together(clients: int, rounds: int) -> list[Row]:
    """Return rows of synchronous gradient descent."""
    return [
        row
        for r in range(1, rounds + 1)
        for row in (
            *[(i, word, r) for i in range(clients) for word in ("step", "send")],
            ("s", "aggregate", r),
            *[(i, "recv", r) for i in range(clients)],
        )
    ]


def in_turns(rounds: int) -> list[Row]:
    """Return rows of two clients that take turns, one step each: the last average is missing, no own step is."""
    rows = [row for row in together(2, 1) if row[1] != "recv"]
    told = [0, 0]
    for r in range(2, rounds + 1):
        i = r % 2
        rows += [(i, "recv", late) for late in range(told[i] + 1, max(r - 1, 2))]
        told[i] = max(r - 2, 1)
        rows += [(i, "step", r), (i, "send", r), ("s", "aggregate", r)]
    return rows


@dataclass(frozen=True)
class Use:
    """A local step that round t uses: weight, age τ − 1, the missing rounds H and the own steps U not undone."""

    step: int
    weight: float
    age: int
    missing: frozenset[int]
    own: tuple[int, ...]


@dataclass
class Run:
    """What happened: w^0 … w^T, averages, local steps, and uses of each round."""

    w: list[Floats]
    average: list[Floats] = field(default_factory=list)
    gradient: list[Floats] = field(default_factory=list)
    client: list[int] = field(default_factory=list)
    uses: list[list[Use]] = field(default_factory=list)

    @property
    def rounds(self) -> int:
        return len(self.uses)

    def combined(self, t: int) -> Floats:
        """Return Σ ω_e·(gradient e) over the uses of round t."""
        parts = [use.weight * self.gradient[use.step] for use in self.uses[t]]
        return np.asarray(sum(parts, np.zeros_like(self.w[0])))


def follow(f: Waves, rows: list[Row], eta: float, x0: Floats) -> Run:
    """Run the algorithm as the table of events on the theory page says it, in all branches at once."""
    N, steps = f.clients, sum(word == "step" for _, word, _ in rows)
    signs = 2.0 * ((np.arange(2**steps)[:, None] >> np.arange(steps)) & 1) - 1.0
    run = Run([np.tile(x0, (2**steps, 1))])
    model = [run.w[0] for _ in range(N)]
    steps_of: list[dict[int, list[int]]] = [{} for _ in range(N)]
    stored: list[list[int]] = [[] for _ in range(N)]
    since = [0] * N
    heard: list[set[int]] = [set() for _ in range(N)]  # H: rounds by their number
    own: list[list[int]] = [[] for _ in range(N)]  # U
    taken: list[tuple[frozenset[int], tuple[int, ...]]] = []
    first = next(r for _, word, r in rows if word == "aggregate")
    for who, word, r in rows:
        if word == "step":
            e = len(run.gradient)
            slope, xi = f.slope(who, model[who]), signs[:, e : e + 1] * f.noise(model[who])
            taken.append((frozenset(heard[who]), tuple(own[who])))
            run.gradient.append(slope + xi)
            run.client.append(who)
            steps_of[who].setdefault(r, []).append(e)
            own[who].append(e)
            model[who] = model[who] - eta * run.gradient[e]
        elif word == "send":
            stored[who], since[who] = steps_of[who][r], run.rounds
        elif word == "aggregate":
            t = run.rounds
            run.uses.append(
                [
                    Use(
                        e,
                        1 / (N * len(mine)),
                        t - since[i],
                        frozenset(h for h in range(t) if h + first not in taken[e][0]),
                        taken[e][1],
                    )
                    for i, mine in enumerate(stored)
                    for e in mine
                ]
            )
            run.average.append(run.combined(t))
            run.w.append(run.w[-1] - eta * run.average[-1])
        else:
            undone = steps_of[who].get(r, [])
            model[who] = model[who] - eta * run.average[r - first] + eta * sum(run.gradient[e] for e in undone)
            heard[who].add(r)
            own[who] = [e for e in own[who] if e not in undone]
    return run
