"""Operations shared by both executors on tensors: the local steps of one round, and who is shown its records."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from boundlab.arithmetic.tensors import Batched

Ints = NDArray[np.int64]
_WIDE = 1 << 19  # bytes of a row from which a CPU does a few at a time: they stay in its caches
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

    A CPU does wide rows a few at a time, whoever is beside them; a GPU does all of them.

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
    rows = len(X)
    if X.device.type == "cpu":
        size = max(X.shape[1], problem.held) * X.element_size()
        rows = rows if size < _WIDE else min(rows, max(1, 2 * _WIDE // size))
    if rows < len(X):
        for first in range(0, len(X), rows):
            part = slice(first, first + rows)
            if counts[part].any():
                few = (clients[part], drawn[part], sizes[part], local, counts[part])
                X[part] = local_steps(problem, X[part], *few, implicit=implicit)
        return X
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
