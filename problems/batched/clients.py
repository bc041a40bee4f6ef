"""Functions on tensors, with additive noise."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, final

import torch

from boundlab.arithmetic.numbers import Operations
from boundlab.arithmetic.tensors import Batched, Coordinatewise, Ints, normals, tensors, uniforms
from boundlab.errors import AssumptionError
from boundlab.objective import NO_NOISY_PROX, Array
from boundlab.problems.clients import ClientFunctions, Coordinates
from boundlab.randomness import Stream

_GATHERED = 1 << 22  # numbers of clients' data that are gathered, one client a tape; beyond, tapes go client by client


@final
class BatchedClients(Batched):
    """Exact (sub)gradients plus N(0, sigma²/d·I), or plus or minus one vector.

    Parameters
    ----------
    functions
        Gives the clients' functions in an arithmetic.
    d
        Dimension.
    sigma
        E‖noise‖² = sigma², unit (1, −1).
    vector
        Shape (d,): what is added with either sign, each with probability ½; None: the noise is Gaussian.
    device, dtype
        Where registers live, and their type.
    """

    def __init__(
        self,
        functions: Callable[[Operations], ClientFunctions],
        d: int,
        sigma: float,
        vector: Array | None,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        self.d, self.sigma, self.dtype, self._functions, self._device = d, sigma, dtype, functions, device
        self.clients = functions(tensors(device, dtype))
        self.held = self.clients.held
        self.vector = None if vector is None else torch.as_tensor(vector, device=device, dtype=dtype)
        self._each = 0 if sigma == 0.0 else d if vector is None else 1  # random numbers of a step

    @cached_property
    def _wide(self) -> ClientFunctions:
        """The functions in float64: what metrics see."""
        return self._functions(tensors(self._device, torch.float64))

    def gradients(self, X: torch.Tensor, clients: torch.Tensor) -> torch.Tensor:
        """Return the (sub)gradient of f_client at each row, shape (A, d), unit (1, −1); a new tensor."""
        if len(clients) * self.held <= max(_GATHERED, X.numel()):
            found: torch.Tensor = self.clients.gradient(clients, X)
            return found
        out = torch.empty_like(X)
        for client in torch.unique(clients).tolist():
            rows = torch.nonzero(clients == client).squeeze(1)
            out.index_copy_(0, rows, self.clients.gradient(client, X.index_select(0, rows)))
        return out

    def values(self, X: torch.Tensor) -> torch.Tensor:
        """Return f at each row."""
        return torch.as_tensor(self._wide.value(X.to(torch.float64)))

    def full_gradients(self, X: torch.Tensor) -> torch.Tensor:
        """Return a (sub)gradient of f at each row."""
        return torch.as_tensor(self._wide.full_gradient(X.to(torch.float64)))

    def in_kernel(self) -> Coordinatewise | None:
        """Return w, c and delta of separable functions, where there is no noise."""
        of = self.clients
        if self.sigma > 0.0 or not isinstance(of, Coordinates):
            return None
        width: Any = 1.0 if of.loss.width is None else of.loss.width
        return Coordinatewise(of.loss.number, of.w, of.c, torch.full_like(of.c[0, :1], width))

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
        X.copy_(self.clients.prox(clients, X, sizes.unsqueeze(1)))
