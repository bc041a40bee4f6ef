"""What is said of a loss is true of its slopes: largest norms, curvatures, and the balls that hold all of them."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st
from problem_makers import LOSSES, OF_VALUES, make

from boundlab.arithmetic.near import _FEW, norm_up, norms_up
from boundlab.errors import CertificateError
from boundlab.problems import clients
from boundlab.problems.risk import of_risks
from boundlab.problems.solvers import fractions, maximise, steepest_mean

KINDS = sorted(name for name, loss in clients.LOSSES.items() if np.isfinite(loss.slope))


def targets(kind: str, random: np.random.Generator, count: int, classes: int) -> np.ndarray:
    if kind == "softmax":
        return random.integers(0, classes, size=count)
    return random.normal(size=count) if kind in OF_VALUES else random.choice([-1.0, 1.0], size=count)


@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.sampled_from([0.1, 1.0, 30.0]))
def test_all_slopes_lie_in_the_ball_around_the_middle(kind: str, seed: int, classes: int, scale: float) -> None:
    random, loss = np.random.default_rng(seed), clients.LOSSES[kind]
    y = targets(kind, random, 8, classes)
    z = scale * random.normal(size=(8, classes) if kind == "softmax" else 8)
    slopes = clients.slopes(loss, z, y).reshape(8, -1)
    middles, radius = clients.middles(loss, y, classes)
    assert (np.linalg.norm(slopes - middles, axis=1) <= radius * (1 + 1e-12)).all()
    assert (np.linalg.norm(slopes, axis=1) <= loss.slope * (1 + 1e-12)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_the_largest_slope_and_the_radius_are_reached(kind: str) -> None:
    # Far on the wrong side: softmax gives all of its weight to another class.
    loss, y = clients.LOSSES[kind], np.array([0]) if kind == "softmax" else np.array([1.0])
    z = np.array([[-500.0, 500.0, 0.0]]) if kind == "softmax" else np.array([-500.0])
    slopes = clients.slopes(loss, z, y).reshape(1, -1)
    middles, radius = clients.middles(loss, y, 3)
    assert np.linalg.norm(slopes) == pytest.approx(loss.slope, rel=1e-12)
    assert np.linalg.norm(slopes - middles) == pytest.approx(radius, rel=1e-12)


@pytest.mark.sweep(8)
@pytest.mark.parametrize("mu", [0.5, 4.0])
@pytest.mark.parametrize("seed", range(4))
def test_a_rounded_maximum_has_its_minimiser_as_near_as_it_says(seed: int, mu: float) -> None:
    """Gradient descent from far away ends within the certified distance of the point that the problem names."""
    random = np.random.default_rng(seed)
    a, c = random.normal(size=(2, 3, 2)), random.normal(size=(2, 3))
    problem = make("smoothed-max-affine", a=a.tolist(), c=c.tolist(), L=10.0, mu=mu, x0=1)
    best = problem.optimum()
    assert best.distance is not None
    x = np.array([3.0, -2.0])
    for _ in range(int(400 / mu)):
        x = x - problem.full_gradient(x) / 10.0
    assert np.linalg.norm(x - best.x) <= best.distance + 1e-9
    assert best.value - best.gap <= problem.value(x) + 1e-12
    # The point that is 1e-3 beside it is named with a distance that holds it, too.
    moved = best.x + np.array([6e-4, 8e-4])
    beside = make("smoothed-max-affine", a=a.tolist(), c=c.tolist(), L=10.0, mu=mu, x0=1, minimiser=moved.tolist())
    try:
        named = beside.optimum()
    except CertificateError:
        return  # not near enough for a comparison
    assert named.distance is not None
    assert np.linalg.norm(x - moved) <= named.distance + 1e-13  # x is a float, and the distance the true one


@pytest.mark.sweep(3)
@pytest.mark.parametrize("seed", range(30))
def test_rational_numbers_find_the_slope_that_floats_find(seed: int) -> None:
    random = np.random.default_rng(seed)
    m, d = int(random.integers(1, 7)), int(random.integers(1, 4))
    slopes, height = random.normal(size=(m, d)).round(2), random.normal(size=m).round(2)
    weights = maximise(height, slopes, 2.0)
    rows, heights = [fractions(row) for row in slopes], fractions(height)
    slope = steepest_mean(heights, rows, Fraction(2), np.flatnonzero(weights).tolist())
    assert slope is not None
    np.testing.assert_allclose([float(entry) for entry in slope], weights @ slopes, atol=1e-9)
    # A wrong guess is corrected, or given up: it never leads elsewhere.
    assert steepest_mean(heights, rows, Fraction(2), [int(random.integers(m))]) in (slope, None)


def test_weights_that_nothing_determines_are_not_guessed() -> None:
    # The same piece twice.
    rows = [[Fraction(1)], [Fraction(1)]]
    assert steepest_mean([Fraction(0), Fraction(0)], rows, Fraction(1), [0, 1]) is None
    assert steepest_mean([Fraction(0), Fraction(0)], rows, Fraction(1), [0]) == [Fraction(1)]


@pytest.mark.parametrize(
    "size", [Fraction(0), Fraction(10) ** -400, Fraction(10) ** -200, Fraction(1, 3), Fraction(10) ** 200]
)
def test_a_norm_is_rounded_up_and_is_zero_for_zero_only(size: Fraction) -> None:
    found = norm_up([3 * size, -4 * size])
    assert Fraction(found) >= 5 * size
    assert (found == 0.0) == (size == 0)
    if size > Fraction(10) ** -300:
        assert Fraction(found) <= 5 * size * (1 + Fraction(1, 10**14))


@pytest.mark.parametrize("rows", [2, _FEW + 1])
def test_norms_of_rows_are_from_above_and_of_infinite_ones_infinite(rows: int) -> None:
    found = norms_up(np.tile([3.0, -4.0], (rows, 1)), 0.1)
    assert all(Fraction(0.1) * 5 <= Fraction(one) <= Fraction(0.1) * 5 * (1 + Fraction(1, 10**14)) for one in found)
    assert norms_up(np.tile([np.inf, 1.0], (rows, 1))).tolist() == [np.inf] * rows


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_reach_no_further_than_the_spectrum_of_the_features(name: str) -> None:
    """Of many rows in all directions the spectral bound is the smaller one by far, and rounding adds little to it."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(400, 6)), targets(name, rng, 400, 3)
    problem = make(name, features=X.tolist(), targets=y.tolist(), owners=[0] * 400)
    found, top = of_risks(problem), np.linalg.eigvalsh(X.T @ X)[-1:]
    _, radius = clients.middles(problem.loss, problem.y, problem.classes)
    spectral = float(np.sqrt(top[0] / 400))
    assert found.radius[0] == pytest.approx(radius * spectral, rel=1e-10)
    assert found.radius[0] < 0.8 * np.linalg.norm(found.half[0])
