"""R, F0 and zeta of ill-conditioned data are upper bounds, and no larger than rounding makes them."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from problem_makers import make

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import exact_array

SHARP = 1 + Fraction(1, 10**5)


def drawn(seed: int) -> Any:
    """Return least squares whose features differ in size by up to 10¹⁶, or are nearly dependent."""
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    size = int(rng.integers(max(1, d - 1), 8))
    features = rng.normal(size=(n * size, d)) * 10.0 ** (rng.uniform(-8, 8, size=d) * rng.integers(2))
    if d > 1 and rng.random() < 0.5:
        features[:, 1] = features[:, 0] + features[:, 1] * 10.0 ** rng.uniform(-9, 0)
    targets = rng.normal(size=n * size) * 10.0 ** rng.uniform(-3, 3)
    nu = float(rng.integers(2)) * 10.0 ** rng.uniform(-16, 1)
    owners = np.repeat(np.arange(n), size).tolist()
    return make("least-squares", features=features.tolist(), targets=targets.tolist(), owners=owners, nu=nu)


def square(a: Any, b: Any) -> Fraction:
    return sum(((one - other) ** 2 for one, other in zip(a, b, strict=True)), Fraction(0))


@pytest.mark.sweep(6)
@pytest.mark.parametrize("seed", range(60))
def test_they_are_those_of_rational_numbers(seed: int) -> None:
    problem = drawn(seed)
    found, twin = problem.constants(), problem.rational({})
    best = twin.minimum()
    start = numbers.fraction(twin.value(exact_array(twin.x0)))
    truths = {"F0": start - best.value}
    squares = {"R": square(twin.x0, best.x)}
    if "zeta" in found:
        squares["zeta"] = max(square(own, best.x) for own in twin.own_minimisers)
    for name, truth in truths.items():
        assert truth <= Fraction(found[name].value) <= SHARP * truth
    for name, truth in squares.items():
        if name in found:
            assert truth <= Fraction(found[name].value) ** 2 <= SHARP**2 * truth
    if problem._best is not None:  # what is given is known as well: no float need be the minimiser
        best_float = problem.optimum()
        off = square([Fraction(one) for one in best_float.x.tolist()], best.x)
        assert off <= Fraction(best_float.distance) ** 2
        assert abs(Fraction(best_float.value) - best.value) <= Fraction(best_float.gap)


def test_how_loose_they_were() -> None:
    """With ‖∇f‖/mu alone, R was 10²¹ times the distance, and zeta 10⁹ times."""
    found = make(
        "least-squares", features=[[1e8, 1.0], [1e8, 2.0]], targets=[1.0, 2.0], clients=1, nu=1e-14
    ).constants()
    assert 0.9 < found["R"].value < 1.1
    assert found["R"].how == "normal equations in rational numbers"
