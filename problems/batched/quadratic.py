"""Quadratics on tensors."""

from typing import final

import torch

from boundlab.objective import Array, QuadraticForm
from boundlab.problems.batched.noise import AdditiveNoise

_GATHERED = 1 << 22  # entries of matrices that are gathered, one a tape; beyond it tapes are grouped by client


@final
class BatchedQuadratic(AdditiveNoise):
    """f_i(x) = ½(x − b_i)ᵀA_i(x − b_i)."""

    def __init__(self, form: QuadraticForm, vector: Array | None, device: torch.device, dtype: torch.dtype) -> None:
        super().__init__(form.b.shape[1], form.sigma, vector, device, dtype)
        self.A = torch.as_tensor(form.A, device=device, dtype=dtype)
        self.b = torch.as_tensor(form.b, device=device, dtype=dtype)
        self.held = self.d * self.d
        self._wide = (
            torch.as_tensor(form.A, device=device, dtype=torch.float64),
            torch.as_tensor(form.b, device=device, dtype=torch.float64),
        )
        self._mean = self._wide[0].mean(dim=0)
        self._right = torch.einsum("nde,ne->d", *self._wide) / len(form.A)

    def gradients(self, X: torch.Tensor, clients: torch.Tensor) -> torch.Tensor:
        """Return A_i(x − b_i)."""
        away = X - self.b.index_select(0, clients)
        if len(clients) * self.d * self.d <= _GATHERED:
            return torch.bmm(self.A.index_select(0, clients), away.unsqueeze(2)).squeeze(2)
        out = torch.empty_like(away)
        for client in torch.unique(clients).tolist():
            rows = torch.nonzero(clients == client).squeeze(1)
            out.index_copy_(0, rows, away.index_select(0, rows) @ self.A[client])
        return out

    def prox(self, X: torch.Tensor, clients: torch.Tensor, sizes: torch.Tensor) -> torch.Tensor:
        """Return b_i + (I + step_size·A_i)⁻¹(x − b_i)."""
        b = self.b.index_select(0, clients)
        matrix = self.A.index_select(0, clients) * sizes[:, None, None]
        matrix += torch.eye(self.d, dtype=self.dtype, device=X.device)
        away: torch.Tensor = torch.linalg.solve(matrix, (X - b).unsqueeze(2))
        return b + away.squeeze(2)

    def values(self, X: torch.Tensor) -> torch.Tensor:
        """Return f at each row."""
        A, b = self._wide
        away = X.to(torch.float64).unsqueeze(1) - b
        return 0.5 * torch.einsum("and,nde,ane->a", away, A, away) / len(A)

    def full_gradients(self, X: torch.Tensor) -> torch.Tensor:
        """Return mean(A_i)·x − mean(A_i·b_i)."""
        return X.to(torch.float64) @ self._mean.T - self._right
