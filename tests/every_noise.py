"""Tapes executed with every pattern of noise signs at once: expectations over the noise are then finite means.

A third interpreter of the three instructions, from scratch, on functions whose constants are known by hand.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from boundlab.randomness import Floats
from boundlab.tape import Initial, Op, Tape

Draw = tuple[int, int, int]  # client, number of its run, local step


@final
@dataclass(frozen=True)
class Clients:
    """Clients f_i(x) = φ(x − centre_i) with one φ ≥ 0, and noise ±u(x) on each gradient.

    ``huber``: φ = ‖z‖²/2 up to ‖z‖ = 1, linear beyond. ``wave``: φ = Σ_j (1 − cos z_j)/√d, which is not convex.
    Both have slopes of norm at most 1, and L-Lipschitz ones, L = 1 or 1/√d; all of it times ``height``.

    Parameters
    ----------
    centres
        Shape (n, d).
    noise
        ‖u(x)‖ is at most that, and equal to it where ``steady``.
    """

    kind: Literal["huber", "wave"]
    centres: Floats
    noise: float = 0.0
    height: float = 1.0
    steady: bool = False

    @property
    def n(self) -> int:
        return len(self.centres)

    @property
    def d(self) -> int:
        return self.centres.shape[1]

    @property
    def L(self) -> float:  # noqa: N802
        return self.height * (1.0 if self.kind == "huber" else self.d**-0.5)

    @property
    def G_sq(self) -> float:  # noqa: N802
        return self.height**2

    @property
    def s2(self) -> float:
        """G_sq + σ_ℓ²."""
        return self.G_sq + self.noise**2

    def value(self, client: int, x: Floats) -> Floats:
        """Return f_client, over the last axis of x."""
        z = x - self.centres[client]
        if self.kind == "wave":
            return self.height * (1.0 - np.cos(z)).sum(-1) / self.d**0.5
        length = np.linalg.norm(z, axis=-1)
        return self.height * np.where(length <= 1.0, length**2 / 2, length - 0.5)

    def gradient(self, client: int, x: Floats) -> Floats:
        """Return ∇f_client, over the last axis of x."""
        z = x - self.centres[client]
        if self.kind == "wave":
            return self.height * np.sin(z) / self.d**0.5
        return self.height * z / np.maximum(1.0, np.linalg.norm(z, axis=-1, keepdims=True))

    def loudness(self, x: Floats) -> Floats:
        """Return u, over the last axis of x."""
        return self.noise / self.d**0.5 * (np.ones_like(x) if self.steady else np.cos(x))

    def mean_value(self, p: Floats, x: Floats) -> Floats:
        """Return F = Σ p_i f_i; it is at least 0."""
        return sum((p[i] * self.value(i, x) for i in range(self.n)), np.zeros(x.shape[:-1]))

    def mean_gradient(self, p: Floats, x: Floats) -> Floats:
        """Return ∇F."""
        return sum((p[i] * self.gradient(i, x) for i in range(self.n)), np.zeros_like(x))

    def spreads(self, p: Floats) -> Floats:
        """Return upper bounds of ‖∇f_i − ∇F‖ for each i: slopes differ by at most L·(distance of centres), or 2√G."""
        apart = np.linalg.norm(self.centres[:, None] - self.centres[None], axis=-1)
        return np.minimum(2 * self.height, self.L * apart) @ p

    @property
    def equal(self) -> Floats:
        """1/n each."""
        return np.full(self.n, 1.0 / self.n)


def second(x: Floats) -> float:
    """Return E‖x‖² over the patterns, the axis before the last."""
    return float((x**2).sum(-1).mean(-1))


def at_most(left: float, right: float) -> bool:
    """Return left ≤ right but for rounding."""
    return left <= right + 1e-9 * max(abs(left), abs(right)) + 1e-13


def sizes(tape: Tape, row: int) -> Floats:
    """Return the step sizes of a row of Descend."""
    steps = int(tape.descend.steps[row])
    relative = tape.local if len(tape.local) else np.ones(steps)
    return np.asarray(tape.descend.step_size[row] * relative, dtype=np.float64)


def all_draws(tape: Tape, rows: Iterable[int]) -> list[Draw]:
    """Return the draws of rows of Descend."""
    d = tape.descend
    return [(int(d.client[row]), int(d.update[row]), q) for row in rows for q in range(int(d.steps[row]))]


def all_signs(count: int) -> Floats:
    """Return every pattern of ±1, shape (2^count, count)."""
    return np.where(np.arange(2**count)[:, None] >> np.arange(count) & 1, 1.0, -1.0)


def play(tape: Tape, clients: Clients, x0: Sequence[float], draws: Sequence[Draw]) -> Floats:
    """Execute a tape whose records are all server versions, with every pattern of signs of these draws.

    Returns w^0, w^1, …, shape (versions, patterns, d). Draws that are not given have no noise.
    """
    signs = all_signs(len(draws))
    place = {draw: bit for bit, draw in enumerate(draws)}
    start = np.broadcast_to(np.array(x0, dtype=np.float64), (len(signs), clients.d))
    first = {Initial.START: start, Initial.ZERO: np.zeros_like(start)}
    registers = {r: first[Initial(kind)] for r, kind in enumerate(tape.initial) if kind != Initial.UNWRITTEN}
    models, affine, descend = [], tape.affine, tape.descend
    for op, row in zip(tape.op.tolist(), tape.row.tolist(), strict=True):
        if op == Op.AFFINE:
            terms = slice(affine.start[row], affine.start[row + 1])
            sources = zip(affine.coef[terms].tolist(), affine.src[terms].tolist(), strict=True)
            registers[int(affine.dst[row])] = sum((c * registers[s] for c, s in sources), np.zeros_like(start))
        elif op == Op.RECORD:
            models.append(registers[int(tape.record.src[row])])
        else:
            client, x = int(descend.client[row]), registers[int(descend.src[row])]
            for size, draw in zip(sizes(tape, row), all_draws(tape, [row]), strict=True):
                sign = signs[:, place[draw], None] if draw in place else 0.0
                x = x - size * (clients.gradient(client, x) + sign * clients.loudness(x))
            registers[int(descend.dst[row])] = x
    return np.array(models)


def some(draws: Sequence[Draw], most: int, seed: int) -> list[Draw]:
    """Return at most that many of them, drawn at random: the rest of the run is then without noise."""
    rng = np.random.default_rng(seed)
    return [draws[j] for j in sorted(rng.permutation(len(draws))[:most].tolist())]
