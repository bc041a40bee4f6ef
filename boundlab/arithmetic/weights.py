"""Weights of the models of a run in a left side, as fractions."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final, final

from boundlab.errors import SpecError

_ROOM: Final = 900  # bits of a sum of weights: more leave floats


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
        """Return weights that are none of them negative and not all 0; so small that their sums are floats.

        Raises
        ------
        SpecError
            If they are not.
        """
        low = next((place for place, one in enumerate(values) if one < 0), None)
        if low is not None:
            raise SpecError(
                f"{what}: the weight of the model at {low} is {float(values[low]):.4g}, and none is negative"
            )
        total = sum(values, start=Fraction(0))
        if not total:
            raise SpecError(f"{what}: all weights are 0, and then there is no average")
        beyond = total.numerator.bit_length() - total.denominator.bit_length() - _ROOM
        scale = Fraction(1, 1 << beyond) if beyond > 0 else Fraction(1)
        return cls(tuple(one * scale for one in values) if beyond > 0 else tuple(values), closed)

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


EQUAL: Final = Weights()
"""The plain average of the models before K."""
