"""AREA's theorems against each other, against goldens, and against exact expectations by a second route."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from paper_theorems import AREA as BY_ID

from boundlab.errors import AssumptionError, SymbolError
from boundlab.theorems.recursions import local_pass, recursion

SMOOTH: dict[str, Any] = {
    "p": np.array([0.2, 0.3, 0.35]),
    "mu": 0.1,
    "L": 1,
    "M": 5,
    "sigma": 1,
    "zeta": 1,
    "R": 3,
    "K": 1000,
}


# ------------------------------------------------------------------------------------------------ Theorem 8


# ------------------------------------------------------------------------------------------------ Theorem 7


REGIMES = st.fixed_dictionaries(
    {
        "p": st.lists(st.floats(0.02, 1.0), min_size=1, max_size=4).map(lambda w: np.array(w) / (sum(w) + 0.3)),
        "mu": st.floats(0.01, 1.0),
        "M": st.integers(1, 12),
        "sigma": st.sampled_from([0.0, 0.3, 3.0]),
        "zeta": st.sampled_from([0.0, 0.5, 5.0]),
        "R": st.floats(0.0, 5.0),
    }
)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "forms", [("recursion", "onepass", "explicit"), ("recursion.algorithm-start", "onepass.algorithm-start")]
)
@given(values=REGIMES)
def test_recursion_below_onepass_below_explicit(forms: tuple[str, ...], values: dict[str, Any]) -> None:
    ks = np.array([0, 1, 10, 100, 1000])
    bounds = [BY_ID[f"area.theorem7.{form}"].at_iterations({**values, "L": 1.0}, ks).total for form in forms]
    for tight, wide in pairwise(bounds):
        assert (tight <= wide * (1 + 1e-9) + 1e-12).all()


@given(st.floats(1e-9, 1.0), st.integers(1, 60))
def test_local_steps_by_doubling_are_the_sums_of_their_definitions(alpha: float, M: int) -> None:
    mu, L, sigma = 0.7, 1.0, 0.3
    r = 1 - alpha * mu
    found = local_pass(np.array([alpha]), mu, L, M, sigma)
    inner = [math.fsum(r**j for j in range(m)) for m in range(M)]
    assert found.contraction[0] == pytest.approx(r**M, rel=1e-12)
    assert found.noise[0] == pytest.approx(alpha**2 * sigma**2 * math.fsum(r ** (2 * j) for j in range(M)), rel=1e-12)
    assert found.drift[0] == pytest.approx(alpha**2 * L * math.fsum(inner), rel=1e-12, abs=1e-300)


@pytest.mark.nightly
def test_the_recursion_gives_the_same_at_one_iteration_and_in_one_pass_over_many() -> None:
    theorem = BY_ID["area.theorem7.recursion"]
    many = theorem.at_iterations(SMOOTH, np.array([3, 33000, 0, 3])).total
    for place, k in enumerate((3, 33000, 0, 3)):
        assert theorem.at_iterations(SMOOTH, np.array([k])).total[0] == many[place]
    grid = theorem.evaluate({**SMOOTH, "sigma": np.array([[0.0], [1.0]]), "K": np.array([[3, 33000]])})
    assert grid.total.shape == (2, 2)
    assert grid.total[1] == pytest.approx(many[:2], rel=0)
    assert (grid.total[0] < grid.total[1]).all()


def test_equal_clients_are_iterated_once() -> None:
    p = np.full(2000, 0.5 / 2000)
    long = recursion(p=p, p_s=0.5, mu=1, L=2, M=2, sigma=1, R=1, G=np.ones(2000), c=0.1, d=None, ks=[50])
    short = recursion(p=p[:1], p_s=0.5, mu=1, L=2, M=2, sigma=1, R=1, G=1, c=0.1, d=None, ks=[50])
    assert long == pytest.approx(short, rel=1e-12)


def test_a_step_above_2_over_mu_plus_l_is_not_covered() -> None:
    message = r"needs c/d ≤ 2/\(M\(μ\+L\)\), got 1 > 0\.36"
    with pytest.raises(AssumptionError, match=message):
        BY_ID["area.theorem7.explicit"].evaluate({**SMOOTH, "D": 1})
    with pytest.raises(AssumptionError, match=r"α_0 ≤ 2/\(μ\+L\), got 2 > 1\.8"):
        BY_ID["area.theorem7.recursion"].evaluate({**SMOOTH, "alpha": 2})
    with pytest.raises(AssumptionError, match=r"c/d ≤ 2/\(μ\+L\), got 4 >"):
        BY_ID["area.theorem7.recursion"].evaluate({**SMOOTH, "c": 4, "d": 1})


def test_a_smaller_d_starts_with_a_smaller_step() -> None:
    small = BY_ID["area.theorem7.explicit"].step_sizes({**SMOOTH, "D": 0.001}, 3)
    assert small[0] == pytest.approx(0.001)
    assert (np.diff(small) < 0).all()


def test_the_recursion_runs_at_most_ten_million_iterations() -> None:
    with pytest.raises(SymbolError, match="K must be between 0 and 1e\\+07"):
        BY_ID["area.theorem7.recursion"].evaluate({**SMOOTH, "K": 10**8})
