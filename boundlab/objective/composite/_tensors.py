"""A composite objective on tensors."""

from typing import final

import torch

from boundlab.arithmetic.tensors import Batched, Ints
from boundlab.objective.composite._refuse import no_gradient, no_proximal_step
from boundlab.objective.simple import Simple


@final
class BatchedComposite(Batched):
    """The clients' batched steps, each followed by the proximal map of h.

    A kernel that does local steps by itself knows no h, so that this problem offers it none
    (:meth:`boundlab.arithmetic.tensors.Batched.coordinatewise`).
    """

    def __init__(self, clients: Batched, h: Simple, who: str) -> None:
        self.clients, self.h, self.who, self.how, self.held = clients, h, who, clients.how, clients.held

    def draw_size(self, steps: int) -> int:
        """Return what the clients' problem says."""
        return self.clients.draw_size(steps)

    def draws(
        self, seed: int, trials: torch.Tensor, clients: torch.Tensor, updates: torch.Tensor, steps: Ints
    ) -> torch.Tensor:
        """Return the random numbers of the clients' problem."""
        return self.clients.draws(seed, trials, clients, updates, steps)

    def step(self, X: torch.Tensor, clients: torch.Tensor, draw: torch.Tensor, sizes: torch.Tensor) -> None:
        """Do x ← prox_{size·h}(x − size·g_client(x)) in each row, in place."""
        self.clients.step(X, clients, draw, sizes)
        self.h.batched_prox(X, sizes)

    def implicit_step(self, X: torch.Tensor, clients: torch.Tensor, draw: torch.Tensor, sizes: torch.Tensor) -> None:
        """Refuse: the proximal map of f_client + h has no closed form."""
        no_proximal_step(self.who, self.h)

    def values(self, X: torch.Tensor) -> torch.Tensor:
        """Return F at each row."""
        return self.clients.values(X) + self.h.batched_values(X)

    def full_gradients(self, X: torch.Tensor) -> torch.Tensor:
        """Refuse: F has no gradient."""
        no_gradient(self.who, self.h)
