"""Additive noise on tensors."""

from abc import abstractmethod

import torch

from boundlab.arithmetic.tensors import Batched, Ints, normals, uniforms
from boundlab.errors import AssumptionError
from boundlab.objective import NO_NOISY_PROX, Array
from boundlab.randomness import Stream


class AdditiveNoise(Batched):
    """Exact (sub)gradients plus N(0, sigma²/d·I), or plus or minus one vector; a final class gives the gradients.

    Parameters
    ----------
    d
        Dimension.
    sigma
        E‖noise‖² = sigma², unit (1, −1).
    vector
        Shape (d,): what is added with either sign, each with probability ½; None: the noise is Gaussian.
    device, dtype
        Where registers live, and their type.
    """

    def __init__(self, d: int, sigma: float, vector: Array | None, device: torch.device, dtype: torch.dtype) -> None:
        self.d, self.sigma, self.dtype = d, sigma, dtype
        self.vector = None if vector is None else torch.as_tensor(vector, device=device, dtype=dtype)
        self._each = 0 if sigma == 0.0 else d if vector is None else 1  # random numbers of a step

    @abstractmethod
    def gradients(self, X: torch.Tensor, clients: torch.Tensor) -> torch.Tensor:
        """Return the (sub)gradient of f_client at each row, shape (A, d), unit (1, −1); a new tensor."""

    def prox(self, X: torch.Tensor, clients: torch.Tensor, sizes: torch.Tensor) -> torch.Tensor:
        """Return the proximal point of each row, shape (A, d), unit (0, 1).

        Raises
        ------
        AssumptionError
            If it has no closed form.
        """
        raise AssumptionError("on tensors this problem has no proximal step; use --backend numpy")

    def draw_size(self, steps: int) -> int:
        """Return steps·d, for noise of either sign steps, 0 without noise."""
        return steps * self._each

    def draws(
        self, seed: int, trials: torch.Tensor, clients: torch.Tensor, updates: torch.Tensor, steps: Ints
    ) -> torch.Tensor:
        """Return the noise vectors, shape (T, R, most steps, d), unit (1, −1); signs, (…, 1); (…, 0) without noise."""
        most = int(steps.max(initial=1))
        shape = (*clients.shape, most, self._each)
        if self.sigma == 0.0:
            return torch.empty(shape, dtype=self.dtype, device=clients.device)
        if self.vector is not None:
            uniform = uniforms(seed, trials, Stream.NOISE, clients, updates, most)
            return torch.where(uniform < 0.5, 1.0, -1.0).reshape(shape).to(self.dtype)
        normal = normals(seed, trials, Stream.NOISE, clients, updates, most * self.d)
        return normal.mul_(self.sigma / self.d**0.5).reshape(shape).to(self.dtype)

    def step(self, X: torch.Tensor, clients: torch.Tensor, draw: torch.Tensor, sizes: torch.Tensor) -> None:
        """Do one (noisy) step in each row, in place."""
        gradient = self.gradients(X, clients)
        if self.vector is not None:
            gradient = gradient.addcmul(draw, self.vector)
        elif self.sigma > 0.0:
            gradient += draw
        X.addcmul_(gradient, sizes.unsqueeze(1), value=-1.0)

    def implicit_step(self, X: torch.Tensor, clients: torch.Tensor, draw: torch.Tensor, sizes: torch.Tensor) -> None:
        """Do one exact proximal step in each row, in place.

        Raises
        ------
        AssumptionError
            If gradients are noisy, or there is no closed form.
        """
        if self.sigma > 0.0:
            raise AssumptionError(NO_NOISY_PROX)
        X.copy_(self.prox(X, clients, sizes))
