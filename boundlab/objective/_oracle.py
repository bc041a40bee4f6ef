"""Stochastic (sub)gradients of one trial."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from boundlab.errors import AssumptionError
from boundlab.objective._constants import Array

NO_INEXACT_PROX = "a relative error has no proximal step; error=[…], which is added, has one"
NO_NOISY_PROX = "a proximal step needs the function itself, not noisy gradients; set sigma=0, or batch=0"
# Of every problem, beside its own: see boundlab.objective.inexact.
ERROR_OPTION: Final[Mapping[str, str]] = MappingProxyType(
    {
        "error": "e added to each gradient: d numbers, one list of them a client, or one number for the first "
        "coordinate; relative:E adds E times the gradient, E a number or d rows of d numbers, or one a client"
    }
)


def error_at(gradient: Any, error: Any) -> Any:
    """Return what an error adds to gradients, in any arithmetic.

    Parameters
    ----------
    gradient
        Shape (d,) or (S, d).
    error
        Shape (d,): a vector that is added, whatever the gradient is. Shape (d, d): what multiplies it.
    """
    return gradient @ error.T if error.ndim == 2 else error


class Oracle(ABC):
    """Stochastic (sub)gradients of one trial. One instance belongs to one run."""

    @abstractmethod
    def draws(self, clients: NDArray[np.int64], updates: NDArray[np.int64], steps: int) -> Any:
        """Return the random numbers of B updates, indexable as ``draws[j][step]``.

        Parameters
        ----------
        clients, updates
            Shape (B,): which client, and which of its updates (counted from 0), each of so many local ``steps``.
        """

    @abstractmethod
    def draw_size(self, steps: int) -> int:
        """Return how many numbers one update takes, so that callers can bound memory."""

    @abstractmethod
    def step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do x ← x − step_size·g_client(x) in place, with the randomness of one local step."""

    def implicit_step(self, x: Array, client: int, draw: Any, step_size: float) -> None:
        """Do x ← prox_{step_size·f_client}(x) in place; a noisy oracle has no such step.

        Raises
        ------
        AssumptionError
            If the oracle is noisy, or the problem has no closed form.
        """
        raise AssumptionError(NO_NOISY_PROX)
