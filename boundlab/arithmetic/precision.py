"""How many digits balls need."""

from collections.abc import Callable
from typing import Any

from boundlab.arithmetic import numbers
from boundlab.arithmetic.numbers import LARGEST_BITS, START_BITS, Scalar, digits
from boundlab.errors import UndecidedError


def decided(once: Callable[[], Scalar]) -> tuple[Scalar, int]:
    """Run with more and more digits until every comparison is decided.

    Returns
    -------
    The value, and with how many bits it was found.

    Raises
    ------
    UndecidedError
        If too many would be needed.
    """
    bits = START_BITS
    while True:
        try:
            with digits(bits):
                value = once()
            lost = _lost(value, bits)
            if lost is None:
                return value, bits
            needed = lost + 2 * START_BITS
        except UndecidedError as error:
            # Balls grow at a steady rate: where this run got with so many digits says how many the whole takes.
            needed = int(1.25 * bits / max(error.done, 0.002))
            if bits == LARGEST_BITS:
                raise
        if needed > LARGEST_BITS * 5 // 4 or bits == LARGEST_BITS:
            raise UndecidedError(f"{needed} bits or more would be needed for balls that do not grow too large")
        bits = min(max(needed, 2 * bits), LARGEST_BITS)


def _lost(value: Any, bits: int) -> int | None:
    """Return how many of its bits a ball has lost, or None if enough are left."""
    if not isinstance(value, numbers.flint().arb):
        return None
    if not value.is_finite():
        return bits
    accuracy = int(value.rel_accuracy_bits())
    if accuracy >= START_BITS // 2 or value.rad() < numbers.flint().arb(2) ** -(4 * START_BITS):
        return None
    return bits if value.contains(0) else bits - accuracy  # how small it is, no digit tells yet
