"""Huber, pseudo-Huber and least absolute deviations on tensors."""

from typing import final

import torch

from boundlab.arithmetic.tensors import Coordinatewise
from boundlab.objective import Array
from boundlab.problems.batched.noise import AdditiveNoise
from boundlab.problems.batched.scalar import TENSORS
from boundlab.problems.scalar import Kind, loss_of

_ENTRIES = 1 << 24  # of a temporary


@final
class BatchedSeparable(AdditiveNoise):
    """f_i(x) = Σ_j w_ij·φ(x_j − c_ij)."""

    def __init__(
        self,
        kind: Kind,
        c: Array,
        w: Array,
        delta: float,
        sigma: float,
        vector: Array | None,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        super().__init__(c.shape[1], sigma, vector, device, dtype)
        self.kind, self.delta, self.loss = kind, delta, loss_of(kind, delta)
        self.c = torch.as_tensor(c, device=device, dtype=dtype)
        self.w = torch.as_tensor(w, device=device, dtype=dtype)

    def gradients(self, X: torch.Tensor, clients: torch.Tensor) -> torch.Tensor:
        """Return w_i·φ'(x − c_i)."""
        slope: torch.Tensor = self.loss.slope(X - self.c.index_select(0, clients), TENSORS)
        return slope.mul_(self.w.index_select(0, clients))

    def prox(self, X: torch.Tensor, clients: torch.Tensor, sizes: torch.Tensor) -> torch.Tensor:
        """Return the proximal points of lad and huber; pseudo-huber has none in closed form."""
        if self.kind == "pseudo-huber":
            return super().prox(X, clients, sizes)
        c, a = self.c.index_select(0, clients), self.w.index_select(0, clients) * sizes[:, None]
        out: torch.Tensor = self.loss.prox(X - c, a, TENSORS)
        return out + c

    def in_kernel(self) -> Coordinatewise | None:
        """Return w, c and delta, where there is no noise."""
        if self.sigma > 0.0:
            return None
        return Coordinatewise(self.kind, self.w, self.c, torch.full_like(self.c[0, :1], self.delta))

    def _over_clients(self, X: torch.Tensor, out: torch.Tensor, what: str) -> torch.Tensor:
        """Add up values or slopes over the clients, a few at a time."""
        n, d = self.c.shape
        few = max(1, _ENTRIES // (len(X) * d))
        wide = X.to(torch.float64)
        for first in range(0, n, few):
            c, w = (part[first : first + few].to(torch.float64) for part in (self.c, self.w))
            away = wide.unsqueeze(1) - c
            if what == "value":
                out += (self.loss.value(away, TENSORS) * w).sum(dim=(1, 2))
            else:
                out += (self.loss.slope(away, TENSORS) * w).sum(dim=1)
        return out / n

    def values(self, X: torch.Tensor) -> torch.Tensor:
        """Return f at each row."""
        return self._over_clients(X, torch.zeros(len(X), dtype=torch.float64, device=X.device), "value")

    def full_gradients(self, X: torch.Tensor) -> torch.Tensor:
        """Return a (sub)gradient of f at each row."""
        return self._over_clients(X, torch.zeros(X.shape, dtype=torch.float64, device=X.device), "slope")
