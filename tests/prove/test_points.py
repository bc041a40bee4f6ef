"""The point at which multipliers are looked for: where a number has no value there, nothing is proved or breaks."""

import pytest

from boundlab.prove import Context, Kernel, ProofError, Range, expr, scalar, variable
from boundlab.prove._search import SearchPoint, derive


def kernel() -> Kernel:
    """Return symbols x = 0, q between −1 and 0, r = q − q and a whole k ≥ 1."""
    here = Context()
    here.declare("x", Range(low=scalar(0), high=scalar(0)))
    here.declare("q", Range(low=scalar(-1), high=scalar(0)))
    here.declare("k", Range(low=scalar(1), integer=True))
    return Kernel(here)


x, q, k = variable("x"), variable("q"), variable("k")


@pytest.mark.parametrize("value", [1 / x, 1 / x**2, 1 / (2 * x), (1 + q) / (x + x * q), x**-1 + q])
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_claim_that_divides_by_what_is_0_is_refused(value, sign) -> None:
    own = kernel()
    with pytest.raises(ProofError):
        derive(own, expr(value * sign) >= 0, [own.combine(expr(1) >= 0, [])], own.context)


def test_a_negative_number_has_whole_powers_at_every_point() -> None:
    own = kernel()
    for turn in range(20):
        assert abs(SearchPoint(own, own.context, turn).of(q**k)) <= 1


def test_a_number_without_a_value_says_so() -> None:
    own = kernel()
    with pytest.raises(ProofError, match="no value at a point"):
        SearchPoint(own, own.context, 0).of(1 / x)
