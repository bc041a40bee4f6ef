"""A problem that has nothing batched: its own oracles, one tape after the other."""

from typing import Any, final

import numpy as np
import torch

from boundlab.arithmetic.tensors import Batched, Ints
from boundlab.objective import Oracle, Problem
from boundlab.randomness import Streams


@final
class Loop(Batched):
    """The problem's own oracles on the host, one tape after the other.

    Parameters
    ----------
    problem
        Any problem.
    """

    how = "in a loop over the trials: this problem has no batched gradients"

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._oracles: dict[tuple[int, int], Oracle] = {}
        self._kept: dict[tuple[int, int], tuple[Any, Any]] = {}

    def draw_size(self, steps: int) -> int:
        """Return what the oracle says, 1 at least: the numbers stay with the oracles."""
        return max(1, self.problem.oracle(Streams(0)).draw_size(steps))

    def draws(
        self, seed: int, trials: torch.Tensor, clients: torch.Tensor, updates: torch.Tensor, steps: Ints
    ) -> torch.Tensor:
        """Return where the numbers are kept, shape (T, R, most steps, 3): tape, round and step."""
        who, when = clients.cpu().numpy(), updates.cpu().numpy()
        self._kept = {}
        for column, trial in enumerate(trials.tolist()):
            oracle = self._oracle(seed, trial)
            for count in np.unique(steps[:, column]).tolist():
                rows = np.flatnonzero(steps[:, column] == count)
                if count:
                    drawn = oracle.draws(who[rows, column], when[rows, column], count)
                    self._kept |= {(column, row): (oracle, drawn[place]) for place, row in enumerate(rows.tolist())}
        T, R = clients.shape
        grid = torch.meshgrid(torch.arange(T), torch.arange(R), torch.arange(int(steps.max(initial=1))), indexing="ij")
        return torch.stack((grid[1], grid[0], grid[2]), dim=-1)

    def _oracle(self, seed: int, trial: int) -> Oracle:
        if (seed, trial) not in self._oracles:
            self._oracles[seed, trial] = self.problem.oracle(Streams(seed, trial))
        return self._oracles[seed, trial]

    def step(self, X: torch.Tensor, clients: torch.Tensor, draw: torch.Tensor, sizes: torch.Tensor) -> None:
        """Do one step in each row, in place."""
        self._each(X, clients, draw, sizes, "step")

    def implicit_step(self, X: torch.Tensor, clients: torch.Tensor, draw: torch.Tensor, sizes: torch.Tensor) -> None:
        """Do one proximal step in each row, in place."""
        self._each(X, clients, draw, sizes, "implicit_step")

    def _each(self, X: torch.Tensor, clients: torch.Tensor, draw: torch.Tensor, sizes: torch.Tensor, what: str) -> None:
        host = X.cpu()
        rows = host.numpy()
        for row, client, size, (column, when, step) in zip(
            rows, clients.tolist(), sizes.tolist(), draw.tolist(), strict=True
        ):
            oracle, drawn = self._kept.get((column, when), (None, ()))
            if step < len(drawn):  # places that do nothing, and updates that have ended, are left as they are
                getattr(oracle, what)(row, client, drawn[step], size)
        if host is not X:
            X.copy_(host)

    def values(self, X: torch.Tensor) -> torch.Tensor:
        """Return f at each row."""
        return torch.as_tensor(self.problem.values(X.cpu().numpy()), device=X.device, dtype=torch.float64)

    def full_gradients(self, X: torch.Tensor) -> torch.Tensor:
        """Return a (sub)gradient of f at each row."""
        found = np.array([self.problem.full_gradient(x) for x in X.cpu().numpy()])
        return torch.as_tensor(found.reshape(X.shape), device=X.device, dtype=torch.float64)
