"""Sums of powers with a symbolic exponent."""

from boundlab.prove import Context, Kernel, Range, expr, scalar, total


def test_a_sum_of_powers_of_a_number_from_0_to_1_is_not_negative() -> None:
    kernel = Kernel(Context())
    here = kernel.context
    r = here.declare("r", Range(low=scalar(0), high=scalar(1)))
    K, j = (here.declare(name, Range(low=scalar(0), integer=True)) for name in ("K", "j"))
    power = kernel.combine(expr(r**j) >= 0, [])
    assert str(total(kernel, power, "j", 0, K)).endswith("≥ 0")
