"""Problems around another one, on tensors."""

import torch

from boundlab.arithmetic.tensors import Batched, Ints


class WrappedBatched(Batched):
    """As :class:`boundlab.objective.Wrapped`, on tensors: local steps of one problem, values of its own or of another.

    A kernel that does local steps by itself knows none of the objective, so that these problems offer it none
    (:meth:`boundlab.arithmetic.tensors.Batched.in_kernel`).
    """

    def __init__(self, clients: Batched, objective: Batched) -> None:
        self.clients, self.objective, self.how, self.held = clients, objective, clients.how, clients.held

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

    def values(self, X: torch.Tensor) -> torch.Tensor:
        """Return the objective at each row."""
        return self.objective.values(X)

    def full_gradients(self, X: torch.Tensor) -> torch.Tensor:
        """Return a (sub)gradient of the objective at each row."""
        return self.objective.full_gradients(X)
