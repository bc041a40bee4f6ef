"""What both executors on tensors share: the local steps of one round, and who is shown its records."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from boundlab.tensors import Batched

Ints = NDArray[np.int64]
# Called as observe(tapes, rows, X): record rows[j] of tape tapes[j] is X[j].
Observe = Callable[[Ints, Ints, torch.Tensor], None]


def local_steps(
    problem: Batched,
    X: torch.Tensor,
    clients: torch.Tensor,
    drawn: torch.Tensor,
    sizes: torch.Tensor,
    local: torch.Tensor,
    counts: Ints,
    *,
    implicit: bool,
) -> torch.Tensor:
    """Return where the rows of X are after their local steps; X itself may be overwritten.

    Parameters
    ----------
    X
        Shape (places, d).
    clients, sizes, counts
        Shape (places,): step sizes, and how many steps; 0 where a place has none.
    drawn
        Shape (places, steps, …): the random numbers.
    local
        Relative sizes of the steps; empty where all are 1.
    """
    step = problem.implicit_step if implicit else problem.step
    most, least = (int(counts.max()), int(counts.min())) if len(counts) else (0, 0)
    for q in range(most):
        each = sizes * local[q] if len(local) else sizes
        if q < least:
            step(X, clients, drawn[:, q], each)
            continue
        # Some have ended; all are computed, for the same shapes give the same bits.
        ahead = X.clone()
        step(ahead, clients, drawn[:, q], each)
        goes_on = torch.as_tensor(counts > q, device=X.device)
        X = torch.where(goes_on.unsqueeze(1), ahead, X)
    return X
