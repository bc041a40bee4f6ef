"""A problem on tensors: the gradients of many tapes at once."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import torch

from boundlab.arithmetic.numbers import Operations
from boundlab.errors import AssumptionError
from boundlab.randomness import CLIENT_BITS, PHILOX_MULTIPLIERS, PHILOX_WEYL, Ints, Stream

# The arithmetic of tensors.

TENSORS: Final = Operations(
    absolute=torch.abs,
    exp=torch.exp,
    sign=torch.Tensor.sign_,
    clip=lambda r, low, high: r.clamp_(low, high),
    minimum=lambda r, most: r.clamp(max=most),
    positive=lambda r: r.clamp(min=0.0),
    shrink=lambda r, by: r - r.clamp(-by, by),
    below=lambda r, bound: (r < bound).to(r.dtype),
    within=lambda r, width: r.abs() <= width,
    where=torch.where,
    slant=lambda t: torch.hypot(torch.ones_like(t), t),
    log_exp=lambda r: torch.logaddexp(torch.zeros_like(r), r),
    falling=lambda r: r.mul_(0.5).tanh_().sub_(1.0).mul_(0.5),
    columns=lambda pairs: pairs.split(1, dim=-1),
    first=lambda rows: rows.argmax(dim=-1),
    solve=lambda A, b: torch.linalg.solve(A, b.unsqueeze(-1)).squeeze(-1),
    linear=lambda A: lambda x: x @ A.T,
    project=lambda x, radius: x * (radius / x.norm(dim=-1, keepdim=True).clamp(min=radius)),
    zero_at=lambda square, size: torch.where(square <= torch.finfo(square.dtype).eps * size**2, 0.0, torch.inf),
    number=float,
    array=torch.as_tensor,
    places=torch.as_tensor,
    wide=torch.float64,
    together=1 << 24,
)


def tensors(device: torch.device, dtype: torch.dtype) -> Operations:
    """Return the arithmetic of tensors of a type on a device."""

    def array(data: Any) -> torch.Tensor:
        return torch.as_tensor(data, device=device, dtype=dtype)

    return replace(TENSORS, array=array, places=lambda data: torch.as_tensor(data, device=device))


class Batched(ABC):
    """The clients of a problem on a device: one batch of local steps for A tapes at a time.

    Registers of A tapes are the rows of X, shape (A, d). Random numbers are those of ``Streams(seed, trial)``, one
    trial a tape.

    Parameters
    ----------
    how
        How gradients are computed, in a few words: ``batched``, or what is done in a loop.
    held
        How many numbers a step holds at a time for one tape, where they are more than d.
    """

    how: str = "batched"
    held: int = 0

    @abstractmethod
    def draw_size(self, steps: int) -> int:
        """Return how many numbers one update of so many local steps takes."""

    @abstractmethod
    def draws(
        self, seed: int, trials: torch.Tensor, clients: torch.Tensor, updates: torch.Tensor, steps: Ints
    ) -> torch.Tensor:
        """Return the random numbers of updates.

        Parameters
        ----------
        trials
            Shape (R,).
        clients, updates, steps
            Shape (T, R): which client, which of its updates, and how many local steps; 0 where there is none.

        Returns
        -------
        Tensor, shape (T, R, most steps, …)
        """

    @abstractmethod
    def step(self, X: torch.Tensor, clients: torch.Tensor, draw: torch.Tensor, sizes: torch.Tensor) -> None:
        """Do x ← x − size·g_client(x) in each row, in place.

        Parameters
        ----------
        X
            Shape (A, d), contiguous.
        clients, sizes
            Shape (A,).
        draw
            Shape (A, …): the numbers of one local step.
        """

    def implicit_step(self, X: torch.Tensor, clients: torch.Tensor, draw: torch.Tensor, sizes: torch.Tensor) -> None:
        """Do x ← prox_{size·f_client}(x) in each row, in place.

        Raises
        ------
        AssumptionError
            If there is no closed form, or gradients are noisy.
        """
        raise AssumptionError("on tensors this problem has no proximal step; use backend numpy")

    def in_kernel(self) -> "Coordinatewise | Gathered | None":
        """Return what a kernel needs to do local steps by itself; None: there is none for such gradients."""
        return None

    @abstractmethod
    def values(self, X: torch.Tensor) -> torch.Tensor:
        """Return f at each row of X, shape (A,), float64."""

    @abstractmethod
    def full_gradients(self, X: torch.Tensor) -> torch.Tensor:
        """Return a (sub)gradient of f at each row of X, shape (A, d), float64."""


@dataclass(frozen=True, slots=True)
class Coordinatewise:
    """A problem whose full gradients work coordinate by coordinate: w_i·φ'(x − c_i).

    Parameters
    ----------
    kind
        Which φ: HUBER, ABSOLUTE or PSEUDO_HUBER of :mod:`boundlab.arithmetic.compiled`.
    w, c
        Shape (n, d), of the registers' type.
    delta
        Shape (1,), of the registers' type: where φ turns linear. A number of Python's would reach a kernel as float32.
    """

    kind: int
    w: torch.Tensor
    c: torch.Tensor
    delta: torch.Tensor


@dataclass(frozen=True, slots=True)
class Gathered:
    """A problem whose gradients are w_i·((1/s)·Σ_j slope(⟨a_j, x⟩, y_j)·a_j + ν·x), over s samples of client i.

    Parameters
    ----------
    loss, classes
        Of which loss the slope is: ``logistic``, ``least-squares`` or ``softmax``; x is a matrix of so many columns.
    X, y
        Shapes (S, p) and (S,), of the registers' type; labels are −1 and 1, of softmax the number of the class.
    offsets, samples
        Shape (n,), int64: the first row of each client, and s.
    factors, nu
        Shapes (n,) and (1,), of the registers' type: w_i and ν.
    batch, most
        Row numbers that :meth:`Batched.draws` returns for a step, the first s of which count; 0: a step takes the s
        rows from the first on. And the largest s.
    """

    loss: str
    classes: int
    X: torch.Tensor
    y: torch.Tensor
    offsets: torch.Tensor
    samples: torch.Tensor
    factors: torch.Tensor
    nu: torch.Tensor
    batch: int
    most: int


# The counter-based random numbers of :mod:`boundlab.randomness` on a device: the same uniform numbers to the last bit.
#
# Words of 32 bits stand in int64, for torch has no arithmetic of unsigned ones: products wrap around, and all bits that
# are kept come out right.

_MASK = 0xFFFFFFFF
_HALF = 2.0**-52


def philox4x32(counter: tuple[torch.Tensor, ...], key: tuple[int, int], rounds: int = 10) -> tuple[torch.Tensor, ...]:
    """Apply the bijection to tensors of 32-bit words; see :func:`boundlab.randomness.philox4x32`."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    m0, m1 = PHILOX_MULTIPLIERS
    for _ in range(rounds):
        p0, p1 = c0 * m0, c2 * m1
        c0, c1, c2, c3 = ((p1 >> 32) & _MASK) ^ c1 ^ k0, p1 & _MASK, ((p0 >> 32) & _MASK) ^ c3 ^ k1, p0 & _MASK
        k0, k1 = (k0 + PHILOX_WEYL[0]) & _MASK, (k1 + PHILOX_WEYL[1]) & _MASK
    return c0, c1, c2, c3


def uniforms(
    seed: int, trials: torch.Tensor, stream: Stream, clients: torch.Tensor, updates: torch.Tensor, count: int
) -> torch.Tensor:
    """Return uniform numbers in (0, 1), float64.

    Parameters
    ----------
    trials, clients, updates
        int64, of shapes that broadcast to one; trial t uses the key of ``Streams(seed, t)``.
    count
        How many numbers for each.

    Returns
    -------
    Tensor, shape (…, count)
    """
    blocks = -(-count // 2)
    one = np.broadcast_shapes(trials.shape, clients.shape, updates.shape)
    shape = (*one, blocks)
    block = torch.arange(blocks, device=clients.device).expand(shape)
    tagged = clients | (int(stream) << CLIENT_BITS)
    counter = (block, *(part.expand(one).unsqueeze(-1).expand(shape) for part in (updates, tagged, trials)))
    words = philox4x32(counter, (seed & _MASK, seed >> 32))
    # 52 bits of the 64: the upper word, and the upper 20 of the lower.
    pair = [((words[2 * half] << 20) | (words[2 * half + 1] >> 12)).to(torch.float64) for half in (0, 1)]
    out = torch.stack(pair, dim=-1).add_(0.5).mul_(_HALF)
    return out.reshape(*one, 2 * blocks)[..., :count]


def normals(
    seed: int, trials: torch.Tensor, stream: Stream, clients: torch.Tensor, updates: torch.Tensor, count: int
) -> torch.Tensor:
    """Return standard normal numbers, by inversion; shapes as :func:`uniforms`, the same up to rounding."""
    return torch.as_tensor(torch.special.ndtri(uniforms(seed, trials, stream, clients, updates, count)))
