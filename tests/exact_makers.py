"""An expectation of AREA that shares nothing with the exact engines: every event sequence, from the pseudocode."""

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from boundlab.algorithms.area import AREA
from boundlab.events import Events
from boundlab.execute.floats import run
from boundlab.metrics import Certified, metric
from boundlab.tape import RecordAt

SERVER = "s"


def brute_force(
    gradient: Callable[[int, Any], Any],
    p: Sequence[Fraction],
    x0: Any,
    alpha: Callable[[int], Any],
    M: int,
    K: int,
    *,
    start: str = "analysis",
    clock: str = "algorithm",
    average: bool = True,
    left: Callable[[Any], Any],
) -> Any:
    """Return E left(x̄_K or x_s,K) in one dimension, over all (n+1)^K sequences, one after the other.

    Parameters
    ----------
    gradient
        gradient(i, x) of client i.
    alpha
        alpha(k) for k = 0, 1, ….
    """
    n = len(p)
    actors = [*range(n), SERVER]
    weight = [*p, 1 - sum(p)]
    total = 0 * x0

    def descend(i: int, x: Any, size: Any) -> Any:
        for _ in range(M):
            x = x - size * gradient(i, x)
        return x

    for sequence in itertools.product(range(n + 1), repeat=K):
        probability = Fraction(1)
        x_s, u, seen = x0, 0 * x0, 0 * x0
        x = [descend(i, x0, alpha(0)) if start == "algorithm" else x0 for i in range(n)]
        y = [x0] * n
        for k, choice in enumerate(sequence):
            probability *= weight[choice]
            seen = seen + x_s
            who = actors[choice]
            if who == SERVER:
                x_s, u = x_s + u, 0 * x0
            else:
                u = u + (x[who] - y[who]) / n
                y[who] = x[who]
                x[who] = descend(who, x_s, alpha(k + 1 if clock == "algorithm" else k))
        total = total + probability * left(seen / K if average else x_s)
    return total


def over_tapes(problem: Any, parameters: Any, p: np.ndarray, p_s: float, side: str, K: int) -> float:
    """Return the expectation by the tape executor, sequence by sequence; under a count p_s is not read."""
    count = parameters.count
    length = K if count is None else K - K // (count + 1)
    actors = [*range(problem.n)] + ([-1] if count is None else [])
    weights = [*p, p_s] if count is None else list(p / p.sum())
    left, total = metric(side), 0.0
    for sequence in itertools.product(range(len(actors)), repeat=length):
        events = Events(np.arange(1.0, length + 1), np.array([actors[j] for j in sequence], dtype=np.int32))
        records = RecordAt(np.array([K]), average=left.over.averages_iterates)
        tape = AREA.schedule(parameters, events, problem.n, records, K)
        seen: list[float] = []
        run(
            tape, problem.x0, problem.full_gradients(),
            lambda _m, x, seen=seen: seen.append(left.at(Certified(problem), x)[0]),
        )  # fmt: skip
        total += float(np.prod([weights[j] for j in sequence])) * seen[0]
    return total
