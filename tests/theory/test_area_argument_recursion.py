"""The displays behind AREA's recursion: the coupling lemma, one iteration, and the registered theorems."""

from dataclasses import dataclass
from typing import Literal

import area_makers as area
import numpy as np
import pytest
from area_makers import Clients, Floats, norms, squares
from theory_pages import below, shows

from boundlab.theorems.recursions import recursion

CASES = [(seed, n, M) for seed, (n, M) in enumerate([(1, 1), (1, 3), (2, 1), (2, 2), (3, 1)])]
# Of the largest step 2/(mu + L) that the lemma covers.
SHARES = [0.02, 0.5, 1.0]


def functions(seed: int, n: int, mu: float = 0.2) -> Clients:
    rng = np.random.default_rng(seed)
    return area.strongly_convex(rng, n, sigma=float(rng.choice([0.0, 0.4, 2.0])), mu=mu)


def points(seed: int, rows: int = 7) -> Floats:
    rng = np.random.default_rng(100 + seed)
    return rng.normal(size=(rows, 2)) * rng.choice([0.01, 0.5, 1.0, 5.0], size=(rows, 1))


def slope_at_best(f: Clients, i: int) -> Floats:
    return f.slope(i, np.zeros(2))


def contraction(f: Clients, a: float, M: int) -> tuple[float, float]:
    """(1 − a·mu)^M and S_M."""
    r = 1 - a * f.mu
    return r**M, sum(r ** (2 * j) for j in range(M))


def drift(f: Clients, i: int, a: float, M: int) -> float:
    """b_i(a), by its definition."""
    r = 1 - a * f.mu
    return float(a**2 * f.L * norms(slope_at_best(f, i)) * sum(r**j for m in range(1, M) for j in range(m)))


@pytest.mark.sweep(2)
@shows("area", "C7.2", "C7.3")
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize(("seed", "n", "M"), CASES)
def test_the_noisy_pass_stays_near_the_noise_free_one(seed: int, n: int, M: int, share: float) -> None:
    f, x = functions(seed, n), points(seed)
    a = share * 2 / (f.mu + f.L)
    t, S_M = contraction(f, a, M)
    assert S_M <= M
    for i in range(n):
        apart = area.passes(f, i, x, a, M)[-1] - area.without_noise(f, i, a, M)[-1]
        # From each x that is known, and from a random one.
        for near, mean in ((squares(x), squares(apart).mean(1)), (squares(x).mean(), squares(apart).mean())):
            assert below(mean, t**2 * near + a**2 * f.sigma**2 * S_M)
        for square, size, mean in (
            (squares(x), norms(x), norms(apart).mean(1)),
            (squares(x).mean(), norms(x).mean(), norms(apart).mean()),
        ):
            first = np.sqrt(t**2 * square + a**2 * f.sigma**2 * S_M)
            assert below(mean, np.minimum(first, t * size + a * f.sigma * np.sqrt(S_M)))


@dataclass
class Moments:
    """X, Y, S and x, y, s of the recursion."""

    X: Floats
    Y: Floats
    S: float
    x: Floats
    y: Floats
    s: float


def moments(f: Clients, state: area.States, alpha: float, M: int) -> Moments:
    """Return the true ones: what (R7.4) bounds."""
    targets = np.array([-alpha * M * slope_at_best(f, i) for i in range(f.n)])
    x, y = state.x - targets, state.y - targets
    return Moments(
        state.mean(squares(x)),
        state.mean(squares(y)),
        float(state.mean(squares(state.server))),
        state.mean(norms(x)),
        state.mean(norms(y)),
        float(state.mean(norms(state.server))),
    )


def following(f: Clients, now: Moments, p: Floats, alpha: float, then: float, M: int) -> Moments:
    """Return (R7.1) and (R7.2), by hand, of the moments at hand."""
    t, S_M = contraction(f, alpha, M)
    delta = (alpha - then) * M * np.array([norms(slope_at_best(f, i)) for i in range(f.n)])
    b = np.array([drift(f, i, alpha, M) for i in range(f.n)])
    V = t**2 * now.S + alpha**2 * f.sigma**2 * S_M
    e = min(np.sqrt(V), t * now.s + alpha * f.sigma * np.sqrt(S_M))
    v, p_s = b + delta, 1 - p.sum()
    X = (1 - p) * (now.X + 2 * delta * now.x + delta**2) + p * (V + 2 * v * e + v**2)
    Y = (1 - p) * (now.Y + 2 * delta * now.y) + p * (now.X + 2 * delta * now.x) + delta**2
    S = float((1 - p_s) * now.S + p_s * now.Y.mean())
    return Moments(
        X,
        Y,
        S,
        np.minimum((1 - p) * now.x + p * (e + b) + delta, np.sqrt(X)),
        np.minimum((1 - p) * now.y + p * now.x + delta, np.sqrt(Y)),
        min((1 - p_s) * now.s + p_s * now.y.mean(), np.sqrt(S)),
    )


def started(f: Clients, R: float, M: int, first: float, broadcast: float | None) -> Moments:
    """Return the start of the recursion, with (R7.3) where there is a broadcast."""
    G = np.array([norms(slope_at_best(f, i)) for i in range(f.n)])
    y = R + first * M * G
    x = y
    if broadcast is not None:
        t, S_M = contraction(f, broadcast, M)
        b = np.array([drift(f, i, broadcast, M) for i in range(f.n)])
        x = np.sqrt(t**2 * R**2 + broadcast**2 * f.sigma**2 * S_M) + b + abs(broadcast - first) * M * G
    return Moments(x**2, y**2, R**2, x, y, R)


def all_below(left: Moments, right: Moments) -> bool:
    return all(below(getattr(left, name), getattr(right, name)) for name in ("X", "Y", "S", "x", "y", "s"))


Choice = Literal["analysis", "algorithm"]


@pytest.mark.sweep(2)
@shows("area", "R7.1", "R7.2", "R7.3", "R7.4", "R7.5")
@pytest.mark.parametrize("choice", ["analysis", "algorithm"])
@pytest.mark.parametrize("diminishing", [True, False])
@pytest.mark.parametrize(("seed", "n", "M"), CASES)
def test_the_recursion_bounds_every_moment_of_every_iteration(
    seed: int, n: int, M: int, diminishing: bool, choice: Choice
) -> None:
    f, x0 = functions(seed, n), points(seed)[3]
    w = np.random.default_rng(200 + seed).uniform(0.1, 1.0, size=n + 1)
    p, R = w[:n] / w.sum(), float(norms(x0))
    largest, d = 2 / (f.mu + f.L) * (1 - 1e-15), 1.5
    broadcast = largest if choice == "algorithm" else None
    shift = 1 if choice == "algorithm" else 0
    steps = [largest * d / (k + d + shift) if diminishing else largest for k in range(6)]
    state = area.begin(f, x0, broadcast, M)
    bound, seen = started(f, R, M, steps[0], broadcast), []
    for k in range(4 if M == 1 else 3):
        now = moments(f, state, steps[k], M)
        assert all_below(now, bound)
        seen.append(bound.S)
        targets = np.array([-steps[k] * M * slope_at_best(f, i) for i in range(n)])
        assert targets.mean(0) == pytest.approx(0, abs=1e-12)
        assert state.y.mean(1) == pytest.approx((state.y - targets).mean(1), abs=1e-12)
        state = area.advance(f, state, p.tolist(), steps[k], M)
        # From the true moments as well: the recursion itself, not only its outcome.
        assert all_below(moments(f, state, steps[k + 1], M), following(f, now, p, steps[k], steps[k + 1], M))
        bound = following(f, bound, p, steps[k], steps[k + 1], M)
    found = recursion(
        p=p,
        p_s=1 - p.sum(),
        mu=f.mu,
        L=f.L,
        M=M,
        sigma=f.sigma,
        R=R,
        G=[float(norms(slope_at_best(f, i))) for i in range(n)],
        c=largest * d if diminishing else largest,
        d=d if diminishing else None,
        ks=np.arange(len(seen)),
        start=choice,
        clock=choice,
    )
    assert found == pytest.approx(seen, rel=1e-11)


@shows("area", "R7.1")
@pytest.mark.parametrize("M", [1, 3])
def test_for_one_parabola_the_squares_are_exact(M: int) -> None:
    f, p, alpha = area.parabola(0.8, sigma=0.5), np.array([0.4]), 0.7
    state = area.begin(f, np.array([1.0, -2.0]), None, M)
    for _ in range(3):
        now = moments(f, state, alpha, M)
        state = area.advance(f, state, p.tolist(), alpha, M)
        after, bound = moments(f, state, alpha, M), following(f, now, p, alpha, alpha, M)
        for name in ("X", "Y", "S"):
            assert getattr(after, name) == pytest.approx(getattr(bound, name), rel=1e-12)
