"""Values and gradients of many points at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_SEPARABLE = ("huber", "lad", "pseudo-huber")


def gradients(problem: Any, client: int, x: Floats) -> Floats:
    """Return ∇f_client at each row of x, shape (S, d)."""
    if problem.id in _SEPARABLE:
        return np.asarray(problem.gradient(client, x))
    if problem.id == "quadratic":
        return np.asarray((x - problem.b[client]) @ problem.A[client])
    if problem.id == "max-affine":
        return np.asarray(problem.a[client][np.argmax(x @ problem.a[client].T + problem.b[client], axis=1)])
    return np.stack([problem.gradient(client, row) for row in x])


def values(problem: Any, x: Floats) -> Floats:
    """Return f at each row of x, shape (S,)."""
    total = np.zeros(len(x))
    if problem.id in _SEPARABLE:
        for client in range(problem.n):
            total += problem._phi(x - problem.c[client]) @ problem.w[client]
    elif problem.id == "quadratic":
        for client in range(problem.n):
            away = x - problem.b[client]
            total += 0.5 * np.einsum("sd,de,se->s", away, problem.A[client], away)
    elif problem.id == "max-affine":
        for client in range(problem.n):
            total += (x @ problem.a[client].T + problem.b[client]).max(axis=1)
    else:
        return np.array([problem.value(row) for row in x])
    return np.asarray(total / problem.n)


def twins(problem: Any, p: Floats) -> list[list[int]]:
    """Return groups of at least two clients with the same function and the same probability."""
    names = {"quadratic": ("A", "b"), "max-affine": ("a", "b"), **dict.fromkeys(_SEPARABLE, ("c", "w"))}
    if problem.id not in names:
        return []
    groups: dict[bytes, list[int]] = {}
    for client in range(problem.n):
        key = b"".join(np.ascontiguousarray(getattr(problem, name)[client]).tobytes() for name in names[problem.id])
        groups.setdefault(key + np.float64(p[client]).tobytes(), []).append(client)
    return [group for group in groups.values() if len(group) > 1]
