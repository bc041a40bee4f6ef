"""Weights of the models of a run in a left side, as fractions."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final, final

from boundlab.errors import SpecError

_ROOM: Final = 900  # bits from the smallest weight to the sum of all


@final
@dataclass(frozen=True)
class Weights:
    """Weights w_0, w_1, … of the models that a left side at K is about: those before K, or those up to K.

    Parameters
    ----------
    values
        w_0, w_1, …, of both kinds of which there are as many as models; None: all are 1.
    closed
        Whether the model at K itself counts.
    """

    values: tuple[Fraction, ...] | None = None
    closed: bool = False

    @classmethod
    def of(cls, values: Sequence[Fraction], *, closed: bool, what: str) -> "Weights":
        """Return weights that are none of them negative and not all 0; scaled where their sums would leave floats.

        Raises
        ------
        SpecError
            If they are not, or differ by more than floats hold.
        """
        low = next((place for place, one in enumerate(values) if one < 0), None)
        if low is not None:
            raise SpecError(
                f"{what}: the weight of the model at {low} is {float(values[low]):.4g}, and none is negative"
            )
        total = sum(values, start=Fraction(0))
        if not total:
            raise SpecError(f"{what}: all weights are 0, and then there is no average")
        span = total / min(one for one in values if one)
        if _bits(span) > _ROOM:
            raise SpecError(f"{what}: the weights span {_bits(span)} binary digits, and floats hold at most {_ROOM}")
        if abs(_bits(total)) <= _ROOM // 2:
            return cls(tuple(values), closed)
        scale = Fraction(2) ** (_ROOM // 2 - _bits(total))  # so that all of them, and their sums, are floats
        return cls(tuple(one * scale for one in values), closed)

    def at(self, j: int) -> Fraction:
        """Return w_j."""
        if self.values is None:
            return Fraction(1)
        return self.values[j] if j < len(self.values) else Fraction(0)

    def total(self, k: int) -> Fraction:
        """Return the sum of the weights in the left side at ``k``."""
        return self.before(k + self.closed)

    def before(self, j: int) -> Fraction:
        """Return w_0 + … + w_{j−1}."""
        return Fraction(j) if self.values is None else self._sums[min(j, len(self.values))]

    @cached_property
    def _sums(self) -> tuple[Fraction, ...]:
        sums = [Fraction(0)]
        for one in self.values or ():
            sums.append(sums[-1] + one)
        return tuple(sums)


def _bits(value: Fraction) -> int:
    return value.numerator.bit_length() - value.denominator.bit_length()


EQUAL: Final = Weights()
"""The plain average of the models before K."""
