"""Problems around another one, on tensors."""

import torch

from boundlab.arithmetic.tensors import Batched, Ints


class WrappedBatched(Batched):
    """As :class:`boundlab.objective.Wrapped`, on tensors.

    A kernel that does local steps by itself knows none of the objective, so that these problems offer it none
    (:meth:`boundlab.arithmetic.tensors.Batched.in_kernel`).
    """

    def __init__(self, clients: Batched) -> None:
        self.clients, self.how, self.held = clients, clients.how, clients.held

    def draw_size(self, steps: int) -> int:
        """Return what the clients' problem says."""
        return self.clients.draw_size(steps)

    def draws(
        self, seed: int, trials: torch.Tensor, clients: torch.Tensor, updates: torch.Tensor, steps: Ints
    ) -> torch.Tensor:
        """Return the random numbers of the clients' problem."""
        return self.clients.draws(seed, trials, clients, updates, steps)

    def step(self, X: torch.Tensor, clients: torch.Tensor, draw: torch.Tensor, sizes: torch.Tensor) -> None:
        """Do one step of the clients in each row, in place."""
        self.clients.step(X, clients, draw, sizes)

    def implicit_step(self, X: torch.Tensor, clients: torch.Tensor, draw: torch.Tensor, sizes: torch.Tensor) -> None:
        """Do one proximal step of the clients in each row, in place."""
        self.clients.implicit_step(X, clients, draw, sizes)
