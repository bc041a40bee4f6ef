"""The displays of the proofs of rf2 and rf3, over all sequences of arrivals; and that these are what is registered."""

from math import comb
from typing import Any

import numpy as np
import pytest
from buffer_makers import RANDOM, Buffers, Random, random, registered, steps, values
from every_noise import Floats, at_most, inner, norm2, second
from theory_pages import shows

MEANS = pytest.mark.parametrize("name", RANDOM)


def local(past: Buffers, client: int, number: int, start: Floats) -> Floats:
    """Return the points of a client's run from a model, shape (Q, patterns, d), its draws named by its number."""
    place = {draw: bit for bit, draw in enumerate(past.played.draws)}
    x, points = start, []
    for q, eta in enumerate(past.eta):
        points.append(x)
        bit = place.get((client, number, q))
        sign = 0.0 if bit is None else past.played.signs[:, bit, None]
        x = x - eta * (past.clients.gradient(client, x) + sign * past.clients.loudness(x))
    return np.array(points)


def held(arrivals: tuple[int, ...], b: int, client: int, reply: str) -> int:
    """Return the version that a client works on after these arrivals, all of whose buffers are full."""
    version = 0
    for place, actor in enumerate(arrivals):
        if actor == client:
            version = place // b + (reply == "post" and place % b == b - 1)
    return version


@MEANS
@shows("fedstaleweight", "R16")
def test_the_expected_gradient_is_a_mean_over_what_clients_would_send(name: str) -> None:
    # The m-th entry of a client has weight 1/b, and is there if at least m of b independent arrivals are its own.
    case = random(name)
    p, b, reply = case.p, case.b, str(case.any.parameters.reply)
    c = np.array(
        [[sum(comb(b, N) * q**N * (1 - q) ** (b - N) for N in range(m, b + 1)) / b for m in range(1, b + 1)] for q in p]
    )
    assert c.sum(axis=1) == pytest.approx(p)
    assert c.sum() == pytest.approx(1)
    for t in range(case.T):
        for arrivals, (_, past, buffers) in zip(case.sequences(t * b), case.pasts(t), strict=True):
            expected = np.zeros_like(case.H(t, buffers))
            for i in range(len(p)):
                for m in range(b):
                    start = held(arrivals, b, i, reply) if m == 0 else t
                    points = local(past, i, arrivals.count(i) + m, past.w[start])
                    expected += c[i, m] * past.clients.gradient(i, points)
            assert np.allclose(case.H(t, buffers), expected, rtol=0, atol=1e-12)


def conditional(case: Random, buffers: list[tuple[float, Buffers]], t: int, q: int) -> Floats:
    """Return the conditional mean of Σ_k α_k‖w^t − y_kq‖², shape (patterns,)."""
    return sum(
        (
            p * alpha * ((run.w[t] - run.played.points[row][q]) ** 2).sum(-1)
            for p, run in buffers
            for row, alpha, _, _ in run.entries(t)
        ),
        np.float64(0),
    )


@MEANS
@shows("fedstaleweight", "R17", "R18", "R19")
def test_unequal_shares_and_old_models(name: str) -> None:
    case = random(name)
    some = case.any
    spread, L, s2 = some.spread(), some.clients.L, some.clients.s2
    for t in range(case.T):
        for q, head in enumerate(some.heads):
            old, product_, squares = 0.0, 0.0, np.zeros(2)
            for weight, past, buffers in case.pasts(t):
                slope, H = past.slope(t), case.H(t, buffers)[q]
                age = conditional(case, buffers, t, q)
                far = ((slope - H) ** 2).sum(-1)
                assert (far <= 2 * case.chi2 * spread**2 + 2 * L**2 * age + 1e-12).all()
                old += weight * float(age.mean())
                product_ += weight * sum(p * inner(slope, run.h(t)[q]) for p, run in buffers)
                squares += weight * np.array([second(slope), second(H)])
            limit = s2 * (some.eta_g * some.A * case.tau + float(head)) ** 2
            assert at_most(old, limit)
            assert at_most(squares.sum() - 2 * case.chi2 * spread**2 - 2 * L**2 * limit, 2 * product_)


def slopes(case: Random) -> float:
    """(1/T)·Σ E‖∇f(w^t)‖² over all schedules."""
    return float(sum(w * second(past.slope(t)) for t in range(case.T) for w, past, _ in case.pasts(t))) / case.T


def shared(case: Random) -> float:
    """Return the terms that rf2 and rf3 have in common."""
    some = case.any
    initial = 2 * float(some.f(0).mean()) / (some.eta_g * some.A * case.T)
    old = 2 * some.clients.L**2 * some.clients.s2 * some.drift(case.tau)
    return initial + 2 * case.chi2 * some.spread() ** 2 + old


def means(case: Random) -> dict[str, Any]:
    return {**values(case.any, case.tau), "chi2": case.chi2, "pi_max": float(case.p.max())}


@pytest.mark.sweep(3)
@MEANS
@shows("fedstaleweight", "R20")
def test_rf2_is_what_is_registered_and_true(name: str) -> None:
    for scale in (0.2, 1.0, 5.0):
        case = random(name, scale)
        some = case.any
        right = shared(case) + some.clients.L * some.eta_g * some.A * some.clients.s2
        assert registered("rf2", means(case)) == pytest.approx([right, right], rel=1e-10)
        assert at_most(slopes(case), right)


def sampling(case: Random) -> float:
    """V_s."""
    some = case.any
    away = some.eta_g * some.A * case.tau + float(some.heads[-1])
    shares = 2 * some.clients.n * float(case.p.max()) * some.spread() ** 2
    return min(some.clients.G_sq, shares + 2 * some.clients.L**2 * some.clients.s2 * away**2)


def squared_weights(run: Buffers, t: int) -> float:
    return sum(alpha**2 for _, alpha, _, _ in run.entries(t))


@pytest.mark.sweep(2)
@MEANS
@shows("fedstaleweight", "R21", "R22", "R23", "R24")
def test_the_second_order_of_rf3(name: str) -> None:
    for scale in (0.2, 1.0):
        case = random(name, scale)
        some = case.any
        for t in range(case.T):
            move = power = alpha2 = mean = scatter = 0.0
            means_, spreads = np.zeros(len(some.eta)), np.zeros(len(some.eta))
            for weight, _, buffers in case.pasts(t):
                H = case.H(t, buffers)
                mean += weight * second(steps(some, H))
                means_ += weight * np.array([second(each) for each in H])
                for p, run in buffers:
                    move += weight * p * second(run.w[t + 1] - run.w[t])
                    power += weight * p * second(steps(run, run.h(t)))
                    scatter += weight * p * second(steps(run, run.h(t) - H))
                    alpha2 += weight * p * squared_weights(run, t)
                    spreads += weight * p * np.array([second(each) for each in run.h(t) - H])
            noise = some.eta_g**2 * some.beta * some.clients.noise**2 * alpha2
            assert at_most(move, 2 * some.eta_g**2 * power + 2 * noise)
            assert power == pytest.approx(mean + scatter)
            assert at_most(mean, some.A * float(some.eta @ means_))
            assert at_most(scatter, some.A * float(some.eta @ spreads))
            assert at_most(power, some.A * float(some.eta @ means_) + some.A * float(some.eta @ spreads))
            assert at_most(float(spreads.max()), sampling(case))
            L, rate = some.clients.L, some.eta_g
            left = 2 / (rate * some.A) * L / 2 * move
            gone = 2 * L * rate * float(some.eta @ means_)
            noisy = 2 * L * rate * some.beta / some.A * some.clients.noise**2 * alpha2
            assert at_most(left, gone + 2 * L * rate * some.A * sampling(case) + noisy)


@pytest.mark.sweep(2)
@MEANS
@shows("fedstaleweight", "R25")
def test_rf3_is_what_is_registered_and_true(name: str) -> None:
    own = random(name).any
    edge = 0.5 / (own.clients.L * own.eta_g * own.A) * (1 - 1e-12)
    for scale in (edge, edge / 5):
        case = random(name, scale)
        some = case.any
        alpha2 = float(np.mean([squared_weights(some, t) for t in range(case.T)]))
        rate, L = some.eta_g, some.clients.L
        noise = 2 * L * rate * some.beta / some.A * alpha2 * some.clients.noise**2
        right = shared(case) + noise + 2 * L * rate * some.A * sampling(case)
        assert registered("rf3", {**means(case), "alpha2": alpha2}) == pytest.approx([right, right], rel=1e-10)
        assert at_most(slopes(case), right)


def test_twice_in_a_buffer_is_not_one_model_with_twice_the_weight() -> None:
    # A client's second update of a buffer starts from w^t and not from the model it held: what it held alone will
    # not give the expected gradient, by far.
    case = random("fedbuff")
    (_, past, buffers), arrivals = list(case.pasts(1))[1], (0, 1)
    alone = sum(
        case.p[i] * past.clients.gradient(i, local(past, i, arrivals.count(i), past.w[held(arrivals, 2, i, "post")]))
        for i in range(2)
    )
    assert norm2(np.asarray(alone)[0] - case.H(1, buffers)[0]) > 0.01
