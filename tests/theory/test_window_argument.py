"""The displays of the window lemma: both sides of each, on runs whose expectations over the noise are finite sums."""

import numpy as np
import pytest
from every_noise import assert_centred, at_most, inner, norm2, second
from theory_pages import shows
from window_makers import Moving, compass_moving, examples, fa_moving

SIZES = pytest.mark.parametrize("N", [1, 2, 3])
SMALL, WHOLE = 0.5, 1.0  # the largest L·W_+ with noise, and without


def loud(one: Moving) -> list:
    """Return the gradients of a run that have noise, in the order of its draws."""
    by_draw = {gradient.draw: gradient for held in one.steps for gradient in held}
    return [by_draw[draw] for draw in one.played.draws if draw in by_draw]


# ------------------------------------------------------------------------------------------------- what is drawn


@shows("fedcompass", "W1")
def test_noise_has_no_mean_and_at_most_its_variance_whatever_else_is_drawn() -> None:
    for _, one in examples(1):
        for gradient in loud(one):
            assert_centred(one.played, gradient.draw, gradient.point, gradient.noise)


@shows("fedcompass", "W2")
def test_second_moments() -> None:
    reached = 0.0
    for _, one in examples(1):
        for gradient in (gradient for held in one.steps for gradient in held):
            found = second(gradient.slope + gradient.noise)
            assert found == pytest.approx(second(gradient.slope) + second(gradient.noise), rel=1e-12)
            assert at_most(found, one.clients.s2)
            reached = max(reached, found / one.clients.s2)
    assert reached > 1 - 1e-12  # by the slopes that never change


@shows("fedcompass", "W3")
def test_noises_are_orthogonal() -> None:
    rng = np.random.default_rng(1)
    for _, one in examples(1):
        found = [(rng.normal(), gradient.noise) for gradient in loud(one)]
        if not found:
            continue
        left = second(sum(b * noise for b, noise in found))
        assert left == pytest.approx(sum(b**2 * second(noise) for b, noise in found), rel=1e-9)
        assert at_most(left, one.clients.noise**2 * sum(b**2 for b, _ in found))


# ---------------------------------------------------------------------------------------------------- the setting


@shows("fedcompass", "W4")
def test_models_move_by_weighted_gradients_and_know_nothing_of_later_draws() -> None:
    for _, one in examples(1):
        for t, held in enumerate(one.steps):
            move = sum((g.b * (g.slope + g.noise) for g in held), np.zeros_like(one.v[t]))
            assert np.allclose(one.v[t + 1], one.v[t] - move, rtol=0, atol=1e-12)
        later = {g.draw: t for t, held in enumerate(one.steps) for g in held}
        for draw, (high, low) in one.played.flips.items():
            known = one.v[: later.get(draw, -1) + 1]
            assert np.array_equal(known[:, high], known[:, low])


@SIZES
@shows("fedcompass", "W5")
def test_shares_sum_to_one_and_count_every_gradient(N: int) -> None:
    for _, one in examples(N):
        for t in range(one.T):
            shares, at_v = one.shares(t), [one.clients.gradient(i, one.v[t]) for i in range(one.clients.n)]
            assert shares.sum() == pytest.approx(1)
            held = sum(g.b * at_v[g.client] for s in range(t, t + N) for g in one.steps[s])
            assert np.allclose(held, one.W(t) * sum(w * slope for w, slope in zip(shares, at_v, strict=True)))


@SIZES
@shows("fedcompass", "W8")
def test_the_move_over_a_window(N: int) -> None:
    for _, one in examples(N):
        for t in range(one.T):
            assert np.allclose(one.v[t + N] - one.v[t], -(one.W(t) * one.h(t) + one.nu(t)), rtol=0, atol=1e-12)


# -------------------------------------------------------------------------------------------------- inequalities


@SIZES
@shows("fedcompass", "W6", "W9")
def test_the_mean_gradient_of_a_window(N: int) -> None:
    for _, one in examples(N):
        for t in range(one.T):
            assert at_most(one.away(t), one.e)
            assert at_most(norm2(one.v[min(t, N - 1) + 1] - one.v[min(t, N - 1)]), one.D)
            assert at_most(norm2(one.slope(t) - one.h(t)), one.B + one.e)


def test_no_smaller_bias_will_do() -> None:
    # Slopes +1 and −1 for ever: e = 0 but for the distance of the points, which changes nothing.
    one = compass_moving("slopes that never change", 1)
    reached = max(norm2(one.slope(t) - one.h(t)) for t in range(one.T))
    assert reached == pytest.approx(one.B, rel=1e-12)


@SIZES
@shows("fedcompass", "W10")
def test_the_noise_of_a_window_is_orthogonal_to_the_model_before_it(N: int) -> None:
    for _, one in examples(N):
        for t in range(one.T):
            assert inner(one.slope(t), one.nu(t)) == pytest.approx(0, abs=1e-14)
            assert at_most(second(one.nu(t)), one.clients.noise**2 * one.V(t))


def test_noise_of_full_size_reaches_its_bound() -> None:
    one = fa_moving("models in a window of one", 3)
    assert second(one.nu(0)) == pytest.approx(one.clients.noise**2 * one.V(0))


def descent(one: Moving, t: int, curvature: float = 0.5) -> tuple[float, float]:
    """Return the sides of the descent lemma over the window at t."""
    left = one.W(t) * inner(one.slope(t), one.h(t))
    return left, one.F(t) - one.F(t + one.N) + curvature * one.clients.L * second(one.v[t + one.N] - one.v[t])


@SIZES
@shows("fedcompass", "W11")
def test_descent(N: int) -> None:
    tight = False
    for _, one in examples(N):
        for t in range(one.T):
            assert at_most(*descent(one, t))
            tight |= not at_most(*descent(one, t, 0.499))
    assert tight


@SIZES
@shows("fedcompass", "W12")
def test_one_window_with_any_step(N: int) -> None:
    for limit in (None, 4.0):
        for _, one in examples(N, limit):
            for t in range(one.T):
                x, c_sq = norm2(one.slope(t)), one.clients.s2
                gap = one.F(t) - one.F(t + N) + one.clients.L / 2 * one.W(t) ** 2 * c_sq
                assert at_most(one.W(t) * (x**2 - (one.B + one.e) * x), gap)


def one_window(one: Moving, t: int) -> tuple[float, float]:
    """Return the sides for small steps."""
    noise = 2 * one.clients.L * one.clients.noise**2 * one.V(t)
    right = 2 * (one.F(t) - one.F(t + one.N)) + one.W(t) * (one.B + one.e) ** 2 + noise
    return one.W(t) * second(one.slope(t)), right


@SIZES
@shows("fedcompass", "W13")
def test_one_window_with_small_steps(N: int) -> None:
    for limit, noise in ((SMALL, True), (SMALL / 4, True), (WHOLE, False)):
        for _, one in examples(N, limit, noise=noise):
            for t in range(one.T):
                assert at_most(*one_window(one, t))


def test_no_longer_step_will_do_without_noise() -> None:
    # Gradient descent where f is quadratic: W·x² = 2·(F(v) − F(v')) for L·W = 1, and more for a longer step.
    for step, holds in ((0.98, True), (1.0, True), (1.02, False)):
        one = fa_moving("gradient descent", 1, step / 0.5)
        assert one.clients.L * one.weights.max() == pytest.approx(step)
        assert one.B + one.e < 1e-15
        assert all(at_most(*one_window(one, t)) for t in range(1, one.T)) == holds


@SIZES
@shows("fedcompass", "W7", "W14")
def test_the_sum_over_windows(N: int) -> None:
    for _, one in examples(N):
        left = sum(one.F(t) - one.F(t + N) for t in range(one.T))
        away = one.clients.G_sq**0.5 * one.D * N * (N - 1) / 2
        start = (N * one.F(0) + away) / (one.weights.min() * one.T)
        assert start == pytest.approx(one.start)
        assert left == pytest.approx(sum(one.F(j) - one.F(one.T + j) for j in range(N)))
        assert at_most(left, one.weights.min() * one.T * start)


# ------------------------------------------------------------------------------------------------------ the lemma


@SIZES
@shows("fedcompass", "W15")
def test_the_lemma_with_any_step(N: int) -> None:
    for limit in (None, 4.0):
        for _, one in examples(N, limit):
            low, high = one.weights.min(), one.weights.max()
            left = one.X_sq - high / low * (one.B + one.e) * one.X_sq**0.5
            assert at_most(left, one.start + one.clients.L / 2 * high**2 / low * one.clients.s2)


@SIZES
@shows("fedcompass", "W16")
def test_the_lemma_with_small_steps(N: int) -> None:
    for limit, noise in ((SMALL, True), (SMALL / 4, True), (WHOLE, False)):
        for _, one in examples(N, limit, noise=noise):
            low, high = one.weights.min(), one.weights.max()
            right = 2 * one.start + high / low * (one.B + one.e) ** 2
            right += 2 * one.clients.L * one.clients.noise**2 * one.noise_weights.max() / low
            assert at_most(one.X_sq, right)


@shows("fedcompass", "W17")
def test_a_quadratic_inequality_bounds_its_root() -> None:
    rng = np.random.default_rng(2)
    slope, constant = rng.exponential(size=(2, 100)) * rng.choice([0.0, 0.1, 10.0], size=(2, 100))
    root = (slope + np.sqrt(slope**2 + 4 * constant)) / 2
    assert np.allclose(root**2 - slope * root, constant)
    for factor in (1.001, 3.0):
        beyond = factor * root + 1e-6
        assert (beyond**2 - slope * beyond > constant).all()
