"""Problems around another one, and f + h, on tensors."""

from typing import final

import torch

from boundlab.arithmetic.tensors import TENSORS, Batched
from boundlab.objective.simple import ProxFunction
from boundlab.randomness import Ints


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
