"""Problems on tensors: steps of many tapes at a time, by functions of clients or as two batched products of risks."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, final

import numpy as np
import torch

from boundlab.arithmetic.numbers import Operations
from boundlab.arithmetic.tensors import TENSORS, Batched, Coordinatewise, Gathered, normals, tensors, uniforms
from boundlab.errors import AssumptionError
from boundlab.objective import NO_NOISY_PROX, Array
from boundlab.problems.clients import ClientFunctions, Coordinates, scalar_slopes, scalar_values
from boundlab.randomness import Ints, Stream

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
            out: torch.Tensor = self.clients.gradient(clients, X)
            return out
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


_ENTRIES = 1 << 24  # of the features that are gathered at a time, and of margins
_ROWS = 4096  # samples of a chunk where f itself is evaluated


@final
class BatchedRisk(Batched):
    """f̂_i(x) = w_i·((1/s_i)Σ_j v_j·loss_j + ν/2·‖x‖²)."""

    def __init__(self, of: Any, device: torch.device, dtype: torch.dtype) -> None:
        """Take a :class:`boundlab.problems.linear_model.LinearModel`."""
        self.loss, self.classes, self.batch, self.free = of.loss, of.classes, of.batch, of.free
        self.replacement, sizes, relative = of.replacement, of.sizes, of.relative
        self.X, self.y = torch.as_tensor(of.X, device=device).to(dtype), torch.as_tensor(of.y, device=device)
        self.relative = None if relative is None else torch.as_tensor(relative, device=device).to(dtype)
        hot = torch.nn.functional.one_hot(self.y.long(), self.classes) if self.loss.id == "softmax" else self.y
        self.targets = hot.to(dtype)
        self.offsets, self.sizes = (torch.as_tensor(one, device=device) for one in (of.offsets, sizes))
        self.factors = torch.as_tensor(of.factors, device=device, dtype=dtype)
        self.largest = int(sizes.max())
        self.held = (self.batch or self.largest) * self.X.shape[1]
        wide = of.total.omega, of.ridge, of.total.ridge
        self.omega, nu, self.total_nu = (torch.as_tensor(one, device=device, dtype=torch.float64) for one in wide)
        self.nu, self.bent = nu.to(dtype), bool(np.any(of.ridge))

    def draw_size(self, steps: int) -> int:
        """Return steps·b."""
        return steps * int(self.batch)

    def draws(
        self, seed: int, trials: torch.Tensor, clients: torch.Tensor, updates: torch.Tensor, steps: Ints
    ) -> torch.Tensor:
        """Return row numbers, shape (T, R, most steps, b); −1 where a client has fewer than b samples to draw."""
        b, most = self.batch, int(steps.max(initial=1))
        if b == 0:
            return torch.empty((*clients.shape, most, 0), dtype=torch.int64, device=clients.device)
        uniform = uniforms(seed, trials, Stream.BATCH, clients, updates, most * b)
        sizes = self.sizes[clients][..., None]
        offsets = self.offsets[clients][..., None]
        if not self.replacement:
            return self._distinct(uniform.reshape(*clients.shape, most, b), sizes[..., None], offsets[..., None])
        rows = torch.minimum((uniform * sizes).long(), sizes - 1) + offsets
        return rows.reshape(*clients.shape, most, b)

    def _distinct(self, uniform: torch.Tensor, sizes: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
        """Draw uniform subsets by Floyd's algorithm, as :mod:`boundlab.problems.linear_model` does."""
        b = self.batch
        rows = torch.empty(uniform.shape, dtype=torch.int64, device=uniform.device)
        for k in range(b):
            last = (sizes - b + k).squeeze(-1)
            pick = torch.minimum((uniform[..., k] * (last + 1)).long(), last)
            seen = (rows[..., :k] == pick.unsqueeze(-1)).any(dim=-1)
            rows[..., k] = torch.where(seen, last, pick)
        every = torch.arange(b, device=uniform.device).expand(rows.shape)
        every = torch.where(every < sizes, every, -1 - offsets)
        return torch.where(sizes > b, rows, every) + offsets

    def in_kernel(self) -> Gathered | None:
        """Return the data, and how many samples a step takes; None where an intercept is free, or rows have weights."""
        if self.free or self.relative is not None:
            return None
        b, count = self.batch, self.sizes
        samples = count if b == 0 else count.clamp(max=b) if not self.replacement else torch.full_like(count, b)
        y, nu = self.y.to(self.X.dtype), self.nu.reshape(1)
        most = b or self.largest
        return Gathered(self.loss.id, self.classes, self.X, y, self.offsets, samples, self.factors, nu, b, most)

    def _parts(self, clients: torch.Tensor, draw: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Yield (row numbers, weights) a part of the samples at a time, shape (A, s) each; weights add up to 1."""
        if self.batch:
            if self.replacement:
                yield draw, torch.full(draw.shape, 1.0 / draw.shape[1], dtype=self.X.dtype, device=draw.device)
            else:
                inside = draw >= 0
                count = inside.sum(dim=1, keepdim=True)
                yield draw.clamp(min=0), inside.to(self.X.dtype) / count
            return
        sizes, offsets = self.sizes[clients].unsqueeze(1), self.offsets[clients].unsqueeze(1)
        few = max(1, _ENTRIES // (len(clients) * self.X.shape[1]))
        for first in range(0, self.largest, few):
            place = torch.arange(first, min(first + few, self.largest), device=clients.device).expand(len(clients), -1)
            inside = place < sizes
            yield torch.where(inside, place + offsets, 0), inside.to(self.X.dtype) / sizes

    def step(self, X: torch.Tensor, clients: torch.Tensor, draw: torch.Tensor, sizes: torch.Tensor) -> None:
        """Do one step in each row, in place."""
        A, p = len(X), self.X.shape[1]
        model = X.view(A, p, self.classes)
        factor = sizes * self.factors.index_select(0, clients)
        if self.batch:
            [(rows, weights)] = self._parts(clients, draw)
            features, slope = self._backward(model, rows, weights, factor)
            self._shrink(X, factor)
            model.baddbmm_(features.transpose(1, 2), slope)
            return
        change = torch.zeros_like(model)
        for rows, weights in self._parts(clients, draw):
            features, slope = self._backward(model, rows, weights, factor)
            change.baddbmm_(features.transpose(1, 2), slope)
        self._shrink(X, factor)
        X.add_(change.view(A, -1))

    def _backward(
        self, model: torch.Tensor, rows: torch.Tensor, weights: torch.Tensor, factor: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the features of samples, shape (A, s, p), and minus their weighted slopes, shape (A, s, classes)."""
        A, s = rows.shape
        features = self.X.index_select(0, rows.reshape(-1)).view(A, s, -1)
        target = self.targets.index_select(0, rows.reshape(-1)).view(A, s, -1)
        slope = self._slopes(torch.bmm(features, model), target)
        if self.relative is not None:
            weights = weights * self.relative[rows]
        return features, slope.mul_((weights * factor[:, None]).neg_().unsqueeze(2))

    def _shrink(self, X: torch.Tensor, factor: torch.Tensor) -> None:
        """Do what ν/2·‖x‖² does, in place."""
        if self.bent:
            X.mul_(1.0 - factor.unsqueeze(1) * self.nu)

    def _slopes(self, z: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Return the derivatives in z, 0 at a kink."""
        if self.loss.id == "softmax":
            return torch.softmax(z, dim=-1).sub_(y)
        out: torch.Tensor = scalar_slopes(self.loss, z, y, TENSORS)
        return out

    def _chunks(self, points: int) -> Iterator[tuple[slice, torch.Tensor]]:
        """Yield samples, some at a time, in float64: as many as their margins at so many points leave."""
        rows = max(1, min(_ROWS, _ENTRIES // max(1, points * self.classes)))
        for first in range(0, len(self.X), rows):
            part = slice(first, min(first + rows, len(self.X)))
            yield part, self.X[part].to(torch.float64)

    def values(self, X: torch.Tensor) -> torch.Tensor:
        """Return f at each row, in float64."""
        wide = X.to(torch.float64)
        total = 0.5 * (self.total_nu * wide * wide).sum(dim=1)
        for part, features in self._chunks(len(X)):
            z = self._margins(features, wide)
            total += torch.einsum("s,sa->a", self.omega[part], self._losses(z, part))
        return total

    def full_gradients(self, X: torch.Tensor) -> torch.Tensor:
        """Return a (sub)gradient of f at each row."""
        wide = X.to(torch.float64)
        total = self.total_nu * wide
        for part, features in self._chunks(len(X)):
            target = self.targets[part].to(torch.float64).view(len(features), 1, -1)
            slope = self._slopes(self._margins(features, wide), target).mul_(self.omega[part, None, None])
            total += (features.T @ slope.flatten(1)).view(-1, len(X), self.classes).transpose(0, 1).reshape(len(X), -1)
        return total

    def _margins(self, features: torch.Tensor, X: torch.Tensor) -> torch.Tensor:
        """Return features·x, shape (samples, A, classes)."""
        A, p = len(X), features.shape[1]
        flat = X.view(A, p, self.classes).transpose(0, 1).reshape(p, -1)
        return (features @ flat).view(-1, A, self.classes)

    def _losses(self, z: torch.Tensor, part: slice) -> torch.Tensor:
        """Return the losses, shape (samples, A)."""
        if self.loss.id == "softmax":
            label = self.y[part].long().view(-1, 1, 1).expand(-1, z.shape[1], 1)
            return torch.logsumexp(z, dim=2) - z.gather(2, label).squeeze(2)
        y = self.targets[part].to(torch.float64).view(len(z), -1)
        out: torch.Tensor = scalar_values(self.loss, z.squeeze(2), y, TENSORS)
        return out
