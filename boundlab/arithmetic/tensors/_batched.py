"""A problem on tensors: the gradients of many tapes at once."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from boundlab.errors import AssumptionError

Ints = NDArray[np.int64]


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
        raise AssumptionError("on tensors this problem has no proximal step; use --backend numpy")

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
