"""Empirical risks on data split over clients: values, gradients, constants, mini-batches."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st
from problem_makers import LOSSES, MODELS, make, point, sample_gradients, tiny

from boundlab.case import build_problem
from boundlab.randomness import Streams

SEEDS = st.integers(0, 10_000)
KINDS = st.sampled_from(LOSSES)


@given(st.sampled_from(("logistic", "softmax")), SEEDS)
def test_gradients_and_curvature_equal_central_differences(kind: str, seed: int) -> None:
    problem = tiny(kind, seed)
    x, h = point(problem, seed), 1e-5
    part = problem.part(0)
    steps = h * np.eye(problem.d)
    slope = [(part.value(x + e) - part.value(x - e)) / (2 * h) for e in steps]
    np.testing.assert_allclose(problem.gradient(0, x), slope, rtol=1e-6, atol=1e-8)
    bend = [(problem.gradient(0, x + e) - problem.gradient(0, x - e)) / (2 * h) for e in steps]
    np.testing.assert_allclose(part.hessian(x), bend, rtol=1e-5, atol=1e-7)
    both = problem.total.value_and_gradient(x)
    assert both[0] == pytest.approx(problem.value(x), rel=1e-12)
    np.testing.assert_allclose(both[1], problem.full_gradient(x), rtol=1e-12)
    v = point(problem, seed + 1)
    np.testing.assert_allclose(part.hessian_product(part.weights(x), v), part.hessian(x) @ v, atol=1e-10)


@given(KINDS, SEEDS, st.integers(1, 4), st.booleans())
def test_the_exact_variance_of_a_mini_batch_is_at_most_sigma(
    kind: str, seed: int, batch: int, replacement: bool
) -> None:
    problem = tiny(kind, seed, nu=0.1, batch=batch, replacement=replacement)
    sigma = problem.constants()["sigma"].value
    for scale in (0.0, 1.0, 50.0):
        x = scale * point(problem, seed)
        for i in range(problem.n):
            single = sample_gradients(problem, i, x)
            np.testing.assert_allclose(single.mean(axis=0), problem.gradient(i, x), rtol=1e-9, atol=1e-10)
            population = float(((single - single.mean(axis=0)) ** 2).sum(axis=1).mean())
            s = int(problem.sizes[i])
            b = batch if replacement else min(batch, s)
            factor = 1 / b if replacement else (s - b) / (b * max(s - 1, 1))
            assert np.sqrt(population * factor) <= sigma * (1 + 1e-12) + 1e-12


@given(st.sampled_from(MODELS), SEEDS, st.sampled_from(["float32", "float64"]), st.sampled_from([1, 3, 30]))
def test_a_mini_batch_step_is_the_mean_of_its_rows(kind: str, seed: int, dtype: str, batch: int) -> None:
    problem = tiny(kind, seed, batch=batch, dtype=dtype)
    x = point(problem, seed).astype(problem.dtype)
    rows = problem.oracle(Streams(seed)).draws(np.array([1]), np.array([4]), 1)[0][0]
    assert (problem.offsets[1] <= rows).all()
    assert (rows < problem.offsets[1] + problem.sizes[1]).all()
    mean = sample_gradients(problem, 1, x)[rows - problem.offsets[1]].mean(axis=0)
    y = x.copy()
    problem.oracle(Streams(seed)).step(y, 1, rows, 0.01)
    tolerance = 1e-12 if dtype == "float64" else 2e-5
    np.testing.assert_allclose(y, x - 0.01 * mean, rtol=tolerance, atol=tolerance)
    assert y.dtype == problem.dtype


def test_without_replacement_every_subset_is_equally_likely() -> None:
    # Floyd's algorithm picks from 3, then from 4: the 12 cells of that lattice give each pair of 4 rows twice.
    oracle = make("logistic", batch=2, replacement=False).oracle(Streams(0))
    cells = np.array([[(j + 0.5) / 3, (k + 0.5) / 4] for j, k in product(range(3), range(4))])[:, None, :]
    drawn = oracle._distinct(cells, np.full(12, 4), np.zeros(12, dtype=np.int64))
    counts: dict[tuple[int, ...], int] = {}
    for rows in drawn:
        key = tuple(sorted(rows[0].tolist()))
        counts[key] = counts.get(key, 0) + 1
    assert counts == {(j, k): 2 for k in range(4) for j in range(k)}


def test_a_batch_larger_than_a_client_takes_all_its_rows_once() -> None:
    problem = tiny("logistic", 5, batch=50, replacement=False)
    for i in range(problem.n):
        rows = problem.oracle(Streams(0)).draws(np.array([i]), np.array([0]), 2)[0]
        assert rows.shape == (2, problem.sizes[i])
        x = point(problem, 1)
        y = x.copy()
        problem.oracle(Streams(0)).step(y, i, rows[0], 1.0)
        np.testing.assert_allclose(x - y, problem.gradient(i, x), rtol=1e-9, atol=1e-11)
    assert problem.constants()["sigma"].value == 0.0


@pytest.mark.parametrize("kind", ["logistic", "softmax"])
def test_where_all_features_are_zero_the_loss_is_constant_and_every_point_minimises_it(kind):
    options = {"features": [[0.0], [0.0]], "targets": [0, 1], "owners": [0, 0], "nu": 0, "bias": "no"}
    problem = build_problem(kind, options | {"solver": "newton"})
    best = problem.optimum()
    assert best.distance == 0.0
    assert best.value == pytest.approx(np.log(2.0))
