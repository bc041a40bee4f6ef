"""How long two executors stay together: where gradients jump, rounding can put them on different sides of a kink."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import torch

from boundlab.arithmetic.tensors import Batched
from boundlab.execute import floats, lockstep
from boundlab.execute.packing import pack
from boundlab.objective import Array, Oracle, Problem
from boundlab.randomness import Floats, Ints, Streams
from boundlab.tape import Tape

_APART = 1e-6  # of the larger slope, beyond which two slopes are of different pieces and not one slope rounded


@final
@dataclass(frozen=True, slots=True)
class Agreement:
    """One tape on tensors and in NumPy, in double precision.

    Parameters
    ----------
    steps
        Local steps of the tape.
    parted
        The first local step whose slope the two took from different pieces, None where there is none.
    difference
        Largest distance of the points from which steps were made up to there, over the largest coordinate (1 at least).
    """

    steps: int
    parted: int | None
    difference: float

    @property
    def words(self) -> str:
        """Text that is printed."""
        if self.parted is None:
            return f"all {self.steps} slopes from the same pieces, off by {self.difference:.1e}"
        return f"slope {self.parted + 1} of {self.steps} is the first from another piece, off by {self.difference:.1e}"


def agreement(
    tapes: Sequence[Tape], problem: Problem, batched: Batched, seed: int, device: torch.device
) -> list[Agreement]:
    """Run tapes with both executors and compare the steps that they take.

    Parameters
    ----------
    batched
        The problem on the device, in double precision. Tape j draws the numbers of ``Streams(seed, j)``.
    """
    x0, found = np.asarray(problem.x0, dtype=np.float64), []
    for trial, tape in enumerate(tapes):
        own, seen = _Written(problem.oracle(Streams(seed, trial))), _Seen(batched)
        floats.run(tape, x0, own, lambda *_: None)
        # Alone, for a batch of wide rows is done in parts.
        lockstep.run(pack([tape]), x0, seen, seed, [trial], lambda *_: None, device, torch.float64, fused=False)
        found.append(_compare(np.array(own.steps), np.concatenate(seen.steps, axis=1).swapaxes(0, 1)))
    return found


def _compare(here: Floats, there: Floats) -> Agreement:
    """Compare steps, shape (steps, 2, d): where each began and ended."""
    moved, other = here[:, 1] - here[:, 0], there[:, 1] - there[:, 0]
    size = np.maximum(np.abs(moved), np.abs(other)).max(axis=1, initial=0.0)
    scale = max(1.0, float(np.abs(here[np.isfinite(here)]).max(initial=0.0)))
    apart = np.flatnonzero(
        np.abs(moved - other).max(axis=1, initial=0.0) > _APART * size + 64 * np.finfo(float).eps * scale
    )
    parted = int(apart[0]) if len(apart) else None
    until = len(here) if parted is None else parted + 1
    away = np.abs(here[:until, 0] - there[:until, 0])
    return Agreement(len(here), parted, float(away.max(initial=0.0)) / scale)


@final
class _Written(Oracle):
    """An oracle that keeps where each step began and ended."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self.steps: list[tuple[Array, Array]] = []

    def draws(self, clients: Ints, updates: Ints, steps: int) -> Any:
        """Return the numbers of the oracle."""
        return self._oracle.draws(clients, updates, steps)

    def draw_size(self, steps: int) -> int:
        """Return what the oracle says."""
        return self._oracle.draw_size(steps)

    def step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do a step."""
        before = x.copy()
        self._oracle.step(x, client, draw, step_size)
        self.steps.append((before, x.copy()))

    def implicit_step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do a proximal step."""
        before = x.copy()
        self._oracle.implicit_step(x, client, draw, step_size)
        self.steps.append((before, x.copy()))


@final
class _Seen(Batched):
    """A problem on tensors that keeps where each step began and ended, shape (2, 1, d)."""

    def __init__(self, batched: Batched) -> None:
        self._batched = batched
        self.steps: list[Floats] = []

    def draw_size(self, steps: int) -> int:
        """Return what the problem says."""
        return self._batched.draw_size(steps)

    def draws(
        self, seed: int, trials: torch.Tensor, clients: torch.Tensor, updates: torch.Tensor, steps: Ints
    ) -> torch.Tensor:
        """Return the problem's numbers."""
        return self._batched.draws(seed, trials, clients, updates, steps)

    def step(self, X: torch.Tensor, clients: torch.Tensor, draw: torch.Tensor, sizes: torch.Tensor) -> None:
        """Do a step in each row."""
        before = X.clone()
        self._batched.step(X, clients, draw, sizes)
        self.steps.append(torch.stack((before, X)).cpu().numpy())

    def implicit_step(self, X: torch.Tensor, clients: torch.Tensor, draw: torch.Tensor, sizes: torch.Tensor) -> None:
        """Do a proximal step in each row."""
        before = X.clone()
        self._batched.implicit_step(X, clients, draw, sizes)
        self.steps.append(torch.stack((before, X)).cpu().numpy())

    def values(self, X: torch.Tensor) -> torch.Tensor:
        """Return f at each row."""
        return self._batched.values(X)

    def full_gradients(self, X: torch.Tensor) -> torch.Tensor:
        """Return a (sub)gradient of f at each row."""
        return self._batched.full_gradients(X)
