"""Expectations of AREA that share nothing with the exact engines: every event sequence, from the pseudocode."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from boundlab.case import read_case
from boundlab.events import Events
from boundlab.exact import ExactResult, evaluate
from boundlab.theorems import Theorem, load_theorem


def exact_of(theorem: Theorem | str, case: dict[str, Any], **more: Any) -> ExactResult:
    """Return the exact value of a case that is given as what its file would hold."""
    statement = load_theorem(theorem) if isinstance(theorem, str) else theorem
    return evaluate(statement, read_case(case, has_theorem=True), **more)


def runs(
    gradient: Callable[[int, Any], Any],
    p: Sequence[Any],
    x0: Any,
    alpha: Callable[[int], Any],
    M: int,
    K: int,
    *,
    start: str = "analysis",
    clock: str = "algorithm",
) -> Iterator[tuple[Any, list[Any]]]:
    """Yield each of the (n+1)^K event sequences: its probability, and the server models x_s,0 … x_s,K.

    Parameters
    ----------
    gradient
        gradient(i, x) of client i, in one dimension.
    alpha
        alpha(k) for k = 0, 1, ….
    """
    n = len(p)
    weight = [*p, 1 - sum(p)]

    def descend(i: int, x: Any, size: Any) -> Any:
        for _ in range(M):
            x = x - size * gradient(i, x)
        return x

    for sequence in itertools.product(range(n + 1), repeat=K):
        probability: Any = Fraction(1)
        x_s, u, seen = x0, 0 * x0, [x0]
        x = [descend(i, x0, alpha(0)) if start == "algorithm" else x0 for i in range(n)]
        y = [x0] * n
        for k, who in enumerate(sequence):
            probability *= weight[who]
            if who == n:
                x_s, u = x_s + u, 0 * x0
            else:
                u = u + (x[who] - y[who]) / n
                y[who] = x[who]
                x[who] = descend(who, x_s, alpha(k + 1 if clock == "algorithm" else k))
            seen.append(x_s)
        yield probability, seen


def brute_force(*arguments: Any, left: Callable[[Any], Any], **options: Any) -> Any:
    """Return E left(x̄_K) over all :func:`runs`."""
    return sum(chance * left(sum(models[:-1]) / (len(models) - 1)) for chance, models in runs(*arguments, **options))


def sequences(p: Sequence[Any], p_s: Any, K: int, count: int | None) -> Iterator[tuple[float, Events]]:
    """Yield all event lists of K iterations with their probabilities; under a count the server's events follow."""
    length = K if count is None else K - K // (count + 1)
    actors = [*range(len(p))] + ([-1] if count is None else [])
    weights = [*map(float, p), float(p_s)] if count is None else [float(one / sum(p)) for one in p]
    for sequence in itertools.product(range(len(actors)), repeat=length):
        who = np.array([actors[one] for one in sequence], dtype=np.int32)
        yield float(np.prod([weights[one] for one in sequence])), Events(np.arange(1.0, length + 1), who)


def tiny_cases(largest: int, last: int) -> dict[str, st.SearchStrategy[Any]]:
    """Return strategies of what makes a case of AREA on one or two clients that enumeration follows.

    Parameters
    ----------
    largest
        Size of the centres and of x0, and their largest denominator.
    last
        The largest K.
    """
    small = st.fractions(min_value=-largest, max_value=largest, max_denominator=largest)
    return {
        "kind": st.sampled_from(["lad", "huber"]),
        "centres": st.lists(small, min_size=1, max_size=2),
        "x0": small,
        "alpha": st.fractions(min_value=Fraction(1, 6), max_value=2, max_denominator=6),
        "M": st.integers(1, 3),
        "K": st.integers(1, last),
        "start": st.sampled_from(["analysis", "algorithm"]),
        "odds": st.integers(1, 5),
    }
