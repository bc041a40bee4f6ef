"""How many digits are taken before a comparison of balls is given up."""

import pytest

from boundlab.arithmetic.numbers import LARGEST_BITS, START_BITS, ball, decided, flint, rational
from boundlab.errors import UndecidedError


# The first run gets half of the way and asks for 320 bits; the second says what all of it would take.
@pytest.mark.parametrize(
    ("needed", "tried"),
    [(LARGEST_BITS, [128, 320, LARGEST_BITS]), (81920, [128, 320, LARGEST_BITS]), (81968, [128, 320])],
)
def test_more_digits_than_there_are_by_a_quarter_are_not_tried(needed: int, tried: list[int]) -> None:
    bits: list[int] = []

    def once() -> None:
        bits.append(flint().ctx.prec)
        raise UndecidedError("a kink is met too closely", 0.5 if len(bits) == 1 else 400 / needed)

    with pytest.raises(UndecidedError, match="kink" if tried[-1] == LARGEST_BITS else f"{needed} bits or more"):
        decided(once)
    assert bits == tried
    assert bits[0] == START_BITS


def test_a_ball_that_has_lost_half_of_its_digits_is_found_again_with_more() -> None:
    def once() -> object:  # 128 bits are lost: 1 − 2^128 + 2^128
        big = ball(rational(2)) ** 128
        return (ball(rational(1)) / 3 - big) + big

    value, bits = decided(once)
    assert START_BITS < bits < LARGEST_BITS
    assert value.rel_accuracy_bits() >= START_BITS // 2
