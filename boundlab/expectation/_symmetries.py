"""Clients that may change places."""

import numpy as np
from numpy.typing import NDArray

from boundlab.objective import Problem


def twins(problem: Problem, p: NDArray[np.float64]) -> list[list[int]]:
    """Return groups of at least two clients with the same function and the same probability.

    Parameters
    ----------
    p
        Shape (n,): probabilities of the clients.
    """
    groups: dict[tuple[bytes, float], list[int]] = {}
    for client, share in enumerate(p.tolist()):
        key = problem.client_key(client)
        if key is not None:
            groups.setdefault((key, share), []).append(client)
    return [group for group in groups.values() if len(group) > 1]
