"""How far floats are off on maxima of affine functions with rounded kinks: no more than they say, and seldom less."""

from fractions import Fraction

import numpy as np
import pytest
from exact_smoothed import Smoothed

from boundlab.arithmetic.near import norm_up
from boundlab.errors import SpecError
from boundlab.problems.max_affine import SmoothedMaxAffine
from boundlab.problems.solvers import fractions


def drawn(rng: np.random.Generator) -> SmoothedMaxAffine:
    """Return pieces of any size, some of them equal, nearly equal, parallel, or with ties."""
    n, m, d = (int(rng.integers(1, most)) for most in (4, 8, 5))
    a, c = (rng.normal(size=shape) * 10.0 ** rng.integers(-6, 7) for shape in ((n, m, d), (n, m)))
    half, kind = m // 2, rng.integers(0, 5)
    if kind == 0:
        a, c = rng.integers(-1, 2, size=a.shape) * 1.0, rng.integers(0, 2, size=c.shape) * 1.0
    elif kind < 3 and half:
        near = 10.0 ** rng.integers(-15, -4) * rng.normal(size=(n, half, 1))
        a[:, m - half :] = a[:, :half] * (1.0 + (kind - 1) * near)
        c[:, m - half :] = c[:, :half]
    L = 10.0 ** int(rng.integers(-6, 7))
    return SmoothedMaxAffine(a, c, L, L * float(rng.choice([0.0, 1e-12, 0.1, 1.0 - 1e-9])), np.zeros(d))


def off(found: np.ndarray, exact: list[Fraction]) -> float:
    return norm_up([Fraction(one) - other for one, other in zip(found.tolist(), exact, strict=True)])


@pytest.mark.sweep(8)
@pytest.mark.parametrize("seed", range(8))
def test_values_and_gradients_are_as_near_to_rational_numbers_as_they_say(seed: int) -> None:
    rng, looked = np.random.default_rng(seed), 0
    for _ in range(40):
        problem = drawn(rng)
        exact, d = Smoothed(problem), problem.d
        for x in (np.zeros(d), rng.normal(size=d) * 10.0 ** rng.integers(-8, 8), rng.integers(-2, 3, size=d) * 1.0):
            at = fractions(x)
            try:
                slopes = [exact.slope(client, at) for client in range(problem.n)]
                value = sum((exact.height(client, at) for client in range(problem.n)), Fraction(0)) / problem.n
            except SpecError:
                continue
            looked += 1
            for client, slope in enumerate(slopes):
                bounds = problem.step_bounds(client)
                assert off(problem.gradient(client, x), slope) <= bounds.error(x, float(np.linalg.norm(x)))
            rounding = problem.rounding(x)
            assert abs(Fraction(problem.value(x)) - value) <= rounding[0]
            mean = [sum(column, Fraction(0)) / problem.n for column in zip(*slopes, strict=True)]
            assert off(problem.full_gradient(x), mean) <= rounding[1]
    assert looked > 80


def test_where_the_pieces_on_top_are_certain_gradients_are_known_to_the_last_digits() -> None:
    rng, errors = np.random.default_rng(1), []
    for _ in range(50):
        problem = SmoothedMaxAffine(rng.normal(size=(1, 4, 3)), rng.normal(size=(1, 4)), 1.0, 0.1, np.zeros(3))
        errors.append(problem.step_bounds(0).error(rng.normal(size=3), 2.0))
    assert np.median(errors) < 1e-11


def test_a_point_that_left_floats_has_no_known_error() -> None:
    problem = SmoothedMaxAffine(np.ones((1, 2, 2)), np.zeros((1, 2)), 1.0, 0.0, np.zeros(2))
    with np.errstate(invalid="ignore", over="ignore"):
        assert not problem.step_bounds(0).error(np.array([1e308, 1e308]), 1e308) < 1.0
