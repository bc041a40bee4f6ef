"""The displays of rf1's proof and of what all proofs share, on one schedule; and that rf1 is what is registered."""

from collections.abc import Iterator

import numpy as np
import pytest
from buffer_makers import ONE, Buffers, one, registered, steps, values
from every_noise import Floats, assert_centred, at_most, inner, norm2, second
from theory_pages import shows

EVERY = pytest.mark.parametrize("name", ONE)


def gradients(run: Buffers, t: int) -> Iterator[tuple[float, int, int, Floats, Floats, Floats]]:
    """Yield α, staleness and q of each gradient of buffer t, with its point, slope and noise."""
    for row, alpha, _, age in run.entries(t):
        for q in range(len(run.eta)):
            yield alpha, age, q, run.played.points[row][q], run.played.slopes[row][q], run.played.noises[row][q]


# ------------------------------------------------------------------------------------------------- what is drawn


@EVERY
@shows("fedstaleweight", "R1")
def test_an_update_adds_the_weighted_differences(name: str) -> None:
    run = one(name)
    for t in range(run.T):
        entries = run.entries(t)
        assert sum(alpha for _, alpha, _, _ in entries) == pytest.approx(1)
        assert all(alpha >= 0 and 0 <= age <= t for _, alpha, _, age in entries)
        move = np.zeros_like(run.w[t])
        for row, alpha, _, age in entries:
            assert np.array_equal(run.played.points[row][0], run.w[t - age])
            g = run.played.slopes[row] + run.played.noises[row]
            for q in range(len(run.eta) - 1):
                step = run.played.points[row][q] - run.eta[q] * g[q]
                assert np.allclose(run.played.points[row][q + 1], step, rtol=0, atol=1e-12)
            move += run.eta_g * alpha * steps(run, g)
        assert np.allclose(run.w[t + 1], run.w[t] - move, rtol=0, atol=1e-12)


@EVERY
@shows("fedstaleweight", "R2")
def test_noise_has_no_mean_and_at_most_its_variance_whatever_else_is_drawn(name: str) -> None:
    run = one(name)
    played, d = run.played, run.tape.descend
    for t in range(run.T):
        for row, _, client, _ in run.entries(t):
            for q in range(len(run.eta)):
                draw = (client, int(d.update[row]), q)
                if draw in played.flips:
                    assert_centred(played, draw, played.points[row][q], played.noises[row][q])


@EVERY
@shows("fedstaleweight", "R3", "R4")
def test_second_moments_and_distances(name: str) -> None:
    run = one(name)
    root = run.clients.s2**0.5
    for t in range(run.T):
        for _, age, q, point, slope, noise in gradients(run, t):
            assert at_most(second(slope + noise), run.clients.s2)
            assert at_most(norm2(run.w[t] - point), (run.eta_g * run.A * age + float(run.heads[q])) * root)


def test_a_client_that_goes_the_other_way_is_as_far_away_as_can_be() -> None:
    # Client 0 moves the server model three times; meanwhile client 1 went uphill from where it began.
    run = one("opposite slopes")
    found = [(norm2(run.w[3] - point), age, q) for _, age, q, point, _, _ in gradients(run, 3)]
    assert [(age, q) for _, age, q in found] == [(3, 0), (3, 1)]
    expected = [(run.eta_g * run.A * age + run.heads[q]) * run.clients.s2**0.5 for _, age, q in found]
    assert [left for left, _, _ in found] == pytest.approx(expected)


@EVERY
@shows("fedstaleweight", "R5", "R6")
def test_the_noise_of_a_buffer(name: str) -> None:
    run = one(name)
    for t in range(run.T):
        noise = run.noise(t)
        for q in range(len(run.eta)):
            assert inner(run.slope(t), noise[q]) == pytest.approx(0, abs=1e-14)
        squares = sum(alpha**2 for _, alpha, _, _ in run.entries(t))
        assert at_most(second(steps(run, noise)), run.beta * run.clients.noise**2 * squares)


def test_noise_of_full_size_reaches_its_bound() -> None:
    run = one("one client")
    assert second(steps(run, run.noise(2))) == pytest.approx(run.beta * run.clients.noise**2)


# ------------------------------------------------------------------------------------------ descent of one update


def descent(run: Buffers, t: int, curvature: float = 0.5) -> tuple[float, float]:
    """Return the sides of (R7) for one schedule."""
    left = run.eta_g * inner(run.slope(t), steps(run, run.h(t)))
    second_order = curvature * run.clients.L * second(run.w[t + 1] - run.w[t])
    return left, float((run.f(t) - run.f(t + 1)).mean()) + second_order


@EVERY
@shows("fedstaleweight", "R7")
def test_descent(name: str) -> None:
    for scale in (1.0, 4.0):
        run = one(name, scale)
        assert all(at_most(*descent(run, t)) for t in range(run.T))


def test_no_smaller_curvature_will_do() -> None:
    run = one("gradient descent")
    assert not all(at_most(*descent(run, t, 0.499)) for t in range(run.T))


@shows("fedstaleweight", "R8")
def test_unequal_weights_cost_their_chi_square() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 5):
        for _ in range(50):
            z = rng.normal(size=(n, 3))
            z -= z.mean(axis=0)
            slope = rng.normal(size=3)
            a = rng.normal(size=n)
            a += (1 - a.sum()) / n
            left = float(((a @ (slope + z) - slope) ** 2).sum())
            assert left == pytest.approx(float((((a - 1 / n) @ z) ** 2).sum()), abs=1e-12)
            assert at_most(left, n * float(((a - 1 / n) ** 2).sum()) * float((z**2).sum(1).mean()))
    # Two clients leave no choice: there it is an equation.
    z, a = np.array([1.0, -1.0]), np.array([0.8, 0.2])
    assert (a @ z) ** 2 == pytest.approx(2 * ((a - 0.5) ** 2).sum() * (z**2).mean())


# ------------------------------------------------------------------------------------------------------------ rf1


def error(run: Buffers, t: int) -> float:
    """err_t²."""
    at_w = sum(alpha * run.clients.gradient(client, run.w[t]) for _, alpha, client, _ in run.entries(t))
    return second(run.slope(t) - np.asarray(at_w))


@EVERY
@shows("fedstaleweight", "R9", "R10", "R11")
def test_one_update_of_one_schedule(name: str) -> None:
    run = one(name)
    L, s2 = run.clients.L, run.clients.s2
    for t in range(run.T):
        h = run.h(t)
        for q in range(len(run.eta)):
            far = second(run.slope(t) - h[q])
            assert at_most(second(run.slope(t)) - far, 2 * inner(run.slope(t), h[q]))
            old = sum(alpha * second(run.w[t] - run.played.points[row][q]) for row, alpha, _, _ in run.entries(t))
            assert at_most(far, 2 * error(run, t) + 2 * L**2 * old)
            assert at_most(old, s2 * (run.eta_g * run.A * run.tau + float(run.heads[q])) ** 2)
        assert at_most(second(run.w[t + 1] - run.w[t]), run.eta_g**2 * run.A**2 * s2)


def rf1(run: Buffers, initial: float, err2: float) -> float:
    """Return the right side of rf1 for a decrease of f, and an error."""
    L, s2 = run.clients.L, run.clients.s2
    rest = 2 * L**2 * s2 * run.drift(run.tau) + L * run.eta_g * run.A * s2
    return 2 * initial / (run.eta_g * run.A) + 2 * err2 + rest


@EVERY
@shows("fedstaleweight", "R12")
def test_the_slope_at_one_update(name: str) -> None:
    for scale in (1.0, 5.0):
        run = one(name, scale)
        for t in range(run.T):
            fall = float((run.f(t) - run.f(t + 1)).mean())
            assert at_most(second(run.slope(t)), rf1(run, fall, error(run, t)))


@EVERY
@shows("fedstaleweight", "R13", "R14")
def test_rf1_is_what_is_registered_and_true(name: str) -> None:
    for scale in (1.0, 5.0):
        run = one(name, scale)
        n, spread = run.clients.n, run.spread()
        read = run.algorithm.quantities(run.parameters, run.tape, run.T, {})
        weights = np.zeros((run.T, n))
        for t in range(run.T):
            for _, alpha, client, _ in run.entries(t):
                weights[t, client] += alpha
        chi2_path = n * float(((weights - 1 / n) ** 2).sum(axis=1).mean())
        assert (read["chi2_path"], read["tau_max"]) == pytest.approx((chi2_path, run.tau))
        err2 = float(np.mean([error(run, t) for t in range(run.T)]))
        assert at_most(err2, chi2_path * spread**2)
        left = float(np.mean([second(run.slope(t)) for t in range(run.T)]))
        start = float(run.f(0).mean()) / run.T
        assert at_most(left, rf1(run, start, err2))
        right = rf1(run, start, chi2_path * spread**2)
        assert registered("rf1", {**values(run, run.tau), "chi2_path": chi2_path}) == pytest.approx([right, right])


@pytest.mark.parametrize(("Q", "tau"), [(1, 0), (1, 3), (4, 0), (5, 7)])
@shows("fedstaleweight", "R15")
def test_the_drift_of_equal_local_steps(Q: int, tau: int) -> None:
    eta_l, eta_g = 0.03, 1.7
    heads = eta_l * np.arange(Q)
    drift = float((eta_l * (eta_g * Q * eta_l * tau + heads) ** 2).sum()) / (Q * eta_l)
    closed = (eta_g * Q * tau) ** 2 + eta_g * Q * tau * (Q - 1) + (Q - 1) * (2 * Q - 1) / 6
    assert drift == pytest.approx(eta_l**2 * closed)
    known = {
        "L": 1.0,
        "F0": 1.0,
        "T": 9,
        "n": 2,
        "Q": Q,
        "tau_max": tau,
        "sigma_l": 1.0,
        "sigma_g_mean": 0.5,
        "G_sq": 2.0,
        "chi2_path": 1.0,
        "eta_l": eta_l,
        "eta_g": eta_g,
    }
    assert registered("rf1", known) == pytest.approx(registered("rf1", {**known, "drift": drift}))
