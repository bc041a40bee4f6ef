"""Exact expectations of AREA by a second, independent route: Appendix A's (5)–(7), in one dimension.

The functions serve the tests of the theorems; the tests here check them against each other and by hand.
"""

from collections.abc import Callable

import numpy as np
import pytest
from exact_makers import runs

from boundlab.randomness import Floats


def mean_squares(
    a: Floats,
    b: Floats,
    p: Floats,
    *,
    M: int,
    sigma: float,
    x0: float,
    alpha: Callable[[int], float],
    K: int,
    start: str = "analysis",
    clock: str = "analysis",
) -> Floats:
    """Return E(x_s,k − x*)² for k = 0 … K with f_i = a_i(x − b_i)²/2, i.i.d. events and noise of variance σ².

    The second-moment matrix of (x_1..x_n, y_1..y_n, x_s, 1), relative to x*, obeys a linear recursion.
    """
    n = len(a)
    best = float(a @ b / a.sum())
    away = b - best
    size = 2 * n + 2
    server, one = 2 * n, 2 * n + 1
    p_s = 1.0 - p.sum()

    def descend(i: int, step: float) -> tuple[float, float, float]:
        r = 1.0 - step * a[i]
        return r**M, (1.0 - r**M) * away[i], step**2 * sigma**2 * sum(r ** (2 * j) for j in range(M))

    moment = np.full((size, size), (x0 - best) ** 2)
    moment[one, :] = moment[:, one] = x0 - best
    moment[one, one] = 1.0
    if start == "algorithm":
        shift = np.eye(size)
        noise = np.zeros((size, size))
        for i in range(n):
            factor, offset, variance = descend(i, alpha(0))
            shift[i] = 0.0
            shift[i, server], shift[i, one] = factor, offset
            noise[i, i] = variance
        moment = shift @ moment @ shift.T + noise
    found = [moment[server, server]]
    for k in range(K):
        step = alpha(k + 1 if clock == "algorithm" else k)
        following = np.zeros_like(moment)
        for i in range(n):
            factor, offset, variance = descend(i, step)
            move = np.eye(size)
            move[i] = 0.0
            move[i, server], move[i, one] = factor, offset
            move[n + i] = 0.0
            move[n + i, i] = 1.0
            after = move @ moment @ move.T
            after[i, i] += variance
            following += p[i] * after
        gather = np.eye(size)
        gather[server] = 0.0
        gather[server, n : 2 * n] = 1.0 / n
        following += p_s * (gather @ moment @ gather.T)
        moment = following
        found.append(moment[server, server])
    return np.array(found)


def test_the_server_moves_only_after_a_client_was_answered_and_heard() -> None:
    # start=analysis, one client, p = p_s = 1/2: answer, arrival, aggregation need three events.
    found = mean_squares(np.ones(1), np.zeros(1), np.array([0.5]), M=1, sigma=0.0, x0=1.0, alpha=lambda _: 0.5, K=3)
    assert found[:3].tolist() == [1.0, 1.0, 1.0]
    # Of the eight sequences of three events only (i, i, s) moves x_s, from 1 to 1/2.
    assert found[3] == 7 / 8 + 1 / 8 / 4


@pytest.mark.parametrize("start", ["analysis", "algorithm"])
def test_moments_and_enumeration_agree_on_a_quadratic_without_noise(start: str) -> None:
    a, b, p, alpha = np.array([1.0, 0.5]), np.array([1.0, -2.0]), np.array([0.3, 0.4]), lambda _: 0.4
    squares = mean_squares(a, b, p, M=2, sigma=0.0, x0=1.5, alpha=alpha, K=5, start=start)
    each = runs(lambda i, x: a[i] * (x - b[i]), p.tolist(), 1.5, alpha, 2, 5, start=start)
    assert squares == pytest.approx(sum(chance * np.array(models) ** 2 for chance, models in each), rel=1e-13)  # x* = 0
