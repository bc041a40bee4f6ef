"""AREA's Theorems 7 and 8 with their constants are true: every event and every sign of the noise, by enumeration."""

from math import exp
from typing import Any

import area_makers as area
import numpy as np
import pytest
from area_makers import norms, squares
from paper_theorems import AREA as BY_ID
from theory_pages import below, shows

CASES = [(seed, n, M) for seed, (n, M) in enumerate([(1, 1), (1, 4), (2, 1), (2, 3), (3, 2)])]
STARTS = pytest.mark.parametrize("start", ["analysis", "algorithm"])
EVERY = pytest.mark.parametrize(("seed", "n", "M"), CASES)


@pytest.mark.sweep(2)
@STARTS
@EVERY
@pytest.mark.parametrize("alpha", [0.05, 0.6])
@shows("area", "T8.7", "T8.8")
def test_theorem_8_with_a_fixed_step(start: str, seed: int, n: int, M: int, alpha: float) -> None:
    rng = np.random.default_rng(seed)
    f = area.lipschitz(rng, n, sigma=float(rng.choice([0.0, 0.4, 2.0])), kinks=bool(seed % 2))
    w = rng.uniform(0.1, 1.0, size=n + 1)
    p, x0 = w[:n] / w.sum(), 3 * rng.normal(size=2)
    state = area.begin(f, x0, alpha if start == "algorithm" else None, M)
    best, gaps = float(f.mean_value(np.zeros(2))), []
    name = "area.theorem8.repaired.fixed-step" if start == "analysis" else "area.theorem8.algorithm-start"
    values = {"p": p, "R": float(norms(x0)), "B": f.B, "sigma": f.sigma, "M": M, "alpha": alpha}
    for K in range(1, 4 if M > 1 else 5):
        gaps.append(float(state.mean(f.mean_value(state.server))) - best)
        state = area.advance(f, state, p.tolist(), alpha, M)
        ergodic = float(state.mean(f.mean_value(state.total / K))) - best
        assert below(ergodic, np.mean(gaps))
        assert below(np.mean(gaps), BY_ID[name].evaluate({**values, "K": K}).total)


@pytest.mark.sweep(2)
@STARTS
@EVERY
@shows("area", "P7.14")
def test_theorem_7_from_one_pass(seed: int, n: int, M: int, start: str) -> None:
    rng = np.random.default_rng(seed)
    f = area.strongly_convex(rng, n, float(rng.choice([0.0, 0.4, 2.0])), mu=0.2 + 0.2 * (seed % 5))
    w = np.ones(n + 1) if seed == 0 else rng.uniform(0.1, 1.0, size=n + 1)
    p, x0 = w[:n] / w.sum(), rng.normal(size=2)
    D = float(rng.choice([1.0, 0.3])) * 2 / (M * (f.mu + f.L))
    c = 48 * (f.mu + f.L) / (float(w.min() / w.sum()) * M * 2 * f.mu * f.L)
    late = start == "algorithm"
    state = area.begin(f, x0, D if late else None, M)
    values: dict[str, Any] = {"p": p, "mu": f.mu, "L": f.L, "M": M, "sigma": f.sigma, "zeta": f.zeta()}
    values |= {"R": float(norms(x0)), "D": D * (1 - 1e-15)}
    name = "area.theorem7.onepass" + (".algorithm-start" if late else "")
    for K in range(4):
        assert below(state.mean(squares(state.server)), BY_ID[name].evaluate({**values, "K": K}).total)
        if K < 3:
            state = area.advance(f, state, p.tolist(), c / (K + c / D + late), M)


@shows("area", "P7.1")
def test_the_first_contraction_of_one_client_is_1_and_its_offset_96() -> None:
    # One client, p = p_s, mu = L and the largest D: all that (P7.1) says are equalities.
    edge = BY_ID["area.theorem7.onepass"].evaluate(
        {"p": np.array([0.5]), "mu": 2, "L": 2, "M": 3, "sigma": 1, "zeta": 0, "R": 1, "K": 1, "D": 1 / 6}
    )
    assert (edge.derived["q0"], edge.derived["d_eff"]) == pytest.approx((1, 96), rel=1e-14)


@shows("area", "E7.1", "E7.2", "E7.3")
def test_the_rounded_constants_are_nearly_the_least_that_will_do() -> None:
    """With q0 = 1 and d = 96, the edge of (P7.1), whose values are f = 96/95 and 1 + 1/d."""
    ratio, first = 96 / 95, 1 + 1 / 96
    assert 1128 < 460.8 * exp(5 / 6) * first * ratio**5 < 1130
    assert 1547 < 576 * (exp(1 / 3) + exp(1 / 6)) * ratio**4 < 1550
    assert 25831 < 6912 * exp(1 / 3) / (1 - exp(-0.5)) * first * ratio**4 < 26000
