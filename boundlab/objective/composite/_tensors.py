"""A composite objective on tensors."""

from typing import final

import torch

from boundlab.arithmetic.tensors import TENSORS, Batched
from boundlab.objective._wrapped_tensors import WrappedBatched
from boundlab.objective.simple import ProxFunction


@final
class BatchedComposite(WrappedBatched):
    """The clients' batched steps, each followed by the proximal map of h."""

    def __init__(self, clients: Batched, h: ProxFunction, who: str) -> None:
        super().__init__(clients, clients)
        self.h, self.who = h, who

    def step(self, X: torch.Tensor, clients: torch.Tensor, draw: torch.Tensor, sizes: torch.Tensor) -> None:
        """Do x ← prox_{size·h}(x − size·g_client(x)) in each row, in place."""
        self.clients.step(X, clients, draw, sizes)
        X.copy_(self.h.prox(X, sizes.unsqueeze(1), TENSORS))

    def implicit_step(self, X: torch.Tensor, clients: torch.Tensor, draw: torch.Tensor, sizes: torch.Tensor) -> None:
        """Refuse: the proximal map of f_client + h has no closed form."""
        self.h.no_proximal_step(self.who)

    def values(self, X: torch.Tensor) -> torch.Tensor:
        """Return F at each row."""
        return self.clients.values(X).add(self.h.values(X, TENSORS))

    def full_gradients(self, X: torch.Tensor) -> torch.Tensor:
        """Refuse: F has no gradient."""
        self.h.no_gradient(self.who)
