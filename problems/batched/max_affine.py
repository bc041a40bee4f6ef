"""Maxima of affine functions on tensors."""

from typing import final

import torch

from boundlab.objective import Array
from boundlab.problems.batched.noise import AdditiveNoise


@final
class BatchedMaxAffine(AdditiveNoise):
    """f_i(x) = max_j (a_ij·x + b_ij); of several highest pieces the first gives the slope."""

    def __init__(
        self, a: Array, b: Array, sigma: float, vector: Array | None, device: torch.device, dtype: torch.dtype
    ) -> None:
        super().__init__(a.shape[2], sigma, vector, device, dtype)
        self.a = torch.as_tensor(a, device=device, dtype=dtype)
        self.b = torch.as_tensor(b, device=device, dtype=dtype)

    def gradients(self, X: torch.Tensor, clients: torch.Tensor) -> torch.Tensor:
        """Return the slopes of the first pieces that attain the maxima."""
        heights = torch.bmm(self.a.index_select(0, clients), X.unsqueeze(2)).squeeze(2)
        heights += self.b.index_select(0, clients)
        n, m, d = self.a.shape
        return self.a.reshape(n * m, d).index_select(0, clients * m + heights.argmax(dim=1))

    def values(self, X: torch.Tensor) -> torch.Tensor:
        """Return f at each row."""
        return self._heights(X).amax(dim=2).mean(dim=1)

    def full_gradients(self, X: torch.Tensor) -> torch.Tensor:
        """Return the mean of the clients' slopes at each row."""
        pieces = self._heights(X).argmax(dim=2)
        clients = torch.arange(len(self.a), device=X.device)
        return self.a.to(torch.float64)[clients, pieces].mean(dim=1)

    def _heights(self, X: torch.Tensor) -> torch.Tensor:
        """Return all pieces of all clients at each row, shape (A, n, m)."""
        return torch.einsum("nmd,ad->anm", self.a.to(torch.float64), X.to(torch.float64)) + self.b.to(torch.float64)
