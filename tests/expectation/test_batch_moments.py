"""Mini-batches of least squares: second moments against all batches one by one, in fractions, and against trials."""

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from boundlab.algorithms import EventLaw
from boundlab.algorithms.gd import GD
from boundlab.arithmetic import numbers
from boundlab.case import build_delays, build_problem
from boundlab.expectation import exact_arithmetic, left_side
from boundlab.expectation.moments import in_exact_numbers as second_moments
from boundlab.metrics import metric
from boundlab.options import Options

ROWS = [[[1, 0], [1, 1], [0, 2]], [[1, -1], [2, 0]]]
TARGETS = [[1, 3, -1], [0, 2]]
OPTIONS = {
    "features": [row for rows in ROWS for row in rows],
    "targets": [y for part in TARGETS for y in part],
    "owners": [0, 0, 0, 1, 1],
    "x0": [1, -1],
    "nu": 0.25,
}
SIDES = ["squared-distance", "gap", "ergodic-gap", "gradient-norm"]
Vector = tuple[Fraction, Fraction]


def gradient(client: int, rows: Any, x: Vector) -> Vector:
    out = [Fraction(1, 4) * entry for entry in x]
    for j in rows:
        a, y = ROWS[client][j], TARGETS[client][j]
        error = a[0] * x[0] + a[1] * x[1] - y
        out = [g + Fraction(error) * entry / len(rows) for g, entry in zip(out, a, strict=True)]
    return out[0], out[1]


def batches(client: int, size: int, replacement: bool) -> list[tuple[int, ...]]:
    rows = range(len(ROWS[client]))
    return list(itertools.product(rows, repeat=size) if replacement else itertools.combinations(rows, size))


def passes(client: int, x: Vector, size: int, replacement: bool, steps: int) -> Iterator[tuple[Fraction, Vector]]:
    if not steps:
        yield Fraction(1), x
        return
    choices = batches(client, size, replacement)
    for batch in choices:
        g = gradient(client, batch, x)
        after = x[0] - Fraction(1, 4) * g[0], x[1] - Fraction(1, 4) * g[1]
        for weight, end in passes(client, after, size, replacement, steps - 1):
            yield weight / len(choices), end


def brute_force(drawn: bool, batch: int, replacement: bool, M: int, K: int) -> dict[str, Fraction]:
    everything = [range(len(rows)) for rows in ROWS]

    def slope(x: Vector) -> Vector:
        first, second = (gradient(i, everything[i], x) for i in range(2))
        return (first[0] + second[0]) / 2, (first[1] + second[1]) / 2

    # ∇f(x) = Hx − q, so that x* solves a 2×2 system.
    q = slope((Fraction(0), Fraction(0)))
    columns = [slope((Fraction(1), Fraction(0))), slope((Fraction(0), Fraction(1)))]
    H = [[columns[j][i] - q[i] for j in range(2)] for i in range(2)]
    det = H[0][0] * H[1][1] - H[0][1] * H[1][0]
    star = (-(H[1][1] * q[0] - H[0][1] * q[1]) / det, -(H[0][0] * q[1] - H[1][0] * q[0]) / det)

    def gap(x: Vector) -> Fraction:
        away = x[0] - star[0], x[1] - star[1]
        return sum((away[i] * H[i][j] * away[j] for i in range(2) for j in range(2)), Fraction(0)) / 2

    total = dict.fromkeys(SIDES, Fraction(0))

    def follow(weight: Fraction, models: list[Vector]) -> None:
        if len(models) == K + 1:
            x = models[-1]
            mean = (sum(one[0] for one in models[:-1]) / K, sum(one[1] for one in models[:-1]) / K)
            total["squared-distance"] += weight * ((x[0] - star[0]) ** 2 + (x[1] - star[1]) ** 2)
            total["gap"] += weight * gap(x)
            total["ergodic-gap"] += weight * gap(mean)
            total["gradient-norm"] += weight * sum((g**2 for one in models[:-1] for g in slope(one)), Fraction(0)) / K
            return
        if drawn:
            for client in range(2):
                for share, end in passes(client, models[-1], batch, replacement, M):
                    follow(weight * share / 2, [*models, end])
            return
        for one, left in passes(0, models[-1], batch, replacement, M):
            for two, right in passes(1, models[-1], batch, replacement, M):
                follow(weight * one * two, [*models, ((left[0] + right[0]) / 2, (left[1] + right[1]) / 2)])

    follow(Fraction(1), [(Fraction(1), Fraction(-1))])
    return total


@pytest.mark.parametrize(
    ("sampling", "batch", "replacement", "M", "K"),
    [
        ("uniform", 1, True, 2, 2),
        ("uniform", 2, True, 1, 2),
        ("uniform", 2, False, 2, 2),
        ("all", 1, True, 1, 2),
        ("all", 2, False, 1, 3),
    ],
)
def test_all_batches_one_by_one(sampling: str, batch: int, replacement: bool, M: int, K: int) -> None:
    drawing = "yes" if replacement else "no"
    problem = build_problem("least-squares", {**OPTIONS, "batch": batch, "replacement": drawing})
    model = problem.rational({**OPTIONS, "batch": batch, "replacement": drawing})
    assert model is not None
    parameters = GD.read(Options("gd", {"alpha": 0.25, "M": M, "sampling": sampling}))
    delays = build_delays("deterministic", {}, 2)
    arithmetic = exact_arithmetic(GD.program(parameters.known(), 2))
    law = EventLaw(np.array([Fraction(1, 2)] * 2, dtype=object), Fraction(0))
    for side, expected in brute_force(sampling == "uniform", batch, replacement, M, K).items():
        exact = second_moments(model, arithmetic, law, metric(side), np.array([K]))[0]
        assert numbers.fraction(exact) == expected, side
        found = left_side(side, GD, problem, parameters, delays, GD.policy(None, delays), K).value[0]
        assert found == pytest.approx(float(expected), rel=1e-12), side


@pytest.mark.parametrize(
    ("sampling", "batch", "M", "K"), [("uniform", 1, 1, 2), ("uniform", 2, 2, 1), ("all", 1, 1, 2)]
)
def test_the_ends_hold_the_fraction_of_all_batches_and_little_else(sampling: str, batch: int, M: int, K: int) -> None:
    problem = build_problem("least-squares", {**OPTIONS, "batch": batch, "replacement": "yes"})
    parameters = GD.read(Options("gd", {"alpha": 0.25, "M": M, "sampling": sampling}))
    delays = build_delays("deterministic", {}, 2)
    for side, expected in brute_force(sampling == "uniform", batch, True, M, K).items():
        found = left_side(side, GD, problem, parameters, delays, GD.policy(None, delays), K)
        assert Fraction(found.lower[0]) <= expected <= Fraction(found.upper[0]), side
        assert found.upper[0] - found.lower[0] <= 1e-9 * found.value[0], side
