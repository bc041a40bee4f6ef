"""An objective with weights of its own, on tensors."""

from typing import final

import torch

from boundlab.arithmetic.tensors import Batched
from boundlab.objective._wrapped_tensors import WrappedBatched


@final
class BatchedWeighted(WrappedBatched):
    """F = Σ p_i f_i: local steps of one problem, values and gradients of another."""

    def __init__(self, clients: Batched, objective: Batched) -> None:
        super().__init__(clients)
        self.objective = objective

    def values(self, X: torch.Tensor) -> torch.Tensor:
        """Return F at each row."""
        return self.objective.values(X)

    def full_gradients(self, X: torch.Tensor) -> torch.Tensor:
        """Return a (sub)gradient of F at each row."""
        return self.objective.full_gradients(X)
